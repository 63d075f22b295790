//! Components come and go, one entity at a time.

use std::error::Error;
use std::fmt;
use std::mem;
use std::sync::atomic::Ordering;

use super::bundle::repeated_component;
use super::gate::Gate;
use super::pools::{Pools, name_of};
use super::react::{Event, What};
use super::{Bundle, ComponentId, ComponentVisitor, World};
use crate::cell::{Conflict, Read};
use crate::component::{Component, MutOf};
use crate::entity::{Entity, NoSuchEntity};

impl World {
    /// Gives `entity` these components; those it has are replaced.
    ///
    /// Replaced values are dropped when all new ones are in.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive; the bundle is dropped and the world is as it was.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component, Debug, PartialEq)] struct Speed(u32);
    /// let mut world = World::new();
    /// let e = world.spawn(());
    /// world.insert(e, Speed(1)).unwrap();
    /// world.insert(e, Speed(2)).unwrap();
    /// assert_eq!(world.take(e), Ok(Some(Speed(2))));
    /// ```
    #[inline(always)]
    #[doc(alias = "emplace_or_replace")]
    #[doc(alias = "set")]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), NoSuchEntity> {
        match self.gate(entity) {
            Ok(mut gate) => {
                let before = *gate.word;
                _ = bundle.insert(&mut gate);
                gate.note_change(before);
            }
            Err(dead) => return Err(dead),
        }
        self.deliver();
        Ok(())
    }

    /// Gives `entity` a component it does not have.
    ///
    /// # Errors
    /// [`ComponentError::Present`] if it has one, which stays; [`ComponentError::Dead`].
    #[doc(alias = "emplace")]
    pub fn try_add<T: Component>(
        &mut self,
        entity: Entity,
        value: T,
    ) -> Result<(), ComponentError> {
        let mut gate = self.gate(entity)?;
        if gate.pools.get_mut::<T>().is_some_and(|pool| pool.cell.get_mut().contains(entity)) {
            return Err(ComponentError::Present { entity, component: name_of::<T>() });
        }
        let before = *gate.word;
        gate.insert(value);
        gate.note_change(before);
        self.deliver();
        Ok(())
    }

    /// Replaces a component that `entity` has, and returns the old value.
    ///
    /// # Errors
    /// [`ComponentError::Missing`] if it has none; [`ComponentError::Dead`].
    pub fn replace<T: Component>(&mut self, entity: Entity, value: T) -> Result<T, ComponentError> {
        self.patch(entity, |old| mem::replace(old, value))
    }

    /// Changes a component in place and returns what `change` returns.
    ///
    /// # Errors
    /// [`ComponentError::Missing`] if `entity` does not have it; [`ComponentError::Dead`].
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Gold(u32);
    /// let mut world = World::new();
    /// let e = world.spawn(Gold(5));
    /// assert_eq!(world.patch(e, |gold: &mut Gold| { gold.0 += 1; gold.0 }), Ok(6));
    /// ```
    pub fn patch<T: Component, R>(
        &mut self,
        entity: Entity,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, ComponentError> {
        let changed = self.get_mut::<T>(entity).map(|mut value| change(&mut value));
        if let Some(result) = changed {
            self.note_change::<T>(entity);
            return Ok(result);
        }
        self.gate(entity)?;
        Err(ComponentError::Missing { entity, component: name_of::<T>() })
    }

    /// Removes those of these components that `entity` has, and returns them one by one.
    ///
    /// For a single component the result is `Option<T>`, for a tuple a tuple of these. Other
    /// positions of the pools may change.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component, Debug, PartialEq)] struct A;
    /// # #[derive(Component, Debug, PartialEq)] struct B(u32);
    /// let mut world = World::new();
    /// let e = world.spawn(B(1));
    /// assert_eq!(world.remove::<(A, B)>(e), Ok((None, Some(B(1)))));
    /// assert_eq!(world.remove::<B>(e), Ok(None));
    /// ```
    #[inline(always)]
    #[doc(alias = "erase")]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<B::Parts, NoSuchEntity> {
        self.announce::<B>(entity);
        let removed = match self.gate(entity) {
            Ok(mut gate) => {
                let before = *gate.word;
                let removed = B::remove(&mut gate);
                gate.note_change(before);
                removed
            }
            Err(dead) => return Err(dead),
        };
        self.deliver();
        Ok(removed)
    }

    /// Removes these components if `entity` has all of them, and returns them together.
    ///
    /// If a listener to the removal of one of them takes another one away, through `&World`, the bundle cannot be put
    /// together any more: the result is `None`, and the components that are left stay.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    ///
    /// # Panics
    /// If the bundle names a component twice: it could not be put together.
    #[track_caller]
    pub fn take<B: Bundle>(&mut self, entity: Entity) -> Result<Option<B>, NoSuchEntity> {
        if let Some(component) = repeated_component::<B>() {
            panic!("cannot take `{}`: it names `{component}` twice", name_of::<B>());
        }
        // What an operation that unwound has left comes first: listeners to it may take some away.
        self.deliver();
        self.gate(entity)?;
        if !self.holds_all::<B>(entity) {
            return Ok(None);
        }
        if self.pools.prepares_removal && !self.prepare_taking::<B>(entity) {
            self.deliver();
            return Ok(None);
        }
        let mut gate = self.gate(entity)?;
        let before = *gate.word;
        let removed = B::remove(&mut gate);
        gate.note_change(before);
        self.deliver();
        Ok(B::assemble(removed))
    }

    /// The component of `entity`, or the one that `make` makes for it.
    ///
    /// # Errors
    /// [`ComponentError::Dead`] if it is not alive; `make` is not called then.
    /// [`ComponentError::Missing`] if a listener has taken the new one away again.
    #[doc(alias = "get_or_emplace")]
    pub fn get_or_insert_with<T: Component>(
        &mut self,
        entity: Entity,
        make: impl FnOnce() -> T,
    ) -> Result<MutOf<'_, T>, ComponentError> {
        let mut gate = self.gate(entity)?;
        let present = gate.pools.get_mut::<T>().is_some_and(|p| p.cell.get_mut().contains(entity));
        if !present {
            let before = *gate.word;
            gate.insert(make());
            gate.note_change(before);
            self.deliver();
        }
        let missing = ComponentError::Missing { entity, component: name_of::<T>() };
        self.get_mut::<T>(entity).ok_or(missing)
    }

    /// The component of `entity`, under a guard that is given back when dropped.
    ///
    /// Taking and giving back a guard costs more than the look-up: to read many, take the
    /// [`pool`](Self::pool) once, or a query. With `&mut World`, [`get_mut`](Self::get_mut) needs
    /// no guard at all.
    ///
    /// # Panics
    /// If the component is borrowed for writing; [`try_get`](Self::try_get) returns that as an
    /// error.
    #[inline]
    #[track_caller]
    pub fn get<T: Component>(&self, entity: Entity) -> Option<Read<'_, T>> {
        self.try_get(entity).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The component of `entity`, if its pool can be borrowed.
    ///
    /// # Errors
    /// [`BorrowConflict`] if the component is borrowed for writing.
    #[inline]
    #[track_caller]
    pub fn try_get<T: Component>(
        &self,
        entity: Entity,
    ) -> Result<Option<Read<'_, T>>, BorrowConflict> {
        let guard = self.try_read_map::<T>()?;
        Ok(guard.and_then(|guard| guard.filter_map(|map| map.get(entity))))
    }

    /// The component of `entity`, to be changed: `&mut T`, or a [`Mut<T>`](crate::Mut) if its
    /// changes are tracked.
    #[inline]
    pub fn get_mut<T: Component>(&mut self, entity: Entity) -> Option<MutOf<'_, T>> {
        let span = self.span();
        self.pools.get_mut::<T>()?.cell.get_mut().lend(entity, span)
    }

    /// Whether `entity` is alive and has all of these components.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct A;
    /// # #[derive(Component)] struct B;
    /// let mut world = World::new();
    /// let e = world.spawn(A);
    /// assert!(world.has::<A>(e));
    /// assert!(!world.has::<(A, B)>(e));
    /// assert!(world.has_any::<(A, B)>(e));
    /// ```
    #[inline]
    #[doc(alias = "all_of")]
    pub fn has<B: Bundle>(&self, entity: Entity) -> bool {
        let Some(presence) = self.presence(entity) else { return false };
        let mut count = Count { presence, has: 0, lacks: 0 };
        B::visit(&mut count);
        count.lacks == 0
    }

    /// Whether `entity` is alive and has at least one of these components.
    #[doc(alias = "any_of")]
    pub fn has_any<B: Bundle>(&self, entity: Entity) -> bool {
        let Some(presence) = self.presence(entity) else { return false };
        let mut count = Count { presence, has: 0, lacks: 0 };
        B::visit(&mut count);
        count.has > 0
    }

    /// Whether `entity` is alive and has no component at all.
    #[doc(alias = "orphan")]
    #[doc(alias = "has_none")]
    pub fn is_orphan(&self, entity: Entity) -> bool {
        self.is_alive(entity) && self.component_ids(entity).next().is_none()
    }

    /// Names of the components that `entity` has, in the order in which the world came to know
    /// them; none for a dead entity.
    ///
    /// # Panics
    /// If the world knows more than 64 component types and one that may be among them is
    /// borrowed for writing.
    #[track_caller]
    pub fn component_names(&self, entity: Entity) -> impl Iterator<Item = &'static str> {
        self.component_ids(entity).map(|id| self.pools.at(id.index()).name())
    }

    /// Ids of the components that `entity` has, in ascending order; none for a dead entity.
    ///
    /// # Panics
    /// As [`component_names`](Self::component_names).
    pub fn component_ids(&self, entity: Entity) -> impl Iterator<Item = ComponentId> {
        let presence = self.presence(entity);
        let mut ids: Vec<ComponentId> = presence.map_or_else(Vec::new, |presence| {
            let candidates = Pools::candidates(presence.signature, self.pools.len());
            candidates
                .filter(|&id| presence.in_pool(id))
                .map(|id| self.pools.at(id).tag().id)
                .collect()
        });
        ids.sort_unstable();
        ids.into_iter()
    }

    /// The id of a component type in this world, if the world knows it.
    pub fn component_id<T: Component>(&self) -> Option<ComponentId> {
        Some(self.pools.get::<T>()?.tag.id)
    }

    /// Makes a component type known, so that it has a pool before the first value.
    ///
    /// Inserting does that by itself; needed only to get a [`PoolMut`](super::PoolMut) through
    /// `&World` for a component nobody has had yet.
    pub fn register<T: Component>(&mut self) -> ComponentId {
        self.pools.get_or_create::<T>().tag.id
    }

    /// Notes that a component was changed in place, and delivers it.
    #[inline]
    fn note_change<T: Component>(&mut self, entity: Entity) {
        let tag = self.pools.get_mut::<T>().map(|pool| pool.tag);
        if let Some(tag) = tag.filter(|tag| tag.is_noted) {
            let component = tag.id.index() as u32;
            self.pools.notes.push(Event { what: What::Changed, component, entity });
            self.deliver();
        }
    }

    /// Opens the gate for a living entity.
    #[inline(always)]
    pub(super) fn gate(&mut self, entity: Entity) -> Result<Gate<'_>, NoSuchEntity> {
        match self.entities.word_mut(entity) {
            Some(word) => Ok(Gate::new(&mut self.pools, word, entity)),
            None => Err(NoSuchEntity { entity }),
        }
    }

    /// What a living entity has.
    #[inline]
    fn presence(&self, entity: Entity) -> Option<Presence<'_>> {
        let signature = self.entities.word(entity)?.load(Ordering::Relaxed);
        Some(Presence { pools: &self.pools, signature, entity })
    }
}

/// The signature of a living entity, read once.
struct Presence<'w> {
    pools: &'w Pools,
    signature: u64,
    entity: Entity,
}

impl Presence<'_> {
    /// Whether the pool holds the entity: by the signature, and where that says "maybe", by asking.
    #[inline]
    #[track_caller]
    fn in_pool(&self, id: usize) -> bool {
        let pool = self.pools.at(id);
        if let Some(is_in) = pool.tag().says(self.signature) {
            return is_in;
        }
        match pool.read() {
            Ok(map) => map.contains(self.entity),
            Err(conflict) => panic!("{}", BorrowConflict::new(pool.name(), conflict)),
        }
    }
}

struct Count<'w> {
    presence: Presence<'w>,
    has: usize,
    lacks: usize,
}

impl ComponentVisitor for Count<'_> {
    #[inline(always)]
    fn visit<T: Component>(&mut self) {
        let pool = self.presence.pools.get::<T>();
        if pool.is_some_and(|pool| self.presence.in_pool(pool.tag.id.index())) {
            self.has += 1;
        } else {
            self.lacks += 1;
        }
    }
}

/// A component or resource is borrowed in a way that excludes what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BorrowConflict {
    /// Name of the type.
    pub name: &'static str,
    /// The two borrows.
    pub conflict: Conflict,
    /// Whether both are of one query, which asks for the component twice.
    pub is_within_query: bool,
}

impl BorrowConflict {
    #[cold]
    pub(crate) fn of<T>(conflict: Conflict) -> Self {
        Self::new(name_of::<T>(), conflict)
    }

    pub(crate) fn new(name: &'static str, conflict: Conflict) -> Self {
        Self { name, conflict, is_within_query: false }
    }
}

impl fmt::Display for BorrowConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_within_query {
            let Conflict { wanted, held, .. } = self.conflict;
            write!(f, "`{}`: the query asks for it twice, to {held} and to {wanted}; ", self.name)?;
            return f.write_str("ask once, or filter by it with `With` or `Has`");
        }
        write!(f, "`{}`: {}; drop that borrow first", self.name, self.conflict)
    }
}

impl Error for BorrowConflict {}

/// A component is not there, or there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComponentError {
    /// The entity is not alive.
    Dead(NoSuchEntity),
    /// The entity does not have the component.
    Missing {
        /// The entity that was asked for.
        entity: Entity,
        /// Name of the component type.
        component: &'static str,
    },
    /// The entity has the component already.
    Present {
        /// The entity that was asked for.
        entity: Entity,
        /// Name of the component type.
        component: &'static str,
    },
}

impl From<NoSuchEntity> for ComponentError {
    fn from(dead: NoSuchEntity) -> Self {
        Self::Dead(dead)
    }
}

impl fmt::Display for ComponentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dead(dead) => dead.fmt(f),
            Self::Missing { entity, component } => {
                write!(f, "entity {entity} has no `{component}`; insert it first")
            }
            Self::Present { entity, component } => {
                write!(f, "entity {entity} has a `{component}` already; use `insert` to replace it")
            }
        }
    }
}

impl Error for ComponentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Dead(dead) => Some(dead),
            _ => None,
        }
    }
}
