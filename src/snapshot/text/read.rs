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
        let mut budget = Allowance::new(self.0);
        in_order(&mut map, "format")?;
        check_format(map.next_value()?)?;
        in_order(&mut map, "entities")?;
        let mut state = state::<A::Error>(map.next_value()?, &mut budget)?;
        in_order(&mut map, "components")?;
        map.next_value_seed(Columns(self.0, &mut state, &mut budget))?;
        in_order(&mut map, "resources")?;
        map.next_value_seed(Singles(self.0, &mut state))?;
        end_of_map(&mut map, "a snapshot")?;
        Ok(state)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<State, A::Error> {
        let mut budget = Allowance::new(self.0);
        check_format(part(seq.next_element()?, "format")?)?;
        let mut state = state::<A::Error>(part(seq.next_element()?, "entities")?, &mut budget)?;
        part(seq.next_element_seed(Columns(self.0, &mut state, &mut budget))?, "components")?;
        part(seq.next_element_seed(Singles(self.0, &mut state))?, "resources")?;
        end_of_seq(&mut seq, "a snapshot")?;
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
        Some(key) => Err(A::Error::custom(format!(
            "`{name}` must come here, and not `{key}`; keep the order in which it was written"
        ))),
        None => Err(A::Error::missing_field(name)),
    }
}

/// Nothing else may come.
fn end_of_map<'de, A: MapAccess<'de>>(map: &mut A, what: &str) -> Result<(), A::Error> {
    match map.next_key::<String>()? {
        None => Ok(()),
        Some(key) => Err(A::Error::custom(format!("`{key}` is no part of {what}"))),
    }
}

fn end_of_seq<'de, A: SeqAccess<'de>>(seq: &mut A, what: &str) -> Result<(), A::Error> {
    match seq.next_element::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(format!("there is more than the parts of {what}"))),
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
fn state<E: Error>(document: BookDocument, budget: &mut Allowance) -> Result<State, E> {
    let unsound = |why| E::custom(format!("in the book of ids: {why}"));
    let book = match document {
        BookDocument::Whole { range, fixed, last_version, free, slots, far, demanded, habits } => {
            let numbers = slots.len() + far.len() * 2 + demanded.len() * 3;
            budget.spend::<E>(numbers, bytes_of_far(far.iter().map(|&(index, _)| index)))?;
            let record = Record { range, fixed, last_version, free, far, demanded, habits };
            Entities::restore(record, slots.into_iter()).map_err(unsound)?
        }
        BookDocument::Chosen { ids } => {
            let ids: Option<Vec<Entity>> = ids.into_iter().map(Entity::try_from_bits).collect();
            let ids = ids.ok_or_else(|| unsound("a number is no id".into()))?;
            budget.spend::<E>(ids.len(), Entities::bytes_of_demanded(&ids))?;
            let mut state = State::new(Entities::of_demanded(&ids).map_err(unsound)?);
            state.is_partial = true;
            return Ok(state);
        }
    };
    Ok(State::new(book))
}

/// What may be allocated beside what the document itself takes: so much for each of its numbers, or what the loader
/// allows.
struct Allowance {
    budget: Budget,
    is_fixed: bool,
}

impl Allowance {
    fn new(loader: &Loader<'_>) -> Self {
        let limit = loader.memory_limit_said();
        Self { budget: Budget::new(limit.unwrap_or(FIXED)), is_fixed: limit.is_some() }
    }

    /// Takes what is needed for so many numbers.
    fn spend<E: Error>(&mut self, numbers: usize, needed: usize) -> Result<(), E> {
        if !self.is_fixed {
            self.budget.raise(numbers.saturating_mul(PER_NUMBER));
        }
        self.budget.spend(needed).map_err(E::custom)
    }
}

/// The components of a document, which go to a state.
struct Columns<'a>(&'a Loader<'a>, &'a mut State, &'a mut Allowance);

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
        let (mut seen, mut skipped) = (FxHashSet::default(), FxHashSet::default());
        while let Some(column) = seq.next_element_seed(Column(self.0, &self.1.book, self.2))? {
            match column {
                Ok(values) if seen.insert(values.name()) => self.1.columns.push(values),
                Ok(values) => return Err(twice(What::Component, values.name())),
                Err(key) if skipped.contains(&key) => return Err(twice(What::Component, &key.0)),
                Err(key) => {
                    self.1.skipped.push(key.0.clone());
                    skipped.insert(key);
                }
            }
        }
        Ok(())
    }
}

fn twice<E: Error>(what: What, name: &str) -> E {
    E::custom(format_args!("{what} `{name}` occurs twice"))
}

/// One component: its values, or its name and version if it is left out.
struct Column<'a>(&'a Loader<'a>, &'a Entities, &'a mut Allowance);

type Skipped = (String, u32);

/// What reads a component, if it is known.
fn reader<'a, E: Error>(
    loader: &'a Loader<'_>,
    name: &str,
    version: u32,
) -> Result<Option<&'a dyn ColumnReader>, E> {
    let reader = loader.types().column_reader(name, version);
    if reader.is_none() {
        loader.refuse_unknown(What::Component, name, version).map_err(E::custom)?;
    }
    Ok(reader)
}

impl Column<'_> {
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
        let values = match reader(self.0, &name, version)? {
            Some(reader) => {
                let seed = ColumnValues { reader, entities, name: &name, budget: self.2 };
                Ok(map.next_value_seed(seed)?)
            }
            None => {
                map.next_value::<IgnoredAny>()?;
                Err((name, version))
            }
        };
        end_of_map(&mut map, "a component")?;
        Ok(values)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let name: String = part(seq.next_element()?, "name")?;
        let version = part(seq.next_element()?, "version")?;
        let entities: Vec<Entity> = part(seq.next_element()?, "entities")?;
        self.check(&name, &entities)?;
        let values = match reader(self.0, &name, version)? {
            Some(reader) => {
                let seed = ColumnValues { reader, entities, name: &name, budget: self.2 };
                Ok(part(seq.next_element_seed(seed)?, "values")?)
            }
            None => {
                part(seq.next_element::<IgnoredAny>()?, "values")?;
                Err((name, version))
            }
        };
        end_of_seq(&mut seq, "a component")?;
        Ok(values)
    }
}

/// The values of a component.
struct ColumnValues<'a> {
    reader: &'a dyn ColumnReader,
    entities: Vec<Entity>,
    name: &'a str,
    budget: &'a mut Allowance,
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
        self.budget.spend::<A::Error>(entities.len() * 2, self.reader.foresee(&entities))?;
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
        let (mut seen, mut skipped) = (FxHashSet::default(), FxHashSet::default());
        while let Some(single) = seq.next_element_seed(One(self.0))? {
            match single {
                Ok(value) if seen.insert(value.name()) => self.1.resources.push(value),
                Ok(value) => return Err(twice(What::Resource, value.name())),
                Err(key) if skipped.contains(&key) => return Err(twice(What::Resource, &key.0)),
                Err(key) => {
                    self.1.skipped.push(key.0.clone());
                    skipped.insert(key);
                }
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
        let value = match self.reader(&name, version)? {
            Some(reader) => Ok(map.next_value_seed(SingleValue(reader, &name))?),
            None => {
                map.next_value::<IgnoredAny>()?;
                Err((name, version))
            }
        };
        end_of_map(&mut map, "a resource")?;
        Ok(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let name: String = part(seq.next_element()?, "name")?;
        let version = part(seq.next_element()?, "version")?;
        let value = match self.reader(&name, version)? {
            Some(reader) => Ok(part(seq.next_element_seed(SingleValue(reader, &name))?, "value")?),
            None => {
                part(seq.next_element::<IgnoredAny>()?, "value")?;
                Err((name, version))
            }
        };
        end_of_seq(&mut seq, "a resource")?;
        Ok(value)
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
