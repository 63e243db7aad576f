//! jtrace with fewer capabilities: by file for a group, of which each member attaches to JVMs of her own, and to nobody else's;
//! and as a service.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{LIMIT, binary, refused},
    jvm::{Jvm, Launch},
    process::{Finished, Process},
    report::Report,
    workspace,
};

/// Two users who have nothing on this machine, and the group of those who may use jtrace.
const MEMBER: u32 = 61_240;
const OTHER: u32 = 61_241;
const GROUP: u32 = 61_242;

fn as_user(uid: u32, groups: &[u32]) -> Command {
    let mut command = Command::new("setpriv");
    let uid = uid.to_string();
    command.args(["--reuid", &uid, "--regid", &uid]);
    let groups: Vec<String> = groups.iter().map(u32::to_string).collect();
    if groups.is_empty() {
        command.arg("--clear-groups");
    } else {
        command.args(["--groups", &groups.join(",")]);
    }
    // setpriv starts a program while it still has root's rights; what that one starts is the user's.
    command.args(["--", "env"]).current_dir("/");
    command
}

/// The capabilities that `docs/security.md` has in its example of `setcap`.
fn of_document() -> Result<String> {
    let text = fs::read_to_string(workspace().join("docs/security.md"))?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("setcap "));
    let capabilities = line.and_then(|line| line.split_whitespace().next());
    Ok(capabilities.expect("docs/security.md has an example of setcap").to_owned())
}

/// The bounding set of the document's service, as `setpriv` takes it.
fn bounding_set() -> Result<String> {
    let text = fs::read_to_string(workspace().join("docs/security.md"))?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("CapabilityBoundingSet="));
    let names = line.expect("docs/security.md has an example of a service").split_whitespace();
    let names = names.map(|name| format!("+{}", name.trim_start_matches("CAP_").to_lowercase()));
    Ok(std::iter::once("-all".to_owned()).chain(names).collect::<Vec<_>>().join(","))
}

#[test]
fn a_service_with_the_documents_capabilities_attaches_and_weaves_in_anybodys_jvm() -> Result<()> {
    let mut jvm = jvm_of(OTHER)?;
    let pid = jvm.pid().to_string();
    for words in [
        &["attach", &pid, "-d", "1s", "--json"][..],
        &["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--json"],
    ] {
        let mut command = Command::new("setpriv");
        command.args(["--no-new-privs", "--inh-caps=-all"]).arg(format!("--bounding-set={}", bounding_set()?));
        let finished = Finished::of(command.arg(binary()?).args(words), LIMIT)?;
        ensure!(finished.code == 0, "{words:?}: {}", finished.stderr);
        let missing = Report::parse(&finished.stdout)?.0["completeness"].to_string();
        ensure!(!missing.contains("could not be armed"), "{missing}");
    }
    ensure!(jvm.flag("DTraceMonitorProbes")? == "false", "the flag stays up");
    jvm.finish().map(drop)
}

/// A copy of jtrace, as the document has it installed.
fn installed(directory: &Path) -> Result<PathBuf> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    let copy = directory.join("jtrace");
    fs::copy(binary()?, &copy)?;
    chown(&copy, Some(0), Some(GROUP))?;
    // After the owner, whose change takes capabilities away.
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o750))?;
    let made = Command::new("setcap").arg(of_document()?).arg(&copy).status()?;
    ensure!(made.success(), "setcap failed");
    Ok(copy)
}

fn jvm_of(uid: u32) -> Result<Jvm> {
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "20"]);
    let directory = tempfile::tempdir()?;
    let words = launch.command(directory.path());
    launch.start_by(as_user(uid, &[]).args(words), directory)
}

#[test]
fn a_member_of_the_group_attaches_to_her_own_jvms_and_to_nobody_elses() -> Result<()> {
    let (directory, runtime) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let jtrace = installed(directory.path())?;
    chown(runtime.path(), Some(MEMBER), Some(MEMBER))?;
    let (mut own, mut others) = (jvm_of(MEMBER)?, jvm_of(OTHER)?);
    let run = |groups: &[u32], words: &[&str]| {
        let mut command = as_user(MEMBER, groups);
        command.arg(&jtrace).args(words).env("XDG_RUNTIME_DIR", runtime.path()).env("NO_COLOR", "1");
        Finished::of(&mut command, LIMIT)
    };
    let (own_pid, others_pid) = (own.pid().to_string(), others.pid().to_string());
    // Her own: flags are armed and restored, too.
    own.go()?;
    let finished = run(&[GROUP], &["attach", &own_pid, "-d", "2s", "--json"])?;
    ensure!(finished.code == 0, "{}", finished.stderr);
    let report = Report::parse(&finished.stdout)?;
    ensure!(report.target("pid") == own.pid(), "{}", report.0["target"]);
    let missing = report.0["completeness"].to_string();
    ensure!(!missing.contains("could not be armed"), "{missing}");
    own.done()?;
    ensure!(own.flag("DTraceMonitorProbes")? == "false", "the flag stays up");
    // Somebody else's.
    for command in [&["attach", &others_pid, "-d", "1s"][..], &["probes", &others_pid], &["perf-map", &others_pid]] {
        let said = refused(&run(&[GROUP], command)?, 1)?;
        ensure!(said.contains("permission"), "{command:?}: {said}");
    }
    let list: Value = serde_json::from_slice(&run(&[GROUP], &["list", "--json"])?.stdout)?;
    let rows = list["jvms"].as_array().expect("a list");
    ensure!(rows.iter().any(|row| row["pid"] == own.pid()), "{list}");
    ensure!(!rows.iter().any(|row| row["pid"] == others.pid()), "{list}");
    // Who is not in the group cannot even start it.
    ensure!(run(&[], &["--version"])?.code != 0, "anybody can start it");
    own.finish()?;
    others.finish()?;
    Ok(())
}

/// Runs jtrace as root without some capabilities, in words of `setpriv`.
fn without(capabilities: &str, words: &[&str]) -> Result<Finished> {
    let mut command = Command::new("setpriv");
    let dropped: Vec<String> = capabilities.split(' ').map(|name| format!("-{name}")).collect();
    command.args(["--inh-caps=-all", &format!("--bounding-set={}", dropped.join(","))]);
    Finished::of(command.arg(binary()?).args(words).env("NO_COLOR", "1"), LIMIT)
}

/// What the table of the document says of a capability is what is missing where nobody has it.
#[test]
fn each_capability_is_for_what_the_table_says() -> Result<()> {
    let mut jvm = jvm_of(OTHER)?;
    let pid = jvm.pid().to_string();
    let attach = ["attach", &pid, "-l", "locks,cpu", "-d", "500ms", "--json"];
    let markers = ["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--json"];
    // Without these nothing can be watched, and the first line names them.
    for (missing, name) in [("bpf sys_admin", "CAP_BPF"), ("perfmon sys_admin", "CAP_PERFMON")] {
        let finished = without(missing, &attach)?;
        ensure!(finished.code == 1 && finished.stderr.contains(name), "{missing}: {}", finished.stderr);
    }
    let finished = without("sys_ptrace", &attach)?;
    ensure!(finished.code == 1 && finished.stderr.contains("permission"), "sys_ptrace: {}", finished.stderr);
    // CAP_SYS_ADMIN stands for the first two. The others are for a part, without which the rest goes on.
    for missing in [
        "bpf perfmon",
        "sys_nice",
        "checkpoint_restore sys_admin",
        "dac_read_search",
        "syslog",
        "setuid setgid sys_chroot sys_admin kill",
    ] {
        let finished = without(missing, &attach)?;
        ensure!(finished.code == 0, "without {missing}: {}", finished.stderr);
        let lacks = Report::parse(&finished.stdout)?.0["completeness"].to_string();
        ensure!(!lacks.contains("could not be armed"), "without {missing}: {lacks}");
    }
    // The flag is in the memory of another user's process.
    let finished = without("dac_override", &attach)?;
    ensure!(finished.code == 0, "{}", finished.stderr);
    let lacks = Report::parse(&finished.stdout)?.0["completeness"].to_string();
    ensure!(lacks.contains("could not be armed"), "without dac_override: {lacks}");
    ensure!(jvm.flag("DTraceMonitorProbes")? == "false", "the flag stays up");
    // Who cannot become the target's user loads no library.
    let finished = without("setuid setgid", &markers)?;
    ensure!(finished.code == 1, "without setuid: {}", finished.stderr);
    ensure!(without("syslog", &markers)?.code == 0, "the library needs no more");
    jvm.finish().map(drop)
}

#[test]
fn a_library_that_only_its_user_may_read_takes_a_capability() -> Result<()> {
    const LOADS: &str =
        "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print('READY', flush=True); sys.stdin.readline()";
    let directory = tempfile::tempdir()?;
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
    let library = directory.path().join("libjvm.so");
    fs::copy(jdk::any()?.libjvm(), &library)?;
    chown(&library, Some(OTHER), Some(OTHER))?;
    fs::set_permissions(&library, fs::Permissions::from_mode(0o600))?;
    let process = Process::spawn(as_user(OTHER, &[]).args(["python3", "-c", LOADS]).arg(&library))?;
    process.stdout.wait_for_line("READY", 0, LIMIT)?;
    let pid = process.pid().to_string();
    for (missing, code) in [("sys_nice", 0), ("dac_override", 0), ("dac_read_search dac_override", 1)] {
        let finished = without(missing, &["probes", &pid])?;
        ensure!(finished.code == code, "without {missing}: {}, {}", finished.code, finished.stderr);
    }
    Ok(())
}

/// What a process has mapped is found by its name where it may not be asked for, so a library that was deleted is not.
#[test]
fn a_library_that_has_no_name_any_more_takes_a_capability() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let copy = jdk::any()?.copy_to(directory.path())?;
    let mut jvm = Launch::new(&copy, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    fs::remove_dir_all(&copy.home)?;
    let pid = jvm.pid().to_string();
    for (missing, code) in [("sys_nice", 0), ("checkpoint_restore sys_admin", 1)] {
        let finished = without(missing, &["probes", &pid])?;
        ensure!(finished.code == code, "without {missing}: {}, {}", finished.code, finished.stderr);
    }
    jvm.process().close_stdin();
    Ok(())
}

/// The table names all that the service may keep, and one more to give them up.
#[test]
fn the_documents_service_has_the_capabilities_of_the_table() -> Result<()> {
    let text = fs::read_to_string(workspace().join("docs/security.md"))?;
    let table = text.split("| capability | for |").nth(1).context("no table")?.split("\n\n").next().unwrap_or_default();
    let named = table.split('`').filter(|word| word.starts_with("CAP_") && !word.contains(' '));
    let named = named.map(|name| format!("+{}", name.trim_start_matches("CAP_").to_lowercase()));
    let named: BTreeSet<String> = named.chain(["-all".to_owned(), "+setpcap".to_owned()]).collect();
    let given: BTreeSet<String> = bounding_set()?.split(',').map(str::to_owned).collect();
    assert_eq!(given, named);
    Ok(())
}

#[test]
fn commands_that_read_only_files_need_no_capability() -> Result<()> {
    let (directory, own) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
    let program = directory.path().join("jtrace");
    fs::copy(binary()?, &program)?;
    chown(own.path(), Some(MEMBER), Some(MEMBER))?;
    let file = |name: &str| own.path().join(name).display().to_string();
    let (recording, report, classes) = (file("a.jtrace"), file("a.html"), tests::jvm::classes("locks"));
    let mut jvm = jvm_of(OTHER)?;
    tests::jtrace::succeed(&["record", &jvm.pid().to_string(), "-d", "500ms", "-o", &recording])?;
    jvm.finish()?;
    chown(&recording, Some(MEMBER), Some(MEMBER))?;
    let classes = classes.display().to_string();
    for words in [
        &["report", &recording][..],
        &["report", &recording, "-o", &report],
        &["diff", &recording, &recording],
        &["completions", "bash"],
        &["man"],
        &["markers", "check", "--class-path", &classes, "--marker", "all=Locks::*"],
        &["typestate", "list"],
        &["typestate", "graph", "hasnext"],
        &["typestate", "check", "hasnext"],
    ] {
        let finished = Finished::of(as_user(MEMBER, &[]).arg(&program).args(words), LIMIT)?;
        ensure!(finished.code == 0, "{words:?}: {}", finished.stderr);
    }
    Ok(())
}

/// The lines of a document's example that begin with a word, up to one that ends it.
fn example(begins: &str, ends: &str) -> Result<String> {
    let text = fs::read_to_string(workspace().join("docs/security.md"))?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("    {begins}")));
    let mut found = String::new();
    for line in lines.by_ref() {
        found.push_str(line);
        found.push('\n');
        if line.trim() == ends || ends.is_empty() && !line.starts_with("    ") {
            break;
        }
    }
    ensure!(!found.is_empty(), "docs/security.md has no example that begins with `{begins}`");
    Ok(found)
}

/// Whether there is such a program.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_documents_lines_for_sudo_are_lines_that_sudo_takes() -> Result<()> {
    let lines = example("%jtrace ", "")?;
    ensure!(!lines.contains(" -o") && !lines.contains('*'), "root would write where a member says: {lines}");
    if is_installed("visudo") {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), &lines)?;
        let finished = Finished::of(Command::new("visudo").arg("-cf").arg(file.path()), LIMIT)?;
        ensure!(finished.code == 0, "{}{}", finished.text(), finished.stderr);
    } else {
        println!("visudo is not installed: what the lines allow was tried, and not whether sudo reads them so");
    }
    allow_what_the_document_says(&lines)
}

/// Arguments are those of a member that the whole of one expression matches: `sudo` and `grep` have the same ones.
fn allow_what_the_document_says(lines: &str) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("expressions");
    let expressions =
        lines.split('^').skip(1).filter_map(|rest| rest.split_once('$')).map(|(expression, _)| expression);
    fs::write(&file, expressions.collect::<Vec<_>>().join("\n"))?;
    for (arguments, is_allowed) in [
        ("list", true),
        ("list --json", true),
        ("threads 42", true),
        ("attach 42 --json -d 10s", true),
        ("attach 42 --json -d 10s -o /etc/passwd", false),
        ("threads 42 --json", false),
        ("threads 4x", false),
        ("record 42 -o /etc/passwd", false),
        ("report /etc/shadow", false),
        ("list --jsonx", false),
        ("", false),
    ] {
        let mut grep = Process::spawn(Command::new("grep").args(["-E", "-x", "-q", "-f"]).arg(&file))?;
        grep.send_line(arguments)?;
        grep.close_stdin();
        let code = grep.wait(LIMIT)?.code();
        ensure!(code == Some(i32::from(!is_allowed)), "`{arguments}`: {code:?}, {}", grep.transcript());
    }
    Ok(())
}

/// Whether a value is one that the key may have.
type IsValue = fn(&str) -> bool;

/// What may stand behind each key of the document's unit, for a machine without systemd.
const OF_UNITS: [(&str, IsValue); 9] = [
    ("ExecStart", |value| value.starts_with("/usr/local/bin/jtrace record %i ")),
    ("KillSignal", |value| value == "SIGINT"),
    ("CapabilityBoundingSet", |value| value.split(' ').all(|name| name.starts_with("CAP_"))),
    ("NoNewPrivileges", |value| value == "yes"),
    ("StateDirectory", |value| value == "jtrace"),
    ("StateDirectoryMode", |value| value == "0700"),
    ("RuntimeDirectory", |value| value == "jtrace"),
    ("RuntimeDirectoryMode", |value| value == "0700"),
    ("RuntimeDirectoryPreserve", |value| value == "yes"),
];

/// It says on standard error what it leaves out of a unit, and that is no failure to it.
#[test]
fn the_documents_unit_is_one_that_systemd_takes_as_it_is() -> Result<()> {
    let unit = example("[Service]", "")?.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let mut lines = unit.lines().filter(|line| !line.is_empty());
    ensure!(lines.next() == Some("[Service]"), "{unit}");
    for line in lines {
        let (key, value) = line.split_once('=').with_context(|| format!("no directive: {line}"))?;
        let known = OF_UNITS.iter().find(|(known, _)| *known == key).with_context(|| format!("what is {key}?"))?;
        ensure!((known.1)(value), "{line}");
    }
    if !is_installed("systemd-analyze") {
        println!("systemd-analyze is not installed: the unit was compared with a list of keys alone");
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("jtrace-record@42.service");
    fs::write(&file, unit.replace("/usr/local/bin/jtrace", &binary()?.to_string_lossy()))?;
    let finished = Finished::of(Command::new("systemd-analyze").arg("verify").arg(&file), LIMIT)?;
    let said = finished.text() + &finished.stderr;
    ensure!(finished.code == 0 && !said.contains("jtrace-record"), "{said}");
    Ok(())
}

#[test]
fn the_documents_rule_for_polkit_allows_the_units_of_the_document_and_no_other() -> Result<()> {
    const TRIES: &str = r#"
const one = (id, unit, verb, group) => rule(
    { id, lookup: (key) => ({ unit, verb })[key] }, { isInGroup: (name) => name === "jtrace" && group }) ?? "no";
const units = "org.freedesktop.systemd1.manage-units";
console.log([
    one(units, "jtrace-record@42.service", "start", true), one(units, "jtrace-record@42.service", "stop", true),
    one(units, "jtrace-record@42.service", "start", false), one(units, "jtrace-record@42.service", "restart", true),
    one(units, "jtrace-record@x.service", "start", true), one(units, "ssh.service", "stop", true),
    one(units, "xjtrace-record@42.service", "stop", true), one("org.freedesktop.login1.reboot", undefined, undefined, true),
].join(" "));
"#;
    let rule = example("polkit.addRule", "});")?;
    if !is_installed("node") {
        println!("Node.js is not installed: the rule for polkit was not run");
        return Ok(());
    }
    let begin = "let rule; const polkit = { Result: { YES: 'yes' }, addRule: (one) => { rule = one; } };";
    let finished = Finished::of(Command::new("node").arg("-e").arg(format!("{begin}{rule}{TRIES}")), LIMIT)?;
    ensure!(finished.text().trim() == "yes yes no no no no no no", "{}{}", finished.text(), finished.stderr);
    Ok(())
}
