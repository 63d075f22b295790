//! Reading and writing: the same walk with different items.

#![allow(unsafe_code, reason = "passes on the promise of who walks")]

use super::term::QueryData;

/// Whether a walk lends items to be read or to be written: [`Reading`] or [`Writing`].
///
/// # Soundness
/// Sealed: it decides whether items may be written.
pub trait Mode: Sealed {
    /// What one entity gives.
    type Item<'a, D: QueryData>;

    /// # Safety
    /// As [`QueryData::item`] or [`QueryData::read`].
    #[doc(hidden)]
    unsafe fn item<'a, D: QueryData>(cursor: &D::Cursor<'a>, nth: usize) -> Self::Item<'a, D>;
}

/// Keeps [`Mode`] to this module.
pub trait Sealed {}

/// Items are read; the query is shared.
#[derive(Debug, Clone, Copy)]
pub struct Reading;

/// Items are written; the query is borrowed uniquely.
#[derive(Debug, Clone, Copy)]
pub struct Writing;

impl Sealed for Reading {}

impl Sealed for Writing {}

impl Mode for Reading {
    type Item<'a, D: QueryData> = D::ReadItem<'a>;

    #[inline(always)]
    unsafe fn item<'a, D: QueryData>(cursor: &D::Cursor<'a>, nth: usize) -> D::ReadItem<'a> {
        // SAFETY: promised by the caller.
        unsafe { D::read(cursor, nth) }
    }
}

impl Mode for Writing {
    type Item<'a, D: QueryData> = D::Item<'a>;

    #[inline(always)]
    unsafe fn item<'a, D: QueryData>(cursor: &D::Cursor<'a>, nth: usize) -> D::Item<'a> {
        // SAFETY: promised by the caller.
        unsafe { D::item(cursor, nth) }
    }
}
