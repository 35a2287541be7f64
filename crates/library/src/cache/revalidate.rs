//! # Idea
//! A finding from the disk is believed only if its steps are executed again, for its own question, and
//! make exactly its trace; and if what it says of itself is what such an answer says.

use crate::goals::Goals;
use selvedge_findings::Finding;
use selvedge_findings::group;
use selvedge_program::{Answer, PathQuantifier, Program, Question, Verdict};
use selvedge_replay::replay;

/// Whether the trace of a finding is a run of the program that shows it.
pub fn holds(program: &Program, goals: &Goals, finding: &Finding) -> bool {
    let Finding { question, trace, .. } = finding;
    if trace.steps.iter().any(|step| program.threads.get(step.thread).is_none()) {
        return false;
    }
    let needs_run = !matches!(
        question,
        Question::Temporal(one) if one.quantifier == PathQuantifier::Some
    );
    let verdict = if needs_run {
        let again = replay(program, question, &trace.witness(program));
        if again.as_ref() != Ok(trace) {
            return false;
        }
        Verdict::Violation(Box::new(trace.clone()))
    } else {
        // No run satisfies it, which the key of the entry stands for.
        Verdict::Safe
    };
    let answer = Answer {
        question: question.clone(),
        verdict,
        engine: "",
        explored: None,
        searched: None,
        refined: None,
    };
    let [alone] = &group(program, &[answer], goals.subject(finding.kind))[..] else { return false };
    let alone = &alone.finding;
    // Other questions may have shown it, too, and have left their names and locations.
    alone.kind == finding.kind
        && alone.threads == finding.threads
        && alone.locks == finding.locks
        && alone.places == finding.places
        && alone.fingerprint == finding.fingerprint
        && alone.tags.iter().all(|tag| finding.tags.contains(tag))
        && alone.locations.iter().all(|location| finding.locations.contains(location))
}
