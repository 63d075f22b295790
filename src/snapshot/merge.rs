//! Loads the entities of a snapshot beside those that are there, with new ids.

use rustc_hash::FxHashMap;

use super::error::SnapshotError;
use super::load::{Dangling, LoadReport, Loader, refuse_strays};
use super::raw::{RawColumn, RawSections};
use super::single::Replaced;
use super::state::State;
use crate::entity::Entity;
use crate::world::World;

/// Which entity of the world each entity of the snapshot has become.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    pub(super) local: FxHashMap<Entity, Entity>,
    /// What was left out.
    pub report: LoadReport,
}

impl Merged {
    /// The entity that one of the snapshot has become.
    pub fn get(&self, remote: Entity) -> Option<Entity> {
        self.local.get(&remote).copied()
    }

    /// Number of entities that came.
    pub fn len(&self) -> usize {
        self.local.len()
    }

    /// Whether none came.
    pub fn is_empty(&self) -> bool {
        self.local.is_empty()
    }

    /// The pairs, by the ids in the snapshot.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        let mut pairs: Vec<_> =
            self.local.iter().map(|(&remote, &local)| (remote, local)).collect();
        pairs.sort_unstable();
        pairs.into_iter()
    }
}

/// Adds a state to a world.
pub(super) fn merge(
    loader: &Loader<'_>,
    world: &mut World,
    mut state: State,
) -> Result<Merged, SnapshotError> {
    let living = state.book.copy();
    // Which references lead nowhere is known before there are new ids.
    let mut strays = Vec::new();
    let rule = loader.dangling_rule().unwrap_or(Dangling::Clear);
    if rule == Dangling::Refuse {
        strays = state.map_references(|entity| living.is_alive(entity).then_some(entity));
        refuse_strays(rule, &strays)?;
    }
    let remote: Vec<Entity> = living.iter().collect();
    // Ids inside values are replaced by code of the user's, before the world is touched.
    let foreseen = world.foresee_spawns(remote.len()).map_err(SnapshotError::Out)?;
    let pairs: Vec<(Entity, Entity)> = remote.into_iter().zip(foreseen).collect();
    let local: FxHashMap<Entity, Entity> = pairs.iter().copied().collect();
    strays.extend(state.map_references(|entity| local.get(&entity).copied()));
    let report = LoadReport { skipped: std::mem::take(&mut state.skipped), dangling: strays };
    let replaced = world.all_at_once(|world| {
        let spawned = world.spawn_empty_batch(pairs.len()).expect("the ids were foreseen");
        debug_assert!(spawned.eq(pairs.iter().map(|(_, local)| *local)));
        put(world, state, &local, &|_| false)
    });
    drop(replaced);
    Ok(Merged { local, report })
}

/// Gives the values of a state to the entities that stand for its own; what was kept as bytes for
/// some of them is forgotten. Returns the resources that were replaced.
#[must_use = "their drops wait until everything is in its place"]
pub(super) fn put(
    world: &mut World,
    state: State,
    local: &FxHashMap<Entity, Entity>,
    is_renewed: &dyn Fn(Entity) -> bool,
) -> Vec<Replaced> {
    let replaced = state.resources.into_iter().filter_map(|value| value.insert(world)).collect();
    let mapped = |column: RawColumn| {
        let values = column.values.into_iter();
        let values = values.filter_map(|(entity, value)| Some((*local.get(&entity)?, value)));
        RawColumn { values: values.collect(), ..column }
    };
    RawSections::add(world, state.raw.into_iter().map(mapped).collect(), is_renewed);
    for column in state.columns {
        column.insert(world, &|entity| local.get(&entity).copied());
    }
    replaced
}
