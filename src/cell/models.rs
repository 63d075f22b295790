//! The borrow flag under all orders of its threads (B1). See `crate::sync`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::flag::Flag;

/// What a cell guards, in two halves. Loom fails a model in which somebody gets at a half without
/// having been ordered after everybody who excludes him.
struct Guarded {
    flag: Flag,
    structure: UnsafeCell<()>,
    values: UnsafeCell<()>,
}

#[derive(Debug, Clone, Copy)]
enum Taker {
    Look,
    Read,
    Edit,
    Write,
}
use Taker::{Edit, Look, Read, Write};

impl Guarded {
    fn new() -> Arc<Self> {
        let (structure, values) = (UnsafeCell::new(()), UnsafeCell::new(()));
        Arc::new(Self { flag: Flag::default(), structure, values })
    }

    /// Takes the flag, uses what it allows and gives it back; whether it could be had.
    fn visit(&self, taker: Taker) -> bool {
        let (flag, structure, values) = (&self.flag, &self.structure, &self.values);
        let taken = match taker {
            Look => flag.take_look(),
            Read => flag.take_read(),
            Edit => flag.take_edit(),
            Write => flag.take_write(),
        };
        if taken.is_err() {
            return false;
        }
        match taker {
            Look => {
                structure.with(|_| ());
                flag.release_look();
            }
            Read => {
                structure.with(|_| values.with(|_| ()));
                flag.release_read();
            }
            Edit => {
                structure.with(|_| values.with_mut(|_| ()));
                flag.release_edit();
            }
            Write => {
                structure.with_mut(|_| values.with_mut(|_| ()));
                flag.release_write();
            }
        }
        true
    }
}

/// Lets these visit at once and says who could; nobody may leave a trace in the flag.
fn visit_at_once(takers: &[&[Taker]]) -> Vec<Vec<bool>> {
    let guarded = Guarded::new();
    let visit = |guarded: &Guarded, takers: &[Taker]| -> Vec<bool> {
        takers.iter().map(|&taker| guarded.visit(taker)).collect()
    };
    let (last, others) = takers.split_last().expect("somebody visits");
    let threads: Vec<_> = others
        .iter()
        .map(|takers| {
            let (guarded, takers) = (Arc::clone(&guarded), takers.to_vec());
            thread::spawn(move || visit(&guarded, &takers))
        })
        .collect();
    let mine = visit(&guarded, last);
    let mut all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    all.push(mine);

    assert!(guarded.visit(Write), "all have left");
    all
}

#[test]
fn two_who_exclude_each_other_never_meet() {
    for pair in
        [[Write, Write], [Write, Edit], [Edit, Edit], [Read, Write], [Read, Edit], [Look, Write]]
    {
        loom::model(move || {
            let could = visit_at_once(&[&[pair[0]], &[pair[1]]]);

            // Who is refused was refused by somebody who was in.
            assert!(could[0][0] || could[1][0], "{pair:?} were both refused");
        });
    }
}

#[test]
fn two_who_go_together_are_never_refused() {
    for pair in [[Look, Edit], [Look, Look], [Look, Read], [Read, Read]] {
        loom::model(move || {
            let could = visit_at_once(&[&[pair[0]], &[pair[1]]]);

            assert!(could[0][0] && could[1][0], "{pair:?} refused each other");
        });
    }
}

#[test]
fn a_look_an_edit_and_a_write_share_a_cell_as_they_may() {
    loom::model(|| {
        let could = visit_at_once(&[&[Look], &[Edit], &[Write]]);

        // Only the one who was in for the whole can have kept the others out.
        assert!(could[2][0] || could[0][0] && could[1][0], "{could:?}");
    });
}

#[test]
fn a_refused_taker_and_a_release_do_not_erase_each_other() {
    loom::model(|| {
        visit_at_once(&[&[Write, Read], &[Read, Edit]]);
    });
}
