//! Work that is done on all threads, if there is enough of it.

/// How much there is to do.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "parallel"), allow(dead_code, reason = "there is one thread"))]
pub(super) enum Size {
    /// So many values are copied to memory that is there.
    Filled(usize),
    /// So many values are copied to new memory. Other threads have less of it at hand: allocators keep
    /// some for each of them apart.
    Made(usize),
}

impl Size {
    /// Whether it takes longer than to wake another thread up, as measured.
    #[cfg(feature = "parallel")]
    fn is_worth_a_task(self) -> bool {
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
