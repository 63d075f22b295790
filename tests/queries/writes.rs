//! Ways to write the matches of a query. Each compares what it was lent with what is wanted.

use esker::query::{DisjointError, SingleError};
use esker::{Entity, Query};

use crate::common::Rng;
use crate::model::Want;
use crate::reads::{FEW, common_length, some_ids};
use crate::slices::SliceTerm;
use crate::terms::{Condition, Term};

/// One way; returns the entities in the order in which they were written.
pub type Write<D, F> = fn(&mut Query<'_, D, F>, &Want, &mut Rng) -> Vec<Entity>;

/// Writes an item and returns what it was before.
fn written<D: Term>(item: D::Item<'_>) -> Vec<u64> {
    let mut row = Vec::with_capacity(D::WIDTH);
    D::overwrite(item, &mut row);
    row
}

/// All items are in use at the same time.
pub fn all_lent<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let lent: Vec<D::Item<'_>> = query.iter_mut().collect();
    let found: Vec<_> = lent.into_iter().map(written::<D>).collect();

    assert_eq!(found, want.rows);
    want.matches.clone()
}

pub fn by_for<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let mut found = Vec::new();
    for item in &mut *query {
        found.push(written::<D>(item));
    }

    assert_eq!(found, want.rows);
    want.matches.clone()
}

pub fn by_for_each<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let mut found = Vec::new();
    query.iter_mut().for_each(|item| found.push(written::<D>(item)));

    assert_eq!(found, want.rows);
    want.matches.clone()
}

pub fn in_parts<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    rng: &mut Rng,
) -> Vec<Entity> {
    let first = rng.below(want.rows.len() + 1);
    let mut walk = query.iter_mut();
    let mut found: Vec<_> = walk.by_ref().take(first).map(written::<D>).collect();
    if rng.one_in(3) {
        // The walk is left here; what it has not lent is not written.
        assert_eq!(found, want.rows[..first]);
        return want.matches[..first].to_vec();
    }
    walk.for_each(|item| found.push(written::<D>(item)));

    assert_eq!(found, want.rows);
    want.matches.clone()
}

pub fn by_id<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    for &id in &want.ids {
        assert_eq!(query.get_mut(id).map(written::<D>).as_ref(), want.row(id), "{id}");
    }
    want.matches.clone()
}

pub fn by_many_ids<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    rng: &mut Rng,
) -> Vec<Entity> {
    let ids = some_ids(want, rng);
    let mut matching: Vec<Entity> =
        ids.iter().copied().filter(|&e| want.row(e).is_some()).collect();

    let mut found = 0;
    let mut walk = query.iter_many_mut(&ids);
    while let Some(item) = walk.fetch_next() {
        let row = written::<D>(item);
        let entity = matching[found];
        // One that is named twice was written before.
        let is_first = !matching[..found].contains(&entity);
        assert!(!is_first || Some(&row) == want.row(entity), "{entity}");
        found += 1;
    }

    assert_eq!(found, matching.len());
    matching.truncate(found);
    matching
}

pub fn several_at_once<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    rng: &mut Rng,
) -> Vec<Entity> {
    let from = if rng.one_in(3) || want.matches.is_empty() { &want.ids } else { &want.matches };
    let ids = [0; 3].map(|_| rng.pick(from));
    // The first that cannot be had is named.
    let fault = (0..3).find_map(|at| match ids[at] {
        entity if ids[..at].contains(&entity) => Some(DisjointError::Repeated { entity }),
        entity if want.row(entity).is_none() => Some(DisjointError::NoMatch { entity }),
        _ => None,
    });

    match (query.get_disjoint_mut(ids), fault) {
        (Ok(items), None) => {
            let found = items.map(written::<D>);
            assert_eq!(found.each_ref().map(Some), ids.map(|id| want.row(id)));
            ids.to_vec()
        }
        (Err(error), Some(fault)) => {
            assert_eq!(error, fault);
            Vec::new()
        }
        (result, fault) => panic!("{:?} instead of {fault:?}", result.map(|_| "items").err()),
    }
}

pub fn by_combinations<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let matches = &want.matches;
    if matches.len() > FEW {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (at, &a) in matches.iter().enumerate() {
        pairs.extend(matches[at + 1..].iter().map(|&b| [a, b]));
    }

    let mut found = 0;
    let mut walk = query.iter_combinations_mut();
    while let Some([a, b]) = walk.fetch_next() {
        for item in [a, b] {
            written::<D>(item);
        }
        found += 1;
    }

    assert_eq!(found, pairs.len());
    pairs.concat()
}

pub fn as_the_only_one<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let found = query.single_mut().map(written::<D>);
    match &want.rows[..] {
        [] => assert_eq!(found, Err(SingleError::None)),
        [only] => {
            assert_eq!(found.as_ref(), Ok(only));
            return want.matches.clone();
        }
        _ => assert_eq!(found, Err(SingleError::Several)),
    }
    Vec::new()
}

#[cfg(feature = "parallel")]
pub fn in_parallel<D: Term, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    rng: &mut Rng,
) -> Vec<Entity> {
    use rayon::iter::ParallelIterator;

    let walk = query.par_iter_mut();
    let walk = match rng.below(3) {
        0 => walk,
        1 => walk.batch(1),
        _ => walk.batch(1 + rng.below(20)),
    };
    let mut found: Vec<Vec<u64>> = walk.map(written::<D>).collect();
    found.sort_unstable();

    assert_eq!(found, want.sorted_rows());
    want.matches.clone()
}

/// The slices of all runs are in use at the same time.
pub fn by_runs<D: SliceTerm, F: Condition>(
    query: &mut Query<'_, D, F>,
    want: &Want,
    _: &mut Rng,
) -> Vec<Entity> {
    let (mut rows, mut runs) = (Vec::new(), Vec::new());
    let lent: Vec<D::Slices<'_>> = query.runs_mut().collect();
    for mut run in lent {
        let len = common_length(|out| D::lengths_mut(&run, out));
        for at in 0..len {
            let mut row = Vec::new();
            D::write_at(&mut run, at, &mut row);
            rows.push(row);
        }
        runs.push(len);
    }

    assert_eq!(runs, want.runs);
    assert_eq!(rows, want.rows);
    want.matches.clone()
}
