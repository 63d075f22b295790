//! Deaths whose values stay until a newborn takes them over, or until something looks.

#![cfg(feature = "derive")]

mod common;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use common::Rng;
use esker::prelude::*;
use esker::query::WalkKind;
use esker::world::{ComponentVisitor, Gate, Row};

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct B(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track)]
struct Seen(u64);
#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Status(u64);
/// Needs a drop.
#[derive(Component, Debug, Clone)]
struct Held(Arc<u64>);

/// What an entity has: A, B, Seen, Status, Held.
type Model = BTreeMap<Entity, [Option<u64>; 5]>;

fn spawn(world: &mut World, model: &mut Model, kind: usize, n: u64) {
    let held = || Held(Arc::new(n));
    let some = Some(n);
    let (id, row) = match kind {
        0 => (world.spawn((A(n), B(n))), [some, some, None, None, None]),
        1 => (world.spawn((A(n), Seen(n))), [some, None, some, None, None]),
        2 => (world.spawn((B(n), A(n), Seen(n))), [some, some, some, None, None]),
        3 => (world.spawn((A(n), B(n), held())), [some, some, None, None, some]),
        _ => (world.spawn((B(n), Status(n))), [None, some, None, some, None]),
    };
    assert_eq!(model.insert(id, row), None, "an id is given out once");
}

/// A world that is laid out: nothing is noted.
fn laid_out(count: usize) -> (World, Model) {
    let (mut world, mut model) = (World::new(), Model::new());
    for n in 0..count {
        spawn(&mut world, &mut model, n % 5, n as u64);
    }
    world.refresh();
    (world, model)
}

#[track_caller]
fn compare(world: &World, model: &Model) {
    let sorted = |mut all: Vec<(Entity, u64)>| {
        all.sort_unstable();
        all
    };
    let expected = |at: usize| -> Vec<(Entity, u64)> {
        model.iter().filter_map(|(&id, row)| Some((id, row[at]?))).collect()
    };
    assert_eq!(world.len(), model.len());
    assert_eq!(
        sorted(world.query::<(Entity, &A)>().iter().map(|(id, a)| (id, a.0)).collect()),
        expected(0)
    );
    let b = world.pool::<B>();
    assert_eq!(sorted(b.iter().map(|(id, b)| (id, b.0)).collect()), expected(1));
    assert_eq!(b.len(), expected(1).len());
    let seen = world.query::<(Entity, &Seen)>();
    assert_eq!(sorted(seen.iter().map(|(id, c)| (id, c.0)).collect()), expected(2));
    let held = world.query::<(Entity, &Held)>();
    let status = world.query::<(Entity, &Status)>();
    assert_eq!(sorted(status.iter().map(|(id, c)| (id, c.0)).collect()), expected(3));
    assert_eq!(sorted(held.iter().map(|(id, c)| (id, *c.0)).collect()), expected(4));
}

#[test]
fn whoever_looks_at_any_time_finds_the_living_and_no_one_else() {
    for seed in 1..40 {
        println!("seed {seed}");
        let mut random = Rng::new(0x9E37_79B9_7F4A_7C15 ^ seed);
        let (mut world, mut model) = laid_out(400);
        for step in 0..600_u64 {
            let ids: Vec<Entity> = model.keys().copied().collect();
            let any = ids[random.below(ids.len())];
            match random.below(12) {
                0..=3 => {
                    world.despawn(any).unwrap();
                    model.remove(&any);
                    assert!(world.despawn(any).is_err());
                }
                4..=7 => spawn(&mut world, &mut model, random.below(5), step),
                8 => {
                    world.insert(any, Status(step)).unwrap();
                    model.get_mut(&any).unwrap()[3] = Some(step);
                }
                9 => {
                    let removed = world.remove::<B>(any).unwrap();
                    let before = model.get_mut(&any).unwrap()[1].take();
                    assert_eq!(removed.map(|b| b.0), before, "seed {seed}");
                }
                10 => assert_eq!(
                    world.get::<A>(any).map(|a| a.0),
                    model[&any][0],
                    "seed {seed}, step {step}"
                ),
                _ if random.below(4) == 0 => compare(&world, &model),
                _ if random.below(4) == 0 => world.refresh(),
                _ => {
                    let dead = Entity::new(any.index(), any.version().wrapping_sub(1));
                    if let Some(dead) = dead.filter(|dead| *dead != any) {
                        assert!(!world.has::<A>(dead) && world.get::<B>(dead).is_none());
                    }
                }
            }
            if step % 97 == 0 {
                world.verify().unwrap();
            }
        }
        compare(&world, &model);
        world.verify().unwrap();
    }
}

#[test]
fn where_deaths_and_births_balance_nobody_else_moves() {
    let (mut world, model) = laid_out(1000);
    let order = |world: &World| {
        (world.pool::<A>().entities().to_vec(), world.pool::<B>().entities().to_vec())
    };
    let before = order(&world);
    let dying: Vec<Entity> = model
        .iter()
        .filter(|(_, r)| r[0].is_some() && r[2].is_none() && r[4].is_none())
        .map(|(&id, _)| id)
        .step_by(3)
        .collect();
    for &id in &dying {
        world.despawn(id).unwrap();
    }
    for n in 0..dying.len() {
        world.spawn((A(n as u64), B(n as u64)));
    }
    world.refresh();

    let after = order(&world);
    for (before, after) in [(before.0, after.0), (before.1, after.1)] {
        assert_eq!(before.len(), after.len());
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            assert!(before == after || dying.contains(before), "{before} has left position {at}");
        }
    }
    world.verify().unwrap();
}

#[test]
fn newborns_who_come_after_a_look_lie_in_their_rows_after_the_next_refresh() {
    let (mut world, model) = laid_out(1000);
    let dying: Vec<Entity> = model.keys().copied().step_by(7).collect();
    for &id in &dying {
        world.despawn(id).unwrap();
    }
    assert!(world.get::<A>(dying[0]).is_none());
    for n in 0..dying.len() {
        spawn(&mut world, &mut Model::new(), n % 5, n as u64);
    }
    world.refresh();

    let walk = world.query::<(&A, &B)>().explain();
    assert_eq!((walk.way, walk.loose), (WalkKind::Blocks, 0), "{walk}");
}

#[test]
fn those_who_are_born_with_a_new_component_come_to_lie_together() {
    #[derive(Component)]
    struct New;

    let (mut world, model) = laid_out(1000);
    let mut dying = model.iter().filter(|(_, row)| *row == &[row[0], row[0], None, None, None]);
    for round in 0..3 {
        for n in 0..60 {
            // Rows are vacant that would fit but for the new component.
            world.despawn(*dying.next().unwrap().0).unwrap();
            world.spawn((A(n), B(n), New));
        }
        // For the rows that stay vacant.
        for n in 0..100 {
            world.spawn((A(n), B(n)));
        }
        world.refresh();
        let walk = world.query::<(&A, &New)>().explain();
        assert_eq!((walk.way, walk.loose), (WalkKind::Blocks, 0), "round {round}: {walk}");
    }
}

#[test]
fn a_value_that_takes_the_place_of_a_dead_one_counts_as_added() {
    let (mut world, model) = laid_out(1000);
    let dying: Vec<Entity> = model
        .iter()
        .filter(|(_, r)| r[2].is_some() && r[1].is_none())
        .map(|(&id, _)| id)
        .take(50)
        .collect();
    let since = world.advance_tick();
    for &id in &dying {
        world.despawn(id).unwrap();
    }
    let born: Vec<Entity> = (0..50).map(|n| world.spawn((A(n), Seen(n)))).collect();

    let query = world.query_filtered::<Entity, Added<Seen>>().since(since);
    let mut added: Vec<Entity> = query.iter().collect();
    added.sort_unstable();
    let mut born = born;
    born.sort_unstable();
    assert_eq!(added, born);
}

#[test]
fn an_id_that_is_demanded_again_keeps_what_it_is_given() {
    let (mut world, mut model) = laid_out(1000);
    let again: Vec<Entity> = model.keys().copied().step_by(9).collect();
    for &id in &again {
        world.despawn(id).unwrap();
        world.spawn_at(id, (A(5), B(6))).unwrap();
        model.insert(id, [Some(5), Some(6), None, None, None]);
    }
    compare(&world, &model);
    world.verify().unwrap();
    world.refresh();
    compare(&world, &model);
}

/// Says that it has A and B, gives A, and may panic.
struct Torn {
    panics: bool,
}

impl Bundle for Torn {
    type Parts = ();
    type Writer<'w> = ();

    fn insert(self, gate: &mut Gate<'_>) {
        Bundle::insert(A(7), gate);
        assert!(!self.panics, "planned");
    }
    fn remove(_: &mut Gate<'_>) {}
    fn assemble((): ()) -> Option<Self> {
        None
    }
    fn write<'w>(self, (): &mut (), _: &Row<'w>) {}
    fn visit<V: ComponentVisitor>(visitor: &mut V) {
        visitor.visit::<A>();
        visitor.visit::<B>();
    }
}

#[test]
fn a_birth_that_does_not_fill_its_row_leaves_nobody_dead_in_a_pool() {
    for panics in [false, true] {
        let (mut world, mut model) = laid_out(1000);
        let dying: Vec<Entity> = model
            .iter()
            .filter(|(_, r)| r[0].is_some() && r[1].is_some())
            .map(|(&id, _)| id)
            .collect();
        for id in dying {
            world.despawn(id).unwrap();
            model.remove(&id);
        }
        let before: Vec<Entity> = world.entities().collect();
        for _ in 0..20 {
            let born = catch_unwind(AssertUnwindSafe(|| world.spawn(Torn { panics })));
            assert_eq!(born.is_err(), panics);
        }
        for id in world.entities().filter(|id| !before.contains(id)) {
            model.insert(id, [Some(7), None, None, None, None]);
        }
        compare(&world, &model);
        world.verify().unwrap();
        world.refresh();
        compare(&world, &model);
        world.verify().unwrap();
    }
}

#[test]
fn threads_that_look_at_once_after_deaths_see_the_same() {
    for round in 0..20 {
        let (mut world, mut model) = laid_out(2000);
        let dying: Vec<Entity> = model.keys().copied().skip(round).step_by(2).collect();
        for id in dying {
            world.despawn(id).unwrap();
            model.remove(&id);
        }
        let (world, model) = (&world, &model);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || compare(world, model));
            }
        });
    }
}

#[test]
fn a_world_that_is_never_looked_at_does_not_pile_up_its_dead() {
    let (mut world, _) = laid_out(1000);
    for n in 0..200_000 {
        let id = world.spawn((A(n), B(n)));
        world.despawn(id).unwrap();
    }
    let report = world.memory_report();
    assert!(report.total() < 1 << 20, "{report}");
}
