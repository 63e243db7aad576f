//! `cargo xtask builds [NAME...]`: runs live tests of each lens on builds of the JVM: those of the usual tests, those that
//! `cargo xtask jdks --all` fetches, and a JDK 17 without notes and symbols, which is made here. What works is kept in a table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use tests::jdk::{self, Jdk};

use crate::{
    build, jdks,
    kept::{Kept, Rows},
    process,
    test::{live::Programs, output},
    workloads, workspace,
};

/// Where the last run is kept.
const KEPT: Kept = Kept {
    file: "tests/builds.txt",
    title: "What `cargo xtask builds --keep` found. Written by that command; a build that was not run keeps its row.",
    documents: &["README.md"],
};

/// The release that is stripped.
const STRIPPED: u32 = 17;

/// A part of jtrace, and the live test that says whether it works.
const PARTS: [(&str, &str); 22] = [
    ("gc", "builds::full_collections_and_their_operations_are_counted"),
    ("safepoint", "counts::safepoints_are_counted_on_every_collector"),
    ("contended monitors", "counts::five_hundred_contended_enters_are_counted"),
    ("waits", "builds::waits_are_counted_with_their_class"),
    ("parks", "counts::three_hundred_parks_are_counted_apart_from_monitors"),
    ("threads", "builds::threads_that_start_and_stop_are_counted"),
    ("classes", "counts::a_thousand_generated_classes_are_loaded_and_unloaded"),
    ("jit", "counts::compilations_are_counted"),
    ("alloc", "counts::allocation_is_estimated_within_a_tenth"),
    ("alloc --exact", "builds::objects_of_a_program_are_counted"),
    ("methods", "plain::calls_of_a_warm_program_are_counted_or_named_as_not_covered"),
    ("exceptions", "exceptions::exceptions_are_counted_by_class_and_place_with_every_collector"),
    ("where caught", "exceptions::exceptions_are_told_with_the_place_where_they_are_caught"),
    (
        "thread dumps",
        "thread_dump::who_waits_for_whom_and_for_what_is_told_and_circles_are_found_across_both_kinds_of_locks",
    ),
    ("heap", "heap::a_snapshot_says_what_the_program_planted_and_what_the_jvm_counts"),
    ("jni", "plain::jni_calls_of_a_warm_program_are_counted_on_every_build"),
    ("cpu", "clock::samples_of_a_busy_thread_add_up_to_the_time_that_it_ran"),
    ("offcpu", "clock::every_sleep_is_an_absence_with_its_length_and_its_system_call"),
    ("markers", "inside::started::every_call_counts_from_the_first_one_on"),
    ("typestate", "inside::started::objects_are_followed_from_the_first_one_on"),
    ("run", "counts::a_run_from_the_first_instruction_counts_the_whole_log"),
    ("100 attachments", "harmless::attaching_and_detaching_many_times_leaves_nothing_in_the_target"),
];
/// How many attachments these are.
pub(crate) const ATTACHMENTS: &str = "100";

/// What to run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Names of builds, as the table has them; all without any
    names: Vec<String>,

    /// Write the table into `tests/builds.txt`; a build that was not run keeps its row
    #[arg(long)]
    keep: bool,

    /// Take the jtrace that is built already
    #[arg(long)]
    built: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let Options { names, keep, built } = options;
    jdks::run(&jdks::Options::all())?;
    workloads::run(&workloads::Options::default())?;
    if !built {
        build::run(&build::Options::default())?;
    }
    let mut builds: BTreeMap<String, Jdk> = jdk::more_in(&workspace::jdks())?.into_iter().map(named).collect();
    builds.extend(jdk::all()?.into_iter().map(|jdk| (format!("temurin-{}", jdk.release), jdk)));
    builds.insert("debian-17".to_owned(), jdk::debian()?);
    builds.extend([stripped()?]);
    ensure!(
        names.iter().all(|name| builds.contains_key(name)),
        "there are the builds {}",
        builds.keys().cloned().collect::<Vec<_>>().join(", ")
    );
    builds.retain(|name, _| names.is_empty() || names.contains(name));
    let programs = Programs::build()?;
    let mut rows = Rows::new();
    for (name, jdk) in &builds {
        println!("== {name}");
        let passed = passed(&programs, jdk, &workspace::target().join("builds").join(name))?;
        rows.insert(name.clone(), row(name, &passed));
    }
    print!("{}", table(&rows));
    if *keep {
        KEPT.write(rows, Rows::new(), table)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn named(jdk: Jdk) -> (String, Jdk) {
    (jdk.home.file_name().unwrap_or_default().to_string_lossy().into_owned(), jdk)
}

/// A JDK whose libjvm.so has neither notes nor symbols but those that are exported.
fn stripped() -> Result<(String, Jdk)> {
    let name = format!("stripped-{STRIPPED}");
    let home = workspace::target().join("builds/made").join(&name);
    let jdk = Jdk { release: STRIPPED, home };
    if !jdk.libjvm().is_file() {
        fs::create_dir_all(jdk.home.parent().context("a JDK lies in a folder")?)?;
        let from = workspace::jdks().join(STRIPPED.to_string());
        process::run(process::command("cp").arg("-aL").arg(&from).arg(&jdk.home))?;
        let partial = jdk.home.join("libjvm.so.partial");
        let mut objcopy = process::command("objcopy");
        objcopy.args(["--strip-all", "--remove-section=.note.stapsdt"]).arg(from.join("lib/server/libjvm.so"));
        process::run(objcopy.arg(&partial))?;
        fs::rename(&partial, jdk.libjvm()).context("cannot put the stripped libjvm.so in its place")?;
    }
    Ok((name, jdk))
}

/// The tests that pass on a build. They find it in `folder` as the only JDK.
fn passed(programs: &Programs, jdk: &Jdk, folder: &Path) -> Result<BTreeSet<String>> {
    lay_out(jdk, folder)?;
    let mut command = programs.command("live", 1)?;
    command
        .env("JTRACE_JDKS", folder)
        .env("JTRACE_ATTACHMENTS", ATTACHMENTS)
        .arg("--exact")
        .args(PARTS.map(|(_, test)| test));
    if jdk.release.to_string() == workloads::OLDEST {
        let classes = workspace::target().join("builds/workloads").join(workloads::OLDEST);
        workloads::compile_for_oldest(&classes)?;
        command.env("JTRACE_WORKLOADS", classes);
    }
    let mut passed = BTreeSet::new();
    output::lines(&mut command, |line| {
        if let Some((test, true)) = output::of_test(line) {
            passed.insert(test.to_owned());
        }
    })?;
    Ok(passed)
}

fn lay_out(jdk: &Jdk, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let link: PathBuf = folder.join(jdk.release.to_string());
    if fs::read_link(&link).ok().as_ref() != Some(&jdk.home) {
        symlink(&jdk.home, &link).with_context(|| format!("cannot make {}", link.display()))?;
    }
    Ok(())
}

fn row(name: &str, passed: &BTreeSet<String>) -> String {
    let (good, bad): (Vec<_>, Vec<_>) = PARTS.into_iter().partition(|(_, test)| passed.contains(*test));
    let list =
        |parts: Vec<(&str, &str)>| parts.iter().map(|(part, _)| format!("`{part}`")).collect::<Vec<_>>().join(", ");
    format!("| {name} | {} | {} |", list(good), list(bad))
}

fn table(rows: &Rows) -> String {
    let mut text = "| build | right | not, or not all |\n|---|---|---|\n".to_owned();
    for row in rows.values() {
        _ = writeln!(text, "{row}");
    }
    text
}

// A module called `tests` would hide the crate of that name.
#[cfg(test)]
mod rows {
    use super::*;

    #[test]
    fn a_row_says_what_passed_and_what_did_not() {
        let passed = PARTS.iter().skip(2).map(|(_, test)| (*test).to_owned()).collect();
        let row = row("new", &passed);
        assert!(
            row.starts_with("| new | `contended monitors`, `waits`,") && row.ends_with("| `gc`, `safepoint` |"),
            "{row}"
        );
    }

    #[test]
    fn every_part_has_a_test_of_its_own() {
        assert_eq!(PARTS.map(|(_, test)| test).into_iter().collect::<BTreeSet<_>>().len(), PARTS.len());
    }
}
