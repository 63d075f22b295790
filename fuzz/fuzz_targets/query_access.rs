//! Any bytes as queries by component id: who matches, with which values, and who excludes whom is what
//! looking at each entity says.

#![no_main]

mod access_kinds;
#[path = "choices.rs"]
mod common;
#[path = "../../tests/common/mod.rs"]
mod seeded;

use std::collections::BTreeMap;

use access_kinds::{KINDS, Packed, Tracked, insert, packed, register, remove, set, value_of};
use common::{Rng, id};
use esker::prelude::*;
use esker::query::{DynamicError, DynamicQuery, DynamicTerms};
use esker::world::ComponentId;
use libfuzzer_sys::fuzz_target;

type Rows = BTreeMap<Entity, [Option<u64>; KINDS]>;

/// A world by the input, and what each entity has.
fn world(rng: &mut Rng) -> (World, [ComponentId; KINDS], Rows) {
    let mut world = World::new();
    let ids = register(&mut world);
    if rng.one_in(3) {
        world.group::<(Packed, Tracked)>().build().unwrap();
    }
    let mut rows = Rows::new();
    for _ in 0..rng.below(24) {
        let entity = world.spawn(());
        let (has, value) = (rng.below(256), rng.next());
        let row = std::array::from_fn(|kind| (has >> kind & 1 == 1).then_some(value ^ kind as u64));
        (0..KINDS).for_each(|kind| {
            row[kind].into_iter().for_each(|value| insert(&mut world, entity, kind, value));
        });
        rows.insert(entity, row);
        if let (true, Some((&entity, row))) = (rng.one_in(3), rows.iter_mut().next_back()) {
            let kind = rng.below(KINDS);
            remove(&mut world, entity, kind);
            row[kind] = None;
        }
        if rng.one_in(6) {
            let Some((entity, _)) = rows.pop_first() else { continue };
            world.despawn(entity).unwrap();
        }
    }
    (world, ids, rows)
}

/// A question, written down a second time: how each kind is used.
#[derive(Default, Clone)]
struct Asked {
    read: Vec<usize>,
    write: Vec<usize>,
    with: Vec<usize>,
    without: Vec<usize>,
    stranger: bool,
}

impl Asked {
    fn choose(rng: &mut Rng) -> Self {
        let mut asked = Self::default();
        for _ in 0..rng.below(5) {
            let kind = rng.below(KINDS);
            match rng.below(4) {
                0 => asked.read.push(kind),
                1 => asked.write.push(kind),
                2 => asked.with.push(kind),
                _ => asked.without.push(kind),
            }
        }
        asked.stranger = rng.one_in(30);
        asked
    }

    fn terms(&self, ids: &[ComponentId; KINDS], stranger: ComponentId) -> DynamicTerms {
        let terms = DynamicTerms::new();
        let terms = self.read.iter().fold(terms, |terms, &kind| terms.read(ids[kind]));
        let terms = self.write.iter().fold(terms, |terms, &kind| terms.write(ids[kind]));
        let terms = self.with.iter().fold(terms, |terms, &kind| terms.with(ids[kind]));
        let terms = self.without.iter().fold(terms, |terms, &kind| terms.without(ids[kind]));
        if self.stranger { terms.with(stranger) } else { terms }
    }

    fn shared(&self) -> impl Iterator<Item = usize> {
        self.read.iter().chain(&self.with).chain(&self.without).copied()
    }

    /// Whether it excludes itself, or what is borrowed already.
    fn is_excluded(&self, held: &Self) -> bool {
        let is_written = |kind: &usize| self.write.contains(kind) || held.write.contains(kind);
        let is_twice = |kind: &usize| self.write.iter().filter(|&k| k == kind).count() > 1;
        self.shared().any(|kind| is_written(&kind))
            || self.write.iter().any(|kind| is_twice(kind) || held.write.contains(kind))
            || held.shared().any(|kind| self.write.contains(&kind))
    }

    fn matches(&self, row: &[Option<u64>; KINDS]) -> bool {
        let needed = self.read.iter().chain(&self.write).chain(&self.with);
        needed.copied().all(|kind| row[kind].is_some())
            && self.without.iter().all(|&kind| row[kind].is_none())
    }
}

/// Compares each entity, and writes to those that match.
fn compare(
    query: &mut DynamicQuery<'_>,
    asked: &Asked,
    ids: &[ComponentId; KINDS],
    rows: &mut Rows,
) {
    let mut found = query.entities();
    found.sort_unstable();
    let expected = rows.iter().filter(|(_, row)| asked.matches(row)).map(|(&entity, _)| entity);
    assert!(found.iter().copied().eq(expected), "who matches");
    assert!(query.get(id(4_000_000, 3)).is_none() && !query.contains(id(0, 77)));
    for (&entity, row) in rows.iter_mut() {
        assert_eq!(query.contains(entity), asked.matches(row), "{entity}");
        let Some(mut found) = query.get(entity) else { continue };
        for kind in 0..KINDS {
            let is_lent = asked.read.contains(&kind) || asked.write.contains(&kind);
            let value = found.value(ids[kind]).map(|any| value_of(any, kind));
            assert_eq!(value, row[kind].filter(|_| is_lent), "kind {kind} of {entity}");
            let lent = found.value_mut(ids[kind]);
            assert_eq!(lent.is_some(), asked.write.contains(&kind));
            if let (Some(any), Some(value)) = (lent, &mut row[kind]) {
                *value = value.wrapping_add(1);
                set(any, kind, *value);
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let mut rng = Rng::of(input);
    let (mut world, ids, mut rows) = world(&mut rng);
    let mut larger = World::new();
    register(&mut larger);
    let stranger = larger.register::<Stranger>();
    for _ in 0..8 {
        let (mut held, mut borrowed) = (None, Asked::default());
        // The second one is asked for while the first one is held.
        for _ in 0..1 + rng.below(2) {
            let asked = Asked::choose(&mut rng);
            match world.dynamic_query(&asked.terms(&ids, stranger)) {
                Ok(mut query) => {
                    assert!(!asked.is_excluded(&borrowed) && !asked.stranger);
                    compare(&mut query, &asked, &ids, &mut rows);
                    (held, borrowed) = (Some(query), asked);
                }
                Err(DynamicError::Borrowed(_)) => assert!(asked.is_excluded(&borrowed)),
                Err(DynamicError::Unknown { component }) => {
                    assert!(asked.stranger && component == stranger);
                }
                Err(other) => panic!("not an error of such a query: {other}"),
            }
        }
        drop(held);
    }
    world.verify().unwrap();
    for kind in 0..KINDS {
        let mut entities = packed(&world, kind);
        entities.sort_unstable();
        assert!(
            entities
                .into_iter()
                .eq(rows.iter().filter(|(_, r)| r[kind].is_some()).map(|(&e, _)| e))
        );
    }
    rows.keys().for_each(|&entity| world.despawn(entity).unwrap());
    assert!(world.is_empty());
});

#[derive(Component)]
struct Stranger;
