//! Which pools a query names: the driver to walk, and the key of its plan.

use crate::entity::Entity;
use crate::plan::Key;

/// What a pool does for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Its values are fetched.
    Fetched = 0,
    /// Its entities pass a filter.
    With = 1,
    /// Its entities do not pass a filter.
    Without = 2,
    /// It is asked for each entity.
    Asked = 3,
}

/// Where optional parts begin and end in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// `Option<…>`.
    Option = 4,
    /// `AnyOf<…>`.
    AnyOf = 5,
    /// `Or<…>`.
    Or = 6,
    /// The end of one of these.
    End = 7,
}

/// Sees the pools of a query, in the order in which it names them.
#[allow(missing_debug_implementations, reason = "lives for one call")]
pub struct Survey<'a> {
    pub(super) key: Key,
    pub(super) driver: Option<Driver<'a>>,
    /// The component whose pool must be the driver.
    pub(super) wanted: Option<u32>,
    /// Pools that are fetched from or filtered by.
    pub(super) pools: usize,
    /// Required pools.
    pub(super) required: usize,
    /// Whether an entity of all required pools may be no match all the same.
    pub(super) is_picky: bool,
    /// Optional parts that are open.
    depth: usize,
}

/// The pool that is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Driver<'a> {
    pub(super) entities: &'a [Entity],
    pub(super) name: &'static str,
}

impl<'a> Survey<'a> {
    /// The number of a component that the world does not know.
    pub(super) const UNKNOWN: u32 = u32::MAX;

    #[inline]
    pub(super) fn new(wanted: Option<u32>) -> Self {
        let mut key = Key::default();
        if let Some(id) = wanted {
            key.shape(u64::from(id) << 8 | 8);
        }
        Self { key, driver: None, wanted, pools: 0, required: 0, is_picky: false, depth: 0 }
    }

    #[inline]
    pub(super) fn column(
        &mut self,
        role: Role,
        id: u32,
        stamp: u64,
        entities: &'a [Entity],
        name: &'static str,
    ) {
        self.key.shape(u64::from(id) << 8 | role as u64);
        self.key.stamp(stamp);
        self.pools += 1;
        match role {
            Role::Fetched | Role::With if self.depth == 0 => {
                self.required += 1;
                let is_better = match (self.wanted, self.driver) {
                    (Some(wanted), _) => id == wanted,
                    (None, Some(driver)) => entities.len() < driver.entities.len(),
                    (None, None) => true,
                };
                if is_better {
                    self.driver = Some(Driver { entities, name });
                }
            }
            Role::Without => self.is_picky = true,
            _ => {}
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, part: Part) {
        self.key.shape(part as u64);
        self.depth += 1;
        self.is_picky |= part != Part::Option;
    }

    #[inline]
    pub(super) fn end(&mut self) {
        self.key.shape(Part::End as u64);
        self.depth -= 1;
    }
}

/// Entities that are compared at once: few enough to be cheap when they differ, enough for the
/// comparison to be done in wide registers.
const BLOCK: usize = 16;

/// How many entities two slices have in common from the start.
#[inline]
pub(super) fn common_prefix(a: &[Entity], b: &[Entity]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    // The driver against itself.
    if std::ptr::eq(a, b) {
        return len;
    }
    let differs = |a: &[Entity], b: &[Entity]| {
        let folded = a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a.raw() ^ b.raw()));
        folded != 0
    };
    let mut at = 0;
    while at + BLOCK <= len && !differs(&a[at..at + BLOCK], &b[at..at + BLOCK]) {
        at += BLOCK;
    }
    while at < len && a[at] == b[at] {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_prefix_ends_where_the_first_entities_differ() {
        let row = |len: u32| (0..len).map(|i| Entity::new(i, 0).unwrap()).collect::<Vec<_>>();
        let a = row(100);

        for at in 0..100 {
            let mut b = row(100);
            b[at] = Entity::new(500, 0).unwrap();
            assert_eq!(common_prefix(&a, &b), at);
            assert_eq!(common_prefix(&a, &row(at as u32)), at);
        }
        assert_eq!(common_prefix(&a, &row(100)), 100);
        assert_eq!(common_prefix(&a, &a), 100);
    }
}
