//! What a type says of itself to be kept: its name, its version, and how its values are written.

use std::fmt;

use bytemuck::Pod;
use erased_serde as erased;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::budget::Budget;
use super::codec::{CodecError, Decoder, Encoder};
use super::references::EntityMapper;
use crate::storage::Copying;

/// A component or resource that can be kept in a snapshot. Derive it.
///
/// ```
/// # use esker::{Component, snapshot::Snapshot};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Component, Snapshot, Serialize, Deserialize, Clone)]
/// #[snapshot(name = "health", version = 2, clone)]
/// struct Health {
///     points: u32,
/// }
/// assert_eq!((Health::NAME, Health::VERSION), ("health", 2));
/// ```
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name in the snapshot; that of the type unless given |
/// | `version = n` | the version of the layout, 1 unless given; older ones are read by a [migration](super::SnapshotTypes::migrate) |
/// | `plain` | values are plain bytes ([`bytemuck::Pod`]): written and read as one block |
/// | `plain, serde` | as a block in the native format, through serde in others |
/// | `clone` | values can be cloned with the world; plain ones always can |
/// | `entities` | values contain ids, and implement [`MapEntities`](super::MapEntities) |
///
/// # Soundness
/// Safe to implement, however wrongly. Values are read and copied apart from any world; only the types of the library's own `Form` and `Cloning` say how.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in a snapshot",
    label = "not a type for snapshots",
    note = "add `#[derive(Snapshot)]` to `{Self}`, and serde's `Serialize` and `Deserialize`"
)]
pub trait Snapshot: Sized + Send + Sync + 'static {
    /// The name in the snapshot, the same in every build.
    const NAME: &'static str;

    /// The version of what is written; to be raised when the fields change.
    const VERSION: u32 = 1;

    /// How values are written and read.
    fn form() -> Form<Self>;

    /// How values are cloned, if they can be.
    fn cloning() -> Option<Cloning<Self>> {
        None
    }

    /// What finds the ids inside a value, if it has some.
    fn references() -> Option<References<Self>> {
        None
    }
}

/// Shows the ids inside a value to a mapper.
pub type References<T> = fn(&mut T, &mut EntityMapper<'_>) -> bool;

/// How values of a type are written and read.
pub struct Form<T> {
    pub(super) plain: Option<Plain<T>>,
    pub(super) encode: fn(&T, &mut Vec<u8>) -> Result<(), CodecError>,
    pub(super) decode: Decode<T>,
    pub(super) show: fn(&T) -> Box<dyn erased::Serialize + '_>,
    pub(super) read: fn(&mut dyn erased::Deserializer<'_>) -> Result<T, erased::Error>,
}

/// Reads a value, and the memory of its lists out of a budget.
pub(super) type Decode<T> = fn(&[u8], &mut Budget) -> Result<T, CodecError>;

/// Many values as one block of bytes, and back.
pub(super) struct Plain<T> {
    pub(super) bytes: fn(&[T]) -> &[u8],
    /// As many as fit: a part of a value at the end is left.
    pub(super) values: fn(&[u8]) -> Vec<T>,
}

impl<T: Serialize + DeserializeOwned> Form<T> {
    /// As serde says.
    pub fn serde() -> Self {
        Self {
            plain: None,
            encode: |value, out| value.serialize(&mut Encoder::new(out)),
            decode: |bytes, budget| {
                let mut decoder = Decoder::new(bytes, budget);
                let value = T::deserialize(&mut decoder)?;
                decoder.finish()?;
                Ok(value)
            },
            show: |value| Box::new(value),
            read: |from| erased::deserialize(from),
        }
    }

    /// As plain bytes in the native format, as serde says in others.
    pub fn plain_and_serde() -> Self
    where
        T: Pod,
    {
        Self { show: Self::serde().show, read: Self::serde().read, ..Self::plain() }
    }
}

impl<T: Pod> Form<T> {
    /// As plain bytes, in any format.
    pub fn plain() -> Self {
        Self {
            plain: Some(Plain { bytes: bytemuck::cast_slice, values: collect }),
            encode: |value, out| {
                out.extend_from_slice(bytemuck::bytes_of(value));
                Ok(())
            },
            decode: |bytes, _| match bytemuck::try_pod_read_unaligned(bytes) {
                Ok(value) => Ok(value),
                Err(_) => {
                    let (found, size) = (bytes.len(), size_of::<T>());
                    Err(CodecError(format!("{found} bytes are no value of {size}")))
                }
            },
            show: |value| Box::new(bytemuck::bytes_of(value).to_vec()),
            read: |from| {
                let bytes: Vec<u8> = erased::deserialize(from)?;
                let value = bytemuck::try_pod_read_unaligned(&bytes);
                value.map_err(|_| serde::de::Error::custom("not the bytes of such a value"))
            },
        }
    }
}

/// Copies the values out of a block, which may lie anywhere.
fn collect<T: Pod>(bytes: &[u8]) -> Vec<T> {
    if size_of::<T>() == 0 {
        return Vec::new();
    }
    // Not `pod_collect_to_vec`: that writes zeros first.
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

impl<T> fmt::Debug for Form<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("is_plain", &self.plain.is_some()).finish_non_exhaustive()
    }
}

/// How values of a type are cloned.
pub struct Cloning<T>(pub(super) Copying<T>);

impl<T: Clone> Cloning<T> {
    /// As `Clone` says.
    pub fn clone() -> Self {
        Self(Copying::cloning())
    }
}

impl<T> fmt::Debug for Cloning<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cloning")
    }
}
