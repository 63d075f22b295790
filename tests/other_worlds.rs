//! States that go into a world other than the one they come from.

#![cfg(feature = "derive")]

use esker::prelude::*;
use esker::snapshot::{Rollback, Snapshot, SnapshotTypes};
use serde::{Deserialize, Serialize};

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct A(u32);

#[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
#[snapshot(clone)]
struct B(u32);

/// Not kept.
#[derive(Component)]
struct Sprite;

#[test]
fn going_back_gives_what_was_kept_and_nothing_else_in_whatever_world() {
    let types = SnapshotTypes::new().ignore::<Sprite>().component::<A>().component::<B>();
    let mut world = World::new();
    let (a, b) = (world.spawn((Sprite, A(1))), world.spawn((Sprite, B(2))));
    let mut past = Rollback::new(types, 1);
    past.keep(&world).unwrap();
    // Where components have other numbers, and one where nothing is known yet.
    let mut other = World::new();
    other.group::<(A, B)>().build().unwrap();
    other.spawn((B(3), Sprite));

    for mut world in [world, other, World::new()] {
        past.back(&mut world, 0).unwrap();

        assert_eq!(world.verify(), Ok(()));
        assert!(world.has::<A>(a) && world.has::<B>(b));
        assert!(!world.has_any::<(B, Sprite)>(a) && !world.has_any::<(A, Sprite)>(b));
        assert_eq!((world.component_names(a).count(), world.component_names(b).count()), (1, 1));
        world.insert(a, (B(4), Sprite)).unwrap();
        world.despawn(a).unwrap();
        assert_eq!(world.pool::<B>().entities(), [b]);
        assert_eq!(world.verify(), Ok(()));
    }
}
