//! Walks the invariants of a whole world: for tests, and for finding out.

use std::error::Error;
use std::fmt;

use super::World;
use crate::group::Family;
use crate::storage::AnyMap;

/// An invariant that does not hold: a bug in Esker, or in an unsafe storage of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant broken: {}", self.what)
    }
}

impl Error for Violation {}

impl World {
    /// Checks every invariant of the world. Settles reserved entities first.
    ///
    /// # Errors
    /// [`Violation`], which names the invariant and the place.
    ///
    /// # Complexity
    /// O(everything): for tests.
    pub fn verify(&mut self) -> Result<(), Violation> {
        self.check().map_err(|what| Violation { what })
    }

    fn check(&mut self) -> Result<(), String> {
        self.entities.check()?;
        let mut expected = rustc_hash::FxHashMap::default();
        // Bits that are shared may say more than the pools; no other one does.
        let mut shared = 0;
        for id in 0..self.pools.len() {
            let pool = self.pools.at_mut(id);
            let (name, bit) = (pool.name(), pool.tag().bit);
            shared |= if pool.tag().bit().1 { 0 } else { bit };
            let map: &dyn AnyMap = &*pool.map_mut();
            map.check().map_err(|what| format!("{what}, in the pool of `{name}`"))?;
            for &entity in map.entities() {
                if map.value(entity).is_none() {
                    return Err(format!("P1: {entity} is in the pool of `{name}` without a value"));
                }
                let Some(word) = self.entities.word_mut(entity) else {
                    return Err(format!("W2: dead {entity} is in the pool of `{name}`"));
                };
                if *word & bit != bit {
                    return Err(format!("W1: {entity} is in the pool of `{name}` unsigned"));
                }
                *expected.entry(entity).or_insert(0) |= bit;
            }
        }
        let living: Vec<_> = self.entities.iter().collect();
        for entity in living {
            let signature = self.entities.word_mut(entity).map_or(0, |word| *word);
            let expected = expected.get(&entity).copied().unwrap_or(0);
            if (signature ^ expected) & !shared != 0 {
                return Err(format!("W1: {entity} signs for a component it does not have"));
            }
        }
        self.check_groups()?;
        self.check_orders()?;
        self.check_homes()?;
        for id in 0..self.pools.len() {
            if let Err(conflict) = self.pools.at(id).read() {
                let name = self.pools.at(id).name();
                return Err(format!("B1: the pool of `{name}` is borrowed: {conflict}"));
            }
        }
        Ok(())
    }

    /// Checks S6: pools of which it is noted that they are in the same order are.
    fn check_orders(&mut self) -> Result<(), String> {
        let mut orders = rustc_hash::FxHashMap::default();
        for id in 0..self.pools.len() {
            let pool = self.pools.at_mut(id);
            let name = pool.name();
            let map: &dyn AnyMap = &*pool.map_mut();
            if map.order_number() == 0 {
                continue;
            }
            let known = orders.entry(map.order_number());
            let (same, other) = known.or_insert_with(|| (map.entities().to_vec(), name));
            if same != map.entities() {
                return Err(format!("S6: `{other}` and `{name}` are said to be in the same order"));
            }
        }
        Ok(())
    }

    /// Checks G1: who is in a group, by asking the pools.
    fn check_groups(&mut self) -> Result<(), String> {
        let living: Vec<_> = self.entities.iter().collect();
        let (groups, mut family) = self.pools.split();
        for &number in &groups.numbers().to_vec() {
            let Some(group) = groups.get_mut(number) else { continue };
            let (condition, len) = (&group.condition, group.len());
            let fits = living.iter().filter(|&&entity| {
                condition.needed().all(|id| family.has(id, entity))
                    && !condition.excluded.iter().any(|&id| family.has(id, entity))
            });
            let mut expected: Vec<_> = fits.copied().collect();
            let members = match condition.owned.first() {
                Some(&lead) => family.map(lead).entities().get(..len).unwrap_or(&[]).to_vec(),
                None => group.members().to_vec(),
            };
            for &id in &condition.owned {
                let map = family.map(id);
                if map.entities().get(..len) != Some(&members) {
                    let name = map.type_name();
                    return Err(format!("G1: the pool of `{name}` does not begin with its group"));
                }
            }
            let mut sorted = members;
            sorted.sort_unstable();
            expected.sort_unstable();
            if sorted != expected {
                let (has, wants) = (sorted.len(), expected.len());
                return Err(format!(
                    "G1: a group has {has} members and not just the {wants} that fit"
                ));
            }
        }
        Ok(())
    }
}
