//! Who has entered and left a group, seen from one refresh to the next.

use std::fmt;

use super::signals::{AnyList, BoxedListener, List};
use super::{Cause, Connection, Listener};
use crate::entity::Entity;
use crate::group::GroupNumber;
use crate::sparse::{Entry, SparseSet};
use crate::world::{GroupId, World};

/// The groups that are watched.
#[derive(Default)]
pub(super) struct Watches(Vec<Watch>);

struct Watch {
    group: GroupNumber,
    /// The members at the last refresh.
    known: SparseSet,
    crossings: Crossings,
    enter: List<BoxedListener>,
    leave: List<BoxedListener>,
}

/// Who has entered and left a group between the last two refreshes; see [`World::watch`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crossings {
    /// Entities that were no members before and are now.
    pub entered: Vec<Entity>,
    /// Entities that were members before and are not any more; they may be dead.
    pub left: Vec<Entity>,
}

impl Watches {
    pub(super) fn lists(&mut self) -> impl Iterator<Item = &mut dyn AnyList> {
        let lists = self.0.iter_mut().flat_map(|watch| [&mut watch.enter, &mut watch.leave]);
        lists.map(|list| list as &mut dyn AnyList)
    }

    fn find(&mut self, group: GroupId) -> Option<&mut Watch> {
        self.0.iter_mut().find(|watch| watch.group == group.number())
    }
}

impl World {
    /// Watches who enters and leaves a group; `false` if there is no such group.
    ///
    /// From then on each [`refresh`](Self::refresh) finds out who has entered and left since the one
    /// before. Who did both is in neither list. Members that are there already have entered. To
    /// watch the matches of a query, make a group of its condition that owns nothing.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Body;
    /// # #[derive(Component)] struct Frozen;
    /// let mut world = World::new();
    /// let moving = world.group::<()>().observe::<Body>().exclude::<Frozen>().build()?;
    /// world.watch(moving);
    /// let (a, b) = (world.spawn(Body), world.spawn((Body, Frozen)));
    /// world.refresh();
    /// assert_eq!(world.crossings(moving).unwrap().entered, [a]);
    ///
    /// world.insert(a, Frozen).unwrap();
    /// world.remove::<Frozen>(b).unwrap();
    /// world.refresh();
    /// let crossings = world.crossings(moving).unwrap();
    /// assert_eq!((&crossings.entered[..], &crossings.left[..]), (&[b][..], &[a][..]));
    /// # Ok::<(), esker::world::GroupConflict>(())
    /// ```
    #[doc(alias = "subscribe")]
    pub fn watch(&mut self, group: GroupId) -> bool {
        let Some(watched) = self.pools.groups.get_mut(group.number()) else { return false };
        if self.react.watches.find(group).is_none() {
            watched.watch();
            self.react.watches.0.push(Watch {
                group: group.number(),
                known: SparseSet::new(),
                crossings: Crossings::default(),
                enter: List::default(),
                leave: List::default(),
            });
            self.pools.mark_care();
        }
        true
    }

    /// Who has entered and left a group between the last two refreshes; `None` if it is not watched.
    pub fn crossings(&self, group: GroupId) -> Option<&Crossings> {
        let watch = self.react.watches.0.iter().find(|watch| watch.group == group.number())?;
        Some(&watch.crossings)
    }

    /// Calls `listener` at each refresh for every entity that has entered a group, and watches it;
    /// `None` if there is no such group.
    pub fn on_enter(&mut self, group: GroupId, listener: impl Listener) -> Option<Connection> {
        self.watch(group).then(|| {
            let connection = self.pools.notes.signals.new_connection();
            let watch = self.react.watches.find(group).expect("it is watched now");
            watch.enter.add(connection, Box::new(listener));
            connection
        })
    }

    /// Calls `listener` at each refresh for every entity that has left a group, and watches it;
    /// `None` if there is no such group.
    pub fn on_leave(&mut self, group: GroupId, listener: impl Listener) -> Option<Connection> {
        self.watch(group).then(|| {
            let connection = self.pools.notes.signals.new_connection();
            let watch = self.react.watches.find(group).expect("it is watched now");
            watch.leave.add(connection, Box::new(listener));
            connection
        })
    }

    /// Whether a group is watched.
    #[inline]
    pub(in crate::world) fn has_watches(&self) -> bool {
        !self.react.watches.0.is_empty()
    }

    /// Finds out who has crossed the borders of watched groups, and tells the listeners.
    pub(in crate::world) fn refresh_watches(&mut self) {
        let groups = &self.pools.groups;
        self.react.watches.0.retain(|watch| groups.get(watch.group).is_some());
        for at in 0..self.react.watches.0.len() {
            self.find_crossings(at);
        }
        let count = self.react.watches.0.len();
        for at in 0..count {
            self.tell_crossings(at, false, |watch| &mut watch.leave, |c| &c.left);
            self.tell_crossings(at, true, |watch| &mut watch.enter, |c| &c.entered);
        }
    }

    fn find_crossings(&mut self, at: usize) {
        let watch = &mut self.react.watches.0[at];
        let (groups, mut family) = self.pools.split();
        let Some(group) = groups.get_mut(watch.group) else { return };
        let mut crossings = Crossings::default();
        let touched = group.take_touched(&watch.known, &mut family);
        for entity in touched {
            // Another version of it that was a member, of whose death nobody else may tell.
            if let Entry::Displaced(at) = watch.known.entry(entity) {
                let other = watch.known.as_slice()[at];
                if !group.has(other, &mut family) {
                    watch.known.remove(other);
                    crossings.left.push(other);
                }
            }
            match (watch.known.contains(entity), group.has(entity, &mut family)) {
                (false, true) => {
                    watch.known.insert(entity);
                    crossings.entered.push(entity);
                }
                (true, false) => {
                    watch.known.remove(entity);
                    crossings.left.push(entity);
                }
                _ => {}
            }
        }
        watch.crossings = crossings;
    }

    fn tell_crossings(
        &mut self,
        at: usize,
        has_entered: bool,
        list: fn(&mut Watch) -> &mut List<BoxedListener>,
        who: fn(&Crossings) -> &Vec<Entity>,
    ) {
        for entity in who(&self.react.watches.0[at].crossings).clone() {
            self.call_listeners(
                |world| Some(list(&mut world.react.watches.0[at])),
                |listener, world, commands| listener(world, entity, commands),
            );
            self.note_cause(Cause::Crossed { entity, has_entered });
        }
    }
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watches").field("len", &self.0.len()).finish()
    }
}
