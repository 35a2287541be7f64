//! # Idea
//! What a finding stands for where findings are grouped by their cause: the cause in one line, and every pair
//! of accesses that it explains in one line each.
//!
//! # Invariants
//! 1. Names are escaped ([`visible`]).

use crate::checks::Checks;
use crate::describe::{kind_name, list};
use crate::escape::visible;
use crate::places::short;
use selvedge_findings::{Cause, CausePair, Confirmation, Finding, FindingKind};
use selvedge_program::Program;
use std::collections::BTreeMap;

/// What there is to say of a finding in sentences: its cause, if it stands for one, and its reason.
pub(crate) fn sentences(finding: &Finding) -> String {
    match &finding.cause {
        Some(cause) => format!("{}. {}", cause.line, finding.reason),
        None => finding.reason.clone(),
    }
}

/// What became of a finding when the program was run, if it was.
pub(crate) fn confirmed(finding: &Finding) -> Option<String> {
    let Confirmation { reproduced, text } = finding.confirmation.as_ref()?;
    Some(match reproduced {
        true => format!("Reproduced in a JVM, {text}."),
        false => format!("Not reproduced: {text}."),
    })
}

/// How many findings that count have each tag that makes them less likely.
pub(crate) fn demotions(checks: &Checks<'_>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let findings = checks.files.iter().flat_map(|file| &file.findings);
    for tag in findings.filter_map(|one| one.cause.as_ref()).flat_map(|cause| &cause.tags) {
        *counts.entry(visible(tag).into_owned()).or_default() += 1;
    }
    counts
}

/// The pairs of a cause in words, each once.
pub(crate) fn pairs(cause: &Cause, program: &Program) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for pair in &cause.pairs {
        let line = pair_in_words(pair, program);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn pair_in_words(pair: &CausePair, program: &Program) -> String {
    let place = |at: usize| pair.places.get(at).map_or(String::new(), |&one| short(one, program));
    let side = |steps: &[usize]| {
        let mut parts: Vec<String> = Vec::new();
        for &at in steps {
            let method = pair.methods.get(at).map_or("", String::as_str);
            let part = format!("{} in `{}`", place(at), visible(method));
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join(" and ")
    };
    let all = 0..pair.places.len();
    let (own, others): (Vec<usize>, Vec<usize>) =
        all.clone().partition(|&at| pair.threads.get(at) == pair.threads.first());
    let kind = kind_name(pair.kind);
    let mut tags: Vec<_> = pair.tags.iter().map(|tag| visible(tag)).collect();
    tags.truncate(MOST_TAGS);
    let tags = if tags.is_empty() { String::new() } else { format!(" ({})", list(tags)) };
    match pair.kind {
        FindingKind::Atomicity if pair.seen_by => {
            format!("seen by {}, between {}{tags}", side(&others), side(&own))
        }
        FindingKind::Atomicity => {
            format!("{kind}: {} between {}{tags}", side(&others), side(&own))
        }
        _ => format!("{kind}: {}{tags}", side(&all.collect::<Vec<_>>())),
    }
}

/// How many questions of a pair are named.
const MOST_TAGS: usize = 6;
