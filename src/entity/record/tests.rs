//! Records: what comes back of them, and what is refused.

use super::*;

/// A book with a bit of everything: dead, reused, demanded, far and retired ids.
fn eventful() -> Entities {
    let limits = Limits { last_version: 3, ..Limits::default() };
    let mut book = Entities::with_limits(limits);
    let ids: Vec<Entity> = (0..40).map(|_| book.spawn()).collect();
    for nth in [3, 9, 27, 11, 30] {
        book.despawn(ids[nth]).unwrap();
    }
    for _ in 0..9 {
        let id = book.spawn();
        book.despawn(id).unwrap();
    }
    book.spawn_at(Entity::new(9, 0).unwrap()).unwrap();
    book.spawn_at(Entity::new(70_000, 9).unwrap()).unwrap();
    book.spawn_at(Entity::new(45, 2).unwrap()).unwrap();
    book
}

fn rebuilt(book: &Entities) -> Result<Entities, Unsound> {
    Entities::restore(book.record(), book.near_slots())
}

#[test]
fn a_restored_book_gives_out_the_same_ids_for_ever() {
    let mut book = eventful();
    for mut twin in [rebuilt(&book).unwrap(), book.copy()] {
        twin.check().unwrap();
        assert_eq!(twin.record(), book.record());
        let mut original = book.copy();
        for nth in 0..200 {
            let id = original.spawn();
            assert_eq!(twin.spawn(), id);
            if nth % 3 == 0 {
                assert_eq!(original.despawn(id), twin.despawn(id));
            }
        }
        assert_eq!(twin.record(), original.record());
    }
    book.check().unwrap();
}

#[test]
fn what_is_reserved_lives_in_the_copy() {
    let book = eventful();
    let id = book.reserve().unwrap();

    assert!(book.has_reserved() && !book.is_alive(id));
    assert!(book.copy().is_alive(id));
}

#[test]
fn a_changed_record_is_refused_or_sound() {
    let book = eventful();
    let near: Vec<u64> = book.near_slots().collect();
    let mut refused = 0;
    for place in 0..near.len() {
        for bit in 0..64 {
            let mut near = near.clone();
            near[place] ^= 1 << bit;
            match Entities::restore(book.record(), near.into_iter()) {
                Ok(mut twin) => twin.check().unwrap(),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > near.len() * 20, "{refused}");
    let records = |change: &dyn Fn(&mut Record)| {
        let mut record = book.record();
        change(&mut record);
        Entities::restore(record, near.iter().copied())
    };
    for free in 0..200 {
        if let Ok(mut twin) = records(&|record| record.free = free) {
            twin.check().unwrap();
        }
    }
    assert!(records(&|record| record.range[1] = 10).is_err());
    assert!(records(&|record| record.range[0] = 1).is_err());
    assert!(records(&|record| record.last_version = u32::MAX).is_err());
    assert!(records(&|record| record.far.push((3, 4))).is_err());
    assert!(records(&|record| record.demanded.push((1, None, 0))).is_ok());
    assert!(records(&|record| record.demanded.push((1, Some(1), 0))).is_err());
    assert!(records(&|record| record.demanded.clear()).is_err());
}

#[test]
fn a_book_that_has_given_out_all_its_ids_is_restored() {
    for fixed in [false, true] {
        let limits = Limits { range: 3..9, fixed, ..Limits::default() };
        let mut book = Entities::with_limits(limits);
        while book.try_spawn().is_ok() {}

        let mut twin = rebuilt(&book).unwrap();

        assert_eq!((twin.len(), twin.record()), (6, book.record()));
        assert!(twin.try_spawn().is_err());
        // One slot more than the range has room for.
        let near = book.near_slots().chain([10]).collect::<Vec<_>>();
        assert!(Entities::restore(book.record(), near.into_iter()).is_err());
    }
}

#[test]
fn a_habit_that_no_stream_can_have_is_refused() {
    let book = eventful();
    let with = |habits: &[(u64, u32)]| {
        let record = Record { habits: habits.to_vec(), ..book.record() };
        Entities::restore(record, book.near_slots())
    };

    assert!(with(&[(1, 1), (2, 7), (u64::MAX, 5)]).is_ok());
    for odd in [(0, 1), (1, 0), (0, 0)] {
        assert!(with(&[odd]).is_err(), "{odd:?}");
    }
    assert!(with(&[(1, 1), (1, 2)]).is_err());
    // Whoever has needed so many: no more are reserved than the book warrants.
    let mut book = with(&[(1, u32::MAX)]).unwrap();
    let slots = book.near_slots().len();
    let streams = book.open_streams(&[1]);
    book.close_streams(streams);
    book.check().unwrap();
    assert!(book.near_slots().len() <= 20 * slots);
}

#[test]
fn a_book_of_demanded_ids_takes_what_is_foreseen() {
    for indices in [
        (0..1).collect::<Vec<u32>>(),
        (0..100).collect(),
        (0..5000).rev().collect(),
        (0..3000).map(|nth| nth * 3).collect(),
        (0..50).map(|nth| nth * 1_000_003).collect(),
    ] {
        let ids: Vec<_> = indices.iter().map(|&nth| Entity::new(nth, 1).unwrap()).collect();
        let book = Entities::of_demanded(&ids).unwrap();

        let (taken, foreseen) = (book.heap_bytes(), Entities::bytes_of_demanded(&ids));

        let unsure = taken / 50 + 400;
        assert!(taken.abs_diff(foreseen) <= unsure, "{foreseen} for {taken}, {}", ids.len());
        // One row, where every fourth index is demanded.
        let last = *indices.iter().max().unwrap() as usize;
        if last / 4 <= ids.len() {
            assert_eq!(taken, (last + 1).max(4) * size_of::<Slot>());
        }
    }
}

#[test]
fn a_book_of_demanded_ids_has_just_these() {
    let id = |index, version| Entity::new(index, version).unwrap();
    for ids in [vec![], vec![id(0, 0)], vec![id(7, 3), id(2, 0)], vec![id(9_000_000, 1)]] {
        let mut book = Entities::of_demanded(&ids).unwrap();
        book.check().unwrap();
        let mut sorted = ids.clone();
        sorted.sort();
        assert_eq!(book.iter().collect::<Vec<_>>(), sorted);
        let new = book.spawn();
        assert!(!ids.contains(&new));
        book.check().unwrap();
    }
    assert!(Entities::of_demanded(&[id(3, 0), id(3, 1)]).is_err());
}
