//! What interleavings look like.

mod common;

use common::{FIGURE_1, stack, trace};
use insta::assert_snapshot;
use selvedge_base::{Id, Place};
use selvedge_program::{Program, Thread, ThreadId};
use selvedge_report::interleaving::OwnershipStyle;
use selvedge_report::{Detail, Terminal, interleaving};
use std::collections::BTreeSet;

fn both() -> [ThreadId; 2] {
    [ThreadId::from_index(0), ThreadId::from_index(1)]
}

fn shown(program: &Program, steps: &str, detail: Detail, width: usize) -> String {
    let trace = trace(program, steps);
    interleaving::render(&trace, &both(), program, detail, Terminal::plain(width))
}

#[test]
fn figure_1_of_paper_000() {
    let program = stack();
    assert_snapshot!("figure_1", shown(&program, FIGURE_1, Detail::Events, 80));
    assert_snapshot!("figure_1_everything", shown(&program, FIGURE_1, Detail::Everything, 80));
}

#[test]
fn lines_fit_the_screen() {
    let program = stack();
    for detail in [Detail::Events, Detail::Everything] {
        for width in 40..=120 {
            let out = shown(&program, FIGURE_1, detail, width);
            let widest = out.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width, "{widest} > {width}\n{out}");
        }
    }
    // Narrower screens get a list, and even one of no width gets something readable.
    assert_snapshot!("figure_1_narrow", shown(&program, FIGURE_1, Detail::Events, 40));
    assert!(shown(&program, FIGURE_1, Detail::Events, 0).contains("read count"));
}

#[test]
fn marks_are_never_left_out() {
    let program = stack();
    for width in [0, 30, 60, 200] {
        for detail in [Detail::Events, Detail::Everything] {
            let out = shown(&program, FIGURE_1, detail, width);
            for mark in ["*1", "*2", "*3", "*4"] {
                assert_eq!(out.matches(mark).count(), 1, "{out}");
            }
        }
    }
}

#[test]
fn repetitions_are_folded() {
    let program = stack();
    let mut steps = "T1 acquire wrap 13\n".to_owned();
    steps.push_str(&"T1 call popwrap 20\nT1 call pop 21\n".repeat(500));
    steps.push_str("T1 read count 8 *1\n");
    steps.push_str(&"T2 read count 8\n".repeat(2));
    steps.push_str(&"T2 write data 8\n".repeat(3));
    steps.push_str("T2 write data 9 *2\n");
    assert_snapshot!("repetitions", shown(&program, &steps, Detail::Events, 80));
    let everything = shown(&program, &steps, Detail::Everything, 80);
    assert_eq!(everything.lines().count(), 1 + 1 + 1000 + 1 + 1 + 6);
}

/// Equal rows around an access of the pattern.
#[test]
fn rows_of_the_pattern_are_not_folded() {
    let program = stack();
    let steps = "T1 write data 8\n T1 write data 8\n T1 write data 8 *1\n T1 write data 8 *2\n \
                 T1 write data 8\n T1 write data 8\n T1 write data 8\n";
    assert_snapshot!("pattern_not_folded", shown(&program, steps, Detail::Events, 80));
}

/// The words of a table without its bars, which a list has not.
fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().filter(|word| !word.contains(['┌', '└', '│'])).collect()
}

const MANY_WORDS: &str = " of all the things in the whole wide world";
/// A list has room for it, and columns have not.
const LONG_WORD: &str = "_of_all_the_things_in_the_whole_wide_world";

#[test]
fn nothing_is_cut_on_any_screen() {
    for (more, narrowest) in [(MANY_WORDS, 32), (LONG_WORD, 68)] {
        for style in [OwnershipStyle::Remarks, OwnershipStyle::Bars] {
            let whole = with_long_names(more, style, 400);
            for width in narrowest..=140 {
                let out = with_long_names(more, style, width);
                let widest = out.lines().map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= width, "{widest} > {width}\n{out}");
                assert_eq!(words(&out), words(&whole), "{width}\n{out}");
            }
        }
    }
    let out = with_long_names(MANY_WORDS, OwnershipStyle::Bars, 90);
    assert_snapshot!("long_names_in_columns", out);
}

/// Figure 1 on such a screen, with more behind the name of each lock.
fn with_long_names(more: &str, style: OwnershipStyle, width: usize) -> String {
    let mut program = stack();
    for lock in &mut program.locks {
        lock.name += more;
    }
    let (steps, terminal) = (trace(&stack(), FIGURE_1), Terminal::plain(width));
    interleaving::render_with(&steps, &both(), &program, Detail::Events, style, terminal)
}

#[test]
fn names_are_escaped_and_fit() {
    let mut program = stack();
    program.threads[ThreadId::from_index(0)].name = "T\u{1b}[31m".to_owned();
    let long = "a".repeat(300);
    program.threads.push(Thread {
        name: long,
        place: Place::NONE,
        ..program.threads[both()[0]].clone()
    });
    let mut interleaving = trace(&stack(), FIGURE_1);
    interleaving.steps[0].thread = ThreadId::from_index(2);
    let whole = shown(&stack(), FIGURE_1, Detail::Everything, 100);
    for width in [40, 80, 100] {
        let out = interleaving::render(
            &interleaving,
            &both(),
            &program,
            Detail::Everything,
            Terminal::plain(width),
        );
        assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
        assert!(out.lines().all(|line| line.chars().count() <= width), "{out}");
        // Even a name that is wider than the screen is there as a whole.
        assert_eq!(out.matches('a').count() - whole.matches('a').count(), 300, "{out}");
    }
}

#[test]
fn colours_do_not_change_the_layout() {
    let program = stack();
    let steps = trace(&program, FIGURE_1);
    let terminal = Terminal { width: 80, color: true };
    let painted = interleaving::render(&steps, &both(), &program, Detail::Events, terminal);
    assert!(painted.contains("\u{1b}["));
    assert_eq!(without_escapes(&painted), shown(&program, FIGURE_1, Detail::Events, 80));
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        out.push_str(&rest[..start]);
        let end = rest[start..].find('m').expect("every escape here is a colour");
        rest = &rest[start + end + 1..];
    }
    out + rest
}
