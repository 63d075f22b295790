//! Whole worlds: cloned, compared by a number.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::error::SnapshotError;
use super::state::State;
use super::types::SnapshotTypes;
use crate::world::{ResourceError, World};

impl SnapshotTypes {
    /// Those that a world has among its resources.
    pub(super) fn of(world: &World) -> Result<Self, SnapshotError> {
        match world.try_resource::<Self>() {
            Ok(types) => Ok(types.clone()),
            Err(ResourceError::Borrowed(conflict)) => Err(conflict.into()),
            Err(_) => Err(SnapshotError::NoTypes),
        }
    }

    /// Like [`of`](Self::of), but takes `&mut World` and therefore disregards guards that were leaked.
    pub(super) fn of_mut(world: &mut World) -> Result<Self, SnapshotError> {
        world.resource_slot::<Self>().cloned().ok_or(SnapshotError::NoTypes)
    }

    /// A world with the same entities, components, resources, groups and ticks.
    ///
    /// Every pool has the same order, and the next spawned id is the same. Listeners, readers,
    /// reactive sets and messages under way are not cloned; what the component types say
    /// (`#[component(on_add = …)]`) holds in the clone, too.
    ///
    /// # Errors
    /// [`SnapshotError::NotClonable`] and [`SnapshotError::Unregistered`], which name the type.
    #[track_caller]
    pub fn clone_world(&self, world: &World) -> Result<World, SnapshotError> {
        let state = State::of(world, self)?;
        let mut clone = world.twin();
        state.put_quietly(&mut clone);
        clone.mark_sorted_as(world);
        clone.dwell_as(world, self.has_all_components(world));
        clone.insert_transient(self.clone());
        Ok(clone)
    }

    /// A number that is the same for worlds with the same living entities, components and resources.
    ///
    /// Where they lie in memory does not matter, nor do pools in another order, dead ids, or types
    /// that are not registered. Values are compared bit by bit: a `0.0` is not a `-0.0`. It is the
    /// same for every build, as long as what serde writes is: a `HashMap` inside a component has
    /// no order, a `BTreeMap` has.
    ///
    /// # Errors
    /// [`SnapshotError`] if something is not registered, borrowed for writing, or cannot be written.
    ///
    /// # Complexity
    /// O(everything).
    #[track_caller]
    pub fn hash_world(&self, world: &World) -> Result<u64, SnapshotError> {
        self.check_complete(world)?;
        // A sum, so that the order in which it is made does not matter.
        let mut sum: u64 = 0;
        let mut count: u64 = 0;
        let mut add = |hash: u64| {
            sum = sum.wrapping_add(hash);
            count += 1;
        };
        for entity in world.book().copy().iter() {
            add(xxh3_64(&entity.to_bits().to_le_bytes()));
        }
        let mut bytes = Vec::new();
        for component in self.components() {
            let Some(column) = component.open(world)? else { continue };
            let seed = xxh3_64(component.name().as_bytes());
            for &entity in column.entities() {
                bytes.clear();
                bytes.extend_from_slice(&entity.to_bits().to_le_bytes());
                column.encode(entity, &mut bytes).map_err(|error| {
                    let name = component.name().to_owned();
                    SnapshotError::Unwritable { name, why: format!("{error}, at {entity}") }
                })?;
                add(xxh3_64_with_seed(&bytes, seed));
            }
        }
        for resource in self.resources() {
            let Some(single) = resource.open(world)? else { continue };
            bytes.clear();
            single.encode(&mut bytes).map_err(|error| {
                let name = resource.name().to_owned();
                SnapshotError::Unwritable { name, why: error.to_string() }
            })?;
            add(xxh3_64_with_seed(&bytes, !xxh3_64(resource.name().as_bytes())));
        }
        Ok(xxh3_64_with_seed(&sum.to_le_bytes(), count))
    }
}

impl World {
    /// A world with the same entities, components, resources, groups and ticks: see
    /// [`SnapshotTypes::clone_world`].
    ///
    /// The types are those among the resources.
    ///
    /// # Errors
    /// [`SnapshotError`], which names the type that cannot be cloned; [`SnapshotError::NoTypes`].
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
    /// #[snapshot(clone)]
    /// struct Level(u32);
    ///
    /// let mut world = World::new();
    /// world.insert_resource(SnapshotTypes::new().component::<Level>());
    /// world.spawn(Level(1));
    ///
    /// let mut future = world.try_clone()?;
    /// assert_eq!(future.state_hash()?, world.state_hash()?);
    /// assert_eq!(future.spawn(Level(2)), world.spawn(Level(2)));
    /// # Ok::<(), SnapshotError>(())
    /// ```
    #[track_caller]
    pub fn try_clone(&self) -> Result<Self, SnapshotError> {
        SnapshotTypes::of(self)?.clone_world(self)
    }

    /// A number that is the same for worlds with the same living entities, components and
    /// resources: see [`SnapshotTypes::hash_world`].
    ///
    /// The types are those among the resources.
    ///
    /// # Errors
    /// As [`SnapshotTypes::hash_world`]; [`SnapshotError::NoTypes`].
    #[track_caller]
    pub fn state_hash(&self) -> Result<u64, SnapshotError> {
        SnapshotTypes::of(self)?.hash_world(self)
    }
}
