//! Systems and schedules: what runs, in which order, and what goes wrong with which words.

#![cfg(feature = "derive")]

#[path = "systems/access.rs"]
mod access;
mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Rng, SeedReport, panic_message};
use esker::prelude::*;
use esker::query::Split;
use esker::schedule::{FixedStep, ScheduleError};
use esker::system::{ParamError, Run};
use esker::{AccessSet, Key, SystemParam, Usage};

#[derive(Component, Debug, Clone, PartialEq)]
struct Health(u32);

#[derive(Component, Debug, Clone, PartialEq)]
#[component(track)]
struct Place(u32);

#[derive(Component, Debug)]
struct Tag;

#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<&'static str>);

/// A world in which systems leave their names.
fn world() -> World {
    let mut world = World::new();
    world.insert_resource(Seen::default());
    world
}

fn say(name: &'static str) -> impl FnMut(ResMut<'_, Seen>) + Clone {
    move |mut seen: ResMut<'_, Seen>| seen.0.push(name)
}

fn said(world: &World) -> Vec<&'static str> {
    std::mem::take(&mut world.resource_mut::<Seen>().0)
}

#[test]
fn systems_that_share_something_run_in_the_order_in_which_they_were_added() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((say("a"), say("b"))).add_systems(say("c"));

    let report = schedule.step(&mut world);

    assert_eq!(said(&world), ["a", "b", "c"]);
    assert_eq!(report.systems_run, 3);
}

#[test]
fn declared_orders_come_first() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        say("late").named("late").after("all"),
        (say("second"), say("third")).chain().in_set("all"),
        say("first").named("first").before("all"),
    ));

    schedule.step(&mut world);

    assert_eq!(said(&world), ["first", "second", "third", "late"]);
}

fn early(mut seen: ResMut<Seen>) {
    seen.0.push("early");
}

fn late(mut seen: ResMut<Seen>) {
    seen.0.push("late");
}

#[test]
fn functions_name_themselves() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((late.after(early), early));

    schedule.step(&mut world);

    assert_eq!(said(&world), ["early", "late"]);
    assert!(schedule.system_names()[0].ends_with("systems::early"));
    assert_eq!(schedule.set_enabled("systems::early", false), 1);
    schedule.step(&mut world);
    assert_eq!(said(&world), ["late"]);
}

#[test]
fn a_schedule_that_contradicts_itself_says_where() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        say("x").named("free"),
        say("a").named("a").before("b"),
        say("b").named("b").before("c"),
        say("c").named("c").before("a"),
    ));
    let Err(ScheduleError::Cycle { systems }) = schedule.build(&mut world) else {
        panic!("a cycle was not found");
    };
    let mut sorted = systems.clone();
    sorted.sort();
    assert_eq!(sorted, ["a", "b", "c"]);
    // A real cycle: each before the next.
    let next = |name: &str| match name {
        "a" => "b",
        "b" => "c",
        _ => "a",
    };
    for (at, name) in systems.iter().enumerate() {
        assert_eq!(next(name), systems[(at + 1) % 3]);
    }

    let mut schedule = Schedule::new();
    schedule.add_systems(say("a").after("nobody"));
    let message = schedule.build(&mut world).unwrap_err().to_string();
    assert!(message.contains("`nobody`") && message.contains("no such system"), "{message}");

    let mut schedule = Schedule::new();
    schedule.add_systems(say("a").named("a").after("b")).add_barrier();
    schedule.add_systems(say("b").named("b"));
    assert!(matches!(schedule.build(&mut world), Err(ScheduleError::Cycle { .. })));
}

/// Random orders and barriers. What a schedule makes of them is as the rules say: each system as early as
/// its insertion allows, or a cycle in which each really comes before the next.
#[test]
fn the_serial_order_is_the_earliest_or_the_cycle_is_real() {
    const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
    let (mut built, mut cycles) = (0, 0);
    for seed in 0..2000 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test systems" };
        let mut rng = Rng::new(seed);
        let count = 2 + rng.below(6);
        let mut schedule = Schedule::new();
        let (mut phases, mut declared, mut phase) = (vec![], vec![], 0);
        for (at, name) in NAMES.into_iter().enumerate().take(count) {
            let mut system = say("").named(name);
            for other in (0..count).filter(|&other| other != at) {
                match rng.below(12) {
                    0 => {
                        system = system.before(NAMES[other]);
                        declared.push((at, other));
                    }
                    1 => {
                        system = system.after(NAMES[other]);
                        declared.push((other, at));
                    }
                    _ => {}
                }
            }
            schedule.add_systems(system);
            phases.push(phase);
            if rng.one_in(6) {
                schedule.add_barrier();
                phase += 1;
            }
        }
        let is_before = |a: usize, b: usize| phases[a] < phases[b] || declared.contains(&(a, b));

        match schedule.build(&mut world()) {
            Ok(()) => {
                let mut order: Vec<usize> = Vec::new();
                while order.len() < count {
                    let waits = |at: usize| {
                        (0..count).any(|other| is_before(other, at) && !order.contains(&other))
                    };
                    let next = (0..count).find(|at| !order.contains(at) && !waits(*at));
                    order.push(next.expect("a cycle was not found"));
                }
                let order: Vec<&str> = order.into_iter().map(|at| NAMES[at]).collect();
                assert_eq!(schedule.system_names(), order);
                built += 1;
            }
            Err(ScheduleError::Cycle { systems }) => {
                let place = |name: &String| NAMES.iter().position(|one| one == name).unwrap();
                let cycle: Vec<usize> = systems.iter().map(place).collect();
                let next = cycle.iter().cycle().skip(1);
                assert!(cycle.iter().zip(next).all(|(&a, &b)| is_before(a, b)), "{systems:?}");
                assert!(cycle.len() > 1);
                cycles += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(built > 300 && cycles > 300, "{built} {cycles}");
}

#[test]
fn ambiguities_are_looked_for_among_512_systems_and_not_among_more() {
    for (count, are_named) in [(512, true), (513, false)] {
        let mut schedule = Schedule::new();
        schedule.add_systems((say("a").named("a"), say("b").named("b")));
        (2..count).for_each(|_| _ = schedule.add_systems(|| ()));

        let found = schedule.ambiguities(&mut world()).unwrap();

        assert_eq!(found.iter().any(|(a, b, _)| (a == "a") && (b == "b")), are_named, "{count}");
    }
}

#[test]
fn a_system_that_excludes_itself_is_named_with_the_component() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((|_: Query<&mut Health>, _: Query<&Health>| ()).named("torn"));

    let message = schedule.build(&mut world).unwrap_err().to_string();

    assert!(message.contains("`torn`") && message.contains("Health"), "{message}");
    assert!(message.contains("write it") && message.contains("read it"), "{message}");
    // Asking who has it, or what it has changed itself, is no contradiction.
    let mut schedule = Schedule::new();
    schedule
        .add_systems(|_: Query<&mut Place>, _: Query<Entity, (With<Place>, Changed<Place>)>| ());
    assert_eq!(schedule.build(&mut world), Ok(()));
}

struct Total(u32);
impl SystemOutput for Total {}

#[test]
fn an_output_is_read_by_any_number_of_systems_of_the_same_step() {
    let mut world = World::new();
    let results = Arc::new(Mutex::new(Vec::new()));
    let reader = |name: &'static str| {
        let results = Arc::clone(&results);
        move |total: Output<'_, Total>| results.lock().unwrap().push((name, total.0))
    };
    let mut schedule = Schedule::new();
    let mut count = 0;
    schedule.add_systems((reader("one"), reader("two"), move || {
        count += 1;
        Total(count)
    }));

    schedule.step(&mut world);
    schedule.step(&mut world);

    let mut results = results.lock().unwrap().clone();
    results.sort_unstable();
    assert_eq!(results, [("one", 1), ("one", 2), ("two", 1), ("two", 2)]);
}

#[test]
fn outputs_need_one_system_that_returns_them() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((|_: Output<Total>| ()).named("reader"));
    let message = schedule.build(&mut world).unwrap_err().to_string();
    assert!(message.contains("`reader`") && message.contains("Total"), "{message}");

    let mut schedule = Schedule::new();
    schedule.add_systems(((|| Total(1)).named("one"), (|| Total(2)).named("two")));
    let message = schedule.build(&mut world).unwrap_err().to_string();
    assert!(message.contains("`one`") && message.contains("`two`"), "{message}");
}

#[test]
fn an_output_that_a_condition_reads_is_returned_first() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        say("many").run_if(|total: Output<Total>| total.0 > 1),
        say("few").run_if(|total: Option<Output<Total>>| total.is_some_and(|total| total.0 < 2)),
        (|_: &mut World| ()).run_if(|total: Output<Total>| total.0 > 1),
        || Total(2),
    ));

    let report = schedule.step(&mut world);

    assert_eq!(said(&world), ["many"]);
    assert_eq!(report.systems_run, 3);
}

#[test]
fn a_condition_that_reads_an_output_needs_another_system_that_returns_it() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((|| ()).named("fed").run_if(|_: Output<Total>| true));
    let message = schedule.build(&mut world).unwrap_err().to_string();
    assert!(message.contains("`fed`") && message.contains("Total"), "{message}");

    let mut schedule = Schedule::new();
    schedule.add_systems((|| Total(1)).named("own").run_if(|_: Output<Total>| true));
    let error = schedule.build(&mut world).unwrap_err();
    assert!(matches!(error, ScheduleError::OwnOutput { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("`own`") && message.contains("Total"), "{message}");

    // What is optional is nothing then, as it is before any system has returned it.
    let mut schedule = Schedule::new();
    schedule.add_systems((|| Total(1)).run_if(|total: Option<Output<Total>>| total.is_none()));
    assert_eq!(schedule.step(&mut world).systems_run, 1);
    assert_eq!(schedule.step(&mut world).systems_run, 1);
}

#[test]
fn a_system_that_is_to_run_before_or_after_itself_alone_is_refused() {
    let build = |systems: esker::schedule::Configs| {
        let mut schedule = Schedule::new();
        schedule.add_systems(systems);
        schedule.build(&mut world()).map_err(|error| error.to_string())
    };
    for systems in [
        say("a").named("x").after("x"),
        say("a").named("x").before("x"),
        say("a").named("game::x").after("x"),
        say("a").named("x").in_set("set").after("set"),
    ] {
        let message = build(systems).unwrap_err();
        assert!(message.contains("x`") && message.contains("itself"), "{message}");
    }
    // A label that means nothing is named first, wherever it stands.
    let unknown = (say("a").named("x").after("x"), say("b").after("nothing")).into_configs();
    assert!(build(unknown).unwrap_err().contains("nothing"));
    // The others that a label means are meant.
    assert_eq!(build((say("a").named("x"), say("b").named("x").after("x")).into_configs()), Ok(()));
    let last = say("b").named("last").in_set("set").after("set");
    assert_eq!(build((last, say("a").in_set("set")).into_configs()), Ok(()));
}

#[test]
fn a_reader_of_an_output_whose_system_did_not_run_says_so_or_takes_an_option() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        (|| Total(1)).named("off").run_if(|| false),
        |total: Option<Output<Total>>, mut seen: ResMut<Seen>| {
            seen.0.push(if total.is_some() { "some" } else { "none" });
        },
    ));
    schedule.step(&mut world);
    assert_eq!(said(&world), ["none"]);

    schedule.add_systems((|_: Output<Total>| ()).named("eager"));
    let message = panic_message(|| schedule.step(&mut world));
    assert!(message.contains("`eager`") && message.contains("Total"), "{message}");
}

#[test]
fn commands_wait_for_the_refresh_and_barriers_bring_one() {
    let mut world = World::new();
    let spawn = |mut commands: Commands| _ = commands.spawn(Health(1));
    let counted = Arc::new(Mutex::new(Vec::new()));
    let count = {
        let counted = Arc::clone(&counted);
        move |query: Query<&Health>| counted.lock().unwrap().push(query.count())
    };
    let mut schedule = Schedule::new();
    schedule.add_systems((spawn, count.clone())).add_barrier().add_systems(count);

    let report = schedule.step(&mut world);
    schedule.step(&mut world);

    assert_eq!(*counted.lock().unwrap(), [0, 1, 1, 2]);
    assert_eq!(report.growth, 1);
}

#[test]
fn a_spawned_id_is_real_at_once_and_alive_after_the_refresh() {
    let mut world = World::new();
    let ids = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&ids);
    world.run_system(move |mut commands: Commands| {
        let id = commands.spawn(Health(3));
        assert!(!commands.is_alive(id));
        kept.lock().unwrap().push(id);
    });

    let id = ids.lock().unwrap()[0];
    assert_eq!(world.get::<Health>(id).unwrap().0, 3);
}

#[test]
fn a_command_for_a_dead_entity_is_skipped_counted_and_named() {
    let mut world = World::new();
    let id = world.spawn(Health(1));
    let mut schedule = Schedule::new();
    schedule.add_systems((
        move |mut commands: Commands| commands.despawn(id),
        move |mut commands: Commands| commands.insert(id, Tag),
    ));

    let report = schedule.step(&mut world);

    assert_eq!((report.commands.applied, report.commands.skipped), (2, 1));
    let named = report.commands.first_skipped[0].to_string();
    assert!(named.contains("Tag") && named.contains(&id.to_string()), "{named}");
    assert!(report.to_string().contains("1 of them skipped"), "{report}");
    world.set_strict_commands(true);
    let message = panic_message(|| schedule.step(&mut world));
    assert!(message.contains("skipped"), "{message}");
}

#[test]
fn a_panic_lets_the_others_finish_and_names_the_system() {
    for threads in [false, true] {
        let mut world = world();
        let id = world.spawn(Health(1));
        let mut schedule = Schedule::new();
        schedule.set_serial(!threads).set_task_threshold(Duration::ZERO);
        schedule.add_systems((
            (move |mut commands: Commands, query: Query<&mut Health>| {
                commands.insert(id, Tag);
                assert!(query.is_empty(), "on purpose");
            })
            .named("bad"),
            say("after"),
            |mut commands: Commands| _ = commands.spawn(Place(1)),
        ));

        let message = panic_message(|| schedule.step(&mut world));

        assert!(message.contains("`bad`") && message.contains("on purpose"), "{message}");
        assert_eq!(said(&world), ["after"]);
        // Its commands are dropped, those of the others are not, and nothing stays borrowed.
        assert!(!world.has::<Tag>(id));
        assert_eq!(world.query::<&Place>().count(), 1);
        assert!(world.try_query::<&mut Health, ()>().is_ok());
        world.verify().unwrap();
    }
}

#[test]
fn an_error_is_a_panic_with_the_name_of_the_system() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((|| Err::<(), _>("no fuel")).named("engine"));
    let message = panic_message(|| schedule.step(&mut world));
    assert!(message.contains("`engine`") && message.contains("no fuel"), "{message}");

    let mut schedule = Schedule::new();
    schedule.add_systems((|_: Res<Seen>| ()).named("blind"));
    let message = panic_message(|| schedule.step(&mut world));
    assert!(message.contains("`blind`") && message.contains("Seen"), "{message}");
}

#[test]
fn conditions_decide_just_before_a_system_runs() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        say("first").run_if(|seen: Res<Seen>| seen.0.is_empty()),
        say("second").run_if(|seen: Res<Seen>| seen.0.is_empty()),
    ));

    let report = schedule.step(&mut world);

    assert_eq!(said(&world), ["first"]);
    assert_eq!(report.systems_run, 1);
}

#[test]
fn a_step_can_start_from_chosen_systems() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        say("a").named("a"),
        say("b").named("b"),
        (|_: Query<&Health>| ()).named("apart"),
        say("c").named("c"),
    ));

    let report = schedule.step_from(&mut world, &["b"]);

    assert_eq!(said(&world), ["b", "c"]);
    assert_eq!(report.systems_run, 2);
    let message = panic_message(|| schedule.step_from(&mut world, &["nobody"]));
    assert!(message.contains("`nobody`"), "{message}");
}

#[test]
fn changes_are_new_to_each_system_once_wherever_it_stands() {
    let mut world = World::new();
    let id = world.spawn(Place(0));
    let counts = Arc::new(Mutex::new(Vec::new()));
    let watch = |name: &'static str| {
        let counts = Arc::clone(&counts);
        move |query: Query<'_, Entity, Changed<Place>>| {
            counts.lock().unwrap().push((name, query.count()));
        }
    };
    let mut on = true;
    let mut schedule = Schedule::new();
    schedule.add_systems((
        watch("before"),
        move |mut query: Query<&mut Place>| {
            if on {
                query.get_mut(id).unwrap().0 += 1;
            }
            on = !on;
        },
        watch("after"),
    ));

    (0..4).for_each(|_| _ = schedule.step(&mut world));

    let counts = counts.lock().unwrap();
    let of = |name| counts.iter().filter(|c| c.0 == name).map(|c| c.1).collect::<Vec<_>>();
    assert_eq!(of("before"), [1, 1, 0, 1]);
    assert_eq!(of("after"), [1, 0, 1, 0]);
}

/// Takes its guards when the system asks for them.
struct Places<'w>(Run<'w>);

impl SystemParam for Places<'_> {
    type State = ();
    type Item<'w, 's> = Places<'w>;

    fn init(world: &mut World, access: &mut AccessSet) {
        world.register::<Place>();
        access.add(Key::of::<Place>(), Usage::Own);
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Places<'w>, ParamError> {
        Ok(Places(run))
    }
}

/// Has the whole world, and so says that it does.
struct Everything<'w>(&'w World, Run<'w>);

impl SystemParam for Everything<'_> {
    type State = ();
    type Item<'w, 's> = Everything<'w>;

    fn init(world: &mut World, access: &mut AccessSet) {
        world.register::<Place>();
        <&World as SystemParam>::init(world, access);
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Everything<'w>, ParamError> {
        Ok(Everything(<&World as SystemParam>::get(&mut (), run)?, run))
    }
}

/// Steps a world five times: `insert` is given the number of the step in the middle of it; how many changes the systems
/// before and behind it saw in each.
fn changes_around<M>(insert: impl IntoConfigs<M>, writes_after: bool) -> Vec<[usize; 2]> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let count = |nth: usize| {
        let seen = Arc::clone(&seen);
        move |query: Query<Entity, Changed<Place>>| seen.lock().unwrap().push((nth, query.count()))
    };
    let mut world = World::new();
    world.spawn(());
    let mut schedule = Schedule::new();
    schedule.add_systems(count(0)).add_systems(insert).add_systems(count(1));
    schedule.add_systems(move |mut query: Query<&mut Place>| {
        if writes_after {
            query.iter_mut().for_each(|mut place| place.0 += 1);
        }
    });
    for _ in 0..5 {
        schedule.step(&mut world);
        world.verify().unwrap();
    }
    let seen = seen.lock().unwrap().clone();
    seen.chunks(2).map(|pair| [pair[0].1, pair[1].1]).collect()
}

#[test]
fn what_a_parameter_of_ones_own_changes_is_new_to_each_system_once() {
    let id = Entity::new(0, 0).unwrap();
    let mut steps = 0;
    let by_guards = move |places: Places| {
        steps += 1;
        // What others have changed is new, and what this system has changed is not.
        assert!(places.0.since() < places.0.tick());
        let changed = places.0.query::<Entity, Changed<Place>>().unwrap().count();
        assert!(steps > 1 || changed == 0);
        if steps == 1 {
            places.0.pool_mut::<Place>().unwrap().insert(id, Place(1)).unwrap();
        } else if steps == 3 {
            places
                .0
                .query::<&mut Place, ()>()
                .unwrap()
                .iter_mut()
                .for_each(|mut place| place.0 = 9);
        }
        assert!(places.0.is_alive(id) && places.0.pool::<Place>().unwrap().len() == 1);
    };
    assert_eq!(changes_around(by_guards, false), [[0, 1], [1, 0], [0, 1], [1, 0], [0, 0]]);
    assert_eq!(changes_around(by_guards, true), [[0, 1], [1, 1], [1, 1], [1, 1], [1, 1]]);
}

#[test]
fn what_a_system_changes_through_the_world_is_not_new_to_itself() {
    let id = Entity::new(0, 0).unwrap();
    let mut steps = 0;
    let by_world = move |Everything(world, run): Everything| {
        steps += 1;
        let changed = run.query::<Entity, Changed<Place>>().unwrap().count();
        assert_eq!(changed, 0, "in step {steps}");
        assert_eq!(run.tick(), world.tick());
        if steps == 1 {
            world.pool_mut::<Place>().insert(id, Place(1)).unwrap();
        } else if steps == 3 {
            world.query::<&mut Place>().iter_mut().for_each(|mut place| place.0 = 9);
        }
    };
    assert_eq!(changes_around(by_world, false), [[0, 1], [1, 0], [0, 1], [1, 0], [0, 0]]);
}

#[test]
fn messages_and_removals_reach_each_system_once() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..6).map(|n| world.spawn(Health(n))).collect();
    let log = Arc::new(Mutex::new(Vec::new()));
    let (sent, lost) = (Arc::clone(&log), Arc::clone(&log));
    let mut at = 0;
    let mut schedule = Schedule::new();
    schedule.set_serial(true);
    schedule.add_systems((
        move |messages: MessageReader<u32>| {
            sent.lock().unwrap().extend(messages.read().map(|n| format!("message {n}")));
        },
        move |removed: Removed<Health>| {
            lost.lock().unwrap().extend(removed.entities().map(|id| format!("lost {id}")));
        },
        move |mut messages: MessageWriter<u32>, mut commands: Commands| {
            messages.send(at as u32);
            commands.despawn(ids[at]);
            at += 1;
        },
    ));

    (0..4).for_each(|_| _ = schedule.step(&mut world));

    let mut expected = Vec::new();
    for n in 0..3 {
        expected.extend([format!("message {n}"), format!("lost {n}v0")]);
    }
    assert_eq!(*log.lock().unwrap(), expected);
}

#[derive(SystemParam)]
struct Clinic<'w, 's> {
    patients: Query<'w, &'static mut Health>,
    seen: ResMut<'w, Seen>,
    commands: Commands<'w, 's>,
    visits: Local<'s, u32>,
}

#[test]
fn a_struct_of_parameters_is_a_parameter() {
    fn heal(mut clinic: Clinic, (_, (_,)): (Query<&Place>, (Option<Res<u8>>,))) {
        clinic.patients.iter_mut().for_each(|health| health.0 += 1);
        *clinic.visits += 1;
        clinic.seen.0.push(if *clinic.visits == 1 { "first" } else { "again" });
        clinic.commands.spawn(Tag);
    }
    let mut world = world();
    let id = world.spawn(Health(1));
    let mut schedule = Schedule::new();
    schedule.add_systems(heal);
    schedule.step(&mut world);
    schedule.step(&mut world);

    assert_eq!(world.get::<Health>(id).unwrap().0, 3);
    assert_eq!(said(&world), ["first", "again"]);
    assert_eq!(world.query::<&Tag>().count(), 2);
    let mut access = AccessSet::default();
    Clinic::init(&mut world, &mut access);
    assert_eq!(access.iter().count(), 2);
}

#[test]
fn subtasks_record_for_themselves_and_come_back_in_order() {
    for parts in [1, 3, 7] {
        let mut world = World::new();
        world.spawn_batch((0..100).map(Health));
        let mut schedule = Schedule::new();
        let firsts = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&firsts);
        schedule.add_systems(
            move |mut query: Query<(Entity, &mut Health)>, mut commands: Commands| {
                let found =
                    query.subtasks(Split::evenly(parts)).run(&mut commands, |part, commands| {
                        let mut first = None;
                        for (_, health) in part {
                            first.get_or_insert(health.0);
                            commands.spawn(Place(health.0));
                            health.0 += 1000;
                        }
                        first.unwrap()
                    });
                *kept.lock().unwrap() = found;
            },
        );

        schedule.step(&mut world);

        let firsts = firsts.lock().unwrap();
        assert_eq!(firsts.len(), parts);
        assert!(firsts.is_sorted());
        assert!(world.query::<&Health>().iter().all(|health| health.0 >= 1000));
        // In the order of the parts, not of the threads.
        let places: Vec<u32> = world.query::<&Place>().iter().map(|place| place.0).collect();
        assert_eq!(places, Vec::from_iter(0..100));
        world.verify().unwrap();
    }
}

#[test]
fn an_exclusive_system_sees_what_was_recorded_before_it() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        |mut commands: Commands| _ = commands.spawn(Health(1)),
        |world: &mut World| {
            assert_eq!(world.query::<&Health>().count(), 1);
            world.spawn(Health(2));
        },
    ));

    schedule.step(&mut world);

    assert_eq!(world.len(), 2);
}

#[test]
fn a_pool_of_a_group_is_edited_by_one_system_at_a_time() {
    let mut world = World::new();
    world.group::<(Health, Place)>().build().unwrap();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        (|_: PoolMut<Health>| ()).named("edits"),
        (|_: Query<&Place>| ()).named("reads"),
        (|_: Query<&Tag>| ()).named("apart"),
    ));

    let text = schedule.explain(&mut world).unwrap();

    assert!(text.contains("reads after edits"), "{text}");
    assert!(text.contains("apart\n"), "{text}");
    // A group that comes later is seen by the next step.
    world.group::<()>().observe::<Tag>().exclude::<Health>().build().unwrap();
    schedule.step(&mut world);
}

#[test]
fn a_schedule_is_explained_as_text_mermaid_and_dot() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        (say("a").named("a"), say("b").named("b")).chain(),
        say("c").named("c"),
        (|_: &mut World| ()).named("alone"),
    ));

    let text = schedule.explain(&mut world).unwrap();
    assert!(
        text.contains("b after a") && text.contains("alone with the world to itself"),
        "{text}"
    );
    assert!(text.contains("nobody says whether b comes before c"), "{text}");
    let ambiguities = schedule.ambiguities(&mut world).unwrap();
    assert_eq!(
        ambiguities.iter().filter(|(a, b, _)| (a.as_str(), b.as_str()) == ("b", "c")).count(),
        1
    );
    assert!(!ambiguities.iter().any(|(a, b, _)| (a.as_str(), b.as_str()) == ("a", "b")));
    let mermaid = schedule.to_mermaid(&mut world).unwrap();
    assert!(mermaid.starts_with("flowchart LR") && mermaid.contains("s0 ==> s1"), "{mermaid}");
    let dot = schedule.to_dot(&mut world).unwrap();
    assert!(dot.contains("s0 -> s1 [style=bold];") && dot.ends_with("}\n"), "{dot}");
    // Of a path the last two parts; a name that was given as it is.
    let mut schedule = Schedule::new();
    schedule.add_systems((early, say("a").named("a"), say("b").named("x::y::z")));
    let mermaid = schedule.to_mermaid(&mut world).unwrap();
    for label in ["s0[\"systems::early\"]", "s1[\"a\"]", "s2[\"y::z\"]", "s0 --> s1"] {
        assert!(mermaid.contains(label), "{label} in {mermaid}");
    }
    let dot = schedule.to_dot(&mut world).unwrap();
    for label in ["s0 [label=\"systems::early\"]", "s1 [label=\"a\"]", "s0 -> s1;"] {
        assert!(dot.contains(label), "{label} in {dot}");
    }
}

#[test]
fn ten_thousand_systems_are_built_without_ado() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    let mut before = String::new();
    for n in 0..10_000 {
        let name = format!("s{n}");
        let mut system = (|_: Query<&mut Health>, _: Query<&Place>| ()).named(&name);
        if n > 0 {
            system = system.after(before.as_str());
        }
        schedule.add_systems(system);
        before = name;
    }

    let started = std::time::Instant::now();
    schedule.build(&mut world).unwrap();
    println!("built in {:?}", started.elapsed());

    assert_eq!(schedule.step(&mut world).systems_run, 10_000);
}

#[test]
fn a_timed_schedule_reports_each_system() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule
        .add_systems((say("a").named("a"), say("b").named("b").run_if(|| false)))
        .set_timed(true);

    let report = schedule.step(&mut world);

    assert_eq!(report.systems.len(), 2);
    assert!(report.systems[0].time.is_some() && report.systems[1].time.is_none());
    assert!(
        report.time.is_some() && report.to_string().contains("in all, for 1 systems"),
        "{report}"
    );
}

#[test]
fn systems_exclude_each_other_also_if_the_one_between_them_is_disabled() {
    let mut world = World::new();
    let entity = world.spawn(Health(0));
    let mut schedule = Schedule::new();
    let set = |to: u32| {
        move |mut query: Query<&mut Health>| query.iter_mut().for_each(|health| health.0 = to)
    };
    schedule.add_systems((set(1), set(2).named("between"), set(3)));
    assert_eq!(schedule.set_enabled("between", false), 1);

    for seed in 0..20 {
        schedule.shuffle(Some(seed));
        schedule.step(&mut world);
        assert_eq!(*world.get::<Health>(entity).unwrap(), Health(3), "seed {seed}");
    }
}

#[test]
fn ids_are_given_out_once_after_a_system_has_panicked() {
    let mut world = World::new();
    let text = panic_message(|| {
        world.run_system(|mut commands: Commands| {
            commands.spawn(Health(1));
            assert!(commands.is_empty(), "on purpose");
        });
    });
    assert!(text.contains("on purpose"), "{text}");

    let reserved = world.reserve_entity().unwrap();
    let spawned: Vec<Entity> = (0..40).map(|_| world.spawn(())).collect();

    assert!(!spawned.contains(&reserved));
    assert!(world.is_alive(reserved));
    world.verify().unwrap();
}

#[test]
fn who_spawns_now_and_then_gets_indices_again() {
    fn now_and_then(mut step: Local<u32>, mut commands: Commands) {
        *step += 1;
        for _ in 0..(*step * *step) % 11 {
            commands.spawn(Health(0));
        }
    }
    fn in_parts(mut step: Local<usize>, mut query: Query<&Tag>, mut commands: Commands) {
        *step += 1;
        let step = *step;
        query.subtasks(Split::evenly(8)).run(&mut commands, |part, commands| {
            (0..(step + part.count()) % 3).for_each(|_| _ = commands.spawn(Health(0)));
        });
    }
    fn kill(query: Query<Entity, With<Health>>, mut commands: Commands) {
        query.iter().for_each(|id| commands.despawn(id));
    }
    let mut world = World::new();
    world.spawn_batch((0..80).map(|_| Tag)).for_each(drop);
    let mut schedule = Schedule::new();
    schedule.add_systems((now_and_then, in_parts, kill));

    let mut highest = 0;
    for _ in 0..1000 {
        schedule.step(&mut world);
        highest = world.entities().map(Entity::index).max().unwrap().max(highest);
    }

    assert!(highest < 3000, "index {highest}, where some hundred entities live");
    world.verify().unwrap();
}

#[test]
fn a_group_made_in_a_step_is_known_to_the_rest_of_it() {
    let mut world = World::new();
    let entity = world.spawn((Health(1), Place(0)));
    let mut schedule = Schedule::new();
    schedule.add_systems((
        |world: &mut World| _ = world.group::<(Health, Place)>().build(),
        |mut healths: PoolMut<Health>| {
            let ids = healths.entities().to_vec();
            ids.into_iter().for_each(|id| _ = healths.remove(id));
            std::thread::sleep(Duration::from_millis(20));
        },
        |mut places: Query<&mut Place>| {
            std::thread::sleep(Duration::from_millis(20));
            places.iter_mut().for_each(|mut place| place.0 += 1);
        },
    ));
    schedule.set_task_threshold(Duration::ZERO);

    schedule.step(&mut world);

    assert_eq!(*world.get::<Place>(entity).unwrap(), Place(1));
    assert!(!world.has::<Health>(entity));
}

#[test]
fn where_ids_are_scarce_commands_get_all_there_are() {
    let spawn = |count: usize| {
        move |mut commands: Commands<'_, '_>| (0..count).for_each(|_| _ = commands.spawn_empty())
    };
    // A limit that lanes would not fit into, five systems, and ids that died before.
    let mut world = World::builder().entity_limit(64).build();
    let old: Vec<Entity> = (0..64).map(|_| world.spawn(())).collect();
    world.despawn_batch(old);
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    schedule.add_systems((spawn(30), spawn(1), spawn(1), spawn(1), spawn(31)));
    schedule.step(&mut world);
    assert_eq!(world.len(), 64);
    world.verify().unwrap();

    // An id that somebody else has chosen, close by.
    let mut world = World::new();
    world.spawn_at(common::id(20, 3), ()).unwrap();
    world.run_system(spawn(30));
    assert_eq!(world.len(), 31);
    world.verify().unwrap();
}

#[test]
fn what_a_panicked_system_has_spawned_never_lives() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems(|mut commands: Commands, mut runs: Local<u32>| {
        (0..40).for_each(|_| _ = commands.spawn_empty());
        *runs += 1;
        assert!(*runs == 1 || *runs == 3, "on purpose");
    });

    for run in 1..=6 {
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| schedule.step(&mut world)));
        assert_eq!(outcome.is_ok(), run % 2 == 1 && run < 4);
        world.verify().unwrap();
    }
    assert_eq!(world.len(), 80);
}

#[test]
fn conditions_that_record_and_schedules_of_other_worlds_are_refused() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add_systems((|| ()).named("fed").run_if(|_: Commands| true));
    let message = schedule.build(&mut world).unwrap_err().to_string();
    assert!(message.contains("`fed`") && message.contains("commands"), "{message}");

    let mut schedule = Schedule::new();
    schedule.add_systems(|| ());
    schedule.step(&mut world);
    assert_eq!(schedule.build(&mut World::new()), Err(ScheduleError::AnotherWorld));
}

#[test]
fn an_optional_output_lets_the_other_system_run_first_too() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((
        |total: Option<Output<Total>>, mut seen: ResMut<Seen>| {
            seen.0.push(if total.is_some() { "some" } else { "none" });
        },
        || Total(1),
    ));
    schedule.step(&mut world);
    assert_eq!(said(&world), ["some"]);
    // Without such a system it is nothing, and no error.
    let mut schedule = Schedule::new();
    schedule.add_systems(|total: Option<Output<Total>>| assert!(total.is_none()));
    schedule.step(&mut World::new());
}

#[test]
fn a_system_with_the_world_stays_on_its_thread_and_its_changes_are_new_once() {
    let mut world = World::new();
    let id = world.spawn(Place(0));
    world.insert_non_send(std::rc::Rc::new(7));
    let counts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&counts);
    let mut runs = 0;
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::ZERO);
    schedule.add_systems((
        |_: Query<&Health>| (),
        |_: Query<&Tag>| (),
        move |world: &World, _: Query<EntityRef<'static>>| {
            assert_eq!(**world.non_send::<std::rc::Rc<i32>>().unwrap(), 7);
            runs += 1;
            if runs <= 2 {
                world.query::<&mut Place>().get_mut(id).unwrap().0 += 1;
            }
        },
        move |query: Query<Entity, Changed<Place>>| kept.lock().unwrap().push(query.count()),
        |_: Query<&Health>| (),
    ));

    (0..5).for_each(|_| _ = schedule.step(&mut world));

    assert_eq!(*counts.lock().unwrap(), [1, 1, 0, 0, 0]);
}

/// Two messages and a removal wait for a system that sometimes cannot run; what it got, run by run.
#[track_caller]
fn reads_after(fault: impl FnOnce(&mut World, &mut Schedule)) -> Vec<(Vec<u32>, usize)> {
    let mut world = World::new();
    let lost = world.spawn(Health(1));
    let got = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&got);
    let mut schedule = Schedule::new();
    schedule.add_systems(
        move |messages: MessageReader<u32>,
              both: (Removed<Health>, Res<u8>),
              mut runs: Local<u8>| {
            *runs += 1;
            assert!(*both.1 == 0 || *runs > 1, "planned");
            keep.lock().unwrap().push((messages.read().copied().collect(), both.0.len()));
        },
    );
    schedule.build(&mut world).unwrap();
    world.send(1_u32);
    world.send(2_u32);
    world.despawn(lost).unwrap();

    fault(&mut world, &mut schedule);
    assert_eq!(*got.lock().unwrap(), []);
    world.send(3_u32);
    world.insert_resource(0_u8);
    (0..2).for_each(|_| _ = schedule.step(&mut world));

    assert_eq!(world.resource::<esker::world::Messages<u32>>().len(), 0, "all have been read");
    drop(schedule);
    Arc::into_inner(got).unwrap().into_inner().unwrap()
}

#[test]
fn messages_and_removals_wait_for_a_system_that_could_not_run() {
    let reads = reads_after(|world, schedule| {
        let message = panic_message(|| _ = schedule.step(world));
        assert!(message.contains("u8"), "{message}");
    });

    assert_eq!(reads, [(vec![1, 2, 3], 1), (vec![], 0)]);
}

#[test]
fn messages_and_removals_are_there_again_after_a_panic_as_changes_are() {
    let reads = reads_after(|world, schedule| {
        world.insert_resource(1_u8);
        let message = panic_message(|| _ = schedule.step(world));
        assert!(message.contains("planned"), "{message}");
    });

    assert_eq!(reads, [(vec![1, 2, 3], 1), (vec![], 0)]);
}

#[derive(SystemParam)]
struct Post<'w> {
    letters: Option<MessageReader<'w, u32>>,
}

#[test]
fn messages_inside_other_parameters_are_read_once() {
    let mut world = World::new();
    let got = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&got);
    let mut schedule = Schedule::new();
    schedule.add_systems(move |post: Post| {
        keep.lock().unwrap().push(post.letters.unwrap().read().copied().collect::<Vec<_>>());
    });
    schedule.build(&mut world).unwrap();

    for n in 0..3_u32 {
        world.send(n);
        schedule.step(&mut world);
    }

    assert_eq!(*got.lock().unwrap(), [[0], [1], [2]]);
}

#[test]
fn messages_wait_for_an_optional_parameter_that_could_not_be_had() {
    let mut world = World::new();
    let got = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&got);
    let mut schedule = Schedule::new();
    schedule.add_systems(move |both: Option<(MessageReader<u32>, Res<u8>)>| {
        let read = both.map(|(messages, _)| messages.read().copied().collect::<Vec<_>>());
        keep.lock().unwrap().push(read);
    });
    schedule.build(&mut world).unwrap();

    world.send(1_u32);
    schedule.step(&mut world);
    world.insert_resource(0_u8);
    (0..2).for_each(|_| _ = schedule.step(&mut world));

    assert_eq!(*got.lock().unwrap(), [None, Some(vec![1]), Some(vec![])]);
}

#[test]
fn a_disabled_system_that_has_the_world_to_itself_does_not_run() {
    let mut world = world();
    let mut schedule = Schedule::new();
    let alone = |world: &mut World| world.resource_mut::<Seen>().0.push("alone");
    schedule.add_systems((alone.named("alone"), say("b")));

    schedule.set_enabled("alone", false);
    schedule.step(&mut world);
    assert_eq!(said(&world), ["b"]);
    schedule.set_enabled("alone", true);
    schedule.step(&mut world);
    assert_eq!(said(&world), ["alone", "b"]);
}

#[test]
fn a_serial_schedule_runs_every_system_on_the_thread_that_steps_it() {
    let mut world = World::new();
    let here = std::thread::current().id();
    let look = move |_: Query<&Health>| assert_eq!(std::thread::current().id(), here);
    let mut schedule = Schedule::new();
    // Each would be worth a task.
    schedule.set_task_threshold(Duration::ZERO);
    schedule.set_serial(true).add_systems((look, look, look, look));

    let report = schedule.step(&mut world);

    assert_eq!(report.systems_run, 4);
}

#[test]
fn an_order_that_is_declared_through_others_is_no_ambiguity() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add_systems((say("a"), say("b"), say("c"), say("d")).chain());

    assert!(schedule.ambiguities(&mut world).unwrap().is_empty());
}

/// Whatever is said about a schedule, the next word is about the same one.
#[test]
fn a_schedule_is_set_up_in_one_breath() {
    let mut schedule = Schedule::new();
    assert!(schedule.is_empty());

    let said = schedule
        .set_serial(true)
        .set_timed(true)
        .set_task_threshold(Duration::ZERO)
        .shuffle(None)
        .add_systems((say("a").named("a"), say("b").named("b")))
        .add_barrier()
        .add_systems(say("c").named("c"))
        .len();

    assert_eq!((said, schedule.len(), schedule.is_empty()), (3, 3, false));
    assert_eq!(schedule.system_names(), ["a", "b", "c"]);
    assert_eq!(schedule.step(&mut world()).systems.len(), 3);
    assert_eq!(format!("{schedule:?}"), r#"Schedule { systems: ["a", "b", "c"], .. }"#);
    let configs = (say("a").named("a"), say("b").named("b")).chain();
    assert_eq!(format!("{configs:?}"), r#"["a", "b"]"#);
}

#[test]
fn a_fixed_step_has_its_length_and_says_how_much_of_the_next_has_passed() {
    let length = Duration::from_millis(20);
    let mut steps = FixedStep::new(length);
    steps.add(Duration::from_millis(45));

    assert_eq!((steps.length(), steps.by_ref().count()), (length, 2));
    assert!((steps.fraction() - 0.25).abs() < 1e-9);
}

#[test]
fn time_beyond_all_measure_is_as_much_as_can_be_kept() {
    let mut steps = FixedStep::new(Duration::from_secs(1));
    steps.add(Duration::MAX);
    steps.add(Duration::MAX);
    assert_eq!(steps.by_ref().take(3).count(), 3);

    let mut few = FixedStep::new(Duration::MAX).at_most(2);
    few.add(Duration::MAX);
    few.add(Duration::MAX);
    assert_eq!(few.count(), 1);

    // The longest threshold is one that no system reaches.
    let mut schedule = Schedule::new();
    schedule.set_task_threshold(Duration::MAX).add_systems(|| ());
    assert_eq!(schedule.step(&mut World::new()).systems_run, 1);
}
