//! Ids in formats of serde.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Entity;

impl<'de> Deserialize<'de> for Entity {
    /// The id as text where people read it, as a number elsewhere.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            let text = String::deserialize(from)?;
            return text.parse().map_err(D::Error::custom);
        }
        let bits = u64::deserialize(from)?;
        Self::try_from_bits(bits).ok_or_else(|| D::Error::custom(format!("{bits:#x} is no id")))
    }
}

impl Serialize for Entity {
    /// The id as text where people read it, as a number elsewhere.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        serializer.serialize_u64(self.to_bits())
    }
}
