//! A frame over arrays: a table per kind, side tables for what comes and goes.
//!
//! Each kind has its columns, packed, in the same order. An entity that dies is replaced by the
//! last one of its kind. A byte beside each row says which statuses the entity has and whether its
//! velocity is valid. Loops that exclude one compute for all rows and keep results by that byte,
//! without a branch. A column that a kind does not have is empty, so a loop over it ends at once.

use crate::{
    checksum::bits,
    frame::{
        Canvas, Change, FrameWorld, Kind, Row, Start,
        components::*,
        systems::{self, call_systems, run_systems},
    },
};

/// A bit of a row's flags: the entity is in the side table of burning ones.
const BURNING: u8 = 1;
/// A bit of a row's flags: the entity is in the side table of stunned ones.
const STUNNED: u8 = 2;
/// A bit of a row's flags: the velocity counts as absent.
const HALTED: u8 = 4;

macro_rules! table {
    ($($field:ident $component:ident),*) => {
        /// The entities of one kind.
        #[derive(Default)]
        struct Table {
            owners: Vec<u32>,
            flags: Vec<u8>,
            /// Every flag that some row has had: loops need not look for others.
            seen: u8,
            $($field: Vec<$component>),*
        }

        $(
            impl Column<$component> for Table {
                #[inline(always)]
                fn column(&mut self) -> &mut Vec<$component> {
                    &mut self.$field
                }
            }
        )*
    };
}

/// A table that may have a component.
trait Column<T> {
    fn column(&mut self) -> &mut Vec<T>;
}

table! {
    position Position, velocity Velocity, rotation Rotation, health Health, damage Damage,
    lifetime Lifetime, sprite Sprite, collider Collider, ai Ai, team Team, target Target,
    inventory Inventory, zone Zone
}

/// Values that few entities have, packed; `slots` says where by number.
struct Side<T> {
    owners: Vec<u32>,
    values: Vec<T>,
    slots: Vec<u32>,
}

impl<T: Start> Side<T> {
    fn new(n: usize) -> Self {
        Self { owners: Vec::new(), values: Vec::new(), slots: vec![0; n] }
    }

    fn insert(&mut self, i: u32) {
        self.slots[i as usize] = self.owners.len() as u32;
        self.owners.push(i);
        self.values.push(T::start(i));
    }

    fn remove(&mut self, i: u32) {
        let at = self.slots[i as usize] as usize;
        self.owners.swap_remove(at);
        self.values.swap_remove(at);
        if let Some(&moved) = self.owners.get(at) {
            self.slots[moved as usize] = at as u32;
        }
    }
}

/// All entities; those of a kind side by side. Entities are named by their number.
pub(super) struct Tables {
    kinds: [Table; Kind::ALL.len()],
    places: Vec<(Kind, u32)>,
    burning: Side<Burning>,
    stunned: Side<Stunned>,
}

impl Tables {
    pub(super) fn new(n: usize) -> Self {
        let places = vec![(Kind::Scenery, 0); n];
        Self { kinds: Default::default(), places, burning: Side::new(n), stunned: Side::new(n) }
    }
}

impl FrameWorld for Tables {
    type Id = u32;

    #[inline(always)]
    fn spawn(&mut self, kind: Kind, i: u32) -> u32 {
        let table = &mut self.kinds[kind as usize];
        self.places[i as usize] = (kind, table.owners.len() as u32);
        table.owners.push(i);
        table.flags.push(0);
        macro_rules! push {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind {
                    $(Kind::$kind => {
                        $(Column::<$component>::column(table).push($component::start(i));)*
                    })*
                }
            };
        }
        with_kinds!(push);
        i
    }

    #[inline(always)]
    fn despawn(&mut self, i: u32) {
        let (kind, row) = self.places[i as usize];
        let (table, row) = (&mut self.kinds[kind as usize], row as usize);
        table.owners.swap_remove(row);
        let flags = table.flags.swap_remove(row);
        macro_rules! remove {
            ($($kind:ident $share:literal: $($component:ident)*;)*) => {
                match kind {
                    $(Kind::$kind => {
                        $(Column::<$component>::column(table).swap_remove(row);)*
                    })*
                }
            };
        }
        with_kinds!(remove);
        if let Some(&moved) = table.owners.get(row) {
            self.places[moved as usize].1 = row as u32;
        }
        if flags & BURNING != 0 {
            self.burning.remove(i);
        }
        if flags & STUNNED != 0 {
            self.stunned.remove(i);
        }
    }

    #[inline(always)]
    fn changes(&mut self, _: &[u32], changes: &[(u32, Change)]) {
        for &(i, change) in changes {
            let (kind, row) = self.places[i as usize];
            let Table { flags, seen, velocity, .. } = &mut self.kinds[kind as usize];
            let flags = &mut flags[row as usize];
            match change {
                Change::Ignite => {
                    *flags |= BURNING;
                    self.burning.insert(i);
                }
                Change::Quench => {
                    *flags &= !BURNING;
                    self.burning.remove(i);
                }
                Change::Stun => {
                    *flags |= STUNNED;
                    self.stunned.insert(i);
                }
                Change::Wake => {
                    *flags &= !STUNNED;
                    self.stunned.remove(i);
                }
                Change::Halt => *flags |= HALTED,
                Change::Launch => {
                    *flags &= !HALTED;
                    velocity[row as usize] = Velocity::start(i);
                }
            }
            *seen |= *flags;
        }
    }

    #[inline(always)]
    fn walk(&mut self, canvas: &mut Canvas) {
        run_systems!(self, canvas);
    }

    fn row(&mut self, i: u32) -> Row {
        let (kind, row) = self.places[i as usize];
        let (burning, stunned) = (&self.burning, &self.stunned);
        let table = &mut self.kinds[kind as usize];
        let (flags, slot) = (table.flags[row as usize], i as usize);
        fn at<T: Copy + bytemuck::NoUninit>(table: &mut Table, row: u32) -> u64
        where
            Table: Column<T>,
        {
            Column::<T>::column(table).get(row as usize).map_or(0, bits)
        }
        [
            at::<Position>(table, row),
            if flags & HALTED == 0 { at::<Velocity>(table, row) } else { 0 },
            at::<Rotation>(table, row),
            at::<Health>(table, row),
            at::<Damage>(table, row),
            at::<Lifetime>(table, row),
            at::<Sprite>(table, row),
            at::<Collider>(table, row),
            at::<Ai>(table, row),
            at::<Team>(table, row),
            at::<Target>(table, row),
            at::<Inventory>(table, row),
            at::<Zone>(table, row),
            if flags & BURNING == 0 {
                0
            } else {
                bits(&burning.values[burning.slots[slot] as usize])
            },
            if flags & STUNNED == 0 {
                0
            } else {
                bits(&stunned.values[stunned.slots[slot] as usize])
            },
        ]
    }
}

/// Whether one of the flags in `mask` is set.
#[inline(always)]
fn any(flags: u8, mask: u8) -> bool {
    flags & mask != 0
}

/// One loop per table: the first column is written where none of the flags is set.
macro_rules! loops {
    ($($system:ident: $first:ident $(, $other:ident)* $(unless $flags:expr)?;)*) => {$(
        #[inline(never)]
        fn $system(tables: &mut Tables, canvas: &mut Canvas) {
            const MASK: u8 = 0 $(| $flags)?;
            for Table { flags, seen, $first, $($other,)* .. } in &mut tables.kinds {
                let lens = [$first.len(), $($other.len(),)*];
                let rows = lens.into_iter().min().unwrap_or(0);
                let (flags, $first) = (&flags[..rows], &mut $first[..rows]);
                $(let $other = &$other[..rows];)*
                if !any(*seen, MASK) {
                    for row in 0..rows {
                        systems::$system(canvas, &mut $first[row] $(, &$other[row])*);
                    }
                    continue;
                }
                for row in 0..rows {
                    let mut new = $first[row];
                    systems::$system(canvas, &mut new $(, &$other[row])*);
                    $first[row] = if any(flags[row], MASK) { $first[row] } else { new };
                }
            }
        }
    )*};
}

loops! {
    travel: position, velocity unless HALTED;
    regenerate: health;
    age: lifetime;
    steer: velocity, ai, position unless STUNNED | HALTED;
    spin: rotation, velocity unless HALTED;
    collide: collider, position;
    aim: target, position, team unless STUNNED;
    strike: health, damage, team, collider;
    animate: sprite, rotation unless STUNNED;
}

#[inline(never)]
fn burn(tables: &mut Tables, canvas: &mut Canvas) {
    let Tables { kinds, places, burning, .. } = tables;
    for (owner, burning) in burning.owners.iter().zip(&mut burning.values) {
        let (kind, row) = places[*owner as usize];
        systems::burn(canvas, &mut kinds[kind as usize].health[row as usize], burning);
    }
}

#[inline(never)]
fn draw(tables: &mut Tables, canvas: &mut Canvas) {
    for Table { position, rotation, sprite, .. } in &tables.kinds {
        for ((p, r), s) in position.iter().zip(rotation).zip(sprite) {
            systems::draw(canvas, p, r, s);
        }
    }
}
