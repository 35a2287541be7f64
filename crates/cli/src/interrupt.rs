//! # Idea
//! Ctrl-C. The first one ends the analysis and not the program: the watch of the running command
//! uses up its budget, so what is known so far is printed. The second one ends the program at
//! once, and so does the first where nothing is being watched.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The exit code of a program that a signal from the keyboard has ended, as shells have it.
const ENDED_AT_ONCE: i32 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// From now on interrupts are counted.
pub fn install() {
    // Without a handler Ctrl-C ends the program, which is what it did before.
    let _ = ctrlc::set_handler(|| {
        let second = REQUESTED.swap(true, Ordering::Relaxed);
        if second || LISTENERS.load(Ordering::Relaxed) == 0 {
            std::process::exit(ENDED_AT_ONCE);
        }
    });
}

/// Whether there was an interrupt.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Somebody who will see that an interrupt was requested, until this is dropped.
#[derive(Debug)]
pub struct Listener(());

impl Listener {
    /// One more.
    pub fn new() -> Self {
        LISTENERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::Relaxed);
    }
}
