//! Groups when a storage of the user's panics in the middle of a batch: whoever got enough to be a
//! member is one.

#![cfg(feature = "derive")]

mod common;

use common::{panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::sparse::PagedMap;
use esker::storage::{Packed, Storage, Untracked};

#[derive(Component, Debug, Clone)]
struct A;

#[derive(Component, Debug, Clone)]
struct B;

#[derive(Component, Debug, Clone)]
#[component(storage = Hashed)]
struct C;

/// A storage as a user would write it, around one of ours; its `push` panics on the value 666.
#[derive(Default)]
struct Fussy(Packed<Picky>);

#[allow(unsafe_code, reason = "implements the unsafe trait as a user would")]
// SAFETY: all calls are passed on to a storage that keeps the promises; one panics before that.
unsafe impl Storage<Picky> for Fussy {
    type Map = PagedMap;
    type Tracking = Untracked;

    const CONTIGUOUS: bool = true;

    fn push(&mut self, entity: Entity, value: Picky) {
        if value.0 == 666 {
            planned_panic();
        }
        self.0.push(entity, value);
    }

    fn swap_remove(&mut self, at: usize, entity: Entity) -> Picky {
        self.0.swap_remove(at, entity)
    }

    fn swap(&mut self, a: usize, b: usize) {
        Storage::swap(&mut self.0, a, b);
    }

    unsafe fn ptr(&self, at: usize, entity: Entity) -> *mut Picky {
        // SAFETY: promised by the caller.
        unsafe { self.0.ptr(at, entity) }
    }

    fn base(&self) -> *mut Picky {
        self.0.base()
    }

    fn clear(&mut self) {
        Storage::clear(&mut self.0);
    }

    fn reserve(&mut self, additional: usize) {
        Storage::reserve(&mut self.0, additional);
    }

    fn shrink_to_fit(&mut self) {
        Storage::shrink_to_fit(&mut self.0);
    }

    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

#[derive(Debug)]
struct Picky(u32);

impl Component for Picky {
    type Storage = Fussy;
}

struct Filler<const N: usize>;

impl<const N: usize> Component for Filler<N> {
    type Storage = Packed<Self>;
}

/// Components that come first: the first sixteen share no bits.
fn register_some(world: &mut World) {
    macro_rules! register {
        ($($n:literal)*) => { $(world.register::<Filler<$n>>();)* };
    }
    register!(80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95);
}

/// Components enough for those above to share bits of the signature with others.
fn register_many(world: &mut World) {
    macro_rules! register {
        ($($n:literal)*) => { $(world.register::<Filler<$n>>();)* };
    }
    register!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    register!(32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59);
    register!(60 61 62 63 64 65 66 67);
}

/// Calls `act` in worlds with groups that name the picky component and others, or only others.
fn in_worlds(act: impl Fn(&mut World)) {
    for nth in 0..16 {
        let mut world = World::new();
        if nth >= 8 {
            register_some(&mut world);
        }
        let groups = match nth % 8 {
            0 => [world.group::<(A, B)>().build(), world.group::<(A, B, C)>().build()],
            1 => [world.group::<A>().build(), world.group::<(A, Picky)>().build()],
            2 => [world.group::<B>().observe::<Picky>().build(), world.group::<A>().build()],
            3 => [
                world.group::<(A, B)>().exclude::<Picky>().build(),
                world.group::<()>().observe::<(B, Picky)>().build(),
            ],
            4 => [
                world.group::<()>().observe::<A>().exclude::<C>().build(),
                world.group::<(Picky, C)>().build(),
            ],
            5 => [world.group::<C>().build(), world.group::<(C, Picky)>().observe::<A>().build()],
            6 => [
                world.group::<(A, B)>().exclude::<C>().build(),
                world.group::<(A, B, Picky)>().exclude::<C>().build(),
            ],
            _ => {
                [world.group::<(A, B, Picky)>().build(), world.group::<(A, B, Picky, C)>().build()]
            }
        };
        if nth >= 8 {
            register_many(&mut world);
        }
        for n in 0..5 {
            world.spawn((A, B, Picky(n), C));
            world.spawn((Picky(n), A));
            world.spawn((C, B));
        }

        act(&mut world);

        world.verify().unwrap_or_else(|violation| panic!("{violation}, in world {nth}"));
        let fits = [
            world.query_filtered::<Entity, (With<A>, With<B>)>().count(),
            world.query_filtered::<Entity, With<A>>().iter().filter(|&e| world.has::<B>(e)).count(),
        ];
        assert_eq!(fits[0], fits[1], "in world {nth}");
        // All can be removed and brought back: nobody leaves who is not in.
        let living: Vec<Entity> = world.entities().collect();
        for &entity in &living {
            _ = world.remove::<(C, Picky)>(entity).unwrap();
            world.insert(entity, (B, Picky(1))).unwrap();
        }
        world.verify().unwrap_or_else(|violation| panic!("{violation}, in world {nth}"));
        world.despawn_batch(living);
        assert!(world.is_empty());
        for group in groups {
            assert_eq!(world.group_len(group.unwrap()), Some(0));
        }
    }
}

#[test]
fn a_storage_that_panics_in_a_batch_leaves_the_groups_right() {
    for k in [0, 1, 6, 1023, 1024, 1100] {
        in_worlds(|world| {
            let picky = |n| Picky(if n == k { 666 } else { n });
            let rows = (0..1200).map(|n| (A, B, picky(n), C));
            assert!(panics_as_planned(|| world.spawn_batch(rows).for_each(drop)));
        });
    }
}

#[test]
fn a_storage_that_panics_among_columns_leaves_the_groups_right() {
    for k in [0, 1, 6] {
        in_worlds(|world| {
            let picky = (0..7).map(|n| Picky(if n == k { 666 } else { n })).collect();
            let columns: (_, _, Vec<Picky>, _) = (vec![A; 7], vec![B; 7], picky, vec![C; 7]);
            assert!(panics_as_planned(|| world.spawn_columns(columns)));
        });
    }
}

#[test]
fn a_storage_that_panics_in_a_bundle_leaves_the_groups_right() {
    in_worlds(|world| {
        let bundle = || (A, B, Picky(666), C);
        assert!(panics_as_planned(|| world.spawn(bundle())));
        for entity in world.entities().collect::<Vec<_>>() {
            if !world.has::<Picky>(entity) {
                assert!(panics_as_planned(|| world.insert(entity, bundle())));
                assert!(panics_as_planned(|| {
                    world.pool_mut::<Picky>().insert(entity, Picky(666))
                }));
            }
        }
    });
}
