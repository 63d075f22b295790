//! The operations: each does one thing to the world, the same to the model, and compares.

use std::ops::DerefMut;

use esker::Entity;
use esker::world::ComponentError;

use crate::common::{Rng, id, later};
use crate::kinds::{Kind, Owned, Rare, SHAPES, Shape, Stable, with_kind, with_shape};
use crate::run::Run;
use crate::{pool_ops, query_ops, wild_ops};

pub type Operation = fn(&mut Run);

/// Operations, how often each comes, and its name.
const OPERATIONS: &[(&str, usize, Operation)] = &[
    ("spawn", 12, spawn),
    ("spawn_empty", 3, spawn_empty),
    ("spawn_batch", 3, spawn_batch),
    ("spawn_columns", 3, spawn_columns),
    ("spawn_at", 8, spawn_at),
    ("reserve_entity", 3, reserve_entity),
    ("despawn", 12, despawn),
    ("despawn_batch", 2, despawn_batch),
    ("insert", 14, insert),
    ("try_add", 5, try_add),
    ("replace", 5, replace),
    ("patch", 5, patch),
    ("remove", 10, remove),
    ("take", 5, take),
    ("get", 5, get),
    ("get_mut", 5, get_mut),
    ("get_or_insert_with", 5, get_or_insert_with),
    ("has", 5, has),
    ("entity_mut", 5, entity_mut),
    ("clear", 1, clear),
    ("clear_pool", 1, clear_pool),
    ("shrink_to_fit", 1, shrink_to_fit),
    ("reserve", 1, reserve),
    ("pool insert", 5, pool_ops::insert),
    ("pool remove", 5, pool_ops::remove),
    ("pool retain", 2, pool_ops::retain),
    ("pool swap", 3, pool_ops::swap),
    ("pool clear", 1, pool_ops::clear),
    ("pool values", 2, pool_ops::values),
    ("pool memory", 1, pool_ops::memory),
    ("locked", 3, pool_ops::locked),
    ("query that reads", 6, query_ops::read),
    ("query that writes", 4, query_ops::write),
    ("query of one entity", 4, query_ops::one),
];

/// One of the operations.
pub fn choose(rng: &mut Rng, is_wild: bool) -> (&'static str, Operation) {
    if is_wild && rng.one_in(4) {
        return rng.pick(wild_ops::OPERATIONS);
    }
    let total = OPERATIONS.iter().map(|&(_, weight, _)| weight).sum();
    let mut at = rng.below(total);
    for &(name, weight, operation) in OPERATIONS {
        if at < weight {
            return (name, operation);
        }
        at -= weight;
    }
    unreachable!("`at` is below the sum of the weights")
}

/// Makes room if the world is as big as planned.
fn keep_small(run: &mut Run) {
    if run.model.rows.len() > run.size {
        despawn_batch(run);
    }
}

pub fn spawn(run: &mut Run) {
    keep_small(run);
    let shape = run.rng.below(SHAPES);
    with_shape!(shape, S => spawn_shape::<S>(run));
}

fn spawn_shape<S: Shape>(run: &mut Run) {
    let expected = run.model.ids.peek();
    let (bundle, values) = run.bundle::<S>(expected.unwrap_or(id(0, 0)));

    let spawned = run.world.try_spawn(bundle).ok();

    assert_eq!(spawned.is_some(), expected.is_some());
    if let Some(entity) = spawned {
        claim(run, entity);
        enter(run, entity, &values);
    }
}

/// Notes that an id was given out: the next one, or in a world with homes that of a dead one.
#[track_caller]
fn claim(run: &mut Run, entity: Entity) {
    match run.model.ids.peek() {
        next if next == Some(entity) => _ = run.model.ids.spawn(),
        next => {
            assert!(run.has_homes(), "{entity} instead of {next:?}");
            run.model.ids.take_over(entity);
        }
    }
}

/// Enters what has just been spawned, if an id was left.
fn born(run: &mut Run, values: &[(usize, u64)]) {
    if let Some(entity) = run.model.ids.spawn() {
        enter(run, entity, values);
    }
}

/// Enters one who has just come to life.
fn enter(run: &mut Run, entity: Entity, values: &[(usize, u64)]) {
    run.note(entity);
    run.model.born(entity, values);
    for &(kind, _) in values {
        check_one(run, entity, kind);
    }
}

fn spawn_empty(run: &mut Run) {
    keep_small(run);
    let Some(expected) = run.model.ids.peek() else { return };

    assert_eq!(run.world.spawn_empty(), expected);

    born(run, &[]);
}

fn spawn_batch(run: &mut Run) {
    keep_small(run);
    match run.rng.below(3) {
        0 => spawn_batch_of::<crate::kinds::All>(run),
        1 => spawn_batch_of::<(crate::kinds::Rare, crate::kinds::Stable)>(run),
        _ => spawn_batch_of::<crate::kinds::Plain>(run),
    }
}

/// An iterator whose size hint is what somebody says it is.
struct Hinted<I>(I, (usize, Option<usize>));

impl<I: Iterator> Iterator for Hinted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.1
    }
}

fn spawn_batch_of<S: Shape>(run: &mut Run) {
    let most = (run.size / 4).max(5);
    let len = run.rng.below(most).min(run.model.ids.room(most));
    let mut ids = run.model.ids.clone();
    let expected: Vec<Entity> = (0..len).map_while(|_| ids.spawn()).collect();
    let (bundles, values): (Vec<S>, Vec<_>) = expected.iter().map(|&e| run.bundle::<S>(e)).unzip();
    let hint = run.rng.pick(&[(len, Some(len)), (0, None), (len / 2, Some(0)), (len + 50, None)]);

    let has_homes = run.has_homes();
    let mut batch = run.world.spawn_batch(Hinted(bundles.into_iter(), hint));
    let mut spawned = Vec::new();
    let one_by_one = run.rng.below(len + 1);
    spawned.extend(batch.by_ref().take(one_by_one));
    if has_homes || run.rng.one_in(2) {
        // The rest in one go, seen or not.
        batch.for_each(|entity| spawned.push(entity));
        assert_eq!(spawned.len(), len);
    } else {
        drop(batch);
    }

    // Without homes the ids are known in advance, also those that were not looked at.
    if !has_homes {
        assert_eq!(spawned, expected[..spawned.len()]);
        spawned = expected;
    }
    let mut kinds = Vec::new();
    S::kinds(&mut kinds);
    kinds.into_iter().for_each(|kind| run.model.know(kind));
    for (entity, values) in spawned.into_iter().zip(values) {
        claim(run, entity);
        run.model.born(entity, &values);
    }
}

fn spawn_columns(run: &mut Run) {
    keep_small(run);
    let most = (run.size / 4).max(5);
    let len = run.rng.below(most);
    let mut ids = run.model.ids.clone();
    let expected: Vec<Entity> = (0..len).map_while(|_| ids.spawn()).collect();
    // Those without an id get values too, which must be dropped.
    let owners = expected.iter().copied().chain(std::iter::repeat(id(0, 0))).take(len);
    let mut values = Vec::new();
    let mut columns = (Vec::new(), (Vec::new(), Vec::new()));
    for owner in owners {
        let ((owned, stable, rare), of_row) = run.bundle::<(Owned, Stable, Rare)>(owner);
        columns.0.push(owned);
        columns.1.0.push(stable);
        columns.1.1.push(rare);
        values.push(of_row);
    }

    let spawned = run.world.spawn_columns(columns).map(|ids| ids.collect::<Vec<_>>());

    [1, 2, 4].into_iter().for_each(|kind| run.model.know(kind));
    assert_eq!(spawned.as_ref().ok(), (expected.len() == len).then_some(&expected));
    for (entity, values) in spawned.into_iter().flatten().zip(values) {
        assert_eq!(run.model.ids.spawn(), Some(entity));
        run.model.born(entity, &values);
    }
}

fn spawn_at(run: &mut Run) {
    keep_small(run);
    let demanded = match run.rng.below(8) {
        // Not used yet, or soon.
        0..=1 => {
            let near = run.model.ids.peek().map_or(0, Entity::index);
            id(near.saturating_add(run.rng.index_below(4)), run.rng.index_below(3))
        }
        // Far away; rarely, because pages make looking at the whole world slow.
        2 if run.rng.one_in(4) => {
            let far = [4095, 4096, 819_200, 4_000_000_000, Entity::MAX_INDEX];
            id(run.rng.pick(&far), run.rng.pick(&[0, 1, 5, Entity::MAX_VERSION]))
        }
        // Dead, in its own, an earlier or a later version.
        2..=6 if !run.graves.is_empty() => {
            let at = run.rng.below(run.graves.len());
            let dead = run.graves[at];
            let earlier = id(dead.index(), dead.version().saturating_sub(1));
            run.rng.pick(&[dead, id(dead.index(), 0), earlier, later(dead, 2)])
        }
        // Alive, in its own or another version.
        _ => {
            let living = run.living_id();
            later(living, run.rng.index_below(2))
        }
    };
    run.note(demanded);
    let shape = run.rng.below(SHAPES);
    with_shape!(shape, S => {
        let (bundle, values) = run.bundle::<S>(demanded);

        let spawned = run.world.spawn_at(demanded, bundle);

        assert_eq!(spawned, run.model.ids.spawn_at(demanded));
        if spawned.is_ok() {
            run.model.born(demanded, &values);
        }
    });
}

fn reserve_entity(run: &mut Run) {
    keep_small(run);
    let len = 1 + run.rng.below(4);
    let mut reserved = Vec::new();
    for _ in 0..len {
        let expected = run.model.ids.reserve();
        assert_eq!(run.world.reserve_entity().ok(), expected);
        reserved.extend(expected);
    }
    for &entity in &reserved {
        assert!(!run.world.is_alive(entity) && !run.world.is_orphan(entity), "{entity}");
        assert!(run.world.entity(entity).is_err());
        assert!(run.world.get::<crate::kinds::Owned>(entity).is_none());
    }
    assert_eq!(run.world.len(), run.model.rows.len(), "reserved ids are not alive");

    // Everything that changes structure brings them to life.
    reserved.iter().for_each(|&entity| run.model.born(entity, &[]));
    match run.rng.below(6) {
        0 => spawn(run),
        1 => despawn(run),
        2 => spawn_at(run),
        3 if !reserved.is_empty() => {
            let entity = run.rng.pick(&reserved);
            let (value, expected) = run.maker.make::<crate::kinds::Stable>(entity);
            run.world.insert(entity, value).unwrap();
            run.model.put(entity, crate::kinds::Stable::NUMBER, expected);
        }
        4 => despawn_batch(run),
        _ => run.world.settle(),
    }
    // What `despawn_batch` was given may have been nothing at all.
    run.world.settle();
    for entity in reserved {
        assert_eq!(run.world.is_alive(entity), run.model.is_alive(entity), "{entity}");
    }
}

pub fn despawn(run: &mut Run) {
    let entity = run.any_id();

    let died = if run.rng.one_in(4) {
        run.world.entity_mut(entity).map(|found| found.despawn()).is_ok()
    } else {
        run.world.despawn(entity).is_ok()
    };

    assert_eq!(died, run.bury(entity));
    assert!(!run.world.is_alive(entity));
}

fn despawn_batch(run: &mut Run) {
    let len = run.rng.below(run.size / 4 + 4);
    let entities: Vec<Entity> = (0..len).map(|_| run.any_id()).collect();

    let died = run.world.despawn_batch(entities.iter().copied());

    let expected = entities.into_iter().filter(|&entity| run.bury(entity)).count();
    assert_eq!(died, expected);
}

pub fn insert(run: &mut Run) {
    let (entity, shape) = (run.any_id(), run.rng.below(SHAPES));
    with_shape!(shape, S => {
        let (bundle, values) = run.bundle::<S>(entity);

        let inserted = run.world.insert(entity, bundle);

        assert_eq!(inserted.is_ok(), run.model.is_alive(entity));
        if inserted.is_ok() {
            for (kind, value) in values {
                run.model.put(entity, kind, value);
            }
        }
    });
}

fn try_add(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let (value, expected) = run.maker.make::<K>(entity);

        let added = run.world.try_add(entity, value);

        assert_eq!(added.is_ok(), run.model.is_alive(entity) && !run.model.has(entity, kind));
        match added {
            Ok(()) => _ = run.model.put(entity, kind, expected),
            Err(ComponentError::Present { .. }) => assert!(run.model.has(entity, kind)),
            Err(_) => assert!(!run.model.is_alive(entity)),
        }
        check_one(run, entity, kind);
    });
}

fn replace(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let (value, expected) = run.maker.make::<K>(entity);

        let old = run.world.replace(entity, value);

        assert_eq!(old.as_ref().ok().map(Kind::value), run.model.get(entity, kind));
        match old {
            Ok(_) => _ = run.model.put(entity, kind, expected),
            Err(ComponentError::Missing { .. }) => assert!(run.model.is_alive(entity)),
            Err(_) => assert!(!run.model.is_alive(entity)),
        }
        check_one(run, entity, kind);
    });
}

fn patch(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let next = run.maker.value::<K>(entity);

        let old = run.world.patch(entity, |value: &mut K| {
            let old = value.value();
            value.set(next);
            old
        });

        assert_eq!(old.ok(), run.model.get(entity, kind));
        if old.is_ok() {
            run.model.put(entity, kind, next);
        }
        check_one(run, entity, kind);
    });
}

pub fn remove(run: &mut Run) {
    let (entity, shape) = (run.any_id(), run.rng.below(SHAPES));
    with_shape!(shape, S => {
        let removed = run.world.remove::<S>(entity);

        assert_eq!(removed.is_ok(), run.model.is_alive(entity));
        if let Ok(parts) = removed {
            let (mut values, mut kinds) = (Vec::new(), Vec::new());
            S::read_parts(parts, &mut values);
            S::kinds(&mut kinds);
            let expected: Vec<_> = kinds.into_iter().map(|k| run.model.take(entity, k)).collect();
            assert_eq!(values, expected);
        }
    });
}

fn take(run: &mut Run) {
    // The last shape names a component twice and cannot be taken.
    let (entity, shape) = (run.any_id(), run.rng.below(SHAPES - 1));
    with_shape!(shape, S => {
        let taken = run.world.take::<S>(entity);

        let mut kinds = Vec::new();
        S::kinds(&mut kinds);
        let all = run.model.is_alive(entity) && kinds.iter().all(|&k| run.model.has(entity, k));
        assert_eq!(taken.is_ok(), run.model.is_alive(entity));
        let taken = taken.ok().flatten();
        assert_eq!(taken.is_some(), all);
        if let Some(bundle) = taken {
            let mut values = Vec::new();
            bundle.read(&mut values);
            let expected: Vec<_> = kinds.into_iter().map(|k| run.model.take(entity, k)).collect();
            assert_eq!(values, expected);
        }
    });
}

fn get(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());

    check_one(run, entity, kind);

    let found = run.world.entity(entity).ok();
    assert_eq!(found.is_some(), run.model.is_alive(entity));
    if let Some(found) = found {
        assert_eq!(found.id(), entity);
        assert_eq!(found.has::<crate::kinds::Tag>(), run.model.has(entity, 5));
        assert_eq!(found.component_names().count(), run.model.rows[&entity].len());
    }
    assert_eq!(run.world.entity_at(entity.index()), run.model.ids.at(entity.index()));
}

fn get_mut(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let next = run.maker.value::<K>(entity);

        let value = run.world.get_mut::<K>(entity);

        assert_eq!(value.as_ref().map(|value| value.value()), run.model.get(entity, kind));
        if let Some(value) = value {
            write(value, next);
            run.model.put(entity, kind, next);
        }
        check_one(run, entity, kind);
    });
}

/// Writes through `&mut` or through a `Mut`.
fn write<K: Kind>(mut value: impl DerefMut<Target = K>, next: u64) {
    value.set(next);
}

fn get_or_insert_with(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let next = run.maker.value::<K>(entity);
        let mut called = false;

        let ledger = &run.maker.ledger;
        let value = run.world.get_or_insert_with(entity, || {
            called = true;
            K::make(ledger, next)
        });

        let value = value.ok().map(|value| value.value());
        let alive = run.model.is_alive(entity);
        assert_eq!(called, alive && !run.model.has(entity, kind));
        assert_eq!(value, alive.then(|| run.model.get(entity, kind).unwrap_or(next)));
        if called {
            run.model.put(entity, kind, next);
        }
        check_one(run, entity, kind);
    });
}

fn has(run: &mut Run) {
    let (entity, shape) = (run.any_id(), run.rng.below(SHAPES));
    with_shape!(shape, S => {
        let mut kinds = Vec::new();
        S::kinds(&mut kinds);
        let alive = run.model.is_alive(entity);

        let all = alive && kinds.iter().all(|&kind| run.model.has(entity, kind));
        assert_eq!(run.world.has::<S>(entity), all);
        let any = alive && kinds.iter().any(|&kind| run.model.has(entity, kind));
        assert_eq!(run.world.has_any::<S>(entity), any);
        let count = run.model.rows.get(&entity).map_or(0, |row| row.len());
        assert_eq!(run.world.component_names(entity).count(), count);
        assert_eq!(run.world.component_ids(entity).count(), count);
        assert_eq!(run.world.is_orphan(entity), alive && count == 0);
    });
}

fn entity_mut(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());
    with_kind!(kind, K => {
        let (value, first) = run.maker.make::<K>(entity);
        let second = run.maker.value::<K>(entity);
        let act = run.rng.below(4);

        let Ok(mut found) = run.world.entity_mut(entity) else {
            return assert!(!run.model.is_alive(entity));
        };
        match act {
            0 => {
                found.insert(value).patch(|value: &mut K| value.set(second)).unwrap();
                run.model.put(entity, kind, second);
            }
            1 => {
                found.insert(value).remove::<(K, crate::kinds::Rare)>();
                run.model.put(entity, kind, first);
                run.model.take(entity, kind);
                run.model.take(entity, 4);
            }
            2 => {
                let taken = found.take::<K>().map(|value| value.value());
                assert_eq!(taken, run.model.take(entity, kind));
            }
            _ => {
                let ours = found.get_or_insert_with(|| value).value();
                assert_eq!(ours, run.model.get(entity, kind).unwrap_or(first));
                if !run.model.has(entity, kind) {
                    run.model.put(entity, kind, ours);
                }
            }
        }
        assert_eq!(found.as_ref().has::<K>(), run.model.has(entity, kind));
        check_one(run, entity, kind);
    });
}

fn clear(run: &mut Run) {
    if run.rng.one_in(2) {
        return;
    }
    run.world.clear();

    run.graves.extend(run.model.rows.keys());
    run.model.clear();
    run.compare();
}

fn clear_pool(run: &mut Run) {
    let kind = run.any_kind();
    with_kind!(kind, K => run.world.clear_pool::<K>());

    for entity in run.model.order[kind].clone() {
        run.model.take(entity, kind);
        check_one(run, entity, kind);
    }
}

fn shrink_to_fit(run: &mut Run) {
    let before = run.world.memory_report();

    run.world.shrink_to_fit();

    let after = run.world.memory_report();
    assert!(after.total() <= before.total(), "{before:#?} became {after:#?}");
    run.compare();
}

fn reserve(run: &mut Run) {
    let additional = run.rng.below(5000);

    run.world.reserve(additional);
}

/// One component of one entity, read in every way.
#[track_caller]
pub fn check_one(run: &mut Run, entity: Entity, kind: usize) {
    let expected = run.model.get(entity, kind);
    with_kind!(kind, K => {
        let world = &run.world;
        assert_eq!(world.get::<K>(entity).map(|value| value.value()), expected, "{entity}");
        assert_eq!(world.try_get::<K>(entity).unwrap().is_some(), expected.is_some());
        assert_eq!(world.pool::<K>().get(entity).map(Kind::value), expected);
        assert_eq!(world.pool::<K>().contains(entity), expected.is_some());
        assert_eq!(world.has::<K>(entity), expected.is_some(), "{entity}");
    });
}
