//! The trace of the work at hand, carried beside it rather than through every signature: what sends a message while work
//! is done passes its trace on.

use quarry_model::Trace;

tokio::task_local! {
    static CURRENT: Trace;
}

/// Does work as part of a trace. Tasks that the work spawns are outside of it.
pub async fn within<F: Future>(trace: Trace, work: F) -> F::Output {
    CURRENT.scope(trace, work).await
}

/// The trace of the work that asks; `None` outside of any.
pub fn current() -> Option<Trace> {
    CURRENT.try_with(|trace| *trace).ok()
}

/// The current trace's id, or nothing: for log lines.
pub fn current_id() -> String {
    current().map_or_else(String::new, |trace| trace.id())
}
