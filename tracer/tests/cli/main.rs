//! The command line as a user meets it: exit codes, one line of error and one of hint, data on standard output only.
//!
//! Nothing here needs root, a kernel that traces, or a JVM.

#![expect(clippy::panic, reason = "what the tests share fails them as tests do")]

mod sessions;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tracer_source::source::{recording::Recorder, scenario::Scenario};

/// No process has it: the kernel's largest pid is 2^22.
const NOBODY: &str = "4000000000";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jtrace"));
    command.args(arguments).stdin(Stdio::null()).env_remove("JTRACE_LOG").env_remove("NO_COLOR");
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("jtrace runs")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("jtrace writes UTF-8")
}

#[track_caller]
fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    // One line for each file that is complete, and nothing else.
    let files = arguments.iter().filter(|argument| **argument == "-o").count();
    let lines: Vec<&str> = text(&output.stderr).lines().collect();
    assert!(lines.len() == files && lines.iter().all(|line| line.starts_with("wrote ")), "{arguments:?}: {lines:?}");
    text(&output.stdout).to_owned()
}

/// Runs what must be refused; gives the line of error and that of hint.
#[track_caller]
fn refused(arguments: &[&str], code: i32) -> [String; 2] {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert_eq!(text(&output.stdout), "", "{arguments:?} prints nothing");
    let lines: Vec<&str> = stderr.lines().collect();
    let [error, hint] = lines[..] else { panic!("{arguments:?}: not two lines: {stderr}") };
    assert!(error.len() > "error: ".len() && error.starts_with("error: "), "{arguments:?}: {error}");
    assert!(hint.len() > "hint: ".len() && hint.starts_with("hint: "), "{arguments:?}: {hint}");
    [error.to_owned(), hint.to_owned()]
}

/// A directory with the recording `x.jtrace` of a scenario.
struct Recorded {
    directory: tempfile::TempDir,
}

impl Recorded {
    fn new(scenario: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios").join(scenario);
        let scenario = Scenario::parse(&fs::read_to_string(path).expect("a scenario")).expect("it can be read");
        let mut bytes = Vec::new();
        let mut recorder = Recorder::new(&mut bytes).expect("memory takes everything");
        scenario.play(&mut |item| recorder.write(&item).expect("memory takes everything"));
        recorder.flush().expect("memory takes everything");
        drop(recorder);
        let recorded = Self { directory: tempfile::tempdir().expect("a directory") };
        fs::write(recorded.path("x.jtrace"), bytes).expect("a file");
        recorded
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("a name in UTF-8").to_owned()
    }
}

#[test]
fn mistakes_on_the_command_line_are_usage_errors() {
    for (arguments, mentions) in [
        (&[][..], "missing"),
        (&["atach", "1"], "atach"),
        (&["--frobnicate"], "--frobnicate"),
        (&["list", "--frobnicate"], "--frobnicate"),
        (&["list", "1"], "1"),
        (&["doctor", "x"], "x"),
        (&["probes"], "PID"),
        (&["attach"], "PID"),
        (&["attach", "x"], "x"),
        (&["attach", "-1"], "-1"),
        (&["attach", "1", "2"], "2"),
        (&["attach", "1", "--frobnicate"], "--frobnicate"),
        (&["attach", "1", "-d"], "duration"),
        (&["attach", "1", "-d", "0"], "0"),
        (&["attach", "1", "-d", "0s"], "0"),
        (&["attach", "1", "-d", "5"], "5s"),
        (&["attach", "1", "-d", "5y"], "y"),
        (&["attach", "1", "-l"], "lens"),
        (&["attach", "1", "--ring-size", "3k"], "power of two"),
        (&["attach", "1", "--ring-size", "1"], "power of two"),
        (&["attach", "1", "--json", "--text"], "--text"),
        (&["attach", "1", "--tui", "--events"], "--events"),
        (&["attach", "1", "-o"], "output"),
        (&["attach", "1", "-o", "x.pdf"], "x.pdf"),
        (&["attach", "1", "-o", "x"], "x"),
        (&["attach", "1", "-o", "x.json", "-o", "x.pdf"], "x.pdf"),
        (&["run"], "JAVA"),
        (&["run", "-o", "x.pdf", "--", "java"], "x.pdf"),
        (&["record"], "PID"),
        (&["record", "1", "-o", "x.json"], "x.json"),
        (&["record", "1", "-d", "0ms"], "0"),
        (&["report", "x.jtrace", "-o", "x.pdf"], "x.pdf"),
        (&["report", "x.jtrace", "--json", "--events"], "--events"),
        (&["report", "x.jtrace", "-o", "x.gz"], "x.gz"),
        (&["report", "x.jtrace", "-o", "x.folded", "--profile", "stacks"], "stacks"),
        (&["completions"], "SHELL"),
        (&["completions", "tcsh"], "tcsh"),
        (&["man", "1"], "1"),
    ] {
        let [error, _] = refused(arguments, 2);
        assert!(error.contains(mentions), "{arguments:?}: {error}");
    }
}

#[test]
fn an_unknown_lens_names_the_nearest_and_else_all() {
    for (wrong, nearest) in [("gcc", "gc"), ("lock", "locks"), ("gc,thread", "threads"), ("alloc,clases", "classes")] {
        let [error, hint] = refused(&["attach", "1", "-l", wrong], 2);
        assert!(error.contains(wrong.rsplit(',').next().expect("a last part")), "{error}");
        assert_eq!(hint, format!("hint: did you mean {nearest}?"));
    }
    let [_, hint] = refused(&["attach", "1", "-l", "qqqqqqqq"], 2);
    assert!(
        ["gc", "safepoint", "locks", "threads", "classes", "jit", "alloc"].iter().all(|lens| hint.contains(lens)),
        "{hint}"
    );
}

#[test]
fn valid_flags_are_taken_and_the_process_is_looked_for() {
    for flags in [
        &[][..],
        &["-d", "500ms"],
        &["--duration", "1.5h"],
        &["-l", "gc,locks"],
        &["--lens", "gc", "--lens", "jit"],
        &["--ring-size", "4k"],
        &["--json"],
        &["--text"],
        &["--tui"],
        &["--events"],
        &["-o", "/nonexistent/%p-%t-%h.json", "-o", "/nonexistent/x.html"],
        &["--json", "-d", "2m", "-o", "/nonexistent/x.txt"],
    ] {
        let arguments = [&["attach", NOBODY], flags].concat();
        let [error, _] = refused(&arguments, 1);
        assert!(error.contains(NOBODY), "{arguments:?}: {error}");
    }
    refused(&["record", NOBODY, "-d", "1s", "-o", "/nonexistent/x.jtrace"], 1);
    refused(&["probes", NOBODY], 1);
}

#[test]
fn files_that_are_not_what_they_must_be_are_refused() {
    let recorded = Recorded::new("quiet.txt");
    let whole = fs::read(recorded.path("x.jtrace")).expect("the recording");
    let mut newer = whole.clone();
    newer[8] = 9;
    for (name, bytes, mentions) in [
        ("foreign.jtrace", &b"not a recording"[..], "is not a jtrace recording"),
        ("empty.jtrace", b"", "is an empty file"),
        ("newer.jtrace", &newer, "version 9"),
        ("short.jtrace", &whole[..40], "ends before its first section"),
    ] {
        fs::write(recorded.path(name), bytes).expect("a file");
        let [error, _] = refused(&["report", &recorded.name(name)], 1);
        assert!(error.contains(mentions) && error.contains(name), "{error}");
    }
    refused(&["report", &recorded.name("absent.jtrace")], 1);
    refused(&["report", recorded.directory.path().to_str().expect("a name in UTF-8")], 1);
    refused(&["probes", &recorded.name("x.jtrace")], 1);
    refused(&["run", "--", "no-such-program-anywhere"], 1);
    refused(&["run", "--", "/bin/true"], 1);
}

#[test]
fn a_hostile_file_name_is_shown_and_not_obeyed() {
    let [error, _] = refused(&["report", "/nonexistent/\u{1b}[2J\u{202e}x.jtrace"], 1);
    assert!(!error.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{error:?}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = succeed(&["--help"]);
    for command in ["list", "doctor", "probes", "attach", "run", "record", "report", "completions", "man"] {
        assert!(help.contains(command), "{help}");
        let own = succeed(&[command, "--help"]);
        assert!(own.contains("Usage: jtrace"), "{own}");
        assert_eq!(succeed(&["help", command]).lines().next(), own.lines().next());
    }
    assert!(!help.contains("wait-and-exec"), "what is not for users is not shown");
    assert_eq!(succeed(&["--version"]), format!("jtrace {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let manual = succeed(&["man"]);
    assert!(manual.contains(".TH jtrace"), "{manual}");
    let scripts = ["bash", "zsh", "fish"].map(|shell| succeed(&["completions", shell]));
    for command in ["list", "doctor", "probes", "attach", "run", "record", "report"] {
        assert!(manual.contains(command), "the manual lacks {command}");
        assert!(scripts.iter().all(|script| script.contains(command)), "a script lacks {command}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_anything_is_printed() {
    let recorded = Recorded::new("quiet.txt");
    for name in ["absent/r.json", "absent/r.jtrace"] {
        let [error, _] = refused(&["report", &recorded.name("x.jtrace"), "--text", "-o", &recorded.name(name)], 1);
        assert!(error.contains("cannot write") && error.contains(name), "{error}");
    }
    fs::create_dir(recorded.path("folder.json")).expect("a directory");
    refused(&["report", &recorded.name("x.jtrace"), "-o", &recorded.name("folder.json")], 1);
}

#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_a_success() {
    let recorded = Recorded::new("incident.txt");
    let input = recorded.name("x.jtrace");
    for arguments in
        [&["report", &input][..], &["report", &input, "--json"], &["report", &input, "--events"], &["man"], &["--help"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        let output = command(arguments).stdout(full).output().expect("jtrace runs");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(text(&output.stderr).lines().count(), 2, "{arguments:?}: {}", text(&output.stderr));

        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command(arguments).stdout(writer).output().expect("jtrace runs");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_it() {
    let recorded = Recorded::new("incident.txt");
    let mut child = command(&["report", &recorded.name("x.jtrace"), "--events"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("jtrace runs");
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    assert!(line.starts_with('{'), "{line}");
    drop(reader);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}
