//! Findings on the screen, worst first.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::Line,
};

use super::{
    draw,
    mouse::{Target, Targets},
};
use crate::{
    report::{Finding, Report, Severity, Span},
    text::escape,
    view::sentence,
};

/// Longest text, in columns.
const LONGEST: usize = 400;

/// Draws the findings from the selected one on.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, report: &Report, first: usize, targets: &mut Targets) {
    let Report { findings, span, .. } = report;
    if findings.is_empty() {
        draw::lines(frame, area, vec![Line::styled("none so far", draw::DIM)]);
        return;
    }
    let first = first.min(findings.len() - 1);
    let mut shown: Vec<Line<'_>> = Vec::new();
    for (at, finding) in findings.iter().enumerate().skip(first) {
        let lines = lines(finding, span, usize::from(area.width));
        let below = draw::rows_below(area, shown.len(), lines.len());
        targets.put(below, Target::Row(at));
        shown.extend(lines);
    }
    draw::lines(frame, area, shown.into_iter().take(usize::from(area.height)).collect());
}

/// Lines that all findings take.
pub(super) fn height(report: &Report, width: usize) -> usize {
    let Report { findings, span, .. } = report;
    findings.iter().map(|finding| lines(finding, span, width).len()).sum::<usize>().max(1)
}

fn lines(finding: &Finding, span: &Span, width: usize) -> Vec<Line<'static>> {
    let Finding { id: _, severity, score: _, title, shown_in: _, when: _, evidence, next_step } = finding;
    let (mark, colour) = match severity {
        Severity::Critical => ("!! ", Color::Red),
        Severity::Warning => (" ! ", Color::Yellow),
        Severity::Info => (" i ", Color::Green),
    };
    let mut lines = paragraph(mark, title, width, Style::new().fg(colour).add_modifier(Modifier::BOLD));
    if let Some(when) = sentence::when(finding, span) {
        lines.extend(paragraph("   - ", &format!("when: {when}"), width, Style::new()));
    }
    for sentence in evidence {
        lines.extend(paragraph("   - ", sentence, width, Style::new()));
    }
    lines.extend(paragraph("   → ", next_step, width, draw::DIM));
    lines
}

fn paragraph(first: &str, text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let indent = escape::width(first);
    let wrapped = escape::wrap(&escape::fit(text, LONGEST), width.saturating_sub(indent));
    let lead = |at| if at == 0 { first.to_owned() } else { " ".repeat(indent) };
    wrapped.iter().enumerate().map(|(at, line)| Line::styled(lead(at) + line, style)).collect()
}
