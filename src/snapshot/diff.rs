//! Where two worlds differ, for tests and for finding out.

use std::fmt;

use rustc_hash::FxHashSet;

use super::codec::CodecError;
use super::column::Column;
use super::describe::describe;
use super::error::SnapshotError;
use super::types::SnapshotTypes;
use crate::entity::Entity;
use crate::world::World;

/// Where two worlds differ: see [`SnapshotTypes::diff`]. Prints as a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// The differences, by entity; those of resources come last.
    pub differences: Vec<Difference>,
}

/// One difference between two worlds, of which the one is *left* and the other *right*.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Lives only on the left side.
    OnlyLeft(Entity),
    /// Lives only on the right side.
    OnlyRight(Entity),
    /// A component differs, or only one side has it.
    Component {
        /// Who has it.
        entity: Entity,
        /// The name of the component.
        name: &'static str,
        /// What it is on either side, in words.
        values: [Option<String>; 2],
    },
    /// A resource differs, or only one side has it.
    Resource {
        /// The name of the resource.
        name: &'static str,
        /// What it is on either side, in words.
        values: [Option<String>; 2],
    },
}

impl Diff {
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }
}

impl SnapshotTypes {
    /// Where two worlds differ, as far as the types are registered.
    ///
    /// # Errors
    /// [`SnapshotError`] if something is borrowed for writing or cannot be written.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Component, Snapshot, Serialize, Deserialize)] #[snapshot(name = "level")] struct Level(u32);
    /// let types = SnapshotTypes::new().component::<Level>();
    /// let (mut left, mut right) = (World::new(), World::new());
    /// left.spawn(Level(1));
    /// right.spawn(Level(2));
    /// right.spawn(());
    ///
    /// let diff = types.diff(&left, &right)?;
    /// assert_eq!(diff.to_string(), "0v0: level is Level(1) here and Level(2) there\n1v0 is only there\n");
    /// # Ok::<(), SnapshotError>(())
    /// ```
    #[track_caller]
    pub fn diff(&self, left: &World, right: &World) -> Result<Diff, SnapshotError> {
        let mut differences = Vec::new();
        let alive = |world: &World| -> FxHashSet<Entity> { world.book().copy().iter().collect() };
        let (in_left, in_right) = (alive(left), alive(right));
        let only = |mine: &FxHashSet<Entity>, other: &FxHashSet<Entity>| -> Vec<Entity> {
            mine.difference(other).copied().collect()
        };
        differences.extend(only(&in_left, &in_right).into_iter().map(Difference::OnlyLeft));
        differences.extend(only(&in_right, &in_left).into_iter().map(Difference::OnlyRight));
        for component in self.components() {
            let [left, right] = [component.open(left)?, component.open(right)?];
            let sides = [left.as_deref(), right.as_deref()];
            let mut entities: Vec<Entity> =
                sides.iter().flatten().flat_map(|column| column.entities()).copied().collect();
            entities.sort_unstable();
            entities.dedup();
            for entity in entities {
                // Who lives on one side only has been named.
                if !(in_left.contains(&entity) && in_right.contains(&entity)) {
                    continue;
                }
                let bytes = sides.map(|column| encoded(column, entity));
                let [left, right] = bytes.map(|bytes| bytes.transpose());
                let unwritable = |error: CodecError| {
                    let name = component.name().to_owned();
                    SnapshotError::Unwritable { name, why: format!("{error}, at {entity}") }
                };
                if left.map_err(unwritable)? != right.map_err(unwritable)? {
                    let values = sides.map(|column| {
                        let column = column.filter(|column| column.position(entity).is_some())?;
                        Some(describe(&*column.show(entity)))
                    });
                    let name = component.name();
                    differences.push(Difference::Component { entity, name, values });
                }
            }
        }
        differences.sort_by_key(Difference::entity);
        for resource in self.resources() {
            let [left, right] = [resource.open(left)?, resource.open(right)?];
            let words = [left, right].map(|single| single.map(|single| describe(&*single.show())));
            if words[0] != words[1] {
                let name = resource.name();
                differences.push(Difference::Resource { name, values: words });
            }
        }
        Ok(Diff { differences })
    }
}

fn encoded(
    column: Option<&(dyn Column + '_)>,
    entity: Entity,
) -> Option<Result<Vec<u8>, CodecError>> {
    let column = column.filter(|column| column.position(entity).is_some())?;
    let mut bytes = Vec::new();
    Some(column.encode(entity, &mut bytes).map(|()| bytes))
}

impl Difference {
    /// The entity it is about.
    fn entity(&self) -> Option<Entity> {
        match self {
            Self::OnlyLeft(entity) | Self::OnlyRight(entity) => Some(*entity),
            Self::Component { entity, .. } => Some(*entity),
            Self::Resource { .. } => None,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides =
            |f: &mut fmt::Formatter<'_>, name: &str, values: &[Option<String>; 2]| match values {
                [Some(left), Some(right)] => write!(f, "{name} is {left} here and {right} there"),
                [Some(left), None] => write!(f, "{name} is {left} here and not there"),
                [None, Some(right)] => write!(f, "{name} is {right} there and not here"),
                [None, None] => write!(f, "{name} is nowhere"),
            };
        match self {
            Self::OnlyLeft(entity) => write!(f, "{entity} is only here"),
            Self::OnlyRight(entity) => write!(f, "{entity} is only there"),
            Self::Component { entity, name, values } => {
                write!(f, "{entity}: ")?;
                sides(f, name, values)
            }
            Self::Resource { name, values } => {
                f.write_str("resource ")?;
                sides(f, name, values)
            }
        }
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        Ok(())
    }
}
