//! Everything that happens to a world, and who hears of it: listeners, readers of removals, reactive
//! sets and watched groups beside a model that predicts each of them.

#![cfg(feature = "derive")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use common::{Rng, SeedReport};
use esker::prelude::*;
use esker::world::{Crossings, GroupId, RemovedCursor};

#[derive(Component, Debug, Clone, PartialEq)]
#[component(keep_removed, on_add = hook_add, on_change = hook_change, on_remove = hook_remove)]
struct A(u32);

#[derive(Component, Debug, Clone, PartialEq)]
#[component(storage = Hashed)]
struct B(u32);

#[derive(Component, Debug, Clone, PartialEq)]
#[component(storage = Indexed, keep_removed)]
struct C(u32);

trait Kind: Component {
    const NTH: usize;
    const KEEPS: bool;
    fn make(value: u32) -> Self;
    fn value(&self) -> u32;
    fn set(&mut self, value: u32);
}

macro_rules! kind {
    ($name:ident, $nth:expr, $keeps:expr) => {
        impl Kind for $name {
            const NTH: usize = $nth;
            const KEEPS: bool = $keeps;
            fn make(value: u32) -> Self {
                Self(value)
            }
            fn value(&self) -> u32 {
                self.0
            }
            fn set(&mut self, value: u32) {
                self.0 = value;
            }
        }
    };
}

kind!(A, 0, true);
kind!(B, 1, false);
kind!(C, 2, true);

macro_rules! of_kind {
    ($nth:expr, $T:ident => $body:expr) => {
        match $nth {
            0 => {
                type $T = A;
                $body
            }
            1 => {
                type $T = B;
                $body
            }
            _ => {
                type $T = C;
                $body
            }
        }
    };
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Spawn,
    Add,
    Change,
    Remove,
    Removed,
    Despawn,
}

type Values = [Option<u32>; 3];

/// A call of a listener, and what it saw of its entity.
#[derive(Debug, Clone, PartialEq)]
struct Heard {
    listener: usize,
    what: What,
    nth: usize,
    entity: Entity,
    seen: Values,
}

#[derive(Default)]
struct Log(Vec<Heard>);

fn seen(world: &World, entity: Entity) -> Values {
    let [a, b, c] = [
        world.get::<A>(entity).map(|value| value.0),
        world.get::<B>(entity).map(|value| value.0),
        world.get::<C>(entity).map(|value| value.0),
    ];
    [a, b, c]
}

fn hear(world: &World, listener: usize, (what, nth): (What, usize), entity: Entity) {
    let seen = seen(world, entity);
    world.resource_mut::<Log>().0.push(Heard { listener, what, nth, entity, seen });
}

fn hook_add(world: &World, entity: Entity, _: &mut Commands<'_, '_>) {
    hear(world, 0, (What::Add, 0), entity);
}

fn hook_change(world: &World, entity: Entity, _: &mut Commands<'_, '_>) {
    hear(world, 0, (What::Change, 0), entity);
}

fn hook_remove(world: &World, entity: Entity, _: &mut Commands<'_, '_>) {
    hear(world, 0, (What::Remove, 0), entity);
}

/// What a listener wants done to its entity.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Insert(usize, u32),
    InsertPair(u32),
    Remove(usize),
    Despawn,
}

/// The wish of the first listener; values get smaller, so it comes to an end.
fn wish(what: What, nth: usize, seen: Values) -> Option<Wish> {
    let value = seen[nth].filter(|&value| value > 0)?;
    let less = value / 7;
    match (value % 7, what) {
        (_, What::Spawn | What::Despawn | What::Removed) => None,
        (2, _) => Some(Wish::Insert((nth + 1) % 3, less)),
        (3, _) | (4, What::Remove) => Some(Wish::Insert(nth, less)),
        (4, _) => Some(Wish::Remove(nth)),
        (5, _) => Some(Wish::Despawn),
        (6, _) => Some(Wish::InsertPair(less)),
        _ => None,
    }
}

fn record(wish: Wish, entity: Entity, commands: &mut Commands<'_, '_>) {
    match wish {
        Wish::Insert(nth, value) => of_kind!(nth, T => commands.insert(entity, T::make(value))),
        Wish::InsertPair(value) => commands.insert(entity, (C(value), A(value))),
        Wish::Remove(nth) => of_kind!(nth, T => commands.remove::<T>(entity)),
        Wish::Despawn => commands.despawn(entity),
    }
}

type Event = (What, usize, Entity);

/// What the world should be, and what everybody should have heard.
#[derive(Default)]
struct Model {
    values: BTreeMap<Entity, Values>,
    heard: Vec<Heard>,
    wishes: Vec<(Wish, Entity)>,
    skipped: u64,
    /// What was done through `&World`, pool by pool.
    echoes: [Vec<(What, Entity)>; 3],
    removals: [Vec<(Entity, u32)>; 3],
    kept: Vec<Entity>,
    matching: Vec<Entity>,
    listens: bool,
}

impl Model {
    fn tell(&mut self, what: What, nth: usize, entity: Entity) {
        let seen = self.values.get(&entity).copied().unwrap_or_default();
        let has_hook = nth == 0 && !matches!(what, What::Spawn | What::Despawn);
        if has_hook {
            self.heard.push(Heard { listener: 0, what, nth, entity, seen });
        }
        if self.listens {
            self.heard.push(Heard { listener: 1, what, nth, entity, seen });
            self.heard.push(Heard { listener: 2, what, nth, entity, seen });
            self.wishes.extend(wish(what, nth, seen).map(|wish| (wish, entity)));
        }
    }

    fn tell_sets(&mut self, (what, nth, entity): Event) {
        let has = self.values.get(&entity).is_some_and(|values| values[nth].is_some());
        match (what, nth) {
            (What::Add, 0) | (What::Change, 1) | (What::Removed, 2)
                if !self.kept.contains(&entity) =>
            {
                self.kept.push(entity);
            }
            _ => {}
        }
        match (what, nth) {
            (What::Add, 1) | (What::Change, 2) if has && !self.matching.contains(&entity) => {
                self.matching.push(entity);
            }
            (What::Removed, 1 | 2) if !has => self.matching.retain(|&other| other != entity),
            _ => {}
        }
    }

    fn deliver(&mut self, events: Vec<Event>) {
        for &event in &events {
            self.tell_sets(event);
        }
        for (what, nth, entity) in events {
            if what != What::Removed {
                self.tell(what, nth, entity);
            }
        }
        for (wish, entity) in mem::take(&mut self.wishes) {
            let is_done = match wish {
                Wish::Insert(nth, value) => self.insert(entity, &[(nth, value)]),
                Wish::InsertPair(value) => self.insert(entity, &[(2, value), (0, value)]),
                Wish::Remove(nth) => self.remove(entity, &[nth]),
                Wish::Despawn => self.despawn(&[entity]) == 1,
            };
            self.skipped += u64::from(!is_done);
        }
    }

    fn spawned(&mut self, entities: &[Entity], parts: &[Vec<(usize, u32)>]) {
        let mut events = Vec::new();
        for (&entity, parts) in entities.iter().zip(parts) {
            self.values.insert(entity, Values::default());
            events.push((What::Spawn, 0, entity));
            events.extend(self.put(entity, parts));
        }
        self.deliver(events);
    }

    fn put(&mut self, entity: Entity, parts: &[(usize, u32)]) -> Vec<Event> {
        let Some(values) = self.values.get_mut(&entity) else { return Vec::new() };
        let put = parts.iter().map(|&(nth, value)| match values[nth].replace(value) {
            Some(_) => (What::Change, nth, entity),
            None => (What::Add, nth, entity),
        });
        put.collect()
    }

    fn insert(&mut self, entity: Entity, parts: &[(usize, u32)]) -> bool {
        let is_alive = self.values.contains_key(&entity);
        let events = self.put(entity, parts);
        self.deliver(events);
        is_alive
    }

    fn remove(&mut self, entity: Entity, nths: &[usize]) -> bool {
        let Some(&values) = self.values.get(&entity) else { return false };
        let lost = || nths.iter().copied().filter(|&nth| values[nth].is_some());
        lost().for_each(|nth| self.tell(What::Remove, nth, entity));
        let events = lost().map(|nth| self.lose(nth, entity)).collect();
        self.deliver(events);
        true
    }

    fn remove_many(&mut self, entities: &[Entity], nths: &[usize]) {
        let has = |model: &Self, entity, nth: usize| {
            model.values.get(&entity).is_some_and(|values| values[nth].is_some())
        };
        let pairs =
            || entities.iter().flat_map(|&entity| nths.iter().map(move |&nth| (entity, nth)));
        let mut told = BTreeSet::new();
        for (entity, nth) in pairs() {
            if has(self, entity, nth) && told.insert((entity, nth)) {
                self.tell(What::Remove, nth, entity);
            }
        }
        let mut events = Vec::new();
        for (entity, nth) in pairs() {
            if has(self, entity, nth) {
                events.push(self.lose(nth, entity));
            }
        }
        self.deliver(events);
    }

    fn lose(&mut self, nth: usize, entity: Entity) -> Event {
        let value = self.values.get_mut(&entity).unwrap()[nth].take().unwrap();
        self.removals[nth].push((entity, value));
        (What::Removed, nth, entity)
    }

    fn components(&self, entity: Entity) -> Vec<usize> {
        (0..3).filter(|&nth| self.values[&entity][nth].is_some()).collect()
    }

    fn despawn(&mut self, entities: &[Entity]) -> usize {
        let mut dying: Vec<Entity> = Vec::new();
        for &entity in entities {
            if self.values.contains_key(&entity) && !dying.contains(&entity) {
                dying.push(entity);
            }
        }
        let order = dying.clone();
        self.perish(&dying, |model| {
            let mut events = Vec::new();
            for entity in order {
                for nth in model.components(entity) {
                    events.push(model.lose(nth, entity));
                }
            }
            events
        });
        dying.len()
    }

    /// Lets entities die; `lose_all` takes their values, in the order of the removals.
    fn perish(&mut self, dying: &[Entity], lose_all: impl FnOnce(&mut Self) -> Vec<Event>) {
        for &entity in dying {
            for nth in self.components(entity) {
                self.tell(What::Remove, nth, entity);
            }
        }
        let mut events = lose_all(self);
        for entity in dying {
            self.values.remove(entity);
            events.push((What::Despawn, 0, *entity));
        }
        self.deliver(events);
    }

    fn clear_pool(&mut self, nth: usize, order: &[Entity]) {
        order.iter().for_each(|&entity| self.tell(What::Remove, nth, entity));
        let events = order.iter().map(|&entity| self.lose(nth, entity)).collect();
        self.deliver(events);
    }

    fn echo(&mut self, what: What, nth: usize, entity: Entity) {
        self.echoes[nth].push((what, entity));
    }

    fn refresh(&mut self) {
        let mut events = Vec::new();
        for (nth, echo) in mem::take(&mut self.echoes).into_iter().enumerate() {
            events.extend(echo.into_iter().map(|(what, entity)| (what, nth, entity)));
        }
        self.deliver(events);
    }
}

/// Kept until drained; and only as long as they match.
struct Kept;
struct Matching;

type Readers<T> = [Reader<T>; 2];

/// A reader of removals that reads once in `pace` steps.
struct Reader<T> {
    cursor: RemovedCursor<T>,
    read: usize,
    pace: usize,
}

impl<T: Kind> Reader<T> {
    fn new(world: &mut World, pace: usize) -> Self {
        Self { cursor: world.removed(), read: 0, pace }
    }

    /// Whatever it is given follows what it was given before.
    fn read(&mut self, world: &World, model: &Model) {
        let removals = self.cursor.read(world);
        let read: Vec<_> =
            removals.iter().map(|r| (r.entity, r.value.as_ref().map(T::value))).collect();
        let all = &model.removals[T::NTH];
        let kept = |value| T::KEEPS.then_some(value);
        let expected: Vec<_> = all[self.read..].iter().map(|&(e, v)| (e, kept(v))).collect();
        assert_eq!(read, expected);
        assert_eq!(removals.missed(), 0);
        self.read = all.len();
    }
}

struct Scene {
    world: World,
    model: Model,
    rng: Rng,
    /// All entities there ever were.
    ids: Vec<Entity>,
    readers: (Readers<A>, Readers<B>, Readers<C>),
    connections: Vec<esker::world::Connection>,
    /// Watched groups and their members at the last refresh.
    watched: Vec<(GroupId, BTreeSet<Entity>)>,
}

/// A pool, for changing: by one who is alone with the world, or beside others.
fn pool<T: Component>(world: &mut World, is_alone: bool) -> PoolMut<'_, T> {
    if is_alone { world.edit_pool() } else { world.pool_mut() }
}

/// Whether an entity with these values is a member of the `nth` watched group.
fn is_member(nth: usize, [a, b, c]: Values) -> bool {
    match nth {
        0 => a.is_some() && b.is_some() && c.is_none(),
        _ => c.is_some(),
    }
}

impl Scene {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        world.insert_resource(Log::default());
        of_kind!(0, T => _ = world.register::<T>());
        world.register::<B>();
        world.register::<C>();
        let pair = world.group::<(A, B)>().exclude::<C>().build().unwrap();
        let thirds = world.group::<()>().observe::<C>().build().unwrap();
        let watched = vec![(pair, BTreeSet::new()), (thirds, BTreeSet::new())];
        watched.iter().for_each(|&(group, _)| assert!(world.watch(group)));
        world.reactive::<Kept>().added::<A>().changed::<B>().removed::<C>().build();
        world.reactive::<Matching>().added::<B>().changed::<C>().forget_lost().build();
        let readers = (
            [1, 100].map(|pace| Reader::new(&mut world, pace)),
            [3, 100].map(|pace| Reader::new(&mut world, pace)),
            [7, 100].map(|pace| Reader::new(&mut world, pace)),
        );
        let (model, rng) = (Model::default(), Rng::new(seed));
        Self { world, model, rng, ids: Vec::new(), readers, connections: Vec::new(), watched }
    }

    /// Connects the listeners, or ends their connections.
    fn toggle(&mut self) {
        self.model.listens ^= true;
        if !self.model.listens {
            let ended = mem::take(&mut self.connections);
            assert!(ended.iter().all(|&connection| self.world.disconnect(connection)));
            assert!(ended.iter().all(|&connection| !self.world.disconnect(connection)));
            return;
        }
        for listener in [1, 2] {
            let listen = move |what, nth| {
                move |world: &World, entity: Entity, commands: &mut Commands<'_, '_>| {
                    hear(world, listener, (what, nth), entity);
                    if let (1, Some(wish)) = (listener, wish(what, nth, seen(world, entity))) {
                        record(wish, entity, commands);
                    }
                }
            };
            let Self { world, connections, .. } = self;
            connections.push(world.on_spawn(listen(What::Spawn, 0)));
            connections.push(world.on_despawn(listen(What::Despawn, 0)));
            for nth in 0..3 {
                of_kind!(nth, T => {
                    connections.push(world.on_add::<T>(listen(What::Add, nth)));
                    connections.push(world.on_change::<T>(listen(What::Change, nth)));
                    connections.push(world.on_remove::<T>(listen(What::Remove, nth)));
                });
            }
        }
    }

    fn value(&mut self) -> u32 {
        self.rng.index_below(400)
    }

    /// One of all entities, dead ones too, but mostly of late.
    fn entity(&mut self) -> Entity {
        match self.ids.len() {
            0 => common::id(7, 7),
            len => self.ids[len - 1 - self.rng.below(len.min(24))],
        }
    }

    fn order(&self, nth: usize) -> Vec<Entity> {
        of_kind!(nth, T => self.world.pool::<T>().entities().to_vec())
    }

    fn step(&mut self) {
        let (entity, value) = (self.entity(), self.value());
        match self.rng.below(24) {
            0..4 => self.spawn(value),
            4..6 => self.spawn_many(),
            6..10 => self.insert(entity, value),
            10 => self.insert_many(),
            11 => self.remove_many(),
            12..14 => self.remove(entity),
            14..16 => {
                let is_dead = !self.model.values.contains_key(&entity);
                assert_eq!(self.world.despawn(entity).is_err(), is_dead);
                self.model.despawn(&[entity]);
            }
            16 => {
                let count = self.rng.below(6);
                let dying: Vec<_> = (0..count).map(|_| self.entity()).collect();
                let died = self.world.despawn_batch(dying.iter().copied());
                assert_eq!(died, self.model.despawn(&dying));
            }
            17 => self.clear(),
            18..21 => self.edit_pool(entity, value),
            21 if self.rng.one_in(4) => self.toggle(),
            _ => self.refresh(),
        }
        self.check();
    }

    fn spawn(&mut self, value: u32) {
        let world = &mut self.world;
        let (entity, parts) = match self.rng.below(6) {
            0 => (world.spawn(()), vec![]),
            1 => (world.spawn(A(value)), vec![(0, value)]),
            2 => (world.spawn((A(value), B(1))), vec![(0, value), (1, 1)]),
            3 => (world.spawn((C(value), A(2))), vec![(2, value), (0, 2)]),
            4 => (world.spawn((B(1), C(value), A(8))), vec![(1, 1), (2, value), (0, 8)]),
            _ => (world.spawn_empty(), vec![]),
        };
        self.ids.push(entity);
        self.model.spawned(&[entity], &[parts]);
    }

    fn spawn_many(&mut self) {
        let count = self.rng.below(5);
        let values: Vec<u32> = (0..count).map(|_| self.value()).collect();
        let bundles = values.iter().map(|&value| (B(value), A(value)));
        let parts = |kinds: &[usize]| -> Vec<Vec<_>> {
            values.iter().map(|&value| kinds.iter().map(|&nth| (nth, value)).collect()).collect()
        };
        let mut ids = Vec::new();
        let parts = match self.rng.below(5) {
            0 => {
                self.world.spawn_batch(bundles).for_each(|entity| ids.push(entity));
                parts(&[1, 0])
            }
            1 => {
                ids = self.world.spawn_batch(bundles).collect();
                parts(&[1, 0])
            }
            2 => {
                let mut batch = self.world.spawn_batch(bundles);
                ids.extend(batch.by_ref().take(2));
                batch.for_each(|entity| ids.push(entity));
                parts(&[1, 0])
            }
            3 => {
                let columns = (
                    values.iter().map(|&value| C(value)).collect::<Vec<_>>(),
                    values.iter().map(|&value| B(value)).collect::<Vec<_>>(),
                );
                ids = self.world.spawn_columns(columns).unwrap().collect();
                parts(&[2, 1])
            }
            _ => {
                ids = self.world.spawn_empty_batch(count).unwrap().collect();
                parts(&[])
            }
        };
        self.ids.extend(&ids);
        self.model.spawned(&ids, &parts);
    }

    fn insert(&mut self, entity: Entity, value: u32) {
        let nth = self.rng.below(3);
        let Self { world, model, .. } = self;
        let has = model.values.get(&entity).is_some_and(|values| values[nth].is_some());
        match self.rng.below(6) {
            0 | 1 => _ = of_kind!(nth, T => world.insert(entity, T::make(value))),
            2 => {
                _ = world.insert(entity, (A(value), C(value)));
                model.insert(entity, &[(0, value), (2, value)]);
                return;
            }
            3 => {
                let replaced = of_kind!(nth, T => world.replace(entity, T::make(value)).is_ok());
                assert_eq!(replaced, has);
                if !has {
                    return;
                }
            }
            4 => {
                let patched = of_kind!(nth, T => world.patch(entity, |old: &mut T| old.set(value)));
                assert_eq!(patched.is_ok(), has);
                if !has {
                    return;
                }
            }
            _ => {
                let before = model.values.contains_key(&entity) && !has;
                if self.rng.one_in(2) {
                    _ = of_kind!(nth, T => world.try_add(entity, T::make(value)));
                } else {
                    of_kind!(nth, T => _ = world.get_or_insert_with(entity, || T::make(value)));
                }
                if !before {
                    return;
                }
            }
        }
        model.insert(entity, &[(nth, value)]);
    }

    fn insert_many(&mut self) {
        let count = self.rng.below(6);
        let batch: Vec<_> = (0..count).map(|_| (self.entity(), self.value())).collect();
        let alive = self.world.insert_batch(batch.iter().map(|&(e, v)| (e, (B(v), C(v)))));
        let is_alive = |(e, _): &&(Entity, u32)| self.model.values.contains_key(e);
        assert_eq!(alive, batch.iter().filter(is_alive).count());
        let mut events = Vec::new();
        for (entity, value) in batch {
            events.extend(self.model.put(entity, &[(1, value), (2, value)]));
        }
        self.model.deliver(events);
    }

    fn remove_many(&mut self) {
        let count = self.rng.below(6);
        let batch: Vec<_> = (0..count).map(|_| self.entity()).collect();
        let alive = self.world.remove_batch::<(C, A)>(batch.iter().copied());
        let is_alive = |entity: &&Entity| self.model.values.contains_key(entity);
        assert_eq!(alive, batch.iter().filter(is_alive).count());
        self.model.remove_many(&batch, &[2, 0]);
    }

    fn remove(&mut self, entity: Entity) {
        let Self { world, model, .. } = self;
        match self.rng.below(6) {
            0 => {
                _ = world.remove::<(A, B)>(entity);
                model.remove(entity, &[0, 1]);
            }
            1 => {
                _ = world.remove::<(C, A, B)>(entity);
                model.remove(entity, &[2, 0, 1]);
            }
            2 => {
                let taken = world.take::<(B, A)>(entity).ok().flatten();
                let values = model.values.get(&entity).copied().unwrap_or_default();
                let expected = values[1].zip(values[0]).map(|(b, a)| (B(b), A(a)));
                if expected.is_some() {
                    model.remove(entity, &[1, 0]);
                }
                assert_eq!(taken, expected);
            }
            _ => {
                let nth = self.rng.below(3);
                of_kind!(nth, T => _ = world.remove::<T>(entity));
                model.remove(entity, &[nth]);
            }
        }
    }

    fn clear(&mut self) {
        let orders = [0, 1, 2].map(|nth| self.order(nth));
        let nth = self.rng.below(10);
        if nth < 3 {
            of_kind!(nth, T => self.world.clear_pool::<T>());
            return self.model.clear_pool(nth, &orders[nth]);
        }
        if nth > 4 {
            return;
        }
        let living: Vec<Entity> = self.world.entities().collect();
        self.world.clear();
        self.model.perish(&living, |model| {
            for (nth, order) in orders.into_iter().enumerate() {
                let lost = |entity: Entity| (entity, model.values[&entity][nth].unwrap());
                model.removals[nth].extend(order.into_iter().map(lost));
            }
            let lost = |&entity: &Entity| {
                let nths = model.components(entity).into_iter();
                nths.map(move |nth| (What::Removed, nth, entity))
            };
            let events = living.iter().flat_map(lost).collect();
            model.values.clear();
            events
        });
    }

    /// Beside others or alone: nobody hears of it until the next refresh, but readers of removals do.
    fn edit_pool(&mut self, entity: Entity, value: u32) {
        let nth = self.rng.below(3);
        let order = self.order(nth);
        let is_alone = self.rng.one_in(2);
        let Self { world, model, .. } = self;
        let mut lost = Vec::new();
        match self.rng.below(5) {
            0 | 1 => {
                let done = of_kind!(nth, T => pool::<T>(world, is_alone).insert(entity, T::make(value)).is_ok());
                assert_eq!(done, model.values.contains_key(&entity));
                for (what, nth, entity) in model.put(entity, &[(nth, value)]) {
                    model.echo(what, nth, entity);
                }
            }
            2 => {
                let removed =
                    of_kind!(nth, T => pool::<T>(world, is_alone).remove(entity).is_some());
                lost.extend(removed.then_some(entity));
            }
            3 => of_kind!(nth, T => pool::<T>(world, is_alone).retain(|entity, value| {
                let stays = value.value() % 4 != 0;
                lost.extend((!stays).then_some(entity));
                stays
            })),
            _ if self.rng.one_in(3) => {
                of_kind!(nth, T => pool::<T>(world, is_alone).clear());
                lost = order;
            }
            _ => {}
        }
        for entity in lost {
            model.lose(nth, entity);
            model.echo(What::Remove, nth, entity);
            model.echo(What::Removed, nth, entity);
        }
    }

    fn refresh(&mut self) {
        self.world.refresh();
        self.model.refresh();
        for (nth, (group, known)) in self.watched.iter_mut().enumerate() {
            let values = self.model.values.iter();
            let now: BTreeSet<Entity> =
                values.filter(|(_, values)| is_member(nth, **values)).map(|(&e, _)| e).collect();
            let Crossings { entered, left, .. } = self.world.crossings(*group).unwrap();
            let sorted = |list: &[Entity]| list.iter().copied().collect::<BTreeSet<_>>();
            assert_eq!(sorted(entered), &now - known, "entered");
            assert_eq!(sorted(left), &*known - &now, "left");
            assert_eq!(entered.len() + left.len(), now.symmetric_difference(known).count());
            *known = now;
        }
    }

    fn check(&mut self) {
        let heard = mem::take(&mut self.world.resource_mut::<Log>().0);
        let expected = mem::take(&mut self.model.heard);
        let count = heard.len().max(expected.len());
        let differs = (0..count).find(|&nth| heard.get(nth) != expected.get(nth));
        if let Some(nth) = differs {
            panic!("call {nth}: heard {:?}, not {:?}", heard.get(nth), expected.get(nth));
        }
        assert_eq!(self.world.command_report().skipped, mem::take(&mut self.model.skipped));
        self.world.verify().unwrap();
        let Self { world, model, rng, readers, .. } = self;
        let held: BTreeMap<_, _> = world.entities().map(|e| (e, seen(world, e))).collect();
        assert_eq!(held, model.values);
        readers.0.iter_mut().filter(|r| rng.one_in(r.pace)).for_each(|r| r.read(world, model));
        readers.1.iter_mut().filter(|r| rng.one_in(r.pace)).for_each(|r| r.read(world, model));
        readers.2.iter_mut().filter(|r| rng.one_in(r.pace)).for_each(|r| r.read(world, model));
        let sorted = |list: &[Entity]| list.iter().copied().collect::<BTreeSet<_>>();
        if self.rng.one_in(5) {
            let with_a = |list: &[Entity]| {
                let has_a = |e: &&Entity| self.model.values.get(e).is_some_and(|v| v[0].is_some());
                list.iter().filter(has_a).copied().collect::<BTreeSet<_>>()
            };
            let query = self.world.query_filtered::<Entity, (Reacted<Kept>, With<A>)>();
            assert_eq!(query.iter().collect::<BTreeSet<_>>(), with_a(&self.model.kept));
            let query = self.world.query_filtered::<Entity, (With<A>, Reacted<Matching>)>();
            assert_eq!(query.iter().collect::<BTreeSet<_>>(), with_a(&self.model.matching));
        }
        if self.rng.one_in(10) {
            let drained = self.world.drain_reacted::<Kept>();
            assert_eq!(drained.len(), self.model.kept.len());
            assert_eq!(sorted(&drained), sorted(&mem::take(&mut self.model.kept)));
        }
        if self.rng.one_in(10) {
            let drained = self.world.drain_reacted::<Matching>();
            assert_eq!(drained.len(), self.model.matching.len());
            assert_eq!(sorted(&drained), sorted(&mem::take(&mut self.model.matching)));
        }
    }
}

#[test]
fn whatever_happens_is_heard_once_in_order_by_listeners_readers_sets_and_watches() {
    for seed in 0..40 {
        let how_to_repeat = "the seed is that of a scene in `tests/reactions.rs`";
        let _report = SeedReport { seed, how_to_repeat };
        let mut scene = Scene::new(seed);
        if seed % 4 > 0 {
            scene.toggle();
        }
        (0..300).for_each(|_| scene.step());
    }
}

#[test]
fn a_set_that_forgets_collects_also_after_a_guard_was_leaked() {
    struct New;
    #[derive(Component)]
    struct Plain;
    let mut world = World::new();
    world.reactive::<New>().added::<Plain>().forget_lost().build();
    let first = world.spawn(Plain);
    std::mem::forget(world.pool_mut::<Plain>());
    let (second, third) = (world.spawn(Plain), world.spawn(Plain));
    world.despawn(second).unwrap();

    assert_eq!(world.drain_reacted::<New>(), [first, third]);
}

/// Names of sets: who got a `C`, who lost one, and who lost a `B`.
struct Got;
struct LostC;
struct LostB;

#[test]
fn who_is_in_one_of_several_sets_is_found_whoever_died_at_that_index() {
    for seed in 0..if cfg!(miri) { 2 } else { 60 } {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test reactions" };
        let mut rng = Rng::new(common::mix(seed));
        let mut world = World::new();
        world.reactive::<Got>().added::<C>().build();
        world.reactive::<LostC>().removed::<C>().build();
        world.reactive::<LostB>().removed::<B>().build();
        let mut ids: Vec<Entity> = Vec::new();
        for _ in 0..40 {
            match rng.below(4) {
                0 => ids.push(world.spawn(C(0))),
                1 => ids.push(world.spawn((C(0), B(0)))),
                2 => ids.push(world.spawn(B(0))),
                _ if ids.is_empty() => {}
                _ => world.despawn(ids.swap_remove(rng.below(ids.len()))).unwrap(),
            }
            let is_in = |id: Entity| {
                let sets =
                    [world.reacted::<Got>(), world.reacted::<LostC>(), world.reacted::<LostB>()];
                sets.iter().flatten().any(|set| set.contains(id))
            };
            let expected: BTreeSet<Entity> = ids.iter().copied().filter(|&id| is_in(id)).collect();
            let found = [
                found::<Or<(Reacted<Got>, Reacted<LostC>, Reacted<LostB>)>>(&world),
                found::<Or<(Reacted<LostB>, Reacted<LostC>, Reacted<Got>)>>(&world),
                found::<Or<(Reacted<LostC>, Or<(Reacted<Got>, Reacted<LostB>)>)>>(&world),
                found::<Or<(Or<(Reacted<Got>, Reacted<LostB>)>, Reacted<LostC>)>>(&world),
            ];
            for found in found {
                assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected);
                assert_eq!(found.len(), expected.len(), "each once");
            }
        }
    }
}

fn found<F: esker::query::QueryFilter>(world: &World) -> Vec<Entity> {
    world.query_filtered::<Entity, F>().iter().collect()
}

#[test]
fn a_query_by_a_set_that_is_borrowed_is_refused_with_its_name() {
    let mut world = World::new();
    world.reactive::<Got>().added::<C>().build();
    let _set = world.reacted_mut::<Got>();

    let conflict = world.try_query::<Entity, Reacted<Got>>().unwrap_err();

    assert_eq!(conflict.name, "reactions::Got");
}
