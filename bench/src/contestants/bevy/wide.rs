//! The rows `iter_5_wide` and `heavy`: components of 16 bytes and more.

use bevy_ecs::world::World;

use super::{Ready, Stored, slices};
use crate::{
    components::{Lane0, Lane1, Lane2, Lane3, Lane4, Motion, Place, Rotation, Transform},
    kernel,
};

pub(super) fn lanes<const S: bool>(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.spawn((
            Stored::<_, S>(Lane0 { quad: kernel::quad(i, 0) }),
            Stored::<_, S>(Lane1 { quad: kernel::quad(i, 1) }),
            Stored::<_, S>(Lane2 { quad: kernel::quad(i, 2) }),
            Stored::<_, S>(Lane3 { quad: kernel::quad(i, 3) }),
            Stored::<_, S>(Lane4 { quad: kernel::quad(i, 4) }),
        ));
    }
    world
}

type Lanes<const S: bool> = (
    &'static mut Stored<Lane0, S>,
    &'static Stored<Lane1, S>,
    &'static Stored<Lane2, S>,
    &'static Stored<Lane3, S>,
    &'static Stored<Lane4, S>,
);

#[inline(never)]
pub(super) fn iter_5<const S: bool>((world, query): &mut Ready<Lanes<S>>) {
    if S {
        query.iter_mut(world).for_each(|(mut out, a, b, c, d)| {
            kernel::blend(&mut out.0, &a.0, &b.0, &c.0, &d.0);
        });
    } else {
        for (mut out, a, b, c, d) in slices!(query, world) {
            let rows = out.iter_mut().zip(a).zip(b).zip(c).zip(d);
            rows.for_each(|((((out, a), b), c), d)| {
                kernel::blend(&mut out.0, &a.0, &b.0, &c.0, &d.0)
            });
        }
    }
}

pub(super) fn bodies<const S: bool>(n: usize) -> World {
    let mut world = World::new();
    for i in 0..n {
        world.spawn((
            Stored::<_, S>(Transform::default()),
            Stored::<_, S>(Place { quad: kernel::quad(i, 0) }),
            Stored::<_, S>(Rotation::default()),
            Stored::<_, S>(Motion { quad: kernel::quad(i, 1) }),
        ));
    }
    world
}

type Gliding<const S: bool> = (&'static mut Stored<Place, S>, &'static Stored<Motion, S>);

#[inline(never)]
pub(super) fn heavy<const S: bool>((world, query): &mut Ready<Gliding<S>>) {
    if S {
        query
            .iter_mut(world)
            .for_each(|(mut place, motion)| kernel::glide(&mut place.0, &motion.0));
    } else {
        for (mut places, motions) in slices!(query, world) {
            places.iter_mut().zip(motions).for_each(|(p, m)| kernel::glide(&mut p.0, &m.0));
        }
    }
}
