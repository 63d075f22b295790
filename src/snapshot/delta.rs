//! What has changed since a tick.
//!
//! Changed values are found by their ticks. What has gone leaves no tick behind, so it is written
//! down as it goes, by listeners: [`SnapshotTypes::keep_departures`].

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::budget::Budget;
use super::column::Values;
use super::error::SnapshotError;
use super::gather::GatheredColumn;
use super::load::Unknown;
use super::native::{self, Bytes, Sink, kind};
use super::save::Reporter;
use super::types::SnapshotTypes;
use crate::entity::{Entity, SpawnAtError};
use crate::tick::Tick;
use crate::world::{Commands, World};

/// What has changed in a world between two ticks: bytes, to be sent.
///
/// Made by [`World::delta_since`], applied by [`World::apply`] or [`Mirror::apply`](super::Mirror::apply).
/// It has the values of [tracked](crate::Changed) components, who has come, and who has gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    bytes: Vec<u8>,
}

impl Delta {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A delta from bytes that were received. They are read and checked when it is applied.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
}

/// What has come and gone, oldest first: a resource of the world.
#[derive(Debug)]
pub(super) struct Departures {
    /// Everything after this tick is known.
    since: Tick,
    limit: usize,
    log: VecDeque<(Tick, Event)>,
    /// Components that are listened to.
    watched: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Spawned(Entity),
    Despawned(Entity),
    Removed(Entity, &'static str),
}

impl Departures {
    fn note(world: &World, event: Event) {
        let Ok(mut departures) = world.try_resource_mut::<Self>() else { return };
        if departures.log.len() >= departures.limit
            && let Some((tick, _)) = departures.log.pop_front()
        {
            departures.since = departures.since.max(tick);
        }
        departures.log.push_back((world.tick(), event));
    }

    /// Forgets everything, because the world went back and nobody was told.
    pub(super) fn forget(world: &mut World) {
        if world.try_resource::<Self>().is_ok() {
            let since = world.advance_tick();
            let mut departures = world.resource_mut::<Self>();
            departures.log.clear();
            departures.since = since;
        }
    }
}

impl SnapshotTypes {
    /// Lets a world remember who comes and goes, so that [`delta_since`](World::delta_since) works
    /// from now on.
    ///
    /// At most `limit` events are remembered; who asks for what is older is told so.
    pub fn keep_departures(&self, world: &mut World, limit: usize) {
        let before = world.remove_resource::<Departures>();
        let is_first = before.is_none();
        let mut watched = before.map_or(Vec::new(), |before| before.watched);
        for component in self.components().iter().filter(|component| component.is_tracked()) {
            if !watched.contains(&component.name()) {
                watched.push(component.name());
                component.watch(world, |world, entity, name| {
                    Departures::note(world, Event::Removed(entity, name));
                });
            }
        }
        let (since, limit) = (world.advance_tick(), limit.max(1));
        world.insert_transient(Departures { since, limit, log: VecDeque::new(), watched });
        if !is_first {
            return;
        }
        _ = world.on_spawn(|world: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            Departures::note(world, Event::Spawned(entity));
        });
        _ = world.on_despawn(|world: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            Departures::note(world, Event::Despawned(entity));
        });
    }

    /// What has changed in a world since a tick.
    ///
    /// # Errors
    /// [`SnapshotError::TooOld`] if that is not known any more, or
    /// [`keep_departures`](Self::keep_departures) was not called in time.
    #[track_caller]
    pub fn delta(&self, world: &World, since: Tick) -> Result<Delta, SnapshotError> {
        let departures = world.try_resource::<Departures>();
        let earliest = departures.as_ref().map_or(world.tick(), |departures| departures.since);
        if since < earliest {
            return Err(SnapshotError::TooOld { asked: since, earliest });
        }
        let mut columns = Vec::new();
        for component in self.in_order(world) {
            if !component.is_tracked() {
                continue;
            }
            let Some(values) = component.open(world)? else { continue };
            let mut changed = Vec::new();
            if let Some(ticks) = values.ticks() {
                ticks.changed_since(since, |at| {
                    changed.push(values.entities()[at]);
                    true
                });
            }
            columns.push(GatheredColumn::chosen(component, values, changed));
        }
        let events: Vec<Event> = departures.map_or(Vec::new(), |departures| {
            let recent = departures.log.iter().filter(|(tick, _)| *tick > since);
            recent.map(|&(_, event)| event).collect()
        });
        let mut bytes = Vec::new();
        write(&mut Sink::new(&mut bytes), world, &columns, &events, since)?;
        Ok(Delta { bytes })
    }

    /// Applies a delta to a world with the same ids.
    ///
    /// # Errors
    /// [`SnapshotError`]; the world is as it was then.
    pub fn apply(&self, world: &mut World, delta: &Delta) -> Result<(), SnapshotError> {
        let parts = DeltaParts::read(delta, self)?;
        let deaths: FxHashSet<Entity> = parts.deaths.iter().copied().collect();
        world.settle();
        // With each: whether its index is free now, or will be after a death.
        let mut missing = Vec::new();
        for demanded in parts.mentioned() {
            match world.entity_at(demanded.index()) {
                Some(living) if living == demanded && !deaths.contains(&living) => {}
                Some(living) if living != demanded && !deaths.contains(&living) => {
                    return Err(SnapshotError::Taken(SpawnAtError::Taken { demanded, living }));
                }
                living => {
                    world.book().check_limit(demanded).map_err(SnapshotError::Taken)?;
                    missing.push((demanded, living.is_none()));
                }
            }
        }
        world.all_at_once(|world| {
            let born =
                |is_free| missing.iter().filter(move |new| new.1 == is_free).map(|new| new.0);
            // Before listeners are told of the deaths: they may reserve any id that is free.
            world.bear_demanded(born(true));
            world.despawn_batch(parts.deaths.iter().copied());
            world.bear_demanded(born(false));
            world.tell_of_births(missing.iter().map(|new| new.0));
            parts.put(world, self, &Some);
        });
        Ok(())
    }
}

fn write<W: std::io::Write>(
    sink: &mut Sink<W>,
    world: &World,
    columns: &[GatheredColumn<'_>],
    events: &[Event],
    since: Tick,
) -> Result<(), SnapshotError> {
    native::write_header(sink, kind::DELTA)?;
    sink.u32(columns.len() as u32)?;
    native::write_schema(sink, columns)?;
    sink.u64(since.get())?;
    sink.u64(world.tick().get())?;
    let ids = |wanted: &dyn Fn(&Event) -> Option<Entity>| -> Vec<Entity> {
        let mut ids: Vec<Entity> = events.iter().filter_map(wanted).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    let deaths = ids(&|event| match *event {
        Event::Despawned(entity) => Some(entity).filter(|&entity| !world.is_alive(entity)),
        _ => None,
    });
    let spawned = ids(&|event| match *event {
        Event::Spawned(entity) => Some(entity).filter(|&entity| world.is_alive(entity)),
        _ => None,
    });
    for list in [deaths, spawned] {
        sink.u64(list.len() as u64)?;
        sink.ids(&list)?;
    }
    for column in columns {
        let has = |entity: &Entity| column.values.position(*entity).is_some();
        let removed = ids(&|event| match *event {
            Event::Removed(entity, name) if name == column.name => {
                Some(entity).filter(|entity| world.is_alive(*entity) && !has(entity))
            }
            _ => None,
        });
        sink.u64(removed.len() as u64)?;
        sink.ids(&removed)?;
    }
    native::write_columns(sink, columns, &[], &mut Reporter::silent())?;
    sink.finish()
}

/// A delta that was read and checked.
pub(super) struct DeltaParts {
    pub(super) deaths: Vec<Entity>,
    spawned: Vec<Entity>,
    /// Who has lost which component.
    removed: Vec<(String, Vec<Entity>)>,
    pub(super) columns: Vec<Box<dyn Values>>,
}

impl DeltaParts {
    pub(super) fn read(delta: &Delta, types: &SnapshotTypes) -> Result<Self, SnapshotError> {
        let mut bytes = Bytes::new(&delta.bytes);
        if native::read_header(&mut bytes)? != kind::DELTA {
            return Err(bytes.wrong("it is a whole snapshot and not a delta; `load` takes it"));
        }
        let loader = types.load().unknown(Unknown::Refuse);
        let limit = loader.limit_for(delta.bytes.len());
        let mut budget = Budget::new(limit);
        let schema = native::read_schema(&mut bytes, &mut budget)?;
        bytes.enter("the lists of who came and went");
        bytes.u64()?;
        bytes.u64()?;
        let count = bytes.count(8)?;
        let deaths = bytes.ids(count)?;
        let count = bytes.count(8)?;
        let spawned = bytes.ids(count)?;
        let mut removed = Vec::new();
        for entry in &schema {
            let count = bytes.count(8)?;
            let reader = types.column_reader(entry.name(), entry.version());
            let name = reader.map_or(String::new(), |reader| reader.target().to_owned());
            removed.push((name, bytes.ids(count)?));
        }
        let parsed = native::read_columns(&mut bytes, &schema, &loader, &mut budget)?;
        if bytes.left() > 0 {
            return Err(bytes.wrong(format!("{} bytes are left over", bytes.left())));
        }
        let parts = Self { deaths, spawned, removed, columns: parsed.columns };
        let mut indices = FxHashSet::default();
        match parts.mentioned().into_iter().find(|entity| !indices.insert(entity.index())) {
            None => Ok(parts),
            Some(twice) => Err(SnapshotError::Corrupt {
                at: None,
                part: "the delta".to_owned(),
                why: format!("index {} has two living entities", twice.index()),
            }),
        }
    }

    /// The entities that live after it, as far as it speaks of them; each once.
    pub(super) fn mentioned(&self) -> Vec<Entity> {
        let values = self.columns.iter().flat_map(|column| column.column().entities());
        let mut seen = FxHashSet::default();
        let all = self.spawned.iter().chain(values).copied();
        all.filter(|&entity| seen.insert(entity)).collect()
    }

    /// Removes and inserts what it says.
    pub(super) fn put(
        self,
        world: &mut World,
        types: &SnapshotTypes,
        target: &dyn Fn(Entity) -> Option<Entity>,
    ) {
        for (name, entities) in self.removed {
            let Some(component) = types.components().iter().find(|known| known.name() == name)
            else {
                continue;
            };
            for entity in entities.into_iter().filter_map(target) {
                component.remove(world, entity);
            }
        }
        for column in self.columns {
            column.insert(world, target);
        }
    }
}

impl World {
    /// What has changed since a tick, in tracked components: see [`SnapshotTypes::delta`].
    ///
    /// The types are those among the resources.
    ///
    /// # Errors
    /// [`SnapshotError::TooOld`], [`SnapshotError::NoTypes`].
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
    /// #[component(track)]
    /// #[snapshot(clone)]
    /// struct Level(u32);
    ///
    /// let types = SnapshotTypes::new().component::<Level>();
    /// let mut server = World::new();
    /// server.insert_resource(types.clone());
    /// types.keep_departures(&mut server, 1000);
    /// let a = server.spawn(Level(1));
    /// let mut client = server.try_clone()?;
    ///
    /// let sent = server.advance_tick();
    /// server.get_mut::<Level>(a).unwrap().0 = 2;
    /// let b = server.spawn(Level(3));
    /// client.apply(&server.delta_since(sent)?)?;
    /// assert_eq!(client.get::<Level>(a).unwrap().0, 2);
    /// assert_eq!(client.get::<Level>(b).unwrap().0, 3);
    /// # Ok::<(), SnapshotError>(())
    /// ```
    #[track_caller]
    pub fn delta_since(&self, since: Tick) -> Result<Delta, SnapshotError> {
        SnapshotTypes::of(self)?.delta(self, since)
    }

    /// Applies a delta of a world with the same ids.
    ///
    /// # Errors
    /// [`SnapshotError`]; the world is as it was then.
    pub fn apply(&mut self, delta: &Delta) -> Result<(), SnapshotError> {
        SnapshotTypes::of_mut(self)?.apply(self, delta)
    }
}
