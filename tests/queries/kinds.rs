//! The components of the random worlds: one for each storage and peculiarity.

use esker::Component;
use esker::storage::{Storage, Untracked};

/// A component whose value is a number.
pub trait Kind: Component<Storage: Storage<Self, Tracking = Untracked>> {
    const NUMBER: usize;

    fn make(value: u64) -> Self;

    fn value(&self) -> u64;

    fn set(&mut self, value: u64);

    /// What a test writes over `value`: no two values ever meet.
    fn next(value: u64) -> u64 {
        value + (1 << 32)
    }
}

pub const KINDS: usize = 7;

#[derive(Component, Debug)]
pub struct A(pub u64);

#[derive(Component, Debug)]
pub struct B(pub u64);

/// Wider than the others, so that a wrong step is seen.
#[derive(Component, Debug)]
pub struct C([u64; 3]);

/// Dropped, and not just forgotten.
#[derive(Component, Debug)]
pub struct Text(String);

/// Makes no slice.
#[derive(Component, Debug)]
#[component(storage = Indexed)]
pub struct Stable(u64);

#[derive(Component, Debug)]
#[component(storage = Hashed)]
pub struct Rare(pub u64);

/// Without size.
#[derive(Component, Debug)]
pub struct Tag;

macro_rules! number_kind {
    ($name:ident, $number:literal) => {
        impl Kind for $name {
            const NUMBER: usize = $number;

            fn make(value: u64) -> Self {
                Self(value)
            }

            fn value(&self) -> u64 {
                self.0
            }

            fn set(&mut self, value: u64) {
                self.0 = value;
            }
        }
    };
}

number_kind!(A, 0);
number_kind!(B, 1);
number_kind!(Stable, 4);
number_kind!(Rare, 5);

impl Kind for C {
    const NUMBER: usize = 2;

    fn make(value: u64) -> Self {
        Self([value; 3])
    }

    fn value(&self) -> u64 {
        assert_eq!(self.0, [self.0[0]; 3], "a value is of one piece");
        self.0[0]
    }

    fn set(&mut self, value: u64) {
        self.0 = [value; 3];
    }
}

impl Kind for Text {
    const NUMBER: usize = 3;

    fn make(value: u64) -> Self {
        Self(value.to_string())
    }

    fn value(&self) -> u64 {
        self.0.parse().expect("a number was written")
    }

    fn set(&mut self, value: u64) {
        self.0 = value.to_string();
    }
}

impl Kind for Tag {
    const NUMBER: usize = 6;

    fn make(_: u64) -> Self {
        Self
    }

    fn value(&self) -> u64 {
        0
    }

    fn set(&mut self, _: u64) {}

    fn next(_: u64) -> u64 {
        0
    }
}

/// Does something with the kind that has a number: `with_kind!(number, K => K::make(3))`.
macro_rules! with_kind {
    ($number:expr, $kind:ident => $body:expr) => {
        with_kind!(@ $number, $kind => $body, 0 A, 1 B, 2 C, 3 Text, 4 Stable, 5 Rare, 6 Tag)
    };
    (@ $number:expr, $kind:ident => $body:expr, $($at:literal $name:ident),*) => {
        match $number {
            $($at => {
                type $kind = $crate::kinds::$name;
                $body
            })*
            other => unreachable!("there is no kind {other}"),
        }
    };
}

pub(crate) use with_kind;
