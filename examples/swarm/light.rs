//! The world from above, as light: grass, herds coloured by where they go, fear and hunters.

use esker::prelude::*;

use crate::life::{Fleeing, Grass, Grazer, Hunter, Position, Velocity};
use crate::torus::{Torus, square};

pub const SOIL: [f32; 3] = [0.008, 0.008, 0.018];
pub const GRASS: [f32; 3] = [0.002, 0.034, 0.022];
pub const GRAZER: [f32; 3] = [0.22, 0.42, 0.62];
pub const FEAR: [f32; 3] = [0.6, 0.58, 0.45];
pub const HUNTER: [f32; 3] = [1.0, 0.30, 0.12];

/// A square of light.
pub struct Light {
    side: usize,
    pixels: Vec<[f32; 3]>,
}

impl Light {
    /// The world as a square of so many pixels along each edge.
    pub fn of(world: &World, side: usize) -> Self {
        let torus = *world.resource::<Torus>();
        let scale = side as f32 / torus.side as f32;
        let mut light = Self { side, pixels: grass(&world.resource::<Grass>().0, torus, side) };
        let radius = (0.22 * scale).max(0.7);
        type Seen<'a> = (&'a Position, &'a Velocity, Has<Fleeing>);
        for (position, velocity, is_fleeing) in &world.query_filtered::<Seen<'_>, With<Grazer>>() {
            let colour = if is_fleeing { FEAR } else { by_direction(velocity) };
            light.shine(position, scale, radius, colour);
        }
        for position in &world.query_filtered::<&Position, With<Hunter>>() {
            light.shine(position, scale, 1.5 * radius, HUNTER);
        }
        light
    }

    /// The colour of a pixel, as a screen wants it.
    pub fn colour(&self, x: usize, y: usize) -> (u8, u8, u8) {
        screen(self.pixels[y * self.side + x])
    }

    /// Adds a disc of light that fades to its edge.
    fn shine(&mut self, position: &Position, scale: f32, radius: f32, colour: [f32; 3]) {
        // Where there is less than a pixel for each cell, each entity shines less.
        let strength = scale.clamp(0.15, 1.0).powi(2);
        let (side, reach) = (self.side as i32, radius as i32 + 1);
        let [x, y] = [position.x, position.y].map(|part| part * scale);
        for (dy, dx) in (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dy, dx))) {
            let [column, row] = [x as i32 + dx, y as i32 + dy];
            let way = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
            let part = strength * (1.2 - square(way) / (radius * radius)).clamp(0.0, 1.0);
            let at = row.rem_euclid(side) * side + column.rem_euclid(side);
            let pixel = &mut self.pixels[at as usize];
            pixel.iter_mut().zip(colour).for_each(|(light, c)| *light += c * part);
        }
    }
}

/// Light as bytes for a screen, which shows the square of what it is told.
pub fn screen(light: [f32; 3]) -> (u8, u8, u8) {
    let [red, green, blue] = light.map(|part| (part.min(1.0).sqrt() * 255.0) as u8);
    (red, green, blue)
}

fn grass(grass: &[f32], torus: Torus, side: usize) -> Vec<[f32; 3]> {
    let cells = torus.side as f32;
    let places = (0..side).map(|at| (at as f32 + 0.5) * cells / side as f32);
    let rows = places.clone().flat_map(|y| places.clone().map(move |x| Position { x, y }));
    rows.map(|position| {
        let green = smooth(grass, torus, position);
        std::array::from_fn(|i| SOIL[i] + GRASS[i] * green)
    })
    .collect()
}

/// Grass at a position, between the middles of the four cells around it.
fn smooth(grass: &[f32], torus: Torus, position: Position) -> f32 {
    let corner = torus.advance(position, (-0.5, -0.5));
    let at = |x, y| grass[torus.cell(torus.advance(corner, (x, y)))];
    let mix = |a: f32, b: f32, part: f32| a + (b - a) * part.fract();
    let upper = mix(at(0.0, 0.0), at(1.0, 0.0), corner.x);
    let lower = mix(at(0.0, 1.0), at(1.0, 1.0), corner.x);
    mix(upper, lower, corner.y)
}

/// Cool colours for all directions, so that herds can be told apart and hunters stand out.
fn by_direction(velocity: &Velocity) -> [f32; 3] {
    let length = square((velocity.x, velocity.y)).sqrt().max(1e-6);
    let (x, y) = (velocity.x / length, velocity.y / length);
    [GRAZER[0] + 0.20 * x, GRAZER[1] + 0.26 * y, GRAZER[2] - 0.20 * x]
}
