//! hecs' own column-major serialisation, written as binary by bincode.

use std::any::TypeId;

use hecs::{
    Archetype, ColumnBatchBuilder, ColumnBatchType, World,
    serialize::column::{
        self, DeserializeContext, SerializeContext, deserialize_column, try_serialize,
        try_serialize_id,
    },
};
use serde::{Deserialize, Serialize, de::SeqAccess, ser::SerializeTuple};

use super::super::binary::options;
use crate::components::{Position, Velocity};

#[inline(never)]
pub(super) fn serialize((world, bytes): &mut (World, Vec<u8>)) {
    encode(world, bytes);
}

/// Writes a world, in place of what `bytes` holds.
pub fn encode(world: &World, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut serializer = bincode::Serializer::new(bytes, options());
    column::serialize_satisfying::<&Position, _, _>(
        world,
        &mut Context::default(),
        &mut serializer,
    )
    .expect("writing to memory does not fail");
}

#[inline(never)]
pub(super) fn deserialize((bytes, world): &mut (Vec<u8>, World)) {
    *world = decode(bytes);
}

/// Reads a world.
///
/// # Panics
/// With "the bytes are our own" if they are refused.
pub fn decode(bytes: &[u8]) -> World {
    let mut deserializer = bincode::Deserializer::from_slice(bytes, options());
    column::deserialize(&mut Context::default(), &mut deserializer).expect("the bytes are our own")
}

#[derive(Serialize, Deserialize)]
enum ComponentId {
    Position,
    Velocity,
}

/// The components of the archetype that is being read.
#[derive(Default)]
struct Context {
    components: Vec<ComponentId>,
}

impl SerializeContext for Context {
    fn component_count(&self, archetype: &Archetype) -> usize {
        let known = [TypeId::of::<Position>(), TypeId::of::<Velocity>()];
        archetype.component_types().filter(|id| known.contains(id)).count()
    }

    fn serialize_component_ids<S: SerializeTuple>(
        &mut self,
        archetype: &Archetype,
        mut out: S,
    ) -> Result<S::Ok, S::Error> {
        try_serialize_id::<Position, _, _>(archetype, &ComponentId::Position, &mut out)?;
        try_serialize_id::<Velocity, _, _>(archetype, &ComponentId::Velocity, &mut out)?;
        out.end()
    }

    fn serialize_components<S: SerializeTuple>(
        &mut self,
        archetype: &Archetype,
        mut out: S,
    ) -> Result<S::Ok, S::Error> {
        try_serialize::<Position, _>(archetype, &mut out)?;
        try_serialize::<Velocity, _>(archetype, &mut out)?;
        out.end()
    }
}

impl DeserializeContext for Context {
    fn deserialize_component_ids<'de, A>(&mut self, mut seq: A) -> Result<ColumnBatchType, A::Error>
    where
        A: SeqAccess<'de>,
    {
        self.components.clear();
        let mut batch = ColumnBatchType::new();
        while let Some(id) = seq.next_element()? {
            match id {
                ComponentId::Position => batch.add::<Position>(),
                ComponentId::Velocity => batch.add::<Velocity>(),
            };
            self.components.push(id);
        }
        Ok(batch)
    }

    fn deserialize_components<'de, A>(
        &mut self,
        entity_count: u32,
        mut seq: A,
        batch: &mut ColumnBatchBuilder,
    ) -> Result<(), A::Error>
    where
        A: SeqAccess<'de>,
    {
        for component in &self.components {
            match component {
                ComponentId::Position => {
                    deserialize_column::<Position, _>(entity_count, &mut seq, batch)?
                }
                ComponentId::Velocity => {
                    deserialize_column::<Velocity, _>(entity_count, &mut seq, batch)?
                }
            }
        }
        Ok(())
    }
}
