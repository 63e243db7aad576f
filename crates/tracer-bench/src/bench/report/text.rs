//! A report for a terminal. Nothing is wider than the terminal: long cells go on below, and a table that is too wide goes on
//! with its other columns below.

use super::document::{Block, Cell, Column, Document, Kind, Row, Section, Table};
use crate::text::escape;

/// Columns of the terminal.
pub(super) const WIDTH: usize = 130;
/// Blanks before a line.
const INDENT: usize = 2;
/// Blanks between columns.
const GAP: usize = 2;
/// Widest column that names a row.
const WIDEST_KEY: usize = 24;
/// Widest other column.
const WIDEST: usize = 36;
/// Widest title that may be wider than what is below it.
const WIDEST_TITLE: usize = 12;
/// Widest name of a fact.
const WIDEST_NAME: usize = 20;

pub(super) fn write(document: &Document) -> String {
    let mut lines = escape::wrap(&escape::terminal(&document.title), WIDTH);
    for Section { title, blocks } in &document.sections {
        lines.extend([String::new(), title.to_uppercase()]);
        for block in blocks {
            self::block(block, &mut lines);
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn block(block: &Block, lines: &mut Vec<String>) {
    match block {
        Block::Paragraph(text) => lines.extend(indented(text, INDENT)),
        Block::Facts(facts) => facts.iter().for_each(|(name, value)| fact(name, value, lines)),
        Block::Table(table) => self::table(table, lines),
        Block::Plot(_) => {}
        Block::Commands(commands) => {
            for (name, command) in commands {
                lines.extend(indented(name, INDENT));
                lines.extend(chopped(command, INDENT * 3));
            }
        }
    }
}

/// A text of any length, broken at its blanks.
fn indented(text: &str, indent: usize) -> impl Iterator<Item = String> {
    let lines = escape::wrap(&escape::terminal(text), WIDTH - indent);
    lines.into_iter().map(move |line| format!("{:indent$}{line}", ""))
}

/// A text that keeps all its blanks.
fn chopped(text: &str, indent: usize) -> impl Iterator<Item = String> {
    let (mut lines, mut used) = (vec![String::new()], 0);
    for c in escape::terminal(text).chars() {
        let width = escape::width(c.encode_utf8(&mut [0; 4]));
        if used + width > WIDTH - indent {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
        used += width;
    }
    lines.into_iter().map(move |line| format!("{:indent$}{line}", ""))
}

fn fact(name: &str, value: &str, lines: &mut Vec<String>) {
    let room = WIDTH - INDENT - WIDEST_NAME - GAP;
    let name = pad(&escape::fit(name, WIDEST_NAME), WIDEST_NAME, Side::Left);
    for (at, line) in escape::wrap(&escape::terminal(value), room).into_iter().enumerate() {
        let name = if at == 0 { name.as_str() } else { "" };
        lines.push(format!("{:INDENT$}{name:WIDEST_NAME$}{:GAP$}{line}", "", ""));
    }
}

fn table(table: &Table, lines: &mut Vec<String>) {
    let Table { caption, keys: _, together: _, columns: _, rows, minor, notes } = table;
    lines.push(String::new());
    let shown: Vec<&Row> = rows.iter().filter(|row| row.kind != Kind::Minor).collect();
    let nothing = if rows.is_empty() { "none" } else { minor };
    // Where nothing was found in any row, how it would look is of no use either.
    if !shown.iter().any(|row| row.kind == Kind::Usual) {
        return lines.extend(indented(&format!("{caption}: {nothing}"), INDENT));
    }
    lines.extend(indented(caption, INDENT));
    let texts = Texts::new(table, &shown);
    for group in texts.groups(table) {
        lines.push(String::new());
        texts.draw(&group, lines);
    }
    let left_out = rows.len() - shown.len();
    if left_out > 0 {
        let noun = if left_out == 1 { "row is" } else { "rows are" };
        lines.extend(indented(&format!("{left_out} {noun} left out: {minor}."), INDENT));
    }
    lines.extend(notes.iter().flat_map(|note| indented(note, INDENT)));
}

/// Where a text stands in its column.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// The texts of a table, each as the lines that fit into its column; the first row is the head.
struct Texts {
    rows: Vec<Vec<Vec<String>>>,
    widths: Vec<usize>,
    sides: Vec<Side>,
}

impl Texts {
    fn new(table: &Table, shown: &[&Row]) -> Self {
        let Table { caption: _, keys, together: _, columns, rows: _, minor: _, notes: _ } = table;
        let widest = |at: usize| if at < *keys { WIDEST_KEY } else { WIDEST };
        let lines = |(at, cell): (usize, &Cell)| escape::wrap(&escape::terminal(&cell.text), widest(at));
        let body: Vec<Vec<_>> = shown.iter().map(|row| row.cells.iter().enumerate().map(lines).collect()).collect();
        let width = |rows: &[Vec<Vec<String>>], at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at)).flatten();
            cells.map(|line| escape::width(line)).max().unwrap_or(0)
        };
        // Titles make no column wide that would be narrow without them.
        let title = |(at, column): (usize, &Column)| {
            escape::wrap(&escape::terminal(&column.title), width(&body, at).max(WIDEST_TITLE))
        };
        let head = columns.iter().enumerate().map(title).collect();
        let rows: Vec<_> = [head].into_iter().chain(body).collect();
        let widths = (0..columns.len()).map(|at| width(&rows, at)).collect();
        let side = |column: &Column| if column.is_numeric { Side::Right } else { Side::Left };
        Self { rows, widths, sides: columns.iter().map(side).collect() }
    }

    /// Which columns stand beside each other; those that name the row are in every group.
    fn groups(&self, table: &Table) -> Vec<Vec<usize>> {
        let names: Vec<usize> = (0..table.keys).collect();
        let others: Vec<usize> = (table.keys..self.widths.len()).collect();
        let width = |columns: &[usize]| columns.iter().map(|at| self.widths[*at] + GAP).sum::<usize>();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for columns in others.chunks(table.together.max(1)) {
            match groups.last_mut() {
                // Behind the last one is no gap.
                Some(group) if INDENT + width(group) + width(columns) <= WIDTH + GAP => group.extend(columns),
                _ => groups.push([&names, columns].concat()),
            }
        }
        groups
    }

    fn draw(&self, columns: &[usize], lines: &mut Vec<String>) {
        for (at, row) in self.rows.iter().enumerate() {
            let height = columns.iter().filter_map(|at| row.get(*at)).map(Vec::len).max().unwrap_or(0);
            lines.extend((0..height).map(|line| self.line(row, columns, line)));
            if at == 0 {
                let total: usize = columns.iter().map(|at| self.widths[*at] + GAP).sum();
                lines.push(format!("{:INDENT$}{}", "", "-".repeat(total.saturating_sub(GAP))));
            }
        }
    }

    fn line(&self, row: &[Vec<String>], columns: &[usize], line: usize) -> String {
        let cells = columns.iter().map(|at| {
            let text = row.get(*at).and_then(|cell| cell.get(line)).map_or("", String::as_str);
            pad(text, self.widths[*at], self.sides[*at])
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        format!("{:INDENT$}{}", "", line.trim_end())
    }
}

/// A text that fits, in exactly this many columns.
fn pad(text: &str, width: usize, side: Side) -> String {
    let blanks = " ".repeat(width.saturating_sub(escape::width(text)));
    match side {
        Side::Left => format!("{text}{blanks}"),
        Side::Right => format!("{blanks}{text}"),
    }
}
