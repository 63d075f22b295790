//! Calling listeners: they and the queue for their commands are out of the world meanwhile, because
//! it is shared with them.

use std::mem;

use super::signals::{Entry, List};
use super::{Commands, Queue};
use crate::world::World;

impl World {
    /// Calls each listener of the list that `place` finds. What they record waits in the queue.
    ///
    /// If one of them unwinds, the list is put back and the commands recorded so far are discarded.
    pub(super) fn call_listeners<L>(
        &mut self,
        place: impl Fn(&mut World) -> Option<&mut List<L>>,
        mut call: impl FnMut(&mut L, &World, &mut Commands<'_, '_>),
    ) {
        let Some(list) = place(self).filter(|list| !list.0.is_empty()) else { return };
        let list = mem::take(list);
        let queue = mem::take(&mut self.react.queue);
        let mut lent = Lent { world: self, place, list, queue, is_done: false };
        lent.list.0.retain(Entry::is_alive);
        let Lent { world, list, queue, .. } = &mut lent;
        for entry in &mut list.0 {
            call(&mut entry.listener, world, &mut Commands::new(world, queue));
        }
        lent.is_done = true;
    }
}

struct Lent<'w, L, P: Fn(&mut World) -> Option<&mut List<L>>> {
    world: &'w mut World,
    place: P,
    list: List<L>,
    queue: Queue,
    /// Whether no listener has unwound.
    is_done: bool,
}

impl<L, P: Fn(&mut World) -> Option<&mut List<L>>> Drop for Lent<'_, L, P> {
    fn drop(&mut self) {
        if let Some(list) = (self.place)(self.world) {
            *list = mem::take(&mut self.list);
        }
        if self.is_done {
            self.world.react.queue = mem::take(&mut self.queue);
            self.world.pools.notes.is_pending |= !self.world.react.queue.is_empty();
        } else {
            self.queue.discard(self.world);
        }
    }
}
