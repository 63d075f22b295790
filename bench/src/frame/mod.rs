//! The `frame` rows: a world that lives, and eleven systems that walk it.
//!
//! Nine kinds of entities over fifteen components are spawned in mixed order. In each frame some
//! of them die and are replaced and some get or lose a component, one call each; then the systems
//! run. [`components`] says what there is, [`script`] what happens, [`systems`] what is computed.
//! A contestant implements [`FrameWorld`]; [`prepare`] plays the script on it and times the two halves
//! of each frame apart.

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use crate::{
    checksum::Tally,
    contestant::{Bout, Laps},
    scene::Scene,
    workload::Workload,
};

pub mod components;
pub mod script;
pub mod systems;

pub use components::{Kind, Start};
pub use script::{Change, Frame, Script};
pub use systems::Canvas;

/// The sizes at which the `frame` rows are measured.
pub const SIZES: [usize; 4] = [1000, 20_000, 100_000, 500_000];

/// A world in which the script is played.
pub trait FrameWorld {
    /// What it names entities by.
    type Id: Copy;

    /// Spawns one entity with the components of its kind, as number `i` has them.
    fn spawn(&mut self, kind: Kind, i: u32) -> Self::Id;

    /// Despawns one entity.
    fn despawn(&mut self, id: Self::Id);

    /// Inserts and removes components, one call each; number `i` is `ids[i]`, and what it gets is
    /// as number `i` has it.
    fn changes(&mut self, ids: &[Self::Id], changes: &[(u32, Change)]);

    /// Does what the library wants done once a frame.
    fn settle(&mut self) {}

    /// Runs the eleven systems, in their order.
    fn walk(&mut self, canvas: &mut Canvas);

    /// The bits of each component of an entity, in the order of `with_parts`; 0 where it has none.
    fn row(&mut self, id: Self::Id) -> Row;

    /// Despawns all that die. Overridden where storages are borrowed once for many calls.
    #[inline(always)]
    fn deaths(&mut self, ids: &[Self::Id], deaths: &[u32]) {
        for &i in deaths {
            self.despawn(ids[i as usize]);
        }
    }

    /// Spawns all that are born. Overridden where storages are borrowed once for many calls.
    #[inline(always)]
    fn births(&mut self, ids: &mut [Self::Id], births: &[(u32, Kind)]) {
        for &(i, kind) in births {
            ids[i as usize] = self.spawn(kind, i);
        }
    }
}

/// What an entity adds to the checksum.
pub type Row = [u64; 15];

/// Spawns the world of a `frame` row on a world; `None` for other workloads.
pub fn prepare<S: FrameWorld + 'static>(
    workload: Workload,
    scene: Scene,
    mut world: S,
) -> Option<Box<dyn Bout>> {
    let (script, first) = Script::new(scene, script::Pace::of(workload)?);
    // One at a time: nothing exists yet that an id could be replaced in.
    let mut ids: Vec<_> = first.births.iter().map(|&(i, kind)| world.spawn(kind, i)).collect();
    structure(&mut world, &mut ids, &Frame { births: Vec::new(), ..first });
    let (canvas, laps) = (Canvas::default(), Laps::default());
    Some(Box::new(FrameBout { world, ids, script, canvas, laps }))
}

/// A script that is played in a world.
struct FrameBout<S: FrameWorld> {
    world: S,
    ids: Vec<S::Id>,
    script: Script,
    canvas: Canvas,
    laps: Laps,
}

impl<S: FrameWorld> Bout for FrameBout<S> {
    fn run(&mut self) {
        let frame = self.script.advance();
        let start = Instant::now();
        structure(&mut self.world, &mut self.ids, &frame);
        let middle = Instant::now();
        walk(&mut self.world, &mut self.canvas);
        let end = Instant::now();
        self.laps[0] += nanoseconds(middle - start);
        self.laps[1] += nanoseconds(end - middle);
    }

    fn checksum(&mut self) -> u64 {
        let mut tally = Tally::default();
        for (i, id) in self.ids.iter().enumerate() {
            let mut parts = [i as u64; 16];
            parts[1..].copy_from_slice(&self.world.row(*id));
            tally.row(&parts);
        }
        tally.row(&[self.canvas.drawn]);
        tally.finish()
    }

    fn laps(&mut self) -> Option<Laps> {
        Some(std::mem::take(&mut self.laps))
    }
}

#[inline(never)]
fn structure<S: FrameWorld>(world: &mut S, ids: &mut [S::Id], frame: &Frame) {
    world.deaths(ids, &frame.deaths);
    world.births(ids, &frame.births);
    world.changes(ids, &frame.changes);
    world.settle();
}

#[inline(never)]
fn walk<S: FrameWorld>(world: &mut S, canvas: &mut Canvas) {
    world.walk(canvas);
}

/// A span of time without what reading the clock takes, which shows in the smallest worlds.
fn nanoseconds(span: Duration) -> f64 {
    static CLOCK: LazyLock<Duration> = LazyLock::new(|| {
        let spans = (0..1000).map(|_| {
            let start = Instant::now();
            start.elapsed()
        });
        spans.min().unwrap_or_default()
    });
    span.saturating_sub(*CLOCK).as_nanos() as f64
}
