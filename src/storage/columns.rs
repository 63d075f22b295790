//! Entities and values apart from any map: what it takes to bring a map back to where it was.

use std::marker::PhantomData;
use std::mem;

use super::whole::{Copying, copy_ticks};
use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::sparse::Rows;
use crate::tick::Tick;

/// The entities of a map and their values, in packed order, without the way from one to the other.
pub(crate) struct Columns<T, S> {
    entities: Vec<Entity>,
    values: S,
    /// The bands that the set had, and who was placed there.
    rows: Option<Box<Rows>>,
    owns: PhantomData<T>,
}

impl<T, S: Storage<T>> Default for Columns<T, S> {
    fn default() -> Self {
        Self { entities: Vec::new(), values: S::default(), rows: None, owns: PhantomData }
    }
}

impl<T, S: Storage<T>> Columns<T, S> {
    pub(crate) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// Makes them the same as those of a map, ticks included, in the memory that they have.
    ///
    /// `is_alike` says that they are of the same entities in the same order already. If a clone unwinds,
    /// they are empty.
    pub(crate) fn copy_map(&mut self, map: &EntityMap<T, S>, copying: Copying<T>, is_alike: bool) {
        debug_assert!(!is_alike || self.entities == map.entities());
        let mut columns = mem::take(self);
        match map.contiguous() {
            Some(values) => columns.refill(map.entities(), values, copying),
            None => columns.push_all(map.iter(), copying),
        }
        if !is_alike {
            columns.entities.clear();
            columns.entities.extend_from_slice(map.entities());
        }
        // Marks come without a new order.
        map.set().copy_rows(&mut columns.rows);
        copy_ticks(map.storage(), &mut columns.values);
        *self = columns;
    }

    fn refill(&mut self, entities: &[Entity], values: &[T], copying: Copying<T>) {
        if !self.values.refill(values, copying.fill) {
            self.push_all(entities.iter().copied().zip(values), copying);
        }
    }

    fn push_all<'a>(&mut self, pairs: impl Iterator<Item = (Entity, &'a T)>, copying: Copying<T>)
    where
        T: 'a,
    {
        self.values.clear();
        for (entity, value) in pairs {
            self.values.push(entity, (copying.one)(value));
        }
    }

    /// Drops all values, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.entities.clear();
        self.values.clear();
    }

    /// Says that all additions and changes were so much later.
    pub(crate) fn shift_ticks(&mut self, by: u64, latest: Tick) {
        if let Some(ticks) = self.values.ticks_mut() {
            ticks.shift(by, latest);
        }
    }
}

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// Has the entities of columns, which are of a map that was sound, and exchanges its values with
    /// theirs. Returns its stamp, which is the same as before if they are of the same entities in the same
    /// order, as `is_alike` says. Its rows are theirs; the caller sees to A1. The values that come out are not those of the columns' entities.
    pub(crate) fn exchange(&mut self, columns: &mut Columns<T, S>, is_alike: bool) -> u64 {
        debug_assert!(!is_alike || self.entities() == columns.entities);
        let (set, values) = self.parts_mut();
        mem::swap(values, &mut columns.values);
        // Out before the order changes, which would drop them.
        let mut rows = columns.rows.take();
        set.exchange_rows(&mut columns.rows);
        let stamp = if is_alike { set.stamp() } else { set.follow(&columns.entities) };
        set.exchange_rows(&mut rows);
        stamp
    }
}
