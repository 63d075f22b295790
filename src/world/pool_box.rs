//! One pool as the world holds it, typed and with a face that knows no type.

use std::any::TypeId;
use std::mem;

use super::pools::{Tag, name_of};
use crate::cell::{Cell, Conflict, Look, Read, Write};
use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{AnyMap, EntityMap, SharedMap};
use crate::tick::Tick;

/// The map of a component type.
pub(crate) type Map<T> = EntityMap<T, <T as Component>::Storage>;

/// The pool of component `T`.
#[derive(Debug)]
pub(crate) struct PoolBox<T: Component> {
    pub(crate) tag: Tag,
    pub(crate) cell: Cell<Map<T>>,
    /// Values taken out of the map whose drop has to wait until the books are right.
    limbo: Vec<T>,
}

impl<T: Component> PoolBox<T> {
    pub(super) fn new(tag: Tag) -> Self {
        Self { tag, cell: Cell::new(EntityMap::default()), limbo: Vec::new() }
    }

    /// The map and what the gate needs beside it, for what is done at a tick.
    #[inline]
    pub(super) fn parts(&mut self, now: Tick) -> (&mut Map<T>, &Tag) {
        self.cell.get_mut().set_now(now);
        (self.cell.get_mut(), &self.tag)
    }
}

/// A pool of any component type.
pub(crate) trait AnyPool: Send + Sync {
    fn tag(&self) -> &Tag;

    fn tag_mut(&mut self) -> &mut Tag;

    fn component_type(&self) -> TypeId;

    fn name(&self) -> &'static str;

    /// A reading guard on the map.
    fn read(&self) -> Result<Read<'_, SharedMap>, Conflict>;

    /// A guard on the map for who looks at its entities only.
    fn look(&self) -> Result<Look<'_, SharedMap>, Conflict>;

    /// The writing guard on the map.
    fn write(&self) -> Result<Write<'_, SharedMap>, Conflict>;

    fn map_mut(&mut self) -> &mut dyn AnyMap;

    /// Exchanges the position of `entity`, which is in the pool, with another one.
    fn bring(&mut self, entity: Entity, to: usize);

    /// Takes the value of `entity` out, if there is one, without running its drop.
    ///
    /// Returns the pool's signature bit if a value waits to be dropped by `bury`, or nothing.
    fn detach(&mut self, entity: Entity) -> u64;

    /// Drops what `detach` has put into limbo.
    fn bury(&mut self);

    /// Takes out all entities; their values stay for `drop_values`.
    fn forget_entities(&mut self);

    fn drop_values(&mut self);
}

impl<T: Component> AnyPool for PoolBox<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }

    fn tag_mut(&mut self) -> &mut Tag {
        &mut self.tag
    }

    fn component_type(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn name(&self) -> &'static str {
        name_of::<T>()
    }

    #[track_caller]
    fn read(&self) -> Result<Read<'_, SharedMap>, Conflict> {
        let guard = self.cell.try_read()?;
        Ok(guard.filter_map(|map| Some(map as &SharedMap)).expect("always some"))
    }

    #[track_caller]
    fn look(&self) -> Result<Look<'_, SharedMap>, Conflict> {
        Ok(self.cell.try_look()?.part(|map| map as &SharedMap))
    }

    #[track_caller]
    fn write(&self) -> Result<Write<'_, SharedMap>, Conflict> {
        let guard = self.cell.try_write()?;
        Ok(guard.filter_map(|map| Some(map as &mut SharedMap)).expect("always some"))
    }

    fn map_mut(&mut self) -> &mut dyn AnyMap {
        self.cell.get_mut()
    }

    fn bring(&mut self, entity: Entity, to: usize) {
        self.cell.get_mut().bring(entity, to);
    }

    fn detach(&mut self, entity: Entity) -> u64 {
        match self.cell.get_mut().remove(entity) {
            Some(value) if mem::needs_drop::<T>() => {
                self.limbo.push(value);
                self.tag.bit
            }
            _ => 0,
        }
    }

    fn bury(&mut self) {
        // Emptied before the first drop, which may unwind; the rest is dropped on the way out.
        self.limbo.clear();
    }

    fn forget_entities(&mut self) {
        self.cell.get_mut().forget_entities();
    }

    fn drop_values(&mut self) {
        self.cell.get_mut().drop_values();
    }
}
