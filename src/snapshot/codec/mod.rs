//! The bytes of one value: what serde says of it, in a row, nothing more.
//!
//! Numbers have their width, little end first; a text, a list or a map begins with its length in
//! eight bytes; an option and a variant with a number. Nothing says what comes, so who reads must
//! know the type; the [schema](super::native) says which it was.
//!
//! Made for bytes that nobody vouches for: a list of `n` elements takes at least `n` bytes (it is
//! padded if they have none), so a length beyond the end is a lie that is found before anything is
//! allocated; and nesting is limited, so that it cannot overflow the stack.

mod decode;
mod encode;

use std::fmt;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

/// Values inside values, at most.
const DEEPEST: u32 = 200;

/// Whether the `nth` value of a component is read back when it is written: a type that cannot be read is found
/// at its first value, and an enum that only sometimes cannot by some more.
pub(crate) fn is_sample(nth: usize) -> bool {
    (nth + 1).is_power_of_two()
}

/// A value that cannot be written or read, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodecError(pub(crate) String);

impl CodecError {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// Who reads could not tell which field is missing.
    fn left_out(field: &str) -> Self {
        Self(format!(
            "the field `{field}` is left out (as `skip_serializing_if` does), which these bytes \
             cannot say"
        ))
    }

    /// A value that was written and cannot be read.
    pub(crate) fn not_read(self) -> Self {
        Self(format!(
            "the value is written and cannot be read back: {self}. A type that is read by what the \
             bytes say (`tag`, `untagged` or `flatten` of serde) needs a format that says it: write \
             it in another way, or save as JSON"
        ))
    }

    fn too_deep() -> Self {
        Self(format!("values lie inside each other more than {DEEPEST} deep"))
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CodecError {}

impl serde::ser::Error for CodecError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

impl serde::de::Error for CodecError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
    use serde::{Deserialize, Serialize};

    use super::super::budget::Budget;
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Point,
        Circle(f32),
        Square { side: u16, name: Option<String> },
        Pair(i8, char),
        Nested(Box<Shape>),
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
    struct Everything {
        numbers: (u8, i16, u32, i64, u128, i128, f64),
        flag: bool,
        text: String,
        list: Vec<Option<u8>>,
        units: Vec<()>,
        map: BTreeMap<String, Vec<i32>>,
        array: [u16; 3],
    }

    fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.serialize(&mut Encoder::new(&mut bytes)).unwrap();
        bytes
    }

    fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
        let mut budget = Budget::new(1 << 20);
        let mut decoder = Decoder::new(bytes, &mut budget);
        let value = T::deserialize(&mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }

    fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(value: &T) {
        let bytes = encoded(value);
        assert_eq!(&decoded::<T>(&bytes).unwrap(), value);
        for end in 0..bytes.len() {
            assert!(decoded::<T>(&bytes[..end]).is_err(), "cut at {end} of {}", bytes.len());
        }
    }

    fn everything() -> Everything {
        Everything {
            numbers: (1, -2, 3, -4, 5, -6, 0.5),
            flag: true,
            text: "grüße".into(),
            list: vec![None, Some(7), None],
            units: vec![(); 9],
            map: [("a".into(), vec![1, 2]), (String::new(), vec![])].into(),
            array: [9, 8, 7],
        }
    }

    #[test]
    fn what_is_written_is_read_and_what_is_cut_off_is_refused() {
        there_and_back(&everything());
        there_and_back(&Shape::Circle(1.5));
        there_and_back(&Shape::Square { side: 3, name: Some("s".into()) });
        there_and_back(&Shape::Pair(-1, 'ß'));
        there_and_back(&Shape::Nested(Box::new(Shape::Nested(Box::new(Shape::Point)))));
        there_and_back(&vec![Shape::Point; 5]);
        // Long is not deep, wherever it lies.
        assert_eq!(decoded(&encoded(&vec![7_u8; 1000])), Ok(vec![7_u8; 1000]));
        assert_eq!(decoded(&encoded(&(vec![7_u8; 1000],))), Ok((vec![7_u8; 1000],)));
    }

    #[test]
    fn no_change_of_the_bytes_makes_it_panic_or_ask_for_much_memory() {
        let bytes = encoded(&everything());
        for at in 0..bytes.len() {
            for value in [0, 1, 2, 7, 127, 128, 255] {
                let mut changed = bytes.clone();
                changed[at] = value;
                // Whatever it is: a capacity beyond the input would abort here or take for ever.
                _ = decoded::<Everything>(&changed);
            }
        }
    }

    #[test]
    fn lengths_that_lie_are_refused_before_they_are_believed() {
        for lie in [u64::MAX, 1 << 40, 1000] {
            let error = decoded::<Vec<()>>(&lie.to_le_bytes()).unwrap_err();
            assert!(error.0.contains("bytes are left"), "{error}");
            assert!(decoded::<String>(&lie.to_le_bytes()).is_err());
            assert!(decoded::<BTreeMap<u8, ()>>(&lie.to_le_bytes()).is_err());
        }
    }

    #[test]
    fn deep_nesting_is_refused_on_both_sides() {
        let mut bytes = Vec::new();
        for _ in 0..100_000 {
            bytes.extend(4_u32.to_le_bytes());
        }
        assert!(decoded::<Shape>(&bytes).unwrap_err().0.contains("deep"));

        let mut deep = Shape::Point;
        for _ in 0..1000 {
            deep = Shape::Nested(Box::new(deep));
        }
        let refused = deep.serialize(&mut Encoder::new(&mut Vec::new())).unwrap_err();
        assert!(refused.0.contains("deep"));

        // Who may write may read.
        let mut value = Shape::Point;
        for depth in 0..300 {
            let mut bytes = Vec::new();
            let is_written = value.serialize(&mut Encoder::new(&mut bytes)).is_ok();
            assert_eq!(is_written, depth <= DEEPEST, "{depth}");
            assert!(!is_written || decoded::<Shape>(&bytes).as_ref() == Ok(&value), "{depth}");
            value = Shape::Nested(Box::new(value));
        }
    }

    #[test]
    fn a_field_that_is_left_out_is_refused_and_not_misread() {
        #[derive(Serialize)]
        struct Gap {
            #[serde(skip_serializing_if = "Option::is_none")]
            first: Option<u8>,
            second: u8,
        }
        let write = |first| {
            let mut bytes = Vec::new();
            Gap { first, second: 1 }.serialize(&mut Encoder::new(&mut bytes)).map(|()| bytes)
        };
        assert_eq!(write(Some(7)), Ok(vec![1, 7, 1]));
        let refused = write(None).unwrap_err();
        assert!(refused.0.contains("`first`"), "{refused}");
    }

    /// Elements without bytes: what is left over is not seen from these.
    #[test]
    fn a_type_that_reads_only_the_beginning_is_refused_wherever_it_stops() {
        /// Reads so many elements and no more.
        struct Beginning(usize);

        impl<'de> Visitor<'de> for Beginning {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("elements")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
                (0..self.0).try_for_each(|_| list.next_element::<()>().map(drop))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
                (0..self.0).try_for_each(|_| map.next_entry::<(), ()>().map(drop))
            }
        }

        let list = encoded(&vec![(); 3]);
        for read in 0..=3 {
            let budget = &mut Budget::new(1 << 20);
            let outcomes = [
                Decoder::new(&list, budget).deserialize_seq(Beginning(read)),
                Decoder::new(&list, budget).deserialize_map(Beginning(read)),
                Decoder::new(&[], budget).deserialize_tuple(3, Beginning(read)),
            ];
            assert!(outcomes.iter().all(|outcome| outcome.is_ok() == (read == 3)), "{outcomes:?}");
        }
    }

    #[test]
    fn what_is_no_value_of_its_type_is_refused() {
        assert!(decoded::<bool>(&[2]).is_err());
        assert!(decoded::<Option<u8>>(&[3, 0]).is_err());
        assert!(decoded::<char>(&0xD800_u32.to_le_bytes()).is_err());
        assert!(decoded::<Shape>(&9_u32.to_le_bytes()).is_err());
        assert!(decoded::<u8>(&[1, 2]).is_err(), "what is left over");
        let mut text = 2_u64.to_le_bytes().to_vec();
        text.extend([0xC3, 0x28]);
        assert!(decoded::<String>(&text).is_err());
    }
}
