//! specs, with components in `VecStorage`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use esker_bench::components::{Position, Velocity};
use esker_bench::contestants::specs::save;
use specs::{
    Builder as _, DispatcherBuilder, Entities, Entity, Join as _, System, World, WorldExt as _,
    WriteStorage,
};

use crate::ledger::Value;
use crate::numbers::{ROWS, STEPS, mix, total};
use crate::subject::{First, Number, SAVED, Second, Subject, both, row};

pub(crate) struct Specs;

impl Subject for Specs {
    const NAME: &'static str = "specs";
    type World = World;
    type Id = Entity;

    fn world() -> World {
        let mut world = World::new();
        world.register::<First>();
        world.register::<Second>();
        world.register::<Number>();
        world
    }

    fn spawn(world: &mut World) -> Entity {
        let (first, second) = both();
        world.create_entity().with(first).with(second).build()
    }

    fn spawn_empty(world: &mut World) -> Entity {
        world.create_entity().build()
    }

    fn despawn(world: &mut World, id: Entity) {
        _ = world.delete_entity(id);
    }

    fn is_alive(world: &mut World, id: Entity) -> bool {
        world.is_alive(id)
    }

    fn replace(world: &mut World, id: Entity, value: First) {
        _ = world.write_storage::<First>().insert(id, value);
    }

    fn remove(world: &mut World, id: Entity) {
        _ = world.write_storage::<First>().remove(id);
    }

    fn clear(world: &mut World) {
        world.delete_all();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.read_storage::<First>().join().for_each(|first| each(&first.0));
        world.read_storage::<Second>().join().for_each(|second| each(&second.0));
    }

    fn look(world: &mut World, id: Entity, each: &mut dyn FnMut(&Value)) {
        if let Some(first) = world.read_storage::<First>().get(id) {
            each(&first.0);
        }
        if let Some(second) = world.read_storage::<Second>().get(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(world: &mut World) -> Option<bool> {
        std::mem::forget(world.read_storage::<First>());
        Some(catch_unwind(AssertUnwindSafe(|| drop(world.write_storage::<First>()))).is_ok())
    }

    fn forget_a_batch(_: &mut World) -> bool {
        // `create_iter` makes entities without components.
        false
    }

    fn steps(threads: usize) -> Option<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        let mut world = Self::world();
        (0..ROWS).for_each(|n| _ = world.create_entity().with(Number(n)).build());
        let mut dispatcher = DispatcherBuilder::new()
            .with_pool(Arc::new(pool))
            .with(Mixes(1), "one", &[])
            .with(Mixes(2), "two", &[])
            .with(Spawns(0), "low", &[])
            .with(Spawns(3), "high", &[])
            .build();
        for _ in 0..STEPS {
            dispatcher.dispatch(&world);
            world.maintain();
        }
        let (entities, numbers) = (world.entities(), world.read_storage::<Number>());
        let bits = |id: Entity| u64::from(id.id()) << 32 | id.r#gen().id() as u64;
        let rows: Vec<(u64, u64)> =
            (&entities, &numbers).join().map(|(id, number)| (bits(id), number.0)).collect();
        Some(total(rows.into_iter()))
    }

    fn saved() -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        save::encode(&save::marked(SAVED), &mut bytes);
        Some(bytes)
    }

    fn load(bytes: &[u8]) {
        let mut world = save::decode(bytes);
        let walk = |world: &World| {
            let (positions, velocities) =
                (world.read_storage::<Position>(), world.read_storage::<Velocity>());
            (&positions, &velocities).join().for_each(drop);
        };
        walk(&world);
        let (position, velocity) = row(0);
        world.create_entity().with(position).with(velocity).build();
        let all: Vec<Entity> = world.entities().join().collect();
        all.into_iter().for_each(|id| _ = world.delete_entity(id));
    }
}

struct Mixes(u64);

impl<'a> System<'a> for Mixes {
    type SystemData = WriteStorage<'a, Number>;

    fn run(&mut self, mut all: Self::SystemData) {
        (&mut all).join().for_each(|n| n.0 = mix(n.0, self.0));
    }
}

struct Spawns(u64);

impl<'a> System<'a> for Spawns {
    type SystemData = (Entities<'a>, specs::Read<'a, specs::LazyUpdate>);

    fn run(&mut self, (entities, later): Self::SystemData) {
        for n in self.0..self.0 + 3 {
            later.create_entity(&entities).with(Number(n)).build();
        }
    }
}
