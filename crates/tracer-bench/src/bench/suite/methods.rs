//! Which methods of a program an iteration executes, asked of the JVM itself.
//!
//! HotSpot of JDK 11 and 17 can note every method that is executed and print them when it exits (`LogTouchedMethods`, taken
//! out in JDK 21). What is noted is a whole run with one iteration: its set-up is part of it, jtrace's own classes are not.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::super::{Error, folder::Folder, interruption::Interruption, java, process::bound};

const FLAGS: [&str; 3] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogTouchedMethods", "-XX:+PrintTouchedMethodsAtExit"];
/// A run takes seconds; one that hangs is ended.
const PATIENCE: Duration = Duration::from_mins(10);
/// What a run may print: some ten thousand methods are a few megabytes.
const PRINTED: u64 = 256 << 20;

/// Classes of a JDK, and jtrace's own, by the beginning of their names.
const NOT_OF_THE_PROGRAM: [&str; 10] = [
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "org/w3c/dom/",
    "org/xml/sax/",
    "org/ietf/jgss/",
    "netscape/javascript/",
    "jtrace/bench/",
];

/// A `java` that notes methods: this one, or else another one of this machine; absent where there is none.
pub(super) fn java(first: &Path) -> Option<PathBuf> {
    let others = java::homes().into_iter().map(|home| home.join("bin/java"));
    std::iter::once(first.to_owned()).chain(others).find(|java| java::accepts(java, &FLAGS))
}

/// Runs a program once with one iteration; gives the methods in the order of their names. An interruption ends it.
pub(super) fn executed(
    program: &str,
    java: &Path,
    words: &[OsString],
    own: &[&str],
    interruption: &Interruption,
) -> Result<Vec<String>, Error> {
    let folder = Folder::new()?;
    let printed = folder.path().join("printed");
    let output = File::create(&printed).map_err(Error::system(format!("write {}", printed.display())))?;
    let work = folder.path().join("work");
    std::fs::create_dir(&work).map_err(Error::system(format!("make {}", work.display())))?;
    let mut command = Command::new(java);
    command.args(FLAGS).args(words).current_dir(&work);
    let child = bound::spawn(&command, |command| {
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
    });
    let mut child = child.map_err(Error::system(format!("run {}", java.display())))?;
    // One that has ended already says why in what it printed.
    if let Some(mut input) = child.stdin.take() {
        input.write_all(b"GO\n").unwrap_or_default();
    }
    let status = wait(program, &mut child, interruption)?;
    let printed = File::open(&printed).map_err(Error::system(format!("read {}", printed.display())))?;
    let lines = BufReader::new(printed.take(PRINTED)).split(b'\n').map_while(Result::ok);
    let run = Run::read(lines.map(|line| String::from_utf8_lossy(&line).into_owned()), own);
    match run {
        Run { failed: Some(why), .. } => Err(Error::program(program, format!("failed: {}", java::excerpt(&why)))),
        Run { done: true, methods: Some(methods), .. } => Ok(methods.into_iter().collect()),
        Run { .. } => {
            Err(Error::program(program, format!("ended early, with {status}, while its methods were counted")))
        }
    }
}

fn wait(program: &str, child: &mut Child, interruption: &Interruption) -> Result<ExitStatus, Error> {
    let end = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < end && interruption.signal().is_none() => {
                thread::sleep(Duration::from_millis(20));
            }
            stuck => {
                child.kill().and_then(|()| child.wait().map(drop)).map_err(Error::system(format!("end {program}")))?;
                stuck.map_err(Error::system(format!("wait for {program}")))?;
                let what = format!("did not end in {} s, while its methods were counted", PATIENCE.as_secs());
                return Err(Error::program(program, what));
            }
        }
    }
}

/// What a run printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Run {
    done: bool,
    failed: Option<String>,
    /// Absent where the list of methods did not begin.
    methods: Option<BTreeSet<String>>,
}

impl Run {
    fn read(lines: impl Iterator<Item = String>, own: &[&str]) -> Self {
        let mut run = Self::default();
        for line in lines {
            if line.starts_with("# Method::print_touched_methods") {
                run.methods = Some(BTreeSet::new());
            } else if let Some(methods) = &mut run.methods {
                if is_of_program(&line, own) {
                    methods.insert(line);
                }
            } else if let Some(why) = line.strip_prefix("FAILED ") {
                run.failed = Some(why.to_owned());
            } else {
                run.done |= line.starts_with("DONE ") && line.contains(" valid=true");
            }
        }
        run
    }
}

/// Whether a line names a method, `org/example/Thing.method:(I)V`, that neither a JDK nor jtrace brings.
fn is_of_program(line: &str, own: &[&str]) -> bool {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| line.starts_with(prefix));
    line.contains(":(") && (starts(own) || !starts(&NOT_OF_THE_PROGRAM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, own: &[&str]) -> Run {
        Run::read(text.lines().map(str::to_owned), own)
    }

    #[test]
    fn methods_outside_the_jdk_are_told_once_each() {
        let text = "READY\nDONE ns=5 valid=true pages=2\n# Method::print_touched_methods version 1\n\
                    org/h2/Driver.connect:(Ljava/lang/String;)V\norg/h2/Driver.connect:()V\norg/h2/Driver.connect:()V\n\
                    java/lang/String.hashCode:()I\njtrace/bench/H2Work.iterate:()V\njavax/servlet/Servlet.a:()V\n\
                    com/sun/tools/javac/Main.main:()V\nnonsense\n";
        let set = |methods: &[&str]| Some(methods.iter().map(|&method| method.to_owned()).collect());
        let own = ["org/h2/Driver.connect:()V", "org/h2/Driver.connect:(Ljava/lang/String;)V"];
        let expected = Run { done: true, failed: None, methods: set(&own) };
        assert_eq!(read(text, &[]), expected);
        let named = ["com/sun/tools/javac/Main.main:()V", "javax/servlet/Servlet.a:()V", own[0], own[1]];
        assert_eq!(read(text, &["com/sun/tools/javac/", "javax/servlet/"]), Run { methods: set(&named), ..expected });
    }

    #[test]
    fn a_run_that_fails_or_ends_early_has_no_count() {
        let failed = read(
            "READY\nFAILED 3 pages, and 4 were expected\n# Method::print_touched_methods version 1\na/B.c:()V\n",
            &[],
        );
        assert_eq!(failed.failed.as_deref(), Some("3 pages, and 4 were expected"));
        assert_eq!(read("READY\nDONE ns=5 valid=false\n", &[]), Run::default());
        assert_eq!(read("", &[]), Run::default());
    }
}
