//! Pictures of the tables.
//!
//! [`bars`] shows one size: ratios to raw on a log axis, one group of bars per workload.
//! [`lines`] shows growth: nanoseconds per entity by N, one panel per workload. [`panels`] shows
//! whatever has lines. They draw on any backend; this file picks files and colours.

use std::{path::Path, sync::Once};

use plotters::{
    coord::Shift,
    prelude::*,
    style::{FontStyle, register_font},
};

use crate::{
    cli::Format, contestant::Contestant, contestants, measure::Record, workload::Workload,
};

mod bars;
mod lines;
mod panels;

pub use panels::Panel;

/// What drawing may fail with, as text.
type Drawn = Result<(), String>;

/// Draws `bars-N` into `dir`.
///
/// # Errors
/// A sentence that names the file that could not be written.
pub fn bars(
    dir: &Path,
    formats: &[Format],
    n: usize,
    contestants: &[&'static dyn Contestant],
    records: &[Record],
) -> Drawn {
    let chart = bars::Chart::new(n, contestants, records);
    let size = chart.size();
    let stem = format!("bars-{n}");
    for format in formats {
        match format {
            Format::Svg => with_svg(dir, &stem, size, |root| chart.draw(root))?,
            Format::Png => with_png(dir, &stem, size, |root| chart.draw(root))?,
        }
    }
    Ok(())
}

/// Draws `lines` into `dir`.
///
/// # Errors
/// A sentence that names the file that could not be written.
pub fn lines(
    dir: &Path,
    formats: &[Format],
    workloads: &[Workload],
    contestants: &[&'static dyn Contestant],
    records: &[Record],
) -> Drawn {
    let chart = lines::Chart::new(workloads, contestants, records);
    let size = chart.size();
    for format in formats {
        match format {
            Format::Svg => with_svg(dir, "lines", size, |root| chart.draw(root))?,
            Format::Png => with_png(dir, "lines", size, |root| chart.draw(root))?,
        }
    }
    Ok(())
}

/// Draws panels, each with lines of its own, under a title into the file `stem` of `dir`.
///
/// # Errors
/// A sentence that names the file that could not be written.
pub fn panels(dir: &Path, stem: &str, title: &str, panels: &[Panel]) -> Drawn {
    with_png(dir, stem, panels::size(panels), |root| panels::draw(root, title, panels))
}

fn with_svg(
    dir: &Path,
    stem: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<SVGBackend<'_>>) -> Drawn,
) -> Drawn {
    let path = dir.join(format!("{stem}.svg"));
    on(SVGBackend::new(&path, size).into_drawing_area(), draw)
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn with_png(
    dir: &Path,
    stem: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<BitMapBackend<'_>>) -> Drawn,
) -> Drawn {
    let path = dir.join(format!("{stem}.png"));
    on(BitMapBackend::new(&path, size).into_drawing_area(), draw)
        .map_err(|error| format!("{}: {error}", path.display()))
}

type Canvas<DB> = DrawingArea<DB, Shift>;

fn on<DB: DrawingBackend>(root: Canvas<DB>, draw: impl FnOnce(&Canvas<DB>) -> Drawn) -> Drawn {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        let font = epaint_default_fonts::HACK_REGULAR;
        // The only error is a font that cannot be parsed; drawing text would report it.
        let _ = register_font("sans-serif", FontStyle::Normal, font);
    });
    root.fill(&WHITE).map_err(text)?;
    draw(&root)?;
    root.present().map_err(text)
}

/// Any error as its text: the backends' error types differ.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The place of a contestant among all, whoever takes part: so it has the same colour in every picture.
fn place(who: &dyn Contestant) -> usize {
    contestants::all().iter().position(|known| known.name() == who.name()).unwrap_or(0)
}

/// A colour per place in the list of contestants; the limit is black, ours are red.
fn colour(at: usize) -> RGBColor {
    const COLOURS: [(u8, u8, u8); 13] = [
        (0, 0, 0),
        (150, 150, 150),
        (214, 39, 40),
        (255, 152, 150),
        (120, 10, 50),
        (31, 119, 180),
        (44, 160, 44),
        (148, 103, 189),
        (197, 150, 235),
        (255, 127, 14),
        (140, 86, 75),
        (23, 190, 207),
        (188, 189, 34),
    ];
    let (red, green, blue) = COLOURS[at % COLOURS.len()];
    RGBColor(red, green, blue)
}

/// Draws coloured squares with names, from left to right, starting at `at`.
fn legend<DB: DrawingBackend>(root: &Canvas<DB>, names: &[(usize, &str)], at: (i32, i32)) -> Drawn {
    let mut x = at.0;
    for (place, name) in names {
        let square = [(x, at.1), (x + 14, at.1 + 14)];
        root.draw(&Rectangle::new(square, colour(*place).filled())).map_err(text)?;
        let label = Text::new(*name, (x + 19, at.1 - 2), ("sans-serif", 16).into_font());
        root.draw(&label).map_err(text)?;
        x += 36 + 10 * name.len() as i32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_has_a_colour_of_its_own() {
        let mut colours: Vec<_> =
            (0..contestants::all().len()).map(|at| colour(at).rgb()).collect();
        let all = colours.len();
        colours.sort_unstable();
        colours.dedup();

        assert_eq!(colours.len(), all);
    }

    #[test]
    fn all_pictures_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let cell = |n, contestant: &str| Record {
            workload: "iter_1".into(),
            n,
            contestant: contestant.into(),
            min_ns: 1.0,
            median_ns: 2.0,
            ns_per_entity: 0.5,
            ratio_to_raw: 1.5,
        };
        let records = [cell(10, "raw"), cell(10, "hecs"), cell(100, "raw"), cell(100, "hecs")];
        let (all, formats) = (contestants::all(), [Format::Svg, Format::Png]);

        bars(dir.path(), &formats, 10, &all, &records).unwrap();
        lines(dir.path(), &formats, &[Workload::Iter1], &all, &records).unwrap();

        let points = vec![(1.0, 2.0), (10.0, 3.0)];
        let panel = Panel { caption: "breadth".into(), lines: vec![("walk".into(), points)] };
        panels(dir.path(), "panels", "ns", &[panel]).unwrap();

        for file in ["bars-10.svg", "bars-10.png", "lines.svg", "lines.png", "panels.png"] {
            assert!(dir.path().join(file).metadata().unwrap().len() > 500, "{file} is empty");
        }
        assert!(
            std::fs::read_to_string(dir.path().join("bars-10.svg")).unwrap().contains("iter_1")
        );
    }
}
