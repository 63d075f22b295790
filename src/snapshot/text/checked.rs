//! A serializer that passes values on, and refuses those that formats are known to lose.
//!
//! serde does not say what a format can hold, and many write more than they read: JSON writes `null` for NaN, JSON and
//! CBOR write `Some(None)` as `None`, and formats without names of fields do not notice that one is missing. That
//! would be found when the file is loaded, and the world is gone by then. So a value that *some* format of the kind
//! loses is refused while it is written, unless the [saver](super::super::Saver::trust_format) vouches for the format.
//!
//! An error says at which component, entity and field it was.

use std::cell::RefCell;
use std::fmt;

use serde::ser::{self, Error};
use serde::{Serialize, Serializer};

use super::super::describe::describe;

/// What is refused, and where in a value that was.
pub(super) struct Trail {
    is_human_readable: bool,
    is_trusted: bool,
    /// The way from the value to the part that failed; longer with each level that the error leaves.
    path: RefCell<String>,
}

impl Trail {
    pub(super) fn new(is_human_readable: bool, is_trusted: bool) -> Self {
        Self { is_human_readable, is_trusted, path: RefCell::default() }
    }

    /// Whether types must be readable without names of fields and kinds of values.
    pub(super) fn may_lack_names(&self) -> bool {
        !self.is_human_readable && !self.is_trusted
    }

    /// Serializes a value as a whole; an error says what it belongs to, and where in it the part is.
    pub(super) fn serialize<S: Serializer>(
        &self,
        owner: fmt::Arguments<'_>,
        value: &(impl Serialize + ?Sized),
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        self.path.take();
        let written = Checked { value, trail: self, in_some: false }.serialize(serializer);
        written.map_err(|error| {
            let path = self.path.take();
            match path.trim_start_matches('.') {
                "" => S::Error::custom(format_args!("in {owner}: {error}")),
                path => S::Error::custom(format_args!("in {owner}, at `{path}`: {error}")),
            }
        })
    }

    /// Notes that a part has failed, if it has.
    fn note<R, E>(&self, done: Result<R, E>, step: impl FnOnce() -> String) -> Result<R, E> {
        if done.is_err() {
            self.path.borrow_mut().insert_str(0, &step());
        }
        done
    }

    fn refuse_float<E: Error>(&self, value: f64) -> Result<(), E> {
        if value.is_finite() || !self.is_human_readable || self.is_trusted {
            return Ok(());
        }
        Err(E::custom(format_args!(
            "{value} cannot be written in every text format (JSON writes `null`); save in the native \
             format, which keeps every value, or say `.trust_format()` if this format keeps it"
        )))
    }

    fn refuse_hollow<E: Error>(&self, inside: &str) -> Result<(), E> {
        if self.is_trusted {
            return Ok(());
        }
        Err(E::custom(format_args!(
            "`Some({inside})` becomes `None` in some formats (JSON, CBOR); save in the native format, \
             which keeps every value, give the field an enum, or say `.trust_format()` if this format \
             keeps it"
        )))
    }

    fn refuse_left_out<E: Error>(&self, field: &str) -> Result<(), E> {
        if !self.may_lack_names() {
            return Ok(());
        }
        Err(E::custom(format_args!(
            "the field `{field}` is left out (as `skip_serializing_if` does), which formats without \
             names of fields cannot say; write it always, or say `.trust_format()` if this format has \
             names"
        )))
    }
}

/// A value that is looked at while it is serialized.
struct Checked<'t, T: ?Sized> {
    value: &'t T,
    trail: &'t Trail,
    /// Whether it lies directly in a `Some`.
    in_some: bool,
}

impl<T: Serialize + ?Sized> Serialize for Checked<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { value, trail, in_some } = *self;
        value.serialize(Checking { inner: serializer, trail, in_some })
    }
}

/// Passes on to `inner` what may pass.
struct Checking<'t, S> {
    inner: S,
    trail: &'t Trail,
    in_some: bool,
}

/// The parts of a value under way.
struct Parts<'t, C> {
    inner: C,
    trail: &'t Trail,
    count: usize,
    /// The variant that the parts belong to.
    variant: Option<&'static str>,
}

impl<'t, S: Serializer> Checking<'t, S> {
    fn parts<C>(
        self,
        variant: Option<&'static str>,
        open: impl FnOnce(S) -> Result<C, S::Error>,
    ) -> Result<Parts<'t, C>, S::Error> {
        Ok(Parts { inner: open(self.inner)?, trail: self.trail, count: 0, variant })
    }

    fn hollow(&self, inside: &str) -> Result<(), S::Error> {
        if self.in_some { self.trail.refuse_hollow(inside) } else { Ok(()) }
    }
}

impl<C> Parts<'_, C> {
    /// Notes that a part of the variant has failed, if it has.
    fn note<R, E>(&self, done: Result<R, E>, step: impl FnOnce() -> String) -> Result<R, E> {
        let variant = self.variant.map(|name| format!("::{name}")).unwrap_or_default();
        self.trail.note(done, || variant + &step())
    }
}

/// What is the same in all formats.
macro_rules! passed_on {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$name(value)
        })*
    };
}

impl<'t, S: Serializer> Serializer for Checking<'t, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'t, S::SerializeSeq>;
    type SerializeTuple = Parts<'t, S::SerializeTuple>;
    type SerializeTupleStruct = Parts<'t, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Parts<'t, S::SerializeTupleVariant>;
    type SerializeMap = Parts<'t, S::SerializeMap>;
    type SerializeStruct = Parts<'t, S::SerializeStruct>;
    type SerializeStructVariant = Parts<'t, S::SerializeStructVariant>;

    passed_on! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8]
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        self.trail.refuse_float(value.into())?;
        self.inner.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        self.trail.refuse_float(value)?;
        self.inner.serialize_f64(value)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.hollow("None")?;
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Checked { value, trail: self.trail, in_some: true })
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.hollow("()")?;
        self.inner.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.hollow(name)?;
        self.inner.serialize_unit_struct(name)
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        // Most formats write what is inside and nothing else, so it still lies in the `Some`.
        let Self { inner, trail, in_some } = self;
        inner.serialize_newtype_struct(name, &Checked { value, trail, in_some })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let Self { inner, trail, .. } = self;
        let value = Checked { value, trail, in_some: false };
        let done = inner.serialize_newtype_variant(name, index, variant, &value);
        trail.note(done, || format!("::{variant}"))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.parts(None, |inner| inner.serialize_seq(len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.parts(None, |inner| inner.serialize_tuple(len))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.parts(None, |inner| inner.serialize_tuple_struct(name, len))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let open = |inner: S| inner.serialize_tuple_variant(name, index, variant, len);
        self.parts(Some(variant), open)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.parts(None, |inner| inner.serialize_map(len))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        self.parts(None, |inner| inner.serialize_struct(name, len))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let open = |inner: S| inner.serialize_struct_variant(name, index, variant, len);
        self.parts(Some(variant), open)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Parts that are numbered.
macro_rules! items {
    ($($trait:ident $method:ident),*) => {
        $(impl<C: ser::$trait> ser::$trait for Parts<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                let value = Checked { value, trail: self.trail, in_some: false };
                let done = self.inner.$method(&value);
                self.count += 1;
                self.note(done, || format!("[{}]", self.count - 1))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

/// Parts that have names.
macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl<C: ser::$trait> ser::$trait for Parts<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                let value = Checked { value, trail: self.trail, in_some: false };
                let done = self.inner.serialize_field(name, &value);
                self.note(done, || format!(".{name}"))
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), C::Error> {
                self.trail.refuse_left_out(name)?;
                self.inner.skip_field(name)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl<C: ser::SerializeMap> ser::SerializeMap for Parts<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        let done =
            self.inner.serialize_key(&Checked { value: key, trail: self.trail, in_some: false });
        self.note(done, || format!("[key {}]", describe(key)))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let done =
            self.inner.serialize_value(&Checked { value, trail: self.trail, in_some: false });
        self.count += 1;
        self.note(done, || format!("[entry {}]", self.count - 1))
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), C::Error> {
        self.serialize_key(key)?;
        let done =
            self.inner.serialize_value(&Checked { value, trail: self.trail, in_some: false });
        self.note(done, || format!("[{}]", describe(key)))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
