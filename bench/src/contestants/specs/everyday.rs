//! What is written most often: a `for` loop, look-ups in two storages, edits of one, commands.
//!
//! Adding and removing goes through the one storage in `add_remove` already. Commands are
//! `LazyUpdate`, and `Entities` for who comes and goes; `maintain` carries them out.

use specs::{
    Builder as _, Entities, Entity, Join as _, LazyUpdate, LendJoin as _, World, WorldExt as _,
};

use super::{add_remove, fresh, narrow, pairs, sum, sum_add_remove};
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
        Workload::For2 => lasting(pairs(n).0, for_2, sum),
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
pub(super) fn for_frag(world: &mut World) {
    for data in (&mut world.write_storage::<Data>()).join() {
        kernel::bump(data);
    }
}

#[inline(never)]
fn for_2(world: &mut World) {
    let (mut positions, velocities) =
        (world.write_storage::<Position>(), world.read_storage::<Velocity>());
    for (position, velocity) in (&mut positions, &velocities).join() {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let (positions, velocities) =
        (world.read_storage::<Position>(), world.read_storage::<Velocity>());
    for &id in &*ids {
        if let (Some(position), Some(velocity)) = (positions.get(id), velocities.get(id)) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
        }
    }
}

/// What a system would ask for.
struct Recording<'a> {
    entities: Entities<'a>,
    lazy: &'a LazyUpdate,
}

impl Recorder<Entity> for Recording<'_> {
    #[inline(always)]
    fn insert(&mut self, id: Entity, value: B) {
        self.lazy.insert(id, value);
    }

    #[inline(always)]
    fn remove(&mut self, id: Entity) {
        self.lazy.remove::<B>(id);
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Entity {
        self.lazy.create_entity(&self.entities).with(position).with(velocity).build()
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        let _ = self.entities.delete(id);
    }
}

type Meeting = (World, Crowd<Entity>);

fn meeting(scene: Scene) -> Meeting {
    let mut world = fresh();
    world.register::<B>();
    let crowd = Crowd::gather(scene, |position, velocity, value| {
        world.create_entity().with(position).with(velocity).maybe_with(value).build()
    });
    (world, crowd)
}

#[inline(never)]
fn commands((world, crowd): &mut Meeting) {
    {
        let lazy = world.read_resource::<LazyUpdate>();
        crowd.record(&mut Recording { entities: world.entities(), lazy: &lazy });
    }
    world.maintain();
}

fn sum_meeting((world, _): &mut Meeting) -> u64 {
    let mut tally = Tally::default();
    let (positions, velocities) =
        (world.read_storage::<Position>(), world.read_storage::<Velocity>());
    let values = world.read_storage::<B>();
    for (position, velocity, value) in (&positions, &velocities, (&values).maybe()).join() {
        tally.row(&crowd::row(position, velocity, value));
    }
    tally.finish()
}
