//! What a report shows on standard output: all of it, or one screen with a word about the rest.

use std::{
    io::{self, BufWriter, Write as _},
    path::Path,
};

use super::super::{Failure, options::Extent};
use crate::{
    lens::Lens,
    report::Report,
    view::{json, text},
};

/// Sections of lenses that are there because they were asked for, before those that stand beside them.
const ASKED_FOR: [&str; 9] = [
    Lens::Explain.id(),
    Lens::Methods.id(),
    Lens::Calls.id(),
    Lens::Alloc.id(),
    Lens::Jni.id(),
    Lens::Markers.id(),
    Lens::Typestate.id(),
    Lens::Wall.id(),
    Lens::Offcpu.id(),
];

/// What the text on a screen says of the rest of a report that jtrace has kept.
pub(in super::super) const ALL_OF_THE_LATEST: &str = "All tables: `sudo jtrace report --full`. `-o x.html` draws them.";

/// What all tables of a file are shown by.
pub(in super::super) fn all_of(path: &Path) -> String {
    format!("All tables: `jtrace report {} --full`.", shell_word(&path.to_string_lossy()))
}

/// A name as a shell takes it for one word.
fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,%".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

/// Writes a report to standard output as JSON.
pub(in super::super) fn print_json(report: &Report) -> Result<(), Failure> {
    print(|out| json::write(report, out))
}

/// Writes to standard output.
pub(in super::super) fn print(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Writes a report to standard output as text; where that is a part only, `rest` says where the rest is.
pub(in super::super) fn print_text(report: &Report, extent: Extent, rest: &str) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let options = text::TextOptions::for_stdout();
    match extent {
        Extent::Whole => text::write(report, &options, &mut out)?,
        Extent::Screen => {
            let explained = alone(report, Lens::Explain);
            let report = explained.as_ref().unwrap_or(report);
            let screen = text::screen::Screen { lines: text::screen_lines(), first: &ASKED_FOR, rest };
            text::screen::write(report, &options, screen, &mut out)?;
        }
    }
    Ok(out.flush()?)
}

/// The report with one lens alone, which has on one screen what the others saw; nothing where it has no such lens.
fn alone(report: &Report, lens: Lens) -> Option<Report> {
    let mut alone = report.clone();
    alone.sections.retain(|section| section.id == lens.id());
    (!alone.sections.is_empty()).then_some(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_stays_one_word_in_a_shell() {
        assert_eq!(all_of(Path::new("/x/a-1.json")), "All tables: `jtrace report /x/a-1.json --full`.");
        assert_eq!(shell_word("it's odd"), r"'it'\''s odd'");
    }
}
