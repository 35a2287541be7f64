//! The table of a suite: one block per section, columns aligned, a total of the times per variant and
//! section, the ratio to the first variant of the same case, and where cases grow the ratio to the
//! case before of the same variant.

use super::{Case, Measurement};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Renders measurements in the order given.
pub fn render(rows: &[(Case, Measurement)]) -> String {
    let header =
        ["case", "variant", "size", "outcome", "time s", "ratio", "growth", "peak MiB", "counts"]
            .map(str::to_owned);
    let mut output = String::new();
    let mut at = 0;
    while at < rows.len() {
        let section = rows[at].0.section;
        let end = at + rows[at..].iter().take_while(|(case, _)| case.section == section).count();
        let mut lines = vec![header.clone()];
        let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
        for (case, measured) in &rows[at..end] {
            let base = rows[at..end].iter().find(|(other, _)| other.name == case.name);
            let ratio = base.map_or(1.0, |(_, base)| measured.seconds / base.seconds.max(1e-9));
            let growth = previous(&rows[at..end], case).map_or_else(
                || "-".to_owned(),
                |before| format!("{:.2}", measured.seconds / before.seconds.max(1e-9)),
            );
            *totals.entry(case.variant).or_default() += measured.seconds;
            lines.push([
                case.name.clone(),
                case.variant.to_owned(),
                measured.size.clone(),
                measured.outcome.clone(),
                format!("{:.4}", measured.seconds),
                format!("{ratio:.2}"),
                growth,
                measured
                    .peak_mib
                    .filter(|peak| *peak > 0.0)
                    .map_or_else(|| "-".to_owned(), |peak| format!("{peak:.1}")),
                measured.counts.clone(),
            ]);
        }
        let _ = writeln!(output, "{section}");
        let widths: Vec<usize> = (0..header.len())
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        for line in &lines {
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                let number = (4..8).contains(&column);
                let _ = if number {
                    write!(text, "  {cell:>width$}")
                } else {
                    write!(text, "  {cell:<width$}")
                };
            }
            let _ = writeln!(output, "{}", text.trim_end());
        }
        let total: Vec<String> =
            totals.iter().map(|(variant, seconds)| format!("{variant} {seconds:.3} s")).collect();
        let _ = writeln!(output, "  total: {}\n", total.join(", "));
        at = end;
    }
    output
}

/// The case before this one of the same variant, if its cases grow.
fn previous<'a>(rows: &'a [(Case, Measurement)], case: &Case) -> Option<&'a Measurement> {
    rows.iter()
        .take_while(|(other, _)| !std::ptr::eq(other, case))
        .filter(|(other, _)| case.grows && other.variant == case.variant)
        .last()
        .map(|(_, measured)| measured)
}
