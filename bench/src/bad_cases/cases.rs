//! The states of the seven cases: what they start with, and what happens in a frame.

use std::mem;

use super::{
    BadWorld, Play, Scale, Sum,
    stage::{Stage, mark},
};
use crate::{
    components::*,
    frame::{
        Kind, Start as _,
        components::{Burning, Damage, Health, Position, Velocity},
    },
};

/// How many markers make up the archetypes of [`ManyArchetypes`], by their bits.
const MARKERS: usize = 14;

/// How many entities of each archetype there are.
const EACH: usize = 3;

/// Ten thousand archetypes: entity `i` has the markers that are the bits of `i % archetypes`.
///
/// An entity that is toggled comes back in the next frame, so the archetypes stay what they are.
pub(super) struct ManyArchetypes<S: BadWorld> {
    stage: Stage<S>,
    ids: Vec<S::Id>,
    archetypes: usize,
    toggles: usize,
    /// The entities and markers to be toggled in this frame, and those that come back in it.
    away: Vec<(usize, usize)>,
    back: Vec<(usize, usize)>,
}

impl<S: BadWorld> ManyArchetypes<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        let archetypes = scale.of(10_000);
        let birth = |i| {
            let id = stage.world.spawn((Position::start(i as u32), Velocity::start(i as u32)));
            let markers = (0..MARKERS).filter(|bit| has(i % archetypes, *bit));
            markers.for_each(|bit| mark(&mut stage.world, id, bit, true));
            id
        };
        let ids = (0..archetypes * EACH).map(birth).collect();
        stage.open();
        let toggles = scale.of(100).max(2);
        Self { stage, ids, archetypes, toggles, away: Vec::new(), back: Vec::new() }
    }

    /// Draws an entity, and a marker that leads it to another of the archetypes.
    fn toggle(&mut self) -> (usize, usize) {
        let random = &mut self.stage.random;
        loop {
            let (i, bit) = (random.below(self.ids.len()), random.below(MARKERS));
            let fits = ((i % self.archetypes) ^ (1 << bit)) < self.archetypes;
            let is_free = [&self.away, &self.back].iter().all(|l| l.iter().all(|(j, _)| *j != i));
            if fits && is_free {
                return (i, bit);
            }
        }
    }
}

/// Whether an archetype has the marker with this number.
fn has(archetype: usize, marker: usize) -> bool {
    archetype >> marker & 1 == 1
}

impl<S: BadWorld> Play for ManyArchetypes<S> {
    fn draw(&mut self, _: usize) {
        self.back = mem::take(&mut self.away);
        for _ in 0..self.toggles / 2 {
            let toggle = self.toggle();
            self.away.push(toggle);
        }
    }

    fn play(&mut self) -> Sum {
        for (list, is_away) in [(&self.back, false), (&self.away, true)] {
            for &(i, bit) in list {
                let had = has(i % self.archetypes, bit);
                mark(&mut self.stage.world, self.ids[i], bit, had != is_away);
            }
        }
        let sum = self.stage.travel();
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// One entity among many loses its velocity and gets another one, over and over.
pub(super) struct OneToggles<S: BadWorld> {
    stage: Stage<S>,
    id: S::Id,
    toggles: usize,
    frame: usize,
}

impl<S: BadWorld> OneToggles<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        let half = scale.of(10_000);
        stage.births(half);
        let id = stage.birth(Kind::Enemy, half);
        stage.births(half - 1);
        stage.open();
        Self { stage, id, toggles: half, frame: 0 }
    }
}

impl<S: BadWorld> Play for OneToggles<S> {
    fn draw(&mut self, frame: usize) {
        self.frame = frame;
    }

    fn play(&mut self) -> Sum {
        // The query comes first, so that none runs between the changes and the end of the frame.
        let sum = self.stage.travel();
        for turn in 0..self.toggles {
            self.stage.world.remove::<Velocity>(self.id);
            self.stage.world.insert(self.id, Velocity::start((self.frame + turn) as u32));
        }
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// A world that only grows.
pub(super) struct Grows<S: BadWorld> {
    stage: Stage<S>,
    /// The kinds of the entities that are born in this frame.
    births: Vec<Kind>,
    count: usize,
    born: usize,
}

impl<S: BadWorld> Grows<S> {
    pub(super) fn new(scale: Scale) -> Self {
        Self { stage: Stage::new(scale), births: Vec::new(), count: scale.of(1000), born: 0 }
    }
}

impl<S: BadWorld> Play for Grows<S> {
    fn draw(&mut self, _: usize) {
        self.births = (0..self.count).map(|_| self.stage.kind()).collect();
    }

    fn play(&mut self) -> Sum {
        for &kind in &self.births {
            self.stage.birth(kind, self.born);
            self.born += 1;
        }
        let sum = self.stage.travel();
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// A world that only shrinks.
pub(super) struct Shrinks<S: BadWorld> {
    stage: Stage<S>,
    /// The living entities, in the order of their deaths.
    ids: std::vec::IntoIter<S::Id>,
    deaths: usize,
}

impl<S: BadWorld> Shrinks<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        let ids = stage.births(scale.of(300_000));
        let order = stage.random.shuffled(ids.len());
        let ids: Vec<_> = order.into_iter().map(|i| ids[i as usize]).collect();
        stage.open();
        Self { stage, ids: ids.into_iter(), deaths: scale.of(1000) }
    }
}

impl<S: BadWorld> Play for Shrinks<S> {
    fn draw(&mut self, _: usize) {}

    fn play(&mut self) -> Sum {
        for id in self.ids.by_ref().take(self.deaths) {
            self.stage.world.despawn(id);
        }
        let sum = self.stage.travel();
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// A world that breathes: waves are born and killed beside entities that stay.
pub(super) struct Breathes<S: BadWorld> {
    stage: Stage<S>,
    /// The kinds of a wave that is born in this frame, or none.
    births: Vec<Kind>,
    /// The wave that lives.
    wave: Vec<S::Id>,
    count: usize,
}

impl<S: BadWorld> Breathes<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        stage.births(scale.of(20_000));
        stage.open();
        Self { stage, births: Vec::new(), wave: Vec::new(), count: scale.of(100_000) }
    }
}

impl<S: BadWorld> Play for Breathes<S> {
    fn draw(&mut self, _: usize) {
        if self.wave.is_empty() {
            self.births = (0..self.count).map(|_| self.stage.kind()).collect();
            self.wave.reserve(self.count);
        } else {
            self.births.clear();
            let order = self.stage.random.shuffled(self.count);
            self.wave = order.into_iter().map(|i| self.wave[i as usize]).collect();
        }
    }

    fn play(&mut self) -> Sum {
        for id in self.wave.drain(..) {
            self.stage.world.despawn(id);
        }
        for (i, kind) in self.births.iter().enumerate() {
            self.wave.push(self.stage.birth(*kind, i));
        }
        let sum = self.stage.travel();
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// All entities change archetype in one frame, and back in the next.
pub(super) struct AllChange<S: BadWorld> {
    stage: Stage<S>,
    burning: S::Query<Position, Burning>,
    ids: Vec<S::Id>,
    inserts: bool,
}

impl<S: BadWorld> AllChange<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        let ids = stage.births(scale.of(100_000));
        stage.open();
        Self { stage, burning: Default::default(), ids, inserts: false }
    }
}

impl<S: BadWorld> Play for AllChange<S> {
    fn draw(&mut self, frame: usize) {
        self.inserts = frame.is_multiple_of(2);
    }

    fn play(&mut self) -> Sum {
        let world = &mut self.stage.world;
        if self.inserts {
            (0..).zip(&self.ids).for_each(|(i, id)| world.insert(*id, Burning::start(i)));
        } else {
            self.ids.iter().for_each(|id| world.remove::<Burning>(*id));
        }
        let mut sum = self.stage.travel();
        self.stage.world.walk(&mut self.burning, |p, b| {
            p.y += b.heat;
            sum.add(p.y);
        });
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}

/// How many archetypes are interleaved.
const INTERLEAVED: usize = 51;
/// How many entities of one archetype are born in a row.
const GROUP: usize = 64;
/// How often it is the turn of each archetype.
const ROUNDS: usize = 31;

/// Blocks of one archetype lie between those of fifty others.
pub(super) struct Interleaved<S: BadWorld> {
    stage: Stage<S>,
    healthy: S::Query<Health, Damage>,
    walks_one: bool,
}

impl<S: BadWorld> Interleaved<S> {
    pub(super) fn new(scale: Scale) -> Self {
        let mut stage = Stage::<S>::new(scale);
        for group in 0..INTERLEAVED * scale.of(ROUNDS).max(1) {
            for i in group * GROUP..(group + 1) * GROUP {
                spawn_interleaved(&mut stage.world, group % INTERLEAVED, i as u32);
            }
        }
        stage.open();
        Self { stage, healthy: Default::default(), walks_one: false }
    }

    /// Hurts the entities of the first archetype.
    #[inline(never)]
    fn hurt(&mut self) -> Sum {
        let mut sum = Sum::default();
        self.stage.world.walk(&mut self.healthy, |h, d| {
            h.now -= d.amount;
            sum.add(h.now);
        });
        sum
    }
}

/// Spawns number `i` with the two components that all have and with those of its archetype: the
/// first archetype has two of its own, the others share 25 markers in pairs, and the second of a
/// pair has `S0` besides.
fn spawn_interleaved<S: BadWorld>(world: &mut S, archetype: usize, i: u32) {
    let (p, v) = (Position::start(i), Velocity::start(i));
    macro_rules! spawn {
        ($($marker:ident $number:literal),*) => {
            match (archetype.checked_sub(1).map(|a| a / 2), archetype % 2) {
                (None, _) => world.spawn((p, v, Health::start(i), Damage::start(i))),
                $((Some($number), 0) => world.spawn((p, v, $marker::default())),
                (Some($number), _) => world.spawn((p, v, $marker::default(), S0::default())),)*
                _ => unreachable!("there are no more markers"),
            }
        };
    }
    with_markers!(spawn);
}

impl<S: BadWorld> Play for Interleaved<S> {
    fn draw(&mut self, frame: usize) {
        self.walks_one = frame.is_multiple_of(2);
    }

    fn play(&mut self) -> Sum {
        let sum = if self.walks_one { self.hurt() } else { self.stage.travel() };
        self.stage.world.settle();
        sum
    }

    fn audit(&mut self) -> Vec<Sum> {
        self.stage.audit()
    }
}
