//! The JDK's flight recorder, started and stopped through `jcmd`. It runs inside the JVM, so it has no CPU time of its own.

mod recording;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::{configuration, tool};
use crate::{
    bench::{Error, configuration::Configuration, folder::Folder, java, micro, observer::Observer, results::Observed},
    text::escape,
};

/// Name of the recording.
const NAME: &str = "jtrace-bench";
/// What the JDK's method timing is asked for.
const FILTER: &str = "jdk.MethodTiming#filter=jtrace.bench.Micro::small";

/// Its two sets of settings, and method timing of the one method whose calls are known.
pub(super) fn all() -> Vec<Configuration> {
    let one = |name: &str, what: &str, settings: &'static [&'static str]| {
        configuration(&format!("jfr-{name}"), what.to_owned(), &[], Jfr { settings, tools: None, running: None })
    };
    let mut timing = one(
        "methodtiming",
        "the flight recorder with jdk.MethodTiming for one method, JDK 25 and later",
        &["settings=default", FILTER],
    );
    timing.only.push(format!("{}call", micro::PREFIX));
    vec![
        one("default", "the flight recorder with settings=default", &["settings=default"]),
        one("profile", "the flight recorder with settings=profile", &["settings=profile"]),
        timing,
    ]
}

#[derive(Debug)]
struct Jfr {
    settings: &'static [&'static str],
    tools: Option<Tools>,
    running: Option<Running>,
}

/// A JDK that has `jcmd` and `jfr`. It need not be the one that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tools {
    /// `bin` of the JDK.
    folder: PathBuf,
    /// Its version, as numbers.
    version: Vec<u32>,
}

/// A recording under way.
#[derive(Debug)]
struct Running {
    pid: u32,
    command: Vec<String>,
    folder: Folder,
}

impl Running {
    fn file(&self) -> PathBuf {
        self.folder.file("run.jfr")
    }
}

impl Observer for Jfr {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        let tools = Tools::find().ok_or_else(|| Error::Missing {
            what: "a JDK with jcmd and jfr".to_owned(),
            hint: "install one (apt-get install openjdk-17-jdk-headless) or set JAVA_HOME".to_owned(),
        })?;
        let version = tools.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        self.tools = Some(tools);
        Ok(("jcmd and jfr".to_owned(), version))
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let tools = self.tools.as_ref().ok_or_else(|| Error::program("jfr", "was not prepared"))?;
        let mut running = Running { pid, command: Vec::new(), folder: Folder::new()? };
        let mut command = tools.jcmd(pid, "JFR.start");
        command.args(self.settings).arg(format!("filename={}", running.file().display()));
        // Where the program is measured by its end, the JVM writes the file then.
        command.arg("dumponexit=true");
        running.command = tool::words(&command);
        let output = tool::run(&mut command).map_err(Error::system("run jcmd"))?;
        if !says(&output, "Started recording") {
            return Err(tool::refused("jcmd JFR.start", "does not start a recording", &output));
        }
        self.running = Some(running);
        // It records all the same, but not what it was asked for: a JVM before 25 and method timing.
        unknown(&output).map_or(Ok(()), |warning| Err(Error::program("the flight recorder of this JVM", warning)))
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let tools = self.tools.clone().ok_or_else(|| Error::program("jfr", "was not prepared"))?;
        let running = self.running.take().ok_or_else(|| Error::program("jfr", "was not started"))?;
        let output = tool::run(&mut tools.jcmd(running.pid, "JFR.stop")).map_err(Error::system("run jcmd"))?;
        // A JVM that has ended is asked in vain; it wrote the file before.
        if !says(&output, "Stopped recording") && Path::new(&format!("/proc/{}", running.pid)).exists() {
            return Err(tool::refused("jcmd JFR.stop", "does not stop the recording", &output));
        }
        let size = fs::metadata(running.file()).map_or(0, |file| file.len());
        if size == 0 {
            return Err(tool::refused("jcmd JFR.stop", "leaves no recording", &output));
        }
        self.observed(&tools, running)
    }
}

impl Jfr {
    fn observed(&self, tools: &Tools, running: Running) -> Result<Observed, Error> {
        let summary = tools.jfr(&["summary"], &running.file())?;
        let mut observed = recording::summary(&summary);
        if self.settings.contains(&FILTER) {
            let events = tools.jfr(&["print", "--json", "--events", "jdk.MethodTiming"], &running.file())?;
            let calls = recording::invocations(&events).map_err(|what| Error::program("jfr print", what))?;
            observed.answers.extend(calls.map(|calls| ("calls".to_owned(), calls)));
        }
        observed.command = running.command;
        Ok(observed)
    }
}

impl Tools {
    /// The newest of `JAVA_HOME`, the path and the distribution's JDKs: it reads recordings of all older ones.
    fn find() -> Option<Self> {
        let complete = |home: PathBuf| {
            let folder = home.join("bin");
            let release = fs::read_to_string(home.join("release")).ok()?;
            let has = |tool| folder.join(tool).is_file();
            (has("jcmd") && has("jfr")).then_some(Self { version: version(&release)?, folder })
        };
        java::homes().into_iter().filter_map(complete).max_by(|one, other| one.version.cmp(&other.version))
    }

    fn jcmd(&self, pid: u32, what: &str) -> Command {
        let mut command = Command::new(self.folder.join("jcmd"));
        command.args([&pid.to_string(), what, &format!("name={NAME}")]);
        command
    }

    /// What `jfr` prints of a recording.
    fn jfr(&self, arguments: &[&str], file: &Path) -> Result<String, Error> {
        let mut command = Command::new(self.folder.join("jfr"));
        let output = tool::run(command.args(arguments).arg(file)).map_err(Error::system("run jfr"))?;
        if !output.status.success() {
            return Err(tool::refused("jfr", "does not read the recording", &output));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// `JAVA_VERSION` of a JDK's file `release`.
fn version(release: &str) -> Option<Vec<u32>> {
    let text = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let numbers = text.trim().trim_matches('"').split(['.', '_', '+', '-']).map(str::parse).map_while(Result::ok);
    Some(numbers.collect::<Vec<_>>()).filter(|numbers| !numbers.is_empty())
}

/// What it says of a setting that it does not know.
fn unknown(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("Warning! ") && line.contains("doesn't exist"))?;
    Some(format!("does not record what it is asked for: {}", escape::terminal(line.trim())))
}

fn says(output: &Output, what: &str) -> bool {
    String::from_utf8_lossy(&output.stdout).contains(what)
}

impl Drop for Jfr {
    /// A recording that nobody stopped would go on in a JVM that lives.
    fn drop(&mut self) {
        if let (Some(tools), Some(running)) = (&self.tools, &self.running) {
            let stopped = tool::run(&mut tools.jcmd(running.pid, "JFR.stop"));
            if let Err(error) = stopped {
                log::warn!("cannot stop the recording in process {}: {error}", running.pid);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |text: &str| version(&format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{text}\"\n")).unwrap();
        assert_eq!(version("25.0.3"), [25, 0, 3]);
        assert!(version("11.0.13") > version("9.0.4"));
        assert_eq!(super::version("IMPLEMENTOR=\"x\"\n"), None);
        assert_eq!(super::version("JAVA_VERSION=\"x\"\n"), None);
    }

    /// Printed by jcmd of JDK 17.
    #[test]
    fn a_setting_that_the_jvm_does_not_know_is_an_error_with_its_own_words() {
        use std::os::unix::process::ExitStatusExt as _;
        let output = |text: &str| Output {
            status: std::process::ExitStatus::from_raw(0),
            stdout: text.as_bytes().to_vec(),
            stderr: Vec::new(),
        };
        let started = "3822:\nStarted recording 1. No limit specified, using maxsize=250MB as default.\n";
        assert_eq!(unknown(&output(started)), None);
        let warning = "Warning! The .jfc option/setting 'jdk.MethodTiming#filter' doesn't exist.\n";
        let said = unknown(&output(&format!("3822:\n{warning}{started}"))).unwrap();
        assert!(
            said.starts_with("does not record what it is asked for: Warning!") && said.contains("jdk.MethodTiming")
        );
    }

    #[test]
    fn method_timing_is_asked_of_the_method_whose_calls_are_known() {
        let all = all();
        assert_eq!(all[2].only, ["micro:call"]);
        assert_eq!(FILTER, format!("jdk.MethodTiming#filter={}::small", micro::CLASS));
        assert!(micro::all().iter().any(|micro| all[2].only.contains(&micro.name())));
    }
}
