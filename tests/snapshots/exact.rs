//! What is loaded in place of a world is the world that was saved (N1).

use bytemuck::{Pod, Zeroable};
use esker::snapshot::{Loader, Snapshot, SnapshotTypes};
use esker::{Component, Entity, World};

use crate::common::id;
use crate::for_seeds;
use crate::kinds::*;

fn from_json(loader: &Loader<'_>, text: &str) -> World {
    loader.deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap()
}

#[test]
fn save_load_save_gives_the_same_bytes() {
    for_seeds(15, |seed| {
        let world = eventful(seed, 30 + seed as usize * 20);
        let (saved, text) = (bytes(&world), json(&world));

        let mut loaded = types().load().to_world(&saved).unwrap();
        loaded.verify().unwrap();
        assert_eq!(bytes(&loaded), saved);
        assert_eq!(json(&loaded), text);

        let mut loaded = from_json(&types().load(), &text);
        loaded.verify().unwrap();
        assert_eq!(json(&loaded), text);
        assert_eq!(bytes(&loaded), saved);
        assert_eq!(hash(&loaded), hash(&world));
    });
}

/// Big enough for several threads to write it. What they find out about the lists of ids is right,
/// too: whether a list is that of all who live, in order, or another.
#[test]
fn a_world_that_several_threads_write_is_loaded_as_it_was() {
    let mut world = World::new();
    let values = (0..550_000).map(|n| (Velocity([n; 4]), Wide([n.into(); 4])));
    let ids: Vec<Entity> = world.spawn_batch(values).collect();
    for step in 0..4 {
        let saved = bytes(&world);
        let loaded = types().load().to_world(&saved).unwrap();
        assert_eq!(hash(&loaded), hash(&world));
        assert_eq!(loaded.pool::<Wide>().entities(), world.pool::<Wide>().entities());
        match step {
            0 => world.pool_mut::<Wide>().swap(300_000, 549_999).unwrap(),
            1 => world.pool_mut::<Velocity>().swap(400_000, 549_999).unwrap(),
            _ => world.despawn(ids[1234 + step]).unwrap(),
        }
    }
}

#[test]
fn ids_are_left_out_where_all_who_live_have_a_component_in_order() {
    let mut world = World::new();
    let values = (0..100_u8).map(|n| (Position([n.into(); 2]), Wide([n.into(); 4])));
    world.spawn_batch(values).for_each(drop);
    let without_ids = bytes(&world);
    world.pool_mut::<Wide>().swap(3, 4).unwrap();
    let with_those_of_one = bytes(&world);

    assert_eq!(with_those_of_one.len() - without_ids.len(), 100 * size_of::<Entity>());
    for saved in [without_ids, with_those_of_one] {
        let loaded = types().load().to_world(&saved).unwrap();
        assert_eq!(bytes(&loaded), saved);
        assert_eq!(hash(&loaded), hash(&world));
    }
}

/// Plain values of so many bytes, untracked and tracked.
macro_rules! of_size {
    ($($size:literal)*) => {
        [$({
            #[derive(Component, Snapshot, Clone, Copy, Pod, Zeroable)]
            #[snapshot(plain)]
            #[repr(C)]
            struct Untracked([u8; $size]);
            #[derive(Component, Snapshot, Clone, Copy, Pod, Zeroable)]
            #[component(track)]
            #[snapshot(plain)]
            #[repr(C)]
            struct Tracked([u8; $size]);
            ($size, saved_and_loaded(Untracked([7; $size])), saved_and_loaded(Tracked([7; $size])))
        }),*]
    };
}

/// Whether the ids of many who have this value are left out.
fn saved_and_loaded<T: Component + Snapshot + Copy>(value: T) -> bool {
    let types = SnapshotTypes::new().component::<T>();
    let length_of = |count: usize| {
        let mut world = World::new();
        world.spawn_batch(vec![value; count]).for_each(drop);
        let saved = types.save().to_bytes(&world).unwrap();
        let loaded = types.load().to_world(&saved).unwrap();
        assert_eq!(types.save().to_bytes(&loaded).unwrap(), saved);
        assert_eq!(loaded.query::<&T>().iter().count(), count);
        saved.len()
    };
    // The slot of the id, the value, and the id beside it. So many that the spare MiB is of no help.
    let each = (length_of(70_000) - length_of(0)) / 70_000 - size_of::<T>();
    assert!([8, 16].contains(&each), "{each} bytes beside each value");
    each == 8
}

/// Values that are large enough stand for their ids: what is loaded takes no more than four times
/// the bytes of the file. What the writer leaves out the reader does without.
#[test]
fn ids_are_left_out_beside_values_of_six_bytes_or_eleven_that_are_tracked() {
    for (size, untracked, tracked) in of_size!(1 2 3 4 5 6 7 8 9 10 11 12 16) {
        assert_eq!((untracked, tracked), (size >= 6, size >= 11), "{size} bytes");
    }
}

#[test]
fn a_long_list_is_not_taken_for_a_deep_one() {
    let mut world = World::new();
    let entity = world.spawn(Stable(vec![Some(7); 1000]));

    let loaded = types().load().to_world(&bytes(&world)).unwrap();

    assert_eq!(loaded.get::<Stable>(entity).unwrap().0, [Some(7); 1000]);
}

#[test]
fn an_ignored_resource_is_not_saved_and_all_others_are() {
    let mut world = World::new();
    world.insert_resource(Score(7));
    world.insert_resource("not for a file");

    let saved = types().ignore_resource::<&str>().save().to_bytes(&world).unwrap();

    let loaded = types().load().to_world(&saved).unwrap();
    assert_eq!(loaded.resource::<Score>().0, 7);
    assert!(loaded.try_resource::<&str>().is_err());
}

/// EnTT 39, 188: the loaded world goes on as the original does, also where loaded entities die.
#[test]
fn a_loaded_world_lives_on_as_the_original_does() {
    for_seeds(6, |seed| {
        let mut world = eventful(seed, 400);
        let (saved, text) = (bytes(&world), json(&world));
        // Reserved ids of the original live in what was loaded.
        world.settle();
        let mut native = empty(seed);
        types().load().replace(&mut native, &saved).unwrap();
        let mut from = serde_json::Deserializer::from_str(&text);
        let mut via_json = eventful(seed, 50);
        types().load().deserialize_into(&mut via_json, &mut from).unwrap();

        native.verify().unwrap();
        via_json.verify().unwrap();
        live_on(&mut native, &mut via_json, seed ^ 77, 300);
        types().load().replace(&mut native, &saved).unwrap();
        live_on(&mut world, &mut native, seed ^ 99, 1000);
    });
}

#[test]
fn a_thousand_next_ids_are_the_same() {
    for_seeds(10, |seed| {
        let mut world = eventful(seed, 500);
        let mut loaded = types().load().to_world(&bytes(&world)).unwrap();
        world.settle();
        for _ in 0..1000 {
            let next = world.try_spawn(()).ok();
            assert_eq!(loaded.try_spawn(()).ok(), next);
        }
        loaded.verify().unwrap();
    });
}

/// EnTT 184, 185: an empty world and pools that do not exist are no special case.
#[test]
fn an_empty_world_is_saved_and_loaded() {
    let world = World::new();
    let loaded = types().load().to_world(&bytes(&world)).unwrap();
    assert!(loaded.is_empty());
    assert_eq!(bytes(&loaded), bytes(&world));
    assert_eq!(from_json(&types().load(), &json(&world)).len(), 0);
}

/// EnTT 189: whoever lives in the target is replaced; the world is not refused and not mixed.
#[test]
fn loading_replaces_what_lives_there() {
    for_seeds(10, |seed| {
        let saved = bytes(&eventful(seed, 300));
        let mut world = eventful(seed, 250);
        types().load().replace(&mut world, &saved).unwrap();
        world.verify().unwrap();
        assert_eq!(bytes(&world), saved);
        world.clear();
        types().load().replace(&mut world, &saved).unwrap();
        assert_eq!(bytes(&world), saved);
    });
}

/// EnTT 187, 190: chosen entities come with their exact ids, and nobody else does.
#[test]
fn chosen_entities_keep_their_ids() {
    for_seeds(15, |seed| {
        let world = eventful(seed, 300);
        let chosen = |entity: Entity| entity.index().is_multiple_of(3);
        let saved = types().save().only_entities(chosen).to_bytes(&world).unwrap();
        let mut loaded = types().load().to_world(&saved).unwrap();
        loaded.verify().unwrap();
        let mut all = types().load().to_world(&bytes(&world)).unwrap();
        let others: Vec<Entity> = all.entities().filter(|&entity| !chosen(entity)).collect();
        all.despawn_batch(others);
        assert!(types().diff(&all, &loaded).unwrap().is_empty());
        assert_eq!(hash(&loaded), hash(&all));
        // Saved again, it is the same choice of everything.
        let again = types().save().only_entities(|_| true).to_bytes(&loaded).unwrap();
        let twice = types().load().to_world(&again).unwrap();
        assert_eq!(types().save().only_entities(|_| true).to_bytes(&twice).unwrap(), again);
        // And goes on without a clash.
        for nth in 0..200 {
            if let Ok(new) = loaded.try_spawn(Small(nth as u8)) {
                assert!(!all.is_alive(new));
            }
        }
        loaded.verify().unwrap();
    });
}

#[test]
fn chosen_names_are_kept_and_others_are_not() {
    let mut world = World::new();
    let e = world.spawn((Name("a".into()), Small(1), Rare(2)));
    world.insert_resource(Score(4));
    let only = types().save().only(["name"]).to_bytes(&world).unwrap();
    let without = types().save().without(["name", "Score"]).to_bytes(&world).unwrap();

    let loaded = types().load().to_world(&only).unwrap();
    assert!(loaded.has::<Name>(e) && !loaded.has_any::<(Small, Rare)>(e));
    assert!(loaded.try_resource::<Score>().is_err());
    let loaded = types().load().to_world(&without).unwrap();
    assert!(!loaded.has::<Name>(e) && loaded.has::<(Small, Rare)>(e));
    assert!(loaded.try_resource::<Score>().is_err());
}

/// ECR 3, 6: demanded ids, also far ones and such outside the range, and what becomes of them.
#[test]
fn demanded_ids_come_back_with_all_their_history() {
    let mut world = World::builder().entity_range(10..1000).build();
    let ids: Vec<Entity> = (0..9).map(|_| world.spawn(Small(1))).collect();
    for nth in [2, 5, 7] {
        world.despawn(ids[nth]).unwrap();
    }
    world.spawn_at(ids[5], Small(2)).unwrap();
    world.spawn_at(id(3, 9), Small(3)).unwrap();
    world.spawn_at(id(3_000_000_000, 1), Small(4)).unwrap();
    world.spawn_at(id(500, 0), Small(5)).unwrap();

    let types = SnapshotTypes::new().component::<Small>();
    let saved = types.save().to_bytes(&world).unwrap();
    let mut loaded = types.load().to_world(&saved).unwrap();
    assert_eq!(types.save().to_bytes(&loaded).unwrap(), saved);
    for world in [&mut world, &mut loaded] {
        world.despawn(ids[5]).unwrap();
        world.despawn(id(3, 9)).unwrap();
        world.despawn(id(3_000_000_000, 1)).unwrap();
    }
    for _ in 0..600 {
        assert_eq!(world.spawn(()), loaded.spawn(()));
    }
    loaded.verify().unwrap();
}

/// J11 of the list of bugs seen elsewhere: what was dead stays dead.
#[test]
fn stale_ids_are_stale_after_loading() {
    let mut world = World::new();
    let old = world.spawn(Small(1));
    world.despawn(old).unwrap();
    let new = world.spawn(Small(2));
    let mut loaded = types().load().to_world(&bytes(&world)).unwrap();

    assert!(new.index() == old.index() && loaded.is_alive(new) && !loaded.is_alive(old));
    assert!(loaded.get::<Small>(old).is_none() && loaded.despawn(old).is_err());
}

/// EnTT 186: a pool with holes, which `Indexed` never has, does not matter to the stream.
#[test]
fn addresses_of_stable_storages_are_no_part_of_the_snapshot() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..3000).map(|n| world.spawn(Wide([n; 4]))).collect();
    world.despawn_batch(ids.iter().copied().filter(|id| !id.index().is_multiple_of(7)));
    let loaded = types().load().to_world(&bytes(&world)).unwrap();
    assert_eq!(bytes(&loaded), bytes(&world));
    assert_eq!(loaded.get::<Wide>(ids[700]).unwrap().0[0], 700);
}

#[test]
fn a_rule_about_dangling_references_names_them_and_lets_them_go() {
    use esker::snapshot::{Dangling, NOBODY, SnapshotError};
    let mut world = World::new();
    let gone = world.spawn(());
    let link = Link { parent: Some(gone), friends: vec![gone, gone], first: gone, weight: 1 };
    let e = world.spawn(link.clone());
    world.insert_resource(Hero(Some(gone)));
    world.despawn(gone).unwrap();
    let saved = bytes(&world);

    // As it was, unless told.
    let loaded = types().load().to_world(&saved).unwrap();
    assert_eq!(*loaded.get::<Link>(e).unwrap(), link);
    let mut target = World::new();
    let cleared = types().load().dangling(Dangling::Clear).replace(&mut target, &saved).unwrap();
    assert_eq!(cleared.dangling.len(), 5);
    assert!(cleared.dangling.contains(&("Link", Some(e), gone)));
    assert!(cleared.dangling.contains(&("Hero", None, gone)));
    let let_go = Link { parent: None, friends: vec![], first: NOBODY, weight: 1 };
    assert_eq!(*target.get::<Link>(e).unwrap(), let_go);
    assert_eq!(target.resource::<Hero>().0, None);

    let before = bytes(&target);
    let refused = types().load().dangling(Dangling::Refuse).replace(&mut target, &saved);
    assert!(matches!(refused, Err(SnapshotError::Dangling { .. })), "{refused:?}");
    assert_eq!(bytes(&target), before);
}

/// Ids are left out where a pool has all that live, in order: that must be true up to the last.
#[test]
fn pools_in_the_order_of_the_ids_but_for_one_pair_come_back_in_theirs() {
    for nth in [0, 511, 512, 1023, 1098] {
        let mut world = World::new();
        let rows = (0..1100).map(|n| (Position([n as f32; 2]), Velocity([n; 4])));
        let all: Vec<Entity> = world.spawn_batch(rows).collect();
        world.pool_mut::<Velocity>().swap(nth, nth + 1).unwrap();

        let mut loaded = types().load().to_world(&bytes(&world)).unwrap();

        loaded.verify().unwrap();
        let order = |world: &World| world.pool::<Velocity>().entities().to_vec();
        assert_eq!(loaded.pool::<Position>().entities(), all);
        assert_eq!(order(&loaded), order(&world));
        assert_ne!(order(&loaded), all);
    }
}
