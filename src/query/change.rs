//! The filters `Added`, `Changed` and `Reacted`: what is new.
//!
//! They look at ticks, not at structure, so blocks say nothing about them. A query that requires one
//! of them walks the entities that pass it, found by the summaries of the ticks: its cost follows
//! what changed, not what is there.

use std::fmt;
use std::marker::PhantomData;

use super::candidates::{Candidates, Places};
use super::filter::{QueryFilter, Sealed};
use super::membership::{Members, MembersFetch};
use super::opening::Opening;
use super::survey::{Role, Surveyor};
use super::term::Row;
use crate::access::{Key, Usage};
use crate::cell::Read;
use crate::component::{Component, TrackingOf};
use crate::sparse::SparseSet;
use crate::storage::{Ticks, Tracking};
use crate::tick::{Span, Tick};
use crate::world::{BorrowConflict, ReactiveKey};

/// Lets entities pass whose `T` was added since.
///
/// Since the last [`World::refresh`](crate::World::refresh), unless the query says
/// [`since`](crate::Query::since) when; in a system, since it ran last. Needs
/// `#[component(track)]`.
///
/// Use it to work off what is new once a step; to act at once there is
/// [`World::on_add`](crate::World::on_add).
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// #[derive(Component)]
/// #[component(track)]
/// struct Sprite(u32);
///
/// let mut world = World::new();
/// world.spawn(Sprite(1));
/// world.refresh();
/// let new = world.spawn(Sprite(2));
/// assert_eq!(world.query_filtered::<Entity, Added<Sprite>>().single(), Ok(new));
/// ```
pub struct Added<T>(PhantomData<fn() -> T>);

/// Lets entities pass whose `T` was changed since; being added counts.
///
/// Since when: see [`Added`]. Needs `#[component(track)]`.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// #[derive(Component)]
/// #[component(track)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let ids: Vec<_> = world.spawn_batch((0..1000).map(Health)).collect();
/// world.refresh();
///
/// world.get_mut::<Health>(ids[7]).unwrap().0 += 1;
/// let query = world.query_filtered::<(Entity, &Health), Changed<Health>>();
/// assert_eq!(query.iter().map(|(id, _)| id).collect::<Vec<_>>(), [ids[7]]);
/// ```
pub struct Changed<T>(PhantomData<fn() -> T>);

/// What the guard of a tick filter lends.
pub struct TickView<'a, T: Component> {
    members: Members<'a, T>,
    ticks: Option<&'a Ticks>,
    since: Tick,
}

impl<T: Component> Clone for TickView<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Component> Copy for TickView<'_, T> {}

impl<'a, T: Component> TickView<'a, T> {
    #[inline]
    fn new(fetch: &'a MembersFetch<'_, T>, span: Span) -> Self {
        const {
            assert!(
                TrackingOf::<T>::IS_ON,
                "the changes of this component are not tracked: add `#[component(track)]` to it"
            );
        }
        Self { members: fetch.view(), ticks: fetch.ticks(), since: span.since }
    }

    /// Whether the tick that `of` reads is new.
    #[inline]
    fn passes(self, row: Row, signature: u64, of: fn(&Ticks, usize) -> Tick) -> bool {
        self.members.may_have(signature)
            && self
                .members
                .position(row)
                .zip(self.ticks)
                .is_some_and(|(at, ticks)| of(ticks, at) > self.since)
    }

    /// The entities whose tick is new, in packed order, unless they are so many that walking the pool is
    /// better.
    fn candidates(self, of: fn(&Ticks, usize) -> Tick) -> Option<Candidates<'a>> {
        let Some(ticks) = self.ticks else { return Some(Candidates::Entities(Vec::new())) };
        let entities = self.members.entities();
        let most = 64.max(entities.len() / 16);
        let mut found = Vec::new();
        // Who was added was changed, too.
        ticks.changed_since(self.since, |at| {
            if of(ticks, at) > self.since {
                found.push(at as u32);
            }
            found.len() <= most
        });
        let id = self.members.id();
        (found.len() <= most).then_some(Candidates::Places(Places { entities, id, places: found }))
    }
}

/// `QueryFilter` for a question about a tick.
macro_rules! tick_filter {
    ($name:ident, $tick:expr) => {
        impl<T> Sealed for $name<T> {}

        impl<T: Component> QueryFilter for $name<T> {
            type Fetch<'w> = MembersFetch<'w, T>;
            type View<'a> = TickView<'a, T>;

            const IS_OPEN: bool = false;
            const IS_TIMED: bool = true;
            const IS_EXACT: bool = true;

            fn uses(see: &mut impl FnMut(Key, Usage)) {
                see(Key::of::<T>(), Usage::Ticks);
            }

            #[inline]
            #[track_caller]
            fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
                MembersFetch::open(opening)
            }

            #[inline]
            fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a> {
                TickView::new(fetch, span)
            }

            #[inline]
            fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>) {
                view.members.column(Role::With, survey);
            }

            #[inline]
            fn passes(view: Self::View<'_>, row: Row, signature: u64) -> bool {
                view.passes(row, signature, $tick)
            }

            fn candidates(view: Self::View<'_>) -> Option<Candidates<'_>> {
                view.candidates($tick)
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(std::any::type_name::<Self>())
            }
        }
    };
}

tick_filter!(Added, Ticks::added);
tick_filter!(Changed, Ticks::changed);

impl<T: Component> fmt::Debug for TickView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TickView").field("since", &self.since).finish_non_exhaustive()
    }
}

/// Lets entities pass that a reactive set has collected; see
/// [`World::reactive`](crate::World::reactive). Nobody passes if there is no such set.
///
/// Use it for a list of work to do that lasts until it is done; `S` is a type that names the set.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Mesh;
/// struct ToUpload;
///
/// let mut world = World::new();
/// world.reactive::<ToUpload>().added::<Mesh>().build();
/// let id = world.spawn(Mesh);
/// assert_eq!(world.query_filtered::<Entity, Reacted<ToUpload>>().single(), Ok(id));
/// assert_eq!(world.drain_reacted::<ToUpload>(), [id]);
/// ```
pub struct Reacted<S>(PhantomData<fn() -> S>);

impl<S> Sealed for Reacted<S> {}

impl<S: 'static> QueryFilter for Reacted<S> {
    type Fetch<'w> = Option<Read<'w, SparseSet>>;
    type View<'a> = Option<&'a SparseSet>;

    const IS_OPEN: bool = false;
    const IS_TIMED: bool = true;
    const IS_EXACT: bool = true;
    // A set may keep who has died.
    const MAY_BE_DEAD: bool = true;

    fn uses(see: &mut impl FnMut(Key, Usage)) {
        see(Key::of::<ReactiveKey<S>>(), Usage::Read);
    }

    #[track_caller]
    fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict> {
        opening.world.try_reacted::<S>()
    }

    fn view<'a>(fetch: &'a Self::Fetch<'_>, _: Span) -> Self::View<'a> {
        fetch.as_deref()
    }

    fn columns<'a>(_: Self::View<'a>, _: &mut impl Surveyor<'a>) {}

    #[inline]
    fn passes(view: Self::View<'_>, row: Row, _: u64) -> bool {
        view.is_some_and(|set| set.contains(row.entity))
    }

    fn candidates(view: Self::View<'_>) -> Option<Candidates<'_>> {
        Some(Candidates::Entities(view.map_or_else(Vec::new, |set| set.as_slice().to_vec())))
    }
}

impl<S> fmt::Debug for Reacted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<Self>())
    }
}
