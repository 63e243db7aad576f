//! Rules about JNI: critical sections that keep the collector waiting, and functions that take long.

use super::{Evidence, Row};
use crate::{
    lens::Lens::Jni,
    report::{Finding, Severity},
    text::format,
};

/// The longest section that is no matter: a collection that waits for it pauses everybody for as long.
const LONG_NS: u64 = 10_000_000;

/// What a section keeps the JVM from, by what opened it and the collector.
fn consequence(evidence: &Evidence<'_>, function: &str) -> &'static str {
    if function == "GetStringCritical" {
        return "of a string that is not Latin-1 it is as with arrays; of others the JVM gives a copy, and nobody waits";
    }
    match evidence.target.collector.as_str() {
        // Regions with pinned objects stay where they are, since 22; Shenandoah has always done so.
        "G1" if evidence.target.jdk_release >= 22 => "G1 cannot move the array's region meanwhile",
        "Shenandoah" => "Shenandoah cannot move the array's region meanwhile",
        "ZGC" => "ZGC waits for it before it marks or moves objects",
        "G1" | "Parallel" | "Serial" => "no collection can begin meanwhile, and threads that need memory wait for it",
        _ => "a collector may have to wait for it",
    }
}

/// The opener of a row, and what it called.
fn opener(row: &Row<'_>) -> (String, String) {
    (row.text("caller"), row.text("function"))
}

/// A critical section lasted long.
pub(super) fn long_critical(evidence: &Evidence<'_>) -> Option<Finding> {
    let longest = |row: &Row<'_>| row.whole("longest_ns");
    let long: Vec<_> = evidence.rows(Jni, "jni_critical_sections").filter(|row| longest(row) >= LONG_NS).collect();
    let row = long.iter().max_by_key(|row| longest(row))?;
    let (caller, function) = opener(row);
    Some(Finding {
        id: "jni-long-critical-section",
        severity: if longest(row) >= 10 * LONG_NS { Severity::Critical } else { Severity::Warning },
        score: longest(row) as f64 / 1e6,
        title: format!(
            "`{caller}` held a critical section of JNI open for {}: {}",
            format::duration(longest(row)),
            consequence(evidence, &function)
        ),
        shown_in: "jni.jni_critical_sections",
        when: Vec::new(),
        evidence: vec![
            format!(
                "{} sections by `{function}` there, {} in all",
                format::count(row.whole("sections")),
                format::duration(row.whole("total_ns"))
            ),
            format!("{} callers held one open for {} or longer", long.len(), format::duration(LONG_NS)),
        ],
        next_step: "Do less between Get...Critical and Release...Critical, or copy with Get<Type>ArrayRegion instead."
            .to_owned(),
    })
}

/// A critical section was open at the end.
pub(super) fn open_critical(evidence: &Evidence<'_>) -> Option<Finding> {
    let open_ns = |row: &Row<'_>| row.whole("open_ns");
    let open: Vec<_> = evidence
        .rows(Jni, "jni_critical_sections")
        .filter(|row| row.whole("open") > 0 && open_ns(row) >= LONG_NS)
        .collect();
    let row = open.iter().max_by_key(|row| open_ns(row))?;
    let (caller, function) = opener(row);
    let all: u64 = open.iter().map(|row| row.whole("open")).sum();
    Some(Finding {
        id: "jni-open-critical-section",
        severity: Severity::Critical,
        score: open_ns(row) as f64 / 1e6,
        title: format!(
            "`{caller}` has had a critical section of JNI open for {}: {}",
            format::duration(open_ns(row)),
            consequence(evidence, &function)
        ),
        shown_in: "jni.jni_critical_sections",
        when: Vec::new(),
        evidence: vec![
            format!("opened by `{function}`, and not closed until the end of the session"),
            format!("{} open in all for {} or longer", format::count(all), format::duration(LONG_NS)),
        ],
        next_step: "See that every path, also one with an exception, calls the Release function.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn sections(longest_ns: u64, open: u64, open_ns: u64) -> Case {
        let cells = [
            ("caller", "a.B.sum".into()),
            ("function", "GetPrimitiveArrayCritical".into()),
            ("sections", 7_u64.into()),
            ("total_ns", (2 * longest_ns).into()),
            ("longest_ns", longest_ns.into()),
            ("open", open.into()),
            ("open_ns", open_ns.into()),
        ];
        Case::default().row("jni", "jni_critical_sections", &cells)
    }

    #[test]
    fn a_section_that_lasted_long_is_named_with_its_consequence() {
        let mut case = sections(12_000_000, 0, 0);
        case.target.collector = "Parallel".to_owned();
        let title = "`a.B.sum` held a critical section of JNI open for 12 ms: no collection can begin meanwhile, and \
                     threads that need memory wait for it";
        assert_eq!(case.said(long_critical), (Severity::Warning, title.to_owned()));
        case.target = crate::item::Target { collector: "G1".to_owned(), jdk_release: 25, ..case.target };
        assert!(case.said(long_critical).1.ends_with("G1 cannot move the array's region meanwhile"));
        assert_eq!(sections(100_000_000, 0, 0).said(long_critical).0, Severity::Critical);
    }

    #[test]
    fn a_section_that_is_left_open_is_named() {
        let title = "`a.B.sum` has had a critical section of JNI open for 2.0 s: a collector may have to wait for it";
        assert_eq!(sections(1, 1, 2_000_000_000).said(open_critical), (Severity::Critical, title.to_owned()));
    }

    #[test]
    fn short_sections_are_no_finding() {
        assert_eq!(sections(9_999_999, 0, 0).ask(long_critical), None);
        assert_eq!(sections(1, 1, 9_000_000).ask(open_critical), None, "it may be closed a moment later");
        assert_eq!(Case::default().ask(long_critical), None);
        assert_eq!(Case::default().ask(open_critical), None);
    }
}
