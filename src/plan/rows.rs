//! The plan itself: runs, or a list of places.

use std::ops::Range;

/// How the matches of a plan are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A row for each run: number of its first match, position in the driver, and one place for
    /// each column.
    Runs,
    /// A row for each match: position in the driver, and one place for each column.
    List,
}

/// Runs shorter than this on average are not worth being runs.
///
/// Measured: a run costs about as much to enter as four steps of a list.
pub(crate) const SHORT_RUN: usize = 4;

/// Where the matches of a query lie.
#[derive(Debug)]
pub(crate) struct Plan {
    kind: Kind,
    /// Numbers in a row.
    width: usize,
    rows: Vec<u32>,
    matches: usize,
}

impl Plan {
    /// A plan without matches.
    pub(crate) fn nothing() -> Self {
        Recorder::new(0).plan
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of matches.
    #[inline]
    pub(crate) fn matches(&self) -> usize {
        self.matches
    }

    /// Number of rows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// A run: the numbers of its matches, and its position in the driver and its places.
    ///
    /// `columns` are those of the query; it knows them when it is compiled, and a plan does not.
    #[inline]
    pub(crate) fn run(&self, at: usize, columns: usize) -> (Range<usize>, &[u32]) {
        let width = columns + 2;
        debug_assert_eq!((self.kind, self.width), (Kind::Runs, width));
        let row = &self.rows[at * width..][..width];
        let end = self.rows.get((at + 1) * width).map_or(self.matches, |&first| first as usize);
        (row[0] as usize..end, &row[1..])
    }

    /// The rows of a list: position in the driver, then places, match after match.
    #[inline]
    pub(crate) fn list(&self) -> &[u32] {
        debug_assert_eq!(self.kind, Kind::List);
        &self.rows
    }

    /// Number of the first match of a run; behind the last run, of all matches.
    #[cfg(any(test, feature = "parallel"))]
    fn first_match(&self, run: usize) -> usize {
        self.rows.get(run * self.width).map_or(self.matches, |&first| first as usize)
    }

    /// The run that a match is in.
    #[cfg(any(test, feature = "parallel"))]
    pub(crate) fn run_of(&self, at: usize) -> usize {
        debug_assert_eq!(self.kind, Kind::Runs);
        let (mut low, mut high) = (0, self.len());
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.first_match(middle) <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<u32>()
    }
}

/// Writes runs down as they are found.
#[derive(Debug)]
pub(crate) struct Recorder {
    plan: Plan,
}

impl Recorder {
    /// For a query with this many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { plan: Plan { kind: Kind::Runs, width: columns + 2, rows: Vec::new(), matches: 0 } }
    }

    /// Writes down a run; `save` appends its places.
    pub(crate) fn run(&mut self, driver_at: usize, len: usize, save: impl FnOnce(&mut Vec<u32>)) {
        let rows = &mut self.plan.rows;
        rows.extend([self.plan.matches as u32, driver_at as u32]);
        save(rows);
        debug_assert!(rows.len().is_multiple_of(self.plan.width));
        self.plan.matches += len;
    }

    /// The plan: the runs if they are long, or the list that `expand` makes of them.
    ///
    /// `expand` is given the row of a run, the number of a match in it and the place to append
    /// that match's position in the driver and its places to.
    pub(crate) fn finish(mut self, expand: impl Fn(&[u32], usize, &mut Vec<u32>)) -> Plan {
        if self.has_long_runs() {
            return self.plan;
        }
        let mut list = self.empty_list();
        for at in 0..self.plan.len() {
            let (matches, row) = self.plan.run(at, self.plan.width - 2);
            for nth in 0..matches.len() {
                expand(row, nth, &mut list.rows);
            }
        }
        debug_assert_eq!(list.rows.len(), list.matches * list.width);
        list
    }

    /// Whether the runs are worth being runs; if so, gives back what they do not need.
    fn has_long_runs(&mut self) -> bool {
        let are_long = self.plan.matches >= SHORT_RUN * self.plan.len();
        if are_long {
            self.plan.rows.shrink_to_fit();
        }
        are_long
    }

    /// A list with room for all matches.
    fn empty_list(&self) -> Plan {
        let (matches, width) = (self.plan.matches, self.plan.width - 1);
        Plan { kind: Kind::List, width, rows: Vec::with_capacity(matches * width), matches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of these lengths, all in one column.
    fn plan(lengths: &[usize]) -> Plan {
        let mut recorder = Recorder::new(1);
        let mut at = 0;
        for &len in lengths {
            recorder.run(at, len, |places| places.push(at as u32 + 100));
            at += len;
        }
        recorder.finish(|row, nth, rows| rows.extend([row[0] + nth as u32, row[1] + nth as u32]))
    }

    #[test]
    fn long_runs_stay_runs_and_a_match_is_found_in_its_run() {
        let plan = plan(&[10, 1, 9]);

        assert_eq!((plan.kind(), plan.len(), plan.matches()), (Kind::Runs, 3, 20));
        assert_eq!([0, 9, 10, 11, 19].map(|at| plan.run_of(at)), [0, 0, 1, 2, 2]);
        assert_eq!([0, 1].map(|run| plan.run(run, 1).0), [0..10, 10..11]);
        assert_eq!(plan.run(2, 1), (11..20, &[11, 111][..]));
    }

    #[test]
    fn short_runs_become_a_list() {
        let plan = plan(&[1, 2, 1]);

        assert_eq!((plan.kind(), plan.len(), plan.matches()), (Kind::List, 4, 4));
        assert_eq!(plan.list(), [0, 100, 1, 101, 2, 102, 3, 103]);
    }

    #[test]
    fn no_match_is_a_plan_too() {
        assert_eq!((plan(&[]).kind(), plan(&[]).matches()), (Kind::Runs, 0));
    }
}
