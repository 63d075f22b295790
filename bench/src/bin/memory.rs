//! Bytes per entity, counted by the allocator.
//!
//! A binary of its own, so that the counting allocator cannot disturb a timing. Run it with
//! `cargo run --release -p esker-bench --bin memory`.

#![allow(unsafe_code, reason = "a global allocator is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    any::Any,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use clap::Parser;
use serde::Serialize;

use esker_bench::{
    contestant::{Contestant, Ebb, SURVIVORS, Width},
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

/// Counts bytes per entity for 1, 2 and 8 components of 8 bytes, and what is left after a peak.
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
    /// Which world: of 1, 2 or 8 components, or one of two after its peak.
    world: &'static str,
    held_bytes_per_entity: f64,
    peak_bytes_per_entity: f64,
}

/// The columns of the two tables.
const WIDTHS: [&str; 3] = ["1 component", "2 components", "8 components"];
const EBBS: [&str; 2] = ["left as it is", "shrunk"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cli = Cli::parse();
    let (n, all) = (cli.n, contestants::all());
    let held: Vec<Held> = threads::inside(|| {
        let widths = WIDTHS.into_iter().zip(Width::ALL);
        let ebbs = EBBS.into_iter().zip([Ebb::Left, Ebb::Shrunk]);
        let of = |who: &'static dyn Contestant| {
            let full =
                widths.clone().map(move |(name, width)| weigh(who, n, name, || who.hold(n, width)));
            let after =
                ebbs.clone().map(move |(name, ebb)| weigh(who, n, name, || who.ebb(n, ebb)));
            full.chain(after).flatten().collect::<Vec<_>>()
        };
        all.iter().flat_map(|who| of(*who)).collect()
    });
    println!("Bytes per entity, {} entities: held (peak)\n", table::thousands(n));
    print(&all, &held, &WIDTHS, |h| {
        format!("{:.1} ({:.1})", h.held_bytes_per_entity, h.peak_bytes_per_entity)
    });
    println!("\nBytes per entity of the peak, 2 components, when every {SURVIVORS}th is left\n");
    print(&all, &held, &EBBS, |h| format!("{:.1}", h.held_bytes_per_entity));
    if let Some(path) = cli.json {
        std::fs::write(path, serde_json::to_string_pretty(&held)? + "\n")?;
    }
    Ok(())
}

/// Prints one table: rows are contestants, columns worlds.
fn print(
    all: &[&'static dyn Contestant],
    held: &[Held],
    worlds: &[&str],
    cell: impl Fn(&Held) -> String,
) {
    println!("| contestant | {} |", worlds.join(" | "));
    println!("|---|{}", "--:|".repeat(worlds.len()));
    for who in all {
        let of = |world| held.iter().find(|h| h.contestant == who.name() && h.world == world);
        let cells: Vec<_> =
            worlds.iter().map(|world| of(*world).map_or("–".to_owned(), &cell)).collect();
        println!("| {} | {} |", who.name(), cells.join(" | "));
    }
}

fn weigh(
    who: &'static dyn Contestant,
    n: usize,
    name: &'static str,
    build: impl FnOnce() -> Option<Box<dyn Any>>,
) -> Option<Held> {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let world = build()?;
    let per_entity = |bytes: usize| bytes.saturating_sub(before) as f64 / n as f64;
    let held = Held {
        contestant: who.name(),
        n,
        world: name,
        held_bytes_per_entity: per_entity(LIVE.load(Relaxed)),
        peak_bytes_per_entity: per_entity(PEAK.load(Relaxed)),
    };
    drop(world);
    Some(held)
}
