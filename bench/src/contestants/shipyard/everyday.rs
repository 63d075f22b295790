//! What is written most often: a `for` loop, `get` of two views, edits of one.
//!
//! Adding and removing goes through the one view in `add_remove` already. Commands are left
//! out: shipyard changes its storages at once and has no queue.

use shipyard::{EntityId, Get as _, IntoIter as _, View, ViewMut, World};

use super::{add_remove, narrow, pairs, sum, sum_add_remove};
use crate::{
    components::{Data, Position, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::For2 => lasting(pairs(n).0, for_2, sum),
        Workload::Get2 => {
            let (world, ids) = pairs(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(narrow(n), add_remove, sum_add_remove),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn for_frag(world: &mut World) {
    world.run(|mut data: ViewMut<Data>| {
        for data in (&mut data).iter() {
            kernel::bump(data);
        }
    });
}

#[inline(never)]
fn for_2(world: &mut World) {
    world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
        for (position, velocity) in (&mut positions, &velocities).iter() {
            kernel::step(position, velocity);
        }
    });
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<EntityId>, u64)) {
    world.run(|positions: View<Position>, velocities: View<Velocity>| {
        for &id in &*ids {
            if let Ok((position, velocity)) = (&positions, &velocities).get(id) {
                *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
            }
        }
    });
}
