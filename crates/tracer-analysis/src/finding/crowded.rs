//! Rules about connections that wait to be accepted.

use super::{Evidence, Row, looks};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// From so many on that wait a finding ranks no higher.
const MANY: u64 = 50;

/// Connections wait in look after look, and the thread that should accept them does something else, or there is none.
pub(super) fn not_accepted(evidence: &Evidence<'_>) -> Option<Finding> {
    let rows = evidence.rows(Threads, "crowded").filter(|row| row.whole("in_a_row") >= looks::LOOKS);
    let row = rows.max_by_key(|row| row.whole("waiting_last"))?;
    let (waiting, limit) = (row.whole("waiting_last"), row.whole("limit"));
    let is_full = row.whole("full") > 0;
    let socket = row.text("socket");
    let title = format!(
        "{} to be accepted at {}{}: {}",
        format::plural(waiting, "connection waits", "connections wait"),
        socket.strip_suffix(", listening").unwrap_or(&socket),
        if is_full { ", and no more may" } else { "" },
        who(&row)
    );
    let full = is_full.then(|| {
        let limit = format::count(limit);
        format!("{limit} may wait there; who connects then gets no answer, and tries again until its limit of time")
    });
    let in_a_row = format!(
        "in each of the last {} some waited and nobody was about to accept one, {} at least",
        format::plural(row.whole("in_a_row"), "look", "looks"),
        row.whole("least")
    );
    Some(Finding {
        id: "not-accepted",
        severity: if is_full { Severity::Critical } else { Severity::Warning },
        score: 100.0 * waiting.min(MANY) as f64,
        title,
        shown_in: "threads.crowded",
        when: Vec::new(),
        evidence: [Some(in_a_row), full, row.known("callers").map(|callers| format!("from {callers}"))]
            .into_iter()
            .flatten()
            .collect(),
        next_step: format!(
            "Let the thread that accepts do nothing else: hand connections on to a pool, and refuse what that cannot take. \
             `jtrace threads PID` shows what it does now.{}",
            row.explain_call("site")
        ),
    })
}

/// Who should accept, and what that does instead.
fn who(row: &Row<'_>) -> String {
    let Some(acceptor) = row.known("acceptor") else {
        return "no thread is known to accept there".to_owned();
    };
    format!("`{acceptor}`, which accepts there, is busy{}", row.doing())
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn case([waiting, limit]: [u64; 2], [in_a_row, full]: [u64; 2], acceptor: &'static str) -> Case {
        let text = |text: &'static str| if acceptor.is_empty() { Cell::Missing } else { text.into() };
        let cells = [
            ("socket", "TCP 0.0.0.0:8080, listening".into()),
            ("waiting_last", waiting.into()),
            ("limit", limit.into()),
            ("in_a_row", in_a_row.into()),
            ("least", waiting.into()),
            ("full", full.into()),
            ("acceptor", text(acceptor)),
            ("site", text("com.shop.Server.answer:9")),
            ("what", text("time")),
        ];
        Case::seconds(10).row("threads", "crowded", &cells)
    }

    #[test]
    fn who_should_accept_and_does_something_else_is_named() {
        let (severity, title) = case([12, 50], [3, 0], "main").said(not_accepted);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            title,
            "12 connections wait to be accepted at TCP 0.0.0.0:8080: `main`, which accepts there, is busy at \
             com.shop.Server.answer:9, waiting for time"
        );
        let step = case([12, 50], [3, 0], "main").ask(not_accepted).expect("a finding").next_step;
        assert!(step.contains("`jtrace explain-call PID 'com.shop.Server::answer'`"), "{step}");
    }

    #[test]
    fn where_no_more_may_wait_others_get_no_answer() {
        let (severity, title) = case([51, 50], [3, 1], "").said(not_accepted);
        assert_eq!(severity, Severity::Critical);
        let expected = "51 connections wait to be accepted at TCP 0.0.0.0:8080, and no more may: no thread is known to accept there";
        assert_eq!(title, expected);
    }

    #[test]
    fn what_waits_for_a_moment_is_none() {
        assert!(case([12, 50], [2, 0], "main").ask(not_accepted).is_none());
    }
}
