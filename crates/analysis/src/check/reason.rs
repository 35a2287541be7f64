//! # Idea
//! Why it is a mistake, in one sentence about the threads and locations at hand. A conflict between
//! two units orders them one way; the pattern orders them both ways, so no serial execution gives the
//! same result.

use selvedge_program::pattern::Variable;
use selvedge_program::{
    Access, AccessKind, Meeting, PatternQuery, Program, StepKind, Trace, UnitRole,
};

/// Why a pattern is a mistake.
pub fn atomicity(program: &Program, query: &PatternQuery) -> String {
    let a = &program.threads[query.unit_thread].name;
    let b = &program.threads[query.other_thread].name;
    let x = &program.locations[query.locations[0]].name;
    let accesses = query.pattern.accesses;
    if accesses.len() == 3 {
        return match query.pattern.number {
            1 => format!(
                "{b} writes `{x}` between {a}'s read and its write of `{x}`, so {a} overwrites {b}'s \
                 update with a value computed from the old one"
            ),
            2 => format!(
                "{b} writes `{x}` between {a}'s two reads of it, so {a} sees two values of `{x}` in \
                 one unit of work"
            ),
            3 => format!(
                "{b} reads `{x}` between {a}'s two writes of it, so {b} sees a value that {a} never \
                 meant to publish"
            ),
            4 => format!(
                "{b} writes `{x}` between {a}'s write and its read of `{x}`, so {a} does not read \
                 back what it wrote"
            ),
            _ => format!(
                "{b} writes `{x}` between {a}'s two writes of it, so {b}'s write is seen by nobody \
                 that sees the units in order"
            ),
        };
    }
    let kinds = |role: UnitRole| {
        let mut own = accesses.iter().filter(move |access| access.role == role);
        (own.next().map(|access| access.kind), own.next().map(|access| access.kind))
    };
    let middle = between(program, query);
    match (kinds(UnitRole::Unit), kinds(UnitRole::Other)) {
        ((Some(AccessKind::Read), Some(AccessKind::Read)), _) => {
            format!("{middle}, so {a} sees half of {b}'s update")
        }
        (_, (Some(AccessKind::Read), Some(AccessKind::Read))) => {
            format!("{middle}, so {b} sees half of {a}'s update")
        }
        (
            (Some(AccessKind::Write), Some(AccessKind::Write)),
            (Some(AccessKind::Write), Some(AccessKind::Write)),
        ) => {
            let y = &program.locations[query.locations[1]].name;
            format!("{middle}, so `{x}` and `{y}` end up with values of different units of work")
        }
        _ => {
            let y = &program.locations[query.locations[1]].name;
            format!(
                "{middle}: {} makes {} come first, {} makes {} come first, so no order of the two \
                 units gives the same result",
                quoted(first_conflict(query, x, y)),
                a,
                quoted(second_conflict(query, x, y)),
                b,
            )
        }
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// The location over which `u` precedes `u'`.
fn first_conflict<'a>(query: &PatternQuery, x: &'a str, y: &'a str) -> &'a str {
    let accesses = query.pattern.accesses;
    let precedes = |variable: Variable| {
        let position = |role: UnitRole| {
            accesses.iter().position(|access| access.role == role && access.variable == variable)
        };
        position(UnitRole::Unit) < position(UnitRole::Other)
    };
    if precedes(Variable::X) { x } else { y }
}

/// The location over which `u'` precedes `u`.
fn second_conflict<'a>(query: &PatternQuery, x: &'a str, y: &'a str) -> &'a str {
    if std::ptr::eq(first_conflict(query, x, y), x) { y } else { x }
}

/// "T2 writes `data` and `count` between T1's read of `count` and its read of `data`".
fn between(program: &Program, query: &PatternQuery) -> String {
    let accesses = query.pattern.accesses;
    let name = |access: &Access| {
        let location = match access.variable {
            Variable::X => query.locations[0],
            Variable::Y => query.locations[1],
        };
        format!("`{}`", program.locations[location].name)
    };
    let noun = |access: &Access| match access.kind {
        AccessKind::Read => format!("read of {}", name(access)),
        AccessKind::Write => format!("write of {}", name(access)),
    };
    let verb = |access: &Access| match access.kind {
        AccessKind::Read => format!("reads {}", name(access)),
        AccessKind::Write => format!("writes {}", name(access)),
    };
    let a = &program.threads[query.unit_thread].name;
    let b = &program.threads[query.other_thread].name;
    let own: Vec<usize> =
        (0..accesses.len()).filter(|&at| accesses[at].role == UnitRole::Unit).collect();
    let [first, last] = own[..] else { return String::new() };
    let inside: Vec<String> = accesses[first + 1..last].iter().map(verb).collect();
    let after: Vec<String> = accesses[last + 1..].iter().map(verb).collect();
    let then =
        if after.is_empty() { String::new() } else { format!(" and then {}", after.join(" and ")) };
    format!(
        "{b} {} between {a}'s {} and its {}{then}",
        inside.join(" and "),
        noun(&accesses[first]),
        noun(&accesses[last])
    )
}

/// Why a race or a deadlock is a mistake.
pub fn meeting(program: &Program, meeting: &Meeting, trace: &Trace) -> String {
    match meeting {
        Meeting::Race(race) => {
            let verbs: Vec<String> = trace
                .next
                .iter()
                .map(|step| {
                    let verb = match step.kind {
                        StepKind::Write(_) => "write",
                        _ => "read",
                    };
                    format!("{} can {verb}", program.threads[step.thread].name)
                })
                .collect();
            let location = &program.locations[race.location].name;
            format!(
                "{} `{location}` at the same time: no lock is held by both",
                verbs.join(" and ")
            )
        }
        Meeting::Deadlock(deadlock) => {
            let waits: Vec<String> = deadlock
                .waits
                .iter()
                .map(|wait| {
                    format!(
                        "{} holds `{}` and waits for `{}`",
                        program.threads[wait.thread].name,
                        program.locks[wait.holds].name,
                        program.locks[wait.wants].name
                    )
                })
                .collect();
            format!("{}: nobody can go on", waits.join(", "))
        }
    }
}
