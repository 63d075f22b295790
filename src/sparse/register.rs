//! The register of homes: who belongs in which row of which block.
//!
//! # Invariants
//! - **A3** – a row has one tenant at most: the index that is written down for it, if that has it as its home. Only who
//!   lives has a home.

use std::fmt;

use crate::prefetch::prefetch;

/// A row of a block: where an entity belongs, in each set that has the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) block: u32,
    pub(crate) row: u32,
}

/// As the block of a home: the entity has none, or waits for one of the archetype that stands as row.
const NO_BLOCK: u32 = u32::MAX;
const WAITS: u32 = u32::MAX - 1;

impl Home {
    /// The home of one that has none.
    pub(crate) const NONE: Self = Self { block: NO_BLOCK, row: 0 };

    /// The home of one that waits for a row of an archetype.
    pub(crate) const fn waiting(archetype: u32) -> Self {
        Self { block: WAITS, row: archetype }
    }

    /// The archetype that one without a row waits for.
    pub(crate) fn waits_for(self) -> Option<usize> {
        (self.block == WAITS).then_some(self.row as usize)
    }

    /// Whether it is a row of a block.
    #[inline(always)]
    pub(crate) fn is_row(self) -> bool {
        self.block < WAITS
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_row() {
            true => write!(f, "row {} of block {}", self.row, self.block),
            false => f.write_str("no row"),
        }
    }
}

/// Who belongs where.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// By index of the entity.
    homes: Vec<Home>,
    /// By block and row: the index that was the last to get it.
    tenants: Vec<Vec<u32>>,
    /// By block: the number of its row 0 among all rows.
    firsts: Vec<u32>,
    /// Rows of all blocks.
    rows: u32,
    /// Grows when a row gets or loses a tenant, and with each round.
    changes: u64,
    /// Whether rows are to be numbered anew.
    is_unnumbered: bool,
}

/// The tenant of a row that never had one.
const NOBODY: u32 = u32::MAX;

impl Clone for Register {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// In the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        let Self { homes, tenants, firsts, rows, changes, is_unnumbered } = other;
        self.homes.clone_from(homes);
        self.tenants.clone_from(tenants);
        self.firsts.clone_from(firsts);
        (self.rows, self.changes, self.is_unnumbered) = (*rows, *changes, *is_unnumbered);
    }
}

impl Register {
    /// The home of an index.
    #[inline(always)]
    pub(crate) fn home(&self, index: u32) -> Home {
        self.homes.get(index as usize).copied().unwrap_or(Home::NONE)
    }

    /// The index whose home this is.
    #[inline]
    pub(crate) fn tenant(&self, home: Home) -> Option<u32> {
        let index = *self.tenants.get(home.block as usize)?.get(home.row as usize)?;
        (self.home(index) == home).then_some(index)
    }

    /// Asks for the memory of the home of an index.
    #[inline]
    pub(crate) fn prefetch(&self, index: u32) {
        prefetch(self.homes.as_ptr().wrapping_add(index as usize));
    }

    /// Gives an index a vacant home.
    pub(crate) fn assign(&mut self, index: u32, home: Home) {
        debug_assert!(self.tenant(home).is_none(), "A3");
        let at = index as usize;
        if at >= self.homes.len() {
            self.homes.resize(at + 1, Home::NONE);
        }
        self.homes[at] = home;
        self.changes += 1;
        if home.is_row() {
            self.tenants[home.block as usize][home.row as usize] = index;
        }
    }

    /// Takes the home of an index away and returns it.
    #[inline(always)]
    pub(crate) fn vacate(&mut self, index: u32) -> Home {
        self.changes += 1;
        match self.homes.get_mut(index as usize) {
            Some(home) => std::mem::replace(home, Home::NONE),
            None => Home::NONE,
        }
    }

    /// The number of indices up to the last one that has a home or waits for one.
    #[cfg(feature = "serde")]
    pub(crate) fn len(&self) -> usize {
        self.homes.iter().rposition(|&home| home != Home::NONE).map_or(0, |last| last + 1)
    }

    /// Makes room for indices.
    pub(crate) fn reserve(&mut self, indices: usize) {
        self.homes.reserve(indices);
    }

    /// Adds a block of so many rows, all vacant; returns its number.
    pub(crate) fn add_block(&mut self, rows: usize) -> u32 {
        self.tenants.push(vec![NOBODY; rows]);
        self.firsts.push(self.rows);
        self.rows += rows as u32;
        self.changes += 1;
        (self.tenants.len() - 1) as u32
    }

    /// Makes a block of so many rows, all vacant, of one that has none.
    pub(crate) fn reopen(&mut self, block: u32, rows: usize) {
        let tenants = &mut self.tenants[block as usize];
        debug_assert!(tenants.is_empty(), "the block is spare");
        tenants.resize(rows, NOBODY);
        self.is_unnumbered = true;
    }

    /// Takes the last rows of a block away, which are vacant; so many stay.
    pub(crate) fn trim(&mut self, block: u32, rows: usize) {
        let tenants = &mut self.tenants[block as usize];
        debug_assert!(
            (rows..tenants.len()).all(|row| {
                let home = Home { block, row: row as u32 };
                self.homes.get(tenants[row] as usize).is_none_or(|&other| other != home)
            }),
            "A3"
        );
        tenants.truncate(rows);
        self.is_unnumbered = true;
    }

    /// Numbers the rows of all blocks, if blocks have got or lost rows: to be called at the end of a round, before rows are
    /// asked for by number.
    pub(crate) fn number(&mut self) {
        // Pools may have lost bands whose rows are still there: who was placed in these is loose now.
        self.changes += 1;
        if !std::mem::take(&mut self.is_unnumbered) {
            return;
        }
        self.rows = 0;
        for (first, tenants) in self.firsts.iter_mut().zip(&self.tenants) {
            *first = self.rows;
            self.rows += tenants.len() as u32;
        }
    }

    /// Number of rows of all blocks.
    pub(crate) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The number of row 0 of a block among all rows.
    #[inline]
    pub(crate) fn first_row_of(&self, block: u32) -> usize {
        self.firsts.get(block as usize).map_or(0, |&first| first as usize)
    }

    /// The number of a row among all rows.
    #[inline]
    pub(crate) fn number_of(&self, home: Home) -> Option<usize> {
        Some(*self.firsts.get(home.block as usize)? as usize + home.row as usize)
    }

    /// A number that grows whenever a row gets or loses a tenant, and with each round.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Number of rows in a block, if there is such a block.
    pub(crate) fn rows_of(&self, block: u32) -> Option<usize> {
        Some(self.tenants.get(block as usize)?.len())
    }

    /// Who has a row, and which one.
    pub(crate) fn homes(&self) -> impl Iterator<Item = (u32, Home)> {
        (0..).zip(self.homes.iter().copied()).filter(|(_, home)| home.is_row())
    }

    /// Who waits for a row of an archetype, and of which one.
    pub(crate) fn who_wait(&self) -> impl Iterator<Item = (u32, usize)> {
        let homes = (0..).zip(&self.homes);
        homes.filter_map(|(index, home)| Some((index, home.waits_for()?)))
    }

    /// Checks A3.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.homes().find(|&(index, home)| self.tenant(home) != Some(index)) {
            Some((index, home)) => {
                Err(format!("A3: {home} is the home of index {index}, who is not its tenant"))
            }
            None => Ok(()),
        }
    }

    /// Gives back unused room.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.homes.shrink_to_fit();
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let tenants = self.tenants.iter().map(|rows| rows.capacity() * size_of::<u32>());
        tenants.sum::<usize>()
            + self.homes.capacity() * size_of::<Home>()
            + self.tenants.capacity() * size_of::<Vec<u32>>()
            + self.firsts.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_two_tenants_is_found() {
        let mut register = Register::default();
        let block = register.add_block(3);
        (0..3).for_each(|row| register.assign(10 + row, Home { block, row }));
        register.vacate(11);
        assert_eq!(register.tenant(Home { block, row: 1 }), None);
        register.check().unwrap();

        // Without a check that the row is vacant.
        register.homes[11] = Home { block, row: 2 };

        let error = register.check().unwrap_err();
        assert_eq!(error, "A3: row 2 of block 0 is the home of index 11, who is not its tenant");
        register.homes[11] = Home { block, row: 3 };
        assert!(register.check().is_err(), "there is no such row");
    }
}
