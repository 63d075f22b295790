//! Random worlds, and random changes of them, followed by the model.

use esker::{Entity, World};

use crate::common::{Rng, id};
use crate::kinds::{A, B, C, KINDS, Kind, Rare, Stable, Tag, Text, with_kind};
use crate::model::Model;

#[derive(Debug)]
pub struct Scene {
    pub world: World,
    pub model: Model,
    pub rng: Rng,
    /// Values made so far; each is its own number.
    made: u64,
}

/// Spawns `$count` entities with one of each kind, at once.
macro_rules! batch {
    ($scene:ident, $count:expr, $($kind:ident)*) => {{
        let (count, start) = ($count, $scene.made);
        let mut made = start;
        let mut rows = Vec::new();
        for _ in 0..count {
            rows.push(($({ made += 1; $kind::make(made) },)*));
        }
        let mut entities = Vec::new();
        // Not `collect`, which would spawn them one by one.
        $scene.world.spawn_batch(rows).for_each(|entity| entities.push(entity));
        $scene.made = start;
        for entity in entities {
            $scene.model.spawned(entity);
            $($scene.note::<$kind>(entity);)*
        }
        assert_eq!($scene.made, made);
    }};
}

impl Scene {
    /// A world with `scale` entities or so.
    pub fn new(mut rng: Rng, scale: usize) -> Self {
        let steps = 3 + rng.below(6);
        let mut scene = Self { world: World::new(), model: Model::default(), rng, made: 0 };
        for _ in 0..steps {
            scene.rebuild(scale);
        }
        scene.model.read_orders(&scene.world);
        scene
    }

    /// Enters the next value of `K` into the model, as that of `entity`.
    fn note<K: Kind>(&mut self, entity: Entity) -> K {
        self.made += 1;
        let value = K::make(self.made);
        self.model.put(entity, K::NUMBER, value.value());
        value
    }

    fn insert(&mut self, entity: Entity, kind: usize) {
        with_kind!(kind, K => {
            let value = self.note::<K>(entity);
            self.world.insert(entity, value).unwrap();
        });
    }

    fn remove(&mut self, entity: Entity, kind: usize) {
        with_kind!(kind, K => _ = self.world.remove::<K>(entity).unwrap());
        self.model.take(entity, kind);
    }

    /// Spawns an entity with random kinds, in random order.
    fn spawn(&mut self) {
        let entity = self.world.spawn(());
        self.model.spawned(entity);
        let mut kinds: [usize; KINDS] = std::array::from_fn(|kind| kind);
        shuffle(&mut self.rng, &mut kinds);
        let count = self.rng.below(KINDS + 1);
        for &kind in &kinds[..count] {
            self.insert(entity, kind);
        }
    }

    fn despawn(&mut self, entity: Entity) {
        self.world.despawn(entity).unwrap();
        self.model.died(entity);
    }

    /// One large step: pools come to lie alike, partly alike, backwards, mixed, with holes.
    fn rebuild(&mut self, scale: usize) {
        let kind = self.rng.below(KINDS);
        let count = self.rng.below(scale + 1);
        let mut living = self.model.living();
        match self.rng.below(11) {
            0 => batch!(self, count, A B),
            1 => batch!(self, count, A B C Text Tag),
            2 => batch!(self, count, B Stable Rare A),
            3 => batch!(self, count, A B C Text Stable Rare Tag),
            4 => (0..count / 2).for_each(|_| self.spawn()),
            5 => {
                living.reverse();
                living.truncate(count);
                living.iter().for_each(|&entity| self.insert(entity, kind));
            }
            6 => {
                shuffle(&mut self.rng, &mut living);
                living.truncate(count);
                living.iter().for_each(|&entity| self.insert(entity, kind));
            }
            7 => {
                let step = 2 + self.rng.below(20);
                let leaving = self.model.members(kind).into_iter().step_by(step);
                leaving.for_each(|entity| self.remove(entity, kind));
            }
            8 => {
                let dying: Vec<Entity> =
                    living.into_iter().filter(|_| self.rng.one_in(4)).collect();
                dying.into_iter().for_each(|entity| self.despawn(entity));
            }
            9 => (0..self.rng.below(6)).for_each(|_| self.swap(kind)),
            _ => {
                // Far from all others, so that it has a page of its own.
                let far = id(100_000 * self.rng.index_below(4), self.rng.index_below(4));
                if self.world.spawn_at(far, ()).is_ok() {
                    self.model.spawned(far);
                    [A::NUMBER, Stable::NUMBER, kind].iter().for_each(|&k| self.insert(far, k));
                }
            }
        }
    }

    fn swap(&mut self, kind: usize) {
        let len = self.model.members(kind).len();
        if len > 0 {
            let (a, b) = (self.rng.below(len), self.rng.below(len));
            with_kind!(kind, K => self.world.pool_mut::<K>().swap(a, b).unwrap());
        }
    }

    /// One small change; the model knows of it.
    pub fn change(&mut self) {
        let kind = self.rng.below(KINDS);
        let living = self.model.living();
        let members = self.model.members(kind);
        let anybody = (!living.is_empty()).then(|| self.rng.pick(&living));
        let member = (!members.is_empty()).then(|| self.rng.pick(&members));
        match (self.rng.below(16), anybody, member) {
            (0..=2, Some(entity), _) => self.insert(entity, kind),
            (3..=4, _, Some(entity)) => self.remove(entity, kind),
            (5, Some(entity), _) => self.despawn(entity),
            (6, Some(entity), _) => {
                // Its index is given out again.
                self.despawn(entity);
                self.spawn();
            }
            (7..=8, ..) => self.swap(kind),
            (9, _, Some(entity)) => {
                // As many as before, but at the end.
                self.remove(entity, kind);
                self.insert(entity, kind);
            }
            (10, Some(entity), _) => with_kind!(kind, K => {
                let value = self.note::<K>(entity);
                self.world.register::<K>();
                self.world.pool_mut::<K>().insert(entity, value).unwrap();
            }),
            (11, _, Some(entity)) => {
                with_kind!(kind, K => self.world.pool_mut::<K>().retain(|e, _| e != entity));
                self.model.take(entity, kind);
            }
            (12, _, Some(_)) if self.rng.one_in(3) => {
                with_kind!(kind, K => self.world.clear_pool::<K>());
                members.into_iter().for_each(|entity| self.model.take(entity, kind));
            }
            (13, ..) => batch!(self, 1 + self.rng.below(3), B C Rare),
            (14, ..) if self.rng.one_in(8) => {
                self.world.clear();
                living.into_iter().for_each(|entity| self.model.died(entity));
            }
            (15, ..) if self.rng.one_in(4) => self.world.shrink_to_fit(),
            _ => self.spawn(),
        }
        self.model.read_orders(&self.world);
        self.world.verify().unwrap();
    }

    /// Gives somebody another value in place of the old one; nothing moves.
    pub fn replace(&mut self) {
        let kind = self.rng.below(KINDS);
        let members = self.model.members(kind);
        if members.is_empty() {
            return;
        }
        let entity = self.rng.pick(&members);
        with_kind!(kind, K => {
            let value = self.note::<K>(entity);
            match self.rng.below(4) {
                0 => self.world.insert(entity, value).unwrap(),
                1 => _ = self.world.replace(entity, value).unwrap(),
                2 => *self.world.get_mut::<K>(entity).unwrap() = value,
                _ => _ = self.world.pool_mut::<K>().insert(entity, value).unwrap(),
            }
        });
    }
}

pub fn shuffle<T>(rng: &mut Rng, list: &mut [T]) {
    for at in (1..list.len()).rev() {
        list.swap(at, rng.below(at + 1));
    }
}
