//! # Idea
//! A thread that stands for any number of copies may own globals: each copy has one of its own. Where
//! the copies are made ([`crate::copies`]), so are theirs, and each copy gets procedures that mention
//! its own.
//!
//! # Source
//! SEMANTICS, "EML beyond the core": variables of a process, one per copy.
//!
//! # Requires
//! Only procedures of the owner mention what it owns, and an array has one owner
//! ([`crate::validate`]).
//!
//! # Invariants
//! 1. What the copies own stands where the first global of their thread stood, copy by copy; all other
//!    globals keep their order.
//! 2. Elements of arrays follow each other as before.

use crate::copies::copy_name;
use crate::data::{Array, Expr, Global, NamedArray, Passing, Update, Variable};
use crate::model::{Action, Edge, GlobalId, Program, ThreadId};
use selvedge_base::IdVec;

/// What becomes of the globals where copies are made.
pub(crate) struct Owned<'p> {
    old: &'p Program,
    renamed: Renamed,
}

impl<'p> Owned<'p> {
    /// Makes what the copies of each thread own, so many of them; `None` if nothing is owned. What
    /// edges say is taken from `program`, which is to get new edges.
    pub fn new(
        old: &'p Program,
        program: &mut Program,
        count: impl Fn(ThreadId) -> u32,
    ) -> Option<Self> {
        if old.globals.iter().all(|global| global.owner.is_none()) {
            return None;
        }
        let renamed = globals(old, program, &count);
        arrays(old, program, &renamed);
        let owned = Self { old, renamed };
        for numeral in &mut program.numerals {
            numeral.bits.iter_mut().for_each(|bit| *bit = owned.global(*bit, None));
        }
        // What is not said on edges mentions nothing that is owned.
        let first = |global| owned.global(global, None);
        program.conditions.iter_mut().for_each(|expr| rename(expr, &first));
        program.updates = IdVec::new();
        program.passings = IdVec::new();
        program.returns = IdVec::new();
        Some(owned)
    }

    /// Whether each copy of a thread needs procedures of its own.
    pub fn owns(&self, thread: ThreadId) -> bool {
        self.old.globals.iter().any(|global| global.owner == Some(thread))
    }

    fn global(&self, global: GlobalId, copy: Option<u32>) -> GlobalId {
        let copies = &self.renamed[global];
        copies.get(copy.unwrap_or(0) as usize).copied().unwrap_or(copies[0])
    }

    /// An edge with what it says, as a copy says it.
    pub fn edge(&self, program: &mut Program, edge: &Edge, copy: Option<u32>) -> Edge {
        let own = |global: GlobalId| match self.old.globals[global].owner {
            Some(_) => self.global(global, copy),
            None => self.global(global, None),
        };
        let renamed = |expr: &Expr| {
            let mut expr = expr.clone();
            rename(&mut expr, &own);
            expr
        };
        let target = |variable: Variable| match variable {
            Variable::Global(global) => Variable::Global(own(global)),
            local @ Variable::Local(_) => local,
        };
        let update = edge.update.map(|id| {
            let Update { guard, assignments, constraint } = &self.old.updates[id];
            let assignments = assignments.iter().map(|(to, expr)| (target(*to), renamed(expr)));
            program.updates.push(Update {
                guard: guard.as_ref().map(renamed),
                assignments: assignments.collect(),
                constraint: constraint.as_ref().map(renamed),
            })
        });
        let passing = edge.passing.map(|id| {
            let Passing { arguments, results } = &self.old.passings[id];
            program.passings.push(Passing {
                arguments: arguments.iter().map(renamed).collect(),
                results: results.iter().map(|result| result.map(target)).collect(),
            })
        });
        let action = match edge.action {
            Action::Return(id) => {
                let values = self.old.returns[id].iter().map(renamed).collect();
                Action::Return(program.returns.push(values))
            }
            Action::Assert(id) if copy.is_some_and(|copy| copy > 0) => {
                Action::Assert(program.conditions.push(renamed(&self.old.conditions[id])))
            }
            action => action,
        };
        Edge { action, update, passing, ..edge.clone() }
    }
}

/// What each global becomes, in the order of the copies.
type Renamed = IdVec<GlobalId, Vec<GlobalId>>;

fn globals(old: &Program, program: &mut Program, count: &impl Fn(ThreadId) -> u32) -> Renamed {
    program.globals = IdVec::new();
    let mut renamed: Renamed = IdVec::filled(Vec::new(), old.globals.len());
    for (id, global) in old.globals.iter_enumerated() {
        let Some(owner) = global.owner else {
            renamed[id].push(program.globals.push(global.clone()));
            continue;
        };
        if !renamed[id].is_empty() {
            continue;
        }
        for copy in 0..count(owner) {
            let own = old.globals.iter_enumerated().filter(|(_, one)| one.owner == Some(owner));
            for (id, one) in own {
                let name = own_name(old, owner, copy, &one.name);
                let made = Global { name, owner: None, ..one.clone() };
                renamed[id].push(program.globals.push(made));
            }
        }
    }
    renamed
}

/// The name of what a copy owns: `W[1].x` for `W.x`.
fn own_name(program: &Program, owner: ThreadId, copy: u32, name: &str) -> String {
    let thread = &program.threads[owner].name;
    let inside = name.strip_prefix(thread.as_str()).and_then(|rest| rest.strip_prefix('.'));
    format!("{}.{}", copy_name(thread, copy), inside.unwrap_or(name))
}

fn arrays(old: &Program, program: &mut Program, renamed: &Renamed) {
    let mut made: Vec<(GlobalId, NamedArray)> = Vec::new();
    for NamedArray { name, array } in &old.arrays {
        let Variable::Global(first) = array.first else { continue };
        let owner = old.globals[first].owner;
        for (copy, &first) in renamed[first].iter().enumerate() {
            let name = match owner {
                Some(owner) => own_name(old, owner, copy as u32, name),
                None => name.clone(),
            };
            let array = Array { first: Variable::Global(first), ..*array };
            made.push((first, NamedArray { name, array }));
        }
    }
    made.sort_by_key(|(first, _)| *first);
    program.arrays = made.into_iter().map(|(_, array)| array).collect();
}

/// The thread that owns a global which an edge mentions.
pub(crate) fn owner(program: &Program, edge: &Edge) -> Option<ThreadId> {
    let global = |variable: Variable| match variable {
        Variable::Global(global) => program.globals.get(global).and_then(|one| one.owner),
        Variable::Local(_) => None,
    };
    let mut found = None;
    let update = edge.update.map(|id| &program.updates[id]);
    let passing = edge.passing.map(|id| &program.passings[id]);
    let targets =
        update.into_iter().flat_map(|update| &update.assignments).map(|(target, _)| *target);
    let results = passing.into_iter().flat_map(|passing| passing.results.iter().flatten().copied());
    for target in targets.chain(results) {
        found = found.or(global(target));
    }
    let guards =
        update.into_iter().flat_map(|update| update.guard.iter().chain(&update.constraint));
    let values = update.into_iter().flat_map(|update| &update.assignments).map(|(_, value)| value);
    let arguments = passing.into_iter().flat_map(|passing| &passing.arguments);
    let asserted = match edge.action {
        Action::Assert(id) => std::slice::from_ref(&program.conditions[id]),
        Action::Return(id) => &program.returns[id],
        _ => &[],
    };
    for expr in guards.chain(values).chain(arguments).chain(asserted) {
        found = found.or_else(|| owner_in(program, expr));
    }
    found
}

/// The thread that owns a global which an expression mentions.
pub(crate) fn owner_in(program: &Program, expr: &Expr) -> Option<ThreadId> {
    let mut found = None;
    expr.any(&mut |part| {
        let variable = match part {
            Expr::Current(variable) | Expr::Next(variable) => *variable,
            Expr::Element(array, _) => array.first,
            _ => return false,
        };
        if let Variable::Global(global) = variable {
            found = program.globals.get(global).and_then(|one| one.owner);
        }
        found.is_some()
    });
    found
}

fn rename(expr: &mut Expr, own: &impl Fn(GlobalId) -> GlobalId) {
    expr.change(&mut |part| match part {
        Expr::Current(Variable::Global(global)) | Expr::Next(Variable::Global(global)) => {
            *global = own(*global);
        }
        Expr::Element(Array { first: Variable::Global(first), .. }, _) => *first = own(*first),
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use crate::copies::instantiate;
    use crate::text::{parse, print};
    use crate::validate::validate;
    use selvedge_base::IdVec;

    const TEXT: &str = "program
global before : 0..3 = 0
global \"W.v\" : 0..3 = 1 of W
global \"W.a\"[2] = F of W
global behind = F
thread W copies * main main {
  procedure main locals t : 0..3 = 0 nodes 5 entry 0 exit 4 {
    0 -> 1 call f(\"W.v\") into \"W.v\" when before = 0
    1 -> 2 assert \"W.v\" = 2
    2 -> 3 skip do \"W.a[1]\" := \"W.a\"[t]
    3 -> 4 start V do behind := T
  }
  procedure f (n : 0..3) -> (0..3) nodes 2 entry 0 exit 1 {
    0 -> 1 return n + \"W.v\"
  }
}
thread V waits main main {
  procedure main nodes 2 entry 0 exit 1 {
    0 -> 1 skip when before = 1
  }
}
label here at W main 2
label there at V main 1
";

    #[test]
    fn each_copy_has_its_own() {
        let (program, problems) = parse(TEXT);
        let program = program.unwrap_or_else(|| panic!("{problems:?}"));
        assert_eq!(print(&program), TEXT);
        let two = instantiate(&program, &IdVec::filled(2, 2));
        assert_eq!(validate(&two), []);
        let expected = "program
global before : 0..3 = 0
global \"W[0].v\" : 0..3 = 1
global \"W[0].a\"[2] = F
global \"W[1].v\" : 0..3 = 1
global \"W[1].a\"[2] = F
global behind = F
thread \"W[0]\" main main {
  procedure main locals t : 0..3 = 0 nodes 5 entry 0 exit 4 {
    0 -> 1 call f(\"W[0].v\") into \"W[0].v\" when before = 0
    1 -> 2 assert \"W[0].v\" = 2
    2 -> 3 skip do \"W[0].a[1]\" := \"W[0].a\"[t]
    3 -> 4 start V do behind := T
  }
  procedure f (n : 0..3) -> (0..3) nodes 2 entry 0 exit 1 {
    0 -> 1 return n + \"W[0].v\"
  }
}
thread \"W[1]\" main main {
  procedure main locals t : 0..3 = 0 nodes 5 entry 0 exit 4 {
    0 -> 1 call f(\"W[1].v\") into \"W[1].v\" when before = 0
    1 -> 2 assert \"W[1].v\" = 2
    2 -> 3 skip do \"W[1].a[1]\" := \"W[1].a\"[t]
    3 -> 4 start V do behind := T
  }
  procedure f (n : 0..3) -> (0..3) nodes 2 entry 0 exit 1 {
    0 -> 1 return n + \"W[1].v\"
  }
}
thread V waits main main {
  procedure main nodes 2 entry 0 exit 1 {
    0 -> 1 skip when before = 1
  }
}
label here at \"W[0]\" main 2
label here at \"W[1]\" main 2
label there at V main 1
";
        assert_eq!(print(&two), expected);
        let (again, problems) = parse(expected);
        assert_eq!(again, Some(two), "{problems:?}");
    }

    #[test]
    fn only_the_owner_mentions_it() {
        let breaches = |text: &str| -> Vec<String> {
            let (program, diagnostics) = parse(text);
            assert!(program.is_none(), "{text}");
            diagnostics.iter().map(|one| one.message.clone()).collect()
        };
        let one = TEXT.replace("copies *", "copies 2");
        assert!(breaches(&one).concat().contains("there is no thread"), "{:?}", breaches(&one));
        let one = TEXT.replace("copies * ", "");
        let expected = "0:0: W.v is owned by W, which stands for no copies";
        assert_eq!(breaches(&one)[0], expected);
        let other = "thread Z main main { procedure main nodes 2 entry 0 exit 1 { \
                     0 -> 1 skip do \"W.v\" := 1 } }";
        let other = format!("{TEXT}{other}");
        assert_eq!(breaches(&other), ["0:0: what W owns is mentioned elsewhere"]);
        let spoken = format!("{TEXT}invariant \"W.v\" < 3");
        assert_eq!(breaches(&spoken), ["0:0: what W owns is mentioned elsewhere"]);
    }
}
