//! `jtrace report`: the report of a recording. Needs no root, kernel or JVM.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::{
    Failure,
    options::OutputOptions,
    output::{self, Files, Format},
};
use crate::{
    event::stream::EventStream,
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
    refuse_own_input(&options.file, &options.output.output)?;
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
    if let Some(mut stream) = stream {
        stream.flush()?;
    } else if options.output.json {
        output::print(&report, Format::Json)?;
    } else if options.output.text || files.is_empty() {
        output::print(&report, Format::Text)?;
    }
    files.finish(&report)?;
    Ok(ExitCode::SUCCESS)
}

/// Outputs are emptied when they are opened, and the recording is still being read then.
fn refuse_own_input(recording: &Path, outputs: &[PathBuf]) -> Result<(), Failure> {
    let file = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let own = file(recording);
    match outputs.iter().find(|output| own.is_some() && file(output) == own) {
        Some(output) => Err(Failure::usage(
            format!("{} is the recording that is to be read", output.display()),
            "give the output another name".to_owned(),
        )),
        None => Ok(()),
    }
}

fn take(
    item: &Item<'_>,
    options: &Options,
    session: &mut Option<Session>,
    files: &mut Option<Files>,
    stream: Option<&mut EventStream<std::io::Stdout>>,
) -> Result<(), Failure> {
    if let Item::Start(start) = item {
        *files = Some(Files::open(&options.output, start.target.pid)?);
        *session = Some(Session::new((**start).clone()));
    }
    if let (Some(session), Some(files)) = (session, files) {
        files.record(item)?;
        let taken = session.accept(item);
        if let Some(stream) = stream {
            stream.write(session, &taken)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_not_overwritten_by_its_own_replay() {
        let directory = tempfile::tempdir().expect("a directory");
        let [recording, link, other] = ["x.jtrace", "y.jtrace", "z.json"].map(|name| directory.path().join(name));
        fs::write(&recording, "precious").expect("a file");
        fs::hard_link(&recording, &link).expect("a link");
        assert!(refuse_own_input(&recording, &[other.clone(), link]).is_err());
        assert!(refuse_own_input(&recording, &[other]).is_ok());
    }
}
