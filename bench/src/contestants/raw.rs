//! The limit: plain vectors and plain loops, written by hand for each workload.
//!
//! There are no ids to check and nothing to look up. Where a workload needs bookkeeping to
//! mean anything (which ids are free, who owns a value), raw keeps the least that a program
//! without an ECS would keep. Columns that belong together are already packed together:
//! this is the layout a programmer with all knowledge would choose.

use std::any::Any;

use crate::{
    checksum::{Tally, bits, counted},
    components::{
        A, B, Data, Force, Lane0, Lane1, Lane2, Lane3, Lane4, Motion, Place, Position, Rotation,
        Transform, Velocity, W0,
    },
    contestant::{Bout, Contestant, Ebb, Role, Width, lasting, renewed, stays},
    kernel,
    scene::{Frames, Scene, moves},
    workload::Workload,
};

mod everyday;
mod frame;
mod schedule;

/// Plain vectors.
#[derive(Debug)]
pub struct Raw;

impl Contestant for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn version(&self) -> &'static str {
        "plain Vec loops"
    }

    fn role(&self) -> Role {
        Role::Limit
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::FrameCalm
            | Workload::FrameBusy
            | Workload::FrameDrift
            | Workload::FrameFlip => crate::frame::prepare(workload, scene, frame::Tables::new(n)),
            Workload::CreateEmpty => {
                renewed(move || (Vec::new(), n), create_empty, |s| counted(s.0.len()))
            }
            Workload::CreateEmptyBatch => {
                renewed(move || (Vec::new(), n), create_empty_batch, |s| counted(s.0.len()))
            }
            Workload::Create2 => renewed(move || Table { n, ..Table::default() }, create_2, sum),
            Workload::Create2Batch => {
                renewed(move || Table { n, ..Table::default() }, create_2_batch, sum)
            }
            Workload::Destroy => renewed(
                move || Table::filled(n),
                destroy,
                |s| counted(s.ids.len() + s.positions.len() + s.velocities.len()),
            ),
            Workload::DestroyBatch => renewed(
                move || Table::filled(n),
                destroy_batch,
                |s| counted(s.ids.len() + s.positions.len() + s.velocities.len()),
            ),
            Workload::AddRemove | Workload::AddRemoveWide => {
                lasting(Column::new(n), add_remove, Column::checksum)
            }
            Workload::Iter1 => lasting(Table::filled(n), iter_1, sum),
            Workload::Iter2 | Workload::Iter2Shuffled => lasting(Table::filled(n), iter_2, sum),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(Parted::new(workload, n), iter_2_part, Parted::checksum)
            }
            Workload::IterFrag | Workload::ForFrag => {
                let data: Vec<_> = (0..n).map(|i| Data { value: kernel::value(i) }).collect();
                lasting((data,), iter_frag, |(data,)| {
                    let mut tally = Tally::default();
                    data.iter().for_each(|data| tally.one(data));
                    tally.finish()
                })
            }
            Workload::Iter3OfMany => lasting(Pushed::new(n), iter_3, Pushed::checksum),
            Workload::Iter5Wide => lasting(Lanes::new(n), iter_5, |s| {
                let mut tally = Tally::default();
                s.0.iter().for_each(|lane| tally.one(lane));
                tally.finish()
            }),
            Workload::Heavy => lasting(Bodies::new(n), heavy, |s| {
                let mut tally = Tally::default();
                s.places.iter().for_each(|place| tally.one(place));
                tally.finish()
            }),
            Workload::RandomGet => {
                let state = (Table::filled(n).positions, scene.order(), 0);
                lasting(state, random_get, |s| s.2)
            }
            Workload::Churn => lasting(Herd::new(scene), churn, Herd::checksum),
            Workload::For2 | Workload::Get2 | Workload::PoolEdit | Workload::Commands => {
                everyday::prepare(workload, scene)
            }
            Workload::ParIter2 => lasting(Table::filled(n), par_iter_2, sum),
            Workload::Schedule | Workload::ForSchedule => schedule::prepare(n),
            Workload::Serialize => {
                lasting((Table::filled(n), Vec::new()), serialize, |s| sum(&mut decode(&s.1)))
            }
            Workload::Clone => {
                renewed(move || (Table::filled(n), Table::default()), copy, |s| sum(&mut s.1))
            }
            Workload::Deserialize => {
                let mut bytes = Vec::new();
                encode(&Table::filled(n), &mut bytes);
                renewed(move || (bytes.clone(), Table::default()), deserialize, |s| sum(&mut s.1))
            }
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        Some(match width {
            Width::One => Box::new((0..n).map(kernel::position).collect::<Vec<_>>()),
            Width::Two => Box::new((
                (0..n).map(kernel::position).collect::<Vec<_>>(),
                (0..n).map(kernel::velocity).collect::<Vec<_>>(),
            )),
            Width::Eight => Box::new([(); 8].map(|()| vec![W0::default(); n])),
        })
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        let mut positions: Vec<_> = (0..n).map(kernel::position).collect();
        let mut velocities: Vec<_> = (0..n).map(kernel::velocity).collect();
        let left = (0..n).filter(|i| stays(*i)).count();
        positions.truncate(left);
        velocities.truncate(left);
        if after == Ebb::Shrunk {
            positions.shrink_to_fit();
            velocities.shrink_to_fit();
        }
        Some(Box::new((positions, velocities)))
    }
}

#[derive(Default)]
struct Table {
    n: usize,
    ids: Vec<u64>,
    free: Vec<u64>,
    positions: Vec<Position>,
    velocities: Vec<Velocity>,
}

impl Table {
    fn filled(n: usize) -> Self {
        Self {
            n,
            ids: (0..n as u64).collect(),
            free: Vec::new(),
            positions: (0..n).map(kernel::position).collect(),
            velocities: (0..n).map(kernel::velocity).collect(),
        }
    }
}

fn sum(table: &mut Table) -> u64 {
    let mut tally = Tally::default();
    table.positions.iter().zip(&table.velocities).for_each(|(p, v)| tally.two(p, v));
    tally.finish()
}

#[inline(never)]
fn create_empty((ids, n): &mut (Vec<u64>, usize)) {
    for i in 0..*n {
        ids.push(i as u64);
    }
}

#[inline(never)]
fn create_empty_batch((ids, n): &mut (Vec<u64>, usize)) {
    ids.extend(0..*n as u64);
}

#[inline(never)]
fn create_2(table: &mut Table) {
    for i in 0..table.n {
        table.ids.push(i as u64);
        table.positions.push(kernel::position(i));
        table.velocities.push(kernel::velocity(i));
    }
}

#[inline(never)]
fn create_2_batch(table: &mut Table) {
    table.ids.extend(0..table.n as u64);
    table.positions.extend((0..table.n).map(kernel::position));
    table.velocities.extend((0..table.n).map(kernel::velocity));
}

/// The place of the `k`th value to go when values go in the order they came and the last one
/// fills each hole. Packed sets meet exactly this order; raw knows it without looking it up.
#[inline(always)]
fn hole(k: usize, len: usize) -> usize {
    k.min(len - 1)
}

#[inline(never)]
fn destroy(table: &mut Table) {
    for k in 0..table.n {
        let at = hole(k, table.ids.len());
        table.free.push(table.ids.swap_remove(at));
        table.positions.swap_remove(at);
        table.velocities.swap_remove(at);
    }
}

#[inline(never)]
fn destroy_batch(table: &mut Table) {
    table.free.append(&mut table.ids);
    table.positions.clear();
    table.velocities.clear();
}

/// The column that comes and goes in `add_remove`, with the owner of each value.
struct Column {
    a: Vec<A>,
    owners: Vec<u64>,
    b: Vec<B>,
}

impl Column {
    fn new(n: usize) -> Self {
        let a = (0..n).map(|i| A { value: kernel::value(i) }).collect();
        Self { a, owners: Vec::new(), b: Vec::new() }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        add(self);
        self.a.iter().zip(&self.b).for_each(|(a, b)| tally.two(a, b));
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
        column.owners.push(i as u64);
        column.b.push(B { value: kernel::value(i) });
    }
}

#[inline(never)]
fn remove(column: &mut Column) {
    for k in 0..column.a.len() {
        let at = hole(k, column.b.len());
        column.owners.swap_remove(at);
        column.b.swap_remove(at);
    }
}

#[inline(never)]
fn iter_1(table: &mut Table) {
    table.positions.iter_mut().for_each(kernel::nudge);
}

#[inline(never)]
fn iter_2(table: &mut Table) {
    for (position, velocity) in table.positions.iter_mut().zip(&table.velocities) {
        kernel::step(position, velocity);
    }
}

/// Positions of those who move, packed beside their velocities; the others apart.
struct Parted {
    moving: Vec<Position>,
    velocities: Vec<Velocity>,
    resting: Vec<Position>,
}

impl Parted {
    fn new(workload: Workload, n: usize) -> Self {
        let of = |moving| (0..n).filter(move |i| moves(workload, *i) == moving);
        Self {
            moving: of(true).map(kernel::position).collect(),
            velocities: of(true).map(kernel::velocity).collect(),
            resting: of(false).map(kernel::position).collect(),
        }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        self.moving.iter().chain(&self.resting).for_each(|position| tally.one(position));
        tally.finish()
    }
}

#[inline(never)]
fn iter_2_part(parted: &mut Parted) {
    for (position, velocity) in parted.moving.iter_mut().zip(&parted.velocities) {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn iter_frag((data,): &mut (Vec<Data>,)) {
    data.iter_mut().for_each(kernel::bump);
}

struct Pushed {
    positions: Vec<Position>,
    velocities: Vec<Velocity>,
    forces: Vec<Force>,
}

impl Pushed {
    fn new(n: usize) -> Self {
        Self {
            positions: (0..n).map(kernel::position).collect(),
            velocities: (0..n).map(kernel::velocity).collect(),
            forces: (0..n).map(kernel::force).collect(),
        }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        self.positions.iter().zip(&self.velocities).for_each(|(p, v)| tally.two(p, v));
        tally.finish()
    }
}

#[inline(never)]
fn iter_3(pushed: &mut Pushed) {
    let columns = pushed.positions.iter_mut().zip(&pushed.velocities).zip(&pushed.forces);
    for ((position, velocity), force) in columns {
        kernel::push(position, velocity, force);
    }
}

struct Lanes(Vec<Lane0>, Vec<Lane1>, Vec<Lane2>, Vec<Lane3>, Vec<Lane4>);

impl Lanes {
    fn new(n: usize) -> Self {
        Self(
            (0..n).map(|i| Lane0 { quad: kernel::quad(i, 0) }).collect(),
            (0..n).map(|i| Lane1 { quad: kernel::quad(i, 1) }).collect(),
            (0..n).map(|i| Lane2 { quad: kernel::quad(i, 2) }).collect(),
            (0..n).map(|i| Lane3 { quad: kernel::quad(i, 3) }).collect(),
            (0..n).map(|i| Lane4 { quad: kernel::quad(i, 4) }).collect(),
        )
    }
}

#[inline(never)]
fn iter_5(Lanes(out, a, b, c, d): &mut Lanes) {
    for ((((out, a), b), c), d) in out.iter_mut().zip(&*a).zip(&*b).zip(&*c).zip(&*d) {
        kernel::blend(out, a, b, c, d);
    }
}

struct Bodies {
    _transforms: Vec<Transform>,
    places: Vec<Place>,
    _rotations: Vec<Rotation>,
    motions: Vec<Motion>,
}

impl Bodies {
    fn new(n: usize) -> Self {
        Self {
            _transforms: vec![Transform::default(); n],
            places: (0..n).map(|i| Place { quad: kernel::quad(i, 0) }).collect(),
            _rotations: vec![Rotation::default(); n],
            motions: (0..n).map(|i| Motion { quad: kernel::quad(i, 1) }).collect(),
        }
    }
}

#[inline(never)]
fn heavy(bodies: &mut Bodies) {
    for (place, motion) in bodies.places.iter_mut().zip(&bodies.motions) {
        kernel::glide(place, motion);
    }
}

#[inline(never)]
fn random_get((positions, order, sum): &mut (Vec<Position>, Vec<u32>, u64)) {
    for &i in &*order {
        *sum = sum.wrapping_add(u64::from(positions[i as usize].x.to_bits()));
    }
}

/// Packed columns whose rows come and go; `places` finds the row of an entity's number.
struct Herd {
    table: Table,
    places: Vec<u32>,
    tags: Vec<bool>,
    frames: Frames,
}

impl Herd {
    fn new(scene: Scene) -> Self {
        let n = scene.n;
        let places = (0..n as u32).collect();
        Self { table: Table::filled(n), places, tags: vec![false; n], frames: scene.frames() }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        let Table { ids, positions, velocities, .. } = &self.table;
        for ((id, p), v) in ids.iter().zip(positions).zip(velocities) {
            tally.row(&[bits(p), bits(v), u64::from(self.tags[*id as usize])]);
        }
        tally.finish()
    }
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { table, places, tags, frames } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        let at = places[i as usize] as usize;
        table.ids.swap_remove(at);
        table.positions.swap_remove(at);
        table.velocities.swap_remove(at);
        if let Some(&moved) = table.ids.get(at) {
            places[moved as usize] = at as u32;
        }
    }
    for &i in &frame.doomed {
        let i = i as usize;
        places[i] = table.ids.len() as u32;
        tags[i] = false;
        table.ids.push(i as u64);
        table.positions.push(kernel::position(i));
        table.velocities.push(kernel::velocity(i));
    }
    for &i in &frame.toggled {
        tags[i as usize] ^= true;
    }
    iter_2(table);
}

#[inline(never)]
fn par_iter_2(table: &mut Table) {
    let half = table.positions.len() / 2;
    let (left, right) = table.positions.split_at_mut(half);
    let (slow, fast) = table.velocities.split_at(half);
    rayon::join(|| orbit(left, slow), || orbit(right, fast));
}

fn orbit(positions: &mut [Position], velocities: &[Velocity]) {
    for (position, velocity) in positions.iter_mut().zip(velocities) {
        kernel::orbit(position, velocity);
    }
}

#[inline(never)]
fn serialize((table, bytes): &mut (Table, Vec<u8>)) {
    encode(table, bytes);
}

fn encode(table: &Table, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend_from_slice(bytemuck::cast_slice(&table.positions));
    bytes.extend_from_slice(bytemuck::cast_slice(&table.velocities));
}

#[inline(never)]
fn deserialize((bytes, table): &mut (Vec<u8>, Table)) {
    *table = decode(bytes);
}

fn decode(bytes: &[u8]) -> Table {
    let (positions, velocities) = bytes.split_at(bytes.len() / 2);
    Table {
        positions: bytemuck::pod_collect_to_vec(positions),
        velocities: bytemuck::pod_collect_to_vec(velocities),
        ..Table::default()
    }
}

#[inline(never)]
fn copy((table, copy): &mut (Table, Table)) {
    copy.positions = table.positions.clone();
    copy.velocities = table.velocities.clone();
}
