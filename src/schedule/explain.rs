//! A schedule for people: as text, Mermaid and DOT.

use std::fmt::Write;

use super::graph::{Graph, Segment, Shared};
use super::{Node, Schedule, ScheduleError};
use crate::world::World;

impl Schedule {
    /// The schedule in words: the serial order, what each system waits for, and systems whose order
    /// nobody has declared although they exclude each other.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn explain(&mut self, world: &mut World) -> Result<String, ScheduleError> {
        let (graph, nodes) = self.built(world)?;
        let name = |at: usize| nodes[at].system.name();
        let mut text = String::new();
        for segment in &graph.segments {
            match *segment {
                Segment::Shared(Shared { start, end, .. }) => {
                    for &at in &graph.order[start..end] {
                        let waits: Vec<&str> = (0..nodes.len())
                            .filter(|&before| graph.after[before].contains(&at))
                            .map(name)
                            .collect();
                        _ = match waits.is_empty() {
                            true => writeln!(text, "{}", name(at)),
                            false => writeln!(text, "{} after {}", name(at), waits.join(", ")),
                        };
                    }
                }
                Segment::Alone(place) => {
                    _ = writeln!(text, "{} with the world to itself", name(graph.order[place]));
                }
                Segment::Refresh => text.push_str("— refresh —\n"),
            }
        }
        for &(a, b, key) in &graph.ambiguities {
            _ = writeln!(
                text,
                "nobody says whether {} comes before {}; they share `{}`",
                name(a),
                name(b),
                key.name()
            );
        }
        Ok(text)
    }

    /// Pairs of systems that exclude each other and whose order nobody has declared, in the order in
    /// which they run, and the name of what they share. Up to 512 systems.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn ambiguities(
        &mut self,
        world: &mut World,
    ) -> Result<Vec<(String, String, &'static str)>, ScheduleError> {
        let (graph, nodes) = self.built(world)?;
        let name = |at: usize| nodes[at].system.name().to_owned();
        Ok(graph.ambiguities.iter().map(|&(a, b, key)| (name(a), name(b), key.name())).collect())
    }

    /// The graph as a Mermaid flow chart. Declared orders are thick.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn to_mermaid(&mut self, world: &mut World) -> Result<String, ScheduleError> {
        let (graph, nodes) = self.built(world)?;
        let mut text = String::from("flowchart LR\n");
        for &at in &graph.order {
            _ = writeln!(text, "    s{at}[\"{}\"]", short(nodes[at].system.name()));
        }
        for (a, b, is_declared) in graph.edges() {
            _ = writeln!(text, "    s{a} {} s{b}", if is_declared { "==>" } else { "-->" });
        }
        Ok(text)
    }

    /// The graph in the DOT language of Graphviz. Declared orders are bold.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn to_dot(&mut self, world: &mut World) -> Result<String, ScheduleError> {
        let (graph, nodes) = self.built(world)?;
        let mut text = String::from("digraph schedule {\n    rankdir=LR;\n");
        for &at in &graph.order {
            _ = writeln!(text, "    s{at} [label={:?}];", short(nodes[at].system.name()));
        }
        for (a, b, is_declared) in graph.edges() {
            let style = if is_declared { " [style=bold]" } else { "" };
            _ = writeln!(text, "    s{a} -> s{b}{style};");
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn built(&mut self, world: &mut World) -> Result<(&Graph, &[Node]), ScheduleError> {
        self.build(world)?;
        Ok((self.graph.as_ref().expect("it was just built"), &self.nodes))
    }
}

impl Graph {
    /// All edges along the serial order, and whether each was declared.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, bool)> {
        self.order.iter().flat_map(move |&a| {
            self.after[a].iter().map(move |&b| (a, b, self.declared.contains(&(a, b))))
        })
    }
}

/// The last two parts of a path.
fn short(name: &str) -> &str {
    let mut ends = name.rmatch_indices("::").map(|(at, _)| at + 2);
    ends.nth(1).map_or(name, |at| &name[at..])
}
