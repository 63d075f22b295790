//! Growth in breadth, Esker alone: component types, components of an entity, systems.
//!
//! `esker-bench growth` makes worlds longer; this makes them wider. Each line should be flat: what
//! an operation costs must not depend on how much there is that it has nothing to do with.
//! Run it with `cargo run --release -p esker-bench --features breadth --bin breadth`.

mod kinds;

use std::path::PathBuf;
use std::time::Instant;

use ::esker::prelude::*;
use clap::Parser;
use esker_bench::plot::{self, Panel};
use esker_bench::{stats, table, threads};
use kinds::{C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, KINDS, kind};

/// Times Esker with 10 to 1,000 component types, 1 to 300 components, 10 to 10,000 systems.
#[derive(Debug, Parser)]
#[command(name = "breadth")]
struct Cli {
    /// Entities of a world.
    #[arg(short, long, default_value_t = 10_000)]
    n: usize,

    /// Rounds; the median is shown.
    #[arg(short, long, default_value_t = 15)]
    rounds: usize,

    /// Leaves out sizes above this.
    #[arg(short, long, default_value_t = usize::MAX)]
    most: usize,

    /// Draws `breadth.png` into this directory.
    #[arg(long)]
    plots: Option<PathBuf>,
}

fn main() -> Result<(), String> {
    let cli = Cli::parse();
    let panels = threads::inside(|| {
        let sizes =
            |all: &[usize]| all.iter().copied().filter(|s| *s <= cli.most).collect::<Vec<_>>();
        let types = sizes(&[10, 30, 60, 64, 65, 100, 300, KINDS]);
        let types = show("component types", "ns per entity", &types, &cli, by_types);
        let widths = sizes(&[1, 3, 10, 30, 60, 64, 65, 100, 300]);
        let widths = show(
            "components of an entity",
            "ns per component, `get` and `walk` per entity",
            &widths,
            &cli,
            by_width,
        );
        let systems = sizes(&[10, 30, 100, 300, 1000, 3000, 10_000]);
        let systems = show("systems", "ns per system", &systems, &cli, by_systems);
        [types, widths, systems]
    });
    match &cli.plots {
        Some(dir) => {
            plot::panels(dir, "breadth", "Esker, nanoseconds by breadth (flat is ideal)", &panels)
        }
        None => Ok(()),
    }
}

/// One column of a table: a name and its nanoseconds.
type Times = Vec<(&'static str, f64)>;

/// Prints a table and returns it as lines.
fn show(
    what: &str,
    unit: &str,
    sizes: &[usize],
    cli: &Cli,
    measure: fn(usize, &Cli) -> Times,
) -> Panel {
    let mut rows: Vec<(&str, Vec<f64>)> = Vec::new();
    for &size in sizes {
        let mut samples: Vec<(&str, Vec<f64>)> = Vec::new();
        for _ in 0..cli.rounds {
            for (at, (name, time)) in measure(size, cli).into_iter().enumerate() {
                if samples.len() <= at {
                    samples.push((name, Vec::new()));
                }
                samples[at].1.push(time);
            }
        }
        for (at, (name, times)) in samples.iter().enumerate() {
            if rows.len() <= at {
                rows.push((name, Vec::new()));
            }
            rows[at].1.push(stats::median(times));
        }
    }
    let heads: Vec<_> = sizes.iter().map(|size| table::thousands(*size)).collect();
    println!(
        "### {what}: {unit}\n\n| | {} |\n|---|{}",
        heads.join(" | "),
        "--:|".repeat(sizes.len())
    );
    for (name, times) in &rows {
        let cells: Vec<_> = times.iter().map(|time| format!("{time:.1}")).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
    let points = |times: Vec<f64>| sizes.iter().map(|size| *size as f64).zip(times).collect();
    let lines = rows.into_iter().map(|(name, times)| (name.to_owned(), points(times)));
    Panel { caption: format!("{what}: {unit}"), lines: lines.collect() }
}

/// Runs `work` and says how many nanoseconds each of `parts` took.
fn time(parts: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / parts as f64
}

/// A world that knows `types` of them; each entity has the first two, and one of the others.
fn by_types(types: usize, cli: &Cli) -> Times {
    let n = cli.n;
    let mut world = World::new();
    (0..types).for_each(|number| (kind(number).register)(&mut world));
    let mut ids = Vec::with_capacity(n);
    let spawn = time(n, || {
        ids.extend((0..n).map(|_| world.spawn((C0::default(), C1::default()))));
    });
    let others = |i: usize| 2 + i % (types - 2);
    ids.iter().enumerate().for_each(|(i, id)| (kind(others(i)).insert)(&mut world, *id));
    let last = kind(types - 1);
    let bare = ids.iter().enumerate().filter(|(i, _)| others(*i) != types - 1);
    let bare: Vec<_> = bare.map(|(_, id)| *id).collect();
    let insert = time(bare.len(), || bare.iter().for_each(|id| (last.insert)(&mut world, *id)));
    let remove = time(bare.len(), || bare.iter().for_each(|id| (last.remove)(&mut world, *id)));
    // The second walk: the first one fills the caches.
    walk(&mut world);
    let walk = time(n, || walk(&mut world));
    let despawn = time(n, || ids.iter().for_each(|id| _ = world.despawn(*id)));
    vec![
        ("spawn with two", spawn),
        ("insert", insert),
        ("remove", remove),
        ("walk two", walk),
        ("despawn", despawn),
    ]
}

fn walk(world: &mut World) {
    let mut query = world.query_mut::<(&mut C0, &C1)>();
    query.iter_mut().for_each(|(a, b)| a.0 += b.0);
}

/// Entities that have `width` components each; as many components in all at every width.
fn by_width(width: usize, cli: &Cli) -> Times {
    let n = (cli.n / width).max(10);
    let mut world = World::new();
    (0..width).for_each(|number| (kind(number).register)(&mut world));
    let ids: Vec<_> = (0..n).map(|_| world.spawn(())).collect();
    let insert = time(n * width, || {
        for id in &ids {
            (0..width).for_each(|number| (kind(number).insert)(&mut world, *id));
        }
    });
    let change = time(2 * n, || {
        for id in &ids {
            (kind(0).remove)(&mut world, *id);
            (kind(0).insert)(&mut world, *id);
        }
    });
    let pool = world.pool::<C0>();
    let get = time(n, || ids.iter().for_each(|id| _ = std::hint::black_box(pool.get(*id))));
    drop(pool);
    let touch =
        |world: &mut World| world.query_mut::<&mut C0>().iter_mut().for_each(|a| a.0 += 1.0);
    touch(&mut world);
    let walk = time(n, || touch(&mut world));
    let despawn = time(n * width, || ids.iter().for_each(|id| _ = world.despawn(*id)));
    vec![
        ("insert", insert),
        ("remove and insert one", change),
        ("get", get),
        ("walk one", walk),
        ("despawn", despawn),
    ]
}

/// Systems that each write one of ten components, so that every tenth waits for the one before.
fn by_systems(systems: usize, _: &Cli) -> Times {
    let mut world = World::new();
    world.spawn((C0::default(), C1::default(), C2::default(), C3::default(), C4::default()));
    world.spawn((C5::default(), C6::default(), C7::default(), C8::default(), C9::default()));
    let mut schedule = Schedule::new();
    macro_rules! add {
        ($($type:ident)*) => {
            $(schedule.add_systems(|mut query: Query<&mut $type>| {
                query.iter_mut().for_each(|value| value.0 += 1.0);
            });)*
        };
    }
    for _ in 0..systems / 10 {
        add!(C0 C1 C2 C3 C4 C5 C6 C7 C8 C9);
    }
    let build = time(systems, || schedule.build(&mut world).expect("no system waits for itself"));
    let mut step = |serial: bool| {
        schedule.set_serial(serial);
        schedule.step(&mut world);
        time(systems, || _ = schedule.step(&mut world))
    };
    vec![("build", build), ("step, serial", step(true)), ("step, two threads", step(false))]
}
