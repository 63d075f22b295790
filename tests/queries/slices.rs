//! Terms that can be had as slices: how a run of them is read and written, place by place.

use esker::query::SliceData;
use esker::{AnyOf, Entity, Has};

use crate::kinds::Kind;
use crate::terms::{Term, show_nothing};

pub trait SliceTerm: Term + SliceData {
    /// Adds the length of each slice of a run.
    fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>);

    fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>);

    /// Adds what stands at one place of a run.
    fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>);

    /// As `Term::overwrite`, for one place of a run.
    fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>);
}

impl SliceTerm for Entity {
    fn lengths(run: &&[Entity], out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn lengths_mut(run: &&[Entity], out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn read_at(run: &&[Entity], at: usize, out: &mut Vec<u64>) {
        Self::show(run[at], out);
    }

    fn write_at(run: &mut &[Entity], at: usize, out: &mut Vec<u64>) {
        Self::show(run[at], out);
    }
}

impl<T: Kind> SliceTerm for &T {
    fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>) {
        Self::show(&run[at], out);
    }

    fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>) {
        Self::overwrite(&run[at], out);
    }
}

impl<T: Kind> SliceTerm for &mut T {
    fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>) {
        out.push(run.len());
    }

    fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>) {
        Self::show(&run[at], out);
    }

    fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>) {
        Self::overwrite(&mut run[at], out);
    }
}

impl<T: Kind> SliceTerm for Has<T> {
    fn lengths(_: &bool, _: &mut Vec<usize>) {}

    fn lengths_mut(_: &bool, _: &mut Vec<usize>) {}

    fn read_at(run: &bool, _: usize, out: &mut Vec<u64>) {
        Self::show(*run, out);
    }

    fn write_at(run: &mut bool, _: usize, out: &mut Vec<u64>) {
        Self::show(*run, out);
    }
}

impl<D: SliceTerm> SliceTerm for Option<D> {
    fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>) {
        if let Some(run) = run {
            D::lengths(run, out);
        }
    }

    fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>) {
        if let Some(run) = run {
            D::lengths_mut(run, out);
        }
    }

    fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>) {
        match run {
            Some(run) => {
                out.push(1);
                D::read_at(run, at, out);
            }
            None => show_nothing::<D>(out),
        }
    }

    fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>) {
        match run {
            Some(run) => {
                out.push(1);
                D::write_at(run, at, out);
            }
            None => show_nothing::<D>(out),
        }
    }
}

macro_rules! tuple_slices {
    ($($name:ident $at:tt),*) => {
        impl<$($name: SliceTerm),*> SliceTerm for ($($name,)*) {
            fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>) {
                $($name::lengths(&run.$at, out);)*
            }

            fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>) {
                $($name::lengths_mut(&run.$at, out);)*
            }

            fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>) {
                $($name::read_at(&run.$at, at, out);)*
            }

            fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>) {
                $($name::write_at(&mut run.$at, at, out);)*
            }
        }

        impl<$($name: SliceTerm),*> SliceTerm for AnyOf<($($name,)*)> {
            fn lengths(run: &Self::ReadSlices<'_>, out: &mut Vec<usize>) {
                <($(Option<$name>,)*)>::lengths(run, out);
            }

            fn lengths_mut(run: &Self::Slices<'_>, out: &mut Vec<usize>) {
                <($(Option<$name>,)*)>::lengths_mut(run, out);
            }

            fn read_at(run: &Self::ReadSlices<'_>, at: usize, out: &mut Vec<u64>) {
                <($(Option<$name>,)*)>::read_at(run, at, out);
            }

            fn write_at(run: &mut Self::Slices<'_>, at: usize, out: &mut Vec<u64>) {
                <($(Option<$name>,)*)>::write_at(run, at, out);
            }
        }
    };
}

tuple_slices!(X 0, Y 1);
tuple_slices!(X 0, Y 1, Z 2);
tuple_slices!(X 0, Y 1, Z 2, U 3);
tuple_slices!(X 0, Y 1, Z 2, U 3, V 4);
tuple_slices!(X 0, Y 1, Z 2, U 3, V 4, W 5);
