//! # Idea
//! A bar on a terminal for runs that take longer than a second: files done, and the question that is
//! being worked on. The analyses only note where they are.

use crate::watchdog::Done;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_findings::FindingKind;
use selvedge_report::describe::count;
use selvedge_report::escape::visible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a run may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// Where the analyses are.
#[derive(Debug, Default)]
pub struct Position(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    finished: usize,
    /// A file with the kind of its questions, how many are done, and how many there are.
    current: Option<(usize, FindingKind, usize, usize)>,
}

impl Position {
    /// Notes that so many questions of a kind about a file are done.
    pub fn at(&self, file: usize, kind: FindingKind, done: usize, total: usize) {
        self.state().current = Some((file, kind, done, total));
    }

    /// Notes that a file is done.
    pub fn finished(&self) {
        self.state().finished += 1;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the progress of the analysis of these files until it is done.
pub fn show(names: &[&str], position: &Position, done: &Done) {
    if done.wait(PATIENCE) {
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
        if let Some((file, kind, questions, total)) = current {
            let total = count(total, "question");
            bar.set_message(format!(
                "{} {} {questions} of {total}",
                visible(names[file]),
                kind.rule()
            ));
        }
        bar.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    bar.finish_and_clear();
}
