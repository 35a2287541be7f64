//! # Idea
//! The source lines that a finding is about, quoted, with a remark under each conflicting place: who
//! does what there, in the order of the interleaving.
//!
//! A place is a point; what is underlined is the statement that begins there, as far as one can tell
//! without knowing the language: up to the closing parenthesis of its first pair, to the next `;`,
//! `{` or `}`, or to the end of the line.

use crate::describe::{pending_sentence, sentence};
use crate::diagnostic::{Source, quote};
use crate::escape::visible;
use crate::interleaving::run;
use crate::terminal::Terminal;
use selvedge_base::{FileId, Place, SourceLabel, Span};
use selvedge_findings::{CheckedFile, Ending, Finding, FindingKind};
use selvedge_program::{Program, StepKind, ThreadId, TraceStep};

/// A place with what happens there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The place.
    pub place: Place,
    /// Who acts there, if somebody does.
    pub thread: Option<ThreadId>,
    /// Which access of the pattern it is, from 1.
    pub matched: Option<u32>,
    /// What happens, in one sentence without a full stop. Names are escaped for the screen.
    pub text: String,
}

/// The conflicting places of a finding, in the order of the interleaving: the accesses of a pattern or a
/// property, the two accesses of a race, the acquisitions of a deadlock (taken, then waited for, by
/// thread), the steps that no thread of a dead end can take, the end of a run.
pub fn remarks(finding: &Finding, program: &Program) -> Vec<Remark> {
    let pending = |step: &TraceStep| remark(step, pending_sentence(step, program));
    match finding.kind {
        FindingKind::Atomicity => conflicting_accesses(finding, program),
        FindingKind::Property => {
            let marked = finding.trace.steps.iter().filter(|step| step.matched.is_some());
            marked.map(|step| remark(step, sentence(step.thread, step.kind, program))).collect()
        }
        FindingKind::Assertion | FindingKind::Label
            if let Some(said) = at_end(finding, program) =>
        {
            vec![said]
        }
        FindingKind::Assertion
        | FindingKind::Label
        | FindingKind::State
        | FindingKind::Temporal => {
            let statements = run::statements(&finding.trace, program);
            let last = finding.trace.steps.iter().zip(&statements).next_back();
            let said = last.map(|(step, text)| remark(step, run::sentence(step, text, program)));
            said.into_iter().collect()
        }
        FindingKind::Race | FindingKind::Stuck => finding.trace.next.iter().map(pending).collect(),
        FindingKind::Deadlock => {
            let mut remarks = Vec::new();
            for (at, step) in finding.trace.next.iter().enumerate() {
                let holds = finding.locks.get(at).copied();
                let taken = finding.trace.steps.iter().rev().find(|earlier| {
                    earlier.thread == step.thread
                        && holds.is_some_and(|lock| earlier.kind == StepKind::Acquire(lock))
                });
                remarks.extend(
                    taken.map(|taken| remark(taken, sentence(taken.thread, taken.kind, program))),
                );
                remarks.push(pending(step));
            }
            remarks
        }
    }
}

/// The end of a run, if its last step is not what to look at: a label, an invariant that the first state
/// breaks.
fn at_end(finding: &Finding, program: &Program) -> Option<Remark> {
    let Ending { place, thread } = Ending::new(program, &finding.question, &finding.trace);
    if finding.kind != FindingKind::Label && !finding.trace.steps.is_empty() {
        return None;
    }
    let text = match thread {
        Some(thread) => format!("{} is here", visible(&program.threads[thread].name)),
        None => "the first state breaks this".to_owned(),
    };
    (place != Place::NONE).then_some(Remark { place, thread, matched: None, text })
}

fn remark(step: &TraceStep, text: String) -> Remark {
    Remark { place: step.place, thread: Some(step.thread), matched: step.matched, text }
}

/// The accesses of a pattern; those of the other thread lie "in between" if the broken unit still
/// makes one after them.
fn conflicting_accesses(finding: &Finding, program: &Program) -> Vec<Remark> {
    let accesses: Vec<&TraceStep> =
        finding.trace.steps.iter().filter(|step| step.matched.is_some()).collect();
    let broken = finding.threads.first();
    let last = accesses.iter().rposition(|step| Some(&step.thread) == broken).unwrap_or(0);
    let access = |(at, step): (usize, &&TraceStep)| {
        let between = at < last && Some(&step.thread) != broken;
        let text = sentence(step.thread, step.kind, program);
        remark(step, if between { text + " in between" } else { text })
    };
    accesses.iter().enumerate().map(access).collect()
}

/// The quoted lines, or nothing if no place is known or the source is not at hand.
pub fn render(finding: &Finding, file: &CheckedFile, terminal: Terminal) -> String {
    let mut by_file: Vec<(FileId, Vec<SourceLabel>)> = Vec::new();
    for remark in remarks(finding, &file.program) {
        let own = remark.place.file;
        let span = text_of(file, own).and_then(|text| statement(text, remark.place));
        let Some(span) = span else { continue };
        let known = by_file.iter().position(|(id, _)| *id == own);
        let known = known.unwrap_or_else(|| {
            by_file.push((own, Vec::new()));
            by_file.len() - 1
        });
        let labels = &mut by_file[known].1;
        // The mark is that of the interleaving.
        let mark = remark.matched.map_or(String::new(), |number| format!("*{number} "));
        let text = format!("{mark}{}", remark.text);
        match labels.iter_mut().find(|label| label.span == span) {
            // Threads may share their code; one place then has several remarks.
            Some(label) if !label.text.split("; ").any(|other| other == text) => {
                label.text += "; ";
                label.text += &text;
            }
            Some(_) => {}
            None => labels.push(SourceLabel { span, text }),
        }
    }
    let mut out = String::new();
    for (id, labels) in &by_file {
        let (Some((first, rest)), Some(text)) = (labels.split_first(), text_of(file, *id)) else {
            continue;
        };
        let name = file.program.file(*id).map_or(&file.file, |other| &other.name);
        out += &quote(first, rest, &Source { name, text }, terminal);
        out.push('\n');
    }
    out
}

/// The text of a file of the program, if it is at hand.
fn text_of(file: &CheckedFile, id: FileId) -> Option<&String> {
    if id == FileId::READ { Some(&file.source) } else { file.sources.get(&id) }
}

/// The bytes of the statement that begins at a place, or `None` if the text has no such place. Where
/// the column is not known, that is the line without the blanks at its ends.
pub fn statement(text: &str, place: Place) -> Option<Span> {
    let line_start = match place.line()? {
        0 => return None,
        1 => 0,
        line => text.match_indices('\n').nth(line as usize - 2)?.0 + 1,
    };
    let line = text[line_start..].split('\n').next()?;
    let Some(column) = place.column() else {
        let shown = line.trim();
        let start = line_start + line.len() - line.trim_start().len();
        let end = u32::try_from(start + shown.len()).ok()?;
        return (!shown.is_empty()).then_some(Span::new(u32::try_from(start).ok()?, end));
    };
    let column = line.char_indices().nth((column as usize).checked_sub(1)?)?.0;
    let rest = &line[column..];
    let mut open = 0usize;
    let end = rest.char_indices().find_map(|(at, c)| match c {
        '(' => {
            open += 1;
            None
        }
        ')' if open > 1 => {
            open -= 1;
            None
        }
        ')' => Some(at + 1),
        ';' | '{' | '}' if open == 0 => Some(at),
        _ => None,
    });
    let end = end.unwrap_or(rest.len());
    let end = rest[..end].trim_end().len().max(rest.chars().next()?.len_utf8());
    let start = line_start + column;
    Some(Span::new(u32::try_from(start).ok()?, u32::try_from(start + end).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_the_next_begins() {
        let text = "a\nlé { read x; write y }\n  f\nlock(a) f(g(), \"};\") {\n";
        let of = |line, column| {
            statement(text, Place::new(line, column)).map(|span| &text[span.range()])
        };
        assert_eq!(of(1, 1), Some("a"));
        assert_eq!(of(2, 1), Some("lé"));
        assert_eq!(of(2, 6), Some("read x"));
        assert_eq!(of(2, 14), Some("write y"));
        assert_eq!(of(2, 4), Some("{"));
        assert_eq!(of(3, 3), Some("f"));
        assert_eq!(of(3, 4), None);
        assert_eq!(of(4, 1), Some("lock(a)"));
        assert_eq!(of(4, 9), Some("f(g(), \"};\")"));
        assert_eq!(of(9, 1), None);
        assert_eq!(statement(text, Place::NONE), None);
        assert_eq!(statement(text, Place::at_offset(3)), None);
        assert_eq!((of(2, 0), of(0, 2)), (None, None));
        let line = |line| statement(text, Place::in_line(line)).map(|span| &text[span.range()]);
        assert_eq!(line(3), Some("f"));
        assert_eq!(line(2), Some("lé { read x; write y }"));
        assert_eq!((line(0), line(5), line(9)), (None, None, None));
    }
}
