//! The rule about `OutOfMemoryError`s, of the JVM's own and of Java code.

use super::{Evidence, Row, collections, looks};
use crate::{
    lens::Lens::{Exceptions, Threads},
    report::{Finding, Severity},
    text::format,
};

const CLASS: &str = "java.lang.OutOfMemoryError";

/// Memory ran out for somebody: the JVM said so now, or since it started, or Java code did.
pub(super) fn errors(evidence: &Evidence<'_>) -> Option<Finding> {
    let whole = |lens, key| evidence.whole(lens, key).unwrap_or(0);
    let before = whole(Threads, "out_of_memory_before") > 0;
    // Where there is no site, the JVM has noted the first one.
    let thrown = whole(Exceptions, "out_of_memory").max(whole(Threads, "out_of_memory_since"));
    let made = evidence.rows(Exceptions, "classes").find(is_one).map_or(0, |row| row.whole("created"));
    let own = evidence.rows(Exceptions, "out_of_memory").next();
    let place = own.or_else(|| evidence.rows(Exceptions, "sites").find(is_one));
    // The JVM has its own in store, and does not make them as others are made.
    let seen = thrown + made;
    let (severity, score, title) = if seen > 0 {
        let at = place.map(|row| format!(", at {}", looks::place(&row))).unwrap_or_default();
        let errors = format::plural(seen, "`OutOfMemoryError`", "`OutOfMemoryError`s");
        (Severity::Critical, 100.0, format!("{errors} in this session{at}"))
    } else if before {
        let title = "The JVM threw an `OutOfMemoryError` before this session, since it started".to_owned();
        (Severity::Warning, 50.0, title)
    } else {
        return None;
    };
    let callers = place.and_then(|row| row.known("callers")).map(|callers| format!("called from {callers}"));
    let earlier = (seen > 0 && before).then(|| "it had thrown some before, since it started".to_owned());
    Some(Finding {
        id: "out-of-memory",
        severity,
        score,
        title,
        shown_in: "exceptions.classes",
        when: Vec::new(),
        evidence: callers
            .into_iter()
            .chain(earlier)
            .chain(collections::grown(evidence))
            .chain(["who does not catch it loses a thread, and who does may go on with what is half done".to_owned()])
            .collect(),
        next_step: "The log says of which kind it was: heap, metaspace, direct buffers, or threads. `jtrace heap PID` shows what fills the heap; \
                    -XX:+HeapDumpOnOutOfMemoryError keeps it for the next time, -XX:+ExitOnOutOfMemoryError ends the JVM."
            .to_owned(),
    })
}

fn is_one(row: &Row<'_>) -> bool {
    row.text("class") == CLASS
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn thrown(before: f64, since: f64) -> Case {
        Case::seconds(10).number("threads", "out_of_memory_before", before).number(
            "threads",
            "out_of_memory_since",
            since,
        )
    }

    #[test]
    fn errors_of_the_session_are_critical_and_earlier_ones_worth_a_warning() {
        let now = "1 `OutOfMemoryError` in this session".to_owned();
        assert_eq!(thrown(0.0, 1.0).said(errors), (Severity::Critical, now));
        let before = "The JVM threw an `OutOfMemoryError` before this session, since it started".to_owned();
        assert_eq!(thrown(1.0, 0.0).said(errors), (Severity::Warning, before));
        assert_eq!(thrown(0.0, 0.0).ask(errors), None);
    }

    #[test]
    fn errors_that_java_code_throws_are_told_with_their_place() {
        let case = thrown(0.0, 0.0)
            .row("exceptions", "classes", &[("class", CLASS.into()), ("created", 7_u64.into())])
            .row("exceptions", "sites", &[("class", CLASS.into()), ("site", "com.shop.Buffers.more:9".into())]);
        let title = "7 `OutOfMemoryError`s in this session, at com.shop.Buffers.more:9".to_owned();
        assert_eq!(case.said(errors), (Severity::Critical, title));
    }

    #[test]
    fn errors_of_the_jvm_are_told_with_their_place_where_it_was_seen() {
        let cells = [("site", "com.shop.Import.read:12".into()), ("thrown", 9_u64.into())];
        let case =
            thrown(4.0, 2.0).number("exceptions", "out_of_memory", 9.0).row("exceptions", "out_of_memory", &cells);
        let title = "9 `OutOfMemoryError`s in this session, at com.shop.Import.read:12".to_owned();
        assert_eq!(case.said(errors), (Severity::Critical, title));
        let evidence = case.ask(errors).expect("a finding").evidence;
        assert_eq!(evidence[0], "it had thrown some before, since it started");
    }
}
