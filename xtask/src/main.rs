//! Selvedge's own tooling: `cargo xtask <task>`.

mod bench;
mod corpus;
mod differential;
mod fuzz;
mod layers;
mod limits;
mod lines;
mod names;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

tasks:
  layers                     compare the edges between crates with the table in xtask/src/layers.rs
  names                      compare the public names of all crates, and those of the glossary
  lines                      write the table of lines in ARCHITECTURE.md anew
  corpus [PROMELA-FOLDER]    write the generated files of corpus/bp, and their twins for SPIN
  limits [PROGRAM]           run every command on every model with limits, and see that these hold
  differential [NAME] [--programs N] [--seed N]
                             run engines against each other and against exhaustive search on random
                             programs (default 3000), all of it or one part; `differential help`
                             lists the parts
  fuzz [NAME] [SECONDS]      run the fuzz targets, or one of them, for so many seconds each (default
                             600), with the stable compiler
  bench against PROGRAM [FILE..]
                             compare an older program with this one: answers, instructions, times;
                             files are asked about with `reach`, beside what is always asked
  bench atomicity [--quick]  print the benchmark table: models, growth, explicit against symbolic
  bench copies [--quick]     print the table of the Bluetooth driver with 2 to 32 interchangeable adders
  bench cpds [--quick]       print the table of lock histories against communicating pushdown systems
  bench java [--quick]       print the table of programs in Java: tests, classes of the JDK, many classes
  bench nwa [--quick]        print what nested-word automata and merging functions cost
  bench pds [--quick]        print the benchmark table of the pushdown library
  bench reach [--quick]      print the benchmark table of the context-bounded engines
  bench scale [--quick]      print the table of searches by one worker and more, by processes and by SPIN,
                             and what of it may not cost more than something else
  bench temporal [--quick]   print what temporal formulas cost, beside races
  bench transactions [--quick]
                             print the table of the search of states, beside SPIN: states, bytes, times
";

/// How long a fuzz target runs.
const FUZZ_SECONDS: u64 = 600;

/// Programs of each shape in a large differential run.
const PROGRAMS: u64 = 3000;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["layers"] => layers::check(),
        ["names"] => names::check(),
        ["limits"] => limits::run(None),
        ["limits", program] => limits::run(Some(program)),
        ["differential", "help"] => Ok(differential::names()),
        ["differential", rest @ ..] => differential(rest),
        ["fuzz"] => fuzz::run(None, FUZZ_SECONDS),
        ["fuzz", name] => fuzz::run(Some(name), FUZZ_SECONDS),
        ["fuzz", name, seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::run(Some(name), seconds),
            Err(_) => Err(format!("`{seconds}` is not a number of seconds\n\n{USAGE}")),
        },
        ["lines"] => lines::write(),
        ["corpus"] => corpus::write(None),
        ["corpus", folder] => corpus::write(Some(folder)),
        ["bench", "against", older, files @ ..] => bench::against::run(older, files),
        ["bench", suite, rest @ ..] => bench::run(suite, rest),
        // One case in a process of its own, so that its peak memory can be told.
        ["bench-case", suite, name, rest @ ..] => bench::run_case(suite, name, rest),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(output) => {
            print!("{output}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// A comparison by its words: a name, and numbers of programs and of the first seed.
fn differential(words: &[&str]) -> Result<String, String> {
    let (mut name, mut programs, mut seed) = (None, PROGRAMS, None);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut number = || {
            let text = words.next().copied().unwrap_or_default();
            text.parse().map_err(|_| format!("`{word}` needs a number, not `{text}`\n\n{USAGE}"))
        };
        match word {
            "--programs" => programs = number()?,
            "--seed" => seed = Some(number()?),
            _ => match word.parse() {
                Ok(count) => programs = count,
                Err(_) if name.is_none() => name = Some(word),
                Err(_) => return Err(format!("`{word}` is not a number of programs\n\n{USAGE}")),
            },
        }
    }
    differential::run(name, programs, seed)
}
