//! Cases of misuse and load that no other test is named for; `tests/CASES.md` lists all.

#![cfg(feature = "derive")]

mod common;

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};

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
fn a_drop_that_reaches_for_the_lock_of_its_own_world_finds_it_taken() {
    #[derive(Component)]
    struct Visitor {
        home: Weak<Mutex<World>>,
        refused: Arc<AtomicUsize>,
        panics: bool,
    }
    impl Drop for Visitor {
        fn drop(&mut self) {
            let home = self.home.upgrade().unwrap();
            if matches!(home.try_lock(), Err(TryLockError::WouldBlock)) {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            if self.panics {
                planned_panic();
            }
        }
    }
    let (shared, refused) = (Arc::new(Mutex::new(World::new())), Arc::new(AtomicUsize::new(0)));
    let ids: Vec<_> = (0..4)
        .map(|n| {
            let (home, refused) = (Arc::downgrade(&shared), Arc::clone(&refused));
            shared.lock().unwrap().spawn((Visitor { home, refused, panics: n == 1 }, A(n)))
        })
        .collect();

    shared.lock().unwrap().despawn(ids[0]).unwrap();
    assert!(panics_as_planned(|| shared.lock().unwrap().despawn(ids[1])));
    assert_eq!(refused.load(Ordering::Relaxed), 2);

    // The lock says that somebody panicked; the world is sound all the same.
    assert!(shared.is_poisoned());
    let mut world = shared.lock().unwrap_or_else(PoisonError::into_inner);
    world.verify().unwrap();
    assert!(!world.is_alive(ids[1]) && world.is_alive(ids[2]));
    world.clear();
    assert_eq!((world.len(), refused.load(Ordering::Relaxed)), (0, 4));
    world.verify().unwrap();
}

#[test]
fn a_drop_that_reaches_for_a_world_of_its_thread_meets_the_rules_of_borrowing() {
    thread_local! {
        static WORLD: RefCell<World> = RefCell::new(World::new());
        static REFUSED: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    }
    #[derive(Component)]
    struct Visitor;
    impl Drop for Visitor {
        fn drop(&mut self) {
            // The world goes with its thread, and its values then find none.
            _ = WORLD.try_with(|world| {
                let (mut whole, mut pool) = REFUSED.get();
                match world.try_borrow() {
                    Err(_) => whole += 1,
                    Ok(world) => {
                        pool += u32::from(world.try_pool::<Self>().is_err());
                        // What nobody holds can be had.
                        assert_eq!(world.pool::<A>().len(), 3);
                    }
                }
                REFUSED.set((whole, pool));
            });
        }
    }
    let ids = WORLD.with_borrow_mut(|world| [1, 2, 3].map(|n| world.spawn((A(n), Visitor))));

    // While the world is lent for writing, and while only a pool of it is.
    WORLD.with_borrow_mut(|world| drop(world.remove::<Visitor>(ids[0])));
    assert_eq!(REFUSED.get(), (1, 0));
    WORLD.with_borrow(|world| world.pool_mut::<Visitor>().retain(|entity, _| entity != ids[1]));
    assert_eq!(REFUSED.get(), (1, 1));
    WORLD.with_borrow_mut(|world| {
        world.verify().unwrap();
        world.clear();
    });
    assert_eq!(REFUSED.get(), (2, 1));
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

#[cfg(feature = "parallel")]
#[test]
fn a_long_system_starves_no_small_ones_and_who_excludes_all_waits_for_it() {
    const SMALL: usize = 1000;
    let (done, lasting) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(std::time::Duration::ZERO);
    let (small, long) = (Arc::clone(&done), Arc::clone(&lasting));
    schedule.add_systems(move |_: Query<&A>| {
        // Lasts until all others are through; would give up after a minute or so.
        let is_alone = || {
            std::thread::yield_now();
            small.load(Ordering::Acquire) < SMALL
        };
        if (0..50_000_000).any(|_| !is_alone()) {
            long.fetch_add(1, Ordering::Release);
        }
    });
    for _ in 0..SMALL {
        let done = Arc::clone(&done);
        schedule.add_systems(move |_: Query<&A>| _ = done.fetch_add(1, Ordering::AcqRel));
    }
    let seen = Arc::new(Mutex::new((0, 0)));
    let (last, small, long) = (Arc::clone(&seen), Arc::clone(&done), Arc::clone(&lasting));
    schedule.add_systems(move |_: &mut World| {
        *last.lock().unwrap() = (long.load(Ordering::Acquire), small.load(Ordering::Acquire));
    });
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut world = World::new();

    threads.install(|| _ = schedule.step(&mut world));

    assert_eq!(*seen.lock().unwrap(), (1, SMALL));
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

#[cfg(feature = "parallel")]
#[test]
fn the_parts_of_a_walk_by_several_threads_are_the_whole_one() {
    use rayon::iter::ParallelIterator;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for seed in 0..12 {
        let (mut rng, mut world) = (Rng::new(seed), World::new());
        for n in 0..700 {
            match rng.below(3) {
                0 => _ = world.spawn(A(n)),
                1 => _ = world.spawn(B(n)),
                _ => _ = world.spawn((A(n), B(n))),
            }
        }
        if seed.is_multiple_of(2) {
            world.group::<(A, B)>().build().unwrap();
        }
        let query = world.query::<(Entity, &A, &B)>();
        let whole: Vec<Entity> = query.iter().map(|(entity, ..)| entity).collect();
        for batch in [1, 7, 64, 5000] {
            let walk = query.par_iter().batch(batch).map(|(entity, ..)| vec![entity]);
            let parts = walk.fold(Vec::new, |mut part, entity| {
                part.extend(entity);
                part
            });
            let parts: Vec<Vec<Entity>> = threads.install(|| parts.collect());
            let sum: usize = parts.iter().map(Vec::len).sum();
            assert_eq!((sum, query.count()), (whole.len(), whole.len()), "seed {seed}");
            assert_eq!(parts.concat(), whole, "seed {seed}, parts of {batch}");
            assert!(parts.len() > 1 || batch > 64, "it was not parted");
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
