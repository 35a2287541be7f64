//! # Idea
//! All parts of a check become one again. First it is made sure that they are the parts of one run, each
//! once; then the texts that they carry are read as they were, and the answers about each file are put
//! together in the order in which one run has them. What is concluded from them is none of this file's
//! business: it is what one run concludes.
//!
//! # Invariants
//! 1. Nothing is taken from the disk: the parts say everything.
//! 2. No part is missing, none is there twice, and all are about the same files, options and version.
//! 3. The numbers of answers add up to those of all questions about a file.

use super::stored::{PartReport, StoredFile, StoredOptions, StoredShard, StoredSource};
use crate::baseline::Baseline;
use crate::check::{AllAnswers, CheckOptions, KindAnswers, relation};
use crate::config;
use crate::file::Loaded;
use crate::formulas::ProjectFormulas;
use crate::java::JavaPart;
use crate::load::Text;
use crate::restrict::{ThreadRestriction, read_restriction};
use selvedge_base::{Diagnostic, Severity};
use selvedge_findings::FindingKind;
use selvedge_program::{Program, RelationKey};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A run, put together from its parts.
pub struct Joined {
    /// What was asked.
    pub options: CheckOptions,
    /// The limits.
    pub limits: StoredOptions,
    /// The configuration file.
    pub config: Option<Text>,
    /// The findings that are known.
    pub baseline: Option<Baseline>,
    /// Which runs of some threads count.
    pub restrictions: Vec<ThreadRestriction>,
    /// How many files of other kinds the folders have.
    pub other_files: usize,
    /// Whether a limit asks for fewer interleavings.
    pub few_interleavings: bool,
    /// How long the parts took together.
    pub elapsed: Duration,
    /// The peak memory of the largest, if that is known.
    pub peak_memory: Option<u64>,
    /// The files in the order of the first part, prepared for the questions.
    pub files: Vec<JoinedFile>,
}

/// A file of all parts.
pub struct JoinedFile {
    /// The file as it was read.
    pub loaded: Loaded,
    /// The answers of all parts, if something was understood; or the bug that kept it from being analysed.
    pub answers: Option<Result<AllAnswers, String>>,
    /// The parts of a program in Java, if it is one.
    pub java: Vec<JavaPart>,
    /// Whether a limit was met, so that nobody looks for fixes.
    pub stopped: bool,
    /// Whether one was met that depends on the machine.
    pub not_reproducible: bool,
    /// Its name as seen from the folder of the configuration.
    pub name_for_config: String,
    /// Its name as seen from the folder of the baseline.
    pub name_for_baseline: String,
}

/// Puts the parts together.
///
/// # Errors
/// If they are not all parts of one run, with the reason.
pub fn join(mut parts: Vec<PartReport>) -> Result<Joined, String> {
    parts.sort_by_key(|part| part.shard.index);
    complete(&parts)?;
    let Some((first, others)) = parts.split_first() else {
        return Err("there is nothing to merge".to_owned());
    };
    for other in others {
        same_run(first, other)?;
    }
    let StoredShard { options: limits, config, baseline, restrictions, other_files, .. } =
        &first.shard;
    let own = |message: String| format!("{}: {message}", first.name);
    let options = limits.options().map_err(own)?;
    if limits.timeout.is_some_and(|seconds| Duration::try_from_secs_f64(seconds).is_err()) {
        return Err(own("its options are none".to_owned()));
    }
    let baseline = match baseline {
        None => None,
        Some(text) => Some(Baseline::parse(&text.text).map_err(own)?),
    };
    let config = config.as_ref().map(Text::from);
    // Whoever shows the outcome says what is wrong with it.
    let all = config.as_ref().map(|text| config::parse(&text.text).0.formulas);
    let formulas = ProjectFormulas {
        config: config.clone().unwrap_or_default(),
        all: all.unwrap_or_default(),
    };
    let mut automata = Vec::new();
    for one in restrictions {
        let read = read_restriction(&one.thread, &Text::from(&one.automaton)).0;
        automata.push(read.ok_or_else(|| own("an automaton is none".to_owned()))?);
    }
    let mut by_name: Vec<BTreeMap<(&str, usize), &StoredFile>> =
        parts.iter().map(files_by_name).collect();
    let order: Vec<(&str, usize)> = numbered(&first.shard.files).map(|(key, _)| key).collect();
    let mut files = Vec::with_capacity(order.len());
    for key in order {
        let of_parts: Vec<(&str, &StoredFile)> = parts
            .iter()
            .zip(&mut by_name)
            .filter_map(|(part, files)| Some((part.name.as_str(), files.remove(&key)?)))
            .collect();
        files.push(join_file(&of_parts, &options, &automata, &formulas)?);
    }
    Ok(Joined {
        options,
        limits: limits.clone(),
        config,
        baseline,
        restrictions: automata,
        other_files: *other_files,
        few_interleavings: parts.iter().any(|part| part.shard.few_interleavings),
        elapsed: parts.iter().map(|part| part.elapsed).fold(Duration::ZERO, |sum, one| {
            // What was written may be anything.
            sum.saturating_add(one)
        }),
        peak_memory: parts.iter().filter_map(|part| part.peak_memory).max(),
        files,
    })
}

/// That each part is there once.
fn complete(parts: &[PartReport]) -> Result<(), String> {
    let Some(first) = parts.first() else { return Ok(()) };
    let count = first.shard.count;
    let other = parts.iter().find(|part| part.shard.count != count);
    if let Some(other) = other {
        let (one, another) = (&first.shard, &other.shard);
        return Err(format!(
            "{} is shard {}/{}, and {} is shard {}/{}: these are parts of different runs",
            first.name, one.index, one.count, other.name, another.index, another.count
        ));
    }
    for pair in parts.windows(2) {
        if pair[0].shard.index == pair[1].shard.index {
            let (index, one, other) = (pair[0].shard.index, &pair[0].name, &pair[1].name);
            return Err(format!("shard {index}/{count} is there twice: {one} and {other}"));
        }
    }
    let there: BTreeSet<u32> = parts.iter().map(|part| part.shard.index).collect();
    let missing = (1..=count).filter(|index| !there.contains(index));
    let shown: Vec<String> = missing.take(10).map(|index| format!("{index}/{count}")).collect();
    let number = count as usize - parts.len();
    match (number, &shown[..]) {
        (0, _) => Ok(()),
        (1, [one]) => Err(format!("shard {one} is missing")),
        _ => {
            let more = number - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(format!("shards are missing: {}{more}", shown.join(", ")))
        }
    }
}

/// That two parts are of the same run, as far as everything but the answers goes.
fn same_run(first: &PartReport, other: &PartReport) -> Result<(), String> {
    let names = format!("{} and {}", first.name, other.name);
    let (one, another) = (&first.shard, &other.shard);
    let differs = |what: &str| Err(format!("{names} are not of the same run: {what}"));
    if one.options != another.options {
        return differs("they have different options");
    }
    if one.config != another.config {
        return differs("they have different configurations");
    }
    if one.baseline != another.baseline {
        return differs("they have different baselines");
    }
    if one.restrictions != another.restrictions {
        return differs("they have different restrictions");
    }
    let (files, others) = (files_by_name(first), files_by_name(other));
    let lacks = |has: &BTreeMap<(&str, usize), _>, all: &BTreeMap<(&str, usize), _>| {
        all.keys().find(|key| !has.contains_key(*key)).map(|(name, _)| (*name).to_owned())
    };
    if let Some(file) = lacks(&others, &files).or_else(|| lacks(&files, &others)) {
        return differs(&format!("only one of them has the file {file}"));
    }
    for (key, file) in &files {
        let twin = others[key];
        if file.identity != twin.identity {
            return differs(&format!("{} was given in different ways", file.file));
        }
        let both_read = file.unread.is_none() && twin.unread.is_none();
        if both_read && file.sha256 != twin.sha256 {
            return differs(&format!("{} has changed in between", file.file));
        }
    }
    if one.other_files != another.other_files {
        return differs("their folders have different files");
    }
    Ok(())
}

/// The files with their names, and which of several with the same name they are.
fn numbered(files: &[StoredFile]) -> impl Iterator<Item = ((&str, usize), &StoredFile)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    files.iter().map(move |file| {
        let before = seen.entry(&file.file).or_default();
        *before += 1;
        ((file.file.as_str(), *before), file)
    })
}

fn files_by_name(part: &PartReport) -> BTreeMap<(&str, usize), &StoredFile> {
    numbered(&part.shard.files).collect()
}

/// One file of all parts, each with the name of the part.
fn join_file(
    parts: &[(&str, &StoredFile)],
    options: &CheckOptions,
    restrictions: &[ThreadRestriction],
    formulas: &ProjectFormulas,
) -> Result<JoinedFile, String> {
    let name = &parts[0].1.file;
    if let Some(why) = parts.iter().find_map(|(_, file)| file.unread.as_ref()) {
        // Of a file that was not read to its end nothing is known.
        let complaint = Diagnostic::global("file-not-read", Severity::Warning, why);
        let refused = Loaded::refused(Text::new(name, ""), complaint);
        let loaded = Loaded { stopped: true, ..refused };
        let (name_for_config, name_for_baseline) = (name.clone(), name.clone());
        return Ok(JoinedFile {
            loaded,
            answers: None,
            java: Vec::new(),
            stopped: true,
            not_reproducible: true,
            name_for_config,
            name_for_baseline,
        });
    }
    let not_reproducible = parts.iter().any(|(_, file)| file.not_reproducible);
    let found = parts.iter().find_map(|(part, file)| Some((part, file.source.as_ref()?)));
    let (part, source) = found.ok_or_else(|| format!("no shard has the text of {name}"))?;
    let StoredSource { name_for_config, name_for_baseline, .. } = source;
    if source.sha256() != parts[0].1.sha256 {
        return Err(format!("{part}: the text of {name} is damaged"));
    }
    let names = || {
        let own = |given: &Option<String>| given.clone().unwrap_or_else(|| name.clone());
        (own(name_for_config), own(name_for_baseline))
    };
    let java: Vec<JavaPart> = parts.iter().filter_map(|(_, file)| file.java.clone()).collect();
    if !java.is_empty() {
        let bug = parts.iter().find_map(|(_, file)| file.bug.clone());
        if java.len() < parts.len() && bug.is_none() {
            return Err(format!("{name}: there are no answers"));
        }
        let (name_for_config, name_for_baseline) = names();
        return Ok(JoinedFile {
            loaded: Loaded::java_in_parts(name),
            answers: bug.map(Err),
            java,
            stopped: parts.iter().any(|(_, file)| file.java_stopped),
            not_reproducible,
            name_for_config,
            name_for_baseline,
        });
    }
    let mut loaded = source.load(name, restrictions).map_err(|wrong| format!("{part}: {wrong}"))?;
    loaded.ask_formulas(formulas, name_for_config.as_ref().unwrap_or(name));
    loaded.prepare(options);
    let bug = parts.iter().find_map(|(_, file)| file.bug.clone());
    let answers = match (&loaded.program, bug) {
        (None, _) => None,
        (Some(_), Some(bug)) => Some(Err(bug)),
        (Some(program), None) => {
            let mut all = Vec::with_capacity(parts.len());
            for (part, file) in parts {
                let own = |wrong: String| format!("{part}: {name}: {wrong}");
                let stored = file.answers.as_ref();
                let stored = stored.ok_or_else(|| own("there are no answers".to_owned()))?;
                all.push(stored.restore(program, &loaded.goals).map_err(own)?);
            }
            let joined = join_answers(all, &loaded, program, options);
            Some(Ok(joined.map_err(|wrong| format!("{name}: {wrong}"))?))
        }
    };
    let met_limit = |file: &StoredFile| file.answers.as_ref().is_some_and(|one| one.stopped);
    let (name_for_config, name_for_baseline) = names();
    Ok(JoinedFile {
        loaded,
        answers,
        java: Vec::new(),
        stopped: parts.iter().any(|(_, file)| met_limit(file)),
        not_reproducible,
        name_for_config,
        name_for_baseline,
    })
}

/// The answers of all parts as one run has them.
fn join_answers(
    parts: Vec<AllAnswers>,
    loaded: &Loaded,
    program: &Program,
    options: &CheckOptions,
) -> Result<AllAnswers, String> {
    let mut all = AllAnswers::default();
    for part in parts {
        all.unreached.extend(part.unreached);
        for (kind, more) in part.kinds {
            match all.kinds.remove(&kind) {
                None => _ = all.kinds.insert(kind, more),
                Some(_) if loaded.goals.question(kind).is_some() => {
                    return Err(format!("`{}` is answered twice", kind.rule()));
                }
                Some(known) => _ = all.kinds.insert(kind, together(known, more)),
            }
        }
    }
    for &kind in &options.kinds {
        if loaded.goals.ask(kind) && !all.kinds.contains_key(&kind) {
            return Err(format!("nobody has answered `{}`", kind.rule()));
        }
    }
    if let Some(kind) = all.kinds.keys().find(|kind| !options.kinds.contains(kind)) {
        return Err(format!("nobody has asked about `{}`", kind.rule()));
    }
    for (&kind, kept) in &mut all.kinds {
        let wrong = || Err(format!("the answers about `{}` do not add up", kind.rule()));
        if loaded.goals.question(kind).is_some() && kept.answers.is_empty() {
            return wrong();
        }
        if matches!(kind, FindingKind::Deadlock | FindingKind::Temporal) {
            let answers = std::mem::take(&mut kept.answers);
            let numbers = std::mem::take(&mut kept.numbers);
            let mut numbered: Vec<_> = numbers.into_iter().zip(answers).collect();
            numbered.sort_by_key(|(number, _)| *number);
            // Without a limit every cycle has been asked about by somebody, and every formula in any case.
            let gap = |(at, (number, _)): (usize, &(usize, _))| at != *number;
            let formulas = loaded.goals.formulas.len();
            let lacks = kind == FindingKind::Temporal && numbered.len() != formulas;
            if lacks || kept.unasked.is_none() && numbered.iter().enumerate().any(gap) {
                return wrong();
            }
            (kept.numbers, kept.answers) = numbered.into_iter().unzip();
        }
        let Some(relation) = relation(program, kind, options) else { continue };
        kept.answers.sort_by_cached_key(|answer| RelationKey::of(&answer.question));
        let same = |pair: &[selvedge_program::Answer]| pair[0].question == pair[1].question;
        let (count, listed) = (relation.count(program), kept.answers.len() as u64);
        if kept.answers.windows(2).any(same) || listed > count {
            return wrong();
        }
        if let Some(cut) = kept.cut.clone() {
            // Of pairs of threads that a part did not look at nothing is known.
            let why = (listed < count).then_some(cut);
            (kept.safe, kept.vacuous, kept.unknown, kept.why) = (0, 0, count - listed, why);
        }
        let rest = kept.safe.checked_add(kept.unknown);
        if rest.and_then(|rest| rest.checked_add(listed)) != Some(count) || kept.vacuous > kept.safe
        {
            return wrong();
        }
    }
    Ok(all)
}

fn together(mut known: KindAnswers, more: KindAnswers) -> KindAnswers {
    known.answers.extend(more.answers);
    known.numbers.extend(more.numbers);
    KindAnswers {
        answers: known.answers,
        numbers: known.numbers,
        safe: known.safe.saturating_add(more.safe),
        vacuous: known.vacuous.saturating_add(more.vacuous),
        unknown: known.unknown.saturating_add(more.unknown),
        why: known.why.or(more.why),
        unasked: known.unasked.or(more.unasked),
        cut: known.cut.or(more.cut),
        not_asked: known.not_asked || more.not_asked,
    }
}
