//! Removals and messages: readers at any pace, limits, and values whose copies or drops panic.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{Counted, Ledger, Rng, SeedReport, panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::world::{MessageCursor, Messages};

/// A value that is counted, and so are its copies, of which one may panic.
#[derive(Component, Debug)]
#[component(keep_removed)]
struct Kept(Counted, Arc<Ledger>, bool);

impl Clone for Kept {
    fn clone(&self) -> Self {
        if self.2 {
            planned_panic();
        }
        Self(self.1.make(self.0.value), Arc::clone(&self.1), false)
    }
}

/// Copied without harm; known to the world before `Kept`.
#[derive(Component, Debug, Clone, PartialEq)]
#[component(keep_removed)]
struct Early(u32);

/// As `Kept`, known to the world after it, and named by no group.
#[derive(Component, Debug, Clone)]
#[component(keep_removed, storage = Hashed)]
struct Late(Kept);

struct Scene {
    world: World,
    ledger: Arc<Ledger>,
}

impl Scene {
    fn new(is_grouped: bool) -> Self {
        let mut world = World::new();
        world.register::<Early>();
        if is_grouped {
            world.group::<(Early, Kept)>().build().unwrap();
        }
        world.register::<Kept>();
        world.register::<Late>();
        Self { world, ledger: Ledger::new() }
    }

    fn kept(&self, value: u64, panics: bool) -> Kept {
        Kept(self.ledger.make(value), Arc::clone(&self.ledger), panics)
    }

    fn spawn(&mut self, value: u32, panics: bool) -> Entity {
        let kept = self.kept(u64::from(value), false);
        let late = Late(self.kept(u64::from(value), panics));
        self.world.spawn((Early(value), kept, late))
    }

    /// Who has what.
    fn held(&mut self) -> BTreeMap<Entity, Vec<&'static str>> {
        self.world.verify().unwrap();
        let names = |entity| self.world.component_names(entity).collect();
        self.world.entities().map(|entity| (entity, names(entity))).collect()
    }
}

/// The ways in which values go, of all entities or of the first.
const WAYS: [fn(&mut World, &[Entity]); 15] = [
    |world, ids| _ = world.remove::<Late>(ids[0]),
    |world, ids| _ = world.take::<Late>(ids[0]),
    |world, ids| world.despawn(ids[0]).unwrap(),
    |world, ids| _ = world.despawn_batch(ids.iter().copied()),
    |world, _| world.clear(),
    |world, _| world.clear_pool::<Late>(),
    |world, ids| _ = world.pool_mut::<Late>().remove(ids[0]),
    |world, _| world.pool_mut::<Late>().retain(|_, _| false),
    |world, _| world.pool_mut::<Late>().clear(),
    |world, ids| _ = world.remove::<(Late, Early)>(ids[1]),
    |world, ids| _ = world.take::<(Late, Early)>(ids[1]),
    |world, ids| _ = world.remove::<(Early, Late)>(ids[0]),
    |world, ids| _ = world.take::<(Early, (Kept, Late))>(ids[0]),
    |world, ids| _ = world.entity_mut(ids[0]).unwrap().remove::<(Early, Late, Late)>(),
    |world, ids| _ = world.remove_batch::<(Early, Late)>([ids[0], ids[2], ids[0]]),
];

#[test]
fn a_copy_that_panics_leaves_a_world_from_which_all_is_gone_or_nothing() {
    for (nth, way) in WAYS.into_iter().enumerate() {
        for (is_grouped, listens) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut scene = Scene::new(is_grouped);
            let mut readers = (scene.world.removed::<Early>(), scene.world.removed::<Late>());
            if listens {
                _ = scene.world.on_despawn(|_, _, _| ());
            }
            let ids: Vec<_> = (0..4).map(|n| scene.spawn(n, n == 0)).collect();
            let before = scene.held();

            let panicked = panics_as_planned(|| way(&mut scene.world, &ids));

            let after = scene.held();
            let removed: Vec<_> = readers.0.read(&scene.world).entities().collect();
            let late: Vec<_> = readers.1.read(&scene.world).entities().collect();
            let lacks = |name: &str| {
                let has = |id: &Entity| {
                    after.get(id).is_some_and(|all| all.iter().any(|n| n.ends_with(name)))
                };
                ids.iter().copied().filter(|id| !has(id)).collect::<Vec<_>>()
            };
            // Whatever was told is true, and the other way round.
            assert_eq!(removed, lacks("Early"), "way {nth}");
            assert_eq!(late, lacks("Late"), "way {nth}");
            if panicked {
                assert_eq!(before, after, "way {nth}");
            }
            scene.world.clear_pool::<Early>();
            assert_eq!(readers.0.read(&scene.world).len(), ids.len() - removed.len());
            scene.world.verify().unwrap();
            drop(scene.world);
            scene.ledger.assert_all_dropped();
        }
    }
}

#[test]
fn a_drop_of_an_overtaken_removal_that_panics_leaves_the_removal_done() {
    for (nth, way) in WAYS.into_iter().enumerate() {
        for is_grouped in [false, true] {
            // One by one is as far as `retain` goes, as it says.
            let all_go = nth != 7;
            let mut scene = Scene::new(is_grouped);
            let mut reader = scene.world.removed::<Late>();
            scene.world.set_removal_limit::<Late>(2);
            for n in 0..2 {
                let id = scene.spawn(n, false);
                scene.world.remove::<Late>(id).unwrap();
            }
            let ids: Vec<_> = (10..14).map(|n| scene.spawn(n, false)).collect();
            let expected = {
                let mut twin = Scene::new(is_grouped);
                (0..2).for_each(|n| {
                    let id = twin.spawn(n, false);
                    twin.world.remove::<Late>(id).unwrap();
                });
                (10..14).for_each(|n| _ = twin.spawn(n, false));
                way(&mut twin.world, &ids);
                twin.held()
            };
            // The first value to be dropped, or an entry of the journal.
            scene.ledger.panic_at_drop(0);

            _ = panics_as_planned(|| way(&mut scene.world, &ids));

            scene.ledger.defuse();
            let held = scene.held();
            if all_go {
                assert_eq!(held, expected, "way {nth}");
            }
            let gone = ids.iter().filter(|&id| held.get(id).is_none_or(|names| names.len() < 3));
            let removals = reader.read(&scene.world);
            assert_eq!(removals.missed() as usize + removals.len(), 2 + gone.count(), "way {nth}");
            drop(removals);
            scene.world.clear();
            scene.world.verify().unwrap();
            drop(scene.world);
            scene.ledger.assert_all_dropped();
        }
    }
}

#[test]
fn what_waits_for_a_reader_that_never_comes_is_bounded_by_the_limit_in_every_way() {
    for (nth, way) in WAYS.into_iter().enumerate() {
        for is_grouped in [false, true] {
            let mut scene = Scene::new(is_grouped);
            let mut reader = scene.world.removed::<Late>();
            scene.world.set_removal_limit::<Late>(3);
            let mut total = 0;

            for round in 0..20 {
                let ids: Vec<_> = (0..5).map(|n| scene.spawn(round * 5 + n, false)).collect();
                way(&mut scene.world, &ids);
                total += ids.iter().filter(|&&id| !scene.world.has::<Late>(id)).count();
                let held: usize =
                    scene.world.pool::<Kept>().len() + scene.world.pool::<Late>().len();
                assert!(scene.ledger.living() <= held + 3, "way {nth}");
            }

            let report = scene.world.memory_report();
            let memory =
                report.pools.iter().find(|pool| pool.name.ends_with("Late")).unwrap().journal;
            assert_eq!((memory.waiting, memory.overtaken as usize), (3, total - 3), "way {nth}");
            assert!(report.to_string().contains("went unread"), "{report}");
            let removals = reader.read(&scene.world);
            assert_eq!((removals.len(), removals.missed() as usize), (3, total - 3));
            drop(removals);
            assert_eq!(reader.read(&scene.world).missed(), 0);
        }
    }
}

#[test]
fn a_lower_limit_holds_at_once() {
    let mut scene = Scene::new(false);
    let mut reader = scene.world.removed::<Late>();
    let ids: Vec<_> = (0..10).map(|n| scene.spawn(n, false)).collect();
    scene.world.despawn_batch(ids.iter().copied());

    scene.world.set_removal_limit::<Late>(4);

    assert_eq!(scene.ledger.living(), 4);
    let removals = reader.read(&scene.world);
    assert_eq!(
        (removals.entities().collect::<Vec<_>>(), removals.missed()),
        (ids[6..].to_vec(), 6)
    );
}

#[test]
fn what_all_have_read_is_not_counted_as_unread() {
    let mut world = World::new();
    let (mut reader, gone) = (world.removed::<Early>(), world.removed::<Early>());
    world.set_removal_limit::<Early>(2);
    drop(gone);
    for n in 0..10 {
        let e = world.spawn(Early(n));
        world.despawn(e).unwrap();
        assert_eq!(reader.read(&world).len(), 1);
    }

    assert_eq!(world.memory_report().pools[0].journal.overtaken, 0);
    let e = world.spawn(Early(0));
    world.despawn(e).unwrap();
    assert_eq!(reader.read(&world).missed(), 0);
}

#[test]
fn memory_is_given_back_at_refresh_when_the_slowest_reader_has_passed() {
    let mut scene = Scene::new(false);
    let waiting = |scene: &Scene| scene.world.memory_report().pools[2].journal.waiting;
    let (mut fast, mut slow) = (scene.world.removed::<Late>(), scene.world.removed::<Late>());
    for round in 0..400 {
        let e = scene.spawn(round, false);
        scene.world.despawn(e).unwrap();
        assert_eq!(fast.read(&scene.world).entities().collect::<Vec<_>>(), [e]);
        if round % 100 == 99 {
            let removals = slow.read(&scene.world);
            let values = removals.iter().map(|r| r.value.as_ref().unwrap().0.0.value);
            let expected = u64::from(round - 99)..=u64::from(round);
            assert!(values.eq(expected));
        }
        scene.world.refresh();
        assert_eq!(waiting(&scene), (round as usize + 1) % 100);
        assert_eq!(scene.ledger.living(), waiting(&scene));
    }
}

#[test]
fn a_reader_of_another_world_is_given_nothing_and_loses_nothing() {
    let (mut one, mut other) = (World::new(), World::new());
    let mut reader = one.removed::<Early>();
    let mut messages = one.message_cursor::<u32>();
    let _of_other = (other.removed::<Early>(), other.message_cursor::<u32>());
    for n in 0..5 {
        let e = one.spawn(Early(n));
        one.despawn(e).unwrap();
        one.send(n);
    }
    let e = other.spawn(Early(0));
    other.despawn(e).unwrap();
    other.send(0_u32);

    assert_eq!(reader.read(&other).len(), 0);
    assert_eq!((messages.unread(&other), messages.read(&other).len()), (0, 0));
    assert_eq!((reader.read(&one).len(), messages.read(&one).len()), (5, 5));
    assert_eq!((reader.read(&other).len(), messages.read(&other).len()), (0, 0));
    one.remove_resource::<Messages<u32>>();
    assert_eq!(messages.read(&one).len(), 0);
    one.send(7_u32);
    assert_eq!((messages.unread(&one), messages.read(&one).len()), (0, 0));
}

#[test]
fn every_message_is_read_once_by_everybody_in_order_at_any_pace() {
    for seed in 0..30 {
        let _report =
            SeedReport { seed, how_to_repeat: "the seed of a run in `tests/removals.rs`" };
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        world.send(Arc::new(u64::MAX));
        assert_eq!(world.resource::<Messages<Arc<u64>>>().len(), 0, "nobody reads");
        let limit = 1 + rng.below(30);
        world.resource_mut::<Messages<Arc<u64>>>().set_limit(limit);
        // Each reader, its pace, and the first number that it has not read.
        let mut readers: Vec<(MessageCursor<Arc<u64>>, usize, u64)> = Vec::new();
        let mut sent: Vec<Arc<u64>> = Vec::new();
        for _ in 0..500 {
            match rng.below(6) {
                0 if readers.len() < 4 => {
                    let next = sent.len() as u64;
                    readers.push((world.message_cursor(), 1 + rng.below(40), next));
                }
                1 if rng.one_in(20) && !readers.is_empty() => {
                    readers.swap_remove(rng.below(readers.len()));
                }
                2 => {
                    world.refresh();
                    // Dropped, unless somebody has not read it.
                    let slowest = readers.iter().map(|r| r.2).min().unwrap_or(sent.len() as u64);
                    let waiting = (sent.len() - slowest as usize).min(limit);
                    let kept = sent.iter().filter(|sent| Arc::strong_count(sent) > 1).count();
                    assert_eq!(kept, waiting);
                    assert_eq!(world.resource::<Messages<Arc<u64>>>().len(), waiting);
                }
                n => {
                    let message = Arc::new(sent.len() as u64);
                    sent.push(Arc::clone(&message));
                    match n {
                        3 => world.message_writer().unwrap().send(message),
                        _ => world.send(message),
                    }
                }
            }
            for (cursor, pace, next) in &mut readers {
                let unread = (sent.len() - *next as usize).min(limit);
                assert_eq!(cursor.unread(&world), unread);
                if rng.one_in(*pace) {
                    let batch = cursor.read(&world);
                    let missed = sent.len() as u64 - *next - unread as u64;
                    assert_eq!((batch.len(), batch.missed()), (unread, missed));
                    assert!(batch.iter().map(|m| **m).eq(*next + missed..sent.len() as u64));
                    *next = sent.len() as u64;
                }
            }
        }
    }
}

#[test]
fn messages_that_moved_to_another_world_are_dropped_there_when_all_have_read_them() {
    let (mut one, mut other) = (World::new(), World::new());
    let mut reader = one.message_cursor::<u32>();
    other.insert_resource(one.remove_resource::<Messages<u32>>().unwrap());

    for n in 0..100_u32 {
        other.send(n);
        assert_eq!(reader.read(&other).len(), 1);
        other.refresh();
    }

    assert_eq!(other.resource::<Messages<u32>>().len(), 0);
}
