//! The state and the steps that the cases share.

use super::{BadWorld, Scale, Sum};
use crate::{
    components::*,
    frame::{
        Canvas, Kind, Start as _,
        components::{
            Ai, Burning, Collider, Damage, Health, Inventory, Lifetime, Position, Rotation, Sprite,
            Target, Team, Velocity, Zone, with_kinds,
        },
        systems::travel,
    },
    scene::Random,
};

/// A world, its random numbers, and the query that all cases walk.
pub(super) struct Stage<S: BadWorld> {
    pub(super) world: S,
    pub(super) random: Random,
    movers: S::Query<Position, Velocity>,
}

impl<S: BadWorld> Stage<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let random = Random::new(scale.seed);
        Self { world: S::default(), random, movers: Default::default() }
    }

    /// Draws a kind; all are equally likely.
    pub(super) fn kind(&mut self) -> Kind {
        Kind::ALL[self.random.below(Kind::ALL.len())]
    }

    /// Spawns number `i` with the components of its kind.
    #[inline(always)]
    pub(super) fn birth(&mut self, kind: Kind, i: usize) -> S::Id {
        let i = i as u32;
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind { $(Kind::$kind => self.world.spawn(($($component::start(i),)*)),)* }
            };
        }
        with_kinds!(spawn)
    }

    /// Spawns `count` entities of drawn kinds.
    pub(super) fn births(&mut self, count: usize) -> Vec<S::Id> {
        let birth = |i| {
            let kind = self.kind();
            self.birth(kind, i)
        };
        (0..count).map(birth).collect()
    }

    /// Moves all entities that have a velocity.
    #[inline(never)]
    pub(super) fn travel(&mut self) -> Sum {
        let mut sum = Sum::default();
        self.world.walk(&mut self.movers, |p, v| {
            travel(&mut Canvas::default(), p, v);
            sum.add(p.x);
        });
        sum
    }

    /// Ends the set-up, so that no work of it is left to the first frame.
    pub(super) fn open(&mut self) {
        self.world.settle();
        self.travel();
        self.world.settle();
    }

    /// Adds up, component by component, what entities have.
    pub(super) fn audit(&mut self) -> Vec<Sum> {
        let world = &mut self.world;
        let mut sums = Vec::new();
        macro_rules! audit {
            ($($part:ident $number:literal),*) => {$({
                let mut sum = Sum::default();
                world.walk::<Position, $part>(&mut Default::default(), |p, _| sum.add(p.x));
                sums.push(sum);
            })*};
        }
        audit!(Velocity 0, Burning 0, Damage 0);
        with_markers!(audit);
        sums
    }
}

/// Inserts or removes the marker with this number.
pub(super) fn mark<S: BadWorld>(world: &mut S, id: S::Id, number: usize, on: bool) {
    macro_rules! mark {
        ($($marker:ident $number:literal),*) => {
            match (number, on) {
                $(($number, true) => world.insert(id, $marker::default()),
                ($number, false) => world.remove::<$marker>(id),)*
                _ => unreachable!("there are no more markers"),
            }
        };
    }
    with_markers!(mark);
}
