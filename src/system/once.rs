//! One run of a system without a schedule, and the ids that its commands may use.

use std::hash::BuildHasher;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rustc_hash::FxBuildHasher;

use super::function::{IntoSystem, System};
use crate::world::World;

impl World {
    /// Runs a system once, and carries out its commands.
    ///
    /// # Panics
    /// If it uses something in two ways that exclude each other, or something is not there, or it
    /// returns an error.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Health(u32);
    /// let mut world = World::new();
    /// world.spawn(Health(0));
    /// world.run_system(|dying: Query<(Entity, &Health)>, mut commands: Commands| {
    ///     for (id, health) in &dying {
    ///         if health.0 == 0 {
    ///             commands.despawn(id);
    ///         }
    ///     }
    /// });
    /// assert!(world.is_empty());
    /// ```
    #[track_caller]
    pub fn run_system<Marker>(&mut self, system: impl IntoSystem<Marker>) {
        let mut system = system.into_system();
        let access = system.init(self);
        if let Some((key, [one, other])) = access.clash() {
            let (system, name) = (system.name(), key.name());
            panic!(
                "system `{system}` wants to {one} and to {other} at once: `{name}`; ask for it once, or \
                 split the system"
            );
        }
        let run = match system.is_exclusive() {
            true => catch_unwind(AssertUnwindSafe(|| system.run_alone(self))),
            false => {
                let mut world = self.open_streams(&mut [&mut system]);
                let run = catch_unwind(AssertUnwindSafe(|| {
                    let now = world.advance_tick().next();
                    system.run_sole(&mut world, now)
                }));
                world.close(&mut [&mut system]);
                run
            }
        };
        let outcome = run.unwrap_or_else(|payload| {
            discard(&mut system, self);
            resume_unwind(payload)
        });
        if let Err(error) = outcome {
            panic!("system `{}`: {error}", system.name());
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| system.apply(self))) {
            // What was not carried out: a parameter by hand may have unwound before its commands.
            discard(&mut system, self);
            resume_unwind(payload);
        }
    }

    /// Gives each system that records commands ids of its own, until they are closed.
    pub(crate) fn open_streams(&mut self, systems: &mut [&mut dyn System]) -> Streaming<'_> {
        let mut world = Streaming { world: self };
        if world.can_open_streams() {
            world.open(systems);
        }
        world
    }
}

/// A world whose systems have streams of ids. They are closed when this is dropped, also while
/// unwinding; what they have given out comes to life if they were handed in before.
pub(crate) struct Streaming<'w> {
    world: &'w mut World,
}

impl Streaming<'_> {
    fn open(&mut self, systems: &mut [&mut dyn System]) {
        let mut keys = Vec::new();
        for system in systems.iter_mut() {
            let first = keys.len();
            system.streams(&mut |stream| keys.push(stream.key()));
            if keys[first..].contains(&0) {
                keys.truncate(first);
                name_streams(&mut **system, 0);
                system.streams(&mut |stream| keys.push(stream.key()));
            }
        }
        if keys.is_empty() {
            return;
        }
        let mut opened = self.world.open_id_streams(&keys).into_iter();
        for system in systems.iter_mut() {
            // Who shows more than before gets nothing for these.
            system.streams(&mut |stream| *stream = opened.next().unwrap_or_default());
        }
    }

    /// Brings the entities to life that systems have asked for. Those of a system that has panicked die
    /// when its commands are [discarded](discard), before anything can see them.
    pub(crate) fn close(self, systems: &mut [&mut dyn System]) {
        let mut closed = Vec::new();
        for system in systems.iter_mut() {
            system.streams(&mut |stream| {
                let rest = stream.after();
                closed.push(mem::replace(stream, rest));
            });
        }
        self.world.close_id_streams(closed);
    }
}

impl Drop for Streaming<'_> {
    fn drop(&mut self) {
        self.world.close_id_streams(Vec::new());
    }
}

impl Deref for Streaming<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.world
    }
}

impl DerefMut for Streaming<'_> {
    fn deref_mut(&mut self) -> &mut World {
        self.world
    }
}

/// Drops the commands of a system that has panicked, and takes back the entities that they were to bring
/// to life: their ids are known, and never come back. If the drop of one panics, too, that is not told:
/// the first panic goes on.
pub(crate) fn discard(system: &mut dyn System, world: &mut World) {
    discard_by(|| system.discard(world));
}

/// Discards something without unwinding. Once more if that panics, for what a parameter by hand has not come to.
pub(super) fn discard_by(mut discard: impl FnMut()) {
    for _ in 0..2 {
        let Err(payload) = catch_unwind(AssertUnwindSafe(&mut discard)) else { return };
        // What it panicked with may panic when it is dropped, and so on.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        dropped.unwrap_or_else(mem::forget);
    }
}

/// Gives the streams of a system keys: its name, its number among the systems of that name, and theirs.
#[cold]
pub(crate) fn name_streams(system: &mut dyn System, namesake: u64) {
    let name = system.name().to_owned();
    let mut nth = 0_u64;
    system.streams(&mut |stream| {
        stream.set_key(|| FxBuildHasher.hash_one((&name, namesake, nth)));
        nth += 1;
    });
}
