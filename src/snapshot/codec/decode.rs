//! From bytes to values.

use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::super::budget::Budget;
use super::{CodecError, DEEPEST};

/// Reads values, one after the other.
pub(crate) struct Decoder<'de, 'm> {
    bytes: &'de [u8],
    depth: u32,
    /// What lists and maps may take: an element of them can be large that takes a byte here.
    budget: &'m mut Budget,
}

/// Elements that a list may have room for before their size is known.
const HINT: usize = 1024;

/// Entries that even a small map has room for.
const MAP_ROOM: usize = 12;

impl<'de, 'm> Decoder<'de, 'm> {
    pub(in super::super) fn new(bytes: &'de [u8], budget: &'m mut Budget) -> Self {
        Self { bytes, depth: 0, budget }
    }

    /// Nothing may be left over.
    pub(crate) fn finish(self) -> Result<(), CodecError> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(CodecError::new(format!("{left} bytes are left over"))),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'de [u8], CodecError> {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => {
                let left = self.bytes.len();
                Err(CodecError::new(format!("{count} bytes are needed and {left} bytes are left")))
            }
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("as many as asked for"))
    }

    /// A length of things that take at least a byte each.
    fn length(&mut self) -> Result<usize, CodecError> {
        let length = u64::from_le_bytes(self.array()?);
        let left = self.bytes.len();
        match usize::try_from(length) {
            Ok(length) if length <= left => Ok(length),
            _ => Err(CodecError::new(format!("the length is {length} and {left} bytes are left"))),
        }
    }

    fn text(&mut self) -> Result<&'de str, CodecError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|error| CodecError::new(error.to_string()))
    }

    /// Reads what lies one level deeper.
    fn inside<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        if self.depth == DEEPEST {
            return Err(CodecError::too_deep());
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Lets a visitor read `count` elements, and passes over their padding.
    fn list<'b, R>(
        &'b mut self,
        visit: impl FnOnce(Elements<'_, 'de, 'm>) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let count = self.length()?;
        let before = self.bytes.len();
        let mut left = count;
        let value = visit(Elements { decoder: self, left: &mut left, to_pay: count })?;
        if left > 0 {
            return Err(CodecError::new(format!("{left} elements too many")));
        }
        let used = before - self.bytes.len();
        self.take(count.saturating_sub(used))?;
        Ok(value)
    }

    fn fields<R>(
        &mut self,
        count: usize,
        visit: impl FnOnce(Elements<'_, 'de, 'm>) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let mut left = count;
        let value = visit(Elements { decoder: self, left: &mut left, to_pay: 0 })?;
        match left {
            0 => Ok(value),
            _ => Err(CodecError::new(format!("{left} fields too many"))),
        }
    }
}

/// The elements that a visitor has not read yet.
struct Elements<'a, 'de, 'm> {
    decoder: &'a mut Decoder<'de, 'm>,
    left: &'a mut usize,
    /// How many elements have not been paid for: all of a list, until the first one tells its size.
    to_pay: usize,
}

impl<'de> Elements<'_, 'de, '_> {
    fn next<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, CodecError> {
        if *self.left == 0 {
            return Ok(None);
        }
        *self.left -= 1;
        self.value(seed).map(Some)
    }

    /// Pays for all elements, of which each takes so many bytes.
    fn pay(&mut self, size: usize) -> Result<(), CodecError> {
        if self.to_pay == 0 {
            return Ok(());
        }
        let count = std::mem::take(&mut self.to_pay);
        // What grows has its old place and a new one of twice the size for a moment.
        let growth = if count > HINT { 3 } else { 1 };
        let bytes = count.saturating_mul(size).saturating_mul(growth);
        self.decoder.budget.spend(bytes).map_err(|error| CodecError::new(error.to_string()))
    }

    fn value<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CodecError> {
        self.decoder.inside(|decoder| seed.deserialize(decoder))
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de, '_> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        self.pay(size_of::<T::Value>())?;
        self.next(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((*self.left).min(HINT))
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, 'de, '_> {
    type Error = CodecError;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        self.next(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, CodecError> {
        // Nodes and tables have room for a few more, and the keys are small.
        let size = size_of::<T::Value>().saturating_mul(2).saturating_add(16);
        self.to_pay = self.to_pay.saturating_add(MAP_ROOM * usize::from(self.to_pay > 0));
        self.pay(size)?;
        self.value(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((*self.left).min(HINT))
    }
}

impl<'de> de::EnumAccess<'de> for &mut Decoder<'de, '_> {
    type Error = CodecError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Self), CodecError> {
        let variant = u32::from_le_bytes(self.array()?);
        let name: de::value::U32Deserializer<CodecError> = variant.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Decoder<'de, '_> {
    type Error = CodecError;

    fn unit_variant(self) -> Result<(), CodecError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, CodecError> {
        self.inside(|decoder| seed.deserialize(decoder))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.fields(len, |fields| visitor.visit_seq(fields))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.fields(fields.len(), |fields| visitor.visit_seq(fields))
    }
}

/// Numbers, which are read as they are.
macro_rules! numbers {
    ($($name:ident $visit:ident: $type:ty),*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
            visitor.$visit(<$type>::from_le_bytes(self.array()?))
        })*
    };
}

/// What a format can be asked only if its bytes say what they are.
fn unsaid<R>() -> Result<R, CodecError> {
    Err(CodecError::new(
        "the type asks the format what comes next (as `untagged`, `flatten` and `tag` do), \
         which these bytes do not say",
    ))
}

impl<'de> Deserializer<'de> for &mut Decoder<'de, '_> {
    type Error = CodecError;

    numbers! {
        deserialize_i8 visit_i8: i8, deserialize_i16 visit_i16: i16,
        deserialize_i32 visit_i32: i32, deserialize_i64 visit_i64: i64,
        deserialize_i128 visit_i128: i128, deserialize_u8 visit_u8: u8,
        deserialize_u16 visit_u16: u16, deserialize_u32 visit_u32: u32,
        deserialize_u64 visit_u64: u64, deserialize_u128 visit_u128: u128,
        deserialize_f32 visit_f32: f32, deserialize_f64 visit_f64: f64
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, CodecError> {
        unsaid()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, CodecError> {
        unsaid()
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, CodecError> {
        unsaid()
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.array()? {
            [0] => visitor.visit_bool(false),
            [1] => visitor.visit_bool(true),
            [other] => Err(CodecError::new(format!("{other} is neither false nor true"))),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let number = u32::from_le_bytes(self.array()?);
        let value = char::from_u32(number);
        visitor.visit_char(value.ok_or_else(|| CodecError::new(format!("{number} is no char")))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let length = self.length()?;
        visitor.visit_borrowed_bytes(self.take(length)?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.array()? {
            [0] => visitor.visit_none(),
            [1] => self.inside(|decoder| visitor.visit_some(decoder)),
            [other] => Err(CodecError::new(format!("{other} is neither none nor some"))),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.inside(|decoder| visitor.visit_newtype_struct(decoder))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.list(|elements| visitor.visit_seq(elements))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.fields(len, |fields| visitor.visit_seq(fields))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.fields(len, |fields| visitor.visit_seq(fields))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.list(|pairs| visitor.visit_map(pairs))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.fields(fields.len(), |fields| visitor.visit_seq(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_enum(self)
    }
}
