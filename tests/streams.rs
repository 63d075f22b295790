//! Ids of systems: whatever unwinds while they are given out, is kept back, or exchanged.

#![cfg(feature = "derive")]

use std::error::Error;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use esker::prelude::*;
use esker::query::Split;
use esker::system::{FunctionSystem, IntoSystem, ParamError, Run, Stream, System, SystemParam};
use esker::{AccessSet, Key};

#[derive(Component)]
struct A;

#[derive(Component, Debug, PartialEq)]
struct B(String);

/// Panics when it is dropped, unless that would be the second panic.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(thread::panicking(), "drop");
    }
}

/// As the end of a system, which cannot return "never".
fn explode() {
    panic!("on purpose");
}

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

/// Spawns in many ways, and looks whether an id is given out that lives.
#[track_caller]
fn use_ids(world: &mut World) {
    world.verify().unwrap();
    let before: Vec<Entity> = world.entities().collect();
    let reserved = world.reserve_entity().unwrap();
    let spawned = world.spawn_batch((0..40).map(|n| (A, B(n.to_string())))).collect::<Vec<_>>();
    world.insert(reserved, A).unwrap();
    assert!(!before.contains(&reserved) && !spawned.iter().any(|id| before.contains(id)));
    assert_eq!(world.len(), before.len() + 41);
    let mut seen: Vec<Entity> =
        world.query_mut::<(Entity, &mut A)>().iter_mut().map(|(id, _)| id).collect();
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
    world.despawn_batch(spawned.into_iter().chain([reserved]));
    world.verify().unwrap();
}

/// A world in which 0v1 is free, and a schedule whose system is known to need one id; in its second run
/// it panics, and so does the drop of a command that it has recorded.
fn exploding() -> (World, Schedule) {
    let (mut world, mut schedule) = (World::new(), Schedule::new());
    let mut step = 0;
    schedule.add_systems(move |mut commands: Commands| {
        step += 1;
        if step < 3 {
            commands.spawn(());
        }
        if step == 2 {
            let bomb = Bomb;
            commands.add(move |_: &mut World| drop(bomb));
            panic!("on purpose");
        }
    });
    schedule.step(&mut world);
    world.clear();
    (world, schedule)
}

#[test]
fn streams_are_closed_when_the_drop_of_a_discarded_command_panics() {
    let (mut world, mut schedule) = exploding();

    let payload = catch_unwind(AssertUnwindSafe(|| drop(schedule.step(&mut world)))).unwrap_err();

    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.ends_with("panicked: on purpose"), "the panic of the drop is told: {text}");
    world.settle();
    assert!(world.is_empty());
    use_ids(&mut world);
    // From here on no streams are opened: an id was demanded nearby.
    let ids: Vec<Entity> = (0..10).map(|_| world.spawn((A, B("old".into())))).collect();
    world.spawn_at(Entity::new(5_000, 0).unwrap(), ()).unwrap();
    schedule.step(&mut world);
    use_ids(&mut world);
    assert!(ids.iter().all(|&id| world.is_alive(id) && world.has::<B>(id)));
}

#[test]
fn streams_are_closed_when_a_system_that_runs_once_explodes() {
    let mut world = World::new();
    let mut old = Vec::new();
    for streams in [true, false] {
        if !streams {
            world.spawn_at(Entity::new(5_000, 0).unwrap(), ()).unwrap();
        }
        old.extend((0..5).map(|_| world.spawn(B("old".into()))));
        let before = world.len();
        assert!(panics(|| world.run_system(|mut commands: Commands| {
            let bomb = Bomb;
            commands.add(move |_: &mut World| drop(bomb));
            commands.spawn(A);
            explode();
        })));
        world.settle();
        assert_eq!(world.len(), before, "with streams: {streams}");
        use_ids(&mut world);
    }
    assert!(old.iter().all(|&id| world.get::<B>(id).is_some_and(|b| b.0 == "old")));
}

#[test]
fn an_id_of_a_system_that_panicked_never_comes_back() {
    static KEPT: Mutex<Vec<Entity>> = Mutex::new(Vec::new());
    let (mut world, mut schedule) = (World::new(), Schedule::new());
    schedule.add_systems(|mut commands: Commands| {
        let ids = (0..30).map(|_| commands.spawn(A));
        KEPT.lock().unwrap_or_else(|kept| kept.into_inner()).extend(ids);
        explode();
    });
    for _ in 0..3 {
        assert!(panics(|| drop(schedule.step(&mut world))));
    }
    let kept = mem::take(&mut *KEPT.lock().unwrap());
    assert!(world.is_empty());
    for _ in 0..200 {
        let id = world.spawn(A);
        assert!(!kept.contains(&id), "{id} was known before");
    }
}

type Inner = FunctionSystem<fn(Commands), fn(Commands<'static, 'static>)>;

/// A system by hand, which does something to the world that it runs in before or after it.
struct ByHand(Inner, fn(&mut World, &mut World), World);

impl IntoSystem<()> for ByHand {
    type System = Self;

    fn into_system(self) -> Self {
        self
    }
}

impl System for ByHand {
    fn name(&self) -> &str {
        "by hand"
    }
    fn set_name(&mut self, _: String) {}
    fn init(&mut self, world: &mut World) -> AccessSet {
        self.0.init(world)
    }
    fn run(&mut self, world: &World, now: Tick) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.run(world, now)
    }
    fn run_sole(
        &mut self,
        world: &mut World,
        now: Tick,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.run(world, now)?;
        (self.1)(world, &mut self.2);
        self.0.run(world, now)
    }
    fn apply(&mut self, world: &mut World) {
        self.0.apply(world);
    }
    fn discard(&mut self, world: &mut World) {
        self.0.discard(world);
    }
    fn output(&self) -> Option<Key> {
        None
    }
    fn forget_output(&self, _: &mut World) {}
    fn needs(&self) -> Vec<(Key, bool)> {
        Vec::new()
    }
    fn streams(&mut self, see: &mut dyn FnMut(&mut Stream)) {
        self.0.streams(see);
    }
}

fn spawn_some(mut commands: Commands) {
    for _ in 0..3 {
        commands.spawn(A);
    }
}

fn old_ids(world: &mut World) -> Vec<Entity> {
    world.spawn_batch((0..9).map(|_| ()));
    world.clear();
    world.spawn_batch((0..9).map(|_| B("old".into()))).collect()
}

#[test]
fn a_system_that_changes_or_exchanges_its_world_frees_no_living_id() {
    let changes: [fn(&mut World, &mut World); 5] = [
        |world, other| mem::swap(world, other),
        |world, _| _ = world.spawn(B("new".into())),
        |world, _| world.clear(),
        |world, _| *world = World::new(),
        |world, _| world.run_system(spawn_some),
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        for in_schedule in [false, true] {
            let (mut world, mut other) = (World::new(), World::new());
            let ids = old_ids(&mut other);
            let system =
                |other| ByHand(IntoSystem::into_system(spawn_some as fn(Commands)), change, other);
            // The streams are known to need ids, and the first ones are free.
            world.run_system(system(World::new()));
            world.clear();

            if in_schedule {
                let mut schedule = Schedule::new();
                schedule.set_serial(true);
                schedule.add_systems((spawn_some, system(other), spawn_some).chain());
                schedule.step(&mut world);
            } else {
                world.run_system(system(other));
            }

            use_ids(&mut world);
            if nth == 0 && !in_schedule {
                assert!(ids.iter().all(|&id| world.get::<B>(id).is_some_and(|b| b.0 == "old")));
            }
        }
    }
}

#[test]
fn worlds_that_exclusive_systems_and_commands_exchange_stay_sound() {
    let (mut world, mut other) = (World::new(), World::new());
    // Components have other numbers there.
    let ids = old_ids(&mut other);
    let other = std::sync::Arc::new(Mutex::new(other));
    let (exclusive, command) = (other.clone(), other.clone());
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    schedule.add_systems(
        (
            spawn_some,
            |mut all: Query<(Entity, &mut B), Without<A>>, mut commands: Commands| {
                for (id, b) in &mut all {
                    b.0.push('+');
                    commands.insert(id, A);
                }
            },
            move |world: &mut World| mem::swap(world, &mut exclusive.lock().unwrap()),
            |all: Query<Entity, With<A>>, mut commands: Commands| {
                all.iter().take(2).for_each(|id| commands.remove::<A>(id));
                commands.spawn((A, B("new".into())));
            },
            move |mut commands: Commands| {
                let other = command.clone();
                commands.spawn(A);
                commands.add(move |world: &mut World| {
                    mem::swap(world, &mut other.lock().unwrap());
                });
                commands.spawn(B("behind".into()));
            },
            spawn_some,
        )
            .chain(),
    );

    for _ in 0..12 {
        schedule.step(&mut world);
        world.verify().unwrap();
        other.lock().unwrap().verify().unwrap();
    }

    use_ids(&mut world);
    use_ids(&mut other.lock().unwrap());
    let other = other.lock().unwrap();
    assert!(ids.iter().all(|&id| [&world, &other].iter().any(|world| world.has::<B>(id))));
}

/// What [`Greedy`] does with the stream that it is asked for next.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Plan {
    Honest,
    KeepBack,
    HandIn,
    Twice,
    Nothing,
    Explode,
}

static PLAN: Mutex<(Plan, Vec<Stream>)> = Mutex::new((Plan::Honest, Vec::new()));

type Of = Commands<'static, 'static>;

/// Commands whose streams go astray.
struct Greedy<'w, 's>(Commands<'w, 's>);

impl SystemParam for Greedy<'_, '_> {
    type State = <Of as SystemParam>::State;
    type Item<'w, 's> = Greedy<'w, 's>;

    fn init(world: &mut World, access: &mut AccessSet) -> Self::State {
        Of::init(world, access)
    }
    fn get<'w, 's>(state: &'s mut Self::State, run: Run<'w>) -> Result<Greedy<'w, 's>, ParamError> {
        Ok(Greedy(<Of as SystemParam>::get(state, run)?))
    }
    fn apply(state: &mut Self::State, world: &mut World) {
        Of::apply(state, world);
    }
    fn streams(state: &mut Self::State, see: &mut dyn FnMut(&mut Stream)) {
        Of::streams(state, &mut |stream| {
            let mut plan = PLAN.lock().unwrap();
            match plan.0 {
                Plan::Honest => see(stream),
                Plan::KeepBack => {
                    let kept = mem::take(stream);
                    plan.1.push(kept);
                    see(stream);
                }
                Plan::HandIn => {
                    if let Some(kept) = plan.1.pop() {
                        *stream = kept;
                    }
                    see(stream);
                }
                Plan::Twice => {
                    see(stream);
                    see(stream);
                }
                Plan::Nothing => {}
                Plan::Explode => {
                    drop(plan);
                    panic!("on purpose");
                }
            }
        });
    }
}

#[test]
fn a_stream_that_is_kept_back_and_handed_in_later_frees_no_living_id() {
    use Plan::{Explode, HandIn, Honest, KeepBack, Nothing, Twice};
    /// Opens streams by the first plan, and closes them by the second.
    fn step(world: &mut World, opens: Plan, closes: Plan, spawns: usize) {
        PLAN.lock().unwrap().0 = opens;
        world.run_system(move |mut all: Greedy, mut other: Commands| {
            for _ in 0..spawns {
                all.0.spawn(A);
                other.spawn(A);
            }
            PLAN.lock().unwrap().0 = closes;
        });
        PLAN.lock().unwrap().0 = Honest;
    }
    let plans = [Honest, KeepBack, HandIn, Twice, Nothing, Explode];
    let cases = plans.iter().flat_map(|&a| plans.iter().map(move |&b| (a, b)));
    for (opens, closes) in cases {
        PLAN.lock().unwrap().1.clear();
        let mut world = World::new();
        step(&mut world, Honest, Honest, 4);
        world.clear();
        let explodes = opens == Explode || closes == Explode;
        assert_eq!(panics(|| step(&mut world, opens, closes, 2)), explodes);
        PLAN.lock().unwrap().0 = Honest;
        // Nothing draws from streams that were left open.
        let reserved = world.reserve_entity().unwrap();
        world.settle();
        assert!(world.is_alive(reserved) && world.verify().is_ok());
        world.spawn_batch((0..20).map(|_| A));
        // As a program that gives something to everything that lives.
        let old: Vec<Entity> = world.entities().collect();
        for &id in &old {
            world.insert(id, B("old".into())).unwrap();
        }
        use_ids(&mut world);
        for (opens, closes) in [(Honest, HandIn), (HandIn, Honest), (Nothing, HandIn)] {
            step(&mut world, opens, closes, 3);
            use_ids(&mut world);
            let is_old = |&id: &Entity| world.get::<B>(id).is_some_and(|b| b.0 == "old");
            assert!(old.iter().all(is_old), "{opens:?} {closes:?}");
        }
    }
}

/// Where [`Brittle`] panics.
#[derive(Debug, Clone, Copy)]
enum Breaks {
    Apply,
    Discard { always: bool },
}

thread_local! {
    static BREAKS: std::cell::Cell<Option<Breaks>> = const { std::cell::Cell::new(None) };
}

/// Commands that panic before they are carried out, or taken back.
struct Brittle<'w, 's>(Commands<'w, 's>);

impl SystemParam for Brittle<'_, '_> {
    type State = <Of as SystemParam>::State;
    type Item<'w, 's> = Brittle<'w, 's>;

    fn init(world: &mut World, access: &mut AccessSet) -> Self::State {
        Of::init(world, access)
    }
    fn get<'w, 's>(
        state: &'s mut Self::State,
        run: Run<'w>,
    ) -> Result<Brittle<'w, 's>, ParamError> {
        Ok(Brittle(<Of as SystemParam>::get(state, run)?))
    }
    fn apply(state: &mut Self::State, world: &mut World) {
        if let Some(Breaks::Apply) = BREAKS.get() {
            BREAKS.set(None);
            explode();
        }
        Of::apply(state, world);
    }
    fn discard(state: &mut Self::State, world: &mut World) {
        if let Some(Breaks::Discard { always }) = BREAKS.get() {
            BREAKS.set(always.then_some(Breaks::Discard { always }));
            explode();
        }
        Of::discard(state, world);
    }
    fn streams(state: &mut Self::State, see: &mut dyn FnMut(&mut Stream)) {
        Of::streams(state, see);
    }
}

#[test]
fn commands_of_a_parameter_that_panics_leave_no_entities_behind() {
    for (breaks, is_once) in [Breaks::Apply, Breaks::Discard { always: false }]
        .into_iter()
        .flat_map(|breaks| [(breaks, true), (breaks, false)])
    {
        let system = move |mut brittle: Brittle, mut commands: Commands| {
            (0..3).for_each(|_| _ = brittle.0.spawn((A, B(String::new()))));
            commands.spawn(A);
            if matches!(breaks, Breaks::Discard { .. }) {
                explode();
            }
        };
        let mut world = World::new();
        BREAKS.set(Some(breaks));
        assert!(panics(|| match is_once {
            true => world.run_system(system),
            false => _ = Schedule::new().add_systems(system).set_serial(true).step(&mut world),
        }));
        BREAKS.set(None);

        world.settle();
        assert_eq!(world.len(), 0, "{breaks:?}, once: {is_once}");
        use_ids(&mut world);
    }
}

#[test]
fn commands_beside_those_of_a_parameter_that_panics_are_taken_back() {
    let mut world = World::new();
    BREAKS.set(Some(Breaks::Discard { always: true }));
    assert!(panics(|| world.run_system(|mut brittle: Brittle, mut commands: Commands| {
        brittle.0.insert_resource(7_u32);
        (0..3).for_each(|_| _ = commands.spawn(A));
        explode();
    })));
    BREAKS.set(None);

    world.settle();
    assert_eq!(world.len(), 0);
    use_ids(&mut world);
}

#[test]
fn a_stream_of_another_world_gives_out_nothing() {
    let mut world = World::new();
    let ids = old_ids(&mut world);
    let mut other = World::new();
    other.run_system(spawn_some);
    PLAN.lock().unwrap().0 = Plan::Honest;
    // The stream of `other` is in the hands of a system of `world`.
    let mut schedule = Schedule::new();
    schedule.add_systems(move |mut commands: Commands| {
        commands.spawn(A);
        other.run_system(spawn_some);
        commands.spawn(A);
    });
    for _ in 0..3 {
        schedule.step(&mut world);
    }
    assert_eq!(world.len(), ids.len() + 6);
    use_ids(&mut world);
}

#[test]
fn parts_that_panic_leave_no_entities_behind() {
    // With streams, and where no ids can be dealt out in advance.
    for mut world in [World::new(), World::builder().entity_limit(1_000).build()] {
        world.spawn_batch((0..64).map(|_| A));
        let mut schedule = Schedule::new();
        let mut step = 0;
        schedule.add_systems(move |mut query: Query<&A>, mut commands: Commands| {
            step += 1;
            let is_last = step >= 3;
            query.subtasks(Split::evenly(4)).run(&mut commands, |walk, commands| {
                for _ in walk {
                    commands.spawn(B("child".into()));
                }
                assert!(!is_last, "on purpose");
            });
        });
        for step in 1..=5 {
            assert_eq!(panics(|| drop(schedule.step(&mut world))), step >= 3);
            let children: Vec<Entity> =
                world.query::<(Entity, &B)>().iter().map(|(id, _)| id).collect();
            world.despawn_batch(children);
            world.settle();
            assert_eq!(world.len(), 64, "after step {step}");
        }
        use_ids(&mut world);
    }
}

#[test]
fn what_parts_have_recorded_before_a_panic_that_is_caught_is_carried_out() {
    let mut world = World::new();
    world.spawn_batch((0..64).map(|_| A));
    for _ in 0..3 {
        world.run_system(|mut query: Query<&A>, mut commands: Commands| {
            let caught = panics(|| {
                let parts = query.subtasks(Split::evenly(4));
                parts.run(&mut commands, |walk, commands| {
                    for _ in walk {
                        commands.spawn(B("child".into()));
                    }
                    panic!("on purpose");
                });
            });
            assert!(caught);
            commands.spawn(B("behind".into()));
        });
    }
    assert_eq!(world.len(), 64 + 3 * 65);
    assert_eq!(world.query::<&B>().iter().filter(|b| b.0 == "child").count(), 3 * 64);
    use_ids(&mut world);
}

/// A schedule with many systems that record commands, of which some spawn many entities.
fn bursting(systems: usize, spawns: &'static [(usize, usize)]) -> Schedule {
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    for nth in 0..systems {
        let count = spawns.iter().find(|&&(at, _)| at == nth).map_or(0, |&(_, count)| count);
        let mut left = count;
        schedule.add_systems(move |mut commands: Commands| {
            for _ in 0..mem::take(&mut left) {
                commands.spawn(A);
            }
        });
    }
    schedule
}

#[test]
fn a_burst_of_one_system_takes_memory_for_itself_only() {
    let mut world = World::new();
    bursting(300, &[(299, 100_000)]).step(&mut world);

    assert_eq!(world.len(), 100_000);
    world.verify().unwrap();
    let report = world.memory_report();
    assert!(report.total() < 64 << 20, "{report:?}");
    // Later bursts find the same ids, if these are free by then.
    let before = report.entities;
    for _ in 0..3 {
        world.clear();
        bursting(300, &[(299, 100_000)]).step(&mut world);
        let entities = world.memory_report().entities;
        assert!(entities <= before + (1 << 20), "{entities} bytes after {before}");
    }
    use_ids(&mut world);
}

#[test]
fn bursts_have_the_same_ids_on_any_number_of_threads() {
    let run = |serial: bool| {
        let mut world = World::new();
        for _ in 0..2 {
            let mut schedule = bursting(40, &[(3, 50_000), (17, 70_000), (39, 20)]);
            schedule.set_serial(serial);
            schedule.step(&mut world);
            schedule.step(&mut world);
        }
        world.verify().unwrap();
        let ids: Vec<Entity> = world.pool::<A>().entities().to_vec();
        ids
    };

    let serial = run(true);
    assert_eq!(serial.len(), 240_040);
    assert_eq!(run(false), serial);
}

#[cfg(feature = "serde")]
mod snapshots {
    use super::*;
    use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
    use serde::{Deserialize, Serialize};

    #[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
    #[snapshot(clone)]
    struct C(u32);

    #[test]
    fn a_world_is_saved_and_loaded_after_a_system_that_spawns_panicked() {
        let types = SnapshotTypes::new().component::<C>();
        for parts in [false, true] {
            let mut world = World::new();
            world.spawn_batch((0..64).map(C));
            let mut schedule = Schedule::new();
            schedule.add_systems(move |mut query: Query<&C>, mut commands: Commands| {
                if parts {
                    // One part of one part has all the work.
                    query.subtasks(Split::evenly(64)).run(&mut commands, |walk, commands| {
                        for _ in walk.filter(|c| c.0 == 7) {
                            (0..1_000).for_each(|n| _ = commands.spawn(C(n)));
                        }
                    });
                }
                (0..1_000).for_each(|n| _ = commands.spawn(C(n)));
                explode();
            });
            assert!(panics(|| drop(schedule.step(&mut world))));
            assert_eq!(world.len(), 64);

            let bytes = types.save().to_bytes(&world).unwrap();
            let mut loaded = types.load().to_world(&bytes).unwrap();

            assert_eq!(loaded.len(), 64);
            for _ in 0..2_000 {
                assert_eq!(loaded.spawn_empty(), world.spawn_empty());
            }
        }
    }

    #[test]
    fn a_system_that_copies_the_world_finds_the_living_in_it() {
        let types = SnapshotTypes::new().component::<C>();
        let mut world = World::new();
        let mut schedule = Schedule::new();
        let mut step = 0;
        schedule.add_systems(move |mut commands: Commands| {
            step += 1;
            if step == 1 {
                (0..5).for_each(|n| _ = commands.spawn(C(n)));
            }
        });
        let known = types.clone();
        let mut past = Rollback::new(types.clone(), 4);
        schedule.add_systems(move |world: &World| {
            let living: Vec<Entity> = world.entities().collect();
            let saved = known.load().to_world(&known.save().to_bytes(world).unwrap()).unwrap();
            let mut kept = World::new();
            past.keep(world).unwrap();
            past.back(&mut kept, 0).unwrap();
            let hash = known.hash_world(world).unwrap();
            for mut copy in [saved, known.clone_world(world).unwrap(), kept] {
                copy.verify().unwrap();
                assert_eq!(copy.entities().collect::<Vec<_>>(), living);
                assert_eq!(known.hash_world(&copy).unwrap(), hash);
            }
            // What was reserved lives in copies, as it does outside of systems.
            let reserved = world.reserve_entity().unwrap();
            let copy = known.clone_world(world).unwrap();
            assert!(copy.is_alive(reserved) && copy.len() == living.len() + 1);
        });
        for step in 1..=3 {
            schedule.step(&mut world);
            assert_eq!(world.len(), 5 + step, "{step}");
        }
    }

    #[test]
    fn a_world_with_bursts_goes_on_after_a_load_as_it_would_have() {
        let types = SnapshotTypes::new().component::<C>();
        let burst = |world: &mut World, count: u32| {
            let mut schedule = Schedule::new();
            for nth in 0..60_u32 {
                schedule.add_systems(move |mut commands: Commands| {
                    (0..if nth == 31 { count } else { 1 }).for_each(|n| _ = commands.spawn(C(n)));
                });
            }
            schedule.step(world);
        };
        let mut world = World::new();
        burst(&mut world, 40_000);
        let dying: Vec<Entity> = world.entities().filter(|id| id.index() % 3 == 0).collect();
        world.despawn_batch(dying);

        let bytes = types.save().to_bytes(&world).unwrap();
        let mut loaded = types.load().to_world(&bytes).unwrap();
        let mut text = Vec::new();
        types.save().serialize(&world, &mut serde_json::Serializer::new(&mut text)).unwrap();
        let mut from = serde_json::Deserializer::from_slice(&text);
        let mut read = types.load().deserialize(&mut from).unwrap();
        for world in [&mut world, &mut loaded, &mut read] {
            burst(world, 50_000);
            world.verify().unwrap();
        }

        let hash = types.hash_world(&world).unwrap();
        assert_eq!(types.hash_world(&loaded).unwrap(), hash);
        assert_eq!(types.hash_world(&read).unwrap(), hash);
    }
}
