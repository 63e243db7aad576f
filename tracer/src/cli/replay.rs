//! `jtrace report`: the report of a recording. Needs no root, kernel or JVM.

use std::{path::PathBuf, process::ExitCode};

use super::{
    Failure,
    options::OutputOptions,
    output::{self, Files, Format},
};
use crate::{
    event::stream::EventStream,
    jvm::find::{
        privilege,
        refused_calls::{Work, refuse_beyond},
        refused_files,
    },
    session::{Item, Session},
    source::recording::Recording,
};

/// Options of `jtrace report`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The recording
    file: PathBuf,

    #[command(flatten)]
    output: OutputOptions,

    /// Print every event as a line of JSON instead
    #[arg(long, group = "format")]
    events: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    output::check(&options.output)?;
    let recording = Recording::open(&options.file)?;
    // All that is read is open now.
    privilege::keep_only(privilege::REPORTING)?;
    refuse_beyond(Work::Looking)?;
    if let Err(error) = refused_files::refuse_beyond(&output::directories(&options.output)) {
        log::warn!("the kernel does not refuse files that a report has no need for: {error}");
    }
    let mut session = None;
    let mut files = None;
    let mut stream = options.events.then(|| EventStream::new(std::io::stdout()));
    let mut failed = Ok(());
    recording.replay(&mut |item| {
        if failed.is_ok() {
            failed = take(&item, options, &mut session, &mut files, stream.as_mut());
        }
    })?;
    failed?;
    let session = session.expect("a replay that succeeds begins with a start");
    let report = session.report();
    let files = files.unwrap_or_default();
    let printed = if let Some(mut stream) = stream {
        stream.flush().map_err(Failure::from)
    } else if options.output.json {
        output::print(&report, Format::Json)
    } else if options.output.text || files.is_empty() {
        output::print(&report, Format::Text)
    } else {
        Ok(())
    };
    // A reader that has gone keeps nothing from the files.
    files.finish(&report)?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

fn take(
    item: &Item<'_>,
    options: &Options,
    session: &mut Option<Session>,
    files: &mut Option<Files>,
    stream: Option<&mut EventStream<std::io::Stdout>>,
) -> Result<(), Failure> {
    if let Item::Start(start) = item {
        *files = Some(Files::open(&options.output, start.target.pid, Some(&options.file))?);
        *session = Some(Session::new((**start).clone()));
    }
    if let (Some(session), Some(files)) = (session, files) {
        files.record(item)?;
        let taken = session.accept(item);
        files.follow(session, item, &taken)?;
        if let Some(stream) = stream {
            stream.write(session, &taken)?;
        }
    }
    Ok(())
}
