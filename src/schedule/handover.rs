//! Who starts whom among systems that run on several threads.
//!
//! Each system counts those it waits for. Who has run one lowers the counts of those behind it, and
//! who makes a count zero starts that one. This file knows neither worlds nor threads: how a system
//! runs, who is behind whom and how one gets to another thread is said by others, so that models can
//! try every order of the threads (`models.rs`).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, Mutex};

/// What the hand-over does not know of the systems, which it calls by their places.
pub(super) trait Crew<S, O> {
    /// Runs a system. A panic is part of the outcome, so that those behind it are not forgotten.
    fn run(&self, place: usize, system: S) -> O;

    /// Whether a system is not worth being given to another thread.
    fn is_small(&self, system: &S) -> bool;

    /// Calls `each` with those that wait for a system.
    fn behind(&self, place: usize, each: impl FnMut(usize));
}

/// Systems on their way through the threads, in the serial order.
pub(super) struct Handover<S, O> {
    seats: Vec<Seat<S, O>>,
}

struct Seat<S, O> {
    /// How many others it still waits for.
    waits: AtomicUsize,
    /// Taken out by the one who runs it; the lock is never waited for.
    system: Mutex<Option<S>>,
    /// Filled by the same one.
    outcome: Mutex<O>,
}

impl<S, O: Default> Handover<S, O> {
    /// Of systems, and how many others each waits for.
    pub(super) fn new(systems: impl Iterator<Item = (S, usize)>) -> Self {
        let seats = systems.map(|(system, waits)| Seat {
            waits: AtomicUsize::new(waits),
            system: Mutex::new(Some(system)),
            outcome: Mutex::new(O::default()),
        });
        Self { seats: seats.collect() }
    }

    /// Runs systems that wait for nobody, and those that are started by that: the small ones here, the
    /// big ones wherever `give` brings them, where [`run_one`](Self::run_one) is called, and this again
    /// with what it returns.
    pub(super) fn carry_on(&self, crew: &impl Crew<S, O>, ready: Vec<usize>, give: impl Fn(usize)) {
        let mut here = ready;
        while !here.is_empty() {
            let (small, mut big): (Vec<usize>, Vec<usize>) =
                here.drain(..).partition(|&place| self.is_small(crew, place));
            // The last big one is run here, too, as this thread has nothing else to do.
            let kept = if small.is_empty() { big.pop() } else { None };
            big.into_iter().for_each(&give);
            for place in small.into_iter().chain(kept) {
                here.extend(self.run_one(crew, place));
            }
        }
    }

    /// Runs a system; returns those that wait for nobody from now on.
    pub(super) fn run_one(&self, crew: &impl Crew<S, O>, place: usize) -> Vec<usize> {
        let seat = &self.seats[place];
        // Nothing can panic while these locks are held, so what lies in them is right, poisoned or not.
        let system = seat.system.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(system) = system {
            let outcome = crew.run(place, system);
            *seat.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
        }
        let mut ready = Vec::new();
        crew.behind(place, |next| {
            // What this system did happens before what the next one does.
            if self.seats[next].waits.fetch_sub(1, Ordering::AcqRel) == 1 {
                ready.push(next);
            }
        });
        ready
    }

    /// How the systems came out, in the serial order, whoever ran them.
    pub(super) fn into_outcomes(self) -> impl Iterator<Item = O> {
        let outcomes = self.seats.into_iter().map(|seat| seat.outcome.into_inner());
        outcomes.map(|outcome| outcome.unwrap_or_else(PoisonError::into_inner))
    }

    fn is_small(&self, crew: &impl Crew<S, O>, place: usize) -> bool {
        let system = self.seats[place].system.try_lock();
        system.is_ok_and(|system| system.as_ref().is_some_and(|system| crew.is_small(system)))
    }
}
