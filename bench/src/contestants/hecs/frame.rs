//! A frame: plain calls on the world, queries prepared once.

#![allow(unused_parens, reason = "a list of one needs none")]

use hecs::{Entity, PreparedQuery, Without, World};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, run_systems, term, with_systems},
    },
};

macro_rules! query {
    ($data:ty) => { PreparedQuery<$data> };
    ($data:ty, $absent:ident) => { PreparedQuery<Without<$data, &'static $absent>> };
}

macro_rules! prepared {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {
        /// The world, and the query of each system.
        #[derive(Default)]
        pub(super) struct Prepared {
            world: World,
            $($system: query!(($(term!($access $component)),*) $(, $absent)?),)*
        }

        $(
            #[inline(never)]
            fn $system(prepared: &mut Prepared, canvas: &mut Canvas) {
                let mut local = *canvas;
                let query = prepared.$system.query_mut(&mut prepared.world);
                query.for_each(|($($name),*)| systems::$system(&mut local, $($name),*));
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
                match kind { $(Kind::$kind => self.world.spawn(($($component::start(i),)*)),)* }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        let _ = self.world.despawn(id);
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let id = ids[i as usize];
            let world = &mut self.world;
            let _ = match change {
                Change::Ignite => world.insert_one(id, Burning::start(i)).is_ok(),
                Change::Quench => world.remove_one::<Burning>(id).is_ok(),
                Change::Stun => world.insert_one(id, Stunned::start(i)).is_ok(),
                Change::Wake => world.remove_one::<Stunned>(id).is_ok(),
                Change::Halt => world.remove_one::<Velocity>(id).is_ok(),
                Change::Launch => world.insert_one(id, Velocity::start(i)).is_ok(),
            };
        }
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: Entity) -> Row {
        macro_rules! row {
            ($($component:ident),*) => {
                [$(self.world.get::<&$component>(id).map_or(0, |value| bits(&*value))),*]
            };
        }
        with_parts!(row)
    }
}
