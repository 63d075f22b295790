//! More component types than a signature has bits, so that types share bits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker::entity::NoSuchEntity;
use esker::{Component, Entity, World};

use crate::common::{Counted, Ledger, Rng, id, mix};
use crate::for_seeds;

/// What can be done with a component type whose number is all one has.
#[derive(Clone, Copy)]
struct Face {
    name: fn() -> &'static str,
    insert: fn(&mut World, Entity, Counted) -> Result<(), NoSuchEntity>,
    remove: fn(&mut World, Entity) -> Result<Option<u64>, NoSuchEntity>,
    get: fn(&World, Entity) -> Option<u64>,
    has: fn(&World, Entity) -> bool,
    clear: fn(&mut World),
    retain: fn(&World, &mut dyn FnMut(Entity) -> bool),
}

trait Numbered: Component {
    fn wrap(counted: Counted) -> Self;

    fn value(&self) -> u64;
}

fn face<T: Numbered>() -> Face {
    Face {
        name: std::any::type_name::<T>,
        insert: |world, entity, counted| world.insert(entity, T::wrap(counted)),
        remove: |world, entity| Ok(world.remove::<T>(entity)?.map(|value| value.value())),
        get: |world, entity| world.get::<T>(entity).map(|value| value.value()),
        has: |world, entity| world.has::<T>(entity),
        clear: |world| world.clear_pool::<T>(),
        retain: |world, keep| {
            if let Ok(mut pool) = world.try_pool_mut::<T>() {
                pool.retain(|entity, _| keep(entity));
            }
        },
    }
}

/// Types with a static slot each.
macro_rules! numbered {
    ($storage:ident: $($name:ident)*) => {
        $(
            #[derive(Component, Debug)]
            #[component(storage = $storage)]
            struct $name(Counted);

            impl Numbered for $name {
                fn wrap(counted: Counted) -> Self {
                    Self(counted)
                }

                fn value(&self) -> u64 {
                    self.0.value
                }
            }
        )*
    };
}

/// Types that are found by hashing, because they are generic.
#[derive(Component, Debug)]
struct Generic<const N: usize>(Counted);

impl<const N: usize> Numbered for Generic<N> {
    fn wrap(counted: Counted) -> Self {
        Self(counted)
    }

    fn value(&self) -> u64 {
        self.0.value
    }
}

macro_rules! faces {
    ($($packed:ident)*; $($indexed:ident)*; $($hashed:ident)*; $($number:literal)*) => {
        numbered!(Packed: $($packed)*);
        numbered!(Indexed: $($indexed)*);
        numbered!(Hashed: $($hashed)*);

        fn faces() -> Vec<Face> {
            vec![
                $(face::<$packed>(),)* $(face::<$indexed>(),)* $(face::<$hashed>(),)*
                $(face::<Generic<$number>>(),)*
            ]
        }
    };
}

faces! {
    P00 P01 P02 P03 P04 P05 P06 P07 P08 P09 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19
    P20 P21 P22 P23 P24 P25 P26 P27 P28 P29 P30 P31 P32 P33 P34 P35 P36 P37 P38 P39;
    I00 I01 I02 I03 I04 I05 I06 I07 I08 I09 I10 I11 I12 I13 I14 I15 I16 I17 I18 I19;
    H00 H01 H02 H03 H04 H05 H06 H07 H08 H09 H10 H11 H12 H13 H14 H15 H16 H17 H18 H19;
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
    30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
}

struct Many {
    rng: Rng,
    world: World,
    ledger: Arc<Ledger>,
    faces: Vec<Face>,
    rows: BTreeMap<Entity, BTreeMap<usize, u64>>,
    /// Types in the order in which the world came to know them.
    known: Vec<usize>,
    dead: Vec<Entity>,
    made: u64,
}

impl Many {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut faces = faces();
        // Another order in every run, so that other types share a bit.
        for at in (1..faces.len()).rev() {
            faces.swap(at, rng.below(at + 1));
        }
        // Below 64 types, at the border, and far above.
        faces.truncate([60, 64, 65, 80, 130, 140][rng.below(6)]);
        let (world, ledger) = (World::new(), Ledger::new());
        let (rows, known, dead) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { rng, world, ledger, faces, rows, known, dead, made: 0 }
    }

    fn any_id(&mut self) -> Entity {
        match self.rng.below(8) {
            0 if !self.dead.is_empty() => self.dead[self.rng.below(self.dead.len())],
            1 => id(self.rng.index_below(9), self.rng.index_below(9)),
            _ if self.rows.is_empty() => id(0, 0),
            _ => *self.rows.keys().nth(self.rng.below(self.rows.len())).expect("below the length"),
        }
    }

    fn step(&mut self) {
        let entity = self.any_id();
        // Neighbours in the signature are chosen often: numbers that differ by 64.
        let kind = self.rng.below(self.faces.len());
        let kind = if self.rng.one_in(3) { kind % 64 } else { kind };
        match self.rng.below(100) {
            0..20 if self.rows.len() < 12 => {
                let spawned = self.world.spawn(());
                assert!(self.rows.insert(spawned, BTreeMap::new()).is_none());
                assert!(!self.dead.contains(&spawned), "{spawned} came back");
            }
            20..68 => self.insert(entity, kind),
            68..82 => self.remove(entity, kind),
            82..92 => {
                let died = self.world.despawn(entity).is_ok();
                assert_eq!(died, self.rows.remove(&entity).is_some());
                self.dead.extend(died.then_some(entity));
            }
            92..94 => {
                (self.faces[kind].clear)(&mut self.world);
                self.rows.values_mut().for_each(|row| _ = row.remove(&kind));
            }
            94..98 => self.retain(kind),
            98 if self.rng.one_in(4) => {
                self.world.clear();
                self.dead.extend(self.rows.keys());
                self.rows.clear();
            }
            _ => {
                let batch: Vec<Entity> = (0..3).map(|_| self.any_id()).collect();
                let expected: BTreeSet<Entity> =
                    batch.iter().copied().filter(|e| self.rows.contains_key(e)).collect();
                assert_eq!(self.world.despawn_batch(batch), expected.len());
                self.rows.retain(|e, _| !expected.contains(e));
                self.dead.extend(expected);
            }
        }
    }

    fn insert(&mut self, entity: Entity, kind: usize) {
        self.made += 1;
        let value = mix(entity.to_bits() ^ mix(kind as u64) ^ self.made);
        let counted = self.ledger.make(value);

        let inserted = (self.faces[kind].insert)(&mut self.world, entity, counted).is_ok();

        assert_eq!(inserted, self.rows.contains_key(&entity));
        if let Some(row) = self.rows.get_mut(&entity) {
            row.insert(kind, value);
            if !self.known.contains(&kind) {
                self.known.push(kind);
            }
        }
    }

    fn remove(&mut self, entity: Entity, kind: usize) {
        let removed = (self.faces[kind].remove)(&mut self.world, entity);

        let expected = self.rows.get_mut(&entity).map(|row| row.remove(&kind));
        assert_eq!(removed.ok(), expected);
    }

    fn retain(&mut self, kind: usize) {
        let salt = self.rng.next();
        let mut keep = |entity: Entity| !mix(entity.to_bits() ^ salt).is_multiple_of(2);

        (self.faces[kind].retain)(&self.world, &mut keep);

        for (&entity, row) in &mut self.rows {
            if !keep(entity) {
                row.remove(&kind);
            }
        }
    }

    fn compare(&mut self) {
        assert!(self.world.entities().eq(self.rows.keys().copied()));
        for (&entity, row) in &self.rows {
            for (kind, face) in self.faces.iter().enumerate() {
                let expected = row.get(&kind).copied();
                assert_eq!(
                    (face.get)(&self.world, entity),
                    expected,
                    "{} of {entity}",
                    (face.name)()
                );
                assert_eq!((face.has)(&self.world, entity), expected.is_some());
            }
            let names = self.known.iter().filter(|kind| row.contains_key(kind));
            let names = names.map(|&kind| (self.faces[kind].name)());
            assert!(self.world.component_names(entity).eq(names), "components of {entity}");
            assert_eq!(self.world.is_orphan(entity), row.is_empty());
        }
        let stored: usize = self.rows.values().map(BTreeMap::len).sum();
        assert_eq!(self.ledger.living(), stored);
        self.world.verify().unwrap_or_else(|violation| panic!("{violation}"));
    }
}

#[test]
fn types_that_share_a_bit_of_the_signature_are_told_apart() {
    let seeds = if cfg!(debug_assertions) { 30 } else { 300 };
    for_seeds(0..seeds, |seed| {
        let mut many = Many::new(seed);
        for step in 1..=600 {
            many.step();
            if step % 60 == 0 {
                many.compare();
            }
        }
        drop(many.world);
        many.ledger.assert_all_dropped();
    });
}

#[test]
fn an_entity_with_every_type_loses_them_one_by_one() {
    let (mut world, ledger, faces) = (World::new(), Ledger::new(), faces());
    let (entity, other) = (world.spawn(()), world.spawn(()));
    for (kind, face) in faces.iter().enumerate() {
        (face.insert)(&mut world, entity, ledger.make(kind as u64)).unwrap();
        (face.insert)(&mut world, other, ledger.make(1000 + kind as u64)).unwrap();
    }

    for (kind, face) in faces.iter().enumerate() {
        assert_eq!((face.remove)(&mut world, entity), Ok(Some(kind as u64)));

        assert_eq!(world.component_names(entity).count(), faces.len() - kind - 1);
        assert_eq!(world.component_names(other).count(), faces.len());
        assert!(!(face.has)(&world, entity) && (face.has)(&world, other));
    }
    assert!(world.is_orphan(entity));
    world.despawn(other).unwrap();
    assert_eq!(ledger.living(), 0);
    assert_eq!(world.verify(), Ok(()));
}
