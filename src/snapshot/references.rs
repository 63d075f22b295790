//! Ids inside components and resources, which change their names from world to world.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, Hash};

use crate::entity::Entity;

/// An id that no entity ever has unless somebody demands it: what a reference becomes that leads
/// nowhere and cannot be left out.
pub const NOBODY: Entity = match Entity::new(Entity::MAX_INDEX, Entity::MAX_VERSION) {
    Some(entity) => entity,
    None => panic!("the halves are in range"),
};

/// A value that contains ids of entities. Derive it, with `#[entities]` at the fields that do.
///
/// ```
/// # use esker::{Entity, snapshot::MapEntities};
/// #[derive(MapEntities)]
/// struct Squad {
///     #[entities]
///     leader: Option<Entity>,
///     #[entities]
///     members: Vec<Entity>,
///     morale: f32,
/// }
/// ```
///
/// An id that leads nowhere becomes `None` in an option and goes out of a list; elsewhere it
/// becomes [`NOBODY`].
///
/// # Soundness
/// Safe to implement, however wrongly: an id that is not mapped is an id like any other.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which ids it contains",
    note = "add `#[derive(MapEntities)]` to `{Self}`, and `#[entities]` to the fields with ids"
)]
pub trait MapEntities {
    /// Replaces each id by what the mapper says; `false` if it leads nowhere, so that who keeps it
    /// in an option or a list lets it go.
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool;
}

/// Says which id stands for another.
pub struct EntityMapper<'a> {
    map: &'a mut dyn FnMut(Entity) -> Option<Entity>,
}

impl<'a> EntityMapper<'a> {
    /// A mapper that asks a function; `None` is an id that leads nowhere.
    pub fn new(map: &'a mut dyn FnMut(Entity) -> Option<Entity>) -> Self {
        Self { map }
    }

    /// What stands for `entity`.
    pub fn map(&mut self, entity: Entity) -> Option<Entity> {
        (self.map)(entity)
    }
}

impl fmt::Debug for EntityMapper<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EntityMapper")
    }
}

impl MapEntities for Entity {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        let mapped = mapper.map(*self);
        *self = mapped.unwrap_or(NOBODY);
        mapped.is_some()
    }
}

impl<T: MapEntities> MapEntities for Option<T> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        if self.as_mut().is_some_and(|value| !value.map_entities(mapper)) {
            *self = None;
        }
        true
    }
}

impl<T: MapEntities> MapEntities for Vec<T> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        self.retain_mut(|value| value.map_entities(mapper));
        true
    }
}

impl<T: MapEntities> MapEntities for VecDeque<T> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        self.retain_mut(|value| value.map_entities(mapper));
        true
    }
}

/// Sets, out of which ids go that lead nowhere.
macro_rules! sets {
    ($($name:ident $(, $hasher:ident)?);*) => {
        $(impl<$($hasher: BuildHasher + Default)?> MapEntities for $name<Entity $(, $hasher)?> {
            fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
                let ids = std::mem::take(self).into_iter();
                *self = ids.filter_map(|id| mapper.map(id)).collect();
                true
            }
        })*
    };
}

sets!(HashSet, S; BTreeSet);

/// Tuples, of which each part is mapped.
macro_rules! tuple {
    ($($name:ident $at:tt),*) => {
        impl<$($name: MapEntities),*> MapEntities for ($($name,)*) {
            #[allow(unused_variables, reason = "the empty tuple has nothing")]
            fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
                // Each of them, also behind one that leads nowhere.
                true $(& self.$at.map_entities(mapper))*
            }
        }
    };
}

crate::tuples::all_tuples!(tuple);

impl<T: MapEntities, const N: usize> MapEntities for [T; N] {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        // Each of them, also behind one that leads nowhere.
        let lost = self.iter_mut().filter_map(|value| (!value.map_entities(mapper)).then_some(()));
        lost.count() == 0
    }
}

impl<T: MapEntities + ?Sized> MapEntities for Box<T> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        (**self).map_entities(mapper)
    }
}

impl<V, S: BuildHasher + Default> MapEntities for HashMap<Entity, V, S> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        *self = mapped(self.drain(), mapper);
        true
    }
}

impl<V> MapEntities for BTreeMap<Entity, V> {
    fn map_entities(&mut self, mapper: &mut EntityMapper<'_>) -> bool {
        *self = mapped(std::mem::take(self), mapper);
        true
    }
}

/// The pairs whose key leads somewhere.
fn mapped<K: Hash + MapEntities, V, M: FromIterator<(K, V)>>(
    pairs: impl IntoIterator<Item = (K, V)>,
    mapper: &mut EntityMapper<'_>,
) -> M {
    let pairs = pairs.into_iter();
    pairs.filter_map(|(mut key, value)| key.map_entities(mapper).then_some((key, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_lead_nowhere_go_where_they_can() {
        let id = |index| Entity::new(index, 0).unwrap();
        let mut map = |entity: Entity| (entity.index() < 5).then(|| id(entity.index() + 100));
        let mut mapper = EntityMapper::new(&mut map);
        let mut list = vec![id(1), id(9), id(2)];
        let mut option = Some(id(8));
        let mut pair = (id(2), vec![id(9), id(0)]);
        let mut set: BTreeSet<Entity> = [id(1), id(6)].into();
        assert!(pair.map_entities(&mut mapper) && set.map_entities(&mut mapper));
        assert_eq!((pair.0, pair.1, set.len()), (id(102), vec![id(100)], 1));
        let mut array = [id(7), id(3)];
        let mut keys: BTreeMap<Entity, &str> = [(id(4), "kept"), (id(6), "gone")].into();

        assert!(list.map_entities(&mut mapper) && option.map_entities(&mut mapper));
        assert!(!array.map_entities(&mut mapper) && keys.map_entities(&mut mapper));
        assert_eq!(list, [id(101), id(102)]);
        assert_eq!(option, None);
        assert_eq!(array, [NOBODY, id(103)]);
        assert_eq!(keys.into_iter().collect::<Vec<_>>(), [(id(104), "kept")]);
    }
}
