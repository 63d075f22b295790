//! Components all of whose code may panic: one for each storage and option.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use esker::component::TypeSlot;
use esker::snapshot::{Cloning, EntityMapper, Form, MapEntities, References, Snapshot};
use esker::sparse::PagedMap;
use esker::storage::{Fill, Hashed, Packed, Storage, Ticks, Untracked};
use esker::{Component, Entity, Tick};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::{Counted, Ledger};
use crate::fuse::{Callback, call};

static LEDGER: Mutex<Option<Arc<Ledger>>> = Mutex::new(None);

/// The ledger of all values that are made from now on.
pub fn open_ledger() -> Arc<Ledger> {
    let ledger = Ledger::new();
    *LEDGER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&ledger));
    ledger
}

/// A value that is counted from its making to its drop, with traps in all of its code.
#[derive(Debug)]
pub struct Trap(pub Counted);

impl Trap {
    pub fn new(value: u64) -> Self {
        let ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self(ledger.expect("a scene opens one").make(value))
    }

    /// Made by the user's code.
    pub fn made(value: u64) -> Self {
        call(Callback::Make);
        Self::new(value)
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        call(Callback::Drop);
    }
}

impl Clone for Trap {
    fn clone(&self) -> Self {
        call(Callback::Clone);
        Self::new(self.0.value)
    }
}

impl Default for Trap {
    fn default() -> Self {
        Self::made(0)
    }
}

impl Serialize for Trap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        call(Callback::Serialize);
        serializer.serialize_u64(self.0.value)
    }
}

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u64::deserialize(deserializer)?;
        call(Callback::Deserialize);
        Ok(Self::new(value))
    }
}

/// A component whose answers come from code that may panic.
macro_rules! by_hand {
    ($name:ident, $storage:ty) => {
        impl Component for $name {
            type Storage = $storage;

            fn extras() -> Option<&'static (dyn Any + Send + Sync)> {
                call(Callback::Extras);
                None
            }

            fn keep_removed() -> Option<fn(&Self) -> Self> {
                call(Callback::KeepRemoved);
                Some(Self::clone)
            }

            fn type_slot() -> Option<&'static TypeSlot<Self>> {
                static SLOT: TypeSlot<$name> = TypeSlot::new();
                call(Callback::TypeSlot);
                Some(&SLOT)
            }
        }
    };
}

/// Packed and tracked, kept when removed.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[component(keep_removed, track)]
#[snapshot(name = "a", clone)]
pub struct A(pub Trap);

impl PartialEq for A {
    fn eq(&self, other: &Self) -> bool {
        call(Callback::Compare);
        self.0.0.value == other.0.0.value
    }
}

/// What `A` was in an earlier version.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[snapshot(name = "a", version = 0)]
pub struct Old(pub Trap);

/// Hashed, kept when removed; says so in code of its own.
#[derive(Snapshot, Serialize, Deserialize, Clone, Debug)]
#[snapshot(name = "b", clone)]
pub struct B(pub Trap);

by_hand!(B, Hashed<Self>);

/// At a place of its own.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[component(storage = Indexed)]
#[snapshot(name = "c", clone)]
pub struct C(pub Trap);

/// In a storage of the user's own; what snapshots need to know comes from code of its own, too.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct D(pub Trap);

impl Snapshot for D {
    const NAME: &'static str = "d";

    fn form() -> Form<Self> {
        call(Callback::Form);
        Form::serde()
    }

    fn cloning() -> Option<Cloning<Self>> {
        call(Callback::Form);
        Some(Cloning::clone())
    }

    fn references() -> Option<References<Self>> {
        call(Callback::Form);
        None
    }
}

by_hand!(D, Own);

/// Brings two others along.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[component(require(Second = second, Third))]
#[snapshot(name = "first", clone)]
pub struct First(pub Trap);

#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[snapshot(name = "second", clone)]
pub struct Second(pub Trap);

#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug, Default)]
#[snapshot(name = "third", clone)]
pub struct Third(pub Trap);

fn second() -> Second {
    Second(Trap::made(2))
}

/// Refers to another entity.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[snapshot(name = "link", clone, entities)]
pub struct Link(pub Trap, pub Option<Entity>);

impl MapEntities for Link {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        call(Callback::MapEntities);
        self.1.map_entities(mapper)
    }
}

/// A tag that listeners give.
#[derive(Component, Snapshot, Serialize, Deserialize, Clone, Debug)]
#[snapshot(name = "heard", clone)]
pub struct Heard;

/// A storage as a user would write it, around one of ours.
pub struct Own(Packed<D>);

impl Default for Own {
    fn default() -> Self {
        call(Callback::NewStorage);
        Self(Packed::default())
    }
}

#[allow(unsafe_code, reason = "implements the unsafe trait as a user would")]
// SAFETY: all calls are passed on to a storage that keeps the promises; some panic before that.
unsafe impl Storage<D> for Own {
    type Map = PagedMap;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = true;

    fn push(&mut self, entity: Entity, value: D) {
        call(Callback::Push);
        self.0.push(entity, value);
    }

    fn swap_remove(&mut self, at: usize, entity: Entity) -> D {
        self.0.swap_remove(at, entity)
    }

    fn swap(&mut self, a: usize, b: usize) {
        Storage::swap(&mut self.0, a, b);
    }

    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut D {
        call(Callback::Pointer);
        // SAFETY: promised by the caller.
        unsafe { self.0.ptr(at, entity) }
    }

    fn base(&self) -> *mut D {
        call(Callback::Pointer);
        self.0.base()
    }

    fn clear(&mut self) {
        Storage::clear(&mut self.0);
        call(Callback::Storage);
    }

    fn reserve(&mut self, additional: usize) {
        call(Callback::Reserve);
        Storage::reserve(&mut self.0, additional);
    }

    fn shrink_to_fit(&mut self) {
        call(Callback::Storage);
        Storage::shrink_to_fit(&mut self.0);
    }

    fn heap_bytes(&self) -> usize {
        call(Callback::Storage);
        self.0.heap_bytes()
    }

    fn bytes_for(entities: &[Entity]) -> usize {
        call(Callback::Storage);
        size_of_val(entities)
    }

    fn append(&mut self, values: Vec<D>) -> Result<(), Vec<D>> {
        call(Callback::Storage);
        self.0.append(values)
    }

    fn set_now(&mut self, _: Tick) {
        call(Callback::Storage);
    }

    fn touch(&self, _: usize, _: usize) {
        call(Callback::Storage);
    }

    fn ticks(&self) -> Option<&Ticks> {
        call(Callback::Storage);
        None
    }

    fn ticks_mut(&mut self) -> Option<&mut Ticks> {
        call(Callback::Storage);
        None
    }

    fn refill(&mut self, values: &[D], fill: Fill<D>) -> bool {
        call(Callback::Storage);
        self.0.refill(values, fill)
    }
}
