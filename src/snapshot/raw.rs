//! Components that nobody knows, kept as they came.

use super::save::Saver;
use crate::entity::Entity;
use crate::world::World;

/// A component of a snapshot whose type is not registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawColumn {
    pub(super) name: String,
    pub(super) version: u32,
    /// Bytes of each value, if they are plain.
    pub(super) plain_size: Option<u32>,
    /// The entities, and the bytes of their values.
    pub(super) values: Vec<(Entity, Vec<u8>)>,
}

/// What [`Unknown::Keep`](super::Unknown::Keep) has kept: a resource of the world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawSections(pub(super) Vec<RawColumn>);

impl RawSections {
    /// What is kept in a world and to be saved again, of entities that still live.
    pub(super) fn living_of(world: &World, saver: &Saver<'_>) -> Vec<RawColumn> {
        let Ok(sections) = world.try_resource::<Self>() else { return Vec::new() };
        let wanted = |entity: Entity| {
            world.is_alive(entity) && saver.entity_filter().is_none_or(|filter| filter(entity))
        };
        let columns = sections.0.iter().filter(|column| saver.wants(&column.name)).cloned();
        let living = columns.map(|mut column| {
            column.values.retain(|&(entity, _)| wanted(entity));
            column
        });
        living.filter(|column| !column.values.is_empty()).collect()
    }

    /// Keeps sections in a world, instead of those of before.
    pub(super) fn put(world: &mut World, sections: Vec<RawColumn>) {
        world.remove_resource::<Self>();
        if !sections.is_empty() {
            world.insert_transient(Self(sections));
        }
    }

    /// Keeps sections beside those that are there, which say nothing any more of some entities.
    pub(super) fn add(
        world: &mut World,
        sections: Vec<RawColumn>,
        is_renewed: &dyn Fn(Entity) -> bool,
    ) {
        let mut all = world.remove_resource::<Self>().unwrap_or_default();
        for new in sections {
            for old in all.0.iter_mut().filter(|old| old.name == new.name) {
                old.values.retain(|&(entity, _)| !is_renewed(entity));
            }
            let same = |old: &&mut RawColumn| {
                old.name == new.name
                    && old.version == new.version
                    && old.plain_size == new.plain_size
            };
            match all.0.iter_mut().find(same) {
                Some(old) => old.values.extend(new.values),
                None => all.0.push(new),
            }
        }
        Self::put(world, all.0);
    }
}
