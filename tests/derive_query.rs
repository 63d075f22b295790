//! `derive(QueryData)`: a struct gives what the tuple of its fields gives, under names.
//!
//! Tuples are tested against a naive model in `queries.rs`; here structs are compared with tuples.
//! `ESKER_QUERY_SEED=7 cargo test --test derive_query` runs one seed only.

#![cfg(feature = "derive")]

mod common;

use common::{Rng, SeedReport, mix, panic_message};
use esker::SystemParam;
use esker::prelude::*;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Position(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Velocity(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Fuel(u64);

#[derive(Component, Debug, Clone, Copy)]
#[component(storage = Hashed)]
struct Weapon;

#[derive(QueryData)]
struct Mover<'w> {
    entity: Entity,
    position: &'w mut Position,
    velocity: &'w Velocity,
    armed: Has<Weapon>,
    fuel: Option<&'w Fuel>,
}

type MoverTuple<'w> = (Entity, &'w mut Position, &'w Velocity, Has<Weapon>, Option<&'w Fuel>);

/// A match, whichever way it was fetched.
type Values = (Entity, u64, u64, bool, Option<u64>);

fn read(mover: MoverReadItem<'_>) -> Values {
    let MoverReadItem { entity, position, velocity, armed, fuel } = mover;
    (entity, position.0, velocity.0, armed, fuel.map(|fuel| fuel.0))
}

fn read_tuple(
    (entity, position, velocity, armed, fuel): (Entity, &Position, &Velocity, bool, Option<&Fuel>),
) -> Values {
    (entity, position.0, velocity.0, armed, fuel.map(|fuel| fuel.0))
}

/// What the tests write.
fn moved(position: u64, velocity: u64, armed: bool, fuel: Option<u64>) -> u64 {
    mix(position ^ velocity.rotate_left(7) ^ u64::from(armed) ^ fuel.unwrap_or(99))
}

fn write(mover: MoverItem<'_>) {
    let fuel = mover.fuel.map(|fuel| fuel.0);
    mover.position.0 = moved(mover.position.0, mover.velocity.0, mover.armed, fuel);
}

fn write_tuple(
    (_, position, velocity, armed, fuel): (Entity, &mut Position, &Velocity, bool, Option<&Fuel>),
) {
    position.0 = moved(position.0, velocity.0, armed, fuel.map(|fuel| fuel.0));
}

/// Changes a world at random, and keeps a list of all that ever lived.
fn change(world: &mut World, ids: &mut Vec<Entity>, rng: &mut Rng, steps: usize) {
    for _ in 0..steps {
        let value = rng.next() >> 8;
        if ids.is_empty() || rng.one_in(3) {
            ids.push(world.spawn((Position(value), Velocity(value + 1))));
            continue;
        }
        let id = ids[rng.below(ids.len())];
        // Those of the dead are refused, and that is as good.
        match rng.below(8) {
            0 => _ = world.despawn(id),
            1 => _ = world.remove::<Position>(id),
            2 => _ = world.remove::<Velocity>(id),
            3 => _ = world.insert(id, (Velocity(value), Position(value + 2))),
            4 | 5 => _ = world.insert(id, Fuel(value)),
            6 => _ = world.insert(id, Weapon),
            _ => _ = world.remove::<(Fuel, Weapon)>(id),
        }
    }
}

/// Calls `look` with random worlds, each several times with changes in between: so that queries go
/// by look-ups and as one run, and what is known of pools is of another time.
fn in_random_worlds(seeds: u64, mut look: impl FnMut(&mut World, &[Entity])) {
    let wanted = std::env::var("ESKER_QUERY_SEED").ok();
    let wanted: Option<u64> = wanted.map(|text| text.parse().expect("a seed is a number"));
    for seed in wanted.map_or(0..seeds, |seed| seed..seed + 1) {
        let how_to_repeat = "ESKER_QUERY_SEED=<seed> cargo test --test derive_query <name>";
        let _report = SeedReport { seed, how_to_repeat };
        let (mut rng, mut ids, mut world) = (Rng::new(mix(seed)), Vec::new(), World::new());
        for round in 0..6 {
            if round % 3 == 0 {
                let steps = rng.below(if cfg!(miri) { 40 } else { 150 });
                change(&mut world, &mut ids, &mut rng, steps);
            }
            look(&mut world, &ids);
        }
    }
}

#[test]
fn a_struct_is_walked_as_the_tuple_of_its_fields() {
    let mut matches = 0;
    in_random_worlds(20, |world, _| {
        let tuples = world.query_filtered::<MoverTuple, Without<Weapon>>();
        let expected: Vec<Values> = tuples.iter().map(read_tuple).collect();
        drop(tuples);
        let movers = world.query_filtered::<Mover, Without<Weapon>>();
        matches += expected.len();

        let mut found = Vec::new();
        for mover in &movers {
            found.push(read(mover));
        }
        assert_eq!(found, expected);
        found.clear();
        movers.iter().for_each(|mover| found.push(read(mover)));
        assert_eq!(found, expected);
        assert_eq!(movers.count(), expected.len());
        assert_eq!(movers.is_empty(), expected.is_empty());
        assert_eq!(
            movers.single().map(read).ok(),
            expected.first().copied().filter(|_| expected.len() == 1)
        );
    });
    assert!(matches > 1000, "the worlds are too small to say anything: {matches}");
}

#[test]
fn entities_are_looked_up_as_by_the_tuple() {
    in_random_worlds(20, |world, ids| {
        let tuples = world.query::<MoverTuple>();
        let one_by_one: Vec<_> = ids.iter().map(|&id| tuples.get(id).map(read_tuple)).collect();
        let many: Vec<_> = tuples.iter_many(ids).map(read_tuple).collect();
        let few = &ids[..ids.len().min(9)];
        drop(tuples);
        let mut movers = world.query::<Mover>();

        for (&id, expected) in ids.iter().zip(&one_by_one) {
            assert_eq!(movers.get(id).map(read), *expected);
            assert_eq!(movers.contains(id), expected.is_some());
            let found = movers.get_mut(id).map(|mover| mover.position.0);
            assert_eq!(found, expected.map(|(_, position, ..)| position));
        }
        assert_eq!(movers.iter_many(ids).map(read).collect::<Vec<_>>(), many);
        for pair in few.windows(2) {
            let are_there = pair.iter().all(|&id| movers.contains(id));
            let both = movers.get_disjoint_mut([pair[0], pair[1]]);
            assert_eq!(
                both.map(|[a, b]| [a.entity, b.entity]).ok(),
                are_there.then_some([pair[0], pair[1]])
            );
        }
    });
}

#[test]
fn a_dead_entity_is_no_match_of_a_struct_that_requires_nothing() {
    #[derive(QueryData)]
    struct Anybody<'w> {
        id: Entity,
        fuel: Option<&'w Fuel>,
    }
    let mut world = World::new();
    let [living, dead] = [world.spawn(()), world.spawn(Fuel(1))];
    world.despawn(dead).unwrap();

    let anybody = world.query::<Anybody>();

    assert!(anybody.get(dead).is_none());
    assert_eq!(anybody.get(living).map(|found| (found.id, found.fuel)), Some((living, None)));
}

#[test]
fn combinations_are_those_of_the_tuple() {
    in_random_worlds(6, |world, ids| {
        for &id in ids.iter().skip(12) {
            _ = world.despawn(id);
        }
        let tuples = world.query::<MoverTuple>();
        let expected: Vec<_> = tuples.iter_combinations().map(|[a, b]| [a.0, b.0]).collect();
        drop(tuples);
        let mut movers = world.query::<Mover>();

        let found: Vec<_> = movers.iter_combinations().map(|[a, b]| [a.entity, b.entity]).collect();
        assert_eq!(found, expected);
        let mut written = Vec::new();
        let mut pairs = movers.iter_combinations_mut();
        while let Some([a, b]) = pairs.fetch_next() {
            (a.position.0, b.position.0) = (b.position.0, a.position.0);
            written.push([a.entity, b.entity]);
        }
        assert_eq!(written, expected);
    });
}

#[test]
fn the_runs_of_a_struct_are_the_slices_of_its_fields() {
    let mut runs = 0;
    in_random_worlds(20, |world, _| {
        let tuples = world.query::<MoverTuple>();
        let expected: Vec<_> = tuples
            .runs()
            .map(|(ids, positions, velocities, armed, fuels)| {
                let fuels = fuels.map(<[Fuel]>::to_vec);
                (ids.to_vec(), positions.to_vec(), velocities.to_vec(), armed, fuels)
            })
            .collect();
        drop(tuples);
        runs += expected.len();

        let mut movers = world.query::<Mover>();
        let found = movers.runs().map(|(ids, positions, velocities, armed, fuels)| {
            let fuels = fuels.map(<[Fuel]>::to_vec);
            (ids.to_vec(), positions.to_vec(), velocities.to_vec(), armed, fuels)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        for (ids, positions, ..) in movers.runs_mut() {
            positions.iter_mut().zip(ids).for_each(|(position, id)| position.0 = id.to_bits());
        }
        assert!(movers.iter().all(|mover| mover.position.0 == mover.entity.to_bits()));
    });
    assert!(runs > 1000, "the worlds are too orderly to say anything: {runs}");
}

#[test]
fn an_explanation_is_that_of_the_tuple() {
    let mut ways = std::collections::BTreeSet::new();
    in_random_worlds(20, |world, _| {
        let by_tuple = world.query::<MoverTuple>().explain();
        assert_eq!(world.query::<Mover>().explain(), by_tuple);
        ways.insert(format!("{:?}", by_tuple.way));
    });
    assert!(ways.contains("Direct"), "{ways:?}");
}

/// All values of a world.
fn state(world: &World) -> Vec<(Entity, Option<u64>)> {
    let query = world.query::<(Entity, Option<&Position>)>();
    query.iter().map(|(id, position)| (id, position.map(|position| position.0))).collect()
}

#[test]
fn what_is_written_is_what_would_be_written_through_the_tuple() {
    for seed in 0..12 {
        let _report = SeedReport { seed, how_to_repeat: "it is one of the first twelve" };
        let [mut named, mut plain] = [(); 2].map(|()| {
            let (mut world, mut ids) = (World::new(), Vec::new());
            change(&mut world, &mut ids, &mut Rng::new(mix(seed)), 200);
            (world, ids)
        });
        assert_eq!(state(&named.0), state(&plain.0));
        let (ids, before) = (named.1, state(&plain.0));
        let (named, plain) = (&mut named.0, &mut plain.0);

        for way in 0..5 {
            match way {
                0 => {
                    (&mut named.query::<Mover>()).into_iter().for_each(write);
                    plain.query::<MoverTuple>().iter_mut().for_each(write_tuple);
                }
                1 => {
                    for mover in &mut named.query_mut::<Mover>() {
                        write(mover);
                    }
                    for mover in &mut plain.query_mut::<MoverTuple>() {
                        write_tuple(mover);
                    }
                }
                2 => {
                    let (mut movers, mut tuples) =
                        (named.query::<Mover>(), plain.query::<MoverTuple>());
                    for &id in &ids {
                        movers.get_mut(id).map(write);
                        tuples.get_mut(id).map(write_tuple);
                    }
                }
                3 => {
                    let (mut movers, mut tuples) =
                        (named.query::<Mover>(), plain.query::<MoverTuple>());
                    let (mut movers, mut tuples) =
                        (movers.iter_many_mut(&ids), tuples.iter_many_mut(&ids));
                    while let Some(mover) = movers.fetch_next() {
                        write(mover);
                    }
                    while let Some(mover) = tuples.fetch_next() {
                        write_tuple(mover);
                    }
                }
                _ => {
                    let driven = named.query::<Mover>().drive_by::<Velocity>();
                    { driven }.iter_mut().for_each(write);
                    let driven = plain.query::<MoverTuple>().drive_by::<Velocity>();
                    { driven }.iter_mut().for_each(write_tuple);
                }
            }
            assert_eq!(state(named), state(plain), "way {way}");
        }
        assert_ne!(state(named), before);
        named.verify().unwrap();
    }
}

#[cfg(feature = "parallel")]
#[test]
fn several_threads_are_given_every_match_of_a_struct_once() {
    use rayon::iter::ParallelIterator;

    let mut world = World::new();
    let count = if cfg!(miri) { 100 } else { 20_000 };
    world.spawn_batch((0..count).map(|n| (Position(n), Velocity(2 * n)))).for_each(drop);

    let mut movers = world.query::<Mover>();
    movers.par_iter_mut().batch(16).for_each(|mover| mover.position.0 += mover.velocity.0 + 1);
    let sum: u64 = movers.par_iter().batch(16).map(|mover| mover.position.0).sum();

    assert_eq!(sum, (0..count).map(|n| 3 * n + 1).sum::<u64>());
    assert!(movers.iter().all(|mover| 2 * (mover.position.0 - 1) == 3 * mover.velocity.0));
}

#[test]
fn a_struct_is_fetched_by_systems() {
    #[derive(SystemParam)]
    struct Traffic<'w> {
        movers: Query<'w, Mover<'static>, Without<Weapon>>,
    }
    fn go(mut movers: Query<Mover>) {
        for mover in &mut movers {
            mover.position.0 += mover.velocity.0;
        }
    }
    fn go_on(mut traffic: Traffic) {
        traffic.movers.iter_mut().for_each(|mover| mover.position.0 *= 10);
    }
    let mut world = World::new();
    let id = world.spawn((Position(1), Velocity(2)));
    let armed = world.spawn((Position(1), Velocity(2), Weapon));
    let mut schedule = Schedule::new();
    schedule.add_systems((go, go_on, go));

    schedule.step(&mut world);

    assert_eq!(world.get::<Position>(id).unwrap().0, 32);
    assert_eq!(world.get::<Position>(armed).unwrap().0, 5);
}

#[test]
fn systems_that_share_a_component_through_structs_run_one_after_the_other() {
    #[derive(QueryData)]
    struct Reader<'w> {
        position: &'w Position,
    }
    fn write(mut movers: Query<Mover>) {
        movers.iter_mut().for_each(|mover| mover.position.0 += 1);
    }
    fn read(readers: Query<Reader>) {
        assert!(readers.iter().all(|reader| reader.position.0 > 0));
    }
    let mut world = World::new();
    world.spawn((Position(0), Velocity(0)));
    let mut schedule = Schedule::new();
    schedule.add_systems((write, read));

    // Had the struct not said what it uses, nothing would connect the two.
    let explanation = schedule.explain(&mut world).unwrap();
    assert!(explanation.contains("Position"), "{explanation}");
    schedule.step(&mut world);
}

#[test]
fn structs_nest_in_tuples_options_choices_and_structs() {
    #[derive(QueryData)]
    struct Body<'w> {
        position: &'w mut Position,
        velocity: Option<&'w Velocity>,
    }
    #[derive(QueryData)]
    struct Ship<'w> {
        body: Body<'w>,
        tank: Option<Tank<'w>>,
        load: AnyOf<(&'w Fuel, Has<Weapon>)>,
    }
    #[derive(QueryData)]
    struct Tank<'w> {
        fuel: &'w Fuel,
        id: Entity,
    }
    let mut world = World::new();
    let [a, b] = [world.spawn((Position(1), Fuel(5))), world.spawn((Position(2), Velocity(3)))];

    for (id, ship) in &mut world.query::<(Entity, Ship)>() {
        ship.body.position.0 += ship.body.velocity.map_or(10, |velocity| velocity.0);
        assert_eq!(ship.tank.map(|tank| (tank.id, tank.fuel.0)), (id == a).then_some((a, 5)));
        assert_eq!(ship.load, (if id == a { Some(&Fuel(5)) } else { None }, Some(false)));
    }
    let bodies = world.query::<AnyOf<(Body, Tank)>>();
    let positions = bodies.iter().map(|(body, tank)| (body.unwrap().position.0, tank.is_some()));
    assert_eq!(positions.collect::<Vec<_>>(), [(11, true), (5, false)]);
    assert_eq!(world.query::<Option<Tank>>().iter().flatten().count(), 1);
    assert!(world.query::<Tank>().get(b).is_none());
}

#[test]
fn a_struct_may_have_parameters() {
    #[derive(QueryData)]
    struct Pair<'w, T: Component, D>
    where
        D: QueryData,
    {
        value: &'w mut T,
        rest: D,
    }
    fn total<T: Component>(world: &World, number: impl Fn(&T) -> u64) -> u64 {
        world.query::<Pair<T, Has<Weapon>>>().iter().map(|pair| number(pair.value)).sum()
    }
    let mut world = World::new();
    world.spawn((Position(1), Velocity(20)));
    world.spawn((Position(2), Fuel(300)));

    for pair in &mut world.query::<Pair<Position, Option<&Velocity>>>() {
        pair.value.0 += pair.rest.map_or(0, |velocity| velocity.0);
    }

    assert_eq!(total::<Position>(&world, |position| position.0), 23);
    assert_eq!(total::<Fuel>(&world, |fuel| fuel.0), 300);
}

#[test]
fn a_struct_needs_no_lifetime_of_its_own() {
    #[derive(QueryData)]
    struct Still {
        id: Entity,
        position: &'static mut Position,
        fuel: Option<&'static Fuel>,
    }
    let mut world = World::new();
    let id = world.spawn(Position(1));

    for still in &mut world.query::<Still>() {
        assert_eq!((still.id, still.fuel), (id, None));
        still.position.0 = 7;
    }

    assert_eq!(world.get::<Position>(id).unwrap().0, 7);
}

#[test]
fn a_tracked_component_in_a_struct_notes_its_changes() {
    #[derive(Component)]
    #[component(track)]
    struct Health(u32);
    #[derive(QueryData)]
    struct Patient<'w> {
        health: &'w mut Health,
        position: &'w Position,
    }
    #[derive(QueryData)]
    struct Seen<'w> {
        health: Ref<'w, Health>,
    }
    let mut world = World::new();
    let [ill, _] = [world.spawn((Health(1), Position(0))), world.spawn((Health(5), Position(0)))];
    world.refresh();

    for mut patient in &mut world.query::<Patient>() {
        if patient.health.0 < 3 {
            patient.health.0 += 1 + patient.position.0 as u32;
        }
    }

    let seen = world.query::<Seen>();
    assert_eq!(seen.iter().filter(|seen| seen.health.is_changed()).count(), 1);
    assert!(seen.get(ill).unwrap().health.is_changed());
}

#[test]
fn a_component_that_is_written_and_named_twice_is_refused_by_its_name() {
    #[derive(QueryData)]
    struct Twice<'w> {
        one: &'w mut Position,
        other: Other<'w>,
    }
    #[derive(QueryData)]
    struct Other<'w> {
        same: Option<&'w mut Position>,
    }
    let mut world = World::new();
    world.spawn(Position(1));

    let conflict = world.try_query::<Twice, ()>().unwrap_err();
    assert_eq!(conflict.name, "derive_query::Position");
    assert!(conflict.is_within_query);
    assert!(world.try_query::<(Other, &Position), ()>().is_err());
    let message = panic_message(|| drop(world.query_mut::<Twice>()));
    assert!(message.contains("`derive_query::Position`"), "{message}");
    assert!(world.try_pool_mut::<Position>().is_ok(), "what was refused holds nothing");
}

#[test]
fn a_struct_that_only_reads_goes_together_with_others_that_read() {
    #[derive(QueryData)]
    struct Reader<'w> {
        position: &'w Position,
        velocity: Option<&'w Velocity>,
    }
    let mut world = World::new();
    world.spawn(Position(4));

    let (one, other) = (world.query::<Reader>(), world.query::<Reader>());
    assert_eq!(one.iter().zip(&other).map(|(a, b)| a.position.0 + b.position.0).sum::<u64>(), 8);
    assert!(one.iter().chain(&other).all(|reader| reader.velocity.is_none()));
    assert!(world.try_pool::<Position>().is_ok());
    assert!(world.try_query::<Mover, ()>().is_err());
    // Through a shared query the other one reads, too, and its items may be had at once.
    drop((one, other));
    world.spawn((Position(5), Velocity(0)));
    let movers = world.query::<Mover>();
    let [a, b] = [movers.iter().next().unwrap(), movers.iter().next().unwrap()];
    assert_eq!(a.position, b.position);
}

#[test]
fn a_struct_with_access_to_the_world_marks_what_it_borrows() {
    #[derive(QueryData)]
    struct Nosy<'w> {
        position: &'w mut Position,
        who: EntityRef<'w>,
    }
    let mut world = World::new();
    world.spawn((Position(1), Velocity(2)));

    for nosy in &mut world.query_mut::<Nosy>() {
        nosy.position.0 += nosy.who.get::<Velocity>().unwrap().0;
        let message = panic_message(|| drop(nosy.who.get::<Position>()));
        assert!(message.contains("`derive_query::Position`"), "{message}");
        assert_eq!(nosy.position.0, 3);
    }
}

#[test]
fn the_members_of_a_group_are_had_by_a_struct() {
    #[derive(QueryData)]
    struct Member<'w> {
        position: &'w mut Position,
        velocity: &'w Velocity,
    }
    let mut world = World::new();
    let group = world.group::<(Position, Velocity)>().build().unwrap();
    world.spawn(Position(1));
    world.spawn_batch((0..30).map(|n| (Position(n), Velocity(n)))).for_each(drop);

    let mut members = world.grouped::<Member>(group).unwrap();
    members.iter_mut().for_each(|member| member.position.0 += member.velocity.0);
    let (positions, velocities) = members.slices().unwrap();

    assert_eq!(positions.len(), 30);
    assert!(
        positions.iter().zip(velocities).all(|(position, velocity)| position.0 == 2 * velocity.0)
    );
}

#[test]
fn a_struct_may_have_more_fields_than_the_longest_tuple() {
    #[derive(QueryData)]
    #[rustfmt::skip]
    struct Long<'w> {
        a: Entity, b: &'w Position, c: Has<Weapon>, d: Entity, e: Entity, f: Entity,
        g: Entity, h: Entity, i: Entity, j: Entity, k: Entity, l: Entity, m: Entity,
        n: Entity, o: Entity, p: Option<&'w Fuel>, q: &'w mut Velocity, r#type: Entity,
    }
    let mut world = World::new();
    let id = world.spawn((Position(1), Velocity(2), Fuel(3)));
    world.spawn(Position(1));

    for long in &mut world.query::<Long>() {
        long.q.0 += long.b.0 + long.p.unwrap().0;
        assert_eq!([long.a, long.o, long.r#type], [id; 3]);
    }

    assert_eq!(world.query::<Long>().single().map(|long| long.q.0), Ok(6));
    let query = world.query::<Long>();
    let (first, (velocities, ids)) = query.runs().next().unwrap();
    assert_eq!((first.1, velocities, ids), (&[Position(1)][..], &[Velocity(6)][..], &[id][..]));
}
