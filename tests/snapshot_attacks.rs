//! Snapshots that were damaged, or made to do damage.
//!
//! Whatever the bytes: no panic, an error that says where and why, the world as it was, and no more
//! memory than four times the input and one MiB. What is accepted must be a sound world that can be
//! used. `ESKER_SNAPSHOT_ATTACKS=1000000 cargo test --release --test snapshot_attacks` is the long
//! mode; `ESKER_SNAPSHOT_SEED=7` tries one seed of the random edits.

#![cfg(all(feature = "derive", feature = "serde"))]
#![allow(unreachable_pub, reason = "modules of one test crate")]

#[path = "snapshots/bits.rs"]
mod bits;
#[path = "snapshots/bombs.rs"]
mod bombs;
mod common;
#[path = "common/counting.rs"]
mod counting;
#[path = "snapshots/forged.rs"]
mod forged;
#[path = "snapshots/kinds.rs"]
mod kinds;

use bits::{Parts, sealed, unknown_versions};
use common::{Rng, SeedReport};
use counting::peak_of;
use esker::World;
use esker::snapshot::{Delta, Loader, Mirror, SnapshotError, SnapshotTypes, Unknown};
use kinds::{bytes, change, eventful, hash, json, types};

/// Random inputs that are tried for each attack; the environment may ask for more.
fn inputs() -> u64 {
    let more = std::env::var("ESKER_SNAPSHOT_ATTACKS").ok().and_then(|text| text.parse().ok());
    more.unwrap_or(250)
}

fn for_seeds(count: u64, one: impl Fn(u64)) {
    let wanted: Option<u64> =
        std::env::var("ESKER_SNAPSHOT_SEED").ok().and_then(|text| text.parse().ok());
    for seed in wanted.map_or(0..count, |seed| seed..seed + 1) {
        let how_to_repeat = "ESKER_SNAPSHOT_SEED=<seed> cargo test --test snapshot_attacks <name>";
        let _report = SeedReport { seed, how_to_repeat };
        one(seed);
    }
}

/// A world that hostile bytes are loaded into, and the number that says whether it has changed.
struct Target {
    world: World,
    hash: u64,
}

impl Target {
    fn new() -> Self {
        let world = types().load().to_world(&bytes(&eventful(1000, 12))).unwrap();
        Self { hash: hash(&world), world }
    }

    /// Loads bytes in place of the world; whatever they are, all promises hold.
    #[track_caller]
    fn attack(&mut self, loader: &Loader<'_>, hostile: &[u8]) -> bool {
        let world = &mut self.world;
        let (outcome, peak) = peak_of(|| loader.replace(world, hostile));
        let allowed = 4 * hostile.len() + (1 << 20);
        assert!(peak <= allowed, "{peak} bytes for {}, of {allowed}", hostile.len());
        match outcome {
            Err(error) => {
                assert_says_where(&error);
                assert_eq!(hash(world), self.hash, "{error}");
                false
            }
            Ok(_) => {
                let kept = unknown_versions(hostile, KNOWN_VERSION);
                use_it(world, hostile.len() as u64, &kept);
                *self = Self::new();
                true
            }
        }
    }
}

/// The version of all types of these tests.
const KNOWN_VERSION: u32 = 1;

#[track_caller]
fn assert_says_where(error: &SnapshotError) {
    let text = error.to_string();
    match error {
        SnapshotError::Corrupt { at, part, why } => {
            assert!(at.is_some() && !part.is_empty() && !why.is_empty(), "{text}");
        }
        SnapshotError::Unknown { name, .. } => assert!(text.contains(&format!("`{name}`"))),
        SnapshotError::NewerFormat { .. } => assert!(text.contains("unsupported format")),
        SnapshotError::TooLarge { .. } => assert!(text.contains("memory_limit")),
        other => panic!("not an error of hostile bytes: {other}"),
    }
}

/// J2, J10 of the bugs seen elsewhere: what was accepted is sound and can be used.
///
/// `kept` names the components that came in a version that nobody knows. Their bytes may be kept with
/// the world, and values that it gets by itself cannot be saved beside those: one name, two layouts.
#[track_caller]
fn use_it(world: &mut World, seed: u64, kept: &[String]) {
    world.verify().unwrap();
    let mut rng = Rng::new(seed);
    for _ in 0..100 {
        change(world, &mut rng);
    }
    world.verify().unwrap();
    let saved = match types().save().to_bytes(world) {
        Err(SnapshotError::Unwritable { name, why })
            if kept.contains(&name) && why.contains("kept as bytes when they were loaded") =>
        {
            return;
        }
        saved => saved.unwrap(),
    };
    let types = types();
    let loader = types.load().memory_limit(usize::MAX).unknown(Unknown::Keep);
    assert_eq!(bytes(&loader.to_world(&saved).unwrap()), saved);
    // And as a document, unless there are bytes that only the native format can keep.
    let mut text = Vec::new();
    let written = types.save().serialize(world, &mut serde_json::Serializer::new(&mut text));
    match written {
        Ok(()) => {
            let mut from = serde_json::Deserializer::from_slice(&text);
            assert_eq!(bytes(&loader.deserialize(&mut from).unwrap()), saved);
        }
        Err(error) => assert!(error.to_string().contains("kept as bytes"), "{error}"),
    }
}

/// A small snapshot with all kinds of things in it.
fn victim(seed: u64) -> Vec<u8> {
    bytes(&eventful(seed, 90))
}

#[test]
fn cut_off_anywhere_it_is_refused() {
    let whole = victim(3);
    let (mut target, types) = (Target::new(), types());
    for end in 0..whole.len() {
        assert!(!target.attack(&types.load(), &whole[..end]), "cut at {end}");
        // With a checksum that fits, so that the parser sees it.
        if end.is_multiple_of(5) {
            assert!(!target.attack(&types.load(), &sealed(&whole[..end])), "cut at {end}");
        }
    }
}

#[test]
fn every_flipped_bit_is_seen() {
    let whole = victim(3);
    let (mut target, types) = (Target::new(), types());
    for bit in 0..whole.len() * 8 {
        let mut hostile = whole.clone();
        hostile[bit / 8] ^= 1 << (bit % 8);
        assert!(!target.attack(&types.load(), &hostile), "bit {bit}");
    }
}

#[test]
fn every_flipped_bit_behind_a_checksum_that_fits_is_refused_or_sound() {
    let whole = victim(3);
    let (mut target, types) = (Target::new(), types());
    let (body, step) = (whole.len() - 8, if inputs() < 100_000 { 11 } else { 1 });
    for bit in (0..body * 8).step_by(step) {
        let mut hostile = whole[..body].to_vec();
        hostile[bit / 8] ^= 1 << (bit % 8);
        target.attack(&types.load(), &sealed(&hostile));
    }
}

#[test]
fn random_edits_are_refused_or_sound() {
    let victims: Vec<Vec<u8>> = (0..10).map(victim).collect();
    let types = types();
    for_seeds(inputs(), |seed| {
        let mut rng = Rng::new(seed);
        let whole = &victims[rng.below(victims.len())];
        let mut hostile = whole[..whole.len() - 8].to_vec();
        for _ in 0..1 + rng.below(8) {
            let at = rng.below(hostile.len());
            match rng.below(8) {
                0 => _ = hostile.remove(at),
                1 => hostile.insert(at, rng.next() as u8),
                2 => hostile[at] = rng.pick(&[0, 1, 2, 127, 128, 254, 255]),
                3 => hostile[at] = hostile[at].wrapping_add(1),
                4 => hostile.truncate(at.max(20)),
                _ => hostile[at] = rng.next() as u8,
            }
            if hostile.is_empty() {
                break;
            }
        }
        let rule = rng.pick(&[Unknown::Refuse, Unknown::Skip, Unknown::Keep]);
        thread_target(|target| _ = target.attack(&types.load().unknown(rule), &sealed(&hostile)));
    });
}

/// The target of this thread, which is made once.
fn thread_target(use_it: impl FnOnce(&mut Target)) {
    thread_local! {
        static TARGET: std::cell::RefCell<Option<Target>> = const { std::cell::RefCell::new(None) };
    }
    TARGET.with_borrow_mut(|target| use_it(target.get_or_insert_with(Target::new)));
}

#[test]
fn structured_lies_are_refused_or_sound() {
    let types = types();
    let victims: Vec<Vec<u8>> = (0..10).map(victim).collect();
    for_seeds(inputs(), |seed| {
        let mut rng = Rng::new(seed);
        let mut parts = Parts::read(&victims[rng.below(victims.len())]);
        for _ in 0..1 + rng.below(2) {
            parts.lie(&mut rng);
        }
        let rule = rng.pick(&[Unknown::Refuse, Unknown::Skip, Unknown::Keep]);
        thread_target(|target| _ = target.attack(&types.load().unknown(rule), &parts.write()));
    });
}

#[test]
fn taken_apart_and_put_together_it_is_the_same() {
    for seed in 0..10 {
        let whole = victim(seed);
        assert_eq!(Parts::read(&whole).write(), whole);
    }
}

/// Merging and mirroring read the same bytes; the world is as it was if they fail.
#[test]
fn hostile_bytes_are_merged_and_mirrored_as_little() {
    let types = types();
    let victims: Vec<Vec<u8>> = (0..10).map(victim).collect();
    for_seeds(inputs() / 4, |seed| {
        let mut rng = Rng::new(seed);
        let mut parts = Parts::read(&victims[rng.below(victims.len())]);
        parts.lie(&mut rng);
        let hostile = parts.write();
        let mut target = Target::new();
        let mut mirror = Mirror::new(types.clone());
        mirror.update(&mut target.world, &victims[0]).unwrap();
        let before = bytes(&target.world);
        let failed = match rng.below(2) {
            0 => types.load().merge(&mut target.world, &hostile).is_err(),
            _ => mirror.update(&mut target.world, &hostile).is_err(),
        };
        match failed {
            true => assert_eq!(bytes(&target.world), before),
            false => use_it(&mut target.world, seed, &[]),
        }
    });
}

#[test]
fn hostile_deltas_are_refused_or_sound() {
    let types = types().registered_only();
    let mut server = eventful(4, 60);
    server.settle();
    types.keep_departures(&mut server, 1000);
    let start = types.save().to_bytes(&server).unwrap();
    let since = server.advance_tick();
    let mut rng = Rng::new(5);
    (0..60).for_each(|_| _ = change(&mut server, &mut rng));
    let delta = types.delta(&server, since).unwrap().as_bytes().to_vec();
    for_seeds(inputs(), |seed| {
        let mut rng = Rng::new(seed);
        let mut hostile = delta[..delta.len() - 8].to_vec();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(hostile.len());
            match rng.below(4) {
                0 => hostile[at] = hostile[at].wrapping_add(1),
                1 => hostile.truncate(at.max(20)),
                _ => hostile[at] = rng.next() as u8,
            }
        }
        let mut world = types.load().to_world(&start).unwrap();
        let before = bytes(&world);
        let delta = Delta::from_bytes(sealed(&hostile));
        let (outcome, peak) = peak_of(|| types.apply(&mut world, &delta));
        assert!(peak <= 4 * hostile.len() + (1 << 20), "{peak}");
        match outcome {
            Err(_) => assert_eq!(bytes(&world), before),
            Ok(()) => use_it(&mut world, seed, &[]),
        }
        let mut follower = World::new();
        let mut mirror = Mirror::new(types.clone());
        mirror.update(&mut follower, &start).unwrap();
        _ = mirror.apply(&mut follower, &delta);
        follower.verify().unwrap();
    });
}

#[test]
fn edited_documents_are_refused_or_sound() {
    let types = types();
    let texts: Vec<String> = (0..10).map(|seed| json(&eventful(seed, 60))).collect();
    let pieces =
        ["0", "9", "-", "4294967295", "18446744073709551615", "null", "[]", "{}", "\"", ","];
    for_seeds(inputs(), |seed| {
        let mut rng = Rng::new(seed);
        let mut hostile = texts[rng.below(texts.len())].clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(hostile.len());
            match rng.below(5) {
                0 => _ = hostile.remove(at),
                1 => hostile.truncate(at.max(1)),
                2 => hostile[at] = b'0' + rng.below(10) as u8,
                3 => _ = hostile.splice(at..at, rng.pick(&pieces).bytes()),
                _ => {
                    let end = (at + rng.below(30)).min(hostile.len());
                    let copied = hostile[at..end].to_vec();
                    let to = rng.below(hostile.len());
                    hostile.splice(to..to, copied);
                }
            }
            if hostile.is_empty() {
                break;
            }
        }
        thread_target(|target| {
            let mut from = serde_json::Deserializer::from_slice(&hostile);
            let world = &mut target.world;
            let (outcome, peak) = peak_of(|| types.load().deserialize_into(world, &mut from));
            // Documents do not say how long they are; what they may take is a rule of their own.
            assert!(peak <= 64 * hostile.len() + (17 << 20), "{peak}");
            match outcome {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    assert_eq!(hash(&target.world), target.hash, "{error}");
                }
                Ok(_) => {
                    use_it(&mut target.world, seed, &[]);
                    *target = Target::new();
                }
            }
        });
    });
}
