//! What is written most often: a `for` loop, `get`, edits of one component, commands.
//!
//! hecs has no handle on one component that adds and removes, so `pool_edit` goes through the
//! world. Commands go into one `CommandBuffer`; it does not tell the id of what it spawns, so
//! ids are reserved beforehand, as its docs advise.

use hecs::{CommandBuffer, Entity, World};

use super::{Ready, add_remove, narrow, pairs, ready, sum, sum_add_remove};
use crate::{
    checksum::Tally,
    components::{B, Data, Position, Velocity},
    contestant::{Bout, lasting},
    crowd::{self, Crowd, Recorder},
    kernel,
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::For2 => lasting(ready(pairs(n).0), for_2, |state| sum(&mut state.0)),
        Workload::Get2 => {
            let (world, ids) = pairs(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => lasting(narrow(n), add_remove, sum_add_remove),
        Workload::Commands => lasting(Meeting::new(scene), commands, sum_meeting),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn for_frag((world, query): &mut Ready<&'static mut Data>) {
    for data in query.query_mut(world) {
        kernel::bump(data);
    }
}

#[inline(never)]
fn for_2((world, query): &mut Ready<(&'static mut Position, &'static Velocity)>) {
    for (position, velocity) in query.query_mut(world) {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let view = world.view_mut::<(&Position, &Velocity)>();
    for &id in &*ids {
        if let Some((position, velocity)) = view.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
        }
    }
}

/// A buffer, and the world that knows which ids are free.
struct Recording<'a> {
    buffer: &'a mut CommandBuffer,
    world: &'a World,
}

impl Recorder<Entity> for Recording<'_> {
    #[inline(always)]
    fn insert(&mut self, id: Entity, value: B) {
        self.buffer.insert_one(id, value);
    }

    #[inline(always)]
    fn remove(&mut self, id: Entity) {
        self.buffer.remove_one::<B>(id);
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Entity {
        let id = self.world.reserve_entity();
        self.buffer.insert(id, (position, velocity));
        id
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.buffer.despawn(id);
    }
}

struct Meeting {
    world: World,
    buffer: CommandBuffer,
    crowd: Crowd<Entity>,
}

impl Meeting {
    fn new(scene: Scene) -> Self {
        let mut world = World::new();
        let crowd = Crowd::gather(scene, |position, velocity, value| match value {
            Some(value) => world.spawn((position, velocity, value)),
            None => world.spawn((position, velocity)),
        });
        Self { world, buffer: CommandBuffer::new(), crowd }
    }
}

#[inline(never)]
fn commands(meeting: &mut Meeting) {
    let Meeting { world, buffer, crowd } = meeting;
    crowd.record(&mut Recording { buffer, world });
    buffer.run_on(world);
}

fn sum_meeting(meeting: &mut Meeting) -> u64 {
    let mut tally = Tally::default();
    let query = meeting.world.query_mut::<(&Position, &Velocity, Option<&B>)>();
    for (position, velocity, value) in query {
        tally.row(&crowd::row(position, velocity, value));
    }
    tally.finish()
}
