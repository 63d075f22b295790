//! A frame: plain calls on the world, cached queries walked with `each`.

#![allow(unused_parens, reason = "a list of one needs none")]

use flecs_ecs::prelude::{
    Builder as _, ComponentId as _, Entity, EntityViewGet as _, IdOperations as _, Query,
    QueryAPI as _, QueryBuilderImpl as _, World,
};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, run_systems, term, with_systems},
    },
};

macro_rules! prepared {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {
        /// The query of each system, and the world, which is dropped after them as flecs asks.
        pub(super) struct Prepared {
            $($system: Query<($(term!($access $component)),*)>,)*
            world: World,
        }

        impl Prepared {
            pub(super) fn new() -> Self {
                let world = World::new();
                Self {
                    $($system: {
                        let mut query = world.query::<($(term!($access $component)),*)>();
                        $(query.without($absent::id());)?
                        query.set_cached().build()
                    },)*
                    world,
                }
            }
        }

        $(
            #[inline(never)]
            fn $system(prepared: &mut Prepared, canvas: &mut Canvas) {
                let mut local = *canvas;
                prepared.$system.each(|($($name),*)| systems::$system(&mut local, $($name),*));
                *canvas = local;
            }
        )*
    };
}
with_systems!(prepared);

impl FrameWorld for Prepared {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> Entity {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind {
                    $(Kind::$kind => self.world.entity()$(.set($component::start(i)))*.id(),)*
                }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.world.entity_from_id(id).destruct();
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let entity = self.world.entity_from_id(ids[i as usize]);
            match change {
                Change::Ignite => entity.set(Burning::start(i)),
                Change::Quench => entity.remove(Burning::id()),
                Change::Stun => entity.set(Stunned::start(i)),
                Change::Wake => entity.remove(Stunned::id()),
                Change::Halt => entity.remove(Velocity::id()),
                Change::Launch => entity.set(Velocity::start(i)),
            };
        }
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: Entity) -> Row {
        let entity = self.world.entity_from_id(id);
        macro_rules! row {
            ($($component:ident),*) => {
                [$(entity.try_get::<&$component>(|value| bits(value)).unwrap_or(0)),*]
            };
        }
        with_parts!(row)
    }
}
