//! Configuration, suppressions, baselines.

use crate::{Project, RACY, SAFE, count};
use serde_json::Value;

#[test]
fn suppressions() {
    let project = Project::new("suppress", &[("m/a.eml", RACY)]);
    let (_, all) = project.json(&["m"]);
    let findings = all["files"][0]["findings"].as_array().expect("findings");
    let print = |rule: &str| {
        let of_rule = findings.iter().find(|finding| finding["rule"] == rule).expect("one");
        of_rule["fingerprint"].as_str().expect("a word").to_owned()
    };
    let race = print("data-race");
    let broken = findings.len() - 1;
    for (conditions, suppressed) in [
        ("rule = 'data-race'".to_owned(), 1),
        (format!("fingerprint = '{race}'"), 1),
        ("rule = 'atomicity-violation'".to_owned(), broken),
        ("file = 'm/*.eml'".to_owned(), broken + 1),
        ("file = 'a.eml'".to_owned(), broken + 1),
        ("file = '*.slv'".to_owned(), 0),
        ("threads = ['A', 'B']".to_owned(), broken + 1),
        ("threads = ['C']".to_owned(), 0),
        ("locations = ['x']\nline = 2".to_owned(), broken + 1),
        ("line = 1".to_owned(), 0),
        (format!("rule = 'deadlock'\nfingerprint = '{race}'"), 0),
    ] {
        project.write("selvedge.toml", &format!("[[suppress]]\nreason = 'known'\n{conditions}\n"));
        let (code, value) = project.json(&["m"]);
        assert_eq!(count(&value, "suppressed"), suppressed, "{conditions}");
        assert_eq!(count(&value, "findings"), broken + 1 - suppressed, "{conditions}");
        assert_eq!(code, Some(i32::from(suppressed <= broken)), "{conditions}");
        let outcome = project.check(&["m"]);
        let unused = suppressed == 0 && !conditions.starts_with("file");
        assert_eq!(outcome.stderr.contains("unused-suppression"), unused, "{conditions}");
        assert_eq!(outcome.stderr.is_empty(), !unused, "{conditions}: {}", outcome.stderr);
        assert_eq!(outcome.stdout.contains("suppressed"), suppressed > 0, "{}", outcome.stdout);
    }
}

#[test]
fn where_the_configuration_is() {
    let project = Project::new("config", &[("m/deep/a.eml", RACY), ("other/b.eml", RACY)]);
    let only_deadlocks = "only = ['deadlock']\n";
    assert_eq!(project.check(&["m"]).code, Some(1));
    project.write("selvedge.toml", only_deadlocks);
    assert_eq!(project.check(&["m"]).code, Some(0), "of the current folder");
    assert_eq!(project.check(&["m/deep/a.eml"]).code, Some(0), "above the file");
    assert_eq!(project.check(&["m", "--only", "race"]).code, Some(1), "the command line wins");
    project.write("m/selvedge.toml", "only = ['race']\n");
    assert_eq!(project.check(&["m/deep/a.eml"]).code, Some(1), "the nearest");
    assert_eq!(project.check(&["other", "m"]).code, Some(0), "that of the first path");
    assert_eq!(project.check(&["m", "--config", "selvedge.toml"]).code, Some(0), "as named");
    assert_eq!(project.check(&["m", "--config", "nowhere.toml"]).code, Some(2));
    // Every setting has an effect.
    for (text, arguments, expected) in [
        ("timeout = 0", &[][..], 3),
        ("timeout = 0", &["--timeout", "100"], 1),
        ("memory = 1", &[], 3),
        ("memory = 1", &["--memory", "100000"], 1),
        ("units = 'paper'\npatterns = [20]", &[], 2),
        ("units = 'paper'\npatterns = [20]", &["--units", "exact", "--only", "atomicity"], 0),
        ("patterns = '20'\nonly = ['atomicity']", &[], 0),
        ("patterns = '20'\nonly = ['atomicity']", &["--patterns", "all"], 1),
    ] {
        project.write("c.toml", text);
        let outcome = project.check(&[&["m", "--config", "c.toml"], arguments].concat());
        assert_eq!(outcome.code, Some(expected), "{text} {arguments:?}: {}", outcome.stderr);
    }
    for (text, arguments, fixed) in [
        ("fixes = false", &[][..], false),
        ("fixes = false", &["--fixes"], true),
        ("fixes = true", &["--no-fixes"], false),
        ("", &["--no-fixes", "--fixes"], true),
    ] {
        project.write("c.toml", text);
        let (_, value) = project.json(&[&["m", "--config", "c.toml"], arguments].concat());
        let findings = value["files"][0]["findings"].as_array().expect("findings");
        let any = findings.iter().any(|finding| !finding["fix"].is_null());
        assert_eq!(any, fixed, "{text} {arguments:?}");
    }
}

#[test]
fn mistakes_in_the_configuration() {
    let text = "pattern = 'all'\ntimeout = 'soon'\n[[suppress]]\nrule = 'data-rice'\n";
    let project = Project::new("mistakes", &[("a.eml", RACY), ("selvedge.toml", text)]);
    let outcome = project.check(&["a.eml", "--width", "90"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    for said in
        ["--> selvedge.toml:1:1", ":2:11", "did you mean `patterns`?", "`data-race`", "reason"]
    {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}

#[test]
fn baselines() {
    let project = Project::new("baseline", &[("m/a.eml", RACY), ("m/b.eml", SAFE)]);
    let written = project.check(&["m", "--write-baseline", "known.json"]);
    assert_eq!(written.code, Some(1));
    let text = project.read("known.json");
    let (code, value) = project.json(&["m", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings")), (Some(0), 0));
    assert_eq!(count(&value, "baseline"), 2);
    assert!(project.check(&["m", "--baseline", "known.json"]).stdout.contains("baseline"));
    // The same bytes again, also from another folder and with the baseline in use.
    project.check(&[
        "./m/b.eml",
        "m",
        "--baseline",
        "known.json",
        "--write-baseline",
        "again.json",
    ]);
    assert_eq!(project.read("again.json"), text);
    let elsewhere = Project(project.0.join("m"));
    assert_eq!(elsewhere.check(&["a.eml", "--baseline", "../known.json"]).code, Some(0));
    // Lines before do not matter; another file with the same findings is new.
    project.write("m/a.eml", &format!("// a remark\n\n{RACY}"));
    assert_eq!(project.check(&["m", "--baseline", "known.json"]).code, Some(0));
    project.write("m/c.eml", RACY);
    let (code, value) = project.json(&["m", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings"), count(&value, "baseline")), (Some(1), 2, 2));
    std::fs::remove_file(project.0.join("m/c.eml")).expect("removed");
    // What is gone is said, for the files and kinds that were looked at.
    project.write("m/a.eml", SAFE);
    let gone = project.check(&["m", "--baseline", "known.json"]);
    assert_eq!(gone.code, Some(0));
    assert!(gone.stderr.contains("2 findings of the baseline are gone"), "{}", gone.stderr);
    assert_eq!(project.check(&["m/b.eml", "--baseline", "known.json"]).stderr, "");
    for wrong in ["m/a.eml", "nowhere.json"] {
        assert_eq!(project.check(&["m", "--baseline", wrong]).code, Some(2), "{wrong}");
    }
}

/// One entry covers one finding: with one of two equal entries removed, one finding is new.
#[test]
fn a_second_equal_finding_is_new() {
    let twice = "\
var : x;
process A { main { read x; read x; } }
process B { main { write x; write x; } }
";
    let project = Project::new("multiset", &[("a.eml", twice)]);
    project.check(&["a.eml", "--only", "race", "--write-baseline", "known.json"]);
    let mut document: Value = serde_json::from_str(&project.read("known.json")).expect("JSON");
    let entries = document["findings"].as_array_mut().expect("findings");
    let (before, mut unique) = (entries.len(), entries.clone());
    assert!(before >= 1);
    unique.dedup();
    entries.pop();
    project.write("known.json", &document.to_string());
    let (code, value) = project.json(&["a.eml", "--only", "race", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings")), (Some(1), 1));
    assert_eq!(count(&value, "baseline"), before - 1);
}
