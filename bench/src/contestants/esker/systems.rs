//! The rows `schedule` and `for_schedule`: three systems, of which two write the same component.

use ::esker::World;
use ::esker::prelude::{Query, Schedule};

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    let mut schedule = Schedule::new();
    match workload {
        Workload::ForSchedule => schedule.add_systems((for_ab, for_cd, for_ce)),
        _ => schedule.add_systems((swap_ab, swap_cd, swap_ce)),
    };
    lasting((quarters(n), schedule), step, sum)
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

/// One system by `for_each` and the same by a `for` loop.
macro_rules! system {
    ($swap:ident, $for:ident, $first:ident, $second:ident) => {
        fn $swap(mut query: Query<(&mut $first, &mut $second)>) {
            query.iter_mut().for_each(|(first, second)| kernel::$swap(first, second));
        }

        fn $for(mut query: Query<(&mut $first, &mut $second)>) {
            for (first, second) in &mut query {
                kernel::$swap(first, second);
            }
        }
    };
}

system!(swap_ab, for_ab, A, B);
system!(swap_cd, for_cd, C, D);
system!(swap_ce, for_ce, C, E);

#[inline(never)]
fn step((world, schedule): &mut (World, Schedule)) {
    schedule.step(world);
}

fn sum((world, _): &mut (World, Schedule)) -> u64 {
    let mut tally = Tally::default();
    world.query::<(&A, &B)>().iter().for_each(|(a, b)| tally.two(a, b));
    world.query::<&C>().iter().for_each(|c| tally.one(c));
    world.query::<(&C, &D)>().iter().for_each(|(c, d)| tally.two(c, d));
    world.query::<(&C, &E)>().iter().for_each(|(c, e)| tally.two(c, e));
    tally.finish()
}
