//! The components of the model test, one per storage and peculiarity, and bundles of them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use esker::snapshot::Snapshot;
use esker::{Bundle, Component, Entity};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::{Counted, Ledger, mix};
use crate::own_storage::Own;

thread_local! {
    /// The ledger of the run in this thread: for values that are cloned or loaded.
    static LEDGER: RefCell<Option<Arc<Ledger>>> = const { RefCell::new(None) };
}

fn again<K: Kind>(value: u64) -> K {
    LEDGER.with_borrow(|ledger| K::make(ledger.as_ref().expect("a run has opened one"), value))
}

/// Makes values that no other entity, component or moment has.
#[derive(Debug)]
pub struct Maker {
    pub ledger: Arc<Ledger>,
    made: u64,
}

impl Maker {
    pub fn new() -> Self {
        let ledger = Ledger::new();
        LEDGER.set(Some(Arc::clone(&ledger)));
        Self { ledger, made: 0 }
    }

    /// What the next `K` of `entity` should say.
    pub fn value<K: Kind>(&mut self, entity: Entity) -> u64 {
        self.made += 1;
        let value = mix(mix(entity.to_bits() ^ (K::NUMBER as u64) << 56) ^ self.made);
        if K::HAS_VALUE { value } else { 0 }
    }

    pub fn make<K: Kind>(&mut self, entity: Entity) -> (K, u64) {
        let value = self.value::<K>(entity);
        (K::make(&self.ledger, value), value)
    }
}

/// A component of the model test.
pub trait Kind: Component {
    const NUMBER: usize;
    const HAS_VALUE: bool = true;

    fn make(ledger: &Arc<Ledger>, value: u64) -> Self;

    /// The value; fails if the reference is not aligned.
    fn value(&self) -> u64;

    fn set(&mut self, value: u64);
}

/// Number of kinds.
pub const KINDS: usize = 10;
/// Those whose values are in the ledger.
pub const COUNTED: [usize; 6] = [
    Owned::NUMBER,
    Stable::NUMBER,
    Rare::NUMBER,
    Aligned::NUMBER,
    Watched::NUMBER,
    Foreign::NUMBER,
];

/// Packed, needs no drop.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "plain", clone)]
pub struct Plain(u64);

/// Packed, dropped.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "owned", clone)]
pub struct Owned(Counted);

/// Indexed, dropped.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "stable", clone)]
#[component(storage = Indexed)]
pub struct Stable(Counted);

/// Indexed, needs no drop, big and aligned.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "wide", clone)]
#[component(storage = Indexed)]
#[repr(align(128))]
pub struct Wide([u64; 17]);

/// Hashed, dropped.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "rare", clone)]
#[component(storage = Hashed)]
pub struct Rare(Counted);

/// A tag.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "tag", clone)]
pub struct Tag;

/// Packed, dropped, aligned.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "aligned", clone)]
#[repr(align(128))]
pub struct Aligned(Counted);

/// Packed, dropped, tracked.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "watched", clone)]
#[component(track)]
pub struct Watched(Counted);

/// Dropped, in a storage of the user's own.
#[derive(Snapshot, Debug)]
#[snapshot(name = "foreign", clone)]
pub struct Foreign(Counted);

impl Component for Foreign {
    type Storage = Own<Self>;
}

/// A tag that is dropped.
#[derive(Component, Snapshot, Debug)]
#[snapshot(name = "ghost", clone)]
pub struct Ghost(());

thread_local! {
    static GHOSTS: Cell<isize> = const { Cell::new(0) };
}

impl Ghost {
    /// Made and not dropped in this thread.
    pub fn living() -> isize {
        GHOSTS.get()
    }
}

impl Drop for Ghost {
    fn drop(&mut self) {
        GHOSTS.set(GHOSTS.get() - 1);
    }
}

macro_rules! counted_kind {
    ($name:ident, $number:literal, $align:literal) => {
        impl Kind for $name {
            const NUMBER: usize = $number;

            fn make(ledger: &Arc<Ledger>, value: u64) -> Self {
                Self(ledger.make(value))
            }

            fn value(&self) -> u64 {
                assert_eq!(std::ptr::from_ref(self).addr() % $align, 0, "alignment");
                self.0.value
            }

            fn set(&mut self, value: u64) {
                self.0.value = value;
            }
        }
    };
}

counted_kind!(Owned, 1, 8);
counted_kind!(Stable, 2, 8);
counted_kind!(Rare, 4, 8);
counted_kind!(Aligned, 6, 128);
counted_kind!(Watched, 8, 8);
counted_kind!(Foreign, 9, 8);

/// Copies and snapshots of a kind: values are counted whichever way they come.
macro_rules! kept_kind {
    ($($name:ident)*) => {$(
        impl Clone for $name {
            fn clone(&self) -> Self {
                again(self.value())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(self.value())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(again(u64::deserialize(deserializer)?))
            }
        }
    )*};
}

kept_kind!(Plain Owned Stable Wide Rare Tag Aligned Ghost Watched Foreign);

impl Kind for Plain {
    const NUMBER: usize = 0;

    fn make(_: &Arc<Ledger>, value: u64) -> Self {
        Self(value)
    }

    fn value(&self) -> u64 {
        self.0
    }

    fn set(&mut self, value: u64) {
        self.0 = value;
    }
}

impl Kind for Wide {
    const NUMBER: usize = 3;

    fn make(_: &Arc<Ledger>, value: u64) -> Self {
        Self([value; 17])
    }

    fn value(&self) -> u64 {
        assert_eq!(std::ptr::from_ref(self).addr() % 128, 0, "alignment");
        assert!(self.0.iter().all(|&word| word == self.0[0]), "torn value");
        self.0[0]
    }

    fn set(&mut self, value: u64) {
        self.0 = [value; 17];
    }
}

impl Kind for Tag {
    const NUMBER: usize = 5;
    const HAS_VALUE: bool = false;

    fn make(_: &Arc<Ledger>, _: u64) -> Self {
        Self
    }

    fn value(&self) -> u64 {
        0
    }

    fn set(&mut self, _: u64) {}
}

impl Kind for Ghost {
    const NUMBER: usize = 7;
    const HAS_VALUE: bool = false;

    fn make(_: &Arc<Ledger>, _: u64) -> Self {
        GHOSTS.set(GHOSTS.get() + 1);
        Self(())
    }

    fn value(&self) -> u64 {
        0
    }

    fn set(&mut self, _: u64) {}
}

/// Runs `$body` with `$kind` as the component of this number.
macro_rules! with_kind {
    ($number:expr, $kind:ident => $body:expr) => {
        match $number {
            0 => {
                type $kind = crate::kinds::Plain;
                $body
            }
            1 => {
                type $kind = crate::kinds::Owned;
                $body
            }
            2 => {
                type $kind = crate::kinds::Stable;
                $body
            }
            3 => {
                type $kind = crate::kinds::Wide;
                $body
            }
            4 => {
                type $kind = crate::kinds::Rare;
                $body
            }
            5 => {
                type $kind = crate::kinds::Tag;
                $body
            }
            6 => {
                type $kind = crate::kinds::Aligned;
                $body
            }
            7 => {
                type $kind = crate::kinds::Ghost;
                $body
            }
            8 => {
                type $kind = crate::kinds::Watched;
                $body
            }
            _ => {
                type $kind = crate::kinds::Foreign;
                $body
            }
        }
    };
}

/// A derived bundle.
#[derive(Bundle, Debug)]
pub struct Kit {
    pub plain: Plain,
    pub inner: (Tag, Stable),
    pub rare: Rare,
}

/// A bundle of kinds, nested or not.
pub trait Shape: Bundle {
    /// Makes one for `entity`; `values` gets numbers and values, first to last.
    fn build(maker: &mut Maker, entity: Entity, values: &mut Vec<(usize, u64)>) -> Self;

    /// The numbers of its kinds, first to last.
    fn kinds(into: &mut Vec<usize>);

    /// Reads what was removed, and drops it.
    fn read_parts(parts: Self::Parts, into: &mut Vec<Option<u64>>);

    /// Reads what was taken, and drops it.
    fn read(self, into: &mut Vec<Option<u64>>);
}

impl<K: Kind> Shape for K {
    fn build(maker: &mut Maker, entity: Entity, values: &mut Vec<(usize, u64)>) -> Self {
        let (kind, value) = maker.make::<K>(entity);
        values.push((K::NUMBER, value));
        kind
    }

    fn kinds(into: &mut Vec<usize>) {
        into.push(K::NUMBER);
    }

    fn read_parts(parts: Option<K>, into: &mut Vec<Option<u64>>) {
        into.push(parts.map(|kind| kind.value()));
    }

    fn read(self, into: &mut Vec<Option<u64>>) {
        into.push(Some(self.value()));
    }
}

macro_rules! tuple_shape {
    ($($name:ident)*) => {
        #[allow(non_snake_case, reason = "variables are named after types")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: Shape),*> Shape for ($($name,)*) {
            fn build(maker: &mut Maker, entity: Entity, values: &mut Vec<(usize, u64)>) -> Self {
                ($($name::build(maker, entity, values),)*)
            }

            fn kinds(into: &mut Vec<usize>) {
                $($name::kinds(into);)*
            }

            fn read_parts(($($name,)*): Self::Parts, into: &mut Vec<Option<u64>>) {
                $($name::read_parts($name, into);)*
            }

            fn read(self, into: &mut Vec<Option<u64>>) {
                let ($($name,)*) = self;
                $($name.read(into);)*
            }
        }
    };
}

tuple_shape!();
tuple_shape!(A B);
tuple_shape!(A B C);
tuple_shape!(A B C D);

impl Shape for Kit {
    fn build(maker: &mut Maker, entity: Entity, values: &mut Vec<(usize, u64)>) -> Self {
        let plain = <Plain as Shape>::build(maker, entity, values);
        let inner = <(Tag, Stable) as Shape>::build(maker, entity, values);
        Self { plain, inner, rare: <Rare as Shape>::build(maker, entity, values) }
    }

    fn kinds(into: &mut Vec<usize>) {
        into.extend([0, 5, 2, 4]);
    }

    fn read_parts((plain, inner, rare): Self::Parts, into: &mut Vec<Option<u64>>) {
        Plain::read_parts(plain, into);
        <(Tag, Stable)>::read_parts(inner, into);
        Rare::read_parts(rare, into);
    }

    fn read(self, into: &mut Vec<Option<u64>>) {
        (self.plain, self.inner, self.rare).read(into);
    }
}

/// Everything at once.
pub type All = ((Plain, Owned), (Stable, (Wide, Rare)), (Tag, Watched), (Aligned, Ghost, Foreign));

/// Number of shapes; the last one names a component twice.
pub const SHAPES: usize = 9;

/// Runs `$body` with `$shape` as the bundle of this number.
macro_rules! with_shape {
    ($number:expr, $shape:ident => $body:expr) => {{
        use crate::kinds::*;
        match $number {
            0 => {
                type $shape = Plain;
                $body
            }
            1 => {
                type $shape = (Owned, Stable);
                $body
            }
            2 => {
                type $shape = (Rare, Watched, Aligned);
                $body
            }
            3 => {
                type $shape = All;
                $body
            }
            4 => {
                type $shape = Kit;
                $body
            }
            5 => {
                type $shape = ();
                $body
            }
            6 => {
                type $shape = (Ghost, Wide, (Foreign, Tag));
                $body
            }
            7 => {
                type $shape = (Stable, (Rare, Plain));
                $body
            }
            _ => {
                type $shape = (Owned, (Tag, Owned));
                $body
            }
        }
    }};
}

pub(crate) use {with_kind, with_shape};
