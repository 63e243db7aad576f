//! The report on one screen: what was looked at and what it cost, what is wrong, and a glance at each lens. Findings come before
//! figures: the worst one is explained first, then the others are named, then there is more about each as far as there is room.

use std::io;

use super::{Ink, Page, TextOptions};
use crate::{
    report::{Completeness, ESTIMATE, Finding, Number, Report, Section, Severity, Shape, Span},
    text::escape,
    view::{
        format,
        sentence::{self, State},
        time,
    },
};

/// Up to so many lenses show their tables; of more, each has a line of figures.
const FEW: usize = 3;
/// Sentences about what is missing that are shown.
const GAPS: usize = 3;
/// Rows of the first tables.
const ROWS: usize = 8;
/// Lines of what was asked for by name, before any other lens gets some.
const ANSWER: usize = 12;
/// Lines that each lens behind the first gets at least, and a glance at all of them.
const LEAST: usize = 6;
/// Lines of a blank, a heading, and the count of what is left out; with fewer a part says nothing.
const FEWEST: usize = 4;
/// Notes of a lens that are shown, on a line each.
const NOTES: usize = 2;
/// Lines from which on a screen says what time was spent on, and in how many lines at most.
const TALL: usize = 36;
const TIMES: usize = 5;
/// Width of the names of lenses.
const NAME: usize = 11;

/// What is shown of a report.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    /// Lines.
    pub lines: usize,
    /// Sections that come first where they are there, by their ids: what was asked for.
    pub first: &'a [&'a str],
    /// Where the rest is.
    pub rest: &'a str,
}

/// Writes what fits on a screen.
pub fn write(report: &Report, options: &TextOptions, screen: Screen<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let Screen { lines, first, rest } = screen;
    let is_glance = report.sections.len() > FEW;
    // What was asked for by name is the answer, and has most of a low screen.
    let is_asked = !is_glance && report.sections.iter().any(|section| first.contains(&section.id));
    let is_tight = is_asked && lines < TALL;
    let head = head(report, options, if is_tight { 1 } else { usize::MAX })?;
    let foot = block(options, |page| {
        page.line("")?;
        page.paragraph("", rest, Some(Ink::Dim))
    })?;
    // On a low screen findings need the room.
    let shown = time::largest(&report.time, if lines < TALL { 0 } else { TIMES });
    let time = block(options, |page| page.time(&shown))?;
    let room = lines.saturating_sub(head.len() + time.len() + foot.len());
    let glance = glance(&report.sections, options)?;
    // Of few lenses their tables are the answer. A glance at two of ten lenses is worth less than the names of findings.
    let kept = if is_glance {
        let free = room.saturating_sub(named(report, options)?);
        let third = Some(room / 3).filter(|third| *third >= LEAST).unwrap_or(0);
        glance.len().min(free.max(third))
    } else {
        room * 2 / 3
    };
    let findings = findings(report, options, room.saturating_sub(kept), is_tight)?;
    let room = room.saturating_sub(findings.len());
    let details = if is_glance {
        shorten(glance, room, options)
    } else {
        details(in_order(&report.sections, first), options, room, [is_asked, is_tight])?
    };
    [head, time, findings, details, foot].iter().flatten().try_for_each(|line| writeln!(out, "{line}"))
}

/// The lines of a part of the page.
fn block(options: &TextOptions, fill: impl FnOnce(&mut Page<'_>) -> io::Result<()>) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    fill(&mut Page { options: *options, out: &mut out })?;
    Ok(String::from_utf8_lossy(&out).lines().map(str::to_owned).collect())
}

/// Its beginning, the JVM in at most that many lines.
fn head(report: &Report, options: &TextOptions, most: usize) -> io::Result<Vec<String>> {
    let Report { schema: _, headline, target, span, cost, completeness, findings: _, sections: _, .. } = report;
    block(options, |page| {
        if let Some(headline) = headline {
            page.paragraph_of(GAPS, "", headline, Some(Ink::Bad))?;
        }
        page.head(target, most, span, cost)?;
        gaps(page, completeness)
    })
}

/// How complete the report is; of long lists their beginning, and how long they are.
fn gaps(page: &mut Page<'_>, completeness: &Completeness) -> io::Result<()> {
    let (equation, state) = sentence::completeness(completeness);
    let ink = match state {
        State::Clean => Ink::Good,
        State::Gaps => Ink::Warning,
        State::Wrong => Ink::Bad,
    };
    page.paragraph("", &equation, Some(ink))?;
    let missing = &completeness.missing;
    // A line that says that there is one more takes no less than that one.
    let shown = if missing.len() == GAPS + 1 { GAPS + 1 } else { GAPS };
    missing.iter().take(shown).try_for_each(|gap| page.paragraph_of(1, "  - ", gap, Some(Ink::Warning)))?;
    if missing.len() > shown {
        let more = missing.len() - shown;
        page.paragraph_of(1, "  ", &format!("… {more} more sentences about what is missing"), Some(Ink::Warning))?;
    }
    Ok(())
}

/// How much of a finding is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// As much of the title as a line holds.
    Line,
    Title,
    /// With the first of its evidence, and what to do.
    Brief,
    Whole,
}

impl Detail {
    fn lines(self, finding: &Finding, span: &Span, options: &TextOptions) -> io::Result<Vec<String>> {
        let extent = match self {
            Self::Line => (0, 1),
            Self::Title => (0, 2),
            Self::Brief => (1, 2),
            Self::Whole => (usize::MAX, usize::MAX),
        };
        block(options, |page| page.finding(finding, span, extent))
    }
}

/// Lines that the findings take where only the first one is explained.
fn named(report: &Report, options: &TextOptions) -> io::Result<usize> {
    let Report { findings, span, .. } = report;
    let mut lines = block(options, |page| page.heading("FINDINGS"))?.len();
    for (at, finding) in findings.iter().enumerate() {
        let detail = if at == 0 { Detail::Brief } else { Detail::Title };
        lines += detail.lines(finding, span, options)?.len();
    }
    Ok(lines)
}

/// The findings in at most that many lines, but always the first one. It is explained, unless it is about nothing bad on a tight screen.
fn findings(report: &Report, options: &TextOptions, room: usize, is_tight: bool) -> io::Result<Vec<String>> {
    let Report { findings, span, .. } = report;
    let mut out = block(options, |page| page.heading("FINDINGS"))?;
    if findings.is_empty() {
        out.push("  none".to_owned());
        return Ok(out);
    }
    let mut shown: Vec<Vec<String>> = Vec::new();
    let mut left = room.saturating_sub(out.len());
    for (at, finding) in findings.iter().enumerate() {
        // Below those that do not fit stands how many they are.
        let kept = usize::from(at + 1 < findings.len());
        let is_explained = at == 0 && !(is_tight && finding.severity == Severity::Info);
        let details: &[Detail] =
            if is_explained { &[Detail::Brief, Detail::Title] } else { &[Detail::Title, Detail::Line] };
        let tried =
            details.iter().map(|detail| detail.lines(finding, span, options)).collect::<io::Result<Vec<_>>>()?;
        let fits = tried.into_iter().find(|lines| lines.len() + kept <= left || at == 0);
        let Some(lines) = fits else { break };
        left = left.saturating_sub(lines.len());
        shown.push(lines);
    }
    let hidden = findings.len() - shown.len();
    left = left.saturating_sub(usize::from(hidden > 0));
    for detail in [Detail::Title, Detail::Brief, Detail::Whole] {
        for (lines, finding) in shown.iter_mut().zip(findings) {
            let more = detail.lines(finding, span, options)?;
            let added = more.len().saturating_sub(lines.len());
            if added > 0 && added <= left {
                left -= added;
                *lines = more;
            }
        }
    }
    out.extend(shown.into_iter().flatten());
    if hidden > 0 {
        out.push(format!("  … {hidden} more"));
    }
    Ok(out)
}

/// Each lens on a line, but those of which all is 0 together.
fn glance(sections: &[Section], options: &TextOptions) -> io::Result<Vec<String>> {
    let is_quiet = |section: &&Section| section.summary.iter().all(|(_, number)| number.as_f64() == 0.0);
    let (quiet, busy): (Vec<_>, Vec<_>) = sections.iter().partition(is_quiet);
    let line = |name: &str, text: &str| format!("  {name:NAME$} {text}");
    let room = options.width.saturating_sub(NAME + 3);
    let mut out = block(options, |page| page.heading("LENSES"))?;
    let figures = |section: &&Section| line(section.id, figures(section, room, 1).first().map_or("", String::as_str));
    out.extend(busy.iter().map(figures));
    if !quiet.is_empty() {
        let names: Vec<_> = quiet.iter().map(|section| section.id).collect();
        out.extend(escape::wrap_at_most(&names.join(", "), room, 1).iter().map(|names| line("all 0", names)));
    }
    Ok(out)
}

/// The figures of a lens that are not 0, in a row of lines that break between figures and not within one. What was seen in windows only is
/// told by what it comes to over the whole span, where that is estimated.
pub(in crate::view) fn figures(section: &Section, width: usize, lines: usize) -> Vec<String> {
    let summary = &section.summary;
    let is_some = |(_, number): &(&str, Number)| number.as_f64() != 0.0;
    let all_0 = !summary.iter().any(|figure| is_some(&figure));
    let shown = summary.iter().filter(|figure| all_0 || is_some(figure)).filter(|(key, _)| !key.starts_with(ESTIMATE));
    let figures = shown.map(|(key, number)| match summary.estimate(key) {
        Some(estimate) => {
            let (name, value) = format::figure(key, estimate.value);
            (name, format!("about {value}"))
        }
        None => format::figure(key, number),
    });
    let figures: Vec<_> = figures.map(|(name, value)| format!("{name} {value}").replace(' ', "\u{a0}")).collect();
    let wrapped = escape::wrap_at_most(&figures.join(", "), width, lines);
    wrapped.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// Those that come first, then the others, in their order.
fn in_order<'a>(sections: &'a [Section], first: &[&str]) -> Vec<&'a Section> {
    let place = |section: &&Section| first.iter().position(|id| *id == section.id).unwrap_or(first.len());
    let mut sections: Vec<&Section> = sections.iter().collect();
    sections.sort_by_key(place);
    sections
}

/// Figures and tables of few lenses: the first has as much room as it wants, but for some lines for each of the others. Where it was asked
/// for by name, the others have what it leaves; on a tight screen that is nothing before it ends.
fn details(
    sections: Vec<&Section>,
    options: &TextOptions,
    room: usize,
    [is_asked, is_tight]: [bool; 2],
) -> io::Result<Vec<String>> {
    let options = TextOptions { rows: options.rows.min(ROWS), ..*options };
    let mut left = room;
    let mut out = Vec::new();
    let mut behind = sections.len();
    for (at, section) in sections.into_iter().enumerate() {
        behind -= 1;
        let lines = block(&options, |page| page.brief(section, is_tight))?;
        // Where there is no room for all, the first ones are shown.
        let wanted = behind * LEAST;
        let kept = if is_tight {
            0
        } else if is_asked && at == 0 {
            wanted.min(left.saturating_sub(ANSWER))
        } else if left >= wanted + FEWEST {
            wanted
        } else {
            0
        };
        let lines = shorten(lines, left - kept, &options);
        left = left.saturating_sub(lines.len());
        out.extend(lines);
    }
    Ok(out)
}

impl Page<'_> {
    /// A section with its first table before the beginnings of its first notes; where it is tight, that table stands for the figures.
    fn brief(&mut self, section: &Section, is_tight: bool) -> io::Result<()> {
        let Section { id: _, title, summary, notes, shapes: _ } = section;
        self.heading(&title.to_uppercase())?;
        let shapes: Vec<_> = section.shapes_with_content().collect();
        let table = shapes.iter().position(|shape| matches!(shape, Shape::Table(_))).unwrap_or(0);
        let first = shapes.get(table);
        if first.is_none() || !is_tight {
            self.figures(summary)?;
        }
        first.map_or(Ok(()), |shape| self.shape(shape))?;
        let shown = if notes.len() == NOTES + 1 { NOTES + 1 } else { NOTES };
        notes.iter().take(shown).try_for_each(|note| self.paragraph_of(1, "  note: ", note, Some(Ink::Dim)))?;
        if notes.len() > shown {
            self.paragraph_of(1, "  ", &format!("… {} more notes", notes.len() - shown), Some(Ink::Dim))?;
        }
        let others = shapes.iter().enumerate().filter(|(at, _)| *at != table);
        others.map(|(_, shape)| *shape).try_for_each(|shape| self.shape(shape))
    }
}

/// The first lines, and how many are left out; nothing where that would be all.
fn shorten(mut lines: Vec<String>, room: usize, options: &TextOptions) -> Vec<String> {
    if lines.len() > room && room < FEWEST {
        return Vec::new();
    }
    if lines.len() > room {
        let hidden = lines.len() + 1 - room;
        lines.truncate(room - 1);
        lines.push(escape::ellipsis(&format!("  … {hidden} more lines"), options.width).into_owned());
    }
    lines
}

#[cfg(test)]
mod tests;
