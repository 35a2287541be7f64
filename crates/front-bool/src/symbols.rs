//! # Idea
//! Where the names of a text stand and what they mean, by one walk over the tree. A text with mistakes
//! has a tree as well, of what could be read.
//!
//! # Source
//! The scopes are those of `names`: globals and functions for the whole text; parameters, locals
//! and labels for one function, where a local hides a global of the same name.
//!
//! # Invariants
//! 1. In a text without errors, every name that means something declared is found. `_` means nothing.

use crate::ast::{Call, Expression, File, Function, Name, Statement, StatementKind, is_async};
use crate::dialect::Dialect;
use crate::token::Kind;
use crate::{dialect, parser};
use rustc_hash::FxHashMap;
use selvedge_base::{LineIndex, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::symbols::{NameId, NameIndex, NameKind};
use selvedge_syntax::tokens::{TokenKind as _, Tokens};

/// What a text declares, and where the names stand.
pub fn symbols(text: &str) -> NameIndex {
    if u32::try_from(text.len()).is_err() {
        return NameIndex::default();
    }
    let mut file = parser::parse(text, Dialect::Boppo, &mut Complaints::new());
    let (dialect, _) = dialect::detect(&file);
    if dialect != Dialect::Boppo {
        file = parser::parse(text, dialect, &mut Complaints::new());
    }
    let mut walk = Walk {
        lines: LineIndex::new(text),
        index: NameIndex::default(),
        globals: Table::default(),
        functions: Table::default(),
        locals: Table::default(),
        labels: Table::default(),
    };
    walk.file(&file);
    walk.index.finish()
}

/// Whether a word is a name, and not reserved; `_` is none, for it stands for what is dropped.
pub fn is_name(word: &str) -> bool {
    let mut tokens = Tokens::<Kind>::new(word);
    let first = tokens.next();
    let is_name = first.kind == Kind::Name && first.text == word && word != "_";
    is_name && tokens.next().kind == Kind::END
}

/// Whether a name says more than what it is the name of: where the program starts, that a thread is
/// started here, that nobody should come here.
pub fn has_meaning(kind: NameKind, name: &str) -> bool {
    match kind {
        NameKind::Function => matches!(name, "main" | "init"),
        NameKind::Label => name == "ERROR" || is_async(name),
        _ => false,
    }
}

/// Names of one kind; of several declarations the first counts.
type Table<'a> = FxHashMap<&'a str, NameId>;

struct Walk<'a, 't> {
    lines: LineIndex<'t>,
    index: NameIndex,
    globals: Table<'a>,
    functions: Table<'a>,
    /// The parameters, locals and labels of the function that is being read.
    locals: Table<'a>,
    labels: Table<'a>,
}

impl<'a> Walk<'a, '_> {
    fn file(&mut self, file: &File<'a>) {
        for &name in &file.globals {
            let id = self.declare(name, NameKind::Global, None);
            self.globals.entry(name.text).or_insert(id);
        }
        let functions: Vec<NameId> = file
            .functions
            .iter()
            .map(|function| {
                let id = self.declare(function.name, NameKind::Function, None);
                self.functions.entry(function.name.text).or_insert(id);
                id
            })
            .collect();
        for (function, id) in file.functions.iter().zip(functions) {
            self.function(function, id);
        }
    }

    fn function(&mut self, function: &Function<'a>, id: NameId) {
        if let Some(end) = self.lines.offset(function.end) {
            let end = end + "end".len() as u32;
            self.index.extend(id, Span::new(function.name.span.start, end));
        }
        self.locals = Table::default();
        self.labels = Table::default();
        let kinds =
            [(NameKind::Parameter, &function.parameters), (NameKind::Local, &function.locals)];
        for (kind, names) in kinds {
            for &name in names {
                let own = self.declare(name, kind, Some(id));
                self.locals.entry(name.text).or_insert(own);
            }
        }
        // A label may be named before it stands anywhere.
        self.define_labels(&function.body, id);
        if let Some(enforced) = &function.enforced {
            self.expression(enforced);
        }
        self.statements(&function.body);
    }

    fn define_labels(&mut self, statements: &[Statement<'a>], function: NameId) {
        for statement in statements {
            for &label in &statement.labels {
                // Generated programs repeat a label at one statement.
                if let Some(&before) = self.labels.get(label.text) {
                    self.index.mention(label.span, before);
                } else {
                    let id = self.declare(label, NameKind::Label, Some(function));
                    self.labels.insert(label.text, id);
                }
            }
            match &statement.kind {
                StatementKind::If(branches, otherwise) => {
                    for branch in branches {
                        self.define_labels(&branch.body, function);
                    }
                    self.define_labels(otherwise, function);
                }
                StatementKind::While(_, body) => self.define_labels(body, function),
                StatementKind::Start(inner) => {
                    self.define_labels(std::slice::from_ref(inner), function);
                }
                _ => {}
            }
        }
    }

    fn statements(&mut self, statements: &[Statement<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        match &statement.kind {
            StatementKind::Empty
            | StatementKind::Skip
            | StatementKind::EndThread
            | StatementKind::Sync
            | StatementKind::AtomicBegin
            | StatementKind::AtomicEnd => {}
            StatementKind::Goto(targets) => {
                for &target in targets {
                    let found = self.labels.get(target.text).copied();
                    self.mention(target, found);
                }
            }
            StatementKind::If(branches, otherwise) => {
                for branch in branches {
                    self.expression(&branch.condition);
                    self.statements(&branch.body);
                }
                self.statements(otherwise);
            }
            StatementKind::While(condition, body) => {
                self.expression(condition);
                self.statements(body);
            }
            StatementKind::Return(values) => self.expressions(values),
            StatementKind::Assign(assignment) => {
                self.variables(&assignment.targets);
                self.expressions(&assignment.values);
                if let Some(constraint) = &assignment.constraint {
                    self.expression(constraint);
                }
            }
            StatementKind::Call(call) => self.call(call),
            StatementKind::Assert(condition) | StatementKind::Assume(condition) => {
                self.expression(condition);
            }
            StatementKind::Dead(names) => self.variables(names),
            StatementKind::Start(inner) => self.statement(inner),
        }
    }

    fn call(&mut self, call: &Call<'a>) {
        self.variables(&call.targets);
        let found = self.functions.get(call.function.text).copied();
        self.mention(call.function, found);
        self.expressions(&call.arguments);
    }

    fn expressions(&mut self, expressions: &[Expression<'a>]) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &Expression<'a>) {
        match expression {
            Expression::Constant(_) | Expression::Choice => {}
            Expression::Variable(name) | Expression::Next(name) => self.variable(*name),
            Expression::Not(inner) => self.expression(inner),
            Expression::Chain(operands, _) => self.expressions(operands),
            Expression::Implies(premises, conclusion) => {
                self.expressions(premises);
                self.expression(conclusion);
            }
        }
    }

    fn variables(&mut self, names: &[Name<'a>]) {
        for &name in names {
            self.variable(name);
        }
    }

    fn variable(&mut self, name: Name<'a>) {
        let found = self.locals.get(name.text).or_else(|| self.globals.get(name.text)).copied();
        self.mention(name, found);
    }

    fn declare(&mut self, name: Name<'a>, kind: NameKind, within: Option<NameId>) -> NameId {
        self.index.declare(name.text, kind, name.span, within)
    }

    fn mention(&mut self, name: Name<'a>, symbol: Option<NameId>) {
        if let Some(symbol) = symbol {
            self.index.mention(name.span, symbol);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines, from 1, in which the name that stands at the first of `text` stands.
    fn lines(source: &str, text: &str) -> Vec<usize> {
        let index = symbols(source);
        let at = source.find(text).expect("the text is there");
        let found = index.at(at as u32).expect("a name").symbol;
        let line = |span: Span| source[..span.start as usize].matches('\n').count() + 1;
        index.mentions(found).map(line).collect()
    }

    const TEXT: &str = "decl x, {y > 0};
void main() begin
    decl z;
    L: L: z := schoose[x, {y > 0}];
    if z then goto L; else start_thread f(z); fi
    while (*) do x, _ := g(x, T); od
end
bool<2> g(x, a) begin
    goto L;
    L: x, a := a, x constrain 'x = !'a;
    return x, a;
end
void f(a) begin assert(a => x); ASYNC_1: f(F); end
";

    #[test]
    fn names_are_looked_up_from_the_inside() {
        let parsed =
            crate::parse(TEXT, &crate::Options { starts_per_site: Some(1), dialect: None });
        assert!(parsed.program.is_some(), "{:?}", parsed.diagnostics);
        assert_eq!(lines(TEXT, "x, {"), [1, 4, 6, 6, 13]);
        assert_eq!(lines(TEXT, "{y > 0};"), [1, 4]);
        assert_eq!(lines(TEXT, "z;"), [3, 4, 5, 5]);
        assert_eq!(lines(TEXT, "L: L"), [4, 4, 5]);
        assert_eq!(lines(TEXT, "x, a) begin"), [8, 10, 10, 10, 11]);
        assert_eq!(lines(TEXT, "L;\n    L: x"), [9, 10]);
        assert_eq!(lines(TEXT, "g(x, T)"), [6, 8]);
        assert_eq!(lines(TEXT, "f(z)"), [5, 13, 13]);
        let index = symbols(TEXT);
        let g = index.symbols.iter().find(|one| one.name == "g").expect("it is declared");
        assert!(TEXT[g.extent.range()].ends_with("return x, a;\nend"));
    }

    #[test]
    fn a_text_with_mistakes_keeps_the_names_that_could_be_read() {
        let text = "decl x;\nvoid main() begin x := ; x := T; g( end\nvoid g() begin x := F; end";
        assert_eq!(lines(text, "x;"), [1, 2, 3]);
    }

    #[test]
    fn names_and_words() {
        for name in ["x", "x.y", "$1", "{a > b}", "main", "t"] {
            assert!(is_name(name), "{name}");
        }
        for wrong in ["", "_", "1x", "é", "T", "begin", "{a", "{a\nb}", "x y", "a//", "x;"] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
