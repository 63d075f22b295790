//! Asks the processor for memory that is needed soon.

#![allow(unsafe_code, reason = "prefetch instructions take raw pointers")]

/// Asks for the cache line at an address, which may be any: nothing is read. Does nothing where no stable instruction is known.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of x86-64, accesses nothing, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
