//! The table of a suite, row by row as cases are measured: one block per section, a total of the times
//! per variant and section, the ratio to the first variant of the same case, and where cases grow the
//! ratio to the case before of the same variant.

use super::{Case, Measurement};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What was measured so far of the section that is being printed.
#[derive(Default)]
pub struct Table {
    section: Option<&'static str>,
    /// The widths of its first two columns.
    widths: [usize; 2],
    rows: Vec<Row>,
}

struct Row {
    name: String,
    variant: &'static str,
    seconds: f64,
}

impl Table {
    /// What is to be printed before a case is run: the end of a section, and the head of the next
    /// one, whose cases are among `all`.
    pub fn before(&mut self, case: &Case, all: &[Case]) -> String {
        if self.section == Some(case.section) {
            return String::new();
        }
        let mut out = self.end();
        let cases = || all.iter().filter(|other| other.section == case.section);
        let names = cases().map(|case| case.name.chars().count());
        let variants = cases().map(|case| case.variant.chars().count());
        self.section = Some(case.section);
        self.widths = [names.max().unwrap_or(0).max(4), variants.max().unwrap_or(0).max(7)];
        let [name, variant] = self.widths;
        let _ = writeln!(
            out,
            "{}\n  {:<name$}  {:<variant$}  {:>8}  {:>7}  {:>6}  {:>8}  outcome; size; counts",
            case.section, "case", "variant", "time s", "ratio", "growth", "peak MiB"
        );
        out
    }

    /// The row of a case that was measured.
    pub fn row(&mut self, case: &Case, measured: &Measurement) -> String {
        let first = self.rows.iter().find(|row| row.name == case.name);
        let ratio = first.map_or(1.0, |first| measured.seconds / first.seconds.max(1e-9));
        let previous = self.rows.iter().rev().find(|row| row.variant == case.variant);
        let growth = match previous {
            Some(row) if case.grows => format!("{:.2}", measured.seconds / row.seconds.max(1e-9)),
            _ => "-".to_owned(),
        };
        let peak = measured.peak_mib.filter(|peak| *peak > 0.0);
        let peak = peak.map_or_else(|| "-".to_owned(), |peak| format!("{peak:.1}"));
        let (name, variant, seconds) = (case.name.clone(), case.variant, measured.seconds);
        let [wide, narrow] = self.widths;
        let line = format!(
            "  {name:<wide$}  {variant:<narrow$}  {seconds:>8.4}  {ratio:>7.2}  {growth:>6}  \
             {peak:>8}  {}",
            [&measured.outcome, &measured.size, &measured.counts].map(String::as_str).join("; ")
        );
        self.rows.push(Row { name, variant, seconds });
        format!("{}\n", line.trim_end_matches([' ', ';']))
    }

    /// The totals of the section, which ends.
    pub fn end(&mut self) -> String {
        let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
        for row in self.rows.drain(..) {
            *totals.entry(row.variant).or_default() += row.seconds;
        }
        let totals: Vec<String> =
            totals.iter().map(|(variant, seconds)| format!("{variant} {seconds:.3} s")).collect();
        match self.section.take() {
            Some(_) => format!("  total: {}\n\n", totals.join(", ")),
            None => String::new(),
        }
    }
}
