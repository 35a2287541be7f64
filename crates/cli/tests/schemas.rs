//! Every JSON output is what its schema in `schemas/` says, on every example with every analysis; and the
//! schemas say enough for that to mean something.

mod common;

use common::{root, run, scratch};
use selvedge_library::explain::find;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The schemas by their names.
struct Schemas {
    documents: BTreeMap<String, Value>,
}

impl Schemas {
    fn read() -> Self {
        let mut documents = BTreeMap::new();
        for entry in fs::read_dir(root().join("schemas")).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let text = fs::read_to_string(&path).expect("a text");
                let document: Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(document["$id"], format!("https://selvedge.example/schemas/{name}"));
                assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema");
                documents.insert(name, document);
            }
        }
        Self { documents }
    }

    /// What is wrong with a value, if something is.
    fn complaint(&self, name: &str, value: &Value) -> Option<String> {
        self.validate(name, &self.documents[name], value, "$").err()
    }

    /// A schema that another one of this document refers to, with its document.
    fn referred<'a>(&'a self, document: &'a str, reference: &'a str) -> (&'a str, &'a Value) {
        let (file, path) = reference.split_once('#').expect("a fragment");
        let document = if file.is_empty() { document } else { file };
        let schema = self.documents[document].pointer(path);
        (document, schema.unwrap_or_else(|| panic!("{reference} refers to nothing")))
    }

    /// The keywords of draft 2020-12 that the schemas use; another one is a mistake.
    fn validate(
        &self,
        document: &str,
        schema: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let Value::Object(schema) = schema else {
            let says = schema.as_bool().expect("a schema");
            return if says { Ok(()) } else { Err(format!("{at}: nothing is allowed here")) };
        };
        for (keyword, says) in schema {
            let fits = match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" => true,
                "$ref" => {
                    let (document, schema) = self.referred(document, text(says));
                    self.validate(document, schema, value, at)?;
                    true
                }
                "type" => has_type(value, text(says)),
                "const" => value == says,
                "enum" => list(says).contains(value),
                "minimum" => value.as_f64().is_none_or(|number| number >= as_number(says)),
                "maximum" => value.as_f64().is_none_or(|number| number <= as_number(says)),
                "minLength" => value.as_str().is_none_or(|text| text.len() >= as_size(says)),
                "minItems" => value.as_array().is_none_or(|list| list.len() >= as_size(says)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() <= as_size(says)),
                "minProperties" => value.as_object().is_none_or(|map| map.len() >= as_size(says)),
                "required" => value
                    .as_object()
                    .is_none_or(|map| list(says).iter().all(|name| map.contains_key(text(name)))),
                "properties" | "additionalProperties" | "items" | "prefixItems" => {
                    self.parts(document, schema, keyword, value, at)?;
                    true
                }
                "anyOf" => self.fitting(document, says, value, at) >= 1,
                "oneOf" => self.fitting(document, says, value, at) == 1,
                other => panic!("the keyword `{other}` is not known"),
            };
            if !fits {
                return Err(format!("{at}: {value:.200} does not fit {keyword} {says:.300}"));
            }
        }
        Ok(())
    }

    /// How many of some schemas a value fits.
    fn fitting(&self, document: &str, schemas: &Value, value: &Value, at: &str) -> usize {
        let fits = |schema: &&Value| self.validate(document, schema, value, at).is_ok();
        list(schemas).iter().filter(fits).count()
    }

    fn parts(
        &self,
        document: &str,
        schema: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let says = &schema[keyword];
        let none = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        let (map, items) = (value.as_object(), value.as_array());
        match keyword {
            "properties" => {
                for (name, own) in map.into_iter().flatten() {
                    if let Some(schema) = known.get(name) {
                        self.validate(document, schema, own, &format!("{at}.{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (name, own) in map.into_iter().flatten() {
                    if !known.contains_key(name) {
                        self.validate(document, says, own, &format!("{at}.{name}"))?;
                    }
                }
            }
            "prefixItems" => {
                for (number, (own, schema)) in
                    items.into_iter().flatten().zip(list(says)).enumerate()
                {
                    self.validate(document, schema, own, &format!("{at}[{number}]"))?;
                }
            }
            _ => {
                for (number, own) in items.into_iter().flatten().enumerate().skip(first) {
                    self.validate(document, says, own, &format!("{at}[{number}]"))?;
                }
            }
        }
        Ok(())
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type `{other}` is not known"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn as_number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn as_size(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a size")).expect("a size")
}

/// What a run prints, or nothing if it refuses.
fn output(arguments: &[&str]) -> Option<Value> {
    let outcome = run(arguments);
    if outcome.code == Some(2) && outcome.stdout.is_empty() {
        return None;
    }
    let json = serde_json::from_str(&outcome.stdout);
    Some(json.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", outcome.stderr)))
}

/// The value with a field too many, one too few, and one that means something else.
fn damaged(value: &Value) -> [Value; 3] {
    let (mut more, mut less, mut other) = (value.clone(), value.clone(), value.clone());
    more["no_such_field"] = Value::Null;
    less.as_object_mut().expect("an object").remove("format");
    other["format"] = 2.into();
    [more, less, other]
}

#[test]
fn every_output_is_what_its_schema_says() {
    let schemas = Schemas::read();
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut words: BTreeSet<String> = BTreeSet::new();
    let mut check = |schema: &'static str, arguments: &[&str]| {
        let Some(value) = output(arguments) else { return false };
        if let Some(complaint) = schemas.complaint(schema, &value) {
            panic!("{arguments:?} against {schema}: {complaint}");
        }
        collect_words(&value, &mut words);
        seen.entry(schema)
            .or_default()
            .extend(value.as_object().expect("an object").keys().cloned());
        for damaged in &damaged(&value) {
            assert!(schemas.complaint(schema, damaged).is_some(), "{schema} notices nothing");
        }
        true
    };
    let mut examples: Vec<String> = Vec::new();
    for entry in fs::read_dir(root().join("examples")).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if [".eml", ".bp", ".pds", ".slv"].iter().any(|end| name.ends_with(end)) {
            examples.push(format!("examples/{name}"));
        }
    }
    examples.sort();
    let mut answered = 0;
    for example in &examples {
        for (schema, analysis) in [
            ("atomicity.json", "atomicity"),
            ("race.json", "race"),
            ("deadlock.json", "deadlock"),
            ("reach.json", "reach"),
        ] {
            let asked = [analysis, example, "--format", "json", "--timeout", "10"];
            answered += usize::from(check(schema, &asked));
        }
        check("show.json", &["show", example, "--format", "json"]);
    }
    assert!(answered > 2 * examples.len(), "{answered} of {}", examples.len());
    let property = "examples/fig2.ipa";
    let (spool, formulas) = ("examples/spool.eml", "examples/spool.ltl");
    for (schema, arguments) in [
        ("atomicity.json", &["atomicity", "examples/stack.eml", "--property", property][..]),
        ("atomicity.json", &["atomicity", "examples/stack.eml", "--timeout", "0"]),
        ("atomicity.json", &["demo"]),
        ("atomicity.json", &["atomicity", "examples/stack.eml", "--engine", "all"]),
        ("race.json", &["race", "examples/missing-lock.eml", "--engine", "all"]),
        ("deadlock.json", &["deadlock", "examples/bank-transfer.eml", "--engine", "all"]),
        ("reach.json", &["reach", "examples/overbooking.bp", "--engine", "all"]),
        ("temporal.json", &["temporal", spool, "E F T1@begun", "--engine", "all"]),
        ("reach.json", &["reach", "examples/overbooking.bp", "--states=list"]),
        ("reach.json", &["reach", "examples/overbooking.bp", "--projection"]),
        (
            "reach.json",
            &["reach", "examples/counter-annotated.eml", "--assertions", "--show-locks"],
        ),
        ("reach.json", &["reach", "examples/lost-notify.eml", "--deadlocks"]),
        ("temporal.json", &["temporal", spool, "--formulas", formulas, "--explain"]),
        ("temporal.json", &["temporal", spool, "A G F T2@get", "--fair", "T1"]),
        ("temporal.json", &["temporal", spool, "A G F T2@get"]),
        ("reach.json", &["reach", "examples/overbooking.bp", "--show", "free & !sold"]),
        ("reach.json", &["reach", "examples/out-of-range.eml", "--show", "1 / 0"]),
        ("race.json", &["race", "examples/missing-lock.eml", "--show", "1 + 1"]),
        ("check.json", &["check", "examples/overbooking.bp", "--no-cache", "--show", "free"]),
        ("branching.json", &["branching", spool, "AG EF T1@idle", "--show", "true"]),
        ("temporal.json", &["temporal", spool, "A G F T2@get", "--show", "1 / 0"]),
        ("branching.json", &["branching", spool, "AG EF T1@idle", "AF ended(T1)"]),
        (
            "branching.json",
            &["branching", "examples/tree-walk.eml", "--thread", "Walker", "AG EF ended(Walker)"],
        ),
        ("branching.json", &["branching", "examples/tree-walk.eml", "AG EF ended(Walker)"]),
    ] {
        assert!(check(schema, &[arguments, &["--format", "json"]].concat()), "{arguments:?}");
    }
    let folder = scratch("schemas");
    let baseline = folder.join("baseline.json");
    let path = baseline.to_str().expect("UTF-8");
    let some = ["examples/stack.eml", "examples/overbooking.bp", "corpus/bad"];
    let asked = ["check", some[0], some[1], "--no-cache", "--format", "json"];
    assert!(check("check.json", &asked));
    assert!(check("check.json", &[&asked[..], &[some[2]]].concat()), "with errors in the input");
    run(&["check", some[0], "--no-cache", "--write-baseline", path]);
    let written: Value =
        serde_json::from_str(&fs::read_to_string(&baseline).expect("a baseline")).expect("JSON");
    assert_eq!(schemas.complaint("baseline.json", &written), None);
    assert!(check("check.json", &[&asked[..], &["--baseline", path]].concat()));
    assert!(check("check.json", &[&asked[..], &["--shard", "1/2"]].concat()), "a part");
    let apart = folder.join("apart.eml");
    fs::write(&apart, "process A { main { skip; } }\nprocess B { main { skip; } }\n")
        .expect("written");
    let apart = apart.to_str().expect("UTF-8");
    for (schema, command) in
        [("atomicity.json", "atomicity"), ("race.json", "race"), ("deadlock.json", "deadlock")]
    {
        assert!(check(schema, &[command, apart, "--format", "json"]));
    }
    assert!(check("check.json", &["check", apart, "--no-cache", "--format", "json"]));
    let client = "crates/front-java/tests/classes/programs.jar";
    let java = ["check", client, "--class", "JoinedCareless", "--no-cache", "--format", "json"];
    let confirmed = [&java[..], &["--confirm"]].concat();
    assert!(check("check.json", &confirmed), "confirmed");
    let shown = output(&confirmed).expect("findings");
    let findings = list(&shown["files"][0]["findings"]);
    assert!(findings.iter().any(|finding| finding.get("confirmation").is_some()), "{shown}");
    // Further findings in Java, with further tags.
    let tagged = ["check", client, "--no-cache", "--no-assume-joins", "--format", "json"];
    assert!(check("check.json", &tagged), "tagged");
    let all = ["check", "examples", "--no-cache", "--max-work", "1000000", "--format", "json"];
    assert!(check("check.json", &all), "all examples");
    let late = ["check", "examples", "--no-cache", "--timeout", "0", "--format", "json"];
    assert!(check("check.json", &late), "after a limit on time");
    assert!(words.len() > 60, "{words:?}");
    let unknown: Vec<&String> = words.iter().filter(|word| find(word).is_err()).collect();
    assert!(unknown.is_empty(), "`selvedge explain` does not know {unknown:?}");
    // Fields that are there only sometimes were there.
    for (schema, field) in [
        ("atomicity.json", "engines"),
        ("race.json", "engines"),
        ("deadlock.json", "engines"),
        ("reach.json", "engines"),
        ("temporal.json", "engines"),
        ("temporal.json", "disagreements"),
        ("reach.json", "failure"),
        ("reach.json", "list"),
        ("reach.json", "projection"),
        ("reach.json", "protection"),
        ("reach.json", "replay"),
        ("reach.json", "show"),
        ("show.json", "globals"),
        ("show.json", "files"),
        ("temporal.json", "fair"),
        ("branching.json", "thread"),
        ("check.json", "shard"),
        ("atomicity.json", "nothing_shared"),
        ("race.json", "nothing_shared"),
        ("deadlock.json", "nothing_shared"),
        ("check.json", "nothing_shared"),
    ] {
        assert!(seen[schema].contains(field), "no output had `{field}` of {schema}");
    }
}

/// The words of a report that `selvedge explain` must know: those that are not plain English.
fn collect_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        Value::Object(fields) => {
            // The tag of a formula is its name or its text.
            let is_formula = fields.get("rule").is_some_and(|rule| rule == "temporal-property");
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("verdict" | "rule" | "engine" | "code", Value::String(word)) => {
                        words.insert(word.clone());
                    }
                    ("tags", Value::Array(tags)) if !is_formula => {
                        words.extend(tags.iter().map(|tag| text(tag).to_owned()));
                    }
                    ("rank", Value::Number(rank)) => {
                        words.insert(format!("rank {rank}"));
                    }
                    ("claim", Value::String(claim)) => {
                        let parts = claim.split(|one: char| !one.is_ascii_alphanumeric());
                        let assumption = |word: &&str| {
                            word.strip_prefix('A').is_some_and(|rest| rest.parse::<u32>().is_ok())
                        };
                        words.extend(parts.filter(assumption).map(str::to_owned));
                    }
                    _ => collect_words(value, words),
                }
            }
        }
        _ => {}
    }
}

/// The edits of a SARIF fix, carried out, take the finding away.
#[test]
fn fixes_in_sarif_fix() {
    let folder = scratch("sarif-fixes");
    let mut fixed = 0;
    for example in ["stack", "bank-transfer", "missing-lock", "write-skew", "lock-order"] {
        let file = format!("examples/{example}.eml");
        let asked = ["check", &file, "--no-cache", "--format", "sarif"];
        let log = output(&asked).expect("a log");
        let source = fs::read_to_string(root().join(&file)).expect("a text");
        for result in list(&log["runs"][0]["results"]) {
            let Some(fix) = result["fixes"].get(0) else { continue };
            let change = &fix["artifactChanges"][0];
            assert_eq!(change["artifactLocation"]["uri"], file.as_str());
            let changed = carried_out(&source, list(&change["replacements"]));
            let path = folder.join(format!("{example}-{fixed}.eml"));
            fs::write(&path, changed).expect("written");
            let after = ["check", path.to_str().expect("UTF-8"), "--no-cache", "--format", "sarif"];
            let after = output(&after).expect("a log");
            let same = |other: &&Value| {
                let properties = |result: &Value| {
                    let own = &result["properties"];
                    [&own["threads"], &own["locations"], &own["locks"], &own["tags"]]
                        .map(Clone::clone)
                };
                other["ruleId"] == result["ruleId"] && properties(other) == properties(result)
            };
            let left = list(&after["runs"][0]["results"]).iter().filter(same).count();
            assert_eq!(left, 0, "{file}: {}", fix["description"]["text"]);
            fixed += 1;
        }
    }
    assert!(fixed >= 4, "{fixed} fixes");
}

/// The text with insertions at line and column, each counted in the text as it was.
fn carried_out(source: &str, replacements: &[Value]) -> String {
    let mut text = source.to_owned();
    for replacement in replacements.iter().rev() {
        let region = &replacement["deletedRegion"];
        assert_eq!(region["startColumn"], region["endColumn"], "nothing is deleted");
        let (line, column) = (as_size(&region["startLine"]), as_size(&region["startColumn"]));
        let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let within = source[start..].char_indices().map(|(at, _)| at).nth(column - 1);
        let inserted = self::text(&replacement["insertedContent"]["text"]);
        text.insert_str(start + within.expect("a column"), inserted);
    }
    text
}
