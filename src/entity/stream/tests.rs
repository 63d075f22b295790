//! Streams are opened, used, kept back and closed, and the book is checked.

use std::collections::HashSet;

use super::*;

#[test]
fn streams_never_meet_however_they_are_split() {
    for count in [1, 2, 7] {
        let mut ids = Entities::new();
        let mut seen = HashSet::new();
        let mut streams = ids.open_streams(&vec![0; count]);
        for stream in &mut streams {
            for round in 0..5 {
                (0..30).for_each(|_| assert!(seen.insert(stream.next(&ids).unwrap())));
                let mut parts = stream.split(3);
                for (at, part) in parts.iter_mut().enumerate() {
                    let uses = 40 * (at + round) % 100;
                    (0..uses).for_each(|_| assert!(seen.insert(part.next(&ids).unwrap())));
                }
                stream.join(parts);
            }
        }
        ids.close_streams(streams);
        assert_eq!(ids.iter().collect::<HashSet<_>>(), seen);
        ids.check().unwrap();
    }
}

#[test]
fn a_stream_alone_gives_out_what_comes_next() {
    let mut ids = Entities::new();
    let first: Vec<Entity> = (0..5).map(|_| ids.spawn()).collect();
    let mut streams = ids.open_streams(&[0]);
    let given: Vec<u32> = (0..100).map(|_| streams[0].next(&ids).unwrap().index()).collect();
    // The common stream has a block, too.
    assert_eq!(given, Vec::from_iter((5..21).chain(37..121)));
    ids.close_streams(streams);
    assert_eq!(ids.len(), first.len() + 100);
}

#[test]
fn what_streams_gave_out_lives_and_the_rest_is_free() {
    let mut ids = Entities::new();
    let old: Vec<Entity> = (0..40).map(|_| ids.spawn()).collect();
    for &entity in &old[10..] {
        ids.despawn(entity).unwrap();
    }
    let mut alive: HashSet<Entity> = old[..10].iter().copied().collect();

    for round in 0..20 {
        let mut streams = ids.open_streams(&[3, 0, 8]);
        for (at, stream) in streams.iter_mut().enumerate() {
            for _ in 0..(round * 7 + at * 13) % 40 {
                let entity = stream.next(&ids).unwrap();
                assert!(!ids.is_alive(entity));
                assert!(alive.insert(entity), "{entity} was given out twice");
            }
        }
        ids.close_streams(streams);
        ids.check().unwrap();
        assert_eq!(ids.iter().collect::<HashSet<_>>(), alive);
        let dying: Vec<Entity> = alive.iter().copied().filter(|e| e.index() % 3 == 0).collect();
        for entity in dying {
            ids.despawn(entity).unwrap();
            alive.remove(&entity);
        }
    }
}

#[test]
fn a_book_without_unused_indices_gives_out_what_was_reserved() {
    let limits = super::super::Limits { range: 0..10, fixed: true, last_version: 9 };
    let mut ids = Entities::with_limits(limits);
    ids.spawn();
    ids.habits.insert(4, 3);

    let mut streams = ids.open_streams(&[4]);
    let given: Vec<Entity> = std::iter::from_fn(|| streams[0].next(&ids).ok()).collect();
    ids.close_streams(streams);

    assert_eq!(given.len(), 3);
    assert_eq!(ids.len(), 4);
    ids.check().unwrap();
}

/// A book in which ids have died, and a stream with the key 1 has needed three.
fn used() -> Entities {
    let mut ids = Entities::new();
    let old: Vec<Entity> = (0..10).map(|_| ids.spawn()).collect();
    for &entity in &old[4..] {
        ids.despawn(entity).unwrap();
    }
    ids.habits.insert(1, 3);
    ids
}

#[test]
fn a_stream_that_does_not_come_back_has_given_out_nothing() {
    let (mut ids, mut other) = (used(), used());
    let next: HashSet<u32> = (0..9).map(|_| other.spawn().index()).collect();

    let mut streams = ids.open_streams(&[1, 1, 1]);
    let mut kept = streams.remove(1);
    kept.next(&ids).unwrap();
    ids.close_streams(streams);

    ids.check().unwrap();
    assert_eq!(ids.len(), 4);
    assert!((0..9).all(|_| next.contains(&ids.spawn().index())));
    // Also if it comes late, or to another book.
    ids.open_streams(&[1]);
    assert!(!ids.has_opened(&kept));
    ids.close_streams([kept]);
    let mut foreign = other.open_streams(&[1]).remove(0);
    foreign.next(&ids).unwrap();
    ids.open_streams(&[1]);
    ids.close_streams([foreign]);
    other.settle();
    for book in [&mut ids, &mut other] {
        book.check().unwrap();
        assert_eq!(book.len(), 13);
    }
}

#[test]
fn whatever_changes_the_book_closes_the_streams() {
    let changes: [fn(&mut Entities); 6] = [
        |ids| _ = ids.spawn(),
        |ids| _ = ids.despawn(ids.at(2).unwrap()),
        |ids| ids.spawn_at(Entity::new(9, 7).unwrap()).unwrap(),
        |ids| ids.clear(),
        |ids| _ = ids.claim_all(5, 0),
        |ids| ids.settle(),
    ];
    // Also where nothing is reserved in advance.
    for (change, key) in changes.into_iter().flat_map(|change| [(change, 0), (change, 1)]) {
        let (mut ids, mut twin) = (used(), used());
        let mut streams = ids.open_streams(&[key]);
        let given: Vec<Entity> = (0..40).map(|_| streams[0].next(&ids).unwrap()).collect();

        change(&mut ids);
        change(&mut twin);

        assert!(!ids.has_opened(&streams[0]));
        ids.close_streams(streams);
        ids.check().unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), twin.iter().collect::<Vec<_>>());
        assert!(given.len() == 40 && ids.iter().len() < 40);
    }
}

#[test]
fn a_copy_has_what_is_reserved_by_all_and_nothing_of_streams() {
    let mut ids = used();
    let living: HashSet<Entity> = ids.iter().collect();
    let mut streams = ids.open_streams(&[1]);
    let own = streams[0].next(&ids).unwrap();
    let reserved = ids.reserve().unwrap();

    let mut copy = ids.copy();

    copy.check().unwrap();
    assert!(ids.has_reserved() && copy.is_alive(reserved) && !copy.is_alive(own));
    assert_eq!(copy.len(), living.len() + 1);
    ids.close_streams(streams);
    assert!(ids.is_alive(reserved) && ids.is_alive(own));
    ids.check().unwrap();
}

#[test]
fn ids_far_off_take_little_memory_and_come_back() {
    let mut ids = Entities::new();
    let mut streams = ids.open_streams(&[0; 100]);
    let mut given: Vec<Entity> = (0..50_000).map(|_| streams[57].next(&ids).unwrap()).collect();
    ids.close_streams(streams);

    ids.check().unwrap();
    assert_eq!(ids.len(), 50_000);
    assert!(ids.heap_bytes() < 40 << 20, "{} bytes", ids.heap_bytes());
    assert!(ids.has_room_for_streams());
    let before = ids.heap_bytes();
    for round in 1..4 {
        for entity in given.drain(..) {
            ids.despawn(entity).unwrap();
        }
        ids.check().unwrap();
        given.extend((0..50_000).map(|_| ids.spawn()));
        assert!(given.iter().any(|id| id.version() == round && id.index() > 1 << 30));
    }
    assert_eq!(ids.heap_bytes(), before);
}

#[test]
fn a_burst_that_comes_again_takes_no_more_ids() {
    let mut ids = Entities::new();
    let keys: Vec<u64> = (1..=50).collect();
    let mut after_first = 0;
    for round in 0..20 {
        // Two streams that take turns, with many idle steps in between.
        let busy = 10 + 20 * (round % 2);
        let mut streams = ids.open_streams(&keys);
        let given: Vec<Entity> = (0..30_000).map(|_| streams[busy].next(&ids).unwrap()).collect();
        ids.close_streams(streams);
        assert!(given.iter().all(|&id| ids.is_alive(id)));
        for entity in given {
            ids.despawn(entity).unwrap();
        }
        for _ in 0..100 {
            let mut streams = ids.open_streams(&keys);
            let few = streams[0].next(&ids).unwrap();
            assert!(streams.iter().all(|stream| stream.ready.len() <= EAGER));
            ids.close_streams(streams);
            ids.despawn(few).unwrap();
        }
        if round == 1 {
            after_first = ids.heap_bytes();
        }
    }
    ids.check().unwrap();
    assert!(ids.is_empty());
    assert!(ids.heap_bytes() <= after_first, "{} after {after_first}", ids.heap_bytes());
}

#[test]
fn pieces_of_the_free_list_are_the_same_whichever_is_read_first() {
    let book = || {
        let mut ids = Entities::new();
        let all: Vec<Entity> = (0..20_000).map(|_| ids.spawn()).collect();
        for &entity in &all[10..] {
            ids.despawn(entity).unwrap();
        }
        for (key, habit) in [(1, 9_000), (2, 3_000), (3, 5_000), (4, 4_000)] {
            ids.habits.insert(key, habit);
        }
        ids
    };
    let run = |order: [usize; 4], split: bool| {
        let mut ids = book();
        let mut streams = ids.open_streams(&[1, 2, 3, 4]);
        let mut given: [Vec<Entity>; 4] = Default::default();
        for at in order {
            if split && at == 0 {
                let mut parts = streams[at].split(3);
                for part in parts.iter_mut().rev() {
                    given[at].extend((0..1_500).map(|_| part.next(&ids).unwrap()));
                }
                streams[at].join(parts);
            } else if at != 1 {
                given[at].extend((0..3_500).map(|_| streams[at].next(&ids).unwrap()));
            }
        }
        ids.close_streams(streams);
        ids.check().unwrap();
        let all: HashSet<Entity> = given.iter().flatten().copied().collect();
        assert_eq!(all.len(), given.iter().map(Vec::len).sum::<usize>());
        assert_eq!(ids.len(), 10 + all.len());
        assert_eq!(ids.near_slots().len(), 20_000, "what is free is used first");
        (given, ids.record(), ids.near_slots().collect::<Vec<_>>())
    };
    for split in [false, true] {
        let first = run([0, 1, 2, 3], split);
        assert!(first == run([3, 2, 1, 0], split) && first == run([2, 0, 3, 1], split));
    }
}
