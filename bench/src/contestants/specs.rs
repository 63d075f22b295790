//! specs: each component in a storage of its own, bit sets say who has what.
//!
//! Storages are fetched once per run. Components sit in `VecStorage`, which its docs advise
//! for small components that most entities have, the tag in `NullStorage`. Entities are
//! created and deleted through the `Entities` resource, as systems do it, with components
//! inserted into the fetched storages; `maintain`, which makes both final, is timed too.
//! `schedule` is a dispatcher of three systems. Its `saveload` writes entity by entity, here as binary by bincode.

use std::any::Any;

use rayon::prelude::*;
use specs::{Builder as _, Entity, Join as _, ParJoin as _, World, WorldExt as _};

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
pub mod save;
mod schedule;

/// specs with its default features.
#[derive(Debug)]
pub struct Specs;

impl Contestant for Specs {
    fn name(&self) -> &'static str {
        "specs"
    }

    fn version(&self) -> &'static str {
        "0.20.0"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => crate::frame::prepare(workload, scene, frame::registered()),
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
                |s| counted(count(&s.0) + s.0.read_storage::<Position>().count()),
            ),
            Workload::DestroyBatch => renewed(
                move || pairs(n),
                destroy_batch,
                |s| counted(count(&s.0) + s.0.read_storage::<Position>().count()),
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
            Workload::Serialize => lasting((save::marked(n), Vec::new()), save::serialize, |s| {
                sum(&mut save::decode(&s.1))
            }),
            Workload::Clone => None,
            Workload::Deserialize => {
                let mut bytes = Vec::new();
                save::encode(&save::marked(n), &mut bytes);
                renewed(move || (bytes.clone(), World::new()), save::deserialize, |s| sum(&mut s.1))
            }
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        let mut world = fresh();
        register_fillers(&mut world);
        for i in 0..n {
            match width {
                Width::One => world.create_entity().with(kernel::position(i)).build(),
                Width::Two => world
                    .create_entity()
                    .with(kernel::position(i))
                    .with(kernel::velocity(i))
                    .build(),
                Width::Eight => filled(&mut world),
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
            let _ = world.delete_entity(*id);
        }
        Some(Box::new(world))
    }
}

type Pairs = (World, Vec<Entity>);

fn fresh() -> World {
    let mut world = World::new();
    world.register::<Position>();
    world.register::<Velocity>();
    world
}

fn pairs(n: usize) -> Pairs {
    let mut world = fresh();
    let ids = (0..n)
        .map(|i| world.create_entity().with(kernel::position(i)).with(kernel::velocity(i)).build())
        .collect();
    (world, ids)
}

fn count(world: &World) -> usize {
    (&world.entities()).join().count()
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    let (positions, velocities) = (world.read_storage(), world.read_storage());
    (&positions, &velocities).join().for_each(|(p, v): (&Position, &Velocity)| tally.two(p, v));
    tally.finish()
}

fn sum_one<T: specs::Component + bytemuck::NoUninit>(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    (&world.read_storage::<T>()).join().for_each(|value| tally.one(value));
    tally.finish()
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    for _ in 0..*n {
        world.create_entity().build();
    }
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    world.create_iter().take(*n).for_each(drop);
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    {
        let entities = world.entities();
        let mut positions = world.write_storage::<Position>();
        let mut velocities = world.write_storage::<Velocity>();
        for i in 0..*n {
            let builder = entities.build_entity().with(kernel::position(i), &mut positions);
            builder.with(kernel::velocity(i), &mut velocities).build();
        }
    }
    world.maintain();
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    let ids: Vec<_> = world.create_iter().take(*n).collect();
    let mut positions = world.write_storage::<Position>();
    let mut velocities = world.write_storage::<Velocity>();
    for (i, &id) in ids.iter().enumerate() {
        let _ = positions.insert(id, kernel::position(i));
    }
    for (i, &id) in ids.iter().enumerate() {
        let _ = velocities.insert(id, kernel::velocity(i));
    }
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    {
        let entities = world.entities();
        for &id in &*ids {
            let _ = entities.delete(id);
        }
    }
    world.maintain();
}

#[inline(never)]
fn destroy_batch((world, ids): &mut Pairs) {
    let _ = world.delete_entities(ids);
}

fn narrow(n: usize) -> Pairs {
    let mut world = World::new();
    world.register::<A>();
    world.register::<B>();
    let ids =
        (0..n).map(|i| world.create_entity().with(A { value: kernel::value(i) }).build()).collect();
    (world, ids)
}

fn wide(n: usize) -> Pairs {
    let (mut world, ids) = narrow(0);
    drop(ids);
    register_fillers(&mut world);
    let ids: Vec<_> = (0..n).map(|_| filled(&mut world)).collect();
    for (i, &id) in ids.iter().enumerate() {
        let _ = world.write_storage::<A>().insert(id, A { value: kernel::value(i) });
    }
    (world, ids)
}

fn register_fillers(world: &mut World) {
    macro_rules! register {
        ($($filler:ident $number:literal),*) => { $(world.register::<$filler>();)* };
    }
    with_fillers!(register);
}

fn filled(world: &mut World) -> Entity {
    macro_rules! build {
        ($($filler:ident $number:literal),*) => {
            world.create_entity()$(.with($filler::default()))*.build()
        };
    }
    with_fillers!(build)
}

#[inline(never)]
fn add_remove(state: &mut Pairs) {
    add(state);
    remove(state);
}

#[inline(never)]
fn add((world, ids): &mut Pairs) {
    let mut b = world.write_storage::<B>();
    for (i, &id) in ids.iter().enumerate() {
        let _ = b.insert(id, B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    let mut b = world.write_storage::<B>();
    for &id in &*ids {
        b.remove(id);
    }
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    {
        let (a, b) = (state.0.read_storage::<A>(), state.0.read_storage::<B>());
        (&a, &b).join().for_each(|(a, b)| tally.two(a, b));
    }
    remove(state);
    tally.row(&[state.0.read_storage::<B>().count() as u64]);
    tally.finish()
}

#[inline(never)]
fn iter_1(world: &mut World) {
    (&mut world.write_storage::<Position>()).join().for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2(world: &mut World) {
    let (mut positions, velocities) =
        (world.write_storage::<Position>(), world.read_storage::<Velocity>());
    (&mut positions, &velocities).join().for_each(|(p, v)| kernel::step(p, v));
}

fn parted(workload: Workload, n: usize) -> World {
    let mut world = fresh();
    for i in 0..n {
        let velocity = moves(workload, i).then(|| kernel::velocity(i));
        world.create_entity().with(kernel::position(i)).maybe_with(velocity).build();
    }
    world
}

fn shuffled(scene: Scene) -> World {
    let mut world = fresh();
    let ids: Vec<_> =
        (0..scene.n).map(|i| world.create_entity().with(kernel::position(i)).build()).collect();
    for i in scene.order() {
        let _ = world.write_storage().insert(ids[i as usize], kernel::velocity(i as usize));
    }
    world
}

fn fragments(n: usize) -> World {
    let mut world = World::new();
    world.register::<Data>();
    macro_rules! register {
        ($($marker:ident $number:literal),*) => { $(world.register::<$marker>();)* };
    }
    with_markers!(register);
    for i in 0..n {
        let builder = world.create_entity().with(Data { value: kernel::value(i) });
        macro_rules! build {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => builder.with($marker::default()),)*
                    _ => unreachable!("26 markers cover every remainder"),
                }
            };
        }
        with_markers!(build).build();
    }
    world
}

#[inline(never)]
fn iter_frag(world: &mut World) {
    (&mut world.write_storage::<Data>()).join().for_each(kernel::bump);
}

fn spread(scene: Scene) -> World {
    let mut world = fresh();
    world.register::<Force>();
    macro_rules! register {
        ($($spreader:ident $number:literal),*) => { $(world.register::<$spreader>();)* };
    }
    with_spreaders!(register);
    for i in 0..scene.n {
        let builder = world.create_entity().with(kernel::position(i)).with(kernel::velocity(i));
        let builder = builder.with(kernel::force(i));
        let spread = scene.spread(i);
        macro_rules! build {
            ($($spreader:ident $number:literal),*) => {
                builder$(.maybe_with((spread & (1 << $number) != 0).then($spreader::default)))*
            };
        }
        with_spreaders!(build).build();
    }
    world
}

#[inline(never)]
fn iter_3(world: &mut World) {
    let (mut positions, velocities) =
        (world.write_storage::<Position>(), world.read_storage::<Velocity>());
    let forces = world.read_storage::<Force>();
    (&mut positions, &velocities, &forces).join().for_each(|(p, v, f)| kernel::push(p, v, f));
}

fn lanes(n: usize) -> World {
    let mut world = World::new();
    world.register::<Lane0>();
    world.register::<Lane1>();
    world.register::<Lane2>();
    world.register::<Lane3>();
    world.register::<Lane4>();
    for i in 0..n {
        world
            .create_entity()
            .with(Lane0 { quad: kernel::quad(i, 0) })
            .with(Lane1 { quad: kernel::quad(i, 1) })
            .with(Lane2 { quad: kernel::quad(i, 2) })
            .with(Lane3 { quad: kernel::quad(i, 3) })
            .with(Lane4 { quad: kernel::quad(i, 4) })
            .build();
    }
    world
}

#[inline(never)]
fn iter_5(world: &mut World) {
    let mut out = world.write_storage::<Lane0>();
    let (a, b) = (world.read_storage::<Lane1>(), world.read_storage::<Lane2>());
    let (c, d) = (world.read_storage::<Lane3>(), world.read_storage::<Lane4>());
    let rows = (&mut out, &a, &b, &c, &d).join();
    rows.for_each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
}

fn bodies(n: usize) -> World {
    let mut world = World::new();
    world.register::<Transform>();
    world.register::<Place>();
    world.register::<Rotation>();
    world.register::<Motion>();
    for i in 0..n {
        world
            .create_entity()
            .with(Transform::default())
            .with(Place { quad: kernel::quad(i, 0) })
            .with(Rotation::default())
            .with(Motion { quad: kernel::quad(i, 1) })
            .build();
    }
    world
}

#[inline(never)]
fn heavy(world: &mut World) {
    let (mut places, motions) = (world.write_storage::<Place>(), world.read_storage::<Motion>());
    (&mut places, &motions).join().for_each(|(p, m)| kernel::glide(p, m));
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let positions = world.read_storage::<Position>();
    for &id in &*ids {
        if let Some(position) = positions.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
        }
    }
}

#[inline(never)]
fn par_iter_2(world: &mut World) {
    let (mut positions, velocities) =
        (world.write_storage::<Position>(), world.read_storage::<Velocity>());
    (&mut positions, &velocities).par_join().for_each(|(p, v)| kernel::orbit(p, v));
}
