//! Many entities of one kind, at once.
//!
//! Spawning one by one looks up each pool and writes each sparse map once per entity. A batch
//! borrows the pools of its bundle, all at once, pushes values row by row, and enters
//! the entities into the sets column by column, some hundreds at a time. Between a push and the
//! next flush a map holds values whose entities it does not know (P1 is suspended); the world is borrowed
//! then, and dropping the batch flushes, also while unwinding.
//!
//! What a bundle that was written by hand is lent has the lifetime of its batch, and no other: two batches
//! have two types of writers and rows, and neither outlives its batch.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;

use super::bundle::Bundle;
use super::pool_box::Map;
use super::pools::{Lender, Pools};
use super::{ComponentId, ComponentVisitor, World};
use crate::component::Component;
use crate::entity::{Entities, Entity, Newcomers};

/// What a bundle that was written by hand may get wrong.
const ONCE: &str = "a bundle writes each component once in each row";

/// Rows between two flushes at most: their ids stay in the first-level cache.
const ROWS: usize = 1024;

/// Rows that are brought to life at once where nobody knows how many there will be. From then on twice as many
/// each time: those that are not needed are taken back.
const FEW: usize = 32;

/// The pools of a bundle, lent to a batch.
///
/// Implemented for what [`Bundle::Writer`] can be: the writer of a component, and tuples of
/// writers.
///
/// # Soundness
/// Sealed: a batch trusts it to count what was written, and to pair it with the entities of the rows (P1).
pub trait BundleWriter<'w>: Sized + Sealed {
    /// Borrows the pools.
    fn open(gate: &mut BatchGate<'w>) -> Self;

    /// Enters the entities whose values were written since the last flush.
    fn flush(&mut self, rows: &Rows<'_>);

    /// Whether there are this many values of each component since the last flush.
    fn has_written(&self, rows: usize) -> bool;

    /// Shows the components whose pools it borrows; a bundle may show others.
    fn visit<V: ComponentVisitor>(visitor: &mut V);
}

/// Keeps [`BundleWriter`] to this module.
pub trait Sealed {}

/// The entity that a batch is at: who writes a component must show it.
///
/// Only the batch makes one, and it does not outlive the write, so a bundle cannot write for
/// another entity, nor twice for the same; nor for one of another batch, whose `'w` is not the same.
#[derive(Debug)]
pub struct Row<'w> {
    entity: Entity,
    /// Its number since the last flush.
    number: usize,
    batch: Brand<'w>,
}

/// Stands for one batch: invariant, so that the lifetimes of two are never taken for each other.
type Brand<'w> = PhantomData<fn(&'w ()) -> &'w ()>;

/// The entities of the rows since the last flush. Only the batch makes one, so that nobody else
/// can enter entities into a map.
#[derive(Debug)]
pub struct Rows<'a> {
    entities: &'a [Entity],
    /// Whether their indices follow each other.
    consecutive: bool,
}

/// The gate, opened for a batch. Writers pass through it; it has no public methods.
#[derive(Debug)]
pub struct BatchGate<'w> {
    pools: Lender<'w>,
    signature: u64,
}

/// The [`BundleWriter`] of a component.
#[derive(Debug)]
pub struct PoolWriter<'w, T: Component> {
    map: &'w mut Map<T>,
    /// Values pushed since the last flush.
    written: usize,
    batch: Brand<'w>,
}

impl<'w, T: Component> PoolWriter<'w, T> {
    /// Takes the value of this row in.
    ///
    /// # Panics
    /// If the row's value is in already, or that of a row before is not.
    #[inline]
    pub(super) fn write(&mut self, row: &Row<'w>, value: T) {
        // Values and entities must pair up when the row is flushed (P1), whatever a bundle that
        // was written by hand does.
        assert!(row.number == self.written, "{ONCE}");
        self.map.push_ahead(row.entity, value);
        self.written += 1;
    }
}

impl<T: Component> Sealed for PoolWriter<'_, T> {}

impl<'w, T: Component> BundleWriter<'w> for PoolWriter<'w, T> {
    fn open(gate: &mut BatchGate<'w>) -> Self {
        let now = gate.pools.now();
        let pool = gate.pools.lend::<T>();
        gate.signature |= pool.tag.bit;
        Self { map: pool.parts(now).0, written: 0, batch: PhantomData }
    }

    #[inline]
    fn flush(&mut self, rows: &Rows<'_>) {
        // Fewer values than entities only if a write has unwound.
        let entities = &rows.entities[..self.written];
        self.map.catch_up(Newcomers::Listed { entities, are_consecutive: rows.consecutive });
        self.written = 0;
    }

    #[inline]
    fn has_written(&self, rows: usize) -> bool {
        self.written == rows
    }

    fn visit<V: ComponentVisitor>(visitor: &mut V) {
        visitor.visit::<T>();
    }
}

/// `BundleWriter` for a tuple.
macro_rules! tuple_writer {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Sealed),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<'w, $($name: BundleWriter<'w>),*> BundleWriter<'w> for ($($name,)*) {
            fn open(gate: &mut BatchGate<'w>) -> Self {
                ($($name::open(gate),)*)
            }

            #[inline]
            fn flush(&mut self, rows: &Rows<'_>) {
                $(self.$at.flush(rows);)*
            }

            #[inline]
            fn has_written(&self, rows: usize) -> bool {
                true $(&& self.$at.has_written(rows))*
            }

            fn visit<V: ComponentVisitor>(visitor: &mut V) {
                $($name::visit(visitor);)*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_writer);

/// Brings an entity to life for each of `bundles`, and shows it to `each`. There are about `expected`.
///
/// The writer of `B` must not have a component twice.
#[track_caller]
pub(super) fn spawn_rows<B: Bundle>(
    world: &mut World,
    expected: usize,
    bundles: impl Iterator<Item = B>,
    mut each: impl FnMut(Entity),
) {
    world.entities.reserve_slots(expected);
    let mut reserve = Reserve { pools: &mut world.pools, additional: expected, known: vec![] };
    B::Writer::visit(&mut reserve);
    let mut ending = Ending { known: reserve.known, world, signature: 0, last: None };
    let World { entities, pools, .. } = &mut *ending.world;
    let mut gate = BatchGate { pools: pools.lender(), signature: 0 };
    let writer = B::Writer::open(&mut gate);
    ending.signature = gate.signature;
    let mut batch: Batch<'_, B> = Batch {
        entities,
        writer,
        signature: gate.signature,
        row: Vec::with_capacity(expected.min(ROWS)),
        consecutive: false,
        written: 0,
        expected,
        last: &mut ending.last,
    };
    for bundle in bundles {
        each(batch.spawn(bundle));
    }
}

/// A batch under way.
struct Batch<'w, B: Bundle> {
    entities: &'w mut Entities,
    writer: B::Writer<'w>,
    signature: u64,
    /// Living entities: those whose values were written since the last flush, then those that
    /// wait for theirs.
    row: Vec<Entity>,
    /// Whether the indices of the row follow each other.
    consecutive: bool,
    written: usize,
    /// Rows to come, as far as is known.
    expected: usize,
    /// Who was spawned last, when it ends.
    last: &'w mut Option<Entity>,
}

impl<B: Bundle> Batch<'_, B> {
    #[inline]
    #[track_caller]
    fn spawn(&mut self, bundle: B) -> Entity {
        if self.written == self.row.len() {
            self.next_row();
        }
        let entity = self.row[self.written];
        let row = Row { entity, number: self.written, batch: PhantomData };
        // Counted before it is written: if the write unwinds, it is an entity all the same.
        self.written += 1;
        bundle.write(&mut self.writer, &row);
        assert!(self.writer.has_written(self.written), "{ONCE}");
        entity
    }

    /// Enters the row that is written and brings the next one to life.
    #[inline(never)]
    #[track_caller]
    fn next_row(&mut self) {
        self.writer.flush(&Rows { entities: &self.row, consecutive: self.consecutive });
        let wanted = match self.expected {
            0 => (2 * self.row.len()).clamp(FEW, ROWS),
            expected => expected.min(ROWS),
        };
        self.row.clear();
        self.written = 0;
        let claimed = self.entities.claim_row(wanted, self.signature, &mut self.row);
        self.consecutive = claimed.unwrap_or_else(|error| panic!("{error}"));
        self.expected = self.expected.saturating_sub(self.row.len());
    }
}

impl<B: Bundle> Drop for Batch<'_, B> {
    // Not inlined: it is dropped in two ways, and this is once for both.
    #[inline(never)]
    fn drop(&mut self) {
        self.entities.unclaim(&self.row[self.written..]);
        self.row.truncate(self.written);
        self.writer.flush(&Rows { entities: &self.row, consecutive: self.consecutive });
        *self.last = self.row.last().copied();
    }
}

/// What is left to do when a batch has given the pools back.
struct Ending<'w> {
    world: &'w mut World,
    /// Its components, and how many had each before.
    known: Vec<(ComponentId, usize)>,
    signature: u64,
    last: Option<Entity>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // The write of the entity spawned last may have unwound.
        let components = || self.known.iter().map(|&(id, _)| id);
        let torn = self.last.filter(|&entity| !sign(self.world, components(), entity));
        let Some(&(component, first)) = self.known.first() else { return };
        let World { entities, pools, .. } = &mut *self.world;
        if pools.groups.is_empty() && !pools.homes.is_active() {
            return;
        }
        let new = pools.at_mut(component.index()).map_mut().entities()[first..].to_vec();
        pools.homes.note_all(new.iter().copied());
        // It is the last one, if it is there, and not like the others.
        let whole = new.len() - usize::from(torn.is_some() && new.last() == torn.as_ref());
        pools.born(&new[..whole], self.signature);
        if let Some(entity) = torn {
            let signature = entities.word(entity).map_or(0, |word| word.load(Relaxed));
            pools.born(&[entity], signature);
        }
    }
}

/// Signs an entity that signs for all of these components for what it really has; says whether that is all.
///
/// By their numbers, because it is needed while unwinding: no type is asked for its own.
pub(super) fn sign(
    world: &mut World,
    components: impl Iterator<Item = ComponentId>,
    entity: Entity,
) -> bool {
    let World { entities, pools, .. } = world;
    let Some(word) = entities.word_mut(entity) else { return false };
    let mut has_all = true;
    for id in components {
        let pool = pools.at_mut(id.index());
        if !pool.map_mut().contains(entity) {
            *word &= pool.tag().keep;
            has_all = false;
        }
    }
    has_all
}

/// Bytes that the entity of one bundle takes, about: its slot, and in each pool its value and the books.
pub(super) fn row_bytes<B: Bundle>() -> usize {
    /// The slot of an id; and of a pool the id, its slot there, and two ticks.
    const ID: usize = 16;
    const BOOKS: usize = 32;
    struct Sum(usize);
    impl ComponentVisitor for Sum {
        fn visit<T: Component>(&mut self) {
            self.0 = self.0.saturating_add(size_of::<T>()).saturating_add(BOOKS);
        }
    }
    let mut sum = Sum(ID);
    B::Writer::visit(&mut sum);
    sum.0
}

/// Makes room in the pools of a bundle, before anything is changed: a storage of the user's may unwind.
struct Reserve<'w> {
    pools: &'w mut Pools,
    additional: usize,
    /// The components, and how many have each.
    known: Vec<(ComponentId, usize)>,
}

impl ComponentVisitor for Reserve<'_> {
    fn visit<T: Component>(&mut self) {
        let pool = self.pools.get_or_create::<T>();
        let map = pool.cell.get_mut();
        map.reserve(self.additional);
        self.known.push((pool.tag.id, map.len()));
    }
}
