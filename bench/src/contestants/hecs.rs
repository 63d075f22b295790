//! hecs: archetypes, no scheduler, queries prepared once and run on `&mut World`.
//!
//! Iteration uses [`PreparedQuery::query_mut`], which skips both the borrow flags and the
//! search for matching archetypes; look-ups by id hoist a view out of the loop. Bulk creation
//! fills the columns of a `ColumnBatch`. hecs leaves scheduling to its user.

use std::any::Any;

use hecs::{ColumnBatchType, Entity, PreparedQuery, World};
use rayon::prelude::*;

use crate::{
    checksum::{Tally, bits, counted},
    components::*,
    contestant::{Bout, Contestant, Ebb, Width, lasting, renewed, stays},
    kernel,
    scene::{Frames, Scene, moves},
    workload::Workload,
};

mod everyday;
mod frame;
pub mod save;
mod schedule;

/// hecs with its default features.
#[derive(Debug)]
pub struct Hecs;

impl Contestant for Hecs {
    fn name(&self) -> &'static str {
        "hecs"
    }

    fn version(&self) -> &'static str {
        "0.11.2"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => {
                crate::frame::prepare(workload, scene, frame::Prepared::default())
            }
            Workload::CreateEmpty => {
                renewed(move || (World::new(), n), create_empty, |s| counted(s.0.len() as usize))
            }
            Workload::CreateEmptyBatch => renewed(
                move || (World::new(), n),
                create_empty_batch,
                |s| counted(s.0.len() as usize),
            ),
            Workload::Create2 => renewed(move || (World::new(), n), create_2, |s| sum(&mut s.0)),
            Workload::Create2Batch => {
                renewed(move || (World::new(), n), create_2_batch, |s| sum(&mut s.0))
            }
            Workload::Destroy => {
                renewed(move || pairs(n), destroy, |s| counted(s.0.len() as usize))
            }
            Workload::AddRemove => lasting(narrow(n), add_remove, sum_add_remove),
            Workload::AddRemoveWide => lasting(wide(n), add_remove, sum_add_remove),
            Workload::Iter1 => lasting(ready(pairs(n).0), iter_1, |s| sum(&mut s.0)),
            Workload::Iter2 => lasting(ready(pairs(n).0), iter_2, |s| sum(&mut s.0)),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(ready(parted(workload, n)), iter_2, |s| sum_positions(&mut s.0))
            }
            Workload::Iter2Shuffled => lasting(ready(shuffled(scene)), iter_2, |s| sum(&mut s.0)),
            Workload::IterFrag => lasting(ready(fragments(n)), iter_frag, |s| sum_data(&mut s.0)),
            Workload::ForFrag => {
                lasting(ready(fragments(n)), everyday::for_frag, |s| sum_data(&mut s.0))
            }
            Workload::Iter3OfMany => lasting(ready(spread(scene)), iter_3, |s| sum(&mut s.0)),
            Workload::Iter5Wide => lasting(ready(lanes(n)), iter_5, |s| sum_lanes(&mut s.0)),
            Workload::Heavy => lasting(ready(bodies(n)), heavy, |s| sum_places(&mut s.0)),
            Workload::RandomGet => {
                let (world, ids) = pairs(n);
                let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
                lasting((world, ids, 0), random_get, |s| s.2)
            }
            Workload::Churn => {
                let (world, ids) = pairs(n);
                let herd = Herd { world, ids, frames: scene.frames(), query: PreparedQuery::new() };
                lasting(herd, churn, sum_herd)
            }
            Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
                everyday::prepare(workload, scene)
            }
            Workload::ParIter2 => lasting(pairs(n).0, par_iter_2, sum),
            Workload::Schedule | Workload::ForSchedule => schedule::prepare(workload, n),
            Workload::Serialize => {
                lasting((pairs(n).0, Vec::new()), save::serialize, |s| sum(&mut save::decode(&s.1)))
            }
            Workload::Clone | Workload::DestroyBatch => None,
            Workload::Deserialize => {
                let mut bytes = Vec::new();
                save::encode(&pairs(n).0, &mut bytes);
                renewed(move || (bytes.clone(), World::new()), save::deserialize, |s| sum(&mut s.1))
            }
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        let mut world = World::new();
        for i in 0..n {
            match width {
                Width::One => world.spawn((kernel::position(i),)),
                Width::Two => world.spawn((kernel::position(i), kernel::velocity(i))),
                Width::Eight => world.spawn(fillers()),
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
            let _ = world.despawn(*id);
        }
        Some(Box::new(world))
    }
}

type Pairs = (World, Vec<Entity>);
type Ready<Q> = (World, PreparedQuery<Q>);

fn ready<Q: hecs::Query>(world: World) -> Ready<Q> {
    (world, PreparedQuery::new())
}

fn pairs(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n).map(|i| world.spawn((kernel::position(i), kernel::velocity(i)))).collect();
    (world, ids)
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<(&Position, &Velocity)>().into_iter().for_each(|(p, v)| tally.two(p, v));
    tally.finish()
}

fn sum_positions(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<&Position>().into_iter().for_each(|p| tally.one(p));
    tally.finish()
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    for _ in 0..*n {
        world.spawn(());
    }
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    world.spawn_batch((0..*n).map(|_| ())).for_each(drop);
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    for i in 0..*n {
        world.spawn((kernel::position(i), kernel::velocity(i)));
    }
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    let mut columns = ColumnBatchType::new();
    columns.add::<Position>().add::<Velocity>();
    let batch = columns.into_batch(*n as u32);
    let mut positions = batch.writer::<Position>().expect("the batch has positions");
    let mut velocities = batch.writer::<Velocity>().expect("the batch has velocities");
    for i in 0..*n {
        let _ = positions.push(kernel::position(i));
    }
    for i in 0..*n {
        let _ = velocities.push(kernel::velocity(i));
    }
    drop((positions, velocities));
    world.spawn_column_batch(batch.build().expect("both columns are full"));
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    for &id in &*ids {
        let _ = world.despawn(id);
    }
}

fn narrow(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n).map(|i| world.spawn((A { value: kernel::value(i) },))).collect();
    (world, ids)
}

fn wide(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n)
        .map(|i| {
            let (w0, w1, w2, w3, w4, w5, w6, w7) = fillers();
            world.spawn((A { value: kernel::value(i) }, w0, w1, w2, w3, w4, w5, w6, w7))
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
    for (i, &id) in ids.iter().enumerate() {
        let _ = world.insert_one(id, B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    for &id in &*ids {
        let _ = world.remove_one::<B>(id);
    }
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    state.0.query_mut::<(&A, &B)>().into_iter().for_each(|(a, b)| tally.two(a, b));
    remove(state);
    tally.row(&[state.0.query_mut::<&B>().into_iter().count() as u64]);
    tally.finish()
}

#[inline(never)]
fn iter_1((world, query): &mut Ready<&'static mut Position>) {
    query.query_mut(world).for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2((world, query): &mut Ready<(&'static mut Position, &'static Velocity)>) {
    query.query_mut(world).for_each(|(position, velocity)| kernel::step(position, velocity));
}

fn parted(workload: Workload, n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        if moves(workload, i) {
            world.spawn((kernel::position(i), kernel::velocity(i)));
        } else {
            world.spawn((kernel::position(i),));
        }
    }
    world
}

fn shuffled(scene: Scene) -> World {
    let mut world = World::new();
    let ids: Vec<_> = (0..scene.n).map(|i| world.spawn((kernel::position(i),))).collect();
    for i in scene.order() {
        let _ = world.insert_one(ids[i as usize], kernel::velocity(i as usize));
    }
    world
}

fn fragments(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let data = Data { value: kernel::value(i) };
        macro_rules! spawn {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => world.spawn(($marker::default(), data)),)*
                    _ => unreachable!("26 markers cover every remainder"),
                }
            };
        }
        with_markers!(spawn);
    }
    world
}

#[inline(never)]
fn iter_frag((world, query): &mut Ready<&'static mut Data>) {
    query.query_mut(world).for_each(kernel::bump);
}

fn sum_data(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<&Data>().into_iter().for_each(|data| tally.one(data));
    tally.finish()
}

fn spread(scene: Scene) -> World {
    let mut world = World::new();
    for i in 0..scene.n {
        let id = world.spawn((kernel::position(i), kernel::velocity(i), kernel::force(i)));
        let spread = scene.spread(i);
        macro_rules! insert {
            ($($spreader:ident $number:literal),*) => {$(
                if spread & (1 << $number) != 0 {
                    let _ = world.insert_one(id, $spreader::default());
                }
            )*};
        }
        with_spreaders!(insert);
    }
    world
}

#[inline(never)]
fn iter_3((world, query): &mut Ready<(&'static mut Position, &'static Velocity, &'static Force)>) {
    query.query_mut(world).for_each(|(p, v, f)| kernel::push(p, v, f));
}

fn lanes(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.spawn((
            Lane0 { quad: kernel::quad(i, 0) },
            Lane1 { quad: kernel::quad(i, 1) },
            Lane2 { quad: kernel::quad(i, 2) },
            Lane3 { quad: kernel::quad(i, 3) },
            Lane4 { quad: kernel::quad(i, 4) },
        ));
    }
    world
}

type LaneQuery =
    (&'static mut Lane0, &'static Lane1, &'static Lane2, &'static Lane3, &'static Lane4);

#[inline(never)]
fn iter_5((world, query): &mut Ready<LaneQuery>) {
    query.query_mut(world).for_each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
}

fn sum_lanes(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<&Lane0>().into_iter().for_each(|lane| tally.one(lane));
    tally.finish()
}

fn bodies(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.spawn((
            Transform::default(),
            Place { quad: kernel::quad(i, 0) },
            Rotation::default(),
            Motion { quad: kernel::quad(i, 1) },
        ));
    }
    world
}

#[inline(never)]
fn heavy((world, query): &mut Ready<(&'static mut Place, &'static Motion)>) {
    query.query_mut(world).for_each(|(place, motion)| kernel::glide(place, motion));
}

fn sum_places(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<&Place>().into_iter().for_each(|place| tally.one(place));
    tally.finish()
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let view = world.view_mut::<&Position>();
    for &id in &*ids {
        if let Some(position) = view.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
        }
    }
}

struct Herd {
    world: World,
    ids: Vec<Entity>,
    frames: Frames,
    query: PreparedQuery<(&'static mut Position, &'static Velocity)>,
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { world, ids, frames, query } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        let _ = world.despawn(ids[i as usize]);
    }
    for &i in &frame.doomed {
        let i = i as usize;
        ids[i] = world.spawn((kernel::position(i), kernel::velocity(i)));
    }
    for &i in &frame.toggled {
        let id = ids[i as usize];
        if world.remove_one::<Tag>(id).is_err() {
            let _ = world.insert_one(id, Tag);
        }
    }
    query.query_mut(world).for_each(|(position, velocity)| kernel::step(position, velocity));
}

fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    for (p, v, tag) in herd.world.query_mut::<(&Position, &Velocity, Option<&Tag>)>() {
        tally.row(&[bits(p), bits(v), u64::from(tag.is_some())]);
    }
    tally.finish()
}

#[inline(never)]
fn par_iter_2(world: &mut World) {
    // Batches as large as two threads can share evenly, as the docs of `iter_batched` advise.
    let batch = world.len().div_ceil(4).max(1);
    let query = world.query_mut::<(&mut Position, &Velocity)>();
    query.into_iter_batched(batch).par_bridge().for_each(|batch| {
        batch.for_each(|(position, velocity)| kernel::orbit(position, velocity));
    });
}
