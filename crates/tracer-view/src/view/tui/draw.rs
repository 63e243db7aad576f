//! The screen as a whole: header, tabs, body, footer, boxes over it. Each shape is drawn in a file of its own.

use std::borrow::Cow;

use ratatui::{
    Frame,
    layout::{Constraint, Flex, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph},
};

use super::{
    findings, histogram, key,
    log::Log,
    mouse::{Target, Targets},
    profile::{self, Tree},
    state::{Overlay, State},
    table, timeline, tree,
};
use crate::{
    report::{Report, Section, Shape},
    text::escape,
    view::{format, sentence, text, time},
};

/// What matters less.
pub(super) const DIM: Style = Style::new().fg(Color::DarkGray);

/// Headings.
pub(super) const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);

/// Something to look at.
const ALERT: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

/// Lines from the top of the area; what does not fit is left out.
pub(super) fn lines(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'_>>) {
    frame.render_widget(Paragraph::new(lines), area);
}

/// Everything.
pub(super) fn screen(frame: &mut Frame<'_>, state: &State, log: &Log, targets: &mut Targets) {
    let [head, tabs, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(frame.area());
    header(frame, head, state);
    let titles: Vec<String> =
        state.tabs().iter().zip(1..).map(|(title, number)| format!(" {number} {title} ")).collect();
    strip(frame, tabs, &titles, state.tab(), |at| targets.put(at.0, Target::Tab(at.1)));
    match (state.report(), state.section()) {
        _ if state.is_log_tab() => log.draw(frame, body),
        (Some(_), Some(section)) => self::section(frame, body, state, section, targets),
        (Some(report), None) => overview(frame, body, state, report, targets),
        (None, _) => lines(frame, body, vec![Line::styled("waiting for the first events", DIM)]),
    }
    lines(frame, foot, vec![footer(state)]);
    match state.overlay() {
        Overlay::None => {}
        // The help is as high as the smallest screen that is meant to be used.
        Overlay::Help => help(frame, frame.area()),
        Overlay::Detail => detail(frame, body, state),
    }
}

fn header(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(report) = state.report() else {
        lines(frame, area, vec![Line::styled("jtrace", HEADING)]);
        return;
    };
    let Report { target, span, cost, completeness, .. } = report;
    let mark = if state.is_frozen() { "  FROZEN" } else { "" };
    let span = format::duration(span.duration_ns as f64);
    let room = usize::from(area.width).saturating_sub(span.len() + mark.len() + 2);
    let name = escape::fit(&format!("{} {}", target.pid, target.command), room);
    let blanks = " ".repeat(room - escape::width(&name) + 2);
    let first = Line::from(vec![Span::styled(name, HEADING), blanks.into(), span.into(), Span::styled(mark, ALERT)]);
    let rates = state.rates();
    let per_s = |rate| format::float(rate, crate::report::Unit::PerSecond);
    let lost_style = if completeness.lost > 0 { ALERT } else { Style::new() };
    let share =
        cost.target_cpu_percent.map_or(Cow::Borrowed(""), |share| format!(" = {} CPU", format::percent(share)).into());
    let second = Line::from(vec![
        format!("events {}  ", per_s(rates.events_per_s)).into(),
        Span::styled(format!("lost {}", format::count(completeness.lost)), lost_style),
        format!("  traps {}{share}", per_s(rates.traps_per_s)).into(),
        format!("  own CPU {} {}", format::percent(cost.own_cpu_percent), format::bytes(cost.own_memory_bytes as f64))
            .into(),
    ]);
    lines(frame, area, vec![first, second]);
}

/// Labels in a line, the chosen one reversed; where they do not fit, those around it. Says where each of them is.
fn strip(frame: &mut Frame<'_>, area: Rect, labels: &[String], chosen: usize, mut put: impl FnMut((Rect, usize))) {
    let width = |label: &String| escape::width(label);
    let mut first = 0;
    while first < chosen && labels[first..=chosen].iter().map(width).sum::<usize>() > usize::from(area.width) {
        first += 1;
    }
    let mut left = area.x;
    let mut spans = Vec::new();
    for (at, label) in labels.iter().enumerate().skip(first) {
        let style = if at == chosen { HEADING.add_modifier(Modifier::REVERSED) } else { Style::new() };
        spans.push(Span::styled(label.clone(), style));
        let wide = lines_of(width(label));
        put((Rect { x: left, width: wide, ..area }.intersection(area), at));
        left = left.saturating_add(wide);
    }
    lines(frame, area, vec![Line::from(spans).style(Style::new().fg(Color::Cyan))]);
}

/// So many lines of an area, from that line on, as far as they lie in it.
pub(super) fn rows_below(area: Rect, first: usize, count: usize) -> Rect {
    let y = area.y.saturating_add(lines_of(first));
    Rect { y, height: lines_of(count), ..area }.intersection(area)
}

fn footer(state: &State) -> Line<'static> {
    let filter = escape::terminal(state.filter()).into_owned();
    if state.takes_text() {
        return Line::from(vec![
            Span::styled("filter: ", HEADING),
            format!("{filter}█  (Enter keeps, Esc clears)").into(),
        ]);
    }
    if filter.is_empty() && state.is_tree() {
        return Line::styled("? help  Tab tabs  ↑↓ rows  → ← fold  i callers  / filter  f freeze  q quit", DIM);
    }
    if filter.is_empty() {
        return Line::styled("? help  ←→ tabs  ↑↓ rows  n next table  s sort  / filter  f freeze  q quit", DIM);
    }
    Line::from(vec![Span::styled(format!("filter: {filter}"), ALERT), Span::styled("  (Esc clears)", DIM)])
}

/// A box with a heading; what is inside of it.
fn boxed(frame: &mut Frame<'_>, area: Rect, title: &str, is_chosen: bool) -> Rect {
    let title = format!(" {} ", escape::fit(title, usize::from(area.width).saturating_sub(4)));
    let block =
        Block::bordered().title(Span::styled(title, HEADING)).border_style(if is_chosen { Style::new() } else { DIM });
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Lowest body in which there is room for more than what the time goes to and the findings.
const HIGH: u16 = 30;

fn overview(frame: &mut Frame<'_>, area: Rect, state: &State, report: &Report, targets: &mut Targets) {
    let width = usize::from(area.width);
    let is_high = area.height >= HIGH;
    let (complete, kind) = completeness(report, width, if is_high { 5 } else { 2 });
    let most = if is_high { 9 } else { 4 };
    let spent = time::lines(&time::largest(&report.time, most), width.saturating_sub(2));
    let of_time = if spent.is_empty() { 0 } else { lines_of(spent.len() + 2) };
    let height = lines_of(findings::height(report, width.saturating_sub(2)) + 2);
    let below = if is_high {
        Constraint::Min(lines_of(report.sections.len() + 2).min(area.height / 3))
    } else {
        Constraint::Length(0)
    };
    let found = if is_high { Constraint::Length(height) } else { Constraint::Fill(1) };
    let [top, middle, rest, bottom] =
        Layout::vertical([Constraint::Length(of_time), found, below, Constraint::Length(lines_of(complete.len()))])
            .areas(area);
    if of_time > 0 {
        let inner = boxed(frame, top, "Where its time goes: threads on average", false);
        let colour = |line: &str| match line.trim_start().split(' ').next() {
            Some("runs") => Color::Green,
            Some("stopped") => Color::Red,
            _ => Color::Yellow,
        };
        lines(
            frame,
            inner,
            spent.iter().map(|line| Line::styled(line.clone(), Style::new().fg(colour(line)))).collect(),
        );
    }
    let more = if middle.height < height { ", ↓ for more" } else { "" };
    let keys = if report.findings.is_empty() { "" } else { ", Enter: where it stands" };
    let title = format!("Findings ({}{more}{keys})", report.findings.len());
    let inner = boxed(frame, middle, &title, true);
    findings::draw(frame, inner, report, state.row(), targets);
    if is_high {
        let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).areas(rest);
        let inner = boxed(frame, left, "Key figures", false);
        lines(frame, inner, key_figures(report, inner));
        let inner = boxed(frame, right, "Over time", false);
        lines(frame, inner, sparklines(report, usize::from(inner.width)));
    }
    let style = match kind {
        sentence::State::Clean => DIM,
        sentence::State::Gaps => Style::new().fg(Color::Yellow),
        sentence::State::Wrong => ALERT,
    };
    lines(frame, bottom, complete.into_iter().map(|line| Line::styled(line, style)).collect());
}

/// How complete the report is, with what is missing, in at most that many lines.
fn completeness(report: &Report, width: usize, most: usize) -> (Vec<String>, sentence::State) {
    let (equation, state) = sentence::completeness(&report.completeness);
    let first = report.headline.iter().flat_map(|headline| escape::wrap(headline, width));
    let mut lines: Vec<String> = first.chain(escape::wrap(&equation, width)).collect();
    for missing in &report.completeness.missing {
        lines.extend(escape::wrap(&escape::fit(missing, width * 2), width));
    }
    let hides = lines.len() > most;
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| hides) {
        *last = format!("{} …", escape::ellipsis(last, width.saturating_sub(2)));
    }
    (lines, state)
}

/// A number of lines as the layout wants it; more than a screen has is as good as any.
fn lines_of(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// For every section what its summary says: two lines each where there is room for that, otherwise one.
fn key_figures(report: &Report, area: Rect) -> Vec<Line<'static>> {
    let most = if usize::from(area.height) >= report.sections.len() * 2 { 2 } else { 1 };
    let section = |section: &Section| {
        let indent = section.id.len() + 2;
        let room = usize::from(area.width).saturating_sub(indent);
        let lead = |at| Span::styled(if at == 0 { format!("{}  ", section.id) } else { " ".repeat(indent) }, HEADING);
        let line = |(at, line): (usize, String)| Line::from(vec![lead(at), line.into()]);
        text::screen::figures(section, room, most).into_iter().enumerate().map(line).collect::<Vec<_>>()
    };
    report.sections.iter().flat_map(section).collect()
}

/// Every series of every section as a sparkline.
fn sparklines(report: &Report, width: usize) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    for section in &report.sections {
        for shape in &section.shapes {
            let Shape::Timeline(timeline) = shape else { continue };
            for series in &timeline.series {
                let name = escape::fit(&format!("{} {}", section.id, series.title), 18);
                let last = series.values.iter().copied().rfind(|value| value.is_finite()).unwrap_or(f64::NAN);
                let last = format::float(last, timeline.unit);
                let spark = text::chart::spark(&series.values, width.saturating_sub(18 + 1 + last.len() + 1));
                let name = text::table::pad(&name, 18, false);
                out.push(Line::from(vec![
                    format!("{name} ").into(),
                    Span::styled(spark, Style::new().fg(Color::Cyan)),
                    format!(" {last}").into(),
                ]));
            }
        }
    }
    out
}

/// Longest name of a table or chart in the line that lists them.
const NAME: usize = 24;
/// Longest of it that is looked at.
const LONGEST: usize = 200;

/// A tab: what it can show, figures and notes of the section that is chosen, the shape that takes keys, and as many of the others as
/// there is room for.
fn section(frame: &mut Frame<'_>, area: Rect, state: &State, section: &Section, targets: &mut Targets) {
    let width = usize::from(area.width);
    let places = state.places();
    let figures: Vec<_> = section.summary.iter().map(|(key, number)| format::figure(key, number)).collect();
    let mut top: Vec<Line<'_>> = text::table::figures(&figures, width).into_iter().map(Line::from).collect();
    for note in &section.notes {
        let note = escape::wrap(&escape::fit(note, width * 2), width.saturating_sub(2));
        top.extend(note.into_iter().map(|line| Line::styled(format!("  {line}"), DIM)));
    }
    let top_height = lines_of(top.len()).min(area.height / 3);
    let of_places = u16::from(places.len() > 1);
    let [list, head, body] =
        Layout::vertical([Constraint::Length(of_places), Constraint::Length(top_height), Constraint::Fill(1)])
            .areas(area);
    lines(frame, head, top);
    let Some((chosen, (of, shape))) = state.place().and_then(|at| Some((at, *places.get(at)?))) else {
        lines(frame, body, vec![Line::styled("nothing was seen of it so far", DIM)]);
        return;
    };
    let names: Vec<String> = places
        .iter()
        .map(|(_, shape)| format!(" {} ", escape::ellipsis(&escape::fit(shape.title(), LONGEST), NAME)))
        .collect();
    strip(frame, list, &names, chosen, |(area, at)| targets.put(area, Target::Place(at)));
    // Those that come next stand below, then the ones before.
    let others: Vec<_> = places.iter().cycle().skip(chosen + 1).take(places.len() - 1).collect();
    let [main, rest] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(if others.is_empty() { 0 } else { height_of_others(shape, body.height) }),
    ])
    .areas(body);
    let count = places.len();
    let position = if count > 1 { format!(" [{}/{count}, n: next]", chosen + 1) } else { String::new() };
    draw_shape(frame, main, state, of.id, shape, &position, Some(state.row()), targets);
    if rest.height < SMALLEST {
        return;
    }
    let per_row = (width / 50).clamp(1, others.len());
    let most_rows = usize::from(rest.height / SMALLEST);
    let rows = others.len().div_ceil(per_row).min(most_rows);
    let strips = Layout::vertical(vec![Constraint::Fill(1); rows]).split(rest);
    for (strip, shapes) in strips.iter().zip(others.chunks(per_row)) {
        let areas = Layout::horizontal(vec![Constraint::Fill(1); shapes.len()]).split(*strip);
        for (area, (of, shape)) in areas.iter().zip(shapes) {
            draw_shape(frame, *area, state, of.id, shape, "", None, targets);
            if let Some(at) = places.iter().position(|(section, one)| section.id == of.id && one.id() == shape.id()) {
                targets.put(*area, Target::Place(at));
            }
        }
    }
}

/// Lowest box in which a shape says anything.
const SMALLEST: u16 = 6;

/// What the shapes that do not take keys get of the body: two fifths, and what a short table leaves.
fn height_of_others(chosen: &Shape, body: u16) -> u16 {
    if body < 14 {
        return 0;
    }
    let left_over = match chosen {
        Shape::Table(table) => body.saturating_sub(lines_of(table.rows.len() + 3)),
        Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => 0,
    };
    // Even a short table keeps some lines, so that the screen does not jump with every new row.
    left_over.min(body - 8).max((body * 2 / 5).clamp(SMALLEST, 14))
}

#[expect(clippy::too_many_arguments, reason = "a drawing needs its place, its content and what was chosen")]
fn draw_shape(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    section: &'static str,
    shape: &Shape,
    position: &str,
    selected: Option<usize>,
    targets: &mut Targets,
) {
    let title = match shape {
        Shape::Table(table) => {
            let (shown, all) = (state.rows(section, table).len(), format::count(table.rows.len() as u64));
            let count =
                if state.filter().is_empty() { all } else { format!("{} of {all}", format::count(shown as u64)) };
            format!("{} ({count})", table.title)
        }
        Shape::Tree(tree) => tree.title.clone(),
        Shape::Histogram(histogram) => histogram.title.clone(),
        Shape::Timeline(timeline) => timeline.title.clone(),
        Shape::Profile(profile) => {
            let mode = state.tree(section, profile).map_or("", Tree::mode);
            format!("{}: {mode}", profile.title)
        }
    };
    let inner = boxed(frame, area, &format!("{title}{position}"), selected.is_some());
    match shape {
        Shape::Table(shape) => table::draw(frame, inner, state, section, shape, selected, targets),
        Shape::Tree(shape) => tree::draw(frame, inner, state, shape, selected),
        Shape::Histogram(shape) => histogram::draw(frame, inner, shape),
        Shape::Timeline(shape) => timeline::draw(frame, inner, shape),
        Shape::Profile(shape) => profile::draw(frame, inner, state, section, shape, selected),
    }
}

/// A box of this size over the middle of the area.
fn overlay(frame: &mut Frame<'_>, area: Rect, title: &str, content: Vec<Line<'_>>, width: u16) {
    let height = lines_of(content.len() + 2);
    let [area] = Layout::vertical([Constraint::Length(height)]).flex(Flex::Center).areas(area);
    let [area] = Layout::horizontal([Constraint::Length(width)]).flex(Flex::Center).areas(area);
    frame.render_widget(Clear, area);
    let inner = boxed(frame, area, title, true);
    lines(frame, inner, content);
}

fn help(frame: &mut Frame<'_>, area: Rect) {
    let line = |binding: &key::Binding| {
        let label = text::table::pad(binding.label, 14, false);
        Line::from(vec![Span::styled(label, HEADING), binding.description.into()])
    };
    overlay(frame, area, "Keys", key::BINDINGS.iter().map(line).collect(), 50);
}

fn detail(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let width = area.width.saturating_sub(4).min(100);
    if let Some((title, content)) = table::detail(state, usize::from(width.saturating_sub(2))) {
        overlay(frame, area, &title, content.into_iter().map(Line::from).collect(), width);
    }
}
