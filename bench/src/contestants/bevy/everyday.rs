//! What is written most often: a `for` loop, `get`, edits of one component, commands.
//!
//! bevy has no handle on one component that adds and removes, so `pool_edit` goes through the
//! world. Commands are recorded into a queue that is kept from round to round.

use bevy_ecs::{
    entity::Entity,
    query::QueryState,
    system::Commands,
    world::{CommandQueue, World},
};

use super::{
    Moving, Ready, Stored, add_remove, narrow, pairs, ready, sum as sum_pairs, sum_add_remove,
};
use crate::{
    checksum::Tally,
    components::{B, Data, Position, Velocity},
    contestant::{Bout, lasting},
    crowd::{self, Crowd, Recorder},
    kernel,
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare<const S: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::For2 => lasting(ready(pairs::<S>(n).0), for_2::<S>, |s| sum_pairs::<S>(&mut s.0)),
        Workload::Get2 => {
            let (mut world, ids) = pairs::<S>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            let query = world.query();
            lasting(Lookup::<S> { world, query, ids, sum: 0 }, get_2::<S>, |s| s.sum)
        }
        Workload::PoolEdit => lasting(narrow::<S>(n), add_remove::<S>, sum_add_remove::<S>),
        Workload::Commands => lasting(Meeting::new::<S>(scene), commands::<S>, sum_meeting::<S>),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn for_frag<const S: bool>((world, query): &mut Ready<&'static mut Stored<Data, S>>) {
    for mut data in query.iter_mut(world) {
        kernel::bump(&mut data.0);
    }
}

#[inline(never)]
fn for_2<const S: bool>((world, query): &mut Ready<Moving<S>>) {
    for (mut position, velocity) in query.iter_mut(world) {
        kernel::step(&mut position.0, &velocity.0);
    }
}

type Both<const S: bool> = (&'static Stored<Position, S>, &'static Stored<Velocity, S>);

struct Lookup<const S: bool> {
    world: World,
    query: QueryState<Both<S>>,
    ids: Vec<Entity>,
    sum: u64,
}

#[inline(never)]
fn get_2<const S: bool>(lookup: &mut Lookup<S>) {
    let both = lookup.query.query(&lookup.world);
    for &id in &lookup.ids {
        if let Ok((position, velocity)) = both.get(id) {
            let bits = position.0.x.to_bits() ^ velocity.0.x.to_bits();
            lookup.sum = lookup.sum.wrapping_add(u64::from(bits));
        }
    }
}

/// Commands, with the storage of the components they are about.
struct Recording<'w, 's, const S: bool>(Commands<'w, 's>);

impl<const S: bool> Recorder<Entity> for Recording<'_, '_, S> {
    #[inline(always)]
    fn insert(&mut self, id: Entity, value: B) {
        self.0.entity(id).insert(Stored::<_, S>(value));
    }

    #[inline(always)]
    fn remove(&mut self, id: Entity) {
        self.0.entity(id).remove::<Stored<B, S>>();
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Entity {
        self.0.spawn((Stored::<_, S>(position), Stored::<_, S>(velocity))).id()
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.0.entity(id).despawn();
    }
}

struct Meeting {
    world: World,
    queue: CommandQueue,
    crowd: Crowd<Entity>,
}

impl Meeting {
    fn new<const S: bool>(scene: Scene) -> Self {
        let mut world = World::new();
        let crowd = Crowd::gather(scene, |position, velocity, value| {
            let mut entity = world.spawn((Stored::<_, S>(position), Stored::<_, S>(velocity)));
            if let Some(value) = value {
                entity.insert(Stored::<_, S>(value));
            }
            entity.id()
        });
        Self { world, queue: CommandQueue::default(), crowd }
    }
}

#[inline(never)]
fn commands<const S: bool>(meeting: &mut Meeting) {
    let Meeting { world, queue, crowd } = meeting;
    crowd.record(&mut Recording::<S>(Commands::new(queue, world)));
    queue.apply(world);
}

fn sum_meeting<const S: bool>(meeting: &mut Meeting) -> u64 {
    let mut tally = Tally::default();
    let mut query =
        meeting
            .world
            .query::<(&Stored<Position, S>, &Stored<Velocity, S>, Option<&Stored<B, S>>)>();
    for (position, velocity, value) in query.iter(&meeting.world) {
        tally.row(&crowd::row(&position.0, &velocity.0, value.map(|value| &value.0)));
    }
    tally.finish()
}
