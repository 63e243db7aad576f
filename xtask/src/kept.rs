//! Tables in Markdown of what was tried out, kept in a file and put into the document that users read. What was not tried again
//! keeps its row, and what was said of it.

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, Result};

use crate::workspace;

/// Rows of a table, or paragraphs below it, by the text of the row's first cell.
pub(crate) type Rows = BTreeMap<String, String>;

/// A table that is kept.
pub(crate) struct Kept {
    /// The file, in the repository.
    pub(crate) file: &'static str,
    /// The line above the table.
    pub(crate) title: &'static str,
    /// Documents that have the same table.
    pub(crate) documents: &'static [&'static str],
}

impl Kept {
    /// The rows that the file has.
    pub(crate) fn rows(&self) -> Rows {
        rows(&fs::read_to_string(workspace::root().join(self.file)).unwrap_or_default())
    }

    /// Writes the table that `table` makes of `rows` and of those that the file has of others, and below it what there is to say of
    /// them: a paragraph begins with the row's first cell and a colon, and has no empty line.
    pub(crate) fn write(&self, rows: Rows, notes: Rows, table: impl FnOnce(&Rows) -> String) -> Result<()> {
        let path = workspace::root().join(self.file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let notes = merged_notes(&before, &rows, notes);
        let table = table(&merged(&before, rows));
        let below = notes.into_values().fold(String::new(), |text, note| format!("{text}\n{}\n", note.trim_end()));
        fs::write(&path, format!("# {}\n\n{table}{below}", self.title))
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.documents.iter().try_for_each(|document| {
            let path = workspace::root().join(document);
            let before = fs::read_to_string(&path).with_context(|| format!("no {document}"))?;
            let after = with_table(&before, &table).with_context(|| format!("{document} has no such table"))?;
            fs::write(&path, after).with_context(|| format!("cannot write {document}"))
        })
    }
}

/// The rows of the tables in a text.
fn rows(text: &str) -> Rows {
    let first_cell = |row: &str| row.split('|').nth(1).map(|cell| cell.trim().to_owned());
    // The first two lines of a table are no rows.
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.filter_map(|row| Some((first_cell(row)?, row.to_owned()))).collect()
}

/// New rows, and those that a text has of others.
fn merged(before: &str, new: Rows) -> Rows {
    rows(before).into_iter().chain(new).collect()
}

/// New paragraphs, and those that a text has of rows that are not among the new ones.
fn merged_notes(before: &str, rows: &Rows, notes: Rows) -> Rows {
    let paragraphs = before.split("\n\n").filter(|paragraph| !paragraph.starts_with(['#', '|']));
    let kept = paragraphs.filter_map(|paragraph| {
        let (of, _) = paragraph.split_once(':').filter(|(of, _)| !of.contains('\n'))?;
        Some((of.trim().to_owned(), paragraph.to_owned()))
    });
    kept.filter(|(of, _)| !rows.contains_key(of)).chain(notes).collect()
}

/// A document with this table instead of the one that has the same first cell.
fn with_table(document: &str, table: &str) -> Option<String> {
    let head = table.split_inclusive('|').take(2).collect::<String>();
    let begin = if document.starts_with(&head) { 0 } else { document.find(&format!("\n{head}"))? + 1 };
    let rest = &document[begin..];
    let length: usize = rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    Some(format!("{}{table}{}", &document[..begin], &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_tried_again_keeps_its_row() {
        let before = "# Title\n\n| kernel | ok |\n|---|---|\n| 6.1 | no |\n| 7.3 | no |\n\nbelow\n";
        let rows = merged(before, Rows::from([("6.1".to_owned(), "| 6.1 | yes |".to_owned())]));
        assert_eq!(rows.into_values().collect::<Vec<_>>(), ["| 6.1 | yes |", "| 7.3 | no |"]);
    }

    #[test]
    fn what_was_said_of_a_row_goes_when_that_is_tried_again() {
        let before = "# Title: of it\n\n| kernel |\n|---|\n| 6.1 |\n\n6.1: `a` failed:\n    why\n\n7.3: refused\n";
        let rows = Rows::from([("6.1".to_owned(), "| 6.1 |".to_owned())]);
        assert_eq!(merged_notes(before, &rows, Rows::new()).into_values().collect::<Vec<_>>(), ["7.3: refused\n"]);
        let again = Rows::from([("6.1".to_owned(), "6.1: `b` failed".to_owned())]);
        let notes = merged_notes(before, &rows, again).into_values().collect::<Vec<_>>();
        assert_eq!(notes, ["6.1: `b` failed", "7.3: refused\n"]);
    }

    #[test]
    fn a_document_gets_the_table_in_the_place_of_the_one_before() {
        let document = "text\n\n| other |\n|---|\n| 1 |\n\n| kernel | ok |\n|---|---|\n| 6.1 | no |\n\nrest\n";
        let after = with_table(document, "| kernel | good |\n|---|---|\n| 6.1 | yes |\n| 7.3 | yes |\n").unwrap();
        let expected =
            "text\n\n| other |\n|---|\n| 1 |\n\n| kernel | good |\n|---|---|\n| 6.1 | yes |\n| 7.3 | yes |\n\nrest\n";
        assert_eq!(after, expected);
        assert_eq!(with_table("| other |\n", "| kernel |\n"), None);
    }
}
