//! Messages: sent by anybody, read by any number of readers at a pace of their own.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Index;
use std::sync::Arc;

use crate::journal::{Journal, Place, Portion};
use crate::world::{Res, ResMut, ResourceError, World};

/// The messages of one type: a resource; see [`World::send`].
#[derive(Debug)]
pub struct Messages<M> {
    journal: Journal<M>,
    /// The number of the world whose refresh drops what all have read; another one if they moved.
    world: u64,
}

/// Reads messages, each once; see [`World::message_cursor`].
#[derive(Debug)]
pub struct MessageCursor<M> {
    place: Arc<Place>,
    message: PhantomData<fn() -> M>,
}

/// Sends messages through `&World`, also from systems; see [`World::message_writer`] and
/// [`MessageReader`](crate::MessageReader).
#[derive(Debug)]
pub struct MessageWriter<'w, M> {
    messages: ResMut<'w, Messages<M>>,
}

/// The messages since the reader read last.
#[derive(Debug)]
pub struct MessageBatch<'w, M> {
    messages: Option<Res<'w, Messages<M>>>,
    portion: Portion,
}

impl<M: Send + Sync + 'static> Messages<M> {
    /// Those of a world, which has some from now on.
    fn of(world: &mut World) -> &mut Self {
        let number = world.number();
        if world.resource_slot::<Self>().is_none_or(|messages| messages.world != number) {
            Self::settle_in(world);
        }
        world.resource_slot::<Self>().expect("it is there now")
    }

    /// Lets a world have messages, if it has none, and lets its refresh drop what all have read.
    #[cold]
    fn settle_in(world: &mut World) {
        let number = world.number();
        match world.resource_slot::<Self>() {
            Some(messages) => messages.world = number,
            None => world.insert_transient(Self { journal: Journal::default(), world: number }),
        }
        let trims = &mut world.react.trims;
        // It may have had some before, that were removed.
        if trims.iter().all(|(of, _)| *of != TypeId::of::<M>()) {
            trims.push((TypeId::of::<M>(), |world| {
                if let Some(messages) = world.resource_slot::<Self>() {
                    let read_by_all = messages.journal.trim();
                    drop(read_by_all);
                }
            }));
        }
    }

    /// Sends a message; nobody keeps it if there is no reader.
    pub fn send(&mut self, message: M) {
        let gone = self.journal.push(message);
        drop(gone);
    }

    /// Number of messages that not all readers have read.
    pub fn len(&self) -> usize {
        self.journal.len()
    }

    /// Whether all readers have read all messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets at most this many messages wait for the slowest reader, instead of about a million.
    pub fn set_limit(&mut self, limit: usize) {
        drop(self.journal.set_limit(limit));
    }

    /// Messages that went although a reader had not read them.
    pub fn overtaken(&self) -> u64 {
        self.journal.overtaken()
    }
}

impl World {
    /// Sends a message to all readers that there are.
    ///
    /// A message is kept until all of them have read it. If more than about a million wait for one
    /// of them ([`Messages::set_limit`]), the oldest go, and the reader is told how many it
    /// [missed](MessageBatch::missed).
    ///
    /// # Examples
    /// ```
    /// # use esker::World;
    /// #[derive(Debug, PartialEq)]
    /// struct Scored(u32);
    ///
    /// let mut world = World::new();
    /// let mut reader = world.message_cursor::<Scored>();
    /// world.send(Scored(1));
    /// world.send(Scored(2));
    /// assert_eq!(reader.read(&world).iter().map(|scored| scored.0).sum::<u32>(), 3);
    /// assert!(reader.read(&world).is_empty());
    /// ```
    pub fn send<M: Send + Sync + 'static>(&mut self, message: M) {
        Messages::of(self).send(message);
    }

    /// Lets there be messages of this type, so that a [`MessageWriter`] can be had.
    pub fn register_messages<M: Send + Sync + 'static>(&mut self) {
        Messages::<M>::of(self);
    }

    /// A reader of messages: it is given each message that is sent from now on, exactly once and in
    /// order.
    pub fn message_cursor<M: Send + Sync + 'static>(&mut self) -> MessageCursor<M> {
        let place = Messages::<M>::of(self).journal.reader();
        MessageCursor { place, message: PhantomData }
    }

    /// Sends messages through `&World`, if somebody has registered a reader or sent one before.
    ///
    /// # Errors
    /// [`ResourceError`] if there are no such messages in the world, or they are borrowed.
    #[track_caller]
    pub fn message_writer<M: Send + Sync + 'static>(
        &self,
    ) -> Result<MessageWriter<'_, M>, ResourceError> {
        Ok(MessageWriter { messages: self.try_resource_mut()? })
    }
}

impl<M: Send + Sync + 'static> MessageWriter<'_, M> {
    /// Sends a message.
    pub fn send(&mut self, message: M) {
        self.messages.send(message);
    }
}

impl<M: Send + Sync + 'static> MessageCursor<M> {
    /// The messages since the last call, oldest first.
    ///
    /// # Panics
    /// If somebody is sending messages of this type.
    #[track_caller]
    pub fn read<'w>(&mut self, world: &'w World) -> MessageBatch<'w, M> {
        let batch = self.show(world);
        self.mark_read();
        batch
    }

    /// As [`read`](Self::read), but they count as read only after [`mark_read`](Self::mark_read).
    #[track_caller]
    pub(crate) fn show<'w>(&mut self, world: &'w World) -> MessageBatch<'w, M> {
        match world.try_resource::<Messages<M>>() {
            Ok(messages) => {
                let portion = messages.journal.show(&self.place);
                MessageBatch { messages: Some(messages), portion }
            }
            Err(ResourceError::Absent { .. }) => {
                let portion = Portion { start: 0, end: 0, missed: 0 };
                MessageBatch { messages: None, portion }
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The messages that were shown last count as read from now on.
    pub(crate) fn mark_read(&mut self) {
        self.place.mark_read();
    }

    /// Number of messages that were not read.
    pub fn unread(&self, world: &World) -> usize {
        world.try_resource::<Messages<M>>().map_or(0, |m| m.journal.unread(&self.place))
    }
}

impl<M> MessageBatch<'_, M> {
    /// Number of messages.
    pub fn len(&self) -> usize {
        self.portion.end - self.portion.start
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages that were not kept, because too many waited.
    pub fn missed(&self) -> u64 {
        self.portion.missed
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &M> {
        (0..self.len()).map(|at| &self[at])
    }
}

impl<M> Index<usize> for MessageBatch<'_, M> {
    type Output = M;

    fn index(&self, at: usize) -> &M {
        let len = self.len();
        assert!(at < len, "message {at} of {len}");
        let messages = self.messages.as_ref().expect("there are some, as there is a message");
        messages.journal.get(self.portion.start + at).expect("kept as long as it is read")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_are_removed_and_sent_again_are_trimmed_by_one_function() {
        let mut world = World::new();
        for n in 0..100_u32 {
            world.send(n);
            assert!(world.remove_resource::<Messages<u32>>().is_some());
            world.send("another type");
        }

        assert_eq!(world.react.trims.len(), 2);
    }
}
