//! sparsey: sparse sets with optional groups, as two contestants.
//!
//! `sparsey` declares no group and iterates with `for_each`, or over the slice of a single
//! component. `sparsey_group` declares, for each workload, the group its query needs, and
//! iterates over the slices the group keeps aligned. Removal uses `delete`, which its docs
//! call faster than `remove`. sparsey has no scheduler: `schedule` runs three queries one
//! after another. It has no serialisation either.

use std::any::Any;

use rayon::prelude::*;
use sparsey::{World, entity::Entity};

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

/// sparsey without groups.
#[derive(Debug)]
pub struct Sparsey;

impl Contestant for Sparsey {
    fn name(&self) -> &'static str {
        "sparsey"
    }

    fn version(&self) -> &'static str {
        "0.13.4"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        prepare::<false>(workload, scene)
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        hold::<false>(n, width)
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        ebb::<false>(n, after)
    }
}

/// sparsey with the group that suits the workload.
#[derive(Debug)]
pub struct SparseyGroup;

impl Contestant for SparseyGroup {
    fn name(&self) -> &'static str {
        "sparsey_group"
    }

    fn version(&self) -> &'static str {
        "0.13.4, grouped"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        match workload {
            // A group needs two components, and its systems must not need more than one group.
            Workload::CreateEmpty
            | Workload::CreateEmptyBatch
            | Workload::Iter1
            | Workload::IterFrag
            | Workload::ForFrag
            | Workload::RandomGet
            | Workload::Schedule
            | Workload::ForSchedule => None,
            _ => prepare::<true>(workload, scene),
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        (width == Width::Two).then(|| hold::<true>(n, width))?
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        ebb::<true>(n, after)
    }
}

fn prepare<const GROUP: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::FrameCalm | Workload::FrameBusy | Workload::FrameDrift | Workload::FrameFlip => {
            (!GROUP).then(|| crate::frame::prepare(workload, scene, frame::registered()))?
        }
        Workload::CreateEmpty => {
            renewed(move || (empty::<GROUP>(), n), create_empty, |s| counted(s.0.entities().len()))
        }
        Workload::CreateEmptyBatch => renewed(
            move || (empty::<GROUP>(), n),
            create_empty_batch,
            |s| counted(s.0.entities().len()),
        ),
        Workload::Create2 => renewed(move || (empty::<GROUP>(), n), create_2, |s| sum(&mut s.0)),
        Workload::Create2Batch => {
            renewed(move || (empty::<GROUP>(), n), create_2_batch, |s| sum(&mut s.0))
        }
        Workload::Destroy => renewed(
            move || pairs::<GROUP>(n),
            destroy,
            |s| counted(s.0.entities().len() + s.0.borrow::<Position>().len()),
        ),
        Workload::AddRemove => lasting(narrow::<GROUP>(n), add_remove, sum_add_remove),
        Workload::AddRemoveWide => lasting(wide::<GROUP>(n), add_remove, sum_add_remove),
        Workload::Iter1 => lasting(pairs::<GROUP>(n).0, iter_1, sum),
        Workload::Iter2 => lasting(pairs::<GROUP>(n).0, iter_2::<GROUP>, sum),
        Workload::Iter2Half | Workload::Iter2Rare => {
            lasting(parted::<GROUP>(workload, n), iter_2::<GROUP>, sum_positions)
        }
        Workload::Iter2Shuffled => lasting(shuffled::<GROUP>(scene), iter_2::<GROUP>, sum),
        Workload::IterFrag => lasting(fragments(n), iter_frag, sum_data),
        Workload::ForFrag => lasting(fragments(n), everyday::for_frag, sum_data),
        Workload::Iter3OfMany => lasting(spread::<GROUP>(scene), iter_3::<GROUP>, sum),
        Workload::Iter5Wide => lasting(lanes::<GROUP>(n), iter_5::<GROUP>, sum_lanes),
        Workload::Heavy => lasting(bodies::<GROUP>(n), heavy::<GROUP>, sum_places),
        Workload::RandomGet => {
            let (world, ids) = pairs::<GROUP>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), random_get, |s| s.2)
        }
        Workload::Churn => churn::prepare::<GROUP>(scene),
        Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
            everyday::prepare::<GROUP>(workload, scene)
        }
        Workload::ParIter2 => lasting(pairs::<GROUP>(n).0, par_iter_2::<GROUP>, sum),
        Workload::Schedule | Workload::ForSchedule => schedule::prepare(workload, n),
        Workload::Serialize | Workload::Deserialize | Workload::Clone | Workload::DestroyBatch => {
            None
        }
    }
}

fn hold<const GROUP: bool>(n: usize, width: Width) -> Option<Box<dyn Any>> {
    let mut world = empty::<GROUP>();
    register_fillers(&mut world);
    for i in 0..n {
        match width {
            Width::One => world.create((kernel::position(i),)),
            Width::Two => world.create((kernel::position(i), kernel::velocity(i))),
            Width::Eight => world.create(fillers()),
        };
    }
    Some(Box::new(world))
}

fn ebb<const GROUP: bool>(n: usize, after: Ebb) -> Option<Box<dyn Any>> {
    if after == Ebb::Shrunk {
        return None;
    }
    let (mut world, ids) = pairs::<GROUP>(n);
    for (_, id) in ids.iter().enumerate().filter(|(i, _)| !stays(*i)) {
        world.destroy(*id);
    }
    Some(Box::new(world))
}

type Pairs = (World, Vec<Entity>);

/// A world that knows the moving components and groups them if asked.
fn empty<const GROUP: bool>() -> World {
    let mut builder = World::builder();
    if GROUP {
        builder.add_group::<(Position, Velocity)>();
    }
    builder.register::<Position>().register::<Velocity>().register::<Tag>();
    builder.build()
}

fn pairs<const GROUP: bool>(n: usize) -> Pairs {
    let mut world = empty::<GROUP>();
    let ids = (0..n).map(|i| world.create((kernel::position(i), kernel::velocity(i)))).collect();
    (world, ids)
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<(&Position, &Velocity)>(|(p, v)| tally.two(p, v));
    tally.finish()
}

fn sum_positions(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<&Position>(|p| tally.one(p));
    tally.finish()
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    for _ in 0..*n {
        world.create(());
    }
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    world.extend((0..*n).map(|_| ()));
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    for i in 0..*n {
        world.create((kernel::position(i), kernel::velocity(i)));
    }
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    world.extend((0..*n).map(|i| (kernel::position(i), kernel::velocity(i))));
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.destroy(id);
    }
}

fn pair_of_letters<const GROUP: bool>() -> World {
    let mut builder = World::builder();
    if GROUP {
        builder.add_group::<(A, B)>();
    }
    builder.register::<A>().register::<B>().build()
}

fn narrow<const GROUP: bool>(n: usize) -> Pairs {
    let mut world = pair_of_letters::<GROUP>();
    let ids = (0..n).map(|i| world.create((A { value: kernel::value(i) },))).collect();
    (world, ids)
}

fn wide<const GROUP: bool>(n: usize) -> Pairs {
    let mut world = pair_of_letters::<GROUP>();
    register_fillers(&mut world);
    let ids = (0..n)
        .map(|i| {
            let id = world.create(fillers());
            world.insert(id, (A { value: kernel::value(i) },));
            id
        })
        .collect();
    (world, ids)
}

fn register_fillers(world: &mut World) {
    macro_rules! register {
        ($($filler:ident $number:literal),*) => { $(world.register::<$filler>();)* };
    }
    with_fillers!(register);
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
        world.insert(id, (B { value: kernel::value(i) },));
    }
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.delete::<(B,)>(id);
    }
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    state.0.for_each::<(&A, &B)>(|(a, b)| tally.two(a, b));
    remove(state);
    tally.row(&[state.0.borrow::<B>().len() as u64]);
    tally.finish()
}

#[inline(never)]
fn iter_1(world: &mut World) {
    world.borrow_mut::<Position>().as_mut_slice().iter_mut().for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2<const GROUP: bool>(world: &mut World) {
    if GROUP {
        let mut query = world.query_all::<(&mut Position, &Velocity)>();
        let (positions, velocities) = query.slice().expect("the two are grouped");
        positions.iter_mut().zip(velocities).for_each(|(p, v)| kernel::step(p, v));
    } else {
        world.for_each::<(&mut Position, &Velocity)>(|(p, v)| kernel::step(p, v));
    }
}

fn parted<const GROUP: bool>(workload: Workload, n: usize) -> World {
    let mut world = empty::<GROUP>();
    for i in 0..n {
        if moves(workload, i) {
            world.create((kernel::position(i), kernel::velocity(i)));
        } else {
            world.create((kernel::position(i),));
        }
    }
    world
}

fn shuffled<const GROUP: bool>(scene: Scene) -> World {
    let mut world = empty::<GROUP>();
    let ids: Vec<_> = (0..scene.n).map(|i| world.create((kernel::position(i),))).collect();
    for i in scene.order() {
        world.insert(ids[i as usize], (kernel::velocity(i as usize),));
    }
    world
}

fn fragments(n: usize) -> World {
    let mut world = World::builder().register::<Data>().build();
    macro_rules! register {
        ($($marker:ident $number:literal),*) => { $(world.register::<$marker>();)* };
    }
    with_markers!(register);
    for i in 0..n {
        let data = Data { value: kernel::value(i) };
        macro_rules! create {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => world.create(($marker::default(), data)),)*
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
    world.borrow_mut::<Data>().as_mut_slice().iter_mut().for_each(kernel::bump);
}

fn sum_data(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<&Data>(|data| tally.one(data));
    tally.finish()
}

fn spread<const GROUP: bool>(scene: Scene) -> World {
    let mut builder = World::builder();
    if GROUP {
        builder.add_group::<(Position, Velocity, Force)>();
    }
    builder.register::<Position>().register::<Velocity>().register::<Force>();
    let mut world = builder.build();
    for i in 0..scene.n {
        let id = world.create((kernel::position(i), kernel::velocity(i), kernel::force(i)));
        let spread = scene.spread(i);
        macro_rules! insert {
            ($($spreader:ident $number:literal),*) => {$(
                world.register::<$spreader>();
                if spread & (1 << $number) != 0 {
                    world.insert(id, ($spreader::default(),));
                }
            )*};
        }
        with_spreaders!(insert);
    }
    world
}

#[inline(never)]
fn iter_3<const GROUP: bool>(world: &mut World) {
    if GROUP {
        let mut query = world.query_all::<(&mut Position, &Velocity, &Force)>();
        let (positions, velocities, forces) = query.slice().expect("the three are grouped");
        let rows = positions.iter_mut().zip(velocities).zip(forces);
        rows.for_each(|((p, v), f)| kernel::push(p, v, f));
    } else {
        world.for_each::<(&mut Position, &Velocity, &Force)>(|(p, v, f)| kernel::push(p, v, f));
    }
}

fn lanes<const GROUP: bool>(n: usize) -> World {
    let mut builder = World::builder();
    if GROUP {
        builder.add_group::<(Lane0, Lane1, Lane2, Lane3, Lane4)>();
    }
    builder.register::<Lane0>().register::<Lane1>().register::<Lane2>();
    let mut world = builder.register::<Lane3>().register::<Lane4>().build();
    for i in 0..n {
        world.create((
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
fn iter_5<const GROUP: bool>(world: &mut World) {
    let mut query = world.query_all::<(&mut Lane0, &Lane1, &Lane2, &Lane3, &Lane4)>();
    if GROUP {
        let (out, a, b, c, d) = query.slice().expect("the five are grouped");
        let rows = out.iter_mut().zip(a).zip(b).zip(c).zip(d);
        rows.for_each(|((((out, a), b), c), d)| kernel::blend(out, a, b, c, d));
    } else {
        query.for_each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
    }
}

fn sum_lanes(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<&Lane0>(|lane| tally.one(lane));
    tally.finish()
}

fn bodies<const GROUP: bool>(n: usize) -> World {
    let mut builder = World::builder();
    if GROUP {
        builder.add_group::<(Place, Motion)>();
    }
    builder.register::<Transform>().register::<Place>().register::<Rotation>();
    let mut world = builder.register::<Motion>().build();
    for i in 0..n {
        world.create((
            Transform::default(),
            Place { quad: kernel::quad(i, 0) },
            Rotation::default(),
            Motion { quad: kernel::quad(i, 1) },
        ));
    }
    world
}

#[inline(never)]
fn heavy<const GROUP: bool>(world: &mut World) {
    let mut query = world.query_all::<(&mut Place, &Motion)>();
    if GROUP {
        let (places, motions) = query.slice().expect("the two are grouped");
        places.iter_mut().zip(motions).for_each(|(p, m)| kernel::glide(p, m));
    } else {
        query.for_each(|(place, motion)| kernel::glide(place, motion));
    }
}

fn sum_places(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<&Place>(|place| tally.one(place));
    tally.finish()
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let positions = world.borrow::<Position>();
    for &id in &*ids {
        if let Some(position) = positions.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
        }
    }
}

#[inline(never)]
fn par_iter_2<const GROUP: bool>(world: &mut World) {
    let mut query = world.query_all::<(&mut Position, &Velocity)>();
    if GROUP {
        let (positions, velocities) = query.slice().expect("the two are grouped");
        let rows = positions.par_iter_mut().zip(velocities);
        rows.for_each(|(position, velocity)| kernel::orbit(position, velocity));
    } else {
        query.par_for_each(|(position, velocity)| kernel::orbit(position, velocity));
    }
}
