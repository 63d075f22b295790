//! Reservation under all orders of its threads (E4). See `crate::sync`.

use loom::sync::Arc;
use loom::thread;

use super::{Entities, Entity, Limits};

/// A book with two free slots, and between them in the list one that lives again by demand.
fn used_book() -> Entities {
    let mut ids = Entities::new();
    let [a, b, c, _living] = [(); 4].map(|()| ids.spawn());
    for id in [a, b, c] {
        ids.despawn(id).unwrap();
    }
    ids.spawn_at(Entity::new(b.index(), 7).unwrap()).unwrap();
    ids
}

/// Lets each of some threads, and this one, reserve as many ids as it says there; returns what
/// each got, and the book.
fn reserve_at_once(ids: Entities, counts: &[usize]) -> (Vec<Vec<Entity>>, Entities) {
    let ids = Arc::new(ids);
    let reserve = |ids: &Entities, count: usize| -> Vec<Entity> {
        (0..count).map_while(|_| ids.reserve().ok()).collect()
    };
    let (&last, others) = counts.split_last().expect("somebody reserves");
    let threads: Vec<_> = others
        .iter()
        .map(|&count| {
            let ids = Arc::clone(&ids);
            thread::spawn(move || {
                let reserved = reserve(&ids, count);
                drop(ids);
                reserved
            })
        })
        .collect();
    let mine = reserve(&ids, last);
    let mut all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    all.push(mine);
    let ids = Arc::try_unwrap(ids).unwrap_or_else(|_| panic!("all threads have ended"));
    (all, ids)
}

/// Each id is given out once, they are those that spawning would give, each thread gets its own in
/// that order, and settling brings just these to life.
fn each_id_once(make: impl Fn() -> Entities, counts: &[usize]) {
    let mut twin = make();
    let wanted: usize = counts.iter().sum();
    let spawned: Vec<Entity> = (0..wanted).map_while(|_| twin.try_spawn().ok()).collect();

    let (reserved, mut ids) = reserve_at_once(make(), counts);

    let place = |id: &Entity| spawned.iter().position(|other| other == id);
    for own in &reserved {
        assert!(own.iter().map(place).is_sorted(), "{own:?} of {spawned:?}");
    }
    let mut all = reserved.concat();
    all.sort_by_key(|id| place(id));
    assert_eq!(all, spawned);
    assert!(all.iter().all(|&id| !ids.is_alive(id)));
    ids.settle();
    assert!(ids.iter().eq(twin.iter()), "other entities live than were reserved");
    ids.check().unwrap();
    assert_eq!(ids.try_spawn().ok(), twin.try_spawn().ok());
}

#[test]
fn two_threads_get_each_id_once_and_in_order() {
    loom::model(|| each_id_once(used_book, &[2, 2]));
}

#[test]
fn three_threads_pass_from_the_free_list_to_unused_indices() {
    loom::model(|| each_id_once(used_book, &[1, 1, 2]));
}

#[test]
fn who_comes_too_late_gets_no_id_and_spoils_nothing() {
    let three = || Entities::with_limits(Limits { range: 0..3, fixed: true, ..Limits::default() });
    loom::model(move || each_id_once(three, &[2, 1, 1]));
}
