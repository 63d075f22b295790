//! shipyard.

use std::collections::HashMap;

use esker_bench::components::{Position, Velocity};
use esker_bench::contestants::shipyard::{decode, encode};
use shipyard::{
    EntitiesView, EntitiesViewMut, EntityId, IntoIter as _, IntoWorkload as _, View, ViewMut, World,
};

use crate::ledger::Value;
use crate::numbers::{ROWS, STEPS, mix, total};
use crate::subject::{First, Number, SAVED, Second, Subject, both, row};

pub(crate) struct Shipyard;

impl Subject for Shipyard {
    const NAME: &'static str = "shipyard";
    type World = World;
    type Id = EntityId;

    fn world() -> World {
        World::new()
    }

    fn spawn(world: &mut World) -> EntityId {
        world.add_entity(both())
    }

    fn spawn_empty(world: &mut World) -> EntityId {
        world.add_entity(())
    }

    fn despawn(world: &mut World, id: EntityId) {
        world.delete_entity(id);
    }

    fn is_alive(world: &mut World, id: EntityId) -> bool {
        world.is_entity_alive(id)
    }

    fn replace(world: &mut World, id: EntityId, value: First) {
        world.add_component(id, (value,));
    }

    fn remove(world: &mut World, id: EntityId) {
        world.delete_component::<(First,)>(id);
    }

    fn clear(world: &mut World) {
        world.clear();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.run(|firsts: View<First>, seconds: View<Second>| {
            firsts.iter().for_each(|first| each(&first.0));
            seconds.iter().for_each(|second| each(&second.0));
        });
    }

    fn look(world: &mut World, id: EntityId, each: &mut dyn FnMut(&Value)) {
        if let Ok(first) = world.get::<&First>(id) {
            each(&first.0);
        }
        if let Ok(second) = world.get::<&Second>(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(world: &mut World) -> Option<bool> {
        if let Ok(view) = world.borrow::<View<First>>() {
            std::mem::forget(view);
        }
        Some(world.borrow::<ViewMut<First>>().is_ok())
    }

    #[expect(clippy::forget_non_drop, reason = "to treat it as the others; it has done all before")]
    fn forget_a_batch(world: &mut World) -> bool {
        let mut spawned = world.bulk_add_entity((0..8).map(|_| both()));
        spawned.by_ref().take(3).for_each(drop);
        std::mem::forget(spawned);
        true
    }

    fn steps(threads: usize) -> Option<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        let mut world = World::builder().with_local_thread_pool(pool).build();
        (0..ROWS).for_each(|n| _ = world.add_entity((Number(n),)));
        fn one(mut all: ViewMut<Number>) {
            (&mut all).iter().for_each(|n| n.0 = mix(n.0, 1));
        }
        fn two(mut all: ViewMut<Number>) {
            (&mut all).iter().for_each(|n| n.0 = mix(n.0, 2));
        }
        fn low(mut entities: EntitiesViewMut, mut all: ViewMut<Number>) {
            (0..3).for_each(|n| _ = entities.add_entity(&mut all, Number(n)));
        }
        fn high(mut entities: EntitiesViewMut, mut all: ViewMut<Number>) {
            (3..6).for_each(|n| _ = entities.add_entity(&mut all, Number(n)));
        }
        world.add_workload(|| (one, two, low, high).into_workload());
        (0..STEPS).for_each(|_| world.run_default_workload().expect("no view is held"));
        let rows: HashMap<u64, u64> = world.run(|all: View<Number>| {
            all.iter().with_id().map(|(id, number)| (id.inner(), number.0)).collect()
        });
        Some(total(rows.into_iter()))
    }

    fn saved() -> Option<Vec<u8>> {
        let mut world = World::new();
        (0..SAVED).for_each(|n| _ = world.add_entity(row(n)));
        let mut bytes = Vec::new();
        encode(&world, &mut bytes);
        Some(bytes)
    }

    fn load(bytes: &[u8]) {
        let mut world = decode(bytes);
        world.run(|positions: View<Position>, velocities: View<Velocity>| {
            (&positions, &velocities).iter().for_each(drop);
        });
        world.add_entity(row(0));
        let all: Vec<EntityId> = world.run(|entities: EntitiesView| entities.iter().collect());
        all.into_iter().for_each(|id| _ = world.delete_entity(id));
    }
}
