//! bevy_ecs: archetypes in tables, or components in sparse sets, as two contestants.
//!
//! Queries are built once (`QueryState`). Where all components lie in tables, iteration uses
//! the contiguous slices of 0.19 and later (`contiguous_iter_mut`); through them change ticks
//! are still written, as for every ordinary bevy program. Where they lie in sparse sets there
//! are no slices, and `iter_mut().for_each` is the fastest way. The storage is a property of
//! the type in bevy, so components are wrapped in [`Stored`], which chooses it.

use std::any::Any;

use bevy_ecs::{
    component::{Component, Mutable, StorageType},
    entity::Entity,
    query::QueryState,
    world::World,
};

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
mod wide;

/// bevy_ecs with components in tables, its default.
#[derive(Debug)]
pub struct Bevy;

impl Contestant for Bevy {
    fn name(&self) -> &'static str {
        "bevy"
    }

    fn version(&self) -> &'static str {
        "0.20.1"
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

/// bevy_ecs with components in sparse sets.
#[derive(Debug)]
pub struct BevySparse;

impl Contestant for BevySparse {
    fn name(&self) -> &'static str {
        "bevy_sparse"
    }

    fn version(&self) -> &'static str {
        "0.20.1, sparse-set storage"
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        prepare::<true>(workload, scene)
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        hold::<true>(n, width)
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        ebb::<true>(n, after)
    }
}

/// A component that says where bevy keeps it.
struct Stored<T, const SPARSE: bool>(T);

impl<T: Send + Sync + 'static, const SPARSE: bool> Component for Stored<T, SPARSE> {
    const STORAGE_TYPE: StorageType =
        if SPARSE { StorageType::SparseSet } else { StorageType::Table };
    type Mutability = Mutable;
}

fn prepare<const S: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::FrameCalm | Workload::FrameBusy | Workload::FrameDrift | Workload::FrameFlip => {
            crate::frame::prepare(workload, scene, frame::Prepared::<S>::new())
        }
        Workload::CreateEmpty => {
            renewed(move || (World::new(), n), create_empty, |s| counted(count(&mut s.0)))
        }
        Workload::CreateEmptyBatch => {
            renewed(move || (World::new(), n), create_empty_batch, |s| counted(count(&mut s.0)))
        }
        Workload::Create2 => {
            renewed(move || (World::new(), n), create_2::<S>, |s| sum::<S>(&mut s.0))
        }
        Workload::Create2Batch => {
            renewed(move || (World::new(), n), create_2_batch::<S>, |s| sum::<S>(&mut s.0))
        }
        Workload::Destroy => renewed(move || pairs::<S>(n), destroy, |s| counted(count(&mut s.0))),
        Workload::AddRemove => lasting(narrow::<S>(n), add_remove::<S>, sum_add_remove::<S>),
        Workload::AddRemoveWide => lasting(wide::<S>(n), add_remove::<S>, sum_add_remove::<S>),
        Workload::Iter1 => lasting(ready(pairs::<S>(n).0), iter_1::<S>, |s| sum::<S>(&mut s.0)),
        Workload::Iter2 => lasting(ready(pairs::<S>(n).0), iter_2::<S>, |s| sum::<S>(&mut s.0)),
        Workload::Iter2Half | Workload::Iter2Rare => {
            lasting(ready(parted::<S>(workload, n)), iter_2::<S>, |s| {
                sum_one::<Position, S>(&mut s.0)
            })
        }
        Workload::Iter2Shuffled => {
            lasting(ready(shuffled::<S>(scene)), iter_2::<S>, |s| sum::<S>(&mut s.0))
        }
        Workload::IterFrag => {
            lasting(ready(fragments::<S>(n)), iter_frag::<S>, |s| sum_one::<Data, S>(&mut s.0))
        }
        Workload::ForFrag => lasting(ready(fragments::<S>(n)), everyday::for_frag::<S>, |s| {
            sum_one::<Data, S>(&mut s.0)
        }),
        Workload::Iter3OfMany => {
            lasting(ready(spread::<S>(scene)), iter_3::<S>, |s| sum::<S>(&mut s.0))
        }
        Workload::Iter5Wide => lasting(ready(wide::lanes::<S>(n)), wide::iter_5::<S>, |s| {
            sum_one::<Lane0, S>(&mut s.0)
        }),
        Workload::Heavy => lasting(ready(wide::bodies::<S>(n)), wide::heavy::<S>, |s| {
            sum_one::<Place, S>(&mut s.0)
        }),
        Workload::RandomGet => {
            let (mut world, ids) = pairs::<S>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            let query = world.query();
            lasting(Lookup::<S> { world, query, ids, sum: 0 }, random_get::<S>, |s| s.sum)
        }
        Workload::Churn => churn::prepare::<S>(scene),
        Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
            everyday::prepare::<S>(workload, scene)
        }
        Workload::ParIter2 => {
            lasting(ready(pairs::<S>(n).0), par_iter_2::<S>, |s| sum::<S>(&mut s.0))
        }
        Workload::Schedule | Workload::ForSchedule => schedule::prepare::<S>(workload, n),
        // Scenes of bevy need reflection and its scene crate; bevy_ecs alone has none.
        Workload::Serialize | Workload::Deserialize | Workload::Clone => None,
        // It has no despawn of many.
        Workload::DestroyBatch => None,
    }
}

fn hold<const S: bool>(n: usize, width: Width) -> Option<Box<dyn Any>> {
    let mut world = World::new();
    for i in 0..n {
        match width {
            Width::One => world.spawn(place::<S>(i)).id(),
            Width::Two => world.spawn(pair::<S>(i)).id(),
            Width::Eight => world.spawn(fillers::<S>()).id(),
        };
    }
    Some(Box::new(world))
}

fn ebb<const S: bool>(n: usize, after: Ebb) -> Option<Box<dyn Any>> {
    if after == Ebb::Shrunk {
        return None;
    }
    let (mut world, ids) = pairs::<S>(n);
    for (_, id) in ids.iter().enumerate().filter(|(i, _)| !stays(*i)) {
        world.despawn(*id);
    }
    Some(Box::new(world))
}

type Pairs = (World, Vec<Entity>);
type Ready<D> = (World, QueryState<D>);

fn ready<D: bevy_ecs::query::QueryData>(mut world: World) -> Ready<D> {
    let query = world.query();
    (world, query)
}

fn place<const S: bool>(i: usize) -> Stored<Position, S> {
    Stored(kernel::position(i))
}

fn pair<const S: bool>(i: usize) -> (Stored<Position, S>, Stored<Velocity, S>) {
    (Stored(kernel::position(i)), Stored(kernel::velocity(i)))
}

fn pairs<const S: bool>(n: usize) -> Pairs {
    let mut world = World::new();
    let ids = (0..n).map(|i| world.spawn(pair::<S>(i)).id()).collect();
    (world, ids)
}

/// How many entities the world has beyond those that bevy itself puts into a new one.
fn count(world: &mut World) -> usize {
    let alive = |world: &mut World| world.query::<Entity>().iter(world).count();
    alive(world) - alive(&mut World::new())
}

fn sum<const S: bool>(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    let mut query = world.query::<(&Stored<Position, S>, &Stored<Velocity, S>)>();
    query.iter(world).for_each(|(p, v)| tally.two(&p.0, &v.0));
    tally.finish()
}

fn sum_one<T: bytemuck::NoUninit + Send + Sync, const S: bool>(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query::<&Stored<T, S>>().iter(world).for_each(|value| tally.one(&value.0));
    tally.finish()
}

#[inline(never)]
fn create_empty((world, n): &mut (World, usize)) {
    for _ in 0..*n {
        world.spawn_empty();
    }
}

#[inline(never)]
fn create_empty_batch((world, n): &mut (World, usize)) {
    world.spawn_batch((0..*n).map(|_| ()));
}

#[inline(never)]
fn create_2<const S: bool>((world, n): &mut (World, usize)) {
    for i in 0..*n {
        world.spawn(pair::<S>(i));
    }
}

#[inline(never)]
fn create_2_batch<const S: bool>((world, n): &mut (World, usize)) {
    world.spawn_batch((0..*n).map(pair::<S>));
}

#[inline(never)]
fn destroy((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.despawn(id);
    }
}

fn narrow<const S: bool>(n: usize) -> Pairs {
    let mut world = World::new();
    let a = |i| Stored::<A, S>(A { value: kernel::value(i) });
    let ids = (0..n).map(|i| world.spawn(a(i)).id()).collect();
    (world, ids)
}

fn wide<const S: bool>(n: usize) -> Pairs {
    let mut world = World::new();
    let a = |i| Stored::<A, S>(A { value: kernel::value(i) });
    let ids = (0..n).map(|i| world.spawn((a(i), fillers::<S>())).id()).collect();
    (world, ids)
}

fn fillers<const S: bool>() -> impl bevy_ecs::bundle::Bundle {
    macro_rules! bundle {
        ($($filler:ident $number:literal),*) => { ($(Stored::<$filler, S>($filler::default()),)*) };
    }
    with_fillers!(bundle)
}

#[inline(never)]
fn add_remove<const S: bool>(state: &mut Pairs) {
    add::<S>(state);
    remove::<S>(state);
}

#[inline(never)]
fn add<const S: bool>((world, ids): &mut Pairs) {
    for (i, &id) in ids.iter().enumerate() {
        world.entity_mut(id).insert(Stored::<B, S>(B { value: kernel::value(i) }));
    }
}

#[inline(never)]
fn remove<const S: bool>((world, ids): &mut Pairs) {
    for &id in &*ids {
        world.entity_mut(id).remove::<Stored<B, S>>();
    }
}

fn sum_add_remove<const S: bool>(state: &mut Pairs) -> u64 {
    let mut tally = Tally::default();
    add::<S>(state);
    let mut query = state.0.query::<(&Stored<A, S>, &Stored<B, S>)>();
    query.iter(&state.0).for_each(|(a, b)| tally.two(&a.0, &b.0));
    remove::<S>(state);
    tally.row(&[state.0.query::<&Stored<B, S>>().iter(&state.0).count() as u64]);
    tally.finish()
}

/// All slices of a query over tables, change ticks included.
macro_rules! slices {
    ($query:expr, $world:expr) => {
        $query.contiguous_iter_mut($world).expect("tables are contiguous")
    };
}
use slices;

#[inline(never)]
fn iter_1<const S: bool>((world, query): &mut Ready<&'static mut Stored<Position, S>>) {
    if S {
        query.iter_mut(world).for_each(|mut position| kernel::nudge(&mut position.0));
    } else {
        for mut positions in slices!(query, world) {
            positions.iter_mut().for_each(|position| kernel::nudge(&mut position.0));
        }
    }
}

type Moving<const S: bool> = (&'static mut Stored<Position, S>, &'static Stored<Velocity, S>);

#[inline(never)]
fn iter_2<const S: bool>((world, query): &mut Ready<Moving<S>>) {
    walk(world, query);
}

#[inline(always)]
fn walk<const S: bool>(world: &mut World, query: &mut QueryState<Moving<S>>) {
    if S {
        query
            .iter_mut(world)
            .for_each(|(mut position, velocity)| kernel::step(&mut position.0, &velocity.0));
    } else {
        for (mut positions, velocities) in slices!(query, world) {
            positions.iter_mut().zip(velocities).for_each(|(p, v)| kernel::step(&mut p.0, &v.0));
        }
    }
}

fn parted<const S: bool>(workload: Workload, n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        if moves(workload, i) {
            world.spawn(pair::<S>(i));
        } else {
            world.spawn(place::<S>(i));
        }
    }
    world
}

fn shuffled<const S: bool>(scene: Scene) -> World {
    let mut world = World::new();
    let ids: Vec<_> = (0..scene.n).map(|i| world.spawn(place::<S>(i)).id()).collect();
    for i in scene.order() {
        let i = i as usize;
        world.entity_mut(ids[i]).insert(Stored::<_, S>(kernel::velocity(i)));
    }
    world
}

fn fragments<const S: bool>(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let data = Stored::<_, S>(Data { value: kernel::value(i) });
        macro_rules! spawn {
            ($($marker:ident $number:literal),*) => {
                match i % 26 {
                    $($number => world.spawn((Stored::<_, S>($marker::default()), data)),)*
                    _ => unreachable!("26 markers cover every remainder"),
                }
            };
        }
        with_markers!(spawn);
    }
    world
}

#[inline(never)]
fn iter_frag<const S: bool>((world, query): &mut Ready<&'static mut Stored<Data, S>>) {
    if S {
        query.iter_mut(world).for_each(|mut data| kernel::bump(&mut data.0));
    } else {
        for mut data in slices!(query, world) {
            data.iter_mut().for_each(|data| kernel::bump(&mut data.0));
        }
    }
}

fn spread<const S: bool>(scene: Scene) -> World {
    let mut world = World::new();
    for i in 0..scene.n {
        let (position, velocity) = pair::<S>(i);
        let mut entity = world.spawn((position, velocity, Stored::<_, S>(kernel::force(i))));
        let spread = scene.spread(i);
        macro_rules! insert {
            ($($spreader:ident $number:literal),*) => {$(
                if spread & (1 << $number) != 0 {
                    entity.insert(Stored::<_, S>($spreader::default()));
                }
            )*};
        }
        with_spreaders!(insert);
    }
    world
}

type Pushed<const S: bool> =
    (&'static mut Stored<Position, S>, &'static Stored<Velocity, S>, &'static Stored<Force, S>);

#[inline(never)]
fn iter_3<const S: bool>((world, query): &mut Ready<Pushed<S>>) {
    if S {
        query.iter_mut(world).for_each(|(mut p, v, f)| kernel::push(&mut p.0, &v.0, &f.0));
    } else {
        for (mut positions, velocities, forces) in slices!(query, world) {
            let rows = positions.iter_mut().zip(velocities).zip(forces);
            rows.for_each(|((p, v), f)| kernel::push(&mut p.0, &v.0, &f.0));
        }
    }
}

struct Lookup<const S: bool> {
    world: World,
    query: QueryState<&'static Stored<Position, S>>,
    ids: Vec<Entity>,
    sum: u64,
}

#[inline(never)]
fn random_get<const S: bool>(lookup: &mut Lookup<S>) {
    let positions = lookup.query.query(&lookup.world);
    for &id in &lookup.ids {
        if let Ok(position) = positions.get(id) {
            lookup.sum = lookup.sum.wrapping_add(u64::from(position.0.x.to_bits()));
        }
    }
}

#[inline(never)]
fn par_iter_2<const S: bool>((world, query): &mut Ready<Moving<S>>) {
    // 0.20.1 splits a table among threads and then asserts, in debug builds, that it did not.
    if S || cfg!(debug_assertions) {
        query.par_iter_mut(world).for_each(|(mut p, v)| kernel::orbit(&mut p.0, &v.0));
    } else {
        let slices = query.contiguous_par_iter_mut(world).expect("tables are contiguous");
        slices.for_each(|(mut positions, velocities)| {
            positions.iter_mut().zip(velocities).for_each(|(p, v)| kernel::orbit(&mut p.0, &v.0));
        });
    }
}
