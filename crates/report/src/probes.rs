//! # Idea
//! The values of expressions that somebody wants to see along a run: before the first step, and where they
//! change. An expression without a value is `-` in texts and null in JSON.

use crate::escape::visible;
use crate::statement::ShownValue;
use crate::text::fill;
use selvedge_program::{Probe, Program, Trace};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// What stands for a value that does not exist.
const ABSENT: &str = "-";

/// Expressions before the first step, each with its value as text.
pub(crate) fn at_first(trace: &Trace, program: &Program) -> Vec<(String, String)> {
    let named = |probe: &Probe| (probe.text.clone(), text(probe, probe.first(), program));
    trace.probes.iter().map(named).collect()
}

/// The expressions that a step changes, each with its new value as text.
pub(crate) fn after(trace: &Trace, step: usize, program: &Program) -> Vec<(String, String)> {
    let named = |probe: &Probe| (probe.text.clone(), text(probe, probe.after(step), program));
    trace.changed_probes(step).map(named).collect()
}

fn text(probe: &Probe, value: Option<i64>, program: &Program) -> String {
    let value = value.map(|value| ShownValue::of_sort(program, probe.sort, value));
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

/// `x + y = 3, T.i = -`.
pub(crate) fn joined(values: &[(String, String)]) -> String {
    let values: Vec<String> =
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    values.join(", ")
}

/// A line for people with the values before the first step; nothing if there are no expressions.
pub(crate) fn first_line(trace: &Trace, program: &Program, width: usize) -> String {
    if trace.probes.is_empty() {
        return String::new();
    }
    let text = format!("shown  {}", joined(&at_first(trace, program)));
    fill(&visible(&text), width)
}

/// Expressions with their values, as an object.
pub(crate) struct ProbeFields<'a>(Vec<(String, Option<ShownValue<'a>>)>);

impl<'a> ProbeFields<'a> {
    /// Before the first step; nothing if there are no expressions.
    pub fn at_first(trace: &Trace, program: &'a Program) -> Option<Self> {
        Self::new(trace, program, &Probe::first)
    }

    /// After a step.
    pub fn after(trace: &Trace, step: usize, program: &'a Program) -> Option<Self> {
        Self::new(trace, program, &|probe| probe.after(step))
    }

    fn new(
        trace: &Trace,
        program: &'a Program,
        value: &dyn Fn(&Probe) -> Option<i64>,
    ) -> Option<Self> {
        let shown = |probe: &Probe| {
            let value = value(probe).map(|value| ShownValue::of_sort(program, probe.sort, value));
            (probe.text.clone(), value)
        };
        (!trace.probes.is_empty()).then(|| Self(trace.probes.iter().map(shown).collect()))
    }
}

impl Serialize for ProbeFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
