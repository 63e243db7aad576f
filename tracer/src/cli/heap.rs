//! `jtrace heap`: a snapshot of a JVM's heap, or of a file, and what is asked of it. `jtrace heap diff` compares two files.

mod after;
mod diff;
mod questions;

use std::{
    fs::File,
    io::{self, BufWriter, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Failure, attach::say, opening, output, replay};
use crate::{
    heap::{
        census::Census,
        diff::Counted,
        facts::Facts,
        file::{self, Stored},
        hprof,
        summary::{Analysis, Origin},
        text,
    },
    jvm::find::{
        Jvm,
        refused_calls::{Work, refuse_beyond},
    },
    privilege,
    snapshot::{self, Wanted},
    text::format::{bytes, plural},
    view::html,
};

/// What helps where nothing better is known.
const HINT: &str = "run `jtrace doctor PID` to see what can be done with this JVM";
/// Rows of a table where nobody says how many.
const USUAL_ROWS: usize = 20;
/// Most rows of a table.
const MAX_ROWS: u32 = 1_000_000;

/// Options of `jtrace heap`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<HeapCommand>,

    #[command(flatten)]
    snapshot: SnapshotOptions,
}

#[derive(Debug, clap::Subcommand)]
enum HeapCommand {
    /// Compare two snapshots or dumps: what is new, gone, more and less, by class and by what holds it
    Diff(diff::Options),
}

/// Which snapshot, and what becomes of it.
#[derive(Debug, clap::Args)]
struct SnapshotOptions {
    /// Process id of a JVM, or a file: a snapshot (.heap), or a dump of the JVM's own (.hprof)
    // Optional only beside subcommands.
    #[arg(value_name = "PID|FILE", required = true)]
    source: Option<String>,

    /// Keep the snapshot in a file, for `jtrace heap FILE`; as a dump of the JVM's own form where its name ends in .hprof, and as a page
    /// with a picture of what holds what where it ends in .html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Rows of each table: 20 where nobody says it, and of these the text leaves out what has less than 0.5 % of the heap
    #[arg(long, value_name = "N", value_parser = rows())]
    rows: Option<u32>,

    /// Show what the largest duplicates hold: the first 96 bytes of texts and arrays, which jtrace else leaves in the JVM
    #[arg(long, conflicts_with_all = ["stop", "tags"])]
    values: bool,

    #[command(flatten)]
    questions: questions::QuestionOptions,

    #[command(flatten)]
    taking: Taking,
}

/// How snapshots are taken.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Taking {
    /// Let the JVM walk through its heap itself: it stands still for that, up to seconds
    #[arg(long)]
    stop: bool,

    /// Wait for the JVM's next full collection first
    #[arg(long)]
    after_full_gc: bool,

    /// How many seconds the walk may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=3600))]
    limit: u32,

    /// Know objects by tags and not by their addresses
    #[arg(long, hide = true)]
    tags: bool,
}

/// Numbers of rows.
pub(super) fn rows() -> impl clap::builder::TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=i64::from(MAX_ROWS))
}

impl Options {
    /// Whether a process is looked into.
    pub(super) fn attaches(&self) -> bool {
        self.command.is_none() && self.snapshot.source.as_deref().is_some_and(|source| pid(source).is_some())
    }
}

/// The process, where one is named.
pub(super) fn pid(source: &str) -> Option<u32> {
    source.parse().ok()
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    match &options.command {
        Some(HeapCommand::Diff(options)) => diff::run(options),
        None => snapshot(&options.snapshot),
    }
}

fn snapshot(options: &SnapshotOptions) -> Result<ExitCode, Failure> {
    if let Some(path) = &options.output {
        output::check_replaceable(path)?;
    }
    let page = options.output.as_deref().filter(|path| path.extension().is_some_and(|extension| extension == "html"));
    // What cannot be understood costs the JVM nothing.
    let questions = options.questions.read()?;
    if page.is_some() && !questions.is_empty() {
        return Err(Failure::usage(
            "a page shows a whole snapshot, and not answers".to_owned(),
            "keep the snapshot in a file (-o x.heap), and ask that".to_owned(),
        ));
    }
    let source = options.source.as_deref().unwrap_or_default();
    let mut stored = if let Some(pid) = pid(source) {
        options.taking.take_of(pid, true, options.values)?
    } else {
        replay::give_up_but(options.output.as_slice(), &[Path::new(source)])?;
        open(Path::new(source))?
    };
    show_values(&mut stored, options.values);
    if let Some(path) = options.output.as_deref().filter(|_| page.is_none()) {
        keep(&stored, path)?;
    }
    let rows = options.rows.map_or(USUAL_ROWS, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
    if !questions.is_empty() {
        return questions.put(stored, rows, options.json);
    }
    let is_whole = stored.not_whole().is_none();
    let Stored { graph, origin, cost, not_whole: _ } = stored;
    let analysis = Analysis::of(graph);
    let summary = analysis.summary(origin, cost, is_whole, rows);
    if let Some(path) = page {
        output::replace_with(path, |out| html::write_heap(&summary, &analysis.tree(), out))?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let extent = if options.rows.is_some() { text::Extent::Whole } else { text::Extent::Screen };
        text::write(&summary, extent, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Leaves out what arrays hold, unless that was asked for: a dump has all of it.
fn show_values(stored: &mut Stored, wanted: bool) {
    let Some(contents) = &mut stored.graph.contents else { return };
    if !wanted {
        contents.values.clear();
    } else if contents.values.is_empty() {
        say("nobody knows what duplicates hold: there are none, or the snapshot was taken without --values");
    }
}

/// Writes a snapshot into a file whose name says in which form.
fn keep(stored: &Stored, path: &Path) -> Result<(), Failure> {
    let Stored { graph, origin, cost, not_whole: _ } = stored;
    if path.extension().is_none_or(|extension| extension != "hprof") {
        return output::replace_with(path, |out| file::write(graph, origin, cost.as_ref(), out));
    }
    if cost.is_none() {
        return Err(Failure::usage(
            format!("{} would have less in it than {}", path.display(), origin.file),
            "a dump of the JVM's own has values, which jtrace does not read: copy it".to_owned(),
        ));
    }
    // A file says itself how long its arrays are.
    let (needed, free) = (hprof::write::array_bytes(graph), output::free_bytes(path)?);
    if needed > free {
        let [needed, free] = [needed, free].map(bytes);
        return Err(Failure::new(
            format!("{} would take {needed} and more, and {free} are free there", path.display()),
            "a name that does not end in .hprof keeps the snapshot in a hundredth of that".to_owned(),
        ));
    }
    let mut left_out = 0;
    output::replace_with(path, |out| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        left_out = hprof::write::write(graph, origin.time_ms, stored.not_whole().as_deref(), &mut out)?;
        out.flush()
    })?;
    if left_out > 0 {
        say(&format!("{} have no place in a dump and were left out", plural(left_out, "reference", "references")));
    }
    Ok(())
}

impl Taking {
    /// Takes a snapshot of a JVM. Where it is the last one, all that reading it does not take is given up for good.
    pub(super) fn take_of(self, pid: u32, is_last: bool, values: bool) -> Result<Stored, Failure> {
        let jvm = opening::target(pid)?;
        if self.after_full_gc {
            after::full_collection(&jvm)?;
        }
        let limit = Duration::from_secs(self.limit.into());
        let wanted = Wanted { in_jvm: self.stop, by_tags: self.tags, values, limit };
        let failed = |error: snapshot::Error| {
            let hint = error.hint().map_or_else(|| HINT.to_owned(), str::to_owned);
            Failure::new(error, hint)
        };
        let headroom = snapshot::check(&jvm, wanted).map_err(failed)?;
        if self.stop {
            say("the JVM stands still while it walks through its heap: half a second to two for each million objects");
        }
        let begun = || {
            if is_last {
                only_walk();
            }
        };
        let taken = snapshot::take(&jvm, wanted, &headroom, begun).map_err(failed)?;
        Ok(Stored { graph: taken.graph, origin: origin(&jvm, &taken.facts), cost: Some(taken.facts), not_whole: None })
    }
}

/// Gives up what reading a heap and writing results do not take, for good.
fn only_walk() {
    if let Err(error) = privilege::keep_only(privilege::WALKING) {
        log::warn!("jtrace keeps all its capabilities: {error}");
    }
    if let Err(error) = refuse_beyond(Work::Looking) {
        log::warn!("the kernel does not refuse what reading a heap has no need for: {error}");
    }
}

/// Where a snapshot is from that was taken just now. Its time is that of the walk's beginning: objects are those of then.
fn origin(jvm: &Jvm, facts: &Facts) -> Origin {
    let target = &jvm.target;
    let since = Duration::from_nanos(facts.wall_ns.saturating_sub(facts.classes_ns));
    let then = SystemTime::now().checked_sub(since).unwrap_or(UNIX_EPOCH);
    let then = then.duration_since(UNIX_EPOCH).unwrap_or_default();
    Origin {
        pid: target.pid,
        command: target.command.clone(),
        jvm: target.jvm_version.clone(),
        collector: target.collector.clone(),
        time_ms: u64::try_from(then.as_millis()).unwrap_or(0),
        file: String::new(),
    }
}

/// Reads a snapshot or a dump.
pub(super) fn open(path: &Path) -> Result<Stored, Failure> {
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
        return Ok(Stored { graph: dump.graph, origin, cost: None, not_whole: dump.not_whole });
    }
    let mut stored = file::open(path).map_err(|error| failed(error.to_string()))?;
    stored.origin.file = path.display().to_string();
    Ok(stored)
}

/// What is left of a snapshot where several are looked at.
pub(super) fn counted(stored: Stored) -> Counted {
    let Stored { graph, origin, cost, not_whole: _ } = stored;
    Counted { origin, cost, census: Census::of(&graph) }
}
