//! Frames that are hard on a library: each case has a world and plays changes and queries on it.
//!
//! The program `bad_cases` times the frames. `worlds` has the calls that a library must offer,
//! `stage` what the cases share, `cases` what each of them does in a frame. Everything is drawn
//! from a seed and never depends on a contestant, so frame `k` is the same work for each
//! contestant and in each run.

mod cases;
mod stage;
mod worlds;

pub use worlds::{BadWorld, Part, Parts};

/// A bad case, and the contestants that play it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in tables and on the command line.
    pub name: &'static str,
    /// What happens in it, in a few words.
    pub summary: &'static str,
    /// How many frames are timed.
    pub frames: usize,
    /// How many frames are played before, untimed; none where the world grows or shrinks.
    pub warm_up: usize,
    /// What consecutive frames do in turn, as a suffix of the name; each has a row of its own.
    pub phases: &'static [&'static str],
    /// The contestants, by name.
    pub contestants: [(&'static str, Prepare); 3],
}

/// Spawns the world of a case.
pub type Prepare = fn(Scale) -> Box<dyn Play>;

/// The seed and the size of a case.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The seed of all random numbers.
    pub seed: u64,
    /// All numbers of entities are divided by it: 1, and more in tests.
    pub divisor: usize,
}

impl Scale {
    /// A number of entities in this size.
    fn of(self, entities: usize) -> usize {
        entities / self.divisor
    }
}

/// A world in which a case is played.
pub trait Play {
    /// Draws what happens in the frame with this number. Not timed.
    fn draw(&mut self, frame: usize);

    /// Plays what was drawn, and returns what the queries have seen.
    fn play(&mut self) -> Sum;

    /// Adds up what entities have, component by component, after the last frame. Not timed.
    fn audit(&mut self) -> Vec<Sum>;
}

/// What a query has seen, in whatever order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number of entities.
    pub rows: u64,
    /// The sum of the bits of their values; wraps.
    pub bits: u64,
}

impl Sum {
    #[inline(always)]
    fn add(&mut self, value: f32) {
        self.rows += 1;
        self.bits = self.bits.wrapping_add(u64::from(value.to_bits()));
    }
}

/// Names a case and gives it its contestants.
macro_rules! case {
    ($name:ident $state:ident: $summary:literal, $frames:literal, $warm_up:literal, $phases:expr) => {
        Case {
            name: stringify!($name),
            summary: $summary,
            frames: $frames,
            warm_up: $warm_up,
            phases: &$phases,
            contestants: [
                ("esker", |scale| Box::new(cases::$state::<::esker::World>::new(scale))),
                ("hecs", |scale| Box::new(cases::$state::<hecs::World>::new(scale))),
                ("bevy", |scale| Box::new(cases::$state::<bevy_ecs::world::World>::new(scale))),
            ],
        }
    };
}

/// All bad cases, in the order of the table.
pub const CASES: [Case; 7] = [
    case!(many_archetypes ManyArchetypes:
        "10,000 archetypes with 3 entities each; 100 markers toggled, one query over all",
        300, 4, [""]),
    case!(one_toggles OneToggles:
        "one of 20,000 entities loses and gets back a component 10,000 times a frame; one query",
        100, 4, [""]),
    case!(grows Grows:
        "1,000 entities of 9 kinds born a frame, from 0 to 300,000; one query",
        300, 0, [""]),
    case!(shrinks Shrinks:
        "1,000 random entities of 9 kinds killed a frame, from 300,000 to 0; one query",
        300, 0, [""]),
    case!(breathes Breathes:
        "100,000 born in one frame, killed in random order in the next, beside 20,000; one query",
        200, 4, [", born", ", killed"]),
    case!(all_change AllChange:
        "all of 100,000 get a component in one frame and lose it in the next; two queries",
        200, 4, [", inserted", ", removed"]),
    case!(interleaved Interleaved:
        "51 archetypes born round robin, 64 entities at a time; two queries in turn, no change",
        400, 4, [", query of one", ", query of all"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale { seed: 3, divisor: 100 };

    /// What the queries of a contestant have seen in each frame, and the audit.
    fn sums(case: &Case, prepare: Prepare, frames: usize) -> (Vec<Sum>, Vec<Sum>) {
        let mut world = prepare(SCALE);
        let play = |frame| {
            world.draw(frame);
            world.play()
        };
        let seen = (0..case.warm_up + frames).map(play).collect();
        (seen, world.audit())
    }

    /// How many entities the queries of the first contestant have seen in each frame.
    fn rows(name: &str) -> Vec<u64> {
        let case = CASES.iter().find(|case| case.name == name).expect("it is a case");
        let (_, prepare) = case.contestants[0];
        sums(case, prepare, case.frames).0.iter().map(|sum| sum.rows).collect()
    }

    #[test]
    fn contestants_agree() {
        for case in &CASES {
            let [(_, first), others @ ..] = case.contestants;
            let expected = sums(case, first, 30);
            for (name, prepare) in others {
                assert_eq!(sums(case, prepare, 30), expected, "{name} differs in {}", case.name);
            }
        }
    }

    #[test]
    fn world_grows_in_every_frame() {
        let rows = rows("grows");

        assert!(rows.is_sorted_by(|before, after| before < after), "{rows:?}");
    }

    #[test]
    fn world_shrinks_to_nothing() {
        let rows = rows("shrinks");

        assert!(rows.is_sorted_by(|before, after| before >= after), "{rows:?}");
        assert_eq!(rows.last(), Some(&0));
    }

    #[test]
    fn waves_come_and_go() {
        let rows = rows("breathes");

        assert!(rows.chunks(2).all(|wave| wave[0] > 4 * wave[1] && wave[1] > 0), "{rows:?}");
    }

    #[test]
    fn every_archetype_has_as_many_entities() {
        let rows = rows("interleaved");

        assert!(rows.chunks(2).all(|pair| pair[0] == 64 && pair[1] == 51 * 64), "{rows:?}");
    }

    #[test]
    fn every_second_frame_has_the_component_that_all_get() {
        let rows = rows("all_change");

        assert!(rows.chunks(2).all(|pair| pair[0] == pair[1] + 1000), "{rows:?}");
    }
}
