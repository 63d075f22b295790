//! A thousand component types, and what can be done with one whose number is known.
//!
//! A macro cannot make up names, so there are ten modules of ten modules of ten types.

use ::esker::{Component, Entity, World};

/// What can be done with a type of which only the number is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) register: fn(&mut World),
    pub(crate) insert: fn(&mut World, Entity),
    pub(crate) remove: fn(&mut World, Entity),
}

impl Kind {
    const fn of<T: Component + Default>() -> Self {
        Self {
            register: |world| _ = world.register::<T>(),
            insert: |world, entity| _ = world.insert(entity, T::default()),
            remove: |world, entity| _ = world.remove::<T>(entity),
        }
    }
}

/// How many there are.
pub(crate) const KINDS: usize = 1000;

/// The kind with this number.
pub(crate) fn kind(number: usize) -> Kind {
    ALL[number / 100][number / 10 % 10][number % 10]
}

macro_rules! types {
    ($($name:ident)*) => {
        $(#[derive(::esker::Component, Clone, Copy, Debug, Default)]
        #[allow(dead_code, reason = "most of them only come and go")]
        pub(crate) struct $name(pub(crate) f32, pub(crate) f32);)*

        pub(super) const ALL: [crate::kinds::Kind; 10] = [$(crate::kinds::Kind::of::<$name>()),*];
    };
}

macro_rules! ten_types {
    ($($module:ident)*) => {
        $(pub(crate) mod $module {
            types!(C0 C1 C2 C3 C4 C5 C6 C7 C8 C9);
        })*

        pub(super) const ALL: [[crate::kinds::Kind; 10]; 10] = [$($module::ALL),*];
    };
}

macro_rules! hundred_types {
    ($($module:ident)*) => {
        $(pub(crate) mod $module {
            ten_types!(b0 b1 b2 b3 b4 b5 b6 b7 b8 b9);
        })*

        static ALL: [[[Kind; 10]; 10]; 10] = [$($module::ALL),*];
    };
}

hundred_types!(a0 a1 a2 a3 a4 a5 a6 a7 a8 a9);

pub(crate) use a0::b0::{C0, C1, C2, C3, C4, C5, C6, C7, C8, C9};
