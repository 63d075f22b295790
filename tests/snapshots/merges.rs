//! Snapshots that come beside what is there, with new ids.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use esker::snapshot::{
    Dangling, EntityMapper, MapEntities, Merged, NOBODY, Snapshot, SnapshotError,
};
use esker::{Component, Entity, World};
use serde::{Deserialize, Serialize};

use crate::common::id;
use crate::for_seeds;
use crate::kinds::*;

/// What a link becomes where ids are replaced by these.
fn mapped(link: &Link, merged: &Merged) -> Link {
    Link {
        parent: link.parent.and_then(|id| merged.get(id)),
        friends: link.friends.iter().filter_map(|&id| merged.get(id)).collect(),
        first: merged.get(link.first).unwrap_or(esker::snapshot::NOBODY),
        weight: link.weight,
    }
}

/// J6, J7 of the bugs seen elsewhere: twice into a world that is not empty; forward, self and
/// cyclic references are mapped once, and to the entities of this very copy.
#[test]
fn a_snapshot_merged_twice_refers_to_its_own_copies() {
    for_seeds(10, |seed| {
        let source = eventful(seed, 200);
        let saved = bytes(&source);
        let mut source = types().load().to_world(&saved).unwrap();
        let mut target = eventful(5 * (seed + 1), 150);
        let text = json(&source);
        let before: Vec<Entity> = target.entities().collect();

        let first = types().load().merge(&mut target, &saved).unwrap();
        target.verify().unwrap();
        let mut from = serde_json::Deserializer::from_str(&text);
        let second = types().load().deserialize_merge(&mut target, &mut from).unwrap();
        target.verify().unwrap();

        let copies = |merged: &Merged| merged.iter().map(|pair| pair.1).collect::<BTreeSet<_>>();
        let (one, two) = (copies(&first), copies(&second));
        assert!(one.is_disjoint(&two) && one.len() == source.len() && two.len() == source.len());
        assert!(before.iter().all(|id| !one.contains(id) && !two.contains(id)));
        let living: Vec<Entity> = source.entities().collect();
        for merged in [&first, &second] {
            for &remote in &living {
                let local = merged.get(remote).unwrap();
                let link = source.get::<Link>(remote).map(|link| mapped(&link, merged));
                assert_eq!(target.get::<Link>(local).map(|link| link.clone()), link);
                let names = |world: &World, id| world.get::<Name>(id).map(|name| name.0.clone());
                assert_eq!(names(&target, local), names(&source, remote));
                assert_eq!(
                    target.get::<Wide>(local).map(|wide| wide.0),
                    source.get::<Wide>(remote).map(|wide| wide.0)
                );
                assert_eq!(
                    target.component_names(local).collect::<BTreeSet<_>>(),
                    source.component_names(remote).collect::<BTreeSet<_>>()
                );
            }
        }
        // Merged entities live as others do.
        assert_eq!(target.despawn_batch(one), source.len());
        target.verify().unwrap();
        source.clear();
    });
}

/// Ids of others as the keys of maps.
#[derive(Component, Snapshot, MapEntities, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[snapshot(clone, entities)]
struct Grudges(#[entities] HashMap<Entity, u32>, #[entities] BTreeMap<Entity, u32>);

#[test]
fn ids_that_are_keys_are_mapped_too() {
    let mut source = World::new();
    let enemy = source.spawn(Small(1));
    let id = source.spawn(Grudges(HashMap::from([(enemy, 3)]), BTreeMap::from([(enemy, 4)])));
    let types = types().component::<Grudges>();
    let saved = types.save().to_bytes(&source).unwrap();
    let mut target = World::new();
    target.spawn_empty_batch(5).unwrap();

    let merged = types.load().merge(&mut target, &saved).unwrap();

    let (id, enemy) = (merged.get(id).unwrap(), merged.get(enemy).unwrap());
    let expected = Grudges(HashMap::from([(enemy, 3)]), BTreeMap::from([(enemy, 4)]));
    assert_eq!(*target.get::<Grudges>(id).unwrap(), expected);
}

#[test]
fn what_leads_nowhere_goes_out_of_every_container() {
    let [here, there, gone] = [1, 2, 3].map(|index| id(index, 0));
    let map = |value: &mut dyn MapEntities| {
        let mut map = |entity| (entity == here).then_some(there);
        value.map_entities(&mut EntityMapper::new(&mut map))
    };
    #[track_caller]
    fn becomes<T: MapEntities + PartialEq + std::fmt::Debug>(
        map: impl Fn(&mut dyn MapEntities) -> bool,
        mut before: T,
        after: T,
        leads: bool,
    ) {
        assert_eq!(map(&mut before), leads, "{after:?}");
        assert_eq!(before, after);
    }

    becomes(map, here, there, true);
    becomes(map, gone, NOBODY, false);
    becomes(map, Some(here), Some(there), true);
    becomes(map, Some(gone), None, true);
    becomes(map, vec![gone, here, gone], vec![there], true);
    becomes(map, VecDeque::from([gone, here]), VecDeque::from([there]), true);
    becomes(map, HashSet::from([gone, here]), HashSet::from([there]), true);
    becomes(map, BTreeSet::from([gone, here]), BTreeSet::from([there]), true);
    becomes(map, [here, here], [there, there], true);
    becomes(map, [gone, here], [NOBODY, there], false);
    becomes(map, (here, Some(gone)), (there, None), true);
    becomes(map, (gone, here), (NOBODY, there), false);
    becomes(map, Box::new(here), Box::new(there), true);
    becomes(map, Box::new(gone), Box::new(NOBODY), false);
    becomes(map, HashMap::from([(here, 1), (gone, 2)]), HashMap::from([(there, 1)]), true);
    becomes(map, BTreeMap::from([(here, 1), (gone, 2)]), BTreeMap::from([(there, 1)]), true);
}

#[test]
fn ids_in_resources_are_mapped_too() {
    let mut source = World::new();
    let hero = source.spawn(Small(1));
    source.insert_resource(Hero(Some(hero)));
    let mut target = World::new();
    target.spawn_empty_batch(5).unwrap();
    target.insert_resource(Score(3));

    let merged = types().load().merge(&mut target, &bytes(&source)).unwrap();
    assert_eq!(target.resource::<Hero>().0, merged.get(hero));
    assert_eq!(target.resource::<Score>().0, 3, "what the snapshot has not stays");
}

#[test]
fn references_that_lead_nowhere_are_listed_or_refused() {
    let mut source = World::new();
    let [a, b] = [source.spawn(()), source.spawn(())];
    source.insert(a, Link { parent: Some(b), friends: vec![b, a], first: a, weight: 0 }).unwrap();
    source.despawn(b).unwrap();
    let saved = bytes(&source);
    let mut target = World::new();
    // An entity that has the id of the one that is gone, by accident.
    target.spawn_at(b, ()).unwrap();
    let before = bytes(&target);

    let refused = types().load().dangling(Dangling::Refuse).merge(&mut target, &saved);
    let Err(SnapshotError::Dangling { name, owner, target: gone }) = refused else { panic!() };
    assert_eq!((name.as_str(), owner, gone), ("Link", Some(a), b));
    assert_eq!(bytes(&target), before);
    let merged = types().load().merge(&mut target, &saved).unwrap();
    let local = merged.get(a).unwrap();
    let expected = Link { parent: None, friends: vec![local], first: local, weight: 0 };
    assert_eq!(*target.get::<Link>(local).unwrap(), expected);
    assert_eq!(merged.report.dangling, [("Link", Some(a), b), ("Link", Some(a), b)]);
    assert_eq!((merged.get(b), merged.len(), merged.is_empty()), (None, 1, false));
}

#[test]
fn a_world_with_too_few_ids_refuses_and_is_as_it_was() {
    let mut source = World::new();
    source.spawn_empty_batch(10).unwrap();
    let saved = bytes(&source);
    let mut target = World::builder().entity_limit(12).build();
    target.spawn_empty_batch(3).unwrap();
    let before = bytes(&target);

    assert!(matches!(types().load().merge(&mut target, &saved), Err(SnapshotError::Out(_))));
    assert_eq!(bytes(&target), before);
    let first = target.entities().next().unwrap();
    target.despawn(first).unwrap();
    assert_eq!(types().load().merge(&mut target, &saved).unwrap().len(), 10);
    target.verify().unwrap();
}
