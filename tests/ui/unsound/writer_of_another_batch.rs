//! What a bundle is lent belongs to one batch: it is not exchanged with that of another, used for a row of another,
//! or kept.

use std::cell::RefCell;

use esker::prelude::*;
use esker::world::{ComponentVisitor, Gate, PoolWriter, Row};

#[derive(Component)]
struct Name(String);

struct Thief(Name);

thread_local!(static LOOT: RefCell<Option<PoolWriter<'static, Name>>> = const { RefCell::new(None) });

impl Bundle for Thief {
    type Parts = Option<Name>;
    type Writer<'w> = PoolWriter<'w, Name>;

    fn insert(self, gate: &mut Gate<'_>) -> Option<Name> {
        self.0.insert(gate)
    }

    fn remove(gate: &mut Gate<'_>) -> Option<Name> {
        Name::remove(gate)
    }

    fn assemble(parts: Option<Name>) -> Option<Self> {
        parts.map(Thief)
    }

    fn visit<V: ComponentVisitor>(visitor: &mut V) {
        visitor.visit::<Name>();
    }

    fn write<'w>(self, writer: &mut PoolWriter<'w, Name>, row: &Row<'w>) {
        self.0.write(writer, row);
        LOOT.with_borrow_mut(|loot| std::mem::swap(writer, loot.as_mut().unwrap()));
    }
}

fn exchange(one: &mut PoolWriter<'_, Name>, other: &mut PoolWriter<'_, Name>) {
    std::mem::swap(one, other);
}

fn write_for_another(writer: &mut PoolWriter<'_, Name>, row: &Row<'_>) {
    Name(String::new()).write(writer, row);
}

fn keep(writer: PoolWriter<'_, Name>) {
    LOOT.set(Some(writer));
}

fn main() {}
