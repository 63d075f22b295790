//! The table, the growth and the compile times, from the command line.

use std::{fs, process::ExitCode};

use clap::Parser as _;

use esker_bench::{
    cli::{Choice, Cli, Command},
    compile, contestants, heap,
    measure::{self, Record},
    plot,
    progress::Progress,
    setting, table, threads,
    workload::Workload,
};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = threads::inside(|| match &cli.command {
        _ if cli.list => {
            list();
            Ok(())
        }
        None => ratios(&cli.choice, &cli.n),
        Some(Command::Growth { choice, n }) => growth(choice, n),
        Some(Command::Compile { contestants, json }) => compile::run(contestants, json.as_deref()),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list() {
    println!("Workloads:");
    for workload in Workload::ALL {
        println!("  {workload:<16} {}", workload.describe());
    }
    println!("\nContestants:");
    for who in contestants::all() {
        println!("  {:<16} {}", who.name(), who.version());
    }
}

fn ratios(choice: &Choice, named: &[usize]) -> Result<(), String> {
    let contestants = choice.contestants()?;
    let workloads = choice.workloads(&Workload::ALL);
    let records = run(choice, &workloads, named)?;
    let sizes = &all_sizes(&workloads, named);
    println!("{}", setting::describe(&contestants));
    if workloads.iter().any(|workload| workload.is_frame()) {
        println!("{}", table::frames(&contestants, &records));
    }
    let others: Vec<_> = workloads.iter().filter(|w| !w.is_frame()).copied().collect();
    for n in all_sizes(&others, named) {
        println!("{}", table::ratios(n, &contestants, &records));
    }
    write(choice, &records)?;
    if let Some(dir) = &choice.plots {
        fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        for &n in sizes {
            plot::bars(dir, &choice.formats, n, &contestants, &records)?;
        }
        if sizes.len() > 1 {
            plot::lines(dir, &choice.formats, &workloads, &contestants, &records)?;
        }
    }
    Ok(())
}

fn growth(choice: &Choice, sizes: &[usize]) -> Result<(), String> {
    const DEFAULT: [Workload; 5] = [
        Workload::Create2,
        Workload::AddRemove,
        Workload::Iter1,
        Workload::Iter2,
        Workload::RandomGet,
    ];
    let contestants = choice.contestants()?;
    let workloads = choice.workloads(&DEFAULT);
    let records = run(choice, &workloads, sizes)?;
    println!("{}", setting::describe(&contestants));
    for &workload in &workloads {
        println!("{}", table::growth(workload, sizes, &contestants, &records));
    }
    write(choice, &records)?;
    if let Some(dir) = &choice.plots {
        fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        plot::lines(dir, &choice.formats, &workloads, &contestants, &records)?;
    }
    Ok(())
}

/// All sizes at which something is measured, the smallest first.
fn all_sizes(workloads: &[Workload], named: &[usize]) -> Vec<usize> {
    let mut sizes: Vec<_> = workloads.iter().flat_map(|w| sizes_of(*w, named)).copied().collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The sizes that were named, or those that the workload has by itself.
fn sizes_of(workload: Workload, named: &[usize]) -> &[usize] {
    if named.is_empty() { workload.sizes() } else { named }
}

/// Measures each workload at each size.
fn run(choice: &Choice, workloads: &[Workload], sizes: &[usize]) -> Result<Vec<Record>, String> {
    let (contestants, plan) = (choice.contestants()?, choice.plan());
    let all = all_sizes(workloads, sizes);
    let here = |n: usize| workloads.iter().filter(move |w| sizes_of(**w, sizes).contains(&n));
    let cells: Vec<_> = all.iter().flat_map(|n| here(*n).map(|w| (*w, *n))).collect();
    heap::warm(all.last().copied().unwrap_or(0), contestants.len());
    let progress = Progress::new(&cells, &plan);
    let mut records = Vec::new();
    for (workload, n) in cells {
        let mut tick = progress.cell(workload, n);
        let cell = measure::measure(workload, n, &contestants, &plan, &mut tick);
        records.extend(cell.map_err(|mismatch| mismatch.to_string())?);
    }
    progress.finish();
    Ok(records)
}

fn write(choice: &Choice, records: &[Record]) -> Result<(), String> {
    let Some(path) = &choice.json else { return Ok(()) };
    let text = serde_json::to_string_pretty(records).map_err(|error| error.to_string())?;
    fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}
