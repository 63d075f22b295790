//! Snapshots in any format of serde.
//!
//! The document has the parts of the [native format](super::native) under names. Who reads it needs
//! them in this order: a component's name before its entities, and these before its values.

use std::cell::RefCell;
use std::fmt;

use serde::de::Deserializer;
use serde::ser::{Error as _, SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::codec::{CodecError, is_sample};
use super::gather::{Book, Gathered, GatheredColumn};
use super::load::Loader;
use super::native::FORMAT;
use super::save::Reporter;
use super::single::Single;
use super::state::State;
use checked::Trail;

mod checked;
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

/// Writes a world as it is open. Values that formats are known to lose are refused, unless this one is trusted.
pub(super) fn serialize<S: Serializer>(
    gathered: &Gathered<'_>,
    reporter: Reporter<'_>,
    is_trusted: bool,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if let Some(raw) = gathered.raw.first() {
        let name = &raw.name;
        return Err(S::Error::custom(format!(
            "component `{name}` was kept as bytes of the native format, which others cannot write; \
             register its type and load it again, leave it out with `.without`, or save in the native \
             format"
        )));
    }
    let trail = Trail::new(serializer.is_human_readable(), is_trusted);
    let writing = Writing { gathered, reporter: RefCell::new(reporter), trail };
    let mut document = serializer.serialize_struct("Snapshot", PARTS.len())?;
    document.serialize_field(PARTS[0], &FORMAT)?;
    document.serialize_field(PARTS[1], &book_document(&gathered.book))?;
    document.serialize_field(PARTS[2], &Columns(&writing))?;
    document.serialize_field(PARTS[3], &Singles(&writing))?;
    document.end()
}

/// A document under way.
struct Writing<'a, 'w, 'r> {
    gathered: &'a Gathered<'w>,
    reporter: RefCell<Reporter<'r>>,
    trail: Trail,
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

struct Columns<'a, 'w, 'r>(&'a Writing<'a, 'w, 'r>);

impl Serialize for Columns<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = &self.0.gathered.columns;
        let mut list = serializer.serialize_seq(Some(columns.len()))?;
        for column in columns {
            list.serialize_element(&Column(column, self.0))?;
        }
        list.end()
    }
}

struct Column<'a, 'w, 'r>(&'a GatheredColumn<'w>, &'a Writing<'a, 'w, 'r>);

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

struct ColumnValues<'a, 'w, 'r>(&'a GatheredColumn<'w>, &'a Writing<'a, 'w, 'r>);

impl Serialize for ColumnValues<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(GatheredColumn { name, values, .. }, Writing { reporter, trail, .. }) = self;
        let entities = self.0.entities();
        reporter.borrow_mut().written(name, 0);
        let mut bytes = Vec::new();
        let mut list = serializer.serialize_seq(Some(entities.len()))?;
        for (nth, &entity) in entities.iter().enumerate() {
            if trail.may_lack_names() && values.plain_size().is_none() && is_sample(nth) {
                bytes.clear();
                let readable =
                    values.encode(entity, &mut bytes).and_then(|()| values.read_back(&bytes));
                let owner = format_args!("component `{name}` of {entity}");
                readable.map_err(|why| unreadable(owner, &why))?;
            }
            let owner = format_args!("component `{name}` of {entity}");
            list.serialize_element(&Value { owner, value: &*values.show(entity), trail })?;
            reporter.borrow_mut().written(name, 1);
        }
        list.end()
    }
}

struct Singles<'a, 'w, 'r>(&'a Writing<'a, 'w, 'r>);

impl Serialize for Singles<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Writing { gathered, reporter, trail } = self.0;
        let mut list = serializer.serialize_seq(Some(gathered.singles.len()))?;
        for (name, version, value) in &gathered.singles {
            list.serialize_element(&One(name, *version, &**value, trail))?;
            reporter.borrow_mut().written(name, 1);
        }
        list.end()
    }
}

struct One<'a>(&'a str, u32, &'a dyn Single, &'a Trail);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(name, version, value, trail) = *self;
        let owner = format_args!("resource `{name}`");
        if trail.may_lack_names() {
            let mut bytes = Vec::new();
            let readable = value.encode(&mut bytes).and_then(|()| value.read_back(&bytes));
            readable.map_err(|why| unreadable(owner, &why))?;
        }
        let mut one = serializer.serialize_struct("Resource", SINGLE.len())?;
        one.serialize_field(SINGLE[0], name)?;
        one.serialize_field(SINGLE[1], &version)?;
        one.serialize_field(SINGLE[2], &Value { owner, value: &*value.show(), trail })?;
        one.end()
    }
}

/// A value as a whole, and what it belongs to.
struct Value<'a> {
    owner: fmt::Arguments<'a>,
    value: &'a dyn erased_serde::Serialize,
    trail: &'a Trail,
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.trail.serialize(self.owner, self.value, serializer)
    }
}

/// A type that cannot be read back from bytes that do not describe themselves.
fn unreadable<E: serde::ser::Error>(owner: fmt::Arguments<'_>, why: &CodecError) -> E {
    E::custom(format_args!("in {owner}: {why}; or say `.trust_format()` if this format has names"))
}
