//! What is said of memory, beside what an allocator has given out.

#![allow(unreachable_pub, reason = "modules of one test crate")]

#[path = "common/counting.rs"]
mod counting;

use counting::in_use;
use esker::Entity;
use esker::entity::Entities;
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage, Tracked};

/// Indices as they lie in small and large worlds, side by side, and where somebody has chosen them.
fn shapes() -> [(&'static str, Vec<u32>); 7] {
    [
        ("none", vec![]),
        ("one", vec![70_007]),
        ("in a row", (0..5000).collect()),
        ("in a row, the last one first", (3_000_000..3_005_000).rev().collect()),
        ("one of a hundred", (0..3000).map(|n| n * 100).collect()),
        ("far apart", (0..40).map(|n| n * 20_000_003).collect()),
        ("in a row, and some far off", (0..5000).chain((1..9).map(|n| n << 28)).collect()),
    ]
}

#[track_caller]
fn compare(what: &str, before: isize, said: usize) {
    let taken = (in_use() - before) as usize;
    // The nodes of an ordered map have more room than they need, and the first one stays.
    let unsure = taken / 50 + 400;
    assert!(said.abs_diff(taken) <= unsure, "{what}: {said} bytes are said, {taken} were taken");
}

fn compare_maps<S: Storage<u32>>(storage: &str) {
    for (shape, indices) in shapes() {
        let ids: Vec<Entity> = indices.into_iter().map(|n| Entity::new(n, 0).unwrap()).collect();
        let what = |when: &str| format!("{storage}, {shape}, {when}");
        let before = in_use();
        let mut map = EntityMap::<u32, S>::default();

        ids.iter().for_each(|&id| _ = map.insert(id, 7));
        compare(&what("filled"), before, map.memory().total());
        ids.iter().skip(1).step_by(2).for_each(|&id| _ = map.remove(id));
        compare(&what("half empty"), before, map.memory().total());
        map.shrink_to_fit();
        compare(&what("half empty, shrunk"), before, map.memory().total());
        map.clear();
        map.shrink_to_fit();
        compare(&what("empty, shrunk"), before, map.memory().total());
        drop(map);
    }
}

#[test]
fn what_maps_say_of_their_memory_is_what_they_have_taken() {
    compare_maps::<Packed<u32>>("packed");
    compare_maps::<Hashed<u32>>("hashed");
    compare_maps::<Indexed<u32>>("indexed");
    compare_maps::<Tracked<Packed<u32>>>("tracked");
}

#[test]
fn what_a_book_of_ids_says_of_its_memory_is_what_it_has_taken() {
    for (shape, indices) in shapes() {
        let ids: Vec<Entity> = indices.into_iter().map(|n| Entity::new(n, 0).unwrap()).collect();
        let before = in_use();
        let mut book = Entities::new();
        (0..3000).for_each(|_| _ = book.spawn());
        compare("a book of ids", before, book.heap_bytes());
        // Demanded again, in the midst of the list of those that are free.
        ids.iter().for_each(|&id| _ = book.despawn(id));
        ids.iter().for_each(|&id| _ = book.spawn_at(id));
        compare(&format!("a book of ids, demanded {shape}"), before, book.heap_bytes());
    }
}
