//! # Idea
//! A nested word as a text: `<f` is a call, `f>` a return, `f` anything else.

use crate::token::Kind;
use selvedge_base::{Diagnostic, Severity};
use selvedge_pds::nwa::{Letter, Nested, Nwa};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;

/// Reads a nested word with the letters of an automaton.
pub fn parse_word(text: &str, nwa: &Nwa) -> (Option<Vec<Nested>>, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let message = "the text has 4 GiB or more";
        return (None, vec![Diagnostic::global("file-too-large", Severity::Error, message)]);
    }
    let mut complaints = Complaints::new();
    let mut cursor: Cursor<'_, '_, Kind> = Cursor::new(text, &mut complaints);
    let mut word = Vec::new();
    while !cursor.at(Kind::End) {
        let is_call = cursor.eat(Kind::Less);
        if !cursor.at(Kind::Word) && !cursor.at(Kind::Quoted) {
            let message = format!("expected a symbol, found {}", cursor.found());
            let help = "a nested word has `f`, `<f` for calls and `f>` for returns";
            cursor.report_here("missing-symbol", message, "a symbol is missing here", help);
            cursor.bump();
            continue;
        }
        let token = cursor.bump();
        let letter: Letter = match token.kind {
            Kind::Word if token.text == "*" => nwa.other(),
            Kind::Quoted => nwa.letter(&token.text[1..token.text.len() - 1]),
            _ => nwa.letter(token.text),
        };
        if cursor.at(Kind::Greater) {
            if is_call {
                let message = "this symbol is a call and a return";
                cursor.report_here(
                    "call-and-return",
                    message.to_owned(),
                    "second sign",
                    "use one of them",
                );
            }
            cursor.bump();
            word.push(Nested::Return(letter));
        } else if is_call {
            word.push(Nested::Call(letter));
        } else {
            word.push(Nested::Internal(letter));
        }
    }
    let word = (!complaints.has_errors()).then_some(word);
    (word, complaints.finish())
}
