//! A shell stands in for a JVM: it can keep the agreement, and break it.

use std::fs;

use super::*;
use crate::bench::program::Agreement;

const LIMITS: Limits =
    Limits { start: Duration::from_mins(10), iteration: Duration::from_mins(10), end: Duration::from_mins(10) };

fn launch(script: &str) -> Launch {
    let words = vec!["-c".into(), script.into(), "sh".into()];
    Launch { java: Some("/bin/sh".into()), words, folder: None, agreement: Agreement::Lines }
}

fn start(launch: Launch, limits: Limits) -> Target {
    Target::start("sh", launch, Path::new("java"), &[], limits, &Interruption::default()).unwrap()
}

fn error(result: Result<impl Sized, Error>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn a_program_that_keeps_the_agreement_is_measured() {
    let script = "echo hello; echo READY; n=0
        while read line; do n=$((n + 1)); echo noise; echo DONE ns=$((n * 100)) valid=true turns=$n; done";
    let mut target = start(launch(script), LIMITS);
    target.wait_until_ready().unwrap();
    assert_eq!(target.iterate().unwrap().wall_ns, 100);
    let second = target.iterate().unwrap();
    assert_eq!((second.wall_ns, second.counts["turns"]), (200, 2));
    assert!(second.cpu_ns.is_some());
    target.finish().unwrap();
}

#[test]
fn a_program_that_does_not_start_hangs_or_ends_badly_is_named_with_its_last_words() {
    let short = Limits { start: Duration::from_millis(20), iteration: Duration::from_millis(20), ..LIMITS };
    let mut dead = start(launch("echo Error: no heap >&2; exit 3"), LIMITS);
    let message = error(dead.wait_until_ready());
    assert!(message.starts_with("sh did not become ready: it ended with exit code 3"), "{message}");
    assert!(message.ends_with("its last words: Error: no heap"), "{message}");
    let mut silent = start(launch("read line"), short);
    assert!(error(silent.wait_until_ready()).contains("did not become ready within 20ms"));
    let mut hanging = start(launch("echo READY; read line; read line"), Limits { start: LIMITS.start, ..short });
    hanging.wait_until_ready().unwrap();
    assert!(error(hanging.iterate()).contains("did not finish an iteration within 20ms"));
    let mut bad = start(launch("echo READY; read line; exit 4"), LIMITS);
    bad.wait_until_ready().unwrap();
    assert!(error(bad.finish()).contains("ended with exit code 4"));
    let absent = Launch { java: Some("/nowhere/java".into()), ..launch("") };
    let started = Target::start("sh", absent, Path::new("java"), &[], LIMITS, &Interruption::default());
    assert!(error(started).contains("cannot start /nowhere/java of sh"));
}

#[test]
fn a_program_that_is_measured_by_its_end_has_all_its_time_and_its_exit_code_counts() {
    let busy = "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done";
    let iteration = start(launch(busy), LIMITS).run_to_its_end().unwrap();
    assert!(iteration.wall_ns > 0 && iteration.cpu_ns.is_some(), "{iteration:?}");
    assert!(error(start(launch("exit 5"), LIMITS).run_to_its_end()).contains("exit code 5"));
    let short = Limits { iteration: Duration::from_millis(20), ..LIMITS };
    let hanging = start(launch("exec sleep 100"), short);
    let pid = hanging.pid();
    assert!(error(hanging.run_to_its_end()).contains("did not end within 20ms"));
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is gone");
}

#[test]
fn flags_stand_behind_java_and_before_the_words() {
    let launch = Launch { java: None, ..launch("exit") };
    let line = command_line(&launch, Path::new("/jdk/java"), &["-Xmx1g".into(), "-XX:+F".into()]);
    assert_eq!(line, ["/jdk/java", "-Xmx1g", "-XX:+F", "-c", "exit", "sh"]);
}

#[test]
fn it_works_in_its_folder_which_goes_away_with_it() {
    let owned = Folder::new().unwrap();
    let folder = owned.path().to_owned();
    let launch = Launch { folder: Some(owned), ..launch("echo x > file; pwd > dir; echo READY; read line") };
    let mut target = start(launch, LIMITS);
    target.wait_until_ready().unwrap();
    assert_eq!(fs::read_to_string(folder.join("dir")).unwrap().trim(), folder.to_string_lossy());
    target.process.close_stdin();
    drop(target);
    assert!(!folder.exists());
}
