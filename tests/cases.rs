//! Cases of misuse and load that no other test is named for; `tests/CASES.md` lists all.

#![cfg(feature = "derive")]

mod common;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use common::{Rng, panic_message, panics_as_planned, planned_panic};
use esker::prelude::*;

#[derive(Component, Debug, Clone, PartialEq)]
struct A(u32);

#[derive(Component, Debug)]
struct B(#[expect(dead_code, reason = "its size")] u32);

#[test]
fn references_to_values_of_any_alignment_are_aligned() {
    #[derive(Component)]
    #[repr(align(4096))]
    struct Page(u8);
    #[derive(Component)]
    #[component(storage = Indexed)]
    #[repr(align(256))]
    struct Stable(u8);
    #[derive(Component)]
    #[repr(align(64))]
    struct Empty;
    let mut world = World::new();
    let ids: Vec<_> = (0..50).map(|n| world.spawn((Page(n), Stable(n), Empty))).collect();
    for &id in ids.iter().step_by(3) {
        world.remove::<Page>(id).unwrap();
    }
    for (page, stable, empty) in world.query::<(Option<&Page>, &Stable, &Empty)>().iter() {
        assert!(page.is_none_or(|page| (&raw const *page).addr() % 4096 == 0 && page.0 < 50));
        assert_eq!((&raw const *stable).addr() % 256 + (&raw const *empty).addr() % 64, 0);
        assert!(stable.0 < 50);
    }
    for (_, page) in world.pool_mut::<Page>().iter_mut() {
        assert_eq!((&raw const *page).addr() % 4096, 0);
    }
}

#[test]
fn a_component_that_cannot_exist_is_in_no_pool_and_matches_nobody() {
    #[derive(Component, Debug)]
    enum Never {}
    let mut world = World::new();
    world.register::<Never>();
    let e = world.spawn(A(1));
    world.group::<A>().observe::<Never>().build().unwrap();
    assert_eq!(world.query::<(&A, &Never)>().iter().count(), 0);
    assert_eq!(world.query::<(&A, Option<&Never>)>().iter().count(), 1);
    assert!(world.pool::<Never>().as_slice().is_empty());
    assert!(world.remove::<Never>(e).unwrap().is_none());
    world.clear_pool::<Never>();
    world.verify().unwrap();
}

#[test]
fn types_of_the_same_name_and_size_are_told_apart() {
    fn one() -> impl Component {
        #[derive(Component)]
        struct Twin(#[expect(dead_code, reason = "its size")] u32);
        Twin(1)
    }
    fn other() -> impl Component {
        #[derive(Component)]
        struct Twin(#[expect(dead_code, reason = "its size")] u32);
        Twin(2)
    }
    let mut world = World::new();
    let e = world.spawn(one());
    assert_eq!(world.component_names(e).count(), 1);
    world.insert(e, other()).unwrap();
    assert_eq!(world.component_names(e).count(), 2);
    world.verify().unwrap();
}

#[test]
fn a_drop_may_ask_for_changes_through_a_channel() {
    #[derive(Component)]
    struct Last(Sender<u32>, u32);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(self.1).unwrap();
        }
    }
    let (sender, wishes) = channel();
    let mut world = World::new();
    let ids: Vec<_> = (0..5).map(|n| world.spawn(Last(sender.clone(), n))).collect();
    world.despawn_batch(ids);
    for wish in wishes.try_iter() {
        world.spawn(A(wish));
    }
    assert_eq!(world.len(), 5);
    world.verify().unwrap();
}

#[test]
fn a_world_that_its_own_component_refers_to_can_be_dropped() {
    #[derive(Component)]
    struct Home(#[expect(dead_code, reason = "a cycle")] Arc<Mutex<World>>);
    let world = Arc::new(Mutex::new(World::new()));
    let e = world.lock().unwrap().spawn(Home(Arc::clone(&world)));
    // The cycle is broken by who made it; dropping the handle alone leaks, and ends.
    let home = world.lock().unwrap().take::<Home>(e).unwrap();
    drop(home);
    assert_eq!(Arc::strong_count(&world), 1);
}

#[test]
fn listeners_make_components_and_groups_known_while_a_batch_is_told_of() {
    #[derive(Component)]
    struct New;
    let mut world = World::new();
    _ = world.on_add::<A>(|_, entity, commands| {
        commands.insert(entity, New);
        commands.add(|world| _ = world.group::<(A, New)>().build());
    });
    let count = world.spawn_batch((0..100).map(A)).count();
    assert_eq!(world.query::<(&A, &New)>().iter().count(), count);
    world.verify().unwrap();
}

#[test]
fn a_schedule_runs_inside_a_system_of_another_one() {
    let inner = Mutex::new(Schedule::new());
    inner.lock().unwrap().add_systems(|mut all: Query<'_, &mut A>| {
        all.iter_mut().for_each(|a| a.0 += 1);
    });
    let mut outer = Schedule::new();
    outer.add_systems(move |world: &mut World| {
        inner.lock().unwrap().step(world);
        inner.lock().unwrap().step(world);
    });
    let mut world = World::new();
    let e = world.spawn(A(0));
    (0..3).for_each(|_| _ = outer.step(&mut world));
    assert_eq!(*world.get::<A>(e).unwrap(), A(6));
}

#[test]
fn worlds_that_change_places_keep_what_is_theirs() {
    let (mut one, mut two) = (World::new(), World::new());
    let mut schedule = Schedule::new();
    schedule.add_systems(|mut all: Query<'_, &mut A>| all.iter_mut().for_each(|a| a.0 += 1));
    let mut removed = one.removed::<A>();
    let e = one.spawn((A(1), B(1)));
    let f = two.spawn((B(2), A(10)));
    schedule.step(&mut one);
    std::mem::swap(&mut one, &mut two);
    assert!(panic_message(|| schedule.step(&mut one)).contains("world"));
    schedule.step(&mut two);
    assert_eq!((two.get::<A>(e).unwrap().0, one.get::<A>(f).unwrap().0), (3, 10));
    two.remove::<A>(e).unwrap();
    assert_eq!(removed.read(&two).len(), 1);
    one.verify().unwrap();
    two.verify().unwrap();
}

#[test]
fn several_systems_that_panic_in_one_step_are_one_panic_and_the_next_step_runs() {
    let armed = Arc::new(Mutex::new(true));
    let mut schedule = Schedule::new();
    for _ in 0..10 {
        let armed = Arc::clone(&armed);
        schedule.add_systems(move |all: Query<'_, &A>| {
            if *armed.lock().unwrap() && all.iter().count() == 1 {
                planned_panic();
            }
        });
    }
    schedule.set_task_threshold(std::time::Duration::ZERO);
    let mut world = World::new();
    world.spawn(A(0));
    for _ in 0..20 {
        assert!(panics_as_planned(|| schedule.step(&mut world)));
        assert!(world.try_pool_mut::<A>().is_ok(), "a borrow was kept");
    }
    *armed.lock().unwrap() = false;
    schedule.step(&mut world);
    world.verify().unwrap();
}

#[test]
fn an_empty_schedule_and_one_of_disabled_systems_do_nothing() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    assert!(schedule.is_empty());
    schedule.step(&mut world);
    fn never() {
        unreachable!("it is disabled");
    }
    schedule.add_systems(never);
    assert_eq!(schedule.set_enabled(schedule.system_names()[0].to_owned().as_str(), false), 1);
    schedule.step(&mut world);
    world.verify().unwrap();
}

#[test]
fn what_a_walk_says_of_its_length_is_true_at_every_step() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        for n in 0..60 {
            match rng.below(3) {
                0 => _ = world.spawn(A(n)),
                1 => _ = world.spawn(B(n)),
                _ => _ = world.spawn((A(n), B(n))),
            }
        }
        for _ in 0..3 {
            let query = world.query::<(&A, &B)>();
            let (mut walk, mut left) = (query.iter(), query.count());
            loop {
                let (least, most) = walk.size_hint();
                assert!(least <= left && most.is_none_or(|most| most >= left), "seed {seed}");
                if walk.next().is_none() {
                    break;
                }
                left -= 1;
            }
            assert_eq!(left, 0, "seed {seed}");
            assert!(walk.next().is_none());
        }
    }
}

#[test]
fn one_entity_that_comes_and_goes_takes_no_more_memory_with_time() {
    let mut world = World::new();
    let turn = |world: &mut World| {
        let e = world.spawn((A(1), B(1)));
        world.despawn(e).unwrap();
    };
    (0..1000).for_each(|_| turn(&mut world));
    let before = world.memory_report().total();
    (0..200_000).for_each(|_| turn(&mut world));
    assert_eq!(world.memory_report().total(), before);
    assert!(world.is_empty());
}
