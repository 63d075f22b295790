//! Everything of a world that a snapshot keeps, open for reading.

use super::column::{Column, ComponentType};
use super::error::SnapshotError;
use super::raw::{RawColumn, RawSections};
use super::save::Saver;
use super::single::Single;
use crate::entity::{Entities, Entity};
use crate::world::World;

/// A world as it is saved: all guards are held, so it is one moment of it.
pub(super) struct Gathered<'w> {
    pub(super) book: Book<'w>,
    pub(super) columns: Vec<GatheredColumn<'w>>,
    pub(super) singles: Vec<(&'static str, u32, Box<dyn Single + 'w>)>,
    pub(super) raw: Vec<RawColumn>,
    /// Where entities belong, as numbers, if everything is saved that this is about.
    pub(super) homes: Option<Vec<u64>>,
}

/// Who lives.
pub(super) enum Book<'w> {
    /// All ids: the living, the dead, and the order in which these come back.
    Whole(BookRef<'w>),
    /// Some that were chosen.
    Chosen(Vec<Entity>),
}

/// A book that is borrowed, or a copy in which reserved ids live.
pub(super) enum BookRef<'w> {
    Borrowed(&'w Entities),
    Copied(Box<Entities>),
}

impl std::ops::Deref for BookRef<'_> {
    type Target = Entities;

    fn deref(&self) -> &Entities {
        match self {
            Self::Borrowed(book) => book,
            Self::Copied(book) => book,
        }
    }
}

/// One component of a world.
pub(super) struct GatheredColumn<'w> {
    pub(super) name: &'static str,
    pub(super) version: u32,
    pub(super) is_tracked: bool,
    pub(super) values: Box<dyn Column + 'w>,
    /// The entities that were chosen, if not all.
    chosen: Option<Vec<Entity>>,
}

impl<'w> GatheredColumn<'w> {
    /// Some values of a component.
    pub(super) fn chosen(
        component: &dyn ComponentType,
        values: Box<dyn Column + 'w>,
        chosen: Vec<Entity>,
    ) -> Self {
        Self {
            name: component.name(),
            version: component.version(),
            is_tracked: component.is_tracked(),
            values,
            chosen: Some(chosen),
        }
    }
}

impl GatheredColumn<'_> {
    /// The entities whose values are kept, in packed order.
    pub(super) fn entities(&self) -> &[Entity] {
        self.chosen.as_deref().unwrap_or_else(|| self.values.entities())
    }

    /// Whether all values are kept.
    pub(super) fn is_whole(&self) -> bool {
        self.chosen.is_none()
    }
}

impl<'w> Gathered<'w> {
    /// Opens what is to be saved.
    #[track_caller]
    pub(super) fn of(world: &'w World, saver: &Saver<'_>) -> Result<Self, SnapshotError> {
        let types = saver.types();
        if !saver.chooses_names() {
            types.check_complete(world)?;
        }
        let book = world.book();
        let book = match book.has_reserved() {
            true => BookRef::Copied(Box::new(book.copy())),
            false => BookRef::Borrowed(book),
        };
        let chosen = |entities: &[Entity]| -> Option<Vec<Entity>> {
            let filter = saver.entity_filter()?;
            Some(entities.iter().copied().filter(|&entity| filter(entity)).collect())
        };
        let (mut columns, mut ids) = (Vec::new(), Vec::new());
        for component in types.in_order(world) {
            if !saver.wants(component.name()) {
                continue;
            }
            let Some(values) = component.open(world)? else { continue };
            let chosen = chosen(values.entities());
            ids.push(component.type_id());
            columns.push(GatheredColumn {
                name: component.name(),
                version: component.version(),
                is_tracked: component.is_tracked(),
                values,
                chosen,
            });
        }
        let mut singles = Vec::new();
        for resource in types.resources() {
            if saver.wants(resource.name())
                && let Some(value) = resource.open(world)?
            {
                singles.push((resource.name(), resource.version(), value));
            }
        }
        let raw = RawSections::living_of(world, saver);
        for (nth, kept) in raw.iter().enumerate() {
            let reader = types.column_reader(&kept.name, kept.version);
            let target = reader.map_or(kept.name.as_str(), |reader| reader.target());
            let same =
                |other: &RawColumn| (&other.name, other.version) == (&kept.name, kept.version);
            if columns.iter().any(|column| column.name == target) || raw[..nth].iter().any(same) {
                let why = "some values of it were kept as bytes when they were loaded; load that \
                           snapshot again with its type registered"
                    .to_owned();
                return Err(SnapshotError::Unwritable { name: kept.name.clone(), why });
            }
        }
        let book = match saver.entity_filter() {
            None => Book::Whole(book),
            Some(filter) => Book::Chosen(book.iter().filter(|&entity| filter(entity)).collect()),
        };
        let rows: Vec<_> = columns.iter().map(|column| column.values.rows()).collect();
        let is_whole = matches!(book, Book::Whole(_)) && raw.is_empty();
        let homes = is_whole.then(|| world.record_homes(&ids, &rows)).flatten();
        Ok(Self { book, columns, singles, raw, homes })
    }
}
