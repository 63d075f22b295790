//! The world and its schedule.

use std::time::{Duration, Instant};

use esker::prelude::*;
use esker::schedule::StepReport;
use esker::snapshot::Rollback;

use crate::census::{self, History};
use crate::life::{self, Dice, Grazer, Hunter};
use crate::{herd, motion, senses, state, struggle};

pub struct Simulation {
    pub world: World,
    schedule: Schedule,
    rewinding: Option<Rewinding>,
}

/// Makes each step twice, as a game over a network does that has to correct its guesses.
pub struct Rewinding {
    past: Rollback,
    /// What keeping states and going back to them has taken, and what the steps have.
    pub rewound: Duration,
    pub stepped: Duration,
}

impl Simulation {
    /// Goes on from a world as [`populate`](crate::life::populate) makes it.
    pub fn new(mut world: World) -> Self {
        herd::group(&mut world);
        let mut schedule = schedule();
        let history = world.remove_resource::<History>();
        world.insert_resource(History::default());
        // The beginning is counted, too. In a loaded world, where all are new to the system that counts
        // them, it was counted before.
        schedule.step_from(&mut world, &["count"]);
        if let Some(history) = history {
            world.insert_resource(history);
        }
        Self { world, schedule, rewinding: None }
    }

    /// Takes back every step from now on, and makes it again.
    pub fn rewind(&mut self) {
        let past = Rollback::new(state::types(), 1);
        let (rewound, stepped) = (Duration::ZERO, Duration::ZERO);
        self.rewinding = Some(Rewinding { past, rewound, stepped });
    }

    pub fn rewinding(&self) -> Option<&Rewinding> {
        self.rewinding.as_ref()
    }

    /// Lets the world live one step.
    pub fn step(&mut self) -> StepReport {
        let Self { world, schedule, rewinding } = self;
        let Some(rewinding) = rewinding else { return schedule.step(world) };
        let timed = |sum: &mut Duration, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            *sum += start.elapsed();
        };
        let Rewinding { past, rewound, stepped } = rewinding;
        timed(rewound, &mut || past.keep(world).expect("all that is kept can be cloned"));
        timed(stepped, &mut || _ = schedule.step(world));
        timed(rewound, &mut || past.take_back(world, 0).expect("one state is kept"));
        schedule.step(world)
    }
}

/// The systems in their order. Those that do not get in each other's way run at once.
fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.set_timed(true);
    schedule.add_systems((life::roll, herd::tidy.run_if(|dice: Res<Dice>| dice.step % 20 == 1)));
    schedule.add_systems((
        struggle::grow,
        (senses::sort_herd, senses::smell, senses::look_around),
        (motion::take_fright, motion::flock, motion::flee, motion::chase, motion::travel),
        (struggle::graze, struggle::feed),
        (
            struggle::tire::<Grazer>.named("tire grazers"),
            struggle::tire::<Hunter>.named("tire hunters"),
            struggle::breed::<Grazer>.named("breed grazers"),
            struggle::breed::<Hunter>.named("breed hunters"),
            struggle::get_hungry,
            struggle::rot,
        ),
    ));
    // Commands are carried out here, so that the newborn are counted and the dead are not.
    schedule.add_barrier();
    schedule.add_systems(census::count);
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::populate;

    /// The hash after 40 steps on this many threads.
    fn hash_after(threads: usize, seed: u64) -> u64 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut simulation = Simulation::new(populate(3_000, seed));
        for _ in 0..40 {
            pool.install(|| simulation.step());
        }
        simulation.world.verify().unwrap();
        state::hash(&simulation.world).unwrap()
    }

    #[test]
    fn the_state_is_the_same_on_any_number_of_threads() {
        let one = hash_after(1, 7);

        assert_eq!(one, hash_after(2, 7));
        assert_eq!(one, hash_after(4, 7));
    }

    #[test]
    fn another_seed_gives_another_state() {
        assert_ne!(hash_after(1, 7), hash_after(1, 8));
    }

    #[test]
    fn a_saved_world_is_loaded_as_it_was() {
        let file = std::env::temp_dir().join(format!("swarm-{}.world", std::process::id()));
        let mut simulation = Simulation::new(populate(3_000, 5));
        (0..20).for_each(|_| _ = simulation.step());

        state::save(&simulation.world, &file).unwrap();
        let mut loaded = Simulation::new(state::load(&file).unwrap());
        std::fs::remove_file(&file).unwrap();

        let hash = |simulation: &Simulation| state::hash(&simulation.world).unwrap();
        assert_eq!(hash(&loaded), hash(&simulation));
        for _ in 0..20 {
            loaded.step();
            simulation.step();
        }
        loaded.world.verify().unwrap();
        assert_eq!(hash(&loaded), hash(&simulation), "it goes on as it would have");
    }

    #[test]
    fn a_step_that_is_taken_back_comes_out_the_same_again() {
        let mut plain = Simulation::new(populate(3_000, 9));
        let mut rewound = Simulation::new(populate(3_000, 9));
        rewound.rewind();

        for _ in 0..40 {
            plain.step();
            rewound.step();
        }

        rewound.world.verify().unwrap();
        let hash = |simulation: &Simulation| state::hash(&simulation.world).unwrap();
        assert_eq!(hash(&rewound), hash(&plain));
    }

    #[test]
    fn the_history_counts_everyone() {
        let mut simulation = Simulation::new(populate(3_000, 3));

        let skipped: u64 = (0..150).map(|_| simulation.step().commands.skipped).sum();

        let world = &simulation.world;
        let history = world.resource::<History>();
        let (now, begin) = (history.now(), history.0[0]);
        let (born, dead) = (history.total(|c| c.born), history.total(|c| c.eaten + c.starved));
        assert!(born > 0 && dead > 0);
        assert_eq!(now.grazers + now.hunters, world.len());
        assert_eq!(begin.born + born - dead, world.len());
        assert_eq!(skipped, 0, "nobody dies twice");
    }

    #[test]
    fn both_kinds_live_on() {
        let mut simulation = Simulation::new(populate(3_000, 1));

        (0..300).for_each(|_| _ = simulation.step());

        let now = simulation.world.resource::<History>().now();
        assert!(now.grazers > 300 && now.hunters > 10, "{now:?}");
    }
}
