//! The picture: the world from above, and what the colours mean.

use std::path::Path;

use esker::World;
use indicatif::HumanCount;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::census::History;
use crate::light::{self, Light};
use crate::paper::{self, Drawn, Paper};

/// Edge of the square that shows the world, in pixels.
const SIDE: u32 = 1024;
/// Height of the legend below.
const LEGEND: u32 = 56;

/// Draws the world as it is.
pub fn draw(world: &World, history: &History, path: &Path) -> Drawn {
    let paper = paper::sheet(path, (SIDE, SIDE + LEGEND))?;
    let (above, below) = paper.split_vertically(SIDE);
    let light = Light::of(world, SIDE as usize);
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let (red, green, blue) = light.colour(x as usize, y as usize);
        above.draw_pixel((x as i32, y as i32), &RGBColor(red, green, blue))?;
    }
    legend(&below, history)?;
    paper.present()?;
    Ok(())
}

fn legend(area: &Paper<'_>, history: &History) -> Drawn {
    let now = history.now();
    // The middle of the small letters is a little below that of the line.
    let (middle, line) = (LEGEND as i32 / 2, LEGEND as i32 / 2 + 4);
    let named = |name: &str, count: usize| format!("{} {name}", HumanCount(count as u64));
    let entries = [
        (light::GRAZER, named("grazers, by direction", now.grazers)),
        (light::FEAR, "in flight".to_owned()),
        (light::HUNTER, named("hunters", now.hunters)),
        (light::GRASS.map(|part| 3.0 * part), "grass".to_owned()),
    ];
    let left = Pos::new(HPos::Left, VPos::Center);
    let mut x = 24;
    for (colour, name) in entries {
        let (red, green, blue) = light::screen(colour);
        area.draw(&Circle::new((x, middle), 7, RGBColor(red, green, blue).filled()))?;
        let style = paper::text(20, paper::TEXT).pos(left);
        let (width, _) = area.estimate_text_size(&name, &style)?;
        area.draw(&Text::new(name, (x + 16, line), style))?;
        x += 16 + width as i32 + 36;
    }
    let right = Pos::new(HPos::Right, VPos::Center);
    let step = format!("step {}", HumanCount(history.steps() as u64));
    let style = paper::text(20, paper::TEXT).pos(right);
    area.draw(&Text::new(step, (SIDE as i32 - 24, line), style))?;
    Ok(())
}
