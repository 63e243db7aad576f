//! Tables and key figures as lines of text.

use std::ops::Range;

use crate::{
    report::{Column, Table, Unit},
    text::escape,
    view::{
        format,
        labels::Labels,
        name::Label,
        order::{self, Sort},
    },
};

/// Widest natural width of a text column; what is longer is cut even where there is room.
pub(in crate::view) const WIDEST: usize = 100;

/// Blanks before every line.
const INDENT: usize = 4;

/// Blanks between columns.
const GAP: usize = 2;

/// A table as lines, and where each heading stands in the first of them.
#[derive(Debug, Default)]
pub(in crate::view) struct Laid {
    pub(in crate::view) lines: Vec<String>,
    pub(in crate::view) headings: Vec<Heading>,
}

/// Where a heading stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::view) struct Heading {
    /// Index of the column.
    pub(in crate::view) column: usize,
    /// First column of the terminal, from 0 on, and the one after the last: blanks behind it belong to it.
    pub(in crate::view) range: Range<usize>,
}

/// Where the headings of columns stand that have these widths, from a place on.
pub(in crate::view) fn headings(numbers: &[usize], widths: &[Option<usize>], from: usize, gap: usize) -> Vec<Heading> {
    let shown = numbers.iter().zip(widths).filter_map(|(column, width)| Some((*column, (*width)?)));
    let place = |from: &mut usize, (column, width): (usize, usize)| {
        let start = *from;
        *from += width + gap;
        Some(Heading { column, range: start..*from })
    };
    shown.scan(from, place).collect()
}

/// The table with at most `limit` rows; what is left out is counted.
pub(in crate::view) fn lines(table: &Table, width: usize, limit: usize) -> Vec<String> {
    laid(table, width, limit, None).lines
}

/// The same with the places of its headings, of which one may have the mark of the order.
pub(in crate::view) fn laid(table: &Table, width: usize, limit: usize, sort: Option<Sort>) -> Laid {
    let Table { id: _, title: _, columns: all, rows } = table;
    if rows.is_empty() {
        return Laid { lines: vec![format!("{:INDENT$}none", "")], headings: Vec::new() };
    }
    let labels = Labels::new(table);
    let first: Vec<usize> = (0..rows.len().min(limit)).collect();
    let numbers = labels.columns_of(&first);
    let columns: Vec<&Column> = numbers.iter().filter_map(|at| all.get(*at)).collect();
    let cells = |row: &usize| numbers.iter().map(|column| labels.label(*row, *column)).collect();
    let shown: Vec<Vec<Label>> = first.iter().map(cells).collect();
    let titles = order::titles(table, sort, &numbers);
    let units: Vec<_> = columns.iter().map(|column| column.unit).collect();
    let widths = format::columns(&natural(&titles, &shown), &units, width.saturating_sub(INDENT), GAP);
    let line = |cells: &[Label]| format!("{:INDENT$}{}", "", row(cells, &widths, &units, GAP));
    let mut lines = vec![line(&titles)];
    lines.extend(shown.iter().map(|row| line(row)));
    if rows.len() > shown.len() {
        let hidden = rows.len() - shown.len();
        let noun = if hidden == 1 { "row" } else { "rows" };
        lines.push(format!("{:INDENT$}… {} more {noun}", "", format::count(hidden as u64)));
    }
    let left_out: Vec<_> =
        columns.iter().zip(&widths).filter(|(_, width)| width.is_none()).map(|(c, _)| c.title).collect();
    if !left_out.is_empty() {
        let sentence = format!("… no room for: {}", left_out.join(", "));
        lines.push(format!("{:INDENT$}{}", "", escape::fit(&sentence, width.saturating_sub(INDENT))));
    }
    Laid { lines, headings: headings(&numbers, &widths, INDENT, GAP) }
}

/// Columns that each of the texts would take where there is room.
pub(in crate::view) fn natural(titles: &[Label], rows: &[Vec<Label>]) -> Vec<usize> {
    let wide = |label: &Label| escape::width(&label.fit(WIDEST));
    let column = |(at, title)| rows.iter().filter_map(|row| row.get(at)).chain([title]).map(wide).max().unwrap_or(0);
    titles.iter().enumerate().map(column).collect()
}

/// A row of texts in columns of these widths.
pub(in crate::view) fn row(cells: &[Label], widths: &[Option<usize>], units: &[Unit], gap: usize) -> String {
    let cells = cells.iter().zip(widths).zip(units);
    let fitted =
        cells.filter_map(|((cell, width), unit)| width.map(|width| pad_label(cell, width, format::is_numeric(*unit))));
    fitted.collect::<Vec<_>>().join(&" ".repeat(gap))
}

/// Names and values in as many aligned pairs of columns as there is room for.
pub(in crate::view) fn figures(figures: &[(String, String)], width: usize) -> Vec<String> {
    let name_width = figures.iter().map(|(name, _)| escape::width(name)).max().unwrap_or(0);
    let value_width = figures.iter().map(|(_, value)| escape::width(value)).max().unwrap_or(0);
    let pair = name_width + 1 + value_width;
    let per_line = (width.saturating_sub(2) / (pair + 3)).max(1);
    let pairs = |chunk: &[(String, String)]| {
        let pairs = chunk
            .iter()
            .map(|(name, value)| format!("{} {}", pad(name, name_width, false), pad(value, value_width, true)));
        format!("  {}", pairs.collect::<Vec<_>>().join("   "))
    };
    figures.chunks(per_line).map(pairs).collect()
}

/// A text in exactly this many columns.
pub(in crate::view) fn pad(text: &str, width: usize, right: bool) -> String {
    pad_label(&Label::new(text.to_owned()), width, right)
}

fn pad_label(label: &Label, width: usize, right: bool) -> String {
    let text = label.fit(width);
    let blanks = " ".repeat(width.saturating_sub(escape::width(&text)));
    if right { blanks + &text } else { text + &blanks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cell, Column, Unit};

    fn table(rows: Vec<Vec<Cell>>) -> Table {
        let columns = vec![
            Column { key: "class", title: "class", unit: Unit::Text },
            Column { key: "count", title: "count", unit: Unit::Count },
        ];
        Table { id: "t", title: "T".into(), columns, rows }
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let rows = vec![vec![Cell::from("A"), Cell::Int(1_234)], vec![Cell::from("日本"), Cell::Int(5)]];
        assert_eq!(lines(&table(rows), 80, 10), ["    class  count", "    A      1,234", "    日本       5"]);
    }

    #[test]
    fn rest_is_counted() {
        let rows = (0..12).map(|at| vec![Cell::from("A"), Cell::Int(at)]).collect();
        let lines = lines(&table(rows), 80, 10);
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[11], "    … 2 more rows");
    }

    #[test]
    fn column_without_room_is_named() {
        let rows = vec![vec![Cell::from("A long name of a class"), Cell::Int(1)]];
        let lines = lines(&table(rows), 20, 10);
        assert_eq!(lines[1], "    A lon…of a class");
        assert_eq!(lines[2], "    … no …for: count");
    }

    #[test]
    fn empty_table_says_so() {
        assert_eq!(lines(&table(Vec::new()), 80, 10), ["    none"]);
    }
}
