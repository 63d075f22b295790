//! What somebody wants to do, known before he does it: which components and resources, and how.

use std::any::TypeId;
use std::fmt;

/// How something is used, from the most peaceful to the most demanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Usage {
    /// Who has the component; values may be written meanwhile.
    Look,
    /// When values were changed.
    Ticks,
    /// Values are read.
    Read,
    /// Values are written.
    Write,
    /// Values come and go.
    Own,
}

impl Usage {
    /// All of them, in this order.
    pub(crate) const ALL: [Self; 5] = [Self::Look, Self::Ticks, Self::Read, Self::Write, Self::Own];

    /// Whether two who do this must not do it at once, or in an order that nobody has said.
    pub fn excludes(self, other: Self) -> bool {
        match self.max(other) {
            Self::Own => true,
            Self::Write => self.min(other) != Self::Look,
            _ => false,
        }
    }

    /// Whether whatever this excludes the other one excludes, too.
    pub(crate) fn is_covered_by(self, other: Self) -> bool {
        Self::ALL.iter().all(|&third| !self.excludes(third) || other.excludes(third))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Look => "ask who has it",
            Self::Ticks => "ask when it changed",
            Self::Read => "read it",
            Self::Write => "write it",
            Self::Own => "insert and remove it",
        })
    }
}

/// A component, a resource, a group, or the world as a whole.
#[derive(Clone, Copy)]
pub struct Key {
    of: TypeId,
    /// Which one of several of this type: the number of a group.
    number: u32,
    name: &'static str,
}

impl Key {
    /// That of a component or resource type.
    pub fn of<T: 'static>() -> Self {
        Self::new(TypeId::of::<T>(), std::any::type_name::<T>())
    }

    /// That of a type which is known by its id alone.
    pub(crate) fn new(of: TypeId, name: &'static str) -> Self {
        Self { of, number: 0, name }
    }

    /// That of a group, which is edited with each pool that it names.
    pub(crate) fn group(number: u32) -> Self {
        struct AGroup;
        Self { number, ..Self::new(TypeId::of::<AGroup>(), "the members of a group") }
    }

    /// The world: everybody reads it, and who owns it is alone.
    pub(crate) fn world() -> Self {
        struct TheWorld;
        Self::new(TypeId::of::<TheWorld>(), "the world")
    }

    /// Its full name.
    pub fn name(self) -> &'static str {
        self.name
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.of, self.number) == (other.of, other.number)
    }
}

impl Eq for Key {}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.of, self.number).hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All that a system uses.
///
/// Needed for a [`SystemParam`](crate::SystemParam) of your own: its `init` says here what it will use, so that the
/// schedule keeps systems apart that exclude each other. What is said wrongly ends in a panic, not in undefined
/// behaviour.
#[derive(Debug, Clone, Default)]
pub struct AccessSet {
    uses: Vec<(Key, Usage)>,
    /// The first use that excludes another one of the same system.
    clash: Option<(Key, [Usage; 2])>,
}

impl AccessSet {
    /// Adds a use.
    pub fn add(&mut self, key: Key, usage: Usage) {
        // Who has the world to himself has it once, whoever of his parameters says so.
        let others = self.uses.iter().filter(|(other, _)| *other == key && key != Key::world());
        for (_, other) in others {
            // What one system changes it may ask about itself.
            let is_own_question =
                usage.min(*other) == Usage::Ticks && usage.max(*other) < Usage::Own;
            if usage.excludes(*other) && !is_own_question && self.clash.is_none() {
                self.clash = Some((key, [*other, usage]));
            }
        }
        if !self.uses.contains(&(key, usage)) {
            self.uses.push((key, usage));
        }
    }

    /// The uses, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (Key, Usage)> {
        self.uses.iter().copied()
    }

    /// A use that excludes another one of the same system, if there is one.
    pub(crate) fn clash(&self) -> Option<(Key, [Usage; 2])> {
        self.clash
    }

    /// Whether the whole world is used, and shared with no other system.
    pub(crate) fn has_world(&self) -> bool {
        self.uses.contains(&(Key::world(), Usage::Own))
    }

    /// Adds all uses of another one, which is not checked against this one.
    pub(crate) fn extend(&mut self, other: &Self) {
        for &(key, usage) in &other.uses {
            if !self.uses.contains(&(key, usage)) {
                self.uses.push((key, usage));
            }
        }
        self.clash = self.clash.or(other.clash);
    }

    /// What two systems must not do at once, if there is something.
    pub(crate) fn conflict(&self, other: &Self) -> Option<Key> {
        let excluded = |(key, usage): (Key, Usage)| {
            other.iter().any(|(its_key, its)| its_key == key && usage.excludes(its))
        };
        self.iter().find(|&one| excluded(one)).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusion_is_mutual_and_owners_exclude_all() {
        for a in Usage::ALL {
            assert!(a.excludes(Usage::Own));
            assert!(a.is_covered_by(Usage::Own));
            for b in Usage::ALL {
                assert_eq!(a.excludes(b), b.excludes(a));
            }
        }
        assert!(!Usage::Look.excludes(Usage::Write));
        assert!(Usage::Ticks.excludes(Usage::Write));
        assert!(!Usage::Read.excludes(Usage::Read));
        assert!(Usage::Read.is_covered_by(Usage::Write));
        assert!(!Usage::Write.is_covered_by(Usage::Ticks));
    }

    #[test]
    fn a_set_knows_if_it_excludes_itself() {
        let key = Key::of::<u8>();
        let mut set = AccessSet::default();
        set.add(key, Usage::Write);
        set.add(key, Usage::Look);
        set.add(key, Usage::Ticks);
        assert!(set.clash().is_none());
        set.add(Key::of::<u16>(), Usage::Read);
        set.add(key, Usage::Read);
        assert_eq!(set.clash().map(|(_, both)| both), Some([Usage::Write, Usage::Read]));
    }
}
