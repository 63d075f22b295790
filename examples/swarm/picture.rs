//! The picture: the world from above, and under it how the numbers of both kinds went.

use std::error::Error;
use std::path::Path;

use esker::prelude::*;
use plotters::prelude::*;

use crate::grid::{GrazerGrid, Grid};
use crate::life::{Census, Fleeing, Grass, Grazer, Hunter, Position, Velocity};

/// Edge of the square that shows the world, in pixels.
const SIDE: usize = 1024;
/// Height of the curves below.
const CURVES: usize = 176;

const SOIL: [f32; 3] = [0.008, 0.008, 0.018];
const GRASS: [f32; 3] = [0.002, 0.034, 0.022];
const FEAR: [f32; 3] = [0.85, 0.85, 0.7];
const HUNTER: [f32; 3] = [1.0, 0.30, 0.12];
const GRAZER_CURVE: RGBColor = RGBColor(120, 200, 170);
const HUNTER_CURVE: RGBColor = RGBColor(255, 96, 48);

/// Draws the world as it is and its history, and writes both to `path`.
pub fn draw(world: &World, history: &[Census], path: &Path) -> Result<(), Box<dyn Error>> {
    let size = (SIDE as u32, (SIDE + CURVES) as u32);
    let canvas = BitMapBackend::new(path, size).into_drawing_area();
    let (above, below) = canvas.split_vertically(SIDE as u32);
    for (at, light) in (0..).zip(lights(world)) {
        let [red, green, blue] = light.map(|part| (part.min(1.0).sqrt() * 255.0) as u8);
        above.draw_pixel((at % SIDE as i32, at / SIDE as i32), &RGBColor(red, green, blue))?;
    }
    below.fill(&RGBColor(16, 17, 22))?;
    curve(&below, history.iter().map(|census| census.grazers), GRAZER_CURVE)?;
    curve(&below, history.iter().map(|census| census.hunters), HUNTER_CURVE)?;
    canvas.present()?;
    Ok(())
}

/// The light that each pixel sends out: grass, then grazers by direction, then hunters.
fn lights(world: &World) -> Vec<[f32; 3]> {
    let grid = &world.resource::<GrazerGrid>().0;
    let grass = &world.resource::<Grass>().cells;
    let per_cell = SIDE as f32 / grid.side() as f32;
    let mut lights: Vec<[f32; 3]> = (0..SIDE * SIDE)
        .map(|at| {
            let [x, y] = [at % SIDE, at / SIDE].map(|at| (at as f32 + 0.5) / per_cell);
            let green = smooth(grid, grass, Position { x, y });
            std::array::from_fn(|i| SOIL[i] + GRASS[i] * green)
        })
        .collect();
    let pixel = |position: &Position| {
        let [x, y] =
            [position.x, position.y].map(|part| ((part * per_cell) as usize).min(SIDE - 1));
        (x, y)
    };

    type Seen<'a> = (&'a Position, &'a Velocity, Option<&'a Fleeing>);
    for (position, velocity, fleeing) in &world.query_filtered::<Seen<'_>, With<Grazer>>() {
        let colour = if fleeing.is_some() { FEAR } else { by_direction(velocity) };
        let (x, y) = pixel(position);
        shine(&mut lights, (x, y), colour, 0.9);
        for (dx, dy) in [(1, 0), (SIDE - 1, 0), (0, 1), (0, SIDE - 1)] {
            shine(&mut lights, ((x + dx) % SIDE, (y + dy) % SIDE), colour, 0.12);
        }
    }
    for position in &world.query_filtered::<&Position, With<Hunter>>() {
        let (x, y) = pixel(position);
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            shine(&mut lights, ((x + dx) % SIDE, (y + dy) % SIDE), HUNTER, 1.0);
        }
    }
    lights
}

/// Grass at a position, between the middles of the four cells around it.
fn smooth(grid: &Grid, grass: &[f32], at: Position) -> f32 {
    let side = grid.side() as f32;
    let [(left, right), (above, below)] = [at.x, at.y].map(|part| {
        let start = (part + side - 0.5) % side;
        (start, (start + 1.0) % side)
    });
    let at = |x, y| grass[grid.cell(Position { x, y })];
    let mix = |a: f32, b: f32, part: f32| a + (b - a) * part.fract();
    let upper = mix(at(left, above), at(right, above), left);
    let lower = mix(at(left, below), at(right, below), left);
    mix(upper, lower, above)
}

fn shine(lights: &mut [[f32; 3]], (x, y): (usize, usize), colour: [f32; 3], strength: f32) {
    for (light, part) in lights[y * SIDE + x].iter_mut().zip(colour) {
        *light += part * strength;
    }
}

/// Cool colours for all directions, so that herds can be told apart and hunters stand out.
fn by_direction(velocity: &Velocity) -> [f32; 3] {
    let length = (velocity.x * velocity.x + velocity.y * velocity.y).sqrt().max(1e-6);
    let (x, y) = (velocity.x / length, velocity.y / length);
    [0.30 + 0.30 * x, 0.55 + 0.30 * y, 0.75 - 0.25 * x]
}

/// One curve over the whole area, scaled to its own highest point.
fn curve<DB: DrawingBackend>(
    area: &DrawingArea<DB, plotters::coord::Shift>,
    values: impl ExactSizeIterator<Item = usize> + Clone,
    colour: RGBColor,
) -> Result<(), Box<dyn Error>>
where
    DB::ErrorType: 'static,
{
    let highest = values.clone().max().unwrap_or(1).max(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .build_cartesian_2d(0..values.len().max(2) - 1, 0.0..highest)?;
    let points = values.enumerate().map(|(step, value)| (step, value as f64));
    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    Ok(())
}
