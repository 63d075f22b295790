//! Queries against brute force over the model.

use esker::query::{QueryData, QueryFilter};
use esker::{Entity, Query, With, Without};

use crate::kinds::{Aligned, Ghost, Kind, Owned, Plain, Rare, Stable, Tag, Wide};
use crate::run::{Model, Run};

type Row = (Entity, Vec<Option<u64>>);

/// Which entities match, and what they give.
#[derive(Debug, Default, Clone, Copy)]
struct Want {
    required: &'static [usize],
    optional: &'static [usize],
    with: &'static [usize],
    without: &'static [usize],
}

impl Want {
    fn row(&self, model: &Model, entity: Entity) -> Option<Row> {
        let row = model.rows.get(&entity)?;
        let has = |kind: &usize| row.contains_key(kind);
        let matches =
            self.required.iter().chain(self.with).all(has) && !self.without.iter().any(has);
        let kinds = self.required.iter().chain(self.optional);
        matches.then(|| (entity, kinds.map(|kind| row.get(kind).copied()).collect()))
    }

    fn rows(&self, model: &Model) -> Vec<Row> {
        model.rows.keys().filter_map(|&entity| self.row(model, entity)).collect()
    }
}

/// Compares a query that only reads with what is wanted.
fn compare<D, F>(run: &mut Run, want: Want, row: impl Fn(D::ReadItem<'_>) -> Row)
where
    D: QueryData,
    F: QueryFilter,
{
    let entity = run.any_id();
    let query: Query<'_, D, F> = run.world.query_filtered();
    let expected = want.rows(&run.model);

    let mut found: Vec<Row> = query.iter().map(&row).collect();

    assert_eq!(query.count(), expected.len());
    assert_eq!(query.is_empty(), expected.is_empty());
    found.sort_unstable();
    assert_eq!(found, expected);
    let expected = want.row(&run.model, entity);
    assert_eq!(query.contains(entity), expected.is_some());
    assert_eq!(query.get(entity).map(&row), expected);
}

fn some<K: Kind>(value: &K) -> Option<u64> {
    Some(value.value())
}

pub fn read(run: &mut Run) {
    let none = Want::default();
    match run.rng.below(9) {
        0 => {
            let want = Want { required: &[0], ..none };
            compare::<(Entity, &Plain), ()>(run, want, |(e, plain)| (e, vec![some(plain)]));
        }
        1 => {
            let want = Want { required: &[1, 2], ..none };
            compare::<(Entity, &Owned, &Stable), ()>(run, want, |(e, owned, stable)| {
                (e, vec![some(owned), some(stable)])
            });
        }
        2 => {
            let want = Want { required: &[4], optional: &[6], ..none };
            compare::<(Entity, &Rare, Option<&Aligned>), ()>(run, want, |(e, rare, aligned)| {
                (e, vec![some(rare), aligned.and_then(some)])
            });
        }
        3 => compare::<Entity, ()>(run, none, |e| (e, vec![])),
        4 => {
            let want = Want { optional: &[5, 3], ..none };
            compare::<(Entity, Option<&Tag>, Option<&Wide>), ()>(run, want, |(e, tag, wide)| {
                (e, vec![tag.and_then(some), wide.and_then(some)])
            });
        }
        5 => {
            let want = Want { required: &[1], with: &[5], without: &[4], ..none };
            type Filter = (With<Tag>, Without<Rare>);
            compare::<(Entity, &Owned), Filter>(run, want, |(e, owned)| (e, vec![some(owned)]));
        }
        6 => {
            let want = Want { without: &[0, 7], ..none };
            compare::<Entity, (Without<Plain>, Without<Ghost>)>(run, want, |e| (e, vec![]));
        }
        7 => {
            let want = Want { with: &[7, 3], ..none };
            compare::<Entity, (With<Ghost>, With<Wide>)>(run, want, |e| (e, vec![]));
        }
        _ => {
            let want = Want { required: &[0, 3, 2], ..none };
            type Nested<'a> = (Entity, (&'a Plain, (&'a Wide, &'a Stable)));
            compare::<Nested<'_>, ()>(run, want, |(e, (plain, (wide, stable)))| {
                (e, vec![some(plain), some(wide), some(stable)])
            });
        }
    }
}

pub fn write(run: &mut Run) {
    let none = Want::default();
    let mut found = Vec::new();
    let (want, written): (Want, &[usize]) = match run.rng.below(3) {
        0 => {
            let mut query = run.world.query::<(Entity, &mut Stable, &Owned)>();
            for (e, stable, owned) in &mut query {
                let row = (e, vec![some(stable), some(owned)]);
                let next = run.maker.value::<Stable>(e);
                stable.set(next);
                found.push((row, vec![Some(next)]));
            }
            (Want { required: &[2, 1], ..none }, &[2])
        }
        1 => {
            type Terms<'a> = (Entity, &'a mut Aligned, Option<&'a mut Plain>);
            for (e, aligned, plain) in run.world.query::<Terms<'_>>().iter_mut() {
                let row = (e, vec![some(aligned), plain.as_deref().and_then(some)]);
                let next = run.maker.value::<Aligned>(e);
                aligned.set(next);
                let next_plain = plain.map(|plain| {
                    let next = run.maker.value::<Plain>(e);
                    plain.set(next);
                    next
                });
                found.push((row, vec![Some(next), next_plain]));
            }
            (Want { required: &[6], optional: &[0], ..none }, &[6, 0])
        }
        _ => {
            let mut query = run.world.query_filtered::<(Entity, &mut Rare), Without<Tag>>();
            // All of them lent at once.
            let lent: Vec<(Entity, &mut Rare)> = query.iter_mut().collect();
            for (e, rare) in lent {
                let row = (e, vec![some(rare)]);
                let next = run.maker.value::<Rare>(e);
                rare.set(next);
                found.push((row, vec![Some(next)]));
            }
            (Want { required: &[4], without: &[5], ..none }, &[4])
        }
    };
    found.sort_unstable();
    let (rows, next): (Vec<Row>, Vec<_>) = found.into_iter().unzip();
    assert_eq!(rows, want.rows(&run.model));
    for ((entity, _), values) in rows.into_iter().zip(next) {
        for (&kind, value) in written.iter().zip(values) {
            value.map(|value| run.model.put(entity, kind, value));
        }
    }
}

pub fn one(run: &mut Run) {
    let entity = run.any_id();
    let want = Want { required: &[2], optional: &[3], without: &[7], ..Want::default() };
    let expected = want.row(&run.model, entity);
    let next = run.maker.value::<Stable>(entity);

    type Terms<'a> = (Entity, &'a mut Stable, Option<&'a Wide>);
    let mut query = run.world.query_filtered::<Terms<'_>, Without<Ghost>>();
    assert_eq!(query.contains(entity), expected.is_some());
    let found = query.get_mut(entity).map(|(e, stable, wide)| {
        let row = (e, vec![some(stable), wide.and_then(some)]);
        stable.set(next);
        row
    });

    assert_eq!(found, expected);
    if found.is_some() {
        run.model.put(entity, Stable::NUMBER, next);
    }
    assert_term_is_checked::<Terms<'_>>();
}

/// Terms of these tests are terms for any lifetime.
fn assert_term_is_checked<D: QueryData>() {}
