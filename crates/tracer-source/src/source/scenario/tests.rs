//! Scenarios end to end: through the session's fold into a report.

use std::{fs, path::Path};

use super::*;
use crate::{
    report::{Report, Severity},
    session::Session,
};

fn report(text: &str) -> Report {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut session = None;
    scenario.play(&mut |item| match item {
        Item::Start(start) => session = Some(Session::new(*start)),
        other => {
            session.as_mut().expect("the start is first").accept(&other);
        }
    });
    session.expect("there is a start").report()
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn number(report: &Report, lens: Lens, key: &str) -> Option<f64> {
    report.section(lens.id())?.number(key)
}

fn problem(text: &str) -> String {
    Scenario::parse(text).expect_err("it must be refused").to_string()
}

#[test]
fn an_incident_names_its_three_causes_and_the_books_balance() {
    let report = report(&file("incident.txt"));
    let titles: Vec<&str> = report.findings.iter().map(|finding| finding.title.as_str()).collect();
    for expected in [
        "GC takes 31 % of wall time, worst pause 210 ms, cause `G1 Evacuation Pause`; top allocating class `byte[]`",
        "2 threads blocked 1.6 s on one `com.shop.Cart`",
        "12 threads started, 0 stopped: names `pool-*-thread-*`",
    ] {
        assert!(titles.iter().any(|title| title.starts_with(expected)), "{expected:?} is not in {titles:#?}");
    }
    assert_eq!(report.findings[0].severity, Severity::Critical);
    let books = &report.completeness;
    assert_eq!((books.emitted, books.lost, books.undecodable), (books.delivered + 3, 3, 0));
    assert_eq!(number(&report, Lens::Threads, "alive"), Some(22.0));
}

#[test]
fn a_quiet_jvm_has_no_findings() {
    let report = report(&file("quiet.txt"));
    assert_eq!(report.findings, []);
    assert_eq!(number(&report, Lens::Gc, "collections"), Some(1.0));
}

#[test]
fn observation_that_begins_and_ends_in_the_middle_guesses_nothing() {
    let report = report(&file("middle.txt"));
    assert_eq!(number(&report, Lens::Gc, "collections"), Some(0.0));
    assert_eq!(number(&report, Lens::Locks, "blocked_total_ns"), Some(0.0));
    assert_eq!(number(&report, Lens::Locks, "blocked_open_ns"), Some(4e8));
    assert_eq!(number(&report, Lens::Threads, "alive"), None);
    let notes: Vec<&String> = report.sections.iter().flat_map(|section| &section.notes).collect();
    assert!(notes.iter().any(|note| note.starts_with("Pauses: 1 end without")), "{notes:#?}");
}

#[test]
fn hostile_names_arrive_as_they_are_or_with_their_reason() {
    let report = report(&file("hostile.txt"));
    let text = format!("{report:?}");
    for expected in ["<name lost>", "<name unreadable>", "<script>", "\\u{1b}[*m", "\u{fffd}"] {
        assert!(text.contains(expected), "{expected:?} is not in the report");
    }
}

#[test]
fn chosen_methods_and_objects_have_their_closed_forms() {
    let report = report(&file("methods.txt"));
    // fib(4) twice on one thread: 2 (2 F(5) - 1) calls; the kernel counted 40 more of another method.
    assert_eq!(number(&report, Lens::Methods, "calls"), Some(18.0 + 4.0 + 40.0));
    assert_eq!(number(&report, Lens::Methods, "errors"), Some(1.0 + 3.0));
    assert_eq!(number(&report, Lens::Methods, "methods"), Some(4.0));
    // What the kernel counted by method alone has no context.
    assert_eq!(number(&report, Lens::Calls, "calls"), Some(18.0 + 4.0));
    assert_eq!(number(&report, Lens::Calls, "call_sites"), Some(3.0));
    assert_eq!(number(&report, Lens::Alloc, "objects"), Some(3.0 + 500.0));
    assert_eq!(number(&report, Lens::Alloc, "bytes"), Some(2.0 * 64.0 + 216.0 + 500.0 * 24.0));
    let text = text(&report);
    insta::assert_snapshot!("chosen_methods_and_objects", text);
}

#[test]
fn jni_calls_and_sections_have_their_closed_forms() {
    let report = report(&file("jni.txt"));
    assert_eq!(number(&report, Lens::Jni, "calls"), Some(6.0));
    // The call back into Java has the function below it, which counts once.
    assert_eq!(number(&report, Lens::Jni, "total_ns"), Some(2e3 + 1e3 + 1e3 + 3e3 + (1e6 - 3e3)));
    assert_eq!(number(&report, Lens::Jni, "critical_longest_ns"), Some(28e6));
    let findings: Vec<_> = report.findings.iter().map(|finding| finding.id).collect();
    assert_eq!(findings, ["jni-long-critical-section"]);
    assert_eq!((report.completeness.emitted, report.completeness.lost), (9, 2));
}

/// As `--text` prints it, from the sections on: what stands above depends on the clock.
fn text(report: &Report) -> String {
    let mut out = Vec::new();
    let options = crate::view::text::TextOptions::for_file();
    crate::view::text::write(report, &options, &mut out).expect("a vector");
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let from = lines.iter().position(|line| line.to_lowercase().starts_with("methods")).unwrap_or(0);
    lines.get(from..).unwrap_or_default().join("\n")
}

#[test]
fn playing_twice_gives_the_same_report() {
    assert_eq!(report(&file("incident.txt")), report(&file("incident.txt")));
}

#[test]
fn errors_name_the_line() {
    assert_eq!(problem("lenses gc\n+1ms tid 5 gc_start\nend +1s duration"), "line 2: there is no event `gc_start`");
    assert_eq!(problem("+1ms tid 5 gc_end full=1"), "line 1: `gc_end` has no field `full`");
    assert_eq!(problem("# x\n\ntarget pidd=1"), "line 3: the target has no field `pidd`");
    assert_eq!(problem("+1m tid 5 yield"), "line 1: `1m` is no number");
    assert_eq!(problem("thread 5 \"x"), "line 1: a quote is not closed");
    assert_eq!(problem("+1ms tid 5 jni_return function=Get"), "line 1: JNI has no function `Get`");
    assert_eq!(problem("lenses gcc"), "line 1: there is no lens `gcc`");
    assert_eq!(problem("end +1s\n"), "line 1: the end has no reason");
    assert_eq!(problem("end +1s done\n+2s tid 1 yield"), "line 2: nothing can follow `end`");
    assert_eq!(problem("+1ms tid 5 method_entry subject=add"), "line 1: there is no subject `add` above");
    assert_eq!(problem("subject a \"B\"\ntally a count=1 stack=x"), "line 2: there is no stack `x` above");
    assert_eq!(problem("subject a \"B\"\ntally a durations=3"), "line 2: `3` is no BUCKET:COUNT");
    assert!(problem("+0s tid 1 yield\n").contains("no `end"));
    assert!(problem("what is this").starts_with("line 1: `what` with these fields is none of"));
}

#[test]
fn every_kind_has_its_own_word_and_as_many_fields_as_words() {
    let words: BTreeSet<&str> = EventKind::ALL.iter().map(|kind| vocabulary::word(*kind)).collect();
    assert_eq!(words.len(), EventKind::ALL.len());
    for kind in EventKind::ALL {
        assert_eq!(vocabulary::fields(*kind).len(), kind.words(), "{kind:?}");
    }
}
