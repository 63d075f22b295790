//! Horizontal bars: one group per workload, one bar per contestant, log axis.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{Canvas, Drawn, colour, legend, place, text};
use crate::{
    contestant::{Contestant, Role},
    measure::Record,
    table::thousands,
    workload::Workload,
};

/// Pixels of the picture's parts.
const BAR: i32 = 9;
const GAP: i32 = 12;
const HEAD: i32 = 110;
const FOOT: i32 = 20;
const LEFT: i32 = 180;
const WIDTH: i32 = 1300;
const RIGHT: i32 = WIDTH - 70;

/// The ratios of one world size.
pub(super) struct Chart<'a> {
    n: usize,
    contestants: Vec<(usize, &'a str)>,
    groups: Vec<(Workload, Vec<(usize, f64)>)>,
    /// The axis goes from here to there.
    range: (f64, f64),
}

impl<'a> Chart<'a> {
    pub(super) fn new(n: usize, all: &'a [&'static dyn Contestant], records: &[Record]) -> Self {
        let contestants: Vec<_> = all
            .iter()
            .filter(|who| who.role() != Role::Limit)
            .map(|who| (place(*who), who.name()))
            .collect();
        let groups: Vec<_> = Workload::ALL
            .into_iter()
            .map(|workload| (workload, group(workload, n, &contestants, records)))
            .filter(|(_, bars)| !bars.is_empty())
            .collect();
        let ratios = || groups.iter().flat_map(|(_, bars)| bars.iter().map(|(_, ratio)| *ratio));
        let low = ratios().fold(0.7, f64::min) * 0.9;
        let high = ratios().fold(2.0, f64::max) * 1.1;
        Self { n, contestants, groups, range: (low, high) }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        let height: i32 = self.groups.iter().map(|(_, bars)| bars.len() as i32 * BAR + GAP).sum();
        (WIDTH as u32, (HEAD + height + FOOT) as u32)
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, root: &Canvas<DB>) -> Drawn {
        let title = format!(
            "N = {}: time relative to plain vectors (shorter is better)",
            thousands(self.n)
        );
        root.draw(&Text::new(title, (20, 16), ("sans-serif", 22).into_font())).map_err(text)?;
        legend(root, &self.contestants, (20, 54))?;
        self.draw_axis(root)?;
        let mut top = HEAD;
        for (workload, bars) in &self.groups {
            let height = bars.len() as i32 * BAR;
            let style = TextStyle::from(("sans-serif", 16).into_font())
                .pos(Pos::new(HPos::Right, VPos::Center));
            let label = Text::new(workload.name(), (LEFT - 10, top + height / 2), style);
            root.draw(&label).map_err(text)?;
            for (row, (who, ratio)) in bars.iter().enumerate() {
                self.draw_bar(root, top + row as i32 * BAR, *who, *ratio)?;
            }
            top += height + GAP;
        }
        Ok(())
    }

    /// A bar starts at 1, the speed of plain vectors, and goes left if it is faster.
    fn draw_bar<DB: DrawingBackend>(
        &self,
        root: &Canvas<DB>,
        y: i32,
        who: usize,
        ratio: f64,
    ) -> Drawn {
        let (one, end) = (self.x(1.0), self.x(ratio));
        let bar = [(one.min(end), y), (one.max(end).max(one + 2), y + BAR - 2)];
        root.draw(&Rectangle::new(bar, colour(who).filled())).map_err(text)?;
        let figure = if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") };
        let style =
            TextStyle::from(("sans-serif", 11).into_font()).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(figure, (one.max(end) + 4, y + BAR / 2 - 1), style)).map_err(text)
    }

    fn draw_axis<DB: DrawingBackend>(&self, root: &Canvas<DB>) -> Drawn {
        let bottom = self.size().1 as i32 - FOOT;
        let decades =
            (-1..4).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
        for tick in decades.filter(|tick| (self.range.0..=self.range.1).contains(tick)) {
            let x = self.x(tick);
            let shade = if tick == 1.0 { BLACK.mix(0.8) } else { BLACK.mix(0.15) };
            let line = PathElement::new([(x, HEAD - 8), (x, bottom)], shade);
            root.draw(&line).map_err(text)?;
            let style = TextStyle::from(("sans-serif", 14).into_font())
                .pos(Pos::new(HPos::Center, VPos::Bottom));
            root.draw(&Text::new(format!("{tick} ×"), (x, HEAD - 10), style)).map_err(text)?;
        }
        Ok(())
    }

    fn x(&self, ratio: f64) -> i32 {
        let (low, high) = (self.range.0.ln(), self.range.1.ln());
        LEFT + ((ratio.ln() - low) / (high - low) * f64::from(RIGHT - LEFT)) as i32
    }
}

fn group(
    workload: Workload,
    n: usize,
    contestants: &[(usize, &str)],
    records: &[Record],
) -> Vec<(usize, f64)> {
    let of = |name: &str| {
        records.iter().find(|r| r.n == n && r.workload == workload.name() && r.contestant == name)
    };
    contestants.iter().filter_map(|(at, name)| Some((*at, of(name)?.ratio_to_raw))).collect()
}
