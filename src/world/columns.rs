//! Many entities of one kind, whose values come as columns.

use std::error::Error;
use std::fmt;

use super::batch::sign;
use super::bundle::repeated_component;
use super::pools::{Pools, name_of};
use super::{Bundle, ComponentId, ComponentVisitor, World};
use crate::component::Component;
use crate::entity::{OutOfEntities, Spawned};

/// Columns of values: a `Vec` of a component, or a tuple of columns.
///
/// # Soundness
/// Sealed: the world trusts a column to hold as many values as it says.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of columns",
    label = "not a `Vec` of a component, nor a tuple of these",
    note = "columns are `Vec<A>` or `(Vec<A>, Vec<B>, …)`, for components `A`, `B`, …"
)]
pub trait Columns: Sealed {
    /// What one row of the columns is.
    type Row: Bundle;

    /// Shows the length of each column.
    #[doc(hidden)]
    fn lengths(&self, each: &mut dyn FnMut(&'static str, usize));

    /// Moves the values into the pools.
    #[doc(hidden)]
    fn fill(self, pools: &mut ColumnGate<'_>);
}

/// Keeps [`Columns`] to this module.
pub trait Sealed {}

/// The gate, opened for columns. It has no public methods.
#[derive(Debug)]
pub struct ColumnGate<'w> {
    pools: &'w mut Pools,
    entities: &'w Spawned,
}

impl<T: Component> Sealed for Vec<T> {}

impl<T: Component> Columns for Vec<T> {
    type Row = T;

    fn lengths(&self, each: &mut dyn FnMut(&'static str, usize)) {
        each(name_of::<T>(), self.len());
    }

    fn fill(self, gate: &mut ColumnGate<'_>) {
        let now = gate.pools.clock.now;
        let (map, _) = gate.pools.get_or_create::<T>().parts(now);
        map.append(gate.entities, self);
    }
}

/// `Columns` for a tuple.
macro_rules! tuple_columns {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Columns),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has nothing")]
        impl<$($name: Columns),*> Columns for ($($name,)*) {
            type Row = ($($name::Row,)*);

            fn lengths(&self, each: &mut dyn FnMut(&'static str, usize)) {
                $(self.$at.lengths(each);)*
            }

            fn fill(self, gate: &mut ColumnGate<'_>) {
                $(self.$at.fill(gate);)*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple_columns);

impl World {
    /// Brings an entity to life for each row of `columns`, and returns their ids, in the order of the rows.
    ///
    /// The fastest way to fill a world: values are moved column by column, and an empty pool
    /// takes a column over as it is. The ids are an iterator; where nobody has died yet, there is no list of them.
    ///
    /// # Errors
    /// [`ColumnsError`] if the columns differ in length, name a component twice, or need more ids
    /// than are left; the values are dropped and the world is as it was.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World};
    /// # #[derive(Component)] struct Mass(f32);
    /// # #[derive(Component)] struct Charge(i32);
    /// let mut world = World::new();
    /// let columns = (vec![Mass(1.0), Mass(2.0)], vec![Charge(-1), Charge(1)]);
    /// let ids: Vec<_> = world.spawn_columns(columns)?.collect();
    /// assert_eq!(world.get::<Charge>(ids[1]).unwrap().0, 1);
    ///
    /// let unequal = (vec![Mass(1.0)], Vec::<Charge>::new());
    /// assert!(world.spawn_columns(unequal).is_err());
    /// # Ok::<(), esker::world::ColumnsError>(())
    /// ```
    pub fn spawn_columns<C: Columns>(&mut self, columns: C) -> Result<Spawned, ColumnsError> {
        let rows = common_length(&columns)?;
        if let Some(component) = repeated_component::<C::Row>() {
            return Err(ColumnsError::Repeated { component });
        }
        let mut signature = Signature { pools: &mut self.pools, bits: 0, known: vec![] };
        C::Row::visit(&mut signature);
        let Signature { bits, known, .. } = signature;

        self.entities.check_room(rows)?;
        let entities = self.entities.claim_all(rows, bits);
        // If a storage of the user's unwinds, some of the entities do not get what they sign for.
        let unsigned = Unsigned { world: self, entities: &entities, known, is_settled: false };
        let pools = &mut unsigned.world.pools;
        columns.fill(&mut ColumnGate { pools, entities: &entities });
        unsigned.settle();
        self.pools.homes.note_all(entities.clone());
        if !self.pools.groups.is_empty() {
            self.pools.born(&entities.clone().collect::<Vec<_>>(), bits);
        }
        if self.is_noted::<C::Row>() {
            self.note_spawned::<C::Row>(&entities.clone().collect::<Vec<_>>());
            self.deliver();
        }
        Ok(entities)
    }

    /// Brings `count` entities without components to life, and returns their ids.
    ///
    /// # Errors
    /// [`OutOfEntities`] if there are fewer ids left; the world is as it was then.
    ///
    /// # Examples
    /// ```
    /// # use esker::World;
    /// let mut world = World::new();
    /// let mut ids = world.spawn_empty_batch(1000)?;
    /// assert_eq!(ids.len(), 1000);
    /// assert!(ids.all(|id| world.is_orphan(id)));
    /// # Ok::<(), esker::entity::OutOfEntities>(())
    /// ```
    pub fn spawn_empty_batch(&mut self, count: usize) -> Result<Spawned, OutOfEntities> {
        self.entities.check_room(count)?;
        let entities = self.entities.claim_all(count, 0);
        if self.pools.hears_spawn {
            self.note_spawned::<()>(&entities.clone().collect::<Vec<_>>());
            self.deliver();
        }
        Ok(entities)
    }
}

/// The length that all columns have.
fn common_length(columns: &impl Columns) -> Result<usize, ColumnsError> {
    let mut first = None;
    let mut unequal = Ok(());
    columns.lengths(&mut |component, len| {
        let (first, expected) = *first.get_or_insert((component, len));
        if len != expected && unequal.is_ok() {
            let columns = [(first, expected), (component, len)];
            unequal = Err(ColumnsError::Unequal { columns });
        }
    });
    unequal.map(|()| first.map_or(0, |(_, len)| len))
}

/// Collects the signature bits of a bundle, and its components.
struct Signature<'w> {
    pools: &'w mut Pools,
    bits: u64,
    known: Vec<ComponentId>,
}

impl ComponentVisitor for Signature<'_> {
    fn visit<T: Component>(&mut self) {
        let tag = self.pools.get_or_create::<T>().tag;
        self.bits |= tag.bit;
        self.known.push(tag.id);
    }
}

/// Entities that sign for a whole row but may not have it.
struct Unsigned<'w> {
    world: &'w mut World,
    entities: &'w Spawned,
    known: Vec<ComponentId>,
    is_settled: bool,
}

impl Unsigned<'_> {
    /// Says that all have what they sign for.
    fn settle(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Unsigned<'_> {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        for entity in self.entities.clone() {
            sign(self.world, self.known.iter().copied(), entity);
        }
        let World { entities, pools, .. } = &mut *self.world;
        pools.homes.note_all(self.entities.clone());
        if pools.groups.is_empty() {
            return;
        }
        // One by one: they are not all alike.
        for entity in self.entities.clone() {
            let signature = entities.word_mut(entity).map_or(0, |word| *word);
            pools.born(&[entity], signature);
        }
    }
}

/// Columns that make no rows, or more than there are ids for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnsError {
    /// Two columns have different lengths.
    Unequal {
        /// The component and the length of each.
        columns: [(&'static str, usize); 2],
    },
    /// Two columns are of the same component.
    Repeated {
        /// Name of the component type.
        component: &'static str,
    },
    /// There are more rows than ids left.
    Out(OutOfEntities),
}

impl From<OutOfEntities> for ColumnsError {
    fn from(error: OutOfEntities) -> Self {
        Self::Out(error)
    }
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unequal { columns: [(a, a_len), (b, b_len)] } => write!(
                f,
                "the column of `{a}` has {a_len} values and that of `{b}` has {b_len}; \
                 each entity needs one of both"
            ),
            Self::Repeated { component } => {
                write!(f, "two columns are of `{component}`; an entity has at most one")
            }
            Self::Out(error) => error.fmt(f),
        }
    }
}

impl Error for ColumnsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Out(error) => Some(error),
            _ => None,
        }
    }
}
