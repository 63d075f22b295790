//! Esker.

use esker::World;
use esker::prelude::{Commands, Entity, Query, Schedule};
use esker_bench::components::{Position, Velocity};
use esker_bench::contestants::esker::save;

use crate::ledger::Value;
use crate::numbers::{ROWS, STEPS, mix, total};
use crate::subject::{First, Number, SAVED, Second, Subject, both, row};

pub(crate) struct Esker;

impl Subject for Esker {
    const NAME: &'static str = "esker";
    type World = World;
    type Id = Entity;

    fn world() -> World {
        World::new()
    }

    fn spawn(world: &mut World) -> Entity {
        world.spawn(both())
    }

    fn spawn_empty(world: &mut World) -> Entity {
        world.spawn(())
    }

    fn despawn(world: &mut World, id: Entity) {
        _ = world.despawn(id);
    }

    fn is_alive(world: &mut World, id: Entity) -> bool {
        world.is_alive(id)
    }

    fn replace(world: &mut World, id: Entity, value: First) {
        _ = world.insert(id, value);
    }

    fn remove(world: &mut World, id: Entity) {
        _ = world.remove::<First>(id);
    }

    fn clear(world: &mut World) {
        world.clear();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.query::<&First>().iter().for_each(|first| each(&first.0));
        world.query::<&Second>().iter().for_each(|second| each(&second.0));
    }

    fn look(world: &mut World, id: Entity, each: &mut dyn FnMut(&Value)) {
        if let Some(first) = world.get::<First>(id) {
            each(&first.0);
        }
        if let Some(second) = world.get::<Second>(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(world: &mut World) -> Option<bool> {
        std::mem::forget(world.query::<&First>());
        Some(world.try_query::<&mut First, ()>().is_ok())
    }

    fn forget_a_batch(world: &mut World) -> bool {
        let mut spawned = world.spawn_batch((0..8).map(|_| both()));
        spawned.by_ref().take(3).for_each(drop);
        std::mem::forget(spawned);
        true
    }

    fn steps(threads: usize) -> Option<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        let mut world = World::new();
        world.spawn_batch((0..ROWS).map(|n| (Number(n),)));
        let mut schedule = Schedule::new();
        schedule.add_systems((
            |mut all: Query<&mut Number>| all.iter_mut().for_each(|n| n.0 = mix(n.0, 1)),
            |mut all: Query<&mut Number>| all.iter_mut().for_each(|n| n.0 = mix(n.0, 2)),
            |mut commands: Commands| (0..3).for_each(|n| _ = commands.spawn(Number(n))),
            |mut commands: Commands| (3..6).for_each(|n| _ = commands.spawn(Number(n))),
        ));
        pool.install(|| (0..STEPS).for_each(|_| _ = schedule.step(&mut world)));
        let query = world.query::<(Entity, &Number)>();
        Some(total(query.iter().map(|(id, number)| (id.to_bits(), number.0))))
    }

    fn saved() -> Option<Vec<u8>> {
        let mut world = World::new();
        world.spawn_batch((0..SAVED).map(row));
        let mut bytes = Vec::new();
        save::encode(&world, &mut bytes);
        Some(bytes)
    }

    fn load(bytes: &[u8]) {
        let mut world = save::decode(bytes);
        world.query::<(&Position, &Velocity)>().iter().for_each(drop);
        world.spawn(row(0));
        let all: Vec<Entity> = world.entities().collect();
        all.into_iter().for_each(|id| _ = world.despawn(id));
    }
}
