//! A report accounts for every event, a recording gives the same report again byte for byte, and a stream can be read while
//! it runs.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    log::Truth,
    patience::until_true,
    process::{Finished, Process, Signal},
    report::Report,
};

/// Attaches with two outputs, lets the workload work, and gives the JSON report and the path of the recording.
fn recorded(jvm: &mut Jvm, directory: &Path) -> Result<(Vec<u8>, String)> {
    let json = path(directory, "x.json");
    let recording = path(directory, "x.jtrace");
    let session = Session::attach(jvm.pid(), &["-o", &json, "-o", &recording])?;
    jvm.work()?;
    session.stop()?;
    Ok((fs::read(json)?, recording))
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_string_lossy().into_owned()
}

#[test]
fn live_equals_replay_byte_for_byte() -> Result<()> {
    for jdk in jdk::all()? {
        let workloads: [(&str, &str, &[&str]); 4] = [
            ("busy", "Busy", &["2000000"]),
            ("names", "Names", &[]),
            ("classes", "Classes", &[]),
            ("locks", "Locks", &["contended", "100"]),
        ];
        for (feature, main, arguments) in workloads {
            let directory = tempfile::tempdir()?;
            let mut jvm = Launch::new(&jdk, feature, main).arguments(arguments).start()?;
            let (live, recording) = recorded(&mut jvm, directory.path())?;
            Report::parse(&live)?;
            let replayed = jtrace::succeed(&["report", &recording, "--json"])?;
            assert!(replayed.stdout == live, "replay of {feature} on JDK {} differs from live", jdk.release);
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn the_record_command_keeps_what_attach_would_show() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let recording = path(directory.path(), "x.jtrace");
    let mut jvm = Launch::new(&jdk::any()?, "threads", "Threads").start()?;
    let session = Session::start(&["record", &jvm.pid().to_string(), "-o", &recording])?;
    let counts = jvm.work()?;
    session.stop()?;
    let report = Report::parse(&jtrace::succeed(&["report", &recording, "--json"])?.stdout)?;
    assert_eq!(report.summary("threads", "started")?, counts.get("started")?);
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_recording_is_readable_up_to_where_it_was_cut() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "100"]).start()?;
    let (_, recording) = recorded(&mut jvm, directory.path())?;
    jvm.finish()?;
    let whole = fs::read(&recording)?;
    let mut enters = Vec::new();
    for eighths in 4..=8 {
        let cut = path(directory.path(), "cut.jtrace");
        fs::write(&cut, &whole[..whole.len() * eighths / 8])?;
        let finished = jtrace::succeed(&["report", &cut, "--json"])?;
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        let sections = report["sections"].as_array().context("no sections")?;
        let locks = sections.iter().find(|section| section["id"] == "locks").context("no section locks")?;
        enters.push(locks["summary"]["contended_enters"].as_u64().context("no contended_enters")?);
    }
    assert!(enters.is_sorted(), "more of a recording shows more: {enters:?}");
    assert_eq!(enters.last(), Some(&100));
    Ok(())
}

#[test]
fn events_can_be_read_while_jtrace_runs() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "gc", "Gc").arguments(&["system", "7"]).start()?;
    let mut session = Session::attach(jvm.pid(), &["--events", "-l", "gc"])?;
    jvm.work()?;
    let mut read = 0;
    let mut seen = 0;
    while seen < 7 {
        let (line, next) = session.process().stdout.wait_for_line("{", read, jtrace::LIMIT)?;
        let event: Value = serde_json::from_str(&line)?;
        seen += u32::from(event.to_string().contains("gc_begin"));
        read = next;
    }
    assert!(session.process().is_running(), "events came while it ran");
    let Finished { stdout, .. } = session.stop()?;
    for line in String::from_utf8(stdout)?.lines() {
        serde_json::from_str::<Value>(line).with_context(|| format!("not JSON: {line}"))?;
    }
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_report_keeps_to_its_json_schema() -> Result<()> {
    let schema: Value = serde_json::from_slice(&fs::read(tests::workspace().join("docs/report.schema.json"))?)?;
    let validator = jsonschema::validator_for(&schema)?;
    for (feature, main, arguments) in [("names", "Names", ""), ("gc", "Gc", "system 7"), ("idle", "Idle", "")] {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let mut jvm = Launch::new(&jdk::any()?, feature, main).arguments(&arguments).start()?;
        let session = Session::attach(jvm.pid(), &[])?;
        jvm.work()?;
        let report = session.report()?;
        let errors: Vec<String> = validator.iter_errors(&report.0).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        jvm.finish()?;
    }
    Ok(())
}

/// Stops a process, and waits until the kernel says that it has stopped.
fn pause(process: &Process) -> Result<()> {
    process.signal(Signal::STOP)?;
    let tasks = format!("/proc/{}/task", process.pid());
    until_true("every thread has stopped", || {
        let stats = fs::read_dir(&tasks)?.flatten().map(|task| fs::read_to_string(task.path().join("stat")));
        // The command's name may hold spaces and parentheses; the state stands after it.
        let has_stopped =
            |stat: &str| stat.rsplit_once(')').is_some_and(|(_, state)| state.trim_start().starts_with('T'));
        Ok(stats.flatten().all(|stat| has_stopped(&stat)))
    })
}

#[test]
fn what_a_ring_of_4_kib_cannot_hold_is_counted_as_lost() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "classes", "Classes").log("class+load").start()?;
        let before = jvm.log()?.len();
        let mut session =
            Session::attach(jvm.pid(), &["-l", "classes", "--ring-size", "4k", "--max-overhead", "100000%"])?;
        let attached = jvm.log()?.len();
        // A reader that does not read is the heaviest load there is.
        pause(session.process())?;
        jvm.work()?;
        let done = jvm.log()?.len();
        session.process().signal(Signal::CONT)?;
        // Reading the report checks emitted = delivered + lost for every site.
        let report = session.report()?;
        let log = jvm.log()?;
        let [certain, possible] = [&log[attached..done], &log[before..]].map(|log| Truth::of(log).classes_loaded);
        let [mut emitted, mut delivered] = [0, 0];
        for site in report.sites("class__loaded") {
            emitted += site["emitted"].as_u64().context("no emitted")?;
            delivered += site["delivered"].as_u64().context("no delivered")?;
        }
        assert!((certain..=possible).contains(&emitted), "{emitted} emitted; the JVM logged {certain} to {possible}");
        assert!(delivered < 200, "{delivered} records of 4 KiB in two rings");
        assert!(report.completeness("lost")? > 800, "{}", report.0["completeness"]);
        assert_eq!(report.summary("classes", "loaded")?, delivered, "on JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// Its reader comes too late once for certain: it is stopped while the program goes on.
#[test]
fn a_ring_of_4_kib_under_load_accounts_for_every_event() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let text = path(directory.path(), "x.txt");
    let mut jvm = Launch::new(&jdk::any()?, "hotpark", "HotPark").arguments(&["200000", "200000"]).start()?;
    let words = ["-l", "locks", "--ring-size", "4k", "--max-overhead", "100000%", "-o", &text];
    let mut session = Session::attach(jvm.pid(), &words)?;
    jvm.work()?;
    pause(session.process())?;
    jvm.work()?;
    session.process().signal(Signal::CONT)?;
    jvm.work()?;
    let report = session.report()?;
    let (emitted, lost) = (report.completeness("emitted")?, report.completeness("lost")?);
    assert!(lost > 0, "nothing of {emitted} events was lost in 4 KiB");
    assert_eq!(emitted, report.completeness("delivered")? + lost);
    assert!(fs::read_to_string(text)?.contains("lost"), "the text does not say that events were lost");
    jvm.finish()?;
    Ok(())
}

/// Nobody looks while the program works: of what comes beyond the most that may come between two looks the programs take no more.
#[test]
fn what_comes_faster_than_jtrace_looks_is_refused_and_accounted_for() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "hotpark", "HotPark").arguments(&["200000", "200000"]).start()?;
    // A budget of a core or more refuses nothing.
    let mut session = Session::attach(jvm.pid(), &["-l", "locks", "--max-overhead", "1%"])?;
    pause(session.process())?;
    let parks = jvm.work()?.get("parks")?;
    session.process().signal(Signal::CONT)?;
    let report = session.report()?;
    jvm.finish()?;
    let sum =
        |key: &str| -> u64 { report.sites("thread__park__begin").iter().filter_map(|site| site[key].as_u64()).sum() };
    let [hits, refused, emitted] = ["hits", "refused", "emitted"].map(sum);
    assert!(hits >= parks, "{hits} hits of {parks} parks, while nobody could take the site away");
    assert!(refused > 0 && emitted > 0, "{refused} of {hits} hits were refused, {emitted} became events");
    assert!(report.completeness("refused")? >= refused);
    // Reading the report has checked this for every site; here it is said once more.
    let [emitted, delivered, lost] = ["emitted", "delivered", "lost"].map(|key| report.completeness(key));
    assert_eq!(emitted?, delivered? + lost?);
    let sentence = format!("{refused} hits of `");
    let is_named = |text: &&str| text.contains(&sentence) && text.contains("thread__park__begin");
    assert!(report.missing().iter().any(is_named), "no {sentence} in {:?}", report.missing());
    Ok(())
}

#[test]
fn a_duration_ends_the_session_by_itself() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let report = Session::attach(jvm.pid(), &["-d", "1s"])?.final_report()?;
    assert_eq!(report.end(), "duration");
    let length = report.0["span"]["duration_ns"].as_u64().context("no duration")?;
    // How much later it ends is for the machine to say.
    assert!(length >= 1_000_000_000, "a second took {length} ns");
    Ok(())
}
