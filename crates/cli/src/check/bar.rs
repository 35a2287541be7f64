//! # Idea
//! A bar on a terminal for runs that take longer than a second: files done, and the question that is
//! being worked on. The analyses only note where they are.

use crate::progress;
use crate::watchdog::Done;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_library::check::CheckWork;
use selvedge_report::escape::visible;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a run may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// How often a line is written.
const LINES: Duration = Duration::from_secs(2);

/// Where the analyses are.
#[derive(Debug, Default)]
pub struct Position(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    finished: usize,
    /// A file with what is being done, how much of it is done, and how much there is.
    current: Option<(usize, CheckWork, usize, usize)>,
}

impl Position {
    /// Notes that so much of the work on a file is done.
    pub fn at(&self, file: usize, work: CheckWork, done: usize, total: usize) {
        self.state().current = Some((file, work, done, total));
    }

    /// Notes that a file is done.
    pub fn finished(&self) {
        self.state().finished += 1;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the progress of the analysis of these files until it is done: as a bar, or in lines where there is no
/// terminal.
pub fn show(names: &[&str], position: &Position, done: &Done) {
    if done.wait(PATIENCE) {
        return;
    }
    if !progress::wanted() {
        show_lines(names, position, done);
        return;
    }
    let bar = ProgressBar::with_draw_target(
        Some(names.len() as u64),
        ProgressDrawTarget::stderr_with_hz(20),
    )
    .with_elapsed(PATIENCE);
    let template = "{bar:30} {pos}/{len} files, {elapsed}, {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    loop {
        let (finished, current) = {
            let state = position.state();
            (state.finished, state.current)
        };
        bar.set_position(finished as u64);
        if let Some((file, work, part, total)) = current {
            bar.set_message(format!("{} {}", visible(names[file]), work.words(part, total)));
        }
        bar.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// The same in lines, whenever something has changed.
fn show_lines(names: &[&str], position: &Position, done: &Done) {
    let start = Instant::now();
    let mut last = None;
    loop {
        let (finished, current) = {
            let state = position.state();
            (state.finished, state.current)
        };
        if let Some((file, work, part, total)) = current.filter(|_| current != last) {
            let seconds = (start.elapsed() + PATIENCE).as_secs();
            let (count, name) = (names.len(), visible(names[file]));
            let words = work.words(part, total);
            let line = format!("{finished}/{count} files, {seconds} s, {name} {words}\n");
            // Nobody may be reading it.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        last = current;
        if done.wait(LINES) {
            return;
        }
    }
}
