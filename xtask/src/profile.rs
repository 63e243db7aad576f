//! `cargo xtask profile`: jtrace's CPU samples of real programs next to those of the JDK's own flight recorder, on the same run.
//!
//! For each program: how many samples of Java threads were unwound to the thread's root, how many frames have no name, and
//! whether the methods that the two tools see most are the same within the error of sampling. Needs root, and installs the
//! Debian packages of the programs.

mod flight;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

use ::tests::{
    jdk,
    jtrace::{self, Session},
    process::Process,
};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use self::flight::{Flight, Sampler};
use crate::{bench, build, process, setup, workloads, workspace};

/// Which programs, and how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Only these, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// Seconds to watch each program
    #[arg(long, default_value_t = 25)]
    seconds: u64,

    /// CPU samples per second
    #[arg(long, default_value_t = 499)]
    sample_rate: u32,

    /// A further flag for the JVM, such as -XX:-Inline
    #[arg(long = "flag", allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// A real program: its Debian package and what it needs on the class path.
struct Program {
    name: &'static str,
    package: &'static str,
    jars: &'static [&'static str],
    java: Java,
}

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Java {
    /// The newest JDK of the tests, whose flight recorder can be compared with.
    Newest,
    /// The JDK that also compiles.
    Compiles,
}

const PROGRAMS: [Program; 6] = [
    Program { name: "h2", package: "libh2-java", jars: &["h2"], java: Java::Newest },
    Program {
        name: "xalan",
        package: "libxalan2-java",
        jars: &["xalan2", "serializer", "xercesImpl", "xml-apis"],
        java: Java::Newest,
    },
    Program { name: "ecj", package: "ecj", jars: &["eclipse-jdt-core"], java: Java::Newest },
    Program {
        name: "batik",
        package: "libbatik-java",
        jars: &["batik-all", "xmlgraphics-commons", "xml-apis", "xml-apis-ext", "xercesImpl"],
        java: Java::Newest,
    },
    Program { name: "sunflow", package: "libsunflow-java", jars: &["sunflow", "janino"], java: Java::Newest },
    Program { name: "javac", package: "openjdk-17-jdk-headless", jars: &[], java: Java::Compiles },
];

/// Where Debian keeps the jars.
pub(crate) const JARS: &str = "/usr/share/java";
/// Least share of samples of Java threads that must reach the thread's root.
const LEAST_TO_ROOT: f64 = 0.995;
/// Largest share of frames without a name.
const MOST_UNKNOWN: f64 = 0.005;
/// How many of the methods with most samples are compared.
const COMPARED: usize = 20;
/// How many standard errors two estimates of one share may lie apart. Of twenty comparisons of five programs, chance alone
/// puts one beyond 3.3 in ten; samples are not independent of each other either.
const MOST_ERRORS: f64 = 4.0;
/// How long a step of a program may take beyond the time that it is given.
const STEP: Duration = Duration::from_mins(3);

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if !process::is_root() {
        bail!("profiling needs root, as attaching does: run it with sudo -E");
    }
    workloads::run(&workloads::Options::default())?;
    build::run(&build::Options::default())?;
    bench::build_measure()?;
    let mut failed = false;
    for program in &PROGRAMS {
        if options.only.is_empty() || options.only.iter().any(|name| name == program.name) {
            let compared = watch(program, options).with_context(|| format!("profiling {}", program.name))?;
            failed |= !compared.print(program.name);
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Where the classes of a program lie; absent where its jars are not installed.
pub(crate) fn class_path(name: &str) -> Option<OsString> {
    let Program { jars, .. } = PROGRAMS.iter().find(|program| program.name == name)?;
    let mut class_path = workspace::workloads().join("programs").into_os_string();
    for jar in *jars {
        let jar = Path::new(JARS).join(format!("{jar}.jar"));
        if !jar.is_file() {
            return None;
        }
        class_path.push(":");
        class_path.push(jar);
    }
    Some(class_path)
}

/// Runs a program under both tools.
fn watch(program: &Program, options: &Options) -> Result<Compared> {
    if class_path(program.name).is_none() {
        println!("profile: installing {} (the program {})", program.package, program.name);
        setup::install(&[program.package])?;
    }
    let directory = tempfile::tempdir()?;
    let class_path = class_path(program.name).context("its jars were not installed")?;
    let (java, sampler) = match program.java {
        Java::Newest => (newest()?.java(), Sampler::CpuTime),
        Java::Compiles => (workspace::jdk_tool("java"), Sampler::Execution),
    };
    let mut java = Command::new(java);
    // A compiler of Debian's cannot read the classes of the newest release.
    java.arg(format!("-Dcompiled.against={}", workspace::jdk_home().display()));
    java.args(["-Xmx512m", "-Djava.awt.headless=true"]).args(&options.flags).arg("-cp").arg(class_path);
    java.args(["Programs", program.name, &options.seconds.to_string()]).current_dir(directory.path());
    let mut jvm = Process::spawn(&mut java)?;
    jvm.stdout.wait_for_line("READY", 0, STEP)?;
    let pid = jvm.pid().to_string();
    let flight = Flight::start(&pid, directory.path(), sampler)?;
    let recording = directory.path().join("x.jtrace");
    let file = recording.to_string_lossy().into_owned();
    let rate = options.sample_rate.to_string();
    let session = Session::start(&["record", &pid, "-l", "cpu", "--sample-rate", &rate, "-o", &file])?;
    jvm.send_line("GO")?;
    jvm.stdout.wait_for_line("DONE", 0, STEP + Duration::from_secs(options.seconds))?;
    session.stop()?;
    let theirs = flight.stop()?;
    jvm.close_stdin();
    jvm.wait(STEP)?;
    let report = jtrace::succeed(&["report", &file, "--json"])?;
    let summary = ::tests::report::Report::parse(&report.stdout)?;
    Compared::read(&recording, summary.summary("cpu", "samples")?, theirs, sampler)
}

/// What both tools say of a run.
struct Compared {
    counts: BTreeMap<String, u64>,
    ends: Vec<String>,
    ours: BTreeMap<String, Samples>,
    theirs: BTreeMap<String, u64>,
    sampler: Sampler,
}

/// jtrace's samples of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Samples {
    all: u64,
    /// Those in stubs that find the method that this one calls. The flight recorder puts them at some other method of the stack.
    dispatching: u64,
}

impl Compared {
    fn read(recording: &Path, samples: u64, theirs: BTreeMap<String, u64>, sampler: Sampler) -> Result<Self> {
        let mut measure = Command::new(bench::measure_binary());
        let text = process::output(measure.arg("profile").arg(recording))?;
        let mut compared = Self { counts: BTreeMap::new(), ends: Vec::new(), ours: BTreeMap::new(), theirs, sampler };
        for line in text.lines() {
            let words: Vec<&str> = line.splitn(5, ' ').collect();
            match words[..] {
                ["method", running, dispatching, native, name] => {
                    let samples = compared.ours.entry(flight::readable(name)).or_default();
                    samples.all += running.parse::<u64>()?;
                    samples.all += if sampler.sees_native() { native.parse::<u64>()? } else { 0 };
                    samples.dispatching += dispatching.parse::<u64>()?;
                }
                ["end", count, ..] => {
                    compared.ends.push(format!("{count} {}", line["end ".len() + count.len()..].trim()));
                }
                [name, count] => drop(compared.counts.insert(name.to_owned(), count.parse()?)),
                _ => bail!("`measure profile` printed `{line}`"),
            }
        }
        ensure!(compared.count("samples") == samples, "the lens counts {samples} samples: {:?}", compared.counts);
        Ok(compared)
    }

    fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Prints everything; whether all limits hold.
    fn print(&self, name: &str) -> bool {
        let share = |part, all| self.count(part) as f64 / self.count(all).max(1) as f64;
        let to_root = share("java_threads_to_root", "java_threads_samples");
        let unknown = share("unknown_frames", "frames");
        println!("\n{name}: {} samples, {} of Java threads", self.count("samples"), self.count("java_threads_samples"));
        println!("  to the root    {:.3} %  (at least {:.1})", to_root * 100.0, LEAST_TO_ROOT * 100.0);
        for end in &self.ends {
            println!("    {end}");
        }
        println!("  without a name {:.3} %  (at most {:.1})", unknown * 100.0, MOST_UNKNOWN * 100.0);
        let apart = self.print_methods();
        to_root >= LEAST_TO_ROOT && unknown <= MOST_UNKNOWN && (apart == 0 || !self.sampler.is_fair())
    }

    /// Prints what both say of the methods with most samples; how many differ.
    fn print_methods(&self) -> usize {
        let (ours, theirs) = (self.ours_in_all(), self.theirs.values().sum::<u64>());
        println!(
            "  by method: {} samples of jtrace, {} of them in stubs of virtual calls; {theirs} of the flight recorder ({})",
            ours.all,
            ours.dispatching,
            self.sampler.event()
        );
        println!("  {:>8} {:>8} {:>8} {:>7}  method", "jtrace", "in stubs", "JFR", "errors");
        let mut apart = 0;
        for row in self.top() {
            let mark = if row.errors > MOST_ERRORS { "!" } else { " " };
            apart += usize::from(row.errors > MOST_ERRORS);
            let [ours, stubs, theirs] = [row.ours, row.in_stubs, row.theirs].map(|share| share * 100.0);
            println!("  {ours:>7.2}% {stubs:>7.2}% {theirs:>7.2}% {:>6.1}{mark}  {}", row.errors, row.method);
        }
        let judged =
            if self.sampler.is_fair() { "" } else { " (not judged: this sampler leaves out what it cannot unwind)" };
        println!("  {apart} of {COMPARED} methods lie further apart than {MOST_ERRORS} standard errors{judged}");
        apart
    }

    fn ours_in_all(&self) -> Samples {
        let add = |a: Samples, b: &Samples| Samples { all: a.all + b.all, dispatching: a.dispatching + b.dispatching };
        self.ours.values().fold(Samples::default(), add)
    }

    /// The methods with most samples in both together.
    fn top<'a>(&'a self) -> Vec<Row<'a>> {
        let all = self.ours_in_all();
        let theirs_in_all = self.theirs.values().sum::<u64>().max(1) as f64;
        let names: std::collections::BTreeSet<&String> = self.ours.keys().chain(self.theirs.keys()).collect();
        let row = |method: &'a String| {
            let ours = self.ours.get(method).copied().unwrap_or_default();
            let theirs = self.theirs.get(method).copied().unwrap_or_default() as f64;
            let n = all.all.max(1) as f64;
            // Had jtrace put the samples in stubs where the recorder does, it would have some number between these two.
            let (least, most) = (ours.all - ours.dispatching, ours.all - ours.dispatching + all.dispatching);
            let nearest = (theirs / theirs_in_all * n).clamp(least as f64, most as f64);
            Row {
                method,
                ours: ours.all as f64 / n,
                in_stubs: ours.dispatching as f64 / n,
                theirs: theirs / theirs_in_all,
                errors: standard_errors(nearest, n, theirs, theirs_in_all),
            }
        };
        let mut rows: Vec<Row<'a>> = names.into_iter().map(row).collect();
        rows.sort_by(|a, b| (b.ours + b.theirs).total_cmp(&(a.ours + a.theirs)));
        rows.truncate(COMPARED);
        rows
    }
}

/// What both tools say of a method: shares of their samples.
struct Row<'a> {
    method: &'a str,
    ours: f64,
    in_stubs: f64,
    theirs: f64,
    /// How many standard errors these lie apart, beyond what the stubs explain.
    errors: f64,
}

/// How many standard errors the shares a/n and b/m of independent samples lie apart, if both estimate the same share.
fn standard_errors(a: f64, n: f64, b: f64, m: f64) -> f64 {
    let both = (a + b) / (n + m);
    let error = (both * (1.0 - both) * (1.0 / n + 1.0 / m)).sqrt();
    if error > 0.0 { ((a / n) - (b / m)).abs() / error } else { 0.0 }
}

/// The newest JDK of the tests.
fn newest() -> Result<jdk::Jdk> {
    jdk::all()?.pop().context("there is no JDK for the tests")
}

/// Writes a file that the flight recorder reads.
fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_no_errors_apart_and_different_ones_are_many() {
        assert!(standard_errors(100.0, 1000.0, 10.0, 100.0) < 1e-9);
        assert!(standard_errors(0.0, 1000.0, 0.0, 100.0) < 1e-9);
        // 10 % and 20 % of a thousand each: the error of the difference is 1.6 points.
        let apart = standard_errors(100.0, 1000.0, 200.0, 1000.0);
        assert!((6.0..6.5).contains(&apart), "{apart}");
    }
}
