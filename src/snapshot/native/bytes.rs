//! Bytes in order: written with a checksum, read with a place.

use std::io::Write;

use xxhash_rust::xxh3::Xxh3;

use super::super::error::SnapshotError;
use super::super::together::{Size, beside};
use crate::entity::Entity;

/// Writes bytes and remembers their checksum.
pub(in super::super) struct Sink<W> {
    writer: W,
    hash: Xxh3,
}

/// Bytes that are hashed and copied while they are in the cache, by one thread.
pub(super) const PIECE: usize = 1 << 15;

impl<W: Write> Sink<W> {
    pub(in super::super) fn new(writer: W) -> Self {
        Self { writer, hash: Xxh3::new() }
    }

    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let size = Size::Made(bytes.len() / size_of::<u64>());
        if size.is_worth_a_task() {
            let Self { writer, hash } = self;
            return Ok(beside(size, || hash.update(bytes), || writer.write_all(bytes)).1?);
        }
        for piece in bytes.chunks(PIECE) {
            self.hash.update(piece);
            self.writer.write_all(piece)?;
        }
        Ok(())
    }

    pub(in super::super) fn u8(&mut self, number: u8) -> Result<(), SnapshotError> {
        self.put(&[number])
    }

    pub(in super::super) fn u32(&mut self, number: u32) -> Result<(), SnapshotError> {
        self.put(&number.to_le_bytes())
    }

    pub(in super::super) fn u64(&mut self, number: u64) -> Result<(), SnapshotError> {
        self.put(&number.to_le_bytes())
    }

    /// A list of numbers, without its length.
    pub(in super::super) fn numbers(
        &mut self,
        numbers: impl Iterator<Item = u64>,
    ) -> Result<(), SnapshotError> {
        let mut piece = [0_u64; PIECE / 8];
        let mut numbers = numbers.fuse();
        loop {
            let mut count = 0;
            for (place, number) in piece.iter_mut().zip(&mut numbers) {
                *place = number.to_le();
                count += 1;
            }
            self.put(bytemuck::cast_slice(&piece[..count]))?;
            if count < piece.len() {
                return Ok(());
            }
        }
    }

    pub(in super::super) fn ids(&mut self, ids: &[Entity]) -> Result<(), SnapshotError> {
        self.numbers(ids.iter().map(|id| id.to_bits()))
    }

    pub(in super::super) fn name(&mut self, name: &str) -> Result<(), SnapshotError> {
        let Ok(length) = u16::try_from(name.len()) else {
            let why = "a name has at most 65,535 bytes".to_owned();
            return Err(SnapshotError::Unwritable { name: name.to_owned(), why });
        };
        self.put(&length.to_le_bytes())?;
        self.put(name.as_bytes())
    }

    /// Ends with the checksum.
    pub(in super::super) fn finish(&mut self) -> Result<(), SnapshotError> {
        let sum = self.hash.digest();
        self.writer.write_all(&sum.to_le_bytes())?;
        self.writer.flush()?;
        Ok(())
    }
}

/// Reads bytes and knows where it is.
#[derive(Debug, Clone)]
pub(in super::super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
    /// What it is reading, for messages.
    part: String,
}

/// The checksum that bytes came with.
pub(in super::super) struct Sum<'a> {
    of: Bytes<'a>,
    sum: u64,
}

impl Sum<'_> {
    pub(in super::super) fn check(&self) -> Result<(), SnapshotError> {
        let body = self.of.all;
        if xxhash_rust::xxh3::xxh3_64(body) == self.sum {
            return Ok(());
        }
        let why = "the checksum does not fit: bytes are missing or were changed";
        Err(self.of.wrong_at(body.len(), why))
    }
}

impl<'a> Bytes<'a> {
    pub(in super::super) fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0, part: "the header".to_owned() }
    }

    pub(in super::super) fn enter(&mut self, part: impl Into<String>) {
        self.part = part.into();
    }

    /// An error at this place.
    pub(in super::super) fn wrong(&self, why: impl Into<String>) -> SnapshotError {
        self.wrong_at(self.at, why)
    }

    pub(in super::super) fn wrong_at(&self, at: usize, why: impl Into<String>) -> SnapshotError {
        SnapshotError::Corrupt { at: Some(at as u64), part: self.part.clone(), why: why.into() }
    }

    pub(in super::super) fn at(&self) -> usize {
        self.at
    }

    /// A second reader at another place.
    pub(in super::super) fn back_at(&self, at: usize) -> Self {
        Self { at: at.min(self.all.len()), ..self.clone() }
    }

    pub(in super::super) fn left(&self) -> usize {
        self.all.len() - self.at
    }

    /// Takes the sum off the end. It is not compared yet.
    pub(in super::super) fn take_sum(&mut self) -> Result<Sum<'a>, SnapshotError> {
        let parts = self.all.split_last_chunk::<8>();
        let Some((body, sum)) = parts.filter(|(body, _)| body.len() >= self.at) else {
            return Err(self.wrong("it ends before its checksum"));
        };
        self.all = body;
        Ok(Sum { of: self.clone(), sum: u64::from_le_bytes(*sum) })
    }

    pub(in super::super) fn take(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let left = self.left();
        if count > left {
            return Err(self.wrong(format!("{count} bytes are needed and {left} are left")));
        }
        let taken = &self.all[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        Ok(self.take(N)?.try_into().expect("as many as asked for"))
    }

    pub(in super::super) fn u8(&mut self) -> Result<u8, SnapshotError> {
        Ok(self.array::<1>()?[0])
    }

    pub(in super::super) fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(in super::super) fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number of things that take at least `least` bytes each.
    pub(in super::super) fn count(&mut self, least: usize) -> Result<usize, SnapshotError> {
        let (at, count) = (self.at, self.u64()?);
        let fits = usize::try_from(count)
            .ok()
            .filter(|count| count.checked_mul(least).is_some_and(|bytes| bytes <= self.left()));
        fits.ok_or_else(|| {
            let left = self.left();
            self.wrong_at(at, format!("there cannot be {count} of them: {left} bytes are left"))
        })
    }

    /// Numbers in a row.
    pub(in super::super) fn numbers(
        &mut self,
        count: usize,
    ) -> Result<impl ExactSizeIterator<Item = u64> + Clone + use<'a>, SnapshotError> {
        // `count` has been compared with what is left.
        let bytes = self.take(count.saturating_mul(8))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)))
    }

    pub(in super::super) fn ids(&mut self, count: usize) -> Result<Vec<Entity>, SnapshotError> {
        let at = self.at;
        let mut ids = Vec::with_capacity(count.min(self.left() / 8));
        for (nth, bits) in self.numbers(count)?.enumerate() {
            match Entity::try_from_bits(bits) {
                Some(id) => ids.push(id),
                None => return Err(self.wrong_at(at + nth * 8, format!("{bits:#x} is no id"))),
            }
        }
        Ok(ids)
    }

    pub(in super::super) fn name(&mut self) -> Result<String, SnapshotError> {
        let length = u16::from_le_bytes(self.array()?);
        let at = self.at;
        let bytes = self.take(length.into())?;
        match std::str::from_utf8(bytes) {
            Ok(name) => Ok(name.to_owned()),
            Err(error) => Err(self.wrong_at(at, error.to_string())),
        }
    }
}
