//! A frame: entities are made and deleted through the `Entities` resource, components go into
//! storages that are borrowed once for each part of a frame, as in systems; `maintain` is timed.

#![allow(unused_parens, reason = "a list of one needs none")]

use specs::{Builder as _, Entity, Join as _, World, WorldExt as _};

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, absent, borrow, call_systems, run_systems, with_systems},
    },
};

/// A world that knows all components.
pub(super) fn registered() -> World {
    let mut world = World::new();
    macro_rules! register {
        ($($component:ident),*) => { $(world.register::<$component>();)* };
    }
    with_parts!(register);
    world
}

impl FrameWorld for World {
    type Id = Entity;

    fn spawn(&mut self, kind: Kind, i: u32) -> Entity {
        macro_rules! spawn {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind {
                    $(Kind::$kind => self.create_entity()$(.with($component::start(i)))*.build(),)*
                }
            };
        }
        with_kinds!(spawn)
    }

    fn despawn(&mut self, id: Entity) {
        let _ = self.delete_entity(id);
    }

    #[inline(always)]
    fn deaths(&mut self, ids: &[Entity], deaths: &[u32]) {
        {
            let entities = self.entities();
            for &i in deaths {
                let _ = entities.delete(ids[i as usize]);
            }
        }
        self.maintain();
    }

    #[inline(always)]
    fn births(&mut self, ids: &mut [Entity], births: &[(u32, Kind)]) {
        {
            let entities = self.entities();
            let mut storages = Storages::fetch(self);
            for &(i, kind) in births {
                let id = entities.create();
                storages.fill(id, kind, i);
                ids[i as usize] = id;
            }
        }
        self.maintain();
    }

    #[inline(always)]
    fn changes(&mut self, ids: &[Entity], changes: &[(u32, Change)]) {
        let mut burning = self.write_storage::<Burning>();
        let mut stunned = self.write_storage::<Stunned>();
        let mut velocities = self.write_storage::<Velocity>();
        for &(i, change) in changes {
            let id = ids[i as usize];
            match change {
                Change::Ignite => _ = burning.insert(id, Burning::start(i)),
                Change::Quench => _ = burning.remove(id),
                Change::Stun => _ = stunned.insert(id, Stunned::start(i)),
                Change::Wake => _ = stunned.remove(id),
                Change::Halt => _ = velocities.remove(id),
                Change::Launch => _ = velocities.insert(id, Velocity::start(i)),
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
                [$(self.read_storage::<$component>().get(id).map_or(0, bits)),*]
            };
        }
        with_parts!(row)
    }
}

macro_rules! storages {
    ($($component:ident),*) => {
        /// Every storage that a birth writes to, borrowed.
        #[allow(non_snake_case, reason = "a field per component, named like it")]
        struct Storages<'a> {
            $($component: specs::WriteStorage<'a, $component>,)*
        }

        impl<'a> Storages<'a> {
            fn fetch(world: &'a World) -> Self {
                Self { $($component: world.write_storage(),)* }
            }
        }
    };
}
with_birth_parts!(storages);

impl Storages<'_> {
    #[inline(always)]
    fn fill(&mut self, id: Entity, kind: Kind, i: u32) {
        macro_rules! insert {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind {
                    $(Kind::$kind => {
                        $(let _ = self.$component.insert(id, $component::start(i));)*
                    })*
                }
            };
        }
        with_kinds!(insert);
    }
}

macro_rules! fetch {
    (let mut $name:ident $component:ident $world:ident) => {
        let mut $name = $world.write_storage::<$component>();
    };
    (let ref $name:ident $component:ident $world:ident) => {
        let $name = $world.read_storage::<$component>();
    };
}

/// One function per system, as a program has them.
macro_rules! functions {
    ($($system:ident: $([$name:ident $access:ident $component:ident])* $(without $absent:ident)?;)*) => {$(
        #[inline(never)]
        fn $system(world: &mut World, canvas: &mut Canvas) {
            let mut local = *canvas;
            $(fetch!(let $access $name $component world);)*
            $(let absent = world.read_storage::<$absent>();)?
            let rows = ($(borrow!($access $name)),* $(, absent!($absent !&absent))?).join();
            rows.for_each(|($($name),* $(, absent!($absent _))?)| {
                systems::$system(&mut local, $($name),*)
            });
            *canvas = local;
        }
    )*};
}
with_systems!(functions);
