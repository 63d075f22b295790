//! Brings members to the positions of their homes.

use super::{EntityMap, Storage};
use crate::entity::Entity;
use crate::sparse::{Band, Home, Register, Rows};

/// How many members are looked for at once before they are moved.
const AHEAD: usize = 64;

impl<T, S: Storage<T>> EntityMap<T, S> {
    /// Brings `entity`, which is at position `from`, to that of its home, if there is one. Returns whoever is at `from`
    /// then.
    #[inline]
    fn seat(&mut self, entity: Entity, from: usize, register: &Register) -> Option<Entity> {
        let rows = self.set.rows()?;
        let to = rows.position_of(register.home(entity.index()));
        let Some(to) = to.filter(|&to| to < self.set.len()) else {
            self.set.unplace(from);
            return None;
        };
        if to == from {
            self.set.place(to);
            return None;
        }
        let guest = self.set.as_slice()[to];
        self.bring(entity, to);
        self.set.place(to);
        Some(guest)
    }

    /// Brings members to their homes: `movers`, which are all indices whose homes have changed, and those
    /// that deaths have moved away from the end, where there is room again.
    pub(crate) fn rehouse(&mut self, movers: &[u32], register: &Register) {
        for chunk in movers.chunks(AHEAD) {
            self.set.read_indices_ahead(chunk.iter().copied());
            for &index in chunk {
                if let Some((entity, at)) = self.set.find_index(index)
                    && let Some(guest) = self.seat(entity, at, register)
                    && let Some(rows) = self.set.rows()
                    && rows.position_of(register.home(guest.index())) == Some(at)
                {
                    self.set.place(at);
                }
            }
        }
        let len = self.set.len();
        // A look-up is cheaper than a move, so a few may stay where they are. Not by marks: what is loaded has others.
        let is_due = |rows: &&mut Rows| len > rows.low() + len / 16;
        let low = self.set.rows_mut().filter(is_due).map_or(len, |rows| rows.take_low(len));
        let mut owners = Vec::with_capacity(AHEAD);
        for from in (low..len).step_by(AHEAD) {
            owners.clear();
            if let Some(rows) = self.set.rows() {
                let loose = (from..len.min(from + AHEAD)).filter(|&at| !rows.is_placed(at));
                let homes = loose.filter_map(|at| rows.home_at(at));
                owners.extend(homes.filter_map(|home| register.tenant(home)));
            }
            self.set.read_indices_ahead(owners.iter().copied());
            for &index in &owners {
                let mut found = self.set.find_index(index);
                // Each step puts one at its place for good.
                while let Some((entity, at)) = found {
                    found = self.seat(entity, at, register).map(|guest| (guest, at));
                }
            }
        }
    }

    /// Adds a block behind all others, for these entities, whose homes its rows are.
    pub(crate) fn add_band(&mut self, entities: &[u32], block: u32, register: &Register) {
        if self.set.rows().is_none() {
            self.set.set_rows(Some(Rows::new(Vec::new())));
        }
        if let Some(rows) = self.set.rows_mut() {
            rows.append(block, entities.len());
        }
        self.rehouse(entities, register);
    }

    /// Takes the last rows of a block away; so many stay.
    pub(crate) fn cut_band(&mut self, block: u32, rows: usize) {
        if let Some(all) = self.set.rows_mut() {
            all.cut(block, rows);
        }
    }

    /// Whether there are gaps between bands that count, and whether it is time to close them, after one more round.
    pub(crate) fn is_worn(&mut self) -> (bool, bool) {
        let len = self.set.len();
        let Some(rows) = self.set.rows_mut() else { return (false, false) };
        let is_worn = rows.is_worn(len);
        (rows.debt() > 0, is_worn)
    }

    /// Fills gaps between bands until so many rows have moved: with the last bands, as far as these fit, and if the set
    /// is worn by moving all that lies behind a gap. Returns how many rows have moved.
    pub(crate) fn close_gaps(
        &mut self,
        register: &Register,
        (most, is_worn): (usize, bool),
    ) -> usize {
        let mut moved = 0;
        let next = |rows: &mut Rows| {
            rows.fill_gap().or_else(|| if is_worn { rows.close_gap() } else { None })
        };
        while moved < most
            && let Some(band) = self.set.rows_mut().and_then(next)
        {
            for from in (0..band.len).step_by(AHEAD) {
                let rows = from..band.len.min(from + AHEAD as u32);
                let home = |row| Home { block: band.block, row };
                let tenants = rows.filter_map(|row| register.tenant(home(row)));
                self.set.read_indices_ahead(tenants.clone());
                for index in tenants {
                    if let Some((entity, at)) = self.set.find_index(index) {
                        self.seat(entity, at, register);
                    }
                }
            }
            moved += band.len as usize;
        }
        moved
    }

    /// Brings members to the positions of their homes, where blocks are these bands.
    pub(crate) fn line_up(&mut self, bands: &[Band], register: &Register) {
        let rows = (!bands.is_empty()).then(|| Rows::new(bands.to_vec()));
        self.set.set_rows(rows);
        self.rehouse(&[], register);
    }
}
