//! Who has a component, whatever its value: what filters ask.

use std::fmt;

use super::opening::Opening;
use super::survey::{Column, NO_ORDER, Role, Surveyor, UNKNOWN};
use super::term::Row;
use crate::access::Key;
use crate::cell::Look;
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::SparseSet;
use crate::storage::{EntityMap, Storage, Ticks};
use crate::world::BorrowConflict;

type Map<T> = EntityMap<T, <T as Component>::Storage>;
type Set<T> = SparseSet<<<T as Component>::Storage as Storage<T>>::Map>;

/// A guard on the members of a pool; nothing for a pool that does not exist.
pub struct MembersFetch<'w, T: Component> {
    pool: Option<Pool<'w, T>>,
}

struct Pool<'w, T: Component> {
    map: Look<'w, Map<T>>,
    id: u32,
    bit: u64,
    /// Whether no other pool has the same bit.
    is_exact: bool,
}

/// What such a guard lends.
pub struct Members<'a, T: Component> {
    set: Option<&'a Set<T>>,
    id: u32,
    bit: u64,
    is_exact: bool,
}

impl<T: Component> Clone for Members<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Component> Copy for Members<'_, T> {}

impl<'w, T: Component> MembersFetch<'w, T> {
    #[inline]
    #[track_caller]
    pub(super) fn open(opening: Opening<'w>) -> Result<Self, BorrowConflict> {
        let Some(pool) = opening.world.pool_box::<T>() else { return Ok(Self { pool: None }) };
        let map = opening.look(&pool.cell).map_err(BorrowConflict::of::<T>)?;
        let (id, bit) = (pool.tag.id.index() as u32, pool.tag.bit);
        let is_exact = pool.tag.keep != u64::MAX;
        Ok(Self { pool: Some(Pool { map, id, bit, is_exact }) })
    }

    #[inline]
    pub(super) fn view(&self) -> Members<'_, T> {
        match &self.pool {
            Some(Pool { map, id, bit, is_exact }) => {
                Members { set: Some(map.set()), id: *id, bit: *bit, is_exact: *is_exact }
            }
            None => Members { set: None, id: UNKNOWN, bit: 0, is_exact: true },
        }
    }
}

impl<T: Component> MembersFetch<'_, T> {
    /// When the values of the members were changed, if that is tracked.
    #[inline]
    pub(super) fn ticks(&self) -> Option<&Ticks> {
        self.pool.as_ref()?.map.storage().ticks()
    }
}

impl<'a, T: Component> Members<'a, T> {
    #[inline]
    pub(super) fn entities(self) -> &'a [Entity] {
        self.set.map_or(&[], |set| set.as_slice())
    }

    #[inline]
    pub(super) fn position(self, row: Row) -> Option<usize> {
        match row.position_in(self.entities(), 0) {
            Some(at) => Some(at),
            None => self.set?.position(row.entity),
        }
    }

    /// Number of the component, or `UNKNOWN`.
    #[inline]
    pub(super) fn id(self) -> u32 {
        self.id
    }

    /// Whether a living entity with this signature may be in.
    #[inline]
    pub(super) fn may_have(self, signature: u64) -> bool {
        signature & self.bit != 0
    }

    #[inline]
    pub(super) fn contains(self, entity: Entity) -> bool {
        self.set.is_some_and(|set| set.contains(entity))
    }

    /// Whether a living entity with this signature is in: by the signature, and where that says
    /// "maybe", by asking.
    #[inline]
    pub(super) fn has(self, entity: Entity, signature: u64) -> bool {
        self.may_have(signature) && (self.is_exact || self.contains(entity))
    }

    #[inline]
    pub(super) fn column(self, role: Role, survey: &mut impl Surveyor<'a>) {
        let (stamp, order, entities, rows) = match self.set {
            Some(set) => (set.stamp(), set.order(), set.as_slice(), set.rows()),
            None => (0, &NO_ORDER, &[][..], None),
        };
        let (id, key) = (self.id, Key::of::<T>);
        survey.column(Column { role, id, stamp, order, entities, rows, key });
    }
}

impl<T: Component> fmt::Debug for MembersFetch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MembersFetch").finish_non_exhaustive()
    }
}

impl<T: Component> fmt::Debug for Members<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").field("id", &self.id).finish_non_exhaustive()
    }
}
