//! What a query does, for people.

use std::fmt;

use super::Query;
use super::filter::QueryFilter;
use super::held::{Shape, needs};
use super::merged::Merged;
use super::planner::piece;
use super::prefix::covering;
use super::term::QueryData;
use crate::plan::{Finding, Kind};

/// How a query finds its matches; prints as a few lines. See [`Query::explain`].
///
/// Many short [`runs`](Self::runs) mean that the pools lie in different orders: align or group them if the query
/// is walked often, or let the world [adapt](crate::World::adapt).
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
}

/// How a walk goes, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WalkKind {
    /// By runs that are known: slice after slice.
    Runs,
    /// By a plan that lists the place of every match, because runs are short.
    List,
    /// Without a plan, which would be no better: there is one pool, or there are few entities.
    Simple,
    /// Without a plan, because a pool has changed since the query was walked last. The second walk
    /// from now on has one, if nothing changes.
    Changed,
    /// Without a plan, because that would not fit into the memory for plans; see
    /// [`WorldBuilder::plan_memory`](crate::world::WorldBuilder::plan_memory).
    TooBig,
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
        let runs = Merged::new(piece(views, &survey, None));
        let (matches, runs) =
            runs.fold((0, 0), |(matches, runs), run| (matches + run.len, runs + 1));
        let way = if survey.is_aligned() && survey.pools > 1 {
            WalkKind::Runs
        } else if survey.is_simple() {
            WalkKind::Simple
        } else {
            match self.held.opening.world.plans().find(&Shape { views, survey: &survey }) {
                Finding::Plan(plan) if plan.kind() == Kind::Runs => WalkKind::Runs,
                Finding::Plan(_) => WalkKind::List,
                Finding::TooBig => WalkKind::TooBig,
                Finding::New | Finding::Unchanged => WalkKind::Changed,
            }
        };
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
        Explanation { driver, driver_len, matches, runs, is_grouped, way }
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
            WalkKind::Runs => "by runs that are known",
            WalkKind::List => "by a plan that lists every match, because the runs are short",
            WalkKind::Simple => "without a plan, which would be no better",
            WalkKind::Changed => "without a plan: not walked twice since one of its pools changed",
            WalkKind::TooBig => {
                "without a plan, which would take more than the world's `plan_memory`"
            }
        })
    }
}
