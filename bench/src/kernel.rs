//! The arithmetic of the workloads and the values entities start with.
//!
//! Every contestant calls the same functions on references, so that only the way to the
//! values differs. They use no operation that a compiler may reorder or fuse: results are
//! the same bit for bit whether a loop is vectorised or not.

use std::mem;

use crate::{
    components::{
        A, B, C, D, Data, E, Force, Lane0, Lane1, Lane2, Lane3, Lane4, Motion, Place, Position,
        Velocity,
    },
    quad::Quad,
};

/// The position entity number `i` starts with.
#[inline(always)]
pub fn position(i: usize) -> Position {
    Position { x: (i & 1023) as f32, y: 1.0 }
}

/// The velocity entity number `i` starts with.
#[inline(always)]
pub fn velocity(i: usize) -> Velocity {
    Velocity { x: (i & 15) as f32, y: 0.5 }
}

/// The force on entity number `i`.
#[inline(always)]
pub fn force(i: usize) -> Force {
    Force { x: (i & 7) as f32, y: 0.25 }
}

/// A value for the components that hold one float.
#[inline(always)]
pub fn value(i: usize) -> f32 {
    (i & 255) as f32
}

/// Four values that differ by entity and by `lane`.
#[inline(always)]
pub fn quad(i: usize, lane: usize) -> Quad {
    let base = (i & 127) as f32;
    Quad([base, base + lane as f32, 1.0, 0.5])
}

/// `iter_1`: one field of one component.
#[inline(always)]
pub fn nudge(position: &mut Position) {
    position.x += 1.0;
}

/// `iter_2` and its kin: one component moves by another.
#[inline(always)]
pub fn step(position: &mut Position, velocity: &Velocity) {
    position.x += velocity.x;
    position.y += velocity.y;
}

/// `iter_frag`: one float.
#[inline(always)]
pub fn bump(data: &mut Data) {
    data.value += 1.0;
}

/// `iter_3_of_many`: one component moves by the product of two others.
#[inline(always)]
pub fn push(position: &mut Position, velocity: &Velocity, force: &Force) {
    position.x += velocity.x * force.x;
    position.y += velocity.y * force.y;
}

/// `iter_5_wide`: one lane written from four others.
#[inline(always)]
pub fn blend(out: &mut Lane0, a: &Lane1, b: &Lane2, c: &Lane3, d: &Lane4) {
    let sum = a.quad.times(b.quad).plus(c.quad.times(d.quad));
    out.quad = out.quad.plus(sum);
}

/// `heavy`: four floats move by four others.
#[inline(always)]
pub fn glide(place: &mut Place, motion: &Motion) {
    place.quad = place.quad.plus(motion.quad);
}

/// `par_iter_2`: about 100 floating point operations on one entity.
#[inline(always)]
pub fn orbit(position: &mut Position, velocity: &Velocity) {
    let (mut x, mut y) = (position.x, position.y);
    // Ten operations a turn; the factors keep the values bounded for ever.
    for _ in 0..10 {
        let (old_x, old_y) = (x, y);
        x = old_x * 0.5 + old_y * 0.25 + velocity.x;
        y = old_y * 0.5 - old_x * 0.25 + velocity.y * 0.5;
    }
    *position = Position { x, y };
}

/// The components of `schedule`. Every entity has the first two; [`quarter`] says what else.
#[inline(always)]
pub fn letters(i: usize) -> (A, B, C, D, E) {
    let value = value(i);
    (
        A { value },
        B { value: value + 0.5 },
        C { value: value + 0.25 },
        D { value: value + 0.125 },
        E { value: value + 0.75 },
    )
}

/// What entity number `i` of `schedule` has beside A and B, as in ecs_bench_suite. The four
/// combinations take turns, so that their entities are spawned in mixed order.
#[inline(always)]
pub fn quarter(i: usize) -> Quarter {
    match i % 4 {
        0 => Quarter::Ab,
        1 => Quarter::Abc,
        2 => Quarter::Abcd,
        _ => Quarter::Abce,
    }
}

/// A combination of components in `schedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quarter {
    /// Nothing more.
    Ab,
    /// C.
    Abc,
    /// C and D.
    Abcd,
    /// C and E.
    Abce,
}

/// `schedule`, first system.
#[inline(always)]
pub fn swap_ab(a: &mut A, b: &mut B) {
    mem::swap(&mut a.value, &mut b.value);
}

/// `schedule`, second system.
#[inline(always)]
pub fn swap_cd(c: &mut C, d: &mut D) {
    mem::swap(&mut c.value, &mut d.value);
}

/// `schedule`, third system.
#[inline(always)]
pub fn swap_ce(c: &mut C, e: &mut E) {
    mem::swap(&mut c.value, &mut e.value);
}
