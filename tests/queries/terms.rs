//! What terms and filters mean, said a second time: entity by entity, from the model.

use esker::query::{QueryData, QueryFilter};
use esker::{AnyOf, Entity, EntityRef, Has, Or, With, Without};

use crate::kinds::{C, Kind};
use crate::model::Model;

/// A term of a query. What it gives is shown as `WIDTH` numbers.
pub trait Term: for<'a> QueryData<Item<'a>: Send, ReadItem<'a>: Send> {
    const WIDTH: usize;

    /// Adds the kinds that an entity must have, in the order in which they are named.
    fn required(kinds: &mut Vec<usize>);

    /// Adds what a living entity gives, if it matches.
    fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool;

    /// Whether the parts of `b` lie right behind those of `a`; both match.
    fn follows(model: &Model, a: Entity, b: Entity) -> bool;

    /// Does to the model what `overwrite` does to the item of a match.
    fn written(model: &mut Model, entity: Entity);

    fn show(item: Self::ReadItem<'_>, out: &mut Vec<u64>);

    /// Shows an item and then writes all that it lends for writing.
    fn overwrite(item: Self::Item<'_>, out: &mut Vec<u64>);

    fn matches(model: &Model, entity: Entity) -> bool {
        Self::expect(model, entity, &mut Vec::new())
    }
}

impl Term for Entity {
    const WIDTH: usize = 1;

    fn required(_: &mut Vec<usize>) {}

    fn expect(_: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
        out.push(entity.to_bits());
        true
    }

    fn follows(_: &Model, _: Entity, _: Entity) -> bool {
        true
    }

    fn written(_: &mut Model, _: Entity) {}

    fn show(item: Entity, out: &mut Vec<u64>) {
        out.push(item.to_bits());
    }

    fn overwrite(item: Entity, out: &mut Vec<u64>) {
        out.push(item.to_bits());
    }
}

/// Shows the entity, and its `C` to see that its world can be read through it.
impl Term for EntityRef<'_> {
    const WIDTH: usize = 2;

    fn required(_: &mut Vec<usize>) {}

    fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
        let value = model.value(entity, C::NUMBER).unwrap_or(u64::MAX);
        out.extend([entity.to_bits(), value]);
        true
    }

    fn follows(_: &Model, _: Entity, _: Entity) -> bool {
        true
    }

    fn written(_: &mut Model, _: Entity) {}

    fn show(item: EntityRef<'_>, out: &mut Vec<u64>) {
        let value = item.get::<C>().map_or(u64::MAX, |c| c.value());
        out.extend([item.id().to_bits(), value]);
    }

    fn overwrite(item: EntityRef<'_>, out: &mut Vec<u64>) {
        Self::show(item, out);
    }
}

macro_rules! reference_term {
    ($term:ty, |$model:ident, $entity:ident| $written:expr, |$item:ident| $write:expr) => {
        impl<T: Kind> Term for $term {
            const WIDTH: usize = 1;

            fn required(kinds: &mut Vec<usize>) {
                kinds.push(T::NUMBER);
            }

            fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
                let value = model.value(entity, T::NUMBER);
                out.extend(value);
                value.is_some()
            }

            fn follows(model: &Model, a: Entity, b: Entity) -> bool {
                model.place(a, T::NUMBER).map(|place| place + 1) == model.place(b, T::NUMBER)
            }

            fn written($model: &mut Model, $entity: Entity) {
                $written
            }

            fn show(item: Self::ReadItem<'_>, out: &mut Vec<u64>) {
                out.push(item.value());
            }

            fn overwrite($item: Self::Item<'_>, out: &mut Vec<u64>) {
                out.push($item.value());
                $write
            }
        }
    };
}

reference_term!(&T, |_model, _entity| (), |item| ());
reference_term!(&mut T, |model, entity| model.change(entity, T::NUMBER, T::next), |item| item
    .set(T::next(item.value())));

impl<D: Term> Term for Option<D> {
    const WIDTH: usize = 1 + D::WIDTH;

    fn required(_: &mut Vec<usize>) {}

    fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
        let start = out.len();
        out.push(1);
        if !D::expect(model, entity, out) {
            out.truncate(start);
            show_nothing::<D>(out);
        }
        true
    }

    fn follows(model: &Model, a: Entity, b: Entity) -> bool {
        match (D::matches(model, a), D::matches(model, b)) {
            (true, true) => D::follows(model, a, b),
            (one, other) => one == other,
        }
    }

    fn written(model: &mut Model, entity: Entity) {
        if D::matches(model, entity) {
            D::written(model, entity);
        }
    }

    fn show(item: Self::ReadItem<'_>, out: &mut Vec<u64>) {
        match item {
            Some(item) => {
                out.push(1);
                D::show(item, out);
            }
            None => show_nothing::<D>(out),
        }
    }

    fn overwrite(item: Self::Item<'_>, out: &mut Vec<u64>) {
        match item {
            Some(item) => {
                out.push(1);
                D::overwrite(item, out);
            }
            None => show_nothing::<D>(out),
        }
    }
}

/// Shows an optional part that is not there.
pub fn show_nothing<D: Term>(out: &mut Vec<u64>) {
    out.extend(std::iter::repeat_n(0, 1 + D::WIDTH));
}

impl<T: Kind> Term for Has<T> {
    const WIDTH: usize = 1;

    fn required(_: &mut Vec<usize>) {}

    fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
        out.push(model.has(entity, T::NUMBER).into());
        true
    }

    fn follows(model: &Model, a: Entity, b: Entity) -> bool {
        model.has(a, T::NUMBER) == model.has(b, T::NUMBER)
    }

    fn written(_: &mut Model, _: Entity) {}

    fn show(item: bool, out: &mut Vec<u64>) {
        out.push(item.into());
    }

    fn overwrite(item: bool, out: &mut Vec<u64>) {
        out.push(item.into());
    }
}

macro_rules! tuple_term {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Term),*> Term for ($($name,)*) {
            const WIDTH: usize = 0 $(+ $name::WIDTH)*;

            fn required(kinds: &mut Vec<usize>) {
                $($name::required(kinds);)*
            }

            fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
                true $(&& $name::expect(model, entity, out))*
            }

            fn follows(model: &Model, a: Entity, b: Entity) -> bool {
                true $(&& $name::follows(model, a, b))*
            }

            fn written(model: &mut Model, entity: Entity) {
                $($name::written(model, entity);)*
            }

            fn show(item: Self::ReadItem<'_>, out: &mut Vec<u64>) {
                $($name::show(item.$at, out);)*
            }

            fn overwrite(item: Self::Item<'_>, out: &mut Vec<u64>) {
                $($name::overwrite(item.$at, out);)*
            }
        }

        impl<$($name: Term),*> Term for AnyOf<($($name,)*)> {
            const WIDTH: usize = <($(Option<$name>,)*)>::WIDTH;

            fn required(_: &mut Vec<usize>) {}

            fn expect(model: &Model, entity: Entity, out: &mut Vec<u64>) -> bool {
                (false $(|| $name::matches(model, entity))*)
                    && <($(Option<$name>,)*)>::expect(model, entity, out)
            }

            fn follows(model: &Model, a: Entity, b: Entity) -> bool {
                <($(Option<$name>,)*)>::follows(model, a, b)
            }

            fn written(model: &mut Model, entity: Entity) {
                <($(Option<$name>,)*)>::written(model, entity);
            }

            fn show(item: Self::ReadItem<'_>, out: &mut Vec<u64>) {
                <($(Option<$name>,)*)>::show(item, out);
            }

            fn overwrite(item: Self::Item<'_>, out: &mut Vec<u64>) {
                <($(Option<$name>,)*)>::overwrite(item, out);
            }
        }
    };
}

tuple_term!(X 0, Y 1);
tuple_term!(X 0, Y 1, Z 2);
tuple_term!(X 0, Y 1, Z 2, U 3);
tuple_term!(X 0, Y 1, Z 2, U 3, V 4);
tuple_term!(X 0, Y 1, Z 2, U 3, V 4, W 5);

/// A filter.
pub trait Condition: QueryFilter {
    /// Adds the kinds that an entity must have.
    fn required(kinds: &mut Vec<usize>);

    fn holds(model: &Model, entity: Entity) -> bool;
}

impl Condition for () {
    fn required(_: &mut Vec<usize>) {}

    fn holds(_: &Model, _: Entity) -> bool {
        true
    }
}

impl<T: Kind> Condition for With<T> {
    fn required(kinds: &mut Vec<usize>) {
        kinds.push(T::NUMBER);
    }

    fn holds(model: &Model, entity: Entity) -> bool {
        model.has(entity, T::NUMBER)
    }
}

impl<T: Kind> Condition for Without<T> {
    fn required(_: &mut Vec<usize>) {}

    fn holds(model: &Model, entity: Entity) -> bool {
        !model.has(entity, T::NUMBER)
    }
}

macro_rules! tuple_condition {
    ($($name:ident),*) => {
        impl<$($name: Condition),*> Condition for ($($name,)*) {
            fn required(kinds: &mut Vec<usize>) {
                $($name::required(kinds);)*
            }

            fn holds(model: &Model, entity: Entity) -> bool {
                true $(&& $name::holds(model, entity))*
            }
        }

        impl<$($name: Condition),*> Condition for Or<($($name,)*)> {
            fn required(_: &mut Vec<usize>) {}

            fn holds(model: &Model, entity: Entity) -> bool {
                false $(|| $name::holds(model, entity))*
            }
        }
    };
}

tuple_condition!(X, Y);
tuple_condition!(X, Y, Z);
