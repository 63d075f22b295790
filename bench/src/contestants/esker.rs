//! Esker without hints (no group, no alignment, no sorting), and with a group.
//!
//! Bulk rows use `spawn_columns`; components are iterated by a query and `for_each`. `random_get`
//! holds the pool's guard for the whole loop. Snapshots are those of the native format.

mod churn;
mod everyday;
mod frame;
pub mod save;
mod systems;

use std::any::Any;

use ::esker::{Component, Entity, World};
use rayon::iter::ParallelIterator;

use crate::{
    checksum::{Tally, counted},
    components::*,
    contestant::{Bout, Contestant, Ebb, Role, Width, lasting, renewed, stays},
    kernel,
    scene::{Scene, moves},
    workload::Workload,
};

/// Esker as it comes.
#[derive(Debug)]
pub struct Esker;

/// Esker with a group over what each row iterates.
#[derive(Debug)]
pub struct EskerGroup;

impl Contestant for Esker {
    fn name(&self) -> &'static str {
        "esker"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn role(&self) -> Role {
        Role::Ours
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        prepare::<false>(workload, scene)
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        let mut world = World::new();
        for i in 0..n {
            match width {
                Width::One => world.spawn(kernel::position(i)),
                Width::Two => world.spawn((kernel::position(i), kernel::velocity(i))),
                Width::Eight => world.spawn(fillers()),
            };
        }
        Some(Box::new(world))
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        Some(ebb::<false>(n, after))
    }
}

impl Contestant for EskerGroup {
    fn name(&self) -> &'static str {
        "esker_group"
    }

    fn version(&self) -> &'static str {
        concat!(env!("CARGO_PKG_VERSION"), ", grouped")
    }

    fn role(&self) -> Role {
        Role::Ours
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        match workload {
            // A group of one pool changes nothing, and an empty entity is in none.
            Workload::CreateEmpty
            | Workload::CreateEmptyBatch
            | Workload::Iter1
            | Workload::IterFrag
            | Workload::ForFrag
            | Workload::RandomGet => None,
            _ => prepare::<true>(workload, scene),
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        // What a group keeps beside the pools is a few numbers.
        let mut world = World::new();
        pair(&mut world);
        match width {
            Width::Two => {
                for i in 0..n {
                    world.spawn((kernel::position(i), kernel::velocity(i)));
                }
                Some(Box::new(world))
            }
            Width::One | Width::Eight => None,
        }
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        Some(ebb::<true>(n, after))
    }
}

fn prepare<const G: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::FrameCalm | Workload::FrameBusy | Workload::FrameDrift | Workload::FrameFlip => {
            (!G).then(|| crate::frame::prepare(workload, scene, World::new()))?
        }
        Workload::CreateEmpty => {
            renewed(move || (World::new(), n), create_empty, |s| counted(s.0.len()))
        }
        Workload::CreateEmptyBatch => {
            renewed(move || (World::new(), n), create_empty_batch, |s| counted(s.0.len()))
        }
        Workload::Create2 => renewed(move || (world::<G>(pair), n), create_2, |s| sum(&mut s.0)),
        Workload::Create2Batch => {
            renewed(move || (world::<G>(pair), n), create_2_batch, |s| sum(&mut s.0))
        }
        Workload::Destroy => renewed(
            move || pairs::<G>(n),
            destroy,
            |s| counted(s.0.len() + s.0.pool::<Position>().len()),
        ),
        Workload::DestroyBatch => renewed(
            move || pairs::<G>(n),
            destroy_batch,
            |s| counted(s.0.len() + s.0.pool::<Position>().len()),
        ),
        Workload::AddRemove => lasting(narrow::<G>(n), add_remove, sum_add_remove),
        Workload::AddRemoveWide => lasting(wide::<G>(n), add_remove, sum_add_remove),
        Workload::Iter1 => lasting(pairs::<G>(n).0, iter_1, sum),
        Workload::Iter2 => lasting(pairs::<G>(n).0, iter_2, sum),
        Workload::Iter2Half | Workload::Iter2Rare => {
            lasting(parted::<G>(workload, n), iter_2, sum_positions)
        }
        Workload::Iter2Shuffled => lasting(shuffled::<G>(scene), iter_2, sum),
        Workload::IterFrag => lasting(fragments(n), iter_frag, sum_data),
        Workload::ForFrag => lasting(fragments(n), everyday::for_frag, sum_data),
        Workload::Iter3OfMany => lasting(spread::<G>(scene), iter_3, sum),
        Workload::Iter5Wide => lasting(lanes::<G>(n), iter_5, sum_lanes),
        Workload::Heavy => lasting(bodies::<G>(n), heavy, sum_places),
        Workload::RandomGet => {
            let (world, ids) = pairs::<G>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), random_get, |s| s.2)
        }
        Workload::Churn => churn::prepare::<G>(scene),
        Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
            everyday::prepare::<G>(workload, scene)
        }
        Workload::ParIter2 => lasting(pairs::<G>(n).0, par_iter_2, sum),
        Workload::Schedule | Workload::ForSchedule if !G => systems::prepare(workload, n),
        Workload::Serialize if !G => lasting((pairs::<G>(n).0, Vec::new()), save::serialize, |s| {
            sum(&mut save::decode(&s.1))
        }),
        Workload::Deserialize if !G => {
            let mut bytes = Vec::new();
            save::encode(&pairs::<G>(n).0, &mut bytes);
            renewed(move || (bytes.clone(), World::new()), save::deserialize, |s| sum(&mut s.1))
        }
        Workload::Clone if !G => {
            renewed(move || (pairs::<G>(n).0, World::new()), save::copy, |s| sum(&mut s.1))
        }
        Workload::Schedule
        | Workload::ForSchedule
        | Workload::Serialize
        | Workload::Deserialize
        | Workload::Clone => None,
    }
}

fn ebb<const G: bool>(n: usize, after: Ebb) -> Box<dyn Any> {
    let (mut world, ids) = pairs::<G>(n);
    for (_, id) in ids.iter().enumerate().filter(|(i, _)| !stays(*i)) {
        _ = world.despawn(*id);
    }
    if after == Ebb::Shrunk {
        world.shrink_to_fit();
    }
    Box::new(world)
}

/// An empty world, with the group that `group` makes if there is to be one.
fn world<const G: bool>(group: fn(&mut World)) -> World {
    let mut world = World::new();
    if G {
        group(&mut world);
    }
    world
}

fn pair(world: &mut World) {
    _ = world.group::<(Position, Velocity)>().build();
}

fn letters(world: &mut World) {
    _ = world.group::<(A, B)>().build();
}

type Pairs = (World, Vec<Entity>);

fn pairs<const G: bool>(n: usize) -> Pairs {
    let mut world = world::<G>(pair);
    let ids = (0..n).map(|i| world.spawn((kernel::position(i), kernel::velocity(i)))).collect();
    (world, ids)
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query::<(&Position, &Velocity)>().iter().for_each(|(p, v)| tally.two(p, v));
    tally.finish()
}

fn sum_one<T: Component + bytemuck::NoUninit>(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.pool::<T>().iter().for_each(|(_, value)| tally.one(value));
    tally.finish()
}

fn sum_positions(world: &mut World) -> u64 {
    sum_one::<Position>(world)
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    for _ in 0..*n {
        world.spawn_empty();
    }
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    _ = world.spawn_empty_batch(*n);
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    for i in 0..*n {
        world.spawn((kernel::position(i), kernel::velocity(i)));
    }
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    let positions: Vec<_> = (0..*n).map(kernel::position).collect();
    let velocities: Vec<_> = (0..*n).map(kernel::velocity).collect();
    _ = world.spawn_columns((positions, velocities));
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    for &id in &*ids {
        _ = world.despawn(id);
    }
}

#[inline(never)]
fn destroy_batch((world, ids): &mut Pairs) {
    world.despawn_batch(ids.iter().copied());
}

fn narrow<const G: bool>(n: usize) -> Pairs {
    let mut world = world::<G>(letters);
    let ids = (0..n).map(|i| world.spawn(A { value: kernel::value(i) })).collect();
    (world, ids)
}

fn wide<const G: bool>(n: usize) -> Pairs {
    let mut world = world::<G>(letters);
    let ids = (0..n).map(|i| world.spawn((fillers(), A { value: kernel::value(i) }))).collect();
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
        _ = world.insert(id, B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    for &id in &*ids {
        _ = world.remove::<B>(id);
    }
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    state.0.query::<(&A, &B)>().iter().for_each(|(a, b)| tally.two(a, b));
    remove(state);
    tally.row(&[state.0.pool::<B>().len() as u64]);
    tally.finish()
}

#[inline(never)]
fn iter_1(world: &mut World) {
    world.query_mut::<&mut Position>().iter_mut().for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2(world: &mut World) {
    let mut query = world.query_mut::<(&mut Position, &Velocity)>();
    query.iter_mut().for_each(|(p, v)| kernel::step(p, v));
}

#[inline(never)]
fn par_iter_2(world: &mut World) {
    // A body of a hundred flops is worth a thread from fewer matches on than the default says.
    let mut query = world.query_mut::<(&mut Position, &Velocity)>();
    query.par_iter_mut().batch(256).for_each(|(p, v)| kernel::orbit(p, v));
}

fn parted<const G: bool>(workload: Workload, n: usize) -> World {
    let mut world = world::<G>(pair);
    for i in 0..n {
        if moves(workload, i) {
            world.spawn((kernel::position(i), kernel::velocity(i)));
        } else {
            world.spawn(kernel::position(i));
        }
    }
    world
}

fn shuffled<const G: bool>(scene: Scene) -> World {
    let mut world = world::<G>(pair);
    let ids: Vec<_> = (0..scene.n).map(|i| world.spawn(kernel::position(i))).collect();
    for i in scene.order() {
        _ = world.insert(ids[i as usize], kernel::velocity(i as usize));
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
fn iter_frag(world: &mut World) {
    world.query_mut::<&mut Data>().iter_mut().for_each(kernel::bump);
}

fn sum_data(world: &mut World) -> u64 {
    sum_one::<Data>(world)
}

fn spread<const G: bool>(scene: Scene) -> World {
    let mut world = world::<G>(|w| _ = w.group::<(Position, Velocity, Force)>().build());
    for i in 0..scene.n {
        let id = world.spawn((kernel::position(i), kernel::velocity(i), kernel::force(i)));
        let spread = scene.spread(i);
        macro_rules! insert {
            ($($spreader:ident $number:literal),*) => {$(
                if spread & (1 << $number) != 0 {
                    _ = world.insert(id, $spreader::default());
                }
            )*};
        }
        with_spreaders!(insert);
    }
    world
}

#[inline(never)]
fn iter_3(world: &mut World) {
    let mut query = world.query_mut::<(&mut Position, &Velocity, &Force)>();
    query.iter_mut().for_each(|(p, v, f)| kernel::push(p, v, f));
}

fn lanes<const G: bool>(n: usize) -> World {
    let mut world = world::<G>(|w| _ = w.group::<(Lane0, Lane1, Lane2, Lane3, Lane4)>().build());
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

#[inline(never)]
fn iter_5(world: &mut World) {
    let mut query = world.query_mut::<(&mut Lane0, &Lane1, &Lane2, &Lane3, &Lane4)>();
    query.iter_mut().for_each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
}

fn sum_lanes(world: &mut World) -> u64 {
    sum_one::<Lane0>(world)
}

fn bodies<const G: bool>(n: usize) -> World {
    let mut world = world::<G>(|w| _ = w.group::<(Place, Motion)>().build());
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
fn heavy(world: &mut World) {
    let mut query = world.query_mut::<(&mut Place, &Motion)>();
    query.iter_mut().for_each(|(place, motion)| kernel::glide(place, motion));
}

fn sum_places(world: &mut World) -> u64 {
    sum_one::<Place>(world)
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let positions = world.pool::<Position>();
    for &id in &*ids {
        if let Some(position) = positions.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
        }
    }
}
