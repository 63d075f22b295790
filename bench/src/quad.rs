//! Four floats that the compiler treats as one value.
//!
//! With a plain array one measures how well a loop vectoriser undoes it: it interleaves the
//! lanes of several entities and shuffles them back. Where the target has a vector type of 16
//! bytes, arithmetic goes through it, and every contestant gets the same instructions.

#![allow(unsafe_code, reason = "vector intrinsics ask for a target feature")]

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// Four floats on a 16-byte boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C, align(16))]
pub struct Quad(pub [f32; 4]);

const _: () = assert!(size_of::<Quad>() == 16 && align_of::<Quad>() == 16);

impl Quad {
    /// Adds lane by lane.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        lanes::plus(self, other)
    }

    /// Multiplies lane by lane.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        lanes::times(self, other)
    }
}

#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::{__m128, _mm_add_ps, _mm_mul_ps};

    use super::Quad;

    #[inline(always)]
    pub(super) fn plus(a: Quad, b: Quad) -> Quad {
        // SAFETY: SSE is part of every x86-64.
        let sum: __m128 = unsafe { _mm_add_ps(bytemuck::cast(a), bytemuck::cast(b)) };
        bytemuck::cast(sum)
    }

    #[inline(always)]
    pub(super) fn times(a: Quad, b: Quad) -> Quad {
        // SAFETY: SSE is part of every x86-64.
        let product: __m128 = unsafe { _mm_mul_ps(bytemuck::cast(a), bytemuck::cast(b)) };
        bytemuck::cast(product)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    use super::Quad;

    #[inline(always)]
    pub(super) fn plus(a: Quad, b: Quad) -> Quad {
        Quad(std::array::from_fn(|k| a.0[k] + b.0[k]))
    }

    #[inline(always)]
    pub(super) fn times(a: Quad, b: Quad) -> Quad {
        Quad(std::array::from_fn(|k| a.0[k] * b.0[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_do_not_mix() {
        let (a, b) = (Quad([1.0, 2.0, 3.0, 4.0]), Quad([5.0, 6.0, 7.0, 8.0]));

        assert_eq!(a.plus(b), Quad([6.0, 8.0, 10.0, 12.0]));
        assert_eq!(a.times(b), Quad([5.0, 12.0, 21.0, 32.0]));
    }
}
