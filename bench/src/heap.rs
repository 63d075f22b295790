//! Keeps the heap: memory that was freed stays with the process, faulted in.
//!
//! At a million entities page faults and the return of memory to the system decide creation
//! rows, and differ from run to run. The same setting holds for every contestant, because all
//! run in one process on one allocator.

#![allow(unsafe_code, reason = "mallopt is a C function")]

use std::fs;

/// Bytes per entity and contestant that the heap is prepared for; a generous average.
const PER_ENTITY: usize = 160;

/// Tells the allocator to keep what it gets, then touches enough pages for `contestants`
/// worlds of `n` entities, but at most half of the free memory. Returns the bytes touched.
pub fn warm(n: usize, contestants: usize) -> usize {
    keep();
    let wanted = n * contestants * PER_ENTITY;
    let bytes = wanted.clamp(64 << 20, (available() / 2).max(64 << 20));
    touch(bytes);
    bytes
}

/// How many contestants of `n` entities fit into the free memory side by side.
pub fn room(n: usize) -> usize {
    (available() * 2 / 3 / (n * PER_ENTITY * 2).max(1)).max(2)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep() {
    let settings = [
        // No block gets pages of its own, and none are given back.
        (libc::M_MMAP_MAX, 0),
        (libc::M_TRIM_THRESHOLD, i32::MAX),
        (libc::M_TOP_PAD, 64 << 20),
        // Worker threads draw from the same heap.
        (libc::M_ARENA_MAX, 1),
    ];
    for (name, value) in settings {
        // SAFETY: mallopt takes two integers and may be called at any time.
        let _ = unsafe { libc::mallopt(name, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep() {}

fn touch(bytes: usize) {
    let mut block: Vec<u8> = Vec::with_capacity(bytes);
    for page in block.spare_capacity_mut().chunks_mut(4096) {
        page[0].write(1);
    }
    std::hint::black_box(&mut block);
}

/// Free memory in bytes; a guess of 4 GiB where the system does not tell.
fn available() -> usize {
    fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
            line.split_whitespace().nth(1)?.parse::<usize>().ok()
        })
        .map_or(4 << 30, |kib| kib << 10)
}
