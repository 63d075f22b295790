//! Many entities of one kind, at once.
//!
//! Spawning one by one looks up each pool and writes each sparse map once per entity. A batch
//! takes the pools' maps out of the world while it lasts, pushes values row by row, and enters
//! the entities into the sets column by column, some hundreds at a time. Between a push and the
//! next flush a map holds values whose entities it does not know (P1 is suspended); nobody sees
//! it then, and dropping the batch flushes, also while unwinding.

use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;

use super::bundle::Bundle;
use super::gate::Gate;
use super::pool_box::Map;
use super::pools::Pools;
use super::{ComponentVisitor, World};
use crate::component::Component;
use crate::entity::{Entity, Newcomers};

/// What a bundle that was written by hand may get wrong.
const ONCE: &str = "a bundle writes each component once in each row";

/// Rows between two flushes at most: their ids stay in the first-level cache.
const ROWS: usize = 1024;

/// Rows that are brought to life at once where nobody knows how many there will be. From then on twice as many
/// each time: those that are not needed are taken back.
const FEW: usize = 32;

/// The maps of a bundle, out of the world for a batch.
///
/// Implemented for what [`Bundle::Writer`] can be: the writer of a component, and tuples of
/// writers. Sealed: the world trusts writers to give the maps back.
pub trait BundleWriter: Sized + Sealed {
    /// Takes the maps out of their pools.
    fn open(gate: &mut BatchGate<'_>) -> Self;

    /// Enters the entities whose values were written since the last flush.
    fn flush(&mut self, rows: &Rows<'_>);

    /// Puts the maps back.
    fn close(self, gate: &mut BatchGate<'_>);

    /// Whether there are this many values of each component since the last flush.
    fn has_written(&self, rows: usize) -> bool;

    /// Shows the components whose maps it takes; a bundle may show others.
    fn visit<V: ComponentVisitor>(visitor: &mut V);
}

/// Keeps [`BundleWriter`] to this module.
pub trait Sealed {}

/// The entity that a batch is at: who writes a component must show it.
///
/// Only the batch makes one, and it does not outlive the write, so a bundle cannot write for
/// another entity, nor twice for the same.
#[derive(Debug)]
pub struct Row<'a> {
    entity: Entity,
    /// Its number since the last flush.
    number: usize,
    lent: PhantomData<&'a mut ()>,
}

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
    pools: &'w mut Pools,
    signature: u64,
}

/// The [`BundleWriter`] of a component.
#[derive(Debug)]
pub struct PoolWriter<T: Component> {
    map: Map<T>,
    /// Values pushed since the last flush.
    written: usize,
}

impl<T: Component> PoolWriter<T> {
    /// Takes the value of this row in.
    ///
    /// # Panics
    /// If the row's value is in already, or that of a row before is not.
    #[inline]
    pub(super) fn write(&mut self, row: &Row<'_>, value: T) {
        // Values and entities must pair up when the row is flushed (P1), whatever a bundle that
        // was written by hand does.
        assert!(row.number == self.written, "{ONCE}");
        self.map.push_ahead(row.entity, value);
        self.written += 1;
    }
}

impl<T: Component> Sealed for PoolWriter<T> {}

impl<T: Component> BundleWriter for PoolWriter<T> {
    fn open(gate: &mut BatchGate<'_>) -> Self {
        let now = gate.pools.clock.now;
        let pool = gate.pools.get_or_create::<T>();
        gate.signature |= pool.tag.bit;
        Self { map: mem::take(pool.parts(now).0), written: 0 }
    }

    #[inline]
    fn flush(&mut self, rows: &Rows<'_>) {
        // Fewer values than entities only if a write has unwound.
        let entities = &rows.entities[..self.written];
        self.map.catch_up(Newcomers::Listed { entities, are_consecutive: rows.consecutive });
        self.written = 0;
    }

    fn close(self, gate: &mut BatchGate<'_>) {
        *gate.pools.get_or_create::<T>().cell.get_mut() = self.map;
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
        impl<$($name: BundleWriter),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: BundleWriter),*> BundleWriter for ($($name,)*) {
            fn open(gate: &mut BatchGate<'_>) -> Self {
                ($($name::open(gate),)*)
            }

            #[inline]
            fn flush(&mut self, rows: &Rows<'_>) {
                $(self.$at.flush(rows);)*
            }

            fn close(self, gate: &mut BatchGate<'_>) {
                $(self.$at.close(gate);)*
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

/// A batch under way.
pub(super) struct Batch<'w, B: Bundle> {
    world: &'w mut World,
    /// `None` only while the batch is being dropped.
    writer: Option<B::Writer>,
    signature: u64,
    /// Living entities: those whose values were written since the last flush, then those that
    /// wait for theirs.
    row: Vec<Entity>,
    /// Whether the indices of the row follow each other.
    consecutive: bool,
    written: usize,
    /// Rows to come, as far as is known.
    expected: usize,
    /// The first component, and how many had it before.
    first: Option<(usize, usize)>,
}

impl<'w, B: Bundle> Batch<'w, B> {
    /// Starts a batch of about `expected` entities. The writer of `B` must not have a component
    /// twice.
    pub(super) fn open(world: &'w mut World, expected: usize) -> Self {
        world.entities.reserve_slots(expected);
        // Before the first map is taken out: a storage of the user's may unwind.
        let mut reserve = Reserve { pools: &mut world.pools, additional: expected, first: None };
        B::Writer::visit(&mut reserve);
        let first = reserve.first;
        let mut gate = BatchGate { pools: &mut world.pools, signature: 0 };
        let writer = Some(B::Writer::open(&mut gate));
        let signature = gate.signature;
        let row = Vec::with_capacity(expected.min(ROWS));
        Self { world, writer, signature, row, consecutive: false, written: 0, expected, first }
    }

    #[inline]
    #[track_caller]
    pub(super) fn spawn(&mut self, bundle: B) -> Entity {
        if self.written == self.row.len() {
            self.next_row();
        }
        let entity = self.row[self.written];
        let row = Row { entity, number: self.written, lent: PhantomData };
        // Counted before it is written: if the write unwinds, it is an entity all the same.
        self.written += 1;
        let writer = self.writer.as_mut().expect("a batch under way has its writer");
        bundle.write(writer, &row);
        assert!(writer.has_written(self.written), "{ONCE}");
        entity
    }

    /// Enters the row that is written and brings the next one to life.
    #[inline(never)]
    #[track_caller]
    fn next_row(&mut self) {
        let writer = self.writer.as_mut().expect("a batch under way has its writer");
        writer.flush(&Rows { entities: &self.row, consecutive: self.consecutive });
        let wanted = match self.expected {
            0 => (2 * self.row.len()).clamp(FEW, ROWS),
            expected => expected.min(ROWS),
        };
        self.row.clear();
        self.written = 0;
        let claimed = self.world.entities.claim_row(wanted, self.signature, &mut self.row);
        self.consecutive = claimed.unwrap_or_else(|error| panic!("{error}"));
        self.expected = self.expected.saturating_sub(self.row.len());
    }
}

impl<B: Bundle> Batch<'_, B> {
    /// Tells the groups of all entities of the batch, of which one may not have got all.
    fn group(&mut self, torn: Option<Entity>) {
        let Some((component, first)) = self.first else { return };
        let World { entities, pools, .. } = &mut *self.world;
        if pools.groups.is_empty() {
            return;
        }
        let new = pools.at_mut(component).map_mut().entities()[first..].to_vec();
        // It is the last one, if it is there, and not like the others.
        let whole = new.len() - usize::from(torn.is_some() && new.last() == torn.as_ref());
        pools.born(&new[..whole], self.signature);
        if let Some(entity) = torn {
            let signature = entities.word(entity).map_or(0, |word| word.load(Relaxed));
            pools.born(&[entity], signature);
        }
    }
}

/// Signs an entity that signs for all of `W` for what it really has; says whether that is all.
pub(super) fn sign<W: BundleWriter>(world: &mut World, entity: Entity) -> bool {
    struct Sign<'w> {
        gate: Gate<'w>,
        has_all: bool,
    }
    impl ComponentVisitor for Sign<'_> {
        fn visit<T: Component>(&mut self) {
            let pool = self.gate.pools.get_or_create::<T>();
            if !pool.cell.get_mut().contains(self.gate.entity) {
                *self.gate.word &= pool.tag.keep;
                self.has_all = false;
            }
        }
    }
    let Ok(gate) = world.gate(entity) else { return false };
    let mut sign = Sign { gate, has_all: true };
    W::visit(&mut sign);
    sign.has_all
}

impl<B: Bundle> Drop for Batch<'_, B> {
    // Not inlined: it is dropped in two ways, and this is once for both.
    #[inline(never)]
    fn drop(&mut self) {
        let Some(mut writer) = self.writer.take() else { return };
        self.world.entities.unclaim(&self.row[self.written..]);
        self.row.truncate(self.written);
        writer.flush(&Rows { entities: &self.row, consecutive: self.consecutive });
        let pools = &mut self.world.pools;
        writer.close(&mut BatchGate { pools, signature: 0 });
        // The write of the entity spawned last may have unwound.
        let last = self.row.last().copied();
        let torn = last.filter(|&entity| !sign::<B::Writer>(self.world, entity));
        self.group(torn);
    }
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

/// Makes room in the pools of a bundle.
struct Reserve<'w> {
    pools: &'w mut Pools,
    additional: usize,
    /// The first component, and how many have it.
    first: Option<(usize, usize)>,
}

impl ComponentVisitor for Reserve<'_> {
    fn visit<T: Component>(&mut self) {
        let pool = self.pools.get_or_create::<T>();
        let map = pool.cell.get_mut();
        map.reserve(self.additional);
        self.first.get_or_insert((pool.tag.id.index(), map.len()));
    }
}
