//! `jtrace report`: the report of a recording, of jtrace or of a flight recorder, or one that was written as JSON, in any form. Needs no root, kernel or JVM.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::{
    Failure, apart,
    options::OutputOptions,
    output::{self, Files},
};
use crate::{
    export::events::EventStream,
    item::Item,
    jvm::find::{
        refused_calls::{Work, refuse_beyond},
        refused_files,
    },
    privilege,
    report::{MAX_DOCUMENT_BYTES, ReadError, Report},
    session::Session,
    source::{recorded::Recorded, recording::Error},
};

/// Options of `jtrace report`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The recording (of jtrace, or of the JDK's flight recorder), or a report that was written as JSON; `-` is standard input; without one, the report of the session that ended last
    file: Option<PathBuf>,

    #[command(flatten)]
    output: OutputOptions,

    /// Print every event as a line of JSON instead
    #[arg(long, group = "format")]
    events: bool,
}

/// What a file holds.
pub(super) enum Input {
    Recorded(Recorded<BufReader<File>>),
    Report(BufReader<File>),
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let path = if path == "-" { Path::new("/dev/stdin") } else { path };
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
        // A recording begins with a word of its own.
        let is_json = file.fill_buf().map_err(failed)?.first() == Some(&b'{');
        Ok(if is_json { Self::Report(file) } else { Self::Recorded(Recorded::new(file, path)?) })
    }

    /// The report that it is, or that its events give.
    pub(super) fn report(self, path: &Path) -> Result<Report, Failure> {
        match self {
            Self::Report(file) => read(file, path),
            Self::Recorded(recording) => {
                let mut session: Option<Session> = None;
                recording.replay(&mut |item| match (&item, &mut session) {
                    (Item::Start(start), _) => session = Some(Session::new((**start).clone())),
                    (_, Some(session)) => drop(session.accept(&item)),
                    (_, None) => {}
                })?;
                Ok(session.expect("a replay that succeeds begins with a start").report())
            }
        }
    }
}

/// Reads a report that was written as JSON.
fn read(file: BufReader<File>, path: &Path) -> Result<Report, Failure> {
    let mut document = Vec::new();
    let read = file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut document);
    read.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let foreign = |reason: &dyn std::fmt::Display| {
        Failure::new(
            format!("{} is no report that this jtrace can read: {reason}", path.display()),
            "reports are written by `-o x.json` and `--json`; read it with the jtrace that wrote it, or a newer one"
                .to_owned(),
        )
    };
    if document.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(foreign(&format_args!("it is longer than {} MiB", MAX_DOCUMENT_BYTES >> 20)));
    }
    Report::read(&document).map_err(|error| match error {
        ReadError::Torn { .. } => Failure::new(
            format!("{} is only the beginning of a report: {error}", path.display()),
            "write it again to its end: the disk was full, or jtrace was killed; a recording (`-o x.jtrace`) is read up to where it ends"
                .to_owned(),
        ),
        ReadError::Json(_) | ReadError::Inconsistent { .. } => foreign(&error),
    })
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    output::check(&options.output)?;
    let asked = Asked::new(options)?;
    let input = Input::open(&asked.file)?;
    give_up(&asked.output.output)?;
    match input {
        Input::Recorded(recording) => replay(recording, &asked)?,
        Input::Report(file) => show(file, &asked)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What to show, and how.
struct Asked {
    file: PathBuf,
    output: OutputOptions,
    events: bool,
    /// What shows the rest of the report where the text is a part only.
    rest: String,
}

impl Asked {
    fn new(Options { file, output, events }: Options) -> Result<Self, Failure> {
        Ok(match file {
            Some(file) => Self { rest: output::all_of(&file), file, output, events },
            None => Self { rest: output::ALL_OF_THE_LATEST.to_owned(), file: output::latest()?, output, events },
        })
    }
}

/// Most memory for what somebody else may have written: a report can take fifty times as much as its file, and a heap that was packed
/// thousands of times as much.
const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// What heaps of so many bytes may take besides.
const MAX_UNPACKED: u64 = 64;

/// Keeps only what it takes to parse, once all that is read is open, and to write to these files.
pub(super) fn give_up(outputs: &[PathBuf]) -> Result<(), Failure> {
    give_up_but(outputs, &[])
}

/// The same where these files are still to be opened.
pub(super) fn give_up_but(outputs: &[PathBuf], read: &[&Path]) -> Result<(), Failure> {
    let sizes = read.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len());
    let size = sizes.fold(0, u64::saturating_add);
    apart::limit_memory(MAX_MEMORY_BYTES.saturating_add(size.saturating_mul(MAX_UNPACKED)))?;
    privilege::keep_only(privilege::REPORTING)?;
    refuse_beyond(Work::Looking)?;
    if let Err(error) = refused_files::refuse_all_but(&output::directories(outputs), read) {
        log::warn!("the kernel does not refuse files that a report has no need for: {error}");
    }
    Ok(())
}

fn replay(recording: Recorded<BufReader<File>>, asked: &Asked) -> Result<(), Failure> {
    let mut session = None;
    let mut files = None;
    let mut stream = asked.events.then(|| EventStream::new(std::io::stdout()));
    let mut failed = Ok(());
    recording.replay(&mut |item| {
        if failed.is_ok() {
            failed = take(&item, asked, &mut session, &mut files, stream.as_mut());
        }
    })?;
    failed?;
    let session = session.expect("a replay that succeeds begins with a start");
    let files: Files = files.unwrap_or_default();
    let report = files.report_of(&session);
    let printed = match stream {
        Some(mut stream) => stream.flush().map_err(Failure::from),
        None => print(&report, asked, &files),
    };
    // A reader that has gone keeps nothing from the files.
    files.finish(&report)?;
    printed
}

/// A report has no events any more.
fn show(file: BufReader<File>, asked: &Asked) -> Result<(), Failure> {
    let name = asked.file.display();
    let needs_events = output::of_events(&asked.output).map(|path| path.display().to_string());
    if let Some(wanted) = needs_events.or_else(|| asked.events.then(|| "--events".to_owned())) {
        return Err(Failure::usage(
            format!("{wanted} needs single events, and {name} is a report, which has none"),
            "give a recording: `jtrace record PID -o x.jtrace` makes one".to_owned(),
        ));
    }
    let report = read(file, &asked.file)?;
    let files = Files::open(&asked.output, report.target.pid, Some(&asked.file))?;
    let printed = print(&report, asked, &files);
    files.finish(&report)?;
    printed
}

fn print(report: &Report, asked: &Asked, files: &Files) -> Result<(), Failure> {
    if asked.output.json {
        output::print_json(report)
    } else if asked.output.text || asked.output.full || files.is_empty() {
        output::print_text(report, asked.output.extent(), &asked.rest)
    } else {
        Ok(())
    }
}

fn take(
    item: &Item<'_>,
    asked: &Asked,
    session: &mut Option<Session>,
    files: &mut Option<Files>,
    stream: Option<&mut EventStream<std::io::Stdout>>,
) -> Result<(), Failure> {
    if let Item::Start(start) = item {
        *files = Some(Files::open(&asked.output, start.target.pid, Some(&asked.file))?);
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
