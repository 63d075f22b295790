//! Runs the systems of a schedule.
//!
//! A piece of the serial order whose systems share the world runs on the threads of rayon, where that
//! is worth it: who has run a system starts those that waited only for it (`handover.rs`).
//! Systems that are too small for a task of their own are run by whoever has come to them. How long a
//! system takes is measured; it decides where a system runs, never what comes out (T2).

use std::error::Error;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::graph::{Graph, Segment, Shared};
#[cfg(feature = "parallel")]
use super::handover::{Crew, Handover};
use super::outcome::Outcome;
use super::{Node, Schedule, StepReport, SystemReport, Threads};
#[cfg(feature = "parallel")]
use crate::sync::{Scope, scope};
use crate::system::System;
use crate::tick::Tick;
use crate::world::World;

/// Memory that serves step after step.
#[derive(Default)]
pub(super) struct Scratch {
    outcomes: Vec<Outcome>,
    /// The place of each system among those of the piece under way.
    places: Vec<usize>,
}

/// Systems that run at once, or as if.
#[derive(Clone, Copy)]
struct Part<'a> {
    graph: &'a Graph,
    /// In the serial order.
    running: &'a [usize],
    /// The tick of the first one; the others follow.
    first: Tick,
}

/// The place of a system that does not run.
const NOWHERE: usize = usize::MAX;

/// One step in this many is timed.
const SAMPLE: u64 = 32;

impl Schedule {
    /// Runs the systems that are chosen, or all, and refreshes the world.
    #[track_caller]
    pub(super) fn run(&mut self, world: &mut World, chosen: Option<&[bool]>) -> StepReport {
        let started = self.looks_at_the_clock().then(Instant::now);
        let alive = world.len() as i64;
        world.forget_walks();
        let graph = self.graph.take().expect("built by the caller");
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.outcomes.resize_with(self.nodes.len(), Outcome::default);
        for &at in &graph.producers {
            self.nodes[at].system.forget_output(world);
        }
        let mut refresh = Duration::ZERO;
        for segment in &graph.segments {
            match *segment {
                Segment::Shared(shared) => {
                    // Disabled ones, too: others that exclude each other may be connected only through
                    // them (T1). Nobody is left out between two that are chosen.
                    let order = &graph.order[shared.start..shared.end];
                    match chosen {
                        None => self.run_shared(world, &graph, shared, order, &mut scratch),
                        Some(chosen) => {
                            let order: Vec<usize> =
                                order.iter().copied().filter(|&at| chosen[at]).collect();
                            self.run_shared(world, &graph, shared, &order, &mut scratch);
                        }
                    }
                }
                Segment::Alone(place) => {
                    let at = graph.order[place];
                    if self.nodes[at].is_enabled && chosen.is_none_or(|chosen| chosen[at]) {
                        scratch.outcomes[at] = run_alone(&mut self.nodes[at], world);
                    }
                }
                Segment::Refresh => {
                    let begun = started.map(|_| Instant::now());
                    self.refresh(world, &graph.order, &mut scratch.outcomes);
                    refresh += begun.map_or(Duration::ZERO, |begun| begun.elapsed());
                }
            }
        }
        let mut report = StepReport { commands: world.command_report(), ..StepReport::default() };
        report.growth = world.len() as i64 - alive;
        let mut failure = None;
        for &at in &graph.order {
            let mut time = None;
            match &mut scratch.outcomes[at] {
                Outcome::Idle => {}
                Outcome::Done(took) => {
                    report.systems_run += 1;
                    time = Some(Duration::from_nanos(*took));
                    scratch.outcomes[at] = Outcome::Idle;
                }
                failed => {
                    let failed = std::mem::take(failed);
                    failure = failure.or(Some((at, failed)));
                }
            }
            if self.is_timed {
                let name = self.nodes[at].system.name().to_owned();
                report.systems.push(SystemReport { name, time });
            }
        }
        self.graph = Some(graph);
        self.scratch = scratch;
        self.steps += 1;
        if let Some((at, failed)) = failure {
            failed.fail(self.nodes[at].system.name());
        }
        report.time = started.map(|started| started.elapsed());
        report.refresh = started.map(|_| refresh);
        report
    }

    /// Whether this step is timed.
    fn looks_at_the_clock(&self) -> bool {
        self.is_timed || self.steps.is_multiple_of(SAMPLE)
    }

    /// Carries out the commands of all systems, in the serial order, and refreshes the world.
    fn refresh(&mut self, world: &mut World, order: &[usize], outcomes: &mut [Outcome]) {
        for &at in order {
            let Node { system, applies, .. } = &mut self.nodes[at];
            match &outcomes[at] {
                Outcome::Panicked(_) => system.discard(world),
                Outcome::Done(_) | Outcome::Failed(_) if *applies => {
                    let applied = catch_unwind(AssertUnwindSafe(|| system.apply(world)));
                    if let Err(payload) = applied {
                        system.discard(world);
                        outcomes[at] = Outcome::Panicked(payload);
                    }
                }
                _ => {}
            }
        }
        world.refresh();
    }

    /// Runs systems that share the world.
    fn run_shared(
        &mut self,
        world: &mut World,
        graph: &Graph,
        shared: Shared,
        running: &[usize],
        scratch: &mut Scratch,
    ) {
        if !running.iter().any(|&at| self.nodes[at].is_enabled) {
            return;
        }
        if shared.records {
            world.open_streams(&mut Self::systems(&mut self.nodes, running));
        }
        // A system that has `&World` shares it with nobody, and runs on this thread: what it can get at
        // may belong to it.
        let mut left = running;
        while let Some((first, rest)) = left.split_first() {
            let is_apart = |at: &usize| self.nodes[*at].is_apart;
            let together = match is_apart(first) {
                true => 1,
                false if !shared.has_apart => left.len(),
                false => 1 + rest.iter().take_while(|at| !is_apart(at)).count(),
            };
            let (part, others) = left.split_at(together);
            self.run_part(world, graph, part, scratch);
            left = others;
        }
        for &at in running {
            if matches!(scratch.outcomes[at], Outcome::Panicked(_)) {
                self.nodes[at].system.discard(world);
            }
        }
        if shared.records {
            world.close_streams(&mut Self::systems(&mut self.nodes, running));
        }
    }

    /// Runs systems of which none shares the world with nobody, or one that does.
    fn run_part(
        &mut self,
        world: &mut World,
        graph: &Graph,
        running: &[usize],
        scratch: &mut Scratch,
    ) {
        let first = world.take_ticks(running.len() as u64);
        let is_timed = self.looks_at_the_clock();
        // An exclusive system or a command may have changed the groups since the graph was made: then who
        // edits a pool uses more than he has said, and only the serial order is right. So it is where ids
        // are scarce and cannot be dealt out in advance.
        let is_known = self.groups == world.group_changes();
        let has_ids = world.can_open_streams() || !running.iter().any(|&at| self.nodes[at].records);
        let wants_tasks = self.threads == Threads::Many && self.is_worth_tasks(running);
        if !is_known || !has_ids || self.shuffle.is_none() && !wants_tasks {
            for (&at, place) in running.iter().zip(0..) {
                let now = Tick::new(first.get() + place);
                scratch.outcomes[at] = self.nodes[at].run_sole(world, now, is_timed);
            }
            return;
        }
        scratch.places.clear();
        scratch.places.resize(self.nodes.len(), NOWHERE);
        for (place, &at) in running.iter().enumerate() {
            scratch.places[at] = place;
        }
        let part = Part { graph, running, first };
        match self.shuffle {
            Some(seed) => self.run_shuffled(world, part, scratch, seed),
            None => self.run_tasks(world, part, scratch),
        }
    }

    fn systems<'a>(nodes: &'a mut [Node], running: &[usize]) -> Vec<&'a mut dyn System> {
        let mut places: Vec<(usize, usize)> =
            running.iter().enumerate().map(|(place, &at)| (at, place)).collect();
        places.sort_unstable();
        let mut systems: Vec<(usize, &mut dyn System)> = Vec::with_capacity(running.len());
        let mut next = places.into_iter().peekable();
        for (at, node) in nodes.iter_mut().enumerate() {
            if let Some((_, place)) = next.next_if(|&(wanted, _)| wanted == at) {
                systems.push((place, &mut *node.system));
            }
        }
        systems.sort_unstable_by_key(|(place, _)| *place);
        systems.into_iter().map(|(_, system)| system).collect()
    }

    /// Runs the systems one by one in a legal order that `seed` chooses.
    #[cold]
    #[inline(never)]
    fn run_shuffled(&mut self, world: &World, part: Part<'_>, scratch: &mut Scratch, seed: u64) {
        let Part { graph, running, first } = part;
        let Scratch { outcomes, places } = scratch;
        let mut waits = graph.waits_among(running, places);
        let mut ready: Vec<usize> = (0..running.len()).filter(|&p| waits[p] == 0).collect();
        let mut state = seed.wrapping_add(self.steps).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        while !ready.is_empty() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let place = ready.swap_remove((state % ready.len() as u64) as usize);
            let at = running[place];
            let now = Tick::new(first.get() + place as u64);
            outcomes[at] = self.nodes[at].run(world, now, false);
            graph.release(places, at, |next| {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(next);
                }
            });
        }
    }
}

/// Nanoseconds below which a system is not worth a task, unless somebody says otherwise: handing one to
/// another thread and being told that it is done takes about half of it.
pub(super) const SMALL: u64 = 20_000;

impl Schedule {
    /// Whether at least two systems are worth a task, so that threads may gain something.
    fn is_worth_tasks(&self, running: &[usize]) -> bool {
        cfg!(feature = "parallel")
            && running.iter().filter(|&&at| !self.nodes[at].is_small(self.small)).count() >= 2
    }

    #[cfg(not(feature = "parallel"))]
    fn run_tasks(&mut self, _: &World, _: Part<'_>, _: &mut Scratch) {
        unreachable!("without the feature `parallel` nothing is worth a task");
    }

    /// Runs systems on the threads of rayon.
    // Not inlined: what is run here is not small, and the way of the small ones stays short.
    #[cfg(feature = "parallel")]
    #[inline(never)]
    fn run_tasks(&mut self, world: &World, part: Part<'_>, scratch: &mut Scratch) {
        let Part { graph, running, first } = part;
        let Scratch { outcomes, places } = scratch;
        let waits = graph.waits_among(running, places);
        let ready = (0..running.len()).filter(|&place| waits[place] == 0).collect();
        let mut nodes: Vec<Option<&mut Node>> = self.nodes.iter_mut().map(Some).collect();
        let systems = running.iter().map(|&at| nodes[at].take().expect("it runs once in a step"));
        let handover = Handover::new(systems.zip(waits));
        let tasks = Tasks { world, graph, running, places, first, small: self.small };
        scope(|scope, _| tasks.start(scope, &handover, ready));
        for (&at, outcome) in running.iter().zip(handover.into_outcomes()) {
            outcomes[at] = outcome;
        }
    }
}

/// Systems that run on several threads.
#[cfg(feature = "parallel")]
struct Tasks<'a> {
    world: &'a World,
    graph: &'a Graph,
    running: &'a [usize],
    places: &'a [usize],
    small: u64,
    first: Tick,
}

#[cfg(feature = "parallel")]
impl Tasks<'_> {
    /// Runs systems that wait for nobody, and those that are started by that.
    fn start<'s>(
        &'s self,
        scope: &Scope<'s>,
        handover: &'s Handover<&mut Node, Outcome>,
        ready: Vec<usize>,
    ) {
        handover.carry_on(self, ready, |place| {
            scope.spawn(move |scope| {
                let next = handover.run_one(self, place);
                self.start(scope, handover, next);
            });
        });
    }
}

#[cfg(feature = "parallel")]
impl Crew<&mut Node, Outcome> for Tasks<'_> {
    fn run(&self, place: usize, node: &mut Node) -> Outcome {
        node.run(self.world, Tick::new(self.first.get() + place as u64), true)
    }

    fn is_small(&self, node: &&mut Node) -> bool {
        node.is_small(self.small)
    }

    fn behind(&self, place: usize, each: impl FnMut(usize)) {
        self.graph.release(self.places, self.running[place], each);
    }
}

impl Graph {
    /// For each of the systems that run, how many of them it waits for.
    fn waits_among(&self, running: &[usize], places: &[usize]) -> Vec<usize> {
        let mut waits = vec![0; running.len()];
        for &at in running {
            self.release(places, at, |next| waits[next] += 1);
        }
        waits
    }

    /// Calls `each` with the places of those that wait for a system.
    fn release(&self, places: &[usize], at: usize, mut each: impl FnMut(usize)) {
        // Those that do not run in this piece wait for nobody.
        let places = self.after[at].iter().map(|&next| places[next]);
        places.filter(|&place| place != NOWHERE).for_each(&mut each);
    }
}

impl Node {
    /// Whether a run is not worth a task.
    fn is_small(&self, small: u64) -> bool {
        !self.is_enabled || self.cost < small
    }

    /// Runs the system if it is enabled and its conditions hold.
    fn run(&mut self, world: &World, now: Tick, is_timed: bool) -> Outcome {
        self.run_by(world, now, is_timed, |system, world| system.run(world, now))
    }

    /// As `run`, while nobody else has the world.
    fn run_sole(&mut self, world: &mut World, now: Tick, is_timed: bool) -> Outcome {
        self.run_by(world, now, is_timed, |system, world| system.run_sole(world, now))
    }

    fn run_by<W: Deref<Target = World>>(
        &mut self,
        world: W,
        now: Tick,
        is_timed: bool,
        run: impl FnOnce(&mut dyn System, W) -> Result<(), Box<dyn Error + Send + Sync>>,
    ) -> Outcome {
        if !self.is_enabled {
            return Outcome::Idle;
        }
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!("system", name = self.system.name()).entered();
        let started = is_timed.then(Instant::now);
        let outcome = Outcome::of(|| {
            if let Some(outcome) = self.refused(&world, now) {
                return outcome;
            }
            match run(&mut *self.system, world) {
                Ok(()) => Outcome::Done(0),
                Err(error) => Outcome::Failed(error),
            }
        });
        let (Some(started), Outcome::Done(_)) = (started, &outcome) else { return outcome };
        let time = started.elapsed().as_nanos() as u64;
        // The last runs count most.
        self.cost = if self.cost == 0 { time } else { (3 * self.cost + time) / 4 };
        Outcome::Done(time)
    }

    /// Why the system does not run, if a condition does not hold.
    fn refused(&mut self, world: &World, now: Tick) -> Option<Outcome> {
        for condition in &mut self.config.conditions {
            match condition.holds(world, now) {
                Ok(true) => {}
                Ok(false) => return Some(Outcome::Idle),
                Err(error) => return Some(Outcome::Failed(error.into())),
            }
        }
        None
    }
}

/// Runs a system that needs the world to itself.
fn run_alone(node: &mut Node, world: &mut World) -> Outcome {
    #[cfg(feature = "tracing")]
    let _span = tracing::info_span!("system", name = node.system.name()).entered();
    let started = Instant::now();
    Outcome::of(|| {
        let now = world.tick();
        if let Some(outcome) = node.refused(world, now) {
            return outcome;
        }
        match node.system.run_alone(world) {
            Ok(()) => Outcome::Done(started.elapsed().as_nanos() as u64),
            Err(error) => Outcome::Failed(error),
        }
    })
}
