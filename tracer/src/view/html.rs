//! The report as one page that needs nothing else: no network, no other file.
//!
//! Tables have all their rows, with the full names, and sort at a click. What keeps names
//! harmless is the escaping; a policy in the page forbids it to load anything from anywhere and to run event handlers, so
//! that the page cannot tell anybody that it was opened.

mod flame;

use std::io;

use super::{escape, format, labels::Labels, sentence, text::chart};
use crate::report::{Cell, Finding, Histogram, Node, Profile, Report, Section, Severity, Shape, Table, Timeline, Tree};

const STYLE: &str = include_str!("html.css");
const SCRIPT: &str = include_str!("html.js");

/// How the page's policy names the page's own script. It is no secret: the same report gives the same page.
const SCRIPT_NONCE: &str = "jtrace-report-1";

/// Most bars of a timeline; neighbours are put together, the largest of them shows.
const BARS: usize = 400;

/// Deepest level of a tree that is written.
const DEEPEST: usize = 64;

/// Writes the page.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let Report { schema: _, headline, target, span, cost, completeness, findings, sections } = report;
    let title = escape::html(&target.command).into_owned();
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'nonce-{SCRIPT_NONCE}'\">"
    )?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(
        out,
        "<title>jtrace: {} {title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>",
        target.pid,
        flame::STYLE
    )?;
    if let Some(headline) = headline {
        writeln!(out, "<div class=\"complete wrong\">")?;
        paragraph(headline, out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "<h1>{} {title}</h1>", target.pid)?;
    paragraph(&sentence::target(target), out)?;
    let (duration, start) = (format::duration(span.duration_ns as f64), format::wall_clock(span.started_at_ms));
    paragraph(&format!("{duration} from {start}, end: {}", span.end), out)?;
    paragraph(&sentence::cost(cost), out)?;
    let (equation, state) = sentence::completeness(completeness);
    let class = match state {
        sentence::State::Clean => "clean",
        sentence::State::Gaps => "gaps",
        sentence::State::Wrong => "wrong",
    };
    writeln!(out, "<div class=\"complete {class}\">")?;
    paragraph(&equation, out)?;
    list(&completeness.missing, out)?;
    writeln!(out, "</div>\n<h2>Findings</h2>")?;
    if findings.is_empty() {
        paragraph("none", out)?;
    }
    findings.iter().try_for_each(|finding| self::finding(finding, out))?;
    sections.iter().try_for_each(|section| self::section(section, out))?;
    writeln!(out, "<script nonce=\"{SCRIPT_NONCE}\">\n{SCRIPT}{}</script>\n</body>\n</html>", flame::SCRIPT)
}

fn paragraph(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<p>{}</p>", escape::html(text))
}

fn list(texts: &[String], out: &mut dyn io::Write) -> io::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul>")?;
    texts.iter().try_for_each(|text| writeln!(out, "<li>{}</li>", escape::html(text)))?;
    writeln!(out, "</ul>")
}

fn finding(finding: &Finding, out: &mut dyn io::Write) -> io::Result<()> {
    let Finding { id: _, severity, score: _, title, evidence, next_step } = finding;
    let class = match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    writeln!(out, "<div class=\"finding {class}\">\n<p><b>{class}: {}</b></p>", escape::html(title))?;
    list(evidence, out)?;
    paragraph(&format!("→ {next_step}"), out)?;
    writeln!(out, "</div>")
}

fn section(section: &Section, out: &mut dyn io::Write) -> io::Result<()> {
    let Section { id: _, title, summary, notes, shapes } = section;
    writeln!(out, "<h2>{}</h2>\n<dl>", escape::html(title))?;
    for (key, number) in summary.iter() {
        let (name, value) = format::figure(key, number);
        writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape::html(&name), escape::html(&value))?;
    }
    writeln!(out, "</dl>")?;
    notes.iter().try_for_each(|note| writeln!(out, "<p class=\"dim\">{}</p>", escape::html(note)))?;
    // The picture first, then the tables.
    let (profiles, others): (Vec<_>, Vec<_>) = shapes.iter().partition(|shape| matches!(shape, Shape::Profile(_)));
    for shape in profiles.into_iter().chain(others) {
        let (Shape::Table(Table { title, .. })
        | Shape::Tree(Tree { title, .. })
        | Shape::Histogram(Histogram { title, .. })
        | Shape::Timeline(Timeline { title, .. })
        | Shape::Profile(Profile { title, .. })) = shape;
        writeln!(out, "<h3>{}</h3>", escape::html(title))?;
        match shape {
            Shape::Table(shape) => table(shape, out)?,
            Shape::Tree(shape) => tree(shape, out)?,
            Shape::Histogram(shape) => histogram(shape, out)?,
            Shape::Timeline(shape) => timeline(shape, out)?,
            Shape::Profile(shape) => flame::write(shape, out)?,
        }
    }
    Ok(())
}

/// Rows of a table that a page shows.
const ROWS: usize = 200;

fn table(table: &Table, out: &mut dyn io::Write) -> io::Result<()> {
    if table.rows.is_empty() {
        return paragraph("none", out);
    }
    let class = |unit| if format::is_numeric(unit) { " class=\"n\"" } else { "" };
    writeln!(out, "<div class=\"scroll\"><table>\n<thead><tr>")?;
    let labels = Labels::new(table);
    for column in labels.columns().filter_map(|at| table.columns.get(at)) {
        writeln!(out, "<th{}>{}</th>", class(column.unit), escape::html(column.title))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (at, row) in table.rows.iter().take(ROWS).enumerate() {
        write!(out, "<tr>")?;
        for column in labels.columns() {
            let value = match row.get(column) {
                Some(Cell::Int(value)) => format!(" data-v=\"{value}\""),
                Some(Cell::Float(value)) if value.is_finite() => format!(" data-v=\"{value}\""),
                Some(Cell::Float(_) | Cell::Text(_) | Cell::Missing) | None => String::new(),
            };
            let class = table.columns.get(column).map_or("", |column| class(column.unit));
            write!(out, "<td{class}{value}>{}</td>", escape::html(&labels.label(at, column).full()))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    match table.rows.len().saturating_sub(ROWS) {
        0 => Ok(()),
        more => paragraph(&format!("{} more rows are in the report as JSON", format::count(more as u64)), out),
    }
}

fn histogram(histogram: &Histogram, out: &mut dyn io::Write) -> io::Result<()> {
    paragraph(&chart::key_figures(histogram), out)?;
    let largest = histogram.buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
    writeln!(out, "<table><tbody>")?;
    for bucket in &histogram.buckets {
        let (limit, count) = (format::int(bucket.up_to, histogram.unit), format::count(bucket.count));
        let meter = format!("<meter max=\"{largest}\" value=\"{}\"></meter>", bucket.count);
        writeln!(out, "<tr><td class=\"n\">≤ {limit}</td><td class=\"n\">{count}</td><td>{meter}</td></tr>")?;
    }
    writeln!(out, "</tbody></table>")
}

fn timeline(timeline: &Timeline, out: &mut dyn io::Write) -> io::Result<()> {
    for series in &timeline.series {
        let peaks = chart::peaks(&series.values, BARS);
        let largest = peaks.iter().copied().fold(f64::NAN, f64::max);
        let length = format::duration(series.values.len() as f64 * timeline.step_ns as f64);
        let max = format::float(largest, timeline.unit);
        paragraph(&format!("{}: max {max}, over {length}", series.title), out)?;
        writeln!(out, "<svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\">", peaks.len().max(1))?;
        for (at, value) in peaks.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let height = value / largest * 100.0;
            writeln!(out, "<rect x=\"{at}\" y=\"{:.2}\" width=\"0.9\" height=\"{height:.2}\"/>", 100.0 - height)?;
        }
        writeln!(out, "</svg>")?;
    }
    Ok(())
}

fn tree(tree: &Tree, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<ul>")?;
    node(&tree.root, tree, 0, out)?;
    writeln!(out, "</ul>")
}

fn node(node: &Node, tree: &Tree, depth: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let value = format::float(node.value, tree.unit);
    write!(out, "<li>{} <span class=\"dim\">{value}</span>", escape::html(&node.label))?;
    if !node.children.is_empty() && depth < DEEPEST {
        writeln!(out, "<ul>")?;
        node.children.iter().try_for_each(|child| self::node(child, tree, depth + 1, out))?;
        write!(out, "</ul>")?;
    }
    writeln!(out, "</li>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn page() -> String {
        let mut out = Vec::new();
        write(&sample::report(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn page_has_every_row_and_every_finding() {
        let page = page();
        assert_eq!(page.matches("<tr><td").count(), 35 + 3);
        assert_eq!(page.matches("class=\"finding ").count(), 2);
        assert!(page.contains("12,345 emitted = 12,300 delivered + 45 lost"));
    }

    #[test]
    fn name_cannot_open_an_element() {
        let page = page();
        assert_eq!(page.matches("<script").count(), 2, "its own, and the data of a graph");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!page.contains(['\x1b', '\u{202e}', '\u{9b}']));
    }

    #[test]
    fn page_refers_to_nothing_outside() {
        let page = page();
        for word in ["http://", "https://", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn elements_are_closed() {
        let page = page();
        for name in ["table", "tbody", "tr", "td", "th", "ul", "li", "div", "dl", "p", "svg", "h2", "h3", "script"] {
            let opened = page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
            assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
