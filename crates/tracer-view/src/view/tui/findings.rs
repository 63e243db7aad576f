//! Findings on the screen, worst first: the selected one is explained, then the others are named.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::Line,
};

use super::{
    draw,
    mouse::{Target, Targets},
    state::State,
};
use crate::{
    report::{Finding, Report, Severity, Span},
    text::escape,
    view::sentence,
};

/// Longest text on the first screen, and in the box that shows all of a finding, in columns.
const LONGEST: usize = 400;
const LONGEST_IN_FULL: usize = 4000;

/// Draws the findings from the selected one on. Its next step is there however low the box is, and others have a line at least.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, (state, report): (&State, &Report), targets: &mut Targets) {
    let (findings, span) = (state.findings(), &report.span);
    let first = state.row().min(findings.len().saturating_sub(1));
    let Rect { width, height, .. } = draw::inside(area);
    let (width, height) = (usize::from(width), usize::from(height));
    let Some(selected) = findings.get(first) else {
        let inner = draw::boxed(frame, area, &format!("Findings ({})", report.findings.len()), true);
        let text = if report.findings.is_empty() { "none so far" } else { "no finding matches the filter" };
        draw::lines(frame, inner, vec![Line::styled(text, draw::DIM)]);
        return;
    };
    let others = findings.len() - first - 1;
    let whole = lines(selected, span, width, LONGEST);
    let all = height_of(&findings[first + 1..], span, width) + whole.len();
    let room = if all <= height { height } else { height - others.min(height / 3) };
    let is_cut = whole.len() > room;
    let inner = draw::inside(area);
    let mut shown = shortened(whole, room, next_step(selected, width, LONGEST).len());
    targets.put(draw::rows_below(inner, 0, shown.len()), Target::Row(first));
    let mut hidden = 0;
    for (at, finding) in findings.iter().enumerate().skip(first + 1) {
        let left = height.saturating_sub(shown.len());
        hidden += usize::from(left == 0);
        let whole = lines(finding, span, width, LONGEST);
        let behind = (findings.len() - at - 1).min(left.saturating_sub(1));
        let forms = [whole, title_lines(finding, width)];
        let fits = forms.into_iter().find(|lines| lines.len() + behind <= left);
        let lines = fits.unwrap_or_else(|| title_line(finding, width));
        targets.put(draw::rows_below(inner, shown.len(), lines.len()), Target::Row(at));
        shown.extend(lines);
    }
    shown.truncate(height);
    draw::boxed(frame, area, &title(first, findings.len(), hidden, is_cut), true);
    draw::lines(frame, inner, shown);
}

/// Which finding is explained, and what keys do with it.
fn title(first: usize, count: usize, hidden: usize, is_cut: bool) -> String {
    let below = if hidden > 0 { format!("↓ {hidden} more") } else { "↓ next".to_owned() };
    let next = if count > 1 { format!("{} of {count}, {below}", first + 1) } else { count.to_string() };
    let all = if is_cut { ", d: all of it" } else { "" };
    format!("Findings ({next}, Enter: where it stands{all})")
}

/// Lines that all findings take.
pub(super) fn height(state: &State, report: &Report, width: usize) -> usize {
    height_of(&state.findings(), &report.span, width).max(1)
}

fn height_of(findings: &[&Finding], span: &Span, width: usize) -> usize {
    findings.iter().map(|finding| lines(finding, span, width, LONGEST).len()).sum()
}

/// All of the selected finding.
pub(super) fn detail(state: &State, width: usize) -> Option<Vec<Line<'static>>> {
    let findings = state.findings();
    let finding = findings.get(state.row().min(findings.len().checked_sub(1)?))?;
    Some(lines(finding, &state.report()?.span, width, LONGEST_IN_FULL))
}

/// At most that many lines: what to do stays at the end, and what is left out before it is counted.
fn shortened(mut lines: Vec<Line<'static>>, most: usize, next_step: usize) -> Vec<Line<'static>> {
    if lines.len() <= most {
        return lines;
    }
    let end = lines.split_off(lines.len() - next_step);
    // The beginning, and the line that counts, come before it.
    let room = most.saturating_sub(end.len() + 1);
    if room > 0 {
        let hidden = lines.len() - room;
        lines.truncate(room);
        lines.push(Line::styled(format!("   … {hidden} more lines"), draw::DIM));
        lines.extend(end);
    }
    lines.truncate(most);
    lines
}

fn mark(finding: &Finding) -> (&'static str, Style) {
    let (mark, colour) = match finding.severity {
        Severity::Critical => ("!! ", Color::Red),
        Severity::Warning => (" ! ", Color::Yellow),
        Severity::Info => (" i ", Color::Green),
    };
    (mark, Style::new().fg(colour).add_modifier(Modifier::BOLD))
}

/// Its title.
fn title_lines(finding: &Finding, width: usize) -> Vec<Line<'static>> {
    let (mark, style) = mark(finding);
    paragraph(mark, &finding.title, (width, LONGEST), style)
}

/// Its title in one line.
fn title_line(finding: &Finding, width: usize) -> Vec<Line<'static>> {
    let (mark, style) = mark(finding);
    let room = width.saturating_sub(escape::width(mark));
    let title = escape::fit(&finding.title, LONGEST);
    vec![Line::styled(format!("{mark}{}", escape::ellipsis(&title, room)), style)]
}

fn lines(finding: &Finding, span: &Span, width: usize, longest: usize) -> Vec<Line<'static>> {
    let (mark, style) = mark(finding);
    let mut lines = paragraph(mark, &finding.title, (width, longest), style);
    if let Some(when) = sentence::when(finding, span) {
        lines.extend(paragraph("   - ", &format!("when: {when}"), (width, longest), Style::new()));
    }
    for sentence in &finding.evidence {
        lines.extend(paragraph("   - ", sentence, (width, longest), Style::new()));
    }
    lines.extend(next_step(finding, width, longest));
    lines
}

fn next_step(finding: &Finding, width: usize, longest: usize) -> Vec<Line<'static>> {
    paragraph("   → ", &finding.next_step, (width, longest), Style::new().fg(Color::Cyan))
}

fn paragraph(first: &str, text: &str, (width, longest): (usize, usize), style: Style) -> Vec<Line<'static>> {
    let indent = escape::width(first);
    let wrapped = escape::wrap(&escape::fit(text, longest), width.saturating_sub(indent));
    let lead = |at| if at == 0 { first.to_owned() } else { " ".repeat(indent) };
    wrapped.iter().enumerate().map(|(at, line)| Line::styled(lead(at) + line, style)).collect()
}
