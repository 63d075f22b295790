//! Types that must not pass for those of a supertype, because something is written through them, or found by a type's id.
//! `General` is a subtype of `Special`; each function below would go from the one to the other.

use esker::component::TypeSlot;
use esker::prelude::*;
use esker::storage::{EntityMap, Indexed, Iter, IterMut, Packed, Tracked};
use esker::world::{Locked, PoolWriter};
use esker::{Component, Write};

type General = for<'a> fn(&'a u8);
type Special = fn(&'static u8);
/// As general as each other, and two types.
type Both = for<'a> fn(&'a u8, &'a u8);
type Each = for<'a, 'b> fn(&'a u8, &'b u8);

#[derive(Component)]
struct Value<F: 'static>(F);

macro_rules! refuse {
    ($($name:ident: $from:ty => $to:ty;)*) => {
        $(fn $name<'w>(from: $from) -> $to {
            from
        })*
    };
}

refuse! {
    slot: &'w TypeSlot<General> => &'w TypeSlot<Special>;
    slot_back: &'w TypeSlot<Special> => &'w TypeSlot<General>;
    slot_of_an_equal: &'w TypeSlot<Both> => &'w TypeSlot<Each>;
    write: Write<'w, General> => Write<'w, Special>;
    resource: ResMut<'w, General> => ResMut<'w, Special>;
    local: Local<'w, General> => Local<'w, Special>;
    tracked: Mut<'w, General> => Mut<'w, Special>;
    packed: Packed<General> => Packed<Special>;
    indexed: Indexed<General> => Indexed<Special>;
    ticks: Tracked<Packed<General>> => Tracked<Packed<Special>>;
    map: EntityMap<General> => EntityMap<Special>;
    walk: Iter<'w, General, Packed<General>> => Iter<'w, Special, Packed<Special>>;
    values: Iter<'w, General, Packed<General>> => Iter<'w, Special, Packed<General>>;
    walk_to_write: IterMut<'w, General, Packed<General>> => IterMut<'w, Special, Packed<Special>>;
    storage: IterMut<'w, General, Option<General>> => IterMut<'w, General, Option<Special>>;
    pool: Pool<'w, Value<General>> => Pool<'w, Value<Special>>;
    pool_to_write: PoolMut<'w, Value<General>> => PoolMut<'w, Value<Special>>;
    pool_of_threads: Locked<'w, Value<General>> => Locked<'w, Value<Special>>;
    writer: PoolWriter<'w, Value<General>> => PoolWriter<'w, Value<Special>>;
    messages: MessageWriter<'w, General> => MessageWriter<'w, Special>;
    query: Query<'w, &'static Value<General>> => Query<'w, &'static Value<Special>>;
    filter: Query<'w, Entity, With<Value<General>>> => Query<'w, Entity, With<Value<Special>>>;
}

fn main() {}
