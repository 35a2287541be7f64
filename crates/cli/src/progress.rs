//! # Idea
//! A bar on a terminal for runs that take longer than a second: queries done, and the one that is
//! being worked on. It is drawn by a thread of its own, because a single query may take long; the
//! analysis only stores a number.

use crate::watchdog::Done;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_program::{Measure, Program, Question};
use selvedge_report::describe;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a run may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// Whether there is somebody to show a bar to.
pub fn wanted() -> bool {
    std::io::stderr().is_terminal()
}

/// Shows the progress until the work is done. `answered` is the number of queries done.
pub fn show(program: &Program, queries: &[Question], answered: &AtomicUsize, done: &Done) {
    if done.wait(PATIENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(
        Some(queries.len() as u64),
        ProgressDrawTarget::stderr_with_hz(20),
    )
    .with_elapsed(PATIENCE);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:30} {pos}/{len} queries, {elapsed}, {wide_msg}")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    loop {
        let position = answered.load(Ordering::Relaxed);
        bar.set_position(position as u64);
        if let Some(query) = queries.get(position) {
            bar.set_message(current(query, program));
        }
        bar.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Shows the bound that is being explored until the work is done.
pub fn show_level(measure: Measure, level: &AtomicU32, done: &Done) {
    if done.wait(PATIENCE) {
        return;
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(20))
        .with_elapsed(PATIENCE);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}, {wide_msg}") {
        spinner.set_style(style);
    }
    loop {
        let bound = measure.count(level.load(Ordering::Relaxed));
        spinner.set_message(format!("exploring {bound}"));
        spinner.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    spinner.finish_and_clear();
}

fn current(query: &Question, program: &Program) -> String {
    let name = match query {
        Question::Pattern(query) => format!("pattern {}", query.pattern.number),
        _ => "property".to_owned(),
    };
    format!("{name} {} {}", describe::parties(query, program), describe::asked(query, program))
}
