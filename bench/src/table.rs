//! Markdown tables of ratios.

use std::fmt::Write;

use crate::{
    contestant::{Contestant, Role},
    measure::Record,
    workload::Workload,
};

/// A cell for what a contestant does not offer.
const NOT_OFFERED: &str = "–";

/// Renders one table: rows are workloads, columns contestants, cells ratios to the limit.
///
/// The limit's own column is in nanoseconds per entity. Workloads without records get no row, and
/// the `frame` rows have a table of their own.
pub fn ratios(n: usize, contestants: &[&'static dyn Contestant], records: &[Record]) -> String {
    let mut out = head(&format!("N = {}", thousands(n)), "| workload |", contestants);
    for workload in Workload::ALL.into_iter().filter(|workload| !workload.is_frame()) {
        row(&mut out, &format!("| {workload} |"), n, workload.name(), contestants, records);
    }
    out
}

/// Renders the table of the `frame` rows, all sizes one below the other.
pub fn frames(contestants: &[&'static dyn Contestant], records: &[Record]) -> String {
    let mut sizes: Vec<_> = records.iter().map(|record| record.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut out = head("Frames", "| workload | N |", contestants);
    let frames = Workload::ALL.into_iter().filter(|workload| workload.is_frame());
    for name in frames.flat_map(Workload::rows) {
        for &n in &sizes {
            let label = format!("| {name} | {} |", thousands(n));
            row(&mut out, &label, n, &name, contestants, records);
        }
    }
    out
}

/// The heading, and the names of the columns behind `labels`.
fn head(title: &str, labels: &str, contestants: &[&'static dyn Contestant]) -> String {
    let mut out = format!("### {title}\n\n{labels}");
    let mut rule = "|---".to_owned() + &"|--:".repeat(labels.matches('|').count() - 2) + "|";
    for who in contestants {
        let unit = if who.role() == Role::Limit { " ns" } else { "" };
        let _ = write!(out, " {}{unit} |", who.name());
        rule += "--:|";
    }
    out += " best peer |";
    rule += "---|";
    for name in named(contestants, Role::Ours) {
        let _ = write!(out, " {name} / best |");
        rule += "--:|";
    }
    let _ = writeln!(out, "\n{rule}");
    out
}

/// Adds one row, if there are records for it.
fn row(
    out: &mut String,
    label: &str,
    n: usize,
    workload: &str,
    contestants: &[&'static dyn Contestant],
    records: &[Record],
) {
    let of = |name: &str| {
        records.iter().find(|r| r.n == n && r.workload == workload && r.contestant == name)
    };
    if contestants.iter().all(|who| of(who.name()).is_none()) {
        return;
    }
    let best = named(contestants, Role::Peer)
        .into_iter()
        .filter_map(of)
        .min_by(|a, b| a.ratio_to_raw.total_cmp(&b.ratio_to_raw));
    *out += label;
    for who in contestants {
        let cell = of(who.name()).map_or(NOT_OFFERED.to_owned(), |record| match who.role() {
            Role::Limit => format!("{:.2}", record.ns_per_entity),
            _ => ratio(record.ratio_to_raw),
        });
        let _ = write!(out, " {cell} |");
    }
    let _ = match best {
        Some(best) => write!(out, " {} {} |", best.contestant, ratio(best.ratio_to_raw)),
        None => write!(out, " {NOT_OFFERED} |"),
    };
    for name in named(contestants, Role::Ours) {
        let cell = match (of(name), best) {
            (Some(own), Some(best)) => format!("{:.2}", own.ratio_to_raw / best.ratio_to_raw),
            _ => NOT_OFFERED.to_owned(),
        };
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

/// Renders the growth of one workload: rows are contestants, columns sizes, cells nanoseconds
/// per entity.
pub fn growth(
    workload: Workload,
    sizes: &[usize],
    contestants: &[&'static dyn Contestant],
    records: &[Record],
) -> String {
    let mut out = format!("### {workload}: ns per entity\n\n| contestant |");
    for &n in sizes {
        let _ = write!(out, " {} |", thousands(n));
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(sizes.len()));
    for who in contestants {
        let of = |n: usize| {
            records
                .iter()
                .find(|r| r.n == n && r.contestant == who.name() && r.workload == workload.name())
                .map_or(NOT_OFFERED.to_owned(), |r| format!("{:.2}", r.ns_per_entity))
        };
        let _ = write!(out, "| {} |", who.name());
        for &n in sizes {
            let _ = write!(out, " {} |", of(n));
        }
        out.push('\n');
    }
    out
}

fn named(contestants: &[&'static dyn Contestant], role: Role) -> Vec<&'static str> {
    contestants.iter().filter(|who| who.role() == role).map(|who| who.name()).collect()
}

/// Two digits after the point while they mean something.
fn ratio(value: f64) -> String {
    if value < 9.995 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// A number with a comma between groups of three digits.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants;

    fn cell(contestant: &str, ratio_to_raw: f64) -> Record {
        Record {
            workload: "iter_1".into(),
            n: 1000,
            contestant: contestant.into(),
            min_ns: 90.0,
            median_ns: 100.0,
            ns_per_entity: 0.1,
            ratio_to_raw,
        }
    }

    #[test]
    fn row_shows_ratios_gaps_and_the_best_peer() {
        let all = contestants::all();
        let chosen: Vec<_> = all
            .into_iter()
            .filter(|c| ["raw", "rawset", "hecs", "specs"].contains(&c.name()))
            .collect();
        let records = [cell("raw", 1.0), cell("rawset", 0.98), cell("hecs", 12.34)];

        let table = ratios(1000, &chosen, &records);

        assert!(
            table.starts_with(
                "### N = 1,000\n\n| workload | raw ns | rawset | hecs | specs | best peer |\n"
            ),
            "{table}"
        );
        assert!(table.ends_with("| iter_1 | 0.10 | 0.98 | 12 | – | hecs 12 |\n"), "{table}");
    }

    #[test]
    fn frames_have_a_table_of_their_own_by_size() {
        let all = contestants::all();
        let frame = |n| Record { workload: "frame_busy_queries".into(), n, ..cell("raw", 1.0) };
        let records = [frame(20_000), frame(1000), cell("raw", 1.0)];

        let (of_frames, of_others) = (frames(&all[..1], &records), ratios(1000, &all, &records));

        let rows = "| frame_busy_queries | 1,000 | 0.10 | – |\n\
                    | frame_busy_queries | 20,000 | 0.10 | – |\n";
        assert!(of_frames.ends_with(&format!("|---|--:|--:|---|\n{rows}")), "{of_frames}");
        assert!(!of_others.contains("frame"), "{of_others}");
    }

    #[test]
    fn other_sizes_stay_out_of_a_table() {
        let table = ratios(5, &contestants::all(), &[cell("raw", 1.0)]);

        assert_eq!(table.lines().count(), 4);
    }

    #[test]
    fn growth_has_one_column_per_size() {
        let all = contestants::all();
        let table = growth(Workload::Iter1, &[1000, 10_000], &all[..1], &[cell("raw", 1.0)]);

        assert!(table.ends_with("| raw | 0.10 | – |\n"), "{table}");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [thousands(1), thousands(1000), thousands(100_000), thousands(1_234_567)],
            ["1", "1,000", "100,000", "1,234,567"]
        );
    }
}
