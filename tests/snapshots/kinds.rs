//! The components and resources of the snapshot tests, random worlds of them, and random changes.

#![allow(dead_code, reason = "each test crate uses the part it needs")]

use bytemuck::{Pod, Zeroable};
use esker::Entity;
use esker::snapshot::{MapEntities, Snapshot, SnapshotTypes};
use esker::{Component, World};
use serde::{Deserialize, Serialize};

use crate::common::{Rng, id};

/// Packed, plain, large enough for its ids to be left out.
#[derive(Component, Snapshot, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[snapshot(plain)]
#[repr(C)]
pub struct Position(pub [f32; 2]);

/// Packed, tracked, plain as a block and through serde elsewhere.
#[derive(
    Component, Snapshot, Clone, Copy, Debug, PartialEq, Pod, Zeroable, Serialize, Deserialize,
)]
#[component(track)]
#[snapshot(plain, serde)]
#[repr(C)]
pub struct Velocity(pub [u32; 4]);

/// Packed, owns memory.
#[derive(Component, Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(name = "name", clone)]
pub struct Name(pub String);

/// Indexed, owns memory.
#[derive(Component, Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(storage = Indexed)]
#[snapshot(clone)]
pub struct Stable(pub Vec<Option<u16>>);

/// Hashed, tracked.
#[derive(Component, Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(storage = Hashed, track)]
#[snapshot(clone)]
pub struct Rare(pub u64);

/// Indexed, plain, wide.
#[derive(Component, Snapshot, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[component(storage = Indexed)]
#[snapshot(plain)]
#[repr(C)]
pub struct Wide(pub [u64; 4]);

/// A tag, through serde.
#[derive(Component, Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(clone)]
pub struct Tag;

/// A tag of plain bytes, of which it has none.
#[derive(Component, Snapshot, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[component(storage = Hashed)]
#[snapshot(plain)]
#[repr(C)]
pub struct Mark;

/// One plain byte, tracked.
#[derive(Component, Snapshot, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[component(track)]
#[snapshot(plain)]
#[repr(C)]
pub struct Small(pub u8);

/// Ids of others, in all shapes.
#[derive(Component, Snapshot, MapEntities, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(track)]
#[snapshot(clone, entities)]
pub struct Link {
    #[entities]
    pub parent: Option<Entity>,
    #[entities]
    pub friends: Vec<Entity>,
    #[entities]
    pub first: Entity,
    pub weight: u32,
}

#[derive(Snapshot, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(clone)]
pub struct Score(pub u64);

#[derive(Snapshot, MapEntities, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(clone, entities)]
pub struct Hero(#[entities] pub Option<Entity>);

pub fn types() -> SnapshotTypes {
    SnapshotTypes::new()
        .component::<Position>()
        .component::<Velocity>()
        .component::<Name>()
        .component::<Stable>()
        .component::<Rare>()
        .component::<Wide>()
        .component::<Tag>()
        .component::<Mark>()
        .component::<Small>()
        .component::<Link>()
        .resource::<Score>()
        .resource::<Hero>()
}

/// An empty world: with limits, a range of ids or few versions, and with groups, by its seed.
pub fn empty(seed: u64) -> World {
    let builder = match seed % 5 {
        1 => World::builder().entity_range(100..5000),
        2 => World::builder().entity_limit(300),
        3 => World::builder().last_version(2),
        _ => World::builder(),
    };
    let mut world = builder.build();
    if seed.is_multiple_of(2) {
        world.group::<(Position, Velocity)>().build().unwrap();
        world.group::<(Position, Velocity)>().exclude::<Tag>().build().unwrap();
    }
    if seed.is_multiple_of(3) {
        world.group::<()>().observe::<(Name, Rare)>().build().unwrap();
    }
    world.insert_resource(types());
    world
}

/// A world in which much has happened.
pub fn eventful(seed: u64, changes: usize) -> World {
    let (mut world, mut rng) = (empty(seed), Rng::new(seed));
    for _ in 0..changes {
        change(&mut world, &mut rng);
    }
    world
}

/// A random change; the same in worlds with the same state. Returns what came of it.
pub fn change(world: &mut World, rng: &mut Rng) -> u64 {
    let living: Vec<Entity> = world.entities().collect();
    let some = |rng: &mut Rng| if living.is_empty() { id(3, 0) } else { rng.pick(&living) };
    match rng.below(34) {
        0..10 => match world.try_spawn(()) {
            Ok(new) => {
                for _ in 0..rng.below(6) {
                    insert(world, rng, new, &living);
                }
                new.to_bits()
            }
            Err(_) => 1,
        },
        10..15 => u64::from(world.despawn(some(rng)).is_ok()),
        15..21 => {
            let entity = some(rng);
            insert(world, rng, entity, &living)
        }
        21..25 => {
            let entity = some(rng);
            remove(world, rng, entity)
        }
        25 => {
            let far = rng.one_in(3);
            let index = if far { rng.index_below(90_000) } else { rng.index_below(400) };
            let demanded = id(index, rng.index_below(4));
            u64::from(world.spawn_at(demanded, Small(7)).is_ok())
        }
        26 => world.reserve_entity().map_or(2, Entity::to_bits),
        27 => world.despawn_batch((0..rng.below(9)).map(|_| some(rng)).collect::<Vec<_>>()) as u64,
        28 => {
            let pool = world.try_pool_mut::<Rare>();
            u64::from(pool.is_ok_and(|mut pool| pool.sort_by_key(|value| value.0).is_ok()))
        }
        29 => {
            world.insert_resource(Score(rng.next()));
            world.insert_resource(Hero(rng.one_in(2).then(|| some(rng))));
            3
        }
        30 => {
            world.advance_tick();
            6
        }
        31 => {
            // More is promised than comes: what was brought to life for it is taken back.
            let (promised, given) = (rng.below(40), rng.index_below(20));
            batch_that_promises(world, promised, (0..given).map(|n| Rare(n.into()))) as u64
        }
        32 => {
            let mut query = world.query_mut::<(Entity, &mut Small, Option<&Name>)>();
            query.iter_mut().map(|(id, ..)| id.to_bits()).fold(7, u64::wrapping_add)
        }
        _ if rng.one_in(20) => {
            world.clear_pool::<Stable>();
            4
        }
        _ => {
            world.query_mut::<&mut Small>().iter_mut().for_each(|mut small| small.0 ^= 5);
            5
        }
    }
}

/// Spawns these by an iterator that promises more than it gives, as far as there are ids.
pub fn batch_that_promises(
    world: &mut World,
    promised: usize,
    bundles: impl ExactSizeIterator<Item = Rare>,
) -> usize {
    struct Promise<I>(I, usize);
    impl<I: Iterator> Iterator for Promise<I> {
        type Item = I::Item;

        fn next(&mut self) -> Option<I::Item> {
            self.0.next()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, None)
        }
    }
    // Where too few ids are left a batch panics.
    let mut copy = types().registered_only().clone_world(world).unwrap();
    if copy.spawn_empty_batch(bundles.len()).is_err() {
        return 0;
    }
    world.spawn_batch(Promise(bundles, promised)).count()
}

fn insert(world: &mut World, rng: &mut Rng, entity: Entity, others: &[Entity]) -> u64 {
    let n = rng.next();
    let some = |rng: &mut Rng| if others.is_empty() { entity } else { rng.pick(others) };
    let done = match rng.below(10) {
        0 => world.insert(entity, Position([(n % 999) as f32 / 4.0, 1.0])),
        1 => world.insert(entity, Velocity([n as u32, 2, 3, 4])),
        2 => world.insert(entity, Name(format!("name {}", n % 1000))),
        3 => world.insert(entity, Stable(vec![Some(n as u16); (n % 5) as usize])),
        4 => world.insert(entity, Rare(n % 100)),
        5 => world.insert(entity, Wide([n; 4])),
        6 => world.insert(entity, Tag),
        7 => world.insert(entity, Mark),
        8 => world.insert(entity, Small(n as u8)),
        _ => {
            let friends = (0..rng.below(4)).map(|_| some(rng)).collect();
            let parent = rng.one_in(2).then(|| some(rng));
            world.insert(entity, Link { parent, friends, first: some(rng), weight: n as u32 })
        }
    };
    u64::from(done.is_ok())
}

fn remove(world: &mut World, rng: &mut Rng, entity: Entity) -> u64 {
    let gone = match rng.below(10) {
        0 => world.remove::<Position>(entity).is_ok_and(|value| value.is_some()),
        1 => world.remove::<Velocity>(entity).is_ok_and(|value| value.is_some()),
        2 => world.remove::<Name>(entity).is_ok_and(|value| value.is_some()),
        3 => world.remove::<Stable>(entity).is_ok_and(|value| value.is_some()),
        4 => world.remove::<Rare>(entity).is_ok_and(|value| value.is_some()),
        5 => world.remove::<Wide>(entity).is_ok_and(|value| value.is_some()),
        6 => world.remove::<Tag>(entity).is_ok_and(|value| value.is_some()),
        7 => world.remove::<Mark>(entity).is_ok_and(|value| value.is_some()),
        8 => world.remove::<Small>(entity).is_ok_and(|value| value.is_some()),
        _ => world.remove::<Link>(entity).is_ok_and(|value| value.is_some()),
    };
    u64::from(gone)
}

/// Everything of a world, in bytes: ids, order of all pools, values, resources.
#[track_caller]
pub fn bytes(world: &World) -> Vec<u8> {
    types().save().to_bytes(world).unwrap()
}

#[track_caller]
pub fn json(world: &World) -> String {
    let mut text = Vec::new();
    types().save().serialize(world, &mut serde_json::Serializer::new(&mut text)).unwrap();
    String::from_utf8(text).unwrap()
}

#[track_caller]
pub fn hash(world: &World) -> u64 {
    types().hash_world(world).unwrap()
}

/// The same changes to both come out the same.
#[track_caller]
pub fn live_on(left: &mut World, right: &mut World, seed: u64, changes: usize) {
    let mut rngs = [Rng::new(seed), Rng::new(seed)];
    for nth in 0..changes {
        let done = [change(left, &mut rngs[0]), change(right, &mut rngs[1])];
        assert_eq!(done[0], done[1], "change {nth}");
    }
    assert_eq!(bytes(left), bytes(right));
    left.verify().unwrap();
    right.verify().unwrap();
}
