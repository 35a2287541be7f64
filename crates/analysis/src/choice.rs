//! # Idea
//! Which engines are asked a question, in which order: the one that is named; else those of the
//! [registry](crate::registry) that decide such questions, in an order that the program's features give.

use crate::driver::Options;
use crate::prepared::Prepared;
use crate::registry::QuestionKind::{Atomicity, Race, Reach, Temporal};
use crate::registry::{EngineKind, QuestionKind};
use selvedge_bounded::Kind;
use selvedge_lower::Events;
use selvedge_lower::events::LEFT_OUT;
use selvedge_program::Feature::{Channels, Checks, Monitors, Mutexes, Recursion, Types};
use selvedge_program::{Features, Program, Question};

/// An engine to ask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Choice {
    /// Which one.
    pub engine: EngineKind,
    /// How many frames of stacks it looks at, if not as many as it may.
    pub frames: Option<u32>,
}

/// The engines to ask, the first one first, and why that one comes first if that needs a reason.
/// An engine that is named is the only one; `tupling` brings its second form along, for what
/// explodes. Where a bound is given, an engine comes first that explores as far as that.
pub(crate) fn choose(
    prepared: &Prepared<'_>,
    question: &Question,
    options: &Options,
) -> (Vec<Choice>, Option<&'static str>) {
    let (engines, why) = kinds(prepared, question, options);
    let stacks = options.engine.is_none()
        && QuestionKind::of(question) == Temporal
        && prepared.features.contains(Recursion);
    let mut choices = Vec::new();
    for engine in engines {
        match engine {
            EngineKind::Exhaustive if stacks => choices.extend(deeper_and_deeper(options)),
            EngineKind::Abstraction if stacks => {}
            _ => choices.push(Choice { engine, frames: None }),
        }
    }
    (choices, why)
}

/// The search with few open calls and the abstraction in turn, each time with twice as many frames: what can
/// be shown with few of them does not wait for a search with many.
fn deeper_and_deeper(options: &Options) -> Vec<Choice> {
    let mut choices = Vec::new();
    let most = options.call_depth.max(options.max_known);
    let (mut frames, mut before) = (1, 0);
    loop {
        for (engine, limit) in [
            (EngineKind::Exhaustive, options.call_depth.max(1)),
            (EngineKind::Abstraction, options.max_known),
        ] {
            if before < limit {
                choices.push(Choice { engine, frames: Some(limit.min(frames)) });
            }
        }
        if frames >= most {
            return choices;
        }
        (frames, before) = (frames.saturating_mul(2), frames);
    }
}

fn kinds(
    prepared: &Prepared<'_>,
    question: &Question,
    options: &Options,
) -> (Vec<EngineKind>, Option<&'static str>) {
    let bounded = options.limit.is_some();
    let both_forms = |kind| options.second_form && kind != Reach && kind != Temporal;
    match (options.engine, QuestionKind::of(question)) {
        (Some(EngineKind::Tupling), kind) if both_forms(kind) => {
            (vec![EngineKind::Tupling, EngineKind::TuplingBdd], None)
        }
        (Some(engine), _) => (vec![engine], None),
        (None, Reach) if !bounded && suits_transactions(prepared) => {
            let why =
                "there is no recursion, and it has locations with values, types, waits or checks";
            let others = [EngineKind::Explicit, EngineKind::Lazy, EngineKind::Eager];
            (std::iter::once(EngineKind::Transactions).chain(others).collect(), Some(why))
        }
        (None, Reach) => {
            let (first, why) = Kind::choose(prepared.program, prepared.features);
            let mut engines = vec![EngineKind::of_search(first)];
            let others = [
                EngineKind::Explicit,
                EngineKind::Lazy,
                EngineKind::Eager,
                EngineKind::Transactions,
            ];
            for next in others {
                if !engines.contains(&next) {
                    engines.push(next);
                }
            }
            if suits_cpds(prepared.features) {
                engines.push(EngineKind::Cpds);
            }
            (engines, Some(why))
        }
        // Any action can be common there, not only those of locks.
        (None, Atomicity | Race) if suits_cpds(prepared.features) => {
            let mut engines = EngineKind::deciding(&[QuestionKind::of(question)]);
            engines.retain(|&engine| engine != EngineKind::Cpds);
            engines.insert(0, EngineKind::Cpds);
            (engines, Some("the program has channels"))
        }
        // Whatever the events leave open depends on values.
        (None, Atomicity | Race) if has_more_than_events(prepared.features) => {
            let why = "values are left out where that suffices, and followed where it does not";
            let engines = [
                EngineKind::Tupling,
                EngineKind::TuplingBdd,
                EngineKind::Transactions,
                EngineKind::Exhaustive,
            ];
            (engines.to_vec(), Some(why))
        }
        (None, kind) => {
            let mut engines = EngineKind::deciding(&[kind]);
            // What it can decide, tupling has decided.
            engines.retain(|&engine| engine != EngineKind::Splitting);
            (engines, None)
        }
    }
}

/// Whether a program has channels, and nothing that the engine for them does not take.
pub(crate) fn suits_cpds(features: Features) -> bool {
    let taken = EngineKind::Cpds.declaration().features;
    features.contains(Channels) && features.without(taken.iter().copied().collect()).is_empty()
}

/// Whether a program has values, or anything else that lock histories know nothing of.
pub(crate) fn has_more_than_events(features: Features) -> bool {
    LEFT_OUT.iter().any(|&feature| features.contains(feature))
}

/// What is left out of a program where its events alone are asked about, in words.
pub fn left_out(program: &Program) -> Vec<String> {
    if !has_more_than_events(program.features()) {
        return Vec::new();
    }
    let events = Events::new(program);
    events.left_out.iter().map(|one| one.describe(program)).collect()
}

/// Whether a program is one for the search of states: it has what only that takes, or variables that are
/// locations, and no recursion without bound.
fn suits_transactions(prepared: &Prepared<'_>) -> bool {
    let &Prepared { program, features, .. } = prepared;
    let needs = [Types, Monitors, Mutexes, Checks].into_iter().any(|one| features.contains(one));
    let located = program.globals.iter().any(|global| global.location.is_some());
    (needs || located) && !features.contains(Recursion)
}
