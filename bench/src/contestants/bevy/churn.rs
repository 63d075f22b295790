//! The row `churn`: entities die and are born and a tag is toggled, one call each.

use bevy_ecs::{entity::Entity, query::QueryState, world::World};

use super::{Moving, Stored, pair, pairs, walk};
use crate::{
    checksum::{Tally, bits},
    components::{Position, Tag, Velocity},
    contestant::{Bout, lasting},
    scene::{Frames, Scene},
};

pub(super) fn prepare<const S: bool>(scene: Scene) -> Option<Box<dyn Bout>> {
    let (mut world, ids) = pairs::<S>(scene.n);
    let query = world.query();
    lasting(Herd::<S> { world, ids, frames: scene.frames(), query }, churn::<S>, sum_herd::<S>)
}

struct Herd<const S: bool> {
    world: World,
    ids: Vec<Entity>,
    frames: Frames,
    query: QueryState<Moving<S>>,
}

#[inline(never)]
fn churn<const S: bool>(herd: &mut Herd<S>) {
    let Herd { world, ids, frames, query } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        world.despawn(ids[i as usize]);
    }
    for &i in &frame.doomed {
        ids[i as usize] = world.spawn(pair::<S>(i as usize)).id();
    }
    for &i in &frame.toggled {
        let mut entity = world.entity_mut(ids[i as usize]);
        if entity.contains::<Stored<Tag, S>>() {
            entity.remove::<Stored<Tag, S>>();
        } else {
            entity.insert(Stored::<_, S>(Tag));
        }
    }
    walk(world, query);
}

fn sum_herd<const S: bool>(herd: &mut Herd<S>) -> u64 {
    let mut tally = Tally::default();
    let mut query =
        herd.world.query::<(&Stored<Position, S>, &Stored<Velocity, S>, Option<&Stored<Tag, S>>)>();
    for (p, v, tag) in query.iter(&herd.world) {
        tally.row(&[bits(&p.0), bits(&v.0), u64::from(tag.is_some())]);
    }
    tally.finish()
}
