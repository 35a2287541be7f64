//! What `show` prints.

mod common;

use common::stack;
use insta::assert_snapshot;
use selvedge_base::Id;
use selvedge_program::{Program, ThreadId};
use selvedge_report::{Terminal, dot, model, model_json};

#[test]
fn the_stack_of_paper_000() {
    let program = stack();
    assert_snapshot!("stack", model::render("stack.eml", &program, Terminal::plain(80)));
    assert_snapshot!("stack_json", model_json::render("stack.eml", &program));
    assert_snapshot!("stack_dot", dot::render(&program));
}

#[test]
fn an_empty_program() {
    let program = Program::default();
    assert_snapshot!("empty", model::render("empty.eml", &program, Terminal::plain(80)));
    assert_eq!(dot::render(&program).lines().count(), 5);
}

#[test]
fn names_are_escaped() {
    let mut program = stack();
    program.threads[ThreadId::from_index(0)].name = "a\"\u{1b}\\".to_owned();
    for out in [model::render("x\u{1b}", &program, Terminal::plain(80)), dot::render(&program)] {
        assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
    }
    assert!(dot::render(&program).contains(r#"label="thread a\"␛\\";"#));
}
