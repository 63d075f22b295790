//! Snapshots in any format of serde.
//!
//! The document has the parts of the [native format](super::native) under names. Who reads it needs
//! them in this order: a component's name before its entities, and these before its values.

use std::cell::RefCell;

use serde::de::Deserializer;
use serde::ser::{Error as _, SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::gather::{Book, Gathered, GatheredColumn};
use super::load::Loader;
use super::native::FORMAT;
use super::save::Reporter;
use super::single::Single;
use super::state::State;

mod read;

/// The parts of a document and of a component in it, in order.
const PARTS: &[&str] = &["format", "entities", "components", "resources"];
const COLUMN: &[&str] = &["name", "version", "entities", "values"];
const SINGLE: &[&str] = &["name", "version", "value"];

/// The book of ids, as numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum BookDocument {
    Whole {
        range: [u32; 2],
        fixed: bool,
        last_version: u32,
        free: u32,
        slots: Vec<u64>,
        far: Vec<(u32, u64)>,
        demanded: Vec<(u32, Option<u32>, u32)>,
        habits: Vec<(u64, u32)>,
    },
    Chosen {
        ids: Vec<u64>,
    },
}

/// Writes a world as it is open.
pub(super) fn serialize<S: Serializer>(
    gathered: &Gathered<'_>,
    reporter: Reporter<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if let Some(raw) = gathered.raw.first() {
        let name = &raw.name;
        return Err(S::Error::custom(format!(
            "component `{name}` was kept as bytes of the native format, which others cannot write"
        )));
    }
    let reporter = RefCell::new(reporter);
    let mut document = serializer.serialize_struct("Snapshot", PARTS.len())?;
    document.serialize_field(PARTS[0], &FORMAT)?;
    document.serialize_field(PARTS[1], &book_document(&gathered.book))?;
    document.serialize_field(PARTS[2], &Columns(gathered, &reporter))?;
    document.serialize_field(PARTS[3], &Singles(gathered, &reporter))?;
    document.end()
}

/// Reads a state, which is checked as a whole.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    loader: &Loader<'_>,
    from: D,
) -> Result<State, D::Error> {
    from.deserialize_struct("Snapshot", PARTS, read::Document(loader))
}

fn book_document(book: &Book<'_>) -> BookDocument {
    match book {
        Book::Chosen(ids) => {
            BookDocument::Chosen { ids: ids.iter().map(|id| id.to_bits()).collect() }
        }
        Book::Whole(book) => {
            let record = book.record();
            BookDocument::Whole {
                range: record.range,
                fixed: record.fixed,
                last_version: record.last_version,
                free: record.free,
                slots: book.near_slots().collect(),
                far: record.far,
                demanded: record.demanded,
                habits: record.habits,
            }
        }
    }
}

struct Columns<'a, 'w, 'r>(&'a Gathered<'w>, &'a RefCell<Reporter<'r>>);

impl Serialize for Columns<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.columns.len()))?;
        for column in &self.0.columns {
            list.serialize_element(&Column(column, self.1))?;
        }
        list.end()
    }
}

struct Column<'a, 'w, 'r>(&'a GatheredColumn<'w>, &'a RefCell<Reporter<'r>>);

impl Serialize for Column<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut column = serializer.serialize_struct("Component", COLUMN.len())?;
        column.serialize_field(COLUMN[0], self.0.name)?;
        column.serialize_field(COLUMN[1], &self.0.version)?;
        column.serialize_field(COLUMN[2], self.0.entities())?;
        column.serialize_field(COLUMN[3], &ColumnValues(self.0, self.1))?;
        column.end()
    }
}

struct ColumnValues<'a, 'w, 'r>(&'a GatheredColumn<'w>, &'a RefCell<Reporter<'r>>);

impl Serialize for ColumnValues<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entities = self.0.entities();
        self.1.borrow_mut().written(self.0.name, 0);
        let mut list = serializer.serialize_seq(Some(entities.len()))?;
        for &entity in entities {
            list.serialize_element(&*self.0.values.show(entity))?;
            self.1.borrow_mut().written(self.0.name, 1);
        }
        list.end()
    }
}

struct Singles<'a, 'w, 'r>(&'a Gathered<'w>, &'a RefCell<Reporter<'r>>);

impl Serialize for Singles<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.singles.len()))?;
        for (name, version, value) in &self.0.singles {
            list.serialize_element(&One(name, *version, &**value))?;
            self.1.borrow_mut().written(name, 1);
        }
        list.end()
    }
}

struct One<'a>(&'a str, u32, &'a dyn Single);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut one = serializer.serialize_struct("Resource", SINGLE.len())?;
        one.serialize_field(SINGLE[0], self.0)?;
        one.serialize_field(SINGLE[1], &self.1)?;
        one.serialize_field(SINGLE[2], &*self.2.show())?;
        one.end()
    }
}
