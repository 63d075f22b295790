//! The row `schedule`: a pipeline of three systems. flecs has no `for` loop over a query.

use flecs_ecs::prelude::{ParSystemAPI as _, QueryAPI as _, SystemAPI as _, World};

use super::progress;
use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    threads::THREADS,
};

/// From here on two threads are faster than one in flecs' pipeline.
const THREADS_PAY: usize = 50_000;

pub(super) fn prepare(n: usize) -> Option<Box<dyn Bout>> {
    let world = quarters(n);
    if n < THREADS_PAY {
        world.system::<(&mut A, &mut B)>().each(|(a, b)| kernel::swap_ab(a, b));
        world.system::<(&mut C, &mut D)>().each(|(c, d)| kernel::swap_cd(c, d));
        world.system::<(&mut C, &mut E)>().each(|(c, e)| kernel::swap_ce(c, e));
    } else {
        world.system::<(&mut A, &mut B)>().par_each(|(a, b)| kernel::swap_ab(a, b));
        world.system::<(&mut C, &mut D)>().par_each(|(c, d)| kernel::swap_cd(c, d));
        world.system::<(&mut C, &mut E)>().par_each(|(c, e)| kernel::swap_ce(c, e));
        world.set_threads(THREADS as i32);
    }
    lasting(world, progress, |world| sum(world))
}

fn quarters(n: usize) -> World {
    let world = World::new();
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        let entity = world.entity().set(a).set(b);
        match kernel::quarter(i) {
            Quarter::Ab => entity,
            Quarter::Abc => entity.set(c),
            Quarter::Abcd => entity.set(c).set(d),
            Quarter::Abce => entity.set(c).set(e),
        };
    }
    world
}

fn sum(world: &World) -> u64 {
    let mut tally = Tally::default();
    world.new_query::<(&A, &B)>().each(|(a, b)| tally.two(a, b));
    world.new_query::<&C>().each(|c| tally.one(c));
    world.new_query::<(&C, &D)>().each(|(c, d)| tally.two(c, d));
    world.new_query::<(&C, &E)>().each(|(c, e)| tally.two(c, e));
    tally.finish()
}
