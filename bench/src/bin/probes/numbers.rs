//! What schedules do to numbers, in a way that shows the order.

/// Entities to begin with: enough for a system to be worth a thread.
pub(crate) const ROWS: u64 = 5_000;

pub(crate) const STEPS: usize = 20;

/// In another order it comes out otherwise.
pub(crate) fn mix(number: u64, salt: u64) -> u64 {
    let mixed = (0..20).fold(number ^ salt, |sum, n| (sum ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed ^ (mixed >> 29)
}

/// One number for ids and values, in whichever order they are shown.
pub(crate) fn total(rows: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut rows: Vec<(u64, u64)> = rows.collect();
    rows.sort_unstable();
    rows.into_iter().fold(0, |sum, (id, value)| mix(mix(sum, id), value))
}
