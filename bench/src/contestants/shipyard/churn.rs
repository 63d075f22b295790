//! The row `churn`: entities die and are born and a tag is toggled, one call each.

use shipyard::{
    AddComponent as _, AllStoragesViewMut, Delete as _, EntitiesViewMut, EntityId, IntoIter as _,
    View, ViewMut, World,
};

use super::{iter_2, pairs};
use crate::{
    checksum::{Tally, bits},
    components::{Position, Tag, Velocity},
    contestant::{Bout, lasting},
    kernel,
    scene::{Frames, Scene},
};

pub(super) fn prepare(scene: Scene) -> Option<Box<dyn Bout>> {
    let (world, ids) = pairs(scene.n);
    lasting(Herd { world, ids, frames: scene.frames() }, churn, sum_herd)
}

struct Herd {
    world: World,
    ids: Vec<EntityId>,
    frames: Frames,
}

#[inline(never)]
fn churn(herd: &mut Herd) {
    let Herd { world, ids, frames } = herd;
    let frame = frames.advance();
    world.run(|mut all: AllStoragesViewMut| {
        for &i in &frame.doomed {
            all.delete_entity(ids[i as usize]);
        }
    });
    world.run(
        |mut entities: EntitiesViewMut,
         mut positions: ViewMut<Position>,
         mut velocities: ViewMut<Velocity>| {
            for &i in &frame.doomed {
                let i = i as usize;
                ids[i] = entities.add_entity(
                    (&mut positions, &mut velocities),
                    (kernel::position(i), kernel::velocity(i)),
                );
            }
        },
    );
    world.run(|mut tags: ViewMut<Tag>| {
        for &i in &frame.toggled {
            let id = ids[i as usize];
            if !tags.delete(id) {
                tags.add_component_unchecked(id, Tag);
            }
        }
    });
    iter_2(world);
}

fn sum_herd(herd: &mut Herd) -> u64 {
    let mut tally = Tally::default();
    herd.world.run(|positions: View<Position>, velocities: View<Velocity>, tags: View<Tag>| {
        for (id, (p, v)) in (&positions, &velocities).iter().with_id() {
            tally.row(&[bits(p), bits(v), u64::from(tags.contains(id))]);
        }
    });
    tally.finish()
}
