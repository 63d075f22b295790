//! The rows `schedule` and `for_schedule`: three systems in bevy's own schedule.

use bevy_ecs::{
    schedule::{MultiThreadedExecutor, Schedule, SingleThreadedExecutor},
    system::Query,
    world::World,
};

use super::Stored;
use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

/// From here on two threads are faster than one in bevy's executors.
const THREADS_PAY: usize = 50_000;

pub(super) fn prepare<const S: bool>(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    let mut schedule = Schedule::default();
    match workload {
        Workload::ForSchedule => schedule.add_systems((for_ab::<S>, for_cd::<S>, for_ce::<S>)),
        _ => schedule.add_systems((swap_ab::<S>, swap_cd::<S>, swap_ce::<S>)),
    };
    if n < THREADS_PAY {
        schedule.set_executor(SingleThreadedExecutor::new());
    } else {
        schedule.set_executor(MultiThreadedExecutor::new());
    }
    lasting((quarters::<S>(n), schedule), run, |s| sum::<S>(&mut s.0))
}

fn quarters<const S: bool>(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        let (a, b, c) = (Stored::<_, S>(a), Stored::<_, S>(b), Stored::<_, S>(c));
        match kernel::quarter(i) {
            Quarter::Ab => world.spawn((a, b)),
            Quarter::Abc => world.spawn((a, b, c)),
            Quarter::Abcd => world.spawn((a, b, c, Stored::<_, S>(d))),
            Quarter::Abce => world.spawn((a, b, c, Stored::<_, S>(e))),
        };
    }
    world
}

/// One system in its fastest form and the same by a `for` loop.
macro_rules! system {
    ($swap:ident, $for:ident, $first:ident, $second:ident) => {
        fn $swap<const S: bool>(
            mut query: Query<(&mut Stored<$first, S>, &mut Stored<$second, S>)>,
        ) {
            if S {
                query.iter_mut().for_each(|(mut first, mut second)| {
                    kernel::$swap(&mut first.0, &mut second.0);
                });
            } else {
                let slices = query.contiguous_iter_mut().expect("tables are contiguous");
                for (mut first, mut second) in slices {
                    let rows = first.iter_mut().zip(second.iter_mut());
                    rows.for_each(|(first, second)| kernel::$swap(&mut first.0, &mut second.0));
                }
            }
        }

        fn $for<const S: bool>(
            mut query: Query<(&mut Stored<$first, S>, &mut Stored<$second, S>)>,
        ) {
            for (mut first, mut second) in &mut query {
                kernel::$swap(&mut first.0, &mut second.0);
            }
        }
    };
}

system!(swap_ab, for_ab, A, B);
system!(swap_cd, for_cd, C, D);
system!(swap_ce, for_ce, C, E);

#[inline(never)]
fn run((world, schedule): &mut (World, Schedule)) {
    schedule.run(world);
}

fn sum<const S: bool>(world: &mut World) -> u64 {
    let mut tally = Tally::default();
    let mut ab = world.query::<(&Stored<A, S>, &Stored<B, S>)>();
    ab.iter(world).for_each(|(a, b)| tally.two(&a.0, &b.0));
    world.query::<&Stored<C, S>>().iter(world).for_each(|c| tally.one(&c.0));
    let mut cd = world.query::<(&Stored<C, S>, &Stored<D, S>)>();
    cd.iter(world).for_each(|(c, d)| tally.two(&c.0, &d.0));
    let mut ce = world.query::<(&Stored<C, S>, &Stored<E, S>)>();
    ce.iter(world).for_each(|(c, e)| tally.two(&c.0, &e.0));
    tally.finish()
}
