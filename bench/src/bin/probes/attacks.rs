//! The probes: each returns what came out, in words.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ledger::{self, Value};
use crate::subject::{First, Subject};

/// What is tried, by the name of its row.
pub(crate) const ROWS: &[(&str, &str)] = &[
    ("despawn", "a `Drop` panics in a despawn"),
    ("remove", "… when a component is removed"),
    ("replace", "… when a value is replaced"),
    ("clear", "… when the world is cleared"),
    ("end", "… when the world is dropped"),
    ("recycle", "does a dead id live again?"),
    ("foreign", "an id of another world"),
    ("guard", "a reading borrow is forgotten; writing then"),
    ("batch", "the iterator of a batch is forgotten"),
    ("bytes", "each bit of a saved world flipped, and each cut"),
    ("threads", "200 runs of a schedule on 1 and 2 threads"),
];

/// Runs of a schedule on each number of threads.
const REPEATS: usize = 100;

pub(crate) fn run<S: Subject>(name: &str, recyclings: u64, threads: usize) -> String {
    match name {
        "despawn" => drops::<S>(|world, ids| S::despawn(world, ids[1])),
        "remove" => drops::<S>(|world, ids| S::remove(world, ids[1])),
        "replace" => drops::<S>(|world, ids| S::replace(world, ids[1], First(Value::new()))),
        "clear" => drops::<S>(|world, _| S::clear(world)),
        "end" => drops::<S>(|world, _| *world = S::world()),
        "recycle" => recycle::<S>(recyclings),
        "foreign" => foreign::<S>().to_owned(),
        "guard" => match S::write_after_forgotten_read(&mut populated::<S>().0) {
            Some(true) => "allowed".to_owned(),
            Some(false) => "refused".to_owned(),
            None => "no such borrow".to_owned(),
        },
        "batch" => batch::<S>(),
        "bytes" => damaged::<S>(),
        _ => schedules::<S>(threads),
    }
}

fn populated<S: Subject>() -> (S::World, Vec<S::Id>) {
    let mut world = S::world();
    let ids = (0..4).map(|_| S::spawn(&mut world)).collect();
    (world, ids)
}

/// Lets the first, second, … drop of an operation panic, each time in a new world, and counts what is wrong
/// afterwards.
fn drops<S: Subject>(act: fn(&mut S::World, &[S::Id])) -> String {
    let (mut panics, mut lost, mut twice, mut gone, mut kept) = (0, 0, 0, 0, 0);
    loop {
        ledger::clear();
        let (mut world, ids) = populated::<S>();
        ledger::arm(panics);
        let done = catch_unwind(AssertUnwindSafe(|| act(&mut world, &ids)));
        if ledger::disarm() || done.is_ok() {
            break;
        }
        panics += 1;
        S::walk(&mut world, &mut |value| gone += usize::from(value.is_gone()));
        for id in ids {
            if !S::is_alive(&mut world, id) {
                S::look(&mut world, id, &mut |_| kept += 1);
            }
        }
        // What it does in the end is part of the sums.
        _ = catch_unwind(AssertUnwindSafe(|| drop(world)));
        let sums = ledger::sums();
        (lost, twice) = (lost + sums.0, twice + sums.1);
    }
    let faults = [
        (twice, "dropped twice"),
        (gone, "read after their drop"),
        (kept, "of dead entities read"),
        (lost, "never dropped"),
    ];
    let faults = faults.iter().filter(|(count, _)| *count > 0);
    let faults: Vec<String> = faults.map(|(count, what)| format!("{count} {what}")).collect();
    let found = if faults.is_empty() { "none".to_owned() } else { faults.join(", ") };
    format!("{found} ({panics})")
}

fn recycle<S: Subject>(recyclings: u64) -> String {
    let mut world = S::world();
    let first = S::spawn_empty(&mut world);
    S::despawn(&mut world, first);
    for nth in 1..=recyclings {
        let next = S::spawn_empty(&mut world);
        if next == first {
            let word = if S::is_alive(&mut world, first) { "yes" } else { "given out, not alive" };
            return format!("{word}, the {nth}th");
        }
        S::despawn(&mut world, next);
    }
    "no".to_owned()
}

fn foreign<S: Subject>() -> &'static str {
    let (mut here, _) = populated::<S>();
    let (_there, theirs) = populated::<S>();
    if S::is_alive(&mut here, theirs[2]) { "taken for its own" } else { "refused" }
}

fn batch<S: Subject>() -> String {
    ledger::clear();
    let mut world = S::world();
    if !S::forget_a_batch(&mut world) {
        return "no such iterator".to_owned();
    }
    // The world must be usable.
    let later = S::spawn(&mut world);
    let (mut there, mut gone) = (0, 0);
    S::walk(&mut world, &mut |value| {
        there += 1;
        gone += usize::from(value.is_gone());
    });
    S::despawn(&mut world, later);
    drop(world);
    let (lost, twice) = ledger::sums();
    let mut said = format!("{} of 16 values there", there - 2);
    for (count, what) in
        [(gone, "read after their drop"), (twice, "dropped twice"), (lost, "never dropped")]
    {
        if count > 0 {
            said += &format!(", {count} {what}");
        }
    }
    said
}

/// Flips every bit of a saved world and cuts it at every length, and counts what comes of it.
fn damaged<S: Subject>() -> String {
    let Some(sound) = S::saved() else { return "saves none".to_owned() };
    let flipped = (0..8 * sound.len()).map(|bit| {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    });
    let cut = (0..sound.len()).map(|length| sound[..length].to_vec());
    let (mut refused, mut loaded, mut panicked) = (0, 0, 0);
    for bytes in flipped.chain(cut) {
        match catch_unwind(|| S::load(&bytes)) {
            Ok(()) => loaded += 1,
            Err(panic) if is_refusal(&*panic) => refused += 1,
            Err(_) => panicked += 1,
        }
    }
    format!("{refused} refused, {loaded} loaded, {panicked} panics")
}

fn is_refusal(panic: &(dyn Any + Send)) -> bool {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    said.is_some_and(|said| said.starts_with("the bytes are our own"))
}

/// The different results, for the caller to compare with those of another number of threads.
fn schedules<S: Subject>(threads: usize) -> String {
    let results: Option<Vec<u64>> = (0..REPEATS).map(|_| S::steps(threads)).collect();
    let Some(mut results) = results else { return String::new() };
    results.sort_unstable();
    results.dedup();
    let results: Vec<String> = results.iter().map(|result| format!("{result:x}")).collect();
    results.join(" ")
}
