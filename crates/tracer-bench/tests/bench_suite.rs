//! Runs the programs of `jtrace bench` as it does, at the small size: those of the suite whose packages are on this machine,
//! and a jar that stands in for `DaCapo`'s archive.
//!
//! `JAVA_HOME` chooses the JVM; one without a `javac` is enough for all programs but javac itself.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
    thread,
};

use tracer_bench::bench::{
    Error, dacapo,
    folder::Folder,
    interruption::Interruption,
    java,
    program::{Agreement, Program, Size},
    suite,
};

/// A JVM that keeps the agreement, in its folder. Both are gone when this is dropped.
struct Conversation {
    jvm: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    // Behind the process that works in it.
    _folder: Folder,
}

impl Conversation {
    fn with(program: &dyn Program, java: &Path) -> Self {
        let launch = program.launch(Size::Small).unwrap();
        assert_eq!((launch.agreement, &launch.java), (Agreement::Lines, &None));
        let folder = launch.folder.unwrap();
        // Most of the CPU time of a JVM that runs for seconds is its compiler's.
        let mut jvm = Command::new(java)
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
            .args(&launch.words)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = jvm.stdin.take();
        let lines = BufReader::new(jvm.stdout.take().unwrap()).lines();
        Self { jvm, input, lines, _folder: folder }
    }

    fn line(&mut self) -> String {
        self.lines.next().map_or_else(|| "the end".to_owned(), Result::unwrap)
    }

    fn go(&mut self) -> String {
        self.input.as_mut().unwrap().write_all(b"GO\n").unwrap();
        self.line()
    }

    /// Whether it says no more when its input ends, and exits well.
    fn ends(mut self) -> bool {
        self.input = None;
        self.line() == "the end" && self.jvm.wait().unwrap().success()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _: Result<(), _> = self.jvm.kill();
        let _: Result<_, _> = self.jvm.wait();
    }
}

/// The numbers of a line of results.
fn number(line: &str, name: &str) -> Option<u64> {
    line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Past the test program's own capturing: of a test that passes it would show nothing.
fn say(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

fn home() -> PathBuf {
    java::homes().into_iter().next().expect("a JDK")
}

/// Runs a program twice; gives its name where it could be run.
fn two_iterations(mut program: suite::Packaged, home: &Path) -> Option<&'static str> {
    let name = program.name();
    match program.prepare() {
        Err(Error::Missing { what, .. }) => {
            say(&format!("skipped: {what} is not on this machine"));
            return None;
        }
        prepared => prepared.unwrap_or_else(|error| panic!("{error}")),
    }
    let mut conversation = Conversation::with(&program, &home.join("bin/java"));
    let first = conversation.line();
    if name == "javac" && !home.join("bin/javac").is_file() {
        assert!(first.starts_with("FAILED ") && first.contains("jdk.compiler"), "{first}");
        return None;
    }
    assert_eq!(first, "READY", "{name}");
    for iteration in 0..2 {
        let line = conversation.go();
        assert!(line.starts_with("DONE ns=") && line.contains(" valid=true"), "{name}, {iteration}: {line}");
        let peak = number(&line, "memory.peak_heap_bytes").unwrap_or(0);
        assert!(number(&line, "ns") > Some(0) && peak > 1 << 20, "{name}: {line}");
    }
    assert!(conversation.ends(), "{name}");
    Some(name)
}

#[test]
fn every_program_whose_package_is_here_gives_valid_results_twice() {
    let home = home();
    let programs = Mutex::new(suite::packaged().into_iter());
    // Most of the time is compiling and the start of JVMs: one after another, that is more than a minute.
    let next = || programs.lock().unwrap().next();
    let all = || std::iter::from_fn(next).filter_map(|program| two_iterations(program, &home)).collect::<Vec<_>>();
    let run = thread::scope(|scope| {
        let threads = [scope.spawn(all), scope.spawn(all)];
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    assert!(run.contains(&"javac") || !home.join("bin/javac").is_file(), "only {run:?}");
}

#[test]
fn methods_of_a_program_are_counted_where_a_jvm_notes_them() {
    let mut javac = suite::packaged().into_iter().find(|program| program.name() == "javac").unwrap();
    javac.prepare().unwrap();
    match javac.methods(Size::Small, &home().join("bin/java"), &Interruption::default()) {
        // The compiler has some ten thousand methods.
        Ok(methods) => assert!(methods.is_some_and(|methods| (1000..50_000).contains(&methods.len()))),
        Err(Error::Missing { what, .. }) => say(&format!("skipped: {what} is not on this machine")),
        Err(error) => panic!("{error}"),
    }
}

/// A jar with `DaCapo`'s class names and order of calls; `stop` takes these parameters and is called with these arguments.
fn stand_in(folder: &Path, parameters: &str, arguments: &str) -> PathBuf {
    let javac = java::compiler().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dacapo");
    let mut compile = Command::new(&javac);
    compile.args(["--release", "11", "-d"]).arg(folder.join("classes"));
    for name in ["Harness", "CommandLineArgs", "Callback", "TestHarness"] {
        let text = fs::read_to_string(from.join(format!("{name}.java"))).unwrap();
        let file = folder.join(format!("{name}.java"));
        fs::write(&file, text.replace("/*duration*/", parameters).replace("/*20*/", arguments)).unwrap();
        compile.arg(file);
    }
    assert!(compile.status().unwrap().success());
    let configurations = folder.join("classes/META-INF/cnf");
    fs::create_dir_all(&configurations).unwrap();
    for name in ["good", "bad"] {
        let text =
            format!("benchmark {name}\nsize small args \"1\";\ndescription\n  short \"Stands in for {name}\",\n");
        fs::write(configurations.join(format!("{name}.cnf")), text).unwrap();
    }
    let manifest = folder.join("manifest");
    fs::write(&manifest, "Implementation-Version: 0.1\nSpecification-Version: made\nAdd-Opens: java.base/java.lang\n")
        .unwrap();
    let jar = folder.join("dacapo.jar");
    let mut pack = Command::new(javac.with_file_name("jar"));
    pack.arg("cfm").arg(&jar).arg(manifest).arg("-C").arg(folder.join("classes")).arg(".");
    assert!(pack.status().unwrap().success());
    jar
}

fn dacapo_iterates_on_request(parameters: &str, arguments: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut programs = dacapo::benchmarks(&stand_in(folder.path(), parameters, arguments)).unwrap();
    let names: Vec<_> = programs.iter().map(|program| program.name().to_owned()).collect();
    assert_eq!(names, ["bad", "good"]);
    let [bad, good] = programs.as_mut_slice() else { panic!("{names:?}") };
    assert_eq!((good.version(), good.sizes()), ("0.1-made", &["small".to_owned()][..]));
    assert_eq!(good.describe().what, "Stands in for good");
    let source = good.describe().source;
    assert!(source.starts_with("DaCapo 0.1-made, ") && source.ends_with("java.base/java.lang=ALL-UNNAMED"), "{source}");
    good.prepare().unwrap();
    bad.prepare().unwrap();
    assert_eq!(good.launch(Size::Large).unwrap_err().to_string(), "good of DaCapo has no size large, only small");
    let java = home().join("bin/java");

    let mut conversation = Conversation::with(good, &java);
    assert_eq!(conversation.line(), "READY");
    for _ in 0..3 {
        let line = conversation.go();
        assert!(line.starts_with("DONE ns=") && line.contains(" valid=true memory.collections="), "{line}");
        // What the benchmark prints itself says 1.
        assert!(number(&line, "ns") > Some(1), "{line}");
    }
    assert!(conversation.ends());

    let mut conversation = Conversation::with(bad, &java);
    assert_eq!(conversation.line(), "READY");
    let line = conversation.go();
    assert!(line.starts_with("FAILED DaCapo's validation of bad"), "{line}");
}

#[test]
fn a_dacapo_that_tells_no_duration_as_bach_iterates_on_request() {
    dacapo_iterates_on_request("", "");
}

#[test]
fn a_dacapo_that_tells_the_duration_as_chopin_iterates_on_request() {
    dacapo_iterates_on_request("long duration", "20");
}

#[test]
fn a_jar_that_is_not_dacapo_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("some.txt"), "text").unwrap();
    let jar = folder.path().join("some.jar");
    let mut pack = Command::new(java::compiler().unwrap().with_file_name("jar"));
    pack.arg("cf").arg(&jar).arg("-C").arg(folder.path()).arg("some.txt");
    assert!(pack.status().unwrap().success());
    let Err(error) = dacapo::benchmarks(&jar) else { panic!("took it") };
    let text = error.to_string();
    assert!(text.contains("some.jar is not a jar of DaCapo (23.11-chopin or 9.12-bach, from https://"), "{text}");
    assert!(text.ends_with("it has no Harness.class"), "{text}");
}
