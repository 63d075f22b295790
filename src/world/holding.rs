//! What an entity has, asked through `&mut World`: without guards, which one that was leaked would refuse.

use super::pools::Pools;
use super::{Bundle, ComponentId, ComponentVisitor, World};
use crate::component::Component;
use crate::entity::Entity;

impl World {
    /// Like [`has`](Self::has), but takes `&mut self` and therefore disregards guards that were leaked.
    pub(super) fn holds_all<B: Bundle>(&mut self, entity: Entity) -> bool {
        struct Holds<'w> {
            pools: &'w mut Pools,
            signature: u64,
            entity: Entity,
            all: bool,
        }
        impl ComponentVisitor for Holds<'_> {
            #[inline(always)]
            fn visit<T: Component>(&mut self) {
                let pool = self.pools.get_mut::<T>();
                self.all &= pool.is_some_and(|pool| match pool.tag.says(self.signature) {
                    Some(is_in) => is_in,
                    None => pool.cell.get_mut().contains(self.entity),
                });
            }
        }
        let Some(&mut signature) = self.entities.word_mut(entity) else { return false };
        let mut holds = Holds { pools: &mut self.pools, signature, entity, all: true };
        B::visit(&mut holds);
        holds.all
    }

    /// Like [`component_ids`](Self::component_ids), but takes `&mut self` and therefore disregards guards that were
    /// leaked.
    pub(crate) fn held_ids(&mut self, entity: Entity) -> Vec<ComponentId> {
        let Some(&mut signature) = self.entities.word_mut(entity) else { return Vec::new() };
        let mut ids = Vec::new();
        for id in Pools::candidates(signature, self.pools.len()) {
            let pool = self.pools.at_mut(id);
            if pool.tag().says(signature).unwrap_or_else(|| pool.map_mut().contains(entity)) {
                ids.push(pool.tag().id);
            }
        }
        ids.sort_unstable();
        ids
    }
}
