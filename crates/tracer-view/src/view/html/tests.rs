//! Pages of made-up reports, hostile ones among them.

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
    assert_eq!(page.matches("<tr><td").count(), 35 + 3 + 5);
    assert_eq!(page.matches("class=\"finding ").count(), 2);
    assert!(page.contains("12,345 emitted = 12,300 delivered + 45 lost"));
}

#[test]
fn name_cannot_open_an_element() {
    let page = page();
    assert_eq!(page.matches("<script").count(), 3, "its own, the data of a graph, and that of the lanes");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(!page.contains(['\x1b', '\u{202e}', '\u{9b}']));
}

#[test]
fn lenses_that_saw_nothing_are_one_line_with_their_notes() {
    let mut report = sample::report();
    let section = report.sections.iter_mut().find(|section| section.id == "gc").unwrap();
    section.summary = crate::report::Summary::new().int("collections", 0);
    section.shapes.clear();
    let title = section.title.clone();
    let mut out = Vec::new();
    write(&report, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(!page.contains(&format!("<h2>{title}</h2>")));
    let (_, nothing) = page.split_once("<section id=\"nothing\">").unwrap();
    assert!(nothing.contains(&title) && nothing.contains("pauses are measured at the sites"), "{nothing:.300}");
}

#[test]
fn a_range_is_made_of_the_widest_steps() {
    let mut report = sample::report();
    assert_eq!(grid_ns(&report), 1_000_000_000);
    let steps = crate::report::ProfileSteps { step_ns: 4_000_000_000, stacks: Vec::new() };
    let profile = report.sections.iter_mut().flat_map(|section| &mut section.shapes).find_map(|shape| match shape {
        Shape::Profile(profile) => Some(profile),
        _ => None,
    });
    profile.unwrap().steps = Some(steps);
    assert_eq!(grid_ns(&report), 4_000_000_000);
}

#[test]
fn page_refers_to_nothing_outside() {
    // The library names its home in a comment.
    let page = page().replace(axis::LIBRARY, "");
    for word in ["http://", "https://", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn elements_are_closed() {
    let page = page();
    for name in [
        "table", "tbody", "tr", "td", "th", "ul", "li", "div", "dl", "p", "svg", "h2", "h3", "script", "section",
        "main",
    ] {
        let opened = page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
    }
}
