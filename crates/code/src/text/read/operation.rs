//! # Idea
//! Statements: results, then an operation that its first word tells apart.

use super::super::scanner::{KEYWORDS, Kind as Token};
use super::{Mistake, Read, Reader};
use crate::model::RegisterId;
use crate::statement::{
    Acquisition, Call, Callee, LockKind, MemoryAccess, Operation, Shape, Value,
};
use crate::words::{LockMode, Operator, Ordering, Side, UpdateOperator};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::nearest::{nearest, suggest};
use selvedge_syntax::tokens::quote;

impl Reader<'_, '_, '_> {
    /// Registers before `=`; none if the line begins with a word of the language.
    pub(super) fn results(&mut self) -> Read<Vec<RegisterId>> {
        let first = self.cursor.current;
        let mut results = Vec::new();
        while self.at_name() {
            results.push(self.register()?);
        }
        if !results.is_empty() && !self.eat_sign(b'=') {
            return self.no_operation(first.text, first.span);
        }
        Ok(results)
    }

    /// Reports a name in the place of the first word of an operation.
    fn no_operation<T>(&mut self, word: &str, span: Span) -> Read<T> {
        let message = format!("{} is no statement", quote(word));
        let unknown = Diagnostic::error("unknown-statement", message, span, "not known");
        self.cursor.report(match nearest(word, KEYWORDS) {
            Some(meant) => suggest(unknown, meant),
            None => unknown.with_help("write `=` between results and operation"),
        });
        Err(Mistake)
    }

    pub(super) fn operation(&mut self) -> Read<Operation> {
        if self.at_value() {
            let first = self.cursor.current;
            let value = self.value()?;
            if self.at_value() {
                return self.no_operation(first.text, first.span);
            }
            return Ok(Operation::Move(value));
        }
        let word = if self.cursor.at(Token::Keyword) && !self.at_line_end() {
            self.cursor.current.text
        } else {
            ""
        };
        if let Some(operator) = self.eat_word::<Operator>() {
            return Ok(Operation::Compute { operator, left: self.value()?, right: self.value()? });
        }
        // `virtual`, `value` and `outside` are calls without the word.
        if matches!(word, "virtual" | "value" | "outside") {
            return Ok(Operation::Call(self.call()?));
        }
        match word {
            "make" | "local" | "closure" | "field" | "elem" | "shift" | "side" | "narrow"
            | "any" => {
                self.bump();
                self.value_operation(word)
            }
            "load" | "store" | "rmw" | "cas" | "copy" => {
                self.bump();
                self.access_operation(word)
            }
            "call" | "start" | "join" | "detach" | "once" => {
                self.bump();
                self.thread_operation(word)
            }
            "lock" | "try" | "timed" | "unlock" | "wait" | "notify" | "kind" => {
                self.bump();
                self.lock_operation(word)
            }
            "caught" => {
                self.bump();
                Ok(Operation::Caught)
            }
            _ => self.unexpected("expected a statement"),
        }
    }

    /// Objects, addresses and values.
    fn value_operation(&mut self, word: &str) -> Read<Operation> {
        Ok(match word {
            "make" => Operation::Make(self.shape()?),
            "local" => Operation::Local(self.shape()?),
            "closure" => {
                let procedure = self.procedure_name()?;
                Operation::Closure { procedure, captures: self.arguments()? }
            }
            "field" => Operation::Field { base: self.value()?, field: self.field_name()? },
            "elem" => {
                let (base, index) = (self.value()?, self.value()?);
                Operation::Element { base, index, kind: self.kind()? }
            }
            "shift" => Operation::Shift { base: self.value()?, bytes: self.value()? },
            "side" => Operation::Side { base: self.value()?, side: self.word("a side")? },
            "narrow" => Operation::Narrow { value: self.value()?, ty: self.type_name()? },
            _ => Operation::Any(self.values()?),
        })
    }

    fn shape(&mut self) -> Read<Shape> {
        let element = self.element()?;
        let mut counts = Vec::new();
        while self.eat_sign(b'[') {
            counts.push(self.value()?);
            self.sign(b']')?;
        }
        Ok(Shape { element, counts })
    }

    fn access_operation(&mut self, word: &str) -> Read<Operation> {
        if word == "copy" {
            let (to, from) = (self.value()?, self.value()?);
            return Ok(Operation::Copy { to, from, kind: self.kind()? });
        }
        let address = self.value()?;
        Ok(match word {
            "load" => Operation::Load(self.access(address)?),
            "store" => {
                let value = self.value()?;
                Operation::Store { access: self.access(address)?, value }
            }
            "rmw" => {
                let operator: UpdateOperator = self.word("an update")?;
                let value = self.value()?;
                Operation::Update { access: self.access(address)?, operator, value }
            }
            _ => {
                let (expected, new) = (self.value()?, self.value()?);
                Operation::Exchange { access: self.access(address)?, expected, new }
            }
        })
    }

    /// The bytes and the ordering of an access.
    fn access(&mut self, address: Value) -> Read<MemoryAccess> {
        let bytes = if self.eat_keyword("bytes") { self.unsigned()? } else { 0 };
        Ok(MemoryAccess { address, bytes, ordering: self.eat_word::<Ordering>() })
    }

    fn thread_operation(&mut self, word: &str) -> Read<Operation> {
        Ok(match word {
            "call" => Operation::Call(self.call()?),
            "start" => Operation::Start(self.call()?),
            "join" => Operation::Join(self.value()?),
            "detach" => Operation::Detach(self.value()?),
            _ => {
                let (guard, procedure) = (self.value()?, self.procedure_name()?);
                Operation::Once { guard, procedure, arguments: self.arguments()? }
            }
        })
    }

    fn call(&mut self) -> Read<Call> {
        let callee = if self.eat_keyword("virtual") {
            Callee::Virtual(self.method_parts()?.2)
        } else if self.eat_keyword("value") {
            Callee::Value(self.value()?)
        } else if self.eat_keyword("outside") {
            Callee::Outside(self.name("a procedure outside")?.name)
        } else {
            Callee::Procedure(self.procedure_name()?)
        };
        Ok(Call { callee, arguments: self.arguments()? })
    }

    fn lock_operation(&mut self, word: &str) -> Read<Operation> {
        if word == "wait" {
            let (condition, lock) = (self.value()?, self.value()?);
            return Ok(Operation::Wait { condition, lock, timed: self.eat_keyword("timed") });
        }
        if word == "notify" {
            let all = self.eat_keyword("all");
            return Ok(Operation::Notify { condition: self.value()?, all });
        }
        let address = self.value()?;
        if word == "kind" {
            return Ok(Operation::SetKind { address, kind: self.lock_kind() });
        }
        let side: Option<Side> = self.eat_word();
        if word == "unlock" {
            return Ok(Operation::Unlock { address, side });
        }
        let acquisition = Acquisition { address, side, kind: self.lock_kind() };
        Ok(match word {
            "lock" => Operation::Lock(acquisition),
            "try" => Operation::TryLock(acquisition),
            _ => Operation::TimedLock(acquisition),
        })
    }

    /// The mode of a lock, which is `plain` if none is written, and what else is known about it.
    fn lock_kind(&mut self) -> LockKind {
        let mode = self.eat_word::<LockMode>().unwrap_or(LockMode::Plain);
        let structured = self.eat_keyword("structured");
        LockKind { mode, structured, fair: self.eat_keyword("fair") }
    }
}
