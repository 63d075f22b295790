//! The one list of tuple lengths.

/// Calls a macro for each tuple length from 0 to 16, with the names of the type parameters.
macro_rules! all_tuples {
    ($implement:ident) => {
        crate::tuples::all_tuples!(@ $implement A B C D E F G H I J K L M N O P;);
    };
    (@ $implement:ident; $($done:ident)*) => {
        $implement!($($done),*);
    };
    (@ $implement:ident $next:ident $($rest:ident)*; $($done:ident)*) => {
        $implement!($($done),*);
        crate::tuples::all_tuples!(@ $implement $($rest)*; $($done)* $next);
    };
}

pub(crate) use all_tuples;
