//! What systems say that they use, and what they take: the same, for every kind of parameter.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use esker::prelude::*;
use esker::schedule::ScheduleError;
use esker::system::{ParamError, Run};
use esker::{AccessSet, SystemParam};

use crate::common::{self, Rng, SeedReport};

#[derive(Component, Debug, Clone)]
struct A;

#[derive(Component, Debug, Clone)]
struct B;

#[derive(Component, Debug, Clone)]
struct C;

#[derive(Component, Debug, Clone)]
struct D;

/// Builds a schedule of this system alone.
fn build<M>(world: &mut World, system: impl IntoConfigs<M>) -> Result<(), ScheduleError> {
    let mut schedule = Schedule::new();
    schedule.add_systems(system);
    schedule.build(world)
}

#[test]
fn a_pool_of_several_groups_is_edited_by_one_parameter() {
    let mut world = World::new();
    world.group::<(A, B)>().build().unwrap();
    world.group::<(A, B, C)>().exclude::<D>().build().unwrap();

    assert_eq!(build(&mut world, |_: PoolMut<A>| ()), Ok(()));
    assert_eq!(build(&mut world, |_: PoolMut<B>, _: Query<&D>| ()), Ok(()));
    world.run_system(|_: PoolMut<C>| ());
    world.run_system(|_: PoolMut<D>| ());
    // It takes the whole family, so a second one is too much.
    let clash = build(&mut world, |_: PoolMut<A>, _: PoolMut<B>| ());
    assert!(matches!(clash, Err(ScheduleError::Clash { .. })), "{clash:?}");
}

#[test]
fn pools_of_a_group_that_owns_none_are_edited_one_at_a_time() {
    let mut world = World::new();
    world.group::<()>().observe::<(A, B)>().build().unwrap();

    let clash = build(&mut world, |_: PoolMut<A>, _: PoolMut<B>| ());
    assert!(matches!(clash, Err(ScheduleError::Clash { .. })), "{clash:?}");

    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    schedule.add_systems(((|_: PoolMut<A>| ()).named("a"), (|_: PoolMut<B>| ()).named("b")));
    assert_eq!(schedule.ambiguities(&mut world).unwrap().len(), 1);
    // Readers of the pools take no part in it.
    assert_eq!(build(&mut world, |_: PoolMut<A>, _: Query<&B>| ()), Ok(()));
}

/// Types beyond the 64 whose signature bits are their own.
#[derive(Component, Debug)]
struct Filler<const N: usize>;

/// Makes the world know ten types for each of these numbers.
macro_rules! fill {
    ($world:expr, $($tens:literal)*) => {{
        let world: &mut World = $world;
        $(
            world.register::<Filler<{ 10 * $tens }>>();
            world.register::<Filler<{ 10 * $tens + 1 }>>();
            world.register::<Filler<{ 10 * $tens + 2 }>>();
            world.register::<Filler<{ 10 * $tens + 3 }>>();
            world.register::<Filler<{ 10 * $tens + 4 }>>();
            world.register::<Filler<{ 10 * $tens + 5 }>>();
            world.register::<Filler<{ 10 * $tens + 6 }>>();
            world.register::<Filler<{ 10 * $tens + 7 }>>();
            world.register::<Filler<{ 10 * $tens + 8 }>>();
            world.register::<Filler<{ 10 * $tens + 9 }>>();
        )*
    }};
}

/// Components that come later have bits that others may come to share.
fn prefill(world: &mut World) {
    fill!(world, 20 21 22);
}

/// Makes the world know so many types that signatures no longer decide who is in a group.
fn fill(world: &mut World) {
    fill!(world, 0 1 2 3 4 5 6 7 8 9 10 11);
}

#[test]
fn a_schedule_knows_that_an_edit_has_come_to_ask_other_pools() {
    /// Registers the types when its system is prepared.
    struct Fills;
    impl SystemParam for Fills {
        type State = ();
        type Item<'w, 's> = Fills;
        fn init(world: &mut World, _: &mut AccessSet) {
            fill(world);
        }
        fn get<'w>((): &mut (), _: Run<'w>) -> Result<Fills, ParamError> {
            Ok(Fills)
        }
    }
    let mut world = World::new();
    prefill(&mut world);
    world.group::<(A, B)>().observe::<C>().build().unwrap();
    let mut schedule = Schedule::new();
    schedule.add_systems(((|_: PoolMut<A>| ()).named("edits"), (|_: Query<&mut C>| ()).named("c")));
    assert_eq!(schedule.ambiguities(&mut world).unwrap(), []);

    // By the next system, and so before the world is stepped.
    schedule.add_systems((|_: Fills| ()).named("fills"));
    schedule.build(&mut world).unwrap();

    let names = schedule.ambiguities(&mut world).unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!((&*names[0].0, &*names[0].1), ("edits", "c"));
}

#[test]
fn a_condition_with_the_world_runs_on_the_thread_that_steps() {
    let mut world = World::new();
    world.insert_non_send(std::rc::Rc::new(7));
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    let is_seven = |world: &World| **world.non_send::<std::rc::Rc<i32>>().unwrap() == 7;
    schedule.add_systems((
        (|_: Query<&A>| ()).run_if(is_seven),
        |_: Query<&B>| (),
        |_: Query<&C>| (),
    ));

    for _ in 0..3 {
        assert_eq!(schedule.step(&mut world).systems_run, 3);
    }
}

/// A parameter whose type is not known to the test of all pairs.
struct Kind {
    name: &'static str,
    init: fn(&mut World, &mut AccessSet) -> Box<dyn Any + Send>,
    /// Calls the function while the parameter is held.
    hold: fn(&mut dyn Any, Run<'_>, &mut dyn FnMut() -> Taken) -> Taken,
}

type Taken = Result<(), ParamError>;

fn kind<P: SystemParam + 'static>() -> Kind {
    fn hold<P: SystemParam + 'static>(
        state: &mut dyn Any,
        run: Run<'_>,
        then: &mut dyn FnMut() -> Taken,
    ) -> Taken {
        let held = P::get(state.downcast_mut().expect("made by `init`"), run)?;
        let taken = then();
        drop(held);
        taken
    }
    let name = std::any::type_name::<P>();
    Kind { name, init: |world, access| Box::new(P::init(world, access)), hold: hold::<P> }
}

#[derive(SystemParam)]
#[expect(dead_code, reason = "it is taken and not used")]
struct Derived<'w, 's> {
    pool: Pool<'w, A>,
    edited: PoolMut<'w, D>,
    count: Local<'s, u32>,
    commands: Commands<'w, 's>,
}

#[derive(Component, Debug)]
#[component(track)]
struct Timed;

struct Made;
impl SystemOutput for Made {}
struct Collected;
struct Score;
struct Word;

fn kinds() -> Vec<Kind> {
    vec![
        kind::<Query<'_, &A>>(),
        kind::<Query<'_, &mut A>>(),
        kind::<Query<'_, (&A, Option<&mut B>)>>(),
        kind::<Query<'_, AnyOf<(&C, &mut D)>>>(),
        kind::<Query<'_, Has<B>>>(),
        kind::<Query<'_, Entity, With<A>>>(),
        kind::<Query<'_, &mut C, (Without<A>, Or<(With<B>, With<D>)>)>>(),
        kind::<Query<'_, Entity, Changed<Timed>>>(),
        kind::<Query<'_, &mut Timed, Added<Timed>>>(),
        kind::<Query<'_, Ref<'_, Timed>>>(),
        kind::<Query<'_, Entity, Reacted<Collected>>>(),
        kind::<Query<'_, EntityRef<'_>>>(),
        kind::<Query<'_, Entity>>(),
        kind::<Pool<'_, A>>(),
        kind::<Pool<'_, B>>(),
        kind::<Pool<'_, Timed>>(),
        kind::<PoolMut<'_, A>>(),
        kind::<PoolMut<'_, B>>(),
        kind::<PoolMut<'_, C>>(),
        kind::<PoolMut<'_, D>>(),
        kind::<PoolMut<'_, Timed>>(),
        kind::<Removed<'_, A>>(),
        kind::<Removed<'_, Timed>>(),
        kind::<Res<'_, Score>>(),
        kind::<ResMut<'_, Score>>(),
        kind::<MessageReader<'_, Word>>(),
        kind::<MessageWriter<'_, Word>>(),
        kind::<Output<'_, Made>>(),
        kind::<Local<'_, u32>>(),
        kind::<Commands<'_, '_>>(),
        kind::<&World>(),
        kind::<Derived<'_, '_>>(),
        kind::<(Pool<'_, C>, ResMut<'_, Score>)>(),
    ]
}

thread_local! {
    /// The two parameters of `Both`, and whether it says what they use.
    static CHOSEN: Cell<([usize; 2], bool)> = const { Cell::new(([0; 2], true)) };
}

/// Two parameters, held at once.
struct Both;

struct BothState {
    kinds: [Kind; 2],
    states: [Box<dyn Any + Send>; 2],
}

impl SystemParam for Both {
    type State = BothState;
    type Item<'w, 's> = Both;

    fn init(world: &mut World, access: &mut AccessSet) -> BothState {
        let (chosen, says_so) = CHOSEN.get();
        let kinds = chosen.map(|nth| kinds().swap_remove(nth));
        let mut unsaid = AccessSet::default();
        let access = if says_so { access } else { &mut unsaid };
        let states = kinds.each_ref().map(|kind| (kind.init)(world, access));
        BothState { kinds, states }
    }

    fn get<'w>(state: &mut BothState, run: Run<'w>) -> Result<Both, ParamError> {
        let BothState { kinds: [one, other], states: [first, second] } = state;
        (one.hold)(&mut **first, run, &mut || (other.hold)(&mut **second, run, &mut || Ok(())))?;
        Ok(Both)
    }
}

/// A world with random groups of these components.
fn world_of(rng: &mut Rng) -> World {
    let mut world = World::new();
    match rng.below(3) {
        0 => {}
        1 => prefill(&mut world),
        _ => fill(&mut world),
    }
    world.register::<A>();
    world.register::<B>();
    world.register::<C>();
    world.register::<D>();
    world.register::<Timed>();
    world.reactive::<Collected>().added::<A>().build();
    world.insert_resource(Score);
    world.run_system(|| Made);
    let groups: [fn(&mut World); 10] = [
        |world| _ = world.group::<(A, B)>().build(),
        |world| _ = world.group::<(A, B, C)>().build(),
        |world| _ = world.group::<(A, B, C)>().exclude::<D>().build(),
        |world| _ = world.group::<(A, B)>().observe::<C>().build(),
        |world| _ = world.group::<(C, D)>().build(),
        |world| _ = world.group::<D>().observe::<(A, B)>().exclude::<Timed>().build(),
        |world| _ = world.group::<()>().observe::<(A, B)>().build(),
        |world| _ = world.group::<()>().observe::<C>().exclude::<D>().build(),
        |world| _ = world.group::<Timed>().exclude::<A>().build(),
        |world| _ = world.group::<()>().observe::<(B, Timed)>().build(),
    ];
    for _ in 0..rng.below(4) {
        rng.pick(&groups)(&mut world);
    }
    if rng.one_in(2) {
        fill(&mut world);
    }
    world.spawn((A, B, C, D, Timed));
    world.spawn((B, C));
    world
}

/// A parameter that takes more than it says could meet another system in the middle of a step; one that says more than it
/// takes is refused for nothing.
#[test]
fn two_parameters_exclude_each_other_just_if_they_say_so() {
    let count = kinds().len();
    for seed in 0..if cfg!(miri) { 1 } else { 24 } {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test systems" };
        let mut world = world_of(&mut Rng::new(common::mix(seed)));
        let mut pairs = 0;
        for (one, other) in (0..count).flat_map(|one| (0..count).map(move |other| (one, other))) {
            let mut run = |says_so| {
                CHOSEN.set(([one, other], says_so));
                let run = AssertUnwindSafe(|| world.run_system(|_: Both| ()));
                catch_unwind(run).map_err(|payload| *payload.downcast::<String>().unwrap())
            };
            let (taken, said) = (run(false), run(true));
            if let Err(message) = &said {
                let names = [one, other].map(|nth| kinds()[nth].name);
                assert!(
                    message.contains(" wants to "),
                    "{names:?} take more than they say: {message}"
                );
                assert!(taken.is_err(), "{names:?} say more than they take: {message}");
            }
            assert_eq!(taken.is_ok(), said.is_ok());
            pairs += usize::from(taken.is_err());
        }
        world.verify().unwrap();
        assert!(pairs > count, "{pairs} pairs exclude each other");
    }
}
