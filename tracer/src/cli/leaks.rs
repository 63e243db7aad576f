//! `jtrace leaks`: snapshots of a JVM over a while, or files of such, and what goes on growing in them.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{
    Failure,
    attach::say,
    heap::{self, Taking},
    options, output,
    places::Sampling,
    replay,
};
use crate::{
    ending::{self, Cut, Patience, Until},
    heap::{
        diff::Counted,
        leaks::{Leaks, Sampled},
    },
    jvm::find::process::Identity,
    text::format::duration,
    view::{self, html, json, text::TextOptions},
};

/// Most snapshots of a JVM, in which each leaves a mapping.
const MAX_SNAPSHOTS: i64 = 100;

/// Options of `jtrace leaks`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM, or two snapshots or more (.heap, or dumps of the JVM's own, .hprof)
    #[arg(value_name = "PID|FILE", required = true)]
    sources: Vec<String>,

    /// From the first snapshot to the last one
    #[arg(short, long, value_name = "TIME", default_value = "1m", value_parser = options::duration)]
    duration: Duration,

    /// How many snapshots are taken
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=MAX_SNAPSHOTS))]
    snapshots: u32,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write a page (.html) instead of text
    #[arg(short, long, value_name = "FILE", conflicts_with = "json", value_parser = page)]
    output: Option<PathBuf>,

    /// Rows of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = heap::rows())]
    rows: u32,

    /// Do not sample where objects are made
    #[arg(long)]
    no_places: bool,

    #[command(flatten)]
    taking: Taking,
}

fn page(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    is_page.then_some(path).ok_or_else(|| "a page's name ends in .html; `--json` prints what programs read".to_owned())
}

impl Options {
    fn pid(&self) -> Option<u32> {
        let [source] = &self.sources[..] else { return None };
        heap::pid(source)
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
    let (counted, sampled) = match options.pid() {
        Some(pid) => take_with_places(options, pid)?,
        None => (read(options)?, None),
    };
    let mut leaks = Leaks::of(&counted, usize::try_from(options.rows).unwrap_or(usize::MAX));
    match sampled {
        Some(Ok(sampled)) => leaks.add_places(&sampled),
        Some(Err(reason)) => leaks.cautions.push(format!("where objects are made was not sampled: {reason}")),
        None => {}
    }
    if let Some(path) = &options.output {
        output::replace_with(path, |out| html::write_leaks(&leaks, out))?;
    } else if options.json {
        output::print(|out| json::write_document(&leaks, out))?;
    } else {
        output::print(|out| view::leaks::write(&leaks, &TextOptions::for_stdout(), out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(options: &Options) -> Result<Vec<Counted>, Failure> {
    let sources = &options.sources;
    if sources.len() < 2 {
        return Err(Failure::usage(
            format!("{} is one snapshot, and what grows is seen in two or more", sources.join(" ")),
            "give several files of `jtrace heap PID -o FILE`, or the process id of a JVM".to_owned(),
        ));
    }
    let paths: Vec<&Path> = sources.iter().map(Path::new).collect();
    replay::give_up_but(options.output.as_slice(), &paths)?;
    sources.iter().map(|source| heap::open(Path::new(source)).map(heap::counted)).collect()
}

/// What was sampled, or why nothing was; nothing at all where that was not asked for.
type Places = Option<Result<Vec<Sampled>, String>>;

/// Takes snapshots, and samples meanwhile where objects are made.
fn take_with_places(options: &Options, pid: u32) -> Result<(Vec<Counted>, Places), Failure> {
    let sampling = (!options.no_places).then(|| Sampling::start(pid, options.duration));
    let counted = take(options, pid);
    let sampled = sampling.map(|sampling| sampling.map_err(|error| error.to_string())?.end());
    Ok((counted?, sampled))
}

/// Takes snapshots at equal distances. A signal ends that early, and so does the end of the JVM; two snapshots are enough to say something.
fn take(options: &Options, pid: u32) -> Result<Vec<Counted>, Failure> {
    ending::heed()?;
    let began = Instant::now();
    let target = Identity::of(pid);
    let mut counted: Vec<Counted> = Vec::new();
    for at in 0..options.snapshots {
        let when = options.duration.mul_f64(f64::from(at) / f64::from(options.snapshots - 1));
        let left = when.saturating_sub(began.elapsed());
        // What ends the wait early is what is looked for next.
        let _: Result<(), Cut> = ending::pause(left, Until::within(left, Patience::First));
        if ending::count() > 0 {
            break;
        }
        let taken = if at > 0 && !target.is_some_and(Identity::is_alive) {
            Err(Failure::new(format!("process {pid} has ended"), "give a shorter time (`-d 20s`)".to_owned()))
        } else {
            options.taking.take_of(pid, at + 1 == options.snapshots, false).map(heap::counted)
        };
        match taken {
            // It is a part only because of the signal, or none.
            _ if ending::count() > 0 => break,
            Ok(taken) => {
                let pause = duration(taken.cost.as_ref().map_or(0, |cost| cost.pause_ns));
                say(&format!("snapshot {} of {}: the JVM stood still for at most {pause}", at + 1, options.snapshots));
                counted.push(taken);
            }
            Err(failure) if counted.len() < 2 => return Err(failure),
            Err(failure) => {
                let reason = failure.lines().into_iter().next().unwrap_or_default();
                say(&format!("only {} snapshots were taken: {reason}", counted.len()));
                break;
            }
        }
    }
    if counted.len() < 2 {
        return Err(Failure::new(
            "jtrace was asked to end before there were two snapshots",
            "wait for the second one, or give a shorter time (`-d 20s`)".to_owned(),
        ));
    }
    Ok(counted)
}
