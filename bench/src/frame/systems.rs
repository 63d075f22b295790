//! The eleven systems of a frame: which components each of them walks, and what it does.
//!
//! The list stands here once. Each contestant turns an entry into a query of its own and calls
//! the function of the same name with what the query yields. Values stay bounded however long a
//! world lives, and none becomes subnormal.

use super::components::{
    Ai, Burning, Collider, Damage, Health, Lifetime, Position, Rotation, Sprite, Target, Team,
    Velocity,
};

/// Calls a macro with every system: its name, what it writes and reads, what it excludes.
/// What stands behind the name of the macro is handed on first.
macro_rules! with_systems {
    ($call:ident $($first:tt)*) => {
        $call! {
            $($first)*
            travel: [p mut Position] [v ref Velocity];
            regenerate: [h mut Health];
            age: [l mut Lifetime];
            burn: [h mut Health] [b mut Burning];
            steer: [v mut Velocity] [a ref Ai] [p ref Position] without Stunned;
            spin: [r mut Rotation] [v ref Velocity];
            collide: [c mut Collider] [p ref Position];
            aim: [t mut Target] [p ref Position] [s ref Team] without Stunned;
            strike: [h mut Health] [d ref Damage] [s ref Team] [c ref Collider];
            animate: [s mut Sprite] [r ref Rotation] without Stunned;
            draw: [p ref Position] [r ref Rotation] [s ref Sprite];
        }
    };
}
pub(crate) use with_systems;

/// Calls the function of every system, in their order.
macro_rules! run_systems {
    ($stage:expr, $canvas:expr) => { $crate::frame::systems::with_systems!(call_systems [$stage, $canvas]) };
}
pub(crate) use run_systems;

macro_rules! call_systems {
    ([$stage:expr, $canvas:expr] $($system:ident: $([$($term:tt)*])* $(without $absent:ident)?;)*) => {
        $($system($stage, $canvas);)*
    };
}
pub(crate) use call_systems;

/// The type of a reference to a component: `&mut` or `&`.
macro_rules! term {
    (mut $component:ty) => { &'static mut $component };
    (ref $component:ty) => { &'static $component };
}
pub(crate) use term;

/// A pattern for what is written or read.
macro_rules! pattern {
    (mut $name:ident) => { mut $name };
    (ref $name:ident) => { $name };
}
pub(crate) use pattern;

/// An expression that borrows what is written or read.
macro_rules! borrow {
    (mut $name:ident) => {
        &mut $name
    };
    (ref $name:ident) => {
        &$name
    };
}
pub(crate) use borrow;

/// What follows the name of an excluded component.
macro_rules! absent {
    ($component:ident $($use:tt)*) => { $($use)* };
}
pub(crate) use absent;

/// What systems write beside components: a stand-in for a list of things to draw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Canvas {
    /// The sum over all that was drawn; wraps, so the order does not matter.
    pub drawn: u64,
}

/// Moves.
#[inline(always)]
pub fn travel(_: &mut Canvas, p: &mut Position, v: &Velocity) {
    p.x += v.x;
    p.y += v.y;
}

/// Heals.
#[inline(always)]
pub fn regenerate(_: &mut Canvas, h: &mut Health) {
    h.now = least(h.now + h.gain, h.max);
}

/// Counts the frames that are left.
#[inline(always)]
pub fn age(_: &mut Canvas, l: &mut Lifetime) {
    l.left = l.left.wrapping_sub(1);
}

/// Takes health from what burns.
#[inline(always)]
pub fn burn(_: &mut Canvas, h: &mut Health, b: &mut Burning) {
    h.now = above_zero(h.now - b.heat);
    b.turns = b.turns.wrapping_add(1);
}

/// Turns towards a goal.
#[inline(always)]
pub fn steer(_: &mut Canvas, v: &mut Velocity, a: &Ai, p: &Position) {
    v.x = if p.x < a.goal[0] { a.speed } else { -a.speed };
    v.y = if p.y < a.goal[1] { a.speed } else { -a.speed };
}

/// Turns with the movement.
#[inline(always)]
pub fn spin(_: &mut Canvas, r: &mut Rotation, v: &Velocity) {
    r.z += v.x * 0.25;
    r.w += v.y * 0.25;
}

/// Moves the extent along.
#[inline(always)]
pub fn collide(_: &mut Canvas, c: &mut Collider, p: &Position) {
    c.min = p.x - c.half;
    c.max = p.x + c.half;
}

/// Finds the way to the target.
#[inline(always)]
pub fn aim(_: &mut Canvas, t: &mut Target, p: &Position, s: &Team) {
    let side = s.side as f32;
    t.dx = (t.x - p.x) * side;
    t.dy = (t.y - p.y) * side;
}

/// Takes health from what touches the other side.
#[inline(always)]
pub fn strike(_: &mut Canvas, h: &mut Health, d: &Damage, s: &Team, c: &Collider) {
    let hit = if c.mask & s.side as u32 == 0 { 0.0 } else { d.amount };
    h.now = above_zero(h.now - hit);
}

/// Takes the next image.
#[inline(always)]
pub fn animate(_: &mut Canvas, s: &mut Sprite, r: &Rotation) {
    s.image = s.image.wrapping_add(1 + (s.layer & 3));
    s.tint = r.w.to_bits();
}

/// Adds to what is drawn.
#[inline(always)]
pub fn draw(canvas: &mut Canvas, p: &Position, r: &Rotation, s: &Sprite) {
    let bits = p.x.to_bits() ^ p.y.to_bits() ^ r.z.to_bits() ^ s.image;
    canvas.drawn = canvas.drawn.wrapping_add(u64::from(bits));
}

/// The smaller of two; one instruction, unlike `f32::min`, which has to look for NaN.
#[inline(always)]
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn above_zero(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}
