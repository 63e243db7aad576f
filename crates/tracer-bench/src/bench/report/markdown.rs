//! A report as Markdown with tables of the kind that GitHub reads. What a text of others contains shows as it is: neither markup
//! nor a cell of its own.

use std::borrow::Cow;

use super::document::{Block, Cell, Column, Document, Kind, Row, Section, Table, Tone};
use crate::text::escape;

/// What means something to Markdown anywhere in a line.
const SPECIAL: &str = r"\`*_[]|~$";

pub(super) fn write(document: &Document) -> String {
    let mut parts = vec![format!("# {}", inline(&document.title))];
    for Section { title, blocks } in &document.sections {
        parts.push(format!("## {title}"));
        parts.extend(blocks.iter().map(block));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => paragraph(text),
        Block::Facts(facts) => {
            let rows = facts.iter().map(|(name, value)| format!("| {} | {} |", inline(name), inline(value)));
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
            let commands = commands.iter().map(|(name, command)| format!("{}:\n\n{}", paragraph(name), code(command)));
            commands.collect::<Vec<_>>().join("\n\n")
        }
    }
}

fn table(table: &Table) -> String {
    let Table { caption, keys: _, together: _, columns, rows, minor: _, notes } = table;
    let mut parts = vec![format!("### {}", inline(caption))];
    if rows.is_empty() {
        parts.push("none".to_owned());
    } else {
        let titles: Vec<_> = columns.iter().map(|column| inline(&column.title)).collect();
        let marks = columns.iter().map(|Column { is_numeric, .. }| if *is_numeric { "---:" } else { "---" });
        let mut lines = vec![line(&titles), line(&marks.map(str::to_owned).collect::<Vec<_>>())];
        lines.extend(rows.iter().map(|Row { kind, cells }| {
            let strong = |cell: &Cell| *kind == Kind::Mean || cell.tone == Tone::Alarm;
            let cells = cells.iter().map(|cell| match inline(&cell.text) {
                text if strong(cell) && !text.is_empty() => format!("**{text}**"),
                text => text,
            });
            line(&cells.collect::<Vec<_>>())
        }));
        parts.push(lines.join("\n"));
    }
    parts.extend(notes.iter().map(|note| paragraph(note)));
    parts.join("\n\n")
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// The text as it is, at the beginning of a line: no heading, no item of a list.
fn paragraph(text: &str) -> String {
    let text = inline(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        Some('#' | '+' | '-' | '=') if digits == 0 => format!("\\{text}"),
        _ => text,
    }
}

/// The text as it is, within a line.
fn inline(text: &str) -> String {
    let text: Cow<'_, str> = escape::terminal(text.trim());
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            // Not every reader of Markdown knows that a backslash takes the meaning from these.
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if SPECIAL.contains(c) => out.extend(['\\', c]),
            c => out.push(c),
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
        assert_eq!(inline("a|b`c*d_e[f](g)<h>&\n"), r"a\|b\`c\*d\_e\[f\](g)&lt;h&gt;&amp;");
        assert_eq!(inline("a\nb\u{202e}"), r"a\\nb\\u{202e}");
        assert_eq!(inline(r"\|"), r"\\\|");
    }

    #[test]
    fn no_text_begins_a_heading_or_a_list() {
        for (text, expected) in [("# a", r"\# a"), ("- a", r"\- a"), ("12. a", r"12\. a"), ("1) a", r"1\) a")] {
            assert_eq!(paragraph(text), expected);
        }
        for text in ["1 a", "a - b", "", "12"] {
            assert_eq!(paragraph(text), text);
        }
    }

    #[test]
    fn code_cannot_end_its_fence() {
        assert_eq!(code("a ```` b"), "`````sh\na ```` b\n`````");
        assert_eq!(code("a\n```"), "````sh\na\\n```\n````");
        assert_eq!(code("a"), "```sh\na\n```");
    }
}
