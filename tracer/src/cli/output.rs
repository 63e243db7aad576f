//! Where results go: standard output and files whose extensions pick their formats.
//!
//! Their directories are opened before measuring starts, so that a bad path fails early. Recordings, jtrace's and those for the
//! JDK's tools, get their names at once, all else when it is complete. `place` keeps jtrace, which runs as root, from writing where others point.

mod choice;
mod kept;
mod names;
mod place;
mod shown;

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

pub(super) use self::{
    choice::profiles_of_both,
    kept::latest,
    names::{Format, expand},
    shown::{ALL_OF_THE_LATEST, all_of, print, print_json, print_text},
};
use self::{
    choice::{histogram as choose_histogram, profile as choose_profile},
    kept::Kept,
    names::{Content, StackFormat, content},
    place::Place,
};
use super::{
    Failure,
    options::{OutputOptions, ProfileChoice},
};
use crate::{
    export::{Export, firefox, jfr::FlightRecorder, perfetto},
    item::{Item, Taken},
    report::Report,
    session::Session,
    source::recording::Recorder,
    text::escape,
    view::{Lines, callgrind, dot, folded, hgrm, html, json, ndjson, pprof, speedscope, svg, text},
};

/// A file that gets the report, or stacks of it, at the end.
struct ReportFile<F> {
    path: PathBuf,
    format: F,
    place: Place,
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
    exports: Vec<(PathBuf, Box<dyn Export>)>,
    kept: Option<Kept>,
}

impl Files {
    /// Opens all places. `pid` is for `%p`; none of them may be the input, which is still being read.
    pub(super) fn open(options: &OutputOptions, pid: u32, input: Option<&Path>) -> Result<Self, Failure> {
        let mut files = Self { profile: options.profile.clone(), lines: options.lines(), ..Self::default() };
        let input = input.and_then(|path| fs::metadata(path).ok());
        let mut places = Vec::new();
        for path in &options.output {
            let path = expand(path, pid);
            let failed = |error: io::Error| unwritable(&path, &error);
            let content = content(&path)?;
            let place = Place::open(&path).map_err(failed)?;
            if input.as_ref().is_some_and(|input| place.is(input)) {
                return Err(Failure::usage(
                    format!("{} is the file that is to be read", path.display()),
                    "give the output another name".to_owned(),
                ));
            }
            place.check().map_err(failed)?;
            places.push((path, content, place));
        }
        for (path, content, place) in places {
            match content {
                Content::Recording => {
                    let file = place.create().map_err(|error| unwritable(&path, &error))?;
                    let recorder = Recorder::new(BufWriter::new(file)).map_err(|error| unwritable(&path, &error))?;
                    files.recorders.push((path, recorder));
                }
                Content::Flight => files.export(path, &place, |out| Box::new(FlightRecorder::new(out)))?,
                Content::Perfetto => files.export(path, &place, |out| Box::new(perfetto::trace(out)))?,
                Content::Firefox => files.export(path, &place, |out| Box::new(firefox::profile(out)))?,
                Content::Report(format) => files.reports.push(ReportFile { path, format, place }),
                Content::Stacks(format) => files.stacks.push(ReportFile { path, format, place }),
                Content::Distribution => files.distributions.push(ReportFile { path, format: (), place }),
            }
        }
        Ok(files)
    }

    /// Opens a file that is written while the session goes on.
    fn export(
        &mut self,
        path: PathBuf,
        place: &Place,
        begin: impl FnOnce(BufWriter<File>) -> Box<dyn Export>,
    ) -> Result<(), Failure> {
        let out = BufWriter::new(place.create().map_err(|error| unwritable(&path, &error))?);
        self.exports.push((path, begin(out)));
        Ok(())
    }

    /// Whether nothing was asked for.
    pub(super) const fn is_empty(&self) -> bool {
        let Self { reports, stacks, distributions, profile: _, lines: _, recorders, exports, kept: _ } = self;
        let at_end = reports.is_empty() && stacks.is_empty() && distributions.is_empty();
        at_end && recorders.is_empty() && exports.is_empty()
    }

    /// Keeps the report for `jtrace report`, as nothing else does, and the screen shows a part of it only.
    pub(super) fn keep(&mut self, pid: u32) {
        if self.readable().is_none() {
            self.kept = Kept::open(pid);
        }
    }

    /// The file that `jtrace report` can read.
    fn readable(&self) -> Option<&Path> {
        let report = self.reports.iter().find(|file| file.format == Format::Json).map(|file| &*file.path);
        self.recorders.first().map(|(path, _)| &**path).or(report)
    }

    /// What the text on a screen says of the rest of the report.
    pub(super) fn rest(&self) -> String {
        match (self.readable(), &self.kept) {
            (Some(path), _) => all_of(path),
            (None, Some(_)) => ALL_OF_THE_LATEST.to_owned(),
            (None, None) => "All tables: `--full`. `-o x.html` draws them.".to_owned(),
        }
    }

    /// Records an item.
    pub(super) fn record(&mut self, item: &Item<'_>) -> Result<(), Failure> {
        for (path, recorder) in &mut self.recorders {
            recorder.write(item).map_err(|error| unwritable(path, &error))?;
        }
        Ok(())
    }

    /// Takes an item after the session has taken it, for files that want what it was.
    pub(super) fn follow(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) -> Result<(), Failure> {
        for (path, export) in &mut self.exports {
            export.write(session, item, taken).map_err(|error| unwritable(path, &error))?;
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

    /// The report of a session that is over, with what its files show of it: only a page shows when amounts of stacks came.
    pub(super) fn report_of(&self, session: &Session) -> Report {
        let is_page = |file: &ReportFile<Format>| file.format == Format::Html;
        if self.reports.iter().any(is_page) { session.report_with_steps() } else { session.report() }
    }

    /// Ends the recordings and writes the reports, then the stacks: that there are none spoils nothing else.
    pub(super) fn finish(mut self, report: &Report) -> Result<(), Failure> {
        self.flush()?;
        let Self { reports, stacks, distributions, profile, lines, recorders, exports, kept } = self;
        if let Some(kept) = kept {
            kept.finish(report);
        }
        for (path, _) in &recorders {
            written(path);
        }
        for (path, export) in exports {
            export.finish(report).map_err(|error| unwritable(&path, &error))?;
            written(&path);
        }
        for ReportFile { path, format, place } in reports {
            fill(&path, &place, |out| write(report, format, &text::TextOptions::for_file(), out))?;
        }
        for ReportFile { path, format: (), place } in distributions {
            // With stacks to write as well, a choice that names no distribution is about those.
            let histogram = choose_histogram(report, profile.as_ref())
                .or_else(|failure| if stacks.is_empty() { Err(failure) } else { choose_histogram(report, None) })?;
            fill(&path, &place, |out| hgrm::write(histogram, out))?;
        }
        for ReportFile { path, format, place } in stacks {
            let (section, profile) = choose_profile(report, profile.as_ref(), format)?;
            fill(&path, &place, |out| match format {
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

/// Writes a file, which takes its name when it is complete.
fn fill(path: &Path, place: &Place, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<(), Failure> {
    place.replace(write).map_err(|error| unwritable(path, &error))?;
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

/// The first output that is made of single events.
pub(super) fn of_events(options: &OutputOptions) -> Option<&Path> {
    let is_of_events = |path: &&PathBuf| {
        matches!(content(path), Ok(Content::Recording | Content::Flight | Content::Perfetto | Content::Firefox))
    };
    options.output.iter().find(is_of_events).map(PathBuf::as_path)
}

/// Directories below which files are written: as far as they are known before `%p` and others are filled in.
pub(super) fn directories(outputs: &[PathBuf]) -> Vec<&Path> {
    let is_known = |directory: &&Path| !directory.as_os_str().as_bytes().contains(&b'%');
    let known = outputs.iter().filter_map(|path| path.ancestors().skip(1).find(is_known));
    known.map(|directory| if directory.as_os_str().is_empty() { Path::new(".") } else { directory }).collect()
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

/// Writes a file that is whole at any moment, in the place of what has its name.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let place = Place::open(path).map_err(|error| unwritable(path, &error))?;
    fill(path, &place, |out| out.write_all(bytes))
}

/// The same of what is written piece by piece.
pub(super) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let place = Place::open(path).map_err(|error| unwritable(path, &error))?;
    fill(path, &place, write)
}

/// Whether [`replace`] will find its way, checked before the work.
pub(super) fn check_replaceable(path: &Path) -> Result<(), Failure> {
    Place::open(path).and_then(|place| place.check()).map_err(|error| unwritable(path, &error))
}

/// How many bytes a file of this name could have at most.
pub(super) fn free_bytes(path: &Path) -> Result<u64, Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let free = rustix::fs::statvfs(directory).map_err(|error| unwritable(path, &error.into()))?;
    Ok(free.f_bavail.saturating_mul(free.f_frsize))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("cannot write {}: {error}", path.display()),
        "give a file in a directory that exists and that you may write to".to_owned(),
    )
}

#[cfg(test)]
mod tests;
