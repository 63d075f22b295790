//! The rows `schedule` and `for_schedule`: hecs leaves scheduling to its user, so three loops run
//! one after another, as a program built on it would do first.

use hecs::{PreparedQuery, World};

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    let state = (quarters(n), Systems::default());
    match workload {
        Workload::ForSchedule => lasting(state, for_schedule, |s| sum(&mut s.0)),
        _ => lasting(state, schedule, |s| sum(&mut s.0)),
    }
}

#[derive(Default)]
struct Systems {
    ab: PreparedQuery<(&'static mut A, &'static mut B)>,
    cd: PreparedQuery<(&'static mut C, &'static mut D)>,
    ce: PreparedQuery<(&'static mut C, &'static mut E)>,
}

fn quarters(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        match kernel::quarter(i) {
            Quarter::Ab => world.spawn((a, b)),
            Quarter::Abc => world.spawn((a, b, c)),
            Quarter::Abcd => world.spawn((a, b, c, d)),
            Quarter::Abce => world.spawn((a, b, c, e)),
        };
    }
    world
}

#[inline(never)]
fn schedule((world, systems): &mut (World, Systems)) {
    systems.ab.query_mut(world).for_each(|(a, b)| kernel::swap_ab(a, b));
    systems.cd.query_mut(world).for_each(|(c, d)| kernel::swap_cd(c, d));
    systems.ce.query_mut(world).for_each(|(c, e)| kernel::swap_ce(c, e));
}

#[inline(never)]
fn for_schedule((world, systems): &mut (World, Systems)) {
    for (a, b) in systems.ab.query_mut(world) {
        kernel::swap_ab(a, b);
    }
    for (c, d) in systems.cd.query_mut(world) {
        kernel::swap_cd(c, d);
    }
    for (c, e) in systems.ce.query_mut(world) {
        kernel::swap_ce(c, e);
    }
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.query_mut::<(&A, &B)>().into_iter().for_each(|(a, b)| tally.two(a, b));
    world.query_mut::<&C>().into_iter().for_each(|c| tally.one(c));
    world.query_mut::<(&C, &D)>().into_iter().for_each(|(c, d)| tally.two(c, d));
    world.query_mut::<(&C, &E)>().into_iter().for_each(|(c, e)| tally.two(c, e));
    tally.finish()
}
