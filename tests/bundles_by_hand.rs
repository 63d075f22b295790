//! Bundles that a user has written without the derive, and wrongly: they may lose what is theirs,
//! but the world and its groups stay right.

#![cfg(feature = "derive")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{panic_message, panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::world::{ComponentVisitor, Gate, Row};

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct A(u32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct B(u32);

/// A bundle of `A` and `B` whose `write` and `visit` are given.
macro_rules! bundle {
    ($(#[$note:meta])* $name:ident: $like:ty, $write:expr, $visit:expr) => {
        $(#[$note])*
        #[derive(Debug, Clone, Copy)]
        struct $name(A, B);

        impl Bundle for $name {
            type Parts = <(A, B) as Bundle>::Parts;
            type Writer<'w> = <$like as Bundle>::Writer<'w>;

            fn insert(self, gate: &mut Gate<'_>) -> Self::Parts {
                (self.0, self.1).insert(gate)
            }

            fn remove(gate: &mut Gate<'_>) -> Self::Parts {
                <(A, B)>::remove(gate)
            }

            fn assemble(parts: Self::Parts) -> Option<Self> {
                <(A, B)>::assemble(parts).map(|(a, b)| Self(a, b))
            }

            fn write<'w>(self, writer: &mut Self::Writer<'w>, row: &Row<'w>) {
                let write: fn(Self, &mut Self::Writer<'w>, &Row<'w>) = $write;
                write(self, writer, row);
            }

            fn visit<V: ComponentVisitor>(visitor: &mut V) {
                let visit: fn(&mut V) = $visit;
                visit(visitor);
            }
        }
    };
}

bundle!(
    /// Shows none of its components.
    Shy: (A, B),
    |this, writer, row| (this.0, this.1).write(writer, row),
    |_| {}
);

bundle!(
    /// Forgets to write one of them, from the tenth row on.
    Forgetful: (A, B),
    |this, writer, row| {
        this.0.write(&mut writer.0, row);
        if this.0.0 < 10 {
            this.1.write(&mut writer.1, row);
        }
    },
    |visitor| <(A, B)>::visit(visitor)
);

bundle!(
    /// Writes the second first, and panics in the tenth row before it comes to the first.
    Backward: (A, B),
    |this, writer, row| {
        this.1.write(&mut writer.1, row);
        if this.0.0 == 10 {
            planned_panic();
        }
        this.0.write(&mut writer.0, row);
    },
    |visitor| <(A, B)>::visit(visitor)
);

bundle!(
    /// Has a component twice and shows it once.
    Double: (A, (B, A)),
    |this, writer, row| (this.0, (this.1, this.0)).write(writer, row),
    |visitor| <(A, B)>::visit(visitor)
);

/// Calls `act` in a world without groups and in some with.
fn in_worlds(act: impl Fn(&mut World)) {
    for nth in 0..5 {
        let mut world = World::new();
        world.register::<A>();
        world.register::<B>();
        _ = match nth {
            0 => None,
            1 => Some(world.group::<(A, B)>().build().unwrap()),
            2 => Some(world.group::<B>().build().unwrap()),
            3 => Some(world.group::<B>().exclude::<A>().build().unwrap()),
            _ => Some(world.group::<()>().observe::<(A, B)>().build().unwrap()),
        };
        let old = world.spawn((A(1), B(1)));
        world.spawn(B(2));

        act(&mut world);

        let check = |world: &mut World| {
            world.verify().unwrap_or_else(|violation| panic!("{violation}, in world {nth}"));
            assert!(world.query::<(&A, &B)>().iter().all(|(a, b)| a.0 == b.0));
        };
        check(&mut world);
        assert_eq!(world.get::<A>(old).as_deref(), Some(&A(1)));
        for entity in world.entities().collect::<Vec<_>>() {
            _ = world.remove::<A>(entity).unwrap();
            world.insert(entity, (A(3), B(3))).unwrap();
        }
        check(&mut world);
        world.despawn_batch(world.entities().collect::<Vec<_>>());
        check(&mut world);
    }
}

#[test]
fn a_bundle_that_shows_no_component_is_spawned_all_the_same() {
    in_worlds(|world| {
        let ids: Vec<Entity> =
            world.spawn_batch((0..20).map(|n| Shy(A(n), B(n)))).fold(vec![], |mut ids, id| {
                ids.push(id);
                ids
            });
        assert!(ids.iter().all(|&id| world.has::<(A, B)>(id)));
    });
}

#[test]
fn a_bundle_that_forgets_a_component_ends_the_batch() {
    in_worlds(|world| {
        let text =
            panic_message(|| drop(world.spawn_batch((0..20).map(|n| Forgetful(A(n), B(n))))));
        assert!(text.contains("each component once in each row"), "{text}");
        assert_eq!((world.pool::<A>().len(), world.pool::<B>().len()), (12, 12));
    });
}

#[test]
fn a_bundle_that_panics_between_two_components_ends_the_batch() {
    in_worlds(|world| {
        let batch = (0..20).map(|n| Backward(A(n), B(n)));
        assert!(panics_as_planned(|| drop(world.spawn_batch(batch))));
        assert_eq!((world.pool::<A>().len(), world.pool::<B>().len()), (11, 13));
    });
}

#[test]
fn a_bundle_that_hides_that_it_has_a_component_twice_loses_nothing_of_others() {
    in_worlds(|world| {
        _ = catch_unwind(AssertUnwindSafe(|| {
            drop(world.spawn_batch((0..20).map(|n| Double(A(n), B(n)))));
        }));
    });
}
