//! The parameters that come with the library.

use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};

use super::param::{ParamError, SystemParam};
use super::{Run, SoleRun};
use crate::access::{AccessSet, Key, Usage};
use crate::component::Component;
use crate::entity::Stream;
use crate::query::{Query, QueryData, QueryFilter};
use crate::world::{
    Commands, MessageBatch, MessageCursor, MessageWriter, Messages, Pool, PoolMut, Queue, Removals,
    RemovedCursor, RemovedKey, Res, ResMut, World,
};

impl<D: QueryData + 'static, F: QueryFilter + 'static> SystemParam for Query<'_, D, F> {
    type State = ();
    type Item<'w, 's> = Query<'w, D, F>;

    const APPLIES: bool = false;

    fn init(_: &mut World, access: &mut AccessSet) {
        D::uses(&mut |key, usage| access.add(key, usage));
        F::uses(&mut |key, usage| access.add(key, usage));
    }

    #[inline]
    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Query<'w, D, F>, ParamError> {
        run.query()
    }

    const GAINS_ALONE: bool = true;

    #[inline]
    fn get_sole<'w>((): &mut (), run: SoleRun<'w>) -> Result<Query<'w, D, F>, ParamError> {
        let (world, span) = run.into_parts();
        Query::open_alone_at(world, span).map_err(ParamError::new)
    }
}

impl<T: Component> SystemParam for Pool<'_, T> {
    type State = ();
    type Item<'w, 's> = Pool<'w, T>;

    const APPLIES: bool = false;

    fn init(_: &mut World, access: &mut AccessSet) {
        access.add(Key::of::<T>(), Usage::Read);
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Pool<'w, T>, ParamError> {
        run.pool()
    }
}

impl<T: Component> SystemParam for PoolMut<'_, T> {
    type State = ();
    type Item<'w, 's> = PoolMut<'w, T>;

    const APPLIES: bool = false;

    fn init(world: &mut World, access: &mut AccessSet) {
        let id = world.register::<T>();
        access.add(Key::of::<T>(), Usage::Own);
        access.add(Key::of::<RemovedKey<T>>(), Usage::Own);
        // An edit of a pool of a group is one of the whole family.
        for (key, usage) in world.family(id) {
            access.add(key, usage);
        }
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<PoolMut<'w, T>, ParamError> {
        run.pool_mut()
    }

    const GAINS_ALONE: bool = true;

    // Nobody else can edit a pool meanwhile, so no change of a signature can be lost. Guards are marked all
    // the same: who is refused does not depend on how a system is run.
    fn get_sole<'w>((): &mut (), run: SoleRun<'w>) -> Result<PoolMut<'w, T>, ParamError> {
        let (world, span) = run.into_parts();
        world.try_edit_pool_at(span.now).map_err(ParamError::new)
    }
}

impl<R: Send + Sync + 'static> SystemParam for Res<'_, R> {
    type State = ();
    type Item<'w, 's> = Res<'w, R>;

    const APPLIES: bool = false;

    fn init(_: &mut World, access: &mut AccessSet) {
        access.add(Key::of::<R>(), Usage::Read);
    }

    #[inline]
    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Res<'w, R>, ParamError> {
        run.resource()
    }
}

impl<R: Send + Sync + 'static> SystemParam for ResMut<'_, R> {
    type State = ();
    type Item<'w, 's> = ResMut<'w, R>;

    const APPLIES: bool = false;

    fn init(_: &mut World, access: &mut AccessSet) {
        access.add(Key::of::<R>(), Usage::Write);
    }

    #[inline]
    fn get<'w>((): &mut (), run: Run<'w>) -> Result<ResMut<'w, R>, ParamError> {
        run.resource_mut()
    }
}

impl SystemParam for &World {
    type State = ();
    type Item<'w, 's> = &'w World;

    const APPLIES: bool = false;

    fn init(_: &mut World, access: &mut AccessSet) {
        access.add(Key::world(), Usage::Own);
    }

    #[inline]
    fn get<'w>((): &mut (), run: Run<'w>) -> Result<&'w World, ParamError> {
        Ok(run.world())
    }
}

/// A value that belongs to one system and is kept from run to run.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// fn count(mut runs: Local<u32>, mut seen: ResMut<Vec<u32>>) {
///     *runs += 1;
///     seen.push(*runs);
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Vec::<u32>::new());
/// let mut schedule = Schedule::new();
/// schedule.add_systems(count);
/// schedule.step(&mut world);
/// schedule.step(&mut world);
/// assert_eq!(*world.resource::<Vec<u32>>(), [1, 2]);
/// ```
#[derive(Debug)]
pub struct Local<'s, T>(&'s mut T);

impl<T> Deref for Local<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> DerefMut for Local<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<T: Default + Send + 'static> SystemParam for Local<'_, T> {
    type State = T;
    type Item<'w, 's> = Local<'s, T>;

    const APPLIES: bool = false;

    fn init(_: &mut World, _: &mut AccessSet) -> T {
        T::default()
    }

    #[inline]
    fn get<'s>(state: &'s mut T, _: Run<'_>) -> Result<Local<'s, T>, ParamError> {
        Ok(Local(state))
    }
}

/// The commands of one system.
#[derive(Debug, Default)]
pub struct Recorded {
    queue: Queue,
    stream: Stream,
}

impl SystemParam for Commands<'_, '_> {
    type State = Recorded;
    type Item<'w, 's> = Commands<'w, 's>;

    fn init(_: &mut World, _: &mut AccessSet) -> Recorded {
        Recorded::default()
    }

    #[inline]
    fn get<'w, 's>(state: &'s mut Recorded, run: Run<'w>) -> Result<Commands<'w, 's>, ParamError> {
        // Who implements `SystemParam` around it may have kept one back from another step.
        Ok(match run.world().has_opened(&state.stream) {
            true => Commands::with_stream(run.world(), &mut state.queue, &mut state.stream),
            false => Commands::new(run.world(), &mut state.queue),
        })
    }

    fn apply(state: &mut Recorded, world: &mut World) {
        world.apply_queue(&mut state.queue);
    }

    fn discard(state: &mut Recorded, world: &mut World) {
        mem::take(&mut state.queue).discard(world);
    }

    fn streams(state: &mut Recorded, see: &mut dyn FnMut(&mut Stream)) {
        see(&mut state.stream);
    }
}

/// Reads messages, each once; see [`World::send`].
///
/// Use messages where one system has something to say and others, any number, listen: each reader gets
/// each message once, in order, however seldom it runs.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// struct Hit(u32);
///
/// fn fight(mut hits: MessageWriter<Hit>) {
///     hits.send(Hit(3));
/// }
/// fn score(hits: MessageReader<Hit>, mut total: ResMut<u32>) {
///     *total += hits.read().map(|hit| hit.0).sum::<u32>();
/// }
///
/// let mut world = World::new();
/// world.insert_resource(0_u32);
/// let mut schedule = Schedule::new();
/// schedule.add_systems((fight, score));
/// schedule.step(&mut world);
/// schedule.step(&mut world);
/// assert_eq!(*world.resource::<u32>(), 6);
/// ```
pub struct MessageReader<'w, M: Send + Sync + 'static> {
    batch: MessageBatch<'w, M>,
}

impl<M: Send + Sync + 'static> MessageReader<'_, M> {
    /// The messages since the system ran last and came to its end, oldest first.
    pub fn read(&self) -> impl ExactSizeIterator<Item = &M> {
        self.batch.iter()
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Messages that were not kept, because too many waited.
    pub fn missed(&self) -> u64 {
        self.batch.missed()
    }
}

impl<M: Send + Sync + 'static> fmt::Debug for MessageReader<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageReader").field("len", &self.len()).finish()
    }
}

impl<M: Send + Sync + 'static> SystemParam for MessageReader<'_, M> {
    type State = MessageCursor<M>;
    type Item<'w, 's> = MessageReader<'w, M>;

    const APPLIES: bool = false;

    fn init(world: &mut World, access: &mut AccessSet) -> MessageCursor<M> {
        access.add(Key::of::<Messages<M>>(), Usage::Read);
        world.message_cursor()
    }

    fn get<'w>(
        state: &mut MessageCursor<M>,
        run: Run<'w>,
    ) -> Result<MessageReader<'w, M>, ParamError> {
        Ok(MessageReader { batch: state.show(run.world()) })
    }

    fn ran(state: &mut MessageCursor<M>) {
        state.mark_read();
    }
}

impl<M: Send + Sync + 'static> SystemParam for MessageWriter<'_, M> {
    type State = ();
    type Item<'w, 's> = MessageWriter<'w, M>;

    const APPLIES: bool = false;

    fn init(world: &mut World, access: &mut AccessSet) {
        access.add(Key::of::<Messages<M>>(), Usage::Write);
        world.register_messages::<M>();
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<MessageWriter<'w, M>, ParamError> {
        run.world().message_writer().map_err(ParamError::new)
    }
}

/// Reads who has lost a `T`, each removal once; see [`World::removed`].
///
/// Use it to clean up after components at a system's own pace; to act before the value goes there is
/// [`World::on_remove`].
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// # #[derive(Component)] struct Body;
/// fn forget(gone: Removed<Body>, mut forgotten: ResMut<usize>) {
///     *forgotten += gone.iter().count();
/// }
///
/// let mut world = World::new();
/// world.insert_resource(0_usize);
/// let mut schedule = Schedule::new();
/// schedule.add_systems(forget);
/// schedule.build(&mut world).unwrap(); // it reads from now on
/// let id = world.spawn(Body);
/// world.despawn(id).unwrap();
/// schedule.step(&mut world);
/// assert_eq!(*world.resource::<usize>(), 1);
/// ```
#[derive(Debug)]
pub struct Removed<'w, T: Component>(Removals<'w, T>);

impl<'w, T: Component> Deref for Removed<'w, T> {
    type Target = Removals<'w, T>;

    fn deref(&self) -> &Removals<'w, T> {
        &self.0
    }
}

impl<T: Component> SystemParam for Removed<'_, T> {
    type State = RemovedCursor<T>;
    type Item<'w, 's> = Removed<'w, T>;

    const APPLIES: bool = false;

    fn init(world: &mut World, access: &mut AccessSet) -> RemovedCursor<T> {
        access.add(Key::of::<RemovedKey<T>>(), Usage::Read);
        world.removed()
    }

    fn get<'w>(state: &mut RemovedCursor<T>, run: Run<'w>) -> Result<Removed<'w, T>, ParamError> {
        Ok(Removed(state.show(run.world())))
    }

    fn ran(state: &mut RemovedCursor<T>) {
        state.mark_read();
    }
}
