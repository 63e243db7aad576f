//! `jtrace bench`: asks for a measurement, shows how it goes, and writes what came out.

mod choice;
mod guard;
mod progress;

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::signal::unix::{SignalKind, signal};

use self::{
    choice::{Chosen, Suite},
    progress::Progress,
};
use super::{Failure, attach::say, options, output, values::words};
use crate::bench::{
    Error,
    budget::{Budget, Outcome},
    environment,
    interruption::Interruption,
    program::Size,
    report,
    results::{Method, Results},
    session::{self, Journal, Session, Setting},
    target::Limits,
};

/// Runs of each pair where nobody says how many.
const USUAL_RUNS: u32 = 10;
/// Iterations before the timed one where nobody says how many.
const USUAL_WARM_UP: u32 = 2;

/// Options of `jtrace bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Programs that come with jtrace or from packages of the system
    #[arg(long, value_enum, value_name = "SUITE")]
    suite: Vec<Suite>,

    /// Programs of a DaCapo archive
    #[arg(long, value_name = "JAR")]
    dacapo: Option<PathBuf>,

    /// Only these of the programs, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    programs: Vec<String>,

    /// Configurations, separated by commas: `plain`, `flags:method`, `flags:alloc`, `flags:monitor`, `attach`,
    /// `lens:NAME`, `every:NAME` (a lens without its rate guard), `markers:PERCENT`, `markers-sent:PERCENT`,
    /// `markers-gone:100`, `typestate:NAME`, `typestate:NAME:adaptive`, `peer:NAME`; the part before the colon
    /// alone means all of its kind
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    configurations: Vec<String>,

    /// Runs of each program in each configuration [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,

    /// Iterations of each JVM before those that are timed [default: 2, and none for a program behind `--`, which is
    /// measured from its start to its end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    warm_up: Option<u32>,

    /// Iterations of each JVM that are timed, one behind the other; a run is their mean [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    iterations: Option<u32>,

    /// Go on before those that are timed until the JVM's compilers are idle, TIME at most
    #[arg(long, value_name = "TIME", value_parser = options::duration)]
    settle: Option<Duration>,

    /// Size of the programs' inputs [default: default]
    #[arg(long, value_parser = words::<Size>())]
    size: Option<Size>,

    /// Seed of the random order; by default the time
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How long an iteration may take before the program is ended
    #[arg(long, value_name = "TIME", value_parser = options::duration, default_value = "15m")]
    limit: Duration,

    /// The `java` to use
    #[arg(long, value_name = "PATH", default_value = "java")]
    java: PathBuf,

    /// A flag for every JVM (`--jvm-flag=-Xmx1g`); can be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    jvm_flag: Vec<OsString>,

    /// Folder of async-profiler, to measure it too
    #[arg(long, value_name = "DIR")]
    async_profiler: Option<PathBuf>,

    /// Write to a file; .json holds the results, %t is the time; .csv, .md and .html are reports of them; can be repeated
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Go on with a session that was cut short; what is not said is as it was there
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Hold what is measured to the limits in this file, and measure what they name; exit code 1 where one is broken
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// Measure nothing: make the reports that `-o` names of the results in this file, or print one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "suite", "dacapo", "command"])]
    report: Option<PathBuf>,

    /// The jtrace that watches, where it is another one
    #[arg(long, value_name = "PATH", hide = true)]
    jtrace: Option<PathBuf>,

    /// A program of the user's, `java` with its arguments; flags are put behind `java`
    #[arg(last = true, value_name = "JAVA", conflicts_with = "java")]
    command: Vec<OsString>,
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    if let Some(file) = &options.report {
        return report_of(file, &options.output);
    }
    let budget = options.budget.as_deref().map(Budget::read).transpose()?;
    let earlier = options.resume.as_deref().map(session::read).transpose()?;
    let (path, reports) = outputs(&options)?;
    let mut options = options;
    let Chosen { programs, mut configurations, java } =
        choice::choose(&mut options, earlier.as_ref(), budget.as_ref())?;
    if let Some(budget) = &budget {
        guard::keep_pairs(&mut configurations, &budget.pairs());
    }
    let method = method(&options, earlier.as_ref());
    let size = options.size.unwrap_or_else(|| choice::size(&method));
    let limits = Limits { iteration: options.limit, ..Limits::default() };
    let environment = environment::look(&java, &options.jvm_flag)?;
    let setting = Setting { size, java, flags: options.jvm_flag, limits };
    let mut session = Session { setting, programs, configurations };
    let asked = session.results(environment, method, seconds());
    let mut journal = match &earlier {
        Some(_) => Journal::resume(&path, &asked)?,
        None => Journal::create(&path, asked)?,
    };
    let interruption = heed_signals()?;
    say(&format!("seed {}, results in {}", journal.results().method.seed, path.display()));
    let mut progress = Progress::new();
    session.run(&mut journal, &interruption, &mut |news| progress.hear(news))?;
    let judged = match &budget {
        None => None,
        Some(budget) => Some((budget, guard::judge(budget, &mut session, &mut journal, &interruption, &mut progress)?)),
    };
    drop(progress);
    let results = journal.results();
    // A session that was cut short has numbers too.
    reports.iter().try_for_each(|(form, path)| write(results, *form, path))?;
    let code = end(results, &path, interruption.signal())?;
    let Some((budget, outcomes)) = judged else { return Ok(code) };
    guard::write(budget, &outcomes, &mut io::stdout().lock())?;
    Ok(if outcomes.iter().all(Outcome::holds) { code } else { ExitCode::FAILURE })
}

/// Makes reports of a file of results, or prints one.
fn report_of(file: &Path, asked: &[PathBuf]) -> Result<ExitCode, Failure> {
    let reports: Vec<_> =
        asked.iter().map(|path| form(output::expand(path, std::process::id()))).collect::<Result<_, _>>()?;
    let results = session::read(file)?;
    if reports.is_empty() {
        print(&results)?;
    }
    reports.iter().try_for_each(|(form, path)| write(&results, *form, path))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the report for a terminal.
fn print(results: &Results) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(report::text(results).as_bytes())?;
    Ok(out.flush()?)
}

/// Prints what came out, if anything did, says where it is, and gives the exit code: 0 where all was made, 1 where
/// something was skipped, and that of a signal where one ended it.
fn end(results: &Results, path: &Path, signal: Option<u8>) -> Result<ExitCode, Failure> {
    let runs = results.runs.len();
    let file = path.display();
    if runs > 0 {
        print(results)?;
    }
    if let Some(signal) = signal {
        say(&format!("interrupted after {runs} runs, which are kept; go on with the same words and --resume {file}"));
        return Ok(ExitCode::from(128 + signal));
    }
    say(&format!("{runs} runs are in {file}, {} skipped", results.skipped.len()));
    Ok(ExitCode::from(u8::from(!results.skipped.is_empty())))
}

/// Where results go, and where reports of them. Checked before hours of work.
fn outputs(options: &Options) -> Result<(PathBuf, Vec<(Form, PathBuf)>), Failure> {
    let (results, reports): (Vec<_>, Vec<_>) = options
        .output
        .iter()
        .map(|path| output::expand(path, std::process::id()))
        .partition(|path| path.extension().is_some_and(|extension| extension == "json"));
    let reports: Vec<_> = reports.into_iter().map(form).collect::<Result<_, _>>()?;
    reports.iter().try_for_each(|(_, path)| output::check_replaceable(path))?;
    let path = match (&options.resume, results.as_slice()) {
        (Some(path), []) | (None, [path]) => path.clone(),
        (None, []) => output::expand(Path::new("jtrace-bench-%t.json"), std::process::id()),
        (Some(path), _) => {
            let hint = "leave out -o for .json".to_owned();
            return Err(Failure::usage(format!("results go into {}, which is resumed", path.display()), hint));
        }
        (None, _) => {
            let hint = "give one -o for .json; reports can be several".to_owned();
            return Err(Failure::usage("results go into one file", hint));
        }
    };
    Ok((path, reports))
}

/// How it is measured: as asked, else as before, else as usual.
fn method(options: &Options, earlier: Option<&Results>) -> Method {
    let earlier = earlier.map(|results| &results.method);
    let or = |asked: Option<u32>, was: fn(&Method) -> u32, usual| asked.or(earlier.map(was)).unwrap_or(usual);
    // A program of the user's makes one iteration, its whole life.
    let has_iterations = !options.suite.is_empty() || options.dacapo.is_some();
    let warm_up = if has_iterations { USUAL_WARM_UP } else { 0 };
    let was = || earlier.map(|method| method.size.clone());
    let size = options.size.map(|size| size.word().to_owned()).or_else(was);
    let settle_ms = options.settle.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    Method {
        runs: or(options.runs, |method| method.runs, USUAL_RUNS),
        warm_up: or(options.warm_up, |method| method.warm_up, warm_up),
        iterations: or(options.iterations, |method| method.iterations, 1),
        settle_ms: settle_ms.or(earlier.map(|method| method.settle_ms)).unwrap_or_default(),
        size: size.unwrap_or_else(|| Size::default().word().to_owned()),
        seed: options.seed.or(earlier.map(|method| method.seed)).unwrap_or_else(seconds),
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Csv,
    Markdown,
    Html,
}

/// The form that the extension of a file names.
fn form(path: PathBuf) -> Result<(Form, PathBuf), Failure> {
    let form = match path.extension().and_then(OsStr::to_str) {
        Some("csv") => Form::Csv,
        Some("md") => Form::Markdown,
        Some("html") => Form::Html,
        _ => {
            return Err(Failure::usage(
                format!("there is no report like {}", path.display()),
                "reports end in .csv, .md or .html, the results of a measurement in .json".to_owned(),
            ));
        }
    };
    Ok((form, path))
}

/// Writes a report.
fn write(results: &Results, form: Form, path: &Path) -> Result<(), Failure> {
    let text = match form {
        Form::Csv => report::csv(results),
        Form::Markdown => report::markdown(results),
        Form::Html => report::html(results),
    };
    output::replace(path, text.as_bytes())
}

/// From now on a signal ends the JVM that runs, and the session behind it.
fn heed_signals() -> io::Result<Arc<Interruption>> {
    let interruption = Arc::new(Interruption::default());
    let raised = Arc::clone(&interruption);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate, mut hangup) = {
        let _context = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let kind = tokio::select! {
                    _ = interrupt.recv() => SignalKind::interrupt(),
                    _ = terminate.recv() => SignalKind::terminate(),
                    _ = hangup.recv() => SignalKind::hangup(),
                };
                raised.raise(u8::try_from(kind.as_raw_value()).unwrap_or(u8::MAX));
            }
        });
    });
    Ok(interruption)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = match &error {
            // It says what to do itself.
            Error::Missing { .. } => None,
            Error::Unexpected { .. } => Some("see `jtrace bench --help`".to_owned()),
            Error::Program { .. } => Some("run the same `java` with the same flags by hand to see more".to_owned()),
            Error::System { .. } => Some("check the path and the permissions".to_owned()),
        };
        Self::new(error, hint)
    }
}

#[cfg(test)]
mod tests;
