//! # Idea
//! The cycle of a deadlock as a ring: each thread with the lock that it holds, and an arrow with the
//! lock that it waits for to the thread that holds that one; the last arrow leads back to the first
//! thread. The ring is a list of sentences with lines around it.

use super::words::lock_class;
use super::writer::Html;
use selvedge_findings::{Finding, FindingKind};
use selvedge_program::{LockId, Program, StepKind, ThreadId};

/// Draws the ring, if the finding is a deadlock whose blocked acquisitions are known.
pub fn cycle(html: &mut Html, finding: &Finding, program: &Program) {
    let waits = waits(finding);
    if finding.kind != FindingKind::Deadlock || waits.len() < 2 {
        return;
    }
    if waits.len() > LONGEST {
        html.element("details", &[("class", "ring")], |html| {
            html.leaf(
                "summary",
                &[],
                format!("Who waits for whom: a ring of {} threads", waits.len()),
            );
            ring(html, &waits, program);
        });
    } else {
        ring(html, &waits, program);
    }
}

/// A longer ring is shown on demand.
const LONGEST: usize = 4;

fn ring(html: &mut Html, waits: &[(ThreadId, LockId)], program: &Program) {
    let class = if waits.len() > 3 { "cycle tall" } else { "cycle" };
    html.element("ol", &[("class", class), ("aria-label", "Who waits for whom")], |html| {
        for (at, &(thread, wants)) in waits.iter().enumerate() {
            let (_, holds) = waits[(at + waits.len() - 1) % waits.len()];
            html.element("li", &[], |html| {
                html.element("span", &[("class", "node")], |html| {
                    html.leaf("b", &[("class", "name")], &program.threads[thread].name);
                    html.text(" holds ");
                    lock(html, holds, program);
                });
                html.element("span", &[("class", "wants")], |html| {
                    html.leaf("span", &[], "waits for ");
                    lock(html, wants, program);
                });
            });
        }
    });
}

fn waits(finding: &Finding) -> Vec<(ThreadId, LockId)> {
    let wanted = |kind: StepKind| match kind {
        StepKind::Acquire(lock) => Some(lock),
        _ => None,
    };
    finding.trace.next.iter().filter_map(|step| Some((step.thread, wanted(step.kind)?))).collect()
}

fn lock(html: &mut Html, lock: LockId, program: &Program) {
    html.leaf("b", &[("class", &lock_class(lock))], &program.locks[lock].name);
}
