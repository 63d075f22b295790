//! What a query does, for people.

use std::fmt;

use super::Query;
use super::filter::QueryFilter;
use super::held::needs;
use super::matches::piece;
use super::merged::Merged;
use super::piece::{Views, Way};
use super::prefix::covering;
use super::survey::{Column, Part, Role, Surveyor, UNKNOWN};
use super::term::QueryData;
use crate::sparse::Rows;
use crate::world::World;

/// How a query finds its matches; prints as a few lines. See [`Query::explain`].
///
/// Many short [`runs`](Self::runs) mean that the pools lie in different orders: align or group them if the query
/// is walked often.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The component whose pool is walked; `None` if the living entities are.
    pub driver: Option<&'static str>,
    /// Entities that are walked.
    pub driver_len: usize,
    /// Entities that match.
    pub matches: usize,
    /// Runs in which they lie.
    pub runs: usize,
    /// Whether only members of a group are walked, because no other entity can match.
    pub is_grouped: bool,
    /// How a walk that starts now goes.
    pub way: WalkKind,
    /// Blocks along which it goes; zero if it goes another way.
    pub blocks: usize,
    /// Entities that are looked up on that way, because they are not at their places in all pools.
    pub loose: usize,
    /// Why it goes another way.
    pub no_blocks: Option<NoBlocks>,
}

/// Why a walk does not go along blocks, in which entities that have the same components lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoBlocks {
    /// Nothing would be gained: there is one pool, pools are in one order, there are few entities, or the members of a
    /// group are walked.
    NotNeeded,
    /// The query has a filter of changes or an `Or`, optional parts inside of others, a driver of its own, or names more than 16
    /// components.
    Form,
    /// A pool has an order of its own: a group owns it, or it was sorted.
    Kept {
        /// Name of the component type.
        component: &'static str,
    },
    /// A pool has no blocks. They are made when the world is walked through `&mut World` or refreshed, where
    /// at least 256 entities live, for those of which there are at least eight alike. In a world of more than 64 component
    /// types, the 64 with the most members have blocks.
    Missing {
        /// Name of the component type.
        component: &'static str,
    },
    /// Too many entities of a pool are not at their places, because something has changed since they were made.
    Loose {
        /// Name of the component type.
        component: &'static str,
    },
}

/// How a walk finds the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WalkKind {
    /// As one run: there is one pool, all pools are known to be in one order, or the members of a group are walked.
    OneRun,
    /// Along blocks, in which entities that have the same components lie side by side; others are looked up.
    Blocks,
    /// At positions that a filter of changes knows.
    Picked,
    /// By look-ups. As long as pools are in one order, slices of them are compared instead.
    Direct,
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Says which pool is walked, how, and how well the pools lie for it.
    ///
    /// # Complexity
    /// O(driver): for finding out, not for every frame.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    ///
    /// let query = world.query::<(&Position, &Velocity)>();
    /// assert_eq!(query.explain().runs, 1);
    /// println!("{}", query.explain());
    /// ```
    pub fn explain(&self) -> Explanation {
        let (views, survey) = self.held.survey();
        let whole = piece(views, &survey);
        let way = match whole.way {
            Way::Aligned => WalkKind::OneRun,
            Way::Bands(_) => WalkKind::Blocks,
            Way::Picked(_) => WalkKind::Picked,
            Way::Direct(_) => WalkKind::Direct,
        };
        let (matches, runs) =
            Merged::new(whole).fold((0, 0), |(matches, runs), run| (matches + run.len, runs + 1));
        let driver = survey.driver.map(|driver| (driver.key)().name());
        let driver_len = survey.places.map_or(views.entities.len(), <[u32]>::len);
        let is_part = survey.driver.is_some_and(|driver| driver_len < driver.entities.len());
        let is_grouped = match survey.is_aligned() {
            // Groups were not asked.
            true => {
                let needs = needs::<D, F>(views.data, views.filter, &survey);
                covering(self.held.opening, needs).is_some()
            }
            false => (is_part || views.is_sure) && !survey.is_timed,
        };
        let (blocks, loose) = match way {
            WalkKind::Blocks => views.count_in_bands(),
            _ => (0, 0),
        };
        let no_blocks = match way {
            WalkKind::Blocks => None,
            _ if survey.is_timed => Some(NoBlocks::Form),
            _ if survey.is_simple() || survey.prefix.is_some() => Some(NoBlocks::NotNeeded),
            _ => {
                let world = self.held.opening.world;
                let is_odd =
                    survey.wanted.is_some() || !survey.is_plain || !Views::<D, F>::HAS_PLACES;
                let mut seen = Seen { world, driver_len, depth: 0, why: None };
                self.held.show(&mut seen);
                Some(if is_odd { NoBlocks::Form } else { seen.why.unwrap_or(NoBlocks::Form) })
            }
        };
        Explanation { driver, driver_len, matches, runs, is_grouped, way, blocks, loose, no_blocks }
    }
}

/// Finds out why a query is not walked along blocks.
struct Seen<'s> {
    world: &'s World,
    driver_len: usize,
    /// Optional parts that are open.
    depth: usize,
    why: Option<NoBlocks>,
}

impl<'a> Surveyor<'a> for Seen<'_> {
    fn column(&mut self, column: Column<'a>) {
        let component = (column.key)().name();
        let is_kept = |id: usize| {
            let pool = self.world.pools().at(id);
            pool.tag().is_owned || pool.is_sorted()
        };
        let is_required = self.depth == 0 && matches!(column.role, Role::Fetched | Role::With);
        let most = if is_required { self.driver_len / 2 } else { self.driver_len };
        let why = match column.rows {
            None if is_required && column.id == UNKNOWN => NoBlocks::Missing { component },
            None if is_required => match is_kept(column.id as usize) {
                true => NoBlocks::Kept { component },
                false => NoBlocks::Missing { component },
            },
            rows if column.entities.len() - rows.map_or(0, Rows::count) > most => {
                NoBlocks::Loose { component }
            }
            _ => return,
        };
        self.why.get_or_insert(why);
    }

    fn begin(&mut self, _: Part) {
        self.depth += 1;
    }

    fn end(&mut self) {
        self.depth -= 1;
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driver_len, matches, runs, .. } = self;
        match self.driver {
            Some(name) if self.is_grouped => {
                writeln!(f, "walks the {driver_len} members of a group, in the order of `{name}`")?
            }
            Some(name) => writeln!(f, "walks the {driver_len} entities that have `{name}`")?,
            None => {
                writeln!(f, "walks all {driver_len} living entities: no component is required")?
            }
        }
        match (matches, runs) {
            (0, _) => writeln!(f, "none of them matches")?,
            (matches, 1) => writeln!(f, "{matches} match, in one run")?,
            (matches, runs) => {
                let average = *matches as f64 / *runs as f64;
                writeln!(f, "{matches} match, in {runs} runs of {average:.1} on average")?;
            }
        }
        f.write_str(match self.way {
            WalkKind::Blocks => {
                let Self { blocks, loose, .. } = self;
                let word = if *blocks == 1 { "block" } else { "blocks" };
                return write!(f, "along {blocks} {word}; {loose} entities are looked up");
            }
            WalkKind::OneRun => "as one run that is known",
            WalkKind::Picked => "at positions where something has changed",
            WalkKind::Direct => "by look-ups",
        })?;
        match self.no_blocks {
            None | Some(NoBlocks::NotNeeded) => Ok(()),
            Some(NoBlocks::Form) => {
                f.write_str("\nnot along blocks: the form of the query does not allow it")
            }
            Some(NoBlocks::Kept { component }) => {
                write!(f, "\nnot along blocks: `{component}` is owned by a group, or was sorted")
            }
            Some(NoBlocks::Missing { component }) => {
                write!(f, "\nnot along blocks: `{component}` has none")
            }
            Some(NoBlocks::Loose { component }) => {
                write!(f, "\nnot along blocks: too much has changed in `{component}`")
            }
        }
    }
}
