//! What a query borrows, what it refuses, and what it says then.

use esker::query::{DisjointError, SingleError};
use esker::{AnyOf, Component, Entity, EntityRef, Has, Or, Query, With, Without, World};

use crate::common::{id, panic_message};
use crate::kinds::{A, B, Rare, Tag};
use crate::terms::{Condition, Term};

/// Nobody ever has it.
#[derive(Component, Debug)]
struct Unknown;

/// Nor this.
#[derive(Component, Debug)]
struct AlsoUnknown;

fn world() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let ids = [world.spawn((A(1), B(11))), world.spawn(A(2)), world.spawn((B(13), A(3)))];
    (world, ids)
}

/// The name of the component that stands against a query, if one does.
fn refused<D: Term, F: Condition>(world: &World) -> Option<&'static str> {
    world.try_query::<D, F>().err().map(|conflict| conflict.name)
}

const NAME_OF_A: &str = "queries::kinds::A";

#[test]
fn a_query_that_excludes_itself_is_refused_and_names_the_component() {
    let (world, _) = world();

    assert_eq!(refused::<(&A, &mut A), ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<(&mut A, &mut A), ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<(&mut A, &A), ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<(&B, (&mut A, Option<&A>)), ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<AnyOf<(&mut A, &mut A)>, With<B>>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<(&A, &A, Option<&A>), ()>(&world), None);
    for message in [
        panic_message(|| world.query::<(&A, &mut A)>().count()),
        panic_message(|| world.query::<(&mut A, &mut A)>().count()),
    ] {
        assert!(message.contains(&format!("`{NAME_OF_A}`")), "{message}");
        assert!(message.contains("write"), "{message}");
    }
}

#[test]
fn a_query_that_was_refused_holds_nothing() {
    let (world, _) = world();

    assert!(world.try_query::<(&B, &A, &mut A), With<B>>().is_err());

    assert!(world.try_pool_mut::<A>().is_ok());
    assert!(world.try_pool_mut::<B>().is_ok());
}

#[test]
fn readers_share_a_component_and_a_writer_has_it_alone() {
    let (world, _) = world();

    let reader = world.query::<(&A, Option<&B>)>();
    assert_eq!(refused::<&A, ()>(&world), None);
    assert_eq!(refused::<&mut A, ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<Option<&mut B>, ()>(&world), Some("queries::kinds::B"));
    drop(reader);
    let writer = world.query::<(Option<&mut A>, &B)>();
    assert_eq!(refused::<&A, ()>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<&B, ()>(&world), None);
    drop(writer);
    assert_eq!(refused::<(&mut A, &mut B), ()>(&world), None);
}

#[test]
fn filters_go_together_with_a_query_that_writes_the_component() {
    let (world, ids) = world();

    // Some are there before the one who writes, some come later.
    let either = world.query_filtered::<Entity, Or<(With<B>, With<Rare>)>>();
    let mut writer = world.query::<&mut B>();
    let with: Vec<_> = world.query_filtered::<Entity, With<B>>().iter().collect();
    let without: Vec<_> = world.query_filtered::<Entity, Without<B>>().iter().collect();
    let has: Vec<_> = world.query::<(&A, Has<B>)>().iter().map(|(_, has)| has).collect();
    for (b, entity) in writer.iter_mut().zip(&either) {
        b.0 += u64::from(entity.index());
    }

    assert_eq!(with, [ids[0], ids[2]]);
    assert_eq!(without, [ids[1]]);
    assert_eq!(has, [true, false, true]);
    assert_eq!(writer.iter().map(|b| b.0).collect::<Vec<_>>(), [11, 15]);
}

#[test]
fn a_query_may_filter_by_what_it_writes() {
    let (world, ids) = world();

    let mut query =
        world.query_filtered::<(&mut B, Has<B>), (With<B>, Or<(With<B>, Without<A>)>)>();
    query.iter_mut().for_each(|(b, has)| b.0 += u64::from(has));

    drop(query);
    assert_eq!(world.get::<B>(ids[0]).unwrap().0, 12);
}

#[test]
fn filters_do_not_go_together_with_who_may_change_the_pool() {
    let (world, _) = world();

    let pool = world.pool_mut::<A>();
    assert_eq!(refused::<Entity, With<A>>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<&B, Without<A>>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<&B, Or<(With<B>, With<A>)>>(&world), Some(NAME_OF_A));
    assert_eq!(refused::<(&B, Has<A>), ()>(&world), Some(NAME_OF_A));
    let message = panic_message(|| world.query_filtered::<Entity, With<A>>().count());
    assert!(message.contains(NAME_OF_A) && message.contains("filter"), "{message}");
    drop(pool);

    let filter = world.query_filtered::<&B, Without<A>>();
    assert!(world.try_pool_mut::<A>().is_err());
    drop(filter);
    let has = world.query::<Has<A>>();
    assert!(world.try_pool_mut::<A>().is_err());
    drop(has);
    assert!(world.try_pool_mut::<A>().is_ok());
}

#[test]
fn the_entity_itself_borrows_no_component() {
    let (world, ids) = world();

    let entities = world.query::<(Entity, EntityRef<'_>)>();
    world.pool_mut::<A>().remove(ids[0]);

    let has: Vec<bool> = entities.iter().map(|(_, entity)| entity.has::<A>()).collect();
    assert_eq!(has, [false, true, true]);
}

#[test]
fn a_component_that_nobody_has_matches_nobody_and_gets_no_pool() {
    let (world, ids) = world();
    fn count<D: esker::query::QueryData, F: esker::query::QueryFilter>(world: &World) -> usize {
        let query: Query<'_, D, F> = world.query_filtered();
        assert_eq!(query.iter().count(), query.count());
        query.count()
    }

    assert_eq!(count::<&Unknown, ()>(&world), 0);
    assert_eq!(count::<&mut Unknown, ()>(&world), 0);
    assert_eq!(count::<(&A, &Unknown), ()>(&world), 0);
    assert_eq!(count::<AnyOf<(&Unknown, &AlsoUnknown)>, ()>(&world), 0);
    assert_eq!(count::<Entity, With<Unknown>>(&world), 0);
    assert_eq!(count::<Entity, Without<Unknown>>(&world), 3);
    assert_eq!(count::<&A, Or<(With<Unknown>, With<B>)>>(&world), 2);
    assert_eq!(count::<(&A, Option<&Unknown>, Has<Unknown>), ()>(&world), 3);
    assert!(world.query::<&Unknown>().get(ids[0]).is_none());
    assert!(!world.query::<&Unknown>().contains(ids[0]));
    assert!(world.query::<(&A, &Unknown)>().drive_by::<Unknown>().is_empty());
    assert_eq!(world.query::<&Unknown>().runs().count(), 0);

    assert_eq!(world.component_id::<Unknown>(), None);
    assert_eq!(world.component_id::<AlsoUnknown>(), None);
}

#[test]
fn a_query_can_be_told_whose_order_to_follow() {
    let (mut world, ids) = world();
    world.pool_mut::<A>().swap(0, 2).unwrap();
    let order = |query: Query<'_, (Entity, &A, &B)>| query.iter().map(|(e, ..)| e).collect();

    let shortest: Vec<Entity> = order(world.query());
    let by_a: Vec<Entity> = order(world.query().drive_by::<A>());
    let again: Vec<Entity> = order(world.query().drive_by::<A>().drive_by::<B>());

    assert_eq!(shortest, [ids[0], ids[2]]);
    assert_eq!(by_a, [ids[2], ids[0]]);
    assert_eq!(again, shortest);
    world.clear();
    assert!(world.query::<(&A, &B)>().drive_by::<B>().is_empty());
}

#[test]
fn a_query_is_not_driven_by_what_it_does_not_require() {
    let (mut world, _) = world();
    world.spawn((Tag, Rare(1)));

    for message in [
        panic_message(|| world.query::<(&A, Option<&Tag>)>().drive_by::<Tag>().count()),
        panic_message(|| world.query::<(&A, Has<Tag>)>().drive_by::<Tag>().count()),
        panic_message(|| world.query::<(&A, AnyOf<(&Tag, &B)>)>().drive_by::<Tag>().count()),
        panic_message(|| world.query_filtered::<&A, Without<Tag>>().drive_by::<Tag>().count()),
        panic_message(|| {
            type Either = Or<(With<Tag>, With<Rare>)>;
            world.query_filtered::<&A, Either>().drive_by::<Tag>().count()
        }),
        panic_message(|| world.query::<&A>().drive_by::<Tag>().count()),
    ] {
        assert!(message.contains("cannot be driven by `queries::kinds::Tag`"), "{message}");
        assert!(message.contains("add `With<queries::kinds::Tag>`"), "{message}");
    }
    assert!(
        panic_message(|| world.query::<&A>().drive_by::<Unknown>().count()).contains("Unknown")
    );
}

#[test]
fn who_has_the_world_alone_is_refused_only_a_query_that_excludes_itself() {
    let (mut world, ids) = world();
    std::mem::forget(world.query::<&mut A>());

    // A query that was leaked has marked its component for good, but nobody can have it.
    world.query_mut::<&mut A>().get_mut(ids[0]).unwrap().0 = 7;
    assert_eq!(world.query_mut::<(Entity, &A)>().get(ids[0]).unwrap().1.0, 7);

    let message = panic_message(|| world.query_mut::<(&B, Option<&mut B>)>().count());
    assert!(message.contains("kinds::B") || message.contains("::B`"), "{message}");
    // Whoever gets the entities themselves can ask for any component, so it is marked.
    let mut query = world.query_mut::<(EntityRef<'_>, &mut B)>();
    let (entity, _b) = query.iter_mut().next().unwrap();
    assert!(entity.world().try_pool::<B>().is_err());
}

// All components that the world does not know have the same number.
#[test]
fn an_unknown_component_is_not_taken_for_another_unknown_one() {
    let (world, _) = world();

    let message =
        panic_message(|| world.query::<(&A, &Unknown)>().drive_by::<AlsoUnknown>().count());

    assert!(message.contains("cannot be driven by"), "{message}");
}

#[test]
fn an_explanation_names_the_driver_that_was_asked_for_even_if_nobody_knows_it() {
    let (world, _) = world();

    let query = world.query::<(&Unknown, &AlsoUnknown)>().drive_by::<Unknown>();
    assert_eq!(query.explain().driver, Some(std::any::type_name::<Unknown>()));
    let query = world.query::<(&Unknown, &AlsoUnknown)>().drive_by::<AlsoUnknown>();
    assert_eq!(query.explain().driver, Some(std::any::type_name::<AlsoUnknown>()));
}

#[test]
fn the_only_match_is_lent_and_any_other_number_is_an_error() {
    let (mut world, ids) = world();

    let mut writer = world.query_filtered::<&mut A, Without<B>>();
    writer.single_mut().unwrap().0 = 20;
    assert_eq!(writer.single().unwrap().0, 20);
    drop(writer);
    assert_eq!(world.query::<&A>().single().err(), Some(SingleError::Several));
    assert_eq!(world.query::<&mut A>().single_mut().err(), Some(SingleError::Several));
    assert_eq!(world.query::<&Tag>().single().err(), Some(SingleError::None));
    assert_eq!(world.query::<&mut Tag>().single_mut().err(), Some(SingleError::None));
    world.insert(ids[2], Tag).unwrap();
    assert_eq!(world.query::<(Entity, &Tag)>().single().unwrap().0, ids[2]);
    assert!(SingleError::None.to_string().starts_with("nothing matches"));
    assert!(SingleError::Several.to_string().starts_with("several entities match"));
}

#[test]
fn several_entities_are_lent_together_unless_one_is_missing_or_named_twice() {
    let (mut world, [a, b, c]) = world();
    let dead = world.spawn((A(4), B(14)));
    world.despawn(dead).unwrap();
    let mut query = world.query::<(&mut A, &B)>();

    let [(of_c, _), (of_a, _)] = query.get_disjoint_mut([c, a]).unwrap();
    std::mem::swap(of_a, of_c);
    assert_eq!(query.get_disjoint_mut([a, c]).unwrap().map(|(a, _)| a.0), [3, 1]);
    for (ids, error) in [
        ([a, a], DisjointError::Repeated { entity: a }),
        ([a, b], DisjointError::NoMatch { entity: b }),
        ([dead, c], DisjointError::NoMatch { entity: dead }),
        ([c, id(999, 0)], DisjointError::NoMatch { entity: id(999, 0) }),
    ] {
        let found = query.get_disjoint_mut(ids).unwrap_err();
        assert_eq!(found, error);
        let (DisjointError::Repeated { entity } | DisjointError::NoMatch { entity }) = error else {
            unreachable!("there are two errors")
        };
        assert!(found.to_string().contains(&format!("entity {entity} ")), "{found}");
    }
    assert!(query.get_disjoint_mut([]).unwrap().is_empty());
}

/// Two types of one name.
trait Homonym {
    type Component: Component;
}
struct One;
struct Two;

#[allow(non_local_definitions, reason = "types inside of blocks have no path of their own")]
fn _homonyms() {
    {
        #[derive(Component)]
        struct Same;
        impl Homonym for One {
            type Component = Same;
        }
    }
    {
        #[derive(Component)]
        struct Same;
        impl Homonym for Two {
            type Component = Same;
        }
    }
}

type SameOne = <One as Homonym>::Component;
type SameTwo = <Two as Homonym>::Component;

#[test]
fn types_of_one_name_are_two() {
    let name = std::any::type_name::<SameOne>();
    assert_eq!(name, std::any::type_name::<SameTwo>());

    for knows in 0..4 {
        let mut world = World::new();
        if knows & 1 != 0 {
            world.register::<SameOne>();
        }
        if knows & 2 != 0 {
            world.register::<SameTwo>();
        }
        assert_eq!(world.query::<&SameOne>().drive_by::<SameOne>().count(), 0);
        assert_eq!(world.query::<(&SameTwo, &SameOne)>().drive_by::<SameOne>().count(), 0);
        let message = panic_message(|| world.query::<&SameOne>().drive_by::<SameTwo>().count());
        assert!(message.contains("cannot be driven by"), "{message}");
    }
}

#[test]
fn a_conflict_within_a_query_is_told_from_one_outside_also_for_types_of_one_name() {
    let mut world = World::new();
    world.register::<SameOne>();
    world.register::<SameTwo>();

    let one = world.pool::<SameOne>();
    let within = world.try_query::<(&SameTwo, &mut SameTwo), ()>().unwrap_err();
    assert!(within.is_within_query, "{within}");
    drop(one);
    let _two = world.pool::<SameTwo>();
    let outside = world.try_query::<&mut SameTwo, ()>().unwrap_err();
    assert!(!outside.is_within_query, "{outside}");
}
