//! # Idea
//! Expressions that a user wants to see along runs. They are read for every program anew: how many copies
//! of a process there are depends on what was asked. What a program does not have is absent along its
//! runs.

use crate::load::Text;
use selvedge_base::{Budget, Diagnostic};
use selvedge_findings::CheckedFile;
use selvedge_logic::parse_probe;
use selvedge_program::{Answer, Probe, ProbeExpr, Program, Trace, Verdict};
use selvedge_replay::probe;

/// Expressions to be evaluated along runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shows {
    texts: Vec<String>,
}

impl Shows {
    /// These expressions, each once.
    pub fn new(texts: &[String]) -> Self {
        let mut once: Vec<String> = Vec::new();
        for text in texts {
            if !once.contains(text) {
                once.push(text.clone());
            }
        }
        Self { texts: once }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether a program has what the expressions name.
    ///
    /// # Errors
    /// If it has not, or an expression has mistakes: the expressions, and what is wrong with them.
    pub fn check(&self, program: &Program) -> Result<(), Vec<(Text, Vec<Diagnostic>)>> {
        let mut wrong = Vec::new();
        for text in &self.texts {
            let (_, complaints) = parse_probe(text, program);
            if !complaints.is_empty() {
                wrong.push((Text::new("--show", text), complaints));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Evaluates the expressions along a run of a program.
    pub fn evaluate(&self, program: &Program, trace: &mut Trace, budget: &Budget) {
        if self.is_empty() {
            return;
        }
        let read: Vec<Option<ProbeExpr>> =
            self.texts.iter().map(|text| parse_probe(text, program).0).collect();
        let known: Vec<ProbeExpr> = read.iter().flatten().cloned().collect();
        if known.is_empty() {
            return;
        }
        let mut found = probe(program, trace, &known, budget).into_iter();
        let steps = trace.steps.len();
        let probes = self.texts.iter().zip(&read).map(|(text, read)| {
            let found = read.as_ref().and_then(|_| found.next());
            found.unwrap_or_else(|| Probe::absent(text, steps))
        });
        trace.probes = probes.collect();
    }

    /// Evaluates the expressions along the runs of answers about a program.
    pub fn evaluate_all(&self, program: &Program, answers: &mut [Answer], budget: &Budget) {
        for answer in answers {
            if let Verdict::Violation(trace) = &mut answer.verdict {
                self.evaluate(program, trace, budget);
            }
            let Some(searched) = &mut answer.searched else { continue };
            if let Some((_, trace)) = &mut searched.why {
                self.evaluate(program, trace, budget);
            }
            for assertion in searched.assertions.iter_mut().flatten() {
                if let Verdict::Violation(trace) = &mut assertion.verdict {
                    self.evaluate(program, trace, budget);
                }
            }
        }
    }

    /// Evaluates the expressions along the runs of the findings in a file.
    pub fn evaluate_file(&self, file: &mut CheckedFile, budget: &Budget) {
        let CheckedFile { program, findings, suppressed, known, .. } = file;
        let suppressed = suppressed.iter_mut().map(|(finding, _)| finding);
        for finding in findings.iter_mut().chain(suppressed).chain(known) {
            self.evaluate(program, &mut finding.trace, budget);
        }
    }
}
