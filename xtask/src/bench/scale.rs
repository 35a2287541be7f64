//! # Idea
//! The search of states by one worker, two, and so on up to the number of cores, and by one, two and four
//! processes on this machine, on the large models of `bench/models`, beside SPIN; and one model whose
//! states do not fit into the memory that they get. Every row is a run of the program as users have
//! it, from beginning to end, and what it cost is said by the system. Behind the rows of a model stand
//! the *bars*: what may not cost more than something else. A bar that is missed is measured again, twice
//! at most, since a machine with other work makes rows dearer and never cheaper.
//!
//! # Invariants
//! 1. Another number of states or levels than that of one worker fails the suite; a bar never does.

use super::reach::spin::{self, Folder};
use super::transactions::{MODELS, Model, by_spin, children_seconds};
use crate::limits;
use selvedge_states::Reduction;
use selvedge_testkit::addresses::free_addresses;
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The model whose states have to go to the disk.
const SPILLED: &str = "msmie-4";

/// How often a bar that is missed is measured again.
const AGAIN: usize = 2;

/// From so many states on two processes may cost no more than twice one.
const MANY: u64 = 10_000_000;

/// Who searches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Searcher {
    /// One process with so many workers.
    Workers(usize),
    /// So many processes with a worker each.
    Processes(usize),
    /// One worker with a checkpoint and so many MiB.
    Memory(u64),
    /// SPIN, without its reduction.
    Spin,
}

impl Searcher {
    fn name(self) -> String {
        match self {
            Self::Workers(many) => format!("{many} worker{}", if many > 1 { "s" } else { "" }),
            Self::Processes(many) => format!("{many} process{}", if many > 1 { "es" } else { "" }),
            Self::Memory(mib) => format!("{mib} MiB"),
            Self::Spin => "SPIN".to_owned(),
        }
    }
}

/// What a search has counted and cost.
#[derive(Clone, Copy)]
struct Row {
    states: u64,
    levels: Option<u64>,
    bytes_per_state: u64,
    /// The peak of the process that prints.
    peak_mib: Option<u64>,
    /// Processor time, of all processes together.
    cpu: f64,
    wall: f64,
}

impl Row {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn speed(&self) -> f64 {
        self.states as f64 / self.cpu.max(0.01)
    }
}

/// The rows of a model.
struct Comparison<'m> {
    program: &'m Path,
    model: &'m Model,
    rows: Vec<(Searcher, Row)>,
    bars: Vec<(String, bool)>,
}

/// The numbers of workers: one, two, and on to the cores.
fn crews() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut crews = vec![1];
    let mut workers = 2;
    while workers < cores.min(64) {
        crews.push(workers);
        workers *= 2;
    }
    crews.push(cores.clamp(2, 64));
    crews
}

/// Runs the suite and prints its table, row by row.
pub fn run(quick: bool) -> Result<String, String> {
    let program = limits::build()?;
    show(&format!(
        "{:<11} {:<11} {:>10} {:>6} {:>7} {:>8} {:>8} {:>9} {:>6} {:>8}",
        "model",
        "searcher",
        "states",
        "levels",
        "B/state",
        "peak MiB",
        "CPU s",
        "states/s",
        "ratio",
        "wall s"
    ))?;
    let with_spin = spin::installed();
    let (mut met, mut missed) = (0, Vec::new());
    for model in MODELS.iter().filter(|model| model.reduction == Reduction::None) {
        if quick && model.large {
            continue;
        }
        let mut rows = Comparison { program: &program, model, rows: Vec::new(), bars: Vec::new() };
        let crews = crews();
        for &workers in &crews {
            rows.row(Searcher::Workers(workers))?;
        }
        for processes in [1, 2, 4] {
            rows.row(Searcher::Processes(processes))?;
        }
        if with_spin {
            rows.row(Searcher::Spin)?;
        }
        rows.compare(&crews, with_spin)?;
        if model.name == SPILLED {
            rows.spill()?;
        }
        for (bar, is_met) in rows.bars {
            show(&format!("  {} {bar}", if is_met { "met   " } else { "MISSED" }))?;
            met += usize::from(is_met);
            missed.extend((!is_met).then_some(bar));
        }
    }
    let without = if with_spin { "" } else { "spin or gcc is not installed: no rows of SPIN\n" };
    Ok(format!(
        "CPU s: of all processes together; states/s: by CPU s; ratio: CPU s by that of one worker\n\
         {without}{met} bars are met, {} missed\n",
        missed.len()
    ))
}

#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
fn show(line: &str) -> Result<(), String> {
    println!("{line}");
    std::io::stdout().flush().map_err(|error| error.to_string())
}

impl Comparison<'_> {
    fn of(&self, searcher: Searcher) -> Result<Row, String> {
        let row = self.rows.iter().find(|(one, _)| *one == searcher).map(|(_, row)| *row);
        row.ok_or_else(|| format!("{}: there is no row {}", self.model.name, searcher.name()))
    }

    /// Measures a row; the cheapest one of each searcher stays.
    fn row(&mut self, searcher: Searcher) -> Result<(), String> {
        let row = match searcher {
            Searcher::Spin => spin_row(self.model)?,
            _ => row(self.program, self.model, searcher)?,
        };
        let one = self.of(Searcher::Workers(1)).unwrap_or(row);
        let count = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
        show(&format!(
            "{:<11} {:<11} {:>10} {:>6} {:>7} {:>8} {:>8.2} {:>9.0} {:>6.2} {:>8.2}",
            self.model.name,
            searcher.name(),
            row.states,
            count(row.levels),
            row.bytes_per_state,
            count(row.peak_mib),
            row.cpu,
            row.speed(),
            row.cpu / one.cpu.max(0.01),
            row.wall
        ))?;
        let expected =
            if searcher == Searcher::Spin { self.model.spin.0 } else { self.model.states };
        let other_levels = row.levels.is_some_and(|levels| Some(levels) != one.levels);
        if row.states != expected || other_levels {
            let (name, who) = (self.model.name, searcher.name());
            return Err(format!("{name}: {who} counts otherwise; there are {expected} states"));
        }
        match self.rows.iter_mut().find(|(one, _)| *one == searcher) {
            Some((_, known)) if known.cpu <= row.cpu => {}
            Some((_, known)) => *known = row,
            None => self.rows.push((searcher, row)),
        }
        Ok(())
    }

    /// Says whether something costs at most `most` times as much as something else, as `cost` tells.
    fn bar(
        &mut self,
        left: Searcher,
        right: Searcher,
        most: f64,
        what: &str,
        cost: fn(&Row) -> f64,
    ) -> Result<(), String> {
        let ratio = |rows: &Self| -> Result<f64, String> {
            Ok(cost(&rows.of(left)?) / cost(&rows.of(right)?).max(1e-9))
        };
        for _ in 0..AGAIN {
            if ratio(self)? <= most {
                break;
            }
            self.row(right)?;
            self.row(left)?;
        }
        let ratio = ratio(self)?;
        let text = format!(
            "{}: {what} of {} by that of {}: {ratio:.2}, at most {most}",
            self.model.name,
            left.name(),
            right.name()
        );
        self.bars.push((text, ratio <= most));
        Ok(())
    }

    fn compare(&mut self, crews: &[usize], with_spin: bool) -> Result<(), String> {
        let one = Searcher::Workers(1);
        if with_spin {
            let cost = |row: &Row| 1.0 / row.speed();
            self.bar(one, Searcher::Spin, 1.0, "CPU time per state", cost)?;
        }
        for &workers in crews.iter().filter(|&&workers| (2..=16).contains(&workers)) {
            self.bar(Searcher::Workers(workers), one, 1.3, "CPU time", |row| row.cpu)?;
        }
        if self.model.states >= MANY {
            let (two, alone) = (Searcher::Processes(2), Searcher::Processes(1));
            self.bar(two, alone, 2.0, "CPU time", |row| row.cpu)?;
        }
        let most = if self.model.name == "peterson-4" { 24 } else { self.model.spin.1 };
        for (searcher, row) in self.rows.clone() {
            if matches!(searcher, Searcher::Workers(_) | Searcher::Processes(_)) {
                let (name, who, own) = (self.model.name, searcher.name(), row.bytes_per_state);
                let text = format!("{name}: bytes per state of {who}: {own}, at most {most}");
                self.bars.push((text, own <= most));
            }
        }
        Ok(())
    }

    /// Searches with a quarter of the memory that it takes.
    fn spill(&mut self) -> Result<(), String> {
        let Some(peak) = self.of(Searcher::Workers(1))?.peak_mib else { return Ok(()) };
        let memory = peak / 4;
        self.row(Searcher::Memory(memory))?;
        let peak_then = self.of(Searcher::Memory(memory))?.peak_mib.unwrap_or(u64::MAX);
        let text = format!(
            "{}: takes {peak} MiB, and ends with --memory {memory}, where it takes {peak_then}",
            self.model.name
        );
        self.bars.push((text, peak_then <= memory));
        Ok(())
    }
}

/// A search by the program.
fn row(program: &Path, model: &Model, searcher: Searcher) -> Result<Row, String> {
    let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", model.name);
    let folder = Folder::new()?;
    let hosts = folder.0.join("hosts.txt");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/models");
    let file = file.join(format!("{}.eml", model.name));
    let (before, start) = (children_seconds(), Instant::now());
    let begin = |more: &[String]| -> Result<Child, String> {
        let mut command = Command::new(program);
        command.arg("reach").arg(&file).args(["--reduction", "none", "--no-symmetry"]);
        command.args(["--format", "json"]).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| complain(&error))
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let path = |path: &PathBuf| path.display().to_string();
    let children = match searcher {
        Searcher::Workers(many) => vec![begin(&words(&["--workers", &many.to_string()]))?],
        Searcher::Memory(mib) => {
            let kept = path(&folder.0.join("kept"));
            let mib = mib.to_string();
            let more = ["--workers", "1", "--memory", &mib, "--checkpoint", &kept];
            vec![begin(&words(&more))?]
        }
        Searcher::Processes(many) => {
            std::fs::write(&hosts, free_addresses(many).join("\n"))
                .map_err(|error| complain(&error))?;
            let one = |number: usize| {
                let (hosts, number) = (path(&hosts), number.to_string());
                begin(&words(&["--workers", "1", "--hosts", &hosts, "--process", &number]))
            };
            (0..many).map(one).collect::<Result<Vec<_>, String>>()?
        }
        Searcher::Spin => Vec::new(),
    };
    let mut said = Vec::new();
    for child in children {
        let output = child.wait_with_output().map_err(|error| complain(&error))?;
        if !output.status.success() {
            return Err(complain(&String::from_utf8_lossy(&output.stderr)));
        }
        said.push(output.stdout);
    }
    let cpu = children_seconds().zip(before).map_or(0.0, |(after, before)| after - before);
    let report: Value = serde_json::from_slice(said.first().map_or(&[][..], |said| said))
        .map_err(|error| complain(&error))?;
    let stats = &report["stats"];
    let number = |value: &Value| value.as_u64().ok_or_else(|| complain(&"a count is missing"));
    Ok(Row {
        states: number(&stats["counts"]["states"])?,
        levels: Some(number(&stats["levels"])?),
        bytes_per_state: number(&stats["counts"]["bytes_per_state"])?,
        peak_mib: stats["peak_memory_bytes"].as_u64().map(|bytes| bytes >> 20),
        cpu,
        wall: start.elapsed().as_secs_f64(),
    })
}

fn spin_row(model: &Model) -> Result<Row, String> {
    let start = Instant::now();
    let spin = by_spin(model)?;
    Ok(Row {
        states: spin.states,
        levels: None,
        bytes_per_state: spin.bytes_per_state,
        peak_mib: None,
        cpu: spin.seconds.unwrap_or(0.0),
        wall: start.elapsed().as_secs_f64(),
    })
}
