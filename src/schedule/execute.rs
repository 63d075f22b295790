//! Runs the systems of a schedule.
//!
//! A piece of the serial order whose systems share the world runs on the threads of rayon, where that
//! is worth it: who has run a system starts those that waited only for it (`handover.rs`).
//! Systems that are too small for a task of their own are run by whoever has come to them. How long a
//! system takes is measured; it decides where a system runs, never what comes out (T2).

use std::error::Error;
use std::mem;
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
use crate::system::{System, discard};
use crate::tick::Tick;
use crate::world::World;

/// Systems that run at once, or as if.
#[derive(Clone, Copy)]
struct Part<'a> {
    graph: &'a Graph,
    /// In the serial order.
    running: &'a [usize],
    /// The place of each system of the schedule among these.
    places: &'a [usize],
    /// The tick of the first one; the others follow.
    first: Tick,
}

/// When the clock was looked at last, in a step that is timed: one thing ends where the next begins.
#[derive(Clone, Copy)]
struct Laps(Option<Instant>);

impl Laps {
    /// The time since the start or the last lap.
    #[inline]
    fn lap(&mut self) -> Option<Duration> {
        self.0.as_mut().map(look)
    }

    /// The time between two laps.
    fn since(self, start: Self) -> Option<Duration> {
        Some(self.0?.duration_since(start.0?))
    }
}

/// The time since the clock was looked at last.
// Few steps are timed.
#[cold]
#[inline(never)]
fn look(last: &mut Instant) -> Duration {
    let before = mem::replace(last, Instant::now());
    last.duration_since(before)
}

/// The place of a system that does not run.
const NOWHERE: usize = usize::MAX;

/// One step in this many is timed.
const SAMPLE: u64 = 32;

impl Schedule {
    /// Runs the systems that are chosen, or all, and refreshes the world.
    #[track_caller]
    pub(super) fn run(&mut self, world: &mut World, chosen: Option<&[bool]>) -> StepReport {
        let is_timed = self.is_timed || self.steps.is_multiple_of(SAMPLE);
        let started = Laps(is_timed.then(Instant::now));
        let mut laps = started;
        let alive = world.len() as i64;
        // If a listener unwinds, the next step builds it again, and forgets how systems came out in this one.
        let graph = self.graph.take().expect("built by the caller");
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
                    let left: Vec<usize>;
                    let running = match chosen {
                        None => order,
                        Some(chosen) => {
                            left = order.iter().copied().filter(|&at| chosen[at]).collect();
                            &left
                        }
                    };
                    self.run_shared(world, &graph, shared, running, &mut laps);
                }
                Segment::Alone(place) => {
                    let at = graph.order[place];
                    if chosen.is_none_or(|chosen| chosen[at]) {
                        self.nodes[at].outcome = self.nodes[at].run_alone(world, &mut laps);
                    }
                }
                Segment::Refresh => {
                    self.refresh(world, &graph.appliers);
                    if let Some(time) = laps.lap() {
                        refresh += time;
                    }
                }
            }
        }
        let systems = if self.is_timed { self.reports(&graph.order) } else { Vec::new() };
        let (mut systems_run, mut failed) = (0, None);
        for &at in &graph.order {
            match &mut self.nodes[at].outcome {
                Outcome::Idle => {}
                done @ Outcome::Done(_) => {
                    systems_run += 1;
                    *done = Outcome::Idle;
                }
                Outcome::Failed(_) => failed = failed.or(Some(at)),
            }
        }
        self.graph = Some(graph);
        self.steps += 1;
        let commands = world.command_report();
        if let Some(at) = failed {
            self.fail(at);
        }
        StepReport {
            systems,
            systems_run,
            commands,
            growth: world.len() as i64 - alive,
            // A refresh is the last thing in a step.
            time: laps.since(started),
            refresh: laps.0.map(|_| refresh),
        }
    }

    /// What the systems have done, in the serial order.
    #[cold]
    fn reports(&self, order: &[usize]) -> Vec<SystemReport> {
        let nodes = order.iter().map(|&at| &self.nodes[at]);
        nodes
            .map(|node| {
                let time = match node.outcome {
                    Outcome::Done(took) => Some(Duration::from_nanos(took)),
                    _ => None,
                };
                SystemReport { name: node.system.name().to_owned(), time }
            })
            .collect()
    }

    /// Goes on with the failure of a system; those of others are forgotten.
    #[cold]
    #[track_caller]
    fn fail(&mut self, at: usize) -> ! {
        let nodes = self.nodes.iter_mut();
        let mut outcomes: Vec<_> = nodes.map(|node| mem::take(&mut node.outcome)).collect();
        let Outcome::Failed(failure) = outcomes.swap_remove(at) else { unreachable!("it failed") };
        drop(outcomes);
        failure.go_on(self.nodes[at].system.name())
    }

    /// Carries out the commands of systems, in the serial order, and refreshes the world.
    fn refresh(&mut self, world: &mut World, appliers: &[usize]) {
        for &at in appliers {
            let Node { system, outcome, .. } = &mut self.nodes[at];
            match outcome {
                Outcome::Idle => {}
                outcome if outcome.is_panic() => discard(&mut **system, world),
                outcome => {
                    let applied = catch_unwind(AssertUnwindSafe(|| system.apply(world)));
                    if let Err(payload) = applied {
                        discard(&mut **system, world);
                        *outcome = Outcome::panicked(payload);
                    }
                }
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
        laps: &mut Laps,
    ) {
        if !running.iter().any(|&at| self.nodes[at].is_enabled) {
            return;
        }
        if shared.records {
            let mut streaming = world.open_streams(&mut Self::systems(&mut self.nodes, running));
            // The first system has no part in that.
            laps.lap();
            self.run_parts(&mut streaming, graph, shared, running, laps);
            streaming.close(&mut Self::systems(&mut self.nodes, running));
        } else {
            self.run_parts(world, graph, shared, running, laps);
        }
        // Commands are dropped only now: code of users runs while the book of ids is closed.
        for &at in running {
            let Node { system, outcome, .. } = &mut self.nodes[at];
            if outcome.is_panic() {
                discard(&mut **system, world);
            }
        }
    }

    /// Runs systems that share the world, those together that may.
    fn run_parts(
        &mut self,
        world: &mut World,
        graph: &Graph,
        shared: Shared,
        running: &[usize],
        laps: &mut Laps,
    ) {
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
            self.run_part(world, graph, part, laps);
            left = others;
        }
    }

    /// Runs systems of which none shares the world with nobody, or one that does.
    fn run_part(&mut self, world: &mut World, graph: &Graph, running: &[usize], laps: &mut Laps) {
        let first = world.take_ticks(running.len() as u64);
        if self.leaves_the_order(world, running) {
            self.run_out_of_order(world, graph, running, first);
            laps.lap();
            return;
        }
        for (&at, place) in running.iter().zip(0..) {
            let node = &mut self.nodes[at];
            node.outcome = node.run_sole(world, Tick::new(first.get() + place), laps);
        }
    }

    /// Whether systems do not simply run one by one in the serial order.
    fn leaves_the_order(&self, world: &World, running: &[usize]) -> bool {
        let is_wanted =
            self.shuffle.is_some() || self.threads == Threads::Many && self.is_worth_tasks(running);
        // An exclusive system or a command may have changed the groups since the graph was made: then who
        // edits a pool uses more than he has said, and only the serial order is right. So it is where ids
        // are scarce and cannot be dealt out in advance.
        is_wanted
            && self.groups == world.group_changes()
            && (world.can_open_streams() || !running.iter().any(|&at| self.nodes[at].records))
    }

    /// Runs systems at once, or one by one in another legal order.
    // Not inlined: what is run here is not small, and the way of the small ones stays short.
    #[inline(never)]
    fn run_out_of_order(&mut self, world: &World, graph: &Graph, running: &[usize], first: Tick) {
        let mut places = mem::take(&mut self.places);
        places.clear();
        places.resize(self.nodes.len(), NOWHERE);
        for (place, &at) in running.iter().enumerate() {
            places[at] = place;
        }
        let part = Part { graph, running, places: &places, first };
        match self.shuffle {
            Some(seed) => self.run_shuffled(world, part, seed),
            None => self.run_tasks(world, part),
        }
        self.places = places;
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
    fn run_shuffled(&mut self, world: &World, part: Part<'_>, seed: u64) {
        let Part { graph, running, places, first } = part;
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
            self.nodes[at].outcome = self.nodes[at].run(world, now, &mut Laps(None));
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
    fn run_tasks(&mut self, _: &World, _: Part<'_>) {
        unreachable!("without the feature `parallel` nothing is worth a task");
    }

    /// Runs systems on the threads of rayon.
    #[cfg(feature = "parallel")]
    fn run_tasks(&mut self, world: &World, part: Part<'_>) {
        let Part { graph, running, places, .. } = part;
        let waits = graph.waits_among(running, places);
        let ready = (0..running.len()).filter(|&place| waits[place] == 0).collect();
        let mut nodes: Vec<Option<&mut Node>> = self.nodes.iter_mut().map(Some).collect();
        let systems = running.iter().map(|&at| nodes[at].take().expect("it runs once in a step"));
        let handover = Handover::new(systems.zip(waits));
        let tasks = Tasks { world, part, small: self.small };
        scope(|scope, _| tasks.start(scope, &handover, ready));
        let outcomes: Vec<Outcome> = handover.into_outcomes().collect();
        for (&at, outcome) in running.iter().zip(outcomes) {
            self.nodes[at].outcome = outcome;
        }
    }
}

/// Systems that run on several threads.
#[cfg(feature = "parallel")]
struct Tasks<'a> {
    world: &'a World,
    part: Part<'a>,
    small: u64,
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
        let now = Tick::new(self.part.first.get() + place as u64);
        node.run(self.world, now, &mut Laps(Some(Instant::now())))
    }

    fn is_small(&self, node: &&mut Node) -> bool {
        node.is_small(self.small)
    }

    fn behind(&self, place: usize, each: impl FnMut(usize)) {
        let Part { graph, running, places, .. } = self.part;
        graph.release(places, running[place], each);
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

    /// Runs the system if it is enabled and its conditions hold: one lap.
    fn run(&mut self, world: &World, now: Tick, laps: &mut Laps) -> Outcome {
        self.run_by(world, now, laps, |system, world| system.run(world, now))
    }

    /// As `run`, while nobody else has the world.
    #[inline]
    fn run_sole(&mut self, world: &mut World, now: Tick, laps: &mut Laps) -> Outcome {
        self.run_by(world, now, laps, |system, world| system.run_sole(world, now))
    }

    /// As `run`, for a system that needs the world to itself.
    fn run_alone(&mut self, world: &mut World, laps: &mut Laps) -> Outcome {
        let now = world.tick();
        self.run_by(world, now, laps, |system, world| system.run_alone(world))
    }

    #[inline]
    fn run_by<W: Deref<Target = World>>(
        &mut self,
        world: W,
        now: Tick,
        laps: &mut Laps,
        run: impl FnOnce(&mut dyn System, W) -> Result<(), Box<dyn Error + Send + Sync>>,
    ) -> Outcome {
        if !self.is_enabled {
            return Outcome::Idle;
        }
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!("system", name = self.system.name()).entered();
        let outcome = Outcome::of(|| {
            for condition in &mut self.config.conditions {
                if !condition.holds(&world, now)? {
                    return Ok(false);
                }
            }
            run(&mut *self.system, world).map(|()| true)
        });
        let (Some(time), Outcome::Done(_)) = (laps.lap(), &outcome) else { return outcome };
        let time = time.as_nanos() as u64;
        // The last runs count most.
        self.cost = if self.cost == 0 { time } else { (3 * self.cost + time) / 4 };
        Outcome::Done(time)
    }
}
