//! Schedules: which systems run, in which order, at once or one after the other.
//!
//! A schedule is a list of systems in the order in which they were added, and of orders that were
//! declared. From these one *serial order* follows: a system comes as early as its insertion and the
//! declared orders allow. Systems whose uses exclude each other are connected in the serial order;
//! others may run at once.
//!
//! # Invariants
//! - **T1** – two systems that exclude each other are connected by a path of edges, along the serial
//!   order.
//! - **T2** – the result of a step is that of running the systems one by one in the serial order, for
//!   any number of threads: what a system sees depends on systems it is connected with, ids come from
//!   a stream of its own, ticks are numbered in the serial order, and commands are carried out in that
//!   order (W3).

mod config;
mod error;
mod execute;
mod explain;
mod fixed;
mod graph;
#[cfg(any(feature = "parallel", all(test, esker_loom)))]
mod handover;
#[cfg(all(test, esker_shuttle))]
mod interleavings;
#[cfg(all(test, esker_loom))]
mod models;
mod outcome;
mod report;

pub use config::{Configs, IntoConfigs, IntoLabel, Label};
pub use error::ScheduleError;
pub use fixed::FixedStep;
pub use report::{StepReport, SystemReport};

use std::fmt;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::access::AccessSet;
use crate::system::{System, name_streams};
use crate::world::World;
use config::Config;
use graph::Graph;
use outcome::Outcome;

/// Systems and their order.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Position(f32);
/// # #[derive(Component)] struct Velocity(f32);
/// fn accelerate(mut velocities: Query<&mut Velocity>) {
///     velocities.iter_mut().for_each(|velocity| velocity.0 += 1.0);
/// }
/// fn advance(mut bodies: Query<(&mut Position, &Velocity)>) {
///     bodies.iter_mut().for_each(|(position, velocity)| position.0 += velocity.0);
/// }
///
/// let mut world = World::new();
/// world.spawn((Position(0.0), Velocity(0.0)));
/// let mut schedule = Schedule::new();
/// schedule.add_systems((accelerate, advance).chain());
/// for _ in 0..3 {
///     schedule.step(&mut world);
/// }
/// assert_eq!(world.query::<&Position>().single().unwrap().0, 6.0);
/// ```
pub struct Schedule {
    nodes: Vec<Node>,
    /// Declared orders: positions of systems that come before others.
    edges: Vec<(usize, usize)>,
    /// Numbers of systems behind which the world is refreshed.
    barriers: Vec<usize>,
    /// What follows from all this; made when the first step needs it.
    graph: Option<Box<Graph>>,
    /// Groups of the world that the graph was made for.
    groups: u64,
    /// The world that the systems were prepared for.
    world: Option<u64>,
    threads: Threads,
    shuffle: Option<u64>,
    /// Whether each system is timed in each step.
    is_timed: bool,
    steps: u64,
    /// Nanoseconds below which a system is not worth a task.
    small: u64,
    /// Memory for the places of systems among those that run at once; serves step after step.
    places: Vec<usize>,
}

/// A system of a schedule.
struct Node {
    system: Box<dyn System>,
    config: Config,
    access: AccessSet,
    /// How it came out in the step under way.
    outcome: Outcome,
    /// Nanoseconds that a run took, on average.
    cost: u64,
    is_enabled: bool,
    /// Whether it records commands.
    records: bool,
    /// Whether it shares the world with nobody, though it does not change it.
    is_apart: bool,
}

/// Whether systems run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Threads {
    /// Where that is worth it.
    #[default]
    Many,
    /// One after the other.
    One,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            barriers: Vec::new(),
            graph: None,
            groups: 0,
            world: None,
            threads: Threads::default(),
            shuffle: None,
            is_timed: false,
            steps: 0,
            small: execute::SMALL,
            places: Vec::new(),
        }
    }
}

impl Schedule {
    /// A schedule without systems.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a system, or several as a tuple, in this order.
    ///
    /// Systems that use something in ways that exclude each other run in the order in which they
    /// were added, unless [`before`](IntoConfigs::before), [`after`](IntoConfigs::after) or
    /// [`chain`](IntoConfigs::chain) say otherwise. Others may run at once.
    pub fn add_systems<Marker>(&mut self, systems: impl IntoConfigs<Marker>) -> &mut Self {
        let Configs { systems, edges, .. } = systems.into_configs();
        let first = self.nodes.len();
        for (system, config) in systems {
            let access = AccessSet::default();
            self.nodes.push(Node {
                system,
                config,
                access,
                outcome: Outcome::Idle,
                cost: 0,
                is_enabled: true,
                records: false,
                is_apart: false,
            });
        }
        self.edges.extend(edges.into_iter().map(|(a, b)| (first + a, first + b)));
        self.graph = None;
        self
    }

    /// Refreshes the world between the systems added so far and those added later.
    pub fn add_barrier(&mut self) -> &mut Self {
        self.barriers.push(self.nodes.len());
        self.graph = None;
        self
    }

    /// Lets a system, or all systems of a set, run or not from now on; returns how many there are.
    ///
    /// `name` is a name or the end of a path, as `physics::gravity`, or that of a set.
    pub fn set_enabled(&mut self, name: &str, enabled: bool) -> usize {
        let label = Label::from(name.to_owned());
        let mut count = 0;
        for node in &mut self.nodes {
            if node.config.is_named(node.system.name(), &label) {
                node.is_enabled = enabled;
                count += 1;
            }
        }
        count
    }

    /// Runs all systems on the calling thread, one after the other. The result is the same.
    pub fn set_serial(&mut self, serial: bool) -> &mut Self {
        self.threads = if serial { Threads::One } else { Threads::Many };
        self
    }

    /// Runs systems one by one in an order that is legal but not the serial one, chosen by `seed`;
    /// `None` goes back to normal.
    ///
    /// For tests: if a result depends on the order, somebody has said too little.
    pub fn shuffle(&mut self, seed: Option<u64>) -> &mut Self {
        self.shuffle = seed;
        self
    }

    /// Runs a system as a task for another thread only if it takes at least this long, as far as it was
    /// measured; 20 µs if nobody says otherwise. The result is the same.
    pub fn set_task_threshold(&mut self, time: Duration) -> &mut Self {
        self.small = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Has each step report how long each system took. Otherwise that is measured now and then, to find
    /// out which systems are worth a task.
    pub fn set_timed(&mut self, timed: bool) -> &mut Self {
        self.is_timed = timed;
        self
    }

    /// Names of the systems, in the serial order once the schedule was built.
    pub fn system_names(&self) -> Vec<&str> {
        match &self.graph {
            Some(graph) => graph.order.iter().map(|&at| self.nodes[at].system.name()).collect(),
            None => self.nodes.iter().map(|node| node.system.name()).collect(),
        }
    }

    /// Number of systems.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Prepares the systems for a world and finds their order. A step does that by itself.
    ///
    /// # Errors
    /// [`ScheduleError`] if the schedule contradicts itself.
    pub fn build(&mut self, world: &mut World) -> Result<(), ScheduleError> {
        if *self.world.get_or_insert(world.number()) != world.number() {
            return Err(ScheduleError::AnotherWorld);
        }
        if self.is_built_for(world) {
            return Ok(());
        }
        // As they are now: if preparing a system changes them, the schedule is built again before its next step.
        let groups = world.group_changes();
        // Closures that are made by one function have one name, and each needs ids of its own.
        let mut namesakes: FxHashMap<String, u64> = FxHashMap::default();
        for node in &mut self.nodes {
            node.access = node.system.init(world);
            node.records = false;
            node.outcome = Outcome::Idle;
            node.system.streams(&mut |_| node.records = true);
            if node.records {
                let next = namesakes.entry(node.system.name().to_owned()).or_default();
                name_streams(&mut *node.system, *next);
                *next += 1;
            }
            for condition in &mut node.config.conditions {
                node.access.extend(&condition.init(world));
                if condition.records() {
                    let system = node.system.name().to_owned();
                    return Err(ScheduleError::Records { system });
                }
            }
            // Its conditions included: they run on the same thread.
            node.is_apart = node.access.has_world();
            if let Some((key, usages)) = node.access.clash() {
                let system = node.system.name().to_owned();
                return Err(ScheduleError::Clash { system, name: key.name(), usages });
            }
        }
        self.graph = Some(Box::new(Graph::new(&self.nodes, &self.edges, &self.barriers)?));
        self.groups = groups;
        Ok(())
    }

    fn is_built_for(&self, world: &World) -> bool {
        self.world == Some(world.number())
            && self.graph.is_some()
            && self.groups == world.group_changes()
    }

    /// Builds the schedule if that is still to be done.
    #[inline]
    #[track_caller]
    fn make_ready(&mut self, world: &mut World) {
        if !self.is_built_for(world) {
            self.build(world).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Runs all systems once, then refreshes the world: one step.
    ///
    /// Commands are carried out at the refresh, system by system in the serial order. What a system
    /// creates is seen by others from then on.
    ///
    /// # Panics
    /// If the schedule contradicts itself (see [`build`](Self::build)), or a system panics or returns
    /// an error. The other systems finish first, and their commands are carried out; those of the
    /// system are dropped. If several do, the first one in the serial order is named.
    #[track_caller]
    pub fn step(&mut self, world: &mut World) -> StepReport {
        self.make_ready(world);
        self.run(world, None)
    }

    /// As [`step`](Self::step), for chosen systems or sets and all that come after them.
    ///
    /// # Panics
    /// As [`step`](Self::step), and if there is no system or set of one of these names.
    #[track_caller]
    pub fn step_from(&mut self, world: &mut World, names: &[&str]) -> StepReport {
        self.make_ready(world);
        let chosen = self.reachable_from(names);
        self.run(world, Some(&chosen))
    }

    /// Which systems are named, or come after one that is.
    #[track_caller]
    fn reachable_from(&self, names: &[&str]) -> Vec<bool> {
        let mut chosen = vec![false; self.nodes.len()];
        for &name in names {
            let label = Label::from(name.to_owned());
            let mut found = false;
            for (node, chosen) in self.nodes.iter().zip(&mut chosen) {
                if node.config.is_named(node.system.name(), &label) {
                    (*chosen, found) = (true, true);
                }
            }
            assert!(found, "the schedule has no system or set `{name}`; see `system_names`");
        }
        let graph = self.graph.as_ref().expect("built by the caller");
        for &at in &graph.order {
            if chosen[at] {
                graph.after[at].iter().for_each(|&next| chosen[next] = true);
            }
        }
        chosen
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("systems", &self.system_names()).finish_non_exhaustive()
    }
}
