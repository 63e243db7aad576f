//! The tables of kernels and of builds that users read are those that the last runs found.

use super::read;

/// The lines of the table with this first cell.
fn table<'a>(text: &'a str, first_cell: &str) -> Vec<&'a str> {
    let head = format!("| {first_cell} |");
    let lines = text.lines().skip_while(|line| !line.starts_with(&head));
    lines.take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn tables_in_documents_are_what_the_last_runs_found() {
    const DOCUMENT: &str = "README.md";
    let said = read(DOCUMENT);
    for (first_cell, file) in [("kernel", "tests/kernels.txt"), ("build", "tests/builds.txt")] {
        let found = read(file);
        let found = table(&found, first_cell);
        assert!(found.len() > 2, "{file}: nothing was tried");
        assert_eq!(
            table(&said, first_cell),
            found,
            "{DOCUMENT}: the command that writes {file} writes this table as well"
        );
    }
}
