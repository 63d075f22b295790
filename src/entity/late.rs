//! Pieces of the free list that streams read while they are open.
//!
//! A stream that has needed many ids should find them again, but reserving them in advance takes time in
//! every step, whether they are needed or not. So the list is read by the first stream that needs its
//! piece, as far as that goes. The book does not change meanwhile (E4): the same pieces have the same ids,
//! whichever is read first.

use std::ops::Range;

use super::{Entities, Entity};

/// What was read of the free list.
#[derive(Debug)]
pub(super) struct Late {
    /// The cursor behind it.
    end: u64,
    ids: Vec<Entity>,
    /// The pieces that streams have taken.
    read: Vec<Range<usize>>,
}

impl Late {
    /// Nothing yet; the list goes on behind this cursor.
    pub(super) fn at(end: u64) -> Self {
        Self { end, ids: Vec::new(), read: Vec::new() }
    }

    /// Takes a piece, or what there is of it; the last id first.
    pub(super) fn read(&mut self, book: &Entities, piece: Range<usize>) -> Vec<Entity> {
        while self.ids.len() < piece.end
            && let Some((entity, end)) = book.after_in_list(self.end)
        {
            self.ids.push(entity);
            self.end = end;
        }
        let piece = piece.start.min(self.ids.len())..piece.end.min(self.ids.len());
        let ids = self.ids[piece.clone()].iter().rev().copied().collect();
        self.read.push(piece);
        ids
    }

    /// The cursor behind all that was read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Number of ids that were read.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The ids in pieces that no stream has taken.
    pub(super) fn unread(mut self) -> Vec<Entity> {
        self.read.sort_unstable_by_key(|piece| piece.start);
        let mut unread = Vec::new();
        let mut from = 0;
        for piece in self.read {
            unread.extend(&self.ids[from.min(piece.start)..piece.start]);
            from = from.max(piece.end);
        }
        unread.extend(&self.ids[from..]);
        unread
    }
}
