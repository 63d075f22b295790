//! The rows `schedule` and `for_schedule`: three loops in a row. What a loop needs lies packed.

use crate::{
    checksum::Tally,
    components::{A, B, C, D, E},
    contestant::{Bout, lasting},
    kernel::{self, Quarter},
};

pub(super) fn prepare(n: usize) -> Option<Box<dyn Bout>> {
    lasting(Quarters::new(n), schedule, Quarters::checksum)
}

#[derive(Default)]
struct Quarters {
    a: Vec<A>,
    b: Vec<B>,
    /// Of entities that have neither D nor E.
    alone: Vec<C>,
    with_d: (Vec<C>, Vec<D>),
    with_e: (Vec<C>, Vec<E>),
}

impl Quarters {
    fn new(n: usize) -> Self {
        let mut new = Self::default();
        for i in 0..n {
            let (a, b, c, d, e) = kernel::letters(i);
            new.a.push(a);
            new.b.push(b);
            match kernel::quarter(i) {
                Quarter::Ab => (),
                Quarter::Abc => new.alone.push(c),
                Quarter::Abcd => {
                    new.with_d.0.push(c);
                    new.with_d.1.push(d);
                }
                Quarter::Abce => {
                    new.with_e.0.push(c);
                    new.with_e.1.push(e);
                }
            }
        }
        new
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        let Self { a, b, alone, with_d, with_e } = self;
        a.iter().zip(b).for_each(|(a, b)| tally.two(a, b));
        alone.iter().chain(&with_d.0).chain(&with_e.0).for_each(|c| tally.one(c));
        with_d.0.iter().zip(&with_d.1).for_each(|(c, d)| tally.two(c, d));
        with_e.0.iter().zip(&with_e.1).for_each(|(c, e)| tally.two(c, e));
        tally.finish()
    }
}

#[inline(never)]
fn schedule(Quarters { a, b, with_d, with_e, .. }: &mut Quarters) {
    a.iter_mut().zip(b).for_each(|(a, b)| kernel::swap_ab(a, b));
    with_d.0.iter_mut().zip(&mut with_d.1).for_each(|(c, d)| kernel::swap_cd(c, d));
    with_e.0.iter_mut().zip(&mut with_e.1).for_each(|(c, e)| kernel::swap_ce(c, e));
}
