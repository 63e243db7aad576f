//! The table of `docs/security.md` that says which process of jtrace may do what, row by row, as the kernel sees it. How it is made
//! true against a user who attacks is in `hostile`.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    process::{Finished, Process, Signal},
    workspace,
};

/// A value of `/proc/.../status`, as a mask.
pub(crate) fn mask(status: &str, key: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key)).with_context(|| format!("no {key}"))?;
    Ok(u64::from_str_radix(line.trim_start_matches(':').trim(), 16)?)
}

/// The capabilities that a row of the table in `docs/security.md` names, as a mask.
pub(crate) fn of_document(process: &str) -> Result<u64> {
    let text = fs::read_to_string(workspace().join("docs/security.md"))?;
    let row = text.lines().find(|line| line.starts_with(&format!("| {process} |"))).context("no such row")?;
    let known = [
        ("CAP_DAC_OVERRIDE", 1),
        ("CAP_DAC_READ_SEARCH", 2),
        ("CAP_SYS_PTRACE", 19),
        ("CAP_SYS_NICE", 23),
        ("CAP_SYSLOG", 34),
        ("CAP_PERFMON", 38),
        ("CAP_BPF", 39),
        ("CAP_CHECKPOINT_RESTORE", 40),
    ];
    let named: Vec<&str> = row.split('`').filter(|word| word.starts_with("CAP_")).collect();
    named.iter().try_fold(0, |mask, name| {
        let known = known.iter().find(|(known, _)| known == name).with_context(|| format!("{name} is not known"))?;
        Ok(mask | 1 << known.1)
    })
}

/// Whether a process can get back nothing that it gave up, and the kernel refuses system calls of it.
pub(crate) fn is_filtered(status: &str) -> bool {
    status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2")
}

/// A pipe that takes nothing more.
pub(crate) fn full_pipe() -> Result<(std::io::PipeReader, std::io::PipeWriter)> {
    let (reader, mut writer) = std::io::pipe()?;
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    while poll(&mut [PollFd::new(&writer, PollFlags::OUT)], Some(&now))? > 0 {
        // There is room for a page.
        writer.write_all(&[b'.'; 4096])?;
    }
    Ok((reader, writer))
}

/// What the kernel says of a process as soon as it waits in a system call.
fn status_within(child: &mut Child, call: &str) -> Result<String> {
    let pid = child.id();
    until(&format!("it waits in `{call}`"), || {
        if let Some(status) = child.try_wait()? {
            bail!("it has ended: {status}");
        }
        let now = fs::read_to_string(format!("/proc/{pid}/syscall"))?;
        Ok(now.starts_with(call).then(|| fs::read_to_string(format!("/proc/{pid}/status"))).transpose()?)
    })
}

/// Checks that a process has what a row of the table names, and no more.
fn holds(row: &str, status: &str) -> Result<()> {
    let allowed = of_document(row)?;
    for set in ["CapEff", "CapPrm"] {
        ensure!(mask(status, set)? == allowed, "{row}: {set} is not {allowed:x}: {status}");
    }
    for set in ["CapBnd", "CapInh", "CapAmb"] {
        ensure!(mask(status, set)? & !allowed == 0, "{row}: {set} is more than {allowed:x}: {status}");
    }
    ensure!(is_filtered(status), "{row}: {status}");
    Ok(())
}

/// Bytes of memory that a process may need, which is the first to go where the machine has none left.
fn memory_limit(pid: u32) -> Result<u64> {
    let adjusted = fs::read_to_string(format!("/proc/{pid}/oom_score_adj"))?;
    ensure!(adjusted.trim() == "1000", "oom_score_adj is {adjusted}");
    let limits = fs::read_to_string(format!("/proc/{pid}/limits"))?;
    let memory = limits.lines().find_map(|line| line.strip_prefix("Max data size")).context("no such limit")?;
    Ok(memory.split_whitespace().next().context("no value")?.parse()?)
}

/// Checks that a process may not need more memory than that, and no more CPU time than a look takes.
fn limited(pid: u32, memory: u64) -> Result<()> {
    assert_eq!(memory_limit(pid)?, memory);
    let limits = fs::read_to_string(format!("/proc/{pid}/limits"))?;
    for (limit, most) in [("Max cpu time", "60"), ("Max core file size", "0")] {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit)).context("no such limit")?;
        ensure!(line.split_whitespace().next() == Some(most), "{limit}: {line}");
    }
    Ok(())
}

#[test]
fn commands_that_only_look_have_what_the_table_says_when_they_print() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let (pid, libjvm) = (jvm.pid().to_string(), jdk.libjvm().display().to_string());
    let looks = "`threads`, `probes`, `perf-map`";
    let examines = "`doctor`, once it has examined the machine";
    for (row, words) in [
        (looks, &["threads", &pid][..]),
        (looks, &["probes", &pid]),
        (looks, &["probes", &libjvm]),
        (looks, &["perf-map", "--stdout", &pid]),
        (looks, &["perf-map", &pid]),
        (examines, &["doctor", &pid]),
    ] {
        let (mut reader, writer) = full_pipe()?;
        let mut child = jtrace::command(words)?.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).spawn()?;
        // It has parsed all that it will, and waits for room on its standard output.
        let status = status_within(&mut child, "1 0x1 ").with_context(|| format!("{words:?}"))?;
        holds(row, &status).with_context(|| format!("{words:?}"))?;
        limited(child.id(), 1 << 30).with_context(|| format!("{words:?}"))?;
        reader.read_to_end(&mut Vec::new())?;
        ensure!(child.wait()?.success(), "{words:?}");
    }
    jvm.finish().map(drop)
}

/// A snapshot is parsed before anything is printed, whoever wrote it.
#[test]
fn commands_that_parse_heaps_have_what_the_table_says_when_they_print() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = jvm.pid().to_string();
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("a.heap");
    let file = file.to_str().context("UTF-8")?;
    jtrace::succeed(&["heap", &pid, "-o", file])?;
    let of_files = "`heap`, `heap diff` and `leaks` of files";
    let of_jvms = "`heap` and `leaks` of a JVM, once the library of the last snapshot is in it";
    for (row, words) in [
        (of_files, &["heap", file, "--json"][..]),
        (of_files, &["heap", "diff", file, file, "--json"]),
        (of_files, &["leaks", file, file, "--json"]),
        (of_jvms, &["heap", &pid, "--json"]),
        (of_jvms, &["leaks", &pid, "-n", "2", "-d", "1s", "--json"]),
    ] {
        let (mut reader, writer) = full_pipe()?;
        let mut child = jtrace::command(words)?.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).spawn()?;
        let status = status_within(&mut child, "1 0x1 ").with_context(|| format!("{words:?}"))?;
        holds(row, &status).with_context(|| format!("{words:?}"))?;
        // What was packed takes a thousandth of itself: a file must not fill the machine.
        let files = words.iter().filter(|word| **word == file).count() as u64;
        if row == of_files {
            assert_eq!(memory_limit(child.id())?, (4 << 30) + 64 * files * fs::metadata(file)?.len(), "{words:?}");
        }
        reader.read_to_end(&mut Vec::new())?;
        ensure!(child.wait()?.success(), "{words:?}");
    }
    jvm.finish().map(drop)
}

/// It stands still before the first process, as nobody takes what it says.
#[test]
fn a_process_that_looks_has_what_the_table_says() -> Result<()> {
    let (reader, writer) = full_pipe()?;
    let mut child =
        jtrace::command(&["look-apart", "1"])?.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).spawn()?;
    let looked = status_within(&mut child, "1 0x1 ").and_then(|status| {
        holds("one that looks into unknown processes", &status)?;
        limited(child.id(), 1 << 30)
    });
    drop(reader);
    child.wait()?;
    looked
}

/// Threads have capabilities each for itself.
#[test]
fn the_thread_that_bounds_the_urgent_one_has_one_capability() -> Result<()> {
    const SYS_NICE: u64 = 1 << 23;
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let mut session = jtrace::Session::attach(jvm.pid(), &[])?;
    let pid = session.process().pid();
    until("one thread has that capability and no other", || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
        let statuses: Vec<String> = tasks.flat_map(|task| fs::read_to_string(task.path().join("status"))).collect();
        let sets = statuses.iter().map(|status| mask(status, "CapEff")).collect::<Result<Vec<_>>>()?;
        Ok((sets.iter().filter(|set| **set == SYS_NICE).count() == 1).then_some(()))
    })?;
    session.stop()?;
    jvm.finish().map(drop)
}

/// What a session holds goes with its descriptors, and none of them leads out of the machine.
#[test]
fn nothing_is_pinned_and_no_connection_is_opened() -> Result<()> {
    let pinned = || -> Result<Vec<String>> {
        let entries = fs::read_dir("/sys/fs/bpf").into_iter().flatten().flatten();
        Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    };
    let before = pinned()?;
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let words = ["--inside", "--marker", "all=Locks::*", "-l", "markers,threads"];
    let mut session = jtrace::Session::attach(jvm.pid(), &words)?;
    jvm.work()?;
    let pid = session.process().pid();
    let links = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten().flat_map(|entry| fs::read_link(entry.path()));
    let links: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let local = fs::read_to_string(format!("/proc/{pid}/net/unix"))?;
    // Those for questions to the kernel have their inode at the end of a line, behind the number of what they ask (`NETLINK_SOCK_DIAG`).
    let asking = fs::read_to_string(format!("/proc/{pid}/net/netlink"))?;
    let asks = |inode: &str| {
        let mut lines = asking.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.any(|words| words.last() == Some(&inode) && words.get(1) == Some(&"4"))
    };
    let sockets = links.iter().filter_map(|link| link.strip_prefix("socket:[")?.strip_suffix(']'));
    for inode in sockets.clone() {
        ensure!(
            asks(inode) || local.split_whitespace().any(|word| word == inode),
            "socket {inode} is none of this machine: {links:?}"
        );
    }
    ensure!(sockets.clone().filter(|inode| asks(inode)).count() == 1, "who waits is not asked among {links:?}");
    ensure!(sockets.clone().count() > 1, "the library's connection is not among {links:?}");
    // Seven numbers, and a name behind them where a socket has one.
    let of_session = |line: &&str| sockets.clone().any(|inode| line.split_whitespace().nth(6) == Some(inode));
    let named: Vec<&str> =
        local.lines().filter(of_session).filter(|line| line.split_whitespace().count() > 7).collect();
    ensure!(named.is_empty(), "others can connect to {named:?}");
    ensure!(links.iter().any(|link| link.contains("bpf")), "no eBPF object is open: {links:?}");
    assert_eq!(pinned()?, before);
    session.stop()?;
    assert_eq!(pinned()?, before);
    jvm.finish().map(drop)
}

/// Processes of `top` that follow this JVM.
fn followers(pid: u32) -> Result<Vec<u32>> {
    let words = format!("\0watch-apart\0{pid}\0");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).ends_with(&words) {
            found.push(number);
        }
    }
    Ok(found)
}

/// It keeps no more than looking takes, and ends with the one that started it.
#[test]
fn a_process_that_follows_a_jvm_has_what_the_table_says_and_ends_with_top() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = jvm.pid();
    let mut top = Process::spawn(&mut jtrace::command(&["top", "-d", "1h"])?)?;
    let seen = until("a process follows the JVM", || Ok(followers(pid)?.first().copied())).and_then(|follower| {
        let status = until("it has given up the rest", || {
            let status = fs::read_to_string(format!("/proc/{follower}/status"))?;
            Ok(is_filtered(&status).then_some(status))
        })?;
        let program = fs::read_link(format!("/proc/{follower}/exe"))?;
        ensure!(program == jtrace::binary()?.canonicalize()?, "it runs {}", program.display());
        limited(follower, 256 << 20)?;
        holds("one that follows a JVM for `top`", &status)
    });
    top.signal(Signal::TERM)?;
    let ended = top.wait(jtrace::LIMIT)?;
    seen?;
    ensure!(ended.success(), "{ended}: {}", top.transcript());
    until("nobody follows the JVM any more", || Ok(followers(pid)?.is_empty().then_some(())))?;
    jvm.finish().map(drop)
}

/// A reader that has seen the beginning of a recording, and waits for the rest, is in the middle of parsing it.
#[test]
fn a_report_that_reads_a_recording_has_what_the_table_says() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let directory = tempfile::tempdir()?;
    let (recording, pipe) = (directory.path().join("a.jtrace"), directory.path().join("pipe"));
    let recording = recording.to_str().context("UTF-8")?;
    jtrace::succeed(&["record", &jvm.pid().to_string(), "-d", "1s", "-o", recording])?;
    jvm.finish()?;
    ensure!(Finished::of(Command::new("mkfifo").arg(&pipe), jtrace::LIMIT)?.code == 0, "mkfifo failed");
    let mut child = jtrace::command(&["report", pipe.to_str().context("UTF-8")?])?
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let bytes = fs::read(recording)?;
    let (most, last) = bytes.split_at(bytes.len() - 1);
    // Opening waits for the reader, and writing for it to read.
    let mut writer = File::options().write(true).open(&pipe)?;
    writer.write_all(most)?;
    let status = status_within(&mut child, "0 0x")?;
    holds("`report`, `diff`, once what they read is open", &status)?;
    // What somebody else has written must not fill the machine: 64 MiB of JSON could take fifty times as much.
    assert_eq!(memory_limit(child.id())?, 4 << 30);
    writer.write_all(last)?;
    drop(writer);
    ensure!(child.wait()?.success(), "no report");
    Ok(())
}
