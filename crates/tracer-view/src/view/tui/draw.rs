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
    overview,
    profile::{self, Tree},
    state::{Overlay, State},
    table, timeline, tree,
};
use crate::{
    report::{Report, Section, Shape},
    text::escape,
    view::{format, text},
};

/// What matters less.
pub(super) const DIM: Style = Style::new().fg(Color::DarkGray);

/// Headings.
pub(super) const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);

/// Something to look at.
pub(super) const ALERT: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

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
        (Some(report), None) => overview::draw(frame, body, state, report, targets),
        (None, _) => lines(frame, body, vec![Line::styled("waiting for the first events", DIM)]),
    }
    lines(frame, foot, vec![footer(state)]);
    match state.overlay() {
        Overlay::None => {}
        Overlay::Help => {
            let keys = key::BINDINGS.iter().map(|binding| (binding.label, binding.description));
            help(frame, keys, (state.scrolled(), targets));
        }
        Overlay::Detail => detail(frame, body, state, targets),
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
    state.filter().footer().unwrap_or_else(|| {
        let keys = if state.is_tree() {
            "? help  Tab tabs  ↑↓ rows  → ← fold  i callers  / filter  f freeze  q quit"
        } else {
            "? help  ←→ tabs  ↑↓ rows  n next table  s sort  / filter  f freeze  q quit"
        };
        Line::styled(keys, DIM)
    })
}

/// A box with a heading; what is inside of it.
pub(super) fn boxed(frame: &mut Frame<'_>, area: Rect, title: &str, is_chosen: bool) -> Rect {
    let title = format!(" {} ", escape::fit(title, usize::from(area.width).saturating_sub(4)));
    let block =
        Block::bordered().title(Span::styled(title, HEADING)).border_style(if is_chosen { Style::new() } else { DIM });
    frame.render_widget(block, area);
    inside(area)
}

/// What is inside of a box.
pub(super) fn inside(area: Rect) -> Rect {
    Block::bordered().inner(area)
}

/// A number of lines as the layout wants it; more than a screen has is as good as any.
pub(super) fn lines_of(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
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
    let top = figures_and_notes(section, width, usize::from(area.height / 3));
    let top_height = lines_of(top.len());
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

/// Longest note, of which the screen shows the first lines.
const LONGEST_NOTE: usize = 600;

/// Figures and notes of a section in at most that many lines: where there are fewer, without the figures that are 0, and what is left
/// out then is counted.
fn figures_and_notes(section: &Section, width: usize, most: usize) -> Vec<Line<'static>> {
    let of = |is_shown: fn(f64) -> bool| {
        let shown = section.summary.iter().filter(|(_, number)| is_shown(number.as_f64()));
        let figures: Vec<_> = shown.map(|(key, number)| format::figure(key, number)).collect();
        let mut lines: Vec<Line<'_>> = text::table::figures(&figures, width).into_iter().map(Line::from).collect();
        for note in &section.notes {
            let note = escape::wrap(&escape::fit(note, LONGEST_NOTE), width.saturating_sub(2));
            lines.extend(note.into_iter().map(|line| Line::styled(format!("  {line}"), DIM)));
        }
        lines
    };
    let all = of(|_| true);
    let mut lines = if all.len() > most { of(|number| number != 0.0) } else { all };
    if lines.len() > most {
        let hidden = lines.len() + 1 - most.max(1);
        lines.truncate(most.saturating_sub(1));
        lines.push(Line::styled(format!("  … {hidden} more lines: `jtrace report --full`"), DIM));
        lines.truncate(most);
    }
    lines
}

/// Lowest box in which a shape says anything.
const SMALLEST: u16 = 6;

/// Lines that even a short table keeps, so that the screen does not jump with every new row.
const KEPT: u16 = 8;

/// What the shapes that do not take keys get of the body: two fifths, and what a short table leaves. Of a low body they get that alone.
fn height_of_others(chosen: &Shape, body: u16) -> u16 {
    let left_over = match chosen {
        Shape::Table(table) => body.saturating_sub(lines_of(table.rows.len() + 3)),
        Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => 0,
    };
    if body < KEPT + SMALLEST {
        return if left_over >= SMALLEST { left_over.min(body - SMALLEST.min(body)) } else { 0 };
    }
    left_over.min(body - KEPT).max((body * 2 / 5).clamp(SMALLEST, 14))
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
            let count = if state.filter().text().is_empty() {
                all
            } else {
                format!("{} of {all}", format::count(shown as u64))
            };
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
        Shape::Table(shape) => {
            let left_out = table::draw(frame, inner, state, section, shape, selected, targets);
            no_room(frame, area, &left_out);
        }
        Shape::Tree(shape) => tree::draw(frame, inner, state, shape, selected),
        Shape::Histogram(shape) => histogram::draw(frame, inner, shape),
        Shape::Timeline(shape) => timeline::draw(frame, inner, shape),
        Shape::Profile(shape) => profile::draw(frame, inner, state, section, shape, selected),
    }
}

/// Names the columns that have no room, on the lower border of the table's box.
fn no_room(frame: &mut Frame<'_>, area: Rect, columns: &[&str]) {
    if columns.is_empty() || area.height < 2 || area.width < 8 {
        return;
    }
    let room = usize::from(area.width) - 4;
    let said =
        escape::ellipsis(&format!(" no room for: {} (Enter: the row uncut) ", columns.join(", ")), room).into_owned();
    let below = Rect { x: area.x + 2, y: area.bottom() - 1, width: area.width - 4, height: 1 };
    let width = lines_of(escape::width(&said)).min(below.width);
    lines(frame, Rect { width, ..below }, vec![Line::styled(said, DIM)]);
}

/// A box of this width over the middle of the area, from the line on that was scrolled to.
fn overlay(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    content: Vec<Line<'_>>,
    width: u16,
    (scrolled, targets): (usize, &mut Targets),
) {
    let count = content.len();
    let [area] = Layout::vertical([Constraint::Length(lines_of(count + 2))]).flex(Flex::Center).areas(area);
    let [area] = Layout::horizontal([Constraint::Length(width)]).flex(Flex::Center).areas(area);
    frame.render_widget(Clear, area);
    let below = count.saturating_sub(inside(area).height.into());
    let first = scrolled.min(below);
    targets.scrolls_to(below);
    let title = if below > 0 { format!("{title} (PgDn: {} more lines)", below - first) } else { title.to_owned() };
    let inner = boxed(frame, area, &title, true);
    lines(frame, inner, content.into_iter().skip(first).collect());
}

/// The keys with what they do, as high as the smallest screen that is meant to be used.
pub(in crate::view) fn help<'a>(
    frame: &mut Frame<'_>,
    keys: impl Iterator<Item = (&'a str, &'a str)>,
    scrolling: (usize, &mut Targets),
) {
    let line = |(label, description): (&'a str, &'a str)| {
        Line::from(vec![Span::styled(text::table::pad(label, 14, false), HEADING), description.into()])
    };
    overlay(frame, frame.area(), "Keys", keys.map(line).collect(), 60, scrolling);
}

fn detail(frame: &mut Frame<'_>, area: Rect, state: &State, targets: &mut Targets) {
    let width = area.width.saturating_sub(4).min(100);
    let inner = usize::from(width.saturating_sub(2));
    if let Some((title, content)) = table::detail(state, inner) {
        let content = content.into_iter().map(Line::from).collect();
        overlay(frame, area, &title, content, width, (state.scrolled(), targets));
    } else if let Some(content) = findings::detail(state, inner) {
        overlay(frame, area, "The finding", content, width, (state.scrolled(), targets));
    }
}
