//! What happens in each frame: who dies, what is born, who gets or loses a component.
//!
//! A script is drawn from a seed and never ends. It keeps its own books on what each entity is
//! and has, so that it never asks a contestant, and the same seed gives every contestant the
//! same frames. Entities are named by their number; a newborn takes the number of a dead one.

use super::components::Kind;
use crate::{
    scene::{Random, Scene},
    workload::Workload,
};

/// How much happens in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Of 10,000 entities so many die and are replaced.
    deaths: usize,
    /// Of 10,000 entities so many get or lose a status.
    toggles: usize,
    /// Whether the dead come back as another kind.
    drifts: bool,
    /// Of 10,000 movers so many get or lose their velocity.
    flips: usize,
}

impl Pace {
    /// The pace of a workload; `None` if it is no `frame` row.
    pub const fn of(workload: Workload) -> Option<Self> {
        let busy = Self { deaths: 200, toggles: 300, drifts: false, flips: 0 };
        match workload {
            Workload::FrameCalm => Some(Self { deaths: 10, toggles: 15, ..busy }),
            Workload::FrameBusy => Some(busy),
            Workload::FrameDrift => Some(Self { drifts: true, ..busy }),
            Workload::FrameFlip => Some(Self { flips: 500, ..busy }),
            _ => None,
        }
    }
}

/// A component that a living entity gets or loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert `Burning`.
    Ignite,
    /// Remove `Burning`.
    Quench,
    /// Insert `Stunned`.
    Stun,
    /// Remove `Stunned`.
    Wake,
    /// Remove `Velocity`.
    Halt,
    /// Insert `Velocity`.
    Launch,
}

/// One frame, in the order of its lists.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Who is despawned.
    pub deaths: Vec<u32>,
    /// Who is spawned, and as what.
    pub births: Vec<(u32, Kind)>,
    /// What else changes.
    pub changes: Vec<(u32, Change)>,
}

/// An endless series of frames.
#[derive(Debug)]
pub struct Script {
    pace: Pace,
    random: Random,
    kinds: Vec<Kind>,
    /// The frame in which each number died last, so that none dies twice in one.
    died: Vec<u32>,
    frame: u32,
    burning: Holders,
    stunned: Holders,
    halted: Holders,
    /// What remains of the shares, where they are no whole numbers: deaths, toggles, flips.
    rest: [usize; 3],
    /// Frames that wait for their turn, the next one last.
    ready: Vec<Frame>,
}

/// How many frames are drawn at once: the caches are not disturbed before each of them.
const BATCH: usize = 8;

impl Script {
    /// The script of a scene, and the first frame, in which everything is born.
    pub fn new(scene: Scene, pace: Pace) -> (Self, Frame) {
        let mut random = Random::new(scene.seed ^ 0xf4a3e);
        let kinds: Vec<_> = (0..scene.n).map(|_| draw_kind(&mut random)).collect();
        let holders = |can: fn(Kind) -> bool, one_of: usize| {
            let able = kinds.iter().filter(|kind| can(**kind)).count();
            Holders { can, goal: able / one_of, has: vec![false; scene.n], list: Vec::new() }
        };
        let mut script = Self {
            burning: holders(Kind::burns, 8),
            stunned: holders(Kind::has_aims, 8),
            halted: holders(Kind::moves, if pace.flips > 0 { 4 } else { usize::MAX }),
            died: vec![0; scene.n],
            frame: 0,
            rest: [0; 3],
            ready: Vec::new(),
            pace,
            random,
            kinds,
        };
        let births = (0..).zip(script.kinds.iter().copied()).collect();
        let mut first = Frame { births, ..Frame::default() };
        for change in [Change::Ignite, Change::Stun, Change::Halt] {
            let (holders, random, kinds) = script.holders(change);
            for _ in 0..holders.goal {
                first.changes.extend(holders.give(random, kinds).map(|i| (i, change)));
            }
        }
        (script, first)
    }

    /// Draws frames if none is ready, so that the next [`advance`](Self::advance) is short.
    pub fn prepare(&mut self) {
        if self.ready.is_empty() {
            self.ready.extend((0..BATCH).map(|_| Frame::default()));
            for at in (0..BATCH).rev() {
                self.ready[at] = self.draw();
            }
        }
    }

    /// The next frame.
    pub fn advance(&mut self) -> Frame {
        self.prepare();
        self.ready.pop().expect("frames were prepared")
    }

    fn draw(&mut self) -> Frame {
        self.frame += 1;
        let n = self.kinds.len();
        let mut frame = Frame::default();
        for _ in 0..share(n, self.pace.deaths, &mut self.rest[0]) {
            let i = self.random.below(n);
            if self.died[i] == self.frame {
                // Rare; the frame has one death less.
                continue;
            }
            self.died[i] = self.frame;
            for holders in [&mut self.burning, &mut self.stunned, &mut self.halted] {
                holders.forget(i);
            }
            let old = self.kinds[i];
            while self.pace.drifts && self.kinds[i] == old {
                self.kinds[i] = draw_kind(&mut self.random);
            }
            frame.deaths.push(i as u32);
            frame.births.push((i as u32, self.kinds[i]));
        }
        for _ in 0..share(n, self.pace.toggles, &mut self.rest[1]) {
            let pair = match self.random.next() & 1 {
                0 => [Change::Ignite, Change::Quench],
                _ => [Change::Stun, Change::Wake],
            };
            frame.changes.extend(self.toggle(pair));
        }
        if self.pace.flips > 0 {
            let movers = self.kinds.iter().filter(|kind| kind.moves()).count();
            for _ in 0..share(movers, self.pace.flips, &mut self.rest[2]) {
                frame.changes.extend(self.toggle([Change::Halt, Change::Launch]));
            }
        }
        frame
    }

    /// The first change where too few have undergone it, else the second.
    fn toggle(&mut self, [on, off]: [Change; 2]) -> Option<(u32, Change)> {
        let (holders, random, kinds) = self.holders(on);
        if holders.list.len() < holders.goal {
            holders.give(random, kinds).map(|i| (i, on))
        } else {
            holders.take(random).map(|i| (i, off))
        }
    }

    fn holders(&mut self, change: Change) -> (&mut Holders, &mut Random, &[Kind]) {
        let holders = match change {
            Change::Ignite | Change::Quench => &mut self.burning,
            Change::Stun | Change::Wake => &mut self.stunned,
            Change::Halt | Change::Launch => &mut self.halted,
        };
        (holders, &mut self.random, &self.kinds)
    }
}

/// Who is in a state that comes and goes.
#[derive(Debug)]
struct Holders {
    can: fn(Kind) -> bool,
    /// How many there shall be.
    goal: usize,
    has: Vec<bool>,
    /// All that have it, and some that had it when they died.
    list: Vec<u32>,
}

impl Holders {
    /// Draws one that can have it and does not; `None` if luck fails.
    fn give(&mut self, random: &mut Random, kinds: &[Kind]) -> Option<u32> {
        let mut draws = (0..200).map(|_| random.below(kinds.len()));
        let i = draws.find(|i| (self.can)(kinds[*i]) && !self.has[*i])?;
        self.has[i] = true;
        self.list.push(i as u32);
        Some(i as u32)
    }

    /// Draws one that has it.
    fn take(&mut self, random: &mut Random) -> Option<u32> {
        while !self.list.is_empty() {
            let i = self.list.swap_remove(random.below(self.list.len()));
            if std::mem::take(&mut self.has[i as usize]) {
                return Some(i);
            }
        }
        None
    }

    /// The entity of this number has died.
    fn forget(&mut self, i: usize) {
        self.has[i] = false;
    }
}

fn draw_kind(random: &mut Random) -> Kind {
    let mut ticket = random.next() % 100;
    let drawn = Kind::ALL.into_iter().find(|kind| {
        let hit = ticket < kind.share();
        ticket = ticket.saturating_sub(kind.share());
        hit
    });
    drawn.expect("the shares are 100 in all")
}

/// `rate` of 10,000 of `n`; what is left over counts next time.
fn share(n: usize, rate: usize, rest: &mut usize) -> usize {
    let due = n * rate + *rest;
    *rest = due % 10_000;
    due / 10_000
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SCENE: Scene = Scene { n: 2000, seed: 9 };

    fn script(workload: Workload) -> (Script, Frame) {
        Script::new(SCENE, Pace::of(workload).expect("it is a frame"))
    }

    #[test]
    fn shares_are_kept_over_many_frames() {
        let (mut script, _) = script(Workload::FrameCalm);
        let frames: Vec<_> = (0..100).map(|_| script.advance()).collect();

        assert_eq!(frames.iter().map(|frame| frame.deaths.len()).sum::<usize>(), 200);
        assert_eq!(frames.iter().map(|frame| frame.changes.len()).sum::<usize>(), 300);
    }

    #[test]
    fn what_is_removed_was_there_and_what_is_inserted_was_not() {
        let (mut script, first) = script(Workload::FrameFlip);
        let mut held = HashSet::new();
        let mut play = |frame: Frame| {
            for i in frame.deaths {
                held.retain(|(other, _)| *other != i);
            }
            for (i, change) in frame.changes {
                let fine = match change {
                    Change::Ignite => held.insert((i, 'b')),
                    Change::Quench => held.remove(&(i, 'b')),
                    Change::Stun => held.insert((i, 's')),
                    Change::Wake => held.remove(&(i, 's')),
                    Change::Halt => held.insert((i, 'h')),
                    Change::Launch => held.remove(&(i, 'h')),
                };
                assert!(fine, "{change:?} of {i}");
            }
            held.len()
        };

        let at_first = play(first);
        let counts: Vec<_> = (0..200).map(|_| play(script.advance())).collect();

        // States neither die out nor spread over the whole world.
        assert!(counts.iter().all(|count| (at_first / 2..=at_first).contains(count)), "{counts:?}");
    }

    #[test]
    fn kinds_keep_their_shares_where_they_drift() {
        let (mut script, _) = script(Workload::FrameDrift);
        let mut changed = 0;
        for _ in 0..200 {
            let before = script.kinds.clone();
            changed +=
                script.draw().births.iter().filter(|(i, k)| before[*i as usize] != *k).count();
        }

        let particles = script.kinds.iter().filter(|kind| **kind == Kind::Particle).count();

        assert!(changed > 7500, "{changed}");
        assert!((300..700).contains(&particles), "{particles}");
    }

    #[test]
    fn none_dies_twice_in_a_frame() {
        let (mut script, _) = script(Workload::FrameBusy);
        for _ in 0..20 {
            let deaths = script.advance().deaths;
            assert_eq!(deaths.iter().collect::<HashSet<_>>().len(), deaths.len());
        }
    }
}
