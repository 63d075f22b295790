//! The rows `schedule` and `for_schedule`: a workload of three systems.

use shipyard::{IntoIter as _, IntoWorkload as _, View, ViewMut, World};

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    let world = quarters(n);
    match workload {
        Workload::ForSchedule => {
            let systems = || (for_ab, for_cd, for_ce).into_workload();
            world.add_workload(systems);
        }
        _ => {
            let systems = || (swap_ab, swap_cd, swap_ce).into_workload();
            world.add_workload(systems);
        }
    }
    lasting(world, schedule, sum)
}

fn quarters(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        match kernel::quarter(i) {
            Quarter::Ab => world.add_entity((a, b)),
            Quarter::Abc => world.add_entity((a, b, c)),
            Quarter::Abcd => world.add_entity((a, b, c, d)),
            Quarter::Abce => world.add_entity((a, b, c, e)),
        };
    }
    world
}

/// One system by `for_each` and the same by a `for` loop.
macro_rules! system {
    ($swap:ident, $for:ident, $first:ident, $second:ident) => {
        fn $swap(mut first: ViewMut<$first>, mut second: ViewMut<$second>) {
            let rows = (&mut first, &mut second).iter();
            rows.for_each(|(first, second)| kernel::$swap(first, second));
        }

        fn $for(mut first: ViewMut<$first>, mut second: ViewMut<$second>) {
            for (first, second) in (&mut first, &mut second).iter() {
                kernel::$swap(first, second);
            }
        }
    };
}

system!(swap_ab, for_ab, A, B);
system!(swap_cd, for_cd, C, D);
system!(swap_ce, for_ce, C, E);

#[inline(never)]
fn schedule(world: &mut World) {
    world.run_default_workload().expect("the systems do not fail");
}

fn sum(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    world.run(|a: View<A>, b: View<B>, c: View<C>, d: View<D>, e: View<E>| {
        (&a, &b).iter().for_each(|(a, b)| tally.two(a, b));
        (&c).iter().for_each(|c| tally.one(c));
        (&c, &d).iter().for_each(|(c, d)| tally.two(c, d));
        (&c, &e).iter().for_each(|(c, e)| tally.two(c, e));
    });
    tally.finish()
}
