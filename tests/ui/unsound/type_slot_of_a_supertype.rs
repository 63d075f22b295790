//! A slot remembers the number of one type: that of a subtype is another type's.

use esker::Component;
use esker::component::TypeSlot;
use esker::storage::{Packed, Tracked};

struct Callback<F: 'static>(F);

type General = for<'a> fn(&'a u8);
type Special = fn(&'static u8);

static SLOT: TypeSlot<Callback<General>> = TypeSlot::new();

impl Component for Callback<General> {
    type Storage = Packed<Self>;

    fn type_slot() -> Option<&'static TypeSlot<Self>> {
        Some(&SLOT)
    }
}

impl Component for Callback<Special> {
    type Storage = Tracked<Packed<Self>>;

    fn type_slot() -> Option<&'static TypeSlot<Self>> {
        Some(&SLOT)
    }
}

/// Neither in the other direction.
fn general(slot: &'static TypeSlot<Callback<Special>>) -> &'static TypeSlot<Callback<General>> {
    slot
}

fn main() {}
