//! What a bad case asks of a library: plain calls, one at a time, and queries over two components.

use bevy_ecs::component::Mutable;

/// A component of every contestant.
pub trait Part:
    ::esker::Component + bevy_ecs::component::Component<Mutability = Mutable> + hecs::Component + Copy
{
}

impl<C> Part for C where
    C: ::esker::Component
        + bevy_ecs::component::Component<Mutability = Mutable>
        + hecs::Component
        + Copy
{
}

/// A tuple of components with which every contestant spawns an entity.
pub trait Parts: ::esker::Bundle + bevy_ecs::bundle::Bundle + hecs::DynamicBundle {}

impl<B: ::esker::Bundle + bevy_ecs::bundle::Bundle + hecs::DynamicBundle> Parts for B {}

/// A world in which the bad cases are played.
pub trait BadWorld: Default + 'static {
    /// An entity's name.
    type Id: Copy;

    /// A query that is kept from frame to frame, where the library offers that.
    type Query<A: Part, B: Part>: Default;

    /// Spawns one entity.
    fn spawn(&mut self, parts: impl Parts) -> Self::Id;

    /// Despawns one entity.
    fn despawn(&mut self, id: Self::Id);

    /// Inserts one component.
    fn insert(&mut self, id: Self::Id, part: impl Part);

    /// Removes one component.
    fn remove<A: Part>(&mut self, id: Self::Id);

    /// Calls `each` with the components of all entities that have both.
    fn walk<A: Part, B: Part>(
        &mut self,
        query: &mut Self::Query<A, B>,
        each: impl FnMut(&mut A, &B),
    );

    /// Does what the library wants done once a frame.
    fn settle(&mut self) {}
}

impl BadWorld for ::esker::World {
    type Id = ::esker::Entity;
    type Query<A: Part, B: Part> = ();

    #[inline(always)]
    fn spawn(&mut self, parts: impl Parts) -> Self::Id {
        Self::spawn(self, parts)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Self::Id) {
        _ = Self::despawn(self, id);
    }

    #[inline(always)]
    fn insert(&mut self, id: Self::Id, part: impl Part) {
        _ = Self::insert(self, id, part);
    }

    #[inline(always)]
    fn remove<A: Part>(&mut self, id: Self::Id) {
        _ = Self::remove::<A>(self, id);
    }

    #[inline(always)]
    fn walk<A: Part, B: Part>(&mut self, (): &mut (), mut each: impl FnMut(&mut A, &B)) {
        self.query_mut::<(&mut A, &B)>().iter_mut().for_each(|(mut a, b)| each(&mut a, b));
    }

    #[inline(always)]
    fn settle(&mut self) {
        self.refresh();
    }
}

impl BadWorld for hecs::World {
    type Id = hecs::Entity;
    type Query<A: Part, B: Part> = hecs::PreparedQuery<(&'static mut A, &'static B)>;

    #[inline(always)]
    fn spawn(&mut self, parts: impl Parts) -> Self::Id {
        Self::spawn(self, parts)
    }

    #[inline(always)]
    fn despawn(&mut self, id: Self::Id) {
        let _ = Self::despawn(self, id);
    }

    #[inline(always)]
    fn insert(&mut self, id: Self::Id, part: impl Part) {
        let _ = self.insert_one(id, part);
    }

    #[inline(always)]
    fn remove<A: Part>(&mut self, id: Self::Id) {
        let _ = self.remove_one::<A>(id);
    }

    #[inline(always)]
    fn walk<A: Part, B: Part>(
        &mut self,
        query: &mut Self::Query<A, B>,
        mut each: impl FnMut(&mut A, &B),
    ) {
        query.query_mut(self).for_each(|(a, b)| each(a, b));
    }
}

/// A query of bevy: its state needs a world, and so is made when it is walked first.
type Cached<A, B> = Option<bevy_ecs::query::QueryState<(&'static mut A, &'static B)>>;

impl BadWorld for bevy_ecs::world::World {
    type Id = bevy_ecs::entity::Entity;
    type Query<A: Part, B: Part> = Cached<A, B>;

    #[inline(always)]
    fn spawn(&mut self, parts: impl Parts) -> Self::Id {
        Self::spawn(self, parts).id()
    }

    #[inline(always)]
    fn despawn(&mut self, id: Self::Id) {
        Self::despawn(self, id);
    }

    #[inline(always)]
    fn insert(&mut self, id: Self::Id, part: impl Part) {
        self.entity_mut(id).insert(part);
    }

    #[inline(always)]
    fn remove<A: Part>(&mut self, id: Self::Id) {
        self.entity_mut(id).remove::<A>();
    }

    #[inline(always)]
    fn walk<A: Part, B: Part>(
        &mut self,
        query: &mut Self::Query<A, B>,
        mut each: impl FnMut(&mut A, &B),
    ) {
        let query = query.get_or_insert_with(|| self.query());
        query.iter_mut(self).for_each(|(mut a, b)| each(&mut a, b));
    }

    #[inline(always)]
    fn settle(&mut self) {
        self.clear_trackers();
    }
}
