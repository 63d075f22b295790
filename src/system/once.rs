//! One run of a system without a schedule, and the ids that its commands may use.

use std::hash::BuildHasher;
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
        self.open_streams(&mut [&mut system]);
        let run = catch_unwind(AssertUnwindSafe(|| match system.is_exclusive() {
            true => system.run_alone(self),
            false => {
                let now = self.advance_tick().next();
                system.run_sole(self, now)
            }
        }));
        if run.is_err() {
            system.discard(self);
        }
        // Also if it has panicked: as long as streams are open, ids are reserved from them.
        self.close_streams(&mut [&mut system]);
        let outcome = run.unwrap_or_else(|payload| resume_unwind(payload));
        if let Err(error) = outcome {
            panic!("system `{}`: {error}", system.name());
        }
        system.apply(self);
    }

    /// Gives each system that records commands ids of its own.
    pub(crate) fn open_streams(&mut self, systems: &mut [&mut dyn System]) {
        if !self.can_open_streams() {
            return;
        }
        let mut keys = Vec::new();
        for system in systems.iter_mut() {
            let first = keys.len();
            system.streams(&mut |stream| keys.push(stream.key()));
            if keys[first..].contains(&0) {
                name_streams(&mut **system, &mut keys[first..]);
            }
        }
        if keys.is_empty() {
            return;
        }
        let mut opened = self.open_id_streams(keys).into_iter();
        for system in systems.iter_mut() {
            system.streams(&mut |stream| *stream = opened.next().expect("one for each"));
        }
    }

    /// Brings the entities that systems have asked for to life.
    pub(crate) fn close_streams(&mut self, systems: &mut [&mut dyn System]) {
        let mut closed = Vec::new();
        for system in systems.iter_mut() {
            system.streams(&mut |stream| {
                let rest = stream.after();
                closed.push(std::mem::replace(stream, rest));
            });
        }
        self.close_id_streams(closed);
    }
}

/// Gives the streams of a system keys: its name, and their numbers.
#[cold]
fn name_streams(system: &mut dyn System, keys: &mut [u64]) {
    let name = system.name().to_owned();
    let mut nth = 0;
    system.streams(&mut |stream| {
        stream.set_key(|| FxBuildHasher.hash_one((&name, nth)));
        keys[nth] = stream.key();
        nth += 1;
    });
}
