//! The row `churn`: entities die and are born and a tag is toggled, one call each.

use sparsey::{World, entity::Entity};

use super::{iter_2, pairs};
use crate::{
    checksum::{Tally, bits},
    components::{Position, Tag, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::{Frames, Scene},
};

pub(super) fn prepare<const GROUP: bool>(scene: Scene) -> Option<Box<dyn Bout>> {
    let (world, ids) = pairs::<GROUP>(scene.n);
    lasting(Herd { world, ids, frames: scene.frames() }, churn::<GROUP>, sum_herd)
}

struct Herd {
    world: World,
    ids: Vec<Entity>,
    frames: Frames,
}

#[inline(never)]
fn churn<const GROUP: bool>(herd: &mut Herd) {
    let Herd { world, ids, frames } = herd;
    let frame = frames.advance();
    for &i in &frame.doomed {
        world.destroy(ids[i as usize]);
    }
    for &i in &frame.doomed {
        let i = i as usize;
        ids[i] = world.create((kernel::position(i), kernel::velocity(i)));
    }
    for &i in &frame.toggled {
        let id = ids[i as usize];
        if world.remove::<(Tag,)>(id).0.is_none() {
            world.insert(id, (Tag,));
        }
    }
    iter_2::<GROUP>(world);
}

fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    herd.world.for_each::<(&Position, &Velocity, Option<&Tag>)>(|(p, v, tag)| {
        tally.row(&[bits(p), bits(v), u64::from(tag.is_some())]);
    });
    tally.finish()
}
