//! Groups as a user makes them.

use std::error::Error;
use std::fmt;

use super::pools::{Pools, name_of};
use super::{Bundle, ComponentVisitor, World};
use crate::component::Component;
use crate::entity::Entity;
use crate::group::{Clash, Condition, Family, GroupNumber};
use crate::storage::Storage;

/// A group of a world; see [`World::group`]. Needed to ask for its members, to sort it and to end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(GroupNumber);

/// Says what a new group is; see [`World::group`].
#[derive(Debug)]
#[must_use = "a group is made by `build`"]
pub struct GroupBuilder<'w> {
    world: &'w mut World,
    owned: Vec<u32>,
    observed: Vec<u32>,
    excluded: Vec<u32>,
}

impl World {
    /// Starts a group that owns the pools of `B`.
    ///
    /// A group keeps the entities that have certain components together, at the front of the pools
    /// it owns and in the same order, whatever comes and goes. A query over them is then a loop
    /// over slices at all times. Every insert and remove of one of its components costs a swap in
    /// each owned pool, so group what is iterated more often than it changes. A group that owns
    /// nothing (`world.group::<()>()`) only keeps a list of its members.
    ///
    /// A pool can be owned by several groups if each one's condition includes that of the next wider
    /// one, and so do their owned pools. Components whose storage never moves values (`Indexed`)
    /// cannot be owned.
    ///
    /// # Examples
    /// ```
    /// # use esker::prelude::*;
    /// # #[derive(Component)] struct Position(f32);
    /// # #[derive(Component)] struct Velocity(f32);
    /// # #[derive(Component)] struct Frozen;
    /// let mut world = World::new();
    /// let moving = world.group::<(Position, Velocity)>().exclude::<Frozen>().build()?;
    ///
    /// let boat = world.spawn((Position(0.0), Velocity(1.0)));
    /// world.spawn(Position(5.0));
    /// assert_eq!(world.group_len(moving), Some(1));
    /// world.insert(boat, Frozen).unwrap();
    /// assert_eq!(world.group_len(moving), Some(0));
    /// # Ok::<(), esker::world::GroupConflict>(())
    /// ```
    pub fn group<B: Bundle>(&mut self) -> GroupBuilder<'_> {
        let mut builder =
            GroupBuilder { world: self, owned: vec![], observed: vec![], excluded: vec![] };
        let mut owned = Owned(Registered { pools: &mut builder.world.pools, ids: vec![] });
        B::visit(&mut owned);
        builder.owned = owned.0.ids;
        builder
    }

    /// Dissolves a group; `false` if there is none. The pools stay in the order they have.
    pub fn ungroup(&mut self, group: GroupId) -> bool {
        let removed = self.pools.groups.remove(group.0);
        self.pools.mark_care();
        removed
    }

    /// Number of members of a group, if there is such a group.
    ///
    /// # Panics
    /// If one of its pools is borrowed for insert and remove.
    pub fn group_len(&self, group: GroupId) -> Option<usize> {
        let group = self.pools.groups.get(group.0)?;
        match group.group.try_read() {
            Ok(group) => Some(group.len()),
            Err(conflict) => panic!("the group is being changed: {conflict}"),
        }
    }

    /// A number that changes whenever a group is made or dissolved, or an edit of its pools comes to ask others.
    pub(crate) fn group_changes(&self) -> u64 {
        self.pools.groups.changes()
    }

    /// Whether there are groups.
    #[inline]
    pub(crate) fn has_groups(&self) -> bool {
        !self.pools.groups.is_empty()
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    pub(crate) fn pools_mut(&mut self) -> &mut Pools {
        &mut self.pools
    }
}

impl GroupId {
    pub(crate) fn number(self) -> GroupNumber {
        self.0
    }
}

impl GroupBuilder<'_> {
    /// Requires components whose pools the group does not own.
    pub fn observe<B: Bundle>(mut self) -> Self {
        self.observed.extend(register::<B>(&mut self.world.pools));
        self
    }

    /// Leaves out entities that have one of these components.
    pub fn exclude<B: Bundle>(mut self) -> Self {
        self.excluded.extend(register::<B>(&mut self.world.pools));
        self
    }

    /// Makes the group, and lets those in that fit already.
    ///
    /// A group that is there already is not made again; its id is returned.
    ///
    /// # Errors
    /// [`GroupConflict`] if the group contradicts itself, or another one; nothing has changed then.
    pub fn build(self) -> Result<GroupId, GroupConflict> {
        let Self { world, owned, observed, excluded } = self;
        let World { entities, pools, .. } = world;
        let bit = |id: u32| pools.at(id as usize).tag().bit();
        let name = |id: u32| pools.at(id as usize).name();
        let refused = |clash| match clash {
            Clash::Repeated(id) => GroupConflict::Repeated { component: name(id) },
            Clash::Empty => GroupConflict::Empty,
        };
        let condition = Condition::new([owned, observed, excluded], bit).map_err(refused)?;
        if let Some(number) = pools.groups.find(&condition) {
            return Ok(GroupId(number));
        }
        if let Some((other, shared)) = pools.groups.clash(&condition) {
            let groups = [pools.describe(&condition), pools.describe(other)];
            return Err(GroupConflict::NoChain { component: name(shared), groups });
        }
        let number = pools.groups.add(condition);
        pools.mark_care();
        pools.fill_group(number, |entity| entities.word_mut(entity).map_or(0, |word| *word));
        Ok(GroupId(number))
    }
}

impl Pools {
    /// Lets all entities into a new group that fit.
    pub(super) fn fill_group(
        &mut self,
        number: GroupNumber,
        mut signature: impl FnMut(Entity) -> u64,
    ) {
        let (groups, mut family) = self.split();
        let group = groups.get_mut(number).expect("it was just made");
        let lead = group.condition.owned.first().copied().or_else(|| {
            // Those that fit have all observed components: the shortest pool has them.
            let observed = group.condition.observed.iter().copied();
            observed.min_by_key(|&id| family.map(id).entities().len())
        });
        let Some(lead) = lead else { return };
        // From the front: who enters takes the place of one that was seen and did not fit.
        for at in 0..family.map(lead).entities().len() {
            let entity = family.map(lead).entities()[at];
            if group.condition.fits(entity, signature(entity), None, &mut family) {
                group.enter(entity, &mut family);
            }
        }
    }

    /// A group in words.
    fn describe(&self, condition: &Condition) -> String {
        let names = |ids: &[u32]| {
            let names: Vec<&str> =
                ids.iter().map(|&id| short(self.at(id as usize).name())).collect();
            names.join(", ")
        };
        let mut words = format!("group of ({})", names(&condition.owned));
        for (ids, word) in [(&condition.observed, "observing"), (&condition.excluded, "excluding")]
        {
            if !ids.is_empty() {
                words.push_str(&format!(" {word} ({})", names(ids)));
            }
        }
        words
    }
}

/// The last part of the path of a type.
fn short(name: &'static str) -> &'static str {
    // A generic type stays as it is: its parameters are paths, too.
    if name.contains('<') { name } else { name.rsplit("::").next().unwrap_or(name) }
}

/// Numbers of the components of a bundle, which the world knows from then on.
fn register<B: Bundle>(pools: &mut Pools) -> Vec<u32> {
    let mut registered = Registered { pools, ids: vec![] };
    B::visit(&mut registered);
    registered.ids
}

struct Registered<'w> {
    pools: &'w mut Pools,
    ids: Vec<u32>,
}

impl ComponentVisitor for Registered<'_> {
    fn visit<T: Component>(&mut self) {
        self.ids.push(self.pools.get_or_create::<T>().tag.id.index() as u32);
    }
}

/// As `Registered`, for pools that are to be owned.
struct Owned<'w>(Registered<'w>);

impl ComponentVisitor for Owned<'_> {
    fn visit<T: Component>(&mut self) {
        const {
            assert!(
                T::Storage::CONTIGUOUS,
                "a group cannot own a component whose values never move: observe it instead"
            );
        }
        self.0.visit::<T>();
    }
}

/// A group that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupConflict {
    /// It names a component twice.
    Repeated {
        /// Name of the component type.
        component: &'static str,
    },
    /// It names no component that its members must have.
    Empty,
    /// Two groups own a component, and neither's condition includes the other's.
    NoChain {
        /// Name of the component type.
        component: &'static str,
        /// The new group and the other one, in words.
        groups: [String; 2],
    },
}

impl fmt::Display for GroupConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { component } => {
                write!(f, "a group names `{component}` twice; name it once")
            }
            Self::Empty => f.write_str("a group must own or observe at least one component"),
            Self::NoChain { component, groups: [new, old] } => write!(
                f,
                "the {new} cannot own `{component}` beside the {old}, because neither's conditions \
                 and owned pools include the other's; observe it instead, or ungroup the other one"
            ),
        }
    }
}

impl Error for GroupConflict {}

/// A pool that a group owns cannot be put in an order of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedByGroup {
    /// Name of the component type.
    pub component: &'static str,
}

impl OwnedByGroup {
    pub(super) fn of<T>() -> Self {
        Self { component: name_of::<T>() }
    }
}

impl fmt::Display for OwnedByGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.component;
        write!(f, "the pool of `{name}` is owned by a group, which keeps its order; ")?;
        f.write_str("sort the group with `sort_group_by`, or `ungroup` it")
    }
}

impl Error for OwnedByGroup {}
