//! How grazers lie in memory: together, and neighbours next to each other.

use esker::prelude::*;
use esker::world::GroupId;

use crate::life::{Energy, Fleeing, Grazer, Position, Velocity};
use crate::torus::Torus;

/// The group of all grazers.
pub struct HerdGroup(GroupId);

/// Lets grazers come first in the pools of all bodies, and those at peace first of all, so that
/// queries for them walk plain slices.
pub fn group(world: &mut World) {
    let herd = world.group::<(Position, Velocity, Energy)>().observe::<Grazer>().build();
    let herd = herd.expect("it is the first group");
    let at_peace = world.group::<(Position, Velocity, Energy)>().observe::<Grazer>();
    at_peace.exclude::<Fleeing>().build().expect("it is a part of the herd");
    world.insert_resource(HerdGroup(herd));
}

/// Sorts grazers by cell: who is near in the world is near in memory, too.
pub fn tidy(world: &mut World) {
    let (torus, herd) = (*world.resource::<Torus>(), world.resource::<HerdGroup>().0);
    let by_cell = |a: &&Position, b: &&Position| torus.cell(**a).cmp(&torus.cell(**b));
    world.sort_group_by::<&Position>(herd, by_cell).expect("the group is there for good");
}
