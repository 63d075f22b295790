//! From a world to bytes.

use std::io::Write;

use super::super::codec::is_sample;
use super::super::column::Column;
use super::super::error::SnapshotError;
use super::super::gather::{Book, Gathered, GatheredColumn};
use super::super::raw::RawColumn;
use super::super::save::Reporter;
use super::super::together::{Size, beside};
use super::bytes::PIECE;
use super::{FORMAT, FORMAT_WITH_HOMES, LEAST_TO_OMIT, MAGIC, Sink, entry, form, ids, kind};
use crate::entity::{Entities, Entity};

/// Writes a whole snapshot.
pub(in super::super) fn write(
    gathered: &Gathered<'_>,
    writer: impl Write,
    report: &mut Reporter<'_>,
) -> Result<(), SnapshotError> {
    let mut sink = Sink::new(writer);
    let what = match gathered.book {
        Book::Whole(_) => kind::WHOLE,
        Book::Chosen(_) => kind::CHOSEN,
    };
    let format = if gathered.homes.is_some() { FORMAT_WITH_HOMES } else { FORMAT };
    begin_as(&mut sink, format, what)?;
    let Gathered { columns, singles, raw, .. } = gathered;
    sink.u32((columns.len() + raw.len() + singles.len()) as u32)?;
    write_schema(&mut sink, columns)?;
    for column in raw {
        sink.u8(entry::COMPONENT)?;
        sink.name(&column.name)?;
        sink.u32(column.version)?;
        sink.u8(if column.plain_size.is_some() { form::BLOCK } else { form::EACH })?;
        sink.u32(column.plain_size.unwrap_or(0))?;
    }
    for (name, version, _) in singles {
        sink.u8(entry::RESOURCE)?;
        sink.name(name)?;
        sink.u32(*version)?;
        sink.u8(form::EACH)?;
        sink.u32(0)?;
    }
    match &gathered.book {
        Book::Whole(book) => {
            let living = write_book(&mut sink, book, columns)?;
            write_columns(&mut sink, columns, &living, report)?;
        }
        Book::Chosen(entities) => {
            sink.u64(entities.len() as u64)?;
            sink.ids(entities)?;
            write_columns(&mut sink, columns, &[], report)?;
        }
    }
    for column in raw {
        write_raw(&mut sink, column)?;
    }
    let mut bytes = Vec::new();
    for (name, _, value) in singles {
        bytes.clear();
        let written = value.encode(&mut bytes).and_then(|()| value.read_back(&bytes));
        written.map_err(|error| unwritable(name, error.to_string()))?;
        sink.u64(bytes.len() as u64)?;
        sink.put(&bytes)?;
        report.written(name, 1);
    }
    if let Some(homes) = &gathered.homes {
        sink.u64(homes.len() as u64)?;
        sink.numbers(homes.iter().copied())?;
    }
    sink.finish()
}

pub(in super::super) fn begin<W: Write>(
    sink: &mut Sink<W>,
    kind: u32,
) -> Result<(), SnapshotError> {
    begin_as(sink, FORMAT, kind)
}

fn begin_as<W: Write>(sink: &mut Sink<W>, format: u32, kind: u32) -> Result<(), SnapshotError> {
    sink.put(&MAGIC)?;
    sink.u32(format)?;
    sink.u32(kind)
}

/// Writes the entries of components, without their number.
pub(in super::super) fn write_schema<W: Write>(
    sink: &mut Sink<W>,
    columns: &[GatheredColumn<'_>],
) -> Result<(), SnapshotError> {
    for column in columns {
        let plain = column.values.plain_size();
        sink.u8(entry::COMPONENT)?;
        sink.name(column.name)?;
        sink.u32(column.version)?;
        sink.u8(if plain.is_some() { form::BLOCK } else { form::EACH })?;
        let size = u32::try_from(plain.unwrap_or(0));
        let size =
            size.map_err(|_| unwritable(column.name, "a value has more than 4 GiB".into()))?;
        sink.u32(size)?;
    }
    Ok(())
}

/// Writes the book, and finds out meanwhile which columns have all that live, in order.
fn write_book<W: Write>(
    sink: &mut Sink<W>,
    book: &Entities,
    columns: &[GatheredColumn<'_>],
) -> Result<Vec<bool>, SnapshotError> {
    let record = book.record();
    for number in record.range {
        sink.u32(number)?;
    }
    sink.u32(u32::from(record.fixed))?;
    sink.u32(record.last_version)?;
    sink.u32(record.free)?;
    sink.u64(book.near_slots().len() as u64)?;
    let lists: Vec<&[Entity]> = columns.iter().map(GatheredColumn::entities).collect();
    let size = Size::Made(book.len());
    let (living, written) =
        beside(size, || have_all(book, &lists), || write_near_slots(sink, book));
    written?;
    sink.u64(record.far.len() as u64)?;
    for (index, bits) in record.far {
        sink.u32(index)?;
        sink.u64(bits)?;
    }
    sink.u64(record.demanded.len() as u64)?;
    for (index, threaded, floor) in record.demanded {
        sink.u32(index)?;
        sink.u8(u8::from(threaded.is_some()))?;
        sink.u32(threaded.unwrap_or(0))?;
        sink.u32(floor)?;
    }
    sink.u64(record.habits.len() as u64)?;
    for (key, habit) in record.habits {
        sink.u64(key)?;
        sink.u32(habit)?;
    }
    Ok(living)
}

fn write_near_slots<W: Write>(sink: &mut Sink<W>, book: &Entities) -> Result<(), SnapshotError> {
    let mut piece = [0_u64; PIECE / 8];
    let mut done = 0;
    loop {
        let count = book.copy_near(done, &mut piece);
        if count == 0 {
            return Ok(());
        }
        piece[..count].iter_mut().for_each(|number| *number = number.to_le());
        sink.put(bytemuck::cast_slice(&piece[..count]))?;
        done += count;
    }
}

/// Which of these lists have all that live, in the order of the book.
fn have_all(book: &Entities, lists: &[&[Entity]]) -> Vec<bool> {
    // All lists piece by piece: so that of the book is read once.
    const PIECE: usize = 512;
    let may_have_all = |list: &&[Entity]| book.is_full() && list.len() == book.len();
    let mut living: Vec<bool> = lists.iter().map(may_have_all).collect();
    for start in (0..book.len()).step_by(PIECE) {
        let end = book.len().min(start + PIECE);
        let mut candidates =
            lists.iter().zip(&mut living).filter(|(_, living)| **living).peekable();
        if candidates.peek().is_none() {
            break;
        }
        candidates.for_each(|(list, living)| *living = book.are_near(start, &list[start..end]));
    }
    living
}

/// Writes the ids and values of components.
///
/// `living` says whose ids need not be written, being those of all that live.
pub(in super::super) fn write_columns<W: Write>(
    sink: &mut Sink<W>,
    columns: &[GatheredColumn<'_>],
    living: &[bool],
    report: &mut Reporter<'_>,
) -> Result<(), SnapshotError> {
    let mut listed: Vec<usize> = Vec::new();
    for (nth, column) in columns.iter().enumerate() {
        let entities = column.entities();
        report.written(column.name, 0);
        sink.u64(entities.len() as u64)?;
        let may_omit = may_omit_ids(&*column.values, column.is_tracked);
        // Only lists that are written can be referred to.
        let same = |&&nth: &&usize| columns[nth].entities() == entities;
        if may_omit && living.get(nth) == Some(&true) {
            sink.u8(ids::LIVING)?;
        } else if let Some(&earlier) = listed.iter().find(same).filter(|_| may_omit) {
            sink.u8(ids::EARLIER)?;
            sink.u32(earlier as u32)?;
        } else {
            sink.u8(ids::LISTED)?;
            sink.ids(entities)?;
            listed.push(nth);
        }
        write_values(sink, column, report)?;
    }
    Ok(())
}

/// Whether the values of a column take so many bytes that a reader, who must not use more than
/// four times the bytes it is given, gets along without those of the ids.
fn may_omit_ids(values: &dyn Column, is_tracked: bool) -> bool {
    let overhead = if is_tracked { 33 } else { 16 };
    let fits = |size| size >= LEAST_TO_OMIT as usize && overhead + size <= 4 * size;
    values.plain_size().is_some_and(fits)
}

fn write_values<W: Write>(
    sink: &mut Sink<W>,
    column: &GatheredColumn<'_>,
    report: &mut Reporter<'_>,
) -> Result<(), SnapshotError> {
    let whole = column.values.plain_bytes().filter(|_| column.is_whole());
    if let Some(block) = whole {
        sink.u64(block.len() as u64)?;
        sink.put(&block)?;
        report.written(column.name, column.entities().len());
        return Ok(());
    }
    let is_plain = column.values.plain_size().is_some();
    let mut bytes = Vec::new();
    for (nth, &entity) in column.entities().iter().enumerate() {
        let start = bytes.len();
        if !is_plain {
            bytes.extend_from_slice(&[0; 4]);
        }
        let written = column.values.encode(entity, &mut bytes);
        written.map_err(|error| unwritable(column.name, format!("{error}, at {entity}")))?;
        if !is_plain {
            if is_sample(nth) {
                let readable = column.values.read_back(&bytes[start + 4..]);
                readable.map_err(|why| unwritable(column.name, format!("{why}, at {entity}")))?;
            }
            let length = u32::try_from(bytes.len() - start - 4)
                .map_err(|_| unwritable(column.name, format!("more than 4 GiB, at {entity}")))?;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        report.written(column.name, 1);
    }
    sink.u64(bytes.len() as u64)?;
    sink.put(&bytes)
}

fn write_raw<W: Write>(sink: &mut Sink<W>, column: &RawColumn) -> Result<(), SnapshotError> {
    sink.u64(column.values.len() as u64)?;
    sink.u8(ids::LISTED)?;
    sink.numbers(column.values.iter().map(|(entity, _)| entity.to_bits()))?;
    let prefix = if column.plain_size.is_some() { 0 } else { 4 };
    let length: usize = column.values.iter().map(|(_, value)| value.len() + prefix).sum();
    sink.u64(length as u64)?;
    for (_, value) in &column.values {
        if prefix > 0 {
            sink.u32(value.len() as u32)?;
        }
        sink.put(value)?;
    }
    Ok(())
}

fn unwritable(name: &str, why: String) -> SnapshotError {
    SnapshotError::Unwritable { name: name.to_owned(), why }
}
