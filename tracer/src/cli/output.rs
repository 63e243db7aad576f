//! Where results go: standard output and files whose extensions pick their formats.
//!
//! Files are opened before measuring starts, so that a bad path fails early. In a directory that others can write to, no
//! link is followed and no file of somebody else is taken over: jtrace runs as root.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use super::{Failure, options::OutputOptions};
use crate::{
    report::Report,
    session::Item,
    source::recording::Recorder,
    view::{escape, html, json, ndjson, text},
};

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Json,
    Ndjson,
    Html,
}

/// A file that gets the report at the end.
struct ReportFile {
    path: PathBuf,
    format: Format,
    file: File,
}

/// The files of a session.
#[derive(Default)]
pub(super) struct Files {
    reports: Vec<ReportFile>,
    recorders: Vec<(PathBuf, Recorder<BufWriter<File>>)>,
}

impl Files {
    /// Opens all files. `pid` is for `%p`.
    pub(super) fn open(options: &OutputOptions, pid: u32) -> Result<Self, Failure> {
        let mut files = Self::default();
        for path in &options.output {
            let path = expand(path, pid);
            match extension(&path)? {
                None => {
                    let file = create(&path)?;
                    let recorder = Recorder::new(BufWriter::new(file)).map_err(|error| unwritable(&path, &error))?;
                    files.recorders.push((path, recorder));
                }
                Some(format) => files.reports.push(ReportFile { file: create(&path)?, format, path }),
            }
        }
        Ok(files)
    }

    /// Whether nothing was asked for.
    pub(super) const fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.recorders.is_empty()
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

    /// Ends the recordings and writes the reports.
    pub(super) fn finish(mut self, report: &Report) -> Result<(), Failure> {
        self.flush()?;
        for ReportFile { path, format, file } in self.reports {
            let mut out = BufWriter::new(file);
            write(report, format, &text::TextOptions::for_file(), &mut out)
                .and_then(|()| out.flush())
                .map_err(|error| unwritable(&path, &error))?;
            written(&path);
        }
        self.recorders.iter().for_each(|(path, _)| written(path));
        Ok(())
    }
}

/// A word about a file that is complete; standard error may be closed, which is no reason to fail.
fn written(path: &Path) {
    let _: io::Result<()> = writeln!(io::stderr(), "wrote {}", escape::terminal(&path.to_string_lossy()));
}

/// Checks what can be checked before there is a target.
pub(super) fn check(options: &OutputOptions) -> Result<(), Failure> {
    options.output.iter().try_for_each(|path| extension(path).map(drop))
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

/// The format behind an extension; `None` is a recording.
fn extension(path: &Path) -> Result<Option<Format>, Failure> {
    match path.extension().and_then(OsStr::to_str) {
        Some("jtrace") => Ok(None),
        Some("json") => Ok(Some(Format::Json)),
        Some("ndjson") => Ok(Some(Format::Ndjson)),
        Some("txt") => Ok(Some(Format::Text)),
        Some("html") => Ok(Some(Format::Html)),
        _ => Err(Failure::usage(
            format!("the extension of {} names no format", path.display()),
            "use .json, .ndjson, .txt, .html or .jtrace".to_owned(),
        )),
    }
}

/// Fills in `%p`, `%t` and `%h`.
fn expand(path: &Path, pid: u32) -> PathBuf {
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

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("cannot write {}: {error}", path.display()),
        "give a file in a directory that exists and that you may write to".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_holders_are_filled_in() {
        assert_eq!(expand(Path::new("/x/%p-%%.json"), 42), PathBuf::from("/x/42-%.json"));
        let stamp = time_stamp();
        assert!(stamp.starts_with("20") && stamp.contains('T'), "{stamp}");
    }

    #[test]
    fn a_link_in_a_shared_directory_is_not_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let shared = directory.path().join("shared");
        std::fs::create_dir(&shared).expect("a directory");
        std::fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o1777)).expect("permissions");
        let victim = directory.path().join("victim");
        std::fs::write(&victim, "precious").expect("a file");
        std::os::unix::fs::symlink(&victim, shared.join("r.json")).expect("a link");
        assert!(create(&shared.join("r.json")).is_err());
        assert_eq!(std::fs::read_to_string(&victim).expect("still there"), "precious");
        assert!(create(&shared.join("new.json")).is_ok());
    }
}
