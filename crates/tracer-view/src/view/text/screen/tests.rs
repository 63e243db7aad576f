//! Reports on screens of several sizes.

use super::*;
use crate::view::{sample, text::Style};

const REST: &str = "the whole report: `jtrace report x.jtrace --full`";

fn written(report: &Report, width: usize, lines: usize) -> String {
    let mut out = Vec::new();
    let screen = Screen { lines, first: &["gc"], rest: REST };
    write(report, &TextOptions { width, ..TextOptions::default() }, screen, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn report_on_a_screen_of_80_by_24() {
    insta::assert_snapshot!(written(&sample::report(), 80, 24));
}

#[test]
fn one_lens_shows_its_tables() {
    let mut report = sample::report();
    report.sections.retain(|section| section.id == "locks");
    insta::assert_snapshot!(written(&report, 120, 40));
}

/// What was seen in some windows is no rate of the whole span.
#[test]
fn what_is_estimated_stands_for_what_was_seen_of_it() {
    let mut section = sample::report().sections.remove(0);
    section.summary = crate::report::Summary::new()
        .float("estimated_bytes_per_s", 512e6)
        .int("windows", 6)
        .float("extrapolated_estimated_bytes_per_s", 5.0 * 1024.0 * 1024.0 * 1024.0)
        .float("extrapolated_low_estimated_bytes_per_s", 4e9)
        .float("extrapolated_high_estimated_bytes_per_s", 6e9);
    assert_eq!(figures(&section, 80, 1), ["estimated about 5.0 GiB/s, windows 6"]);
}

#[test]
fn no_screen_is_overrun_and_none_is_hostile() {
    let mut many = sample::report();
    let finding = many.findings[0].clone();
    many.findings.extend(std::iter::repeat_n(finding, 40));
    many.completeness.missing.extend((0..50).map(|at| format!("gap {at}")));
    for report in [sample::report(), many] {
        for (width, lines) in [(80, 24), (80, 30), (120, 40), (200, 60)] {
            let text = written(&report, width, lines);
            assert!(text.lines().count() <= lines, "{width} by {lines}: {text}");
            assert!(text.contains(REST), "{text}");
            for line in text.lines() {
                assert!(escape::width(line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(line), line);
            }
        }
    }
}

/// Who asks for calls wants to see calls: a session in the lane inside has two more sections, and its table had no line.
#[test]
fn what_was_asked_for_has_its_table_before_other_lenses_have_lines() {
    let mut report = sample::report();
    let of = |id: &str| report.sections.iter().find(|section| section.id == id).cloned().expect("it is there");
    let sections = ["gc", "locks", "threads"].map(of);
    report.sections = sections.into();
    let text = written(&report, 80, 44);
    let behind = text.split("\nGARBAGE COLLECTION\n").nth(1).expect("what was asked for");
    let rows = behind.lines().take_while(|line| !line.is_empty()).count();
    // A blank line and its heading stand above.
    assert!(rows + 2 >= ANSWER, "{text}");
}

/// On a low screen the names of findings come before a glance at some of the lenses, and no part is only the count of its lines.
#[test]
fn a_low_screen_names_findings_and_has_no_empty_part() {
    let mut many = sample::report();
    let gc = many.findings[1].clone();
    many.findings.extend((0..3).map(|at| Finding { title: format!("finding {at}"), ..gc.clone() }));
    let section = many.sections[0].clone();
    many.sections.extend(std::iter::repeat_n(section, 6));
    let text = written(&many, 80, 22);
    assert!((0..3).all(|at| text.contains(&format!("finding {at}"))), "{text}");
    assert!(!text.contains("LENSES"), "{text}");
    many.sections.truncate(2);
    for lines in 18..40 {
        let text = written(&many, 80, lines);
        let all: Vec<&str> = text.lines().collect();
        let of_section = all.iter().position(|line| line.ends_with("more lines"));
        assert!(of_section.is_none_or(|at| !all[at - 1].is_empty() && !all[at - 2].is_empty()), "{text}");
        assert!(of_section.is_none_or(|at| !all[at - 1].starts_with(char::is_uppercase)), "{text}");
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let mut report = sample::report();
    let finding = report.findings[1].clone();
    report.findings.extend(std::iter::repeat_n(finding, 40));
    report.completeness.missing.extend((0..9).map(|at| format!("gap {at}")));
    let text = written(&report, 80, 30);
    let titles = text.lines().filter(|line| line.starts_with("!! ") || line.starts_with(" ! ")).count();
    assert!(text.contains(&format!("\n  … {} more\n", 42 - titles)), "{text}");
    assert!(text.contains("  … 7 more sentences about what is missing\n"), "{text}");
}

#[test]
fn lenses_that_saw_nothing_share_a_line() {
    let mut report = sample::report();
    for section in &mut report.sections {
        if section.id != "gc" {
            section.summary = crate::report::Summary::new().int("events", 0);
        }
    }
    let text = written(&report, 120, 40);
    assert!(text.contains("\n  all 0       locks, threads, cpu\n"), "{text}");
}

#[test]
fn what_was_asked_for_comes_first_and_leaves_some_lines_to_others() {
    let mut report = sample::report();
    report.sections.retain(|section| section.id != "threads");
    let mut out = Vec::new();
    let screen = Screen { lines: 40, first: &["markers", "cpu"], rest: REST };
    write(&report, &TextOptions { width: 120, ..TextOptions::default() }, screen, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let place = |heading: &str| text.find(heading).unwrap_or_else(|| panic!("no {heading}: {text}"));
    assert!(place("\nCPU\n") < place("\nGARBAGE COLLECTION\n"), "{text}");
    assert!(text.contains("com.shop.Main.serve:31"), "{text}");
    assert!(text.contains("  pause p99"), "{text}");
}

/// Who asks for the calls of a method on a usual terminal wants to see them, and not only that the program is busy.
#[test]
fn a_low_screen_has_rows_of_what_was_asked_for() {
    let mut report = sample::report();
    report.sections.retain(|section| ["cpu", "gc"].contains(&section.id));
    report.sections.reverse();
    for section in &mut report.sections {
        section.notes = vec!["a note".to_owned(); 7];
    }
    report.findings.truncate(1);
    report.headline = Some("Part of what was chosen is not seen. ".repeat(6));
    for severity in [Severity::Info, Severity::Critical] {
        report.findings[0].severity = severity;
        let text = written(&report, 80, 24);
        assert!(text.contains("14 threads blocked"), "{text}");
        let rows = ["G1 Evacuation Pause", "System.gc()"].map(|cause| text.contains(&format!("\n    {cause}")));
        assert!(severity == Severity::Critical || rows == [true; 2], "{text}");
    }
    for lines in [30, 60] {
        let text = written(&report, 80, lines);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part}: {text}"));
        assert!(place("\n    System.gc()") < place("note: a note"), "{text}");
    }
}

#[test]
fn colours_do_not_count_as_columns() {
    let options = TextOptions { style: Style::Colour, ..TextOptions::default() };
    let mut out = Vec::new();
    let screen = Screen { lines: 24, first: &[], rest: REST };
    write(&sample::report(), &options, screen, &mut out).unwrap();
    let coloured = String::from_utf8(out).unwrap();
    assert_eq!(coloured.lines().count(), written(&sample::report(), 80, 24).lines().count());
}
