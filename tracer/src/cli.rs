//! The command line: parse, run, say what went wrong with a hint, exit with 0 (done), 1 (failed) or 2 (usage); `heap --assert` has more.

mod announce;
mod apart;
mod attach;
mod bench;
mod demand;
mod diff;
pub mod doctor;
mod explain_call;
mod failure;
mod faults;
mod heap;
mod inside;
mod lane;
mod leaks;
pub mod list;
mod listen;
mod logger;
mod markers;
mod opening;
mod options;
mod outlet;
mod output;
mod outside;
mod perf_map;
mod places;
pub mod predicate;
mod probes;
mod recovery;
mod replay;
mod run;
mod shell;
mod threads;
mod top;
mod typestate;
mod values;

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use failure::Failure;

use crate::{ending, inside::place, jvm::find, lens::Lens};

/// Command lines that the help shows.
pub(crate) const EXAMPLES: &str = "\
Examples:
  jtrace list                                    which JVMs are there, and what can be seen of them
  sudo jtrace threads 4711                       what every thread does or waits for, at once
  sudo jtrace heap 4711                          what is in the heap, and what holds it
  sudo jtrace leaks 4711 -d 10m                  what goes on growing in the heap, and what holds it
  sudo jtrace attach 4711                        watch a JVM until q is pressed
  sudo jtrace attach 4711 -d 30s -o r.json       30 seconds, then a report
  sudo jtrace attach 4711 -l gc,locks --text     only two lenses, as text
  sudo jtrace attach 4711 --events | head        every event as a line of JSON
  sudo jtrace methods 4711 -I 'com.shop.*::checkout' --where 'duration > 10ms'
                                                 how often, how long, how it ends
  sudo jtrace record 4711 -d 1m -o x.jtrace      record now, look later: jtrace report x.jtrace
  sudo jtrace run -- java -jar app.jar           from the JVM's first instruction on
  sudo jtrace bench -- java -jar app.jar         what it costs this program to be watched";

/// Looks into running HotSpot JVMs from the operating system: no restart, no agent, no flags.
#[derive(Debug, Parser)]
#[command(name = "jtrace", version, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the JVMs of this machine, containers included
    List(LookOptions),
    /// Say what works here, what does not, and what to change
    Doctor(DoctorOptions),
    /// Print what every thread does or waits for, with its Java stack
    ///
    /// Nothing is loaded into the JVM and no thread is stopped: stacks are read from outside. The form is `jstack`'s. A thread that runs
    /// Java code at the moment has no stack that can be read.
    Threads(threads::Options),
    /// Take a snapshot of a JVM's heap, at the price of one `fork`: what is there, and what holds it
    ///
    /// A library is loaded into the JVM. At a safepoint the JVM is copied and goes on; the copy walks through its heap, tells jtrace what it
    /// sees, and is gone. Give a file in place of a process id to look at a snapshot again, or at a dump of the JVM's own (.hprof). `--where` asks
    /// for some objects, `--assert` exits with 3 where something does not hold of the heap, and with 4 where the snapshot does not say.
    Heap(heap::Options),
    /// Take snapshots of a JVM's heap over a while, and say what goes on growing, how fast, and what holds it
    ///
    /// Each snapshot is one of `jtrace heap`. What has stopped growing, as a cache at its bound, is no suspect. Give files in place of a process id
    /// to look at snapshots that were kept.
    Leaks(leaks::Options),
    /// List the probe sites of a JVM or a libjvm.so
    Probes(probes::Options),
    /// Write names for `perf` of the code that a JVM has compiled
    ///
    /// The file is /tmp/perf-PID.map as the JVM sees /tmp and its own process id, and belongs to the JVM's user; it names
    /// what stands there now, so write it again before each report. Where `perf report` runs as another user than that one,
    /// root included, it wants `--force`. Classes of lambdas and method handles are named without the address in their
    /// names.
    PerfMap(perf_map::Options),
    /// Watch a running JVM
    Attach(attach::Options),
    /// Count and time calls of chosen methods
    Methods(attach::Options),
    /// Follow who calls whom, among chosen methods
    Calls(attach::Options),
    /// Say what a call costs: waiting, allocations, exceptions, locks, and what it calls
    ///
    /// A library in the JVM marks where the method begins and ends. What the other lenses tell of its thread in between is added up: over
    /// all calls, over those around the median, and of the slowest.
    ExplainCall(Box<explain_call::Options>),
    /// Count and time calls of JNI functions, and critical sections
    Jni(attach::Options),
    /// Follow marked points and regions of code, through a library in the JVM
    ///
    /// `jtrace markers check` shows what markers would match in class files, and attaches nothing.
    Markers(Box<markers::MarkersOptions>),
    /// Count every object of chosen classes
    Alloc(attach::Options),
    /// Count exceptions, with where they are thrown and caught
    Exceptions(attach::Options),
    /// Start a JVM and watch it from its first instruction on
    Run(run::Options),
    /// Show all JVMs of the machine, with the worst that is wrong with each; attaches to none
    Top(top::Options),
    /// Record a running JVM for `jtrace report`
    Record(attach::RecordOptions),
    /// Show the report of a recording
    Report(replay::Options),
    /// Compare two recordings or reports
    Diff(diff::Options),
    /// Measure what watching costs, on programs, for jtrace and for other tools
    ///
    /// Every program runs in every configuration, in a JVM of its own, round by round in shuffled order. `plain` and
    /// `flags:...` need no root, what attaches does. Results are kept after each run; --resume goes on.
    Bench(bench::Options),
    /// Look at protocols of objects: which calls are legal in which order
    Typestate(typestate::Options),
    /// Print a completion script for a shell
    Completions(shell::CompletionsOptions),
    /// Print the manual page
    Man,
    /// Wait for a gate, then become another program: the first half of `run`
    #[command(hide = true)]
    WaitAndExec(run::WaitOptions),
    /// Become the user of a process, and reach files for another jtrace
    #[command(hide = true)]
    AsTargetUser(apart::TargetOptions),
    /// Look into processes for another jtrace
    #[command(hide = true)]
    LookApart(apart::LookOptions),
    /// Follow a JVM for another jtrace
    #[command(hide = true)]
    WatchApart(top::WatchOptions),
    /// Undo what a killed jtrace left, for another jtrace
    #[command(hide = true)]
    RecoverApart(recovery::Options),
    /// Watch a JVM for another jtrace
    #[command(hide = true)]
    AttachApart(places::SamplingOptions),
}

impl Command {
    /// How long it waits until what a killed jtrace left is undone; absent where it has nothing to do with any process.
    fn recovers(&self) -> Option<Duration> {
        match self {
            Self::Attach(_)
            | Self::Methods(_)
            | Self::Calls(_)
            | Self::ExplainCall(_)
            | Self::Jni(_)
            | Self::Alloc(_)
            | Self::Exceptions(_)
            | Self::Run(_)
            | Self::Record(_)
            | Self::AttachApart(_)
            | Self::Bench(_) => Some(recovery::BEFORE_ATTACHING),
            Self::Heap(options) => options.attaches().then_some(recovery::BEFORE_LOOKING),
            Self::Leaks(options) => options.attaches().then_some(recovery::BEFORE_LOOKING),
            Self::Markers(options) => options.attaches().then_some(recovery::BEFORE_ATTACHING),
            Self::Typestate(options) => options.attaches().then_some(recovery::BEFORE_ATTACHING),
            Self::List(_) | Self::Doctor(_) | Self::Threads(_) | Self::Probes(_) | Self::PerfMap(_) | Self::Top(_) => {
                Some(recovery::BEFORE_LOOKING)
            }
            Self::Report(_)
            | Self::Diff(_)
            | Self::Completions(_)
            | Self::Man
            | Self::WaitAndExec(_)
            | Self::AsTargetUser(_)
            | Self::LookApart(_)
            | Self::WatchApart(_)
            | Self::RecoverApart(_) => None,
        }
    }
}

/// Options of `jtrace list`.
#[derive(Debug, clap::Args)]
struct LookOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Options of `jtrace doctor`.
#[derive(Debug, clap::Args)]
struct DoctorOptions {
    /// Process id of a JVM, to look at it as well
    pid: Option<u32>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    log_to_stderr();
    faults::say_on_one_line();
    if let Some(limit) = arguments.command.recovers() {
        place::remove_left();
        recovery::recover(limit);
    }
    match run(arguments.command) {
        // What was said of memory that is missing, or of a fault, holds for every command.
        Ok(_) if ending::is_failure() => ExitCode::FAILURE,
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::List(options) => look(&options),
        Command::Doctor(options) => examine(&options),
        Command::Threads(options) => threads::run(&options),
        Command::Heap(options) => heap::run(&options),
        Command::Leaks(options) => leaks::run(&options),
        Command::Probes(options) => probes::run(&options),
        Command::PerfMap(options) => perf_map::run(&options),
        Command::Attach(options) => attach::run(options),
        Command::Methods(options) => demand::run(options, Lens::Methods),
        Command::Calls(options) => demand::run(options, Lens::Calls),
        Command::ExplainCall(options) => explain_call::run(*options),
        Command::Jni(options) => demand::run(options, Lens::Jni),
        Command::Markers(options) => markers::run(*options),
        Command::Alloc(options) => demand::run(options, Lens::Alloc),
        Command::Exceptions(options) => demand::run(options, Lens::Exceptions),
        Command::Run(options) => run::run(options),
        Command::Record(options) => attach::record(options),
        Command::Top(options) => top::run(&options),
        Command::Report(options) => replay::run(options),
        Command::Diff(options) => diff::run(&options),
        Command::Bench(options) => bench::run(options),
        Command::Typestate(options) => typestate::run(options),
        Command::Completions(options) => shell::completions(&options),
        Command::Man => shell::man(),
        Command::WaitAndExec(options) => run::wait_and_exec(&options),
        Command::AsTargetUser(options) => Ok(apart::as_target_user(options)),
        Command::LookApart(options) => apart::look(&options),
        Command::WatchApart(options) => top::watch(options),
        Command::RecoverApart(options) => recovery::apart(options),
        Command::AttachApart(options) => places::apart(options),
    }
}

fn look(options: &LookOptions) -> Result<ExitCode, Failure> {
    let list = list::collect()?;
    let mut out = Vec::new();
    if options.json {
        list.write_json(&mut out)?;
    } else {
        list.write_text(&mut out)?;
    }
    io::stdout().write_all(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// A doctor who finds something missing exits with 1, so that scripts can ask.
///
/// A pid that nobody has is a mistake and no finding.
fn examine(options: &DoctorOptions) -> Result<ExitCode, Failure> {
    if let Some(pid) = options.pid {
        apart::look_at(pid)?;
        if find::process::Stat::read(pid).is_err() {
            let error = find::Error::NoProcess(pid);
            let hint = error.hint();
            return Err(Failure::new(error, hint));
        }
    }
    let examination = doctor::examine(options.pid)?;
    let mut out = Vec::new();
    if options.json {
        examination.write_json(&mut out)?;
    } else {
        examination.write_text(&mut out)?;
    }
    io::stdout().write_all(&out)?;
    Ok(if examination.works() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Warnings go to standard error, more with `JTRACE_LOG=info` or `debug`; while the screen is on, its log pane has them.
fn log_to_stderr() {
    if log::set_logger(&logger::LOGGER).is_ok() {
        let level = std::env::var("JTRACE_LOG").ok().and_then(|level| level.parse().ok());
        log::set_max_level(level.unwrap_or(log::LevelFilter::Warn));
    }
}

/// Help and version go to standard output and are a success; a mistake gets one line of error and one of hint.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match write!(io::stdout(), "{}", error.render()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => Failure::from(error).report(),
        };
    }
    failure::usage(error).report()
}

/// Parses a command line, and runs nothing.
#[cfg(test)]
pub(crate) fn parse(words: &[String]) -> Result<(), clap::Error> {
    Arguments::try_parse_from(words).map(drop)
}

/// All commands and options.
#[cfg(test)]
pub(crate) fn definition() -> clap::Command {
    Arguments::command()
}

/// The command as clap describes it, for completions and the manual page.
fn command() -> clap::Command {
    let command = Arguments::command();
    // Building checks the definition in debug builds.
    debug_assert!(Arguments::from_arg_matches(&command.clone().get_matches_from(["jtrace", "man"])).is_ok());
    command
}
