//! What a probe asks of a library. All of it is safe code that any user could write.

use esker_bench::components::{Position, Velocity};

use crate::ledger::Value;

/// The two components that lie in a world of probes.
#[derive(Debug, esker::Component, bevy_ecs::component::Component, shipyard::Component)]
pub(crate) struct First(pub(crate) Value);

#[derive(Debug, esker::Component, bevy_ecs::component::Component, shipyard::Component)]
pub(crate) struct Second(pub(crate) Value);

impl specs::Component for First {
    type Storage = specs::VecStorage<Self>;
}

impl specs::Component for Second {
    type Storage = specs::VecStorage<Self>;
}

/// What schedules work on.
#[derive(Debug, esker::Component, bevy_ecs::component::Component, shipyard::Component)]
pub(crate) struct Number(pub(crate) u64);

impl specs::Component for Number {
    type Storage = specs::VecStorage<Self>;
}

/// A new value of each component.
pub(crate) fn both() -> (First, Second) {
    (First(Value::new()), Second(Value::new()))
}

/// A library, as far as the probes need it.
pub(crate) trait Subject {
    const NAME: &'static str;
    type World;
    type Id: Copy + PartialEq;

    fn world() -> Self::World;
    fn spawn(world: &mut Self::World) -> Self::Id;
    fn spawn_empty(world: &mut Self::World) -> Self::Id;
    fn despawn(world: &mut Self::World, id: Self::Id);
    fn is_alive(world: &mut Self::World, id: Self::Id) -> bool;
    /// Inserts over the value that is there.
    fn replace(world: &mut Self::World, id: Self::Id, value: First);
    /// Removes a component, whose value is dropped.
    fn remove(world: &mut Self::World, id: Self::Id);
    fn clear(world: &mut Self::World);
    /// Shows every value that a walk over one component finds.
    fn walk(world: &mut Self::World, each: &mut dyn FnMut(&Value));
    /// Shows the values of one entity.
    fn look(world: &mut Self::World, id: Self::Id, each: &mut dyn FnMut(&Value));

    /// Forgets a borrow of a component for reading; says whether it can be written afterwards through a
    /// shared world. Nothing if no borrow of a component is marked.
    fn write_after_forgotten_read(world: &mut Self::World) -> Option<bool>;

    /// Starts to spawn eight entities in one call, takes three ids and forgets the rest of the iterator.
    /// Returns `false` if there is no such call.
    fn forget_a_batch(world: &mut Self::World) -> bool;

    /// A number for what comes of some steps of a schedule, on so many threads; nothing if there is no
    /// scheduler.
    fn steps(threads: usize) -> Option<u64>;

    /// The bytes of a saved world; nothing if the library saves none.
    fn saved() -> Option<Vec<u8>>;

    /// Loads such bytes, and uses the world: walks, spawns, despawns all. Panics with "the bytes are our own"
    /// if they are refused.
    fn load(bytes: &[u8]);
}

/// How many entities a saved world has.
pub(crate) const SAVED: usize = 6;

/// The row of a saved world.
pub(crate) fn row(n: usize) -> (Position, Velocity) {
    (Position { x: n as f32, y: 1.0 }, Velocity { x: 2.0, y: n as f32 })
}
