//! Shapes of values that a storage has to cope with.

use std::fmt::Debug;

use super::ledger;

/// A shape of values for the suite.
///
/// `Send` and `Sync`, so that storages may ask for that.
///
/// # Soundness
/// Nothing rests on it: the values of a test.
pub trait Specimen: Debug + Send + Sync + 'static {
    /// Makes the value with this number.
    fn new(number: u32) -> Self;

    /// The number, or zero in a shape that cannot keep one.
    ///
    /// # Panics
    /// If the value is damaged and can tell.
    fn number(&self) -> u32;

    /// Gives the value another number.
    fn renumber(&mut self, number: u32);
}

/// Plain and `Copy`.
impl Specimen for u32 {
    fn new(number: u32) -> Self {
        number
    }

    fn number(&self) -> u32 {
        *self
    }

    fn renumber(&mut self, number: u32) {
        *self = number;
    }
}

/// A value without size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag;

impl Specimen for Tag {
    fn new(_: u32) -> Self {
        Self
    }

    fn number(&self) -> u32 {
        0
    }

    fn renumber(&mut self, _: u32) {}
}

/// A value whose drop is written down.
#[derive(Debug)]
pub struct Counted {
    serial: u64,
    number: u32,
}

impl Specimen for Counted {
    fn new(number: u32) -> Self {
        Self { serial: ledger::enter(), number }
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn renumber(&mut self, number: u32) {
        self.number = number;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ledger::strike(self.serial);
    }
}

/// A value without size whose drop is counted.
#[derive(Debug)]
#[non_exhaustive]
pub struct CountedTag;

impl Specimen for CountedTag {
    fn new(_: u32) -> Self {
        ledger::enter_tag();
        Self
    }

    fn number(&self) -> u32 {
        0
    }

    fn renumber(&mut self, _: u32) {}
}

impl Drop for CountedTag {
    fn drop(&mut self) {
        ledger::strike_tag();
    }
}

/// A value that must lie at a multiple of 128 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
pub struct Aligned(u32);

impl Specimen for Aligned {
    fn new(number: u32) -> Self {
        Self(number)
    }

    fn number(&self) -> u32 {
        self.0
    }

    fn renumber(&mut self, number: u32) {
        self.0 = number;
    }
}

/// A value of two kibibytes that owns memory besides, and notices if a part of it went missing.
#[derive(Debug, Clone)]
pub struct Large {
    head: Box<u32>,
    body: [u32; 510],
}

impl Specimen for Large {
    fn new(number: u32) -> Self {
        Self { head: Box::new(number), body: [number; 510] }
    }

    fn number(&self) -> u32 {
        assert!(self.body == [*self.head; 510], "a large value was moved only in part");
        *self.head
    }

    fn renumber(&mut self, number: u32) {
        *self.head = number;
        self.body = [number; 510];
    }
}
