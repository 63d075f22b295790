//! Tracking: when values were added and changed, whatever moves them.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeMap;

use common::{Rng, SeedReport};
use esker::prelude::*;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track)]
struct A(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track, storage = Hashed)]
struct B(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track, storage = Indexed)]
struct C(u32);

/// Not tracked.
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Plain(u32);

/// When the value of an entity was added and changed, and the value.
type Book = BTreeMap<Entity, (Tick, Tick, u32)>;

#[derive(Default)]
struct Scene {
    world: World,
    a: Book,
    b: Book,
    c: Book,
}

/// One of the tracked kinds.
trait Kind:
    Component<Storage: esker::storage::Storage<Self, Tracking = esker::storage::WithTicks>>
{
    fn make(value: u32) -> Self;
    fn value(&self) -> u32;
    fn set(&mut self, value: u32);
    fn book(scene: &mut Scene) -> (&mut World, &mut Book);
}

macro_rules! kind {
    ($name:ident, $book:ident) => {
        impl Kind for $name {
            fn make(value: u32) -> Self {
                Self(value)
            }
            fn value(&self) -> u32 {
                self.0
            }
            fn set(&mut self, value: u32) {
                self.0 = value;
            }
            fn book(scene: &mut Scene) -> (&mut World, &mut Book) {
                (&mut scene.world, &mut scene.$book)
            }
        }
    };
}

kind!(A, a);
kind!(B, b);
kind!(C, c);

fn insert<T: Kind>(scene: &mut Scene, entity: Entity, value: u32) {
    let (world, book) = T::book(scene);
    let now = world.tick();
    if world.insert(entity, T::make(value)).is_ok() {
        let entry = book.entry(entity).or_insert((now, now, value));
        (entry.1, entry.2) = (now, value);
    }
}

/// Writes a value in one of the ways there are.
fn write<T: Kind>(scene: &mut Scene, rng: &mut Rng, entity: Entity, value: u32) {
    let (world, book) = T::book(scene);
    let now = world.tick();
    match rng.below(6) {
        0 => {
            if let Some(mut old) = world.get_mut::<T>(entity) {
                old.set(value);
            }
        }
        1 => _ = world.patch(entity, |old: &mut T| old.set(value)),
        2 => {
            if let Some(mut old) = world.query::<&mut T>().get_mut(entity) {
                old.set(value);
            }
        }
        3 => {
            if let Ok(mut pool) = world.try_pool_mut::<T>()
                && let Some(old) = pool.get_mut(entity)
            {
                old.set(value);
            }
        }
        4 => {
            for (id, mut old) in &mut world.query_mut::<(Entity, &mut T)>() {
                // Looking is not changing.
                assert_eq!(old.value(), book[&id].2);
                if id == entity {
                    old.set(value);
                }
            }
        }
        _ => {
            // Neither is passing by.
            if let Some(mut old) = world.get_mut::<T>(entity) {
                old.bypass().set(value);
                book.get_mut(&entity).unwrap().2 = value;
            }
            return;
        }
    }
    if let Some(entry) = book.get_mut(&entity) {
        (entry.1, entry.2) = (now, value);
    }
}

fn remove<T: Kind>(scene: &mut Scene, entity: Entity) {
    let (world, book) = T::book(scene);
    let removed = world.remove::<T>(entity).ok().flatten();
    assert_eq!(removed.map(|value| value.value()), book.remove(&entity).map(|entry| entry.2));
}

fn operate(scene: &mut Scene, rng: &mut Rng) {
    let living: Vec<Entity> = scene.world.entities().collect();
    let entity = match living.len() {
        0 => common::id(9, 9),
        len => living[rng.index_below(len as u32) as usize],
    };
    let value = rng.index_below(1000);
    match rng.below(20) {
        0 | 1 => {
            let now = scene.world.tick();
            let new = scene.world.spawn((A(value), Plain(0)));
            scene.a.insert(new, (now, now, value));
        }
        2 => {
            let now = scene.world.tick();
            let count = rng.index_below(90);
            let batch = (0..count).map(|i| (A(i), C(i)));
            let new: Vec<Entity> = scene.world.spawn_batch(batch).collect();
            for (&id, i) in new.iter().zip(0..) {
                scene.a.insert(id, (now, now, i));
                scene.c.insert(id, (now, now, i));
            }
        }
        3 => {
            let now = scene.world.tick();
            let column: Vec<B> = (0..rng.index_below(70)).map(B).collect();
            for (id, i) in scene.world.spawn_columns(column).unwrap().zip(0..) {
                scene.b.insert(id, (now, now, i));
            }
        }
        4 => insert::<A>(scene, entity, value),
        5 => insert::<B>(scene, entity, value),
        6 => insert::<C>(scene, entity, value),
        7 | 8 => write::<A>(scene, rng, entity, value),
        9 | 10 => write::<B>(scene, rng, entity, value),
        11 => write::<C>(scene, rng, entity, value),
        12 => remove::<A>(scene, entity),
        13 => remove::<B>(scene, entity),
        14 => {
            _ = scene.world.despawn(entity);
            for book in [&mut scene.a, &mut scene.b, &mut scene.c] {
                book.remove(&entity);
            }
        }
        15 => {
            if let Ok(mut pool) = scene.world.try_pool_mut::<A>() {
                _ = pool.sort_by(|a, b| a.0.cmp(&b.0));
            }
        }
        16 => _ = scene.world.align::<(A, B)>(),
        17 => _ = scene.world.group::<(A, B)>().build(),
        18 => {
            let group = scene.world.group::<(A, B)>().build().unwrap();
            _ = scene.world.sort_group_by::<&A>(group, |a, b| b.0.cmp(&a.0));
            scene.world.ungroup(group);
        }
        _ => _ = scene.world.advance_tick(),
    }
}

/// Everything that can be asked about changes gives what the book says.
fn compare<T: Kind>(scene: &mut Scene, since: Tick) {
    let (world, book) = T::book(scene);
    let query = world.query::<(Entity, Ref<'_, T>)>().since(since);
    let found: Book = query
        .iter()
        .map(|(id, value)| {
            let (added, changed, _) = book[&id];
            assert_eq!((value.is_added(), value.is_changed()), (added > since, changed > since));
            (id, (added, value.last_changed(), value.value()))
        })
        .collect();
    assert_eq!(found, *book);
    drop(query);

    let sorted = |mut ids: Vec<Entity>| {
        ids.sort_unstable();
        ids
    };
    let expected = |new: &dyn Fn(&(Tick, Tick, u32)) -> bool| {
        book.iter().filter(|(_, entry)| new(entry)).map(|(&id, _)| id).collect::<Vec<_>>()
    };
    let changed = world.query_filtered::<Entity, Changed<T>>().since(since);
    assert_eq!(sorted(changed.iter().collect()), expected(&|entry| entry.1 > since));
    assert_eq!(changed.count(), changed.iter().count());
    let added = world.query_filtered::<(Entity, &T), Added<T>>().since(since);
    assert_eq!(
        sorted(added.iter().map(|(id, _)| id).collect()),
        expected(&|entry| entry.0 > since)
    );
    for &id in book.keys() {
        assert_eq!(changed.contains(id), book[&id].1 > since);
    }
}

#[test]
fn ticks_stay_beside_their_values_whatever_moves_them() {
    for seed in 0..30 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test changes" };
        let mut rng = Rng::new(seed);
        let mut scene = Scene::default();
        for _ in 0..120 {
            operate(&mut scene, &mut rng);
            let since = Tick::new(u64::from(rng.index_below(scene.world.tick().get() as u32 + 2)));
            compare::<A>(&mut scene, since);
            compare::<B>(&mut scene, since);
            compare::<C>(&mut scene, since);
        }
        scene.world.verify().unwrap();
    }
}

#[test]
fn filters_of_several_components_go_together() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..100).map(|i| (A(i), B(i), Plain(i)))).collect();
    world.refresh();
    world.get_mut::<A>(ids[3]).unwrap().0 = 0;
    world.get_mut::<A>(ids[50]).unwrap().0 = 0;
    world.get_mut::<B>(ids[50]).unwrap().0 = 0;
    world.get_mut::<B>(ids[7]).unwrap().0 = 0;
    world.remove::<Plain>(ids[3]).unwrap();
    let late = world.spawn((A(1), B(1)));

    fn found<F: esker::query::QueryFilter>(world: &World) -> Vec<Entity> {
        let mut ids: Vec<Entity> = world.query_filtered::<Entity, F>().iter().collect();
        ids.sort_unstable();
        ids
    }
    assert_eq!(found::<(Changed<A>, Changed<B>)>(&world), [ids[50], late]);
    assert_eq!(found::<Or<(Changed<A>, Changed<B>)>>(&world), [ids[3], ids[7], ids[50], late]);
    assert_eq!(found::<(Changed<A>, With<Plain>)>(&world), [ids[50]]);
    assert_eq!(found::<(Changed<A>, Without<Plain>)>(&world), [ids[3], late]);
    assert_eq!(found::<Or<(Added<A>, Changed<B>)>>(&world), [ids[7], ids[50], late]);
    // Where one part is not about changes, the whole world is asked.
    assert_eq!(found::<Or<(Changed<A>, Without<Plain>)>>(&world), [ids[3], ids[50], late]);
    assert_eq!(world.query_filtered::<&mut Plain, Changed<A>>().iter_mut().count(), 1);
    world.refresh();
    assert_eq!(found::<Or<(Changed<A>, Changed<B>)>>(&world), []);
}

#[test]
fn a_query_in_the_order_of_another_pool_finds_the_same_changes() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..50).map(|i| (A(i), Plain(i)))).collect();
    world.pool_mut::<Plain>().sort_by(|a, b| b.0.cmp(&a.0)).unwrap();
    world.refresh();
    for at in [10, 20, 30] {
        world.get_mut::<A>(ids[at]).unwrap().0 = 0;
    }

    let query = world.query_filtered::<(Entity, &A, &Plain), Changed<A>>().drive_by::<Plain>();

    assert_eq!(query.iter().map(|(id, ..)| id).collect::<Vec<_>>(), [ids[30], ids[20], ids[10]]);
}

#[test]
fn a_value_that_is_set_to_what_it_was_has_not_changed_and_says_so() {
    let mut world = World::new();
    let e = world.spawn(A(1));
    for (value, differs) in [(1, false), (2, true), (2, false), (1, true)] {
        world.refresh();

        assert_eq!(world.get_mut::<A>(e).unwrap().set_if_neq(A(value)), differs);

        assert_eq!(world.get::<A>(e).unwrap().0, value);
        assert_eq!(world.query_filtered::<Entity, Changed<A>>().count(), usize::from(differs));
    }
}

#[test]
fn what_a_walk_changes_is_seen_by_the_next_and_what_it_reads_is_not() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..10).map(A)).collect();
    world.refresh();

    for mut a in &mut world.query::<&mut A>() {
        if a.0 % 2 == 0 {
            a.0 += 100;
        }
    }
    let changed: Vec<Entity> = world.query_filtered::<Entity, Changed<A>>().iter().collect();
    assert_eq!(changed, [ids[0], ids[2], ids[4], ids[6], ids[8]]);

    world.refresh();
    // Of slices nobody can say what is changed, so all of it is.
    for slice in world.query::<&mut A>().runs_mut() {
        assert_eq!(slice.len(), 10);
    }
    assert_eq!(world.query_filtered::<Entity, Changed<A>>().count(), 10);
}

#[cfg(feature = "parallel")]
#[test]
fn threads_that_change_values_of_one_block_are_all_seen() {
    use rayon::iter::ParallelIterator;

    let mut world = World::new();
    world.spawn_batch((0..10_000).map(A));
    world.refresh();

    let mut query = world.query::<&mut A>();
    query.par_iter_mut().batch(8).for_each(|mut a| {
        if a.0 % 3 == 0 {
            a.0 += 1;
        }
    });
    drop(query);

    assert_eq!(world.query_filtered::<&A, Changed<A>>().count(), 3334);
}

#[test]
fn the_dead_are_in_a_reactive_set_but_in_no_query() {
    struct Lost;
    let mut world = World::new();
    world.reactive::<Lost>().removed::<A>().build();
    let (dies, stays) = (world.spawn(A(1)), world.spawn(A(2)));
    world.despawn(dies).unwrap();
    world.remove::<A>(stays).unwrap();

    let query = world.query_filtered::<(Entity, EntityRef<'_>), Reacted<Lost>>();
    assert_eq!(query.iter().map(|(id, _)| id).collect::<Vec<_>>(), [stays]);
    assert!(!query.contains(dies) && query.contains(stays));
    drop(query);
    assert_eq!(world.query_filtered::<Entity, Or<(Reacted<Lost>, With<Plain>)>>().count(), 1);
    assert!(world.drain_reacted::<Lost>().contains(&dies));
}

#[test]
fn so_many_changes_that_all_are_asked_are_the_same_changes() {
    let mut world = World::new();
    let ids: Vec<Entity> = world.spawn_batch((0..2000).map(|i| (A(i), Plain(i)))).collect();
    world.refresh();
    for count in [1, 60, 100, 130, 500, 2000] {
        for &id in &ids[..count] {
            world.get_mut::<A>(id).unwrap().0 += 1;
        }
        let query = world.query_filtered::<(Entity, &A, &Plain), Changed<A>>();
        assert_eq!(query.iter().map(|(id, ..)| id).collect::<Vec<_>>(), ids[..count]);
        assert_eq!(query.count(), count);
        drop(query);
        world.refresh();
    }
}

/// What a query with this filter finds, by every way of walking; all must agree.
fn found_in_all_ways<F: esker::query::QueryFilter + 'static>(
    world: &mut World,
    ids: &[Entity],
) -> Vec<(Entity, u32)> {
    type Terms = (Entity, &'static mut C, Option<&'static Plain>);
    let note =
        |(id, c, plain): (Entity, &C, Option<&Plain>)| (id, c.0 + plain.map_or(0, |plain| plain.0));
    let sorted = |mut list: Vec<(Entity, u32)>| {
        list.sort_unstable();
        list
    };
    let query = world.query_filtered::<Terms, F>();
    let expected: Vec<(Entity, u32)> = query.iter().map(note).collect();
    let mut folded = Vec::new();
    query.iter().for_each(|item| folded.push(note(item)));
    assert_eq!(folded, expected);
    assert_eq!((query.count(), query.is_empty()), (expected.len(), expected.is_empty()));
    assert_eq!(query.explain().matches, expected.len());
    let mut partly = query.iter();
    let mut rest: Vec<_> = partly.by_ref().take(3).map(note).collect();
    partly.for_each(|item| rest.push(note(item)));
    assert_eq!(rest, expected);
    let by_id: Vec<_> = ids.iter().filter_map(|&id| query.get(id)).map(note).collect();
    assert_eq!(by_id, sorted(expected.clone()));
    let named: Vec<_> = query.iter_many(ids.iter().copied()).map(note).collect();
    assert_eq!(named, by_id);
    drop(query);
    let ids_alone = world.query_filtered::<Entity, F>();
    assert_eq!(ids_alone.iter().filter(|id| world.has::<C>(*id)).count(), expected.len());
    let runs: usize = ids_alone.runs().map(|run| run.len()).sum();
    assert_eq!(runs, ids_alone.count());
    drop(ids_alone);
    #[cfg(feature = "parallel")]
    {
        use rayon::iter::ParallelIterator;
        let query = world.query_filtered::<Terms, F>();
        let parallel: Vec<_> = query.par_iter().batch(2).map(note).collect();
        assert_eq!(parallel, expected);
    }
    expected
}

#[test]
fn changes_are_found_alike_by_every_way_of_walking() {
    for seed in 0..30 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test changes" };
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        let mut ids: Vec<Entity> = Vec::new();
        for i in 0..300 {
            let id = world.spawn(A(i));
            if !rng.one_in(4) {
                world.insert(id, C(1000 * i)).unwrap();
            }
            if rng.one_in(2) {
                world.insert(id, (Plain(i), B(i))).unwrap();
            }
            ids.push(id);
        }
        if rng.one_in(2) {
            world.group::<(A, Plain)>().build().unwrap();
        }
        if rng.one_in(2) {
            world.pool_mut::<C>().sort_by(|a, b| b.0.cmp(&a.0)).unwrap();
        }
        world.refresh();
        let mut changed = std::collections::BTreeSet::new();
        for _ in 0..rng.below(12) {
            let id = rng.pick(&ids);
            world.get_mut::<A>(id).unwrap().0 += 1;
            changed.insert(id);
        }
        if let Some(plain) = ids.first().and_then(|&id| world.get_mut::<Plain>(id)) {
            plain.0 += 1;
        }

        let expect = |world: &World, passes: &dyn Fn(Entity) -> bool| -> Vec<Entity> {
            let has = |id: &&Entity| world.has::<C>(**id) && passes(**id);
            ids.iter().filter(has).copied().collect()
        };
        let names = |mut found: Vec<(Entity, u32)>| {
            found.sort_unstable();
            found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
        };
        let all = names(found_in_all_ways::<Changed<A>>(&mut world, &ids));
        assert_eq!(all, expect(&world, &|id| changed.contains(&id)));
        let plain = names(found_in_all_ways::<(Changed<A>, With<Plain>)>(&mut world, &ids));
        let is_plain = |id| changed.contains(&id) && world.has::<Plain>(id);
        assert_eq!(plain, expect(&world, &is_plain));
        let either = names(found_in_all_ways::<Or<(Changed<A>, Changed<B>)>>(&mut world, &ids));
        assert_eq!(either, expect(&world, &|id| changed.contains(&id)));
        let old = names(found_in_all_ways::<(Changed<A>, Changed<B>)>(&mut world, &ids));
        assert_eq!(old, []);
    }
}
