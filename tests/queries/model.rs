//! The naive model: what each living entity has, and the order in which pools hold them.

use std::collections::{BTreeMap, HashMap};

use esker::{Entity, World};

use crate::common::later;
use crate::kinds::{KINDS, Kind, with_kind};
use crate::terms::{Condition, Term};

#[derive(Debug, Default)]
pub struct Model {
    rows: BTreeMap<Entity, [Option<u64>; KINDS]>,
    /// Packed order of each pool, as the world says.
    orders: [Vec<Entity>; KINDS],
    places: [HashMap<Entity, usize>; KINDS],
    dead: Vec<Entity>,
}

impl Model {
    pub fn living(&self) -> Vec<Entity> {
        self.rows.keys().copied().collect()
    }

    pub fn members(&self, kind: usize) -> Vec<Entity> {
        self.living().into_iter().filter(|&entity| self.has(entity, kind)).collect()
    }

    pub fn value(&self, entity: Entity, kind: usize) -> Option<u64> {
        self.rows.get(&entity).and_then(|row| row[kind])
    }

    pub fn has(&self, entity: Entity, kind: usize) -> bool {
        self.value(entity, kind).is_some()
    }

    /// The position of an entity in a pool.
    pub fn place(&self, entity: Entity, kind: usize) -> Option<usize> {
        self.places[kind].get(&entity).copied()
    }

    pub fn spawned(&mut self, entity: Entity) {
        // An id that was demanded may have lived before.
        self.dead.retain(|&dead| dead != entity);
        self.rows.insert(entity, [None; KINDS]);
    }

    pub fn died(&mut self, entity: Entity) {
        self.rows.remove(&entity);
        self.dead.push(entity);
    }

    pub fn put(&mut self, entity: Entity, kind: usize, value: u64) {
        self.row(entity)[kind] = Some(value);
    }

    pub fn take(&mut self, entity: Entity, kind: usize) {
        self.row(entity)[kind] = None;
    }

    pub fn change(&mut self, entity: Entity, kind: usize, change: fn(u64) -> u64) {
        self.row(entity)[kind] = self.value(entity, kind).map(change);
    }

    fn row(&mut self, entity: Entity) -> &mut [Option<u64>; KINDS] {
        self.rows.get_mut(&entity).expect("it lives")
    }

    /// Reads the orders of all pools, which must hold who the model says.
    pub fn read_orders(&mut self, world: &World) {
        for kind in 0..KINDS {
            let order = with_kind!(kind, K => world.pool::<K>().entities().to_vec());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, self.members(kind), "members of the pool of kind {kind}");
            self.places[kind] = order.iter().enumerate().map(|(at, &e)| (e, at)).collect();
            self.orders[kind] = order;
        }
        assert_eq!(world.entities().collect::<Vec<_>>(), self.living());
    }

    /// Each value in the world is the one of the model.
    pub fn assert_values(&self, world: &World) {
        for (&entity, row) in &self.rows {
            for (kind, &expected) in row.iter().enumerate() {
                let found = with_kind!(kind, K => world.get::<K>(entity).map(|v| v.value()));
                assert_eq!(found, expected, "value of kind {kind} of {entity}");
            }
        }
    }

    /// The living, the dead, some who will live and some who never did.
    pub fn all_sorts_of_ids(&self) -> Vec<Entity> {
        let mut ids = self.living();
        ids.extend(self.dead.iter().rev().take(20));
        ids.extend(self.living().iter().step_by(7).map(|&entity| later(entity, 1)));
        ids.extend([crate::common::id(1_000_000, 0), crate::common::id(3, 1_000_000)]);
        ids
    }
}

/// What a query must give.
#[derive(Debug)]
pub struct Want {
    /// The kind whose pool is walked, if one is.
    pub driver: Option<usize>,
    pub driver_len: usize,
    /// The matches, in the order of the driver.
    pub matches: Vec<Entity>,
    /// What they give.
    pub rows: Vec<Vec<u64>>,
    /// Lengths of the runs they lie in.
    pub runs: Vec<usize>,
    /// Ids to be looked up, matches and others.
    pub ids: Vec<Entity>,
    numbers: HashMap<Entity, usize>,
}

impl Want {
    /// For a query that chooses its driver itself, or is driven by a kind.
    pub fn of<D: Term, F: Condition>(model: &Model, driven_by: Option<usize>) -> Self {
        let mut required = Vec::new();
        D::required(&mut required);
        F::required(&mut required);
        // Of several pools that are equally short it is the first.
        let shortest = required.into_iter().min_by_key(|&kind| model.orders[kind].len());
        let driver = driven_by.or(shortest);
        let order = driver.map_or_else(|| model.living(), |kind| model.orders[kind].clone());

        let driver_len = order.len();
        let (mut matches, mut rows, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = None;
        for (at, &entity) in order.iter().enumerate() {
            let mut row = Vec::new();
            if !F::holds(model, entity) || !D::expect(model, entity, &mut row) {
                continue;
            }
            assert_eq!(row.len(), D::WIDTH);
            let goes_on = last.is_some_and(|(last_at, last_entity)| {
                last_at + 1 == at && D::follows(model, last_entity, entity)
            });
            match runs.last_mut() {
                Some(run) if goes_on => *run += 1,
                _ => runs.push(1),
            }
            matches.push(entity);
            rows.push(row);
            last = Some((at, entity));
        }
        let numbers = matches.iter().enumerate().map(|(number, &e)| (e, number)).collect();
        let ids = model.all_sorts_of_ids();
        Self { driver, driver_len, matches, rows, runs, ids, numbers }
    }

    /// What an entity gives, if it matches.
    pub fn row(&self, entity: Entity) -> Option<&Vec<u64>> {
        self.numbers.get(&entity).map(|&number| &self.rows[number])
    }

    #[cfg(feature = "parallel")]
    pub fn sorted_rows(&self) -> Vec<Vec<u64>> {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        rows
    }
}
