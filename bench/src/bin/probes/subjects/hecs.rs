//! hecs. It has no scheduler.

use std::panic::{AssertUnwindSafe, catch_unwind};

use esker_bench::components::{Position, Velocity};
use esker_bench::contestants::hecs::save;
use hecs::{Entity, World};

use crate::ledger::Value;
use crate::subject::{First, SAVED, Second, Subject, both, row};

pub(crate) struct Hecs;

impl Subject for Hecs {
    const NAME: &'static str = "hecs";
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
        world.contains(id)
    }

    fn replace(world: &mut World, id: Entity, value: First) {
        _ = world.insert_one(id, value);
    }

    fn remove(world: &mut World, id: Entity) {
        _ = world.remove_one::<First>(id);
    }

    fn clear(world: &mut World) {
        world.clear();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.query_mut::<&First>().into_iter().for_each(|first| each(&first.0));
        world.query_mut::<&Second>().into_iter().for_each(|second| each(&second.0));
    }

    fn look(world: &mut World, id: Entity, each: &mut dyn FnMut(&Value)) {
        if let Ok(first) = world.get::<&First>(id) {
            each(&first.0);
        }
        if let Ok(second) = world.get::<&Second>(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(world: &mut World) -> Option<bool> {
        let mut read = world.query::<&First>();
        read.iter().for_each(drop);
        std::mem::forget(read);
        let write = || world.query::<&mut First>().iter().for_each(drop);
        Some(catch_unwind(AssertUnwindSafe(write)).is_ok())
    }

    fn forget_a_batch(world: &mut World) -> bool {
        let mut spawned = world.spawn_batch((0..8).map(|_| both()));
        spawned.by_ref().take(3).for_each(drop);
        std::mem::forget(spawned);
        true
    }

    fn steps(_: usize) -> Option<u64> {
        None
    }

    fn saved() -> Option<Vec<u8>> {
        let mut world = World::new();
        world.spawn_batch((0..SAVED).map(row)).for_each(drop);
        let mut bytes = Vec::new();
        save::encode(&world, &mut bytes);
        Some(bytes)
    }

    fn load(bytes: &[u8]) {
        let mut world = save::decode(bytes);
        world.query_mut::<(&Position, &Velocity)>().into_iter().for_each(drop);
        world.spawn(row(0));
        let all: Vec<Entity> = world.iter().map(|entity| entity.entity()).collect();
        all.into_iter().for_each(|id| _ = world.despawn(id));
    }
}
