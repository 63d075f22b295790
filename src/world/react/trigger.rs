//! Events of the user's own, heard at once.

use std::any::TypeId;

use super::signals::List;
use super::{Cause, Commands, Connection, React};
use crate::world::World;
use crate::world::pools::name_of;

type Heard<E> = Box<dyn FnMut(&World, &E, &mut Commands<'_, '_>) + Send + Sync>;

impl React {
    fn channel<E: 'static>(&mut self) -> &mut List<Heard<E>> {
        let list = self.events.entry(TypeId::of::<E>()).or_insert_with(|| {
            let list: List<Heard<E>> = List::default();
            Box::new(list)
        });
        list.as_any().downcast_mut().expect("kept under the type of its events")
    }
}

impl World {
    /// Calls `listener` whenever an event of type `E` is [triggered](Self::trigger).
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// struct Explosion { at: f32 }
    /// # #[derive(Component)] struct Crater(f32);
    ///
    /// let mut world = World::new();
    /// world.on(|_, explosion: &Explosion, commands| _ = commands.spawn(Crater(explosion.at)));
    /// world.trigger(Explosion { at: 3.0 });
    /// assert_eq!(world.query::<&Crater>().single().unwrap().0, 3.0);
    /// ```
    pub fn on<E: 'static>(
        &mut self,
        listener: impl FnMut(&World, &E, &mut Commands<'_, '_>) + Send + Sync + 'static,
    ) -> Connection {
        let connection = self.pools.notes.signals.new_connection();
        self.react.channel::<E>().add(connection, Box::new(listener));
        connection
    }

    /// Has an event heard by all its listeners, now; then carries out what they have recorded.
    ///
    /// For events that can wait and that several read at a pace of their own, see
    /// [`send`](Self::send).
    pub fn trigger<E: 'static>(&mut self, event: E) {
        self.call_listeners(
            |world| Some(world.react.channel::<E>()),
            |listener, world, commands| listener(world, &event, commands),
        );
        self.note_cause(Cause::Triggered(name_of::<E>()));
        self.deliver();
    }
}
