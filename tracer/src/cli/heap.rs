//! `jtrace heap`: a snapshot of a JVM's heap, or of a file.

use std::{
    fs::File,
    io::{self, BufWriter, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Failure, attach::say, output, prepare};
use crate::{
    heap::{
        file::{self, Stored},
        hprof,
        summary::{Analysis, Origin},
        take::{self, Wanted},
        text,
    },
    jvm::find::Jvm,
};

/// What helps where nothing better is known.
const HINT: &str = "run `jtrace doctor PID` to see what can be done with this JVM";
/// Most rows of a table.
const MAX_ROWS: u32 = 1_000_000;

/// Options of `jtrace heap`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM, or a file: a snapshot (.heap), or a dump of the JVM's own (.hprof)
    #[arg(value_name = "PID|FILE")]
    source: String,

    /// Keep the snapshot in a file, for `jtrace heap FILE`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Let the JVM walk through its heap itself: it stands still for that, up to seconds
    #[arg(long)]
    stop: bool,

    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_ROWS)))]
    rows: u32,

    /// How many seconds the walk may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=3600))]
    limit: u32,

    /// Know objects by tags and not by their addresses
    #[arg(long, hide = true)]
    tags: bool,
}

impl Options {
    /// The process, where one is named.
    fn pid(&self) -> Option<u32> {
        self.source.parse().ok()
    }

    /// Whether a process is looked into.
    pub(super) fn attaches(&self) -> bool {
        self.pid().is_some()
    }
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(path) = &options.output {
        output::check_replaceable(path)?;
    }
    let stored = match options.pid() {
        Some(pid) => take_of(options, pid)?,
        None => open(Path::new(&options.source))?,
    };
    if let Some(path) = &options.output {
        output::replace_with(path, |out| file::write(&stored.graph, &stored.origin, stored.cost.as_ref(), out))?;
    }
    let Stored { graph, origin, cost } = stored;
    let rows = usize::try_from(options.rows).unwrap_or(usize::MAX);
    let summary = Analysis::of(graph).summary(origin, cost, rows);
    let mut out = BufWriter::new(io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        text::write(&summary, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn take_of(options: &Options, pid: u32) -> Result<Stored, Failure> {
    let jvm = prepare::open(pid)?;
    let limit = Duration::from_secs(options.limit.into());
    let wanted = Wanted { in_jvm: options.stop, by_tags: options.tags, limit };
    let failed = |error: take::Error| {
        let hint = error.hint().map_or_else(|| HINT.to_owned(), str::to_owned);
        Failure::new(error, hint)
    };
    let headroom = take::check(&jvm, wanted).map_err(failed)?;
    if options.stop {
        say("the JVM stands still while it walks through its heap: half a second to two for each million objects");
    }
    let taken = take::take(&jvm, wanted, &headroom).map_err(failed)?;
    Ok(Stored { graph: taken.graph, origin: origin(&jvm), cost: Some(taken.facts) })
}

fn origin(jvm: &Jvm) -> Origin {
    let target = &jvm.target;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Origin {
        pid: target.pid,
        command: target.command.clone(),
        jvm: target.jvm_version.clone(),
        collector: target.collector.clone(),
        time_ms: u64::try_from(now.as_millis()).unwrap_or(0),
        file: String::new(),
    }
}

fn open(path: &Path) -> Result<Stored, Failure> {
    let failed = |reason: String| {
        let hint = "give the process id of a JVM, a snapshot of `jtrace heap PID -o FILE`, or a dump of `jcmd PID GC.heap_dump FILE`";
        Failure::new(format!("{}: {reason}", path.display()), hint.to_owned())
    };
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    if !file.metadata()?.is_file() {
        return Err(failed("it is no file".to_owned()));
    }
    file.take(32).read_to_end(&mut beginning)?;
    if hprof::is_dump(&beginning) {
        let dump = hprof::open(path).map_err(|error| failed(error.to_string()))?;
        let origin = Origin { time_ms: dump.time_ms, file: path.display().to_string(), ..Origin::default() };
        return Ok(Stored { graph: dump.graph, origin, cost: None });
    }
    let mut stored = file::open(path).map_err(|error| failed(error.to_string()))?;
    stored.origin.file = path.display().to_string();
    Ok(stored)
}
