//! # Idea
//! A Boolean model in Boppo's dialect. What the dialect cannot say, it does not print: there `main`
//! starts all other threads, and all globals start with any value.

use super::{BoolModel, BoolProcedure, BoolStatement, procedure_name};
use selvedge_base::Id;
use selvedge_program::expression::{Atom, Readers, shown};
use selvedge_program::{Expr, Program, Variable};
use std::fmt;

impl BoolModel {
    /// Whether [`BoolModel::to_bp`] prints it.
    pub fn is_boppo(&self) -> bool {
        self.globals.iter().all(Option::is_none)
            && self.threads.iter().enumerate().all(|(at, thread)| thread.waits == (at > 0))
    }

    /// The model in Boppo's dialect; `None` if that cannot say it.
    pub fn to_bp(&self) -> Option<String> {
        self.is_boppo().then(|| self.to_string())
    }
}

/// The model in Boppo's dialect, with remarks where that says something else.
impl fmt::Display for BoolModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, initial) in self.globals.iter().enumerate() {
            write!(f, "decl g{at};")?;
            match initial {
                Some(value) => writeln!(f, " // {}", if *value { 'T' } else { 'F' })?,
                None => writeln!(f)?,
            }
        }
        for (thread, model) in self.threads.iter().enumerate() {
            if model.waits != (thread > 0) {
                writeln!(f, "// a thread that {}", if model.waits { "waits" } else { "runs" })?;
            }
            for (position, procedure) in model.procedures.iter().enumerate() {
                print_procedure(f, thread, position, procedure)?;
            }
        }
        Ok(())
    }
}

fn print_procedure(
    f: &mut fmt::Formatter<'_>,
    thread: usize,
    position: usize,
    procedure: &BoolProcedure,
) -> fmt::Result {
    let names = |range: std::ops::Range<usize>| {
        range.map(|at| format!("a{at}")).collect::<Vec<_>>().join(", ")
    };
    let kind = match procedure.results {
        0 => "void".to_owned(),
        1 => "bool".to_owned(),
        more => format!("bool<{more}>"),
    };
    let parameters = names(0..procedure.parameters);
    writeln!(f, "{kind} {}({parameters}) begin", procedure_name(thread, position))?;
    if procedure.locals > procedure.parameters {
        writeln!(f, "    decl {};", names(procedure.parameters..procedure.locals))?;
    }
    if let Some(enforced) = &procedure.enforced {
        writeln!(f, "    enforce {};", Text(enforced))?;
    }
    Printer { f, thread, branches: 0 }.block(&procedure.body, 1)?;
    writeln!(f, "end")
}

struct Printer<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    thread: usize,
    /// How many groups of branches the procedure has so far.
    branches: usize,
}

impl Printer<'_, '_> {
    fn block(&mut self, block: &[BoolStatement], indent: usize) -> fmt::Result {
        for statement in block {
            self.indent(indent)?;
            self.statement(statement, indent)?;
        }
        Ok(())
    }

    fn indent(&mut self, indent: usize) -> fmt::Result {
        write!(self.f, "{:1$}", "", 4 * indent)
    }

    fn line(&mut self, indent: usize, text: &str) -> fmt::Result {
        self.indent(indent)?;
        writeln!(self.f, "{text}")
    }

    fn statement(&mut self, statement: &BoolStatement, indent: usize) -> fmt::Result {
        match statement {
            BoolStatement::Skip => writeln!(self.f, "skip;"),
            BoolStatement::Assign(assignments, constraint) => {
                let targets = assignments.iter().map(|(target, _)| name(*target));
                let values = assignments.iter().map(|(_, value)| Text(value).to_string());
                let (targets, values) = (commas(targets), commas(values));
                write!(self.f, "{targets} := {values}")?;
                if let Some(constraint) = constraint {
                    write!(self.f, " constrain {}", Text(constraint))?;
                }
                writeln!(self.f, ";")
            }
            BoolStatement::Assume(condition) => writeln!(self.f, "assume({});", Text(condition)),
            BoolStatement::Assert(condition) => writeln!(self.f, "assert({});", Text(condition)),
            BoolStatement::If(condition, first, second) => {
                writeln!(self.f, "if {} then", Text(condition))?;
                self.block(first, indent + 1)?;
                if first.is_empty() {
                    self.line(indent + 1, "skip;")?;
                }
                if !second.is_empty() {
                    self.line(indent, "else")?;
                    self.block(second, indent + 1)?;
                }
                self.line(indent, "fi;")
            }
            BoolStatement::While(condition, body) => {
                writeln!(self.f, "while {} do", Text(condition))?;
                self.block(body, indent + 1)?;
                if body.is_empty() {
                    self.line(indent + 1, "skip;")?;
                }
                self.line(indent, "od;")
            }
            BoolStatement::Choose(branches) => self.choose(branches, indent),
            BoolStatement::Call { procedure, arguments, results } => {
                if !results.is_empty() {
                    let target = |result: &Option<Variable>| result.map_or("_".to_owned(), name);
                    write!(self.f, "{} := ", commas(results.iter().map(target)))?;
                }
                let name = procedure_name(self.thread, *procedure);
                writeln!(self.f, "{name}({});", texts(arguments))
            }
            BoolStatement::Return(values) if values.is_empty() => writeln!(self.f, "return;"),
            BoolStatement::Return(values) => writeln!(self.f, "return {};", texts(values)),
            BoolStatement::Atomic(body) => {
                writeln!(self.f, "atomic_begin;")?;
                self.block(body, indent + 1)?;
                self.line(indent, "atomic_end;")
            }
            BoolStatement::Label(number) => writeln!(self.f, "L{number}: skip;"),
            BoolStatement::Start { thread, arguments } => {
                let name = procedure_name(*thread, 0);
                writeln!(self.f, "start_thread {name}({});", texts(arguments))
            }
        }
    }

    fn choose(&mut self, branches: &[super::BoolBlock], indent: usize) -> fmt::Result {
        let group = self.branches;
        self.branches += 1;
        let labels = (0..branches.len()).map(|at| format!("B{group}_{at}"));
        writeln!(self.f, "goto {};", commas(labels))?;
        for (at, branch) in branches.iter().enumerate() {
            self.line(indent, &format!("B{group}_{at}: skip;"))?;
            self.block(branch, indent + 1)?;
            self.line(indent, &format!("goto B{group}_end;"))?;
        }
        self.line(indent, &format!("B{group}_end: skip;"))
    }
}

/// An expression as text.
struct Text<'e>(&'e Expr);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |atom: Atom, f: &mut fmt::Formatter<'_>| match atom {
            Atom::Variable(variable) => f.write_str(&name(variable)),
            Atom::Literal(literal) => Program::default().write_literal(literal, f),
            Atom::Array(_) => unreachable!("Boolean programs have no arrays"),
        };
        write!(f, "{}", shown(self.0, Readers::All, &names))
    }
}

fn name(variable: Variable) -> String {
    match variable {
        Variable::Global(global) => format!("g{}", global.index()),
        Variable::Local(local) => format!("a{}", local.index()),
    }
}

fn commas(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn texts(exprs: &[Expr]) -> String {
    commas(exprs.iter().map(|expr| Text(expr).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boolean::BoolThread;
    use selvedge_program::{GlobalId, LocalId, Operator};

    #[test]
    fn a_model_prints_in_the_dialect() {
        let (g, a) =
            (Variable::Global(GlobalId::from_index(0)), Variable::Local(LocalId::from_index(0)));
        let b = Variable::Local(LocalId::from_index(1));
        let current = Expr::Current;
        let main = BoolProcedure {
            locals: 1,
            body: vec![
                BoolStatement::Start { thread: 1, arguments: vec![current(g).not()] },
                BoolStatement::Assign(
                    vec![(g, Expr::Choice), (a, Expr::TRUE)],
                    Some(Expr::Next(g).join(Operator::Implies, current(a))),
                ),
                BoolStatement::While(
                    Expr::Choice,
                    vec![BoolStatement::Choose(vec![
                        vec![BoolStatement::Assume(current(g))],
                        vec![],
                    ])],
                ),
                BoolStatement::Label(3),
            ],
            ..BoolProcedure::default()
        };
        let worker = BoolProcedure {
            locals: 1,
            parameters: 1,
            body: vec![BoolStatement::Atomic(vec![BoolStatement::Call {
                procedure: 1,
                arguments: vec![current(a)],
                results: vec![Some(g), None],
            }])],
            ..BoolProcedure::default()
        };
        let helper = BoolProcedure {
            locals: 2,
            parameters: 1,
            results: 2,
            enforced: Some(current(b)),
            body: vec![BoolStatement::If(
                current(a),
                vec![BoolStatement::Return(vec![current(b), Expr::FALSE])],
                vec![BoolStatement::Assert(current(b)), BoolStatement::Skip],
            )],
        };
        let model = BoolModel {
            globals: vec![None],
            threads: vec![
                BoolThread { waits: false, procedures: vec![main] },
                BoolThread { waits: true, procedures: vec![worker, helper] },
            ],
        };
        let expected = "\
decl g0;
void main() begin
    decl a0;
    start_thread t1(!g0);
    g0, a0 := *, T constrain 'g0 => a0;
    while * do
        goto B0_0, B0_1;
        B0_0: skip;
            assume(g0);
        goto B0_end;
        B0_1: skip;
        goto B0_end;
        B0_end: skip;
    od;
    L3: skip;
end
void t1(a0) begin
    atomic_begin;
        g0, _ := t1_f1(a0);
    atomic_end;
end
bool<2> t1_f1(a0) begin
    decl a1;
    enforce a1;
    if a0 then
        return a1, F;
    else
        assert(a1);
        skip;
    fi;
end
";
        assert_eq!(model.to_bp().as_deref(), Some(expected));
        assert_eq!(model.statements(), 12);
        assert_eq!(selvedge_program::validate::validate(&model.to_program()), []);
        let fixed = BoolModel { globals: vec![Some(true)], ..model };
        assert_eq!(fixed.to_bp(), None);
    }
}
