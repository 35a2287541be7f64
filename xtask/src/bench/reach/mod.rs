//! # Idea
//! The context-bounded engines side by side, and beside other tools: the experiments of paper 001
//! §7 with models of our own, SPIN on the same models in its own language, and the pushdown systems
//! for which figures of CUBA are on record.
//!
//! # Source
//! Paper 001 Fig. 6 (threads and rounds on a driver), Fig. 7 (a tree), Fig. 8 (BEEM).

mod contrast;
mod engine;
pub mod spin;

use super::{Case, Measurement};
use selvedge_analysis::EngineKind;
use selvedge_program::{Measure, Program, Target};
use selvedge_testkit::models::bluetooth::{self, bluetooth};
use selvedge_testkit::models::boolean::{self, Dialect};
use selvedge_testkit::models::machine::Machine;
use selvedge_testkit::models::tree::{self, Size, tree};
use selvedge_testkit::models::{buffers, exclusion, promela};
use spin::Search;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much memory a case may use.
const LIMIT_MIB: u32 = 6000;

/// How long a case may take.
fn limit(quick: bool) -> Duration {
    Duration::from_secs(if quick { 5 } else { 15 })
}

/// What the models are asked.
const ASSERTIONS: Option<&Target> = Some(&Target::Assertion);

const ENGINES: [EngineKind; 3] = [EngineKind::Lazy, EngineKind::Eager, EngineKind::Explicit];

/// The cases of this suite.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    driver(&mut cases, quick);
    trees(&mut cases, quick);
    beem(&mut cases, quick);
    pushdown(&mut cases, quick);
    lazy_against_eager(&mut cases, quick);
    cases
}

/// What is left out on this machine.
pub fn notes() -> Vec<String> {
    let mut notes = Vec::new();
    if !spin::installed() {
        notes.push("spin or gcc is not installed: the rows of SPIN are left out".to_owned());
    }
    if !benchmarks().is_dir() {
        notes.push(format!(
            "{} is not there: the rows of CUBA and of the BEEM files are left out",
            benchmarks().display()
        ));
    }
    notes
}

/// Inputs of others, beside the workspace.
fn benchmarks() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/benchmarks")
}

/// A text of a program, made when the case runs.
type Text = Box<dyn Fn() -> String>;

fn push(
    cases: &mut Vec<Case>,
    place: (&'static str, String),
    engine: EngineKind,
    rounds: u32,
    quick: bool,
    text: Text,
) {
    let (section, name) = place;
    cases.push(Case {
        section,
        name,
        variant: engine.name(),
        grows: true,
        run: Box::new(move || {
            let program = parse(&text())?;
            engine::measure(&program, ASSERTIONS, engine, (Measure::Rounds, rounds), limit(quick))
        }),
    });
}

/// The program of a text in which `main` sets every global before it starts threads. The globals
/// start at false: with any values the shared states before that would be all that there are, and
/// their number would say nothing.
fn parse(text: &str) -> Result<Program, String> {
    let parsed = selvedge_front_bool::parse(text, &selvedge_front_bool::Options::default());
    let mut program = parsed.program.ok_or_else(|| "the model is not valid".to_owned())?;
    let globals: Vec<_> = program.globals.ids().collect();
    for global in globals {
        program.globals[global].initial = Some(0);
    }
    Ok(program)
}

/// Half of the threads are adders, half are stoppers.
fn correct_driver(threads: usize) -> String {
    bluetooth(bluetooth::BluetoothVersion::Correct, threads.div_ceil(2), threads / 2)
}

/// Fig. 6: threads at 4 rounds, rounds at 3 threads.
fn driver(cases: &mut Vec<Case>, quick: bool) {
    let threads: &[usize] = if quick { &[2, 4] } else { &[2, 3, 4, 5, 6, 8, 10, 12, 14, 16] };
    for &threads in threads {
        for engine in ENGINES {
            let place = ("driver: threads at 4 rounds", threads.to_string());
            let text = Box::new(move || correct_driver(threads));
            push(cases, place, engine, 4, quick, text);
        }
    }
    for rounds in if quick { 2..=4 } else { 2..=8 } {
        for engine in ENGINES {
            let place = ("driver: rounds at 3 threads", rounds.to_string());
            push(cases, place, engine, rounds, quick, Box::new(|| correct_driver(3)));
        }
    }
}

/// Fig. 7: the tree, as many rounds as the time allows.
fn trees(cases: &mut Vec<Case>, quick: bool) {
    let limit = Duration::from_secs(if quick { 5 } else { 30 });
    for (inserters, searchers) in [(1, 1), (2, 1), (2, 2)] {
        for bits in if quick { 2..=2 } else { 2..=3 } {
            for engine in ENGINES {
                let size = Size { inserters, searchers, pointer_bits: bits, key_bits: bits };
                cases.push(Case {
                    section: "tree: as many of 6 rounds as the limits allow",
                    name: format!("{inserters}+{searchers},{}-cells", (1 << bits) - 1),
                    variant: engine.name(),
                    // The lazy engine is the one that is to get as far as it can.
                    grows: engine != EngineKind::Lazy,
                    run: Box::new(move || {
                        let program = parse(&tree(tree::TreeVersion::Locked, size))?;
                        engine::measure(&program, ASSERTIONS, engine, (Measure::Rounds, 6), limit)
                    }),
                });
            }
        }
    }
}

/// The instances of Fig. 8 with their bound, or smaller ones.
fn instances(quick: bool) -> Vec<(&'static str, Machine, u32)> {
    if quick {
        return vec![
            ("anderson-3", exclusion::anderson(3, false), 2),
            ("bakery-2-7", exclusion::bakery(2, 7, false), 2),
            ("peterson-3", exclusion::peterson(3, false), 2),
            ("msmie-3-2-2", buffers::msmie(3, 2, 2, false), 2),
        ];
    }
    vec![
        ("anderson-6", exclusion::anderson(6, false), 2),
        ("anderson-6-flawed", exclusion::anderson(6, true), 2),
        ("bakery-4-7", exclusion::bakery(4, 7, false), 2),
        ("bakery-4-5-flawed", exclusion::bakery(4, 5, true), 2),
        ("peterson-4", exclusion::peterson(4, false), 3),
        ("peterson-4-flawed", exclusion::peterson(4, true), 3),
        ("msmie-5-10-10", buffers::msmie(5, 10, 10, false), 2),
        ("msmie-5-10-10-flawed", buffers::msmie(5, 10, 10, true), 2),
        ("szymanski-3", exclusion::szymanski(3, false), 3),
        ("szymanski-3-flawed", exclusion::szymanski(3, true), 3),
    ]
}

/// Fig. 8: within the bound by our engines, everything by the explicit one, and SPIN: everything, and
/// as many switches as the rounds allow.
fn beem(cases: &mut Vec<Case>, quick: bool) {
    const SECTION: &str = "BEEM: within the rounds of Fig. 8, beside SPIN";
    let spin = spin::installed();
    for (name, machine, rounds) in instances(quick) {
        let text = |machine: &Machine| boolean::print(machine, Dialect::Boppo);
        for (variant, engine, rounds) in [
            ("lazy", EngineKind::Lazy, rounds),
            ("eager", EngineKind::Eager, rounds),
            ("explicit", EngineKind::Explicit, rounds),
            ("explicit-all", EngineKind::Explicit, u32::MAX),
        ] {
            let machine = machine.clone();
            cases.push(Case {
                section: SECTION,
                name: name.to_owned(),
                variant,
                grows: false,
                run: Box::new(move || {
                    let program = parse(&text(&machine))?;
                    engine::measure(
                        &program,
                        ASSERTIONS,
                        engine,
                        (Measure::Rounds, rounds),
                        limit(quick),
                    )
                }),
            });
        }
        let switches = machine.processes.len() as u32 * rounds - 1;
        for (variant, search) in
            [("spin", Search::Reduced), ("spin-bcs", Search::Switches(switches))]
        {
            if spin {
                let machine = machine.clone();
                cases.push(Case {
                    section: SECTION,
                    name: name.to_owned(),
                    variant,
                    grows: false,
                    run: Box::new(move || {
                        spin::measure(&promela::print(&machine), search, limit(quick))
                    }),
                });
            }
        }
    }
    if spin && !quick {
        for file in ["anderson.6", "bakery.5", "bakery.6", "peterson.4", "msmie.4"] {
            let path = benchmarks().join("beem").join(format!("{file}.pm"));
            if path.is_file() {
                cases.push(Case {
                    section: "BEEM: the original files, by SPIN",
                    name: file.to_owned(),
                    variant: "spin",
                    grows: false,
                    run: Box::new(move || {
                        let text = std::fs::read_to_string(&path)
                            .map_err(|error| format!("{}: {error}", path.display()))?;
                        spin::measure(&text, Search::Reduced, limit(quick))
                    }),
                });
            }
        }
    }
}

/// The systems for which the time of CUBA is on record, in seconds, measured elsewhere.
const RECORDED: [(&str, f64); 4] = [
    ("01_Bluetooth-1/Bluetooth1-12", 0.97),
    ("01_Bluetooth-1/Bluetooth1-21", 11.8),
    ("02_Bluetooth-2/Bluetooth2-21", 10.0),
    ("04_BST-Insert/bst-21", 1.5),
];

/// Pushdown systems to the target, or to the end.
fn pushdown(cases: &mut Vec<Case>, quick: bool) {
    const SECTION: &str = "CUBA: to the target or to the end, beside its recorded times";
    for (file, seconds) in RECORDED {
        let path = benchmarks().join("cuba").join(format!("{file}.pds"));
        if !path.is_file() {
            continue;
        }
        let name = file.rsplit('/').next().unwrap_or(file).to_owned();
        cases.push(Case {
            section: SECTION,
            name: name.clone(),
            variant: "cuba-recorded",
            grows: false,
            run: Box::new(move || {
                Ok(Measurement {
                    size: String::new(),
                    outcome: "on record".to_owned(),
                    counts: String::new(),
                    seconds,
                    peak_mib: Some(0.0),
                    stopped: false,
                })
            }),
        });
        for engine in ENGINES {
            let path = path.clone();
            cases.push(Case {
                section: SECTION,
                name: name.clone(),
                variant: engine.name(),
                grows: false,
                run: Box::new(move || {
                    let (program, target) = system(&path)?;
                    let bound = (Measure::Contexts, if target.is_some() { 20 } else { 6 });
                    engine::measure(&program, target.as_ref(), engine, bound, limit(quick))
                }),
            });
        }
    }
}

/// A system with its start and its target, from the files of the same name.
fn system(path: &Path) -> Result<(Program, Option<Target>), String> {
    let text = |extension: &str| {
        let path = path.with_extension(extension);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let spec = text("spec").ok();
    let parsed = selvedge_front_pds::parse(&text("pds")?, Some(&text("init")?), spec.as_deref())
        .map_err(|complaints| format!("{}: {complaints:?}", path.display()))?;
    Ok((parsed.program, parsed.target))
}

/// The same small program with few and with many reachable values, and with a step that is simple or
/// not on all values.
fn lazy_against_eager(cases: &mut Vec<Case>, quick: bool) {
    for (name, first, step) in contrast::ALL {
        for width in if quick { &[4, 8][..] } else { &[4, 8, 12, 16] } {
            for engine in ENGINES {
                cases.push(Case {
                    section: "lazy against eager: 3 rounds",
                    name: format!("{name}-{width}"),
                    variant: engine.name(),
                    grows: false,
                    run: Box::new(move || {
                        let program = parse(&contrast::program(first, step, *width))?;
                        engine::measure(&program, None, engine, (Measure::Rounds, 3), limit(quick))
                    }),
                });
            }
        }
    }
}
