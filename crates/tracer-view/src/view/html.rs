//! The report as one page that needs nothing else: no network, no other file.
//!
//! At the top is one time axis over all timelines; a range that is chosen there filters what has time in it. Sections stand in the
//! order of the questions that they answer. Tables sort at a click. What keeps names harmless is the escaping; a policy in the page forbids it to load anything from anywhere and
//! to run event handlers, so that the page cannot tell anybody that it was opened.

mod axis;
mod difference;
mod flame;
mod heap;
mod leaks;
mod prose;
mod table;

use std::io;

pub use self::{difference::write as write_difference, heap::write as write_heap, leaks::write as write_leaks};

use super::{
    escape, format,
    question::{Question, questions},
    sentence,
    text::chart,
};
use crate::report::{
    Doing, Finding, Histogram, Node, Profile, Report, Section, Severity, Shape, Span, Table, TableSteps, Tree,
};

const STYLE: &str = include_str!("html/page.css");
/// What the other scripts need, so the first of them.
const PAGE_SCRIPT: &str = include_str!("html/page.js");
const TABLES_SCRIPT: &str = include_str!("html/tables.js");
const RANGES_SCRIPT: &str = include_str!("html/ranges.js");
/// After both, as it counts the rows that they leave.
const FOLDED_SCRIPT: &str = include_str!("html/folded.js");

/// How the page's policy names the page's own script. It is no secret: the same report gives the same page.
const SCRIPT_NONCE: &str = "jtrace-report-1";

/// The bar that stays at the top: search, range, theme, and behind them the contents.
const BAR: &str = r#"<div id="bar" role="toolbar" aria-label="Search, range, theme and contents">
<input id="search" type="search" placeholder="search everything: text or /regular expression/" aria-label="Search everything" spellcheck="false">
<output id="search-about" aria-live="polite"></output>
<span class="range" title="seconds, or a time of day (UTC) as 14:03 or 14:03:05"><label>from <input id="range-from" inputmode="decimal" spellcheck="false" autocomplete="off"></label> <label>to <input id="range-to" inputmode="decimal" spellcheck="false" autocomplete="off"></label> s
<button id="range-whole" type="button" title="Esc">whole session</button> <output id="range-about" aria-live="polite"></output></span>
<label>theme <select id="theme"><option value="">system</option><option value="light">light</option><option value="dark">dark</option></select></label>"#;

/// So many sentences about what is missing are shown at once.
const MISSING: usize = 2;

/// Deepest level of a tree that is written.
const DEEPEST: usize = 64;

/// Writes the page.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let Report { schema: _, headline, target, span, cost, completeness, time, findings, sections, table_steps } =
        report;
    let title = escape::html(&target.command).into_owned();
    let attributes = format!(
        " data-grid=\"{}\" data-duration=\"{}\" data-started=\"{}\"",
        grid_ns(report),
        span.duration_ns,
        span.started_at_ms
    );
    begin(&format!("{} {title}", target.pid), &attributes, out)?;
    if let Some(headline) = headline {
        writeln!(out, "<div class=\"complete wrong\">")?;
        paragraph(headline, out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "<h1>{} {title}</h1>", target.pid)?;
    paragraph(&sentence::target(target), out)?;
    let (duration, start) = (format::duration(span.duration_ns as f64), format::wall_clock(span.started_at_ms));
    paragraph(&format!("{duration} from {start}, end: {}", span.end), out)?;
    paragraph(&sentence::cost(target, cost), out)?;
    let (equation, state) = sentence::completeness(completeness);
    let class = match state {
        sentence::State::Clean => "clean",
        sentence::State::Gaps => "gaps",
        sentence::State::Wrong => "wrong",
    };
    let folded = completeness.missing.len() > MISSING;
    let (open, close) = if folded { ("<details><summary>", "</summary>") } else { ("<p>", "</p>") };
    writeln!(out, "<div class=\"complete {class}\">{open}{}{close}", escape::html(&equation))?;
    list(&completeness.missing, out)?;
    writeln!(out, "{}</div>\n{BAR}", if folded { "</details>" } else { "" })?;
    let questions = seen(report);
    contents(report, &questions, out)?;
    writeln!(out, "</div>\n<section id=\"findings\"><h2>Findings</h2>")?;
    if findings.is_empty() {
        paragraph("none", out)?;
    }
    (0..).zip(findings).try_for_each(|(at, finding)| self::finding(at, finding, span, out))?;
    writeln!(out, "</section>")?;
    spent(time, out)?;
    axis::write(report, out)?;
    let mut full = questions.iter().flat_map(|question| &question.sections);
    let mut graphs = flame::Graphs::default();
    full.try_for_each(|section| self::section(section, table_steps, &mut graphs, out))?;
    let empty: Vec<_> = sections.iter().filter(|section| is_empty(section)).collect();
    nothing_seen(&empty, out)?;
    end(graphs, out)
}

/// The bar of a page without a time axis.
fn bar_without_range() -> String {
    BAR.replacen("<span class=\"range\"", "<span class=\"range\" hidden", 1)
}

/// The page up to its first heading. The title is escaped.
fn begin(title: &str, attributes: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'nonce-{SCRIPT_NONCE}'\">"
    )?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(out, "<title>jtrace: {title}</title>")?;
    writeln!(out, "<style>\n{STYLE}{}{}{}</style>\n</head>", axis::LIBRARY_STYLE, axis::STYLE, flame::STYLE)?;
    writeln!(out, "<body>\n<main id=\"page\"{attributes}>")
}

/// The scripts, what they need later, and the end.
fn end(graphs: flame::Graphs, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "</main>\n<script nonce=\"{SCRIPT_NONCE}\">\n/*\n{}*/\n{}", axis::LIBRARY_LICENCE, axis::LIBRARY)?;
    writeln!(
        out,
        "{PAGE_SCRIPT}{}{}{}{}{TABLES_SCRIPT}{RANGES_SCRIPT}{FOLDED_SCRIPT}</script>",
        axis::SCRIPT,
        flame::HEAT_SCRIPT,
        flame::TREE_SCRIPT,
        flame::SCRIPT
    )?;
    graphs.end(out)?;
    writeln!(out, "</body>\n</html>")
}

/// Width of the steps that a range is made of: the widest that anything in the report has. Others are parts of it, as
/// steps double.
fn grid_ns(report: &Report) -> u64 {
    let shapes = report.sections.iter().flat_map(|section| &section.shapes).filter(|shape| !shape.is_empty());
    let width = |shape: &Shape| match shape {
        Shape::Timeline(timeline) => timeline.step_ns,
        Shape::Profile(profile) => profile.steps.as_ref().map_or(0, |steps| steps.step_ns),
        Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) => 0,
    };
    shapes.map(width).chain(report.table_steps.iter().map(|steps| steps.step_ns)).max().unwrap_or(0)
}

/// The questions with the sections that saw something.
fn seen(report: &Report) -> Vec<Question<'_>> {
    let mut all = questions(report);
    for question in &mut all {
        question.sections.retain(|section| !is_empty(section));
    }
    all.retain(|question| !question.sections.is_empty());
    all
}

/// A button for each part of the page.
fn contents(report: &Report, questions: &[Question<'_>], out: &mut dyn io::Write) -> io::Result<()> {
    let button = |id: &str, title: &str, out: &mut dyn io::Write| {
        writeln!(out, "<button type=\"button\" data-go=\"{}\">{}</button>", escape::html(id), escape::html(title))
    };
    writeln!(out, "<nav aria-label=\"Contents\"><span>")?;
    button("findings", "Findings", out)?;
    if !report.time.is_empty() {
        button("time", "Where its time goes", out)?;
    }
    writeln!(out, "</span>")?;
    for Question { title, sections } in questions {
        writeln!(out, "<span><b>{}</b>", escape::html(title))?;
        sections.iter().try_for_each(|section| button(&format!("lens-{}", section.id), &section.title, out))?;
        writeln!(out, "</span>")?;
    }
    writeln!(out, "</nav>")
}

/// Whether nothing happened that the lens looks at.
fn is_empty(section: &Section) -> bool {
    section.shapes.iter().all(Shape::is_empty) && section.summary.iter().all(|(_, number)| number.as_f64() == 0.0)
}

/// The lenses that saw nothing, with what they say about why that may be so.
fn nothing_seen(sections: &[&Section], out: &mut dyn io::Write) -> io::Result<()> {
    if sections.is_empty() {
        return Ok(());
    }
    let titles: Vec<_> = sections.iter().map(|section| section.title.as_str()).collect();
    writeln!(out, "<section id=\"nothing\"><h2>Nothing was seen of</h2>")?;
    paragraph(&titles.join(", "), out)?;
    for Section { title, notes, .. } in sections {
        notes.iter().try_for_each(|note| dim(&format!("{title}: {note}"), out))?;
    }
    writeln!(out, "</section>")
}

/// What the process spends its wall time on.
fn spent(time: &[Doing], out: &mut dyn io::Write) -> io::Result<()> {
    if time.is_empty() {
        return Ok(());
    }
    let largest = time.iter().map(|doing| doing.threads).fold(0.0, f64::max);
    writeln!(out, "<section id=\"time\"><h2>Where its time goes</h2>\n<div class=\"scroll\"><table>")?;
    writeln!(
        out,
        "<thead><tr><th scope=\"col\">State</th><th scope=\"col\" class=\"n\">Threads, average</th><th scope=\"col\">Part</th><th scope=\"col\">What</th></tr></thead><tbody>"
    )?;
    for doing in time {
        let (state, amount, what) = (escape::html(doing.state), super::time::amount(doing), super::time::words(doing));
        let meter = format!("<meter max=\"{largest}\" value=\"{}\" aria-label=\"{amount}\"></meter>", doing.threads);
        writeln!(
            out,
            "<tr><td>{state}</td><td class=\"n\" data-v=\"{}\">{amount}</td><td>{meter}</td><td>{}</td></tr>",
            doing.threads,
            escape::html(&what)
        )?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

fn dim(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<p class=\"dim\">{}</p>", prose::html(text))
}

fn paragraph(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<p>{}</p>", prose::html(text))
}

fn list(texts: &[String], out: &mut dyn io::Write) -> io::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul>")?;
    texts.iter().try_for_each(|text| writeln!(out, "<li>{}</li>", prose::html(text)))?;
    writeln!(out, "</ul>")
}

/// The sentence; what supports it unfolds, of the worst one at once.
fn finding(at: usize, finding: &Finding, span: &Span, out: &mut dyn io::Write) -> io::Result<()> {
    let Finding { id: _, severity, score: _, title, shown_in, when, evidence, next_step } = finding;
    let class = severity_class(*severity);
    let open = if at == 0 { " open" } else { "" };
    writeln!(out, "<details id=\"finding-{at}\" class=\"finding {class}\"{open}>")?;
    writeln!(out, "<summary>{class}: {}</summary>", prose::html(title))?;
    writeln!(out, "<p class=\"when\">")?;
    if let (Some(said), Some(first), Some(last)) = (sentence::when(finding, span), when.first(), when.last()) {
        writeln!(
            out,
            "when: {} <button type=\"button\" data-from=\"{}\" data-to=\"{}\">choose this range</button>",
            escape::html(&said),
            first.from_ns,
            last.to_ns
        )?;
    }
    if !shown_in.is_empty() {
        let place = escape::html(shown_in);
        writeln!(out, "<button type=\"button\" data-place=\"{place}\">show where it stands</button>")?;
    }
    writeln!(out, "</p>")?;
    list(evidence, out)?;
    paragraph(&format!("→ {next_step}"), out)?;
    writeln!(out, "</details>")
}

/// How severities are called, and what the style knows them by.
const fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn section(
    section: &Section,
    steps: &[TableSteps],
    graphs: &mut flame::Graphs,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let Section { id, title, summary, notes, shapes } = section;
    writeln!(out, "<section class=\"lens\" id=\"lens-{}\">\n<h2>{}</h2>\n<dl>", escape::html(id), escape::html(title))?;
    for (key, number) in summary.iter() {
        let (name, value) = format::figure(key, number);
        writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape::html(&name), escape::html(&value))?;
    }
    writeln!(out, "</dl>")?;
    notes.iter().try_for_each(|note| dim(note, out))?;
    // The picture first, then the tables; timelines are lanes of the axis.
    let used = shapes.iter().filter(|shape| !shape.is_empty());
    let (profiles, others): (Vec<_>, Vec<_>) = used.partition(|shape| matches!(shape, Shape::Profile(_)));
    profiles.into_iter().chain(others).try_for_each(|shape| {
        let steps = steps.iter().find(|steps| steps.section == *id && steps.table == shape.id());
        self::shape(id, shape, steps, graphs, out)
    })?;
    writeln!(out, "</section>")
}

fn shape(
    section: &str,
    shape: &Shape,
    steps: Option<&TableSteps>,
    graphs: &mut flame::Graphs,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let (title, follows) = match shape {
        Shape::Table(Table { title, .. }) => (title, if steps.is_some() { " timed follows" } else { "" }),
        Shape::Tree(Tree { title, .. }) | Shape::Histogram(Histogram { title, .. }) => (title, ""),
        Shape::Profile(Profile { title, steps, .. }) => {
            (title, if steps.is_some() { " flamed follows" } else { " flamed" })
        }
        Shape::Timeline(_) => return Ok(()),
    };
    let (section, id) = (escape::html(section), escape::html(shape.id()));
    writeln!(out, "<div class=\"shape{follows}\" data-shape=\"{section}.{id}\">\n<h3>{}</h3>", escape::html(title))?;
    match shape {
        Shape::Table(shape) => {
            table::write(shape, steps.map_or(table::Extra::Nothing, table::Extra::Steps), out)?;
        }
        Shape::Tree(shape) => tree(shape, out)?,
        Shape::Histogram(shape) => histogram(shape, out)?,
        Shape::Profile(shape) => graphs.write(shape, out)?,
        Shape::Timeline(_) => {}
    }
    writeln!(out, "</div>")
}

fn histogram(histogram: &Histogram, out: &mut dyn io::Write) -> io::Result<()> {
    paragraph(&chart::key_figures(histogram), out)?;
    let largest = histogram.buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
    writeln!(out, "<table><tbody>")?;
    for bucket in &histogram.buckets {
        let (limit, count) = (format::int(bucket.up_to, histogram.unit), format::count(bucket.count));
        let meter = format!("<meter max=\"{largest}\" value=\"{}\" aria-label=\"{count}\"></meter>", bucket.count);
        writeln!(out, "<tr><td class=\"n\">≤ {limit}</td><td class=\"n\">{count}</td><td>{meter}</td></tr>")?;
    }
    writeln!(out, "</tbody></table>")
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
mod tests;
