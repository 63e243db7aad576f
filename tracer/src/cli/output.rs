//! Where results go: standard output and files whose extensions pick their formats.
//!
//! Files are opened before measuring starts, so that a bad path fails early. In a directory that others can write to, no
//! link is followed and no file of somebody else is taken over: jtrace runs as root.

mod choice;

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use self::choice::{histogram as choose_histogram, profile as choose_profile};
use super::{
    Failure,
    options::{OutputOptions, ProfileChoice},
};
use crate::{
    analysis::Lens,
    report::Report,
    session::Item,
    source::recording::Recorder,
    view::{Lines, callgrind, dot, escape, folded, hgrm, html, json, ndjson, pprof, speedscope, svg, text},
};

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Json,
    Ndjson,
    Html,
}

/// Format of the stacks of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackFormat {
    Folded,
    Svg,
    Pprof,
    Speedscope,
    Dot,
    Callgrind,
}

impl StackFormat {
    /// Whose stacks are written where nobody says it: the first of these that has any. A graph is best of all calls.
    const fn usual(self) -> &'static [Lens] {
        match self {
            Self::Folded | Self::Svg | Self::Pprof | Self::Speedscope => {
                &[Lens::Cpu, Lens::Wall, Lens::Offcpu, Lens::Locks, Lens::Alloc, Lens::Calls, Lens::Methods, Lens::Jni]
            }
            Self::Dot | Self::Callgrind => {
                &[Lens::Calls, Lens::Cpu, Lens::Wall, Lens::Offcpu, Lens::Locks, Lens::Alloc, Lens::Methods, Lens::Jni]
            }
        }
    }
}

/// What the name of a file says about what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Report(Format),
    Stacks(StackFormat),
    Distribution,
    Recording,
}

/// Extensions and what they stand for. The first that a name ends in counts.
const EXTENSIONS: &[(&str, Content)] = &[
    (".speedscope.json", Content::Stacks(StackFormat::Speedscope)),
    (".json", Content::Report(Format::Json)),
    (".ndjson", Content::Report(Format::Ndjson)),
    (".txt", Content::Report(Format::Text)),
    (".html", Content::Report(Format::Html)),
    (".folded", Content::Stacks(StackFormat::Folded)),
    (".svg", Content::Stacks(StackFormat::Svg)),
    (".dot", Content::Stacks(StackFormat::Dot)),
    (".callgrind", Content::Stacks(StackFormat::Callgrind)),
    (".callgrind.out", Content::Stacks(StackFormat::Callgrind)),
    (".hgrm", Content::Distribution),
    (".pb.gz", Content::Stacks(StackFormat::Pprof)),
    (".jtrace", Content::Recording),
];

/// A file that gets the report, or stacks of it, at the end.
struct ReportFile<F> {
    path: PathBuf,
    format: F,
    file: File,
}

/// The files of a session.
#[derive(Default)]
pub(super) struct Files {
    reports: Vec<ReportFile<Format>>,
    stacks: Vec<ReportFile<StackFormat>>,
    distributions: Vec<ReportFile<()>>,
    profile: Option<ProfileChoice>,
    lines: Lines,
    recorders: Vec<(PathBuf, Recorder<BufWriter<File>>)>,
}

impl Files {
    /// Opens all files. `pid` is for `%p`.
    pub(super) fn open(options: &OutputOptions, pid: u32) -> Result<Self, Failure> {
        let mut files = Self { profile: options.profile.clone(), lines: options.lines(), ..Self::default() };
        for path in &options.output {
            let path = expand(path, pid);
            let content = content(&path)?;
            let file = create(&path)?;
            match content {
                Content::Recording => {
                    let recorder = Recorder::new(BufWriter::new(file)).map_err(|error| unwritable(&path, &error))?;
                    files.recorders.push((path, recorder));
                }
                Content::Report(format) => files.reports.push(ReportFile { path, format, file }),
                Content::Stacks(format) => files.stacks.push(ReportFile { path, format, file }),
                Content::Distribution => files.distributions.push(ReportFile { path, format: (), file }),
            }
        }
        Ok(files)
    }

    /// Whether nothing was asked for.
    pub(super) const fn is_empty(&self) -> bool {
        let Self { reports, stacks, distributions, profile: _, lines: _, recorders } = self;
        reports.is_empty() && stacks.is_empty() && distributions.is_empty() && recorders.is_empty()
    }

    /// Records an item.
    pub(super) fn record(&mut self, item: &Item<'_>) -> Result<(), Failure> {
        for (path, recorder) in &mut self.recorders {
            recorder.write(item).map_err(|error| unwritable(path, &error))?;
        }
        Ok(())
    }

    /// Makes what was recorded so far readable.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        for (path, recorder) in &mut self.recorders {
            recorder.flush().map_err(|error| unwritable(path, &error))?;
        }
        Ok(())
    }

    /// Ends the recordings and writes the reports, then the stacks: that there are none spoils nothing else.
    pub(super) fn finish(mut self, report: &Report) -> Result<(), Failure> {
        self.flush()?;
        let Self { reports, stacks, distributions, profile, lines, recorders } = self;
        for (path, _) in &recorders {
            written(path);
        }
        for ReportFile { path, format, file } in reports {
            fill(&path, file, |out| write(report, format, &text::TextOptions::for_file(), out))?;
        }
        for ReportFile { path, format: (), file } in distributions {
            // With stacks to write as well, a choice that names no distribution is about those.
            let histogram = choose_histogram(report, profile.as_ref())
                .or_else(|failure| if stacks.is_empty() { Err(failure) } else { choose_histogram(report, None) })?;
            fill(&path, file, |out| hgrm::write(histogram, out))?;
        }
        for ReportFile { path, format, file } in stacks {
            let (section, profile) = choose_profile(report, profile.as_ref(), format)?;
            fill(&path, file, |out| match format {
                StackFormat::Folded => folded::write(profile, lines, out),
                StackFormat::Svg => svg::write(profile, lines, out),
                StackFormat::Pprof => pprof::write(report, section.id, profile, lines, out),
                StackFormat::Speedscope => speedscope::write(profile, lines, out),
                StackFormat::Dot => dot::write(profile, out),
                StackFormat::Callgrind => callgrind::write(report, profile, out),
            })?;
        }
        Ok(())
    }
}

/// Writes a file to its end.
fn fill(path: &Path, file: File, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(file);
    write(&mut out).and_then(|()| out.flush()).map_err(|error| unwritable(path, &error))?;
    written(path);
    Ok(())
}

/// A word about a file that is complete; standard error may be closed, which is no reason to fail.
fn written(path: &Path) {
    let _: io::Result<()> = writeln!(io::stderr(), "wrote {}", escape::terminal(&path.to_string_lossy()));
}

/// Checks what can be checked before there is a target.
pub(super) fn check(options: &OutputOptions) -> Result<(), Failure> {
    options.output.iter().try_for_each(|path| content(path).map(drop))
}

/// Writes a report in a format.
pub(super) fn write(
    report: &Report,
    format: Format,
    options: &text::TextOptions,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(report, options, out),
        Format::Json => json::write(report, out),
        Format::Ndjson => ndjson::write(report, out),
        Format::Html => html::write(report, out),
    }
}

/// Writes a report to standard output.
pub(super) fn print(report: &Report, format: Format) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(report, format, &text::TextOptions::for_stdout(), &mut out)?;
    Ok(out.flush()?)
}

/// What is to go into a file of this name.
fn content(path: &Path) -> Result<Content, Failure> {
    let name = path.file_name().map_or(&[][..], OsStr::as_bytes);
    // A name that is nothing but an extension has none.
    let ends_in = |extension: &str| name.len() > extension.len() && name.ends_with(extension.as_bytes());
    let found = EXTENSIONS.iter().find(|(extension, _)| ends_in(extension)).map(|(_, content)| *content);
    found.ok_or_else(|| {
        let extensions: Vec<_> = EXTENSIONS.iter().map(|(extension, _)| *extension).collect();
        Failure::usage(
            format!("the extension of {} names no format", path.display()),
            format!("use one of {}", extensions.join(", ")),
        )
    })
}

/// Fills in `%p`, `%t` and `%h`.
pub(super) fn expand(path: &Path, pid: u32) -> PathBuf {
    let mut out = Vec::new();
    let mut bytes = path.as_os_str().as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'p') => out.extend_from_slice(pid.to_string().as_bytes()),
            Some(b't') => out.extend_from_slice(time_stamp().as_bytes()),
            Some(b'h') => out.extend_from_slice(rustix::system::uname().nodename().to_bytes()),
            Some(b'%') | None => out.push(b'%'),
            Some(other) => out.extend_from_slice(&[b'%', other]),
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

/// `20261121T023456Z`.
fn time_stamp() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let wall = crate::view::format::wall_clock(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    wall.chars().filter(char::is_ascii_alphanumeric).collect()
}

fn create(path: &Path) -> Result<File, Failure> {
    let shared = path
        .parent()
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
        .and_then(|parent| parent.metadata().ok())
        .is_some_and(|parent| parent.mode() & 0o002 != 0);
    let flags = if shared { libc::O_NOFOLLOW | libc::O_NONBLOCK } else { 0 };
    let mut options = OpenOptions::new();
    options.write(true).create(true).custom_flags(flags);
    let file = options.open(path).map_err(|error| unwritable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unwritable(path, &error))?;
    if shared && (metadata.uid() != rustix::process::geteuid().as_raw() || metadata.nlink() != 1 || !metadata.is_file())
    {
        return Err(Failure::new(
            format!("{} belongs to somebody else, in a directory that all can write to", path.display()),
            "write to a directory of your own".to_owned(),
        ));
    }
    // Only now that the file is known to be ours, and only if it is a file: a device has no length.
    if metadata.is_file() {
        file.set_len(0).map_err(|error| unwritable(path, &error))?;
    }
    Ok(file)
}

/// Writes a file that is whole at any moment: first beside it, then in its place. What is in that place, a link too, is
/// replaced and not followed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let beside = beside(path);
    let put = new_file(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_data()))
        .and_then(|()| fs::rename(&beside, path));
    if put.is_err() {
        // The first error says more.
        let _: io::Result<()> = fs::remove_file(&beside);
    }
    put.map_err(|error| unwritable(path, &error))?;
    written(path);
    Ok(())
}

/// Whether [`replace`] will find its way, checked before the work.
pub(super) fn check_replaceable(path: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritable(path, &error);
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_symlink()) {
        return Err(failed(io::Error::other("it is there, and is no file")));
    }
    let beside = beside(path);
    new_file(&beside).map_err(failed)?;
    fs::remove_file(&beside).map_err(failed)
}

/// A name in the same directory that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

/// A file that was not there, so that a link that somebody put there is not followed.
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("cannot write {}: {error}", path.display()),
        "give a file in a directory that exists and that you may write to".to_owned(),
    )
}

#[cfg(test)]
mod tests;
