//! The row `schedule`: three systems, of which two read the same component.

use ::esker::World;
use ::esker::prelude::{Query, Schedule};

use crate::{
    checksum::{Tally, bits},
    components::{A, B, C, D, E},
    kernel,
};

pub(super) fn five(n: usize) -> (World, Schedule) {
    let mut world = World::new();
    for i in 0..n {
        let value = kernel::value(i);
        world.spawn((A { value }, B { value }, C { value }, D { value }, E { value }));
    }
    let mut schedule = Schedule::new();
    schedule.add_systems((add_b, add_c_to_d, add_c_to_e));
    (world, schedule)
}

fn add_b(mut query: Query<(&mut A, &B)>) {
    query.iter_mut().for_each(|(a, b)| kernel::add_b(a, b));
}

fn add_c_to_d(mut query: Query<(&mut D, &C)>) {
    query.iter_mut().for_each(|(d, c)| kernel::add_c_to_d(d, c));
}

fn add_c_to_e(mut query: Query<(&mut E, &C)>) {
    query.iter_mut().for_each(|(e, c)| kernel::add_c_to_e(e, c));
}

#[inline(never)]
pub(super) fn step((world, schedule): &mut (World, Schedule)) {
    schedule.step(world);
}

pub(super) fn sum((world, _): &mut (World, Schedule)) -> u64 {
    let mut tally = Tally::default();
    let query = world.query::<(&A, &D, &E)>();
    query.iter().for_each(|(a, d, e)| tally.row(&[bits(a), bits(d), bits(e)]));
    tally.finish()
}
