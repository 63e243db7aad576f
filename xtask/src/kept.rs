//! Tables in Markdown of what was tried out, kept in a file. What was not tried again keeps its row.

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, Result};

use crate::workspace;

/// Rows of a table, by the text of their first cell.
pub(crate) type Rows = BTreeMap<String, String>;

/// A table that is kept.
pub(crate) struct Kept {
    /// The file, in the repository.
    pub(crate) file: &'static str,
    /// The line above the table.
    pub(crate) title: &'static str,
}

impl Kept {
    /// Writes the table that `table` makes of `rows` and of those that the file has of others, and `below` it.
    pub(crate) fn write(&self, rows: Rows, table: impl FnOnce(&Rows) -> String, below: &str) -> Result<()> {
        let path = workspace::root().join(self.file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let text = format!("# {}\n\n{}{below}", self.title, table(&merged(&before, rows)));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// New rows, and those that a text has of others.
fn merged(before: &str, rows: Rows) -> Rows {
    let first_cell = |row: &str| row.split('|').nth(1).map(|cell| cell.trim().to_owned());
    // The first two lines of a table are no rows.
    let kept = before.lines().filter(|line| line.starts_with('|')).skip(2);
    kept.filter_map(|row| Some((first_cell(row)?, row.to_owned()))).chain(rows).collect()
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
}
