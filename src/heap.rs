//! What the containers of the standard library take on the heap.

use std::collections::HashMap;

/// Bytes of a hash map, without what its entries own.
pub(crate) fn bytes_of_table<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    // Buckets are a power of two, of which an eighth stays empty. The capacity is less than that
    // while there are traces of members that left.
    let buckets = match map.capacity() {
        0 => 0,
        capacity => (capacity * 8).div_ceil(7).next_power_of_two(),
    };
    // One control byte beside each.
    buckets * (size_of::<(K, V)>() + 1)
}
