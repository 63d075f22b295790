//! A storage of your own: values in blocks, so that a pool that grows moves none of them.
//!
//! ```sh
//! cargo run --example custom_storage
//! ```
//!
//! A `Vec` that is full copies everything it has to a larger place. For large values, and for who
//! cannot bear a slow step now and then, blocks of fixed size are better. The price: the values do
//! not make one slice.

#![allow(
    unsafe_code,
    reason = "`Storage` is an unsafe trait: a world trusts the pointers it is given"
)]

use std::cell::UnsafeCell;
use std::{panic, ptr};

use esker::prelude::*;
use esker::sparse::PagedMap;
use esker::storage::{Storage, Untracked, conformance};

const BLOCK: usize = 64;

/// Values in packed order, 64 to a block. All blocks but the last are full.
struct Blocks<T> {
    blocks: Vec<Vec<UnsafeCell<T>>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new() }
    }
}

// SAFETY: through `&Blocks` one gets a pointer, and nothing else. Who reads or writes through it has
// made sure that nobody else does; the world does so with its borrow flags.
unsafe impl<T: Sync> Sync for Blocks<T> {}

// SAFETY: the value of position `at` is number `at % BLOCK` of block `at / BLOCK`, because `push`,
// `swap_remove` and `swap` do to the values what the map does to its entities. Distinct positions
// are distinct cells. Dropping is left to `Vec`, which drops each value once.
unsafe impl<T> Storage<T> for Blocks<T> {
    type Map = PagedMap;
    type Tracking = Untracked;
    const CONTIGUOUS: bool = false;

    fn push(&mut self, _: Entity, value: T) {
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let block = self.blocks.last_mut().expect("there is one with room");
        block.push(UnsafeCell::new(value));
    }

    fn swap_remove(&mut self, at: usize, _: Entity) -> T {
        let block = self.blocks.last_mut().expect("a value is there");
        let last = block.pop().expect("no block is empty").into_inner();
        if block.is_empty() {
            self.blocks.pop();
        }
        match self.blocks.get_mut(at / BLOCK).and_then(|block| block.get_mut(at % BLOCK)) {
            Some(value) => std::mem::replace(value.get_mut(), last),
            None => last, // it was the last one itself
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        let [a, b] = [a, b].map(|at| self.blocks[at / BLOCK][at % BLOCK].get());
        // SAFETY: both point to values of this storage, which is borrowed uniquely; they may be equal.
        unsafe { ptr::swap(a, b) }
    }

    unsafe fn ptr(&self, at: usize, _: Entity) -> *mut T {
        self.blocks[at / BLOCK][at % BLOCK].get()
    }

    fn clear(&mut self) {
        self.blocks.clear();
    }

    fn reserve(&mut self, additional: usize) {
        self.blocks.reserve(additional.div_ceil(BLOCK));
    }

    fn shrink_to_fit(&mut self) {
        self.blocks.shrink_to_fit();
    }

    fn heap_bytes(&self) -> usize {
        let table = self.blocks.capacity() * size_of::<Vec<UnsafeCell<T>>>();
        table + self.blocks.len() * BLOCK * size_of::<T>()
    }
}

// The same for values of all shapes, as tests: `cargo test --example custom_storage`.
esker::storage_conformance!(Blocks);

/// What makes use of it.
#[derive(Component)]
#[component(storage = Blocks)]
struct Terrain([f32; 256]);

fn main() {
    // The suite tries out every promise that can be tried, also when something panics on purpose.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    conformance::check::<conformance::Counted, Blocks<conformance::Counted>>();
    panic::set_hook(hook);
    println!("the storage keeps its promises\n");

    let mut world = World::new();
    let first = world.spawn(Terrain([1.0; 256]));
    let address = |world: &World| ptr::from_ref(world.pool::<Terrain>().get(first).unwrap());
    let before = address(&world);
    world.spawn_batch((0..10_000).map(|i| Terrain([i as f32; 256])));
    assert_eq!(address(&world), before, "growing has moved a value");

    for terrain in &mut world.query::<&mut Terrain>() {
        terrain.0[0] += 1.0;
    }
    assert_eq!(world.get::<Terrain>(first).unwrap().0[0], 2.0);
    world.verify().unwrap();
    println!("{}", world.memory_report());
}
