//! From values to bytes.

use serde::{Serialize, Serializer, ser};

use super::{CodecError, DEEPEST};

/// Writes values, one after the other.
pub(crate) struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: 0 }
    }

    /// Writes what lies one level deeper.
    fn inside<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(CodecError::too_deep());
        }
        value.serialize(&mut *self)?;
        self.depth -= 1;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn put_sized(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.put(&(bytes.len() as u64).to_le_bytes())?;
        self.put(bytes)
    }

    /// Begins a list whose length is written when it is known.
    fn begin<'b>(&'b mut self) -> List<'b, 'a> {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 8]);
        List { encoder: self, at, count: 0 }
    }
}

/// A list or a map under way.
pub(crate) struct List<'b, 'a> {
    encoder: &'b mut Encoder<'a>,
    /// Where its length goes.
    at: usize,
    count: u64,
}

impl List<'_, '_> {
    /// Writes the length, and pads elements that have taken less than a byte each.
    fn finish(self) -> Result<(), CodecError> {
        let out = &mut *self.encoder.out;
        out[self.at..self.at + 8].copy_from_slice(&self.count.to_le_bytes());
        let least = self.at + 8 + self.count as usize;
        if out.len() < least {
            out.resize(least, 0);
        }
        Ok(())
    }
}

/// Numbers, which are written as they are.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<(), CodecError> {
            self.put(&value.to_le_bytes())
        })*
    };
}

impl<'b, 'a> Serializer for &'b mut Encoder<'a> {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = List<'b, 'a>;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = List<'b, 'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), CodecError> {
        self.put(&[u8::from(value)])
    }

    fn serialize_char(self, value: char) -> Result<(), CodecError> {
        self.serialize_u32(u32::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<(), CodecError> {
        self.put_sized(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), CodecError> {
        self.put_sized(value)
    }

    fn serialize_none(self) -> Result<(), CodecError> {
        self.put(&[0])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        self.put(&[1])?;
        self.inside(value)
    }

    fn serialize_unit(self) -> Result<(), CodecError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CodecError> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
    ) -> Result<(), CodecError> {
        self.serialize_u32(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.inside(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.put(&variant.to_le_bytes())?;
        self.inside(value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'b, 'a>, CodecError> {
        Ok(self.begin())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.put(&variant.to_le_bytes())?;
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<List<'b, 'a>, CodecError> {
        Ok(self.begin())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.put(&variant.to_le_bytes())?;
        Ok(self)
    }
}

impl ser::SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.count += 1;
        self.encoder.inside(value)
    }

    fn end(self) -> Result<(), CodecError> {
        self.finish()
    }
}

impl ser::SerializeMap for List<'_, '_> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CodecError> {
        self.count += 1;
        self.encoder.inside(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.encoder.inside(value)
    }

    fn end(self) -> Result<(), CodecError> {
        self.finish()
    }
}

/// Fields in a row, whatever they are part of.
macro_rules! fields {
    ($($trait:ident $method:ident $(($key:ty, $skip:ident))?),*) => {
        $(impl ser::$trait for &mut Encoder<'_> {
            type Ok = ();
            type Error = CodecError;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $(_: $key,)?
                value: &T,
            ) -> Result<(), CodecError> {
                self.inside(value)
            }

            $(fn $skip(&mut self, name: $key) -> Result<(), CodecError> {
                Err(CodecError::left_out(name))
            })?

            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        })*
    };
}

fields! {
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
    SerializeStruct serialize_field (&'static str, skip_field),
    SerializeStructVariant serialize_field (&'static str, skip_field)
}
