//! A part of a world that follows another world, snapshot by snapshot.

use std::mem;

use rustc_hash::{FxHashMap, FxHashSet};

use super::delta::{Delta, DeltaParts};
use super::error::SnapshotError;
use super::load::{LoadReport, Loader};
use super::merge;
use super::native;
use super::references::NOBODY;
use super::state::State;
use super::types::SnapshotTypes;
use crate::entity::Entity;
use crate::world::World;

/// Follows a remote world: keeps for each of its entities one of the local world.
///
/// For replication. Each snapshot brings the local entities up to date: new ones come, those that
/// died on the other side die, components that are gone there are removed, ids inside values are
/// translated. Entities of the local world that stand for none of the other are left alone. An
/// entity that was despawned here but lives there comes back.
///
/// A snapshot of [some entities](super::Saver::only_entities) says nothing of the others. If a
/// value refers to one that was not sent yet, an empty entity takes its place until it is.
///
/// # Examples
/// ```
/// # use esker::{Component, Entity, World, snapshot::{Mirror, Snapshot, SnapshotTypes, SnapshotError}};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Component, Snapshot, Serialize, Deserialize)] struct Level(u32);
/// let types = SnapshotTypes::new().component::<Level>();
/// let (mut server, mut client) = (World::new(), World::new());
/// client.spawn(()); // something of its own
/// let remote = server.spawn(Level(1));
///
/// let mut mirror = Mirror::new(types.clone());
/// mirror.update(&mut client, &types.save().to_bytes(&server)?)?;
/// let local = mirror.get(remote).unwrap();
/// assert_eq!(client.get::<Level>(local).unwrap().0, 1);
///
/// server.despawn(remote).unwrap();
/// mirror.update(&mut client, &types.save().to_bytes(&server)?)?;
/// assert!(!client.is_alive(local) && mirror.get(remote).is_none());
/// assert_eq!(client.len(), 1);
/// # Ok::<(), SnapshotError>(())
/// ```
#[derive(Debug)]
pub struct Mirror {
    types: SnapshotTypes,
    local: FxHashMap<Entity, Entity>,
}

impl Mirror {
    /// Follows nobody yet.
    pub fn new(types: SnapshotTypes) -> Self {
        Self { types, local: FxHashMap::default() }
    }

    /// The entity that stands for a remote one, if it is alive there as far as is known.
    pub fn get(&self, remote: Entity) -> Option<Entity> {
        self.local.get(&remote).copied()
    }

    /// The remote entity that a local one stands for.
    ///
    /// # Complexity
    /// O(entities that are followed).
    pub fn remote(&self, local: Entity) -> Option<Entity> {
        self.local.iter().find(|&(_, &known)| known == local).map(|(&remote, _)| remote)
    }

    /// Number of entities that are followed.
    pub fn len(&self) -> usize {
        self.local.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.local.is_empty()
    }

    /// Brings the world up to a snapshot in the native format.
    ///
    /// # Errors
    /// [`SnapshotError`]; the world is as it was then.
    pub fn update(&mut self, world: &mut World, bytes: &[u8]) -> Result<LoadReport, SnapshotError> {
        let types = self.types.clone();
        self.update_with(&types.load(), world, bytes)
    }

    /// As [`update`](Self::update), with the rules of a loader.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_with(
        &mut self,
        loader: &Loader<'_>,
        world: &mut World,
        bytes: &[u8],
    ) -> Result<LoadReport, SnapshotError> {
        let mut state = native::read(bytes, loader)?;
        let mut next = self.local.clone();
        let gone = if state.is_partial { Vec::new() } else { forget_dead(&mut next, &state) };
        let living: Vec<Entity> = state.book.iter().collect();
        let mut spawning = Spawning::new(world, &mut next);
        for &remote in &living {
            spawning.local(remote)?;
        }
        let (book, is_partial) = (state.book.copy(), state.is_partial);
        let mut failed = None;
        let strays = state.map_references(|remote| {
            // One that nobody has heard of may come later, if only some were sent.
            if book.is_alive(remote) || (is_partial && remote != NOBODY) {
                spawning.local(remote).map_err(|error| failed = Some(error)).ok()
            } else {
                None
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(rule) = loader.dangling_rule() {
            super::load::refuse_strays(rule, &strays)?;
        }
        let spawned = spawning.finish();
        let report = LoadReport { skipped: mem::take(&mut state.skipped), dangling: strays };
        let replaced = world.all_at_once(|world| {
            self.exchange(world, gone, &spawned, next);
            remove_absent(&self.types, world, &state, &living, &self.local);
            let renewed: FxHashSet<Entity> =
                living.iter().filter_map(|remote| self.get(*remote)).collect();
            merge::put(world, state, &self.local, &|entity| renewed.contains(&entity))
        });
        drop(replaced);
        Ok(report)
    }

    /// Lets new local entities come to life, and those die that are gone.
    ///
    /// Listeners to removals are told of the deaths, and may reserve ids or panic. So the new entities come to life
    /// first, and the mirror knows all of them at any time: then the next snapshot mends what is left undone.
    fn exchange(
        &mut self,
        world: &mut World,
        gone: Vec<Entity>,
        spawned: &[(Entity, Entity)],
        next: FxHashMap<Entity, Entity>,
    ) {
        let born = || spawned.iter().map(|&(_, local)| local);
        world.bear_foreseen(born());
        self.local.extend(spawned.iter().copied());
        world.despawn_batch(gone);
        self.local = next;
        world.tell_of_births(born());
    }

    /// Brings the world up to a [delta](World::delta_since) of the remote one.
    ///
    /// # Errors
    /// [`SnapshotError`]; the world is as it was then.
    pub fn apply(&mut self, world: &mut World, delta: &Delta) -> Result<(), SnapshotError> {
        let mut parts = DeltaParts::read(delta, &self.types)?;
        let mut next = self.local.clone();
        let gone: Vec<Entity> =
            parts.deaths.iter().filter_map(|remote| next.remove(remote)).collect();
        let mut spawning = Spawning::new(world, &mut next);
        for remote in parts.mentioned() {
            spawning.local(remote)?;
        }
        let mut failed = None;
        for column in &mut parts.columns {
            column.map_references(&mut |_, remote| {
                if remote == NOBODY {
                    return None;
                }
                spawning.local(remote).map_err(|error| failed = Some(error)).ok()
            });
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let spawned = spawning.finish();
        world.all_at_once(|world| {
            self.exchange(world, gone, &spawned, next);
            parts.put(world, &self.types, &|remote| self.get(remote));
        });
        Ok(())
    }

    /// Lets those local entities die that stand for a remote one and have no component; returns
    /// how many.
    pub fn despawn_orphans(&mut self, world: &mut World) -> usize {
        let followed = self.local.iter().map(|(&remote, &local)| (remote, local));
        let mut orphans: Vec<(Entity, Entity)> = followed
            .filter(|&(_, local)| world.is_alive(local) && world.held_ids(local).is_empty())
            .collect();
        // In an order that does not depend on a hash map: it decides about the next ids.
        orphans.sort_unstable();
        // Listeners hear of it when the mirror has forgotten them: they may panic.
        world.all_at_once(|world| {
            let count = world.despawn_batch(orphans.iter().map(|&(_, local)| local));
            for (remote, _) in &orphans {
                self.local.remove(remote);
            }
            count
        })
    }
}

/// Takes out the entities that have died on the other side, and returns the local ones.
fn forget_dead(local: &mut FxHashMap<Entity, Entity>, state: &State) -> Vec<Entity> {
    let mut gone: Vec<(Entity, Entity)> = Vec::new();
    local.retain(|&remote, &mut local| {
        let lives = state.book.is_alive(remote);
        if !lives {
            gone.push((remote, local));
        }
        lives
    });
    // In an order that does not depend on a hash map.
    gone.sort_unstable();
    gone.into_iter().map(|(_, local)| local).collect()
}

/// Finds out which ids new entities will get, before the world is touched.
struct Spawning<'a> {
    local: &'a mut FxHashMap<Entity, Entity>,
    world: &'a World,
    book: Option<Box<crate::entity::Entities>>,
    /// The remote entities that get a new local one, and that.
    spawned: Vec<(Entity, Entity)>,
    is_spawned: FxHashSet<Entity>,
}

impl<'a> Spawning<'a> {
    fn new(world: &'a World, local: &'a mut FxHashMap<Entity, Entity>) -> Self {
        Self { local, world, book: None, spawned: Vec::new(), is_spawned: FxHashSet::default() }
    }

    /// The entity that stands for a remote one; a new one if there is none, or it has died.
    fn local(&mut self, remote: Entity) -> Result<Entity, SnapshotError> {
        if let Some(&local) = self.local.get(&remote)
            && (self.world.is_alive(local) || self.is_spawned.contains(&local))
        {
            return Ok(local);
        }
        let world = self.world;
        let book = self.book.get_or_insert_with(|| Box::new(world.book().copy()));
        let new = book.try_spawn().map_err(SnapshotError::Out)?;
        self.local.insert(remote, new);
        self.spawned.push((remote, new));
        self.is_spawned.insert(new);
        Ok(new)
    }

    fn finish(self) -> Vec<(Entity, Entity)> {
        self.spawned
    }
}

/// Removes components of followed entities that these do not have on the other side any more.
fn remove_absent(
    types: &SnapshotTypes,
    world: &mut World,
    state: &State,
    living: &[Entity],
    local: &FxHashMap<Entity, Entity>,
) {
    for component in types.components() {
        let column = state.columns.iter().find(|column| column.name() == component.name());
        let Some(column) = column else { continue };
        let present: FxHashSet<Entity> = column.column().entities().iter().copied().collect();
        for remote in living.iter().filter(|remote| !present.contains(remote)) {
            if let Some(&entity) = local.get(remote) {
                component.remove(world, entity);
            }
        }
    }
}
