//! flecs through flecs_ecs: archetypes in C, with a Rust face.
//!
//! Queries are cached and walked with `each`. Components are set one by one, as its Rust
//! interface offers, and in bulk from columns. Parallel work is a multi-threaded system on
//! two worker threads, run by `progress`; `schedule` is a pipeline of three systems. Its
//! serialisation writes JSON, which is no answer to a memcpy, and is not offered here.

use std::any::Any;

use flecs_ecs::prelude::{
    Builder as _, ComponentId, Entity, EntityViewGet as _, IdOperations as _, ParSystemAPI as _,
    Query, QueryAPI as _, QueryBuilderImpl as _, QueryTuple, World,
};

use crate::{
    checksum::{Tally, bits, counted},
    components::*,
    contestant::{Bout, Contestant, Ebb, Width, lasting, renewed},
    kernel,
    scene::{Frames, Scene, moves},
    threads::THREADS,
    workload::Workload,
};

mod everyday;
mod frame;
mod schedule;

/// flecs_ecs with its default features.
#[derive(Debug)]
pub struct Flecs;

impl Contestant for Flecs {
    fn name(&self) -> &'static str {
        "flecs"
    }

    fn version(&self) -> &'static str {
        "0.2.2"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => crate::frame::prepare(workload, scene, frame::Prepared::new()),
            Workload::CreateEmpty => renewed(
                move || (fresh(), Vec::with_capacity(n), n),
                create_empty,
                |s| counted(alive(s)),
            ),
            Workload::CreateEmptyBatch => {
                renewed(move || (fresh(), Vec::new(), n), create_empty_batch, |s| counted(alive(s)))
            }
            Workload::Create2 => renewed(move || (fresh(), n), create_2, |s| sum(&s.0)),
            Workload::Create2Batch => renewed(move || (fresh(), n), create_2_batch, |s| sum(&s.0)),
            Workload::Destroy => renewed(
                move || pairs(n),
                destroy,
                |s| {
                    let left = s.1.iter().filter(|id| s.0.is_alive(**id)).count();
                    counted(left + count::<Position>(&s.0))
                },
            ),
            Workload::AddRemove => lasting(narrow(n), add_remove, sum_add_remove),
            Workload::AddRemoveWide => lasting(wide(n), add_remove, sum_add_remove),
            Workload::Iter1 => lasting(ready(pairs(n).0), iter_1, |s| sum(&s.1)),
            Workload::Iter2 => lasting(ready(pairs(n).0), iter_2, |s| sum(&s.1)),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(ready(parted(workload, n)), iter_2, |s| sum_positions(&s.1))
            }
            Workload::Iter2Shuffled => lasting(ready(shuffled(scene)), iter_2, |s| sum(&s.1)),
            Workload::IterFrag => lasting(ready(fragments(n)), iter_frag, |s| sum_data(&s.1)),
            Workload::Iter3OfMany => lasting(ready(spread(scene)), iter_3, |s| sum(&s.1)),
            Workload::Iter5Wide => lasting(ready(lanes(n)), iter_5, |s| sum_lanes(&s.1)),
            Workload::Heavy => lasting(ready(bodies(n)), heavy, |s| sum_places(&s.1)),
            Workload::RandomGet => {
                let (world, ids) = pairs(n);
                let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
                lasting((world, ids, 0), random_get, |s| s.2)
            }
            Workload::Churn => {
                let (world, ids) = pairs(n);
                let (query, world) = ready(world);
                lasting(Herd { query, world, ids, frames: scene.frames() }, churn, sum_herd)
            }
            Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
                everyday::prepare(workload, scene)
            }
            Workload::ParIter2 => lasting(parallel(n), progress, |world| sum(world)),
            Workload::Schedule => schedule::prepare(n),
            Workload::Serialize | Workload::Deserialize | Workload::Clone => None,
            // Queries are walked by callbacks, and there is no despawn of many by id.
            Workload::ForFrag | Workload::ForSchedule | Workload::DestroyBatch => None,
        }
    }

    fn hold(&self, _: usize, _: Width) -> Option<Box<dyn Any>> {
        // Its memory comes from C and is not seen by the counting allocator.
        None
    }

    fn ebb(&self, _: usize, _: Ebb) -> Option<Box<dyn Any>> {
        None
    }
}

type Pairs = (World, Vec<Entity>);

/// The query goes first when the two are dropped, as flecs asks.
type Ready<Q> = (Query<Q>, World);

fn ready<Q: QueryTuple>(world: World) -> Ready<Q> {
    (world.query::<Q>().set_cached().build(), world)
}

/// A world that knows its two components but holds no entity of ours.
fn fresh() -> World {
    let world = World::new();
    world.component::<Position>();
    world.component::<Velocity>();
    world
}

fn pairs(n: usize) -> Pairs {
    let world = fresh();
    let ids = spawn_pairs(&world, n);
    (world, ids)
}

fn spawn_pairs(world: &World, n: usize) -> Vec<Entity> {
    (0..n).map(|i| world.entity().set(kernel::position(i)).set(kernel::velocity(i)).id()).collect()
}

fn count<T: ComponentId>(world: &World) -> usize {
    world.count(T::entity_id(world)) as usize
}

fn sum(world: &World) -> u64 {
    let mut tally = Tally::default();
    world.new_query::<(&Position, &Velocity)>().each(|(p, v)| tally.two(p, v));
    tally.finish()
}

/// Sums a component of every entity that has it.
macro_rules! sum_of {
    ($name:ident, $component:ident) => {
        fn $name(world: &World) -> u64 {
            let mut tally = Tally::default();
            world.new_query::<&$component>().each(|value| tally.one(value));
            tally.finish()
        }
    };
}

sum_of!(sum_positions, Position);
sum_of!(sum_data, Data);
sum_of!(sum_lanes, Lane0);
sum_of!(sum_places, Place);

fn alive((world, ids, _): &mut (World, Vec<Entity>, usize)) -> usize {
    ids.iter().filter(|id| world.is_alive(**id)).count()
}

#[inline(never)]
fn create_empty((world, ids, n): &mut (World, Vec<Entity>, usize)) {
    for _ in 0..*n {
        ids.push(world.entity().id());
    }
}

#[inline(never)]
fn create_empty_batch((world, ids, n): &mut (World, Vec<Entity>, usize)) {
    *ids = world.entity_bulk(*n as u32).build();
}

#[inline(never)]
fn create_2((world, n): &mut (World, usize)) {
    for i in 0..*n {
        world.entity().set(kernel::position(i)).set(kernel::velocity(i));
    }
}

#[inline(never)]
fn create_2_batch((world, n): &mut (World, usize)) {
    let positions: Vec<_> = (0..*n).map(kernel::position).collect();
    let velocities: Vec<_> = (0..*n).map(kernel::velocity).collect();
    world.entity_bulk(*n as u32).set(&positions).set(&velocities).build();
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.entity_from_id(id).destruct();
    }
}

fn narrow(n: usize) -> Pairs {
    let world = World::new();
    world.component::<B>();
    let ids = (0..n).map(|i| world.entity().set(A { value: kernel::value(i) }).id()).collect();
    (world, ids)
}

fn wide(n: usize) -> Pairs {
    let (world, ids) = narrow(n);
    for &id in &ids {
        let entity = world.entity_from_id(id);
        macro_rules! set {
            ($($filler:ident $number:literal),*) => { $(entity.set($filler::default());)* };
        }
        with_fillers!(set);
    }
    (world, ids)
}

#[inline(never)]
fn add_remove(state: &mut Pairs) {
    add(state);
    remove(state);
}

#[inline(never)]
fn add((world, ids): &mut Pairs) {
    for (i, &id) in ids.iter().enumerate() {
        world.entity_from_id(id).set(B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.entity_from_id(id).remove(B::id());
    }
}

fn sum_add_remove(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add(state);
    state.0.new_query::<(&A, &B)>().each(|(a, b)| tally.two(a, b));
    remove(state);
    tally.row(&[count::<B>(&state.0) as u64]);
    tally.finish()
}

#[inline(never)]
fn iter_1((query, _): &mut Ready<&'static mut Position>) {
    query.each(kernel::nudge);
}

#[inline(never)]
fn iter_2((query, _): &mut Ready<(&'static mut Position, &'static Velocity)>) {
    query.each(|(position, velocity)| kernel::step(position, velocity));
}

fn parted(workload: Workload, n: usize) -> World {
    let world = fresh();
    for i in 0..n {
        let entity = world.entity().set(kernel::position(i));
        if moves(workload, i) {
            entity.set(kernel::velocity(i));
        }
    }
    world
}

fn shuffled(scene: Scene) -> World {
    let world = fresh();
    let ids: Vec<_> = (0..scene.n).map(|i| world.entity().set(kernel::position(i)).id()).collect();
    for i in scene.order() {
        world.entity_from_id(ids[i as usize]).set(kernel::velocity(i as usize));
    }
    world
}

fn fragments(n: usize) -> World {
    let world = World::new();
    for i in 0..n {
        let entity = world.entity();
        macro_rules! set {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => entity.set($marker::default()),)*
                    _ => unreachable!("26 markers cover every remainder"),
                }
            };
        }
        with_markers!(set).set(Data { value: kernel::value(i) });
    }
    world
}

#[inline(never)]
fn iter_frag((query, _): &mut Ready<&'static mut Data>) {
    query.each(kernel::bump);
}

fn spread(scene: Scene) -> World {
    let world = fresh();
    for i in 0..scene.n {
        let entity = world.entity().set(kernel::position(i)).set(kernel::velocity(i));
        entity.set(kernel::force(i));
        let spread = scene.spread(i);
        macro_rules! set {
            ($($spreader:ident $number:literal),*) => {$(
                if spread & (1 << $number) != 0 {
                    entity.set($spreader::default());
                }
            )*};
        }
        with_spreaders!(set);
    }
    world
}

#[inline(never)]
fn iter_3((query, _): &mut Ready<(&'static mut Position, &'static Velocity, &'static Force)>) {
    query.each(|(p, v, f)| kernel::push(p, v, f));
}

fn lanes(n: usize) -> World {
    let world = World::new();
    for i in 0..n {
        world
            .entity()
            .set(Lane0 { quad: kernel::quad(i, 0) })
            .set(Lane1 { quad: kernel::quad(i, 1) })
            .set(Lane2 { quad: kernel::quad(i, 2) })
            .set(Lane3 { quad: kernel::quad(i, 3) })
            .set(Lane4 { quad: kernel::quad(i, 4) });
    }
    world
}

type Lanes = (&'static mut Lane0, &'static Lane1, &'static Lane2, &'static Lane3, &'static Lane4);

#[inline(never)]
fn iter_5((query, _): &mut Ready<Lanes>) {
    query.each(|(out, a, b, c, d)| kernel::blend(out, a, b, c, d));
}

fn bodies(n: usize) -> World {
    let world = World::new();
    for i in 0..n {
        world
            .entity()
            .set(Transform::default())
            .set(Place { quad: kernel::quad(i, 0) })
            .set(Rotation::default())
            .set(Motion { quad: kernel::quad(i, 1) });
    }
    world
}

#[inline(never)]
fn heavy((query, _): &mut Ready<(&'static mut Place, &'static Motion)>) {
    query.each(|(place, motion)| kernel::glide(place, motion));
}

#[inline(never)]
fn random_get((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    for &id in &*ids {
        let bits = world.entity_from_id(id).try_get::<&Position>(|position| position.x.to_bits());
        *sum = sum.wrapping_add(u64::from(bits.unwrap_or(0)));
    }
}

struct Herd {
    query: Query<(&'static mut Position, &'static Velocity)>,
    world: World,
    ids: Vec<Entity>,
    frames: Frames,
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { query, world, ids, frames } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        world.entity_from_id(ids[i as usize]).destruct();
    }
    for &i in &frame.doomed {
        let i = i as usize;
        ids[i] = world.entity().set(kernel::position(i)).set(kernel::velocity(i)).id();
    }
    for &i in &frame.toggled {
        let entity = world.entity_from_id(ids[i as usize]);
        if entity.has(Tag::id()) {
            entity.remove(Tag::id());
        } else {
            entity.add(Tag::id());
        }
    }
    query.each(|(position, velocity)| kernel::step(position, velocity));
}

fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    herd.world.new_query::<(&Position, &Velocity)>().each_entity(|entity, (p, v)| {
        tally.row(&[bits(p), bits(v), u64::from(entity.has(Tag::id()))]);
    });
    tally.finish()
}

fn parallel(n: usize) -> World {
    let world = fresh();
    spawn_pairs(&world, n);
    world.system::<(&mut Position, &Velocity)>().par_each(|(p, v)| kernel::orbit(p, v));
    world.set_threads(THREADS as i32);
    world
}

#[inline(never)]
fn progress(world: &mut World) {
    world.progress();
}
