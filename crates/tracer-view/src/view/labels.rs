//! The texts of a table as views show them. Descriptors of methods are shown as the types that Java's source has, and only
//! in the rows where they tell overloads of one name apart. What a column holds is seen from its texts: views know no lens.

use std::collections::{BTreeSet, HashMap};

use super::{
    format,
    name::{Label, Name},
};
use crate::report::{
    Cell, Table, Unit,
    descriptor::{Descriptor, Detail},
};

/// Columns whose numbers count nothing: they are names, and have no separators.
const NUMBERS: [&str; 3] = ["pid", "tid", "line"];

/// Column that holds texts of any kind, descriptors by themselves, or no text in any row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Descriptors,
    Empty,
}

/// The texts of one table.
#[derive(Debug)]
pub(in crate::view) struct Labels<'a> {
    table: &'a Table,
    kinds: Vec<Kind>,
    /// For each column, the names that several descriptors go with, and how much of a type tells these apart.
    overloads: Vec<HashMap<String, Detail>>,
}

impl<'a> Labels<'a> {
    /// Looks through all rows of the table.
    pub(in crate::view) fn new(table: &'a Table) -> Self {
        let kinds = (0..table.columns.len()).map(|at| kind(table, at)).collect();
        let mut labels = Self { table, kinds, overloads: Vec::new() };
        labels.overloads = (0..table.columns.len()).map(|at| labels.overloads_of(at)).collect();
        labels
    }

    /// The columns that are shown, by number: all but those whose descriptors tell nothing apart, and those of texts that are all empty.
    pub(in crate::view) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let is_shown = |at: &usize| match self.kinds[*at] {
            Kind::Any => true,
            Kind::Descriptors => !self.overloads[*at].is_empty(),
            Kind::Empty => false,
        };
        (0..self.kinds.len()).filter(is_shown)
    }

    /// Of these columns, those that say something in one of the rows: parameters may tell methods apart that are not among them.
    pub(in crate::view) fn columns_of(&self, rows: &[usize]) -> Vec<usize> {
        let says =
            |row: usize, at: usize| self.text(row, at).is_some() && self.label(row, at).full() != format::MISSING;
        let is_shown = |at: &usize| {
            self.kinds[*at] != Kind::Descriptors
                || rows.iter().any(|row| says(*row, *at) && !self.label(*row, *at).full().is_empty())
        };
        self.columns().filter(is_shown).collect()
    }

    /// The text of a cell; empty where the row has no such cell.
    pub(in crate::view) fn label(&self, row: usize, column: usize) -> Label {
        let detail = self.named(row, column).and_then(|(name, _)| self.overloads[column].get(&name).copied());
        self.in_detail(row, column, detail)
    }

    /// The text of a cell with all that is known of a method.
    pub(in crate::view) fn in_full(&self, row: usize, column: usize) -> String {
        self.in_detail(row, column, Some(Detail::Returning)).full()
    }

    fn in_detail(&self, row: usize, column: usize, detail: Option<Detail>) -> Label {
        let Some(text) = self.text(row, column) else { return Label::new(String::new()) };
        match (self.kinds[column], detail) {
            (Kind::Any | Kind::Empty, None) => Label::new(text),
            (Kind::Any | Kind::Empty, Some(detail)) => Label::with_parameters(text, detail),
            // Code that is none of Java's has no signature, and needs none to be told apart.
            (Kind::Descriptors, None) if text == format::MISSING => Label::new(String::new()),
            (Kind::Descriptors, detail) => Label::new(match (Descriptor::parse(&text), detail) {
                (Some(_), None) => String::new(),
                (Some(descriptor), Some(detail)) => descriptor.source(detail),
                (None, _) => text,
            }),
        }
    }

    fn text(&self, row: usize, column: usize) -> Option<String> {
        let (cell, unit) = self.cell(row, column)?;
        let is_number = self.table.columns.get(column).is_some_and(|column| NUMBERS.contains(&column.key));
        Some(match cell {
            Cell::Int(number) if is_number => number.to_string(),
            _ => format::cell(cell, unit),
        })
    }

    fn cell(&self, row: usize, column: usize) -> Option<(&'a Cell, Unit)> {
        Some((self.table.rows.get(row)?.get(column)?, self.table.columns.get(column)?.unit))
    }

    /// The name that a cell's descriptor goes with, and the descriptor.
    fn named(&self, row: usize, column: usize) -> Option<(String, &'a str)> {
        let Some((Cell::Text(text), _)) = self.cell(row, column) else { return None };
        if self.kinds[column] != Kind::Descriptors {
            let name = Name::parse(text)?;
            return Some((name.without_descriptor().full(""), name.descriptor()?));
        }
        // The texts just before it are its name: class and method, or both in one.
        let is_named = |at: &usize| self.kinds[*at] != Kind::Descriptors && self.table.columns[*at].unit == Unit::Text;
        let before = (0..column).rev().take_while(is_named);
        let name: Vec<String> =
            before.filter_map(|at| self.cell(row, at)).map(|(cell, unit)| format::cell(cell, unit)).collect();
        Some((name.join("\n"), text))
    }

    fn overloads_of(&self, column: usize) -> HashMap<String, Detail> {
        let mut descriptors: HashMap<String, BTreeSet<&str>> = HashMap::new();
        for (name, descriptor) in (0..self.table.rows.len()).filter_map(|row| self.named(row, column)) {
            descriptors.entry(name).or_default().insert(descriptor);
        }
        descriptors.retain(|_, descriptors| descriptors.len() > 1);
        descriptors.into_iter().map(|(name, descriptors)| (name, least_detail(&descriptors))).collect()
    }
}

/// The least that tells these descriptors apart.
fn least_detail(descriptors: &BTreeSet<&str>) -> Detail {
    let tells_apart = |detail: &Detail| {
        let texts = descriptors.iter().filter_map(|text| Descriptor::parse(text));
        let texts: BTreeSet<String> = texts.map(|descriptor| descriptor.source(*detail)).collect();
        texts.len() == descriptors.len()
    };
    [Detail::Simple, Detail::Qualified].into_iter().find(tells_apart).unwrap_or(Detail::Returning)
}

/// Descriptors are in a column that holds nothing else, but for reasons why one is not known. The first column names the row.
fn kind(table: &Table, column: usize) -> Kind {
    if column > 0 && !table.rows.is_empty() && table.rows.iter().all(|row| is_empty(row.get(column))) {
        return Kind::Empty;
    }
    let texts = || {
        table.rows.iter().filter_map(move |row| match row.get(column) {
            Some(Cell::Text(text)) => Some(text.as_str()),
            Some(Cell::Int(_) | Cell::Float(_) | Cell::Missing) | None => None,
        })
    };
    let is_reason = |text: &str| text.is_empty() || text.starts_with('<');
    let is_any = texts().any(|text| !is_reason(text));
    let is_all = texts().all(|text| is_reason(text) || Descriptor::parse(text).is_some());
    if is_any && is_all { Kind::Descriptors } else { Kind::Any }
}

/// Whether a cell is a text without a character. What is missing is no text: that it is, can matter.
fn is_empty(cell: Option<&Cell>) -> bool {
    matches!(cell, Some(Cell::Text(text)) if text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;

    fn table(keys: &[&'static str], rows: &[&[&str]]) -> Table {
        let columns = keys.iter().map(|key| Column { key, title: key, unit: Unit::Text }).collect();
        let rows = rows.iter().map(|row| row.iter().map(|text| Cell::from(*text)).collect()).collect();
        Table { id: "t", title: "T".into(), columns, rows }
    }

    fn shown(table: &Table) -> Vec<Vec<String>> {
        let labels = Labels::new(table);
        let row = |row| labels.columns().map(|at| labels.label(row, at).full()).collect();
        (0..table.rows.len()).map(row).collect()
    }

    #[test]
    fn numbers_that_are_names_have_no_separators() {
        let columns = ["tid", "line", "count"].map(|key| Column { key, title: key, unit: Unit::Count }).into();
        let row = vec![24_536_u64.into(), 2_612_u64.into(), 1_234_u64.into()];
        let table = Table { id: "t", title: "T".into(), columns, rows: vec![row] };
        assert_eq!(shown(&table), [["24536", "2612", "1,234"]]);
    }

    #[test]
    fn parameters_are_shown_where_they_tell_overloads_apart() {
        let rows: [&[&str]; 3] = [&["a.B.add(I)V"], &["a.B.add(Ljava/util/List;)V"], &["a.B.get(I)I"]];
        assert_eq!(shown(&table(&["method"], &rows)), [["a.B.add(int)"], ["a.B.add(List)"], ["a.B.get"]]);
    }

    #[test]
    fn a_column_of_descriptors_that_tells_nothing_apart_is_left_out() {
        let rows: [&[&str]; 2] = [&["a.B", "add", "(I)V"], &["a.C", "add", "(J)V"]];
        assert_eq!(shown(&table(&["class", "method", "signature"], &rows)), [["a.B", "add"], ["a.C", "add"]]);
        let rows: [&[&str]; 3] = [&["a.B", "add", "(I)V"], &["a.B", "add", "(J)V"], &["a.C", "add", "(J)V"]];
        let texts = [["a.B", "add", "(int)"], ["a.B", "add", "(long)"], ["a.C", "add", ""]];
        assert_eq!(shown(&table(&["class", "method", "signature"], &rows)), texts);
    }

    #[test]
    fn a_column_without_any_text_is_left_out_unless_it_names_the_rows() {
        let rows: [&[&str]; 2] = [&["", "a.B", ""], &["", "a.C", ""]];
        assert_eq!(shown(&table(&["thread", "method", "signature"], &rows)), [["", "a.B"], ["", "a.C"]]);
        let rows: [&[&str]; 2] = [&["a.B", "add", ""], &["a.C", "add", "12"]];
        assert_eq!(shown(&table(&["class", "method", "line"], &rows)), [["a.B", "add", ""], ["a.C", "add", "12"]]);
    }

    #[test]
    fn each_of_two_methods_in_a_row_has_its_own_parameters() {
        let rows: [&[&str]; 2] = [&["a.B.f", "(I)V", "a.C.g", "()V"], &["a.B.f", "(J)V", "a.C.g", "()V"]];
        let keys = ["caller", "caller_signature", "callee", "signature"];
        assert_eq!(shown(&table(&keys, &rows)), [["a.B.f", "(int)", "a.C.g"], ["a.B.f", "(long)", "a.C.g"]]);
    }

    #[test]
    fn packages_and_returned_types_are_shown_where_nothing_less_tells_apart() {
        let rows: [&[&str]; 2] = [&["a.B.add(La/List;)V"], &["a.B.add(Lb/List;)V"]];
        assert_eq!(shown(&table(&["method"], &rows)), [["a.B.add(a.List)"], ["a.B.add(b.List)"]]);
        let rows: [&[&str]; 2] = [&["a.B.get()I"], &["a.B.get()Ljava/lang/Object;"]];
        assert_eq!(shown(&table(&["method"], &rows)), [["a.B.get(): int"], ["a.B.get(): java.lang.Object"]]);
    }

    #[test]
    fn texts_that_are_no_names_stay_as_they_are() {
        let rows: [&[&str]; 2] = [&["<not known>", "pool-1-thread-*"], &["", "(JavaThread*)"]];
        assert_eq!(shown(&table(&["a", "b"], &rows)), [["<not known>", "pool-1-thread-*"], ["", "(JavaThread*)"]]);
    }

    #[test]
    fn a_row_in_full_has_every_type() {
        let table = table(&["method"], &[&["a.B.add(Ljava/util/List;)V"]]);
        assert_eq!(Labels::new(&table).in_full(0, 0), "a.B.add(java.util.List): void");
    }
}
