//! What is said of memory, beside what an allocator has given out. One test, because all that run at
//! once would be counted.

#[path = "common/counting.rs"]
mod counting;

use std::sync::atomic::Ordering::Relaxed;

use counting::IN_USE;
use esker::Entity;
use esker::entity::Entities;
use esker::storage::{AnyMap, EntityMap, Hashed, Indexed, Packed, Storage, Tracked};

#[test]
fn what_maps_and_books_say_of_their_memory_is_what_they_have_taken() {
    let compare = |what: &str, before: usize, said: usize| {
        let taken = IN_USE.load(Relaxed) - before;
        let is_near = said as f64 >= 0.95 * taken as f64 && said as f64 <= 1.05 * taken as f64;
        assert!(is_near, "{what}: {said} bytes are said, {taken} were taken");
    };
    fn map<S: Storage<u32>>() -> EntityMap<u32, S> {
        let mut map = EntityMap::default();
        (0..5000).for_each(|n| _ = map.insert(Entity::new(n, 0).unwrap(), n));
        map
    }

    let before = IN_USE.load(Relaxed);
    compare("packed", before, map::<Packed<u32>>().memory().total());
    compare("hashed", before, map::<Hashed<u32>>().memory().total());
    compare("indexed", before, map::<Indexed<u32>>().memory().total());
    compare("tracked", before, map::<Tracked<Packed<u32>>>().memory().total());
    let mut book = Entities::new();
    (0..5000).for_each(|_| _ = book.spawn());
    compare("entities", before, book.heap_bytes());
}
