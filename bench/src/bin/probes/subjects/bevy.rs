//! bevy_ecs, with components in tables.

use bevy_ecs::entity::Entity;
use bevy_ecs::schedule::Schedule;
use bevy_ecs::system::{Commands, Query};
use bevy_ecs::world::World;

use crate::ledger::Value;
use crate::numbers::{ROWS, STEPS, mix, total};
use crate::subject::{First, Number, Second, Subject, both};

pub(crate) struct Bevy;

impl Subject for Bevy {
    const NAME: &'static str = "bevy_ecs";
    type World = World;
    type Id = Entity;

    fn world() -> World {
        World::new()
    }

    fn spawn(world: &mut World) -> Entity {
        world.spawn(both()).id()
    }

    fn spawn_empty(world: &mut World) -> Entity {
        world.spawn_empty().id()
    }

    fn despawn(world: &mut World, id: Entity) {
        world.despawn(id);
    }

    fn is_alive(world: &mut World, id: Entity) -> bool {
        world.get_entity(id).is_ok()
    }

    fn replace(world: &mut World, id: Entity, value: First) {
        if let Ok(mut entity) = world.get_entity_mut(id) {
            entity.insert(value);
        }
    }

    fn remove(world: &mut World, id: Entity) {
        if let Ok(mut entity) = world.get_entity_mut(id) {
            entity.remove::<First>();
        }
    }

    fn clear(world: &mut World) {
        world.clear_entities();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.query::<&First>().iter(world).for_each(|first| each(&first.0));
        world.query::<&Second>().iter(world).for_each(|second| each(&second.0));
    }

    fn look(world: &mut World, id: Entity, each: &mut dyn FnMut(&Value)) {
        if let Some(first) = world.get::<First>(id) {
            each(&first.0);
        }
        if let Some(second) = world.get::<Second>(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(_: &mut World) -> Option<bool> {
        // The compiler alone watches borrows of components.
        None
    }

    fn forget_a_batch(world: &mut World) -> bool {
        let mut spawned = world.spawn_batch((0..8).map(|_| both()));
        spawned.by_ref().take(3).for_each(drop);
        std::mem::forget(spawned);
        true
    }

    fn steps(threads: usize) -> Option<u64> {
        bevy_tasks::ComputeTaskPool::get_or_init(|| {
            bevy_tasks::TaskPoolBuilder::new().num_threads(threads).build()
        });
        let mut world = World::new();
        world.spawn_batch((0..ROWS).map(|n| (Number(n),)));
        let mut schedule = Schedule::default();
        schedule.add_systems((
            |mut all: Query<&mut Number>| all.iter_mut().for_each(|mut n| n.0 = mix(n.0, 1)),
            |mut all: Query<&mut Number>| all.iter_mut().for_each(|mut n| n.0 = mix(n.0, 2)),
            |mut commands: Commands| (0..3).for_each(|n| _ = commands.spawn(Number(n)).id()),
            |mut commands: Commands| (3..6).for_each(|n| _ = commands.spawn(Number(n)).id()),
        ));
        (0..STEPS).for_each(|_| schedule.run(&mut world));
        let mut query = world.query::<(Entity, &Number)>();
        Some(total(query.iter(&world).map(|(id, number)| (id.to_bits(), number.0))))
    }

    fn saved() -> Option<Vec<u8>> {
        None
    }

    fn load(_: &[u8]) {}
}
