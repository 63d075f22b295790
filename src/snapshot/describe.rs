//! Values in words, by what serde says of them: `Level { number: 3, name: "x" }`.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Serializer};

use super::codec::CodecError;

/// A value in words.
pub(super) fn describe(value: &(impl Serialize + ?Sized)) -> String {
    let mut words = Words::default();
    match value.serialize(&mut words) {
        Ok(()) => words.text,
        Err(error) => format!("({error})"),
    }
}

#[derive(Default)]
struct Words {
    text: String,
}

impl Words {
    fn say(&mut self, words: impl Display) -> Result<(), CodecError> {
        self.text.push_str(&words.to_string());
        Ok(())
    }

    fn open<'a>(
        &'a mut self,
        name: &str,
        [open, close]: [&'static str; 2],
    ) -> Result<Parts<'a>, CodecError> {
        self.say(name)?;
        self.say(open)?;
        Ok(Parts { words: self, close, count: 0 })
    }
}

/// The parts of a value under way.
struct Parts<'a> {
    words: &'a mut Words,
    close: &'static str,
    count: usize,
}

const ROUND: [&str; 2] = ["(", ")"];
const SQUARE: [&str; 2] = ["[", "]"];
const CURLY: [&str; 2] = [" { ", " }"];

impl Parts<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), CodecError> {
        if self.count > 0 {
            self.words.say(", ")?;
        }
        self.count += 1;
        if !key.is_empty() {
            self.words.say(format_args!("{key}: "))?;
        }
        value.serialize(&mut *self.words)
    }

    fn close(self) -> Result<(), CodecError> {
        self.words.say(self.close)
    }
}

macro_rules! said {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<(), CodecError> {
            self.say(format_args!("{value:?}"))
        })*
    };
}

impl<'a> Serializer for &'a mut Words {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    said! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8]
    }

    fn serialize_none(self) -> Result<(), CodecError> {
        self.say("None")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        self.serialize_newtype_struct("Some", value)
    }

    fn serialize_unit(self) -> Result<(), CodecError> {
        self.say("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), CodecError> {
        self.say(name)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CodecError> {
        self.say(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        let mut parts = self.open(name, ROUND)?;
        parts.part("", value)?;
        parts.close()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.serialize_newtype_struct(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, CodecError> {
        self.open("", SQUARE)
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, CodecError> {
        self.open("", ROUND)
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, CodecError> {
        self.open(name, ROUND)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, CodecError> {
        self.open(variant, ROUND)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, CodecError> {
        self.open("", SQUARE)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, CodecError> {
        self.open(name, CURLY)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, CodecError> {
        self.open(variant, CURLY)
    }
}

/// Parts with or without a name.
macro_rules! parts {
    ($($trait:ident $method:ident $(($key:ident))?),*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = CodecError;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), CodecError> {
                let key = "" $(; _ = key; let key = $key)?;
                self.part(key, value)
            }

            fn end(self) -> Result<(), CodecError> {
                self.close()
            }
        })*
    };
}

parts! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
    SerializeStruct serialize_field (name),
    SerializeStructVariant serialize_field (name)
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CodecError> {
        self.part("", key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.words.say(": ")?;
        value.serialize(&mut *self.words)
    }

    fn end(self) -> Result<(), CodecError> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use serde::Serialize;

    use super::describe;

    #[derive(Debug, Serialize)]
    struct Unit;

    #[derive(Debug, Serialize)]
    struct One(f32);

    #[derive(Debug, Serialize)]
    struct Pair(i8, char);

    #[derive(Debug, Serialize)]
    struct Fields {
        unit: Unit,
        one: One,
        pair: Pair,
    }

    #[derive(Debug, Serialize)]
    enum Shape {
        Point,
        Circle(u64),
        Line(i128, ()),
        Square { side: Option<u16>, name: Option<String>, is_flat: bool },
    }

    fn same(value: &(impl Debug + Serialize)) {
        assert_eq!(describe(value), format!("{value:?}"));
    }

    #[test]
    fn a_value_is_described_as_debug_shows_it() {
        same(&Fields { unit: Unit, one: One(0.5), pair: Pair(-1, '\'') });
        same(&[Shape::Point, Shape::Circle(7), Shape::Line(-3, ())].as_slice());
        same(&Shape::Square { side: None, name: Some("a \"b\"".into()), is_flat: true });
        same(&(1, 2.5_f64, vec![vec![1_u8], vec![]]));
        // But a map has the brackets of a list.
        let map = BTreeMap::from([("a", vec![1, 2]), ("b", vec![])]);
        assert_eq!(describe(&map), r#"["a": [1, 2], "b": []]"#);
    }
}
