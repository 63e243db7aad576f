//! Two reports against each other as a page: findings, figures and methods that differ, and red and blue flame graphs.

use std::io;

use super::{
    bar_without_range, begin, dim, end, flame, list, paragraph,
    prose::html,
    table::{self, Extra},
};
use crate::{
    diff::{self, Diff, Fate, Found, Lens, Methods},
    report::Report,
    text::escape,
    view::diff as text,
};

/// Writes the page of a comparison, and of the reports that it is about.
pub fn write(diff: &Diff, [before, after]: [&Report; 2], out: &mut dyn io::Write) -> io::Result<()> {
    let Diff { schema: _, before: earlier, after: later, cautions, findings, lenses } = diff;
    let title = escape::html(&later.command).into_owned();
    begin(&format!("difference of {} and {} {title}", earlier.pid, later.pid), "", out)?;
    writeln!(out, "<h1>What differs</h1>")?;
    paragraph(&format!("before: {}", text::sentence(earlier)), out)?;
    paragraph(&format!("after: {}", text::sentence(later)), out)?;
    if !cautions.is_empty() {
        writeln!(
            out,
            "<div class=\"complete gaps\"><p>Why differences may have another reason than what the program does:</p>"
        )?;
        list(cautions, out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "{}</div>\n<section id=\"findings\"><h2>Findings</h2>", bar_without_range())?;
    if findings.is_empty() {
        paragraph("none in either", out)?;
    }
    findings.iter().try_for_each(|found| finding(found, out))?;
    writeln!(out, "</section>")?;
    if lenses.is_empty() {
        paragraph("Nothing else differs by more than a tenth, or by more than chance.", out)?;
    }
    let mut graphs = flame::Graphs::default();
    lenses.iter().try_for_each(|of| lens(of, [before, after], &mut graphs, out))?;
    end(graphs, out)
}

fn finding(found: &Found, out: &mut dyn io::Write) -> io::Result<()> {
    let Found { fate, id: _, severity, title, was } = found;
    let (word, class) = match fate {
        Fate::New => ("new", super::severity_class(*severity)),
        Fate::Gone => ("gone", "info"),
        Fate::Still => ("still", super::severity_class(*severity)),
        Fate::OnlyBefore => ("before", "info"),
        Fate::OnlyAfter => ("after", super::severity_class(*severity)),
    };
    writeln!(out, "<div class=\"finding {class}\"><p><b>{word}</b>: {}</p>", html(title))?;
    if let Some(was) = was.as_ref().filter(|was| *was != title) {
        dim(&format!("was: {was}"), out)?;
    }
    if let Some(why) = text::not_compared(*fate) {
        dim(why, out)?;
    }
    writeln!(out, "</div>")
}

fn lens(
    lens: &Lens,
    [before, after]: [&Report; 2],
    graphs: &mut flame::Graphs,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let Lens { id, title, figures, alike, profiles } = lens;
    writeln!(out, "<section class=\"lens\" id=\"lens-{}\">\n<h2>{}</h2>", escape::html(id), escape::html(title))?;
    if !figures.is_empty() {
        writeln!(out, "<div class=\"shape\">\n<h3>Figures</h3>")?;
        table::write(&text::figures_table(figures), Extra::Values(&text::figure_values(figures)), out)?;
        writeln!(out, "</div>")?;
    }
    if *alike > 0 {
        dim(&format!("alike: {alike} further"), out)?;
    }
    for merged in diff::profiles(before, after, id) {
        writeln!(out, "<div class=\"shape flamed\">\n<h3>{}</h3>", escape::html(&merged.profile.title))?;
        graphs.write_difference(&merged, out)?;
        writeln!(out, "</div>")?;
    }
    profiles.iter().try_for_each(|methods| of_methods(methods, out))?;
    writeln!(out, "</section>")
}

fn of_methods(methods: &Methods, out: &mut dyn io::Write) -> io::Result<()> {
    let Methods { title, further, .. } = methods;
    writeln!(out, "<div class=\"shape\">\n<h3>{}: methods with more or less</h3>", escape::html(title))?;
    table::write(&text::methods_table(methods), Extra::Values(&text::method_values(methods)), out)?;
    if *further > 0 {
        dim(&format!("and {further} more"), out)?;
    }
    writeln!(out, "</div>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn page() -> String {
        let before = sample::report();
        let mut after = before.clone();
        after.findings.remove(0);
        after.span.duration_ns *= 3;
        let mut out = Vec::new();
        write(&Diff::of(&before, &after), [&before, &after], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_gone_stands_in_the_page_and_names_are_harmless() {
        let page = page();
        assert!(page.contains("<b>gone</b>: 14 threads blocked"), "{:.3000}", page.split_once("Findings").unwrap().1);
        assert!(page.contains("\"before\":[") && !page.contains("\"before\":[0,"));
        assert!(!page.contains("<script>alert") && !page.contains(['\x1b', '\u{202e}', '\u{9b}']));
    }

    /// A page sorts by the values of cells, and texts of several units have one each.
    #[test]
    fn figures_have_the_values_that_they_are_sorted_by() {
        let figure = |key, before, after, change_percent| diff::Figure {
            key,
            basis: diff::Basis::PerSecond,
            before,
            after,
            change_percent,
            interval: None,
        };
        let figures = [figure("parks", 9.5, 19.0, Some(100.0)), figure("waits", 0.0, 1234.5, None)];
        let mut out = Vec::new();
        table::write(&text::figures_table(&figures), Extra::Values(&text::figure_values(&figures)), &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains("<td class=\"n\" data-v=\"9.5\">9.50/s</td>"), "{page}");
        assert!(page.contains("<td class=\"n\" data-v=\"100.0\">+100 %</td>"), "{page}");
        assert!(
            page.contains(&format!("<td class=\"n\" data-v=\"{}\">from none</td>", serde_json::json!(f64::MAX))),
            "{page}"
        );
        assert_eq!(page.matches("<th scope=\"col\" class=\"n\">").count(), 3, "{page}");
    }

    #[test]
    fn elements_are_closed() {
        let page = page();
        for name in ["table", "tbody", "tr", "td", "div", "p", "h2", "h3", "script", "section", "main"] {
            let opened = page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
            assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
