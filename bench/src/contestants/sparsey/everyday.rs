//! What is written most often: a `for` loop, `get` of two components, edits of one.
//!
//! Views of sparsey do not add or remove, so `pool_edit` goes through the world. Commands are
//! left out: it has no queue.

use sparsey::{World, entity::Entity};

use super::{add_remove, narrow, pairs, sum, sum_add_remove};
use crate::{
    components::{Data, Position, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare<const G: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::For2 => lasting(pairs::<G>(n).0, for_2, sum),
        Workload::Get2 => {
            let (world, ids) = pairs::<G>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(narrow::<G>(n), add_remove, sum_add_remove),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn for_frag(world: &mut World) {
    for data in world.query_all::<&mut Data>().iter() {
        kernel::bump(data);
    }
}

#[inline(never)]
fn for_2(world: &mut World) {
    for (position, velocity) in world.query_all::<(&mut Position, &Velocity)>().iter() {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let mut query = world.query_one::<(&Position, &Velocity)>();
    for &id in &*ids {
        if let Some((position, velocity)) = query.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
        }
    }
}
