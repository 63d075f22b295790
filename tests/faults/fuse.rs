//! Counts the calls of the user's code, and lets one of them panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::planned_panic;

/// Code of the user's that the library calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callback {
    Drop,
    Clone,
    /// A comparison of a sort.
    Compare,
    /// What `retain` asks.
    Predicate,
    /// An iterator that a batch is made of, or a walk over items.
    Iterate,
    Listener,
    System,
    /// A command, or the closure of `patch` and its like.
    Closure,
    /// `Default`, and what else makes values.
    Make,
    Serialize,
    Deserialize,
    MapEntities,
    /// `push` of a storage of the user's own.
    Push,
    /// `reserve` of the same.
    Reserve,
    /// `Default` of the same.
    NewStorage,
    /// Whatever else a storage is asked or told, and may refuse.
    Storage,
    /// `Component::type_slot`.
    TypeSlot,
    /// `Component::extras`.
    Extras,
    /// `Component::keep_removed`.
    KeepRemoved,
    /// The methods of a bundle that was written by hand.
    Bundle,
    /// `size_hint` of an iterator.
    SizeHint,
    /// `ptr` and `base` of a storage.
    Pointer,
    /// What `Snapshot` says of a type.
    Form,
    /// The methods of a parameter that was written by hand.
    Param,
    /// What decides whether a system runs.
    Condition,
    /// `Named::name`, and `Borrow` of what names entities.
    Item,
}

pub const CALLBACKS: [Callback; 26] = [
    Callback::Drop,
    Callback::Clone,
    Callback::Compare,
    Callback::Predicate,
    Callback::Iterate,
    Callback::Listener,
    Callback::System,
    Callback::Closure,
    Callback::Make,
    Callback::Serialize,
    Callback::Deserialize,
    Callback::MapEntities,
    Callback::Push,
    Callback::Reserve,
    Callback::NewStorage,
    Callback::Storage,
    Callback::TypeSlot,
    Callback::Extras,
    Callback::KeepRemoved,
    Callback::Bundle,
    Callback::SizeHint,
    Callback::Pointer,
    Callback::Form,
    Callback::Param,
    Callback::Condition,
    Callback::Item,
];

#[derive(Debug)]
struct Fuse {
    /// Which call panics: at zero the next one does. Once.
    armed: Option<(Callback, usize)>,
    calls: [usize; CALLBACKS.len()],
}

/// One for the process, because some callbacks have no state; calls may come from any thread.
static FUSE: Mutex<Fuse> = Mutex::new(Fuse { armed: None, calls: [0; CALLBACKS.len()] });

fn fuse() -> MutexGuard<'static, Fuse> {
    FUSE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What every callback does first. Never panics while unwinding: that would end the process.
pub fn call(callback: Callback) {
    if std::thread::panicking() {
        return;
    }
    let mut fuse = fuse();
    fuse.calls[callback as usize] += 1;
    let burns = match &mut fuse.armed {
        Some((armed, 0)) if *armed == callback => true,
        Some((armed, left)) if *armed == callback => {
            *left -= 1;
            false
        }
        _ => false,
    };
    if burns {
        fuse.armed = None;
        drop(fuse);
        planned_panic();
    }
}

/// Lets a call panic, counted from zero.
pub fn arm(callback: Callback, nth: usize) {
    fuse().armed = Some((callback, nth));
}

/// Lets none panic; says whether one would still have.
pub fn disarm() -> bool {
    fuse().armed.take().is_some()
}

/// Counts from zero again; returns the calls so far.
pub fn take_calls() -> [usize; CALLBACKS.len()] {
    std::mem::replace(&mut fuse().calls, [0; CALLBACKS.len()])
}
