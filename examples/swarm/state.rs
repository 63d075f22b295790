//! What is kept of a world: in a file, and in the number that stands for its state.

use std::path::Path;

use esker::World;
use esker::snapshot::{SnapshotError, SnapshotTypes};

use crate::census::History;
use crate::life::{Dice, Energy, Fleeing, Grass, Grazer, Hungry, Hunter, Position, Velocity};
use crate::torus::Torus;

/// Everything that goes on after a break. The rest (groups, the grid) is made anew.
pub fn types() -> SnapshotTypes {
    SnapshotTypes::new()
        .component::<Position>()
        .component::<Velocity>()
        .component::<Energy>()
        .component::<Grazer>()
        .component::<Hunter>()
        .component::<Hungry>()
        .component::<Fleeing>()
        .resource::<Grass>()
        .resource::<Dice>()
        .resource::<Torus>()
        .resource::<History>()
        .registered_only()
}

/// A number that two worlds share if they hold the same entities in the same state.
pub fn hash(world: &World) -> Result<u64, SnapshotError> {
    types().hash_world(world)
}

/// Writes a world to a file.
pub fn save(world: &World, path: &Path) -> Result<(), SnapshotError> {
    types().save().to_file(world, path)
}

/// The world of a file.
pub fn load(path: &Path) -> Result<World, SnapshotError> {
    let mut world = World::new();
    types().load().replace_from_file(&mut world, path)?;
    Ok(world)
}
