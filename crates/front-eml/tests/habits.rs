//! What people write who come from Java or C gets one message, and whoever follows its advice has a
//! program.

use selvedge_base::Diagnostic;
use selvedge_front_eml::parse;

fn errors(text: &str) -> Vec<Diagnostic> {
    parse(text).diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn shown(one: &Diagnostic) -> String {
    format!("{}: {}; {}", one.code, one.message, one.help.as_deref().unwrap_or_default())
}

/// What is written, the code of the only message, a part of its advice, and the text that follows it.
const HABITS: &[(&str, &str, &str, &str)] = &[
    // Values.
    (
        "var : x; process P { main { x = x + 1; } }",
        "no-value",
        "`int 0..7 : x;`",
        "int 0..7 : x; process P { main { x = x + 1; } }",
    ),
    (
        "var : x; process P { main { if (x == 1) skip; } }",
        "no-value",
        "`read x;` and leave open what depends on it, as in `if (*)`",
        "var : x; process P { main { read x; if (*) skip; } }",
    ),
    (
        "var : x; process P { f { return x; } main { f(); } }",
        "no-value",
        "`read x;`",
        "var : x; process P { f { read x; return; } main { f(); } }",
    ),
    (
        "int x; process P { main { x = 1; } }",
        "missing-range",
        "`int 0..7 : x;`",
        "int 0..7 : x; process P { main { x = 1; } }",
    ),
    (
        "int count = 0; process P { main { count = 1; } }",
        "missing-range",
        "`int 0..7 : count;`",
        "int 0..7 : count = 0; process P { main { count = 1; } }",
    ),
    (
        "static int x = 0; process P { main { x = 1; } }",
        "foreign-declaration",
        "`int 0..7 : x;`",
        "int 0..7 : x = 0; process P { main { x = 1; } }",
    ),
    (
        "boolean b; process P { main { b = true; } }",
        "foreign-declaration",
        "`bool : b;`",
        "bool : b; process P { main { b = true; } }",
    ),
    (
        "std::atomic<int> x; process P { main { x = 1; } }",
        "foreign-declaration",
        "`volatile int 0..7 : x;`",
        "volatile int 0..7 : x; process P { main { x = 1; } }",
    ),
    (
        "var : x; process P { main { x++; } }",
        "foreign-operator",
        "or `read x; write x;` if it has no value",
        "var : x; process P { main { read x; write x; } }",
    ),
    (
        "int 0..7 : x; process P { main { x++; } }",
        "foreign-operator",
        "`x = x + 1;`",
        "int 0..7 : x; process P { main { x = x + 1; } }",
    ),
    (
        "int 0..7 : x; process P { main { x += 1; } }",
        "foreign-operator",
        "`x = x + ..;`",
        "int 0..7 : x; process P { main { x = x + 1; } }",
    ),
    (
        "int 0..7 : x; process P { main { x := 1; } }",
        "foreign-operator",
        "`x = ..;`",
        "int 0..7 : x; process P { main { x = 1; } }",
    ),
    (
        "int 0..7 : x; process P { main { if (x == 1 and x == 2) skip; } }",
        "foreign-operator",
        "`&&`",
        "int 0..7 : x; process P { main { if (x == 1 && x == 2) skip; } }",
    ),
    (
        "process P { main { while (1) skip; } }",
        "type-mismatch",
        "`true`",
        "process P { main { while (true) skip; } }",
    ),
    (
        "thread : t; process P { main { t = null; } }",
        "unknown-variable",
        "`none`",
        "thread : t; process P { main { t = none; } }",
    ),
    // Functions.
    (
        "var : x; process P { void main() { read x; } }",
        "foreign-declaration",
        "`main { .. }`",
        "var : x; process P { main { read x; } }",
    ),
    (
        "var : x; process P { public static void main(String[] args) { read x; } }",
        "foreign-declaration",
        "`main { .. }`",
        "var : x; process P { main { read x; } }",
    ),
    (
        "int 0..7 : x; process P { int f() { return x; } main { x = f(); } }",
        "foreign-declaration",
        "`f() : int 0..7 { .. }`",
        "int 0..7 : x; process P { f() : int 0..7 { return x; } main { x = f(); } }",
    ),
    (
        "lock : l; var : x; process P { synchronized void f() { read x; } main { f(); } }",
        "foreign-declaration",
        "`synchronized(l) f { .. }`",
        "lock : l; var : x; process P { synchronized(l) f { read x; } main { f(); } }",
    ),
    (
        "var : x; void f() { read x; } process P { main { skip; } }",
        "function-outside-process",
        "`f { .. }` into a process",
        "var : x; process P { f { read x; } main { skip; } }",
    ),
    // Locks.
    (
        "lock : l; var : x; process P { main { synchronized (this) { read x; } } }",
        "unknown-lock",
        "declare `lock : l;` and write `synchronized(l)`",
        "lock : l; var : x; process P { main { synchronized(l) { read x; } } }",
    ),
    (
        "lock l; process P { main { synchronized(l) { } } }",
        "missing-colon",
        "`lock : l;`",
        "lock : l; process P { main { synchronized(l) { } } }",
    ),
    (
        "std::mutex m; process P { main { synchronized(m) { } } }",
        "foreign-declaration",
        "`mutex : m;`",
        "mutex : m; process P { main { synchronized(m) { } } }",
    ),
    (
        "lock : l; process P { main { l.lock(); release(l); } }",
        "foreign-statement",
        "`acquire(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; process P { main { acquire(l); l.unlock(); } }",
        "foreign-statement",
        "`release(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; process P { main { lock(l); release(l); } }",
        "foreign-statement",
        "`acquire(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "mutex : m; var : x; process P { main { std::lock_guard<std::mutex> g(m); read x; } }",
        "foreign-statement",
        "`synchronized(m) { .. }`",
        "mutex : m; var : x; process P { main { synchronized(m) { read x; } } }",
    ),
    (
        "mutex : m; var : x; process P { main { std::scoped_lock lock(m); read x; } }",
        "foreign-statement",
        "`synchronized(m) { .. }`",
        "mutex : m; var : x; process P { main { synchronized(m) { read x; } } }",
    ),
    (
        "lock : l; process P { main { synchronized(l) { l.wait(); } } }",
        "foreign-statement",
        "`wait(l);`",
        "lock : l; process P { main { synchronized(l) { wait(l); } } }",
    ),
    (
        "lock : l; process P { main { synchronized(l) { l.notifyAll(); } } }",
        "foreign-statement",
        "`notifyAll(l);`",
        "lock : l; process P { main { synchronized(l) { notifyAll(l); } } }",
    ),
    // Threads.
    (
        "process T waits { main { skip; } } process P { main { new Thread(r).start(); } }",
        "foreign-statement",
        "`start T;`",
        "process T waits { main { skip; } } process P { main { start T; } }",
    ),
    (
        "process T waits { main { skip; } } process P { main { Thread t = new Thread(r); } }",
        "foreign-declaration",
        "`start T;`",
        "process T waits { main { skip; } } process P { main { start T; } }",
    ),
    (
        "process T waits { main { skip; } } process P { main { std::thread t(f); } }",
        "foreign-statement",
        "`start T;`",
        "process T waits { main { skip; } } process P { main { start T; } }",
    ),
    (
        "thread P { main { skip; } }",
        "foreign-declaration",
        "`process P { .. }`",
        "process P { main { skip; } }",
    ),
    (
        "process P { main { Thread.sleep(10); } }",
        "foreign-statement",
        "remove it",
        "process P { main { } }",
    ),
    // Statements.
    (
        "int 0..7 : x; process P { main { L: x = 1; } }",
        "unknown-type",
        "a label is written `label L: ..`",
        "int 0..7 : x; process P { main { label L: x = 1; } }",
    ),
    (
        "var : x; process P { main { L: read x; } }",
        "missing-word",
        "`label L: ..`",
        "var : x; process P { main { label L: read x; } }",
    ),
    (
        "int 0..7 : x; process P { main { for (int i = 0; i < 3; i++) { x = 1; } } }",
        "foreign-statement",
        "`i = 0; while (i < n) { .. i = i + 1; }`",
        "int 0..7 : x; process P { main { int 0..3 : i; i = 0; while (i < 3) { x = 1; i = i + 1; } } }",
    ),
    (
        "int 0..7 : x; process P { main { for (Item i : list) { x = 1; } } }",
        "foreign-statement",
        "while",
        "int 0..7 : x; process P { main { while (*) { x = 1; } } }",
    ),
    (
        "int 0..7 : x; process P { main { if (x == 0) { x = 1; } elif (x == 1) { x = 2; } } }",
        "foreign-statement",
        "`else if (..)`",
        "int 0..7 : x; process P { main { if (x == 0) { x = 1; } else if (x == 1) { x = 2; } } }",
    ),
    (
        "int 0..7 : x; process P { main { switch (x) { case 1: x = 2; break; } } }",
        "foreign-statement",
        "`if (x == 1) { .. } else if (x == 2) { .. }`",
        "int 0..7 : x; process P { main { if (x == 1) { x = 2; } } }",
    ),
    (
        "var : x; process P { main { try { read x; } catch (Exception e) { write x; } finally { read x; } } }",
        "foreign-statement",
        "write the statements alone",
        "var : x; process P { main { read x; } }",
    ),
    (
        "process P { main { throw new Error(); } }",
        "foreign-statement",
        "`assert(false);`",
        "process P { main { assert(false); } }",
    ),
    (
        "process P { main { printf(\"hello\"); } }",
        "foreign-statement",
        "remove the statement",
        "process P { main { } }",
    ),
    (
        "int 0..7 : x; process P { main { this.x = 1; } }",
        "foreign-statement",
        "write `x` alone",
        "int 0..7 : x; process P { main { x = 1; } }",
    ),
    // Channels of other languages.
    (
        "chan : c; process P { main { c?x; } } process Q { main { send c; } }",
        "foreign-statement",
        "`recv c;`",
        "chan : c; process P { main { recv c; } } process Q { main { send c; } }",
    ),
    (
        "chan : c; process P { main { c!1; } } process Q { main { recv c; } }",
        "foreign-statement",
        "`send c;`",
        "chan : c; process P { main { send c; } } process Q { main { recv c; } }",
    ),
    (
        "chan : c; process P { main { c <- 1; } } process Q { main { recv c; } }",
        "foreign-statement",
        "`send c;`",
        "chan : c; process P { main { send c; } } process Q { main { recv c; } }",
    ),
    (
        "chan : c; process P { main { receive c; } } process Q { main { send c; } }",
        "foreign-statement",
        "`recv c;`",
        "chan : c; process P { main { recv c; } } process Q { main { send c; } }",
    ),
    (
        "chan : c; process P { main { c.send(1); } } process Q { main { recv c; } }",
        "foreign-statement",
        "`send c;`",
        "chan : c; process P { main { send c; } } process Q { main { recv c; } }",
    ),
    (
        "chan : c; int 0..3 : x; process P { main { x = recv c; } } process Q { main { send c; } }",
        "foreign-statement",
        "`recv c;`",
        "chan : c; int 0..3 : x; process P { main { recv c; } } process Q { main { x = 1; send c; } }",
    ),
    (
        "chan : c; int 0..3 : x; process P { main { recv c x; } } process Q { main { send c; } }",
        "channel-form",
        "behind `recv`",
        "chan : c; int 0..3 : x; process P { main { recv c; } } process Q { main { x = 1; send c; } }",
    ),
    // Waiting for a condition.
    (
        "int 0..3 : x; process P { main { await (x == 0); } }",
        "unknown-function",
        "`assume(..);`",
        "int 0..3 : x; process P { main { assume(x == 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { await x == 0; } }",
        "foreign-statement",
        "`assume(..);`",
        "int 0..3 : x; process P { main { assume(x == 0); } }",
    ),
    (
        "lock : l; process P { main { synchronized(l) { await(l); } } }",
        "unknown-function",
        "`wait(l);`",
        "lock : l; process P { main { synchronized(l) { wait(l); } } }",
    ),
    (
        "int 0..3 : x; process P { main { wait until (x == 0); } }",
        "missing-parenthesis",
        "`assume(..);`",
        "int 0..3 : x; process P { main { assume(x == 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { wait(x == 0); } }",
        "missing-parenthesis",
        "`assume(..);`",
        "int 0..3 : x; process P { main { assume(x == 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { when (x == 0) x = 1; } }",
        "foreign-statement",
        "`assume(..);`",
        "int 0..3 : x; process P { main { atomic { assume(x == 0); x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { x == 0; x = 1; } }",
        "foreign-statement",
        "`assume(..);`",
        "int 0..3 : x; process P { main { assume(x == 0); x = 1; } }",
    ),
    (
        "int 0..3 : x; process P { main { atomic { (x == 0) -> x = 1; } } }",
        "foreign-statement",
        "`assume(..);`",
        "int 0..3 : x; process P { main { atomic { assume(x == 0); x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { assert x == 0; } }",
        "missing-parenthesis",
        "`assert(..);`",
        "int 0..3 : x; process P { main { assert(x == 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { assert(x == 0, \"zero\"); } }",
        "missing-parenthesis",
        "one condition",
        "int 0..3 : x; process P { main { assert(x == 0); } }",
    ),
    // Promela.
    (
        "int 0..3 : x; process P { main { if :: x == 0 -> x = 1; :: else -> skip; fi; x = 2; } }",
        "foreign-statement",
        "`if (..) { .. } else if (..) { .. }`",
        "int 0..3 : x; process P { main { if (x == 0) { x = 1; } else { skip; } x = 2; } }",
    ),
    (
        "int 0..3 : x; process P { main { do :: x = 1 :: x == 2 -> break od; x = 2; } }",
        "foreign-statement",
        "`while (*) { .. }`",
        "int 0..3 : x; process P { main { while (*) { x = 1; } x = 2; } }",
    ),
    (
        "int 0..3 : x; process P { main { d_step { x = 1; } } }",
        "foreign-statement",
        "`atomic { .. }`",
        "int 0..3 : x; process P { main { atomic { x = 1; } } }",
    ),
    (
        "process T waits { main { skip; } } process P { main { run T(); } }",
        "foreign-statement",
        "`start T;`",
        "process T waits { main { skip; } } process P { main { start T; } }",
    ),
    (
        "int 0..3 : x; process P { main { select (x : 0..3); } }",
        "foreign-statement",
        "`x = choose(0..3);`",
        "int 0..3 : x; process P { main { x = choose(0..3); } }",
    ),
    (
        "bit b; process P { main { b = true; } }",
        "foreign-declaration",
        "`bool : b;`",
        "bool : b; process P { main { b = true; } }",
    ),
    (
        "active proctype P() { skip }",
        "foreign-declaration",
        "`process P { main { .. } }`",
        "process P { main { skip; } }",
    ),
    (
        "semaphore s; process P { main { s = 1; } }",
        "foreign-declaration",
        "`atomic { assume(s > 0); s = s - 1; }`",
        "int 0..7 : s; process P { main { atomic { assume(s > 0); s = s - 1; } s = s + 1; } }",
    ),
    // Pascal, Ada and others with words for braces.
    (
        "int 0..3 : x; process P { main { if x == 1 then x = 2; } }",
        "missing-parenthesis",
        "`if (..)`",
        "int 0..3 : x; process P { main { if (x == 1) x = 2; } }",
    ),
    (
        "int 0..3 : x; process P { main { if (x == 1) then { x = 2; } else { x = 3; } } }",
        "foreign-statement",
        "without `then`",
        "int 0..3 : x; process P { main { if (x == 1) { x = 2; } else { x = 3; } } }",
    ),
    (
        "int 0..3 : x; process P { main { while x == 0 { x = 1; } } }",
        "missing-parenthesis",
        "`while (..)`",
        "int 0..3 : x; process P { main { while (x == 0) { x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { while (x == 0) do x = 1; } }",
        "foreign-statement",
        "without `do`",
        "int 0..3 : x; process P { main { while (x == 0) x = 1; } }",
    ),
    (
        "int 0..3 : x; process P { main { repeat x = 1; } }",
        "foreign-statement",
        "before `while (..) { .. }`",
        "int 0..3 : x; process P { main { x = 1; while (x != 1) { x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { x = 1; end } }",
        "foreign-statement",
        "`}`",
        "int 0..3 : x; process P { main { x = 1; } }",
    ),
    (
        "int 0..3 : x; process P { main { loop { x = 1; } } }",
        "foreign-statement",
        "`while (true) { .. }`",
        "int 0..3 : x; process P { main { while (true) { x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { for i := 1 to 3 do x = 1; } }",
        "foreign-statement",
        "while",
        "int 0..3 : x; process P { main { while (*) { x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { for (i : 0..3) { x = 1; } } }",
        "foreign-statement",
        "while",
        "int 0..3 : x; process P { main { while (*) { x = 1; } } }",
    ),
    (
        "int 0..3 : x; process P { main { for i in 0..3 { x = 1; } } }",
        "foreign-statement",
        "while",
        "int 0..3 : x; process P { main { while (*) { x = 1; } } }",
    ),
    (
        "process P { main { pass; } }",
        "foreign-statement",
        "`skip;`",
        "process P { main { skip; } }",
    ),
    ("process P { main { yield; } }", "foreign-statement", "remove it", "process P { main { } }"),
    (
        "process P { f { skip; } main { call f(); } }",
        "foreign-statement",
        "`f();`",
        "process P { f { skip; } main { f(); } }",
    ),
    (
        "int 0..3 : x; process P { main { y : int 0..3; x = 1; } }",
        "foreign-declaration",
        "the type stands before the name",
        "int 0..3 : x; process P { main { int 0..3 : y; x = 1; } }",
    ),
    (
        "int 0..3 : x, y; process P { main { x, y = 1, 2; } }",
        "foreign-statement",
        "one assignment for each",
        "int 0..3 : x, y; process P { main { atomic { x = 1; y = 2; } } }",
    ),
    // Free choices.
    (
        "int 0..3 : x; process P { main { havoc x; } }",
        "foreign-statement",
        "`x = *;`",
        "int 0..3 : x; process P { main { x = *; } }",
    ),
    (
        "int 0..3 : x; process P { main { x = nondet(); } }",
        "unknown-function",
        "`*`",
        "int 0..3 : x; process P { main { x = *; } }",
    ),
    (
        "int 0..3 : x; process P { main { x = __VERIFIER_nondet_int(); } }",
        "unknown-function",
        "`*`",
        "int 0..3 : x; process P { main { x = *; } }",
    ),
    (
        "int 0..3 : x; process P { main { x = 0..3; } }",
        "foreign-operator",
        "`choose(0..3)`",
        "int 0..3 : x; process P { main { x = choose(0..3); } }",
    ),
    (
        "int 0..3 : x; process P { main { x = {0, 1}; } }",
        "missing-expression",
        "`choose(0..3)`",
        "int 0..3 : x; process P { main { x = choose(0..1); } }",
    ),
    (
        "int 0..3 : x; process P { main { x = ?; } }",
        "foreign-operator",
        "`*`",
        "int 0..3 : x; process P { main { x = *; } }",
    ),
    (
        "int 0..3 : x; process P { main { either { x = 1; } or { x = 2; } } }",
        "foreign-statement",
        "`if (*) { .. } else { .. }`",
        "int 0..3 : x; process P { main { if (*) { x = 1; } else { x = 2; } } }",
    ),
    // Signs and words of other languages in expressions.
    (
        "int 0..3 : x; process P { main { assume(x <> 0); } }",
        "foreign-operator",
        "`!=`",
        "int 0..3 : x; process P { main { assume(x != 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x # 0); } }",
        "foreign-operator",
        "`!=`",
        "int 0..3 : x; process P { main { assume(x != 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x /= 0); } }",
        "foreign-operator",
        "`!=`",
        "int 0..3 : x; process P { main { assume(x != 0); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x =< 2); } }",
        "foreign-operator",
        "`<=`",
        "int 0..3 : x; process P { main { assume(x <= 2); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x === 2); } }",
        "foreign-operator",
        "`==`",
        "int 0..3 : x; process P { main { assume(x == 2); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x == 2 /\\ x == 1); } }",
        "foreign-operator",
        "`&&`",
        "int 0..3 : x; process P { main { assume(x == 2 && x == 1); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(x == 2 \\/ x == 1); } }",
        "foreign-operator",
        "`||`",
        "int 0..3 : x; process P { main { assume(x == 2 || x == 1); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(~(x == 2)); } }",
        "foreign-operator",
        "`!`",
        "int 0..3 : x; process P { main { assume(!(x == 2)); } }",
    ),
    (
        "int 0..3 : x; process P { main { assume(not (x == 2)); } }",
        "foreign-operator",
        "`!`",
        "int 0..3 : x; process P { main { assume(!(x == 2)); } }",
    ),
    (
        "int 0..3 : x; process P { main { x = x mod 2; } }",
        "foreign-operator",
        "`%`",
        "int 0..3 : x; process P { main { x = x % 2; } }",
    ),
    (
        "int 0..3 : x; process P { main { x = x div 2; } }",
        "foreign-operator",
        "`/`",
        "int 0..3 : x; process P { main { x = x / 2; } }",
    ),
    (
        "int 3..0 : x; process P { main { x = 1; } }",
        "empty-range",
        "`0..3`",
        "int 0..3 : x; process P { main { x = 1; } }",
    ),
    (
        "int mod 0 : x; process P { main { x = 1; } }",
        "empty-range",
        "`int mod 8`",
        "int mod 8 : x; process P { main { x = 1; } }",
    ),
    (
        "int 0..3 x; process P { main { x = 1; } }",
        "missing-colon",
        "`int 0..3 : x;`",
        "int 0..3 : x; process P { main { x = 1; } }",
    ),
    (
        "bool b; process P { main { b = true; } }",
        "missing-colon",
        "`bool : b;`",
        "bool : b; process P { main { b = true; } }",
    ),
    // Locks.
    (
        "lock : l; process P { main { acquire l; release(l); } }",
        "missing-parenthesis",
        "`acquire(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; process P { main { lock l; release(l); } }",
        "foreign-statement",
        "`acquire(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; process P { main { acquire(l); unlock l; } }",
        "foreign-statement",
        "`release(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; process P { main { P(l); release(l); } }",
        "unknown-function",
        "`acquire(l);`",
        "lock : l; process P { main { acquire(l); release(l); } }",
    ),
    (
        "lock : l; var : x; process P { main { synchronized l { read x; } } }",
        "missing-parenthesis",
        "`synchronized(l) { .. }`",
        "lock : l; var : x; process P { main { synchronized(l) { read x; } } }",
    ),
    (
        "lock : l; var : x; process P { main { synchronized { read x; } } }",
        "missing-parenthesis",
        "`synchronized(l) { .. }`",
        "lock : l; var : x; process P { main { synchronized(l) { read x; } } }",
    ),
    (
        "lock : l; var : x; process P { main { with l { read x; } } }",
        "foreign-statement",
        "`synchronized(l) { .. }`",
        "lock : l; var : x; process P { main { synchronized(l) { read x; } } }",
    ),
    (
        "lock : l; var : x; process P { main { lock (l) { read x; } } }",
        "foreign-statement",
        "`synchronized(l) { .. }`",
        "lock : l; var : x; process P { main { synchronized(l) { read x; } } }",
    ),
    (
        "lock : l; process P { main { synchronized(l) { notify_all(l); } } }",
        "unknown-function",
        "`notifyAll(l);`",
        "lock : l; process P { main { synchronized(l) { notifyAll(l); } } }",
    ),
    (
        "lock : l; int 0..3 : x; process P { main { synchronized(l) { wait(l, x == 0); } } }",
        "missing-parenthesis",
        "`while (..) wait(l);`",
        "lock : l; int 0..3 : x; process P { main { synchronized(l) { while (x != 0) wait(l); } } }",
    ),
    // Parentheses.
    (
        "var : x; process P { main { read(x); } }",
        "missing-name",
        "`read x;`",
        "var : x; process P { main { read x; } }",
    ),
    (
        "process T waits { main { skip; } } process P { main { start T; join T(); } }",
        "missing-semicolon",
        "`join T;`",
        "process T waits { main { skip; } } process P { main { start T; join T; } }",
    ),
    // Files.
    (
        "#include <thread>\nvar : x; process P { main { read x; } }",
        "foreign-declaration",
        "remove it",
        "var : x; process P { main { read x; } }",
    ),
    (
        "#define N 3\nprocess P { main { skip; } }",
        "foreign-declaration",
        "`const N = 3;`",
        "const N = 3; process P { main { skip; } }",
    ),
    (
        "import java.util.*;\nvar : x; process P { main { read x; } }",
        "foreign-declaration",
        "remove it",
        "var : x; process P { main { read x; } }",
    ),
    (
        "public class Counter { int count; void add() { count++; } } process P { main { skip; } }",
        "foreign-declaration",
        "`process Counter { main { .. } }`",
        "process Counter { main { skip; } }",
    ),
];

#[test]
fn every_habit_gets_one_message_and_its_advice_works() {
    let mut wrong = Vec::new();
    for (text, code, advice, followed) in HABITS {
        let said: Vec<String> = errors(text).iter().map(shown).collect();
        let only = matches!(&said[..], [one] if one.starts_with(code) && one.contains(advice));
        let left: Vec<String> = errors(followed).iter().map(shown).collect();
        if !only || !left.is_empty() {
            wrong.push(format!("{text}\n  {}\n  {}", said.join("\n  "), left.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What looks like a habit and is EML.
#[test]
fn what_is_right_is_no_habit() {
    for text in [
        "var : x; process P { main { atomic { read x; } while (true) { read x; } } }",
        "int 0..7 : x; process P { main { if (x == 1 && x != 2) x = 0; else if (x == 2) x = 1; } }",
        "process P { try { skip; } catch { skip; } main { try(); catch(); } }",
        "process P { void { skip; } static { skip; } main { void(); static(); } }",
        "enum Thread { New, Old }; Thread : t; process P { Thread : u; main { t = New; u = t; } }",
        "int 0..7 : std; process P { main { std = 1; } }",
        "process P { call { skip; } pass { skip; } end { skip; } main { call(); pass(); end(); } }",
        "process P { await(int 0..7 : a) { skip; } not(bool : b) : bool { return b; } \
         main { bool : t; await(1); t = not(true); } }",
        "int 0..7 : mod, run; process P { main { mod = run; run = mod / 2 * mod; } }",
        "process P { switch(int 0..7 : a) { skip; } main { switch(1); } }",
    ] {
        let said: Vec<String> = errors(text).iter().map(shown).collect();
        assert!(said.is_empty(), "{text}: {said:?}");
    }
}
