//! `jtrace diff`: what differs between two sessions. Needs no root, kernel or JVM.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::{
    Failure,
    options::{self, ProfileChoice},
    output,
    replay::{Input, give_up},
};
use crate::{
    diff::Diff,
    report::Report,
    view::{self, Lines, html, json, svg, text::TextOptions},
};

/// Options of `jtrace diff`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// What to compare with: a recording (of jtrace, or of the JDK's flight recorder), or a report that was written as JSON
    before: PathBuf,

    /// What to compare: another one
    after: PathBuf,

    /// Print the differences as JSON
    #[arg(long)]
    json: bool,

    /// Write the differences to a file (.txt, .json, or .html: a page with flame graphs), or a flame graph of the second session, red where it has more than the
    /// first one and blue where it has less (.svg); can be repeated
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Whose stacks the flame graph shows; by default those of the first lens that has any. Of a lens with several profiles the
    /// first, or `LENS.PROFILE` (`locks.park_stacks`)
    #[arg(long, value_name = "LENS", value_parser = options::profile)]
    profile: Option<ProfileChoice>,
}

/// What a file gets.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Json,
    Svg,
    Html,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => Ok(Self::Text),
            Some("json") => Ok(Self::Json),
            Some("svg") => Ok(Self::Svg),
            Some("html") => Ok(Self::Html),
            _ => Err(Failure::usage(
                format!("the extension of {} names no form of a difference", path.display()),
                "use one of .txt, .json, .html, .svg".to_owned(),
            )),
        }
    }
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let forms: Vec<Form> = options.output.iter().map(|path| Form::of(path)).collect::<Result<_, _>>()?;
    options.output.iter().try_for_each(|path| output::check_replaceable(path))?;
    let [before, after] = [Input::open(&options.before)?, Input::open(&options.after)?];
    give_up(&options.output)?;
    let reports = [before.report(&options.before)?, after.report(&options.after)?];
    comparable(&reports, [&options.before, &options.after])?;
    let diff = Diff::of(&reports[0], &reports[1]);
    for (path, form) in options.output.iter().zip(forms) {
        match form {
            Form::Text => output::replace_with(path, |out| view::diff::write(&diff, &TextOptions::for_file(), out))?,
            Form::Json => output::replace_with(path, |out| json::write_document(&diff, out))?,
            Form::Html => {
                output::replace_with(path, |out| html::write_difference(&diff, [&reports[0], &reports[1]], out))?;
            }
            Form::Svg => picture(&reports, options.profile.as_ref(), path)?,
        }
    }
    if options.json {
        output::print(|out| json::write_document(&diff, out))?;
    } else if options.output.is_empty() {
        output::print(|out| view::diff::write(&diff, &TextOptions::for_stdout(), out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses what would be called alike only because there is nothing to compare.
fn comparable(reports: &[Report; 2], paths: [&Path; 2]) -> Result<(), Failure> {
    for (report, path) in reports.iter().zip(paths) {
        if report.span.duration_ns == 0 {
            return Err(Failure::new(
                format!("{} cannot be compared: its session lasted no time", path.display()),
                "record both sessions for 30 s or longer".to_owned(),
            ));
        }
    }
    let [before, after] = reports;
    if before.sections.iter().any(|section| after.section(section.id).is_some()) {
        return Ok(());
    }
    let lenses = |report: &Report| match &report.sections[..] {
        [] => "no lens".to_owned(),
        sections => sections.iter().map(|section| section.id).collect::<Vec<_>>().join(", "),
    };
    let [earlier, later] = paths.map(Path::display);
    Err(Failure::new(
        format!("{earlier} and {later} cannot be compared: {} before, {} after", lenses(before), lenses(after)),
        "record both sessions with the same lenses".to_owned(),
    ))
}

fn picture(reports: &[Report; 2], choice: Option<&ProfileChoice>, path: &Path) -> Result<(), Failure> {
    let [before, after] = reports;
    let (earlier, later) = output::profiles_of_both(before, after, choice)?;
    let factor = after.span.duration_ns as f64 / (before.span.duration_ns.max(1) as f64);
    output::replace_with(path, |out| svg::write_difference([earlier, later], factor, Lines::Merged, out))
}
