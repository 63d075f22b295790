//! A frame: plain calls on the world, cached queries, all components in tables or the statuses in
//! sparse sets. Trackers are cleared once a frame, as an app does.

#![allow(unused_parens, reason = "a list of one needs none")]

use bevy_ecs::{
    entity::Entity,
    query::{QueryState, Without},
    world::World,
};

use super::Stored;
use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, pattern, run_systems, term, with_systems},
    },
};

/// How a component is kept: statuses as `S` says, all others in tables.
macro_rules! kept {
    (Burning) => { Stored<Burning, S> };
    (Stunned) => { Stored<Stunned, S> };
    ($component:ident) => { $component };
}

/// The component of what a query yields.
macro_rules! part {
    (mut $name:ident Burning) => {
        &mut $name.0
    };
    (mut $name:ident $component:ident) => {
        &mut $name
    };
    (ref $name:ident $component:ident) => {
        $name
    };
}

macro_rules! prepared {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {
        /// The world, and the query of each system.
        pub(super) struct Prepared<const S: bool> {
            world: World,
            $($system: QueryState<($(term!($access kept!($component))),*), ($(Without<kept!($absent)>)?)>,)*
        }

        impl<const S: bool> Prepared<S> {
            pub(super) fn new() -> Self {
                let mut world = World::new();
                Self { $($system: world.query_filtered(),)* world }
            }
        }

        $(
            #[inline(never)]
            fn $system<const S: bool>(prepared: &mut Prepared<S>, canvas: &mut Canvas) {
                let mut local = *canvas;
                let query = prepared.$system.iter_mut(&mut prepared.world);
                query.for_each(|($(pattern!($access $name)),*)| {
                    systems::$system(&mut local, $(part!($access $name $component)),*)
                });
                *canvas = local;
            }
        )*
    };
}
with_systems!(prepared);

impl<const S: bool> FrameWorld for Prepared<S> {
    type Id = Entity;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> Entity {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind { $(Kind::$kind => self.world.spawn(($($component::start(i),)*)).id(),)* }
            };
        }
        with_kinds!(spawn)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Entity) {
        self.world.despawn(id);
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let id = ids[i as usize];
            let mut entity = self.world.entity_mut(id);
            match change {
                Change::Ignite => entity.insert(Stored::<_, S>(Burning::start(i))),
                Change::Quench => entity.remove::<Stored<Burning, S>>(),
                Change::Stun => entity.insert(Stored::<_, S>(Stunned::start(i))),
                Change::Wake => entity.remove::<Stored<Stunned, S>>(),
                Change::Halt => entity.remove::<Velocity>(),
                Change::Launch => entity.insert(Velocity::start(i)),
            };
        }
    }

    #[inline(always)]
    fn settle(&mut self) {
        self.world.clear_trackers();
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, id: Entity) -> Row {
        macro_rules! row {
            ($($component:ident),*) => { [$(row!(@ $component)),*] };
            (@ Burning) => { self.world.get::<Stored<Burning, S>>(id).map_or(0, |v| bits(&v.0)) };
            (@ Stunned) => { self.world.get::<Stored<Stunned, S>>(id).map_or(0, |v| bits(&v.0)) };
            (@ $component:ident) => { self.world.get::<$component>(id).map_or(0, bits) };
        }
        with_parts!(row)
    }
}
