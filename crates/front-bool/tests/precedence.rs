//! How each dialect reads expressions without parentheses: every pair of operators, and a few more.

use selvedge_base::Id;
use selvedge_front_bool::{Dialect, Options, parse};
use selvedge_program::{Expr, Operator, Variable};
use std::fmt::Write;

const SIGNS: [&str; 6] = ["=>", "=", "!=", "^", "|", "&"];

/// An expression with all its parentheses.
fn bracketed(expr: &Expr) -> String {
    match expr {
        Expr::Current(Variable::Global(id)) => ["a", "b", "c", "d"][id.index()].to_owned(),
        Expr::Not(inner) => format!("!{}", bracketed(inner)),
        Expr::Binary(operator, left, right) => {
            let sign = match operator {
                Operator::And => "&",
                Operator::Or => "|",
                Operator::Xor => "^",
                Operator::Equal => "=",
                Operator::Implies => "=>",
                other => panic!("{other:?}"),
            };
            format!("({} {sign} {})", bracketed(left), bracketed(right))
        }
        other => format!("{other:?}"),
    }
}

/// What a dialect reads.
fn reading(text: &str, dialect: Dialect) -> String {
    let text = format!("decl a, b, c, d; void main() begin assume({text}); end");
    let options = Options { dialect: Some(dialect), starts_per_site: None };
    let parsed = parse(&text, &options);
    let program = parsed.program.unwrap_or_else(|| panic!("{text}: {:?}", parsed.diagnostics));
    let update = program.updates.iter().next().expect("an assumption");
    bracketed(update.guard.as_ref().expect("a guard"))
}

#[test]
fn both_readings() {
    let mut shown = String::new();
    let mut put = |text: &str| {
        let [boppo, getafix] = Dialect::ALL.map(|dialect| reading(text, dialect));
        let line = if boppo == getafix {
            format!("{text:<24} both    {boppo}")
        } else {
            format!("{text:<24} boppo   {boppo}\n{:<24} getafix {getafix}", "")
        };
        writeln!(shown, "{line}").expect("strings take text");
    };
    for first in SIGNS {
        for second in SIGNS {
            put(&format!("a {first} b {second} c"));
        }
    }
    for text in [
        "!a & b = !c",
        "a => b => c => d",
        "a = b => c = d",
        "a & b = c | d",
        "a ^ b | c & d",
        "a | b ^ c = d",
        "a & (b = c) | d",
    ] {
        put(text);
    }
    insta::assert_snapshot!(shown);
}
