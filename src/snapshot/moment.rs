//! A world as it was at a moment, kept to go back to.
//!
//! Going back exchanges what the world has and what was kept. A copy that is kept again, or another one, is
//! made in the memory of what the world had. So nothing is copied before it is needed, and nothing is
//! allocated for it.

use super::error::{SnapshotError, What};
use super::kept::{Keepable, Kept};
use super::raw::{RawColumn, RawSections};
use super::single::{Replaced, Value};
use super::together::{self, Size};
use super::types::SnapshotTypes;
use crate::entity::Entities;
use crate::tick::Tick;
use crate::world::{GroupRecord, Home, Homes, Returning, Sorted, World};

/// Copies of everything that lives.
#[derive(Default)]
pub(super) struct Moment {
    book: Entities,
    columns: Vec<Box<dyn Kept>>,
    resources: Vec<Box<dyn Value>>,
    raw: Vec<RawColumn>,
    groups: GroupRecord,
    /// Which pools were sorted.
    sorted: Sorted,
    /// Where entities belonged; the columns have the rows.
    homes: Homes,
    tick: Tick,
}

impl Moment {
    /// Becomes a copy of what is in a world, in the memory that it has.
    ///
    /// If that fails or a clone unwinds, it is a part of one: good for its memory only.
    #[track_caller]
    pub(super) fn copy(
        &mut self,
        world: &World,
        types: &SnapshotTypes,
    ) -> Result<(), SnapshotError> {
        let mut spare: Vec<Option<Box<dyn Kept>>> = self.columns.drain(..).map(Some).collect();
        let mut sources: Vec<Pair<'_>> = Vec::new();
        let mut names = Vec::new();
        for component in types.in_order(world) {
            let Some(source) = component.keepable(world)? else { continue };
            let is_it = |kept: &&mut Option<Box<dyn Kept>>| {
                kept.as_ref().is_some_and(|kept| kept.name() == component.name())
            };
            sources.push((source, spare.iter_mut().find(is_it).and_then(Option::take)));
            names.push(component.type_name());
        }
        let size = Size::Filled(sources.iter().map(|(source, _)| source.len()).sum());
        let (_, copies) = together::beside(
            size,
            || world.book().copy_into(&mut self.book),
            || together::each(sources, size, |(source, spare)| source.keep(spare)),
        );
        for (copy, name) in copies.into_iter().zip(names) {
            let what = What::Component;
            self.columns.push(copy.ok_or(SnapshotError::NotClonable { what, name })?);
        }
        self.resources = types.copy_resources(world)?;
        self.raw.clear();
        if let Ok(kept) = world.try_resource::<RawSections>() {
            self.raw.clone_from(&kept.0);
        }
        (self.groups, self.sorted, self.tick) =
            (world.group_record(), world.sorted(), world.tick());
        let has_all = types.has_all_components(world);
        world.copy_homes(&mut self.homes, has_all);
        if !has_all {
            // A group may depend on what was left out.
            self.groups.doubt();
        }
        Ok(())
    }

    /// Puts everything back into a world without reserved entities, as if nothing had happened since. It has what was
    /// in the world then, but for the resources, which are returned: good for its memory only.
    pub(super) fn put_back(&mut self, world: &mut World, types: &SnapshotTypes) -> Vec<Replaced> {
        let replaced = types.put_resources(world, std::mem::take(&mut self.resources));
        RawSections::put(world, std::mem::take(&mut self.raw));
        let size = Size::Filled(self.columns.iter().map(|column| column.len()).sum());
        let columns = self.columns.iter_mut().map(|column| &mut **column as &mut dyn Returning);
        let exchange = |columns: Vec<(&mut dyn Returning, Home<'_>)>, by| {
            together::each(columns, size, |(column, home)| column.exchange(by, home));
        };
        world.restore_sorted(&self.sorted);
        let Self { book, groups, homes, .. } = self;
        world.return_to(self.tick, (book, homes), columns.collect(), groups, exchange);
        replaced
    }

    /// Drops values that need it, and keeps the memory.
    pub(super) fn release(&mut self) {
        self.resources.clear();
        self.columns.iter_mut().for_each(|column| column.release());
    }
}

/// What is to be copied, and where to.
type Pair<'w> = (Box<dyn Keepable + 'w>, Option<Box<dyn Kept>>);
