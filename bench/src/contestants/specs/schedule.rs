//! The rows `schedule` and `for_schedule`: a dispatcher of three systems.

use specs::{
    Builder as _, Dispatcher, DispatcherBuilder, Join as _, System, World, WorldExt as _,
    WriteStorage,
};

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
    workload::Workload,
};

type Scheduled = (World, Dispatcher<'static, 'static>);

pub(super) fn prepare(workload: Workload, n: usize) -> Option<Box<dyn Bout>> {
    let builder = DispatcherBuilder::new();
    let builder = match workload {
        Workload::ForSchedule => {
            builder.with(ForAb, "ab", &[]).with(ForCd, "cd", &[]).with(ForCe, "ce", &[])
        }
        _ => builder.with(SwapAb, "ab", &[]).with(SwapCd, "cd", &[]).with(SwapCe, "ce", &[]),
    };
    let mut dispatcher = builder.build();
    let mut world = World::new();
    dispatcher.setup(&mut world);
    fill(&mut world, n);
    lasting((world, dispatcher), schedule, |s| sum(&s.0))
}

fn fill(world: &mut World, n: usize) {
    for i in 0..n {
        let (a, b, c, d, e) = kernel::letters(i);
        let (builder, quarter) = (world.create_entity().with(a).with(b), kernel::quarter(i));
        let builder = builder.maybe_with((quarter != Quarter::Ab).then_some(c));
        let builder = builder.maybe_with((quarter == Quarter::Abcd).then_some(d));
        builder.maybe_with((quarter == Quarter::Abce).then_some(e)).build();
    }
}

/// One system by `for_each` and the same by a `for` loop.
macro_rules! system {
    ($swap:ident, $each:ident, $for:ident, $first:ident, $second:ident) => {
        struct $each;

        impl<'a> System<'a> for $each {
            type SystemData = (WriteStorage<'a, $first>, WriteStorage<'a, $second>);

            fn run(&mut self, (mut first, mut second): Self::SystemData) {
                let rows = (&mut first, &mut second).join();
                rows.for_each(|(first, second)| kernel::$swap(first, second));
            }
        }

        struct $for;

        impl<'a> System<'a> for $for {
            type SystemData = (WriteStorage<'a, $first>, WriteStorage<'a, $second>);

            fn run(&mut self, (mut first, mut second): Self::SystemData) {
                for (first, second) in (&mut first, &mut second).join() {
                    kernel::$swap(first, second);
                }
            }
        }
    };
}

system!(swap_ab, SwapAb, ForAb, A, B);
system!(swap_cd, SwapCd, ForCd, C, D);
system!(swap_ce, SwapCe, ForCe, C, E);

#[inline(never)]
fn schedule((world, dispatcher): &mut Scheduled) {
    dispatcher.dispatch(world);
}

fn sum(world: &World) -> u64 {
    let mut tally = Tally::default();
    let (a, b, c) =
        (world.read_storage::<A>(), world.read_storage::<B>(), world.read_storage::<C>());
    let (d, e) = (world.read_storage::<D>(), world.read_storage::<E>());
    (&a, &b).join().for_each(|(a, b)| tally.two(a, b));
    (&c).join().for_each(|c| tally.one(c));
    (&c, &d).join().for_each(|(c, d)| tally.two(c, d));
    (&c, &e).join().for_each(|(c, e)| tally.two(c, e));
    tally.finish()
}
