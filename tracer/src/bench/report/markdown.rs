//! A report as Markdown with tables of the kind that GitHub reads. What a text of others contains shows as it is: neither markup
//! nor a cell of its own.

use std::borrow::Cow;

use super::document::{Block, Cell, Column, Document, Kind, Row, Section, Table, Tone};
use crate::view::escape;

/// What means something to Markdown anywhere in a line.
const SPECIAL: &str = r"\`*_[]|~$";

pub(super) fn write(document: &Document) -> String {
    let mut parts = vec![format!("# {}", escaped(&document.title))];
    for Section { title, blocks } in &document.sections {
        parts.push(format!("## {title}"));
        parts.extend(blocks.iter().map(block));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => escaped(text),
        Block::Facts(facts) => {
            let rows = facts.iter().map(|(name, value)| format!("| {} | {} |", escaped(name), escaped(value)));
            ["| what | value |", "| --- | --- |"]
                .map(str::to_owned)
                .into_iter()
                .chain(rows)
                .collect::<Vec<_>>()
                .join("\n")
        }
        Block::Table(table) => self::table(table),
        Block::Plot(_) => String::new(),
        Block::Commands(commands) => {
            let commands = commands.iter().map(|(name, command)| format!("{}:\n\n{}", escaped(name), code(command)));
            commands.collect::<Vec<_>>().join("\n\n")
        }
    }
}

fn table(table: &Table) -> String {
    let Table { caption, keys: _, together: _, columns, rows, minor: _, notes } = table;
    let mut parts = vec![format!("### {}", escaped(caption))];
    if rows.is_empty() {
        parts.push("none".to_owned());
    } else {
        let titles: Vec<_> = columns.iter().map(|column| escaped(&column.title)).collect();
        let marks = columns.iter().map(|Column { is_numeric, .. }| if *is_numeric { "---:" } else { "---" });
        let mut lines = vec![line(&titles), line(&marks.map(str::to_owned).collect::<Vec<_>>())];
        lines.extend(rows.iter().map(|Row { kind, cells }| {
            let strong = |cell: &Cell| *kind == Kind::Mean || cell.tone == Tone::Alarm;
            let cells = cells.iter().map(|cell| match escaped(&cell.text) {
                text if strong(cell) && !text.is_empty() => format!("**{text}**"),
                text => text,
            });
            line(&cells.collect::<Vec<_>>())
        }));
        parts.push(lines.join("\n"));
    }
    parts.extend(notes.iter().map(|note| escaped(note)));
    parts.join("\n\n")
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// The text as it is, wherever in a line it stands, and at its beginning.
fn escaped(text: &str) -> String {
    let text: Cow<'_, str> = escape::terminal(text.trim());
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        // A heading, an item of a list or a line below a heading begins with one of these.
        let is_special = SPECIAL.contains(c) || at == 0 && "#+-=".contains(c);
        // A number with one of these behind it is an item of a list.
        let is_number = ".)".contains(c) && at > 0 && text[..at].bytes().all(|byte| byte.is_ascii_digit());
        if is_special || is_number {
            out.push('\\');
        }
        match c {
            // Not every reader of Markdown knows that a backslash takes the meaning from these.
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

/// The text between fences that are longer than any that is in it.
fn code(text: &str) -> String {
    let text = escape::terminal(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escaped("a|b`c*d_e[f](g)<h>&\n"), r"a\|b\`c\*d\_e\[f\](g)&lt;h&gt;&amp;");
        assert_eq!(escaped("a\nb\u{202e}"), r"a\\nb\\u{202e}");
        assert_eq!(
            [escaped("# a"), escaped("- a"), escaped("12. a"), escaped("1.5 s")],
            [r"\# a", r"\- a", r"12\. a", r"1\.5 s"]
        );
        assert_eq!(escaped(r"\|"), r"\\\|");
    }

    #[test]
    fn code_cannot_end_its_fence() {
        assert_eq!(code("a ```` b"), "`````sh\na ```` b\n`````");
        assert_eq!(code("a\n```"), "````sh\na\\n```\n````");
        assert_eq!(code("a"), "```sh\na\n```");
    }
}
