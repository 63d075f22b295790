//! shipyard: sparse sets behind views that a system borrows.
//!
//! Views are borrowed once per run with `World::run` and all work is done through them, as
//! its guide shows; only despawning needs all storages. Bulk creation uses `bulk_add_entity`
//! on the views, removal uses `delete`, which gives nothing back. `schedule` is a workload
//! of three systems. Its serialisation writes view by view, here as binary by bincode; the
//! view of all entities cannot be written that way (it does not know its length), so ids
//! are made alive again with `spawn`, as its docs advise.

use std::any::Any;

use rayon::prelude::*;
use shipyard::{
    AllStoragesViewMut, Delete as _, EntitiesView, EntitiesViewMut, EntityId, Get as _,
    IntoIter as _, View, ViewMut, World,
};

use super::binary::options;
use crate::{
    checksum::{Tally, counted},
    components::*,
    contestant::{Bout, Contestant, Ebb, Width, lasting, renewed, stays},
    kernel,
    scene::{Scene, moves},
    workload::Workload,
};

mod churn;
mod everyday;
mod frame;
mod schedule;

/// shipyard with its default features.
#[derive(Debug)]
pub struct Shipyard;

impl Contestant for Shipyard {
    fn name(&self) -> &'static str {
        "shipyard"
    }

    fn version(&self) -> &'static str {
        "0.11.5"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => crate::frame::prepare(workload, scene, World::new()),
            Workload::CreateEmpty => {
                renewed(move || (fresh(), n), create_empty, |s| counted(count(&s.0)))
            }
            Workload::CreateEmptyBatch => {
                renewed(move || (fresh(), n), create_empty_batch, |s| counted(count(&s.0)))
            }
            Workload::Create2 => renewed(move || (fresh(), n), create_2, |s| sum(&mut s.0)),
            Workload::Create2Batch => {
                renewed(move || (fresh(), n), create_2_batch, |s| sum(&mut s.0))
            }
            Workload::Destroy => renewed(
                move || pairs(n),
                destroy,
                |s| counted(count(&s.0) + s.0.run(|positions: View<Position>| positions.len())),
            ),
            Workload::AddRemove => lasting(narrow(n), add_remove, sum_add_remove),
            Workload::AddRemoveWide => lasting(wide(n), add_remove, sum_add_remove),
            Workload::Iter1 => lasting(pairs(n).0, iter_1, sum),
            Workload::Iter2 => lasting(pairs(n).0, iter_2, sum),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(parted(workload, n), iter_2, sum_one::<Position>)
            }
            Workload::Iter2Shuffled => lasting(shuffled(scene), iter_2, sum),
            Workload::IterFrag => lasting(fragments(n), iter_frag, sum_one::<Data>),
            Workload::ForFrag => lasting(fragments(n), everyday::for_frag, sum_one::<Data>),
            Workload::Iter3OfMany => lasting(spread(scene), iter_3, sum),
            Workload::Iter5Wide => lasting(lanes(n), iter_5, sum_one::<Lane0>),
            Workload::Heavy => lasting(bodies(n), heavy, sum_one::<Place>),
            Workload::RandomGet => {
                let (world, ids) = pairs(n);
                let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
                lasting((world, ids, 0), random_get, |s| s.2)
            }
            Workload::Churn => churn::prepare(scene),
            Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
                everyday::prepare(workload, scene)
            }
            Workload::ParIter2 => lasting(pairs(n).0, par_iter_2, sum),
            Workload::Schedule | Workload::ForSchedule => schedule::prepare(workload, n),
            Workload::Serialize => {
                lasting((pairs(n).0, Vec::new()), serialize, |s| sum(&mut decode(&s.1)))
            }
            Workload::Clone | Workload::DestroyBatch => None,
            Workload::Deserialize => {
                let mut bytes = Vec::new();
                encode(&pairs(n).0, &mut bytes);
                renewed(move || (bytes.clone(), World::new()), deserialize, |s| sum(&mut s.1))
            }
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        let mut world = World::new();
        for i in 0..n {
            match width {
                Width::One => world.add_entity((kernel::position(i),)),
                Width::Two => world.add_entity((kernel::position(i), kernel::velocity(i))),
                Width::Eight => world.add_entity(fillers()),
            };
        }
        Some(Box::new(world))
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        if after == Ebb::Shrunk {
            return None;
        }
        let (mut world, ids) = pairs(n);
        for (_, id) in ids.iter().enumerate().filter(|(i, _)| !stays(*i)) {
            world.delete_entity(*id);
        }
        Some(Box::new(world))
    }
}

type Pairs = (World, Vec<EntityId>);

/// A world that has its two storages but nothing in them.
fn fresh() -> World {
    let world = World::new();
    world.run(|_: View<Position>, _: View<Velocity>| ());
    world
}

fn pairs(n: usize) -> Pairs {
    let mut world = World::new();
    let ids =
        (0..n).map(|i| world.add_entity((kernel::position(i), kernel::velocity(i)))).collect();
    (world, ids)
}

fn count(world: &World) -> usize {
    world.run(|entities: EntitiesView| entities.iter().count())
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.run(|positions: View<Position>, velocities: View<Velocity>| {
        (&positions, &velocities).iter().for_each(|(p, v)| tally.two(p, v));
    });
    tally.finish()
}

fn sum_one<T>(world: &mut World) -> u64
where
    T: bytemuck::NoUninit
        + shipyard::Component<Tracking = shipyard::track::Untracked>
        + Send
        + Sync,
{
    let mut tally = Tally::default();
    world.run(|values: View<T>| values.as_slice().iter().for_each(|value| tally.one(value)));
    tally.finish()
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    world.run(|mut entities: EntitiesViewMut| {
        for _ in 0..*n {
            entities.add_entity((), ());
        }
    });
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    world.run(|mut entities: EntitiesViewMut| {
        entities.bulk_add_entity((), (0..*n).map(|_| ()));
    });
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    world.run(
        |mut entities: EntitiesViewMut,
         mut positions: ViewMut<Position>,
         mut velocities: ViewMut<Velocity>| {
            for i in 0..*n {
                entities.add_entity(
                    (&mut positions, &mut velocities),
                    (kernel::position(i), kernel::velocity(i)),
                );
            }
        },
    );
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    world.run(
        |mut entities: EntitiesViewMut,
         mut positions: ViewMut<Position>,
         mut velocities: ViewMut<Velocity>| {
            entities.bulk_add_entity(
                (&mut positions, &mut velocities),
                (0..*n).map(|i| (kernel::position(i), kernel::velocity(i))),
            );
        },
    );
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    world.run(|mut all: AllStoragesViewMut| {
        for &id in &*ids {
            all.delete_entity(id);
        }
    });
}

fn narrow(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n).map(|i| world.add_entity((A { value: kernel::value(i) },))).collect();
    (world, ids)
}

fn wide(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n)
        .map(|i| {
            let id = world.add_entity(fillers());
            world.add_component(id, (A { value: kernel::value(i) },));
            id
        })
        .collect();
    (world, ids)
}

fn fillers() -> (W0, W1, W2, W3, W4, W5, W6, W7) {
    Default::default()
}

#[inline(never)]
fn add_remove(state: &mut Pairs) {
    add(state);
    remove(state);
}

#[inline(never)]
fn add((world, ids): &mut Pairs) {
    world.run(|entities: EntitiesView, mut b: ViewMut<B>| {
        for (i, &id) in ids.iter().enumerate() {
            entities.add_component(id, &mut b, B { value: kernel::value(i) });
        }
    });
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    world.run(|mut b: ViewMut<B>| {
        for &id in &*ids {
            b.delete(id);
        }
    });
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    state.0.run(|a: View<A>, b: View<B>| (&a, &b).iter().for_each(|(a, b)| tally.two(a, b)));
    remove(state);
    tally.row(&[state.0.run(|b: View<B>| b.len() as u64)]);
    tally.finish()
}

#[inline(never)]
fn iter_1(world: &mut World) {
    world.run(|mut positions: ViewMut<Position>| {
        (&mut positions).iter().for_each(kernel::nudge);
    });
}

#[inline(never)]
fn iter_2(world: &mut World) {
    world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
        (&mut positions, &velocities).iter().for_each(|(p, v)| kernel::step(p, v));
    });
}

fn parted(workload: Workload, n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        if moves(workload, i) {
            world.add_entity((kernel::position(i), kernel::velocity(i)));
        } else {
            world.add_entity((kernel::position(i),));
        }
    }
    world
}

fn shuffled(scene: Scene) -> World {
    let mut world = World::new();
    let ids: Vec<_> = (0..scene.n).map(|i| world.add_entity((kernel::position(i),))).collect();
    for i in scene.order() {
        world.add_component(ids[i as usize], (kernel::velocity(i as usize),));
    }
    world
}

fn fragments(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let data = Data { value: kernel::value(i) };
        macro_rules! create {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => world.add_entity(($marker::default(), data)),)*
                    _ => unreachable!("26 markers cover every remainder"),
                }
            };
        }
        with_markers!(create);
    }
    world
}

#[inline(never)]
fn iter_frag(world: &mut World) {
    world.run(|mut data: ViewMut<Data>| (&mut data).iter().for_each(kernel::bump));
}

fn spread(scene: Scene) -> World {
    let mut world = World::new();
    for i in 0..scene.n {
        let id = world.add_entity((kernel::position(i), kernel::velocity(i), kernel::force(i)));
        let spread = scene.spread(i);
        macro_rules! insert {
            ($($spreader:ident $number:literal),*) => {$(
                if spread & (1 << $number) != 0 {
                    world.add_component(id, ($spreader::default(),));
                }
            )*};
        }
        with_spreaders!(insert);
    }
    world
}

#[inline(never)]
fn iter_3(world: &mut World) {
    world.run(
        |mut positions: ViewMut<Position>, velocities: View<Velocity>, forces: View<Force>| {
            (&mut positions, &velocities, &forces)
                .iter()
                .for_each(|(p, v, f)| kernel::push(p, v, f));
        },
    );
}

fn lanes(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.add_entity((
            Lane0 { quad: kernel::quad(i, 0) },
            Lane1 { quad: kernel::quad(i, 1) },
            Lane2 { quad: kernel::quad(i, 2) },
            Lane3 { quad: kernel::quad(i, 3) },
            Lane4 { quad: kernel::quad(i, 4) },
        ));
    }
    world
}

#[inline(never)]
fn iter_5(world: &mut World) {
    world.run(
        |mut out: ViewMut<Lane0>,
         a: View<Lane1>,
         b: View<Lane2>,
         c: View<Lane3>,
         d: View<Lane4>| {
            let rows = (&mut out, &a, &b, &c, &d).iter();
            rows.for_each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
        },
    );
}

fn bodies(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.add_entity((
            Transform::default(),
            Place { quad: kernel::quad(i, 0) },
            Rotation::default(),
            Motion { quad: kernel::quad(i, 1) },
        ));
    }
    world
}

#[inline(never)]
fn heavy(world: &mut World) {
    world.run(|mut places: ViewMut<Place>, motions: View<Motion>| {
        (&mut places, &motions).iter().for_each(|(p, m)| kernel::glide(p, m));
    });
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<EntityId>, u64)) {
    world.run(|positions: View<Position>| {
        for &id in &*ids {
            if let Ok(position) = (&positions).get(id) {
                *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
            }
        }
    });
}

#[inline(never)]
fn par_iter_2(world: &mut World) {
    world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
        (&mut positions, &velocities).par_iter().for_each(|(p, v)| kernel::orbit(p, v));
    });
}

#[inline(never)]
fn serialize((world, bytes): &mut (World, Vec<u8>)) {
    encode(world, bytes);
}

/// Writes a world, in place of what `bytes` holds.
pub fn encode(world: &World, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut out = bincode::Serializer::new(bytes, options());
    let written = world.serialize::<_, View<Position>>(&mut out).is_ok()
        && world.serialize::<_, View<Velocity>>(&mut out).is_ok();
    assert!(written, "writing to memory does not fail");
}

#[inline(never)]
fn deserialize((bytes, world): &mut (Vec<u8>, World)) {
    *world = decode(bytes);
}

/// Reads a world.
///
/// # Panics
/// With "the bytes are our own" if they are refused.
pub fn decode(bytes: &[u8]) -> World {
    let world = World::new();
    let mut input = bincode::Deserializer::from_slice(bytes, options());
    let read = world.deserialize::<_, ViewMut<Position>>(&mut input).is_ok()
        && world.deserialize::<_, ViewMut<Velocity>>(&mut input).is_ok();
    assert!(read, "the bytes are our own");
    // Views restore components; the entities themselves are made alive by `spawn`.
    world.run(|mut entities: EntitiesViewMut, positions: View<Position>| {
        for (id, _) in positions.iter().with_id() {
            entities.spawn(id);
        }
    });
    world
}
