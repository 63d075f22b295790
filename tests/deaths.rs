//! Many deaths, and many removals, at once leave the world that one after the other leaves.

#![cfg(feature = "derive")]

mod common;

use std::mem;

use common::{Rng, SeedReport};
use esker::entity::Entity;
use esker::world::RemovedCursor;
use esker::{Commands, Component, World};

#[derive(Component, Debug, Clone, PartialEq)]
#[component(keep_removed)]
struct Name(String);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Indexed)]
struct Place(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(storage = Hashed)]
struct Odd(u64);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
#[component(track)]
struct Speed(u32);

#[derive(Component)]
struct Numbered<const N: usize>;

/// What hangs on the world.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Company {
    Nobody,
    AGroup,
    /// More component types than a signature has bits.
    ManyTypes,
    /// Somebody who reads which names went.
    AReader,
}

const ALL: [Company; 4] = [Company::Nobody, Company::AGroup, Company::ManyTypes, Company::AReader];

fn register_many(world: &mut World) {
    macro_rules! register {
        ($($tens:literal)*) => { $(
            world.register::<Numbered<{ 10 * $tens }>>();
            world.register::<Numbered<{ 10 * $tens + 1 }>>();
            world.register::<Numbered<{ 10 * $tens + 2 }>>();
            world.register::<Numbered<{ 10 * $tens + 3 }>>();
            world.register::<Numbered<{ 10 * $tens + 4 }>>();
            world.register::<Numbered<{ 10 * $tens + 5 }>>();
            world.register::<Numbered<{ 10 * $tens + 6 }>>();
            world.register::<Numbered<{ 10 * $tens + 7 }>>();
        )* };
    }
    register!(0 1 2 3 4 5 6 7 8);
}

fn filled(seed: u64, company: Company) -> (World, Vec<Entity>) {
    let mut rng = Rng::new(seed);
    let mut world = World::new();
    match company {
        Company::AGroup => _ = world.group::<(Name, Speed)>().build().unwrap(),
        Company::ManyTypes => register_many(&mut world),
        Company::Nobody | Company::AReader => {}
    }
    let ids = (0..1 + rng.index_below(600))
        .map(|n| {
            let id = world.spawn(Place(n));
            if rng.one_in(2) {
                world.insert(id, Name(n.to_string())).unwrap();
            }
            if rng.one_in(3) {
                world.insert(id, (Odd(n.into()), Speed(n))).unwrap();
            }
            id
        })
        .collect();
    (world, ids)
}

/// Whom a batch names: the living, the dead, some twice.
fn doomed(ids: &[Entity], rng: &mut Rng) -> Vec<Entity> {
    let count = rng.below(2 * ids.len());
    (0..count).map(|_| rng.pick(ids)).collect()
}

/// All that can be seen of a world, orders included.
fn seen(world: &mut World) -> impl PartialEq + std::fmt::Debug + use<> {
    world.verify().unwrap();
    let places: Vec<_> = world.pool::<Place>().iter().map(|(e, p)| (e, *p)).collect();
    let names: Vec<_> = world.pool::<Name>().iter().map(|(e, n)| (e, n.clone())).collect();
    let odds: Vec<_> = world.pool::<Odd>().iter().map(|(e, o)| (e, *o)).collect();
    let speeds: Vec<_> = world.pool::<Speed>().iter().map(|(e, s)| (e, *s)).collect();
    let next: Vec<_> = world.spawn_batch((0..700).map(Place)).collect();
    (places, names, odds, speeds, next)
}

#[test]
fn a_batch_leaves_the_world_that_one_after_the_other_leaves() {
    for (seed, company) in (0..40).flat_map(|seed| ALL.map(|company| (seed, company))) {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test deaths" };
        let mut outcomes = [true, false].map(|at_once| {
            let (mut world, ids) = filled(seed, company);
            let mut reader = (company == Company::AReader).then(|| world.removed::<Name>());
            let doomed = doomed(&ids, &mut Rng::new(seed));
            let count = match at_once {
                true => world.despawn_batch(doomed),
                false => doomed.iter().filter(|&&id| world.despawn(id).is_ok()).count(),
            };
            let lost: Vec<_> = reader.iter_mut().map(|reader| lost(reader, &world)).collect();
            (world, count, lost)
        });
        let [at_once, singly] = &mut outcomes;
        assert_eq!((at_once.1, &at_once.2), (singly.1, &singly.2), "{company:?}");
        assert_eq!(seen(&mut at_once.0), seen(&mut singly.0), "{company:?}");
    }
}

#[test]
fn a_batch_of_removals_leaves_the_world_that_one_after_the_other_leaves() {
    for (seed, company) in (0..40).flat_map(|seed| ALL.map(|company| (seed, company))) {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test deaths" };
        let mut outcomes = [true, false].map(|at_once| {
            let (mut world, ids) = filled(seed, company);
            let mut reader = (company == Company::AReader).then(|| world.removed::<Name>());
            let mut rng = Rng::new(seed);
            world.despawn_batch(ids.iter().copied().filter(|_| rng.one_in(8)));
            let poor = doomed(&ids, &mut rng);
            let count = match at_once {
                true => world.remove_batch::<(Speed, (Name, Odd))>(poor),
                false => {
                    let remove = |id: &&Entity| world.remove::<(Speed, (Name, Odd))>(**id).is_ok();
                    poor.iter().filter(remove).count()
                }
            };
            let lost: Vec<_> = reader.iter_mut().map(|reader| lost(reader, &world)).collect();
            (world, count, lost)
        });
        let [at_once, singly] = &mut outcomes;
        assert_eq!((at_once.1, &at_once.2), (singly.1, &singly.2), "{company:?}");
        assert_eq!(seen(&mut at_once.0), seen(&mut singly.0), "{company:?}");
    }
}

fn lost(reader: &mut RemovedCursor<Name>, world: &World) -> Vec<(Entity, Option<Name>)> {
    reader.read(world).iter().map(|removal| (removal.entity, removal.value.clone())).collect()
}

/// A world that has more component types than a signature has bits, and a leaked guard on a late one.
fn with_a_leaked_guard() -> (World, Entity) {
    let mut world = World::new();
    register_many(&mut world);
    world.on_remove::<Name>(|_: &World, _: Entity, _: &mut Commands<'_, '_>| {});
    _ = world.on_despawn(|_: &World, _: Entity, _: &mut Commands<'_, '_>| {});
    let id = world.spawn((Name("a".into()), Odd(1), Place(1), Speed(1)));
    world.spawn((Name("b".into()), Odd(2)));
    mem::forget(world.pool_mut::<Name>());
    mem::forget(world.pool_mut::<Odd>());
    (world, id)
}

#[test]
fn who_has_the_world_alone_disregards_guards_that_were_leaked() {
    type Way = fn(&mut World, Entity);
    let ways: [Way; 13] = [
        |world, id| world.despawn(id).unwrap(),
        |world, id| _ = world.despawn_batch([id]),
        |world, _| world.clear(),
        |world, _| world.clear_pool::<Name>(),
        |world, id| assert!(world.take::<(Name, Odd)>(id).unwrap().is_some()),
        |world, id| assert!(world.remove::<(Name, Odd)>(id).unwrap().0.is_some()),
        |world, id| _ = world.remove_batch::<(Name, Odd)>([id]),
        |world, id| world.insert(id, (Name("c".into()), Odd(3))).unwrap(),
        |world, id| world.patch(id, |odd: &mut Odd| odd.0 += 1).unwrap(),
        |world, id| _ = world.replace(id, Name("d".into())).unwrap(),
        |world, id| _ = world.entity_mut(id).unwrap().insert(Odd(4)).remove::<Name>(),
        |world, _| world.refresh(),
        |world, _| {
            let group = world.group::<(Name, Odd)>().build().unwrap();
            mem::forget(world.edit_pool::<Name>());
            world.sort_group_by::<&Odd>(group, |a, b| b.0.cmp(&a.0)).unwrap();
        },
    ];
    for way in ways {
        let (mut world, id) = with_a_leaked_guard();
        way(&mut world, id);
        drop(world.edit_pool::<Name>());
        drop(world.edit_pool::<Odd>());
        world.verify().unwrap();
    }
}

#[test]
fn a_resource_is_had_by_who_has_the_world_alone_also_after_a_guard_was_leaked() {
    let mut world = World::new();
    world.insert_resource(5_u32);
    mem::forget(world.resource_mut::<u32>());

    *world.resource_or_init::<u32>() += 1;

    *world.resource_or_insert_with(|| 0_u32) += 1;
    assert_eq!(*world.resource::<u32>(), 7);
}
