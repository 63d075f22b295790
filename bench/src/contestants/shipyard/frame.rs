//! A frame: entities are added and deleted through the world, the components that come and go
//! through views that are borrowed once a frame; each system is a `run` over its views.

#![allow(unused_parens, reason = "a list of one needs none")]

use shipyard::{
    Delete as _, EntitiesView, EntityId, Get as _, IntoIter as _, View, ViewMut, World,
};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, absent, borrow, call_systems, pattern, run_systems, with_systems},
    },
};

impl FrameWorld for World {
    type Id = EntityId;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> EntityId {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind { $(Kind::$kind => self.add_entity(($($component::start(i),)*)),)* }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: EntityId) {
        self.delete_entity(id);
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[EntityId], changes: &[(u32, Change)]) {
        self.run(
            |entities: EntitiesView,
             mut burning: ViewMut<Burning>,
             mut stunned: ViewMut<Stunned>,
             mut velocities: ViewMut<Velocity>| {
                for &(i, change) in changes {
                    let id = ids[i as usize];
                    match change {
                        Change::Ignite => {
                            entities.add_component(id, &mut burning, Burning::start(i));
                        }
                        Change::Quench => _ = burning.delete(id),
                        Change::Stun => {
                            entities.add_component(id, &mut stunned, Stunned::start(i));
                        }
                        Change::Wake => _ = stunned.delete(id),
                        Change::Halt => _ = velocities.delete(id),
                        Change::Launch => {
                            entities.add_component(id, &mut velocities, Velocity::start(i));
                        }
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: EntityId) -> Row {
        macro_rules! row {
            ($($component:ident),*) => {
                [$(self.run(|view: View<$component>| (&view).get(id).map_or(0, bits))),*]
            };
        }
        with_parts!(row)
    }
}

macro_rules! view {
    (mut $component:ident) => { ViewMut<$component> };
    (ref $component:ident) => { View<$component> };
}

/// One function per system, as a program has them.
macro_rules! functions {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {$(
        #[inline(never)]
        fn $system(world: &mut World, canvas: &mut Canvas) {
            let mut local = *canvas;
            world.run(
                |$(pattern!($access $name): view!($access $component)),* $(, absent: View<$absent>)?| {
                    let rows = ($(borrow!($access $name)),* $(, absent!($absent !&absent))?).iter();
                    rows.for_each(|($($name),* $(, absent!($absent _))?)| {
                        systems::$system(&mut local, $($name),*)
                    });
                },
            );
            *canvas = local;
        }
    )*};
}
with_systems!(functions);
