//! Homes as numbers, for files.
//!
//! ```text
//! with more than 64 columns: 64 × { column + 1, or 0 }
//! able, restless, most, reach, rounds, is stale, is unfinished, sweep + 1 or 0, indices
//! for each bit          how often its column was lost
//! n                     then n × { core, usual }
//! n archetypes          then n × { mask, is listed and used, vacant rows, n gaps, n × { gap, who had it }, n waiting, n × entity }
//! n blocks              then n × { archetype and first row, n rows, n × tenant, or -1 }
//! n who wait            then n × { index, archetype }
//! n strays              then n × entity
//! n unseated            then n × entity
//! for each column       0, or n bands + 1, the least length, debt, n × block and start, n words, n × marks
//! ```
//!
//! Bits of masks are columns of the file; with more than 64 columns, those that are named first. What follows from the rest is not written: homes from tenants, the lengths of
//! bands and the spare blocks from their rows.

use rustc_hash::FxHashMap;

use super::super::codes::BITS;
use super::chosen::Chosen;
use super::rehouse::bits;
use super::{Archetype, Block, Gap, Home, Homes};
use crate::entity::{Entities, Entity};
use crate::sparse::{Band, Rows};

/// A row without a tenant.
const NOBODY: u64 = u64::MAX;

/// Two numbers in one.
fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn split(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

impl Homes {
    /// Homes as numbers, for columns with these component numbers and rows; nothing if some component has no
    /// column, or if ids are too far apart: a book of so many slots is in the file.
    pub(crate) fn record(
        &self,
        ids: &[usize],
        rows: &[Option<&Rows>],
        slots: usize,
    ) -> Option<Vec<u64>> {
        let known = ids.iter().filter_map(|&id| self.chosen.bit_of(id));
        let known = known.fold(0, |all, bit| all | 1 << bit);
        let is_known = |archetype: &Archetype| archetype.mask & !known == 0;
        let indices = self.register.len();
        let is_recorded = self.is_active && indices <= slots;
        if !is_recorded || !self.archetypes.iter().all(is_known) {
            return None;
        }
        // By bit of a mask in the file: the component that it stands for.
        let (mut out, by_bit) = match ids.len() <= BITS {
            true => (Vec::new(), ids.to_vec()),
            false => {
                let by_bit: Vec<usize> = (0..BITS).map(|bit| self.chosen.id_of(bit)).collect();
                let column = |id| ids.iter().position(|other| other == id);
                let columns = by_bit.iter().map(|id| column(id).map_or(0, |at| at as u64 + 1));
                (columns.collect(), by_bit)
            }
        };
        let mask = |mask: u64| {
            let has = |&(_, &id): &(usize, &usize)| {
                self.chosen.bit_of(id).is_some_and(|bit| mask >> bit & 1 == 1)
            };
            by_bit.iter().enumerate().filter(has).fold(0, |all, (bit, _)| all | 1_u64 << bit)
        };
        out.extend([
            mask(self.able),
            mask(self.restless),
            self.most as u64,
            u64::from(self.reach),
            u64::from(self.rounds),
            u64::from(self.is_stale),
            u64::from(self.is_unfinished),
            self.sweep.map_or(0, |next| u64::from(next) + 1),
            indices as u64,
        ]);
        let lost = |&id: &usize| self.lost.get(self.chosen.bit_of(id)?).copied();
        out.extend(by_bit.iter().map(|id| u64::from(lost(id).unwrap_or(0))));
        let mut usual: Vec<(u64, u64)> =
            self.usual.iter().map(|(&core, &usual)| (mask(core), mask(usual))).collect();
        usual.sort_unstable();
        out.push(usual.len() as u64);
        out.extend(usual.into_iter().flat_map(|(core, usual)| [core, usual]));
        out.push(self.archetypes.len() as u64);
        for archetype in &self.archetypes {
            let Archetype { used, surplus, gaps, waiting, is_listed, .. } = archetype;
            out.extend([mask(archetype.mask), pair(u32::from(*is_listed), *used)]);
            out.extend([u64::from(*surplus), gaps.len() as u64]);
            for &Gap { home, index } in gaps {
                out.extend([pair(home.block, home.row), index.into()]);
            }
            out.push(waiting.len() as u64);
            out.extend(waiting.iter().map(|entity| entity.to_bits()));
        }
        out.push(self.blocks.len() as u64);
        for (number, block) in (0..).zip(&self.blocks) {
            let rows = self.register.rows_of(number).unwrap_or(0) as u32;
            out.extend([pair(block.archetype, block.first), u64::from(rows)]);
            let tenant = |row| self.register.tenant(Home { block: number, row });
            out.extend((0..rows).map(|row| tenant(row).map_or(NOBODY, u64::from)));
        }
        let who_wait = self.register.who_wait();
        let who_wait: Vec<u64> =
            who_wait.map(|(index, archetype)| pair(index, archetype as u32)).collect();
        let to_bits = |list: &[Entity]| list.iter().map(|entity| entity.to_bits()).collect();
        for list in [who_wait, to_bits(&self.strays), to_bits(&self.unseated)] {
            out.push(list.len() as u64);
            out.extend(list);
        }
        for rows in rows {
            let Some(rows) = rows else {
                out.push(0);
                continue;
            };
            out.extend([rows.bands().len() as u64 + 1, rows.low() as u64, rows.debt() as u64]);
            out.extend(rows.bands().iter().map(|band| pair(band.block, band.start)));
            let marks = rows.words();
            let len = marks.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
            out.push(len as u64);
            out.extend(&marks[..len]);
        }
        Some(out)
    }

    /// Reads what `record` has made, for columns of these entities, which live by that book; believes nothing. Returns
    /// homes whose bits are columns, and the rows of each column. Memory is spent before it is taken; if there is not so much, it ends.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn read(
        numbers: impl ExactSizeIterator<Item = u64>,
        columns: &[&[Entity]],
        book: &Entities,
        spend: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<(Self, Vec<Option<Rows>>), String> {
        let mut from = Numbers(numbers);
        // For what is made of each number, tables included.
        spend(from.0.len().saturating_mul(28))?;
        let mut homes = Self { is_active: true, ..Self::default() };
        let all = match columns.len() {
            0..BITS => (1 << columns.len()) - 1,
            BITS => u64::MAX,
            _ => homes.read_chosen(&mut from, columns.len())?,
        };
        (homes.able, homes.restless) = (from.mask(all)?, from.mask(all)?);
        // A file must not make a world reserve memory for ids that it does not have.
        let most = book.near_slots().len() as u64 * 16 + (1 << 20);
        homes.most = from.next()?.min(most) as usize;
        homes.reach = from.next()?.min(most).min(u32::MAX.into()) as u32;
        homes.rounds = from.below(1 << 16, "number of rounds")? as u32;
        homes.is_stale = from.below(1, "answer")? == 1;
        homes.is_unfinished = from.below(1, "answer")? == 1;
        let sweep = from.below(u32::MAX.into(), "index")?;
        homes.sweep = sweep.checked_sub(1).map(|next| next as u32);
        let indices = from.below(book.near_slots().len() as u64, "index")? as u32;
        spend(indices as usize * size_of::<Home>())?;
        homes.register.reserve(indices as usize);
        homes.lost = vec![0; BITS];
        for lost in &mut homes.lost[..columns.len().min(BITS)] {
            *lost = from.below(1 << 31, "count")? as u32;
        }
        let usual = from.count(2)?;
        spend(usual.saturating_mul(64))?;
        for _ in 0..usual {
            let (core, usual) = (from.mask(all)?, from.mask(all)?);
            homes.usual.insert(core, usual);
        }
        let archetypes = from.count(5)?;
        spend(archetypes.saturating_mul(64))?;
        homes.archetypes.reserve_exact(archetypes);
        for _ in 0..archetypes {
            homes.read_archetype(&mut from, all)?;
        }
        let blocks = from.count(2)?;
        homes.blocks.reserve_exact(blocks);
        for _ in 0..blocks {
            homes.read_block(&mut from, indices, book)?;
        }
        homes.line_up_blocks()?;
        for _ in 0..from.count(1)? {
            let (index, archetype) = split(from.next()?);
            homes.check_newcomer(index, indices, book)?;
            if archetype as usize >= homes.archetypes.len() {
                return Err(format!("there is no archetype {archetype}"));
            }
            homes.register.assign(index, Home::waiting(archetype));
        }
        homes.check_waiting()?;
        (homes.strays, homes.unseated) = (from.entities()?, from.entities()?);
        homes.check_gaps()?;
        let mut rows = Vec::with_capacity(columns.len());
        for (column, entities) in columns.iter().enumerate() {
            rows.push(homes.read_rows(&mut from, column, entities, spend)?);
        }
        match from.0.len() {
            0 => Ok((homes, rows)),
            left => Err(format!("{left} numbers are left over")),
        }
    }

    /// Reads which columns the bits of masks stand for; returns those bits.
    fn read_chosen(
        &mut self,
        from: &mut Numbers<impl ExactSizeIterator<Item = u64>>,
        columns: usize,
    ) -> Result<u64, String> {
        let mut chosen = [None; BITS];
        for bit in 0..BITS {
            let column = from.below(columns as u64, "column")? as usize;
            chosen[bit] = column.checked_sub(1);
            if chosen[bit].is_some() && chosen[..bit].contains(&chosen[bit]) {
                return Err(format!("two bits stand for column {}", column - 1));
            }
        }
        self.chosen = Chosen::new(chosen);
        let used = chosen.iter().enumerate().filter(|(_, column)| column.is_some());
        Ok(used.fold(0, |all, (bit, _)| all | 1 << bit))
    }

    fn read_archetype(
        &mut self,
        from: &mut Numbers<impl ExactSizeIterator<Item = u64>>,
        all: u64,
    ) -> Result<(), String> {
        let number = self.archetypes.len() as u32;
        let mask = from.mask(all)?;
        if mask == 0 || self.by_mask.insert(mask, number).is_some() {
            return Err(format!("an archetype of {mask:#b} is none, or is there twice"));
        }
        let (is_listed, used) = split(from.below(pair(1, u32::MAX), "number of rows")?);
        let surplus = from.below(u32::MAX.into(), "number of rows")? as u32;
        let mut gaps = Vec::new();
        for _ in 0..from.count(2)? {
            let (block, row) = split(from.next()?);
            let index = from.below(u32::MAX.into(), "index")? as u32;
            gaps.push(Gap { home: Home { block, row }, index });
        }
        // One that had gaps is listed until the next round, also if they are filled.
        let is_listed = is_listed == 1 || !gaps.is_empty();
        if is_listed {
            self.gappy.push(number);
        }
        let waiting = from.entities()?;
        self.archetypes.push(Archetype {
            mask,
            used,
            surplus,
            gaps,
            is_listed,
            waiting,
            ..Archetype::default()
        });
        Ok(())
    }

    fn read_block(
        &mut self,
        from: &mut Numbers<impl ExactSizeIterator<Item = u64>>,
        indices: u32,
        book: &Entities,
    ) -> Result<(), String> {
        let (archetype, first) = split(from.next()?);
        let rows = from.count(1)?;
        let Some(owner) = self.archetypes.get_mut(archetype as usize) else {
            return Err(format!("a block of {rows} rows is of archetype {archetype}"));
        };
        let block = self.register.add_block(rows);
        self.blocks.push(Block { archetype, first });
        match rows {
            0 => _ = self.spare.insert(block),
            _ => owner.blocks.push(block),
        }
        for row in 0..rows as u32 {
            let index = from.next()?;
            if index != NOBODY {
                let index = u32::try_from(index).map_err(|error| error.to_string())?;
                self.check_newcomer(index, indices, book)?;
                self.register.assign(index, Home { block, row });
            }
        }
        Ok(())
    }

    /// Brings the blocks of each archetype into the order of their first rows.
    fn line_up_blocks(&mut self) -> Result<(), String> {
        for archetype in &mut self.archetypes {
            archetype.blocks.sort_unstable_by_key(|&block| self.blocks[block as usize].first);
            let mut rows = 0_u32;
            for &block in &archetype.blocks {
                let first = self.blocks[block as usize].first;
                if first != rows {
                    return Err(format!("block {block} begins with row {first}, not {rows}"));
                }
                let more = self.register.rows_of(block).unwrap_or(0) as u32;
                rows = rows.checked_add(more).ok_or("there are too many rows")?;
            }
            archetype.rows = rows;
        }
        Ok(())
    }

    /// Whether an index may get a home: it lives, and has none.
    fn check_newcomer(&self, index: u32, indices: u32, book: &Entities) -> Result<(), String> {
        match index < indices && book.at(index).is_some() {
            true if self.register.home(index) == Home::NONE => Ok(()),
            true => Err(format!("index {index} has two homes")),
            false => Err(format!("index {index} has a home and does not live")),
        }
    }

    /// Checks A4, before anybody relies on it.
    fn check_gaps(&self) -> Result<(), String> {
        let mut gaps = 0;
        for (number, archetype) in (0..).zip(&self.archetypes) {
            if archetype.used.saturating_add(archetype.surplus) > archetype.rows {
                return Err(format!("archetype {number} uses more rows than it has"));
            }
            let mut places: Vec<u32> = Vec::with_capacity(archetype.gaps.len());
            for &Gap { home: gap, .. } in &archetype.gaps {
                let block = self.blocks.get(gap.block as usize);
                let Some(block) = block.filter(|block| block.archetype == number) else {
                    return Err(format!("{gap:?} is no row of archetype {number}"));
                };
                if gap.row as usize >= self.register.rows_of(gap.block).unwrap_or(0)
                    || block.first + gap.row >= archetype.used
                    || self.register.tenant(gap).is_some()
                {
                    return Err(format!("{gap:?} is no gap"));
                }
                places.push(block.first + gap.row);
            }
            places.sort_unstable();
            if places.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(format!("archetype {number} has a gap twice"));
            }
            gaps += places.len();
        }
        // No tenant is in a gap. If none is behind the rows in use, all others of these must be gaps.
        let used: usize = self.archetypes.iter().map(|archetype| archetype.used as usize).sum();
        let is_in_use = |(number, block): (u32, &Block)| {
            let used = self.archetypes[block.archetype as usize].used;
            let rest =
                used.saturating_sub(block.first)..self.register.rows_of(number).unwrap_or(0) as u32;
            rest.into_iter().all(|row| self.register.tenant(Home { block: number, row }).is_none())
        };
        let tenants = self.register.homes().count();
        match (0..).zip(&self.blocks).all(is_in_use) && tenants + gaps == used {
            true => Ok(()),
            false => Err("rows in use have no tenants, or others have".to_owned()),
        }
    }

    fn read_rows(
        &self,
        from: &mut Numbers<impl ExactSizeIterator<Item = u64>>,
        column: usize,
        entities: &[Entity],
        spend: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<Option<Rows>, String> {
        let Some(count) = from.count(0)?.checked_sub(1) else { return Ok(None) };
        let low = from.below(entities.len() as u64, "length")? as usize;
        let debt = from.below(u64::from(u32::MAX) * 2, "debt")? as usize;
        spend(count.saturating_mul(size_of::<Band>()))?;
        let (mut bands, mut end, mut blocks) = (Vec::with_capacity(count), 0_u32, 0);
        for _ in 0..count {
            let (block, start) = split(from.next()?);
            let archetype = self.blocks.get(block as usize).map(|block| block.archetype as usize);
            let len = self.register.rows_of(block).unwrap_or(0) as u32;
            let bit = self.chosen.bit_of(column);
            let has_it =
                |at: usize| bit.is_some_and(|bit| self.archetypes[at].mask >> bit & 1 == 1);
            let is_able = archetype.is_some_and(has_it);
            if !is_able || len == 0 || start < end {
                return Err(format!("column {column} has no place for block {block} at {start}"));
            }
            bands.push(Band { start, len, block });
            end = start.checked_add(len).ok_or("there are too many rows")?;
            blocks = blocks.max(block as usize + 1);
        }
        spend(blocks * size_of::<u32>() + end as usize / 8 + 16)?;
        let mut seen = vec![false; blocks];
        if bands.iter().any(|band| std::mem::replace(&mut seen[band.block as usize], true)) {
            return Err(format!("column {column} has a block twice"));
        }
        let mut rows = Rows::new(bands);
        rows.take_low(low);
        rows.set_debt(debt);
        for word in 0..from.count(1)? {
            let marks = from.next()?;
            for at in bits(marks).map(|bit| word * 64 + bit) {
                let home = entities.get(at).map(|entity| self.register.home(entity.index()));
                if home.is_none_or(|home| rows.home_at(at) != Some(home)) {
                    return Err(format!("position {at} of column {column} is no home"));
                }
                rows.place(at);
            }
        }
        Ok(Some(rows))
    }

    /// The same for components with these numbers, by column, in a world of so many.
    pub(crate) fn renumbered(mut self, ids: &[usize], pools: usize) -> Self {
        if pools > BITS {
            // Bits stand for other columns than their own, or for components with other numbers.
            let columns = (0..BITS).map(|bit| self.chosen.id_of(bit));
            let chosen = Chosen::new(columns.map(|column| ids.get(column).copied()));
            self.chosen = chosen;
            self.idle = self.find_idle();
            return self;
        }
        let mask = |columns: u64| bits(columns).fold(0, |all, column| all | 1_u64 << ids[column]);
        (self.able, self.restless) = (mask(self.able), mask(self.restless));
        self.usual = self.usual.iter().map(|(&core, &usual)| (mask(core), mask(usual))).collect();
        self.idle = self.find_idle();
        for archetype in &mut self.archetypes {
            archetype.mask = mask(archetype.mask);
        }
        let by_mask = (0..).zip(&self.archetypes).map(|(number, one)| (one.mask, number));
        self.by_mask = by_mask.collect::<FxHashMap<u64, u32>>();
        let lost = std::mem::replace(&mut self.lost, vec![0; BITS]);
        ids.iter().zip(lost).for_each(|(&id, lost)| self.lost[id] = lost);
        self
    }
}

/// Numbers that somebody may have forged.
struct Numbers<I>(I);

impl<I: ExactSizeIterator<Item = u64>> Numbers<I> {
    fn next(&mut self) -> Result<u64, String> {
        self.0.next().ok_or_else(|| "it ends too early".to_owned())
    }

    /// A number up to a limit.
    fn below(&mut self, most: u64, what: &str) -> Result<u64, String> {
        match self.next()? {
            number if number <= most => Ok(number),
            number => Err(format!("{number} is no {what}")),
        }
    }

    /// A mask of some of these bits.
    fn mask(&mut self, all: u64) -> Result<u64, String> {
        match self.next()? {
            mask if mask & !all == 0 => Ok(mask),
            mask => Err(format!("{mask:#b} is no mask of {all:#b}")),
        }
    }

    /// A number of things that take at least so many numbers each.
    fn count(&mut self, least: usize) -> Result<usize, String> {
        let (count, left) = (self.next()?, self.0.len());
        match usize::try_from(count).ok().and_then(|count| Some((count, count.checked_mul(least)?)))
        {
            Some((count, needed)) if needed <= left && count <= left + 1 => Ok(count),
            _ => Err(format!("there cannot be {count} of them: {left} numbers are left")),
        }
    }

    fn entities(&mut self) -> Result<Vec<Entity>, String> {
        let count = self.count(1)?;
        let mut entities = Vec::with_capacity(count);
        for _ in 0..count {
            let bits = self.next()?;
            entities
                .push(Entity::try_from_bits(bits).ok_or_else(|| format!("{bits:#x} is no id"))?);
        }
        Ok(entities)
    }
}
