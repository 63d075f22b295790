//! What happens because something happened: signals, journals, messages, reactive sets.
//!
//! The gate notes an *event* when a component that somebody listens to comes, changes or goes. The
//! operation that it belongs to delivers the events when all its books are right (`deliver`): first
//! required components are added, then sets and listeners are told, then the commands that
//! listeners have recorded are carried out. An operation on a component that nobody listens to
//! notes nothing, and finds at its end that nothing is to be delivered: one branch each.

mod commands;
mod deaths;
mod deliver;
mod extras;
mod lent;
mod messages;
mod queue;
mod reactive;
mod removed;
mod reserved;
mod signals;
mod trigger;
mod watch;

pub(crate) use commands::Branch;
pub use commands::{CommandReport, Commands, SkippedCommand};
pub use extras::{Extras, Hook, Provider};
pub use messages::{MessageBatch, MessageCursor, MessageWriter, Messages};
pub use reactive::{ReactiveBuilder, ReactiveKey};
pub(super) use removed::RemovalJournal;
pub use removed::{Removal, Removals, RemovedCursor, RemovedKey};
pub use signals::{Connection, Listener, ScopedConnection};
pub use watch::Crossings;

use std::any::TypeId;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::entity::Entity;
pub(crate) use queue::Queue;
use reactive::Reactive;
use reserved::Reserved;
use signals::{AnyList, Signals};
use watch::Watches;

/// What a world needs to react.
#[derive(Default)]
pub(super) struct React {
    /// Commands that listeners have recorded.
    queue: Queue,
    report: CommandReport,
    is_strict: bool,
    /// What is being delivered, from the outermost operation in. Shared with the operations that are under way: a
    /// command may exchange the world for another one, and an operation ends the entry of the world it began in.
    chain: Arc<Mutex<Vec<Cause>>>,
    /// What the operation under way has told of before its end: a removal, or an event of the
    /// user's own.
    cause: Option<Cause>,
    /// Listeners of events of the user's own, by their type.
    events: FxHashMap<TypeId, Box<dyn AnyList>>,
    /// Entities that were reserved while somebody listened to spawns.
    reserved: Mutex<Reserved>,
    watches: Watches,
    /// What to do at each refresh for the types of messages there are, one entry for each type.
    trims: Vec<(TypeId, Trim)>,
}

/// Drops what all readers of messages have read.
type Trim = fn(&mut super::World);

/// What the gate notes and whom it is for; lies beside the pools, which note it.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(super) events: Vec<Event>,
    /// How many of them, from the first on, have what they require already: an operation unwound.
    provided: usize,
    /// Whether there is something to do at the end: events, commands, entries of journals.
    pub(super) is_pending: bool,
    /// Components of whose journals entries wait to be dropped.
    pub(super) overtaken: Vec<u32>,
    /// Operations under way that want it delivered when they are done.
    pub(super) holds: u32,
    pub(super) signals: Signals,
    pub(super) reactive: Vec<Reactive>,
}

impl Notes {
    #[inline]
    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
        self.is_pending = true;
    }
}

/// Something that happened to an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) what: What,
    /// The component; nothing for `Spawned` and `Despawned`.
    pub(crate) component: u32,
    pub(crate) entity: Entity,
}

/// What has called listeners.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cause {
    Event(Event),
    /// An event of the user's own, by the name of its type.
    Triggered(&'static str),
    /// An entity that has entered a watched group, or left it.
    Crossed {
        entity: Entity,
        has_entered: bool,
    },
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    Spawned,
    Added,
    Changed,
    /// Is about to go; its value is still there.
    Removing,
    /// Is gone.
    Removed,
    Despawned,
}

impl std::fmt::Debug for React {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("React").field("queue", &self.queue).finish_non_exhaustive()
    }
}
