//! Ways to read the matches of a query, each compared with what is wanted.

use esker::query::SingleError;
use esker::{Entity, Query};

use crate::common::Rng;
use crate::model::Want;
use crate::slices::SliceTerm;
use crate::terms::{Condition, Term};

/// One way.
pub type Read<D, F> = fn(&Query<'_, D, F>, &Want, &mut Rng);

pub fn shown<D: Term>(item: D::ReadItem<'_>) -> Vec<u64> {
    let mut row = Vec::with_capacity(D::WIDTH);
    D::show(item, &mut row);
    row
}

pub fn by_next<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let mut found = Vec::new();
    let mut walk = query.iter();
    for item in walk.by_ref() {
        found.push(shown::<D>(item));
    }

    assert_eq!(found, want.rows);
    assert!(walk.next().is_none() && walk.next().is_none(), "the end is the end");
}

pub fn by_for<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let mut found = Vec::new();
    for item in query {
        found.push(shown::<D>(item));
    }

    assert_eq!(found, want.rows);
}

pub fn by_for_each<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let mut found = Vec::new();
    query.iter().for_each(|item| found.push(shown::<D>(item)));

    assert_eq!(found, want.rows);
}

pub fn by_fold<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let found = query.iter().fold(Vec::new(), |mut found, item| {
        found.push(shown::<D>(item));
        found
    });

    assert_eq!(found, want.rows);
}

/// Walks a part one by one, and the rest at once; then another part, which is left.
pub fn in_parts<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, rng: &mut Rng) {
    let first = rng.below(want.rows.len() + 1);
    let mut walk = query.iter();
    let mut found: Vec<_> = walk.by_ref().take(first).map(shown::<D>).collect();
    assert_eq!(found, want.rows[..first]);
    walk.for_each(|item| found.push(shown::<D>(item)));
    assert_eq!(found, want.rows);

    let left = rng.below(want.rows.len() + 1);
    let found: Vec<_> = query.iter().take(left).map(shown::<D>).collect();
    assert_eq!(found, want.rows[..left]);
}

pub fn by_count<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, rng: &mut Rng) {
    let skipped = rng.below(want.rows.len() + 1);
    let mut walk = query.iter();
    walk.by_ref().take(skipped).for_each(drop);

    assert_eq!(query.count(), want.rows.len());
    assert_eq!(query.is_empty(), want.rows.is_empty());
    assert_eq!(walk.count(), want.rows.len() - skipped);
}

pub fn by_size_hint<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let is_one = query.explain().way == esker::query::WalkKind::OneRun;
    let mut walk = query.iter();
    for left in (0..=want.rows.len()).rev() {
        let (least, most) = walk.size_hint();
        let most = most.expect("a query knows how many there are at most");
        assert!(least <= left && left <= most, "{left} are left, not {least} to {most}");
        assert!(!is_one || (least, most) == (left, left), "the number is known");
        assert_eq!(walk.next().is_some(), left > 0);
    }
}

pub fn by_id<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let view = query.view();
    for &id in &want.ids {
        assert_eq!(query.get(id).map(shown::<D>).as_ref(), want.row(id), "{id}");
        assert_eq!(query.contains(id), want.row(id).is_some(), "{id}");
        assert_eq!(view.get(id).map(shown::<D>).as_ref(), want.row(id), "{id}");
        assert_eq!(view.contains(id), want.row(id).is_some(), "{id}");
    }
}

/// Ids of all sorts in a random order, some of them twice.
pub fn some_ids(want: &Want, rng: &mut Rng) -> Vec<Entity> {
    (0..rng.below(60)).map(|_| rng.pick(&want.ids)).collect()
}

pub fn by_many_ids<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, rng: &mut Rng) {
    let ids = some_ids(want, rng);
    let expected: Vec<_> = ids.iter().filter_map(|&id| want.row(id)).cloned().collect();

    let found: Vec<_> = query.iter_many(&ids).map(shown::<D>).collect();

    assert_eq!(found, expected);
}

pub fn as_the_only_one<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let expected = match &want.rows[..] {
        [] => Err(SingleError::None),
        [only] => Ok(only.clone()),
        _ => Err(SingleError::Several),
    };

    assert_eq!(query.single().map(shown::<D>), expected);
}

/// Above this many matches there are too many combinations.
pub const FEW: usize = 10;

pub fn by_combinations<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let rows = &want.rows;
    if rows.len() > FEW {
        // Still in the right order.
        let first = query.iter_combinations().next().map(|pair| pair.map(shown::<D>));
        assert_eq!(first, Some([rows[0].clone(), rows[1].clone()]));
        return;
    }
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    for (a, row_a) in rows.iter().enumerate() {
        for (b, row_b) in rows.iter().enumerate().skip(a + 1) {
            pairs.push([row_a, row_b].map(Vec::clone));
            for row_c in &rows[b + 1..] {
                triples.push([row_a, row_b, row_c].map(Vec::clone));
            }
        }
    }

    let found: Vec<_> = query.iter_combinations::<2>().map(|all| all.map(shown::<D>)).collect();
    assert_eq!(found, pairs);
    let found: Vec<_> = query.iter_combinations::<3>().map(|all| all.map(shown::<D>)).collect();
    assert_eq!(found, triples);
}

#[cfg(feature = "parallel")]
pub fn in_parallel<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, rng: &mut Rng) {
    use rayon::iter::ParallelIterator;

    let expected = want.sorted_rows();
    let batch = 1 + rng.below(20);
    for walk in [query.par_iter(), query.par_iter().batch(1), query.par_iter().batch(batch)] {
        let mut found: Vec<Vec<u64>> = walk.map(shown::<D>).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}

/// The runs are what the naive model says, so none could be longer; together they are the walk.
pub fn by_runs<D: SliceTerm, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    let (mut rows, mut runs) = (Vec::new(), Vec::new());
    for run in query.runs() {
        let len = common_length(|out| D::lengths(&run, out));
        for at in 0..len {
            let mut row = Vec::new();
            D::read_at(&run, at, &mut row);
            rows.push(row);
        }
        runs.push(len);
    }

    assert_eq!(runs, want.runs);
    assert_eq!(rows, want.rows);
}

/// The length that all slices of a run have.
pub fn common_length(lengths: impl FnOnce(&mut Vec<usize>)) -> usize {
    let mut found = Vec::new();
    lengths(&mut found);
    let len = found[0];
    assert!(len > 0 && found.iter().all(|&other| other == len), "slices of one run: {found:?}");
    len
}

pub fn by_explanation<D: Term, F: Condition>(query: &Query<'_, D, F>, want: &Want, _: &mut Rng) {
    use crate::kinds::with_kind;

    let found = query.explain();

    let driver = want.driver.map(|kind| with_kind!(kind, K => std::any::type_name::<K>()));
    assert_eq!(found.driver, driver);
    assert_eq!(found.driver_len, want.driver_len);
    assert_eq!(found.matches, want.matches.len());
    assert_eq!(found.runs, want.runs.len());
}
