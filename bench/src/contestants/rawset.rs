//! A bare sparse set: what the data structure costs when no world stands around it.
//!
//! One [`Set`] per component and a counter for ids; no id is checked for being alive, nobody
//! records changes, and nothing is told when a value comes or goes. A sparse-set ECS cannot
//! do less than this without keeping its pools in order. Parallel, scheduled and serialised
//! rows are not offered: they need a world.

use std::any::Any;

use crate::{
    checksum::{Tally, bits, counted},
    components::*,
    contestant::{Bout, Contestant, Ebb, Role, Width, lasting, renewed, stays},
    kernel,
    scene::{Frames, Scene, moves},
    workload::Workload,
};

mod everyday;
mod set;

use set::Set;

/// Sparse sets without a world.
#[derive(Debug)]
pub struct RawSet;

impl Contestant for RawSet {
    fn name(&self) -> &'static str {
        "rawset"
    }

    fn version(&self) -> &'static str {
        "bare sparse sets"
    }

    fn role(&self) -> Role {
        Role::Yardstick
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => None,
            Workload::CreateEmpty | Workload::CreateEmptyBatch => {
                renewed(move || (Ids::default(), n), create_empty, |s| counted(s.0.slots.len()))
            }
            Workload::Create2 => renewed(move || (Pair::default(), n), create_2, |s| sum(&mut s.0)),
            Workload::Create2Batch => {
                renewed(move || (Pair::default(), n), create_2_batch, |s| sum(&mut s.0))
            }
            Workload::Destroy | Workload::DestroyBatch => renewed(
                move || Pair::filled(n),
                destroy,
                |s| {
                    counted(
                        s.ids.slots.len() - s.ids.free.len()
                            + s.positions.len()
                            + s.velocities.len(),
                    )
                },
            ),
            Workload::AddRemove | Workload::AddRemoveWide => {
                lasting(Column::new(n), add_remove, Column::checksum)
            }
            Workload::Iter1 => lasting(Pair::filled(n), iter_1, sum),
            Workload::Iter2 => lasting(Pair::filled(n), iter_2, sum),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(Pair::parted(workload, n), iter_2, sum_positions)
            }
            Workload::Iter2Shuffled => lasting(Pair::shuffled(scene), iter_2, sum),
            Workload::IterFrag | Workload::ForFrag => {
                let data = filled(n, |i| Data { value: kernel::value(i) });
                lasting(data, iter_frag, sum_one)
            }
            Workload::Iter3OfMany => {
                let state = (Pair::filled(n), filled(n, kernel::force));
                lasting(state, iter_3, |s| sum(&mut s.0))
            }
            Workload::Iter5Wide => lasting(Lanes::new(n), iter_5, |s| sum_one(&mut s.0)),
            Workload::Heavy => {
                let places = filled(n, |i| Place { quad: kernel::quad(i, 0) });
                let motions = filled(n, |i| Motion { quad: kernel::quad(i, 1) });
                lasting((places, motions), heavy, |s| sum_one(&mut s.0))
            }
            Workload::RandomGet => {
                let order = scene.order().into_iter().map(u64::from).collect();
                lasting((filled(n, kernel::position), order, 0), random_get, |s| s.2)
            }
            Workload::Churn => {
                let ids = (0..n as u64).collect();
                let herd = Herd {
                    pair: Pair::filled(n),
                    tags: Set::default(),
                    ids,
                    frames: scene.frames(),
                };
                lasting(herd, churn, Herd::checksum)
            }
            Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
                everyday::prepare(workload, scene)
            }
            Workload::ParIter2
            | Workload::Schedule
            | Workload::ForSchedule
            | Workload::Serialize
            | Workload::Deserialize
            | Workload::Clone => None,
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        let mut ids = Ids::default();
        ids.slots.resize(n, 0);
        Some(match width {
            Width::One => Box::new((ids, filled(n, kernel::position))),
            Width::Two => Box::new((ids, filled(n, kernel::position), filled(n, kernel::velocity))),
            Width::Eight => Box::new((ids, [(); 8].map(|()| filled(n, |_| W0::default())))),
        })
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        if after == Ebb::Shrunk {
            return None;
        }
        let mut pair = Pair::filled(n);
        for id in (0..n).filter(|i| !stays(*i)).map(|i| i as u64) {
            pair.ids.destroy(id);
            pair.positions.remove(id);
            pair.velocities.remove(id);
        }
        Some(Box::new(pair))
    }
}

/// Ids that are handed out and taken back, unchecked. The slot of an id holds its generation.
#[derive(Default)]
struct Ids {
    slots: Vec<u64>,
    free: Vec<u64>,
}

impl Ids {
    #[inline]
    fn create(&mut self) -> u64 {
        if let Some(id) = self.free.pop() {
            return id;
        }
        let id = self.slots.len() as u64;
        self.slots.push(0);
        id
    }

    #[inline]
    fn destroy(&mut self, id: u64) {
        self.slots[id as usize] += 1;
        self.free.push(id);
    }
}

#[derive(Default)]
struct Pair {
    ids: Ids,
    positions: Set<Position>,
    velocities: Set<Velocity>,
}

impl Pair {
    fn filled(n: usize) -> Self {
        Self::parted(Workload::Iter2, n)
    }

    fn parted(workload: Workload, n: usize) -> Self {
        let mut pair = Self::default();
        for i in 0..n {
            let id = pair.ids.create();
            pair.positions.insert(id, kernel::position(i));
            if moves(workload, i) {
                pair.velocities.insert(id, kernel::velocity(i));
            }
        }
        pair
    }

    fn shuffled(scene: Scene) -> Self {
        let mut pair = Self { positions: filled(scene.n, kernel::position), ..Self::default() };
        for i in scene.order() {
            pair.velocities.insert(u64::from(i), kernel::velocity(i as usize));
        }
        pair
    }
}

fn filled<T>(n: usize, value: impl Fn(usize) -> T) -> Set<T> {
    let mut set = Set::default();
    (0..n).for_each(|i| set.insert(i as u64, value(i)));
    set
}

fn sum(pair: &mut Pair) -> u64 {
    let mut tally = Tally::default();
    pair.velocities.join_mut(&mut pair.positions, |v, p| tally.two(p, v));
    tally.finish()
}

fn sum_positions(pair: &mut Pair) -> u64 {
    sum_one(&mut pair.positions)
}

fn sum_one<T: bytemuck::NoUninit>(set: &mut Set<T>) -> u64 {
    let mut tally = Tally::default();
    set.values().iter().for_each(|value| tally.one(value));
    tally.finish()
}

#[inline(never)]
fn create_empty((ids, n): &mut (Ids, usize)) {
    for _ in 0..*n {
        ids.create();
    }
}

#[inline(never)]
fn create_2((pair, n): &mut (Pair, usize)) {
    for i in 0..*n {
        let id = pair.ids.create();
        pair.positions.insert(id, kernel::position(i));
        pair.velocities.insert(id, kernel::velocity(i));
    }
}

#[inline(never)]
fn create_2_batch((pair, n): &mut (Pair, usize)) {
    let first = pair.ids.slots.len();
    pair.ids.slots.resize(first + *n, 0);
    let ids = first as u64..(first + *n) as u64;
    pair.positions.extend(ids.clone(), (0..*n).map(kernel::position));
    pair.velocities.extend(ids, (0..*n).map(kernel::velocity));
}

#[inline(never)]
fn destroy(pair: &mut Pair) {
    for id in 0..pair.ids.slots.len() as u64 {
        pair.ids.destroy(id);
        pair.positions.remove(id);
        pair.velocities.remove(id);
    }
}

struct Column {
    a: Set<A>,
    b: Set<B>,
}

impl Column {
    fn new(n: usize) -> Self {
        Self { a: filled(n, |i| A { value: kernel::value(i) }), b: Set::default() }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        add(self);
        self.b.join_mut(&mut self.a, |b, a| tally.two(a, b));
        remove(self);
        tally.row(&[self.b.len() as u64]);
        tally.finish()
    }
}

#[inline(never)]
fn add_remove(column: &mut Column) {
    add(column);
    remove(column);
}

#[inline(never)]
fn add(column: &mut Column) {
    for i in 0..column.a.len() {
        column.b.insert(i as u64, B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove(column: &mut Column) {
    for i in 0..column.a.len() {
        column.b.remove(i as u64);
    }
}

#[inline(never)]
fn iter_1(pair: &mut Pair) {
    pair.positions.values_mut().iter_mut().for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2(pair: &mut Pair) {
    pair.velocities
        .join_mut(&mut pair.positions, |velocity, position| kernel::step(position, velocity));
}

#[inline(never)]
fn iter_frag(data: &mut Set<Data>) {
    data.values_mut().iter_mut().for_each(kernel::bump);
}

#[inline(never)]
fn iter_3((pair, forces): &mut (Pair, Set<Force>)) {
    let Pair { positions, velocities, .. } = pair;
    for (id, force) in forces.iter() {
        if let (Some(position), Some(velocity)) = (positions.get_mut(id), velocities.get(id)) {
            kernel::push(position, velocity, force);
        }
    }
}

struct Lanes(Set<Lane0>, Set<Lane1>, Set<Lane2>, Set<Lane3>, Set<Lane4>);

impl Lanes {
    fn new(n: usize) -> Self {
        Self(
            filled(n, |i| Lane0 { quad: kernel::quad(i, 0) }),
            filled(n, |i| Lane1 { quad: kernel::quad(i, 1) }),
            filled(n, |i| Lane2 { quad: kernel::quad(i, 2) }),
            filled(n, |i| Lane3 { quad: kernel::quad(i, 3) }),
            filled(n, |i| Lane4 { quad: kernel::quad(i, 4) }),
        )
    }
}

#[inline(never)]
fn iter_5(Lanes(out, a, b, c, d): &mut Lanes) {
    for (id, a) in a.iter() {
        if let (Some(out), Some(b), Some(c), Some(d)) =
            (out.get_mut(id), b.get(id), c.get(id), d.get(id))
        {
            kernel::blend(out, a, b, c, d);
        }
    }
}

#[inline(never)]
fn heavy((places, motions): &mut (Set<Place>, Set<Motion>)) {
    motions.join_mut(places, |motion, place| kernel::glide(place, motion));
}

#[inline(never)]
fn random_get((positions, order, sum): &mut (Set<Position>, Vec<u64>, u64)) {
    for &id in &*order {
        if let Some(position) = positions.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits()));
        }
    }
}

struct Herd {
    pair: Pair,
    tags: Set<Tag>,
    ids: Vec<u64>,
    frames: Frames,
}

impl Herd {
    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        for (id, position) in self.pair.positions.iter() {
            let velocity = self.pair.velocities.get(id).expect("all have a velocity");
            tally.row(&[bits(position), bits(velocity), u64::from(self.tags.get(id).is_some())]);
        }
        tally.finish()
    }
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { pair, tags, ids, frames } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        let id = ids[i as usize];
        pair.ids.destroy(id);
        pair.positions.remove(id);
        pair.velocities.remove(id);
        tags.remove(id);
    }
    for &i in &frame.doomed {
        let i = i as usize;
        ids[i] = pair.ids.create();
        pair.positions.insert(ids[i], kernel::position(i));
        pair.velocities.insert(ids[i], kernel::velocity(i));
    }
    for &i in &frame.toggled {
        let id = ids[i as usize];
        if tags.remove(id).is_none() {
            tags.insert(id, Tag);
        }
    }
    iter_2(pair);
}
