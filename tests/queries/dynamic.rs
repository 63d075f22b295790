//! Queries by component ids.

use esker::query::{DynamicError, DynamicTerms};
use esker::world::ComponentId;
use esker::{Component, Entity, With, Without, World};

use crate::common::Rng;
use crate::kinds::{A, B, C, KINDS, Kind, Rare, Stable, Tag, Text, with_kind};
use crate::model::Model;
use crate::scene::Scene;
use crate::{for_seeds, scene};

/// The ids of all kinds, by number; makes those known that are not.
fn ids(world: &mut World) -> [ComponentId; KINDS] {
    std::array::from_fn(|kind| with_kind!(kind, K => world.register::<K>()))
}

/// What a random query does with each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Read,
    Write,
    With,
    Without,
    None,
}

fn random_roles(rng: &mut Rng) -> [Role; KINDS] {
    use Role::{None, Read, With, Without, Write};
    [(); KINDS].map(|()| rng.pick(&[Read, Write, With, Without, None, None, None]))
}

fn terms(roles: [Role; KINDS], ids: [ComponentId; KINDS]) -> DynamicTerms {
    roles.iter().zip(ids).fold(DynamicTerms::new(), |terms, (role, id)| match role {
        Role::Read => terms.read(id),
        Role::Write => terms.write(id),
        Role::With => terms.with(id),
        Role::Without => terms.without(id),
        Role::None => terms,
    })
}

fn is_match(model: &Model, roles: [Role; KINDS], entity: Entity) -> bool {
    roles.iter().enumerate().all(|(kind, role)| match role {
        Role::Read | Role::Write | Role::With => model.has(entity, kind),
        Role::Without => !model.has(entity, kind),
        Role::None => true,
    })
}

fn random_scene(seed: u64) -> (Scene, [ComponentId; KINDS]) {
    let mut scene = scene(seed, 60);
    let ids = ids(&mut scene.world);
    (scene, ids)
}

#[test]
fn a_query_by_ids_matches_who_has_what_it_asks_for() {
    for_seeds(40, |seed| {
        let (Scene { world, model, mut rng, .. }, ids) = random_scene(seed);
        for _ in 0..10 {
            let roles = random_roles(&mut rng);
            let mut query = world.dynamic_query(&terms(roles, ids)).unwrap();

            let mut found = query.entities();
            found.sort_unstable();
            let living = model.living();
            let expected = living.into_iter().filter(|&entity| is_match(&model, roles, entity));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{roles:?}");
            for id in model.all_sorts_of_ids() {
                assert_eq!(query.contains(id), found.contains(&id), "{id}");
                assert_eq!(
                    query.get(id).map(|found| found.entity()),
                    found.contains(&id).then_some(id)
                );
            }
        }
    });
}

#[test]
fn a_query_by_ids_gives_what_the_typed_query_gives() {
    for_seeds(40, |seed| {
        let (Scene { world, .. }, [a, b, c, text, stable, rare, tag]) = random_scene(seed);
        let by_ids = |terms: DynamicTerms| world.dynamic_query(&terms).unwrap().entities();
        let terms = DynamicTerms::new();

        // Of equally short pools both walk the first, so that the order is the same, too.
        let typed: Vec<_> = world.query::<(Entity, &A, &B)>().iter().map(|(e, ..)| e).collect();
        assert_eq!(by_ids(terms.clone().read(a).read(b)), typed);
        let typed = world.query_filtered::<(Entity, &Stable), (With<Rare>, Without<Tag>)>();
        let typed: Vec<_> = typed.iter().map(|(e, _)| e).collect();
        assert_eq!(by_ids(terms.clone().read(stable).with(rare).without(tag)), typed);
        let typed: Vec<_> = world.query::<(Entity, &Text)>().iter().map(|(e, _)| e).collect();
        assert_eq!(by_ids(terms.clone().write(text)), typed);
        let typed: Vec<_> = world.query_filtered::<Entity, Without<C>>().iter().collect();
        assert_eq!(by_ids(terms.clone().without(c)), typed);
        assert_eq!(by_ids(terms), world.query::<Entity>().iter().collect::<Vec<_>>());
    });
}

#[test]
fn values_are_lent_by_what_the_terms_say() {
    for_seeds(20, |seed| {
        let (Scene { world, mut model, mut rng, .. }, ids) = random_scene(seed);
        for _ in 0..10 {
            let roles = random_roles(&mut rng);
            let mut query = world.dynamic_query(&terms(roles, ids)).unwrap();
            let order = query.entities();

            let mut visited = Vec::new();
            query.for_each(|mut found| {
                let entity = found.entity();
                visited.push(entity);
                for (kind, &id) in ids.iter().enumerate() {
                    with_kind!(kind, K => {
                        let value = found.value(id).map(|value| value.downcast_ref::<K>().unwrap());
                        let is_lent = matches!(roles[kind], Role::Read | Role::Write);
                        let expected = model.value(entity, kind).filter(|_| is_lent);
                        assert_eq!(value.map(K::value), expected);
                        let value = found.value_mut(id);
                        assert_eq!(value.is_some(), roles[kind] == Role::Write);
                        if let Some(value) = value {
                            let value: &mut K = value.downcast_mut().unwrap();
                            value.set(K::next(value.value()));
                            model.change(entity, kind, K::next);
                        }
                    });
                }
            });

            assert_eq!(visited, order);
            drop(query);
            model.assert_values(&world);
        }
    });
}

#[test]
fn one_entity_can_be_written_by_ids() {
    let mut world = World::new();
    let (first, second) = (world.spawn((A(1), Tag)), world.spawn(A(2)));
    let (a, tag) = (world.component_id::<A>().unwrap(), world.component_id::<Tag>().unwrap());

    let mut query = world.dynamic_query(&DynamicTerms::new().write(a).without(tag)).unwrap();
    assert!(query.get(first).is_none());
    query.get(second).unwrap().value_mut(a).unwrap().downcast_mut::<A>().unwrap().0 = 20;

    drop(query);
    assert_eq!([first, second].map(|e| world.get::<A>(e).unwrap().0), [1, 20]);
}

#[test]
fn an_id_of_another_world_is_refused() {
    let mut other = World::new();
    other.register::<A>();
    let b = other.register::<B>();
    let mut world = World::new();
    world.spawn(A(1));

    for terms in [
        DynamicTerms::new().read(b),
        DynamicTerms::new().write(b),
        DynamicTerms::new().with(b),
        DynamicTerms::new().without(b),
    ] {
        let error = world.dynamic_query(&terms).unwrap_err();
        assert_eq!(error, DynamicError::Unknown { component: b });
        assert!(error.to_string().contains("component 1"), "{error}");
    }
}

#[test]
fn a_component_that_is_written_cannot_be_named_twice() {
    let mut world = World::new();
    world.spawn((A(1), B(2)));
    let [a, b] = [world.component_id::<A>(), world.component_id::<B>()].map(Option::unwrap);
    let terms = || DynamicTerms::new().read(b).write(a);

    for twice in [terms().write(a), terms().read(a), terms().with(a), terms().without(a)] {
        let Err(DynamicError::Borrowed(conflict)) = world.dynamic_query(&twice) else {
            panic!("it was lent twice: {twice:?}");
        };
        assert_eq!(conflict.name, "queries::kinds::A");
        // What it had borrowed until then is given back.
        assert!(world.try_pool_mut::<A>().is_ok() && world.try_pool_mut::<B>().is_ok());
    }
    assert!(world.dynamic_query(&terms().read(b).with(b)).is_ok());
}

#[test]
fn a_query_by_ids_keeps_to_the_borrows_of_others() {
    let mut world = World::new();
    world.spawn(A(1));
    let a = world.component_id::<A>().unwrap();
    let [read, write] = [DynamicTerms::new().read(a), DynamicTerms::new().write(a)];

    let typed = world.query::<&A>();
    assert!(world.dynamic_query(&read).is_ok());
    assert!(world.dynamic_query(&write).is_err());
    drop(typed);
    let by_id = world.dynamic_query(&write).unwrap();
    assert!(world.try_query::<&A, ()>().is_err());
    drop(by_id);
    assert!(world.try_query::<&mut A, ()>().is_ok());
}

mod red {
    #[derive(esker::Component, Debug)]
    pub struct Same;
}

mod blue {
    #[derive(esker::Component, Debug)]
    pub struct Same;
}

#[derive(Component, Debug)]
struct NotSame;

#[test]
fn a_component_is_found_by_its_path_or_an_end_of_it_that_only_it_has() {
    let mut world = World::new();
    let red = world.register::<red::Same>();
    let found = |world: &World, name| world.component_id_by_name(name);
    assert_eq!(found(&world, "Same"), Some(red));

    let blue = world.register::<blue::Same>();
    let other = world.register::<NotSame>();

    assert_eq!(found(&world, "queries::dynamic::red::Same"), Some(red));
    assert_eq!(found(&world, "queries::dynamic::blue::Same"), Some(blue));
    assert_eq!(found(&world, "red::Same"), Some(red));
    assert_eq!(found(&world, "dynamic::blue::Same"), Some(blue));
    assert_eq!(found(&world, "NotSame"), Some(other));
    // Of two, none; an end that is no whole name is none; nor is what nobody has.
    assert_eq!(found(&world, "Same"), None);
    assert_eq!(found(&world, "otSame"), None);
    assert_eq!(found(&world, "queries::dynamic"), None);
    assert_eq!(found(&world, "Unknown"), None);
    assert_eq!(found(&world, ""), None);
}
