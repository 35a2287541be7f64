//! # Idea
//! A broken invariant of ours panics. It ends the engine that was asked, or the file that was worked on,
//! and nothing else: whoever has other work contains the panic and says what happened.
//!
//! # Invariants
//! 1. What the work has changed is not used again: the engine is dropped, the file has no result.

use crate::driver::InternalError;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    /// What panicked last on this thread, and where.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps what panics and where for [`describe_panic`] instead of printing it. A panic hook.
pub fn note_panic(panic: &PanicHookInfo<'_>) {
    let message = message(panic.payload());
    let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
    let noted = format!("panic{}: {message}", place.unwrap_or_default());
    NOTED.with(|last| last.replace(Some(noted)));
}

/// Says in one line what has panicked on this thread, given what came of it.
pub fn describe_panic(payload: &(dyn Any + Send)) -> String {
    let noted = NOTED.with(RefCell::take);
    let described = noted.unwrap_or_else(|| format!("panic: {}", message(payload)));
    described.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Does work that may panic.
///
/// # Errors
/// If it does.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, InternalError> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.map_err(|payload| InternalError(describe_panic(&*payload)))
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
