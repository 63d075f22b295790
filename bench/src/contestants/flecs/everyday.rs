//! What is written most often: look-ups of two components, edits of one.
//!
//! Queries are walked by callbacks, so there is no `for` loop, and there is no handle on one
//! component, so `pool_edit` goes through the world. Commands are operations between
//! `defer_begin` and `defer_end`.

use flecs_ecs::prelude::{
    ComponentId as _, Entity, EntityViewGet as _, IdOperations as _, QueryAPI as _, World,
};

use super::{add_remove, fresh, narrow, pairs, sum_add_remove};
use crate::{
    checksum::Tally,
    components::{B, Position, Velocity},
    contestant::{Bout, lasting},
    crowd::{self, Crowd, Recorder},
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::Get2 => {
            let (world, ids) = pairs(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(narrow(n), add_remove, sum_add_remove),
        Workload::Commands => lasting(meeting(scene), commands, sum_meeting),
        _ => None,
    }
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    for &id in &*ids {
        let bits = world
            .entity_from_id(id)
            .try_get::<(&Position, &Velocity)>(|(p, v)| p.x.to_bits() ^ v.x.to_bits());
        *sum = sum.wrapping_add(u64::from(bits.unwrap_or(0)));
    }
}

/// A world whose changes are put off.
struct Deferred<'a>(&'a World);

impl Recorder<Entity> for Deferred<'_> {
    #[inline(always)]
    fn insert(&mut self, id: Entity, value: B) {
        self.0.entity_from_id(id).set(value);
    }

    #[inline(always)]
    fn remove(&mut self, id: Entity) {
        self.0.entity_from_id(id).remove(B::id());
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Entity {
        self.0.entity().set(position).set(velocity).id()
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.0.entity_from_id(id).destruct();
    }
}

type Meeting = (World, Crowd<Entity>);

fn meeting(scene: Scene) -> Meeting {
    let world = fresh();
    world.component::<B>();
    let crowd = Crowd::gather(scene, |position, velocity, value| {
        let entity = world.entity().set(position).set(velocity);
        if let Some(value) = value {
            entity.set(value);
        }
        entity.id()
    });
    (world, crowd)
}

#[inline(never)]
fn commands((world, crowd): &mut Meeting) {
    world.defer_begin();
    crowd.record(&mut Deferred(world));
    world.defer_end();
}

fn sum_meeting((world, _): &mut Meeting) -> u64 {
    let mut tally = Tally::default();
    let query = world.new_query::<(&Position, &Velocity, Option<&B>)>();
    query.each(|(position, velocity, value)| tally.row(&crowd::row(position, velocity, value)));
    tally.finish()
}
