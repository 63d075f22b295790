//! What is written most often: a `for` loop, `get`, edits of one pool, commands.

use ::esker::prelude::{Commands, Entity, ResMut, Schedule, World};

use super::{Pairs, narrow, pair, pairs, sum, sum_add_remove, world};
use crate::{
    checksum::Tally,
    components::{B, Data, Position, Velocity},
    contestant::{Bout, lasting},
    crowd::{self, Crowd, Recorder},
    kernel,
    scene::Scene,
    workload::Workload,
};

pub(super) fn prepare<const G: bool>(workload: Workload, scene: Scene) -> Option<Box<dyn Bout>> {
    let n = scene.n;
    match workload {
        Workload::For2 => lasting(pairs::<G>(n).0, for_2, sum),
        Workload::Get2 => {
            let (world, ids) = pairs::<G>(n);
            let ids = scene.order().iter().map(|i| ids[*i as usize]).collect();
            lasting((world, ids, 0), get_2, |state| state.2)
        }
        Workload::PoolEdit => {
            let mut state = narrow::<G>(n);
            state.0.register::<B>();
            lasting(state, pool_edit, sum_add_remove)
        }
        Workload::Commands => lasting(meeting::<G>(scene), commands, sum_meeting),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn for_frag(world: &mut World) {
    for data in &mut world.query_mut::<&mut Data>() {
        kernel::bump(data);
    }
}

#[inline(never)]
pub(super) fn for_2(world: &mut World) {
    for (position, velocity) in &mut world.query_mut::<(&mut Position, &Velocity)>() {
        kernel::step(position, velocity);
    }
}

#[inline(never)]
fn get_2((world, ids, sum): &mut (World, Vec<Entity>, u64)) {
    let query = world.query::<(&Position, &Velocity)>();
    let view = query.view();
    for &id in &*ids {
        if let Some((position, velocity)) = view.get(id) {
            *sum = sum.wrapping_add(u64::from(position.x.to_bits() ^ velocity.x.to_bits()));
        }
    }
}

#[inline(never)]
fn pool_edit((world, ids): &mut Pairs) {
    let mut pool = world.edit_pool::<B>();
    for (i, &id) in ids.iter().enumerate() {
        _ = pool.insert(id, B { value: kernel::value(i) });
    }
    for &id in &*ids {
        _ = pool.remove(id);
    }
}

impl Recorder<Entity> for Commands<'_, '_> {
    #[inline(always)]
    fn insert(&mut self, id: Entity, value: B) {
        Commands::insert(self, id, value);
    }

    #[inline(always)]
    fn remove(&mut self, id: Entity) {
        Commands::remove::<B>(self, id);
    }

    #[inline(always)]
    fn spawn(&mut self, position: Position, velocity: Velocity) -> Entity {
        Commands::spawn(self, (position, velocity))
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        Commands::despawn(self, id);
    }
}

/// A system records; the end of the step carries it out.
fn meeting<const G: bool>(scene: Scene) -> (World, Schedule) {
    let mut world = world::<G>(pair);
    let crowd = Crowd::gather(scene, |position, velocity, value| {
        let id = world.spawn((position, velocity));
        if let Some(value) = value {
            _ = world.insert(id, value);
        }
        id
    });
    world.insert_resource(crowd);
    let mut schedule = Schedule::new();
    schedule.add_systems(record);
    (world, schedule)
}

fn record(mut crowd: ResMut<Crowd<Entity>>, mut commands: Commands) {
    crowd.record(&mut commands);
}

#[inline(never)]
fn commands((world, schedule): &mut (World, Schedule)) {
    schedule.step(world);
}

fn sum_meeting((world, _): &mut (World, Schedule)) -> u64 {
    let mut tally = Tally::default();
    for (position, velocity, value) in &world.query::<(&Position, &Velocity, Option<&B>)>() {
        tally.row(&crowd::row(position, velocity, value));
    }
    tally.finish()
}
