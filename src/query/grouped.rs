//! The members of one group.

#![allow(unsafe_code, reason = "starts walks over the members")]

use std::cmp::Ordering;
use std::error::Error;
use std::fmt;

use super::merged::Merged;
use super::piece::{Piece, Views};
use super::prefix::aligned;
use super::runs::SliceData;
use super::term::QueryData;
use super::{Iter, IterMut, Query, Walk};
use crate::cell::{Look, Read};
use crate::entity::Entity;
use crate::group::Group;
use crate::storage::SharedMap;
use crate::world::{BorrowConflict, GroupId, World};

/// The members of a group, and components of theirs; see [`World::grouped`].
pub struct Grouped<'w, D: QueryData> {
    query: Query<'w, D>,
    group: Read<'w, Group>,
    /// The members of the first owned pool. Only its entities are looked at.
    lead: Option<(u32, Look<'w, SharedMap>)>,
}

impl World {
    /// The members of a group, and those of their components that `D` names.
    ///
    /// Members come in the order of the group. Components may be owned by the group, observed by
    /// it, or optional; a member that does not match `D` is left out.
    ///
    /// # Errors
    /// [`GroupError`] if there is no such group, or a component cannot be borrowed.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// # let mut world = World::new();
    /// let moving = world.group::<(Position, Velocity)>().build()?;
    /// world.spawn_batch((0..100).map(|i| (Position(0.0), Velocity(i as f32))));
    ///
    /// let mut members = world.grouped::<(&mut Position, &Velocity)>(moving)?;
    /// assert_eq!(members.len(), 100);
    /// if let Some((positions, velocities)) = members.slices_mut() {
    ///     positions.iter_mut().zip(velocities).for_each(|(p, v)| p.0 += v.0);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn grouped<D: QueryData>(&self, group: GroupId) -> Result<Grouped<'_, D>, GroupError> {
        let entry = self.pools().groups.get(group.number()).ok_or(GroupError::NoSuchGroup)?;
        let query = self.try_query()?;
        let lead = match entry.condition.owned.first() {
            Some(&id) => {
                let pool = self.pools().at(id as usize);
                let look = pool.look();
                Some((id, look.map_err(|conflict| BorrowConflict::new(pool.name(), conflict))?))
            }
            None => None,
        };
        let busy = |conflict| BorrowConflict::new("a group", conflict);
        Ok(Grouped { query, group: entry.group.try_read().map_err(busy)?, lead })
    }

    /// Sorts the members of a group by components of theirs; equal ones keep their order.
    ///
    /// All pools that the group owns take the new order. Members of a narrower group of the same
    /// pools stay in front of the others, sorted among themselves. Members that do not match `D`
    /// stay where they are.
    ///
    /// # Errors
    /// As [`grouped`](Self::grouped), but guards that were leaked are disregarded.
    ///
    /// # Panics
    /// If `compare` does, or may if it is no total order; the order is as it was then.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Depth(u32);
    /// # #[derive(Component)] struct Sprite(char);
    /// # let mut world = World::new();
    /// let drawn = world.group::<(Depth, Sprite)>().build()?;
    /// world.spawn_batch([(3, 'c'), (1, 'a'), (2, 'b')].map(|(d, s)| (Depth(d), Sprite(s))));
    ///
    /// world.sort_group_by::<&Depth>(drawn, |a, b| a.0.cmp(&b.0))?;
    /// let text: String = world.pool::<Sprite>().as_slice().iter().map(|sprite| sprite.0).collect();
    /// assert_eq!(text, "abc");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sort_group_by<D: QueryData>(
        &mut self,
        group: GroupId,
        mut compare: impl FnMut(&D::ReadItem<'_>, &D::ReadItem<'_>) -> Ordering,
    ) -> Result<(), GroupError> {
        let number = group.number();
        let parts = self.pools_mut().parts_of(number).ok_or(GroupError::NoSuchGroup)?;
        self.pools_mut().unmark_all();
        let orders: Vec<Vec<Entity>> = {
            let members = self.grouped::<D>(group)?;
            let sorted = parts.iter().map(|part| {
                let entities = &members.entities()[part.range.clone()];
                let items = entities.iter().map(|&e| (e, members.query.get(e)));
                let mut items: Vec<_> = items.filter_map(|(e, item)| Some((e, item?))).collect();
                items.sort_by(|(_, a), (_, b)| compare(a, b));
                items.into_iter().map(|(entity, _)| entity).collect()
            });
            sorted.collect()
        };
        for (part, order) in parts.iter().zip(&orders) {
            self.pools_mut().arrange(number, part, order);
        }
        Ok(())
    }
}

impl<D: QueryData> Grouped<'_, D> {
    /// Number of members.
    pub fn len(&self) -> usize {
        self.group.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members, in the order of the group.
    pub fn entities(&self) -> &[Entity] {
        match &self.lead {
            Some((_, map)) => &map.entities()[..self.group.len()],
            None => self.group.members(),
        }
    }

    /// Whether `entity` is a member.
    pub fn contains(&self, entity: Entity) -> bool {
        match &self.lead {
            Some((_, map)) => map.position(entity).is_some_and(|at| at < self.group.len()),
            None => self.group.holds_itself(entity),
        }
    }

    /// Walks the members, for reading.
    pub fn iter(&self) -> Iter<'_, D> {
        // SAFETY: this is borrowed, and the walk only reads.
        unsafe { Walk::new(self.matches()) }
    }

    /// Walks the members.
    pub fn iter_mut(&mut self) -> IterMut<'_, D> {
        // SAFETY: this is borrowed uniquely, and so is its query; it is the only walk.
        unsafe { Walk::new(self.matches()) }
    }

    /// Walks the members by several threads, for reading.
    #[cfg(feature = "parallel")]
    pub fn par_iter(&self) -> super::ParIter<'_, D> {
        super::ParWalk::new(self.matches())
    }

    /// Walks the members by several threads.
    #[cfg(feature = "parallel")]
    pub fn par_iter_mut(&mut self) -> super::ParIterMut<'_, D> {
        super::ParWalk::new(self.matches())
    }

    /// All matches among the members.
    fn matches(&self) -> Piece<'_, D, ()> {
        let (held, entities) = (&self.query.held, self.entities());
        let driver = self.lead.as_ref().map(|(id, _)| *id);
        let data = D::view(&held.data, held.opening.span());
        let data = D::aligned(data, &|id| aligned(held.opening, driver, id));
        let (world, exceptions) = (held.opening.world, &held.exceptions);
        let views =
            Views { data, filter: (), entities, world, is_sure: true, rows: None, exceptions };
        Piece::direct(views, false)
    }

    /// The members' components as one slice each, to be read; `None` if there are no members.
    ///
    /// # Panics
    /// If `D` names a component that the group does not own: its values need not lie in this order.
    #[track_caller]
    pub fn slices(&self) -> Option<D::ReadSlices<'_>>
    where
        D: SliceData,
    {
        let (views, run) = self.whole()?;
        // SAFETY: a stretch has the place of its first entity.
        let cursor = unsafe { views.cursor(run.driver_at, run.place) };
        // SAFETY: the stretch is that long; this is borrowed, and nobody writes.
        Some(unsafe { D::read_slices(cursor, run.len) })
    }

    /// The members' components as one slice each; `None` if there are no members.
    ///
    /// # Panics
    /// As [`slices`](Self::slices).
    #[track_caller]
    pub fn slices_mut(&mut self) -> Option<D::Slices<'_>>
    where
        D: SliceData,
    {
        let (views, run) = self.whole()?;
        // SAFETY: a stretch has the place of its first entity.
        let cursor = unsafe { views.cursor(run.driver_at, run.place) };
        // SAFETY: the stretch is that long; this is borrowed uniquely.
        Some(unsafe { D::slices(cursor, run.len) })
    }

    /// All members as one stretch.
    #[track_caller]
    fn whole(&self) -> Option<(Views<'_, D, ()>, super::piece::Stretch<D>)> {
        let piece = self.matches();
        let run = Merged::new(piece).next().filter(|run| run.len == self.len());
        assert!(
            run.is_some() || self.is_empty(),
            "the members do not lie in one slice of each component: ask for owned components \
             only, or use `iter`"
        );
        run.map(|run| (piece.views, run))
    }
}

impl<D: QueryData> fmt::Debug for Grouped<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grouped").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The members of a group cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// The group was dissolved, or is one of another world.
    NoSuchGroup,
    /// A component is borrowed in a way that excludes this.
    Borrowed(BorrowConflict),
}

impl From<BorrowConflict> for GroupError {
    fn from(conflict: BorrowConflict) -> Self {
        Self::Borrowed(conflict)
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchGroup => f.write_str("there is no such group; build it again"),
            Self::Borrowed(conflict) => conflict.fmt(f),
        }
    }
}

impl Error for GroupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Borrowed(conflict) => Some(conflict),
            Self::NoSuchGroup => None,
        }
    }
}
