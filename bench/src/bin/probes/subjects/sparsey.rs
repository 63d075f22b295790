//! sparsey. It has no scheduler any more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sparsey::World;
use sparsey::entity::Entity;

use crate::ledger::Value;
use crate::subject::{First, Second, Subject, both};

pub(crate) struct Sparsey;

impl Subject for Sparsey {
    const NAME: &'static str = "sparsey";
    type World = World;
    type Id = Entity;

    fn world() -> World {
        World::builder().register::<First>().register::<Second>().build()
    }

    fn spawn(world: &mut World) -> Entity {
        world.create(both())
    }

    fn spawn_empty(world: &mut World) -> Entity {
        world.create(())
    }

    fn despawn(world: &mut World, id: Entity) {
        world.destroy(id);
    }

    fn is_alive(world: &mut World, id: Entity) -> bool {
        world.contains_entity(id)
    }

    fn replace(world: &mut World, id: Entity, value: First) {
        world.insert(id, (value,));
    }

    fn remove(world: &mut World, id: Entity) {
        world.delete::<(First,)>(id);
    }

    fn clear(world: &mut World) {
        world.clear();
    }

    fn walk(world: &mut World, each: &mut dyn FnMut(&Value)) {
        world.for_each::<&First>(|first| each(&first.0));
        world.for_each::<&Second>(|second| each(&second.0));
    }

    fn look(world: &mut World, id: Entity, each: &mut dyn FnMut(&Value)) {
        if let Some(first) = world.borrow::<First>().get(id) {
            each(&first.0);
        }
        if let Some(second) = world.borrow::<Second>().get(id) {
            each(&second.0);
        }
    }

    fn write_after_forgotten_read(world: &mut World) -> Option<bool> {
        std::mem::forget(world.borrow::<First>());
        Some(catch_unwind(AssertUnwindSafe(|| drop(world.borrow_mut::<First>()))).is_ok())
    }

    fn forget_a_batch(_: &mut World) -> bool {
        // `extend` has done all when it returns a slice.
        false
    }

    fn steps(_: usize) -> Option<u64> {
        None
    }

    fn saved() -> Option<Vec<u8>> {
        None
    }

    fn load(_: &[u8]) {}
}
