//! From a type to a small number, without hashing where it counts.
//!
//! The registry is the one piece of global state of the library: a number per type, given out
//! when the type is first used and never taken back. It decides where pools are found, never
//! their order, so that two runs of a program that differ in it behave the same.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

static REGISTRY: RwLock<FxHashMap<TypeId, u32>> =
    RwLock::new(FxHashMap::with_hasher(FxBuildHasher));

/// The number of type `T`, the same for the life of the process.
///
/// Its being of type `TypeIndex<T>` is the proof that it belongs to `T` (C1): there is no way to
/// make one but to ask the registry.
pub(crate) struct TypeIndex<T> {
    number: u32,
    of: Exactly<T>,
}

/// Stands for just this type. Invariant: a subtype or supertype is another type, with a `TypeId` of its own
/// (`for<'a> fn(&'a u8)` is a subtype of `fn(&'static u8)`), and C1 speaks of one.
type Exactly<T> = PhantomData<fn(T) -> T>;

impl<T: 'static> TypeIndex<T> {
    /// Looks the number up in the registry, or enters the type there.
    pub(crate) fn of() -> Self {
        Self { number: number_of(TypeId::of::<T>()), of: PhantomData }
    }
}

/// The number of the type with this id. Apart from [`TypeIndex::of`], so that no type has it compiled for itself.
fn number_of(id: TypeId) -> u32 {
    let known = REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
    known.unwrap_or_else(|| {
        let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(registry.len()).expect("fewer than 2^32 types exist");
        assert!(next != UNKNOWN, "fewer than 2^32 - 1 types exist");
        *registry.entry(id).or_insert(next)
    })
}

impl<T> TypeIndex<T> {
    #[inline]
    pub(crate) fn get(self) -> usize {
        self.number as usize
    }
}

impl<T> Clone for TypeIndex<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TypeIndex<T> {}

impl<T> fmt::Debug for TypeIndex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeIndex<{}>({})", type_name::<T>(), self.number)
    }
}

/// No number of a type: the registry has fewer.
const UNKNOWN: u32 = u32::MAX;

/// A place in a `static` that remembers the number of `T`; `derive(Component)` makes one.
///
/// # Soundness
/// A world goes from this number to the pool of `T` without a check (C1). Only the registry fills a slot, under the
/// `TypeId` of its `T`, and a slot is invariant: that of one type never passes for that of another.
#[derive(Debug)]
pub struct TypeSlot<T> {
    /// The number, or `UNKNOWN`.
    number: AtomicU32,
    of: Exactly<T>,
}

impl<T: 'static> TypeSlot<T> {
    /// A slot that knows nothing yet.
    #[expect(clippy::new_without_default, reason = "made in statics only")]
    pub const fn new() -> Self {
        Self { number: AtomicU32::new(UNKNOWN), of: PhantomData }
    }

    /// The number of `T`, or one that no type has if it is not known yet.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        // Relaxed: whoever finds it unknown asks the registry, which gives everyone the same
        // answer.
        self.number.load(Ordering::Relaxed) as usize
    }

    /// The number of `T`; asks the registry the first time.
    pub(crate) fn get(&self) -> TypeIndex<T> {
        match self.number.load(Ordering::Relaxed) {
            UNKNOWN => {
                let index = TypeIndex::of();
                self.number.store(index.number, Ordering::Relaxed);
                index
            }
            number => TypeIndex { number, of: PhantomData },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct A;
    struct B;

    #[test]
    fn a_type_has_one_number_and_two_types_have_two() {
        static SLOT: TypeSlot<A> = TypeSlot::new();
        static OTHER_SLOT: TypeSlot<A> = TypeSlot::new();

        assert_eq!(SLOT.number(), UNKNOWN as usize);
        assert_eq!(SLOT.get().get(), TypeIndex::<A>::of().get());
        assert_eq!(SLOT.number(), SLOT.get().get());
        assert_eq!(SLOT.get().get(), OTHER_SLOT.get().get());
        assert_ne!(SLOT.get().get(), TypeIndex::<B>::of().get());
    }

    #[test]
    fn threads_that_ask_at_once_get_the_same_number() {
        struct Asked;
        static SLOT: TypeSlot<Asked> = TypeSlot::new();

        let numbers: Vec<usize> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| SLOT.get().get())).collect();
            asking.into_iter().map(|thread| thread.join().unwrap()).collect()
        });

        assert!(numbers.iter().all(|&number| number == numbers[0]));
    }
}
