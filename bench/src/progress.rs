//! A bar on stderr that knows how much is left.
//!
//! Cells differ in length by four orders of magnitude, so the bar counts estimated work, not
//! cells: the time left is then a fair guess from the start.

use indicatif::{ProgressBar, ProgressStyle};

use crate::{measure::Plan, workload::Workload};

/// The progress of a series of cells.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for these cells, each measured as `plan` says.
    pub fn new(cells: &[(Workload, usize)], plan: &Plan) -> Self {
        let total = cells.iter().map(|(w, n)| step(*w, *n) * steps(plan, *n)).sum();
        let bar = ProgressBar::new(total);
        let style = ProgressStyle::with_template(
            "{elapsed_precise} {wide_bar:.green/dim} {percent:>3} %  {eta} left  {msg}",
        );
        bar.set_style(style.expect("the template is well formed").progress_chars("━━╌"));
        bar.enable_steady_tick(std::time::Duration::from_millis(500));
        Self { bar }
    }

    /// Names the cell that comes next and returns what to call after each of its steps.
    pub fn cell(&self, workload: Workload, n: usize) -> impl FnMut() + '_ {
        self.bar.set_message(format!("{workload}, N = {}", crate::table::thousands(n)));
        move || self.bar.inc(step(workload, n))
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Rounds, plus one rebuild per epoch.
fn steps(plan: &Plan, n: usize) -> u64 {
    (plan.epochs * (plan.rounds(n) + 1)) as u64
}

/// The estimated length of one step, in arbitrary units.
fn step(workload: Workload, n: usize) -> u64 {
    let cost = match workload {
        _ if workload.is_frame() => 100,
        Workload::AddRemoveWide => 50,
        Workload::Create2
        | Workload::Destroy
        | Workload::DestroyBatch
        | Workload::Deserialize
        | Workload::Clone => 20,
        Workload::CreateEmpty
        | Workload::CreateEmptyBatch
        | Workload::Create2Batch
        | Workload::AddRemove
        | Workload::PoolEdit
        | Workload::Churn
        | Workload::Commands => 10,
        Workload::RandomGet | Workload::Get2 | Workload::Serialize | Workload::ParIter2 => 5,
        _ => 3,
    };
    // Small worlds are repeated until a sample is long enough.
    cost * n.max(20_000) as u64
}
