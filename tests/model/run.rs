//! One run: a world, its model, and the comparison of the two.

use std::collections::BTreeMap;

use esker::{Entity, World};

use crate::common::{CROWD, Extra, Rng, id, later, register_crowd};
use crate::ids::Ids;
use crate::kinds::{COUNTED, Ghost, KINDS, Kind, Maker, Shape, Watched, with_kind};
use crate::ops;
use crate::wild_ops::Wild;

/// What the world should be.
#[derive(Debug, Clone)]
pub struct Model {
    pub ids: Ids,
    /// What each living entity has.
    pub rows: BTreeMap<Entity, BTreeMap<usize, u64>>,
    /// The packed order of each pool.
    pub order: [Vec<Entity>; KINDS],
    /// Kinds the world knows, in the order in which it came to know them.
    pub known: Vec<usize>,
    /// Who has lost what since the readers have read, in any order.
    pub lost: [Vec<Entity>; KINDS],
    /// When the tracked kind of an entity was added and changed, and what time it is.
    pub ticks: BTreeMap<Entity, (u64, u64)>,
    pub now: u64,
}

impl Model {
    pub fn new(ids: Ids) -> Self {
        let (rows, ticks) = (BTreeMap::new(), BTreeMap::new());
        let (order, lost) = Default::default();
        Self { ids, rows, order, known: Vec::new(), lost, ticks, now: 0 }
    }

    pub fn know(&mut self, kind: usize) {
        if !self.known.contains(&kind) {
            self.known.push(kind);
        }
    }

    pub fn is_alive(&self, entity: Entity) -> bool {
        self.rows.contains_key(&entity)
    }

    pub fn get(&self, entity: Entity, kind: usize) -> Option<u64> {
        self.rows.get(&entity)?.get(&kind).copied()
    }

    pub fn has(&self, entity: Entity, kind: usize) -> bool {
        self.get(entity, kind).is_some()
    }

    pub fn put(&mut self, entity: Entity, kind: usize, value: u64) -> Option<u64> {
        self.know(kind);
        let row = self.rows.get_mut(&entity).expect("only the living get values");
        let old = row.insert(kind, value);
        if old.is_none() {
            self.order[kind].push(entity);
        }
        if kind == Watched::NUMBER {
            let added = if old.is_none() { self.now } else { self.ticks[&entity].0 };
            self.ticks.insert(entity, (added, self.now));
        }
        old
    }

    pub fn take(&mut self, entity: Entity, kind: usize) -> Option<u64> {
        let value = self.rows.get_mut(&entity)?.remove(&kind)?;
        let at = self.order[kind].iter().position(|&other| other == entity);
        self.order[kind].swap_remove(at.expect("its order lists it"));
        self.lost[kind].push(entity);
        if kind == Watched::NUMBER {
            self.ticks.remove(&entity);
        }
        Some(value)
    }

    pub fn born(&mut self, entity: Entity, values: &[(usize, u64)]) {
        self.rows.insert(entity, BTreeMap::new());
        for &(kind, value) in values {
            self.put(entity, kind, value);
        }
    }

    pub fn die(&mut self, entity: Entity) -> bool {
        for kind in 0..KINDS {
            self.take(entity, kind);
        }
        self.rows.remove(&entity);
        self.ids.despawn(entity)
    }

    pub fn clear(&mut self) {
        self.ids.clear();
        self.rows.clear();
        self.ticks.clear();
        for (order, lost) in self.order.iter_mut().zip(&mut self.lost) {
            lost.append(order);
        }
    }
}

/// How often the whole world is looked at; single steps are always.
#[derive(Debug, Clone, Copy)]
pub struct Care {
    pub verify_every: usize,
    pub compare_every: usize,
}

/// What a run is made of.
#[derive(Debug)]
pub struct Plan {
    pub seed: u64,
    pub steps: usize,
    /// Spawning stops at about this many entities.
    pub size: usize,
    pub care: Care,
}

/// A world and its model on their way through random operations.
#[derive(Debug)]
pub struct Run {
    pub rng: Rng,
    pub world: World,
    pub model: Model,
    pub maker: Maker,
    pub size: usize,
    /// Ids that died.
    pub graves: Vec<Entity>,
    /// What makes the order of pools hard to foretell, if there is any of it.
    pub wild: Option<Wild>,
    ghosts_before: isize,
    trace: Vec<(&'static str, Option<Entity>)>,
}

impl Run {
    pub fn new(rng: Rng, size: usize, world: World, ids: Ids) -> Self {
        let (model, maker) = (Model::new(ids), Maker::new());
        let (graves, trace, ghosts_before) = (Vec::new(), Vec::new(), Ghost::living());
        Self { rng, world, model, maker, size, graves, wild: None, ghosts_before, trace }
    }

    /// Goes through a plan and leaves nothing behind.
    pub fn follow(plan: &Plan) {
        let mut run = Self::new(Rng::new(plan.seed), plan.size, World::new(), Ids::unlimited());
        if run.rng.one_in(2) {
            run.register_all();
        }
        run.go(plan);
    }

    /// As `follow`, with groups, sorting, readers, listeners and snapshots.
    pub fn follow_wildly(plan: &Plan) {
        let mut run = Self::new(Rng::new(plan.seed), plan.size, World::new(), Ids::unlimited());
        if plan.seed.is_multiple_of(3) {
            register_crowd(&mut run.world);
        }
        run.register_all();
        run.wild = Some(Wild::new(&mut run.world));
        run.go(plan);
    }

    fn go(self, plan: &Plan) {
        let mut run = self;
        for step in 1..=plan.steps {
            run.step();
            if step % plan.care.compare_every == 0 {
                run.compare();
            }
            if step % plan.care.verify_every == 0 {
                run.verify();
            }
        }
        run.finish();
    }

    pub fn register_all(&mut self) {
        for kind in 0..KINDS {
            with_kind!(kind, K => self.world.register::<K>());
            self.model.know(kind);
        }
    }

    /// One random operation and a look at what it touched.
    pub fn step(&mut self) {
        let (name, operation) = ops::choose(&mut self.rng, self.wild.is_some());
        self.trace.push((name, None));
        self.model.now = self.world.tick().get();
        operation(self);
        if self.wild.is_some() {
            self.adopt_order();
        }
        self.check_ledger();
        assert_eq!(self.world.len(), self.model.rows.len(), "number of entities");
    }

    /// Groups and sorting have moved entities: that they are the same is looked at here.
    pub fn adopt_order(&mut self) {
        for kind in 0..KINDS {
            let order = with_kind!(kind, K => self.world.pool::<K>().entities().to_vec());
            let sorted = |order: &[Entity]| {
                let mut order = order.to_vec();
                order.sort_unstable();
                order
            };
            assert_eq!(sorted(&order), sorted(&self.model.order[kind]), "who has kind {kind}");
            self.model.order[kind] = order;
        }
    }

    /// Looks at everything, then drops the world and counts.
    pub fn finish(mut self) {
        self.compare();
        self.verify();
        self.world = World::new();
        self.maker.ledger.assert_all_dropped();
        assert_eq!(Ghost::living(), self.ghosts_before, "ghosts that outlive their world");
    }

    pub fn note(&mut self, entity: Entity) -> Entity {
        if let Some((_, noted)) = self.trace.last_mut() {
            *noted = noted.or(Some(entity));
        }
        entity
    }

    /// An id: mostly of the living, but also dead, of the future, and made up.
    pub fn any_id(&mut self) -> Entity {
        let entity = match self.rng.below(20) {
            0..=12 => self.living_id(),
            13..=15 if !self.graves.is_empty() => {
                let at = self.rng.below(self.graves.len());
                self.graves[at]
            }
            16 => {
                let near = self.living_id();
                later(near, 1 + self.rng.index_below(3))
            }
            17 => {
                let halves = [0, 1, 4095, 4096, 4_000_000_000, Entity::MAX_INDEX];
                id(self.rng.pick(&halves), self.rng.pick(&[0, 1, Entity::MAX_VERSION]))
            }
            18 => Entity::try_from_bits(self.rng.next()).unwrap_or(id(7, 7)),
            _ => id(self.rng.index_below(40), self.rng.index_below(4)),
        };
        self.note(entity)
    }

    /// The id of a living entity, if there is one.
    pub fn living_id(&mut self) -> Entity {
        let rows = &self.model.rows;
        let Some((&last, _)) = rows.last_key_value() else { return id(0, 0) };
        // Half of the time far indices are left out, so that they are not chosen all the time.
        let end =
            if self.rng.one_in(2) { last.index().min(2 * rows.len() as u32) } else { last.index() };
        let from = id(self.rng.index_below(end.saturating_add(1)), 0);
        let (&entity, _) = rows.range(from..).next().unwrap_or((&last, &BTreeMap::new()));
        self.note(entity)
    }

    pub fn any_kind(&mut self) -> usize {
        self.rng.below(KINDS)
    }

    /// Makes a bundle for an entity.
    pub fn bundle<S: Shape>(&mut self, entity: Entity) -> (S, Vec<(usize, u64)>) {
        let mut values = Vec::new();
        (S::build(&mut self.maker, entity, &mut values), values)
    }

    /// Whether newborns may get rows, and indices with them: it takes 256 living entities once, and a refresh.
    pub fn has_homes(&self) -> bool {
        self.world.memory_report().homes > 0
    }

    pub fn bury(&mut self, entity: Entity) -> bool {
        let died = self.model.die(entity);
        if died {
            self.graves.push(entity);
        }
        died
    }

    /// Created − dropped − stored is zero.
    #[track_caller]
    pub fn check_ledger(&self) {
        let stored: usize = COUNTED.iter().map(|&kind| self.model.order[kind].len()).sum();
        assert_eq!(
            self.maker.ledger.living(),
            stored,
            "values that are neither stored nor dropped"
        );
        self.maker.ledger.assert_none_dropped_twice();
        let ghosts = self.model.order[Ghost::NUMBER].len() as isize;
        assert_eq!(Ghost::living() - self.ghosts_before, ghosts, "ghosts");
    }

    #[track_caller]
    pub fn verify(&mut self) {
        self.world.verify().unwrap_or_else(|violation| panic!("{violation}"));
    }

    /// The whole world against the whole model.
    #[track_caller]
    pub fn compare(&self) {
        let (world, model) = (&self.world, &self.model);
        assert!(world.entities().eq(model.rows.keys().copied()), "living entities");
        assert_eq!(world.is_empty(), model.rows.is_empty());
        for kind in 0..KINDS {
            with_kind!(kind, K => self.compare_pool::<K>());
        }
        for (&entity, row) in &model.rows {
            assert!(world.is_alive(entity) && world.entity(entity).is_ok(), "{entity}");
            assert_eq!(world.entity_at(entity.index()), Some(entity));
            assert_eq!(world.is_orphan(entity), row.is_empty(), "{entity}");
            let names = model.known.iter().filter(|kind| row.contains_key(kind));
            let names = names.map(|&kind| with_kind!(kind, K => std::any::type_name::<K>()));
            assert!(world.component_names(entity).eq(names), "components of {entity}");
        }
        if let Some(wild) = &self.wild {
            wild.compare(world, model);
        }
        for &entity in self.graves.iter().rev().take(32) {
            assert_eq!(world.is_alive(entity), model.is_alive(entity), "{entity}");
        }
    }

    #[track_caller]
    fn compare_pool<K: Kind>(&self) {
        let pool = self.world.pool::<K>();
        let order = &self.model.order[K::NUMBER];
        assert_eq!(pool.entities(), order, "packed order of kind {}", K::NUMBER);
        assert_eq!(pool.len(), order.len());
        assert_eq!(pool.iter().count(), order.len());
        for ((entity, value), &expected) in pool.iter().zip(order) {
            assert_eq!(entity, expected);
            let expected = self.model.get(entity, K::NUMBER);
            assert_eq!(Some(value.value()), expected, "kind {} of {entity}", K::NUMBER);
            assert_eq!(pool.get(entity).map(Kind::value), expected);
            assert!(self.world.has::<K>(entity), "{entity} has no {}", K::NUMBER);
        }
        // A crowd has the first numbers, unless the world was loaded since.
        let others = self.world.component_id::<Extra<0>>().map_or(0, |_| CROWD);
        let number = self.model.known.iter().position(|&kind| kind == K::NUMBER);
        let number = number.map(|number| others + number);
        assert_eq!(self.world.component_id::<K>().map(|id| id.index()), number, "known components");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.trace.len().saturating_sub(40);
            eprintln!("the last operations, of {}:", self.trace.len());
            for (step, (name, entity)) in self.trace.iter().enumerate().skip(from) {
                eprintln!("{:>8} {name} {entity:?}", step + 1);
            }
        }
    }
}
