//! The commands beside attach: list, doctor, probes, completions, man.

use anyhow::{Context as _, Result};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
    report::Report,
};

#[test]
fn list_names_every_jvm_with_its_main_class_and_arguments() -> Result<()> {
    for jdk in jdk::all()? {
        let jvm = Launch::new(&jdk, "idle", "Idle").arguments(&["first argument", "--second"]).start()?;
        let list = jtrace::succeed(&["list"])?.text();
        let line = list.lines().find(|line| line.split_whitespace().any(|word| word == jvm.pid().to_string()));
        let line = line.with_context(|| format!("{} is not listed: {list}", jvm.pid()))?;
        assert!(line.contains("Idle") && line.contains("root"), "{line}");
        let json: Value = serde_json::from_slice(&jtrace::succeed(&["list", "--json"])?.stdout)?;
        let all = json.as_array().or_else(|| json["jvms"].as_array()).context("no list of JVMs")?;
        let this = all.iter().find(|entry| entry["pid"] == jvm.pid()).context("not listed in JSON")?;
        assert_eq!(this["command"], "Idle first argument --second");
        assert_eq!(this["jdk_release"], jdk.release);
    }
    Ok(())
}

#[test]
fn list_leaves_out_what_is_no_jvm() -> Result<()> {
    let json: Value = serde_json::from_slice(&jtrace::succeed(&["list", "--json"])?.stdout)?;
    assert!(!json.to_string().contains(&format!("\"pid\":{},", std::process::id())));
    Ok(())
}

#[test]
fn doctor_says_what_works_here() -> Result<()> {
    jtrace::succeed(&["doctor"])?;
    for jdk in jdk::all()? {
        let jvm = Launch::new(&jdk, "idle", "Idle").start()?;
        let pid = jvm.pid().to_string();
        let text = jtrace::succeed(&["doctor", &pid])?.text();
        assert!(text.contains("DTraceMonitorProbes"), "{text}");
        let json: Value = serde_json::from_slice(&jtrace::succeed(&["doctor", &pid, "--json"])?.stdout)?;
        assert!(json.is_object() || json.is_array());
        assert_eq!(jvm.flag("DTraceMonitorProbes")?, "false", "looking changes nothing");
    }
    Ok(())
}

#[test]
fn probes_lists_the_notes_of_a_library_and_of_its_process_alike() -> Result<()> {
    for jdk in jdk::all()? {
        let jvm = Launch::new(&jdk, "idle", "Idle").start()?;
        let of_file = jtrace::succeed(&["probes", &jdk.libjvm().to_string_lossy()])?.text();
        let of_process = jtrace::succeed(&["probes", &jvm.pid().to_string()])?.text();
        assert_eq!(of_file, of_process);
        let notes = std::process::Command::new("readelf").arg("-n").arg(jdk.libjvm()).output()?;
        let notes = String::from_utf8_lossy(&notes.stdout).into_owned();
        let names: Vec<&str> = notes.lines().filter_map(|line| line.trim().strip_prefix("Name: ")).collect();
        assert!(names.len() > 400, "readelf finds {} notes", names.len());
        for name in names {
            assert!(of_file.contains(name), "{name} is not listed on JDK {}", jdk.release);
        }
        for name in ["perf:cpu-clock", "sched:sched_switch"] {
            assert!(of_file.lines().any(|line| line.starts_with(name)), "{name} is not listed on JDK {}", jdk.release);
        }
    }
    Ok(())
}

#[test]
fn output_names_take_the_pid_the_time_and_the_host() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pattern = directory.path().join("%p-%h-%t.json").to_string_lossy().into_owned();
    Session::attach(jvm.pid(), &["-l", "gc", "-o", &pattern])?.stop()?;
    let names: Vec<String> = std::fs::read_dir(directory.path())?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, _>>()?;
    let [name] = &names[..] else { panic!("not one file: {names:?}") };
    assert!(name.starts_with(&format!("{}-", jvm.pid())) && !name.contains('%'), "{name}");
    Ok(())
}

#[test]
fn completions_and_the_manual_are_printed() -> Result<()> {
    for shell in ["bash", "zsh", "fish"] {
        assert!(jtrace::succeed(&["completions", shell])?.text().contains("jtrace"));
    }
    assert!(jtrace::succeed(&["man"])?.text().contains(".TH"));
    Ok(())
}

/// What a screen has no room for is kept, and nothing is kept twice.
#[test]
fn a_session_ends_on_one_screen_and_report_shows_all_of_it() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "50"]).start()?;
    let pid = jvm.pid().to_string();
    let ended = jtrace::succeed(&["attach", &pid, "--text", "-d", "1s"])?.text();
    assert!(ended.lines().count() <= 40 && ended.contains("\nFINDINGS\n") && ended.contains("\nLENSES\n"), "{ended}");
    assert!(ended.contains("All tables: `sudo jtrace report --full`"), "{ended}");
    assert_eq!(jtrace::succeed(&["report"])?.text(), ended);
    let full = jtrace::succeed(&["report", "--full"])?.text();
    assert!(full.lines().count() > 40 && full.contains("\nGARBAGE COLLECTION\n"), "{full}");
    let kept = Report::parse(&jtrace::succeed(&["report", "--json"])?.stdout)?;
    assert_eq!(kept.0["target"]["pid"], jvm.pid());

    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("it's one.jtrace").display().to_string();
    let recorded = jtrace::succeed(&["attach", &pid, "--text", "-d", "500ms", "-o", &recording])?.text();
    let shown = format!("jtrace report '{}' --full", recording.replace('\'', r"'\''"));
    // The line is wrapped where the name of the folder is long.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&recorded).contains(&shown), "{recorded}");
    assert_eq!(jtrace::succeed(&["report"])?.text(), ended, "what is in a file is not kept beside it");
    jvm.finish().map(drop)
}
