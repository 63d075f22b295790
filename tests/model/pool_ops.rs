//! Operations on one pool, beside others or alone.

use esker::world::PoolError;
use esker::{Entity, PoolMut};

use crate::common::mix;
use crate::kinds::{Kind, Maker, with_kind};
use crate::ops::check_one;
use crate::run::{Model, Run};

/// Runs an operation on the pool of a random kind, if the world knows it; who edits it alone makes it known.
fn on_pool(run: &mut Run, kind: usize, act: impl PoolAct) {
    with_kind!(kind, K => {
        if run.rng.one_in(3) {
            run.model.know(kind);
            return act.run(&mut run.world.edit_pool::<K>(), &mut run.model, &mut run.maker);
        }
        match run.world.try_pool_mut::<K>() {
            Ok(mut pool) => act.run(&mut pool, &mut run.model, &mut run.maker),
            Err(error) => {
                assert!(matches!(error, PoolError::Unknown { .. }), "{error}");
                assert!(!run.model.known.contains(&kind));
            }
        }
    });
}

/// A closure that is generic over the component.
trait PoolAct {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, maker: &mut Maker);
}

/// The whole world, whose order groups may have changed.
fn compare_all(run: &mut Run) {
    if run.wild.is_some() {
        run.adopt_order();
    }
    run.compare();
}

struct Insert(Entity);

impl PoolAct for Insert {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, maker: &mut Maker) {
        let (value, expected) = maker.make::<K>(self.0);

        let inserted = pool.insert(self.0, value);

        assert_eq!(inserted.is_ok(), model.is_alive(self.0));
        if let Ok(old) = inserted {
            assert_eq!(old.map(|old| old.value()), model.put(self.0, K::NUMBER, expected));
        }
    }
}

pub fn insert(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());

    on_pool(run, kind, Insert(entity));

    check_one(run, entity, kind);
}

struct Remove(Entity);

impl PoolAct for Remove {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, _: &mut Maker) {
        let removed = pool.remove(self.0).map(|value| value.value());

        assert_eq!(removed, model.take(self.0, K::NUMBER));
        assert!(pool.get(self.0).is_none() && pool.get_mut(self.0).is_none());
    }
}

pub fn remove(run: &mut Run) {
    let (entity, kind) = (run.any_id(), run.any_kind());

    on_pool(run, kind, Remove(entity));

    check_one(run, entity, kind);
}

/// Keeps those whose id says so, and gives the others of them a new value.
struct Retain(u64, bool);

impl PoolAct for Retain {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, maker: &mut Maker) {
        let stays = |entity: Entity| !mix(entity.to_bits() ^ self.0).is_multiple_of(3);
        let mut visited = Vec::new();
        let mut changed = Vec::new();

        pool.retain(|entity, value| {
            assert_eq!(Some(value.value()), model.get(entity, K::NUMBER), "{entity}");
            visited.push(entity);
            if stays(entity) {
                let next = maker.value::<K>(entity);
                value.set(next);
                changed.push((entity, next));
            }
            stays(entity)
        });

        // Packed order, except that the last one is visited early when it moves to a freed place.
        let mut expected = Vec::new();
        let mut at = 0;
        while let Some(&entity) = model.order[K::NUMBER].get(at) {
            expected.push(entity);
            if stays(entity) {
                at += 1;
            } else {
                model.take(entity, K::NUMBER);
            }
        }
        // A group has an order of its own.
        if self.1 {
            visited.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(visited, expected);
        for (entity, value) in changed {
            model.put(entity, K::NUMBER, value);
        }
    }
}

pub fn retain(run: &mut Run) {
    let (kind, salt) = (run.any_kind(), run.rng.next());

    let is_wild = run.wild.is_some();
    on_pool(run, kind, Retain(salt, is_wild));

    compare_all(run);
}

struct Swap(usize, usize, bool);

impl PoolAct for Swap {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, _: &mut Maker) {
        let len = pool.len();
        assert_eq!(pool.is_empty(), len == 0);
        if len > 0 {
            let (a, b) = (self.0 % len, self.1 % len);
            match pool.swap(a, b) {
                Ok(()) => model.order[K::NUMBER].swap(a, b),
                Err(_) => assert!(self.2, "no group owns it"),
            }
        }
        assert_eq!(pool.entities(), model.order[K::NUMBER]);
    }
}

pub fn swap(run: &mut Run) {
    let (kind, a, b) = (run.any_kind(), run.rng.below(1 << 20), run.rng.below(1 << 20));

    let is_wild = run.wild.is_some();
    on_pool(run, kind, Swap(a, b, is_wild));
}

struct Clear;

impl PoolAct for Clear {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, _: &mut Maker) {
        pool.clear();

        assert!(pool.is_empty());
        for entity in model.order[K::NUMBER].clone() {
            model.take(entity, K::NUMBER);
            assert!(!pool.contains(entity));
        }
    }
}

pub fn clear(run: &mut Run) {
    let kind = run.any_kind();

    on_pool(run, kind, Clear);

    compare_all(run);
}

/// New values through the walk that lends them.
struct Values;

impl PoolAct for Values {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, maker: &mut Maker) {
        for (entity, value) in pool.iter_mut() {
            assert_eq!(Some(value.value()), model.get(entity, K::NUMBER), "{entity}");
            let next = maker.value::<K>(entity);
            value.set(next);
            model.put(entity, K::NUMBER, next);
        }
        assert!(pool.iter().map(|(entity, _)| entity).eq(pool.entities().iter().copied()));
    }
}

pub fn values(run: &mut Run) {
    let kind = run.any_kind();

    on_pool(run, kind, Values);

    // Slices, of two storages that have them.
    let pool = run.world.pool::<crate::kinds::Aligned>();
    for (&entity, value) in pool.entities().iter().zip(pool.as_slice()) {
        assert_eq!(Some(value.value()), run.model.get(entity, 6));
    }
    if let Ok(mut pool) = run.world.try_pool_mut::<crate::kinds::Rare>() {
        let (entities, values) = pool.split_mut();
        for (&entity, value) in entities.iter().zip(values) {
            assert_eq!(Some(value.value()), run.model.get(entity, 4));
        }
    }
}

struct Memory(usize);

impl PoolAct for Memory {
    fn run<K: Kind>(self, pool: &mut PoolMut<'_, K>, model: &mut Model, _: &mut Maker) {
        if self.0.is_multiple_of(2) {
            pool.reserve(self.0);
        } else {
            pool.shrink_to_fit();
        }
        assert_eq!(pool.entities(), model.order[K::NUMBER]);
    }
}

pub fn memory(run: &mut Run) {
    let (kind, number) = (run.any_kind(), run.rng.below(200));

    on_pool(run, kind, Memory(number));

    run.compare();
}

pub fn locked(run: &mut Run) {
    let (entity, kind, act) = (run.any_id(), run.any_kind(), run.rng.below(3));
    with_kind!(kind, K => {
        let (value, expected) = run.maker.make::<K>(entity);
        let Ok(locked) = run.world.try_locked::<K>() else {
            return assert!(!run.model.known.contains(&kind));
        };

        match act {
            0 => {
                let inserted = locked.insert(entity, value);
                assert_eq!(inserted.is_ok(), run.model.is_alive(entity));
                if let Ok(old) = inserted {
                    let old = old.map(|old| old.value());
                    assert_eq!(old, run.model.put(entity, kind, expected));
                }
            }
            1 => {
                let removed = locked.remove(entity).map(|value| value.value());
                assert_eq!(removed, run.model.take(entity, kind));
            }
            _ => {
                let patched = locked.patch(entity, |value| value.set(expected));
                assert_eq!(patched.is_some(), run.model.has(entity, kind));
                if patched.is_some() {
                    run.model.put(entity, kind, expected);
                }
            }
        }
        assert_eq!(locked.len(), run.model.order[kind].len());
        assert_eq!(locked.contains(entity), run.model.has(entity, kind));
    });
    check_one(run, entity, kind);
}
