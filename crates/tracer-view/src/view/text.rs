//! The report as plain text for people: findings first, then a section per lens.
//!
//! It is not for programs: numbers are rounded, long names lose their packages first, tables end after some rows (and say so).
//! [`screen`] is the same in as many lines as a screen has.

pub(super) mod chart;
pub(super) mod profile;
pub mod screen;
pub(super) mod table;
pub(super) mod tree;

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _},
};

use ratatui::{buffer::Buffer, style::Color};

use super::{
    escape, format,
    sentence::{self, State},
    time,
};
use crate::{
    item::Target,
    report::{Completeness, Cost, Doing, Finding, Report, Section, Severity, Shape, Span, Summary},
};

/// Longest text, in columns, that is wrapped over several lines instead of being cut.
const LONGEST: usize = 600;

/// Lines of a screen where nobody says how many it has.
const USUAL_LINES: usize = 40;

/// Fewest lines that the head and the worst finding are to fit in.
const LEAST_LINES: usize = 20;

/// Most buckets of a histogram that are drawn; neighbours are put together until they fit.
const BUCKETS: usize = 16;

/// Colours or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Characters only.
    #[default]
    Plain,
    /// With the sixteen colours that every terminal has.
    Colour,
}

impl Style {
    /// What a terminal gets: colours unless `NO_COLOR` is set.
    pub fn wanted() -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if wants_none { Self::Plain } else { Self::Colour }
    }

    /// Takes the colours from a screen that is to have none. The terminal's library leaves them out by a sequence that takes bold and
    /// reversed letters away as well: the chosen tab and row could not be seen.
    pub(super) fn apply(self, buffer: &mut Buffer) {
        if self == Self::Plain {
            for cell in &mut buffer.content {
                (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
            }
        }
    }
}

/// How to write a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns.
    pub width: usize,
    /// Colours or none.
    pub style: Style,
    /// Rows of a table before the rest is only counted.
    pub rows: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: 80, style: Style::Plain, rows: 10 }
    }
}

impl TextOptions {
    /// What suits a file or a pipe: names of classes and methods need room.
    pub fn for_file() -> Self {
        Self { width: 120, ..Self::default() }
    }

    /// What suits standard output: on a terminal its width, and colours unless `NO_COLOR` is set.
    pub fn for_stdout() -> Self {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return Self::for_file();
        }
        let width = terminal_size().map_or(80, |(columns, _)| columns);
        let style = Style::wanted();
        // A terminal that does not tell its width says 0.
        Self { width: if width < 40 { 80 } else { width }, style, ..Self::default() }
    }
}

/// Lines that fit on the screen that standard output is, beside the next prompt; of a file or a pipe, those of a usual screen.
pub fn screen_lines() -> usize {
    // A terminal that does not tell its size says 0. Below some height nothing could be said any more.
    let told = terminal_size().map(|(_, lines)| lines).filter(|lines| *lines > 0);
    told.map_or(USUAL_LINES, |lines| lines.saturating_sub(2).max(LEAST_LINES))
}

/// Columns and lines of the terminal that standard output is.
fn terminal_size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Heading,
    Dim,
    Good,
    Warning,
    Bad,
}

/// Writes the report.
pub fn write(report: &Report, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let Report { schema: _, headline, target, span, cost, completeness, time, findings, sections, table_steps: _ } =
        report;
    let mut page = Page { options: *options, out };
    if let Some(headline) = headline {
        page.paragraph("", headline, Some(Ink::Bad))?;
    }
    page.head(target, usize::MAX, span, cost)?;
    page.completeness(completeness)?;
    page.time(time)?;
    page.findings(findings, span)?;
    sections.iter().try_for_each(|section| page.section(section))
}

/// Where the text goes.
pub(super) struct Page<'a> {
    pub(super) options: TextOptions,
    pub(super) out: &'a mut dyn io::Write,
}

impl Page<'_> {
    /// The escaped text in its colour, if there are colours.
    fn paint<'t>(&self, text: &'t str, ink: Ink) -> Cow<'t, str> {
        let code = match ink {
            _ if self.options.style == Style::Plain => return Cow::Borrowed(text),
            Ink::Heading => "1",
            Ink::Dim => "2",
            Ink::Good => "32",
            Ink::Warning => "33",
            Ink::Bad => "1;31",
        };
        Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
    }

    /// A line of escaped text.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }

    /// A text of the report, wrapped: the first line begins with `first`, the others are indented likewise.
    pub(super) fn paragraph(&mut self, first: &str, text: &str, ink: Option<Ink>) -> io::Result<()> {
        self.paragraph_of(usize::MAX, first, text, ink)
    }

    /// The same in at most that many lines.
    fn paragraph_of(&mut self, most: usize, first: &str, text: &str, ink: Option<Ink>) -> io::Result<()> {
        let indent = escape::width(first);
        let text = escape::fit(text, LONGEST);
        let room = self.options.width.saturating_sub(indent);
        for (at, line) in escape::wrap_at_most(&text, room, most).iter().enumerate() {
            let line = ink.map_or(Cow::Borrowed(line.as_str()), |ink| self.paint(line, ink));
            let lead = if at == 0 { Cow::Borrowed(first) } else { Cow::Owned(" ".repeat(indent)) };
            writeln!(self.out, "{lead}{line}")?;
        }
        Ok(())
    }

    pub(super) fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = escape::fit(text, self.options.width);
        let text = self.paint(&text, Ink::Heading).into_owned();
        writeln!(self.out, "\n{text}")
    }

    /// What was looked at, the JVM in at most that many lines, and what it cost.
    fn head(&mut self, target: &Target, most: usize, span: &Span, cost: &Cost) -> io::Result<()> {
        let command = escape::fit(&format!("{}  {}", target.pid, target.command), self.options.width);
        let command = self.paint(&command, Ink::Heading).into_owned();
        self.line(&command)?;
        self.paragraph_of(most, "", &sentence::target(target), None)?;
        let Span { start_ns: _, duration_ns, started_at_ms, end } = span;
        let duration = format::duration(*duration_ns as f64);
        self.paragraph("", &format!("{duration} from {}, end: {end}", format::wall_clock(*started_at_ms)), None)?;
        self.paragraph("", &sentence::cost(target, cost), None)
    }

    fn completeness(&mut self, completeness: &Completeness) -> io::Result<()> {
        let (sentence, state) = sentence::completeness(completeness);
        let ink = match state {
            State::Clean => Ink::Good,
            State::Gaps => Ink::Warning,
            State::Wrong => Ink::Bad,
        };
        self.paragraph("", &sentence, Some(ink))?;
        for site in completeness.sites.iter().filter(|site| site.lost > 0) {
            let (lost, emitted) = (format::count(site.lost), format::count(site.emitted));
            let text = format!("lost {lost} of {emitted} at {} ({:#x}), lens {}", site.probe, site.offset, site.lens);
            self.paragraph("  - ", &text, None)?;
        }
        completeness.missing.iter().try_for_each(|sentence| self.paragraph("  - ", sentence, Some(Ink::Warning)))
    }

    /// What the process spends its wall time on; nothing where nothing says it.
    fn time(&mut self, time: &[Doing]) -> io::Result<()> {
        if time.is_empty() {
            return Ok(());
        }
        self.heading("TIME (threads on average)")?;
        time::lines(time, self.options.width).iter().try_for_each(|line| self.line(line))
    }

    fn findings(&mut self, findings: &[Finding], span: &Span) -> io::Result<()> {
        self.heading("FINDINGS")?;
        if findings.is_empty() {
            return self.line("  none");
        }
        findings.iter().try_for_each(|finding| self.finding(finding, span, (usize::MAX, usize::MAX)))
    }

    /// A finding with at most so much of its evidence, each sentence in at most that many lines.
    fn finding(&mut self, finding: &Finding, span: &Span, (evidence, lines): (usize, usize)) -> io::Result<()> {
        let Finding { id: _, severity, score: _, title, shown_in: _, when: _, evidence: sentences, next_step } =
            finding;
        let (mark, ink) = match severity {
            Severity::Critical => ("!! ", Ink::Bad),
            Severity::Warning => (" ! ", Ink::Warning),
            Severity::Info => (" i ", Ink::Good),
        };
        self.paragraph_of(lines, mark, title, Some(ink))?;
        if evidence == 0 {
            return Ok(());
        }
        if let Some(when) = sentence::when(finding, span) {
            self.paragraph_of(lines, "     - ", &format!("when: {when}"), None)?;
        }
        sentences.iter().take(evidence).try_for_each(|line| self.paragraph_of(lines, "     - ", line, None))?;
        self.paragraph_of(lines, "     → ", next_step, None)
    }

    fn section(&mut self, section: &Section) -> io::Result<()> {
        let Section { id: _, title, summary, notes, shapes } = section;
        self.heading(&title.to_uppercase())?;
        self.figures(summary)?;
        notes.iter().try_for_each(|note| self.paragraph("  note: ", note, Some(Ink::Dim)))?;
        shapes.iter().try_for_each(|shape| self.shape(shape))
    }

    fn figures(&mut self, summary: &Summary) -> io::Result<()> {
        let figures: Vec<_> = summary.iter().map(|(key, number)| format::figure(key, number)).collect();
        table::figures(&figures, self.options.width).iter().try_for_each(|line| self.line(line))
    }

    fn shape(&mut self, shape: &Shape) -> io::Result<()> {
        let TextOptions { width, style: _, rows } = self.options;
        if shape.is_empty() {
            // The figures above say 0 already.
            return Ok(());
        }
        let (title, lines) = match shape {
            Shape::Table(shape) => (&shape.title, table::lines(shape, width, rows)),
            Shape::Tree(shape) => (&shape.title, tree::lines(shape, width, rows * 2)),
            Shape::Histogram(shape) => (&shape.title, chart::histogram(shape, width, BUCKETS)),
            Shape::Timeline(shape) => (&shape.title, chart::timeline(shape, width)),
            Shape::Profile(shape) => (&shape.title, profile::lines(shape, width, rows * 3)),
        };
        let title = format!("  {}", escape::fit(title, width.saturating_sub(2)));
        let title = self.paint(&title, Ink::Heading).into_owned();
        writeln!(self.out, "{title}")?;
        lines.iter().try_for_each(|line| self.line(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn written(report: &Report, options: &TextOptions) -> String {
        let mut out = Vec::new();
        write(report, options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn report_at_80_columns() {
        insta::assert_snapshot!(written(&sample::report(), &TextOptions::default()));
    }

    #[test]
    fn report_at_120_columns() {
        insta::assert_snapshot!(written(
            &sample::report(),
            &TextOptions { width: 120, rows: 3, ..TextOptions::default() }
        ));
    }

    #[test]
    fn no_line_is_wider_than_asked_and_none_is_hostile() {
        for width in [40, 60, 80, 133, 200] {
            let text = written(&sample::report(), &TextOptions { width, ..TextOptions::default() });
            for line in text.lines() {
                assert!(escape::width(line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(line), line);
            }
        }
    }

    #[test]
    fn colours_only_on_demand_and_around_the_same_text() {
        let plain = written(&sample::report(), &TextOptions::default());
        let colour = written(&sample::report(), &TextOptions { style: Style::Colour, ..TextOptions::default() });
        assert!(colour.contains("\x1b[1;31m14 threads"));
        let mut stripped = colour;
        for code in ["1", "2", "32", "33", "1;31", "0"] {
            stripped = stripped.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(stripped, plain);
    }

    #[test]
    fn clean_report_says_complete() {
        let mut report = sample::report();
        report.completeness = Completeness { emitted: 12_345, delivered: 12_345, ..Completeness::default() };
        let text = written(&report, &TextOptions::default());
        assert!(text.contains("\ncomplete: 12,345 emitted = 12,345 delivered + 0 lost\n"), "{text}");
    }

    #[test]
    fn empty_report_is_written() {
        let mut report = sample::report();
        report.findings.clear();
        report.sections.clear();
        assert!(written(&report, &TextOptions::default()).contains("FINDINGS\n  none\n"));
    }
}
