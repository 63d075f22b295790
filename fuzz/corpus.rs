//! Writes the corpus that the fuzzers begin with: `cargo run --bin corpus` in this directory.

#[allow(dead_code, reason = "nothing is told lies here")]
#[path = "../tests/snapshots/bits.rs"]
mod bits;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/snapshots/kinds.rs"]
mod kinds;

use std::fs;
use std::io;

use kinds::{bytes, change, eventful, json, types};

fn main() -> io::Result<()> {
    for seed in 0..5_u64 {
        let mut world = eventful(seed, 25);
        let whole = bytes(&world);
        let some = types()
            .save()
            .only_entities(|id| id.index().is_multiple_of(2))
            .to_bytes(&world)
            .unwrap();
        fs::write(format!("corpus/snapshot_json/{seed}.json"), json(&world))?;
        let types = types().registered_only();
        types.keep_departures(&mut world, 100);
        let since = world.advance_tick();
        let mut rng = common::Rng::new(seed);
        (0..10).for_each(|_| _ = change(&mut world, &mut rng));
        world.settle();
        let delta = types.delta(&world, since).unwrap();
        for (name, content, how) in
            [("whole", &whole[..], 0), ("some", &some, 6), ("delta", delta.as_bytes(), 9)]
        {
            // As the fuzzer takes it: how it is used, and the bytes without their checksum.
            let input = [&[how], &content[..content.len() - 8]].concat();
            fs::write(format!("corpus/snapshot_bin/{name}-{seed}"), input)?;
        }
        // How it is used, the sound snapshot, and the lies that it is told.
        let mut rng = common::Rng::new(1000 + seed);
        let lies = (0..12).map(|_| rng.next() as u8);
        let input: Vec<u8> =
            [12 + 3 * (seed % 3) as u8, seed as u8].into_iter().chain(lies).collect();
        fs::write(format!("corpus/snapshot_bin/lies-{seed}"), input)?;
    }
    forged()?;
    decisions()
}

/// Snapshots with a free slot of the first version in the middle of the free list, and with far ids that died.
fn forged() -> io::Result<()> {
    let mut world = esker::World::new();
    let ids: Vec<esker::Entity> = world.spawn_batch((0..41).map(kinds::Rare)).collect();
    for index in [1, 5, 0] {
        world.despawn(ids[index]).unwrap();
    }
    for index in [70_000, 80_000] {
        world.spawn_at(common::id(index, 2), kinds::Small(1)).unwrap();
    }
    world.despawn(common::id(70_000, 2)).unwrap();
    let mut parts = bits::Parts::read(&bytes(&world));
    let text = json(&world);
    let forged = parts.slots[5] as u32;
    fs::write("corpus/snapshot_json/free.json", &text)?;
    let wrong = text.replacen(&format!(",{},", parts.slots[5]), &format!(",{forged},"), 1);
    fs::write("corpus/snapshot_json/forged.json", wrong)?;
    parts.slots[5] = forged.into();
    let content = parts.write();
    fs::write("corpus/snapshot_bin/forged", [&[0], &content[..content.len() - 8]].concat())
}

/// Inputs that are lists of decisions: any bytes will do to begin with.
fn decisions() -> io::Result<()> {
    for target in ["operations", "operations_with_faults", "schedule_graph", "query_access"] {
        fs::create_dir_all(format!("corpus/{target}"))?;
        for seed in 0..6_u64 {
            let mut rng = common::Rng::new(seed);
            let input: Vec<u8> = (0..40 + 40 * seed).map(|_| rng.next() as u8).collect();
            fs::write(format!("corpus/{target}/{seed}"), input)?;
        }
    }
    Ok(())
}
