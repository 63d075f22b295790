//! How the large arrays grow: ids, slots, packed entities, values, ticks.
//!
//! A vector doubles, so that one of many megabytes may be half empty. These arrays double as long as they
//! are small, which makes few moves, and grow by half from [`LARGE`] bytes on: such blocks are mapped by the
//! operating system, which moves them without copying.
//!
//! How much is to come is often known only by the size hint of an iterator, and that may lie. Room is made for as
//! much of it as takes [`TRUSTED_BYTES`]; an array that turns out to need more grows as any other.

/// Bytes from which on an array grows by half.
///
/// Below it a doubled array wastes little, and is made with fewer moves.
const LARGE: usize = 1 << 24;

/// Bytes that are reserved at most because a size hint says so.
const TRUSTED_BYTES: usize = 1 << 28;

/// Rows that are believed in at most, however small they are.
const TRUSTED_ROWS: usize = 1 << 20;

/// For how many rows of this many bytes room is made, if so many are promised.
pub(crate) fn trusted(promised: usize, row_bytes: usize) -> usize {
    promised.min(TRUSTED_ROWS).min(TRUSTED_BYTES / row_bytes.max(1))
}

/// Collects what an iterator gives, whatever its size hint says.
///
/// `Iterator::collect` reserves what the hint promises, and panics or aborts if it promises too much.
pub(crate) fn collect<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut collected = Vec::with_capacity(trusted(values.size_hint().0, size_of::<T>()));
    // Not `extend`, which asks for the hint, too.
    values.for_each(|value| push(&mut collected, value));
    collected
}

/// Adds a value at the end.
#[inline(always)]
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) {
    // Where nothing is inlined two tests cost as much as the push itself: a small vector grows as it would.
    let small = const { LARGE / if size_of::<T>() == 0 { 1 } else { size_of::<T>() } };
    if cfg!(debug_assertions) && values.len() < small {
        return values.push(value);
    }
    // The test that `Vec::push` makes: behind it that one is left out.
    if values.len() == values.capacity() {
        return push_and_grow(values, value);
    }
    values.push(value);
}

#[cold]
#[inline(never)]
fn push_and_grow<T>(values: &mut Vec<T>, value: T) {
    grow(values, 1);
    values.push(value);
}

/// Makes room for one more value.
#[inline(always)]
pub(crate) fn make_room<T>(values: &mut Vec<T>) {
    if values.len() == values.capacity() {
        grow(values, 1);
    }
}

/// Makes room for `additional` more values.
#[inline]
pub(crate) fn reserve<T>(values: &mut Vec<T>, additional: usize) {
    if additional > values.capacity() - values.len() {
        grow(values, additional);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(values: &mut Vec<T>, additional: usize) {
    let capacity = values.capacity();
    if capacity.saturating_mul(size_of::<T>()) < LARGE {
        return values.reserve(additional);
    }
    // At least by half: else growing would not be paid for by what was added before.
    let more = (capacity + capacity / 2).saturating_sub(values.len());
    values.reserve_exact(additional.max(more));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that an array of `len` values of type `T` may take.
    fn most<T>(len: usize) -> usize {
        (len * size_of::<T>() * 3 / 2 + size_of::<T>()).max(2 * LARGE)
    }

    #[test]
    fn an_array_that_grows_one_by_one_has_at_most_half_its_length_to_spare() {
        fn attempt<T: Copy>(value: T, len: usize) {
            let mut values = Vec::new();
            for n in 1..=len {
                push(&mut values, value);
                assert!(values.capacity() * size_of::<T>() <= most::<T>(n), "{n}");
            }
            assert_eq!(values.len(), len);
        }
        attempt([7_u64; 64], 150_000);
        attempt([7_u64; 300], 30_000);
        attempt((), 1000);
    }

    #[test]
    fn a_promise_is_believed_by_bytes() {
        assert_eq!(trusted(1000, 8), 1000);
        assert_eq!(trusted(usize::MAX, 0), TRUSTED_ROWS);
        assert_eq!(trusted(usize::MAX, 1 << 20), TRUSTED_BYTES >> 20);
        assert_eq!(trusted(usize::MAX, usize::MAX), 0);
    }

    #[test]
    fn what_is_collected_does_not_depend_on_the_hint() {
        struct Liar(std::ops::Range<u32>);
        impl Iterator for Liar {
            type Item = [u64; 512];

            fn next(&mut self) -> Option<[u64; 512]> {
                self.0.next().map(|n| [n.into(); 512])
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (usize::MAX, None)
            }
        }
        let values = collect(Liar(0..3));
        assert_eq!(values.iter().map(|value| value[511]).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(values.capacity() * size_of::<[u64; 512]>() <= TRUSTED_BYTES);
    }

    #[test]
    fn room_for_many_is_made_at_once_and_for_few_by_half() {
        let mut values = vec![0_u64; 1 << 21];
        values.shrink_to_fit();

        reserve(&mut values, 1);
        assert_eq!(values.capacity(), (1 << 21) + (1 << 20));
        values.resize(values.capacity(), 0);
        reserve(&mut values, 1 << 22);
        assert_eq!(values.capacity(), values.len() + (1 << 22));
        reserve(&mut values, 1 << 22);
        assert_eq!(values.capacity(), values.len() + (1 << 22));
    }
}
