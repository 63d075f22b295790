//! Entities that a filter knows.

use rustc_hash::FxHashSet;

use super::survey::Wanted;
use crate::entity::Entity;

/// Entities among which all are that pass a filter.
#[derive(Debug)]
pub enum Candidates<'a> {
    /// These.
    Entities(Vec<Entity>),
    /// Those at some positions of a pool that the query requires: nobody need look them up there.
    Places(Places<'a>),
}

/// Positions in a pool.
#[derive(Debug)]
pub struct Places<'a> {
    /// The packed entities of the pool.
    pub(super) entities: &'a [Entity],
    /// Number of the component.
    pub(super) id: u32,
    pub(super) places: Vec<u32>,
}

impl Candidates<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Entities(entities) => entities.len(),
            Self::Places(places) => places.places.len(),
        }
    }

    /// Those of all of these, each once, in the order in which they come first.
    ///
    /// Not as a sparse set: of two ids of one index, of which one may be dead, both stay.
    pub(super) fn union(all: Vec<Self>) -> Self {
        let mut seen = FxHashSet::default();
        let entities = all.into_iter().flat_map(Self::into_entities);
        Self::Entities(entities.filter(|&entity| seen.insert(entity)).collect())
    }

    fn into_entities(self) -> Vec<Entity> {
        match self {
            Self::Entities(entities) => entities,
            Self::Places(Places { entities, places, .. }) => {
                places.into_iter().map(|at| entities[at as usize]).collect()
            }
        }
    }
}

/// What a query walks, if it is not a pool from end to end. Found when somebody asks, and kept.
#[derive(Debug)]
pub(super) enum Walked {
    /// All living entities.
    Living(Vec<Entity>),
    /// Those that a filter knows.
    Found(Vec<Entity>),
    /// Those at some positions of a pool.
    Places(Wanted, Vec<u32>),
}

impl From<Candidates<'_>> for Walked {
    fn from(candidates: Candidates<'_>) -> Self {
        match candidates {
            Candidates::Entities(entities) => Self::Found(entities),
            Candidates::Places(Places { id, places, .. }) => {
                Self::Places(Wanted::Known(id), places)
            }
        }
    }
}
