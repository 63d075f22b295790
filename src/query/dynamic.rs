//! Queries whose components are known at run time only: for scripts, inspectors, consoles.

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::cell::{Read, Write};
use crate::entity::Entity;
use crate::storage::SharedMap;
use crate::world::{BorrowConflict, ComponentId, World};

/// Asks for components by their ids; see [`World::dynamic_query`].
///
/// Ids come from [`World::component_id`] or, by the name of the type, from
/// [`World::component_id_by_name`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DynamicTerms {
    read: Vec<ComponentId>,
    write: Vec<ComponentId>,
    with: Vec<ComponentId>,
    without: Vec<ComponentId>,
}

impl DynamicTerms {
    /// Asks for nothing: all entities match.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a component, to be read.
    #[must_use]
    pub fn read(mut self, component: ComponentId) -> Self {
        self.read.push(component);
        self
    }

    /// Asks for a component, to be written.
    #[must_use]
    pub fn write(mut self, component: ComponentId) -> Self {
        self.write.push(component);
        self
    }

    /// Lets only entities match that have a component.
    #[must_use]
    pub fn with(mut self, component: ComponentId) -> Self {
        self.with.push(component);
        self
    }

    /// Lets only entities match that do not have a component.
    #[must_use]
    pub fn without(mut self, component: ComponentId) -> Self {
        self.without.push(component);
        self
    }
}

/// A query by component ids; see [`World::dynamic_query`].
pub struct DynamicQuery<'w> {
    world: &'w World,
    read: Vec<(ComponentId, Read<'w, SharedMap>)>,
    write: Vec<(ComponentId, Write<'w, SharedMap>)>,
    /// Pools that are only asked who is in, and whether a match must be.
    asked: Vec<(bool, Read<'w, SharedMap>)>,
}

impl World {
    /// Asks for components by their ids.
    ///
    /// Slower than a [`query`](Self::query), because nothing is known of the values: each entity
    /// is looked up in each pool, and values come as [`Any`].
    ///
    /// # Errors
    /// [`DynamicError`] if an id is not of this world, or a component cannot be borrowed, also
    /// because the terms name it twice.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # use esker::query::DynamicTerms;
    /// # #[derive(Component, Debug, PartialEq)] struct Health(u32);
    /// # #[derive(Component)] struct Frozen;
    /// let mut world = World::new();
    /// let hero = world.spawn(Health(7));
    /// world.spawn((Health(9), Frozen));
    ///
    /// // A console command: "health of everybody who is not frozen, plus one".
    /// let health = world.component_id_by_name("Health").unwrap();
    /// let frozen = world.component_id_by_name("Frozen").unwrap();
    /// let mut query = world.dynamic_query(&DynamicTerms::new().write(health).without(frozen))?;
    /// query.for_each(|mut found| {
    ///     let health: &mut Health = found.value_mut(health).unwrap().downcast_mut().unwrap();
    ///     health.0 += 1;
    /// });
    /// drop(query);
    /// assert_eq!(world.get::<Health>(hero).unwrap().0, 8);
    /// # Ok::<(), esker::query::DynamicError>(())
    /// ```
    #[track_caller]
    pub fn dynamic_query(&self, terms: &DynamicTerms) -> Result<DynamicQuery<'_>, DynamicError> {
        let mut query = DynamicQuery { world: self, read: vec![], write: vec![], asked: vec![] };
        for &id in &terms.write {
            query.write.push((id, self.write_by_id(id)?));
        }
        for &id in &terms.read {
            query.read.push((id, self.read_by_id(id)?));
        }
        for (ids, expected) in [(&terms.with, true), (&terms.without, false)] {
            for &id in ids {
                query.asked.push((expected, self.read_by_id(id)?));
            }
        }
        Ok(query)
    }

    /// The id of the component whose type has this name: the whole path, or the end of it behind
    /// a `::`, if only one component has such a name. (Types that are declared in two blocks of one function have the
    /// same path.)
    pub fn component_id_by_name(&self, name: &str) -> Option<ComponentId> {
        let ends_so = |full: &str| {
            full.strip_suffix(name).is_some_and(|path| path.is_empty() || path.ends_with("::"))
        };
        let only_one = |is_meant: &dyn Fn(&str) -> bool| {
            let mut meant = self.known_components().filter(|(_, full)| is_meant(full));
            let first = meant.next().map(|(id, _)| id);
            (first, meant.next().is_none())
        };
        let (id, is_only) = match only_one(&|full| full == name) {
            (None, _) => only_one(&ends_so),
            exact => exact,
        };
        id.filter(|_| is_only)
    }

    #[track_caller]
    fn read_by_id(&self, id: ComponentId) -> Result<Read<'_, SharedMap>, DynamicError> {
        Ok(self.try_read_any(id).ok_or(DynamicError::Unknown { component: id })??)
    }

    #[track_caller]
    fn write_by_id(&self, id: ComponentId) -> Result<Write<'_, SharedMap>, DynamicError> {
        Ok(self.try_write_any(id).ok_or(DynamicError::Unknown { component: id })??)
    }
}

impl<'w> DynamicQuery<'w> {
    /// The entities that match, in the packed order of the shortest required pool.
    pub fn entities(&self) -> Vec<Entity> {
        let fetched = self.read.iter().map(|(_, map)| map.entities());
        let written = self.write.iter().map(|(_, map)| map.entities());
        let with = self.asked.iter().filter(|(has, _)| *has).map(|(_, map)| map.entities());
        let driver = fetched.chain(written).chain(with).min_by_key(|entities| entities.len());
        match driver {
            Some(driver) => driver.iter().copied().filter(|&e| self.contains(e)).collect(),
            None => self.world.entities().filter(|&e| self.contains(e)).collect(),
        }
    }

    /// Whether `entity` matches.
    pub fn contains(&self, entity: Entity) -> bool {
        self.world.is_alive(entity)
            && self.read.iter().all(|(_, map)| map.contains(entity))
            && self.write.iter().all(|(_, map)| map.contains(entity))
            && self.asked.iter().all(|(expected, map)| map.contains(entity) == *expected)
    }

    /// The match of `entity`, if it is one.
    pub fn get(&mut self, entity: Entity) -> Option<DynamicMatch<'_, 'w>> {
        if !self.contains(entity) {
            return None;
        }
        Some(DynamicMatch { entity, read: &self.read, write: &mut self.write })
    }

    /// Calls `each` with every match.
    pub fn for_each(&mut self, mut each: impl FnMut(DynamicMatch<'_, 'w>)) {
        for entity in self.entities() {
            each(DynamicMatch { entity, read: &self.read, write: &mut self.write });
        }
    }
}

/// One match of a [`DynamicQuery`].
pub struct DynamicMatch<'a, 'w> {
    entity: Entity,
    read: &'a [(ComponentId, Read<'w, SharedMap>)],
    write: &'a mut [(ComponentId, Write<'w, SharedMap>)],
}

impl DynamicMatch<'_, '_> {
    /// The entity.
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// Its value of a component that the query reads or writes.
    pub fn value(&self, component: ComponentId) -> Option<&dyn Any> {
        let read = self.read.iter().find(|(id, _)| *id == component);
        let written = self.write.iter().find(|(id, _)| *id == component);
        match (read, written) {
            (Some((_, map)), _) => map.value(self.entity),
            (None, Some((_, map))) => map.value(self.entity),
            (None, None) => None,
        }
    }

    /// Its value of a component that the query writes.
    pub fn value_mut(&mut self, component: ComponentId) -> Option<&mut dyn Any> {
        let (_, map) = self.write.iter_mut().find(|(id, _)| *id == component)?;
        map.value_mut(self.entity)
    }
}

/// A query by ids that cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DynamicError {
    /// The world has no component with this id.
    Unknown {
        /// The id that was asked for.
        component: ComponentId,
    },
    /// A component is borrowed in a way that excludes this.
    Borrowed(BorrowConflict),
}

impl From<BorrowConflict> for DynamicError {
    fn from(conflict: BorrowConflict) -> Self {
        Self::Borrowed(conflict)
    }
}

impl fmt::Display for DynamicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { component } => {
                write!(f, "{component} is not known to this world; ask it for its own ids")
            }
            Self::Borrowed(conflict) => conflict.fmt(f),
        }
    }
}

impl Error for DynamicError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Borrowed(conflict) => Some(conflict),
            Self::Unknown { .. } => None,
        }
    }
}

impl fmt::Debug for DynamicQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read: Vec<ComponentId> = self.read.iter().map(|(id, _)| *id).collect();
        let write: Vec<ComponentId> = self.write.iter().map(|(id, _)| *id).collect();
        let mut debug = f.debug_struct("DynamicQuery");
        debug.field("read", &read).field("write", &write).finish_non_exhaustive()
    }
}

impl fmt::Debug for DynamicMatch<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicMatch").field("entity", &self.entity).finish_non_exhaustive()
    }
}
