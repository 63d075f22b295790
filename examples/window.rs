//! A small game in a window: steer with the arrow keys, shoot with space, let no rock through.
//!
//! ```sh
//! cargo run --release --example window --features example-window
//! ```
//!
//! The window comes from `minifb`, which shows an array of pixels and knows which keys are down. All
//! the rest is one world and one schedule.

use std::error::Error;
use std::time::{Duration, Instant};

use esker::prelude::*;
use esker::schedule::FixedStep;
use fastrand::Rng;
use minifb::{Key, Window, WindowOptions};

const WIDTH: usize = 480;
const HEIGHT: usize = 640;

#[derive(Component, Clone, Copy)]
struct Place {
    x: f32,
    y: f32,
}

#[derive(Component)]
struct Speed {
    x: f32,
    y: f32,
}

/// A square of this size and colour.
#[derive(Component)]
struct Look {
    size: f32,
    colour: u32,
}

#[derive(Component)]
struct Ship;

#[derive(Component)]
struct Rock;

#[derive(Component)]
struct Shot;

/// Keys that are down.
#[derive(Default)]
struct Keys {
    left: bool,
    right: bool,
    fire: bool,
}

#[derive(Default)]
struct Score {
    hit: u32,
    missed: u32,
}

fn steer(
    mut ship: Query<(&Place, &mut Speed), With<Ship>>,
    keys: Res<Keys>,
    mut loading: Local<u32>,
    mut commands: Commands,
) {
    *loading = loading.saturating_sub(1);
    for (place, speed) in &mut ship {
        let is_inside = |x: f32| (20.0..WIDTH as f32 - 20.0).contains(&(place.x + x));
        speed.x = 5.0 * (f32::from(keys.right) - f32::from(keys.left));
        speed.x *= f32::from(is_inside(speed.x));
        if keys.fire && *loading == 0 {
            *loading = 12;
            let look = Look { size: 5.0, colour: 0x00FF_E080 };
            commands.spawn((Shot, *place, Speed { x: 0.0, y: -9.0 }, look));
        }
    }
}

fn throw_rocks(mut rng: ResMut<Rng>, mut commands: Commands) {
    if rng.u32(..35) == 0 {
        let size = 14.0 + 26.0 * rng.f32();
        let place = Place { x: rng.f32() * WIDTH as f32, y: -size };
        let speed = Speed { x: rng.f32() - 0.5, y: 1.0 + 2.0 * rng.f32() };
        commands.spawn((Rock, place, speed, Look { size, colour: 0x0080_8898 }));
    }
}

fn advance(mut things: Query<(&mut Place, &Speed)>) {
    for (place, speed) in &mut things {
        place.x += speed.x;
        place.y += speed.y;
    }
}

/// A shot and a rock that touch are both gone.
fn hit(
    shots: Query<(Entity, &Place), With<Shot>>,
    rocks: Query<(Entity, &Place, &Look), With<Rock>>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    let mut gone = Vec::new();
    for (shot, at) in &shots {
        let touched = rocks.iter().find(|&(rock, place, look)| {
            let reach = look.size / 2.0 + 3.0;
            let touches = (place.x - at.x).abs() < reach && (place.y - at.y).abs() < reach;
            touches && !gone.contains(&rock)
        });
        if let Some((rock, ..)) = touched {
            gone.extend([shot, rock]);
            score.hit += 1;
        }
    }
    gone.into_iter().for_each(|id| commands.despawn(id));
}

/// What has left the window is forgotten; rocks count.
fn leave(
    things: Query<(Entity, &Place, Has<Rock>)>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    for (id, place, is_rock) in &things {
        if !(-60.0..HEIGHT as f32 + 40.0).contains(&place.y) {
            score.missed += u32::from(is_rock);
            commands.despawn(id);
        }
    }
}

fn draw(world: &World, pixels: &mut [u32]) {
    pixels.fill(0x0010_1116);
    for (place, look) in &world.query::<(&Place, &Look)>() {
        let range = |middle: f32, end: usize| {
            let edge = |at: f32| (at.max(0.0) as usize).min(end);
            edge(middle - look.size / 2.0)..edge(middle + look.size / 2.0)
        };
        let (columns, rows) = (range(place.x, WIDTH), range(place.y, HEIGHT));
        for row in pixels.chunks_mut(WIDTH).take(rows.end).skip(rows.start) {
            row[columns.clone()].fill(look.colour);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new();
    world.insert_resource(Rng::new());
    world.insert_resource(Score::default());
    let place = Place { x: WIDTH as f32 / 2.0, y: HEIGHT as f32 - 40.0 };
    world.spawn((Ship, place, Speed { x: 0.0, y: 0.0 }, Look { size: 26.0, colour: 0x0060_C0FF }));

    let mut schedule = Schedule::new();
    schedule.add_systems((steer, throw_rocks, advance));
    schedule.add_systems((hit, leave));

    let mut window = Window::new("Esker", WIDTH, HEIGHT, WindowOptions::default())?;
    window.set_target_fps(60);
    let mut pixels = vec![0; WIDTH * HEIGHT];
    let mut steps = FixedStep::new(Duration::from_secs(1) / 60).at_most(5);
    let mut last = Instant::now();
    while window.is_open() && !window.is_key_down(Key::Escape) {
        let [left, right, fire] =
            [Key::Left, Key::Right, Key::Space].map(|key| window.is_key_down(key));
        world.insert_resource(Keys { left, right, fire });
        steps.add(last.elapsed());
        last = Instant::now();
        for _ in &mut steps {
            schedule.step(&mut world);
        }
        draw(&world, &mut pixels);
        let score = world.resource::<Score>();
        window.set_title(&format!("Esker – {} hit, {} missed", score.hit, score.missed));
        window.update_with_buffer(&pixels, WIDTH, HEIGHT)?;
    }
    Ok(())
}
