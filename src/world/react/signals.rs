//! Who listens to what.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use super::{Commands, What};
use crate::component::Component;
use crate::entity::Entity;
use crate::world::World;

/// Called when something happened to an entity: with the world, the entity, and commands to be
/// carried out right after the operation.
///
/// # Soundness
/// Safe, whatever it does: a listener has `&World` and is called when the books are right.
pub trait Listener: FnMut(&World, Entity, &mut Commands<'_, '_>) + Send + Sync + 'static {}

impl<F: FnMut(&World, Entity, &mut Commands<'_, '_>) + Send + Sync + 'static> Listener for F {}

pub(in crate::world) type BoxedListener = Box<dyn Listener>;

/// A listener's place; keep it to [`disconnect`](World::disconnect) the listener some day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Connection(pub(super) u64);

/// A connection that ends when this is dropped; see [`World::scope_connection`].
#[derive(Debug)]
#[must_use = "the listener is disconnected when this is dropped"]
pub struct ScopedConnection {
    _lives: Arc<()>,
}

/// A listener and how long it listens.
pub(super) struct Entry<L> {
    pub(super) connection: Connection,
    /// One for each scope that it was given; the first that is gone has ended it.
    scopes: Vec<Weak<()>>,
    pub(super) listener: L,
}

/// Listeners in the order of their registration.
pub(super) struct List<L>(pub(super) Vec<Entry<L>>);

impl<L> Default for List<L> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<L> List<L> {
    pub(super) fn add(&mut self, connection: Connection, listener: L) {
        // Before the list grows, those go that have ended since the last event: so they never outnumber the others.
        let is_full = self.0.len() == self.0.capacity();
        let ended: Vec<_> = if is_full {
            self.0.extract_if(.., |entry| !entry.is_alive()).collect()
        } else {
            Vec::new()
        };
        self.0.push(Entry { connection, scopes: Vec::new(), listener });
        drop(ended);
    }

    fn remove(&mut self, connection: Connection) -> Option<L> {
        let is_it = |entry: &Entry<L>| entry.connection == connection && entry.is_alive();
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at).listener)
    }

    fn scope(&mut self, connection: Connection) -> Option<ScopedConnection> {
        let is_it = |entry: &&mut Entry<L>| entry.connection == connection && entry.is_alive();
        let entry = self.0.iter_mut().find(is_it)?;
        let lives = Arc::new(());
        entry.scopes.push(Arc::downgrade(&lives));
        Some(ScopedConnection { _lives: lives })
    }
}

impl<L> Entry<L> {
    /// Whether none of its scopes has ended.
    pub(super) fn is_alive(&self) -> bool {
        self.scopes.iter().all(|scope| scope.strong_count() > 0)
    }
}

/// A list that knows nothing of what its listeners are called with.
pub(super) trait AnyList: Any + Send + Sync {
    fn as_any(&mut self) -> &mut dyn Any;

    fn disconnect(&mut self, connection: Connection) -> Option<Box<dyn Send + Sync>>;

    fn scope_of(&mut self, connection: Connection) -> Option<ScopedConnection>;
}

impl<L: Send + Sync + 'static> AnyList for List<L> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn disconnect(&mut self, connection: Connection) -> Option<Box<dyn Send + Sync>> {
        self.remove(connection).map(|listener| Box::new(listener) as Box<dyn Send + Sync>)
    }

    fn scope_of(&mut self, connection: Connection) -> Option<ScopedConnection> {
        self.scope(connection)
    }
}

/// All lists of listeners, but those of events of the user's own.
#[derive(Default)]
pub(crate) struct Signals {
    /// For each component: those of its addition, change and removal.
    by_component: Vec<[List<BoxedListener>; 3]>,
    spawned: List<BoxedListener>,
    despawned: List<BoxedListener>,
    /// Connections that were given out.
    connections: u64,
}

impl Signals {
    pub(super) fn new_connection(&mut self) -> Connection {
        self.connections += 1;
        Connection(self.connections)
    }

    /// The listeners to an event.
    pub(super) fn list(&mut self, what: What, component: u32) -> Option<&mut List<BoxedListener>> {
        let nth = match what {
            What::Spawned => return Some(&mut self.spawned),
            What::Despawned => return Some(&mut self.despawned),
            What::Added => 0,
            What::Changed => 1,
            What::Removing => 2,
            What::Removed => return None,
        };
        Some(&mut self.by_component.get_mut(component as usize)?[nth])
    }

    pub(in crate::world) fn connect(
        &mut self,
        what: What,
        component: u32,
        listener: BoxedListener,
    ) -> Connection {
        let connection = self.new_connection();
        let places = component as usize + 1;
        if !matches!(what, What::Spawned | What::Despawned) && self.by_component.len() < places {
            self.by_component.resize_with(places, Default::default);
        }
        let list = self.list(what, component).expect("there is a list for it");
        list.add(connection, listener);
        connection
    }

    /// Whether anybody listens to this.
    pub(in crate::world) fn hears(&self, what: What, component: u32) -> bool {
        let of = |nth: usize| {
            self.by_component.get(component as usize).is_some_and(|lists| !lists[nth].0.is_empty())
        };
        match what {
            What::Spawned => !self.spawned.0.is_empty(),
            What::Despawned => !self.despawned.0.is_empty(),
            What::Added => of(0),
            What::Changed => of(1),
            What::Removing => of(2),
            What::Removed => false,
        }
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut List<BoxedListener>> {
        let own = [&mut self.spawned, &mut self.despawned];
        own.into_iter().chain(self.by_component.iter_mut().flatten())
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signals").field("connections", &self.connections).finish_non_exhaustive()
    }
}

impl World {
    /// Calls `listener` whenever an entity gets a `T` that it did not have, with the value in place.
    ///
    /// Listeners are called in the order of their registration, when the whole operation is done: a
    /// bundle, or a batch. They read the world; what they want to change they record as
    /// [`Commands`], which are carried out when all of them were called.
    ///
    /// Of what was done through `&World` (by a [`PoolMut`](crate::PoolMut), or a
    /// [`Locked`](crate::world::Locked)) they hear at the next [`refresh`](Self::refresh), pool by
    /// pool. By then the entity may have lost the component again, or be dead: who listens to a pool
    /// that is changed so asks before he trusts. Commands for a dead entity are skipped.
    ///
    /// If a listener panics, the panic goes on to who called the operation. The operation is done
    /// then; listeners that were not called yet are not, and commands are dropped.
    pub fn on_add<T: Component>(&mut self, listener: impl Listener) -> Connection {
        self.listen::<T>(What::Added, Box::new(listener))
    }

    /// Calls `listener` whenever the `T` of an entity is replaced, or changed by
    /// [`patch`](Self::patch), with the new value in place.
    ///
    /// Writing through references is not heard; it is what tracking is for. See
    /// [`on_add`](Self::on_add) for when listeners are called.
    pub fn on_change<T: Component>(&mut self, listener: impl Listener) -> Connection {
        self.listen::<T>(What::Changed, Box::new(listener))
    }

    /// Calls `listener` whenever an entity is about to lose its `T`, with the value and all its
    /// other components still in place.
    ///
    /// If a listener panics, the component stays. See [`on_add`](Self::on_add) for the rest.
    pub fn on_remove<T: Component>(&mut self, listener: impl Listener) -> Connection {
        self.listen::<T>(What::Removing, Box::new(listener))
    }

    /// Calls `listener` whenever an entity has come to life, before it hears of its components.
    ///
    /// Of an entity that was [reserved](Self::reserve_entity) it hears with the next
    /// [`settle`](Self::settle) or [`refresh`](Self::refresh), or when something else is heard of it.
    pub fn on_spawn(&mut self, listener: impl Listener) -> Connection {
        self.connect(What::Spawned, 0, Box::new(listener))
    }

    /// Calls `listener` whenever an entity has died, when its components are gone.
    pub fn on_despawn(&mut self, listener: impl Listener) -> Connection {
        self.connect(What::Despawned, 0, Box::new(listener))
    }

    fn listen<T: Component>(&mut self, what: What, listener: BoxedListener) -> Connection {
        let component = self.register::<T>().index() as u32;
        self.connect(what, component, listener)
    }

    fn connect(&mut self, what: What, component: u32, listener: BoxedListener) -> Connection {
        let connection = self.pools.notes.signals.connect(what, component, listener);
        self.pools.mark_care();
        connection
    }

    /// Ends a connection; `false` if it has ended already.
    ///
    /// Whether it was made by `on_add`, `on_change`, `on_remove`, `on_spawn`, `on_despawn`, `on`,
    /// `on_enter` or `on_leave`.
    pub fn disconnect(&mut self, connection: Connection) -> bool {
        let gone = self.any_lists().find_map(|list| list.disconnect(connection));
        self.pools.mark_care();
        // The listener is dropped when nothing knows of it any more.
        gone.is_some()
    }

    /// Ends a connection when what is returned is dropped; `None` if it has ended already.
    ///
    /// One that is scoped several times ends with the first of its scopes.
    pub fn scope_connection(&mut self, connection: Connection) -> Option<ScopedConnection> {
        self.any_lists().find_map(|list| list.scope_of(connection))
    }

    fn any_lists(&mut self) -> impl Iterator<Item = &mut dyn AnyList> {
        let lists = self.pools.notes.signals.lists().map(|list| list as &mut dyn AnyList);
        let own = self.react.events.values_mut().map(|list| &mut **list);
        lists.chain(self.react.watches.lists()).chain(own)
    }
}
