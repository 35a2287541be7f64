//! # Idea
//! From a common word to an interleaving. Each thread has a run that does its part of the word; between
//! two actions it takes its silent steps just before the next one. What is silent concerns nobody
//! else, so it may happen whenever its thread comes to it.
//!
//! # Invariants
//! 1. An action that several threads know is one step: that of the thread that makes it. Those who
//!    receive have a part in it, those who only know of it have none.

use crate::property::{EventEffect, PhaseProperty};
use crate::system::{ComponentLanguage, SharedAction};
use crate::translate::{ProgramAction, TranslatedQuestion};
use selvedge_base::Budget;
use selvedge_pds::{NoRun, RuleId};
use selvedge_program::{Failure, Move, Question, Receiver, Unknown, Witness, WitnessStep};

/// The interleaving of a common word, with at most `max` steps of each thread.
///
/// # Errors
/// If a limit was met, or a thread cannot do its part.
pub fn interleaving(
    question: &Question,
    translated: &TranslatedQuestion,
    property: &PhaseProperty<'_>,
    word: &[SharedAction],
    max: u64,
    budget: &Budget,
) -> Result<Witness, Failure> {
    let TranslatedQuestion { system, threads, actions } = translated;
    let mut runs: Vec<std::vec::IntoIter<RuleId>> = Vec::with_capacity(threads.len());
    let mut length = 0;
    for one in threads {
        let ComponentLanguage::Pushdown(component) = &system.components[one.component].language
        else {
            return Err(Failure::fault("a thread is no pushdown component"));
        };
        let own = system.project(one.component, word);
        let run = component.run(&own, usize::try_from(max).unwrap_or(usize::MAX), budget);
        let run = run.map_err(|why| match why {
            NoRun::Stopped(reason) => Failure::from(reason),
            NoRun::TooLong => Unknown::WitnessTooLong { steps: max + 1, limit: max }.into(),
            NoRun::NotAccepted => Failure::fault("a thread cannot do its part of a common word"),
        })?;
        length += run.len() as u64;
        if length > max {
            return Err(Unknown::WitnessTooLong { steps: length, limit: max }.into());
        }
        runs.push(run.into_iter());
    }
    let takes_marks = matches!(question, Question::Pattern(_) | Question::Automaton(_));
    let effects: Vec<EventEffect> = word
        .iter()
        .filter_map(|&action| match actions[action] {
            ProgramAction::Event(_, effect) => Some(effect),
            _ => None,
        })
        .collect();
    let marks = if takes_marks { property.marks(&effects) } else { Vec::new() };
    let mut marks = marks.into_iter();
    let mut steps = Vec::new();
    for &action in word {
        let matched = match actions[action] {
            ProgramAction::Event(..) => marks.next().flatten(),
            _ => None,
        };
        let knowing = threads.iter().zip(&mut runs);
        let mut own_steps: Vec<WitnessStep> = Vec::new();
        let mut receivers: Vec<Receiver> = Vec::new();
        let sender = match actions[action] {
            ProgramAction::Pass(_, sender, _)
            | ProgramAction::Lost(_, sender)
            | ProgramAction::Broadcast(_, sender) => Some(sender),
            _ => None,
        };
        for (one, run) in knowing.filter(|(one, _)| system.knows(one.component, action)) {
            let ComponentLanguage::Pushdown(component) = &system.components[one.component].language
            else {
                continue;
            };
            for rule in run {
                let is_action = component.pds.rules[rule].label.is_some();
                let receives = is_action && sender.is_some_and(|sender| sender != one.thread);
                if let (true, Some(Move::Edge(edge))) = (receives, one.steps[rule]) {
                    receivers.push(Receiver { thread: one.thread, edge });
                } else if let Some(step) = one.steps[rule] {
                    let matched = matched.filter(|_| is_action);
                    let step = WitnessStep::plain(one.thread, step, matched);
                    let to = if is_action { &mut own_steps } else { &mut steps };
                    to.push(step);
                }
                if is_action {
                    break;
                }
            }
        }
        if let Some(step) = own_steps.last_mut() {
            step.receivers = receivers;
        }
        // The one who is started takes no step of its own.
        steps.append(&mut own_steps);
    }
    Ok(Witness::plain(steps))
}
