//! The row `churn`: entities die and are born and a tag is toggled, one call each.

use ::esker::{Entity, World};

use super::{iter_2, pairs};
use crate::{
    checksum::{Tally, bits},
    components::{Position, Tag, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::{Frames, Scene},
};

pub(super) fn prepare<const G: bool>(scene: Scene) -> Option<Box<dyn Bout>> {
    let (world, ids) = pairs::<G>(scene.n);
    lasting(Herd { world, ids, frames: scene.frames() }, churn, sum_herd)
}

pub(super) struct Herd {
    pub(super) world: World,
    pub(super) ids: Vec<Entity>,
    pub(super) frames: Frames,
}

#[inline(never)]
pub(super) fn churn(herd: &mut Herd) {
    let Herd { world, ids, frames } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        _ = world.despawn(ids[i as usize]);
    }
    for &i in &frame.doomed {
        let i = i as usize;
        ids[i] = world.spawn((kernel::position(i), kernel::velocity(i)));
    }
    for &i in &frame.toggled {
        let id = ids[i as usize];
        if let Ok(None) = world.remove::<Tag>(id) {
            _ = world.insert(id, Tag);
        }
    }
    iter_2(world);
}

pub(super) fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    for (p, v, tag) in &herd.world.query::<(&Position, &Velocity, Option<&Tag>)>() {
        tally.row(&[bits(p), bits(v), u64::from(tag.is_some())]);
    }
    tally.finish()
}
