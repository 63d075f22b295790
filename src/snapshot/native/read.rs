//! From bytes to a state, believing nothing.

use rustc_hash::FxHashSet;

use super::super::budget::Budget;
use super::super::codec::CodecError;
use super::super::column::{ColumnReader, ReadError, Source, Values};
use super::super::error::{SnapshotError, What};
use super::super::load::{Loader, Unknown};
use super::super::raw::RawColumn;
use super::super::state::State;
use super::super::together::{self, Size};
use super::bytes::Sum;
use super::{Bytes, FORMAT_WITH_HOMES, LEAST_TO_OMIT, MAGIC, entry, form, ids, kind};
use crate::entity::{Entities, Entity, Record, bytes_of_far};
use crate::sparse::EntityList;
use crate::world::Homes;

/// What is spent for each entry of the schema, far slot, demanded id, and value that is kept as
/// bytes: what it takes in the end, and what it takes on the way there.
const PER_ENTRY: usize = 320;
const PER_FAR: usize = 16;
const PER_DEMANDED: usize = 56;
const PER_KEPT: usize = 40;

/// An entry of the schema.
pub(in super::super) struct Entry {
    what: What,
    name: String,
    version: u32,
    /// Bytes of each value, if they make a block.
    plain_size: Option<u32>,
}

impl Entry {
    pub(in super::super) fn name(&self) -> &str {
        &self.name
    }

    pub(in super::super) fn version(&self) -> u32 {
        self.version
    }
}

/// Columns that were read.
#[derive(Default)]
pub(in super::super) struct Parsed {
    pub(in super::super) columns: Vec<Box<dyn Values>>,
    pub(in super::super) raw: Vec<RawColumn>,
    pub(in super::super) skipped: Vec<String>,
}

/// Reads a whole snapshot.
pub(in super::super) fn read(all: &[u8], loader: &Loader<'_>) -> Result<State, SnapshotError> {
    let mut bytes = Bytes::new(all);
    let (format, sum) = read_header(&mut bytes)?;
    let mut budget = Budget::new(loader.limit_for(all.len()));
    // Entities are read beside, which can be done with any bytes; values only if the sum is right, because
    // that is up to their types.
    let size = Size::Made(all.len() / size_of::<u64>());
    let (is_right, listed) =
        together::beside(size, || sum.check(), || read_entities(&mut bytes, loader, &mut budget));
    is_right?;
    let Listed { what, schema, book, columns } = listed?;
    let parsed = columns.read(&mut budget)?;
    let mut state = State::new(book);
    state.is_partial = what == kind::CHOSEN;
    (state.columns, state.raw, state.skipped) = (parsed.columns, parsed.raw, parsed.skipped);
    let mut seen = FxHashSet::default();
    for entry in schema.iter().filter(|entry| entry.what == What::Resource) {
        bytes.enter(format!("resource `{}`", entry.name));
        let length = bytes.count(1)?;
        let at = bytes.at();
        let value = bytes.take(length)?;
        let Some(reader) = loader.types().single_reader(&entry.name, entry.version) else {
            // Bytes of a resource that nobody knows have no entity to keep them for.
            loader.refuse_unknown(What::Resource, &entry.name, entry.version)?;
            state.skipped.push(entry.name.clone());
            continue;
        };
        if !seen.insert(reader.target()) {
            return Err(bytes.wrong_at(at, "it occurs twice"));
        }
        let value = reader.read(value, &mut budget);
        let why =
            |error: CodecError| budget.refusal().unwrap_or_else(|| bytes.wrong_at(at, error.0));
        let value = value.map_err(why)?;
        state.resources.push(value);
    }
    if format >= FORMAT_WITH_HOMES {
        let is_known = |entry: &&Entry| entry.what == What::Component;
        let is_complete = schema.iter().filter(is_known).count() == state.columns.len();
        read_homes(&mut bytes, &mut state, is_complete, &mut budget)?;
    }
    match bytes.left() {
        0 => Ok(state),
        left => Err(bytes.wrong(format!("{left} bytes are left over"))),
    }
}

/// Reads where entities belong. Where columns were left out, the world finds that out by itself.
fn read_homes(
    bytes: &mut Bytes<'_>,
    state: &mut State,
    is_complete: bool,
    budget: &mut Budget,
) -> Result<(), SnapshotError> {
    bytes.enter("the homes");
    let count = bytes.count(8)?;
    let at = bytes.at();
    let numbers = bytes.numbers(count)?;
    if state.is_partial {
        return Err(bytes.wrong_at(at, "entities that were chosen have no homes"));
    }
    if !is_complete {
        return Ok(());
    }
    let columns: Vec<&[Entity]> =
        state.columns.iter().map(|column| column.column().entities()).collect();
    let mut spend = |bytes| budget.spend(bytes).map_err(|error| error.to_string());
    let read = Homes::read(numbers, &columns, &state.book, &mut spend);
    let why = |why| budget.refusal().unwrap_or_else(|| bytes.wrong_at(at, why));
    let (homes, rows) = read.map_err(why)?;
    state.homes = Some(homes);
    for (column, rows) in state.columns.iter_mut().zip(rows) {
        column.set_rows(rows);
    }
    Ok(())
}

/// Reads the header, and checks the sum; returns the kind.
pub(in super::super) fn begin(bytes: &mut Bytes<'_>) -> Result<u32, SnapshotError> {
    read_header(bytes)?.1.check()?;
    bytes.u32()
}

/// Reads the header up to the kind; returns the format, and the sum, which is not compared yet.
fn read_header<'a>(bytes: &mut Bytes<'a>) -> Result<(u32, Sum<'a>), SnapshotError> {
    let magic = bytes.take(MAGIC.len())?;
    if magic != MAGIC {
        if magic[..6] == MAGIC[..6] {
            return Err(bytes.wrong_at(6, "it was written on a machine with the other byte order"));
        }
        return Err(bytes.wrong_at(0, "this is not a snapshot of esker's"));
    }
    let found = bytes.u32()?;
    if found > FORMAT_WITH_HOMES {
        return Err(SnapshotError::NewerFormat { found, known: FORMAT_WITH_HOMES });
    }
    if found == 0 {
        return Err(bytes.wrong_at(8, "there is no format 0"));
    }
    Ok((found, bytes.take_sum()?))
}

/// A snapshot whose entities were read, and whose values are known to be there.
struct Listed<'a, 'l> {
    what: u32,
    schema: Vec<Entry>,
    book: Entities,
    columns: Columns<'a, 'l>,
}

fn read_entities<'a, 'l>(
    bytes: &mut Bytes<'a>,
    loader: &'l Loader<'_>,
    budget: &mut Budget,
) -> Result<Listed<'a, 'l>, SnapshotError> {
    let what = bytes.u32()?;
    let schema = read_schema(bytes, budget)?;
    bytes.enter("the book of ids");
    let book = match what {
        kind::WHOLE => read_book(bytes, budget)?,
        kind::CHOSEN => {
            let count = bytes.count(8)?;
            let at = bytes.at();
            budget.spend(count.saturating_mul(size_of::<Entity>()))?;
            let chosen = bytes.ids(count)?;
            budget.spend(Entities::bytes_of_demanded(&chosen))?;
            Entities::of_demanded(&chosen).map_err(|why| bytes.wrong_at(at, why))?
        }
        _ => return Err(bytes.wrong("it is not a snapshot of a world; `apply` takes deltas")),
    };
    let columns = list_columns(bytes, &schema, Some(&book), loader, budget)?;
    Ok(Listed { what, schema, book, columns })
}

pub(in super::super) fn read_schema(
    bytes: &mut Bytes<'_>,
    budget: &mut Budget,
) -> Result<Vec<Entry>, SnapshotError> {
    bytes.enter("the schema");
    let count = bytes.u32()?;
    let mut schema = Vec::new();
    let mut names = FxHashSet::default();
    for _ in 0..count {
        let at = bytes.at();
        let what = match bytes.u8()? {
            entry::COMPONENT => What::Component,
            entry::RESOURCE => What::Resource,
            other => return Err(bytes.wrong_at(at, format!("there is no kind {other}"))),
        };
        budget.spend(PER_ENTRY)?;
        let name = bytes.name()?;
        budget.spend(2 * name.len())?;
        let version = bytes.u32()?;
        let plain_size = match (bytes.u8()?, bytes.u32()?) {
            (form::EACH, 0) => None,
            (form::BLOCK, size) if what == What::Component => Some(size),
            _ => return Err(bytes.wrong_at(at, format!("`{name}` has no form of ours"))),
        };
        // Two versions are two components, of which at least one was kept as bytes.
        if !names.insert((what as u8, name.clone(), version)) {
            return Err(bytes.wrong_at(at, format!("{what} `{name}` occurs twice")));
        }
        schema.push(Entry { what, name, version, plain_size });
    }
    Ok(schema)
}

fn read_book(bytes: &mut Bytes<'_>, budget: &mut Budget) -> Result<Entities, SnapshotError> {
    let start = bytes.at();
    let range = [bytes.u32()?, bytes.u32()?];
    let fixed = match bytes.u32()? {
        0 => false,
        1 => true,
        other => return Err(bytes.wrong(format!("{other} is neither fixed nor free"))),
    };
    let (last_version, free) = (bytes.u32()?, bytes.u32()?);
    let count = bytes.count(8)?;
    budget.spend(count.saturating_mul(16))?;
    let near = bytes.numbers(count)?;
    let far_count = bytes.count(12)?;
    budget.spend(far_count.saturating_mul(PER_FAR))?;
    let mut far = Vec::with_capacity(far_count);
    for _ in 0..far_count {
        far.push((bytes.u32()?, bytes.u64()?));
    }
    budget.spend(bytes_of_far(far.iter().map(|&(index, _)| index)))?;
    let demanded_count = bytes.count(13)?;
    budget.spend(demanded_count.saturating_mul(PER_DEMANDED))?;
    let mut demanded = Vec::with_capacity(demanded_count);
    for _ in 0..demanded_count {
        let (index, is_threaded) = (bytes.u32()?, bytes.u8()?);
        let (link, floor) = (bytes.u32()?, bytes.u32()?);
        let threaded = match (is_threaded, link) {
            (0, 0) => None,
            (1, link) => Some(link),
            _ => return Err(bytes.wrong("a link that is none")),
        };
        demanded.push((index, threaded, floor));
    }
    let mut habits = Vec::new();
    for _ in 0..bytes.count(12)? {
        habits.push((bytes.u64()?, bytes.u32()?));
    }
    let record = Record { range, fixed, last_version, free, far, demanded, habits };
    Entities::restore(record, near).map_err(|why| bytes.wrong_at(start, why))
}

/// Reads the ids and values of all components of a schema.
pub(in super::super) fn read_columns(
    bytes: &mut Bytes<'_>,
    schema: &[Entry],
    loader: &Loader<'_>,
    budget: &mut Budget,
) -> Result<Parsed, SnapshotError> {
    list_columns(bytes, schema, None, loader, budget)?.read(budget)
}

/// Reads the ids of all components of a schema, which live by that book, if there is one, and finds the
/// bytes of their values.
fn list_columns<'a, 'l>(
    bytes: &mut Bytes<'a>,
    schema: &[Entry],
    book: Option<&Entities>,
    loader: &'l Loader<'_>,
    budget: &mut Budget,
) -> Result<Columns<'a, 'l>, SnapshotError> {
    let mut parsed = Parsed::default();
    let mut unread = Vec::new();
    // Where each column that lists its ids begins.
    let mut lists: Vec<Option<usize>> = Vec::new();
    let mut seen = FxHashSet::default();
    for entry in schema.iter().filter(|entry| entry.what == What::Component) {
        bytes.enter(format!("component `{}`", entry.name));
        let start = bytes.at();
        let is_listed = bytes.back_at(start + 8).u8()? == ids::LISTED;
        let entities = read_ids(bytes, book, entry, &lists)?;
        let values = read_values(bytes, entry, entities.len(), budget)?;
        lists.push(is_listed.then_some(start));
        let Some(reader) = loader.types().column_reader(&entry.name, entry.version) else {
            if loader.unknown_rule() == Unknown::Keep {
                // They are written again as they are, and must be read then.
                if let Some(index) = repeated_index(entities.as_slice()) {
                    return Err(bytes.wrong_at(start, format!("index {index} occurs twice")));
                }
                budget.spend(entities.len().saturating_mul(PER_KEPT) + values.len())?;
                parsed.raw.push(raw(entry, entities.as_slice(), &values));
            } else {
                loader.refuse_unknown(What::Component, &entry.name, entry.version)?;
                parsed.skipped.push(entry.name.clone());
            }
            continue;
        };
        if !seen.insert(reader.target()) {
            let why = format!("two columns become the component `{}`", reader.target());
            return Err(bytes.wrong_at(start, why));
        }
        let known = reader.plain_size();
        if known != entry.plain_size.map(|size| size as usize) {
            let why = format!(
                "values have the layout {:?}, and version {} of the type has {known:?}; give the \
                 type a new version, and register a migration",
                entry.plain_size, entry.version
            );
            return Err(bytes.wrong_at(start, why));
        }
        budget.spend(reader.foresee(&entities))?;
        let part = bytes.back_at(start);
        unread.push(Unread { part, reader, entities, values });
    }
    Ok(Columns { parsed, unread })
}

/// Columns of which those of known types are not read yet.
struct Columns<'a, 'l> {
    parsed: Parsed,
    unread: Vec<Unread<'a, 'l>>,
}

impl Columns<'_, '_> {
    fn read(mut self, budget: &mut Budget) -> Result<Parsed, SnapshotError> {
        self.parsed.columns = read_all(self.unread, budget)?;
        Ok(self.parsed)
    }
}

/// A column whose bytes are known to be there.
struct Unread<'a, 'l> {
    /// Where it is, for messages.
    part: Bytes<'a>,
    reader: &'l dyn ColumnReader,
    entities: EntityList,
    values: Source<'a>,
}

/// Reads columns: blocks of plain values together, the others one by one, as they take from the budget.
fn read_all(
    unread: Vec<Unread<'_, '_>>,
    budget: &mut Budget,
) -> Result<Vec<Box<dyn Values>>, SnapshotError> {
    let is_block = |column: &Unread<'_, '_>| matches!(column.values, Source::Block([_, ..]));
    let blocks = unread.iter().filter(|column| is_block(column));
    let size = Size::Made(blocks.map(|column| column.entities.len()).sum());
    // In the order of the columns: those that are to be read here come back as they are.
    let read = together::each(unread, size, |column| match is_block(&column) {
        true => Ok(column.read(&mut Budget::new(0))),
        false => Err(column),
    });
    read.into_iter().map(|read| read.unwrap_or_else(|column| column.read(budget))).collect()
}

impl Unread<'_, '_> {
    fn read(self, budget: &mut Budget) -> Result<Box<dyn Values>, SnapshotError> {
        let Self { part, reader, entities, values } = self;
        reader.read(entities, values, budget).map_err(|error| match error {
            ReadError::Value(..) if budget.refusal().is_some() => {
                budget.refusal().expect("it was asked just now")
            }
            ReadError::Value(id, error) => part.wrong(format!("{error}, at {id}")),
            ReadError::Twice(id) => part.wrong(format!("index {} occurs twice", id.index())),
        })
    }
}

fn read_ids(
    bytes: &mut Bytes<'_>,
    book: Option<&Entities>,
    entry: &Entry,
    earlier: &[Option<usize>],
) -> Result<EntityList, SnapshotError> {
    let start = bytes.at();
    let count = bytes.u64()?;
    let kind = bytes.u8()?;
    // As the writer does it: otherwise few bytes could stand for many ids.
    if kind != ids::LISTED && entry.plain_size.is_none_or(|size| size < LEAST_TO_OMIT) {
        return Err(bytes.wrong_at(start, "the ids of such small values are not left out"));
    }
    let entities: EntityList = match (kind, book) {
        (ids::LISTED, _) => read_listed(bytes, start, count)?.into(),
        (ids::LIVING, Some(book)) if book.is_full() => EntityList::consecutive(book.living()),
        (ids::LIVING, Some(book)) => book.living().into(),
        (ids::EARLIER, _) => {
            let nth = bytes.u32()? as usize;
            let Some(&Some(listed)) = earlier.get(nth) else {
                return Err(bytes.wrong("no earlier column has such a list"));
            };
            let mut there = bytes.back_at(listed);
            let count = there.u64()?;
            there.u8()?;
            read_listed(&mut there, listed, count)?.into()
        }
        (other, _) => return Err(bytes.wrong(format!("there is no list of kind {other}"))),
    };
    if entities.len() as u64 != count {
        let why = format!("{count} values belong to {} entities", entities.len());
        return Err(bytes.wrong_at(start, why));
    }
    // Whose entities a delta speaks of, the world will see.
    let is_dead = |entity: &&Entity| book.is_some_and(|book| !book.is_alive(**entity));
    if kind != ids::LIVING
        && let Some(dead) = entities.as_slice().iter().find(is_dead)
    {
        return Err(bytes.wrong_at(start, format!("{dead} has a value and is not alive")));
    }
    Ok(entities)
}

/// An index that occurs twice.
fn repeated_index(entities: &[Entity]) -> Option<u32> {
    let mut indices: Vec<u32> = entities.iter().map(|entity| entity.index()).collect();
    indices.sort_unstable();
    indices.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn read_listed(
    bytes: &mut Bytes<'_>,
    start: usize,
    count: u64,
) -> Result<Vec<Entity>, SnapshotError> {
    match usize::try_from(count) {
        Ok(count) if count <= bytes.left() / 8 => bytes.ids(count),
        _ => {
            let left = bytes.left();
            let why = format!("there cannot be {count} of them: {left} bytes are left");
            Err(bytes.wrong_at(start, why))
        }
    }
}

/// Finds the bytes of each value.
fn read_values<'a>(
    bytes: &mut Bytes<'a>,
    entry: &Entry,
    count: usize,
    budget: &mut Budget,
) -> Result<Source<'a>, SnapshotError> {
    let start = bytes.at();
    let length = bytes.count(1)?;
    let block = bytes.take(length)?;
    if let Some(size) = entry.plain_size {
        if count.checked_mul(size as usize) != Some(length) {
            let why = format!("{length} bytes are not {count} values of {size} bytes");
            return Err(bytes.wrong_at(start, why));
        }
        return Ok(Source::Block(block));
    }
    if count > length / 4 {
        let why = format!("{length} bytes are fewer than {count} values take");
        return Err(bytes.wrong_at(start, why));
    }
    budget.spend(count.saturating_mul(size_of::<&[u8]>()))?;
    let mut values = Vec::with_capacity(count);
    let mut inner = Bytes::new(block);
    for nth in 0..count {
        let value = inner.u32().and_then(|length| inner.take(length as usize));
        let Ok(value) = value else {
            return Err(bytes.wrong_at(start + 8 + inner.at(), format!("value {nth} is cut off")));
        };
        values.push(value);
    }
    match inner.left() {
        0 => Ok(Source::Each(values)),
        left => Err(bytes.wrong(format!("{left} bytes are left over"))),
    }
}

fn raw(entry: &Entry, entities: &[Entity], values: &Source<'_>) -> RawColumn {
    let size = entry.plain_size.map_or(0, |size| size as usize);
    let value = |nth: usize| match &values {
        Source::Each(values) => values[nth].to_vec(),
        Source::Block(block) => block[nth * size..(nth + 1) * size].to_vec(),
    };
    // Not collected twice: for small values these lists are what takes the memory.
    let values = entities.iter().enumerate().map(|(nth, &entity)| (entity, value(nth))).collect();
    RawColumn {
        name: entry.name.clone(),
        version: entry.version,
        plain_size: entry.plain_size,
        values,
    }
}
