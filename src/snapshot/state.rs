//! A whole world apart from any world: what loading stages and cloning copies.

use super::column::Values;
use super::error::{SnapshotError, What};
use super::raw::{RawColumn, RawSections};
use super::single::Value;
use super::together::{self, Size};
use super::types::SnapshotTypes;
use crate::entity::{Entities, Entity};
use crate::world::{GroupRecord, Homes, World};

/// Everything that lives, complete and sound, ready to be put into a world.
pub(super) struct State {
    pub(super) book: Entities,
    pub(super) columns: Vec<Box<dyn Values>>,
    pub(super) resources: Vec<Box<dyn Value>>,
    pub(super) raw: Vec<RawColumn>,
    /// Names of what was left out, being unknown.
    pub(super) skipped: Vec<String>,
    /// Whether it has only entities that were chosen, and says nothing of the others.
    pub(super) is_partial: bool,
    /// Where entities belong, by columns, which have the rows of it.
    pub(super) homes: Option<Homes>,
    groups: GroupRecord,
}

/// A reference that leads nowhere: the component or resource, the entity that has it, and the
/// entity that is not there.
pub(super) type Stray = (&'static str, Option<Entity>, Entity);

impl State {
    pub(super) fn new(book: Entities) -> Self {
        Self {
            book,
            columns: Vec::new(),
            resources: Vec::new(),
            raw: Vec::new(),
            skipped: Vec::new(),
            is_partial: false,
            homes: None,
            groups: GroupRecord::default(),
        }
    }

    /// A copy of what is in a world.
    #[track_caller]
    pub(super) fn of(world: &World, types: &SnapshotTypes) -> Result<Self, SnapshotError> {
        types.check_complete(world)?;
        let (mut open, mut names) = (Vec::new(), Vec::new());
        for component in types.in_order(world) {
            let Some(column) = component.open(world)? else { continue };
            open.push(column);
            names.push(component.type_name());
        }
        let size = Size::Made(open.iter().map(|column| column.entities().len()).sum());
        let (book, copies) = together::beside(
            size,
            || world.book().copy(),
            || together::each(open, size, |column| column.copy()),
        );
        let mut state = Self::new(book);
        for (copy, name) in copies.into_iter().zip(names) {
            let what = What::Component;
            state.columns.push(copy.ok_or(SnapshotError::NotClonable { what, name })?);
        }
        state.resources = types.copy_resources(world)?;
        if let Ok(kept) = world.try_resource::<RawSections>() {
            state.raw.clone_from(&kept.0);
        }
        state.groups = world.group_record();
        if !types.has_all_components(world) {
            // A group may depend on what was left out.
            state.groups.doubt();
        }
        Ok(state)
    }

    /// Replaces all ids inside values; returns those that lead nowhere.
    pub(super) fn map_references(
        &mut self,
        mut map: impl FnMut(Entity) -> Option<Entity>,
    ) -> Vec<Stray> {
        let mut strays = Vec::new();
        for column in &mut self.columns {
            let name = column.name();
            column.map_references(&mut |owner, target| {
                let mapped = map(target);
                if mapped.is_none() {
                    strays.push((name, Some(owner), target));
                }
                mapped
            });
        }
        for value in &mut self.resources {
            let name = value.name();
            value.map_references(&mut |target| {
                let mapped = map(target);
                if mapped.is_none() {
                    strays.push((name, None, target));
                }
                mapped
            });
        }
        strays
    }

    /// Puts it into a world, in place of everything that lives there.
    pub(super) fn replace(self, world: &mut World, types: &SnapshotTypes) {
        // Commands of listeners may exchange the world, so it is emptied before anything is put in.
        world.depart();
        // Resources first: listeners to the components may look at them.
        let replaced = types.put_resources(world, self.resources);
        RawSections::put(world, self.raw);
        let columns = self.columns.into_iter().map(|column| column.into_incoming()).collect();
        world.arrive(self.book, columns, &self.groups, self.homes);
        drop(replaced);
    }

    /// Puts it into a world without entities or resources, which has been made for it.
    pub(super) fn put_quietly(self, world: &mut World) {
        for value in self.resources {
            let replaced = value.insert(world);
            debug_assert!(replaced.is_none());
        }
        RawSections::put(world, self.raw);
        let columns = self.columns.into_iter().map(|column| column.into_incoming()).collect();
        world.arrive_quietly(self.book, columns, &self.groups);
    }
}
