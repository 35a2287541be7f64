//! The parts of a check, put together again, are the check: for random models and any number of parts, in
//! any order, through their JSON.

use selvedge_base::Budget;
use selvedge_findings::CheckedFile;
use selvedge_library::file::Loaded;
use selvedge_library::render::{Extent, Format, page_of_checks, write_checks, write_part};
use selvedge_library::shard::join::{Joined, join};
use selvedge_library::shard::stored::{
    PartReport, StoredAnswers, StoredFile, StoredOptions, StoredShard, StoredSource,
};
use selvedge_library::shard::{FilePart, Shard};
use selvedge_library::{CheckOptions, Text};
use selvedge_report::{Checks, RunSettings, Terminal};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::typed::{TypedShape, random_typed_text};
use serde_json::Value;
use std::time::Duration;

/// Every question is asked with the same steps, whoever asks it; a limit on work keeps the test short.
const WORK: u64 = 3_000_000;

fn budget() -> Budget {
    Budget::with_steps(WORK)
}

fn whole(files: &[Loaded], options: &CheckOptions) -> Option<Vec<CheckedFile>> {
    let one = |file: &Loaded| {
        let answer = file.check(options, None, &budget(), &mut |_, _, _| {});
        let answer = answer.expect("a model").expect("no fault");
        // What a limit leaves open depends on what was asked before.
        answer.stopped.is_none().then(|| file.report(answer.checked))
    };
    files.iter().map(one).collect()
}

/// One part, as the JSON that the command line writes.
fn part(files: &[Loaded], options: &CheckOptions, shard: Shard) -> String {
    let mut stored = Vec::new();
    let mut checked = Vec::new();
    for file in files {
        let identity = file.text.name.as_str();
        let part = FilePart { shard, identity };
        let answer = file.check_part(options, &part, &budget(), &mut |_, _, _| {});
        let answer = answer.expect("a model").expect("no fault");
        let answers = answer.part.expect("a part");
        let program = file.program.as_ref().expect("a model");
        let source = StoredSource::new(file, true);
        stored.push(StoredFile {
            file: file.text.name.clone(),
            identity: identity.to_owned(),
            sha256: source.sha256(),
            source: part.counts_rest().then_some(source),
            unread: None,
            answers: Some(StoredAnswers::new(&answers, answer.stopped.is_some(), program)),
            java: None,
            java_stopped: false,
            not_reproducible: false,
            bug: None,
        });
        checked.push(file.report(answer.checked));
    }
    let shard = StoredShard {
        index: shard.index(),
        count: shard.count(),
        options: StoredOptions::new(options, None, None, None),
        config: None,
        baseline: None,
        restrictions: Vec::new(),
        other_files: 0,
        few_interleavings: false,
        files: stored,
    };
    let mut out = Vec::new();
    with_checks(&checked, |checks| {
        write_part(checks, &shard.render(), Extent::ALL, &mut out).expect("in memory");
    });
    String::from_utf8(out).expect("UTF-8")
}

fn parts(files: &[Loaded], options: &CheckOptions, count: u32) -> Vec<String> {
    let shards = (1..=count).map(|index| Shard::new(index, count).expect("a shard"));
    shards.map(|shard| part(files, options, shard)).collect()
}

fn joined(texts: &[String]) -> Result<Joined, String> {
    let parse = |(at, text): (usize, &String)| PartReport::parse(&format!("{at}.json"), text);
    join(texts.iter().enumerate().map(parse).collect::<Result<_, _>>()?)
}

fn concluded(joined: &Joined, options: &CheckOptions) -> Vec<CheckedFile> {
    let one = |file: &selvedge_library::shard::join::JoinedFile| {
        let answers = file.answers.clone().expect("a model").expect("no fault");
        let answer = file.loaded.conclude(options, answers, &budget());
        file.loaded.report(answer.expect("a model").expect("no fault").checked)
    };
    joined.files.iter().map(one).collect()
}

fn with_checks<T>(files: &[CheckedFile], then: impl FnOnce(&Checks<'_>) -> T) -> T {
    then(&Checks {
        files,
        complaints: Vec::new(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: Duration::ZERO,
    })
}

/// The findings in every form.
fn forms(files: &[CheckedFile]) -> Vec<String> {
    with_checks(files, |checks| {
        let mut all = vec![page_of_checks(checks)];
        for format in Format::ALL {
            let mut out = Vec::new();
            let plain = Terminal::plain(80);
            write_checks(checks, format, Extent::ALL, plain, &mut out).expect("in memory");
            all.push(String::from_utf8(out).expect("UTF-8"));
        }
        all
    })
}

/// Copies have the same places, so that of several deadlocks the first one is shown.
const COPIES: &str = "\
lock : l, m;
process P[3] {
    main {
        if (*) { synchronized(l) { synchronized(m) { skip; } } }
        else { synchronized(m) { synchronized(l) { skip; } } }
    }
}
";

/// Random models: locks, calls and units, or values; and one with copies.
fn corpus(seed: u64) -> Vec<Loaded> {
    let mut rng = Rng::new(seed);
    let texts = [
        random_model(&mut rng, &Shape::CONTENDED).to_eml(),
        random_model(&mut rng, &Shape::SMALL).to_eml(),
        random_typed_text(
            &mut rng,
            TypedShape { threads: 2, statements: 4, disciplined: true, annotated: false },
        ),
        COPIES.to_owned(),
    ];
    let load = |(at, text): (usize, String)| {
        let extension = if at == 2 { "slv" } else { "eml" };
        Loaded::new(Text::new(format!("m{at}.{extension}"), text), true)
    };
    let mut files: Vec<Loaded> = texts.into_iter().enumerate().map(load).collect();
    for file in &mut files {
        file.prepare(&CheckOptions::default());
    }
    files
}

#[test]
fn all_parts_together_are_the_whole() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let first = number("SELVEDGE_SEED", 0);
    let (mut findings, mut fixes, mut compared) = (0, 0, 0);
    for seed in first..first + number("SELVEDGE_PROGRAMS", 8) {
        let options = CheckOptions::default();
        let files = corpus(seed);
        let Some(expected) = whole(&files, &options) else { continue };
        compared += 1;
        let all = || expected.iter().flat_map(|file| &file.findings);
        findings += all().count();
        fixes += all().filter(|finding| finding.fix.is_some()).count();
        for count in 1..=5 {
            let mut texts = parts(&files, &options, count);
            // In any order.
            let turned = Rng::new(seed).below(texts.len());
            texts.rotate_left(turned);
            let joined = joined(&texts).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let found = concluded(&joined, &options);
            assert_eq!(found, expected, "seed {seed}, {count} parts");
            assert_eq!(forms(&found), forms(&expected), "seed {seed}, {count} parts");
        }
    }
    assert!(compared > 4 && findings > 20 && fixes > 3, "{compared} {findings} {fixes}");
}

/// The questions of a file do not move when other files come, go or change places.
#[test]
fn other_files_do_not_matter() {
    let options = CheckOptions::default();
    let mut files = corpus(3);
    let shard = Shard::new(1, 2).expect("a shard");
    let answers = |files: &[Loaded], name: &str| {
        let document: Value = serde_json::from_str(&part(files, &options, shard)).expect("JSON");
        let files = document["shard"]["files"].as_array().expect("files").clone();
        files.into_iter().find(|file| file["file"] == name).expect("the file")
    };
    let before = answers(&files, "m1.eml");
    let kinds = before["answers"]["kinds"].as_array().expect("kinds");
    let asked = kinds.iter().filter_map(|kind| kind["answers"].as_array()).flatten().count();
    assert!(asked > 0, "{before}");
    files.reverse();
    assert_eq!(answers(&files, "m1.eml"), before);
    files.retain(|file| file.text.name == "m1.eml");
    assert_eq!(answers(&files, "m1.eml"), before);
    // And parts whose files have another order belong together all the same.
    let files = corpus(3);
    let mut turned = corpus(3);
    turned.reverse();
    let [one, two] = [1, 2].map(|index| Shard::new(index, 2).expect("a shard"));
    let texts = [part(&turned, &options, two), part(&files, &options, one)];
    let joined = joined(&texts).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(Some(concluded(&joined, &options)), whole(&files, &options));
}

/// Why parts are refused.
#[track_caller]
fn reason(texts: &[String]) -> String {
    joined(texts).err().expect("it is refused")
}

/// Whatever is wrong with the parts, somebody says so.
#[test]
fn damaged_parts_are_refused() {
    let options = CheckOptions::default();
    let files = corpus(1);
    let texts = parts(&files, &options, 3);
    let missing = reason(&texts[..2]);
    assert_eq!(missing, "shard 3/3 is missing");
    assert_eq!(reason(&texts[2..]), "shards are missing: 1/3, 2/3");
    let twice = [texts.clone(), texts[1..2].to_vec()].concat();
    assert_eq!(reason(&twice), "shard 2/3 is there twice: 1.json and 3.json");
    let other = [texts[..2].to_vec(), parts(&files, &options, 4)[2..3].to_vec()].concat();
    assert!(reason(&other).contains("parts of different runs"), "{}", reason(&other));
    let without = CheckOptions { patterns: vec![1], ..options.clone() };
    let other = [texts[..2].to_vec(), parts(&files, &without, 3)[2..].to_vec()].concat();
    assert!(reason(&other).contains("different options"), "{}", reason(&other));
    let fewer = [texts[..2].to_vec(), parts(&files[1..], &options, 3)[2..].to_vec()].concat();
    assert!(reason(&fewer).contains("has the file m0.eml"), "{}", reason(&fewer));
    let mut changed = corpus(1);
    changed[1] =
        Loaded::new(Text::new("m1.eml", "var : x;\nprocess A { main { write x; } }"), true);
    let other = [texts[..2].to_vec(), parts(&changed, &options, 3)[2..].to_vec()].concat();
    assert!(reason(&other).contains("m1.eml has changed"), "{}", reason(&other));

    // Any number that a part says, made larger by one, does not fit the others; what is cut is no part.
    let with = |change: &dyn Fn(&mut Value)| {
        let mut document: Value = serde_json::from_str(&texts[0]).expect("JSON");
        change(&mut document);
        [vec![document.to_string()], texts[1..].to_vec()].concat()
    };
    for (field, what) in [
        ("/tool/version", "version 9 wrote it"),
        ("/tool/name", "no report of Selvedge"),
        ("/format", "it has the format"),
        ("/analysis", "no report of `selvedge check`"),
        ("/shard", "another form"),
        ("/shard/count", "another form"),
        ("/shard/files/0/sha256", "has changed in between"),
        ("/shard/files/0/answers", "another form"),
        ("/stats/seconds", "how long it took"),
    ] {
        let texts = with(&|document| *document.pointer_mut(field).expect(field) = "9".into());
        assert!(reason(&texts).contains(what), "{field}: {}", reason(&texts));
    }
    let texts_without = with(&|document| _ = document["shard"].take());
    assert!(reason(&texts_without).contains("of a whole run"), "{}", reason(&texts_without));
    let mut damaged = 0;
    for number in 0..3 {
        for kind in 0..8 {
            let field = format!("/shard/files/{number}/answers/kinds/{kind}");
            let Some(part) =
                serde_json::from_str::<Value>(&texts[0]).expect("JSON").pointer(&field).cloned()
            else {
                continue;
            };
            let grown = with(&|document| {
                let safe = document.pointer_mut(&format!("{field}/safe")).expect("a number");
                *safe = (safe.as_u64().expect("a number") + 1).into();
            });
            if ["atomicity-violation", "data-race"]
                .contains(&part["rule"].as_str().expect("a rule"))
            {
                assert!(reason(&grown).contains("do not add up"), "{}", reason(&grown));
                damaged += 1;
            }
            if part["answers"].as_array().is_some_and(|answers| !answers.is_empty()) {
                let lost = with(&|document| {
                    let answers =
                        document.pointer_mut(&format!("{field}/answers")).expect("a list");
                    answers.as_array_mut().expect("a list").remove(0);
                });
                // The last cycle leaves no gap, nor does one of several assertions that fail.
                let one_of_several = part["answers"].as_array().map(Vec::len) != Some(1);
                if part["rule"] != "deadlock"
                    && (part["rule"] != "assertion-failure" || !one_of_several)
                {
                    reason(&lost);
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 5, "{damaged}");
    for at in (0..texts[0].len()).step_by(997) {
        reason(&[vec![texts[0][..at].to_owned()], texts[1..].to_vec()].concat());
    }
    for text in ["", "null", "[]", "{}", "3", "{\"tool\":{\"name\":\"other\"}}"] {
        reason(&[text.to_owned()]);
    }
    reason(&["[".repeat(1 << 20)]);
    reason(&["{\"a\":".repeat(1 << 18)]);
}
