//! The types that a snapshot knows.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::column::{self, ColumnReader, ComponentType};
use super::error::{SnapshotError, What};
use super::form::Snapshot;
use super::single::{self, Replaced, ResourceType, SingleReader, Value};
use crate::component::Component;
use crate::world::World;

/// Which components and resources are kept in snapshots, and how old ones are read.
///
/// Every type has a [name and a version](Snapshot), so a snapshot does not depend on paths or on
/// the order in which types are registered. Cheap to clone. Put it into the world as a resource,
/// and [`World::try_clone`], [`World::state_hash`] and the like need not be told.
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// use esker::snapshot::{Snapshot, SnapshotTypes};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Component, Snapshot, Serialize, Deserialize)]
/// struct Name(String);
///
/// #[derive(Snapshot, Serialize, Deserialize)]
/// struct Score(u32);
///
/// let types = SnapshotTypes::new().component::<Name>().resource::<Score>();
/// let mut world = World::new();
/// let ada = world.spawn(Name("Ada".into()));
/// world.insert_resource(Score(3));
///
/// let bytes = types.save().to_bytes(&world)?;
/// let loaded = types.load().to_world(&bytes)?;
/// assert_eq!(loaded.get::<Name>(ada).unwrap().0, "Ada");
/// assert_eq!(loaded.resource::<Score>().0, 3);
/// # Ok::<(), esker::snapshot::SnapshotError>(())
/// ```
#[derive(Clone, Default)]
pub struct SnapshotTypes {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    components: Vec<Arc<dyn ComponentType>>,
    resources: Vec<Arc<dyn ResourceType>>,
    columns: FxHashMap<(String, u32), Arc<dyn ColumnReader>>,
    singles: FxHashMap<(String, u32), Arc<dyn SingleReader>>,
    ignored: FxHashSet<TypeId>,
    ignores_unknown: bool,
}

impl SnapshotTypes {
    /// No types.
    pub fn new() -> Self {
        Self::default()
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.inner)
    }

    /// Keeps the values of a component.
    ///
    /// # Panics
    /// If another component has the same name.
    #[track_caller]
    #[must_use]
    pub fn component<T: Component + Snapshot>(mut self) -> Self {
        let clash = self.inner.components.iter().find(|known| known.name() == T::NAME);
        refuse_clash::<T>(clash.map(|known| (known.type_id(), known.type_name())), T::NAME);
        if clash.is_none() {
            self.inner().components.push(Arc::new(column::Of::<T>(PhantomData)));
        }
        let reader = column::Reading::<T, T> { convert: Arc::new(|values| values) };
        self.inner().columns.insert((T::NAME.into(), T::VERSION), Arc::new(reader));
        self
    }

    /// Keeps a resource.
    ///
    /// # Panics
    /// If another resource has the same name.
    #[track_caller]
    #[must_use]
    pub fn resource<R: Snapshot>(mut self) -> Self {
        let clash = self.inner.resources.iter().find(|known| known.name() == R::NAME);
        refuse_clash::<R>(clash.map(|known| (known.type_id(), known.type_name())), R::NAME);
        if clash.is_none() {
            self.inner().resources.push(Arc::new(single::Of::<R>(PhantomData)));
        }
        let reader = single::Reading::<R, R> { convert: Arc::new(|value| value) };
        self.inner().singles.insert((R::NAME.into(), R::VERSION), Arc::new(reader));
        self
    }

    /// Does not keep the values of a component, on purpose.
    #[must_use]
    pub fn ignore<T: Component>(mut self) -> Self {
        self.inner().ignored.insert(TypeId::of::<T>());
        self
    }

    /// Does not keep a resource, on purpose.
    #[must_use]
    pub fn ignore_resource<R: 'static>(mut self) -> Self {
        self.inner().ignored.insert(TypeId::of::<R>());
        self
    }

    /// Does not keep anything that is not registered, instead of refusing to save it.
    #[must_use]
    pub fn registered_only(mut self) -> Self {
        self.inner().ignores_unknown = true;
        self
    }

    /// Reads an older version of a component, which has the name and version of `Old`.
    ///
    /// # Examples
    /// ```
    /// # use esker::{Component, World, snapshot::{Snapshot, SnapshotTypes, SnapshotError}};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Component, Snapshot, Serialize, Deserialize)]
    /// #[snapshot(name = "hp")]
    /// struct OldHealth(u8);
    ///
    /// #[derive(Component, Snapshot, Serialize, Deserialize)]
    /// #[snapshot(name = "health", version = 2)]
    /// struct Health { points: u32, full: u32 }
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(OldHealth(7));
    /// let bytes = SnapshotTypes::new().component::<OldHealth>().save().to_bytes(&world)?;
    ///
    /// let types = SnapshotTypes::new()
    ///     .component::<Health>()
    ///     .migrate(|old: OldHealth| Health { points: old.0.into(), full: 100 });
    /// let world = types.load().to_world(&bytes)?;
    /// assert_eq!(world.get::<Health>(e).unwrap().points, 7);
    /// # Ok::<(), SnapshotError>(())
    /// ```
    #[must_use]
    pub fn migrate<Old: Snapshot, T: Component + Snapshot>(
        mut self,
        convert: impl Fn(Old) -> T + Send + Sync + 'static,
    ) -> Self {
        let convert: column::Convert<Old, T> =
            Arc::new(move |values| values.into_iter().map(&convert).collect());
        let key = (Old::NAME.into(), Old::VERSION);
        self.inner().columns.insert(key, Arc::new(column::Reading { convert }));
        self
    }

    /// Reads an older version of a resource.
    #[must_use]
    pub fn migrate_resource<Old: Snapshot, R: Snapshot>(
        mut self,
        convert: impl Fn(Old) -> R + Send + Sync + 'static,
    ) -> Self {
        let convert = Arc::new(convert);
        let key = (Old::NAME.into(), Old::VERSION);
        self.inner().singles.insert(key, Arc::new(single::Reading { convert }));
        self
    }

    /// Reads a component under a name that it had before, in its present version.
    #[must_use]
    pub fn renamed<T: Component + Snapshot>(mut self, old_name: &str) -> Self {
        let reader = column::Reading::<T, T> { convert: Arc::new(|values| values) };
        self.inner().columns.insert((old_name.into(), T::VERSION), Arc::new(reader));
        self
    }

    pub(super) fn components(&self) -> &[Arc<dyn ComponentType>] {
        &self.inner.components
    }

    pub(super) fn resources(&self) -> &[Arc<dyn ResourceType>] {
        &self.inner.resources
    }

    /// Copies of all registered resources of a world.
    #[track_caller]
    pub(super) fn copy_resources(
        &self,
        world: &World,
    ) -> Result<Vec<Box<dyn Value>>, SnapshotError> {
        let mut copies = Vec::new();
        for resource in self.resources() {
            let Some(single) = resource.open(world)? else { continue };
            let (what, name) = (What::Resource, resource.type_name());
            copies.push(single.copy().ok_or(SnapshotError::NotClonable { what, name })?);
        }
        Ok(copies)
    }

    /// Puts these resources into a world, in place of all registered ones, which are returned.
    #[must_use = "their drops wait until everything is in its place"]
    pub(super) fn put_resources(
        &self,
        world: &mut World,
        values: Vec<Box<dyn Value>>,
    ) -> Vec<Replaced> {
        let mut replaced = Vec::new();
        for resource in self.resources() {
            if !values.iter().any(|value| value.name() == resource.name()) {
                replaced.extend(resource.remove(world));
            }
        }
        replaced.extend(values.into_iter().filter_map(|value| value.insert(world)));
        replaced
    }

    pub(super) fn column_reader(&self, name: &str, version: u32) -> Option<&dyn ColumnReader> {
        Some(&**self.inner.columns.get(&(name.to_owned(), version))?)
    }

    pub(super) fn single_reader(&self, name: &str, version: u32) -> Option<&dyn SingleReader> {
        Some(&**self.inner.singles.get(&(name.to_owned(), version))?)
    }

    /// The versions of a name that can be read, in words.
    pub(super) fn known_versions(&self, what: What, name: &str) -> Option<String> {
        let Inner { columns, singles, .. } = &*self.inner;
        let known: Vec<&(String, u32)> = match what {
            What::Component => columns.keys().collect(),
            What::Resource => singles.keys().collect(),
        };
        let known = known.into_iter().filter(|(known, _)| known == name);
        let mut versions: Vec<u32> = known.map(|&(_, version)| version).collect();
        versions.sort_unstable();
        let words: Vec<String> = versions.iter().map(u32::to_string).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The registered components of a world, in the order of their numbers there.
    pub(super) fn in_order(&self, world: &World) -> Vec<&dyn ComponentType> {
        let ids = world.component_types();
        let known = |id: &TypeId| self.inner.components.iter().find(|known| known.type_id() == *id);
        ids.iter().filter_map(|(id, ..)| Some(&**known(id)?)).collect()
    }

    /// Whether all components that somebody has are registered.
    pub(super) fn has_all_components(&self, world: &World) -> bool {
        let is_known = |id| self.inner.components.iter().any(|known| known.type_id() == id);
        world.component_types().into_iter().all(|(id, _, len)| len == 0 || is_known(id))
    }

    /// Whether everything in a world is registered, or ignored on purpose.
    pub(super) fn check_complete(&self, world: &World) -> Result<(), SnapshotError> {
        if self.inner.ignores_unknown {
            return Ok(());
        }
        let ignored = |id: &TypeId| self.inner.ignored.contains(id);
        for (id, name, len) in world.component_types() {
            let is_known = self.inner.components.iter().any(|known| known.type_id() == id);
            if len > 0 && !is_known && !ignored(&id) {
                return Err(SnapshotError::unregistered(What::Component, name));
            }
        }
        for (id, name) in world.resource_types() {
            let is_known = id == TypeId::of::<Self>()
                || self.inner.resources.iter().any(|known| known.type_id() == id);
            if !is_known && !ignored(&id) {
                return Err(SnapshotError::unregistered(What::Resource, name));
            }
        }
        Ok(())
    }
}

#[track_caller]
fn refuse_clash<T: 'static>(known: Option<(TypeId, &'static str)>, name: &str) {
    if let Some((_, other)) = known.filter(|(id, _)| *id != TypeId::of::<T>()) {
        let this = type_name::<T>();
        panic!(
            "`{this}` and `{other}` have the same name `{name}` in snapshots; give one of them \
             another with `#[snapshot(name = \"…\")]`"
        );
    }
}

impl fmt::Debug for SnapshotTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let components = self.inner.components.iter().map(|known| known.name());
        let resources = self.inner.resources.iter().map(|known| known.name());
        f.debug_struct("SnapshotTypes")
            .field("components", &components.collect::<Vec<_>>())
            .field("resources", &resources.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
