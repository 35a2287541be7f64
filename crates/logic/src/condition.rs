//! # Idea
//! Conditions on the globals of a program, as EML writes them: comparisons, arithmetic, elements of
//! arrays, enumerators. Everything has a sort, and what does not fit is reported where it stands.

use crate::parser::{Mistake, Parser, Read};
use crate::token::Kind;
use selvedge_base::{Diagnostic, Id, Span};
use selvedge_program::data::element_name;
use selvedge_program::{
    Array, EnumId, Expr, Frame, GlobalId, Literal, Local, LocalId, Operator, ProbeLocal, Sort,
    ThreadId, Variable,
};
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;

/// An expression with its sort and where it stands.
struct Sorted {
    expr: Expr,
    sort: Sort,
    span: Span,
}

impl Parser<'_, '_> {
    /// Reads an expression of any sort.
    pub(crate) fn probe(&mut self) -> Read<(Expr, Sort)> {
        let read = self.expression(0)?;
        Ok((read.expr, read.sort))
    }
}

/// Reads a condition up to the closing brace.
pub(crate) fn parse(parser: &mut Parser<'_, '_>) -> Read<Expr> {
    let condition = parser.expression(0)?;
    parser.sorted(&condition, Sort::Bool)?;
    Ok(condition.expr)
}

/// What an operator takes and yields.
#[derive(Clone, Copy)]
enum Shape {
    /// Truth values to a truth value.
    Truth,
    /// Two of one sort to a truth value.
    Same,
    /// Numbers to a truth value.
    Compares,
    /// Numbers to a number.
    Computes,
}

/// The operator with its strength; the sides are exchanged, or the result negated, for those that have
/// none of their own.
fn operator(kind: Kind) -> Option<(u8, Operator, Shape, bool, bool)> {
    use Shape::{Compares, Computes, Same, Truth};
    Some(match kind {
        Kind::Arrow => (1, Operator::Implies, Truth, false, false),
        Kind::Or => (2, Operator::Or, Truth, false, false),
        Kind::And => (3, Operator::And, Truth, false, false),
        Kind::Equal => (4, Operator::Equal, Same, false, false),
        Kind::NotEqual => (4, Operator::Equal, Same, false, true),
        Kind::Less => (5, Operator::Less, Compares, false, false),
        Kind::LessEqual => (5, Operator::LessEqual, Compares, false, false),
        Kind::Greater => (5, Operator::Less, Compares, true, false),
        Kind::GreaterEqual => (5, Operator::LessEqual, Compares, true, false),
        Kind::Plus => (6, Operator::Add, Computes, false, false),
        Kind::Minus => (6, Operator::Subtract, Computes, false, false),
        Kind::Times => (7, Operator::Multiply, Computes, false, false),
        Kind::Divide => (7, Operator::Divide, Computes, false, false),
        Kind::Remainder => (7, Operator::Remainder, Computes, false, false),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// An expression of operators that bind more strongly than this.
    fn expression(&mut self, weakest: u8) -> Read<Sorted> {
        let mut left = self.deeper(Self::operand)?;
        let mut joined = 0;
        while let Some((strength, operator, shape, exchanged, negated)) = operator(self.sign())
            && strength > weakest
        {
            joined += 1;
            if joined > 1000 {
                let message = "the condition has more than 1000 operators in a row".to_owned();
                self.cursor.report_here("formula-too-deep", message, "too deep", "");
                return Err(Mistake);
            }
            self.cursor.bump();
            let mut right = self.deeper(|parser| parser.expression(strength))?;
            let (wanted, sort) = match shape {
                Shape::Truth => (Some(Sort::Bool), Sort::Bool),
                Shape::Same => (None, Sort::Bool),
                Shape::Compares => (Some(Sort::Int), Sort::Bool),
                Shape::Computes => (Some(Sort::Int), Sort::Int),
            };
            if let Some(wanted) = wanted {
                self.sorted(&left, wanted)?;
                self.sorted(&right, wanted)?;
            } else {
                left = self.as_truth(left, right.sort);
                right = self.as_truth(right, left.sort);
                self.sorted(&right, left.sort)?;
            }
            let span = left.span.to(right.span);
            let (first, second) =
                if exchanged { (right.expr, left.expr) } else { (left.expr, right.expr) };
            let expr = Expr::Binary(operator, Box::new(first), Box::new(second));
            let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
            left = Sorted { expr, sort, span };
        }
        Ok(left)
    }

    /// The sign here; those of Boolean programs stand for the others where values are wanted.
    fn sign(&self) -> Kind {
        match self.cursor.current.kind {
            Kind::SingleAnd if self.probed.is_some() => Kind::And,
            Kind::SingleOr if self.probed.is_some() => Kind::Or,
            Kind::Equals if self.probed.is_some() => Kind::Equal,
            kind => kind,
        }
    }

    /// Boolean programs write truth values as numbers, too.
    fn as_truth(&self, side: Sorted, other: Sort) -> Sorted {
        match side.expr {
            Expr::Constant(Literal::Int(value @ (0 | 1)))
                if self.probed.is_some() && other == Sort::Bool =>
            {
                Sorted { expr: Expr::truth(value == 1), sort: Sort::Bool, ..side }
            }
            _ => side,
        }
    }

    fn operand(&mut self) -> Read<Sorted> {
        let token = self.cursor.current;
        let sorted = |expr, sort, span| Ok(Sorted { expr, sort, span });
        match token.kind {
            Kind::Not => {
                self.cursor.bump();
                let inner = self.deeper(Self::operand)?;
                self.sorted(&inner, Sort::Bool)?;
                sorted(Expr::Not(Box::new(inner.expr)), Sort::Bool, token.span.to(inner.span))
            }
            Kind::Minus => {
                self.cursor.bump();
                let inner = self.deeper(Self::operand)?;
                self.sorted(&inner, Sort::Int)?;
                sorted(Expr::Negate(Box::new(inner.expr)), Sort::Int, token.span.to(inner.span))
            }
            Kind::OpenParen => {
                self.cursor.bump();
                let inner = self.deeper(|parser| parser.expression(0))?;
                self.expect(Kind::CloseParen, ")", "behind an expression")?;
                Ok(inner)
            }
            Kind::Number => {
                let Ok(number) = token.text.parse() else {
                    let message = format!("{} is too large a number", token.text);
                    self.cursor.report_here("number-too-large", message, "too large", "");
                    return Err(Mistake);
                };
                self.cursor.bump();
                sorted(Expr::Constant(Literal::Int(number)), Sort::Int, token.span)
            }
            _ => self.variable(),
        }
    }

    /// A global, an element of an array, an enumerator or a truth value.
    fn variable(&mut self) -> Read<Sorted> {
        if let Some(read) = self.local()? {
            return Ok(read);
        }
        let span = self.cursor.current.span;
        let name = self.name("a variable")?.to_owned();
        let program = self.names.program;
        if let Some(read) = self.shared(&name, span)? {
            return Ok(read);
        }
        if let "true" | "false" = name.as_str() {
            return Ok(Sorted { expr: Expr::truth(name == "true"), sort: Sort::Bool, span });
        }
        if let Some(read) = self.constant(&name, span) {
            return Ok(read);
        }
        let enumerators = program.enums.iter_enumerated().find_map(|(id, one)| {
            let at = one.values.iter().position(|value| *value == name)?;
            Some((id, at as u32))
        });
        if let Some((id, at)) = enumerators {
            let id: EnumId = id;
            let expr = Expr::Constant(Literal::Enumerator(id, at));
            return Ok(Sorted { expr, sort: Sort::Enum(id), span });
        }
        if program.arrays.iter().any(|array| array.name == name) {
            return self.whole_array(&name, span);
        }
        let candidates = program.globals.iter().map(|global| global.name.as_str());
        let help = match nearest(&name, candidates) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.probed.is_some() => self.no_global(&name),
            None if program.globals.is_empty() => "the program has no variables with values".into(),
            None => "conditions speak of globals only".to_owned(),
        };
        self.unknown(
            "unknown-variable",
            format!("there is no global {}", quote(&name)),
            span,
            &help,
        )
    }

    /// The global with this name, which was read, or the element of the array with this name, whose index
    /// is read.
    fn shared(&mut self, name: &str, span: Span) -> Read<Option<Sorted>> {
        let program = self.names.program;
        if self.cursor.at(Kind::OpenBracket)
            && let Some(array) = program.arrays.iter().find(|array| array.name == name)
        {
            self.cursor.bump();
            let index = self.deeper(|parser| parser.expression(0))?;
            self.sorted(&index, Sort::Int)?;
            self.expect(Kind::CloseBracket, "]", "behind an index")?;
            let sort = match array.array.first {
                Variable::Global(id) => program.globals[id].ty.sort(),
                Variable::Local(_) => Sort::Bool,
            };
            let span = span.to(self.cursor.previous());
            let expr = Expr::Element(array.array, Box::new(index.expr));
            return Ok(Some(Sorted { expr, sort, span }));
        }
        let mut globals = program.globals.iter_enumerated();
        let found = globals.find(|(_, global)| global.name == name);
        Ok(found.map(|(id, global)| {
            let expr = Expr::Current(Variable::Global(id));
            Sorted { expr, sort: global.ty.sort(), span }
        }))
    }

    /// What to do about a name that no global has where locals may be named.
    fn no_global(&self, name: &str) -> String {
        let program = self.names.program;
        let has = |thread: &ThreadId| {
            let frames = self.names.frames(*thread);
            frames.iter().any(|frame| frame.locals.iter().any(|local| local.name == name))
        };
        let variables = |frame: &Frame| !frame.locals.is_empty();
        match program.threads.ids().find(has) {
            Some(thread) => {
                format!("write `{}.{name}` for the local", program.threads[thread].name)
            }
            None if program.globals.is_empty()
                && !program.procedures.iter().any(|one| variables(&one.frame)) =>
            {
                "the program has no variables with values".to_owned()
            }
            None => "name a global, or a local of a thread as `Thread.local`".to_owned(),
        }
    }

    /// What else a name stands for where values are wanted: a number that is written by several globals, a
    /// thread, none, or a truth value of Boolean programs.
    fn constant(&self, name: &str, span: Span) -> Option<Sorted> {
        let program = self.names.program;
        let probed = self.probed.is_some();
        let mut numerals = program.numerals.iter().filter(|_| probed);
        if let Some(numeral) = numerals.find(|numeral| numeral.name == name) {
            let bits = numeral.bits.iter().zip(0..31);
            let bit = |(&bit, at): (&GlobalId, i32)| {
                let set = Expr::Current(Variable::Global(bit));
                Expr::Ite(Box::new([set, Expr::number(1 << at), Expr::number(0)]))
            };
            let sum = bits.map(bit).reduce(|sum, bit| sum.join(Operator::Add, bit));
            return sum.map(|expr| Sorted { expr, sort: Sort::Int, span });
        }
        let mut threads = program.threads.iter_enumerated();
        let thread = threads.find(|(_, thread)| thread.name == name).map(|(id, _)| id);
        let literal = match name {
            "T" | "F" if probed && thread.is_none() => Literal::Bool(name == "T"),
            "none" => Literal::Thread(None),
            _ => Literal::Thread(Some(thread?)),
        };
        Some(Sorted { expr: Expr::Constant(literal), sort: literal.sort(), span })
    }

    /// Refuses an array where one value is wanted.
    fn whole_array<T>(&mut self, name: &str, span: Span) -> Read<T> {
        let message = format!("{} is an array", quote(name));
        let diagnostic = Diagnostic::error("missing-index", message, span, "which element?");
        let help = format!("name one element: `{name}[0]`");
        self.cursor.complaints.push(diagnostic.with_help(help));
        Err(Mistake)
    }

    /// A thread, `T` or `T[2]`, a variable that it alone has, `T.x`, or a local of it, `T[2].x[i]`, if one
    /// stands here. Locals are for expressions along a run.
    fn local(&mut self) -> Read<Option<Sorted>> {
        let program = self.names.program;
        let name = self.cursor.current.text;
        let is_copy = || {
            let copies = format!("{name}[");
            let array = program.arrays.iter().any(|array| array.name == name);
            !array && program.threads.iter().any(|thread| thread.name.starts_with(&copies))
        };
        let names_thread = match self.cursor.peek() {
            Kind::Dot => true,
            Kind::OpenBracket => is_copy(),
            _ => false,
        };
        let is_name = matches!(self.cursor.current.kind, Kind::Name | Kind::Quoted);
        if !is_name || !names_thread {
            return Ok(None);
        }
        let start = self.cursor.current.span;
        let thread = self.thread()?;
        if !self.cursor.at(Kind::Dot) {
            let expr = Expr::Constant(Literal::Thread(Some(thread)));
            return Ok(Some(Sorted { expr, sort: Sort::Thread, span: start }));
        }
        self.cursor.bump();
        let named = self.cursor.current.span;
        let name = self.name("a local")?.to_owned();
        let whole = format!("{}.{name}", program.threads[thread].name);
        if let Some(read) = self.shared(&whole, start)? {
            return Ok(Some(read));
        }
        if self.probed.is_none() {
            let message = format!("there is no global {}", quote(&whole));
            let help = "conditions speak of globals and of variables of processes";
            return self.unknown("unknown-variable", message, named, help);
        }
        if self.cursor.at(Kind::OpenBracket)
            && let Some((length, sort)) = self.local_array(thread, &name)
        {
            self.cursor.bump();
            let index = self.deeper(|parser| parser.expression(0))?;
            self.sorted(&index, Sort::Int)?;
            self.expect(Kind::CloseBracket, "]", "behind an index")?;
            let elements: Vec<String> = (0..length).map(|at| element_name(&name, at)).collect();
            let first = self.add_locals(thread, &elements, sort);
            let array = Array { first: Variable::Local(first), length };
            let span = start.to(self.cursor.previous());
            return Ok(Some(Sorted {
                expr: Expr::Element(array, Box::new(index.expr)),
                sort,
                span,
            }));
        }
        if self.local_array(thread, &name).is_some() {
            return self.whole_array(&whole, named);
        }
        let frames = self.names.frames(thread);
        let sort = frames.iter().find_map(|frame| {
            let mut locals = frame.locals.iter();
            locals.find(|local| local.name == name).map(|local| local.ty.sort())
        });
        if let Some(sort) = sort {
            self.declared_once(&frames, thread, &name, named)?;
            let local = self.add_locals(thread, &[name], sort);
            let span = start.to(named);
            let expr = Expr::Current(Variable::Local(local));
            return Ok(Some(Sorted { expr, sort, span }));
        }
        let owner = &program.threads[thread].name;
        let names = frames.iter().flat_map(|frame| frame.locals.iter());
        let names = names.map(|local| local.name.as_str()).filter(|name| !name.contains('#'));
        let names: Vec<&str> = names.collect();
        let help = match nearest(&name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if names.is_empty() => format!("{owner} has no locals"),
            None => String::new(),
        };
        let message = format!("{owner} has no local {}", quote(&name));
        self.unknown("unknown-variable", message, named, &help)
    }

    /// Refuses a name that several blocks of a procedure declare: a state does not say which block runs.
    fn declared_once(
        &mut self,
        frames: &[&Frame],
        thread: ThreadId,
        name: &str,
        named: Span,
    ) -> Read<()> {
        let numbered =
            |local: &Local| local.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('#'));
        if !frames.iter().any(|frame| frame.locals.iter().any(numbered)) {
            return Ok(());
        }
        let owner = &self.names.program.threads[thread].name;
        let message = format!("several blocks of {owner} declare {}", quote(name));
        self.unknown("unknown-variable", message, named, "rename all of them but one")
    }

    /// The length of a local array of a thread, and the sort of its elements.
    fn local_array(&self, thread: ThreadId, name: &str) -> Option<(u32, Sort)> {
        self.names.frames(thread).iter().find_map(|frame| {
            let found = frame.arrays.iter().find(|array| array.name == name)?;
            match found.array.first {
                Variable::Local(first) => Some((found.array.length, frame.locals[first].ty.sort())),
                Variable::Global(_) => None,
            }
        })
    }

    /// Numbers locals that the expression reads, one after the other.
    fn add_locals(&mut self, thread: ThreadId, names: &[String], sort: Sort) -> LocalId {
        let all = self.probed.get_or_insert_default();
        let first = LocalId::from_index(all.len());
        let local = |name: &String| ProbeLocal { thread, name: name.clone(), sort };
        all.extend(names.iter().map(local));
        first
    }

    /// Reports an expression of another sort.
    fn sorted(&mut self, expr: &Sorted, wanted: Sort) -> Read<()> {
        if expr.sort == wanted {
            return Ok(());
        }
        let word = |sort: Sort| match sort {
            Sort::Bool => "a truth value".to_owned(),
            Sort::Int => "a number".to_owned(),
            Sort::Enum(id) => format!("a value of {}", self.names.program.enums[id].name),
            Sort::Thread => "a thread".to_owned(),
        };
        let message = format!("expected {}, found {}", word(wanted), word(expr.sort));
        let remark = format!("this is {}", word(expr.sort));
        self.cursor.complaints.push(Diagnostic::error("wrong-sort", message, expr.span, remark));
        Err(Mistake)
    }
}
