//! Esker in a world that puts its pools in order by itself: no row names a component for it.
//!
//! A query is walked once and the world refreshed before anything is timed, as a group is made before. What a
//! walk costs more because it is counted is in all rows, and what is mended from frame to frame in `churn`.

use std::any::Any;

use ::esker::World;

use super::{
    churn::{Herd, churn, sum_herd},
    ebb, everyday, iter_2, iter_3, pairs, parted, shuffled, spread, sum, sum_positions,
};
use crate::{
    components::{Force, Position, Velocity},
    contestant::{Bout, Contestant, Ebb, Role, Width, lasting},
    scene::Scene,
    workload::Workload,
};

/// Esker, adaptive.
#[derive(Debug)]
pub struct EskerAdapt;

impl Contestant for EskerAdapt {
    fn name(&self) -> &'static str {
        "esker_adapt"
    }

    fn version(&self) -> &'static str {
        concat!(env!("CARGO_PKG_VERSION"), ", adaptive")
    }

    fn role(&self) -> Role {
        Role::Ours
    }

    fn prepare(&self, workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
        let n = scene.n;
        match workload {
            Workload::Iter2 => lasting(learnt(pairs::<false>(n).0), iter_2, sum),
            Workload::For2 => lasting(learnt(pairs::<false>(n).0), everyday::for_2, sum),
            Workload::Iter2Half | Workload::Iter2Rare => {
                lasting(learnt(parted::<false>(workload, n)), iter_2, sum_positions)
            }
            Workload::Iter2Shuffled => lasting(learnt(shuffled::<false>(scene)), iter_2, sum),
            Workload::Iter3OfMany => lasting(learnt(spread::<false>(scene)), iter_3, sum),
            Workload::Churn => {
                let (world, ids) = pairs::<false>(n);
                let herd = Herd { world: learnt(world), ids, frames: scene.frames() };
                lasting(herd, frame, sum_herd)
            }
            // Nothing is walked, or one pool.
            _ => None,
        }
    }

    fn hold(&self, n: usize, width: Width) -> Option<Box<dyn Any>> {
        // What it learns is a few numbers.
        match width {
            Width::Two => Some(Box::new(learnt(pairs::<false>(n).0))),
            Width::One | Width::Eight => None,
        }
    }

    fn ebb(&self, n: usize, after: Ebb) -> Option<Box<dyn Any>> {
        Some(ebb::<false>(n, after))
    }
}

/// Lets a world see what is walked.
fn learnt(mut world: World) -> World {
    world.adapt(usize::MAX);
    world.query::<(&Position, &Velocity)>().iter().for_each(drop);
    world.query::<(&Position, &Velocity, &Force)>().iter().for_each(drop);
    world.refresh();
    world
}

#[inline(never)]
fn frame(herd: &mut Herd) {
    churn(herd);
    herd.world.refresh();
}
