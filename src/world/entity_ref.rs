//! One entity at hand: for chains, and for code that passes "an entity and its world" around.

use super::{Bundle, ComponentError, World};
use crate::cell::Read;
use crate::component::{Component, MutOf};
use crate::entity::{Entity, NoSuchEntity};

/// A living entity and its world, for reading.
///
/// Use it to pass "an entity and all it has" to a function; as a term of a query it lends whatever the
/// entity has, each component under a guard of its own.
///
/// # Examples
/// ```
/// # use esker::{Component, EntityRef, World};
/// # #[derive(Component)] struct Name(&'static str);
/// fn describe(entity: EntityRef) -> String {
///     entity.get::<Name>().map_or(entity.id().to_string(), |name| name.0.to_owned())
/// }
///
/// let mut world = World::new();
/// let (ada, nobody) = (world.spawn(Name("Ada")), world.spawn(()));
/// assert_eq!(describe(world.entity(ada).unwrap()), "Ada");
/// assert_eq!(describe(world.entity(nobody).unwrap()), "1v0");
/// ```
#[derive(Debug, Clone, Copy)]
#[doc(alias = "handle")]
pub struct EntityRef<'w> {
    world: &'w World,
    entity: Entity,
}

/// A living entity and its world, for changing; its methods chain.
///
/// If a listener lets it die meanwhile, they do nothing.
///
/// # Examples
/// ```
/// # use esker::{Component, World};
/// # #[derive(Component)] struct Name(&'static str);
/// # #[derive(Component)] struct Gold(u32);
/// # #[derive(Component)] struct Poor;
/// let mut world = World::new();
/// let e = world.spawn(Poor);
/// world.entity_mut(e).unwrap().insert((Name("Ada"), Gold(100))).remove::<Poor>();
/// assert_eq!(world.component_names(e).count(), 2);
/// ```
#[derive(Debug)]
#[doc(alias = "handle")]
pub struct EntityMut<'w> {
    world: &'w mut World,
    entity: Entity,
}

impl<'w> EntityRef<'w> {
    /// An entity that is alive.
    #[inline]
    pub(crate) fn new(world: &'w World, entity: Entity) -> Self {
        debug_assert!(world.is_alive(entity));
        Self { world, entity }
    }
}

impl World {
    /// A living entity, for reading.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    pub fn entity(&self, entity: Entity) -> Result<EntityRef<'_>, NoSuchEntity> {
        match self.is_alive(entity) {
            true => Ok(EntityRef { world: self, entity }),
            false => Err(NoSuchEntity { entity }),
        }
    }

    /// A living entity, for changing.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if it is not alive.
    pub fn entity_mut(&mut self, entity: Entity) -> Result<EntityMut<'_>, NoSuchEntity> {
        self.gate(entity)?;
        Ok(EntityMut { world: self, entity })
    }
}

impl<'w> EntityRef<'w> {
    /// Its id.
    pub fn id(self) -> Entity {
        self.entity
    }

    /// Its world.
    pub fn world(self) -> &'w World {
        self.world
    }

    /// Its component; see [`World::get`].
    ///
    /// # Panics
    /// If the component is borrowed for writing.
    #[track_caller]
    pub fn get<T: Component>(self) -> Option<Read<'w, T>> {
        self.world.get(self.entity)
    }

    /// Whether it has all of these components.
    pub fn has<B: Bundle>(self) -> bool {
        self.world.has::<B>(self.entity)
    }

    /// Names of its components.
    pub fn component_names(self) -> impl Iterator<Item = &'static str> + use<'w> {
        self.world.component_names(self.entity)
    }
}

impl<'w> EntityMut<'w> {
    /// Its id.
    pub fn id(&self) -> Entity {
        self.entity
    }

    /// Gives it these components; those it has are replaced.
    pub fn insert<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        // A listener may have let it die: then there is nothing to do.
        _ = self.world.insert(self.entity, bundle);
        self
    }

    /// Removes and drops those of these components that it has.
    pub fn remove<B: Bundle>(&mut self) -> &mut Self {
        _ = self.world.remove::<B>(self.entity);
        self
    }

    /// Removes these components if it has all of them, and returns them together.
    ///
    /// # Panics
    /// If the bundle names a component twice.
    #[track_caller]
    pub fn take<B: Bundle>(&mut self) -> Option<B> {
        self.world.take(self.entity).ok().flatten()
    }

    /// Changes a component in place.
    ///
    /// # Errors
    /// [`ComponentError::Missing`] if it does not have it.
    pub fn patch<T: Component>(
        &mut self,
        change: impl FnOnce(&mut T),
    ) -> Result<&mut Self, ComponentError> {
        self.world.patch(self.entity, change)?;
        Ok(self)
    }

    /// Its component, to be changed.
    pub fn get_mut<T: Component>(&mut self) -> Option<MutOf<'_, T>> {
        self.world.get_mut::<T>(self.entity)
    }

    /// Its component, or the one that `make` makes for it.
    ///
    /// # Panics
    /// If a listener has taken the new one away again, or let the entity die.
    #[track_caller]
    pub fn get_or_insert_with<T: Component>(&mut self, make: impl FnOnce() -> T) -> MutOf<'_, T> {
        match self.world.get_or_insert_with(self.entity, make) {
            Ok(value) => value,
            Err(error) => panic!("a listener has taken it away: {error}"),
        }
    }

    /// The same entity, for reading.
    pub fn as_ref(&self) -> EntityRef<'_> {
        EntityRef { world: self.world, entity: self.entity }
    }

    /// Lets it die.
    pub fn despawn(self) {
        _ = self.world.despawn(self.entity);
    }

    /// Gives its world back.
    pub fn into_world(self) -> &'w mut World {
        self.world
    }
}
