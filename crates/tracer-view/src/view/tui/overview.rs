//! The first screen: what time goes to, what is wrong, a glance at each lens, and how complete all of that is.
//!
//! The heights are computed here and not left to the layout: of lengths that do not fit together it shortens any.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style},
    text::{Line, Span},
};

use super::{
    draw::{self, ALERT, DIM, HEADING},
    findings,
    mouse::Targets,
    state::State,
};
use crate::{
    report::{Report, Section, Shape, Unit},
    text::escape,
    view::{format, sentence, text, time},
};

/// Lowest body in which there is always room for more than what the time goes to and the findings.
const HIGH: usize = 30;
/// Parts of the time that are shown at most, and those of a low body where findings need the room.
const MOST_TIMES: usize = 9;
const USUAL_TIMES: usize = 4;
/// Fewest lines of a box that shows something of the lenses.
const GLANCE: usize = 6;
/// Lines of a box that has one line in it.
const BOX: usize = 3;

/// How many lines each part has, with its border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heights {
    time: usize,
    findings: usize,
    lenses: usize,
    complete: usize,
}

impl Heights {
    /// The lines that there are, for parts that would take so many. Each part shows its most important lines first, so that any of them
    /// can be cut, and what time goes to leaves as much to the findings as it takes, or as they need.
    fn of(lines: usize, wanted: Self) -> Self {
        let complete = wanted.complete.min((lines / 4).max(1)).min(lines);
        let left = lines - complete;
        let lenses = if lines < HIGH { 0 } else { wanted.lenses.min(lines / 3) };
        let usual = if lines < HIGH { USUAL_TIMES + 2 } else { wanted.time };
        let free = left.saturating_sub(wanted.findings + lenses);
        let time = Some(wanted.time.min(usual.min(left / 2).max(free))).filter(|time| *time >= BOX).unwrap_or(0);
        let left = left - time;
        let lenses = lenses.min(left / 2);
        let findings = wanted.findings.min(left - lenses);
        // A box of less shows too little of the lenses; findings have all of a low body that does not leave that much.
        let lenses = Some(left - findings).filter(|rest| lines >= HIGH || *rest >= GLANCE).unwrap_or(0);
        Self { time, findings: left - lenses, lenses, complete }
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, report: &Report, targets: &mut Targets) {
    let width = usize::from(area.width);
    let is_high = usize::from(area.height) >= HIGH;
    let (complete, kind) = completeness(report, width);
    let parts = report.time.len().min(MOST_TIMES);
    let wanted = Heights {
        time: if parts == 0 { 0 } else { parts + 2 },
        findings: findings::height(state, report, width.saturating_sub(2)) + 2,
        lenses: report.sections.len() + 2,
        complete: complete.len().min(if is_high { 5 } else { 2 }),
    };
    let heights = Heights::of(area.height.into(), wanted);
    let [top, middle, rest, bottom] =
        Layout::vertical([heights.time, heights.findings, heights.lenses, heights.complete].map(length)).areas(area);
    if heights.time > 0 {
        spent(frame, top, report);
    }
    findings::draw(frame, middle, (state, report), targets);
    if heights.lenses > 0 {
        let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).areas(rest);
        glance(frame, left, "Key figures", |inner| key_figures(report, inner));
        glance(frame, right, "Over time", |inner| sparklines(report, usize::from(inner.width)));
    }
    let style = match kind {
        sentence::State::Clean => DIM,
        sentence::State::Gaps => Style::new().fg(Color::Yellow),
        sentence::State::Wrong => ALERT,
    };
    let complete = cut(complete, heights.complete, width);
    draw::lines(frame, bottom, complete.into_iter().map(|line| Line::styled(line, style)).collect());
}

fn length(lines: usize) -> Constraint {
    Constraint::Length(draw::lines_of(lines))
}

/// What time goes to: the largest parts that there is room for, and how many are left out.
fn spent(frame: &mut Frame<'_>, area: Rect, report: &Report) {
    let room = usize::from(area.height).saturating_sub(2);
    let shown = time::largest(&report.time, room);
    let title = format!("Where its time goes: threads on average{}", more(report.time.len(), shown.len()));
    let inner = draw::boxed(frame, area, &title, false);
    let colour = |state: &str| match state {
        "runs" => Color::Green,
        "stopped" => Color::Red,
        _ => Color::Yellow,
    };
    let lines = time::lines(&shown, usize::from(inner.width)).into_iter().zip(&shown);
    let lines = lines.map(|(line, doing)| Line::styled(line, Style::new().fg(colour(doing.state))));
    draw::lines(frame, inner, lines.collect());
}

/// How many are not shown, for a title.
fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        hidden => format!(" ({hidden} more)"),
    }
}

/// A box of lines, with how many do not fit.
fn glance(frame: &mut Frame<'_>, area: Rect, title: &str, content: impl FnOnce(Rect) -> Vec<Line<'static>>) {
    let inner = draw::inside(area);
    let lines = content(inner);
    let title = format!("{title}{}", more(lines.len(), inner.height.into()));
    let inner = draw::boxed(frame, area, &title, false);
    draw::lines(frame, inner, lines);
}

/// How complete the report is, with what is missing.
fn completeness(report: &Report, width: usize) -> (Vec<String>, sentence::State) {
    let (equation, state) = sentence::completeness_so_far(report);
    let first = report.headline.iter().flat_map(|headline| escape::wrap(headline, width));
    let mut lines: Vec<String> = first.chain(escape::wrap(&equation, width)).collect();
    for missing in &report.completeness.missing {
        lines.extend(escape::wrap(&escape::fit(missing, width * 2), width));
    }
    (lines, state)
}

/// At most that many lines, the last of them with a mark where there are more.
fn cut(mut lines: Vec<String>, most: usize, width: usize) -> Vec<String> {
    let hides = lines.len() > most;
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| hides) {
        *last = escape::ellipsis(&format!("{last} …"), width).into_owned();
    }
    lines
}

/// For every section what its summary says: two lines each where there is room for that, otherwise one.
fn key_figures(report: &Report, area: Rect) -> Vec<Line<'static>> {
    let most = if usize::from(area.height) >= report.sections.len() * 2 { 2 } else { 1 };
    let section = |section: &Section| {
        let indent = section.id.len() + 2;
        let room = usize::from(area.width).saturating_sub(indent);
        let lead = |at| Span::styled(if at == 0 { format!("{}  ", section.id) } else { " ".repeat(indent) }, HEADING);
        let line = |(at, line): (usize, String)| Line::from(vec![lead(at), line.into()]);
        let is_quiet = section.summary.iter().all(|(_, number)| number.as_f64() == 0.0);
        text::screen::figures(section, room, if is_quiet { 1 } else { most })
            .into_iter()
            .enumerate()
            .map(line)
            .collect::<Vec<_>>()
    };
    report.sections.iter().flat_map(section).collect()
}

/// Every series of every section as a sparkline; those in which nothing ever happened come last, where they can be cut.
fn sparklines(report: &Report, width: usize) -> Vec<Line<'static>> {
    let mut series = Vec::new();
    for section in &report.sections {
        for shape in &section.shapes {
            let Shape::Timeline(timeline) = shape else { continue };
            let of = timeline.series.iter();
            series.extend(of.map(|one| (format!("{} {}", section.id, one.title), timeline.unit, &one.values)));
        }
    }
    let happened = |values: &[f64]| values.iter().any(|value| value.is_finite() && *value != 0.0);
    let (seen, quiet): (Vec<_>, Vec<_>) = series.into_iter().partition(|(_, _, values)| happened(values));
    let all = || seen.iter().chain(&quiet);
    let longest = all().map(|(name, ..)| escape::width(&escape::fit(name, width))).max().unwrap_or(0);
    let names = longest.min(width * 2 / 5);
    let line = |(name, unit, values): &(String, Unit, &Vec<f64>)| {
        let last = values.iter().copied().rfind(|value| value.is_finite()).unwrap_or(f64::NAN);
        let last = format::float(last, *unit);
        let spark = text::chart::spark(values, width.saturating_sub(names + last.len() + 2));
        let name = text::table::pad(&escape::fit(name, names), names, false);
        Line::from(vec![
            format!("{name} ").into(),
            Span::styled(spark, Style::new().fg(Color::Cyan)),
            format!(" {last}").into(),
        ])
    };
    all().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        report::Doing,
        view::{
            sample,
            tui::{Tui, tests::screen},
        },
    };

    /// A report with so many parts of time, of which the last one is the largest, findings, and sentences about what is missing.
    fn report(parts: usize, findings: usize, missing: usize) -> Report {
        let mut report = sample::report();
        let doing = |at: usize| Doing {
            state: ["runs", "waits"][usize::from(at * 2 >= parts)],
            what: format!("part{at}."),
            threads: if at + 1 == parts { 13.0 } else { 1.0 / (at as f64 + 1.0) },
            place: None,
            pool: None,
        };
        report.time = (0..parts).map(doing).collect();
        let all = report.findings.clone();
        report.findings = all.iter().cycle().take(findings).cloned().collect();
        for (at, finding) in report.findings.iter_mut().enumerate() {
            finding.title = format!("finding{at}.");
            finding.next_step = format!("step{at}.");
            finding.evidence = (0..at % 7 * 2).map(|line| format!("evidence {line} of {at}")).collect();
        }
        report.completeness.missing = (0..missing).map(|at| format!("gap {at}")).collect();
        report
    }

    /// What must be there of every report at every size that is meant to be used.
    #[test]
    fn the_largest_part_and_the_first_finding_are_there_at_every_size_and_what_is_cut_is_said() {
        for (parts, findings, missing) in [0, 1, 4, 5, 9, 30]
            .into_iter()
            .flat_map(|parts| [0, 1, 2, 6, 30].map(|findings| (parts, findings)))
            .flat_map(|(parts, findings)| [0, 1, 9].map(|missing| (parts, findings, missing)))
        {
            let mut tui = Tui::new();
            tui.update(Arc::new(report(parts, findings, missing)));
            for (width, height) in [(80, 24), (80, 33), (80, 34), (108, 38), (120, 40), (200, 60)] {
                let shown = screen(&tui, width, height);
                let case = format!("{parts} parts, {findings} findings, {missing} missing, {width}x{height}\n{shown}");
                let of_time = shown.lines().filter(|line| line.contains("part") && line.contains('.')).count();
                assert!(parts == 0 || shown.contains(&format!("part{}.", parts - 1)), "{case}");
                let said = format!("on average ({} more)", parts - of_time);
                assert_eq!(of_time < parts, shown.contains(&said), "{case}");
                assert!(findings == 0 || shown.contains("finding0.") && shown.contains("step0."), "{case}");
                let named = (0..findings).filter(|at| shown.contains(&format!("finding{at}."))).count();
                let said =
                    if named < findings { format!("↓ {} more", findings - named) } else { "↓ next".to_owned() };
                assert_eq!(findings > 1, shown.contains(&format!("Findings (1 of {findings}, {said}")), "{case}");
                assert!(shown.contains("emitted = "), "{case}");
            }
        }
    }

    /// Whatever is selected, what to do is there, and a key shows what is cut.
    #[test]
    fn the_next_step_of_each_finding_is_there_and_a_key_shows_all_of_it() {
        use ratatui::crossterm::event::{KeyCode, KeyEvent};

        for (width, height) in [(80, 24), (108, 38), (200, 60)] {
            let mut tui = Tui::new();
            tui.update(Arc::new(report(9, 12, 9)));
            for at in 0..12_usize {
                let shown = screen(&tui, width, height);
                assert!(shown.contains(&format!("finding{at}.")), "{shown}");
                assert!(shown.contains(&format!("step{at}.")), "{shown}");
                let is_cut = shown.contains(", d: all of it");
                assert_eq!(is_cut, shown.contains(" more lines"), "{shown}");
                let last = (at % 7 * 2).checked_sub(1);
                assert!(
                    is_cut || last.is_none_or(|last| shown.contains(&format!("evidence {last} of {at}"))),
                    "{shown}"
                );
                tui.key(KeyEvent::from(KeyCode::Char('d')));
                let whole = screen(&tui, width, height);
                assert!(last.is_none_or(|last| whole.contains(&format!("evidence {last} of {at}"))), "{whole}");
                tui.key(KeyEvent::from(KeyCode::Esc));
                tui.key(KeyEvent::from(KeyCode::Down));
            }
        }
    }

    #[test]
    fn no_part_gets_more_than_there_is_and_no_box_is_without_a_line() {
        let counts = [0, 3, 6, MOST_TIMES + 2];
        for lines in 0..=60 {
            for time in counts {
                for findings in [3, 12, 80] {
                    for complete in 1..=5 {
                        let wanted = Heights { time, findings, lenses: 12, complete };
                        let given = Heights::of(lines, wanted);
                        let sum = given.time + given.findings + given.lenses + given.complete;
                        assert_eq!(sum, lines, "{wanted:?}: {given:?}");
                        assert!(given.time == 0 || (BOX..=time).contains(&given.time), "{wanted:?}: {given:?}");
                        assert!(lines < 7 || given.findings >= BOX, "{lines} {wanted:?}: {given:?}");
                        let needs = given.findings >= findings.min(lines / 4) || lines < 20;
                        assert!(needs, "{wanted:?}: {given:?}");
                        assert!(lines < 20 || time < BOX || given.time >= BOX, "{wanted:?}: {given:?}");
                        assert!(given.lenses == 0 || given.lenses >= BOX, "{wanted:?}: {given:?}");
                    }
                }
            }
        }
    }
}
