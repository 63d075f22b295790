//! Which pools a query names, what it demands of them, and which one is the driver.

use super::marks::MOST;
use super::prefix::Prefix;
use crate::access::Key;
use crate::entity::Entity;
use crate::sparse::{Order, Rows};

/// What a pool does for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its values are fetched.
    Fetched,
    /// Its entities pass a filter.
    With,
    /// Its entities do not pass a filter.
    Without,
    /// It is asked for each entity.
    Asked,
}

/// An optional part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `Option<…>`.
    Option,
    /// `AnyOf<…>`.
    AnyOf,
    /// `Or<…>`.
    Or,
}

/// Sees the pools of a query, in the order in which it names them.
///
/// # Soundness
/// Nothing rests on implementations of the user's: terms, which are sealed, show their columns to surveyors of the library.
pub trait Surveyor<'a> {
    /// A pool.
    fn column(&mut self, column: Column<'a>);

    /// An optional part begins.
    fn begin(&mut self, part: Part);

    /// The part that began last ends.
    fn end(&mut self);
}

/// For who is in no hurry: a query is compiled once for all of them.
impl<'a> Surveyor<'a> for &mut (dyn Surveyor<'a> + '_) {
    fn column(&mut self, column: Column<'a>) {
        (**self).column(column);
    }

    fn begin(&mut self, part: Part) {
        (**self).begin(part);
    }

    fn end(&mut self) {
        (**self).end();
    }
}

/// A pool that a query names.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    pub(super) role: Role,
    /// Number of the component, or `UNKNOWN`.
    pub(super) id: u32,
    pub(super) stamp: u64,
    pub(super) order: &'a Order,
    pub(super) entities: &'a [Entity],
    /// Stretches whose order other pools share.
    pub(super) rows: Option<&'a Rows>,
    /// Gives the component. Two types may share a name, and all unknown ones share a number.
    pub(super) key: fn() -> Key,
}

/// The order of a pool that does not exist.
pub(super) static NO_ORDER: Order = Order::nobodys();

/// The number of a component that the world does not know.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The component whose pool is to be the driver.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// By its number.
    Known(u32),
    /// One that the world does not know.
    Unknown(fn() -> Key),
}

impl Wanted {
    /// The component of a pool that a query names.
    fn of(column: &Column<'_>) -> Self {
        match column.id {
            UNKNOWN => Self::Unknown(column.key),
            id => Self::Known(id),
        }
    }

    /// Number of the component, or `UNKNOWN`.
    #[inline]
    pub(super) fn id(self) -> u32 {
        match self {
            Self::Known(id) => id,
            Self::Unknown(_) => UNKNOWN,
        }
    }

    #[inline]
    fn is(self, column: &Column<'_>) -> bool {
        match self {
            Self::Known(id) => id == column.id,
            Self::Unknown(key) => column.id == UNKNOWN && (column.key)() == key(),
        }
    }
}

/// Entities below which asking blocks costs more than it saves.
pub(super) const SMALL: usize = 16;

/// What a query demands of its matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// Required and refused components, as bits; `None` if a number is too high for that.
    pub(super) masks: Option<[u64; 2]>,
    /// Whether there are parts of which one is enough.
    pub(super) has_choice: bool,
    /// The component whose pool must be the driver.
    pub(super) wanted: Option<Wanted>,
    /// Component and length of the driver.
    pub(super) shortest: Option<(u32, usize)>,
    /// Pools that are fetched from or filtered by, optional ones too.
    pub(super) pools: usize,
}

/// Finds the driver.
#[derive(Debug)]
pub(super) struct Survey<'a> {
    pub(super) driver: Option<Column<'a>>,
    /// The component whose pool must be the driver.
    pub(super) wanted: Option<Wanted>,
    /// Pools that are fetched from or filtered by.
    pub(super) pools: usize,
    /// Required pools.
    pub(super) required: usize,
    /// Members of the largest of these.
    longest: usize,
    /// The number of their order, if it is known that they have the same; zero if not.
    order: u64,
    /// Whether one of them has not been compared since it has changed.
    is_open: bool,
    /// Pools that are fetched from.
    fetched: usize,
    /// Whether the query can be walked along bands, by what it asks for.
    pub(super) is_plain: bool,
    /// Whether all required pools have rows.
    has_rows: bool,
    /// Entities of a refused or optional pool that are not placed, at most.
    loose: usize,
    /// Whether an entity of all required pools may be no match all the same.
    pub(super) is_picky: bool,
    /// What groups say about the matches.
    pub(super) prefix: Option<Prefix>,
    /// Whether a filter depends on more than structure.
    pub(super) is_timed: bool,
    /// Positions of the driver among which the matches are, if a filter knows them.
    pub(super) places: Option<&'a [u32]>,
    /// Optional parts that are open.
    depth: usize,
    /// Whether the innermost of these is an `AnyOf`.
    is_choice: bool,
}

impl Survey<'_> {
    #[inline]
    pub(super) fn new(wanted: Option<Wanted>) -> Self {
        Self {
            driver: None,
            wanted,
            pools: 0,
            required: 0,
            longest: 0,
            order: 0,
            is_open: false,
            fetched: 0,
            is_plain: true,
            has_rows: true,
            loose: 0,
            is_picky: false,
            prefix: None,
            is_timed: false,
            places: None,
            depth: 0,
            is_choice: false,
        }
    }
}

impl Survey<'_> {
    /// Whether blocks would be of no use.
    #[inline]
    pub(super) fn is_simple(&self) -> bool {
        self.is_timed
            || self.pools <= 1
            || self.is_one_stretch()
            || self.driver.is_none_or(|driver| driver.entities.len() < SMALL)
    }

    /// Whether the matches are known to be the first entities of every pool, in the same order.
    #[inline]
    pub(super) fn is_one_stretch(&self) -> bool {
        self.is_aligned() || self.prefix.is_some_and(|prefix| prefix.is_whole)
    }

    /// Whether all pools are known to hold the same entities in the same order, who are the matches.
    #[inline]
    pub(super) fn is_aligned(&self) -> bool {
        (self.order != 0 || self.pools == 1) && self.may_be_aligned()
    }

    /// Whether the query has just required pools.
    #[inline]
    fn may_be_aligned(&self) -> bool {
        self.required == self.pools && !self.is_picky && self.driver.is_some()
    }

    /// Whether the pools may be in the same order and were not compared since they changed.
    #[inline]
    pub(super) fn is_worth_comparing(&self) -> bool {
        let is_long = |driver: Column<'_>| driver.entities.len() >= SMALL.max(self.longest);
        !self.is_aligned()
            && self.is_open
            && self.may_be_aligned()
            && self.driver.is_some_and(is_long)
    }

    /// What it takes to be a match, as far as groups can say something about it.
    #[inline(always)]
    pub(super) fn needs(&self, demands: Demands) -> Needs {
        let shortest = self.driver.map(|driver| (driver.id, driver.entities.len()));
        let Self { wanted, pools, .. } = *self;
        let Demands { masks, has_choice, .. } = demands;
        Needs { masks, has_choice, wanted, shortest, pools }
    }
}

impl<'a> Survey<'a> {
    /// The rows of the driver, if it is worth walking along them.
    #[inline]
    pub(super) fn banded(&self, columns: usize) -> Option<&'a Rows> {
        let driver = self.driver?;
        let rows = driver.rows?;
        let is_worth_it = self.is_plain
            && self.has_rows
            && self.fetched == columns
            && self.wanted.is_none()
            && self.prefix.is_none()
            && self.pools <= MOST
            && rows.count() > driver.entities.len() / 2
            && self.loose <= driver.entities.len();
        is_worth_it.then_some(rows)
    }
}

impl<'a> Surveyor<'a> for Survey<'a> {
    #[inline(always)]
    fn column(&mut self, column: Column<'a>) {
        self.pools += 1;
        let is_required = self.depth == 0 && matches!(column.role, Role::Fetched | Role::With);
        if is_required {
            self.has_rows &= column.rows.is_some();
        } else {
            self.loose = self.loose.max(column.entities.len() - column.rows.map_or(0, Rows::count));
        }
        self.fetched += usize::from(matches!(column.role, Role::Fetched | Role::Asked));
        match column.role {
            Role::Fetched | Role::With if self.depth == 0 => {
                let order = column.order.get();
                self.order = if self.required == 0 || self.order == order { order } else { 0 };
                self.is_open |= order == 0;
                self.longest = self.longest.max(column.entities.len());
                self.required += 1;
                let is_better = match (self.wanted, self.driver) {
                    (Some(wanted), _) => wanted.is(&column),
                    (None, Some(driver)) => column.entities.len() < driver.entities.len(),
                    (None, None) => true,
                };
                if is_better {
                    self.driver = Some(column);
                }
            }
            Role::Without => self.is_picky = true,
            // One number says whether a part is there; these have none, or more.
            Role::With | Role::Asked => self.is_plain &= self.depth == 0,
            Role::Fetched => {}
        }
    }

    #[inline]
    fn begin(&mut self, part: Part) {
        // Parts of a part belong together in a way that no block tells.
        self.is_plain &= part == Part::AnyOf && self.depth == 0
            || part == Part::Option && (self.depth == 0 || self.depth == 1 && self.is_choice);
        self.is_choice = part == Part::AnyOf;
        self.depth += 1;
        self.is_picky |= part != Part::Option;
    }

    #[inline]
    fn end(&mut self) {
        self.depth -= 1;
        self.is_choice = self.depth > 0;
    }
}

/// Finds which components an entity needs and must not have. Apart from the survey: only groups ask for that.
#[derive(Debug)]
pub(super) struct Demands {
    /// Required and refused components, as bits; `None` if a number is too high for that.
    masks: Option<[u64; 2]>,
    /// Whether there are parts of which one is enough.
    has_choice: bool,
    /// Optional parts that are open.
    depth: usize,
}

impl Demands {
    #[inline]
    pub(super) fn new() -> Self {
        Self { masks: Some([0; 2]), has_choice: false, depth: 0 }
    }

    #[inline]
    fn mark(&mut self, which: usize, id: u32) {
        match &mut self.masks {
            // What nobody has refuses nobody.
            _ if id == UNKNOWN && which == 1 => {}
            Some(masks) if id < u64::BITS => masks[which] |= 1 << id,
            masks => *masks = None,
        }
    }
}

impl<'a> Surveyor<'a> for Demands {
    #[inline]
    fn column(&mut self, column: Column<'a>) {
        match column.role {
            _ if self.depth > 0 => {}
            Role::Fetched | Role::With => self.mark(0, column.id),
            Role::Without => self.mark(1, column.id),
            Role::Asked => {}
        }
    }

    #[inline]
    fn begin(&mut self, part: Part) {
        self.depth += 1;
        self.has_choice |= part != Part::Option;
    }

    #[inline]
    fn end(&mut self) {
        self.depth -= 1;
    }
}

/// Looks for the required pool of a component.
#[derive(Debug)]
pub(super) struct Requirement {
    key: Key,
    /// The pool, as a driver.
    pub(super) found: Option<Wanted>,
    depth: usize,
}

impl Requirement {
    pub(super) fn of<T: 'static>() -> Self {
        Self { key: Key::of::<T>(), found: None, depth: 0 }
    }
}

impl<'a> Surveyor<'a> for Requirement {
    fn column(&mut self, column: Column<'a>) {
        let is_required = self.depth == 0 && matches!(column.role, Role::Fetched | Role::With);
        if is_required && (column.key)() == self.key {
            self.found = Some(Wanted::of(&column));
        }
    }

    fn begin(&mut self, _: Part) {
        self.depth += 1;
    }

    fn end(&mut self) {
        self.depth -= 1;
    }
}
