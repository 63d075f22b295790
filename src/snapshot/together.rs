//! Work that is done on all threads, if there is enough of it.

/// Values that are copied on one thread before another one has woken up.
#[cfg(feature = "parallel")]
const WORTH_A_TASK: usize = 20_000;

/// Does the same to each of these; `size` is the number of values that all of them have. Results are
/// in the order of the list.
pub(super) fn each<T: Send, R: Send>(
    list: Vec<T>,
    size: usize,
    work: impl Fn(T) -> R + Send + Sync,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if size > WORTH_A_TASK && list.len() > 1 {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};

        return list.into_par_iter().map(work).collect();
    }
    _ = size;
    list.into_iter().map(work).collect()
}

/// Does two things; `size` is the number of values that both have.
pub(super) fn both<A: Send, B: Send>(
    size: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if size > WORTH_A_TASK {
        return rayon::join(a, b);
    }
    _ = size;
    (a(), b())
}
