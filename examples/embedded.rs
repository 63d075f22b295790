//! Esker as a guest: another engine owns the loop, the window and the renderer.
//!
//! ```sh
//! cargo run --example embedded
//! ```
//!
//! The host hands in what the player does, asks for a step, and reads plain slices to draw from. No
//! type of the host is known to the systems, and nothing is copied on the way out.

use std::error::Error;

use esker::prelude::*;
use esker::world::GroupId;

/// A place. The host reads it as two floats, so its layout is promised.
#[derive(Component, Clone, Copy)]
#[repr(C)]
struct Position([f32; 2]);

/// Which picture is drawn there.
#[derive(Component, Clone, Copy)]
#[repr(transparent)]
struct Sprite(u32);

#[derive(Component)]
struct Velocity([f32; 2]);

#[derive(Component)]
struct Player;

/// What the player wants, as the host says it.
#[derive(Default)]
struct Input {
    direction: [f32; 2],
}

/// Something that the host has to make audible.
struct Sound(&'static str);

/// The whole game, as the host sees it.
struct Game {
    world: World,
    schedule: Schedule,
    sounds: esker::world::MessageCursor<Sound>,
    drawn: GroupId,
}

impl Game {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut world = World::new();
        // Everything that is drawn lies at the front of its pools, in one order.
        let drawn = world.group::<(Position, Sprite)>().build()?;
        world.spawn((Position([0.0, 0.0]), Velocity([0.0, 0.0]), Sprite(1), Player));
        world.spawn_batch((0..5).map(|i| (Position([i as f32, 4.0]), Sprite(2))));
        world.spawn((Position([9.0, 9.0]), Velocity([0.0, -1.0]))); // moves, and is not drawn
        world.insert_resource(Input::default());
        let sounds = world.message_cursor();
        let mut schedule = Schedule::new();
        schedule.add_systems((steer, advance).chain());
        Ok(Self { world, schedule, sounds, drawn })
    }

    fn step(&mut self, input: Input) {
        self.world.insert_resource(input);
        self.schedule.step(&mut self.world);
    }

    /// Lends what is to be drawn: two slices of equal length.
    fn draw(&self, draw: impl FnOnce(&[Position], &[Sprite])) {
        let members = self.world.grouped::<(&Position, &Sprite)>(self.drawn);
        let members = members.expect("nobody holds these components between two steps");
        let (positions, sprites) = members.slices().expect("the group owns both");
        draw(positions, sprites);
    }

    fn sounds(&mut self) -> Vec<&'static str> {
        self.sounds.read(&self.world).iter().map(|sound| sound.0).collect()
    }
}

fn steer(
    mut player: Query<&mut Velocity, With<Player>>,
    input: Res<Input>,
    mut sounds: MessageWriter<Sound>,
) {
    for velocity in &mut player {
        if velocity.0 != input.direction {
            velocity.0 = input.direction;
            sounds.send(Sound("engine"));
        }
    }
}

fn advance(mut bodies: Query<(&mut Position, &Velocity)>) {
    for (position, velocity) in &mut bodies {
        for (at, by) in position.0.iter_mut().zip(velocity.0) {
            *at += by;
        }
    }
}

/// The host: its loop, its input, its screen.
fn main() -> Result<(), Box<dyn Error>> {
    let mut game = Game::new()?;
    for frame in 0..4 {
        let direction = if frame < 3 { [1.0, 1.0] } else { [0.0, 0.0] };
        game.step(Input { direction });

        let mut screen = [['.'; 6]; 5];
        game.draw(|positions, sprites| {
            for (&Position([x, y]), sprite) in positions.iter().zip(sprites) {
                screen[y as usize][x as usize] = if sprite.0 == 1 { '@' } else { '#' };
            }
        });
        println!("frame {frame}, sounds {:?}", game.sounds());
        screen.iter().for_each(|row| println!("  {}", String::from_iter(row)));
    }
    game.draw(|positions, sprites| {
        assert_eq!(positions.len(), sprites.len());
        assert_eq!(positions.len(), 6, "the hidden one is not drawn");
        assert_eq!(positions[0].0, [3.0, 3.0]);
    });
    Ok(())
}
