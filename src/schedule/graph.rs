//! The order of systems, and which of them depend on each other. Knows no system, only names and
//! uses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Node, ScheduleError};
use crate::access::{Key, Usage};

/// What follows from the systems of a schedule.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The serial order: positions of systems in the schedule.
    pub(super) order: Vec<usize>,
    /// For each system those that must wait for it.
    pub(super) after: Vec<Vec<usize>>,
    /// The serial order in pieces.
    pub(super) segments: Vec<Segment>,
    /// Systems that exclude each other and whose order nobody has declared, and why.
    pub(super) ambiguities: Vec<(usize, usize, Key)>,
    /// Declared orders, outputs included.
    pub(super) declared: Vec<(usize, usize)>,
    /// Systems that return an output.
    pub(super) producers: Vec<usize>,
    /// Systems that may leave something to be done at the refresh, in the serial order.
    pub(super) appliers: Vec<usize>,
}

/// Systems that share the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shared {
    /// From one place of the order to another.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether one of them records commands.
    pub(super) records: bool,
    /// Whether one of them shares the world with nobody, though it does not change it.
    pub(super) has_apart: bool,
}

/// A piece of the serial order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// Systems that share the world.
    Shared(Shared),
    /// A system that has the world to itself, by its place in the order.
    Alone(usize),
    /// The world is refreshed.
    Refresh,
}

/// Pairs that the report of ambiguities names at most.
const NAMED: usize = 1000;

impl Graph {
    pub(super) fn new(
        nodes: &[Node],
        edges: &[(usize, usize)],
        barriers: &[usize],
    ) -> Result<Self, ScheduleError> {
        let mut declared = edges.to_vec();
        labels(nodes, &mut declared)?;
        outputs(nodes, &mut declared)?;
        let phases = phases(nodes.len(), barriers);
        let order = serial_order(nodes, &declared, &phases)?;
        let mut graph = Self { order, declared, ..Self::default() };
        graph.connect(nodes);
        graph.cut(nodes, &phases);
        graph.find_ambiguities(nodes);
        graph.producers =
            (0..nodes.len()).filter(|&at| nodes[at].system.output().is_some()).collect();
        graph.appliers =
            graph.order.iter().copied().filter(|&at| nodes[at].system.applies()).collect();
        Ok(graph)
    }

    /// Connects what excludes each other, along the serial order.
    fn connect(&mut self, nodes: &[Node]) {
        self.after = vec![Vec::new(); nodes.len()];
        let mut edges = self.declared.clone();
        // Who uses each key, as far as somebody later may have to wait for him directly.
        let mut users: FxHashMap<Key, [Vec<usize>; Usage::ALL.len()]> = FxHashMap::default();
        for &at in &self.order {
            let world = (Key::world(), Usage::Read);
            for (key, usage) in nodes[at].access.iter().chain([world]) {
                let users = users.entry(key).or_default();
                for its in Usage::ALL.into_iter().filter(|its| usage.excludes(*its)) {
                    let before = &mut users[its as usize];
                    edges.extend(before.iter().filter(|&&b| b != at).map(|&b| (b, at)));
                    // Who excludes them excludes this one, too, and so need not wait for them.
                    if its.is_covered_by(usage) {
                        before.retain(|&before| before == at);
                    }
                }
                users[usage as usize].push(at);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        for (before, after) in edges {
            self.after[before].push(after);
        }
    }

    /// Cuts the serial order into pieces.
    fn cut(&mut self, nodes: &[Node], phases: &[usize]) {
        let mut start = 0;
        for place in 0..self.order.len() {
            let at = self.order[place];
            if place > 0 && phases[self.order[place - 1]] != phases[at] {
                self.close(nodes, &mut start, place);
                self.segments.push(Segment::Refresh);
            }
            if nodes[at].system.is_exclusive() {
                self.close(nodes, &mut start, place);
                if !matches!(self.segments.last(), None | Some(Segment::Refresh)) {
                    self.segments.push(Segment::Refresh);
                }
                self.segments.push(Segment::Alone(place));
                start = place + 1;
            }
        }
        self.close(nodes, &mut start, self.order.len());
        self.segments.push(Segment::Refresh);
    }

    /// Ends a segment of systems that share the world, if there are any.
    fn close(&mut self, nodes: &[Node], start: &mut usize, end: usize) {
        let start = std::mem::replace(start, end);
        let systems = &self.order[start..end];
        if !systems.is_empty() {
            let records = systems.iter().any(|&at| nodes[at].records);
            let has_apart = systems.iter().any(|&at| nodes[at].is_apart);
            self.segments.push(Segment::Shared(Shared { start, end, records, has_apart }));
        }
    }

    /// Finds systems that exclude each other and whose order nobody has declared.
    fn find_ambiguities(&mut self, nodes: &[Node]) {
        if nodes.len() > 512 {
            // Each pair is looked at: for schedules that people write.
            return;
        }
        let mut reaches = vec![vec![false; nodes.len()]; nodes.len()];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        self.declared.iter().for_each(|&(a, b)| next[a].push(b));
        for &at in self.order.iter().rev() {
            for &b in &next[at] {
                let far = reaches[b].clone();
                for (mine, its) in reaches[at].iter_mut().zip(far) {
                    *mine |= its;
                }
                reaches[at][b] = true;
            }
        }
        for (place, &a) in self.order.iter().enumerate() {
            for &b in &self.order[place + 1..] {
                if !reaches[a][b]
                    && let Some(key) = nodes[a].access.conflict(&nodes[b].access)
                    && self.ambiguities.len() < NAMED
                {
                    self.ambiguities.push((a, b, key));
                }
            }
        }
    }
}

/// Turns `before` and `after` into edges.
fn labels(nodes: &[Node], edges: &mut Vec<(usize, usize)>) -> Result<(), ScheduleError> {
    let meant = meanings(nodes);
    for (at, node) in nodes.iter().enumerate() {
        let config = &node.config;
        let before = config.before.iter().map(|label| (label, true));
        let after = config.after.iter().map(|label| (label, false));
        for (label, is_before) in before.chain(after) {
            let Some(others) = meant.get(label.as_str()) else {
                let (system, label) = (node.system.name().to_owned(), label.as_str().to_owned());
                return Err(ScheduleError::Unknown { system, label });
            };
            // A label means the others that bear it. One that means the system alone is a cycle of one.
            let is_alone = others[..] == [at];
            for &other in others.iter().filter(|&&other| other != at || is_alone) {
                edges.push(if is_before { (at, other) } else { (other, at) });
            }
        }
    }
    Ok(())
}

/// The systems that each label means: by name, by the end of a path, by set.
fn meanings(nodes: &[Node]) -> FxHashMap<&str, Vec<usize>> {
    let mut meant: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        let name = node.system.name();
        let ends = name.match_indices("::").map(|(at, _)| &name[at + 2..]);
        let sets = node.config.sets.iter().map(|set| set.as_str());
        for label in std::iter::once(name).chain(ends).chain(sets) {
            let systems = meant.entry(label).or_default();
            if systems.last() != Some(&at) {
                systems.push(at);
            }
        }
    }
    meant
}

/// Lets a system that returns an output run before those that read it, themselves or in a condition.
fn outputs(nodes: &[Node], edges: &mut Vec<(usize, usize)>) -> Result<(), ScheduleError> {
    let mut producers: FxHashMap<Key, usize> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        let Some(key) = node.system.output() else { continue };
        if let Some(other) = producers.insert(key, at) {
            let systems = [other, at].map(|at| nodes[at].system.name().to_owned());
            return Err(ScheduleError::TwoProducers { output: key.name(), systems });
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        let conditions = node.config.conditions.iter().flat_map(|condition| condition.needs());
        for (key, is_needed) in node.system.needs().into_iter().chain(conditions) {
            let system = || node.system.name().to_owned();
            match producers.get(&key) {
                Some(&producer) if producer != at => edges.push((producer, at)),
                _ if !is_needed => {}
                Some(_) => {
                    return Err(ScheduleError::OwnOutput { output: key.name(), system: system() });
                }
                None => {
                    return Err(ScheduleError::NoProducer { output: key.name(), system: system() });
                }
            }
        }
    }
    Ok(())
}

/// The phase of each system: barriers lie between phases.
fn phases(systems: usize, barriers: &[usize]) -> Vec<usize> {
    (0..systems).map(|at| barriers.iter().filter(|&&barrier| barrier <= at).count()).collect()
}

/// Each system as early as phases, declared orders and its insertion allow.
fn serial_order(
    nodes: &[Node],
    edges: &[(usize, usize)],
    phases: &[usize],
) -> Result<Vec<usize>, ScheduleError> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut waits = vec![0; nodes.len()];
    for &(a, b) in edges {
        // Against a barrier: a cycle, as the phases are an order, too.
        if phases[a] > phases[b] {
            let systems = [a, b].map(|at| nodes[at].system.name().to_owned()).to_vec();
            return Err(ScheduleError::Cycle { systems });
        }
        after[a].push(b);
        waits[b] += 1;
    }
    // Who was inserted early is of an early phase, and waits for nobody in a later one. So a phase is
    // through before the next one begins, unless there is a cycle in it.
    let is_ready = |at: &usize| waits[*at] == 0;
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(is_ready).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for &next in &after[at] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let systems = cycle(&after, &waits).into_iter();
    let systems = systems.map(|at| nodes[at].system.name().to_owned()).collect();
    Err(ScheduleError::Cycle { systems })
}

/// A cycle among those that still wait.
fn cycle(after: &[Vec<usize>], waits: &[usize]) -> Vec<usize> {
    // Everybody who waits has somebody before him who waits; going back, one comes around.
    let mut before: Vec<usize> = vec![0; after.len()];
    for (a, next) in after.iter().enumerate().filter(|(a, _)| waits[*a] > 0) {
        next.iter().for_each(|&b| before[b] = a);
    }
    let mut at = waits.iter().position(|&waits| waits > 0).expect("somebody waits");
    let mut seen = vec![false; after.len()];
    while !std::mem::replace(&mut seen[at], true) {
        at = before[at];
    }
    let mut found = vec![at];
    while before[found[found.len() - 1]] != at {
        found.push(before[found[found.len() - 1]]);
    }
    found.reverse();
    found
}
