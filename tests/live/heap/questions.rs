//! `jtrace heap --where`, `--group`, `--assert`: the answers are what the program planted, whether they are asked of the JVM, of a file, of
//! the JVM's own dump or of one that jtrace wrote; and what was not seen makes nothing hold.

use std::{fs, path::Path, process::Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{jdk, jtrace, patience::until};

use super::{BYTES, ENTRIES, ENTRY, HOLDER, REGISTRY, planted};

const LINKS: u64 = 2000;

/// What is answered, and the exit code.
fn ask(source: &str, arguments: &[&str]) -> Result<(Value, i32)> {
    let arguments = [&["heap", source, "--json"], arguments].concat();
    let finished = jtrace::run(&arguments)?;
    let answers = serde_json::from_slice(&finished.stdout)
        .with_context(|| format!("{arguments:?} ended with {}: {}", finished.code, finished.stderr))?;
    Ok((answers, finished.code))
}

/// What becomes of each assertion, and the exit code.
fn judge(source: &str, assertions: &[&str]) -> Result<(Vec<Value>, i32)> {
    let arguments: Vec<&str> = assertions.iter().flat_map(|assertion| ["--assert", assertion]).collect();
    let (answers, code) = ask(source, &arguments)?;
    Ok((answers["assertions"].as_array().context("no assertions")?.clone(), code))
}

fn verdicts(source: &str, assertions: &[&str]) -> Result<(Vec<String>, i32)> {
    let (judged, code) = judge(source, assertions)?;
    let verdict = |judged: &Value| judged["verdict"].as_str().unwrap_or_default().to_owned();
    Ok((judged.iter().map(verdict).collect(), code))
}

/// The last steps of the first way that speaks against an assertion.
fn way_against(judged: &Value) -> Result<Vec<String>> {
    let steps = judged["against"][0]["path"]["steps"].as_array().context("no way")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(steps.iter().map(|step| format!("{}.{}", text(&step["class"]), text(&step["by"]))).collect())
}

fn questions(source: &str, on: &str) -> Result<()> {
    let size = 16 + 4 * ENTRIES;
    for (predicate, objects, retained) in [
        (
            format!(
                r#"class == "Planted$Entry" && holder == "Planted$Holder" && field == "[]" && retained == {ENTRY}B && references == 1"#
            ),
            ENTRIES,
            ENTRIES * ENTRY,
        ),
        (
            format!(r#"class == "byte[]" && length == {BYTES} && holder ~ "Planted$En*""#),
            ENTRIES,
            ENTRIES * (ENTRY - 16),
        ),
        (format!(r#"class == "[LPlanted$Entry;" && size == {size}B && referrers == 1"#), 1, HOLDER - 24),
        (r#"class ~ "Planted*" && retained > 100KiB && !(length > 0)"#.to_owned(), 2, REGISTRY),
        (r#"holder == "class Planted" && holder == "Planted$Link""#.to_owned(), LINKS - 1, (LINKS - 1) * 24),
        (r#"class == "Planted$Faint" && root == "only_weak""#.to_owned(), 1, 16),
        (r#"class == "Planted$Seldom" && root == "stack_local" && depth == 0"#.to_owned(), 1, 16),
        (r#"class == "Planted$Shared" && field != "holder""#.to_owned(), 1, 16 + 16 + 1000),
    ] {
        let (answers, code) = ask(source, &["--where", &predicate])?;
        let total = &answers["answer"]["total"];
        ensure!(code == 0 && total["objects"] == objects, "{predicate} {on}: {total}");
        // What a holder shares is not in it.
        ensure!(total["retained_bytes"] == retained, "{predicate} {on}: {total} and not {retained}");
        ensure!(total["retained_exact"] == true && answers["not_whole"].is_null(), "{predicate} {on}: {answers}");
    }
    let text = format!(r#"class == "byte[]" && length == {BYTES}"#);
    let (answers, _) = ask(source, &["--where", &text, "--group", "holder", "--rows", "1000"])?;
    let groups = answers["answer"]["groups"].as_array().context("no groups")?;
    let of_entries = groups.iter().find(|group| group["name"] == "Planted$Entry").context("no entries")?;
    ensure!(of_entries["objects"] == ENTRIES, "{on}: {of_entries}");
    let (answers, _) = ask(source, &["--where", r#"class ~ "Planted*""#, "--group", "loader"])?;
    let groups = answers["answer"]["groups"].as_array().context("no groups")?;
    let names: Vec<&str> = groups.iter().filter_map(|group| group["name"].as_str()).collect();
    ensure!(names == ["jdk.internal.loader.ClassLoaders$AppClassLoader"], "{on}: {names:?}");
    Ok(())
}

fn assertions(source: &str, on: &str) -> Result<()> {
    let hold = [
        r#"count(class == "Planted$Registry") <= 1"#.to_owned(),
        format!(r#"count(class == "Planted$Link") == {LINKS}"#),
        format!(r#"retained(class == "Planted$Registry") == {REGISTRY}B"#),
        format!(r#"size(class == "Planted$Entry") < {}B"#, ENTRIES * 16 + 1),
        "every Planted$Entry through Planted$Holder".to_owned(),
        "every Planted$Shared through Planted$Registry".to_owned(),
        format!(r#"every (class == "byte[]" && length == {BYTES} && holder ~ "Planted*") through "Planted$Entry[]""#),
        // Weak references are no ways.
        "every Planted$Faint through Planted$Nothing".to_owned(),
    ];
    let (judged, code) = verdicts(source, &hold.each_ref().map(String::as_str))?;
    ensure!(code == 0 && judged.iter().all(|verdict| verdict == "holds"), "{on}: {judged:?}");
    let violated = [
        "every Planted$Shared through Planted$Holder",
        r#"count(class == "Planted$Link") < 10"#,
        "every Planted$Link through Planted$Link",
    ];
    let (judged, code) = judge(source, &violated)?;
    ensure!(code == 3 && judged.iter().all(|judged| judged["verdict"] == "violated"), "{on}: {judged:?}");
    let way = way_against(&judged[0])?;
    ensure!(way.ends_with(&["Planted.registry".to_owned(), "Planted$Registry.shared".to_owned()]), "{on}: {way:?}");
    ensure!(judged[0]["otherwise"] == 1 && judged[1]["least"] == LINKS, "{on}: {judged:?}");
    ensure!(judged[1]["against"].as_array().map(Vec::len) == Some(3), "{on}: {}", judged[1]);
    // The first link alone is behind no other one.
    ensure!(judged[2]["otherwise"] == 1, "{on}: {}", judged[2]);
    Ok(())
}

/// A dump without its last record is what is left of one that was being written.
fn cut(dump: &str, on: &str) -> Result<()> {
    let bytes = fs::read(dump)?;
    let (rest, end) = bytes.split_at(bytes.len() - 9);
    ensure!(end[0] == 0x2c, "{on}: the dump ends with {end:?}");
    let path = format!("{dump}.cut.hprof");
    fs::write(&path, rest)?;
    let (judged, code) = verdicts(
        &path,
        &[
            "every Planted$Entry through Planted$Holder",
            r#"count(class == "Planted$Link") >= 10"#,
            r#"count(class == "Planted$Link") <= 1000000"#,
            r#"retained(class == "Planted$Registry") < 1GiB"#,
        ],
    )?;
    ensure!(code == 4 && judged == ["undecided", "holds", "undecided", "undecided"], "{on}: {code} {judged:?}");
    let (judged, code) = verdicts(
        &path,
        &[
            "every Planted$Shared through Planted$Holder",
            r#"count(class == "Planted$Link") < 10"#,
            "every Planted$Entry through Planted$Holder",
        ],
    )?;
    ensure!(code == 3 && judged == ["violated", "violated", "undecided"], "{on}: {code} {judged:?}");
    // It stays a part when it is written anew.
    let (answers, _) = ask(&path, &["--group", "class"])?;
    ensure!(answers["not_whole"] == "the dump has no end", "{on}: {}", answers["not_whole"]);
    Ok(())
}

fn texts(kept: &str, dump: &str, on: &str) -> Result<()> {
    let finished = jtrace::run(&["heap", kept, "--assert", "every Planted$Shared through Planted$Holder"])?;
    ensure!(finished.code == 3, "{on}: {}", finished.stderr);
    let text = finished.text();
    ensure!(text.contains("VIOLATED") && text.contains("Planted$Registry.shared"), "{on}: {text}");
    // Nobody reads, and it does not hold all the same.
    let arguments = ["heap", kept, "--assert", "every Planted$Shared through Planted$Holder"];
    let mut unread = jtrace::command(&arguments)?.stdout(Stdio::piped()).spawn()?;
    drop(unread.stdout.take());
    ensure!(unread.wait()?.code() == Some(3), "{on}: a reader who has gone");
    let (answers, code) = ask(kept, &["--where", r#"thread == "keeper" && class == "Planted$Seldom""#])?;
    ensure!(code == 0 && answers["answer"]["total"]["objects"] == 1, "{on}: {answers}");
    let finished = jtrace::run(&["heap", dump, "--where", r#"size > 8 && thread == "keeper""#])?;
    ensure!(finished.code == 2 && finished.stdout.is_empty(), "{on}: {}", finished.stderr);
    let lines: Vec<&str> = finished.stderr.lines().collect();
    ensure!(
        lines[..3]
            == [
                "error: --where: this snapshot has no names of threads",
                r#"  size > 8 && thread == "keeper""#,
                "              ^~~~~~~~~~~~~~~~~~"
            ],
        "{on}: {}",
        finished.stderr
    );
    Ok(())
}

#[test]
fn questions_and_assertions_are_answered_alike_of_a_jvm_of_files_and_of_dumps() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for jdk in jdk::all()?.into_iter().filter(|jdk| [17, 25].contains(&jdk.release)) {
        let mut jvm = planted(&jdk, &[], LINKS)?;
        let pid = jvm.pid().to_string();
        let path =
            |name: &str| Path::new(directory.path()).join(format!("{}.{name}", jdk.release)).display().to_string();
        let (kept, dump, written) = (path("heap"), path("hprof"), path("written.hprof"));
        // What cannot be understood costs the JVM nothing.
        let finished = jtrace::run(&["heap", &pid, "--assert", "every Planted$Entry through"])?;
        ensure!(
            finished.code == 2 && finished.stderr.contains("a class is missing behind through"),
            "{}",
            finished.stderr
        );
        // A JVM that has just started loads classes beside the first walks, and nobody knows of what their objects are.
        until("a snapshot in which the class of each object is known", || {
            let asked = ["heap", &pid, "-o", &kept, "--assert", r#"count(class == "Planted$Registry") == 1"#];
            let finished = jtrace::run(&asked)?;
            ensure!([0, 4].contains(&finished.code), "{}{}", finished.text(), finished.stderr);
            Ok((finished.code == 0).then_some(()))
        })?;
        jtrace::succeed(&["heap", &kept, "-o", &written, "--group", "class"])?;
        jvm.jcmd(&["GC.heap_dump", &dump])?;
        for source in [&pid, &kept, &dump, &written] {
            let on = format!("of {source} on JDK {}", jdk.release);
            questions(source, &on)?;
            assertions(source, &on)?;
        }
        cut(&dump, &format!("on JDK {}", jdk.release))?;
        texts(&kept, &dump, &format!("on JDK {}", jdk.release))?;
        // From now on a list holds more of them.
        jvm.work()?;
        let (judged, code) = judge(&pid, &["every Planted$Entry through Planted$Holder"])?;
        ensure!(code == 3 && judged[0]["objects"] == ENTRIES + 1000 && judged[0]["otherwise"] == 1000, "{}", judged[0]);
        let way = way_against(&judged[0])?;
        ensure!(way.iter().any(|step| step == "Planted.MORE"), "JDK {}: {way:?}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}
