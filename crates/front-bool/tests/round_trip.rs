//! Random programs are printed and read again: the same text the second time, and the same shared
//! states, assertions and labels within the same rounds, by exhaustive search.

mod common;

use common::{Random, program, reached, round_trip};
use selvedge_base::Id;
use selvedge_front_bool::{Dialect, Options, parse, print, print_in};
use selvedge_program::expression::{Atom, Readers, shown};
use selvedge_program::validate::validate;
use selvedge_program::{Action, Expr, GlobalId, Operator, Program, Target, Update, Variable};
use selvedge_testkit::getafix::recognise;
use std::fmt::Write;

/// A writer of random texts.
struct Author {
    random: Random,
    text: String,
    /// The functions that may be called: name, parameters, results.
    functions: Vec<(&'static str, usize, usize)>,
    /// How many labels the function has so far.
    labels: usize,
    atomic: bool,
}

impl Author {
    fn put(&mut self, text: &str) {
        write!(self.text, "{text} ").expect("strings take text");
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.random.below(choices.len())]
    }

    fn expression(&mut self, depth: usize, next: bool) -> String {
        let leaves = ["a", "b", "x", "y", "T", "F", "*", "a", "b", "x"];
        match self.random.below(if depth == 0 { 2 } else { 8 }) {
            0 | 1 if next && self.random.below(2) == 0 => {
                format!("'{}", self.pick(&["a", "b", "x", "y"]))
            }
            0 | 1 => self.pick(&leaves).to_owned(),
            2 => format!("!({})", self.expression(depth - 1, next)),
            3 => format!("!{}", self.pick(&["a", "x"])),
            4 if !next => {
                let (p, n) = (self.expression(depth - 1, false), self.expression(depth - 1, false));
                format!("schoose[{p}, {n}]")
            }
            _ => {
                let (left, right) =
                    (self.expression(depth - 1, next), self.expression(depth - 1, next));
                let sign = self.pick(&["&", "|", "^", "=", "!=", "=>"]);
                match self.random.below(3) {
                    0 => format!("({left} {sign} {right})"),
                    1 => format!("{left} {sign} ({right})"),
                    _ => format!("{left} {sign} {right}"),
                }
            }
        }
    }

    fn call(&mut self) -> (String, usize) {
        let (name, parameters, results) = self.functions[self.random.below(self.functions.len())];
        let arguments: Vec<String> = (0..parameters).map(|_| self.expression(1, false)).collect();
        (format!("{name}({})", arguments.join(", ")), results)
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..=self.random.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        if self.random.below(4) == 0 {
            let label = format!("L{}:", self.labels);
            self.labels += 1;
            self.put(&label);
        }
        let text = match self.random.below(if depth == 0 { 9 } else { 12 }) {
            0 => "skip;".to_owned(),
            1 | 2 => {
                let target = self.pick(&["a", "b", "x", "y", "a"]);
                format!("{target} := {};", self.expression(2, false))
            }
            3 => {
                let targets = self.pick(&["a, b", "x, a", "b, y"]);
                let (one, two) = (self.expression(1, false), self.expression(1, false));
                format!("{targets} := {one}, {two} constrain {};", self.expression(2, true))
            }
            4 => format!("{}({});", self.pick(&["assume", "abortif"]), self.expression(1, false)),
            5 => format!("assert({} | *);", self.expression(2, false)),
            6 if !self.functions.is_empty() => {
                let (call, results) = self.call();
                let targets = match results {
                    0 => "",
                    1 => self.pick(&["", "a := ", "x := ", "_ := "]),
                    _ => self.pick(&["", "a, x := ", "_, b := "]),
                };
                format!("{targets}{call};")
            }
            7 if self.labels > 0 => {
                let (one, two) = (self.random.below(self.labels), self.random.below(self.labels));
                match self.random.below(3) {
                    0 => format!("goto L{one};"),
                    1 => format!("goto L{one}, L{two};"),
                    _ => format!("if * then goto L{one}; fi;"),
                }
            }
            8 if !self.atomic => {
                self.put("atomic_begin;");
                self.atomic = true;
                for _ in 0..2 {
                    let value = self.expression(1, false);
                    let target = self.pick(&["a", "b", "x"]);
                    self.put(&format!("{target} := {value};"));
                }
                self.atomic = false;
                "atomic_end;".to_owned()
            }
            9 => {
                let condition = self.expression(1, false);
                self.put(&format!("if {condition} then"));
                self.statements(depth - 1);
                if self.random.below(2) == 0 {
                    self.put("else");
                    self.statements(depth - 1);
                }
                "fi;".to_owned()
            }
            10 => {
                let condition = self.expression(1, false);
                self.put(&format!("while {condition} do"));
                self.statements(depth - 1);
                "od;".to_owned()
            }
            _ => "dead x;".to_owned(),
        };
        self.put(&text);
    }

    fn function(&mut self, head: &str, locals: &str, results: usize) {
        self.labels = 0;
        self.put(&format!("{head} begin {locals}"));
        self.statements(2);
        let values: Vec<String> = (0..results).map(|_| self.expression(1, false)).collect();
        if results > 0 || self.random.below(2) == 0 {
            self.put(&format!("return {};", values.join(", ")));
        }
        self.put("end\n");
    }
}

/// A random text; with `threads`, `main` starts two of them.
fn random_text(seed: u64, threads: bool) -> String {
    let functions = Vec::new();
    let random = Random(seed);
    let mut author = Author { random, text: String::new(), functions, labels: 0, atomic: false };
    author.put("decl a, b;\n");
    if author.random.below(4) == 0 {
        // It may call itself.
        author.functions.push(("f", 1, 1));
    }
    author.function("bool f(x)", "decl y;", 1);
    author.functions = vec![("f", 1, 1)];
    author.function("bool<2> g(x, y)", "", 2);
    author.functions.push(("g", 2, 2));
    if threads {
        author.function("void t(x)", "decl y;", 0);
        author.put("void main() begin decl x, y; a := T; start_thread t(x); b := a;");
        author.put("start_thread t(F); skip; end");
    } else {
        author.function("void main()", "decl x, y;", 0);
    }
    author.text
}

/// Asserts that two programs reach the same within two rounds; whether they could be compared.
fn same_behaviour(one: &Program, two: &Program, text: &str) -> bool {
    let label = |program: &Program, name: &str| {
        let labels = program.labels.iter().filter(|label| label.name == name);
        Target::Label(labels.map(|label| label.node).collect())
    };
    let targets = |program: &Program| {
        let names = ["L0", "L1", "L2", "L3"];
        let mut targets: Vec<Target> = names.iter().map(|name| label(program, name)).collect();
        targets.push(Target::Assertion);
        targets
    };
    let rounds = 2;
    let (Some(first), Some(second)) =
        (reached(one, &targets(one), rounds, 2_000), reached(two, &targets(two), rounds, 4_000))
    else {
        return false;
    };
    if first.cut || second.cut {
        return false;
    }
    for (left, right) in first.levels.iter().zip(&second.levels) {
        assert_eq!(left.states, right.states, "{text}\n{}", print(one).expect("printed before"));
        assert_eq!(left.reached.last(), right.reached.last(), "assertions: {text}");
        // The labels of the first program, unless they were renamed.
        for (at, reached) in left.reached.iter().enumerate().filter(|(_, reached)| **reached) {
            assert_eq!(*reached, right.reached[at], "label {at}: {text}");
        }
    }
    true
}

#[test]
fn printed_programs_behave_the_same() {
    let mut compared = 0;
    for seed in 0..400 {
        let text = random_text(seed, seed % 3 == 0);
        let original = program(&text);
        assert_eq!(validate(&original), []);
        let again = round_trip(&original).expect("it can be printed");
        assert_eq!(again.threads.len(), original.threads.len());
        compared += usize::from(same_behaviour(&original, &again, &text));
    }
    assert!(compared > 200, "{compared} programs were compared");
}

#[test]
fn every_dialect_reads_the_same_from_what_is_printed() {
    let mut differing = 0;
    for seed in 0..400 {
        let text = random_text(20_000 + seed, seed % 3 == 0);
        let read = |text: &str, dialect| {
            let options = Options { dialect: Some(dialect), starts_per_site: None };
            parse(text, &options).program
        };
        let original = program(&text);
        let printed = print(&original).expect("it can be printed");
        let boppo = read(&printed, Dialect::Boppo).expect("it is read");
        // GETAFIX's dialect starts no threads, but has the same functions.
        let functions = printed.replace("start_thread ", "");
        let (one, two) = (read(&functions, Dialect::Boppo), read(&functions, Dialect::Getafix));
        assert!(one.is_some() && one == two, "{text}\n{printed}");
        assert_eq!(boppo.threads.len(), original.threads.len());
        // The texts as they are written differ in their meaning now and then.
        let written = text.replace("start_thread ", "");
        let (one, two) = (read(&written, Dialect::Boppo), read(&written, Dialect::Getafix));
        differing += usize::from(one != two);
    }
    assert!(differing > 20, "{differing} texts mean something else in the other dialect");
}

#[test]
fn what_is_written_for_getafix_is_read_there_and_behaves_the_same() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..300 {
        let text = random_text(30_000 + seed, false);
        let mut original = program(&text);
        if seed % 2 == 0 {
            enrich(&mut original, &mut Random(seed));
        }
        let Ok(printed) = print_in(&original, Dialect::Getafix) else {
            refused += 1;
            continue;
        };
        recognise(&printed).unwrap_or_else(|error| panic!("{error}\n{text}\n{printed}"));
        let options = Options { dialect: Some(Dialect::Getafix), starts_per_site: None };
        let again = parse(&printed, &options).program.expect("it is read");
        compared += usize::from(same_behaviour(&original, &again, &text));
    }
    assert!(compared > 80 && refused < 150, "{compared} compared, {refused} refused");
    let threads = program(&random_text(0, true));
    let reason = print_in(&threads, Dialect::Getafix).expect_err("it has threads").to_string();
    assert!(reason.contains("one thread"), "{reason}");
}

/// Random expressions of any shape, over three globals.
fn random_expr(random: &mut Random, depth: usize) -> Expr {
    let global = |at: usize| Expr::Current(Variable::Global(GlobalId::from_index(at)));
    if depth == 0 || random.below(5) == 0 {
        return global(random.below(3));
    }
    let operators =
        [Operator::And, Operator::Or, Operator::Xor, Operator::Equal, Operator::Implies];
    match random.below(6) {
        5 => random_expr(random, depth - 1).not(),
        at => {
            let left = random_expr(random, depth - 1);
            left.join(operators[at], random_expr(random, depth - 1))
        }
    }
}

/// The value of an expression where the globals have the bits of a number.
fn value(expr: &Expr, bits: usize) -> bool {
    match expr {
        Expr::Current(Variable::Global(id)) => bits >> id.index() & 1 == 1,
        Expr::Not(inner) => !value(inner, bits),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (value(left, bits), value(right, bits));
            match operator {
                Operator::And => left && right,
                Operator::Or => left || right,
                Operator::Xor => left != right,
                Operator::Equal => left == right,
                Operator::Implies => !left || right,
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_reader_reads_the_expressions_of_every_printer() {
    let names = |atom: Atom, f: &mut std::fmt::Formatter<'_>| match atom {
        Atom::Variable(Variable::Global(id)) => f.write_str(["a", "b", "c"][id.index()]),
        _ => Err(std::fmt::Error),
    };
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let expr = random_expr(random, 4);
        // The program's own printer, which reports and the text form use.
        let shown = shown(&expr, Readers::All, &names).to_string();
        let text = format!("decl a, b, c; void main() begin assume({shown}); end");
        let guard = |program: &Program| {
            let update = program.updates.iter().next().expect("an assumption");
            update.guard.clone().expect("a guard")
        };
        let original = program(&text);
        let printed = print(&original).expect("it can be printed");
        for (text, which) in [(&text, "shown"), (&printed, "printed")] {
            for dialect in Dialect::ALL {
                let options = Options { dialect: Some(dialect), starts_per_site: None };
                let read = parse(text, &options).program.expect("it is read");
                let read = guard(&read);
                for bits in 0..8 {
                    let message = format!("{which} in {dialect}: {text}");
                    assert_eq!(value(&read, bits), value(&expr, bits), "{message}");
                }
            }
        }
    }
}

/// Puts updates on edges that have none, and initial values on globals.
fn enrich(program: &mut Program, random: &mut Random) {
    let edges: Vec<_> = program.edges.ids().collect();
    for id in edges {
        let edge = &program.edges[id];
        if edge.update.is_some() || edge.action == Action::Skip || random.below(3) > 0 {
            continue;
        }
        let procedure = &program.procedures[program.nodes[edge.source]];
        let mut variables: Vec<Variable> = program.globals.ids().map(Variable::Global).collect();
        variables.extend(procedure.frame.locals.ids().map(Variable::Local));
        let mut pick = || variables[random.below(variables.len())];
        let (one, two, three) = (pick(), pick(), pick());
        let guard = (random.below(2) == 0)
            .then(|| Expr::Current(one).join(Operator::Or, Expr::Current(two).not()));
        let assignments = match random.below(3) {
            0 => Vec::new(),
            _ => vec![(three, Expr::Current(one).not())],
        };
        let constraint =
            (random.below(3) == 0).then(|| Expr::Next(three).join(Operator::Or, Expr::Choice));
        let update = program.updates.push(Update { guard, assignments, constraint });
        program.edges[id].update = Some(update);
    }
}

#[test]
fn steps_that_compute_something_besides_behave_the_same() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..600 {
        let text = random_text(10_000 + seed, seed % 3 == 0);
        let mut original = program(&text);
        enrich(&mut original, &mut Random(seed));
        assert_eq!(validate(&original), []);
        match round_trip(&original) {
            Some(again) => compared += usize::from(same_behaviour(&original, &again, &text)),
            None => refused += 1,
        }
    }
    assert!(compared > 120 && refused > 50, "{compared} compared, {refused} refused");
}
