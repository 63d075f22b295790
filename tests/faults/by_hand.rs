//! A bundle, a parameter, a struct of terms and an iterator that were written without the derives.

use std::borrow::Borrow;
use std::io;

use esker::prelude::*;
use esker::query::named::Named;
use esker::system::{ParamError, Run, Stream};
use esker::world::{ComponentVisitor, Gate, Row};
use esker::{AccessSet, Key, SystemParam};

use crate::fuse::{Callback, call};
use crate::parts::{A, B, D};

/// Three components, from code that may panic between any two of them.
#[derive(Debug)]
pub struct Pack(pub A, pub B, pub D);

type Inside = (A, B, D);

impl Bundle for Pack {
    type Parts = <Inside as Bundle>::Parts;
    type Writer<'w> = <Inside as Bundle>::Writer<'w>;

    fn insert(self, gate: &mut Gate<'_>) -> Self::Parts {
        call(Callback::Bundle);
        let a = self.0.insert(gate);
        call(Callback::Bundle);
        let b = self.1.insert(gate);
        let d = self.2.insert(gate);
        call(Callback::Bundle);
        (a, b, d)
    }

    fn remove(gate: &mut Gate<'_>) -> Self::Parts {
        call(Callback::Bundle);
        let a = A::remove(gate);
        call(Callback::Bundle);
        let (b, d) = <(B, D)>::remove(gate);
        call(Callback::Bundle);
        (a, b, d)
    }

    fn assemble(parts: Self::Parts) -> Option<Self> {
        call(Callback::Bundle);
        Inside::assemble(parts).map(|(a, b, d)| Self(a, b, d))
    }

    fn write<'w>(self, writer: &mut Self::Writer<'w>, row: &Row<'w>) {
        call(Callback::Bundle);
        self.2.write(&mut writer.2, row);
        call(Callback::Bundle);
        self.0.write(&mut writer.0, row);
        self.1.write(&mut writer.1, row);
        call(Callback::Bundle);
    }

    fn visit<V: ComponentVisitor>(visitor: &mut V) {
        call(Callback::Bundle);
        visitor.visit::<A>();
        call(Callback::Bundle);
        <(B, D)>::visit(visitor);
    }
}

/// An iterator whose `size_hint` may panic.
#[derive(Debug)]
pub struct Hinting<I>(pub I);

impl<I: Iterator> Iterator for Hinting<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        call(Callback::Iterate);
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        call(Callback::SizeHint);
        // Too many, and no end in sight.
        (self.0.size_hint().0 + 5, None)
    }
}

/// Takes in all bytes, or panics.
#[derive(Debug)]
pub struct Torn;

impl io::Write for Torn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        call(Callback::Closure);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        call(Callback::Closure);
        Ok(())
    }
}

/// Names an entity, and may panic when it is asked which.
#[derive(Debug)]
pub struct Naming(pub Entity);

impl Borrow<Entity> for Naming {
    fn borrow(&self) -> &Entity {
        call(Callback::Item);
        &self.0
    }
}

/// A struct of terms whose names are put to them by hand.
#[derive(Debug)]
pub struct Both;

impl Named for Both {
    type Terms = (&'static mut B, &'static D);
    type Item<'a> = (&'a mut B, &'a D);
    type ReadItem<'a> = (&'a B, &'a D);

    fn name<'a>(item: <Self::Terms as QueryData>::Item<'a>) -> Self::Item<'a> {
        call(Callback::Item);
        item
    }

    fn name_read<'a>(item: <Self::Terms as QueryData>::ReadItem<'a>) -> Self::ReadItem<'a> {
        call(Callback::Item);
        item
    }
}

#[allow(unsafe_code, reason = "what the derive writes")]
mod both {
    use super::Both;

    esker::named_query_data!([] [Both] []);
}

/// Commands, around which everything may panic.
pub struct Ordering<'w, 's>(pub Commands<'w, 's>);

type Ordered = Commands<'static, 'static>;

impl SystemParam for Ordering<'_, '_> {
    type State = <Ordered as SystemParam>::State;
    type Item<'w, 's> = Ordering<'w, 's>;

    fn init(world: &mut World, access: &mut AccessSet) -> Self::State {
        call(Callback::Param);
        Ordered::init(world, access)
    }

    fn get<'w, 's>(
        state: &'s mut Self::State,
        run: Run<'w>,
    ) -> Result<Self::Item<'w, 's>, ParamError> {
        call(Callback::Param);
        Ordered::get(state, run).map(Ordering)
    }

    fn ran(state: &mut Self::State) {
        call(Callback::Param);
        Ordered::ran(state);
    }

    fn apply(state: &mut Self::State, world: &mut World) {
        call(Callback::Param);
        Ordered::apply(state, world);
        call(Callback::Param);
    }

    fn discard(state: &mut Self::State, world: &mut World) {
        call(Callback::Param);
        Ordered::discard(state, world);
    }

    fn streams(state: &mut Self::State, see: &mut dyn FnMut(&mut Stream)) {
        call(Callback::Param);
        Ordered::streams(state, see);
    }

    fn outputs(see: &mut dyn FnMut(Key, bool)) {
        call(Callback::Param);
        Ordered::outputs(see);
    }
}
