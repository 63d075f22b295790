//! The orders of a schedule, and what follows from them, in the simplest way.

use std::collections::BTreeSet;

/// What was declared, written down a second time.
#[derive(Default)]
pub struct Declared {
    pub names: Vec<&'static str>,
    pub sets: Vec<Option<&'static str>>,
    /// By system: whether it is to run before those of the label.
    pub orders: Vec<(usize, &'static str, bool)>,
    pub edges: BTreeSet<(usize, usize)>,
    pub phases: Vec<usize>,
    /// Whether a system excludes itself.
    pub clashes: bool,
}

impl Declared {
    fn meant_by(&self, label: &str) -> Vec<usize> {
        let is_end = |name: &str| name == label || name.ends_with(&format!("::{label}"));
        (0..self.names.len())
            .filter(|&at| is_end(self.names[at]) || self.sets[at] == Some(label))
            .collect()
    }

    /// All orders as pairs; `None` if a label is unknown.
    pub fn pairs(&self) -> Option<BTreeSet<(usize, usize)>> {
        let mut pairs = self.edges.clone();
        for &(at, label, is_before) in &self.orders {
            let others = self.meant_by(label);
            if others.is_empty() {
                return None;
            }
            let is_alone = others == [at];
            let others = others.into_iter().filter(|&other| other != at || is_alone);
            pairs.extend(others.map(|other| if is_before { (at, other) } else { (other, at) }));
        }
        let count = self.names.len();
        let all = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        pairs.extend(all.filter(|&(a, b)| self.phases[a] < self.phases[b]));
        Some(pairs)
    }

    /// Whether no system comes before itself.
    pub fn is_order(&self, pairs: &BTreeSet<(usize, usize)>) -> bool {
        let mut left: BTreeSet<usize> = (0..self.names.len()).collect();
        while let Some(&first) =
            left.iter().find(|&&b| !left.iter().any(|&a| pairs.contains(&(a, b))))
        {
            left.remove(&first);
        }
        left.is_empty()
    }
}
