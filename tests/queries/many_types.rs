//! More component types than a signature has bits: filters still say the truth.

use std::collections::BTreeSet;

use esker::query::{QueryData, QueryFilter};
use esker::{Component, Entity, Has, Or, Query, With, Without, World};

use crate::common::{Rng, mix};
use crate::for_seeds;

/// Tiny components, and what a test does with each of them, by number.
macro_rules! numbered {
    ($($name:ident)*) => {
        $(
            #[derive(Component, Debug)]
            struct $name;
        )*

        const REGISTER: &[fn(&mut World)] = &[$(|world| _ = world.register::<$name>()),*];
        const INSERT: &[fn(&mut World, Entity)] =
            &[$(|world, entity| world.insert(entity, $name).unwrap()),*];
        const REMOVE: &[fn(&mut World, Entity)] =
            &[$(|world, entity| _ = world.remove::<$name>(entity).unwrap()),*];
        const CHECK: &[fn(&World, &Sets)] = &[$(check_one::<$name>),*];
    };
}

numbered! {
    N00 N01 N02 N03 N04 N05 N06 N07 N08 N09 N10 N11 N12 N13
    N14 N15 N16 N17 N18 N19 N20 N21 N22 N23 N24 N25 N26 N27
    N28 N29 N30 N31 N32 N33 N34 N35 N36 N37 N38 N39 N40 N41
    N42 N43 N44 N45 N46 N47 N48 N49 N50 N51 N52 N53 N54 N55
    N56 N57 N58 N59 N60 N61 N62 N63 N64 N65 N66 N67 N68 N69
}

/// Pairs that share a bit: the types are registered in their order, and from the 65th on each has two bits
/// of earlier ones (see `world/codes.rs`).
const PAIRS: &[fn(&World, &Sets)] = &[
    check_pair::<N16, N64>,
    check_pair::<N17, N64>,
    check_pair::<N47, N65>,
    check_pair::<N29, N66>,
    check_pair::<N33, N67>,
    check_pair::<N20, N68>,
    check_pair::<N26, N69>,
];

/// Who lives, and who has which component.
#[derive(Debug, Default)]
struct Sets {
    living: BTreeSet<Entity>,
    have: Vec<BTreeSet<Entity>>,
}

impl Sets {
    /// Who has `T`.
    fn of<T: Component>(&self, world: &World) -> &BTreeSet<Entity> {
        &self.have[world.component_id::<T>().expect("all are registered").index()]
    }
}

/// The matches, three times: with nothing known of the pools, and with what the walks before have found out.
fn matches<D, F: QueryFilter>(world: &World) -> BTreeSet<Entity>
where
    D: for<'a> QueryData<ReadItem<'a> = (Entity, bool)>,
{
    let found = [(); 3].map(|()| {
        let query: Query<'_, D, F> = world.query_filtered();
        query.iter().map(|(entity, _)| entity).collect::<BTreeSet<_>>()
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    let [_, _, found] = found;
    found
}

fn check_one<T: Component>(world: &World, sets: &Sets) {
    let have = sets.of::<T>(world);

    assert_eq!(matches::<(Entity, Has<T>), With<T>>(world), *have);
    let without = matches::<(Entity, Has<T>), Without<T>>(world);
    assert_eq!(without, &sets.living - have);
    for (entity, has) in &world.query::<(Entity, Has<T>)>() {
        assert_eq!(has, have.contains(&entity));
    }
    // Beside a component that everybody has, so that the signature is asked.
    assert_eq!(matches::<(Entity, Has<T>), (With<N63>, With<T>)>(world), &sets.have[63] & have);
    assert_eq!(matches::<(Entity, Has<T>), (With<N63>, Without<T>)>(world), &sets.have[63] - have);
}

fn check_pair<T: Component, U: Component>(world: &World, sets: &Sets) {
    let (t, u) = (sets.of::<T>(world), sets.of::<U>(world));

    type Both<T, U> = (With<N63>, Or<(With<T>, With<U>)>);
    assert_eq!(matches::<(Entity, Has<T>), Both<T, U>>(world), &sets.have[63] & &(t | u));
    type One<T, U> = (With<N63>, With<T>, Without<U>);
    assert_eq!(matches::<(Entity, Has<T>), One<T, U>>(world), &sets.have[63] & &(t - u));
    type Other<T, U> = (Without<T>, With<U>, With<N63>);
    assert_eq!(matches::<(Entity, Has<U>), Other<T, U>>(world), &sets.have[63] & &(u - t));
    type Neither<T, U> = Or<(Without<T>, Without<U>)>;
    assert_eq!(matches::<(Entity, Has<U>), Neither<T, U>>(world), &sets.living - &(t & u));
}

#[test]
fn filters_are_exact_where_components_share_a_bit() {
    for_seeds(4, |seed| {
        let mut rng = Rng::new(mix(seed));
        let mut world = World::new();
        REGISTER.iter().for_each(|register| register(&mut world));
        let mut sets = Sets { have: vec![BTreeSet::new(); REGISTER.len()], ..Sets::default() };
        for _ in 0..60 {
            let entity = world.spawn(());
            sets.living.insert(entity);
            for (number, insert) in INSERT.iter().enumerate() {
                if number == 63 || rng.one_in(3) {
                    insert(&mut world, entity);
                    sets.have[number].insert(entity);
                }
            }
            // A bit that is shared stays set, and must not be believed.
            for (number, remove) in REMOVE.iter().enumerate() {
                if number != 63 && rng.one_in(3) {
                    remove(&mut world, entity);
                    sets.have[number].remove(&entity);
                }
            }
        }
        world.verify().unwrap();

        CHECK.iter().for_each(|check| check(&world, &sets));
        PAIRS.iter().for_each(|check| check(&world, &sets));
    });
}

#[test]
fn a_filter_is_exact_before_and_after_its_bit_comes_to_be_shared() {
    let mut world = World::new();
    REGISTER[..64].iter().for_each(|register| register(&mut world));
    let [one, both, other] = [world.spawn(N00), world.spawn(N00), world.spawn(())];
    let found = |world: &World| {
        let with = world.query_filtered::<Entity, With<N00>>().iter().collect::<Vec<_>>();
        let without = world.query_filtered::<Entity, Without<N00>>().iter().collect::<Vec<_>>();
        (with, without)
    };
    assert_eq!(found(&world), (vec![one, both], vec![other]));

    world.insert(both, N64).unwrap();
    world.insert(other, N64).unwrap();

    assert_eq!(found(&world), (vec![one, both], vec![other]));
    world.remove::<N00>(both).unwrap();
    assert_eq!(found(&world), (vec![one], vec![both, other]));
}
