//! Groups when code of the user's panics in the middle: drops, predicates, comparisons, iterators.
//! After each their members are those that fit, at the front of all owned pools.

#![cfg(feature = "derive")]

mod common;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use common::{Counted, Ledger, Rng, SeedReport, panics_as_planned, planned_panic};
use esker::prelude::*;
use esker::world::GroupId;

#[derive(Component, Debug)]
struct A(Counted);

#[derive(Component, Debug)]
struct B(Counted);

#[derive(Component, Debug)]
#[component(storage = Hashed)]
struct C(Counted);

#[derive(Component, Debug)]
#[component(storage = Indexed)]
struct D(Counted);

/// A group, and the components that it owns, observes and excludes, by letter.
struct Grouped {
    id: GroupId,
    words: [&'static str; 3],
}

/// Groups side by side: of full ownership, partial, excluding, nested, and with a list of their own.
const SCENES: [&[[&str; 3]]; 5] = [
    &[["AB", "", ""], ["ABC", "", ""], ["", "AD", ""]],
    &[["A", "D", ""], ["B", "", "C"], ["", "AB", "D"]],
    &[["A", "", ""], ["AB", "", "D"], ["ABC", "", "D"], ["", "CD", ""]],
    // Two that have nothing in common but a narrower one; a list that is nearly the rest.
    &[["A", "D", ""], ["B", "", ""], ["ABC", "D", ""], ["", "B", "A"], ["", "C", "BD"]],
    // The same members twice, the one with more pools made first.
    &[["AB", "", "C"], ["A", "B", "C"], ["C", "D", ""]],
];

fn group(world: &mut World, words: [&'static str; 3]) -> Grouped {
    let [owned, observed, excluded] = words;
    let mut builder = match owned {
        "A" => world.group::<A>(),
        "B" => world.group::<B>(),
        "C" => world.group::<C>(),
        "AB" => world.group::<(A, B)>(),
        "ABC" => world.group::<(A, B, C)>(),
        _ => world.group::<()>(),
    };
    for (letters, is_observed) in [(observed, true), (excluded, false)] {
        for letter in letters.chars() {
            builder = match (letter, is_observed) {
                ('A', true) => builder.observe::<A>(),
                ('B', true) => builder.observe::<B>(),
                ('C', true) => builder.observe::<C>(),
                ('D', true) => builder.observe::<D>(),
                ('A', false) => builder.exclude::<A>(),
                ('B', false) => builder.exclude::<B>(),
                ('C', false) => builder.exclude::<C>(),
                _ => builder.exclude::<D>(),
            };
        }
    }
    Grouped { id: builder.build().unwrap(), words }
}

/// A world with groups, and the ledger of its values.
struct Scene {
    world: World,
    ledger: Arc<Ledger>,
    groups: Vec<Grouped>,
}

/// Who has which value.
type Held = BTreeMap<(char, Entity), usize>;

impl Scene {
    fn new(groups: &[[&'static str; 3]]) -> Self {
        let mut world = World::new();
        world.register::<A>();
        world.register::<B>();
        world.register::<C>();
        world.register::<D>();
        let groups = groups.iter().map(|&words| group(&mut world, words)).collect();
        Self { world, ledger: Ledger::new(), groups }
    }

    /// A scene of entities with every combination of components, thrice.
    fn full(groups: &[[&'static str; 3]]) -> Self {
        let mut scene = Self::new(groups);
        for bits in (1..16).chain(1..16).chain(1..16) {
            let entity = scene.world.spawn(());
            scene.insert(entity, bits);
        }
        scene.check();
        scene
    }

    /// Gives an entity those components whose bits are set, the last one first.
    fn insert(&mut self, entity: Entity, bits: usize) {
        let Self { world, ledger, .. } = self;
        let make = || ledger.make(0);
        for bit in [8, 4, 2, 1].into_iter().filter(|bit| bits & bit != 0) {
            _ = match bit {
                1 => world.insert(entity, A(make())),
                2 => world.insert(entity, B(make())),
                4 => world.insert(entity, C(make())),
                _ => world.insert(entity, D(make())),
            };
        }
    }

    fn entities(&self, letter: char) -> Vec<Entity> {
        match letter {
            'A' => self.world.pool::<A>().entities().to_vec(),
            'B' => self.world.pool::<B>().entities().to_vec(),
            'C' => self.world.pool::<C>().entities().to_vec(),
            _ => self.world.pool::<D>().entities().to_vec(),
        }
    }

    fn held(&self) -> Held {
        let mut held = Held::new();
        held.extend(self.world.pool::<A>().iter().map(|(e, value)| (('A', e), value.0.number)));
        held.extend(self.world.pool::<B>().iter().map(|(e, value)| (('B', e), value.0.number)));
        held.extend(self.world.pool::<C>().iter().map(|(e, value)| (('C', e), value.0.number)));
        held.extend(self.world.pool::<D>().iter().map(|(e, value)| (('D', e), value.0.number)));
        held
    }

    /// G1 by counting, and every value that is neither dropped nor lost.
    #[track_caller]
    fn check(&mut self) {
        self.world.verify().unwrap_or_else(|violation| panic!("{violation}"));
        self.ledger.assert_none_dropped_twice();
        let held = self.held();
        assert!(held.values().all(|&number| !self.ledger.is_dropped(number)));
        assert_eq!(self.ledger.living(), held.len(), "values neither stored nor dropped");
        for Grouped { id, words: [owned, observed, excluded] } in &self.groups {
            let has = |entity: Entity, letter| held.contains_key(&(letter, entity));
            let fits = self.world.entities().filter(|&entity| {
                owned.chars().chain(observed.chars()).all(|letter| has(entity, letter))
                    && !excluded.chars().any(|letter| has(entity, letter))
            });
            let expected: Vec<Entity> = fits.collect();
            let members = self.world.grouped::<Entity>(*id).unwrap().entities().to_vec();
            assert_eq!(self.world.group_len(*id), Some(expected.len()), "{owned}");
            for letter in owned.chars() {
                assert_eq!(self.entities(letter)[..members.len()], members, "{letter} of {owned}");
            }
            let mut sorted = members;
            sorted.sort();
            assert_eq!(sorted, expected, "{owned}");
        }
    }

    /// Who still has something has what was there before, or a value made since.
    #[track_caller]
    fn check_against(&self, before: &Held, made: usize) {
        for (holder, number) in self.held() {
            assert!(before.get(&holder) == Some(&number) || number >= made, "mixed up");
        }
    }
}

/// One operation that drops values, or runs a closure, which may panic if it is not a drop that may:
/// two at once would abort, by the rule of the language.
fn operate(scene: &mut Scene, rng: &mut Rng, closures_panic: bool) {
    let living: Vec<Entity> = scene.world.entities().collect();
    let [entity, other] = [(); 2].map(|()| match living.is_empty() {
        true => common::id(7, 7),
        false => rng.pick(&living),
    });
    let bits = 1 + rng.below(15);
    let fuse = if closures_panic { rng.below(12) } else { 1000 };
    let ledger = Arc::clone(&scene.ledger);
    let made = (0..).map(|n| if n == fuse { planned_panic() } else { ledger.make(n as u64) });
    let keep = |entity: Entity| match entity.index() as usize % 12 == fuse {
        true => planned_panic(),
        false => !(entity.index() as usize + bits).is_multiple_of(3),
    };
    let world = &mut scene.world;
    match rng.below(24) {
        0..4 => {
            let entity = scene.world.spawn(());
            scene.insert(entity, bits);
        }
        4..8 => scene.insert(entity, bits),
        8 => _ = world.remove::<A>(entity).map(drop),
        9 => _ = world.remove::<(C, B)>(entity).map(drop),
        10 => _ = world.remove::<(A, D)>(entity).map(drop),
        11 => _ = world.despawn(entity),
        12 => _ = world.despawn_batch([entity, other]),
        13 => drop(world.pool_mut::<B>().remove(entity)),
        14 => drop(world.pool_mut::<C>().insert(entity, C(ledger.make(0)))),
        15 => world.pool_mut::<A>().retain(|entity, _| keep(entity)),
        16 => world.pool_mut::<D>().retain(|entity, _| keep(entity)),
        17 => world.spawn_batch(made.map(A).take(5)).for_each(drop),
        18 => {
            let mut made = made;
            let mut make = || made.next().expect("endless");
            let bundles = (0..4).map(|_| (C(make()), B(make()), A(make())));
            drop(world.spawn_batch(bundles));
        }
        19 => {
            let columns = made.take(6).map(|value| (A(value), B(ledger.make(0))));
            let columns: (Vec<A>, Vec<B>) = columns.unzip();
            _ = world.spawn_columns(columns).unwrap();
        }
        20 => {
            let make = || if fuse < 6 { planned_panic() } else { A(ledger.make(0)) };
            _ = world.get_or_insert_with(entity, make).is_ok();
        }
        21 if rng.one_in(3) => world.clear_pool::<B>(),
        22 if rng.one_in(3) => world.pool_mut::<C>().clear(),
        23 if rng.one_in(8) => world.clear(),
        _ => {
            let mut calls = 0;
            let group = scene.groups[rng.below(scene.groups.len())].id;
            let compare = |a: &Entity, b: &Entity| {
                calls += 1;
                if calls > fuse * 4 { planned_panic() } else { b.cmp(a) }
            };
            world.sort_group_by::<Entity>(group, compare).unwrap();
        }
    }
}

#[test]
fn random_panics_in_random_operations_leave_every_group_with_its_members() {
    let mut panics = 0;
    for seed in 0..150 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test group_panics" };
        let mut rng = Rng::new(seed);
        let mut scene = Scene::new(SCENES[seed as usize % SCENES.len()]);

        for _ in 0..100 {
            let (before, made) = (scene.held(), scene.ledger.made());
            let drops_panic = rng.one_in(2);
            if drops_panic {
                scene.ledger.panic_at_drop(rng.below(4));
            }
            let panicked = panics_as_planned(|| operate(&mut scene, &mut rng, !drops_panic));
            panics += usize::from(panicked);
            scene.ledger.defuse();
            scene.check();
            scene.check_against(&before, made);
        }
        let Scene { world, ledger, .. } = scene;
        drop(world);
        ledger.assert_all_dropped();
    }
    assert!(panics > 1000, "only {panics} of the operations panicked");
}

/// Lets the k-th drop of `act` panic in each scene, for every k.
fn for_every_drop(act: impl Fn(&mut Scene)) {
    for groups in SCENES {
        for k in 0.. {
            let mut scene = Scene::full(groups);
            scene.ledger.panic_at_drop(k);
            let panicked = panics_as_planned(|| act(&mut scene));
            scene.ledger.defuse();
            scene.check();
            if !panicked {
                break;
            }
        }
    }
}

#[test]
fn clearing_lets_everyone_out_of_the_groups_before_the_first_drop() {
    for_every_drop(|scene| scene.world.clear_pool::<A>());
    for_every_drop(|scene| scene.world.clear_pool::<D>());
    for_every_drop(|scene| scene.world.pool_mut::<B>().clear());
    for_every_drop(|scene| scene.world.pool_mut::<C>().clear());
    for_every_drop(|scene| scene.world.clear());
    for_every_drop(|scene| {
        let living: Vec<Entity> = scene.world.entities().step_by(2).collect();
        scene.world.despawn_batch(living);
    });
}

#[test]
fn retain_visits_each_entity_of_a_grouped_pool_once_until_something_panics() {
    fn of<T: Component>() {
        for groups in SCENES {
            for k in 0..60 {
                let mut scene = Scene::full(groups);
                let all = sorted(scene.world.pool::<T>().entities());
                // By turns a predicate and a drop.
                scene.ledger.panic_at_drop(if k % 2 == 0 { usize::MAX } else { k / 2 });
                let mut seen = Vec::new();

                let panicked = panics_as_planned(|| {
                    scene.world.pool_mut::<T>().retain(|entity, _| {
                        seen.push(entity);
                        if k % 2 == 0 && seen.len() > k / 2 {
                            planned_panic();
                        }
                        entity.index() % 3 != 0
                    });
                });

                scene.ledger.defuse();
                scene.check();
                for entity in &all {
                    let stays = entity.index() % 3 != 0 || !seen.contains(entity);
                    let unsure = panicked && seen.last() == Some(entity);
                    assert!(unsure || scene.world.has::<T>(*entity) == stays);
                }
                let visited = sorted(&seen);
                assert!(visited.windows(2).all(|pair| pair[0] != pair[1]), "visited twice");
                assert!(panicked || visited == all);
            }
        }
    }
    fn sorted(entities: &[Entity]) -> Vec<Entity> {
        let mut entities = entities.to_vec();
        entities.sort();
        entities
    }
    of::<A>();
    of::<B>();
    of::<C>();
    of::<D>();
}

#[test]
fn a_comparison_that_panics_leaves_the_order_of_a_group_as_it_was() {
    for groups in SCENES {
        let mut scene = Scene::full(groups);
        let before = ['A', 'B', 'C', 'D'].map(|letter| scene.entities(letter));
        for at in 0..40 {
            for group in 0..groups.len() {
                let id = scene.groups[group].id;
                let listed = scene.world.grouped::<Entity>(id).unwrap().entities().to_vec();
                let mut calls = 0;

                let panicked = panics_as_planned(|| {
                    scene.world.sort_group_by::<Entity>(id, |a, b| {
                        calls += 1;
                        if calls > at { planned_panic() } else { b.cmp(a) }
                    })
                });

                scene.check();
                if panicked {
                    let after = ['A', 'B', 'C', 'D'].map(|letter| scene.entities(letter));
                    assert_eq!(after, before);
                    assert_eq!(scene.world.grouped::<Entity>(id).unwrap().entities(), listed);
                } else {
                    scene = Scene::full(groups);
                }
            }
        }
    }
}

#[test]
fn a_comparison_that_contradicts_itself_leaves_every_member_in_its_group() {
    let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    for seed in 0..30 {
        let _report = SeedReport { seed, how_to_repeat: "cargo test --test group_panics" };
        let mut rng = Rng::new(seed);
        let mut scene = Scene::full(SCENES[seed as usize % SCENES.len()]);
        let held = scene.held();
        for id in scene.groups.iter().map(|group| group.id) {
            // The sort may notice and panic, or not.
            _ = catch_unwind(AssertUnwindSafe(|| {
                scene.world.sort_group_by::<Entity>(id, |_, _| rng.pick(&orders))
            }));
        }
        scene.check();
        // A pool that groups only observe can be sorted, and its groups do not care.
        _ = catch_unwind(AssertUnwindSafe(|| {
            scene.world.pool_mut::<D>().sort_by(|_, _| rng.pick(&orders)).unwrap();
        }));
        scene.check();
        assert_eq!(scene.held(), held);
    }
}
