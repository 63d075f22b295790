//! Who was made and who was dropped, one ledger per thread.
//!
//! Per thread and not per value, because a value without size cannot carry a reference to its
//! ledger. Drops never panic on a finding: it is written down and reported at the end.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static LEDGER: RefCell<Ledger> = RefCell::default();
}

#[derive(Default)]
struct Ledger {
    /// The next serial number; numbers are not reused in a thread.
    next: u64,
    /// The first serial number of the present audit: values left by an earlier one do not count.
    first: u64,
    alive: BTreeSet<u64>,
    /// Values without size made minus dropped.
    tags: i64,
    drops: usize,
    findings: Vec<String>,
    /// The next drop panics.
    armed: bool,
}

/// Runs `work` and then demands that each value made in it was dropped exactly once.
///
/// # Panics
/// If one was not.
#[track_caller]
pub(super) fn audit(work: impl FnOnce()) {
    with(|ledger| {
        *ledger = Ledger { next: ledger.next, first: ledger.next, ..Ledger::default() };
    });
    work();
    with(|ledger| {
        assert!(ledger.findings.is_empty(), "{}", ledger.findings.join("; "));
        let left = ledger.alive.len();
        assert!(left == 0, "{left} values were never dropped, the first is #{:?}", ledger.alive);
        assert!(ledger.tags == 0, "{} values without size were never dropped", ledger.tags);
    });
}

/// Enters a value and returns its serial number.
pub(super) fn enter() -> u64 {
    with(|ledger| {
        ledger.next += 1;
        ledger.alive.insert(ledger.next - 1);
        ledger.next - 1
    })
}

/// Strikes out a dropped value.
pub(super) fn strike(serial: u64) {
    let armed = with(|ledger| {
        ledger.drops += 1;
        if !ledger.alive.remove(&serial) && serial >= ledger.first {
            ledger.findings.push(format!("value #{serial} was dropped twice, or never made"));
        }
        std::mem::take(&mut ledger.armed)
    });
    assert!(!armed, "a drop that panics, on purpose");
}

/// Enters a value without size.
pub(super) fn enter_tag() {
    with(|ledger| ledger.tags += 1);
}

/// Strikes out a dropped value without size.
pub(super) fn strike_tag() {
    with(|ledger| {
        ledger.tags -= 1;
        if ledger.tags < 0 {
            ledger.findings.push("more values without size were dropped than made".into());
        }
    });
}

/// Makes the next drop of a value panic.
pub(super) fn arm() {
    with(|ledger| ledger.armed = true);
}

/// Whether a drop has panicked since the ledger was armed.
pub(super) fn has_fired() -> bool {
    with(|ledger| !ledger.armed)
}

/// How many values were dropped so far.
pub(super) fn drops() -> usize {
    with(|ledger| ledger.drops)
}

/// Lets the values that are still alive be lost.
pub(super) fn forgive_leaks() {
    with(|ledger| ledger.alive.clear());
}

fn with<R>(work: impl FnOnce(&mut Ledger) -> R) -> R {
    LEDGER.with_borrow_mut(work)
}
