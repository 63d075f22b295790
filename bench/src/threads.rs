//! Two threads for whoever works in parallel.

/// How many threads the parallel rows use.
pub const THREADS: usize = 2;

/// Runs `work` with the pools that contestants share: rayon's and bevy's.
///
/// `work` itself runs on one of rayon's threads. A call into the pool then starts at once
/// instead of waking a thread and waiting for it, and two threads are two, not three.
pub fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    // An error says that the pool is there already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build_global();
    bevy_tasks::ComputeTaskPool::get_or_init(|| {
        bevy_tasks::TaskPoolBuilder::new().num_threads(THREADS).build()
    });
    rayon::join(work, || ()).0
}
