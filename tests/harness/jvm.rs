//! A JVM that runs one of the workloads, by the workloads' protocol: it prints `READY`; for each line on its stdin it does
//! its known work and prints `DONE key=count ...`; it ends when its stdin ends.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    diagnostics,
    jdk::{self, Jdk},
    location,
    patience::{PATIENCE, until_true},
    process::{Finished, Output, Process, Signal},
};

/// How to start a workload.
#[derive(Clone, Debug)]
pub struct Launch {
    java: PathBuf,
    flags: Vec<OsString>,
    feature: String,
    main: String,
    arguments: Vec<String>,
    log: Option<String>,
    /// Whether the JVM has no unified logging.
    is_old: bool,
}

impl Launch {
    /// The class `main` of `tests/workloads/<feature>`, with a small heap.
    pub fn new(jdk: &Jdk, feature: &str, main: &str) -> Self {
        // 8 always has the same number of them.
        let is_old = jdk.release == jdk::OLD;
        let compilers = (!is_old).then(|| OsString::from("-XX:-UseDynamicNumberOfCompilerThreads"));
        Self {
            java: jdk.java(),
            flags: [OsString::from("-Xmx128m")].into_iter().chain(compilers).collect(),
            feature: feature.to_owned(),
            main: main.to_owned(),
            arguments: Vec::new(),
            log: None,
            is_old,
        }
    }

    /// Adds flags of the JVM.
    #[must_use]
    pub fn flags<S: AsRef<str>>(mut self, flags: &[S]) -> Self {
        self.flags.extend(flags.iter().map(|flag| OsString::from(flag.as_ref())));
        self
    }

    /// Adds arguments of the workload.
    #[must_use]
    pub fn arguments<S: AsRef<str>>(mut self, arguments: &[S]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Logs these tags of the JVM's unified logging (`gc*`) to a file, see [`Jvm::log`].
    #[must_use]
    pub fn log(mut self, what: &str) -> Self {
        self.log = Some(what.to_owned());
        self
    }

    /// The command line; a log goes into `directory`.
    pub fn command(&self, directory: &Path) -> Vec<OsString> {
        let mut command = vec![self.java.clone().into_os_string()];
        command.extend(self.flags.iter().cloned());
        if let (Some(what), true) = (&self.log, self.is_old) {
            command.extend(old_log(what).map(OsString::from));
            command.push(format!("-XX:LogFile={}", log_path(directory).display()).into());
        } else if let Some(what) = &self.log {
            command.push(format!("-Xlog:{what}:file={}:uptime,tags:filecount=0", log_path(directory).display()).into());
        }
        command.push("-cp".into());
        command.push(classes(&self.feature).into_os_string());
        command.push(OsString::from(&self.main));
        command.extend(self.arguments.iter().map(OsString::from));
        command
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// The workload is not built, or does not become ready.
    pub fn start(&self) -> Result<Jvm> {
        let directory = tempfile::tempdir()?;
        let words = self.command(directory.path());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        self.start_by(&mut command, directory)
    }

    /// Starts it by a command of the caller's that ends in this JVM's command line (`unshare ...`).
    ///
    /// # Errors
    /// The workload is not built, or does not become ready.
    pub fn start_by(&self, command: &mut Command, directory: tempfile::TempDir) -> Result<Jvm> {
        ensure!(
            classes(&self.feature).join(format!("{}.class", self.main.replace('.', "/"))).is_file(),
            "the workload {} is not built: run `cargo xtask workloads`",
            self.feature
        );
        let process = Process::spawn(command)?;
        let pid = process.pid();
        let mut jvm = Jvm { process, pid, directory, read: 0 };
        jvm.expect("READY", PATIENCE)?;
        Ok(jvm)
    }

    /// Starts it in its own mount and pid namespace, in a root directory with its own copy of the JDK.
    ///
    /// # Errors
    /// There are no privileges for it, or the workload does not become ready.
    pub fn start_in_container(&self, jdk: &Jdk) -> Result<Jvm> {
        const SCRIPT: &str = "set -e; root=$1; shift; mount --make-rprivate /; \
            mount --bind /usr $root/usr; mount --bind /etc $root/etc; mount -t proc proc $root/proc; \
            exec chroot $root \"$@\"";
        let directory = tempfile::tempdir()?;
        let root = directory.path().join("root");
        for name in ["usr", "etc", "proc", "tmp", "dev"] {
            fs::create_dir_all(root.join(name))?;
        }
        for name in ["lib", "lib64"] {
            symlink(format!("usr/{name}"), root.join(name))?;
        }
        let own = jdk.copy_to(&root)?;
        let copied = Command::new("cp").arg("-r").arg(classes(&self.feature)).arg(root.join("classes")).status()?;
        ensure!(copied.success(), "cannot copy the workload's classes");
        let java = Path::new("/").join(own.java().strip_prefix(&root)?);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "sh"]).arg(&root).arg(java);
        command.args(&self.flags).args(["-cp", "/classes", &self.main]).args(&self.arguments);
        let mut jvm = self.start_by(&mut command, directory)?;
        jvm.pid = child_of(jvm.process.pid())?;
        Ok(jvm)
    }
}

/// Flags of 8 that print the same to the file of `-XX:LogFile`.
fn old_log(what: &str) -> impl Iterator<Item = &'static str> {
    let printing = [
        ("safepoint", "-XX:+PrintGCApplicationStoppedTime"),
        ("class+load", "-XX:+TraceClassLoading"),
        ("class+unload", "-XX:+TraceClassUnloading"),
        ("jit", "-XX:+PrintCompilation"),
    ];
    let chosen = printing.map(|(tag, flag)| what.contains(tag).then_some(flag));
    ["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput"]
        .into_iter()
        .chain(chosen.into_iter().flatten())
}

/// The only child of a process.
///
/// # Errors
/// It has none.
pub fn child_of(parent: u32) -> Result<u32> {
    for entry in fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        // The command's name may hold spaces and parentheses; the fields after it do not.
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        if after_name.split(' ').nth(1) == Some(&parent.to_string()) {
            return Ok(pid);
        }
    }
    bail!("process {parent} has no child")
}

/// The class path of a workload.
pub fn classes(feature: &str) -> PathBuf {
    location("JTRACE_WORKLOADS", "workloads").join(feature)
}

fn log_path(directory: &Path) -> PathBuf {
    directory.join("jvm.log")
}

/// A running workload.
#[derive(Debug)]
pub struct Jvm {
    process: Process,
    pid: u32,
    directory: tempfile::TempDir,
    read: usize,
}

impl Jvm {
    /// Its process id (in a container: as the host sees it).
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// A directory of its own that goes away with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The process, to signal it or wait for it.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Lets it do its work once.
    ///
    /// # Errors
    /// It has ended.
    pub fn go(&mut self) -> Result<()> {
        self.process.send_line("GO")
    }

    /// Waits until the work is done; gives the workload's own counts.
    ///
    /// # Errors
    /// It ended, or takes too long.
    pub fn done(&mut self) -> Result<Counts> {
        self.done_within(PATIENCE)
    }

    /// As [`Self::done`], for work that takes long.
    ///
    /// # Errors
    /// It ended, or takes longer.
    pub fn done_within(&mut self, limit: Duration) -> Result<Counts> {
        Counts::parse(&self.expect("DONE", limit)?)
    }

    /// [`Self::go`] and [`Self::done`].
    ///
    /// # Errors
    /// It ended, or takes too long.
    pub fn work(&mut self) -> Result<Counts> {
        self.go()?;
        self.done()
    }

    /// Waits until it reads its stdin, so that what it does behind a line that it has printed is done as well.
    ///
    /// # Errors
    /// It has ended, or never does.
    pub fn listens(&self) -> Result<()> {
        // The number of the call on x86-64, and its first argument.
        const READ_STDIN: &str = "0 0x0 ";
        let tasks = format!("/proc/{}/task", self.pid());
        until_true("the workload reads its stdin", || {
            let calls = fs::read_dir(&tasks)?.flatten().map(|task| fs::read_to_string(task.path().join("syscall")));
            Ok(calls.flatten().any(|call| call.starts_with(READ_STDIN)))
        })
    }

    /// Lets it end by itself, and checks that it ended well.
    ///
    /// # Errors
    /// It does not end, or crashed.
    pub fn finish(&mut self) -> Result<Finished> {
        self.process.close_stdin();
        self.process.wait(PATIENCE)?;
        let finished = Finished::from_process(&self.process)?;
        ensure!(finished.code == 0, "the workload ended with {}: {}", finished.code, self.process.transcript());
        Ok(finished)
    }

    /// Kills it without warning.
    ///
    /// # Errors
    /// It is gone already.
    pub fn kill(&mut self) -> Result<()> {
        self.process.signal(Signal::KILL)
    }

    /// What the JVM logged so far.
    ///
    /// # Errors
    /// It was started without a log.
    pub fn log(&self) -> Result<String> {
        let path = log_path(self.directory());
        let bytes = fs::read(&path).with_context(|| format!("no log {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Value of a flag of the JVM, as the JVM itself tells it.
    ///
    /// # Errors
    /// The JVM does not answer, or does not know the flag.
    pub fn flag(&self, name: &str) -> Result<String> {
        let text = self.jcmd(&["VM.flags", "-all"])?;
        text.lines()
            .find_map(|line| {
                let mut words = line.split_whitespace().skip(1);
                (words.next()? == name).then(|| words.nth(1).map(str::to_owned))?
            })
            .with_context(|| format!("the JVM does not know the flag {name}"))
    }

    /// Runs a diagnostic command of the JVM; gives what `jcmd` would print.
    ///
    /// # Errors
    /// The JVM does not listen, or refuses.
    pub fn jcmd(&self, arguments: &[&str]) -> Result<String> {
        diagnostics::ask(self.pid(), &arguments.join(" "))
    }

    /// What the workload wrote to stdout.
    pub fn stdout(&self) -> &Output {
        &self.process.stdout
    }

    fn expect(&mut self, word: &str, limit: Duration) -> Result<String> {
        let (line, read) = self
            .process
            .stdout
            .wait_for_line(word, self.read, limit)
            .with_context(|| format!("the workload is not {word}: {}", self.process.stderr.text()))?;
        self.read = read;
        Ok(line)
    }
}

/// A workload's own counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// Those of a line `DONE key=count ...`.
    ///
    /// # Errors
    /// Something else stands there.
    pub fn parse(line: &str) -> Result<Self> {
        let count = |word: &str| {
            let (key, value) = word.split_once('=').with_context(|| format!("not a count: `{word}`"))?;
            Ok((key.to_owned(), value.parse().with_context(|| format!("not a number: `{word}`"))?))
        };
        line.split_whitespace().skip(1).map(count).collect::<Result<_>>().map(Self)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(key, count)| (key.as_str(), *count))
    }

    /// A count by its key.
    ///
    /// # Errors
    /// The workload did not tell it.
    pub fn get(&self, key: &str) -> Result<u64> {
        self.0.get(key).copied().with_context(|| format!("the workload did not count {key}: {:?}", self.0))
    }
}
