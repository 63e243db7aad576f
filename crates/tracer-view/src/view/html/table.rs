//! A table in the page. Where it is known when its rows came, that goes with it: `tables.js` shows the part of a chosen range.

use std::{collections::HashMap, io};

use serde_json::{Value, json};

use crate::{
    report::{Cell, Gather, RowSteps, StepColumn, Table, TableSteps},
    text::escape,
    view::{format, json, labels::Labels},
};

/// Rows of a table that a page shows.
const ROWS: usize = 200;

/// What a table has beside its cells.
#[derive(Clone, Copy)]
pub(super) enum Extra<'a> {
    Nothing,
    /// When its rows came.
    Steps(&'a TableSteps),
    /// For the cells whose texts do not say it, the value that they are sorted by.
    Values(&'a [Vec<Option<f64>>]),
}

impl Extra<'_> {
    fn value(self, row: usize, column: usize) -> Option<f64> {
        let Self::Values(values) = self else { return None };
        values.get(row)?.get(column).copied()?
    }

    fn has_values(self, column: usize) -> bool {
        let Self::Values(values) = self else { return false };
        (0..values.len()).any(|row| self.value(row, column).is_some())
    }
}

/// Writes the table with what it has beside its cells.
pub(super) fn write(table: &Table, extra: Extra<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let is_number =
        |at: usize| table.columns.get(at).is_some_and(|column| format::is_numeric(column.unit)) || extra.has_values(at);
    let class = |at| if is_number(at) { " class=\"n\"" } else { "" };
    writeln!(out, "<div class=\"scroll\"><table>\n<thead><tr>")?;
    let labels = Labels::new(table);
    let shown: Vec<usize> = (0..table.rows.len().min(ROWS)).collect();
    let numbers = labels.columns_of(&shown);
    for (at, column) in numbers.iter().filter_map(|at| Some((*at, table.columns.get(*at)?))) {
        writeln!(out, "<th scope=\"col\"{}>{}</th>", class(at), escape::html(column.title))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (at, row) in table.rows.iter().take(ROWS).enumerate() {
        write!(out, "<tr>")?;
        for column in numbers.iter().copied() {
            let value = match row.get(column) {
                Some(Cell::Int(value)) => format!(" data-v=\"{value}\""),
                Some(Cell::Float(value)) if value.is_finite() => format!(" data-v=\"{value}\""),
                Some(Cell::Float(_) | Cell::Text(_) | Cell::Missing) | None => {
                    extra.value(at, column).map(|value| format!(" data-v=\"{}\"", json!(value))).unwrap_or_default()
                }
            };
            let text = labels.label(at, column).full();
            let text = if is_number(column) { escape::html(&text).into_owned() } else { breakable(&text) };
            write!(out, "<td{}{value}>{text}</td>", class(column))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if let Extra::Steps(steps) = extra {
        let data = json::in_page(&data(table, &numbers, steps).to_string());
        writeln!(out, "<script type=\"application/json\" class=\"table-steps\">{data}</script>")?;
    }
    match table.rows.len().saturating_sub(ROWS) {
        0 => Ok(()),
        more => {
            writeln!(out, "<p>{} more rows are in the report as JSON</p>", format::count(more as u64))
        }
    }
}

/// A text whose lines may end where its names have joints, and not within a word. A word that is too long for a line ends anywhere.
fn breakable(text: &str) -> String {
    const JOINTS: [char; 5] = ['.', '$', '/', '(', ','];
    // The file that code is of, as `libjvm.so!`, is one word.
    let end = text.find('!').filter(|at| !text[..*at].contains(char::is_whitespace)).map_or(0, |at| at + 1);
    let (file, name) = text.split_at(end);
    let words = std::iter::once(file).chain(name.split_inclusive(JOINTS)).filter(|word| !word.is_empty());
    words.flat_map(pieces).map(escape::html).collect::<Vec<_>>().join("<wbr>")
}

/// A word in pieces that fit on a line.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 40;
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(LONGEST).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// For each row of the page one list: how many steps after the one before, and the amounts of that step, again and again.
/// Rows that the page does not show are added up in `beyond`: they are part of what shares are of.
fn data(table: &Table, shown: &[usize], steps: &TableSteps) -> Value {
    let TableSteps { step_ns, columns, rows, left_out, weights, .. } = steps;
    let position =
        |key: &str| shown.iter().position(|at| table.columns.get(*at).is_some_and(|column| column.key == key));
    let column = |StepColumn { key, gather }: &StepColumn| {
        let unit = table.columns.iter().find(|column| column.key == *key).map(|column| column.unit);
        json!({ "at": position(key), "gather": word(*gather), "unit": unit })
    };
    let count = rows.first().map_or(0, |row| row.labels.len());
    let places: HashMap<String, usize> =
        (0..).zip(table.rows.iter().take(ROWS)).map(|(at, row)| (identity(row, count), at)).collect();
    let mut own = vec![Vec::new(); table.rows.len().min(ROWS)];
    let mut beyond: Vec<&RowSteps> = Vec::new();
    for row in rows {
        match places.get(&identity(&row.labels, count)).and_then(|at| own.get_mut(*at)) {
            Some(list) => *list = flat(&row.steps),
            None => beyond.push(row),
        }
    }
    let labels: Vec<usize> = (0..count).filter_map(|at| shown.iter().position(|shown| *shown == at)).collect();
    json!({
        "step": step_ns,
        "labels": labels,
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "share": position("share_percent"),
        "rows": own,
        "beyond": beyond.into_iter().map(|row| flat(&row.steps)).collect::<Vec<_>>(),
        "weights": weights,
        "left": left_out,
    })
}

const fn word(gather: Gather) -> &'static str {
    match gather {
        Gather::Sum => "sum",
        Gather::Max => "max",
        Gather::Mean => "mean",
    }
}

/// What tells a row apart: its first cells.
fn identity(cells: &[Cell], count: usize) -> String {
    let cells = cells.get(..count).unwrap_or(cells);
    serde_json::to_string(cells).unwrap_or_default()
}

fn flat(steps: &[(u32, Vec<u64>)]) -> Vec<u64> {
    let mut before = 0;
    let mut flat = Vec::new();
    for (step, amounts) in steps {
        flat.push(u64::from(step.saturating_sub(before)));
        flat.extend(amounts);
        before = *step;
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Column, Unit};

    fn table() -> Table {
        let column = |key, unit| Column { key, title: key, unit };
        let columns = vec![
            column("class", Unit::Text),
            column("count", Unit::Count),
            column("share_percent", Unit::Percent),
            column("max_ns", Unit::Ns),
        ];
        let row = |class: &str, count: u64| vec![class.into(), count.into(), Cell::Missing, count.into()];
        Table { id: "t", title: String::new(), columns, rows: vec![row("</script>", 7), row("b.B", 2)] }
    }

    fn steps() -> TableSteps {
        let row =
            |class: &str, steps: &[(u32, Vec<u64>)]| RowSteps { labels: vec![class.into()], steps: steps.to_vec() };
        let columns = [("count", Gather::Sum), ("max_ns", Gather::Max)];
        TableSteps {
            section: "gc",
            table: "t",
            step_ns: 5,
            columns: columns.map(|(key, gather)| StepColumn { key, gather }).into(),
            rows: vec![row("</script>", &[(1, vec![3, 9]), (4, vec![4, 2])]), row("c.C", &[(2, vec![1, 1])])],
            left_out: 0,
            weights: Vec::new(),
        }
    }

    #[test]
    fn steps_stand_at_their_rows_and_those_without_a_row_apart() {
        let data = data(&table(), &[0, 1, 2, 3], &steps());
        assert_eq!(data["rows"], json!([[1, 3, 9, 3, 4, 2], []]));
        assert_eq!(data["beyond"], json!([[2, 1, 1]]));
        assert_eq!(data["columns"][1], json!({ "at": 3, "gather": "max", "unit": "ns" }));
        assert_eq!((&data["labels"], &data["share"]), (&json!([0]), &json!(2)));
    }

    #[test]
    fn lines_end_at_the_joints_of_names() {
        assert_eq!(breakable("com.shop.Cart$Item.add:12"), "com.<wbr>shop.<wbr>Cart$<wbr>Item.<wbr>add:12");
        assert_eq!(breakable("(a,b) & <b>"), "(<wbr>a,<wbr>b) &amp; &lt;b&gt;");
        assert_eq!(breakable("libjvm.so!G1.run"), "libjvm.so!<wbr>G1.<wbr>run");
        let long = "ä".repeat(90);
        assert_eq!(
            breakable(&long).split("<wbr>").map(|piece| piece.chars().count()).collect::<Vec<_>>(),
            [40, 40, 10]
        );
        assert_eq!(breakable(""), "");
    }

    #[test]
    fn names_do_not_end_the_element() {
        let mut out = Vec::new();
        write(&table(), Extra::Steps(&steps()), &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert_eq!(page.matches("</script>").count(), 1);
    }
}
