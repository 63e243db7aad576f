//! Real JVMs, described and armed. Ignored unless asked for: `JTRACE_TEST_JDKS` names homes of JDKs, separated by colons;
//! one of them must have a compiler.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use super::{
    super::{
        flags::{arm, located::JvmTables},
        journal::Journal,
        vmstructs::layout::TargetLayout,
    },
    *,
};

const FLAG: &str = "DTraceMonitorProbes";

struct Java(Child);

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory with a program that does nothing, for every JDK since 11.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<tempfile::TempDir> = OnceLock::new();
    let classes = CLASSES.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("Idle.java");
        let text = "class Idle { public static void main(String[] a) throws Exception { Thread.sleep(600_000); } }";
        fs::write(&source, text).unwrap();
        let compiler = homes().into_iter().map(|home| Path::new(&home).join("bin/javac")).find(|path| path.exists());
        let mut command = Command::new(compiler.expect("one of the JDKs has a compiler"));
        assert!(command.args(["--release", "11", "-d"]).arg(directory.path()).arg(&source).status().unwrap().success());
        directory
    });
    classes.path()
}

fn java(home: &str) -> Command {
    Command::new(Path::new(home).join("bin/java"))
}

fn start(home: &str, options: &[&str]) -> (Java, Jvm) {
    let mut command = java(home);
    command.arg("-Xmx64m").args(options).arg("-cp").arg(classes()).args(["Idle", "argument"]);
    let process = Java(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Ok(jvm) = Jvm::open(process.0.id()) {
            let counting = jvm.counters.as_ref().is_ok_and(|counters| {
                // The counters appear one by one while the JVM starts.
                counters.get_long("java.threads.live").is_some_and(|threads| threads > 0)
                    && counters.get_string("sun.rt.javaCommand").is_some()
            });
            if counting || options.contains(&"-XX:-UsePerfData") && !jvm.target.collector.is_empty() {
                return (process, jvm);
            }
        }
        assert!(Instant::now() < deadline, "{home} with {options:?} did not come up");
        thread::sleep(Duration::from_millis(50));
    }
}

fn homes() -> Vec<String> {
    let homes = std::env::var("JTRACE_TEST_JDKS").expect("JTRACE_TEST_JDKS names homes of JDKs");
    homes.split(':').map(str::to_owned).collect()
}

/// The JVM's own answer. A JVM that has just started may not give one yet.
fn flag_by_jcmd(home: &str, pid: u32) -> bool {
    let arguments = ["-m", "jdk.jcmd/sun.tools.jcmd.JCmd", &pid.to_string(), "VM.flags", "-all"];
    for _ in 0..20 {
        let output = java(home).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some(line) = text.lines().find(|line| line.split_whitespace().nth(1) == Some(FLAG)) {
            return line.split_whitespace().nth(3) == Some("true");
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("jcmd does not tell the flags of {pid}");
}

#[test]
#[ignore = "needs JDKs: JTRACE_TEST_JDKS"]
fn every_jdk_is_described_and_armed() {
    for home in homes() {
        let (process, jvm) = start(&home, &[]);
        let pid = process.0.id();
        let started = Instant::now();
        let again = Jvm::open(pid).unwrap();
        println!("{home}: opened in {:?}: {:#?}", started.elapsed(), again.target);
        let release = fs::read_to_string(Path::new(&home).join("release")).unwrap();
        assert!(release.contains(&format!("JAVA_VERSION=\"{}.", jvm.target.jdk_release)), "{release}");
        assert!(jvm.target.jvm_version.starts_with(&jvm.target.jdk_release.to_string()));
        assert_eq!(jvm.target.max_heap_bytes, Some(64 << 20));
        assert!(jvm.target.command.starts_with("Idle argument"), "{}", jvm.target.command);
        assert!(jvm.target.live_threads.unwrap() >= 3);
        TargetLayout::from_tables(&jvm.tables).unwrap();
        let counters = jvm.counters.as_ref().unwrap();
        for name in ["sun.gc.cause", "sun.gc.lastCause"] {
            let (address, capacity) = counters.string_address(name).unwrap();
            let text = jvm.memory.read_c_string(address, capacity).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), counters.get_string(name).unwrap());
        }
        let address = jvm.flags.as_ref().unwrap().address(FLAG).unwrap();
        if let Some(&symbol) = jvm.library.symbols(&[FLAG]).unwrap().get(FLAG) {
            assert_eq!(symbol, address, "the symbol table agrees");
        }
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::at(directory.path().join("jtrace"));
        assert!(!flag_by_jcmd(&home, pid));
        let armed = arm::arm(&journal, JvmTables, jvm.identity(), &[FLAG]).unwrap();
        assert!(flag_by_jcmd(&home, pid));
        armed.disarm().unwrap();
        assert!(!flag_by_jcmd(&home, pid));
    }
}

#[test]
#[ignore = "needs JDKs: JTRACE_TEST_JDKS"]
fn every_collector_has_its_name() {
    for home in homes() {
        for (option, name) in [
            ("-XX:+UseG1GC", "G1"),
            ("-XX:+UseParallelGC", "Parallel"),
            ("-XX:+UseSerialGC", "Serial"),
            ("-XX:+UseZGC", "ZGC"),
            ("-XX:+UseShenandoahGC", "Shenandoah"),
        ] {
            let options = ["-XX:+UnlockExperimentalVMOptions", option];
            if java(&home).args(options).arg("-version").output().unwrap().status.success() {
                assert_eq!(start(&home, &options).1.target.collector, name, "{home}");
            }
        }
    }
}

#[test]
#[ignore = "needs JDKs: JTRACE_TEST_JDKS"]
fn without_counters_the_tables_tell_the_rest() {
    for home in homes() {
        let (_process, jvm) = start(&home, &["-XX:-UsePerfData"]);
        assert!(matches!(jvm.counters, Err(perfdata::Error::Disabled)));
        assert!(jvm.target.jdk_release >= 11 && jvm.target.live_threads.is_none());
        assert!(jvm.target.jvm_name.contains("VM"), "{:?}", jvm.target);
        assert!(jvm.target.command.starts_with("Idle argument"), "{:?}", jvm.target);
    }
}
