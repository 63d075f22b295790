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
        return each_in_turn(list, work);
    }
    _ = size;
    list.into_iter().map(work).collect()
}

/// Each thread takes the next one as soon as it is done with the last, this one from the start: so it
/// does not wait until another has woken up.
#[cfg(feature = "parallel")]
fn each_in_turn<T: Send, R: Send>(list: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    use std::sync::{Mutex, PoisonError};

    let threads = rayon::current_num_threads().min(list.len());
    let left = Mutex::new(list.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let take_turns = || loop {
        // Nothing that can unwind is done under a lock.
        let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((nth, one)) = next else { return };
        let result = work(one);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((nth, result));
    };
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| take_turns()));
        take_turns();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(nth, _)| nth);
    done.into_iter().map(|(_, result)| result).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_list_whoever_is_done_first() {
        for size in [Size::Filled(1), Size::Filled(1_000_000)] {
            for len in 0..40 {
                // The first take longest.
                let work =
                    |nth: u64| (nth..2000).fold((nth, 0), |(nth, sum), n| (nth, sum ^ (n * n)));

                let done = each((0..len).collect(), size, work);

                assert_eq!(done, (0..len).map(work).collect::<Vec<_>>());
            }
        }
    }
}
