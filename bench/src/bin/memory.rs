//! Bytes per entity, counted by the allocator.
//!
//! A binary of its own, so that the counting allocator cannot disturb a timing. Run it with
//! `cargo run --release -p esker-bench --bin memory`.

#![allow(unsafe_code, reason = "a global allocator is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use clap::Parser;
use serde::Serialize;

use esker_bench::{
    contestant::{Contestant, Width},
    contestants, table, threads,
};

/// Counts the bytes that are alive and their highest number so far.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the block came from the system's allocator with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts bytes per entity for 1, 2 and 8 components of 8 bytes.
///
/// "held" is what the finished world keeps, "peak" the most it needed on the way, when an old
/// and a new block are alive at once. The default size is a power of two, so that vectors
/// that grow by doubling are exactly full; other sizes show their spare room.
#[derive(Debug, Parser)]
#[command(name = "memory")]
struct Cli {
    /// Number of entities.
    #[arg(short, long, default_value_t = 1 << 20)]
    n: usize,

    /// Also writes the figures as a flat list of JSON objects.
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
}

#[derive(Serialize)]
struct Held {
    contestant: &'static str,
    n: usize,
    components: usize,
    held_bytes_per_entity: f64,
    peak_bytes_per_entity: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cli = Cli::parse();
    let all = contestants::all();
    let held: Vec<_> = threads::inside(|| {
        let cells = all.iter().flat_map(|who| Width::ALL.map(|width| (*who, width)));
        cells.filter_map(|(who, width)| weigh(who, cli.n, width)).collect()
    });
    println!("Bytes per entity, {} entities: held (peak)\n", table::thousands(cli.n));
    println!("| contestant | 1 component | 2 components | 8 components |\n|---|--:|--:|--:|");
    for who in &all {
        let cells = Width::ALL.map(|width| {
            let found = held
                .iter()
                .find(|h| h.contestant == who.name() && h.components == width.components());
            found.map_or("–".to_owned(), |h| {
                format!("{:.1} ({:.1})", h.held_bytes_per_entity, h.peak_bytes_per_entity)
            })
        });
        println!("| {} | {} |", who.name(), cells.join(" | "));
    }
    if let Some(path) = cli.json {
        std::fs::write(path, serde_json::to_string_pretty(&held)? + "\n")?;
    }
    Ok(())
}

fn weigh(who: &'static dyn Contestant, n: usize, width: Width) -> Option<Held> {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let world = who.hold(n, width)?;
    let per_entity = |bytes: usize| bytes.saturating_sub(before) as f64 / n as f64;
    let held = Held {
        contestant: who.name(),
        n,
        components: width.components(),
        held_bytes_per_entity: per_entity(LIVE.load(Relaxed)),
        peak_bytes_per_entity: per_entity(PEAK.load(Relaxed)),
    };
    drop(world);
    Some(held)
}
