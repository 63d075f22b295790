//! Lines by N: one panel per workload, nanoseconds per entity, both axes logarithmic.

use plotters::prelude::*;

use super::{Canvas, Drawn, colour, legend, place, text};
use crate::{contestant::Contestant, measure::Record, workload::Workload};

/// Panels side by side at most, and pixels of a panel.
const COLUMNS: usize = 3;
const PANEL: (u32, u32) = (460, 320);
const HEAD: u32 = 100;

/// One contestant's points in a panel: its place in the list, and (N, ns) by N.
pub(super) type Line = (usize, Vec<(f64, f64)>);

/// The growth of several workloads.
pub(super) struct Chart<'a> {
    contestants: Vec<(usize, &'a str)>,
    panels: Vec<(Workload, Vec<Line>)>,
}

impl<'a> Chart<'a> {
    pub(super) fn new(
        workloads: &[Workload],
        all: &'a [&'static dyn Contestant],
        records: &[Record],
    ) -> Self {
        let contestants: Vec<_> = all.iter().map(|who| (place(*who), who.name())).collect();
        let panels = workloads
            .iter()
            .map(|workload| {
                let lines =
                    contestants.iter().map(|(at, name)| (*at, line(*workload, name, records)));
                (*workload, lines.filter(|(_, points)| !points.is_empty()).collect::<Vec<_>>())
            })
            .filter(|(_, lines)| !lines.is_empty())
            .collect();
        Self { contestants, panels }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        let columns = COLUMNS.min(self.panels.len()).max(3) as u32;
        let rows = self.panels.len().div_ceil(COLUMNS).max(1) as u32;
        (columns * PANEL.0, HEAD + rows * PANEL.1)
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, root: &Canvas<DB>) -> Drawn {
        let title = "ns per entity by N (lower is better, flat is ideal)";
        root.draw(&Text::new(title, (20, 16), ("sans-serif", 22).into_font())).map_err(text)?;
        legend(root, &self.contestants, (20, 58))?;
        for (at, (workload, lines)) in self.panels.iter().enumerate() {
            let (column, row) = ((at % COLUMNS) as u32, (at / COLUMNS) as u32);
            let (left, top) = (column * PANEL.0, HEAD + row * PANEL.1);
            let panel = root.clone().shrink((left, top), PANEL);
            draw_panel(&panel, workload.name(), lines, &[])?;
        }
        Ok(())
    }
}

/// Draws lines with a caption, and a legend of those that `names` has a name for.
pub(super) fn draw_panel<DB: DrawingBackend>(
    panel: &Canvas<DB>,
    caption: &str,
    lines: &[Line],
    names: &[&str],
) -> Drawn {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let span = |of: fn(&(f64, f64)) -> f64| {
        let low = points().map(of).fold(f64::INFINITY, f64::min);
        let high = points().map(of).fold(0.0, f64::max);
        (low * 0.8)..(high * 1.25)
    };
    let mut chart = ChartBuilder::on(panel)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(28)
        .y_label_area_size(52)
        .build_cartesian_2d(span(|point| point.0).log_scale(), span(|point| point.1).log_scale())
        .map_err(text)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(5)
        .y_labels(8)
        .x_label_formatter(&|n| short(*n))
        .y_label_formatter(&|ns| format!("{ns}"))
        .label_style(("sans-serif", 13))
        .draw()
        .map_err(text)?;
    for (who, points) in lines {
        let style = colour(*who).stroke_width(2);
        let series =
            chart.draw_series(LineSeries::new(points.iter().copied(), style)).map_err(text)?;
        if let Some(name) = names.get(*who) {
            series
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        let dots = points.iter().map(|point| Circle::new(*point, 3, colour(*who).filled()));
        chart.draw_series(dots).map_err(text)?;
    }
    if !names.is_empty() {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 14))
            .draw()
            .map_err(text)?;
    }
    Ok(())
}

fn line(workload: Workload, name: &str, records: &[Record]) -> Vec<(f64, f64)> {
    let of = |record: &&Record| record.workload == workload.name() && record.contestant == name;
    let mut points: Vec<_> =
        records.iter().filter(of).map(|record| (record.n as f64, record.ns_per_entity)).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// 1k, 10k, … 10M.
fn short(n: f64) -> String {
    match n {
        1e6.. => format!("{}M", n / 1e6),
        1e3.. => format!("{}k", n / 1e3),
        _ => format!("{n}"),
    }
}
