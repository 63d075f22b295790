//! Worlds that follow another one: by snapshots, by deltas.

use std::collections::BTreeMap;

use esker::snapshot::{Delta, Mirror, NOBODY, SnapshotError};
use esker::{Commands, Component, Entity, World};

use crate::common::{Rng, id, panics_as_planned, planned_panic};
use crate::for_seeds;
use crate::kinds::*;

/// Whether the followed entities are what they stand for, ids inside values translated.
#[track_caller]
fn assert_follows(mirror: &Mirror, local: &mut World, remote: &World) {
    local.verify().unwrap();
    let remote = types().load().to_world(&bytes(remote)).unwrap();
    assert_eq!((mirror.len(), mirror.is_empty()), (remote.len(), remote.is_empty()));
    for there in remote.entities() {
        let here = mirror.get(there).unwrap();
        assert!(local.is_alive(here));
        assert_eq!(mirror.remote(here), Some(there));
        let mut names: Vec<_> = local.component_names(here).collect();
        let mut expected: Vec<_> = remote.component_names(there).collect();
        names.sort();
        expected.sort();
        assert_eq!(names, expected, "{there}");
        assert_eq!(
            local.get::<Name>(here).map(|v| v.0.clone()),
            remote.get::<Name>(there).map(|v| v.0.clone())
        );
        assert_eq!(local.get::<Rare>(here).map(|v| v.0), remote.get::<Rare>(there).map(|v| v.0));
        let link = remote.get::<Link>(there).map(|link| Link {
            parent: link.parent.and_then(|id| mirror.get(id)),
            friends: link.friends.iter().filter_map(|&id| mirror.get(id)).collect(),
            first: mirror.get(link.first).unwrap_or(NOBODY),
            weight: link.weight,
        });
        assert_eq!(local.get::<Link>(here).map(|link| link.clone()), link);
    }
}

/// EnTT 193–197, over random changes on both sides.
#[test]
fn a_mirror_follows_whatever_happens_on_either_side() {
    for_seeds(6, |seed| {
        let mut rng = Rng::new(seed);
        // No groups and limits here: those of the other side are not the point.
        let (mut remote, mut local) = (eventful(4 + 10 * seed, 100), World::new());
        let own: Vec<Entity> = (0..7).map(|_| local.spawn(Name("own".into()))).collect();
        let mut mirror = Mirror::new(types());
        let mut known: BTreeMap<Entity, Entity> = BTreeMap::new();
        for _ in 0..25 {
            let changes = rng.below(30);
            (0..changes).for_each(|_| _ = change(&mut remote, &mut rng));
            if rng.one_in(3) && !mirror.is_empty() {
                let followed: Vec<Entity> =
                    local.entities().filter(|id| !own.contains(id)).collect();
                let victim = rng.pick(&followed);
                local.despawn(victim).unwrap();
                known.retain(|_, here| *here != victim);
            }
            mirror.update(&mut local, &bytes(&remote)).unwrap();
            assert_follows(&mirror, &mut local, &remote);
            assert!(own.iter().all(|&id| local.get::<Name>(id).unwrap().0 == "own"));
            assert_eq!(local.len(), own.len() + mirror.len());
            // The same remote id has the same local one, as long as both live.
            for (there, here) in &known {
                assert!(mirror.get(*there).is_none_or(|now| now == *here), "{there}");
            }
            remote.settle();
            known = remote.entities().map(|id| (id, mirror.get(id).unwrap())).collect();
        }
    });
}

#[test]
fn some_entities_say_nothing_of_the_others_and_are_waited_for() {
    let (mut remote, mut local) = (World::new(), World::new());
    let [a, b, c] = [remote.spawn(Small(1)), remote.spawn(Small(2)), remote.spawn(Small(3))];
    remote.insert(a, Link { parent: Some(c), friends: vec![a], first: b, weight: 1 }).unwrap();
    let mut mirror = Mirror::new(types());
    let some = |world: &World, wanted: &[Entity]| {
        types().save().only_entities(|id| wanted.contains(&id)).to_bytes(world).unwrap()
    };
    mirror.update(&mut local, &some(&remote, &[a, b])).unwrap();

    let here = mirror.get(c).expect("somebody refers to it");
    assert!(local.is_orphan(here));
    assert_eq!(local.get::<Link>(mirror.get(a).unwrap()).unwrap().parent, Some(here));
    remote.despawn(b).unwrap();
    mirror.update(&mut local, &some(&remote, &[c])).unwrap();
    assert_eq!(mirror.get(c), Some(here));
    assert_eq!(local.get::<Small>(here).unwrap().0, 3);
    assert!(mirror.get(b).is_some(), "nothing was said of it");
    mirror.update(&mut local, &bytes(&remote)).unwrap();
    assert_follows(&mirror, &mut local, &remote);
}

/// EnTT 192: only who has nothing.
#[test]
fn orphans_of_a_mirror_go_and_others_stay() {
    let (mut remote, mut local) = (World::new(), World::new());
    let [a, b] = [remote.spawn(Small(1)), remote.spawn(())];
    let own = local.spawn(());
    let mut mirror = Mirror::new(types());
    mirror.update(&mut local, &bytes(&remote)).unwrap();

    assert_eq!(mirror.despawn_orphans(&mut local), 1);
    assert!(mirror.get(a).is_some() && mirror.get(b).is_none() && local.is_alive(own));
    // They come back if they are still there.
    mirror.update(&mut local, &bytes(&remote)).unwrap();
    assert!(mirror.get(b).is_some_and(|here| local.is_alive(here)));
}

#[test]
fn an_update_that_fails_changes_nothing() {
    let (mut remote, mut local) = (World::new(), World::builder().entity_limit(3).build());
    remote.spawn_empty_batch(3).unwrap();
    let mut mirror = Mirror::new(types());
    mirror.update(&mut local, &bytes(&remote)).unwrap();
    remote.spawn(Small(1));
    let before = bytes(&local);

    assert!(matches!(mirror.update(&mut local, &bytes(&remote)), Err(SnapshotError::Out(_))));
    assert!(mirror.update(&mut local, b"nonsense").is_err());
    assert_eq!((bytes(&local), mirror.len()), (before, 3));
}

/// Random changes of tracked components; the delta must bring the other side where a whole
/// snapshot would.
#[test]
fn deltas_add_up_to_the_whole() {
    let tracked = esker::snapshot::SnapshotTypes::new()
        .component::<Velocity>()
        .component::<Rare>()
        .component::<Small>()
        .component::<Link>()
        .registered_only();
    for_seeds(6, |seed| {
        let mut rng = Rng::new(seed);
        let mut server = eventful(4 + 10 * seed, 120);
        server.settle();
        tracked.keep_departures(&mut server, 10_000);
        let mut client =
            tracked.load().to_world(&tracked.save().to_bytes(&server).unwrap()).unwrap();
        let mut follower = World::new();
        follower.spawn_empty_batch(3).unwrap();
        let mut mirror = Mirror::new(tracked.clone());
        mirror.update(&mut follower, &tracked.save().to_bytes(&server).unwrap()).unwrap();
        for _ in 0..20 {
            let sent = server.advance_tick();
            let changes = rng.below(40);
            (0..changes).for_each(|_| _ = change(&mut server, &mut rng));
            server.settle();
            let delta = tracked.delta(&server, sent).unwrap();
            let delta = Delta::from_bytes(delta.as_bytes().to_vec());

            tracked.apply(&mut client, &delta).unwrap();
            client.verify().unwrap();
            let diff = tracked.diff(&server, &client).unwrap();
            assert!(diff.is_empty(), "{diff}");
            mirror.apply(&mut follower, &delta).unwrap();
            follower.verify().unwrap();
            for there in server.entities() {
                let here = mirror.get(there).unwrap();
                let small = |world: &World, id| world.get::<Small>(id).map(|small| small.0);
                assert_eq!(small(&follower, here), small(&server, there));
                assert_eq!(follower.has::<Rare>(here), server.has::<Rare>(there));
                assert_eq!(follower.has::<Link>(here), server.has::<Link>(there));
            }
        }
    });
}

#[test]
fn what_is_not_known_any_more_is_asked_for_in_vain() {
    let types = types();
    let mut world = World::new();
    let start = world.advance_tick();
    let e = world.spawn(Small(1));
    world.advance_tick();
    types.keep_departures(&mut world, 2);
    let error = types.delta(&world, start).unwrap_err();
    assert!(matches!(error, SnapshotError::TooOld { .. }));
    assert!(error.to_string().contains("keep_departures"), "{error}");
    let since = world.tick();
    assert!(types.delta(&world, since).is_ok());
    world.advance_tick();
    for _ in 0..3 {
        world.remove::<Small>(e).unwrap();
        world.insert(e, Small(2)).unwrap();
    }
    assert!(matches!(types.delta(&world, since), Err(SnapshotError::TooOld { .. })));
    assert!(types.delta(&world, world.tick()).is_ok());
}

#[test]
fn what_happened_in_the_tick_that_a_delta_begins_with_is_not_in_it() {
    let types = types();
    let mut server = World::new();
    types.keep_departures(&mut server, 100);
    let ids: Vec<Entity> = (0..5).map(|n| server.spawn((Small(n), Rare(7)))).collect();
    let before = server.tick();
    server.advance_tick();
    server.despawn(ids[0]).unwrap();
    server.remove::<Rare>(ids[1]).unwrap();
    server.get_mut::<Small>(ids[2]).unwrap().0 += 1;
    server.spawn(Small(9));
    let then = server.tick();
    server.advance_tick();
    let now = server.tick();
    let length = |since| types.delta(&server, since).unwrap().as_bytes().len();

    assert_eq!(length(then), length(now));
    assert!(length(before) > length(then));
}

#[test]
fn a_delta_for_another_world_is_refused_and_nothing_changes() {
    let types = types();
    let mut server = World::new();
    types.keep_departures(&mut server, 100);
    let since = server.tick();
    server.advance_tick();
    let new = server.spawn(Small(1));
    let delta = types.delta(&server, since).unwrap();
    // Somebody else lives there.
    let mut client = World::new();
    let living = client.spawn(Small(9));
    client.despawn(living).unwrap();
    client.spawn(Small(8));
    let before = bytes(&client);

    let error = types.apply(&mut client, &delta).unwrap_err();
    assert!(matches!(error, SnapshotError::Taken(_)) && error.to_string().contains("0v0"));
    assert_eq!(bytes(&client), before);
    // A whole snapshot is no delta, and the other way round.
    let whole = Delta::from_bytes(bytes(&server));
    assert!(types.apply(&mut client, &whole).unwrap_err().to_string().contains("load"));
    let error = types.load().replace(&mut client, delta.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("apply"), "{error}");
    assert_eq!(bytes(&client), before);
    assert!(client.spawn(()) != new);
}

#[test]
fn a_delta_beyond_the_limits_of_a_world_is_refused_and_nothing_changes() {
    let types = types();
    let mut server = World::new();
    types.keep_departures(&mut server, 100);
    let since = server.tick();
    server.advance_tick();
    server.spawn_at(id(50, 0), Small(1)).unwrap();
    let delta = types.delta(&server, since).unwrap();
    let mut client = World::builder().entity_limit(10).build();
    client.spawn(Small(3));
    let before = bytes(&client);

    let refused = types.apply(&mut client, &delta);
    assert!(matches!(refused, Err(SnapshotError::Taken(_))), "{refused:?}");
    assert_eq!(bytes(&client), before);
}

#[test]
fn a_reference_to_nobody_is_not_waited_for() {
    let (mut remote, mut local) = (World::new(), World::new());
    let a = remote.spawn(Link { parent: None, friends: vec![], first: NOBODY, weight: 1 });
    let mut mirror = Mirror::new(types());
    let some = types().save().only_entities(|id| id == a).to_bytes(&remote).unwrap();

    mirror.update(&mut local, &some).unwrap();
    assert_eq!((local.len(), mirror.len()), (1, 1));
    let here = mirror.get(a).unwrap();
    assert_eq!(local.get::<Link>(here).unwrap().first, NOBODY);
}

/// What a listener spawns when a value goes.
#[derive(Component)]
struct Wreck;

fn spawns_wrecks(world: &mut World) {
    let spawn = |_: &World, _: Entity, commands: &mut Commands<'_, '_>| {
        (0..3).for_each(|_| _ = commands.spawn(Wreck));
    };
    _ = world.on_remove::<Small>(spawn);
    _ = world.on_despawn(spawn);
}

#[test]
fn ids_that_a_listener_takes_meanwhile_are_not_those_of_the_followed() {
    let tracked = esker::snapshot::SnapshotTypes::new().component::<Small>().registered_only();
    let (mut server, mut client, mut follower) = (World::new(), World::new(), World::new());
    tracked.keep_departures(&mut server, 100);
    let mut by_snapshot = Mirror::new(tracked.clone());
    let mut by_delta = Mirror::new(tracked.clone());
    let mut other = World::new();
    for world in [&mut client, &mut follower, &mut other] {
        spawns_wrecks(world);
    }
    let mut wrecks = 0;
    let mut ids: Vec<Entity> = Vec::new();
    for round in 0..4_u8 {
        let sent = server.advance_tick();
        // Some sink, and more come: at their places and at new ones.
        let sinking: Vec<Entity> = ids.drain(..ids.len() / 2).collect();
        wrecks += 6 * server.despawn_batch(sinking);
        ids.extend((0..4 + round).map(|n| server.spawn(Small(n))));
        let delta = tracked.delta(&server, sent).unwrap();

        by_snapshot.update(&mut client, &tracked.save().to_bytes(&server).unwrap()).unwrap();
        by_delta.apply(&mut follower, &delta).unwrap();
        for (mirror, world) in [(&by_snapshot, &mut client), (&by_delta, &mut follower)] {
            world.verify().unwrap();
            assert_eq!(mirror.len(), ids.len());
            for &there in &ids {
                let here = world.get::<Small>(mirror.get(there).unwrap()).unwrap().0;
                assert_eq!(here, server.get::<Small>(there).unwrap().0);
            }
            assert_eq!(world.query::<&Wreck>().count(), wrecks);
            assert_eq!(world.len(), wrecks + ids.len());
        }
        // A world with the same ids cannot take one that a wreck has, and says so.
        match tracked.apply(&mut other, &delta) {
            Ok(()) => {}
            Err(error) => assert!(matches!(error, SnapshotError::Taken(_)) && round > 1, "{error}"),
        }
        other.verify().unwrap();
    }
}

#[test]
fn a_delta_for_free_ids_has_them_also_if_a_listener_spawns_meanwhile() {
    let tracked = esker::snapshot::SnapshotTypes::new().component::<Small>().registered_only();
    let mut server = World::new();
    tracked.keep_departures(&mut server, 100);
    let a = server.spawn(Small(1));
    let mut client = tracked.load().to_world(&tracked.save().to_bytes(&server).unwrap()).unwrap();
    spawns_wrecks(&mut client);
    let sent = server.advance_tick();
    let b = server.spawn(Small(2));
    server.despawn(a).unwrap();
    let c = server.spawn(Small(3));

    tracked.apply(&mut client, &tracked.delta(&server, sent).unwrap()).unwrap();

    client.verify().unwrap();
    assert_eq!((client.get::<Small>(b).unwrap().0, client.get::<Small>(c).unwrap().0), (2, 3));
    assert_eq!((client.len(), client.query::<&Wreck>().count()), (2 + 6, 6));
}

#[test]
fn listeners_hear_of_deaths_before_births_and_of_births_before_values() {
    use std::sync::{Arc, Mutex};
    let types = esker::snapshot::SnapshotTypes::new().component::<Small>().registered_only();
    let (mut server, mut client) = (World::new(), World::new());
    let a = server.spawn(Small(1));
    let mut mirror = Mirror::new(types.clone());
    mirror.update(&mut client, &types.save().to_bytes(&server).unwrap()).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = |word: &'static str| {
        let heard = Arc::clone(&heard);
        move |_: &World, _: Entity, _: &mut Commands<'_, '_>| heard.lock().unwrap().push(word)
    };
    _ = client.on_spawn(hears("spawn"));
    _ = client.on_add::<Small>(hears("add"));
    _ = client.on_despawn(hears("despawn"));
    server.despawn(a).unwrap();
    server.spawn(Small(2));

    mirror.update(&mut client, &types.save().to_bytes(&server).unwrap()).unwrap();
    client.refresh();

    assert_eq!(*heard.lock().unwrap(), ["despawn", "spawn", "add"]);
}

/// A listener that panics once leaves no entity behind that the mirror does not know.
#[test]
fn a_mirror_knows_all_its_entities_also_if_a_listener_panics() {
    let types = esker::snapshot::SnapshotTypes::new().component::<Small>().registered_only();
    type Listen = fn(&mut World) -> esker::world::Connection;
    let listens: [Listen; 3] = [
        |world| world.on_remove::<Small>(|_, _, _| planned_panic()),
        |world| world.on_spawn(|_, _, _| planned_panic()),
        |world| world.on_despawn(|_, _, _| planned_panic()),
    ];
    for (nth, listen) in listens.into_iter().enumerate() {
        let (mut server, mut client) = (World::new(), World::new());
        let ids: Vec<Entity> = (0..4).map(|n| server.spawn(Small(n))).collect();
        let mut mirror = Mirror::new(types.clone());
        mirror.update(&mut client, &types.save().to_bytes(&server).unwrap()).unwrap();
        server.despawn(ids[0]).unwrap();
        server.remove::<Small>(ids[1]).unwrap();
        server.spawn(Small(7));
        let sent = types.save().to_bytes(&server).unwrap();
        let connection = listen(&mut client);

        assert!(panics_as_planned(|| mirror.update(&mut client, &sent)), "{nth}");
        client.verify().unwrap();
        client.disconnect(connection);
        mirror.update(&mut client, &sent).unwrap();

        assert_eq!((mirror.len(), client.len()), (4, 4), "{nth}");
        assert_eq!(client.query::<&Small>().count(), 3);
        let connection = listen(&mut client);
        _ = panics_as_planned(|| mirror.despawn_orphans(&mut client));
        client.disconnect(connection);
        mirror.despawn_orphans(&mut client);
        assert_eq!((mirror.len(), client.len()), (3, 3), "{nth}");
    }
}
