//! A report as one page: no script, no other file, no network. It follows the reader's choice of light and dark, and is read
//! aloud in order: tables have captions and scopes, plots have titles, and all their numbers are in tables too.

use super::document::{Block, Cell, Column, Document, Kind, Row, Section, Table, Tone};
use crate::text::escape;

const STYLE: &str = include_str!("html.css");

pub(super) fn write(document: &Document) -> String {
    let title = escape::html(&document.title);
    let mut parts = vec![format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>"
    )];
    parts.push(contents(document));
    for (at, Section { title, blocks }) in document.sections.iter().enumerate() {
        parts.push(format!("<section aria-labelledby=\"s{at}\">\n<h2 id=\"s{at}\">{}</h2>", escape::html(title)));
        parts.extend(blocks.iter().map(block));
        parts.push("</section>".to_owned());
    }
    parts.push("</main>\n</body>\n</html>\n".to_owned());
    parts.join("\n")
}

fn contents(document: &Document) -> String {
    let item = |(at, section): (usize, &Section)| format!("<li><a href=\"#s{at}\">{}</a></li>", section.title);
    let items = document.sections.iter().enumerate().map(item);
    format!("<nav aria-label=\"Contents\"><ul>\n{}\n</ul></nav>", items.collect::<Vec<_>>().join("\n"))
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => paragraph(text),
        Block::Facts(facts) => {
            let fact = |(name, value): &(String, String)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>", escape::html(name), escape::html(value))
            };
            format!("<dl>\n{}\n</dl>", facts.iter().map(fact).collect::<Vec<_>>().join("\n"))
        }
        Block::Table(table) => self::table(table),
        Block::Plot(plot) => {
            let caption = escape::html(plot.caption());
            format!("<figure>\n<figcaption>{caption}</figcaption>\n{}\n</figure>", plot.svg())
        }
        Block::Commands(commands) => {
            let command = |(name, command): &(String, String)| {
                format!("<p>{}</p>\n<pre tabindex=\"0\">{}</pre>", escape::html(name), escape::html(command))
            };
            commands.iter().map(command).collect::<Vec<_>>().join("\n")
        }
    }
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape::html(text))
}

fn table(table: &Table) -> String {
    let Table { caption, keys, together: _, columns, rows, minor: _, notes } = table;
    let caption = escape::html(caption);
    if rows.is_empty() {
        return format!("<h3>{caption}</h3>\n<p>none</p>");
    }
    let head = columns.iter().map(|Column { title, is_numeric }| {
        let class = if *is_numeric { " class=\"n\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escape::html(title))
    });
    let head: String = head.collect();
    let body: Vec<String> = rows.iter().map(|row| self::row(row, *keys, columns)).collect();
    let notes: Vec<String> = notes.iter().map(|note| format!("\n{}", paragraph(note))).collect();
    // What can be scrolled must be reachable with keys.
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>\n</div>{}",
        body.join("\n"),
        notes.concat()
    )
}

fn row(row: &Row, keys: usize, columns: &[Column]) -> String {
    let Row { kind, cells } = row;
    let cell = |(at, (cell, column)): (usize, (&Cell, &Column))| {
        let text = escape::html(&cell.text);
        if at < keys {
            return format!("<th scope=\"row\">{text}</th>");
        }
        let tone = match cell.tone {
            Tone::Usual => None,
            Tone::Quiet => Some("quiet"),
            Tone::Alarm => Some("alarm"),
        };
        let classes: Vec<&str> = column.is_numeric.then_some("n").into_iter().chain(tone).collect();
        match classes.as_slice() {
            [] => format!("<td>{text}</td>"),
            classes => format!("<td class=\"{}\">{text}</td>", classes.join(" ")),
        }
    };
    let class = if *kind == Kind::Mean { " class=\"mean\"" } else { "" };
    let cells: String = cells.iter().zip(columns).enumerate().map(cell).collect();
    format!("<tr{class}>{cells}</tr>")
}
