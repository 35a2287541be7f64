//! What diagnostics look like, and that no text from outside breaks the drawing.

use insta::assert_snapshot;
use selvedge_base::{Diagnostic, Severity, Span};
use selvedge_report::{Source, Terminal, diagnostic::render};

const TEXT: &str = "lock : l, m;\nvar : x;\nprocess T1 {\n    main { read y; }\n}\n";

fn shown(text: &str, diagnostic: Diagnostic) -> String {
    render(&[diagnostic], &Source { name: "a.eml", text }, Terminal::plain(80), 10)
}

fn error_at(start: usize, end: usize) -> Diagnostic {
    let span = Span::new(start as u32, end as u32);
    Diagnostic::error("some-code", "something is wrong", span, "this")
}

#[test]
fn one_place_with_help() {
    let at = TEXT.find('y').unwrap();
    let diagnostic = error_at(at, at + 1).with_help("declared are: x");
    assert_snapshot!("one_place_with_help", shown(TEXT, diagnostic));
}

#[test]
fn places_near_and_far() {
    let text = format!("{TEXT}{}process T1 {{ }}\n", "\n".repeat(20));
    let at = text.rfind("T1").unwrap();
    let diagnostic = error_at(at, at + 2)
        .with_label(Span::new(30, 32), "first here")
        .with_label(Span::new(5, 6), "also this");
    assert_snapshot!("places_near_and_far", shown(&text, diagnostic));
}

#[test]
fn whole_input() {
    let diagnostic = Diagnostic::global("too-few-threads", Severity::Warning, "only one thread");
    assert_snapshot!("whole_input", shown(TEXT, diagnostic));
}

#[test]
fn ends_and_empty_texts() {
    assert_snapshot!("ends_and_empty_texts", shown(TEXT, error_at(TEXT.len(), TEXT.len())));
    assert_snapshot!("ends_and_empty_texts_2", shown("", error_at(0, 0)));
    assert_snapshot!("ends_and_empty_texts_3", shown("\n\n", error_at(1, 1)));
    assert_snapshot!("ends_and_empty_texts_4", shown("a", error_at(7, 900)));
}

#[test]
fn control_characters_are_shown_as_pictures() {
    let text = "lock : \u{1b}]0;x\u{7}\u{9b}31m\u{202e}l;\r\nvar : x;";
    let source = Source { name: "a\u{1b}[2J.eml", text };
    let diagnostic = Diagnostic::error("c\u{f6}de", "m\u{1b}\n", Span::new(7, 9), "r\u{1b}\r")
        .with_label(Span::new(21, 22), "\u{202e}s")
        .with_help("h\u{1b}\u{9b}\nsecond line");
    let out = render(&[diagnostic], &source, Terminal::plain(80), 10);
    assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
    assert!(!out.contains('\u{202e}'));
    assert_snapshot!("control_characters_are_shown_as_pictures", out);
}

#[test]
fn long_lines_are_trimmed_around_the_place() {
    let text = format!("{}Q{}", "read x; ".repeat(5_000), "write y; ".repeat(5_000));
    let at = text.find('Q').unwrap();
    assert_snapshot!("long_lines_are_trimmed_around_the_place", shown(&text, error_at(at, at + 1)));
    let whole = shown(&text, error_at(3, text.len()));
    assert!(whole.lines().all(|line| line.chars().count() <= 200), "{whole}");
}

/// Wherever the place is in a long line, whatever the remarks and the advice say.
#[test]
fn everything_fits_the_screen() {
    let text = "process P { main { acquire(l); x = x + 1; release(l); } } ".repeat(4);
    let sentence = "a sentence about it that is itself so long that it does not fit into the line";
    for start in (0..text.len()).step_by(3) {
        let span = Span::new(start as u32, (start + 4) as u32);
        let diagnostic = Diagnostic::error("some-code", sentence.repeat(2), span, sentence)
            .with_label(Span::new(12, 16), "another remark")
            .with_help(sentence.repeat(3));
        let out = shown(&text, diagnostic);
        let wide = out.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{start}: {out}");
    }
}

#[test]
fn a_span_over_several_lines_is_cut_to_its_first() {
    assert_snapshot!(
        "a_span_over_several_lines_is_cut_to_its_first",
        shown(TEXT, error_at(22, 50))
    );
}

#[test]
fn left_out_ones_are_counted() {
    let warning = error_at(0, 1).with_severity(Severity::Warning);
    let all = [error_at(0, 1), error_at(1, 2), warning.clone(), warning, error_at(2, 3)];
    let source = Source { name: "a.eml", text: TEXT };
    let out = render(&all, &source, Terminal::plain(80), 1);
    assert!(out.ends_with("… and 2 more errors\n\n… and 2 more warnings\n\n"), "{out}");
    assert!(!render(&all, &source, Terminal::plain(80), 5).contains('…'));
}

/// Any span, also a wrong one, at any place of texts with characters of all widths.
#[test]
fn no_span_panics() {
    let texts = ["", "\n", "é\r\n日本\t\u{1b}x", "a\r\r\nb\u{301}\n\n", "\u{feff}x\n\u{1F600}"];
    for text in texts {
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                let out = shown(text, error_at(start, end).with_label(Span::new(0, 3), "other"));
                assert!(out.starts_with("error[some-code]"), "{text:?} {start} {end}");
            }
        }
    }
}

#[test]
fn colours_when_asked() {
    let source = Source { name: "a.eml", text: TEXT };
    let out = render(&[error_at(0, 4)], &source, Terminal { width: 80, color: true }, 1);
    assert!(out.contains("\u{1b}["));
}
