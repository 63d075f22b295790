//! The terms `Entity` and `EntityRef`: the entity itself.

#![allow(unsafe_code, reason = "reads the entities of a stretch through a pointer")]

use super::opening::Opening;
use super::survey::Surveyor;
use super::term::{QueryData, Row, Sealed};
use crate::access::{Key, Usage};
use crate::entity::Entity;
use crate::tick::Span;
use crate::world::{BorrowConflict, EntityRef, World};

/// `QueryData` for terms that have no pool.
macro_rules! entity_term {
    (
        $term:ty, $item:ty, $closed:literal, $fetch:ty, $view:ty, $world:ident => $opened:expr,
        $the_view:ident, $entity:ident => $made:expr
    ) => {
        impl Sealed for $term {}

        // SAFETY: an entity is copied, not lent; every entity matches, wherever it lies.
        #[allow(unused_variables, clippy::unused_unit, reason = "not every term needs its view")]
        unsafe impl QueryData for $term {
            type Item<'a> = $item;
            type ReadItem<'a> = $item;
            type Fetch<'w> = $fetch;
            type View<'a> = $view;
            type Search<'a> = ();
            type Place = ();
            type Cursor<'a> = ($view, *const Entity);

            const COLUMNS: usize = 0;
            const NICHE: bool = false;
            const IS_CLOSED: bool = $closed;
            const PROVES_LIFE: bool = false;

            #[inline]
            fn uses(see: &mut impl FnMut(Key, Usage)) {
                if !$closed {
                    see(Key::world(), Usage::Own);
                }
            }

            #[inline]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                let $world = opening.world;
                Ok($opened)
            }

            #[inline]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                *fetch
            }

            #[inline]
            fn columns<'a>(_: Self::View<'a>, _: &mut impl Surveyor<'a>) {}

            #[inline]
            fn aligned<'a>(view: Self::View<'a>, _: &dyn Fn(u32) -> usize) -> Self::View<'a> {
                view
            }

            #[inline]
            fn search(_: Self::View<'_>) -> Self::Search<'_> {}

            #[inline]
            fn seek((): (), _: Row) -> ((), bool) {
                ((), true)
            }

            #[inline]
            fn is_same((): (), (): ()) -> bool {
                true
            }

            #[inline]
            fn step((): (), _: usize) {}

            #[inline]
            fn extend((): (), (): (), entities: &[Entity]) -> usize {
                entities.len()
            }

            #[inline]
            fn load(_: &[u32]) {}

            #[inline]
            unsafe fn cursor<'a>(
                view: Self::View<'a>,
                (): (),
                entities: *const Entity,
            ) -> Self::Cursor<'a> {
                (view, entities)
            }

            #[inline(always)]
            unsafe fn item<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::Item<'a> {
                // SAFETY: promised by the caller.
                unsafe { Self::read(cursor, nth) }
            }

            #[inline(always)]
            unsafe fn read<'a>(
                &($the_view, entities): &Self::Cursor<'a>,
                nth: usize,
            ) -> Self::ReadItem<'a> {
                let entity = entities.wrapping_add(nth);
                // SAFETY: the entities of the stretch are readable, as the caller promises.
                let $entity = unsafe { *entity };
                $made
            }
        }
    };
}

entity_term!(Entity, Entity, true, (), (), world => (), view, entity => entity);
entity_term!(
    EntityRef<'_>, EntityRef<'a>, false, &'w World, &'a World, world => world,
    view, entity => EntityRef::new(view, entity)
);
