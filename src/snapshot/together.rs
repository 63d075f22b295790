//! Work that is done on all threads, if there is enough of it.

/// How much there is to do.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size {
    /// So many values are copied to memory that is there.
    Filled(usize),
    /// So many values are copied to new memory. Other threads have less of it at hand: allocators keep
    /// some for each of them apart.
    Made(usize),
}

impl Size {
    /// Whether it takes longer than to wake another thread up, as measured.
    pub(super) fn is_worth_a_task(self) -> bool {
        if cfg!(not(feature = "parallel")) {
            return false;
        }
        match self {
            Self::Filled(values) => values > 20_000,
            Self::Made(values) => values > 500_000,
        }
    }
}

/// Does the same to each of these, which are of that size together. Results are in the order of the
/// list.
pub(super) fn each<T: Send, R: Send>(
    list: Vec<T>,
    size: Size,
    work: impl Fn(T) -> R + Send + Sync,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if size.is_worth_a_task() && list.len() > 1 {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};

        return list.into_par_iter().map(work).collect();
    }
    _ = size;
    list.into_iter().map(work).collect()
}

/// Does one thing on another thread while this one does the other, which need not leave it. They are of
/// that size together.
pub(super) fn beside<A: Send, B>(
    size: Size,
    there: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if size.is_worth_a_task() {
        let mut done = None;
        let result = rayon::in_place_scope(|scope| {
            scope.spawn(|_| done = Some(there()));
            here()
        });
        return (done.expect("the scope waits for it"), result);
    }
    _ = size;
    (there(), here())
}

/// Does two things, which are of that size together.
pub(super) fn both<A: Send, B: Send>(
    size: Size,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if size.is_worth_a_task() {
        return rayon::join(a, b);
    }
    _ = size;
    (a(), b())
}
