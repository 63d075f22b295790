//! The row `churn`: entities die and are born and a tag is toggled, one call each.

use specs::{Entity, Join as _, LendJoin as _, World, WorldExt as _};

use super::{iter_2, pairs};
use crate::{
    checksum::{Tally, bits},
    components::{Position, Tag, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::{Frames, Scene},
};

pub(super) fn prepare(scene: Scene) -> Option<Box<dyn Bout>> {
    let (mut world, ids) = pairs(scene.n);
    world.register::<Tag>();
    lasting(Herd { world, ids, frames: scene.frames() }, churn, sum_herd)
}

struct Herd {
    world: World,
    ids: Vec<Entity>,
    frames: Frames,
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { world, ids, frames } = herd;
    let frame = frames.advance();
    {
        let entities = world.entities();
        for &i in &frame.doomed {
            let _ = entities.delete(ids[i as usize]);
        }
    }
    world.maintain();
    {
        let entities = world.entities();
        let (mut positions, mut velocities) = (world.write_storage(), world.write_storage());
        for &i in &frame.doomed {
            let i = i as usize;
            let builder = entities.build_entity().with(kernel::position(i), &mut positions);
            ids[i] = builder.with(kernel::velocity(i), &mut velocities).build();
        }
    }
    world.maintain();
    {
        let mut tags = world.write_storage::<Tag>();
        for &i in &frame.toggled {
            let id = ids[i as usize];
            if tags.remove(id).is_none() {
                let _ = tags.insert(id, Tag);
            }
        }
    }
    iter_2(world);
}

fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    let (positions, velocities) =
        (herd.world.read_storage::<Position>(), herd.world.read_storage::<Velocity>());
    let tags = herd.world.read_storage::<Tag>();
    for (p, v, tag) in (&positions, &velocities, (&tags).maybe()).join() {
        tally.row(&[bits(p), bits(v), u64::from(tag.is_some())]);
    }
    tally.finish()
}
