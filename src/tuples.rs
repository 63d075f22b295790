//! The one list of tuple lengths.

/// Calls a macro for each tuple length from 0 to 16, with type parameters and field numbers:
/// `A 0, B 1, C 2`.
macro_rules! all_tuples {
    ($implement:ident) => {
        crate::tuples::all_tuples!(@ $implement []
            (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7)
            (I 8) (J 9) (K 10) (L 11) (M 12) (N 13) (O 14) (P 15));
    };
    (@ $implement:ident [$($name:ident $at:tt),*]) => {
        $implement!($($name $at),*);
    };
    (@ $implement:ident [$($name:ident $at:tt),*] ($next:ident $next_at:tt) $($rest:tt)*) => {
        $implement!($($name $at),*);
        crate::tuples::all_tuples!(@ $implement [$($name $at,)* $next $next_at] $($rest)*);
    };
}

pub(crate) use all_tuples;
