//! What is printed for the mistakes of the chapter `guide/src/errors.md`: it names the thing and the
//! remedy, and the chapter quotes it.

#![cfg(feature = "derive")]

mod common;

use common::panic_message;
use esker::prelude::*;

const CHAPTER: &str = include_str!("../guide/src/errors.md");

#[derive(Component, Debug)]
struct Health(#[allow(dead_code, reason = "printed by nobody")] u32);

#[derive(Component)]
struct Position;

#[derive(Component)]
struct Velocity;

#[derive(Component)]
struct Sprite;

struct Gravity(f32);

/// Checks that the chapter has the text, wherever it breaks lines, for a program called `game`.
#[track_caller]
fn is_quoted(text: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&text.replace("messages::", "game::"));
    assert!(words(CHAPTER).contains(&text), "guide/src/errors.md does not quote:\n{text}");
}

/// Checks that the chapter has each line of `compiled`, the words of the compiler, that begins so.
#[track_caller]
fn lines_are_quoted(compiled: &str, beginnings: &[&str]) {
    for beginning in beginnings {
        let line = compiled.lines().find(|line| line.trim_start().starts_with(beginning));
        is_quoted(line.unwrap_or_else(|| panic!("no line begins with {beginning}:\n{compiled}")));
    }
}

#[test]
fn a_missing_derive_is_named_with_the_derive() {
    lines_are_quoted(
        include_str!("ui/wrong/component_without_derive_in_spawn.stderr"),
        &["error[E0277]", "= note: a component derives", "= note: a tuple is a bundle"],
    );
    is_quoted("`&Health` cannot be fetched by a query");
    is_quoted("`Health` is not a component");
}

#[test]
fn a_wrong_parameter_is_answered_with_the_right_ones() {
    lines_are_quoted(
        include_str!("ui/wrong/component_as_a_system_parameter.stderr"),
        &["error[E0277]", "= note: a system is", "= note: components are", "= note: the types"],
    );
}

#[test]
fn a_query_that_excludes_itself_is_told_how_not_to() {
    let mut world = World::new();
    world.spawn(Health(1));

    is_quoted(&panic_message(|| drop(world.query::<(&Health, &mut Health)>())));
}

#[test]
fn a_system_that_excludes_itself_is_named_with_the_component_and_told_how_not_to() {
    fn fight(_: Query<&mut Health>, _: Query<&Health>) {}
    let mut schedule = Schedule::new();
    schedule.add_systems(fight);

    let built = schedule.build(&mut World::new()).unwrap_err().to_string();
    let run = panic_message(|| World::new().run_system(fight));

    assert!(built.starts_with("system `"), "{built}");
    assert!(built.contains("fight` wants to write it and to read it at once: `"), "{built}");
    is_quoted(built.rsplit_once("fight` ").unwrap().1);
    assert_eq!(run, built);
}

#[test]
fn a_missing_resource_is_named_with_the_system_and_the_way_to_put_it_in() {
    fn fall(gravity: Res<Gravity>) {
        unreachable!("there is no gravity of {}", gravity.0);
    }

    let message = panic_message(|| World::new().run_system(fall));

    assert!(message.starts_with("system `") && message.contains("fall`: "), "{message}");
    is_quoted(message.rsplit_once("fall`: ").unwrap().1);
}

mod orders {
    use super::*;

    fn think() {}
    fn act() {}

    #[test]
    fn a_cycle_is_shown_whole_with_the_remedy() {
        let mut schedule = Schedule::new();
        schedule.add_systems((think.before(act), act.before(think)));

        let message = schedule.build(&mut World::new()).unwrap_err().to_string();

        is_quoted(&message.replace("messages::orders::", "messages::"));
    }

    #[test]
    fn a_name_that_nobody_has_is_shown_with_the_remedy() {
        let mut schedule = Schedule::new();
        schedule.add_systems(think.before("decide"));

        let message = schedule.build(&mut World::new()).unwrap_err().to_string();

        is_quoted(&message.replace("messages::orders::", "messages::"));
    }

    #[test]
    fn starting_from_a_name_that_nobody_has_says_where_the_names_are() {
        let mut schedule = Schedule::new();
        schedule.add_systems(think);

        let message = panic_message(|| schedule.step_from(&mut World::new(), &["decide"]));

        assert!(message.contains("`decide`") && message.contains("system_names"), "{message}");
    }

    #[test]
    fn an_output_that_nobody_returns_is_named_with_the_remedy() {
        struct Plan;
        impl SystemOutput for Plan {}
        fn follow(_: Output<Plan>) {}
        let mut schedule = Schedule::new();
        schedule.add_systems(follow);

        let message = schedule.build(&mut World::new()).unwrap_err().to_string();

        assert!(message.contains("follow` reads the output `"), "{message}");
        assert!(message.ends_with("add one that does, or ask for an `Option` of it"), "{message}");
    }
}

#[test]
fn a_dead_entity_is_named_with_the_question_to_ask_first() {
    let mut world = World::new();
    let id = world.spawn(Health(1));
    world.despawn(id).unwrap();

    is_quoted(&world.insert(id, Health(2)).unwrap_err().to_string());
}

#[test]
fn an_id_that_is_taken_or_beyond_the_limit_comes_with_the_remedy() {
    let mut world = World::builder().entity_limit(10).build();
    let id = world.spawn(Health(1));

    let taken = world.spawn_at(id, ()).unwrap_err().to_string();
    let beyond = world.spawn_at(common::id(10, 0), ()).unwrap_err().to_string();

    assert!(taken.contains("`insert`"), "{taken}");
    assert!(beyond.contains("10v0") && beyond.contains("`entity_limit`"), "{beyond}");
}

#[test]
fn what_was_to_be_one_match_comes_with_the_remedy() {
    let mut world = World::new();
    let none = world.query::<&Health>().single().unwrap_err().to_string();
    let id = world.spawn(Health(1));
    world.spawn(Health(2));

    let several = world.query::<&Health>().single().unwrap_err().to_string();
    let twice = world.query::<&mut Health>().get_disjoint_mut([id, id]).unwrap_err().to_string();

    assert!(none.contains("`iter`") && several.contains("`iter`"), "{none}\n{several}");
    assert!(twice.contains("0v0") && twice.ends_with("name each entity once"), "{twice}");
}

#[test]
fn groups_that_are_no_chain_are_both_named_with_the_remedy() {
    let mut world = World::new();
    world.group::<(Position, Velocity)>().build().unwrap();

    let refused = world.group::<(Position, Sprite)>().build().unwrap_err();

    is_quoted(&refused.to_string());
}

#[test]
fn a_borrow_that_is_refused_names_the_component_and_the_other_borrow() {
    let mut world = World::new();
    world.spawn(Health(1));
    let reading = world.query::<&Health>();

    let message = panic_message(|| drop(world.query::<&mut Health>()));
    drop(reading);

    let (wanted, remedy) = message.rsplit_once("; ").unwrap();
    is_quoted(wanted.split(", last at").next().unwrap());
    is_quoted(remedy);
    assert_eq!(wanted.contains(", last at tests/messages.rs:"), cfg!(debug_assertions), "{wanted}");
}

#[cfg(feature = "serde")]
#[test]
fn a_type_that_snapshots_do_not_know_is_named_with_both_remedies() {
    let mut world = World::new();
    world.spawn(Sprite);

    let error = esker::snapshot::SnapshotTypes::new().save().to_bytes(&world).unwrap_err();

    is_quoted(&error.to_string());
}

#[test]
fn the_other_messages_of_the_chapter_are_in_the_sources() {
    let sources = [
        (include_str!("../src/query/change.rs"), "the changes of this component are not tracked"),
        (include_str!("../src/storage/map.rs"), "the values of this storage are not contiguous"),
        (include_str!("../src/world/grouping.rs"), "is owned by a group, which keeps its order"),
        (include_str!("../src/world/pool_error.rs"), "the world does not know `"),
        (include_str!("../src/schedule/error.rs"), "the schedule was prepared for another world"),
    ];
    for (source, text) in sources {
        assert!(source.contains(text), "{text}");
        is_quoted(text.trim_end_matches(" `"));
    }
}
