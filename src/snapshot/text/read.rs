//! Reads documents.

use std::fmt;
use std::marker::PhantomData;

use erased_serde as erased;
use rustc_hash::FxHashSet;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::budget::Budget;
use super::super::column::{ColumnReader, ReadOne, Values};
use super::super::error::What;
use super::super::load::Loader;
use super::super::native::FORMAT;
use super::super::single::{SingleReader, Value};
use super::super::state::State;
use super::{BookDocument, COLUMN, SINGLE};
use crate::entity::{Entities, Entity, Record, bytes_of_far};
use crate::sparse::EntityList;

/// Bytes of memory that each number of the document is allowed, beside a fixed part: documents
/// do not say how long they are.
const PER_NUMBER: usize = 64;
const FIXED: usize = 16 << 20;

/// A whole document.
pub(super) struct Document<'a>(pub(super) &'a Loader<'a>);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = State;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot of esker's")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<State, A::Error> {
        in_order(&mut map, "format")?;
        check_format(map.next_value()?)?;
        in_order(&mut map, "entities")?;
        let mut state = state::<A::Error>(map.next_value()?)?;
        in_order(&mut map, "components")?;
        map.next_value_seed(Columns(self.0, &mut state))?;
        in_order(&mut map, "resources")?;
        map.next_value_seed(Singles(self.0, &mut state))?;
        match map.next_key::<String>()? {
            None => Ok(state),
            Some(key) => Err(A::Error::custom(format!("`{key}` is no part of a snapshot"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<State, A::Error> {
        check_format(part(seq.next_element()?, "format")?)?;
        let mut state = state::<A::Error>(part(seq.next_element()?, "entities")?)?;
        part(seq.next_element_seed(Columns(self.0, &mut state))?, "components")?;
        part(seq.next_element_seed(Singles(self.0, &mut state))?, "resources")?;
        Ok(state)
    }
}

fn part<T, E: Error>(found: Option<T>, name: &'static str) -> Result<T, E> {
    found.ok_or_else(|| E::missing_field(name))
}

/// The next key of a map, which must be this one.
fn in_order<'de, A: MapAccess<'de>>(map: &mut A, name: &'static str) -> Result<(), A::Error> {
    match map.next_key::<String>()? {
        Some(key) if key == name => Ok(()),
        Some(key) => Err(A::Error::custom(format!("`{name}` must come here, and not `{key}`"))),
        None => Err(A::Error::missing_field(name)),
    }
}

fn check_format<E: Error>(found: u32) -> Result<(), E> {
    match found {
        1..=FORMAT => Ok(()),
        _ => Err(E::custom(format!(
            "unsupported format {found}: this version of esker reads up to format {FORMAT}"
        ))),
    }
}

/// A state without components, from its book.
fn state<E: Error>(document: BookDocument) -> Result<State, E> {
    let unsound = |why| E::custom(format!("in the book of ids: {why}"));
    let book = match document {
        BookDocument::Whole { range, fixed, last_version, free, slots, far, demanded, habits } => {
            let numbers = slots.len() + far.len() * 2;
            allow::<E>(numbers, bytes_of_far(far.iter().copied()))?;
            let record = Record { range, fixed, last_version, free, far, demanded, habits };
            Entities::restore(record, slots.into_iter()).map_err(unsound)?
        }
        BookDocument::Chosen { ids } => {
            let ids: Option<Vec<Entity>> = ids.into_iter().map(Entity::try_from_bits).collect();
            let ids = ids.ok_or_else(|| unsound("a number is no id".into()))?;
            allow::<E>(ids.len(), Entities::bytes_of_demanded(&ids))?;
            let mut state = State::new(Entities::of_demanded(&ids).map_err(unsound)?);
            state.is_partial = true;
            return Ok(state);
        }
    };
    Ok(State::new(book))
}

fn allow<E: Error>(numbers: usize, needed: usize) -> Result<(), E> {
    let limit = numbers.saturating_mul(PER_NUMBER).saturating_add(FIXED);
    Budget::new(limit).spend(needed).map_err(E::custom)
}

/// The components of a document, which go to a state.
struct Columns<'a>(&'a Loader<'a>, &'a mut State);

impl<'de> DeserializeSeed<'de> for Columns<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Columns<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of components")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut seen = FxHashSet::default();
        while let Some(column) = seq.next_element_seed(Column(self.0, &self.1.book))? {
            match column {
                Ok(values) if seen.insert(values.name()) => self.1.columns.push(values),
                Ok(values) => {
                    let name = values.name();
                    return Err(A::Error::custom(format!("component `{name}` occurs twice")));
                }
                Err(skipped) => self.1.skipped.push(skipped),
            }
        }
        Ok(())
    }
}

/// One component: its values, or its name if it is left out.
struct Column<'a>(&'a Loader<'a>, &'a Entities);

type Skipped = String;

impl Column<'_> {
    fn reader<E: Error>(&self, name: &str, version: u32) -> Result<Option<&dyn ColumnReader>, E> {
        let reader = self.0.types().column_reader(name, version);
        if reader.is_none() {
            self.0.refuse_unknown(What::Component, name, version).map_err(E::custom)?;
        }
        Ok(reader)
    }

    fn check<E: Error>(&self, name: &str, entities: &[Entity]) -> Result<(), E> {
        match entities.iter().find(|&&entity| !self.1.is_alive(entity)) {
            None => Ok(()),
            Some(dead) => Err(E::custom(format!(
                "in component `{name}`: {dead} has a value and is not alive"
            ))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Column<'_> {
    type Value = Result<Box<dyn Values>, Skipped>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_struct("Component", COLUMN, self)
    }
}

impl<'de> Visitor<'de> for Column<'_> {
    type Value = Result<Box<dyn Values>, Skipped>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a component of a snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        in_order(&mut map, "name")?;
        let name: String = map.next_value()?;
        in_order(&mut map, "version")?;
        let version = map.next_value()?;
        in_order(&mut map, "entities")?;
        let entities: Vec<Entity> = map.next_value()?;
        self.check(&name, &entities)?;
        in_order(&mut map, "values")?;
        let Some(reader) = self.reader(&name, version)? else {
            map.next_value::<IgnoredAny>()?;
            return Ok(Err(name));
        };
        let values = map.next_value_seed(ColumnValues { reader, entities, name: &name })?;
        match map.next_key::<String>()? {
            None => Ok(Ok(values)),
            Some(key) => Err(A::Error::custom(format!("`{key}` is no part of a component"))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let name: String = part(seq.next_element()?, "name")?;
        let version = part(seq.next_element()?, "version")?;
        let entities: Vec<Entity> = part(seq.next_element()?, "entities")?;
        self.check(&name, &entities)?;
        let Some(reader) = self.reader(&name, version)? else {
            part(seq.next_element::<IgnoredAny>()?, "values")?;
            return Ok(Err(name));
        };
        let seed = ColumnValues { reader, entities, name: &name };
        part(seq.next_element_seed(seed)?, "values").map(Ok)
    }
}

/// The values of a component.
struct ColumnValues<'a> {
    reader: &'a dyn ColumnReader,
    entities: Vec<Entity>,
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for ColumnValues<'_> {
    type Value = Box<dyn Values>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Box<dyn Values>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ColumnValues<'_> {
    type Value = Box<dyn Values>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Box<dyn Values>, A::Error> {
        let name = self.name;
        let entities = EntityList::from(self.entities);
        allow::<A::Error>(entities.len() * 2, self.reader.foresee(&entities))?;
        let mut next = |read: &mut ReadOne<'_>| {
            let next = seq.next_element_seed(OneValue(read, PhantomData));
            next.map(|found| found.is_some()).map_err(|error| error.to_string())
        };
        let values = self.reader.deserialize(entities, &mut next);
        values.map_err(|why| A::Error::custom(format!("in component `{name}`: {why}")))
    }
}

struct OneValue<'a, 'b>(&'a mut ReadOne<'b>, PhantomData<&'b ()>);

impl<'de> DeserializeSeed<'de> for OneValue<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        (self.0)(&mut <dyn erased::Deserializer<'_>>::erase(from)).map_err(D::Error::custom)
    }
}

/// The resources of a document, which go to a state.
struct Singles<'a>(&'a Loader<'a>, &'a mut State);

impl<'de> DeserializeSeed<'de> for Singles<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Singles<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of resources")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut seen = FxHashSet::default();
        while let Some(single) = seq.next_element_seed(One(self.0))? {
            match single {
                Ok(value) if seen.insert(value.name()) => self.1.resources.push(value),
                Ok(value) => {
                    let name = value.name();
                    return Err(A::Error::custom(format!("resource `{name}` occurs twice")));
                }
                Err(skipped) => self.1.skipped.push(skipped),
            }
        }
        Ok(())
    }
}

/// One resource.
struct One<'a>(&'a Loader<'a>);

impl One<'_> {
    fn reader<E: Error>(&self, name: &str, version: u32) -> Result<Option<&dyn SingleReader>, E> {
        let reader = self.0.types().single_reader(name, version);
        if reader.is_none() {
            self.0.refuse_unknown(What::Resource, name, version).map_err(E::custom)?;
        }
        Ok(reader)
    }
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Result<Box<dyn Value>, Skipped>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_struct("Resource", SINGLE, self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = Result<Box<dyn Value>, Skipped>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a resource of a snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        in_order(&mut map, "name")?;
        let name: String = map.next_value()?;
        in_order(&mut map, "version")?;
        let version = map.next_value()?;
        in_order(&mut map, "value")?;
        let Some(reader) = self.reader(&name, version)? else {
            map.next_value::<IgnoredAny>()?;
            return Ok(Err(name));
        };
        map.next_value_seed(SingleValue(reader, &name)).map(Ok)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let name: String = part(seq.next_element()?, "name")?;
        let version = part(seq.next_element()?, "version")?;
        let Some(reader) = self.reader(&name, version)? else {
            part(seq.next_element::<IgnoredAny>()?, "value")?;
            return Ok(Err(name));
        };
        part(seq.next_element_seed(SingleValue(reader, &name))?, "value").map(Ok)
    }
}

struct SingleValue<'a>(&'a dyn SingleReader, &'a str);

impl<'de> DeserializeSeed<'de> for SingleValue<'_> {
    type Value = Box<dyn Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Box<dyn Value>, D::Error> {
        let value = self.0.deserialize(&mut <dyn erased::Deserializer<'_>>::erase(from));
        value.map_err(|why| D::Error::custom(format!("in resource `{}`: {why}", self.1)))
    }
}
