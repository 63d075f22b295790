//! The unused indices that streams share, dealt out by arithmetic.
//!
//! A stream that runs out of ids reserved in advance takes unused indices. Which ones must not depend
//! on what other streams do meanwhile, so every stream has a lane of its own through the *field* of
//! unused indices. Any such scheme spreads the lanes: if one of `n` lanes uses `k` indices, some index is
//! at least `n × k`. Two regions keep that from costing memory:
//!
//! - The *near* region follows the slots in use. Its lanes are interleaved in blocks that double, so
//!   streams that need few ids get indices close together. The book makes a slot for each index up to
//!   the last one used, therefore the region is bounded: no more slots are free than [`ZONE`], or than
//!   were there before.
//! - The *far* region is the upper part of the range. There each lane is one contiguous piece, and slots
//!   lie in pages that exist only where used.

use std::ops::Range;

use super::Entities;
use crate::page::{PAGE_LEN, page_of};

/// Indices in the first block of a lane.
pub(super) const FIRST: u64 = 16;

/// Near indices that many lanes share at least: 16 MiB of slots.
const ZONE: u64 = 1 << 20;

/// Lanes that share all near indices up to the far region: at most every fourth index is used then.
const FEW: u64 = 2;

/// Where the far region begins, counted from the first index of the range.
const FAR: u32 = 1 << 30;

/// Indices that the far region has at least, or there are no streams.
const ROOM: u64 = 1 << 28;

/// The unused indices when streams were opened.
#[derive(Debug)]
pub(super) struct Field {
    /// Lanes, not counting the common one, whose number is this.
    lanes: u64,
    /// The first index of the near region.
    near: u32,
    /// Near indices of each lane; the common one has [`FIRST`].
    near_share: u64,
    /// Runs of far indices: how many indices come before, and the first one.
    far: Vec<(u64, u32)>,
    /// Far indices of each lane, in whole pages.
    far_share: u64,
    /// How many indices the world may use.
    pub(super) limit: u32,
}

impl Field {
    /// The `nth` index of a lane, if it has so many.
    pub(super) fn index(&self, lane: u64, nth: u64) -> Option<u32> {
        let is_common = lane == self.lanes;
        let near_share = if is_common { FIRST } else { self.near_share };
        if nth < near_share {
            // The common block follows the first blocks of all others.
            let number = match is_common {
                true => self.lanes * FIRST.min(self.near_share) + nth,
                false if nth < FIRST => spread(lane, self.lanes, nth),
                false => FIRST + spread(lane, self.lanes, nth),
            };
            return Some(self.near + number as u32);
        }
        let nth = nth - near_share;
        if nth >= self.far_share {
            return None;
        }
        let number = lane * self.far_share + nth;
        let after = self.far.partition_point(|&(before, _)| before <= number);
        let (before, first) = self.far[after - 1];
        Some(first + (number - before) as u32)
    }

    /// Whether an index belongs to the near region.
    pub(super) fn is_near(&self, index: u32) -> bool {
        let len = FIRST + self.lanes * self.near_share;
        (u64::from(self.near)..u64::from(self.near) + len).contains(&u64::from(index))
    }
}

/// The `nth` number of one of several lanes that never meet: blocks that double, those with the same
/// number side by side, lane by lane.
pub(super) fn spread(lane: u64, lanes: u64, nth: u64) -> u64 {
    let Some(double) = (nth / FIRST).checked_ilog2() else { return lane * FIRST + nth };
    let width = FIRST << double;
    // What is too large is no index, either.
    (lanes + lane).saturating_mul(width).saturating_add(nth - width)
}

impl Entities {
    /// Whether there are unused indices for streams: enough that none of them meets the end.
    pub(crate) fn has_room_for_streams(&self) -> bool {
        self.near_room(self.near.len()) >= ZONE
            && self.far_runs().iter().map(|run| run.len() as u64).sum::<u64>() >= ROOM
    }

    /// The unused indices from `fresh` on, for this many lanes and a common one.
    pub(super) fn field(&self, fresh: u32, lanes: u64) -> Field {
        let room = self.near_room(self.near_place(fresh));
        // Holes that earlier streams have left count: there is no reason for ever more of them.
        let slots = self.near.len() as u64;
        let free = slots + u64::from(self.far_used) - self.len() as u64;
        let zone = if lanes <= FEW { room } else { room.min(ZONE.max(slots).saturating_sub(free)) };
        let near_share = (zone.saturating_sub(FIRST) / lanes.max(1) / FIRST).checked_ilog2();
        let (mut far, mut total) = (Vec::new(), 0);
        for run in self.far_runs() {
            far.push((total, run.start));
            total += run.len() as u64;
        }
        let page = PAGE_LEN as u64;
        Field {
            lanes,
            near: fresh,
            near_share: near_share.map_or(0, |double| FIRST << double),
            far,
            far_share: total / page / (lanes + 1) * page,
            limit: self.limits.range.len() as u32,
        }
    }

    /// Unused indices in a row from a place on, below the far region.
    fn near_room(&self, from: usize) -> u64 {
        self.plain.min(FAR as usize).saturating_sub(from) as u64
    }

    /// Runs of indices in the far region whose pages do not exist.
    fn far_runs(&self) -> Vec<Range<u32>> {
        let Range { start, end } = self.limits.range;
        let Some(far) = start.checked_add(FAR) else { return Vec::new() };
        let mut from = page_of(far.max(self.fresh())) + 1;
        let end = page_of(end);
        let mut runs = Vec::new();
        let mut add = |pages: Range<u32>| {
            if !pages.is_empty() {
                runs.push(pages.start * PAGE_LEN as u32..pages.end * PAGE_LEN as u32);
            }
        };
        for (page, _) in self.far.iter().filter(|&(page, _)| page < end) {
            add(from..page);
            from = from.max(page + 1);
        }
        add(from..end);
        runs
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::entity::Entity;

    #[test]
    fn lanes_never_meet() {
        for lanes in [1, 2, 3, 100] {
            let field = Entities::new().field(7, lanes);
            let mut seen = HashSet::new();
            let near = field.near_share;
            for lane in 0..=lanes {
                let turns = [near, 16, 32, FIRST << 9].into_iter().flat_map(|n| n..n + 40);
                for nth in (0..100).chain(turns).collect::<HashSet<u64>>() {
                    let index = field.index(lane, nth).unwrap();
                    assert!(seen.insert(index), "{index} twice, with {lanes} lanes");
                }
            }
        }
    }

    #[test]
    fn a_lane_far_off_has_consecutive_indices_but_for_pages_in_use() {
        let mut book = Entities::new();
        let first = book.field(0, 9).index(4, ZONE).unwrap();
        let taken = Entity::new(first + 5000, 0).unwrap();
        book.spawn_at(taken).unwrap();

        let field = book.field(0, 9);
        let lane: Vec<u32> = (0..20_000).map(|n| field.index(4, ZONE + n).unwrap()).collect();

        let jumps = lane.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert_eq!(jumps, 1);
        assert!(!lane.iter().any(|&index| page_of(index) == page_of(taken.index())));
    }

    #[test]
    fn the_near_region_is_bounded_whatever_is_used() {
        for lanes in [3, 50, 2_100] {
            let field = Entities::new().field(0, lanes);
            let used = (0..=lanes).flat_map(|lane| {
                [field.near_share - 1, field.near_share, 1_049_999].map(|nth| (lane, nth))
            });
            for (lane, nth) in used {
                let index = field.index(lane, nth).unwrap();
                assert_eq!(field.is_near(index), u64::from(index) < ZONE, "{index}");
                assert!(field.is_near(index) || index >= FAR);
            }
        }
    }

    #[test]
    fn many_lanes_and_a_narrow_range_have_no_room() {
        let limits = |range| super::super::Limits { range, ..Default::default() };
        assert!(Entities::new().has_room_for_streams());
        assert!(!Entities::with_limits(limits(0..FAR)).has_room_for_streams());
        assert!(!Entities::with_limits(limits(u32::MAX - 10..u32::MAX - 1)).has_room_for_streams());
        let field = Entities::new().field(0, ZONE);
        assert_eq!(field.near_share, 0);
        assert!(field.index(ZONE - 1, 0).unwrap() >= FAR);
    }
}
