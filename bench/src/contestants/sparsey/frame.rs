//! A frame: plain calls on the world, queries made anew in each frame; no group.

#![allow(unused_parens, reason = "a list of one needs none")]

use sparsey::{World, entity::Entity};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, run_systems, term, with_systems},
    },
};

/// A world that knows all components.
pub(super) fn registered() -> World {
    let mut world = World::default();
    macro_rules! register {
        ($($component:ident),*) => { $(world.register::<$component>();)* };
    }
    with_parts!(register);
    world
}

impl FrameWorld for World {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> Entity {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind { $(Kind::$kind => self.create(($($component::start(i),)*)),)* }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.destroy(id);
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let id = ids[i as usize];
            match change {
                Change::Ignite => _ = self.insert(id, (Burning::start(i),)),
                Change::Quench => self.delete::<(Burning,)>(id),
                Change::Stun => _ = self.insert(id, (Stunned::start(i),)),
                Change::Wake => self.delete::<(Stunned,)>(id),
                Change::Halt => self.delete::<(Velocity,)>(id),
                Change::Launch => _ = self.insert(id, (Velocity::start(i),)),
            }
        }
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: Entity) -> Row {
        macro_rules! row {
            ($($component:ident),*) => {
                [$(self.borrow::<$component>().get(id).map_or(0, bits)),*]
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
            let mut local = *canvas;
            let query = world.query_all::<($(term!($access $component)),*)>();
            $(let query = query.exclude::<&$absent>();)?
            let mut query = query;
            query.for_each(|($($name),*)| systems::$system(&mut local, $($name),*));
            *canvas = local;
        }
    )*};
}
with_systems!(functions);
