//! A number for the state of a world.

use esker::World;

use crate::life::{Energy, Fleeing, Hungry, Position, Velocity};

/// A number that two worlds share if they hold the same entities in the same state.
///
/// FNV-1a over ids and bits, in order of the ids, so it is the same on every machine.
pub fn hash(world: &World) -> u64 {
    let bodies = world.query::<(&Position, &Velocity, &Energy)>();
    let (hungry, fleeing) = (world.pool::<Hungry>(), world.pool::<Fleeing>());
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    for entity in world.entities() {
        mix(entity.to_bits());
        if let Some((position, velocity, energy)) = bodies.get(entity) {
            for part in [position.x, position.y, velocity.x, velocity.y, energy.0] {
                mix(part.to_bits().into());
            }
        }
        mix(hungry.contains(entity).into());
        mix(fleeing.get(entity).map_or(0, |fleeing| 1 + u64::from(fleeing.0)));
    }
    hash
}
