//! # Idea
//! Names may be used before they are declared. So what a text declares is collected before it is
//! read; mistakes are left to the reader.
//!
//! # Invariants
//! 1. The number of a name is the position of its first declaration among those of its kind.

use super::scanner::{Kind, is_plain_member, quoted, unquoted};
use selvedge_base::Span;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::{Token, Tokens};
use std::collections::HashMap;

/// The words that begin a declaration.
pub const ITEMS: [&str; 5] = ["global", "method", "proc", "row", "type"];

/// Names of one kind.
#[derive(Clone, Debug, Default)]
pub struct Table {
    numbers: HashMap<String, (usize, Span)>,
    order: Vec<String>,
}

impl Table {
    /// Declares a name unless it is declared.
    pub fn declare(&mut self, name: &str, span: Span) -> usize {
        if let Some(number) = self.number(name) {
            return number;
        }
        let number = self.order.len();
        self.numbers.insert(name.to_owned(), (number, span));
        self.order.push(name.to_owned());
        number
    }

    /// The number of a name.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).map(|&(number, _)| number)
    }

    /// Where a name is declared first.
    pub fn declared(&self, name: &str) -> Option<Span> {
        self.numbers.get(name).map(|&(_, span)| span)
    }

    /// The name that was probably meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.order.iter().map(String::as_str))
    }

    /// The names in their order.
    pub fn into_names(self) -> Vec<String> {
        self.order
    }
}

/// What a text declares.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Types.
    pub types: Table,
    /// Globals.
    pub globals: Table,
    /// Procedures and rows.
    pub procedures: Table,
    /// Fields as `type.field`; types are written in quotes.
    pub fields: Table,
    /// Methods likewise.
    pub methods: Table,
    /// The labels of each procedure, in the order of the text.
    pub labels: Vec<Table>,
}

/// The name of a member as the tables have it.
pub fn member(owner: &str, name: &str) -> String {
    let mut key = quoted(owner);
    key.push('.');
    key.push_str(name);
    key
}

/// What a text declares.
pub fn collect(text: &str) -> Names {
    let mut names = Names::default();
    let tokens = all_tokens(text);
    let mut starts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let first = at == 0 || tokens[at - 1].place.line() != token.place.line();
        if first && token.kind == Kind::Keyword && ITEMS.contains(&token.text) {
            starts.push(at);
        }
    }
    for (k, &start) in starts.iter().enumerate() {
        let end = starts.get(k + 1).copied().unwrap_or(tokens.len());
        item(&tokens[start..end], &mut names);
    }
    names
}

fn all_tokens(text: &str) -> Vec<Token<'_, Kind>> {
    let mut tokens = Tokens::new(text);
    let mut all = Vec::new();
    loop {
        let token = tokens.next();
        if token.kind == Kind::End {
            return all;
        }
        all.push(token);
    }
}

/// The name that a token is.
pub fn name_of(token: &Token<'_, Kind>) -> Option<String> {
    match token.kind {
        Kind::Word => Some(token.text.to_owned()),
        Kind::Quoted => unquoted(token.text),
        _ => None,
    }
}

/// The name of a field or a method that a token is.
fn member_name_of(token: &Token<'_, Kind>) -> Option<String> {
    let is_word = token.kind == Kind::Keyword && is_plain_member(token.text);
    if is_word { Some(token.text.to_owned()) } else { name_of(token) }
}

fn item(tokens: &[Token<'_, Kind>], names: &mut Names) {
    let name = tokens.get(1).and_then(|token| Some((name_of(token)?, token.span)));
    let is_procedure = matches!(tokens[0].text, "proc" | "row");
    if is_procedure {
        names.labels.push(labels(tokens));
    }
    let Some((name, span)) = name else { return };
    match tokens[0].text {
        "type" => {
            if names.types.number(&name).is_none() {
                fields(tokens, &name, names);
            }
            names.types.declare(&name, span);
        }
        "global" => {
            names.globals.declare(&name, span);
        }
        "method" => {
            let of = tokens.get(3).and_then(member_name_of);
            if let Some(of) = of.filter(|_| tokens[2].kind == Kind::Sign(b'.')) {
                names.methods.declare(&member(&name, &of), span);
            }
        }
        _ => {
            names.procedures.declare(&name, span);
        }
    }
}

/// The names behind `{` or `;` and before `:`, up to `}`.
fn fields(tokens: &[Token<'_, Kind>], owner: &str, names: &mut Names) {
    let is = |token: &Token<'_, Kind>, sign| token.kind == Kind::Sign(sign);
    let variants = tokens.windows(2).position(|pair| {
        let is_word = pair[0].kind == Kind::Keyword && pair[0].text == "variants";
        is_word && !is(&pair[1], b':')
    });
    let tokens = &tokens[..variants.unwrap_or(tokens.len())];
    for window in tokens.windows(3) {
        let [before, name, behind] = window else { continue };
        if (is(before, b'{') || is(before, b';'))
            && is(behind, b':')
            && let Some(of) = member_name_of(name)
        {
            names.fields.declare(&member(owner, &of), name.span);
        }
    }
}

/// The names that begin a line and stand before `:`.
fn labels(tokens: &[Token<'_, Kind>]) -> Table {
    let mut labels = Table::default();
    for window in tokens.windows(3) {
        let [before, name, behind] = window else { continue };
        if before.place.line() != name.place.line()
            && behind.kind == Kind::Sign(b':')
            && let Some(of) = name_of(name)
        {
            labels.declare(&of, name.span);
        }
    }
    labels
}
