//! The crates of jtrace, and which module may use which: a table in the order of the data, and all that the code and the manifests do is
//! compared with it. What the table allows leads to modules before only, so there is no cycle; the drawing in ARCHITECTURE.md is made
//! from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result, bail};

use super::uses::{self, Tree, Use};

/// The table, below the repository's root.
const TABLE: &str = "crates/modules.txt";
/// The document that shows it.
const DOCUMENT: &str = "tracer/ARCHITECTURE.md";
/// The line before the drawing in the document; the drawing is the fenced block behind it.
const DRAWING: &str = "<!-- The crates of crates/modules.txt; `cargo xtask check` compares them. -->";

/// A module's line.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    /// The crate that it is in, by its place among [`Table::crates`].
    of: usize,
    module: String,
    may_use: Vec<String>,
}

/// The table as it was read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Names of jtrace's crates, from the ground up.
    crates: Vec<String>,
    rows: Vec<Row>,
    /// Crates of others that one module alone may name.
    only: BTreeMap<String, String>,
}

/// Compares the code, the manifests and the drawing with the table.
pub(super) fn inspect(root: &Path) -> Result<Vec<String>> {
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"));
    let table = Table::parse(&read(TABLE)?)?;
    let only: Vec<&str> = table.only.keys().map(String::as_str).collect();
    let mut tree = Tree::default();
    for name in &table.crates {
        uses::read(root, &format!("{}/src", folder(name)), &only, &mut tree)?;
    }
    let mut complaints = compare(&table, &tree);
    for (of, name) in table.crates.iter().enumerate() {
        complaints.extend(compare_manifest(&table, of, &read(&format!("{}/Cargo.toml", folder(name)))?));
    }
    complaints.extend(compare_drawing(&table, &read(DOCUMENT)?));
    Ok(complaints)
}

/// Where a crate is: the commands stand beside those that are built for other places.
fn folder(name: &str) -> String {
    if name == "tracer" { name.to_owned() } else { format!("crates/{name}") }
}

impl Table {
    fn parse(text: &str) -> Result<Self> {
        let mut table = Self::default();
        for (line, number) in text.lines().zip(1..) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix("crate ") {
                table.crates.push(name.trim().to_owned());
                continue;
            }
            let Some((subject, others)) = line.split_once(':') else {
                bail!("{TABLE}:{number}: neither `crate NAME`, `only NAME: MODULE` nor `MODULE: MODULES`")
            };
            let mut others = others.split_ascii_whitespace().map(str::to_owned);
            if let Some(name) = subject.strip_prefix("only ") {
                let owner = others.next().with_context(|| format!("{TABLE}:{number}: no module for the crate"))?;
                table.only.insert(name.trim().to_owned(), owner);
                continue;
            }
            let Some(of) = table.crates.len().checked_sub(1) else {
                bail!("{TABLE}:{number}: a module before the first crate")
            };
            table.rows.push(Row { line: number, of, module: subject.trim().to_owned(), may_use: others.collect() });
        }
        Ok(table)
    }

    fn row(&self, module: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.module == module)
    }

    /// How a module leads to another one by what the table allows.
    fn way(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut ways = vec![vec![from.to_owned()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop() {
            let last = way.last().map(String::as_str).unwrap_or_default();
            if last == to {
                return Some(way);
            }
            if !seen.insert(last.to_owned()) {
                continue;
            }
            for next in self.row(last).map(|row| row.may_use.as_slice()).unwrap_or_default() {
                ways.push(way.iter().chain([next]).cloned().collect());
            }
        }
        None
    }

    /// The crates that the modules of one may use, beside its own.
    fn crates_below(&self, of: usize) -> BTreeSet<usize> {
        let rows = self.rows.iter().filter(|row| row.of == of);
        let used = rows.flat_map(|row| &row.may_use).filter_map(|module| Some(self.row(module)?.of));
        used.filter(|used| *used != of).collect()
    }

    /// The crates, each with its modules and with the crates that they may use.
    fn drawing(&self) -> String {
        let widest = self.crates.iter().map(String::len).max().unwrap_or(0);
        let lines = self.crates.iter().enumerate().map(|(number, name)| {
            let rows = self.rows.iter().filter(|row| row.of == number);
            let modules: Vec<&str> = rows.map(|row| row.module.as_str()).collect();
            let used: Vec<String> = self.crates_below(number).iter().map(|used| (used + 1).to_string()).collect();
            let arrow = if used.is_empty() { "" } else { "  -> " };
            format!("{:>2} {name:widest$}  {}{arrow}{}\n", number + 1, modules.join(" "), used.join(" "))
        });
        lines.collect::<Vec<_>>().concat()
    }
}

/// What the table says of itself and of the code, and is not so.
fn compare(table: &Table, tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let order: Vec<&str> = table.rows.iter().map(|row| row.module.as_str()).collect();
    if order != tree.modules {
        let first = order.iter().zip(&tree.modules).find(|(of_table, of_code)| *of_table != of_code);
        let (row, code) = first.map_or(("its end", "its end"), |(row, code)| (*row, code.as_str()));
        complaints.push(format!(
            "{TABLE}: its modules are not those of the crates' lib.rs in their order: `{row}` stands where lib.rs has `{code}`"
        ));
    }
    for (at, row) in table.rows.iter().enumerate() {
        for used in row.may_use.iter().filter(|used| !order[..at].contains(&used.as_str())) {
            complaints.push(format!(
                "{TABLE}:{}: `{}` may use `{used}`, which does not stand before it: only what stands before may be used, so \
                 that there is no cycle",
                row.line, row.module
            ));
        }
        for used in &row.may_use {
            if !tree.uses.iter().any(|of| of.from == row.module && of.to == *used) {
                complaints.push(format!(
                    "{TABLE}:{}: `{}` does not use `{used}` any more: take it out of the line",
                    row.line, row.module
                ));
            }
        }
    }
    complaints.extend(tree.uses.iter().filter_map(|of| forbidden(table, of)));
    for Use { from, to, file, line } in &tree.crates {
        if table.only.get(to).is_some_and(|owner| owner != from) {
            complaints.push(format!(
                "{file}:{line}: `{from}` names the crate `{to}`, which is for `{}` alone: what it needs of it belongs there",
                table.only[to]
            ));
        }
    }
    complaints
}

/// Why a module may not use another one, where it may not.
fn forbidden(table: &Table, of: &Use) -> Option<String> {
    let Use { from, to, file, line } = of;
    // Macros and attributes of the root have paths that are no modules.
    table.row(to)?;
    let row = table.row(from)?;
    if row.may_use.contains(to) {
        return None;
    }
    let what_to_do = match table.way(to, from) {
        Some(way) => format!(
            "that is a cycle ({} -> {}): move what both need into a module before both, as `text`, `lens`, `event` or `item` are",
            from,
            way.join(" -> ")
        ),
        None => format!(
            "{TABLE} does not allow that: move what both need into a module before both, or, if the data flow from `{to}` to \
             `{from}`, add `{to}` to line {}",
            row.line
        ),
    };
    Some(format!("{file}:{line}: `{from}` uses `{to}`; {what_to_do}"))
}

/// Compares the dependencies of a crate, those for its tests aside, with what the table lets its modules use.
fn compare_manifest(table: &Table, of: usize, manifest: &str) -> Option<String> {
    let names = manifest.split("\n[dependencies]\n").nth(1)?.split("\n[").next()?.lines();
    let names = names.filter_map(|line| line.split(['.', ' ', '=']).next());
    let named: BTreeSet<usize> = names.filter_map(|name| table.crates.iter().position(|known| known == name)).collect();
    let allowed = table.crates_below(of);
    let words =
        |crates: &BTreeSet<usize>| crates.iter().map(|of| table.crates[*of].as_str()).collect::<Vec<_>>().join(", ");
    (named != allowed).then(|| {
        format!(
            "{}/Cargo.toml: the crate depends on {}, and its modules use {} by {TABLE}",
            folder(&table.crates[of]),
            words(&named),
            words(&allowed)
        )
    })
}

/// Compares the drawing in the document with the table.
fn compare_drawing(table: &Table, document: &str) -> Option<String> {
    let expected = table.drawing();
    let drawn = document
        .split_once(DRAWING)
        .and_then(|(_, behind)| behind.trim_start().strip_prefix("```text\n"))
        .and_then(|block| block.split_once("```"))
        .map(|(drawn, _)| drawn);
    (drawn != Some(expected.as_str())).then(|| {
        format!("{DOCUMENT}: the drawing of the modules is not that of {TABLE}; behind the line `{DRAWING}` it must be\n```text\n{expected}```")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const SMALL: &str = "only clap: c\ncrate low\na:\ncrate tracer\nb: a   # for its names\nc: b\n";

    fn complaints(table: &str, files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let usual = [
            ("low/lib.rs", "mod a;\n"),
            ("low/a.rs", ""),
            ("high/lib.rs", "mod b;\nmod c;\nuse low::a;\n"),
            ("high/b.rs", "use crate::a;"),
            ("high/c.rs", "use crate::b; use clap::Args;"),
        ];
        for (name, text) in usual.iter().chain(files) {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut tree = Tree::default();
        for of in ["low", "high"] {
            uses::read(folder.path(), of, &["clap"], &mut tree).unwrap();
        }
        compare(&Table::parse(table).unwrap(), &tree)
    }

    #[test]
    fn the_modules_of_this_repository_use_what_the_table_allows() {
        let complaints = inspect(workspace::root()).unwrap();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    #[test]
    fn what_the_table_allows_is_no_complaint() {
        assert_eq!(complaints(SMALL, &[]), [""; 0]);
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_named_with_its_line() {
        let found = complaints(SMALL, &[("high/c.rs", "use crate::b;\nuse crate::a::X;\nuse clap::Args;")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("high/c.rs:2: `c` uses `a`; crates/modules.txt does not allow that: "),
            "{found:?}"
        );
        assert!(found[0].ends_with("add `a` to line 6"), "{found:?}");
    }

    #[test]
    fn a_cycle_is_named_whole() {
        let found = complaints(SMALL, &[("low/a.rs", "fn f() { crate::c::g() }")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a.rs:1: `a` uses `c`; that is a cycle (a -> c -> b -> a)"), "{found:?}");
    }

    #[test]
    fn a_table_that_would_allow_a_cycle_is_refused() {
        let found = complaints(&SMALL.replace("a:\n", "a: c\n"), &[("low/a.rs", "use crate::c;")]);
        assert!(
            found[0].starts_with("crates/modules.txt:3: `a` may use `c`, which does not stand before it"),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_allowed_and_not_used_is_taken_out() {
        let found = complaints(SMALL, &[("high/b.rs", "")]);
        assert_eq!(found, ["crates/modules.txt:5: `b` does not use `a` any more: take it out of the line"]);
    }

    #[test]
    fn the_order_of_the_table_is_that_of_the_code() {
        let found = complaints(SMALL, &[("high/lib.rs", "mod c;\nmod b;\n")]);
        assert!(found[0].ends_with("`b` stands where lib.rs has `c`"), "{found:?}");
        let found = complaints(SMALL, &[("high/lib.rs", "mod b;\nmod c;\nmod d;\n"), ("high/d.rs", "")]);
        assert!(found[0].contains("its modules are not those of"), "{found:?}");
    }

    #[test]
    fn a_crate_of_one_module_is_refused_elsewhere() {
        let found = complaints(SMALL, &[("high/b.rs", "use crate::a;\n#[derive(clap::ValueEnum)]\nenum E {}")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("high/b.rs:2: `b` names the crate `clap`, which is for `c` alone"), "{found:?}");
    }

    #[test]
    fn a_drawing_of_another_table_is_refused() {
        let table = Table::parse(SMALL).unwrap();
        let document = |drawing: &str| format!("# Title\n\n{DRAWING}\n\n```text\n{drawing}```\n");
        assert_eq!(table.drawing(), " 1 low     a\n 2 tracer  b c  -> 1\n");
        assert_eq!(compare_drawing(&table, &document(&table.drawing())), None);
        for other in [document(" 1 low     a\n 2 tracer  c b  -> 1\n"), "# Title\n".to_owned()] {
            assert!(compare_drawing(&table, &other).is_some(), "{other}");
        }
    }

    #[test]
    fn a_dependency_that_no_module_uses_is_refused_and_one_that_is_missing() {
        let table = Table::parse(SMALL).unwrap();
        let manifest = |of: &str| {
            format!("[package]\nname = \"tracer\"\n\n[dependencies]\n{of}clap.workspace = true\n\n[lints]\n")
        };
        assert_eq!(compare_manifest(&table, 1, &manifest("low.workspace = true\n")), None);
        let missing = compare_manifest(&table, 1, &manifest("")).unwrap();
        assert_eq!(missing, "tracer/Cargo.toml: the crate depends on , and its modules use low by crates/modules.txt");
        let more = compare_manifest(&table, 0, &manifest("tracer = { workspace = true }\n"));
        assert!(more.unwrap().starts_with("crates/low/Cargo.toml: the crate depends on tracer"));
    }
}
