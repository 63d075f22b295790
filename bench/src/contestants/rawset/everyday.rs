//! What is written most often: a loop, look-ups of two sets, edits of one.
//!
//! A loop that asks for each id is `iter_2`, and there is nothing between a set and whoever
//! edits it. Nobody is there to put commands off.

use super::{Column, Pair, add_remove, iter_2, sum};
use crate::{
    contestant::{Bout, lasting},
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    match workload {
        Workload::For2 => lasting(Pair::filled(scene.n), iter_2, sum),
        Workload::Get2 => {
            let order = scene.order().into_iter().map(u64::from).collect();
            lasting((Pair::filled(scene.n), order, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(Column::new(scene.n), add_remove, Column::checksum),
        _ => None,
    }
}

#[inline(never)]
fn get_2((pair, order, sum): &mut (Pair, Vec<u64>, u64)) {
    for &id in &*order {
        if let (Some(position), Some(velocity)) = (pair.positions.get(id), pair.velocities.get(id))
        {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
        }
    }
}
