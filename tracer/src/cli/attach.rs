//! `jtrace attach` and `jtrace record`: watch a JVM that runs already.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{
    Failure, apart,
    listen::{Limits, Pipeline, Showing, Waiter},
    opening,
    options::{Extent, OutputOptions, WatchOptions},
    outlet::Outlet,
    output::{self, Files},
};
use crate::{
    ebpf::load::KernelOptions,
    ending,
    export::events::EventStream,
    jvm::find::refused_calls::{Work, refuse_beyond},
    predicate::explain::{self, Costs},
    priority::Urgent,
    privilege,
    setup::{self, Attached, RunningTarget, SessionConfig},
    standard_error,
};

/// Options of `jtrace attach`, and of the commands that attach for one question.
#[derive(Debug, clap::Args)]
#[group(id = "attach")]
pub(super) struct Options {
    /// Process id of the JVM; see `jtrace list`
    // Optional only for commands that have subcommands without one.
    #[arg(required = true)]
    pid: Option<u32>,

    #[command(flatten)]
    pub(super) watch: WatchOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    show: ShowOptions,
}

/// How a session is shown while it runs.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ShowOptions {
    /// Show the live screen; the default on a terminal
    #[arg(long, group = "format")]
    tui: bool,

    /// Print every event as a line of JSON while it runs
    #[arg(long, group = "format")]
    events: bool,
}

impl ShowOptions {
    /// Whether the screen was asked for.
    pub(super) const fn wants_tui(&self) -> bool {
        self.tui
    }
}

/// Options of `jtrace record`.
#[derive(Debug, clap::Args)]
pub(super) struct RecordOptions {
    /// Process id of the JVM; see `jtrace list`
    pid: u32,

    #[command(flatten)]
    watch: WatchOptions,

    /// File to record into; %p is the pid, %t the time, %h the host
    #[arg(short, long, value_name = "FILE", default_value = "%p-%t.jtrace")]
    output: PathBuf,
}

/// How the results of a live session reach the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// The screen, and a text when it is gone.
    Tui(Extent),
    Events,
    Text(Extent),
    Json,
    /// Only into files.
    Quiet,
}

impl Show {
    pub(super) fn new(output: &OutputOptions, show: &ShowOptions) -> Self {
        let extent = output.extent();
        if show.tui {
            Self::Tui(extent)
        } else if show.events {
            Self::Events
        } else if output.json {
            Self::Json
        } else if output.text || output.full {
            Self::Text(extent)
        } else if !output.output.is_empty() {
            Self::Quiet
        } else if io::stdout().is_terminal() && io::stdin().is_terminal() {
            Self::Tui(extent)
        } else {
            Self::Text(extent)
        }
    }

    /// How much is printed as text at the end, if anything is.
    const fn text(self) -> Option<Extent> {
        match self {
            Self::Tui(extent) | Self::Text(extent) => Some(extent),
            Self::Events | Self::Json | Self::Quiet => None,
        }
    }
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { pid, watch, output, show } = options;
    let pid = pid.ok_or_else(|| Failure::usage("a pid is missing", "`jtrace list` shows the JVMs".to_owned()))?;
    attach(pid, watch, &output, Show::new(&output, &show))
}

pub(super) fn record(options: RecordOptions) -> Result<ExitCode, Failure> {
    let RecordOptions { pid, watch, output } = options;
    if output.extension().is_none_or(|extension| extension != "jtrace") {
        return Err(Failure::usage(
            format!("{} is not a name for a recording", output.display()),
            "a recording's name ends in .jtrace; for reports use `jtrace attach -o`".to_owned(),
        ));
    }
    let output = OutputOptions { output: vec![output], ..OutputOptions::default() };
    attach(pid, watch, &output, Show::Quiet)
}

fn attach(pid: u32, watch: WatchOptions, output: &OutputOptions, show: Show) -> Result<ExitCode, Failure> {
    let watch = watch.with_properties()?.with_lane()?;
    let mut config = watch.session_config(Instant::now())?;
    config.one_by_one |= show == Show::Events;
    if watch.demand.wanted.explain {
        return explain(&config);
    }
    output::check(output)?;
    config.weaving = watch.weaving()?;
    // Until the results are handed over: who looks into a machine that has no CPU left must not wait for them either.
    let _urgent = Urgent::begin();
    let jvm = opening::target(pid)?;
    let files = Files::open(output, pid, None)?;
    let target = RunningTarget::read(jvm, &config)?;
    apart::nobody_holds_up(Some(target.library()))?;
    // It takes over the signals, before anything in the target is changed.
    let mut waiter = Waiter::new()?;
    let mut attached = target.attach(config)?;
    // Until all is detached.
    let _journal_entry = attached.journal_entry.take();
    watch_live(attached, watch.duration, files, show, &mut waiter)?;
    Ok(if ending::is_failure() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What a trap costs here, measured on jtrace itself.
pub(super) fn trap_ns(options: KernelOptions) -> Result<f64, Failure> {
    apart::nobody_holds_up(None)?;
    Ok(setup::trap_ns(options)?)
}

/// Says what would be decided where, and what that costs here; attaches to nothing but jtrace itself.
fn explain(config: &SessionConfig) -> Result<ExitCode, Failure> {
    let costs = Costs { trap_ns: trap_ns(config.kernel)?, events_per_s: None, armed: None };
    let predicate = &config.predicate;
    io::Write::write_all(&mut io::stdout(), explain::explain(predicate, &predicate.split(), &costs).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Listens until the end, leaves the target as it was, and hands the results over. Gives what ended the session.
pub(super) fn watch_live(
    attached: Attached,
    duration: Option<Duration>,
    mut files: Files,
    show: Show,
    waiter: &mut Waiter,
) -> Result<&'static str, Failure> {
    let Attached { live, start, mut target, .. } = attached;
    let limits = Limits { pid: live.pid(), duration, same_program: target.same_program() };
    if show.text() == Some(Extent::Screen) {
        files.keep(limits.pid.get());
    }
    let rest = files.rest();
    let stream = (show == Show::Events).then(Outlet::open).transpose()?.map(EventStream::new);
    let progress =
        format!("attached to {}: {} sites in {:.2} s", limits.pid, start.sites.len(), start.attach_ns as f64 / 1e9);
    let mut pipeline = Pipeline::new(start, files, stream)?;
    // Everything that takes more has been done.
    if let Err(error) = privilege::keep_only(privilege::SESSION) {
        log::warn!("jtrace keeps all its capabilities: {error}");
    }
    if let Err(error) = refuse_beyond(Work::Session) {
        log::warn!("the kernel does not refuse what a session has no need for: {error}");
    }
    if !matches!(show, Show::Tui(_)) {
        say(&progress);
    }
    let showing = match show {
        Show::Tui(_) => Showing::Screen,
        Show::Text(_) | Show::Json => Showing::Findings,
        Show::Events | Show::Quiet => Showing::Nothing,
    };
    let ended = waiter.listen(live, limits, &mut pipeline, showing, || target.coverage())?;
    target.restore();
    ending::undone();
    standard_error::end();
    let (report, files, passed) = pipeline.finish();
    // A reader that has gone, or reads nothing, keeps nothing from the files.
    files.finish(&report)?;
    passed?;
    match show.text() {
        Some(extent) => output::print_text(&report, extent, &rest)?,
        None if show == Show::Json => output::print_json(&report)?,
        None => {}
    }
    Ok(ended)
}

/// A word about progress; standard error may be closed, or full, which is no reason to stop or to wait.
pub(super) fn say(text: &str) {
    standard_error::line(format_args!("{text}"));
}
