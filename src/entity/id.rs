//! The id of an entity: an index and a version in eight bytes.

use std::cmp::Ordering;
use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::str::FromStr;

/// Names one entity of a [`World`](crate::World), for ever.
///
/// An id is an **index**, the place where the entity is looked up, and a **version**, which
/// tells it from the earlier entities that had the same index. When the entity dies its index is
/// given to a later one with the next version, so an id that was kept too long names nothing; it
/// never names the successor.
///
/// `Entity` is eight bytes, and so is `Option<Entity>`: use `None` where other libraries have a
/// null id. Ids are ordered by index, then by version, and print as `12v3`.
///
/// Ids of different worlds are not told apart: keep them with the world they came from. An id
/// of another world is either dead here or names whatever entity has the same index and version.
///
/// # Examples
/// ```
/// # use esker::{Entity, World};
/// let mut world = World::new();
/// let first = world.spawn(());
/// assert_eq!((first.index(), first.version()), (0, 0));
///
/// world.despawn(first).unwrap();
/// let second = world.spawn(());
/// assert_eq!(second.to_string(), "0v1");
/// assert!(!world.is_alive(first));
/// ```
#[doc(alias = "handle")]
#[doc(alias = "id")]
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Entity {
    /// Version in the upper half, in the lower one the index plus one, which is never zero: index
    /// `u32::MAX` is the niche of `Option<Entity>`. One number, so that it stays in one register.
    raw: NonZeroU64,
}

const _: () = assert!(size_of::<Entity>() == 8 && size_of::<Option<Entity>>() == 8);

impl Entity {
    /// The highest index an entity can have.
    pub const MAX_INDEX: u32 = u32::MAX - 1;

    /// The highest version an entity can have.
    pub const MAX_VERSION: u32 = u32::MAX - 1;

    /// Builds an id from its halves; `None` if one of them is `u32::MAX`, which no entity has.
    ///
    /// The id names an entity only if the world has given out just this id.
    #[inline]
    pub const fn new(index: u32, version: u32) -> Option<Self> {
        if index > Self::MAX_INDEX || version > Self::MAX_VERSION {
            return None;
        }
        match NonZeroU64::new((version as u64) << 32 | (index as u64 + 1)) {
            Some(raw) => Some(Self { raw }),
            None => None,
        }
    }

    /// The id of an index and a version that a slot holds, and that are known to be in range.
    #[inline]
    pub(super) fn of(index: u32, version: u32) -> Self {
        debug_assert!(index <= Self::MAX_INDEX && version <= Self::MAX_VERSION);
        let number = NonZeroU64::MIN.saturating_add(u64::from(index));
        Self { raw: number | u64::from(version) << 32 }
    }

    /// The place where the entity is looked up.
    #[inline(always)]
    pub const fn index(self) -> u32 {
        (self.raw.get() as u32).wrapping_sub(1)
    }

    /// How many entities had this index before, as far as the world gave the ids out by itself.
    #[inline(always)]
    #[doc(alias = "generation")]
    pub const fn version(self) -> u32 {
        (self.raw.get() >> 32) as u32
    }

    /// The id as a number: version in the upper half, index in the lower one.
    ///
    /// # Examples
    /// ```
    /// # use esker::Entity;
    /// let e = Entity::new(12, 3).unwrap();
    /// assert_eq!(e.to_bits(), 3 << 32 | 12);
    /// assert_eq!(Entity::try_from_bits(e.to_bits()), Some(e));
    /// assert_eq!(Entity::try_from_bits(u64::MAX), None);
    /// ```
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.raw.get() - 1
    }

    /// The id that [`to_bits`](Self::to_bits) turned into this number, if there is one.
    #[inline]
    pub const fn try_from_bits(bits: u64) -> Option<Self> {
        Self::new(bits as u32, (bits >> 32) as u32)
    }

    /// The eight bytes as they are, for comparing in one go.
    #[inline(always)]
    pub(crate) const fn raw(self) -> u64 {
        self.raw.get()
    }
}

impl PartialOrd for Entity {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entity {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.index(), self.version()).cmp(&(other.index(), other.version()))
    }
}

impl Hash for Entity {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_bits().hash(state);
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}v{}", self.index(), self.version()))
    }
}

/// The text is not an entity id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseEntityError {
    text: String,
}

impl fmt::Display for ParseEntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an entity id; write index and version, as in `12v3`", self.text)
    }
}

impl Error for ParseEntityError {}

impl FromStr for Entity {
    type Err = ParseEntityError;

    /// Reads what `Display` writes, and nothing else: no sign, no leading zero.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let halves = text.split_once('v');
        let id = halves.and_then(|(index, version)| Self::new(half(index)?, half(version)?));
        id.ok_or_else(|| ParseEntityError { text: text.to_owned() })
    }
}

/// Reads one half of an id. `u32::from_str` would also accept `+7` and `007`.
fn half(text: &str) -> Option<u32> {
    let is_canonical = match text.as_bytes() {
        [b'0', _, ..] => false,
        digits => digits.iter().all(u8::is_ascii_digit),
    };
    if is_canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_survive_the_round_trip() {
        // EnTT 1, RTE 1.
        for (index, version) in [(0, 0), (1, 0), (0, 1), (Entity::MAX_INDEX, Entity::MAX_VERSION)] {
            let e = Entity::new(index, version).unwrap();

            assert_eq!((e.index(), e.version()), (index, version));
            assert_eq!(Entity::try_from_bits(e.to_bits()), Some(e));
            assert_eq!(e.to_string().parse(), Ok(e));
            assert_eq!(format!("{e:?}"), e.to_string());
        }
    }

    #[test]
    fn the_reserved_index_and_the_reserved_version_make_no_id() {
        // EnTT 2, 7 and 8: what EnTT truncates or calls null and tombstone cannot be written here.
        assert_eq!(Entity::new(u32::MAX, 0), None);
        assert_eq!(Entity::new(0, u32::MAX), None);
        assert_eq!(Entity::try_from_bits(u64::MAX), None);
        assert_eq!(Entity::try_from_bits(u64::from(u32::MAX)), None);
    }

    #[test]
    fn all_zeroes_are_an_ordinary_id() {
        // EnTT 9.
        assert_eq!(Entity::try_from_bits(0), Entity::new(0, 0));
    }

    #[test]
    fn order_is_by_index_then_version() {
        let ids = [(0, 9), (1, 0), (1, 1), (2, 0)].map(|(i, v)| Entity::new(i, v).unwrap());

        assert!(ids.is_sorted());
    }

    #[test]
    fn text_that_is_no_id_is_refused_with_the_remedy() {
        let out_of_range = ["4294967295v0", "0v4294967295", "99999999999999999999v0"];
        let odd =
            ["", "12", "v", "12v", "v3", "-1v0", "1v2v3", " 1v0", "1v0 ", "1V0", "0x1v0", "١v0"];
        // One id has one text: two texts that are equal as ids would be two keys of a map.
        let not_canonical = ["+1v0", "1v+0", "+1v+0", "01v0", "1v00", "00v0", "1_0v0"];
        for text in odd.into_iter().chain(out_of_range).chain(not_canonical) {
            let error = text.parse::<Entity>().unwrap_err().to_string();

            assert!(error.contains(text) && error.contains("12v3"), "{error}");
        }
    }
}
