//! Requests that are carried out later, when the world can be changed.

use std::fmt;

use super::queue::{Command, Queue};
use crate::entity::{Entity, Stream};
use crate::world::pools::name_of;
use crate::world::{Bundle, World};

/// Records what to do to the world as soon as it can be changed.
///
/// A listener records here what it wants; it is done right after the operation it listens to. What a
/// system records is done at the next refresh of its schedule, system by system. What is meant for an entity that is dead by then is skipped and counted; see
/// [`World::command_report`].
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Dying;
/// let mut world = World::new();
/// world.on_change::<Health>(|world, entity, commands| {
///     if world.get::<Health>(entity).is_some_and(|health| health.0 == 0) {
///         commands.insert(entity, Dying);
///     }
/// });
/// let e = world.spawn(Health(1));
/// world.patch(e, |health: &mut Health| health.0 = 0).unwrap();
/// assert!(world.has::<Dying>(e));
/// ```
pub struct Commands<'w, 's> {
    world: &'w World,
    queue: &'s mut Queue,
    /// Where ids come from, if not from the world.
    stream: Option<&'s mut Stream>,
}

impl<'w, 's> Commands<'w, 's> {
    pub(crate) fn new(world: &'w World, queue: &'s mut Queue) -> Self {
        Self { world, queue, stream: None }
    }

    /// With ids of its own, which nobody else takes.
    pub(crate) fn with_stream(
        world: &'w World,
        queue: &'s mut Queue,
        stream: &'s mut Stream,
    ) -> Self {
        Self { world, queue, stream: Some(stream) }
    }

    /// Commands for several who record at once; see [`join`](Self::join).
    pub(crate) fn fork(&mut self, count: usize) -> Vec<Branch> {
        match &mut self.stream {
            Some(stream) => {
                let streams = stream.split(count).into_iter();
                streams
                    .map(|stream| Branch { queue: Queue::default(), stream: Some(stream) })
                    .collect()
            }
            None => (0..count).map(|_| Branch::default()).collect(),
        }
    }

    /// Takes back what several have recorded, in this order.
    pub(crate) fn join(&mut self, branches: Vec<Branch>) {
        let mut streams = Vec::with_capacity(branches.len());
        for Branch { mut queue, stream } in branches {
            self.queue.append(&mut queue);
            streams.extend(stream);
        }
        if let Some(stream) = &mut self.stream {
            stream.join(streams);
        }
    }

    /// Whether `entity` is alive now. What was spawned with this is not yet.
    pub fn is_alive(&self, entity: Entity) -> bool {
        self.world.is_alive(entity)
    }

    /// Whether ids come from a stream of its own.
    pub(crate) fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// The world as it is now.
    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    /// Number of commands that were recorded.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether none was recorded.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Lets an entity come to life; its id is known at once.
    ///
    /// If the commands are dropped because something has panicked, it does not: the id is dead then.
    ///
    /// # Panics
    /// If no id is left.
    #[track_caller]
    pub fn spawn<B: Bundle + Send>(&mut self, bundle: B) -> Entity {
        let entity = self.spawn_empty();
        self.insert(entity, bundle);
        entity
    }

    /// Lets an entity without components come to life; its id is known at once.
    ///
    /// # Panics
    /// If no id is left.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> Entity {
        let Some(stream) = &mut self.stream else {
            let entity = self.world.reserve_entity().unwrap_or_else(|error| panic!("{error}"));
            self.queue.put(Birth { entity, world: self.world.number() });
            return entity;
        };
        let entity = self.world.next_id(stream).unwrap_or_else(|error| panic!("{error}"));
        self.queue.put(Welcome { entity, world: self.world.number() });
        entity
    }

    /// Gives `entity` these components; those it has are replaced.
    pub fn insert<B: Bundle + Send>(&mut self, entity: Entity, bundle: B) {
        self.queue.push(move |world: &mut World| {
            if world.insert(entity, bundle).is_err() {
                world.skip_command(entity, name_of::<B>(), "insert");
            }
        });
    }

    /// Removes those of these components that `entity` has.
    pub fn remove<B: Bundle>(&mut self, entity: Entity) {
        self.queue.push(move |world: &mut World| {
            if world.remove::<B>(entity).is_err() {
                world.skip_command(entity, name_of::<B>(), "remove");
            }
        });
    }

    /// Lets `entity` die.
    pub fn despawn(&mut self, entity: Entity) {
        self.queue.push(move |world: &mut World| {
            if world.despawn(entity).is_err() {
                world.skip_command(entity, "", "despawn");
            }
        });
    }

    /// Puts a resource into the world; one of the same type is replaced.
    pub fn insert_resource<R: Send + Sync + 'static>(&mut self, resource: R) {
        self.queue.push(move |world: &mut World| _ = world.insert_resource(resource));
    }

    /// Takes a resource out of the world.
    pub fn remove_resource<R: Send + Sync + 'static>(&mut self) {
        self.queue.push(|world: &mut World| _ = world.remove_resource::<R>());
    }

    /// Sends a message; see [`World::send`].
    pub fn send<M: Send + Sync + 'static>(&mut self, message: M) {
        self.queue.push(move |world: &mut World| world.send(message));
    }

    /// Has an event heard; see [`World::trigger`].
    pub fn trigger<E: Send + 'static>(&mut self, event: E) {
        self.queue.push(move |world: &mut World| world.trigger(event));
    }

    /// Does whatever it is told.
    ///
    /// A command may also put another world in the place of the one it is given. Those that were recorded behind it are
    /// carried out in that one, where their ids may be those of other entities; what they were to spawn has no
    /// components then.
    pub fn add(&mut self, command: impl FnOnce(&mut World) + Send + 'static) {
        self.queue.push(command);
    }
}

/// Brings a reserved entity to life.
struct Birth {
    entity: Entity,
    /// The number of the world that it was reserved in. Another one may be in its place by now, where the id means
    /// nothing or another entity.
    world: u64,
}

impl Command for Birth {
    fn run(self, world: &mut World) {
        if world.number() == self.world {
            world.settle_one(self.entity);
        }
    }

    fn discard(self, world: &mut World) {
        if world.number() == self.world {
            world.take_back(self.entity);
        }
    }
}

/// Tells of an entity whose id came from a stream, and which lives since that was closed.
struct Welcome {
    entity: Entity,
    /// As in [`Birth`].
    world: u64,
}

impl Command for Welcome {
    fn run(self, world: &mut World) {
        if world.number() == self.world {
            world.welcome(self.entity);
        }
    }

    fn discard(self, world: &mut World) {
        if world.number() == self.world {
            world.take_back(self.entity);
        }
    }
}

/// What one of several who record at once has recorded.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    queue: Queue,
    stream: Option<Stream>,
}

impl Branch {
    pub(crate) fn commands<'w, 's>(&'s mut self, world: &'w World) -> Commands<'w, 's> {
        Commands { world, queue: &mut self.queue, stream: self.stream.as_mut() }
    }
}

impl fmt::Debug for Commands<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// What became of commands; see [`World::command_report`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandReport {
    /// Commands that were carried out, skipped ones included.
    pub applied: u64,
    /// Commands whose entity was dead.
    pub skipped: u64,
    /// The first of these.
    pub first_skipped: Vec<SkippedCommand>,
}

/// A command whose entity was dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedCommand {
    /// The entity.
    pub entity: Entity,
    /// What was to be done: `insert`, `remove` or `despawn`.
    pub what: &'static str,
    /// Name of the bundle, if there is one.
    pub bundle: &'static str,
}

impl fmt::Display for SkippedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, what, bundle } = self;
        match bundle.is_empty() {
            true => write!(f, "{what} of {entity}, which is dead"),
            false => write!(f, "{what} of `{bundle}` for {entity}, which is dead"),
        }
    }
}

/// Skipped commands that a report names.
const NAMED: usize = 16;

impl World {
    /// What became of commands since the last time this was asked.
    pub fn command_report(&mut self) -> CommandReport {
        std::mem::take(&mut self.react.report)
    }

    /// Makes a command for a dead entity a panic. For tests.
    pub fn set_strict_commands(&mut self, strict: bool) {
        self.react.is_strict = strict;
    }

    /// Bytes of the queue for commands of listeners.
    pub(in crate::world) fn queue_bytes(&self) -> usize {
        self.react.queue.heap_bytes()
    }

    #[cold]
    fn skip_command(&mut self, entity: Entity, bundle: &'static str, what: &'static str) {
        let skipped = SkippedCommand { entity, what, bundle };
        let report = &mut self.react.report;
        report.skipped += 1;
        if report.first_skipped.len() < NAMED {
            report.first_skipped.push(skipped);
        }
        assert!(!self.react.is_strict, "a command was skipped: {skipped}");
    }
}
