//! Two players over a slow line: each plays at once, and takes back what it has guessed wrong.
//!
//! ```sh
//! cargo run --example rollback
//! ```
//!
//! Each side simulates the whole game. It knows its own input now and that of the other side some frames
//! later, so it guesses ("as before") and goes on. When the truth arrives and differs, it goes back to that
//! frame and plays the frames since then again. In the end both worlds must be the same, bit by bit.

use std::collections::VecDeque;

use esker::prelude::*;
use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
use serde::{Deserialize, Serialize};

/// Frames that an input is under way, and how far back a side can go.
const DELAY: usize = 4;
const FRAMES: usize = 60;

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct Ship {
    player: usize,
    x: i32,
}

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct Shot {
    x: i32,
    frames_left: u32,
}

/// What the players press: a resource that a frame reads, and not part of the state.
#[derive(Clone, Copy, Default, PartialEq)]
struct Inputs([i32; 2]);

fn fly(inputs: Res<Inputs>, mut ships: Query<&mut Ship>, mut commands: Commands) {
    for ship in &mut ships {
        ship.x += inputs.0[ship.player];
        if ship.x % 5 == 0 {
            commands.spawn(Shot { x: ship.x, frames_left: 6 });
        }
    }
}

fn burn_out(mut shots: Query<(Entity, &mut Shot)>, mut commands: Commands) {
    for (id, shot) in &mut shots {
        shot.x += 2;
        shot.frames_left -= 1;
        if shot.frames_left == 0 {
            commands.despawn(id);
        }
    }
}

struct Side {
    me: usize,
    world: World,
    schedule: Schedule,
    types: SnapshotTypes,
    past: Rollback,
    /// What was played in each frame: the truth, or a guess.
    played: Vec<Inputs>,
    /// Inputs of the other side that are under way.
    line: VecDeque<i32>,
    corrections: usize,
}

impl Side {
    fn new(me: usize) -> Self {
        let types = SnapshotTypes::new()
            .component::<Ship>()
            .component::<Shot>()
            .ignore_resource::<Inputs>();
        let mut world = World::new();
        world.spawn_batch((0..2).map(|player| Ship { player, x: 10 * player as i32 }));
        let mut schedule = Schedule::new();
        schedule.add_systems((fly, burn_out).chain());
        let past = Rollback::new(types.clone(), DELAY + 1);
        let (played, line) = (Vec::new(), VecDeque::new());
        Self { me, world, schedule, types, past, played, line, corrections: 0 }
    }

    fn play(&mut self, inputs: Inputs) {
        self.past.keep(&self.world).expect("all types are registered and can be cloned");
        self.world.insert_resource(inputs);
        self.schedule.step(&mut self.world);
        self.played.push(inputs);
    }

    fn frame(&mut self, mine: i32) {
        let mut inputs = self.played.last().copied().unwrap_or_default(); // the other: as before
        inputs.0[self.me] = mine;
        self.play(inputs);
        if self.line.len() > DELAY {
            let truth = self.line.pop_front().expect("it is not empty");
            self.correct(self.played.len() - 1 - DELAY, truth);
        }
    }

    /// Learns what the other side did in a frame.
    fn correct(&mut self, frame: usize, truth: i32) {
        let other = 1 - self.me;
        if self.played[frame].0[other] == truth {
            return;
        }
        self.corrections += 1;
        let again = self.played.split_off(frame);
        // Taken out of the past: it is kept again when the frame is played.
        let taken = self.past.take_back(&mut self.world, again.len() - 1);
        taken.expect("no frame is older than the delay");
        for mut inputs in again {
            inputs.0[other] = truth; // the best guess for the frames after it, too
            self.play(inputs);
        }
    }
}

fn main() {
    let mut sides = [Side::new(0), Side::new(1)];
    let pressed = |player: usize, frame: usize| [1, 1, -1, 0, 2][(frame / (5 + player)) % 5];
    for frame in 0..FRAMES + DELAY {
        // Nobody presses anything at the end, so that all truths arrive.
        let input = |player| if frame < FRAMES - DELAY { pressed(player, frame) } else { 0 };
        for player in 0..2 {
            sides[1 - player].line.push_back(input(player));
            sides[player].frame(input(player));
        }
    }
    for side in &sides {
        let ships: Vec<i32> = side.world.query::<&Ship>().iter().map(|ship| ship.x).collect();
        let hash = side.types.hash_world(&side.world).expect("all types are registered");
        println!(
            "player {}: {} corrections, ships at {ships:?}, {} shots, state {hash:016x}",
            side.me,
            side.corrections,
            side.world.len() - ships.len(),
        );
    }
    let [a, b] = &sides;
    let diff = a.types.diff(&a.world, &b.world).expect("all types are registered");
    assert!(diff.is_empty(), "{diff}");
    assert!(a.corrections > 5 && b.corrections > 5);
}
