//! The small programs whose builds are timed: two components, one query.
//!
//! Dependencies are written as a user would write them first: default features.

/// How often a program is repeated for what a larger one costs: 50 components and 50 queries.
pub(super) const COPIES: usize = 25;

/// A project of one file.
pub(super) struct Program {
    /// The contestant it stands for.
    pub(super) name: &'static str,
    /// Its line under `[dependencies]`.
    pub(super) dependency: &'static str,
    /// Its `main.rs`.
    pub(super) source: &'static str,
}

impl Program {
    /// The version in the dependency line.
    pub(super) fn version(&self) -> &'static str {
        if self.dependency.contains("path") {
            return env!("CARGO_PKG_VERSION");
        }
        self.dependency.split('"').nth(1).unwrap_or("-").trim_start_matches('=')
    }

    /// The program many times in one, each time in a module and with types of its own.
    pub(super) fn repeated(&self) -> String {
        let copy = self.source.replace("fn main()", "pub fn main()");
        let modules: String = (0..COPIES).map(|nth| format!("mod m{nth} {{{copy}}}\n")).collect();
        let calls: String = (0..COPIES).map(|nth| format!("    m{nth}::main();\n")).collect();
        format!("{modules}\nfn main() {{\n{calls}}}\n")
    }
}

/// One program per library.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "raw",
        dependency: "",
        source: "
struct Position(f32);
struct Velocity(f32);

fn main() {
    let mut positions: Vec<_> = (0..100).map(|i| Position(i as f32)).collect();
    let velocities: Vec<_> = (0..100).map(|_| Velocity(1.0)).collect();
    for (position, velocity) in positions.iter_mut().zip(&velocities) {
        position.0 += velocity.0;
    }
    println!(\"{}\", positions.iter().map(|p| p.0).sum::<f32>());
}
",
    },
    Program {
        name: "esker",
        dependency: concat!("esker = { path = \"", env!("CARGO_MANIFEST_DIR"), "/..\" }"),
        source: "
use esker::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

fn main() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    for (position, velocity) in &mut world.query::<(&mut Position, &Velocity)>() {
        position.0 += velocity.0;
    }
    println!(\"{}\", world.query::<&Position>().iter().map(|p| p.0).sum::<f32>());
}
",
    },
    Program {
        name: "bevy",
        dependency: "bevy_ecs = \"=0.20.1\"",
        source: "
use bevy_ecs::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

fn walk(mut query: Query<(&mut Position, &Velocity)>) {
    for (mut position, velocity) in &mut query {
        position.0 += velocity.0;
    }
}

fn main() {
    let mut world = World::new();
    world.spawn_batch((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    let mut schedule = Schedule::default();
    schedule.add_systems(walk);
    schedule.run(&mut world);
    println!(\"{}\", world.query::<&Position>().iter(&world).map(|p| p.0).sum::<f32>());
}
",
    },
    Program {
        name: "hecs",
        dependency: "hecs = \"=0.11.2\"",
        source: "
struct Position(f32);
struct Velocity(f32);

fn main() {
    let mut world = hecs::World::new();
    world.spawn_batch((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>() {
        position.0 += velocity.0;
    }
    println!(\"{}\", world.query_mut::<&Position>().into_iter().map(|p| p.0).sum::<f32>());
}
",
    },
    Program {
        name: "shipyard",
        dependency: "shipyard = \"=0.11.5\"",
        source: "
use shipyard::{Component, IntoIter, View, ViewMut, World};

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

fn main() {
    let mut world = World::new();
    world.bulk_add_entity((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    world.run(|mut positions: ViewMut<Position>, velocities: View<Velocity>| {
        for (position, velocity) in (&mut positions, &velocities).iter() {
            position.0 += velocity.0;
        }
    });
    world.run(|positions: View<Position>| {
        println!(\"{}\", positions.iter().map(|p| p.0).sum::<f32>());
    });
}
",
    },
    Program {
        name: "sparsey",
        dependency: "sparsey = \"=0.13.4\"",
        source: "
use sparsey::World;

struct Position(f32);
struct Velocity(f32);

fn main() {
    let mut world = World::builder().register::<Position>().register::<Velocity>().build();
    world.extend((0..100).map(|i| (Position(i as f32), Velocity(1.0))));
    world.for_each::<(&mut Position, &Velocity)>(|(position, velocity)| position.0 += velocity.0);
    let mut sum = 0.0;
    world.for_each::<&Position>(|position| sum += position.0);
    println!(\"{sum}\");
}
",
    },
    Program {
        name: "specs",
        dependency: "specs = { version = \"=0.20.0\", features = [\"derive\"] }",
        source: "
use specs::Component;
use specs::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

struct Walk;

impl<'a> System<'a> for Walk {
    type SystemData = (WriteStorage<'a, Position>, ReadStorage<'a, Velocity>);

    fn run(&mut self, (mut positions, velocities): Self::SystemData) {
        for (position, velocity) in (&mut positions, &velocities).join() {
            position.0 += velocity.0;
        }
    }
}

fn main() {
    let mut world = World::new();
    world.register::<Position>();
    world.register::<Velocity>();
    for i in 0..100 {
        world.create_entity().with(Position(i as f32)).with(Velocity(1.0)).build();
    }
    Walk.run_now(&world);
    println!(\"{}\", world.read_storage::<Position>().join().map(|p| p.0).sum::<f32>());
}
",
    },
    Program {
        name: "flecs",
        dependency: "flecs_ecs = \"=0.2.2\"",
        source: "
use flecs_ecs::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);

fn main() {
    let world = World::new();
    for i in 0..100 {
        world.entity().set(Position(i as f32)).set(Velocity(1.0));
    }
    let query = world.new_query::<(&mut Position, &Velocity)>();
    query.each(|(position, velocity)| position.0 += velocity.0);
    let mut sum = 0.0;
    query.each(|(position, _)| sum += position.0);
    println!(\"{sum}\");
}
",
    },
];
