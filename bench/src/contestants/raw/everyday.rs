//! What is written most often: look-ups of two columns, and changes that are put off.
//!
//! The loop of `for_2` and the column of `pool_edit` are those of `iter_2` and `add_remove`:
//! plain vectors know no other way.

use super::{Column, Table, add_remove, iter_2, sum};
use crate::{
    checksum::Tally,
    components::{B, Position, Velocity},
    contestant::{Bout, lasting},
    crowd::{self, Crowd, Recorder},
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    match workload {
        Workload::For2 => lasting(Table::filled(scene.n), iter_2, sum),
        Workload::Get2 => {
            lasting((Table::filled(scene.n), scene.order(), 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(Column::new(scene.n), add_remove, Column::checksum),
        Workload::Commands => lasting(Meeting::new(scene), commands, Meeting::checksum),
        _ => None,
    }
}

#[inline(never)]
fn get_2((table, order, sum): &mut (Table, Vec<u32>, u64)) {
    for &i in &*order {
        let (position, velocity) = (table.positions[i as usize], table.velocities[i as usize]);
        *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
    }
}

/// What is to be done later. Entities are named by a number.
enum Order {
    Insert(u32, B),
    Remove(u32),
    Spawn(u32, Position, Velocity),
    Despawn(u32),
}

/// Orders that wait, and the numbers that nobody has.
struct Queue {
    orders: Vec<Order>,
    free: Vec<u32>,
}

impl Recorder<u32> for Queue {
    #[inline(always)]
    fn insert(&mut self, id: u32, value: B) {
        self.orders.push(Order::Insert(id, value));
    }

    #[inline(always)]
    fn remove(&mut self, id: u32) {
        self.orders.push(Order::Remove(id));
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> u32 {
        let id = self.free.pop().expect("there are numbers for two rounds of guests");
        self.orders.push(Order::Spawn(id, position, velocity));
        id
    }

    #[inline(always)]
    fn despawn(&mut self, id: u32) {
        self.orders.push(Order::Despawn(id));
    }
}

/// Packed rows; `places` finds the row of a number, `values` holds what comes and goes.
struct Meeting {
    table: Table,
    places: Vec<u32>,
    values: Vec<Option<B>>,
    queue: Queue,
    crowd: Crowd<u32>,
}

impl Meeting {
    fn new(scene: Scene) -> Self {
        let (mut table, mut values) = (Table::default(), Vec::new());
        let crowd = Crowd::gather(scene, |position, velocity, value| {
            table.ids.push(values.len() as u64);
            table.positions.push(position);
            table.velocities.push(velocity);
            values.push(value);
            values.len() as u32 - 1
        });
        let taken = values.len();
        let room = taken + crowd::guests(scene.n);
        values.resize(room, None);
        let free = (taken as u32..room as u32).collect();
        let queue = Queue { orders: Vec::new(), free };
        Self { table, places: (0..room as u32).collect(), values, queue, crowd }
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        let Table { ids, positions, velocities, .. } = &self.table;
        for ((id, position), velocity) in ids.iter().zip(positions).zip(velocities) {
            tally.row(&crowd::row(position, velocity, self.values[*id as usize].as_ref()));
        }
        tally.finish()
    }
}

#[inline(never)]
fn commands(meeting: &mut Meeting) {
    let Meeting { table, places, values, queue, crowd } = meeting;
    crowd.record(queue);
    for order in queue.orders.drain(..) {
        match order {
            Order::Insert(id, value) => values[id as usize] = Some(value),
            Order::Remove(id) => values[id as usize] = None,
            Order::Spawn(id, position, velocity) => {
                places[id as usize] = table.ids.len() as u32;
                table.ids.push(u64::from(id));
                table.positions.push(position);
                table.velocities.push(velocity);
            }
            Order::Despawn(id) => {
                let at = places[id as usize] as usize;
                table.ids.swap_remove(at);
                table.positions.swap_remove(at);
                table.velocities.swap_remove(at);
                if let Some(&moved) = table.ids.get(at) {
                    places[moved as usize] = at as u32;
                }
                values[id as usize] = None;
                queue.free.push(id);
            }
        }
    }
}
