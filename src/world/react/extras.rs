//! What a component type brings along: listeners of its own, and components it requires.

use super::{Commands, What};
use crate::component::Component;
use crate::entity::Entity;
use crate::world::World;
use crate::world::gate::Gate;

/// A listener that a component type brings along.
pub type Hook = fn(&World, Entity, &mut Commands<'_, '_>);

/// What `#[component(on_add = …, require(…))]` says; made by `derive(Component)`.
///
/// The layer of components does not know the world, so
/// [`Component::extras`](crate::Component::extras) speaks of it as `dyn Any`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras {
    /// Called as a listener of [`World::on_add`], before all others.
    pub on_add: Option<Hook>,
    /// Called as a listener of [`World::on_change`], before all others.
    pub on_change: Option<Hook>,
    /// Called as a listener of [`World::on_remove`], before all others.
    pub on_remove: Option<Hook>,
    /// Each gives an entity a component that it lacks, by [`Provider::require`].
    pub require: &'static [fn(&mut Provider<'_>, Entity)],
}

impl Extras {
    /// None.
    pub const NONE: Self = Self { on_add: None, on_change: None, on_remove: None, require: &[] };

    /// Those of a component type.
    pub(in crate::world) fn of<T: Component>() -> &'static Self {
        T::extras().and_then(|extras| extras.downcast_ref()).unwrap_or(&Self::NONE)
    }

    /// The listeners, and what each listens to.
    pub(in crate::world) fn hooks(&self) -> impl Iterator<Item = (What, Hook)> {
        let all = [
            (What::Added, self.on_add),
            (What::Changed, self.on_change),
            (What::Removing, self.on_remove),
        ];
        all.into_iter().filter_map(|(what, hook)| Some((what, hook?)))
    }
}

/// Gives entities the components that others require; see [`Extras::require`].
///
/// Lends the world for nothing else: what is being delivered belongs to it.
#[derive(Debug)]
pub struct Provider<'w>(pub(super) &'w mut World);

impl Provider<'_> {
    /// Gives a living entity the component that `make` makes, if it has none.
    ///
    /// The event is delivered with that of the component which requires it.
    pub fn require<T: Component>(&mut self, entity: Entity, make: fn() -> T) {
        let World { entities, pools, .. } = &mut *self.0;
        let Some(word) = entities.word_mut(entity) else { return };
        let has_one = pools.get_mut::<T>().is_some_and(|pool| pool.cell.get_mut().contains(entity));
        if !has_one {
            let mut gate = Gate::new(pools, word, entity);
            let before = *gate.word;
            gate.insert(make());
            gate.note_change(before);
        }
    }
}
