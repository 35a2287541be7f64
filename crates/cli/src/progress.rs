//! # Idea
//! A bar on a terminal for runs that take longer than a second: queries done, and the one that is
//! being worked on. It is drawn by a thread of its own, because a single query may take long; the
//! analysis only notes where it is.

use crate::watchdog::Done;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_analysis::Progress;
use selvedge_base::{Budget, SearchFigures};
use selvedge_program::{Bound, Program, Question};
use selvedge_report::describe;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a run may take without a bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// Whether there is somebody to show a bar to.
pub fn wanted() -> bool {
    std::io::stderr().is_terminal()
}

/// Where the analysis is.
#[derive(Debug, Default)]
pub struct Position(Mutex<State>);

#[derive(Clone, Debug, Default)]
struct State {
    done: usize,
    total: usize,
    question: Option<Question>,
}

impl Position {
    /// Notes how far it is.
    pub fn note(&self, at: &Progress<'_>) {
        let question = at.question.cloned();
        *self.state() = State { done: at.done, total: at.total, question };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the progress until the work is done.
pub fn show(program: &Program, position: &Position, done: &Done) {
    if done.wait(PATIENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(20))
        .with_elapsed(PATIENCE);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:30} {pos}/{len} queries, {elapsed}, {wide_msg}")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    loop {
        let State { done: answered, total, question } = position.state().clone();
        bar.set_length(total as u64);
        bar.set_position(answered as u64);
        if let Some(question) = &question {
            bar.set_message(current(question, program));
        }
        bar.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Shows the bound that is being explored, or how far a search of states is, until the work is done.
pub fn show_level(level: &Mutex<Bound>, budget: &Budget, done: &Done) {
    let start = Instant::now();
    if done.wait(PATIENCE) {
        return;
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(20))
        .with_elapsed(PATIENCE);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}, {wide_msg}") {
        spinner.set_style(style);
    }
    loop {
        let message = if let Some(figures) = budget.figures() {
            search_line(figures, start.elapsed())
        } else {
            let Bound { measure, limit } = *level.lock().unwrap_or_else(PoisonError::into_inner);
            format!("exploring {}", measure.count(limit))
        };
        spinner.set_message(message);
        spinner.tick();
        if done.wait(PERIOD) {
            break;
        }
    }
    spinner.finish_and_clear();
}

/// How far a search of states is, in one line.
fn search_line(figures: SearchFigures, elapsed: Duration) -> String {
    let SearchFigures { stored, waiting, depth } = figures;
    let rate = u128::from(stored) * 1000 / elapsed.as_millis().max(1);
    format!("{stored} states stored, {waiting} in the queue, {rate} states/s, depth {depth}")
}

fn current(question: &Question, program: &Program) -> String {
    let name = match question {
        Question::Pattern(pattern) => format!("pattern {} ", pattern.pattern.number),
        Question::Automaton(_) => "property ".to_owned(),
        _ => String::new(),
    };
    format!("{name}{} {}", describe::parties(question, program), describe::asked(question, program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_one_line() {
        let figures = SearchFigures { stored: 5000, waiting: 12, depth: 7 };
        assert_eq!(
            search_line(figures, Duration::from_millis(2500)),
            "5000 states stored, 12 in the queue, 2000 states/s, depth 7"
        );
        search_line(figures, Duration::ZERO);
    }
}
