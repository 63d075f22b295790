//! Components as snapshots see them: a column of entities and values, the type known only here.

use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use erased_serde as erased;

use super::budget::Budget;
use super::codec::CodecError;
use super::form::{Form, Snapshot};
use super::kept::{Keepable, Original};
use super::references::EntityMapper;
use crate::cell::Read;
use crate::component::Component;
use crate::entity::Entity;
use crate::sparse::{EntityList, Rows};
use crate::storage::{Copying, Storage, Ticks};
use crate::tick::Tick;
use crate::world::{BorrowConflict, ComponentId, Home, Incoming, Map, World};

/// What is known of a registered component.
pub(super) trait ComponentType: Send + Sync {
    fn name(&self) -> &'static str;

    fn version(&self) -> u32;

    fn type_id(&self) -> TypeId;

    fn type_name(&self) -> &'static str;

    fn is_tracked(&self) -> bool;

    /// The pool, for reading; `None` if there is none.
    fn open<'w>(&self, world: &'w World) -> Result<Option<Box<dyn Column + 'w>>, BorrowConflict>;

    /// As `open`, to keep a copy.
    fn keepable<'w>(
        &self,
        world: &'w World,
    ) -> Result<Option<Box<dyn Keepable + 'w>>, BorrowConflict>;

    /// Removes the component of an entity, if it has it.
    fn remove(&self, world: &mut World, entity: Entity);

    /// Calls `note` whenever an entity is about to lose the component.
    fn watch(&self, world: &mut World, note: fn(&World, Entity, &'static str));
}

/// The values of a component in a world.
pub(super) trait Column: Send + Sync {
    fn entities(&self) -> &[Entity];

    /// The position of an entity, if it has a value.
    fn position(&self, entity: Entity) -> Option<usize>;

    fn ticks(&self) -> Option<&Ticks>;

    /// The bands of the pool, and who is placed there.
    fn rows(&self) -> Option<&Rows>;

    /// Bytes of one value, if they are plain.
    fn plain_size(&self) -> Option<usize>;

    /// The bytes of all values in a row, if they are plain.
    fn plain_bytes(&self) -> Option<Cow<'_, [u8]>>;

    /// Writes the value of an entity, which has one.
    fn encode(&self, entity: Entity, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Sees whether bytes that were written are a value.
    fn read_back(&self, bytes: &[u8]) -> Result<(), CodecError>;

    /// The value of an entity, which has one, for any format of serde.
    fn show(&self, entity: Entity) -> Box<dyn erased::Serialize + '_>;

    /// The same values once more, if they can be cloned.
    fn copy(&self) -> Option<Box<dyn Values>>;
}

/// The values of a component apart from any world.
pub(super) trait Values: Incoming + Send + Sync {
    /// Name of the component.
    fn name(&self) -> &'static str;

    /// Shows all ids inside the values to a mapper; who they belong to comes first.
    fn map_references(&mut self, map: &mut dyn FnMut(Entity, Entity) -> Option<Entity>);

    /// Gives the values to entities of a world, which are found by `target`.
    fn insert(self: Box<Self>, world: &mut World, target: &dyn Fn(Entity) -> Option<Entity>);

    fn into_incoming(self: Box<Self>) -> Box<dyn Incoming>;

    /// Says which bands the pool has, and who is placed there.
    fn set_rows(&mut self, rows: Option<Rows>);

    fn column(&self) -> &dyn Column;
}

/// Reads the values of a component, perhaps of an older version.
pub(super) trait ColumnReader: Send + Sync {
    /// Name of the component that comes of it.
    fn target(&self) -> &'static str;

    /// Bytes of one value as they are written, if they are plain.
    fn plain_size(&self) -> Option<usize>;

    /// Heap memory that the values of these entities will take, about.
    fn foresee(&self, entities: &EntityList) -> usize;

    /// Reads one value for each entity; the bytes of the values follow each other, or come one by
    /// one from `next`.
    fn read(
        &self,
        entities: EntityList,
        source: Source<'_>,
        budget: &mut Budget,
    ) -> Result<Box<dyn Values>, ReadError>;

    /// Reads one value for each entity from any format of serde.
    fn deserialize(
        &self,
        entities: EntityList,
        from: &mut NextValue<'_>,
    ) -> Result<Box<dyn Values>, String>;
}

/// Reads one value from any format of serde.
pub(super) type ReadOne<'a> =
    dyn FnMut(&mut dyn erased::Deserializer<'_>) -> Result<(), erased::Error> + 'a;

/// Lets somebody read the next value; `false` if there is none.
pub(super) type NextValue<'a> = dyn FnMut(&mut ReadOne<'_>) -> Result<bool, String> + 'a;

/// Where the bytes of values are.
pub(super) enum Source<'a> {
    Block(&'a [u8]),
    Each(Vec<&'a [u8]>),
}

impl Source<'_> {
    /// Bytes of all values.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Block(block) => block.len(),
            Self::Each(values) => values.iter().map(|value| value.len()).sum(),
        }
    }
}

/// Values that cannot be read.
pub(super) enum ReadError {
    /// The value of this entity, and what is wrong with it.
    Value(Entity, CodecError),
    /// This entity has two.
    Twice(Entity),
}

/// A component type that is registered.
pub(super) struct Of<T>(pub(super) PhantomData<fn() -> T>);

/// Turns the values of a version into those of another.
pub(super) type Convert<Old, T> = Arc<dyn Fn(Vec<Old>) -> Vec<T> + Send + Sync>;

/// Reads `Old`s, and turns them into `T`s.
pub(super) struct Reading<Old, T> {
    pub(super) convert: Convert<Old, T>,
}

impl<T: Component + Snapshot> ComponentType for Of<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn version(&self) -> u32 {
        T::VERSION
    }

    fn type_id(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    fn is_tracked(&self) -> bool {
        Map::<T>::default().storage().ticks().is_some()
    }

    #[track_caller]
    fn open<'w>(&self, world: &'w World) -> Result<Option<Box<dyn Column + 'w>>, BorrowConflict> {
        let Some(pool) = world.pool_box::<T>() else { return Ok(None) };
        let map = pool.cell.try_read().map_err(BorrowConflict::of::<T>)?;
        Ok(Some(Box::new(Open { map, form: T::form() })))
    }

    #[track_caller]
    fn keepable<'w>(
        &self,
        world: &'w World,
    ) -> Result<Option<Box<dyn Keepable + 'w>>, BorrowConflict> {
        let Some(pool) = world.pool_box::<T>() else { return Ok(None) };
        let map = pool.cell.try_read().map_err(BorrowConflict::of::<T>)?;
        Ok(Some(Box::new(Original { map, world: world.number() })))
    }

    fn remove(&self, world: &mut World, entity: Entity) {
        // Of a dead entity there is nothing to remove.
        _ = world.remove::<T>(entity);
    }

    fn watch(&self, world: &mut World, note: fn(&World, Entity, &'static str)) {
        // For as long as the world lives.
        _ = world.on_remove::<T>(move |world: &World, entity, _: &mut crate::Commands<'_, '_>| {
            note(world, entity, T::NAME);
        });
    }
}

/// A pool that is open for reading.
struct Open<'w, T: Component> {
    map: Read<'w, Map<T>>,
    form: Form<T>,
}

/// The values of a component apart from any world.
pub(super) struct Staged<T: Component> {
    map: Map<T>,
    form: Form<T>,
}

impl<T: Component + Snapshot> Staged<T> {
    pub(super) fn new(map: Map<T>) -> Self {
        Self { map, form: T::form() }
    }
}

/// What an open pool and staged values have in common.
macro_rules! column {
    ($name:ty) => {
        impl<T: Component + Snapshot> Column for $name {
            fn entities(&self) -> &[Entity] {
                self.map.entities()
            }

            fn position(&self, entity: Entity) -> Option<usize> {
                self.map.set().position(entity)
            }

            fn ticks(&self) -> Option<&Ticks> {
                self.map.storage().ticks()
            }

            fn rows(&self) -> Option<&Rows> {
                self.map.set().rows()
            }

            fn plain_size(&self) -> Option<usize> {
                self.form.plain.as_ref().map(|_| size_of::<T>())
            }

            fn plain_bytes(&self) -> Option<Cow<'_, [u8]>> {
                let plain = self.form.plain.as_ref()?;
                if let Some(values) = self.map.contiguous() {
                    return Some(Cow::Borrowed((plain.bytes)(values)));
                }
                let mut bytes = Vec::with_capacity(self.map.len() * size_of::<T>());
                for (_, value) in self.map.iter() {
                    bytes.extend_from_slice((plain.bytes)(std::slice::from_ref(value)));
                }
                Some(Cow::Owned(bytes))
            }

            fn encode(&self, entity: Entity, out: &mut Vec<u8>) -> Result<(), CodecError> {
                let value = self.map.get(entity).expect("the entity is in the column");
                (self.form.encode)(value, out)
            }

            fn read_back(&self, bytes: &[u8]) -> Result<(), CodecError> {
                let read = (self.form.decode)(bytes, &mut Budget::new(usize::MAX));
                read.map(drop).map_err(CodecError::not_read)
            }

            fn show(&self, entity: Entity) -> Box<dyn erased::Serialize + '_> {
                (self.form.show)(self.map.get(entity).expect("the entity is in the column"))
            }

            fn copy(&self) -> Option<Box<dyn Values>> {
                copied::<T>(&self.map)
            }
        }
    };
}

column!(Open<'_, T>);
column!(Staged<T>);

fn copied<T: Component + Snapshot>(map: &Map<T>) -> Option<Box<dyn Values>> {
    let copying: Copying<T> = T::cloning()?.0;
    Some(Box::new(Staged::new(map.copy(copying))))
}

impl<T: Component + Snapshot> Incoming for Staged<T> {
    fn entities(&self) -> &[Entity] {
        self.map.entities()
    }

    fn prepare(&mut self, world: &mut World, added: Option<Tick>) -> ComponentId {
        if let Some(added) = added {
            self.map.renew(added);
        }
        world.register::<T>()
    }

    fn put(self: Box<Self>, home: Home<'_>) -> Box<dyn Any> {
        let mut map = self.map;
        let old = home.map::<T>().expect("`prepare` has found the pool of `T`");
        map.succeed(old);
        Box::new(mem::replace(old, map))
    }
}

impl<T: Component + Snapshot> Values for Staged<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn map_references(&mut self, map: &mut dyn FnMut(Entity, Entity) -> Option<Entity>) {
        let Some(references) = T::references() else { return };
        for (owner, value) in self.map.iter_mut() {
            references(value, &mut EntityMapper::new(&mut |entity| map(owner, entity)));
        }
    }

    fn insert(self: Box<Self>, world: &mut World, target: &dyn Fn(Entity) -> Option<Entity>) {
        for (entity, value) in self.map.into_pairs() {
            if let Some(target) = target(entity) {
                // It is alive: `target` gives out no others.
                _ = world.insert(target, value);
            }
        }
    }

    fn into_incoming(self: Box<Self>) -> Box<dyn Incoming> {
        self
    }

    fn set_rows(&mut self, rows: Option<Rows>) {
        self.map.set_rows(rows);
    }

    fn column(&self) -> &dyn Column {
        self
    }
}

impl<Old: Snapshot, T: Component + Snapshot> ColumnReader for Reading<Old, T> {
    fn target(&self) -> &'static str {
        T::NAME
    }

    fn plain_size(&self) -> Option<usize> {
        Old::form().plain.map(|_| size_of::<Old>())
    }

    fn foresee(&self, entities: &EntityList) -> usize {
        let converted = TypeId::of::<Old>() != TypeId::of::<T>();
        let old = if converted { entities.len() * size_of::<Old>() } else { 0 };
        Map::<T>::bytes_for(entities) + old
    }

    fn read(
        &self,
        entities: EntityList,
        source: Source<'_>,
        budget: &mut Budget,
    ) -> Result<Box<dyn Values>, ReadError> {
        let form = Old::form();
        let values = match source {
            Source::Block(bytes) => match &form.plain {
                Some(plain) if size_of::<Old>() > 0 => (plain.values)(bytes),
                _ => {
                    let nothing = |&entity: &Entity| {
                        (form.decode)(&[], budget).map_err(|error| ReadError::Value(entity, error))
                    };
                    entities.as_slice().iter().map(nothing).collect::<Result<_, _>>()?
                }
            },
            Source::Each(values) => {
                let mut read = Vec::with_capacity(values.len());
                for (&entity, bytes) in entities.as_slice().iter().zip(values) {
                    let value = (form.decode)(bytes, budget);
                    read.push(value.map_err(|error| ReadError::Value(entity, error))?);
                }
                read
            }
        };
        let map = Map::<T>::try_from_columns(entities, (self.convert)(values));
        Ok(Box::new(Staged::new(map.map_err(ReadError::Twice)?)))
    }

    fn deserialize(
        &self,
        entities: EntityList,
        from: &mut NextValue<'_>,
    ) -> Result<Box<dyn Values>, String> {
        let form = Old::form();
        let mut values = Vec::new();
        loop {
            let mut read = |from: &mut dyn erased::Deserializer<'_>| {
                values.push((form.read)(from)?);
                Ok(())
            };
            if !from(&mut read)? {
                break;
            }
        }
        if values.len() != entities.len() {
            let (values, entities) = (values.len(), entities.len());
            return Err(format!("there are {values} values for {entities} entities"));
        }
        let map = Map::<T>::try_from_columns(entities, (self.convert)(values));
        let map = map.map_err(|entity| format!("index {} occurs twice", entity.index()))?;
        Ok(Box::new(Staged::new(map)))
    }
}
