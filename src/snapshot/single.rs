//! Resources as snapshots see them.

use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;

use erased_serde as erased;

use super::budget::Budget;
use super::codec::CodecError;
use super::form::Snapshot;
use super::references::EntityMapper;
use crate::entity::Entity;
use crate::world::{BorrowConflict, Res, ResourceError, World};

/// What is known of a registered resource.
pub(super) trait ResourceType: Send + Sync {
    fn name(&self) -> &'static str;

    fn version(&self) -> u32;

    fn type_id(&self) -> TypeId;

    fn type_name(&self) -> &'static str;

    /// The resource, for reading; `None` if there is none.
    fn open<'w>(&self, world: &'w World) -> Result<Option<Box<dyn Single + 'w>>, BorrowConflict>;

    /// Takes the resource out of a world, if there is one.
    fn remove(&self, world: &mut World) -> Option<Replaced>;
}

/// One value, in a world or apart from it.
pub(super) trait Single {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Sees whether bytes that were written are a value.
    fn read_back(&self, bytes: &[u8]) -> Result<(), CodecError>;

    fn show(&self) -> Box<dyn erased::Serialize + '_>;

    fn copy(&self) -> Option<Box<dyn Value>>;
}

/// A resource apart from any world.
pub(super) trait Value: Single + Send + Sync {
    fn name(&self) -> &'static str;

    fn map_references(&mut self, map: &mut dyn FnMut(Entity) -> Option<Entity>);

    /// Puts it into a world; returns the one that was there.
    fn insert(self: Box<Self>, world: &mut World) -> Option<Replaced>;
}

/// A resource that was in a world. Its drop is code of the user's: it waits until everything else is in its place.
pub(super) type Replaced = Box<dyn Any>;

/// Reads a resource, perhaps of an older version.
pub(super) trait SingleReader: Send + Sync {
    fn target(&self) -> &'static str;

    fn read(&self, bytes: &[u8], budget: &mut Budget) -> Result<Box<dyn Value>, CodecError>;

    fn deserialize(
        &self,
        from: &mut dyn erased::Deserializer<'_>,
    ) -> Result<Box<dyn Value>, erased::Error>;
}

/// A resource type that is registered.
pub(super) struct Of<R>(pub(super) PhantomData<fn() -> R>);

/// Reads an `Old` and turns it into an `R`.
pub(super) struct Reading<Old, R> {
    pub(super) convert: Arc<dyn Fn(Old) -> R + Send + Sync>,
}

impl<R: Snapshot> ResourceType for Of<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn version(&self) -> u32 {
        R::VERSION
    }

    fn type_id(&self) -> TypeId {
        TypeId::of::<R>()
    }

    fn type_name(&self) -> &'static str {
        type_name::<R>()
    }

    #[track_caller]
    fn open<'w>(&self, world: &'w World) -> Result<Option<Box<dyn Single + 'w>>, BorrowConflict> {
        match world.try_resource::<R>() {
            Ok(resource) => Ok(Some(Box::new(Open(resource)))),
            Err(ResourceError::Borrowed(conflict)) => Err(conflict),
            Err(_) => Ok(None),
        }
    }

    fn remove(&self, world: &mut World) -> Option<Replaced> {
        world.remove_resource::<R>().map(boxed)
    }
}

/// A resource that is open for reading.
struct Open<'w, R>(Res<'w, R>);

/// A resource apart from any world.
struct Staged<R>(R);

/// What both have in common.
macro_rules! single {
    ($name:ty) => {
        impl<R: Snapshot> Single for $name {
            fn encode(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
                (R::form().encode)(&self.0, out)
            }

            fn read_back(&self, bytes: &[u8]) -> Result<(), CodecError> {
                let read = (R::form().decode)(bytes, &mut Budget::new(usize::MAX));
                read.map(drop).map_err(CodecError::not_read)
            }

            fn show(&self) -> Box<dyn erased::Serialize + '_> {
                (R::form().show)(&self.0)
            }

            fn copy(&self) -> Option<Box<dyn Value>> {
                Some(Box::new(Staged((R::cloning()?.0.one)(&self.0))))
            }
        }
    };
}

single!(Open<'_, R>);
single!(Staged<R>);

impl<R: Snapshot> Value for Staged<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn map_references(&mut self, map: &mut dyn FnMut(Entity) -> Option<Entity>) {
        if let Some(references) = R::references() {
            references(&mut self.0, &mut EntityMapper::new(map));
        }
    }

    fn insert(self: Box<Self>, world: &mut World) -> Option<Replaced> {
        world.insert_resource(self.0).map(boxed)
    }
}

fn boxed<R: 'static>(resource: R) -> Replaced {
    Box::new(resource)
}

impl<Old: Snapshot, R: Snapshot> SingleReader for Reading<Old, R> {
    fn target(&self) -> &'static str {
        R::NAME
    }

    fn read(&self, bytes: &[u8], budget: &mut Budget) -> Result<Box<dyn Value>, CodecError> {
        let old = (Old::form().decode)(bytes, budget)?;
        Ok(Box::new(Staged((self.convert)(old))))
    }

    fn deserialize(
        &self,
        from: &mut dyn erased::Deserializer<'_>,
    ) -> Result<Box<dyn Value>, erased::Error> {
        let old = (Old::form().read)(from)?;
        Ok(Box::new(Staged((self.convert)(old))))
    }
}
