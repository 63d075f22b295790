//! A world with something of everything, and what is kept beside it.

use std::sync::Arc;

use esker::prelude::*;
use esker::schedule::ScheduleError;
use esker::snapshot::{Rollback, SnapshotTypes};
use esker::storage::{EntityMap, Hashed, Indexed, Packed};
use esker::world::{GroupId, MessageCursor, RemovedCursor};

use crate::common::Ledger;
use crate::fuse::{Callback, call};
use crate::parts::{A, B, C, D, First, Heard, Link, Old, Second, Third, Trap, open_ledger};

/// Who cares for the components, in all combinations.
#[derive(Debug, Clone, Copy)]
pub struct Care {
    pub groups: bool,
    pub listeners: bool,
    pub readers: bool,
}

impl Care {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self {
            groups: bits & 1 != 0,
            listeners: bits & 2 != 0,
            readers: bits & 4 != 0,
        })
    }
}

pub struct Scene {
    pub world: World,
    pub ledger: Arc<Ledger>,
    /// Those that were there from the start; they may have died.
    pub ids: Vec<Entity>,
    pub groups: Vec<GroupId>,
    pub schedule: Schedule,
    /// How many worlds came before this one, and how many when the schedule was first stepped.
    pub past_worlds: usize,
    scheduled_in: Option<usize>,
    pub types: SnapshotTypes,
    pub past: Rollback,
    pub bytes: Vec<u8>,
    /// A world with a component of an earlier version.
    pub old_bytes: Vec<u8>,
    pub text: String,
    pub maps: Maps,
    pub mail: MessageCursor<Trap>,
    _readers: Option<(RemovedCursor<A>, RemovedCursor<B>, RemovedCursor<D>)>,
}

/// Maps without a world.
#[derive(Default)]
pub struct Maps {
    pub packed: EntityMap<Trap, Packed<Trap>>,
    pub indexed: EntityMap<Trap, Indexed<Trap>>,
    pub hashed: EntityMap<Trap, Hashed<Trap>>,
}

pub struct Collected;

#[derive(Default)]
pub struct Store(#[allow(dead_code, reason = "for its drop")] pub Trap);

pub struct Alarm(pub Trap);

impl Scene {
    pub fn new(care: Care) -> Self {
        let ledger = open_ledger();
        let mut world = World::new();
        let types = SnapshotTypes::new().registered_only();
        let types = types.component::<A>().component::<B>().component::<C>().component::<D>();
        let types = types.component::<First>().component::<Second>().component::<Third>();
        let types = types.component::<Link>().component::<Heard>();
        world.insert_resource(types.clone());
        world.insert_resource(Store(Trap::new(0)));
        let mail = world.message_cursor::<Trap>();
        let ids = fill(&mut world);
        let bytes = types.save().to_bytes(&world).unwrap();
        let text = serde_json::to_string(&AsText(&types, &world)).unwrap();
        let groups = if care.groups { group(&mut world) } else { Vec::new() };
        let readers = care.readers.then(|| {
            // So few that old ones go unread.
            world.set_removal_limit::<B>(2);
            world.reactive::<Collected>().added::<A>().changed::<C>().removed::<B>().build();
            (world.removed(), world.removed(), world.removed())
        });
        if care.listeners {
            listen(&mut world, groups.first().copied());
        }
        let mut past = Rollback::new(types.clone(), 2);
        past.keep(&world).unwrap();
        let mut maps = Maps::default();
        for (n, &id) in ids.iter().enumerate() {
            maps.packed.insert(id, Trap::new(n as u64));
            maps.indexed.insert(id, Trap::new(n as u64));
            maps.hashed.insert(id, Trap::new(n as u64));
        }
        let schedule = schedule();
        world.refresh();
        let _readers = readers;
        Self {
            world,
            ledger,
            ids,
            groups,
            schedule,
            past_worlds: 0,
            scheduled_in: None,
            types,
            past,
            bytes,
            old_bytes: old_bytes(),
            text,
            maps,
            mail,
            _readers,
        }
    }

    /// One step. A schedule stays with its world: in another one it is refused, and made anew.
    pub fn step(&mut self) {
        let built = self.schedule.build(&mut self.world);
        if *self.scheduled_in.get_or_insert(self.past_worlds) == self.past_worlds {
            built.unwrap();
        } else {
            assert!(matches!(built, Err(ScheduleError::AnotherWorld)), "{built:?}");
            (self.schedule, self.scheduled_in) = (schedule(), Some(self.past_worlds));
        }
        _ = self.schedule.step(&mut self.world);
    }

    /// New entities without components: nobody in these scenes wants one.
    pub fn new_orphans(&self) -> Vec<Entity> {
        let is_new = |id: &Entity| !self.ids.contains(id) && self.world.is_orphan(*id);
        self.world.entities().filter(is_new).collect()
    }
}

fn old_bytes() -> Vec<u8> {
    let mut world = World::new();
    world.spawn_batch((0..3).map(|n| Old(Trap::new(n))));
    SnapshotTypes::new().component::<Old>().save().to_bytes(&world).unwrap()
}

/// A world to be written by serde.
struct AsText<'a>(&'a SnapshotTypes, &'a World);

impl serde::Serialize for AsText<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.save().serialize(self.1, serializer)
    }
}

fn fill(world: &mut World) -> Vec<Entity> {
    let trap = Trap::new;
    let mut ids = vec![
        world.spawn((A(trap(4)), B(trap(0)), C(trap(0)), D(trap(3)))),
        world.spawn((A(trap(2)), B(trap(1)))),
        world.spawn((A(trap(3)), C(trap(1)), D(trap(1)))),
        world.spawn((B(trap(2)), D(trap(2)))),
        world.spawn(First(trap(0))),
    ];
    ids.push(world.spawn((A(trap(1)), B(trap(3)), Link(trap(0), Some(ids[0])))));
    ids
}

fn group(world: &mut World) -> Vec<GroupId> {
    vec![
        world.group::<(A, B)>().build().unwrap(),
        // Narrower, and one that owns nothing.
        world.group::<(A, B)>().observe::<C>().build().unwrap(),
        world.group::<()>().observe::<D>().exclude::<C>().build().unwrap(),
        world.group::<D>().observe::<B>().build().unwrap(),
    ]
}

fn listen(world: &mut World, group: Option<GroupId>) {
    _ = world.on_spawn(|_, _, _| call(Callback::Listener));
    _ = world.on_add::<A>(|world, entity, commands| {
        if !world.has::<Heard>(entity) {
            commands.insert(entity, (Heard, C(Trap::new(50))));
        }
        call(Callback::Listener);
    });
    _ = world.on_change::<A>(|_, _, commands| {
        commands.add(|_| call(Callback::Closure));
        call(Callback::Listener);
    });
    _ = world.on_remove::<B>(|_, entity, commands| {
        commands.remove::<D>(entity);
        let born = commands.spawn(C(Trap::new(51)));
        commands.despawn(born);
        call(Callback::Listener);
    });
    _ = world.on_remove::<C>(|_, _, _| call(Callback::Listener));
    _ = world.on_despawn(|_, _, commands| {
        commands.send(Trap::new(52));
        call(Callback::Listener);
    });
    _ = world.on(|_, alarm: &Alarm, commands| {
        commands.spawn(First(Trap::new(alarm.0.0.value)));
        call(Callback::Listener);
    });
    if let Some(group) = group {
        _ = world.on_enter(group, |_, _, _| call(Callback::Listener));
        _ = world.on_leave(group, |_, _, _| call(Callback::Listener));
    }
}

fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add_systems((
        |all: Query<'_, (Entity, &A)>, mut commands: Commands<'_, '_>| {
            for (id, a) in all.iter().take(2) {
                call(Callback::System);
                commands.insert(id, D(Trap::new(a.0.0.value)));
                commands.spawn((B(Trap::new(60)), C(Trap::new(60))));
            }
        },
        |mut all: Query<'_, (Entity, &mut B)>, mut commands: Commands<'_, '_>| {
            let last = all.iter_mut().last().map(|(id, b)| {
                b.0.0.value += 1;
                id
            });
            call(Callback::System);
            last.into_iter().for_each(|id| commands.despawn(id));
            commands.add(|_| call(Callback::Closure));
        },
        |world: &mut World| {
            call(Callback::System);
            world.send(Trap::new(61));
        },
    ));
    schedule
}
