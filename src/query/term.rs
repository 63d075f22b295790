//! What a term of a query is.

#![allow(unsafe_code, reason = "declares the unsafe trait")]

use super::opening::Opening;
use super::survey::Surveyor;
use crate::access::{Key, Usage};
use crate::entity::Entity;
use crate::sparse::SlotRow;
use crate::tick::Span;
use crate::world::BorrowConflict;

/// What a [`Query`](super::Query) fetches from each entity.
///
/// | term | gives | matches |
/// |---|---|---|
/// | [`Entity`] | the id | all |
/// | `&T` | the component | who has it |
/// | `&mut T` | the component, to be changed | who has it |
/// | `Option<D>` | `Option` of what `D` gives | all |
/// | [`Has<T>`](super::Has) | `bool`: has it the component? | all |
/// | [`AnyOf<(A, B, …)>`](super::AnyOf) | a tuple of `Option`s | who matches one of them |
/// | [`EntityRef`](crate::EntityRef) | all its components, borrowed one by one | all |
/// | tuples of terms | a tuple | who matches all |
/// | a struct that derives `QueryData` | a struct with the same fields | who matches all |
///
/// # Examples
/// A struct gives names to what is fetched. `MoverItem` and `MoverReadItem` are what it gives.
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Position(f32);
/// # #[derive(Component)] struct Velocity(f32);
/// # #[derive(Component)] struct Weapon;
/// #[derive(QueryData)]
/// struct Mover<'w> {
///     position: &'w mut Position,
///     velocity: &'w Velocity,
///     armed: Has<Weapon>,
/// }
///
/// impl MoverItem<'_> {
///     fn go(self) {
///         self.position.0 += self.velocity.0;
///     }
/// }
///
/// let mut world = World::new();
/// let boat = world.spawn((Position(0.0), Velocity(2.0)));
///
/// let mut movers = world.query::<Mover>();
/// movers.iter_mut().for_each(MoverItem::go);
/// let found = movers.get(boat).unwrap();
/// assert_eq!((found.position.0, found.armed), (2.0, false));
/// ```
///
/// # How it works
/// A query fetches in stretches: a *view* is what the guards lend, a *search* what is read to find entities, a *place* says where the parts
/// of one entity lie, and a *cursor* is made of both at the start of a stretch. Terms are those of
/// the table; the methods are for the library itself.
///
/// # Safety
/// - `place` and `load` give places at which the entity's parts lie, as long as the guards are
///   held, and `step` those of the entity that follows in every pool;
/// - `aligned` is told the truth, and `extend` counts entities that really follow each other in
///   every pool;
/// - `uses` and `IS_CLOSED` tell the truth;
/// - `item` for distinct entities lends distinct memory, or memory that is only read; `read` never
///   lends for writing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be fetched by a query",
    label = "not a query term",
    note = "terms are `Entity`, `&T`, `&mut T`, `Option<…>`, `Has<T>`, `AnyOf<(…)>`, `EntityRef`, \
            tuples of these and structs that derive `QueryData`, for components `T`",
    note = "a component derives `Component`; filters such as `With<T>` are the second parameter"
)]
pub unsafe trait QueryData: Sealed {
    /// What one entity gives to who may write.
    type Item<'a>;

    /// What one entity gives to who only reads: the same with `&T` for `&mut T`.
    type ReadItem<'a>;

    /// Guards on the pools.
    #[doc(hidden)]
    type Fetch<'w>;

    /// What the guards lend.
    #[doc(hidden)]
    type View<'a>: Copy;

    /// What is read to find entities, apart from the maps, so that it can be kept in registers.
    #[doc(hidden)]
    type Search<'a>: Copy;

    /// Where the parts of one entity lie.
    #[doc(hidden)]
    type Place: Copy;

    /// Pointers to the parts of the first entity of a stretch.
    #[doc(hidden)]
    type Cursor<'a>: Copy;

    /// Numbers that a place is made of.
    #[doc(hidden)]
    const COLUMNS: usize;

    /// Whether the first of these numbers is never `NONE`.
    #[doc(hidden)]
    const NICHE: bool;

    /// Whether what it gives leads to no component but those of `uses`.
    #[doc(hidden)]
    const IS_CLOSED: bool;

    /// Whether who has a place is alive: it has one in a pool (W2).
    #[doc(hidden)]
    const PROVES_LIFE: bool;

    /// Shows the components that are used, and how.
    #[doc(hidden)]
    fn uses(see: &mut impl FnMut(Key, Usage));

    /// Takes the guards.
    #[doc(hidden)]
    fn open(opening: Opening<'_>) -> Result<Self::Fetch<'_>, BorrowConflict>;

    #[doc(hidden)]
    fn view<'a>(fetch: &'a Self::Fetch<'_>, span: Span) -> Self::View<'a>;

    /// Shows the pools to `survey`.
    #[doc(hidden)]
    fn columns<'a>(view: Self::View<'a>, survey: &mut impl Surveyor<'a>);

    /// The view of one who knows of each component how many of the first entities of its pool lie
    /// at the same positions in the driver.
    #[doc(hidden)]
    fn aligned<'a>(view: Self::View<'a>, known: &dyn Fn(u32) -> usize) -> Self::View<'a>;

    /// The slots of a pool that all matches are in, if they lie side by side, and how many entities it has.
    #[doc(hidden)]
    #[inline(always)]
    fn slots(_: Self::View<'_>) -> Option<SlotRow<'_>> {
        None
    }

    #[doc(hidden)]
    fn search(view: Self::View<'_>) -> Self::Search<'_>;

    /// Looks an entity up. Returns where its parts lie and whether it matches; if it does not, the place means nothing.
    ///
    /// Without a branch on what is found, so that look-ups in a row overlap.
    #[doc(hidden)]
    fn seek(search: Self::Search<'_>, row: Row) -> (Self::Place, bool);

    /// Like [`seek`](Self::seek), but looks at a place first where the parts are likely to lie.
    #[doc(hidden)]
    #[inline(always)]
    fn seek_near(search: Self::Search<'_>, row: Row, _near: Self::Place) -> (Self::Place, bool) {
        Self::seek(search, row)
    }

    /// Returns where the parts of an entity lie, if it matches.
    #[doc(hidden)]
    #[inline(always)]
    fn place(search: Self::Search<'_>, row: Row) -> Option<Self::Place> {
        let (place, is_match) = Self::seek(search, row);
        if is_match { Some(place) } else { None }
    }

    #[doc(hidden)]
    fn is_same(a: Self::Place, b: Self::Place) -> bool;

    /// The place `by` entities further, in a stretch that is that long.
    #[doc(hidden)]
    fn step(place: Self::Place, by: usize) -> Self::Place;

    /// How many of these entities, of which the first is at `place`, follow each other there.
    #[doc(hidden)]
    fn extend(search: Self::Search<'_>, place: Self::Place, entities: &[Entity]) -> usize;

    /// The place that `COLUMNS` numbers make.
    #[doc(hidden)]
    fn load(numbers: &[u32]) -> Self::Place;

    /// Points at the parts of the entity at `place`.
    ///
    /// # Safety
    /// `place` is that of the entity that `entities` points to, and nothing has moved since.
    #[doc(hidden)]
    unsafe fn cursor<'a>(
        view: Self::View<'a>,
        place: Self::Place,
        entities: *const Entity,
    ) -> Self::Cursor<'a>;

    /// Points at the parts of one entity, if it matches.
    ///
    /// The same as a place and its cursor; a term that has less to ask for a single entity says so.
    ///
    /// # Safety
    /// `entity` is readable as long as the cursor is used.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn lone<'a>(
        fetch: &'a Self::Fetch<'_>,
        span: Span,
        entity: *const Entity,
    ) -> Option<Self::Cursor<'a>> {
        let view = Self::view(fetch, span);
        // SAFETY: promised by the caller.
        let place = Self::place(Self::search(view), Row::alone(unsafe { *entity }))?;
        // SAFETY: it is the place of this entity.
        Some(unsafe { Self::cursor(view, place, entity) })
    }

    /// What the `nth` entity behind the cursor's gives.
    ///
    /// The cursor is borrowed, and this is always inlined, for the sake of debug builds, in which
    /// every argument is copied and every call is made.
    ///
    /// # Safety
    /// The stretch is longer than `nth`, its entities are readable behind the pointer that the
    /// cursor was made with, and no other item of the same entity is in use.
    #[doc(hidden)]
    unsafe fn item<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::Item<'a>;

    /// What the `nth` entity behind the cursor's gives to who only reads.
    ///
    /// # Safety
    /// As `item`, but other items may be in use that were read.
    #[doc(hidden)]
    unsafe fn read<'a>(cursor: &Self::Cursor<'a>, nth: usize) -> Self::ReadItem<'a>;
}

/// Keeps [`QueryData`] to this module.
pub trait Sealed {}

/// Saved in place of a position that is not there. No position is this high.
pub(super) const NONE: u32 = u32::MAX;

/// One entity to be placed, and where the driver has it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub(super) entity: Entity,
    /// The packed array that is walked; null for an entity that comes from elsewhere.
    driver: *const Entity,
    /// Its position there.
    at: usize,
}

impl Row {
    /// Position `at` of the driver.
    #[inline]
    pub(super) fn of(driver: &[Entity], at: usize) -> Self {
        Self::new(driver, at, driver[at])
    }

    /// `entity`, which is at position `at` of the driver.
    #[inline]
    pub(super) fn new(driver: &[Entity], at: usize, entity: Entity) -> Self {
        debug_assert_eq!(driver[at], entity);
        Self { entity, driver: driver.as_ptr(), at }
    }

    /// An entity that comes from elsewhere.
    #[inline(always)]
    pub(super) fn alone(entity: Entity) -> Self {
        Self { entity, driver: std::ptr::null(), at: usize::MAX }
    }

    /// The entity's position in `packed`, if that is what is walked, or what is walked is known to
    /// be the same up to the position `aligned`.
    #[inline(always)]
    pub(super) fn position_in(self, packed: &[Entity], aligned: usize) -> Option<usize> {
        // The driver has an entity, so its array is an allocation of its own.
        let is_there = std::ptr::eq(packed.as_ptr(), self.driver) || self.at < aligned;
        if is_there { Some(self.at) } else { None }
    }
}
