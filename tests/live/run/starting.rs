//! JVMs at which `jtrace run` looks while they start. They make what jtrace reads little by little, and a session that took what
//! was not there yet for what never would be lacked it to its end.

use std::{
    fs::File,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, LIMIT},
    jvm::{Launch, child_of},
    patience::until_true,
    process::{Process, Signal},
};
use tracer_jvm::jvm::find::Jvm;

use super::{Running, virtual_threads};

/// A JVM that jtrace has started and that pauses: it has its tables and neither counters nor code heaps.
struct Paused {
    process: Process,
    jvm: u32,
    pause: PathBuf,
    written: PathBuf,
    directory: tempfile::TempDir,
}

impl Paused {
    fn start(jdk: &Jdk, launch: Launch, lenses: &str, output: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let (pause, written) = (directory.path().join("paused"), directory.path().join(output));
        let at = format!("-XX:PauseAtStartupFile={}", pause.display());
        let launch = launch.flags(&["-XX:+UnlockDiagnosticVMOptions", "-XX:+PauseAtStartup", &at]);
        let mut command = jtrace::command(&["run", "-l", lenses, "-o"])?;
        command.arg(&written).arg("--").args(launch.command(directory.path()));
        let process = Process::spawn(&mut command)?;
        until_true("the JVM pauses", || Ok(pause.exists())).with_context(|| format!("on JDK {}", jdk.release))?;
        Ok(Self { jvm: child_of(process.pid())?, process, pause, written, directory })
    }

    /// Lets the JVM start, and the program come to where it waits for work.
    fn go_on(self) -> Result<Running> {
        self.end_pause()?;
        Running::once_ready(self.process, self.written, self.directory)
    }

    /// The same, after the JVM has turned round for a while at the beginning of one of its functions.
    fn go_on_by(self, function: &str) -> Result<Running> {
        let held = Held::at(self.jvm, function)?;
        self.end_pause()?;
        let began = self.cpu_ticks()?;
        // Two looks of jtrace are some ms apart. It decides nothing how many there are.
        until_true("the JVM is held", || Ok(self.cpu_ticks()? > began + 30))?;
        held.let_go()?;
        self.go_on()
    }

    fn end_pause(&self) -> Result<()> {
        match std::fs::remove_file(&self.pause) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// What the JVM has used of a CPU, in hundredths of a second.
    fn cpu_ticks(&self) -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.jvm))?;
        let (_, rest) = stat.rsplit_once(')').context("no name")?;
        Ok(rest.split_whitespace().nth(11).context("no time")?.parse()?)
    }
}

/// A function of a JVM's library that begins with a jump to itself.
struct Held {
    memory: File,
    address: u64,
    code: [u8; 2],
}

impl Held {
    /// `jmp` by -2 bytes.
    const JUMP: [u8; 2] = [0xeb, 0xfe];

    fn at(jvm: u32, function: &str) -> Result<Self> {
        let library = Jvm::open(jvm)?.library;
        let address = *library.symbols(&[function])?.get(function).context("no such function")?;
        let memory = File::options().read(true).write(true).open(format!("/proc/{jvm}/mem"))?;
        let mut code = [0; 2];
        memory.read_exact_at(&mut code, address)?;
        memory.write_all_at(&Self::JUMP, address)?;
        Ok(Self { memory, address, code })
    }

    fn let_go(self) -> Result<()> {
        Ok(self.memory.write_all_at(&self.code, self.address)?)
    }
}

fn locks(jdk: &Jdk) -> Result<Paused> {
    let launch = Launch::new(jdk, "locks", "Locks").arguments(&["contended", "100"]);
    Paused::start(jdk, launch, "locks,threads", "report.json")
}

fn has_java_frames(jdk: &Jdk, mut running: Running) -> Result<()> {
    running.work()?;
    running.process.close_stdin();
    let report = running.end()?;
    let missing = report.missing();
    assert!(!missing.iter().any(|text| text.contains("Java frames")), "on JDK {}: {missing:?}", jdk.release);
    // Methods of the workload, beside its classes: `Locks$Cart`.
    assert!(report.section("locks")?.to_string().contains("Locks."), "on JDK {}", jdk.release);
    Ok(())
}

/// One that took more than 5 s from its tables to its code heaps, as on a busy machine.
#[test]
fn a_jvm_that_is_slow_to_start_has_java_frames() -> Result<()> {
    for jdk in jdk::all()? {
        let paused = locks(&jdk)?;
        // Nothing is decided by how long it is: with the mend any time is right.
        std::thread::sleep(super::LEARN_AT_MOST + Duration::from_secs(1));
        has_java_frames(&jdk, paused.go_on()?)?;
    }
    Ok(())
}

/// A code heap stands among the others before it has memory: that was taken for a layout that is not known.
#[test]
fn a_jvm_whose_code_heaps_have_no_memory_yet_has_java_frames() -> Result<()> {
    for jdk in jdk::all()? {
        has_java_frames(&jdk, locks(&jdk)?.go_on_by("_ZN8CodeHeap7reserveE13ReservedSpacemm")?)?;
    }
    Ok(())
}

/// What leads to callers of virtual threads is made after the code heaps.
#[test]
fn a_jvm_that_has_no_continuations_yet_has_callers_of_virtual_threads() -> Result<()> {
    for jdk in virtual_threads::virtual_jdks()? {
        let launch = Launch::new(&jdk, "frozen", "Frozen");
        let paused = Paused::start(&jdk, launch, "locks", "recording.jtrace")?;
        let mut running = paused.go_on_by("_Z18continuations_initv")?;
        running.work()?;
        // A JVM that has ended has no names of methods any more.
        running.process.signal(Signal::TERM)?;
        running.process.stderr.wait_for_line("wrote", 0, LIMIT)?;
        running.process.close_stdin();
        assert!(running.process.wait_for_exit(LIMIT)?.success(), "{}", running.process.transcript());
        let stacks = virtual_threads::read(Path::new(&running.report))?;
        assert!(!stacks.is_empty(), "on JDK {}", jdk.release);
        for frames in &stacks {
            virtual_threads::depth(frames).with_context(|| format!("on JDK {}", jdk.release))?;
        }
    }
    Ok(())
}
