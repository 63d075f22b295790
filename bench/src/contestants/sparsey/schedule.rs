//! The rows `schedule` and `for_schedule`: sparsey has no scheduler, so three queries run in a row.

use sparsey::World;

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    match workload {
        Workload::ForSchedule => lasting(quarters(n), for_schedule, sum),
        _ => lasting(quarters(n), schedule, sum),
    }
}

fn quarters(n: usize) -> World {
    let mut builder = World::builder();
    builder.register::<A>().register::<B>().register::<C>().register::<D>();
    let mut world = builder.register::<E>().build();
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        match kernel::quarter(i) {
            Quarter::Ab => world.create((a, b)),
            Quarter::Abc => world.create((a, b, c)),
            Quarter::Abcd => world.create((a, b, c, d)),
            Quarter::Abce => world.create((a, b, c, e)),
        };
    }
    world
}

#[inline(never)]
fn schedule(world: &mut World) {
    world.for_each::<(&mut A, &mut B)>(|(a, b)| kernel::swap_ab(a, b));
    world.for_each::<(&mut C, &mut D)>(|(c, d)| kernel::swap_cd(c, d));
    world.for_each::<(&mut C, &mut E)>(|(c, e)| kernel::swap_ce(c, e));
}

#[inline(never)]
fn for_schedule(world: &mut World) {
    for (a, b) in world.query_all::<(&mut A, &mut B)>().iter() {
        kernel::swap_ab(a, b);
    }
    for (c, d) in world.query_all::<(&mut C, &mut D)>().iter() {
        kernel::swap_cd(c, d);
    }
    for (c, e) in world.query_all::<(&mut C, &mut E)>().iter() {
        kernel::swap_ce(c, e);
    }
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.for_each::<(&A, &B)>(|(a, b)| tally.two(a, b));
    world.for_each::<&C>(|c| tally.one(c));
    world.for_each::<(&C, &D)>(|(c, d)| tally.two(c, d));
    world.for_each::<(&C, &E)>(|(c, e)| tally.two(c, e));
    tally.finish()
}
