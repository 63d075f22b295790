//! Panels side by side, each with lines and a legend of its own.

use plotters::prelude::*;

use super::lines::{Line, draw_panel};
use super::{Canvas, Drawn, text};

const SIZE: (u32, u32) = (560, 440);
const HEAD: u32 = 56;

/// Some lines under a caption.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// What the numbers on the horizontal axis count.
    pub caption: String,
    /// Names of the lines, and their points by size.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

pub(super) fn size(panels: &[Panel]) -> (u32, u32) {
    (SIZE.0 * panels.len().max(1) as u32, HEAD + SIZE.1)
}

pub(super) fn draw<DB: DrawingBackend>(root: &Canvas<DB>, title: &str, panels: &[Panel]) -> Drawn {
    root.draw(&Text::new(title, (20, 16), ("sans-serif", 22).into_font())).map_err(text)?;
    for (at, panel) in (0..).zip(panels) {
        let area = root.clone().shrink((at * SIZE.0, HEAD), SIZE);
        // Colours from the third on: the first two are black and grey, for what is no library.
        let lines: Vec<Line> =
            (2..).zip(&panel.lines).map(|(at, (_, points))| (at, points.clone())).collect();
        let names: Vec<&str> =
            ["", ""].into_iter().chain(panel.lines.iter().map(|(name, _)| name.as_str())).collect();
        draw_panel(&area, &panel.caption, &lines, &names)?;
    }
    Ok(())
}
