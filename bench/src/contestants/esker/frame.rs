//! A frame without hints: plain calls on the world, queries made anew in each frame.

#![allow(unused_parens, reason = "a list of one needs none")]

use ::esker::{Entity, Without, World};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, run_systems, term, with_systems},
    },
};

impl FrameWorld for World {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> Entity {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind { $(Kind::$kind => Self::spawn(self, ($($component::start(i),)*)),)* }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        _ = Self::despawn(self, id);
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let id = ids[i as usize];
            match change {
                Change::Ignite => _ = self.insert(id, Burning::start(i)),
                Change::Quench => _ = self.remove::<Burning>(id),
                Change::Stun => _ = self.insert(id, Stunned::start(i)),
                Change::Wake => _ = self.remove::<Stunned>(id),
                Change::Halt => _ = self.remove::<Velocity>(id),
                Change::Launch => _ = self.insert(id, Velocity::start(i)),
            }
        }
    }

    #[inline(always)]
    fn settle(&mut self) {
        self.refresh();
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: Entity) -> Row {
        macro_rules! row {
            ($($component:ident),*) => {
                [$(self.get::<$component>(id).map_or(0, |value| bits(&*value))),*]
            };
        }
        with_parts!(row)
    }
}

/// One function per system, as a program has them.
macro_rules! functions {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {$(
        #[inline(never)]
        fn $system(world: &mut World, canvas: &mut Canvas) {
            type Data = ($(term!($access $component)),*);
            type Filter = ($(Without<$absent>)?);
            let mut local = *canvas;
            let mut query = world.query_filtered_mut::<Data, Filter>();
            query.iter_mut().for_each(|($($name),*)| systems::$system(&mut local, $($name),*));
            *canvas = local;
        }
    )*};
}
with_systems!(functions);
