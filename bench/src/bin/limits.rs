//! What bounds snapshots: saving, loading and cloning a world of two plain components, beside plain
//! copies of just the bytes that have to be written for it, in turns and in one process.
//!
//! A world has 64 bytes for each of these entities: the two values; for each of the two pools an id in
//! the packed array, and a slot to find it by; and in the book of ids the id and its signature. A snapshot
//! has 24: the values and the id. `raw` copies the values alone, 16 bytes.
//!
//! Run it with `cargo run --release -p esker-bench --bin limits`.

use std::hint::black_box;
use std::time::Instant;

use ::esker::World;
use clap::Parser;
use rayon::prelude::*;

use esker_bench::contestants::esker::save;
use esker_bench::{heap, kernel, setting, stats};

/// Measures saving, loading and cloning against copies of the bytes that they have to write.
#[derive(Debug, Parser)]
#[command(name = "limits")]
struct Cli {
    /// Entities in the world.
    #[arg(short, long, default_value_t = 1_000_000)]
    n: usize,

    /// How often each takes its turn.
    #[arg(short, long, default_value_t = 41)]
    rounds: usize,

    /// Which rows: save, load, clone; all if not said.
    rows: Vec<String>,
}

/// Eight bytes for each entity.
type Block = Vec<u64>;

/// Blocks of values, in a snapshot, and in a world.
const RAW: usize = 2;
const SAVED: usize = 3;
const HELD: usize = 8;

/// Everything that is worked on.
struct Scene {
    world: World,
    snapshot: Vec<u8>,
    blocks: Vec<Block>,
    /// Memory that is written again in each round, as a buffer of snapshots is.
    bytes: Vec<u8>,
    written: Vec<Block>,
}

/// Work that is timed; what it makes is dropped when the clock has stopped.
type Work = fn(&mut Scene) -> Made;

#[derive(Default)]
#[allow(dead_code, reason = "it is dropped, and not read")]
struct Made(Option<World>, Vec<Block>);

/// What is done, the bytes of an entity that it reads and writes, and the work: `raw`, plain copies on
/// one thread and on all, and Esker.
const ROWS: [(&str, usize, usize, [Work; 4]); 3] = [
    (
        "save",
        // The signatures lie between the ids, and the packed arrays must be compared with them.
        8 * (SAVED + 3),
        8 * SAVED,
        [
            |scene| overwrite(scene, RAW, 0),
            |scene| overwrite(scene, SAVED, 3),
            |scene| overwrite_together(scene, SAVED, 3),
            |scene| {
                save::encode(&scene.world, &mut scene.bytes);
                Made::default()
            },
        ],
    ),
    (
        "load",
        8 * SAVED,
        8 * HELD,
        [
            |scene| copy(scene, RAW, SAVED),
            |scene| copy(scene, HELD, SAVED),
            |scene| copy_together(scene, HELD, SAVED),
            |scene| Made(Some(save::decode(&scene.snapshot)), Vec::new()),
        ],
    ),
    (
        "clone",
        8 * HELD,
        8 * HELD,
        [
            |scene| copy(scene, RAW, HELD),
            |scene| copy(scene, HELD, HELD),
            |scene| copy_together(scene, HELD, HELD),
            |scene| Made(Some(save::twin(&scene.world)), Vec::new()),
        ],
    ),
];

/// Copies so many blocks to memory that is there, and reads so many others.
fn overwrite(scene: &mut Scene, copied: usize, read: usize) -> Made {
    let Scene { written, blocks, .. } = scene;
    written.iter_mut().zip(&blocks[..copied]).for_each(|(to, from)| to.copy_from_slice(from));
    blocks[copied..copied + read].iter().for_each(|block| _ = black_box(sum(block)));
    Made::default()
}

fn overwrite_together(scene: &mut Scene, copied: usize, read: usize) -> Made {
    const PIECE: usize = 1 << 16;
    let Scene { written, blocks, .. } = scene;
    let written = written[..copied].par_iter_mut().flat_map(|to| to.par_chunks_mut(PIECE));
    let from = blocks[..copied].par_iter().flat_map(|from| from.par_chunks(PIECE));
    let pairs: Vec<_> =
        written.collect::<Vec<_>>().into_iter().zip(from.collect::<Vec<_>>()).collect();
    pairs.into_par_iter().for_each(|(to, from)| to.copy_from_slice(from));
    let others = blocks[copied..copied + read].par_iter().flat_map(|block| block.par_chunks(PIECE));
    others.for_each(|piece| _ = black_box(sum(piece)));
    Made::default()
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |sum, number| sum ^ number)
}

/// Copies so many blocks to new memory; so many of them are different ones.
fn copy(scene: &mut Scene, count: usize, different: usize) -> Made {
    Made(None, (0..count).map(|nth| scene.blocks[nth % different].clone()).collect())
}

fn copy_together(scene: &mut Scene, count: usize, different: usize) -> Made {
    let blocks = &scene.blocks;
    let each = (0..count).into_par_iter().with_max_len(1);
    Made(None, each.map(|nth| blocks[nth % different].clone()).collect())
}

fn main() {
    let Cli { n, rounds, rows } = Cli::parse();
    heap::warm(n, 4);
    let mut world = World::new();
    world.spawn_batch((0..n).map(|at| (kernel::position(at), kernel::velocity(at)))).for_each(drop);
    let mut snapshot = Vec::new();
    save::encode(&world, &mut snapshot);
    let block = |nth: u64| (0..n as u64).map(|at| at ^ nth << 40).collect::<Block>();
    let blocks: Vec<Block> = (0..HELD as u64).map(block).collect();
    let written = vec![vec![0; n]; SAVED];
    let mut scene = Scene { world, snapshot, blocks, bytes: Vec::new(), written };
    println!("{n} entities; {}; {rounds} interleaved rounds", setting::cpu());
    println!("Medians of the ratios in a round; in brackets the ratios of the fastest.\n");
    println!(
        "| | bytes read | written | copies / `raw` | copies on all threads / `raw` | Esker / `raw` | \
         Esker / copies |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let is_asked = |name: &str| rows.is_empty() || rows.iter().any(|row| row == name);
    for (name, read, written, works) in ROWS.into_iter().filter(|(name, ..)| is_asked(name)) {
        let mut times = [const { Vec::new() }; 4];
        for round in 0..rounds {
            for turn in 0..works.len() {
                let at = (round + turn) % works.len();
                times[at].push(time(works[at], &mut scene));
            }
        }
        let [raw, copies, together, esker] = &times;
        let ratio = |(ours, theirs): (&Vec<f64>, &Vec<f64>)| {
            let fastest = stats::minimum(ours) / stats::minimum(theirs);
            format!("{:.1} ({fastest:.1})", stats::median_ratio(ours, theirs))
        };
        let ratios = [(copies, raw), (together, raw), (esker, raw), (esker, copies)].map(ratio);
        println!("| {name} | {read} | {written} | {} |", ratios.join(" | "));
    }
}

/// In nanoseconds.
fn time(work: Work, scene: &mut Scene) -> f64 {
    let start = Instant::now();
    let made = black_box(work(scene));
    let taken = start.elapsed().as_secs_f64() * 1e9;
    drop(made);
    taken
}
