//! The rule about datagrams that the kernel throws away, because nobody reads them in time.

use super::{Evidence, Row, looks::called_from};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// So many in the session are told, and from so many looks on in which there were more it is a warning.
const TOLD: u64 = 10;
const LOOKS: u64 = 3;
/// From so many a second on a finding ranks no higher.
const MANY_PER_S: f64 = 5000.0;

/// Datagrams come faster than the thread reads them that should.
pub(super) fn dropped(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Threads, "datagrams").find(|row| row.whole("dropped") >= TOLD)?;
    let (dropped, looks, before) = (row.whole("dropped"), row.whole("looks"), row.whole("before"));
    let per_s = row.number("per_s").unwrap_or(0.0);
    let goes_on = looks >= LOOKS;
    let many = if goes_on {
        format!("{} datagrams a second are", format::count(format::whole(per_s)))
    } else {
        format!("{} datagrams were", format::count(dropped))
    };
    let unread = row.whole("unread_bytes");
    let evidence = [
        Some(format!("{} more in {}", format::count(dropped), format::plural(looks, "look", "looks"))),
        (before > 0).then(|| format!("{} before this session", format::count(before))),
        (unread > 0).then(|| format!("up to {} waited to be read", format::bytes(unread))),
        called_from(&row),
    ];
    Some(Finding {
        id: "dropped-datagrams",
        severity: if goes_on { Severity::Warning } else { Severity::Info },
        score: per_s.min(MANY_PER_S),
        title: format!("{many} thrown away at {}: {}", row.text("socket"), who(&row)),
        shown_in: "threads.datagrams",
        when: Vec::new(),
        evidence: evidence.into_iter().flatten().collect(),
        next_step: format!(
            "Let the thread that reads do nothing else, and hand datagrams on. A larger buffer (`SO_RCVBUF`, up to \
             net.core.rmem_max) helps against bursts alone.{}",
            row.explain_call("site")
        ),
    })
}

/// Who should read, and what that does instead.
fn who(row: &Row<'_>) -> String {
    match row.known("reader") {
        Some(reader) => format!("`{reader}`, which reads there, is too slow{}", row.doing()),
        None => "no thread was seen to read there".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn case(dropped: u64, looks: u64, reader: &'static str) -> Case {
        let text = |text: &'static str| if reader.is_empty() { Cell::Missing } else { text.into() };
        let cells = [
            ("socket", "UDP 0.0.0.0:8125".into()),
            ("dropped", dropped.into()),
            ("per_s", 1312.4.into()),
            ("before", 0_u64.into()),
            ("looks", looks.into()),
            ("unread_bytes", 200_000_u64.into()),
            ("reader", text(reader)),
            ("site", text("com.shop.Metrics.handle:9")),
            ("what", text("time")),
        ];
        Case::seconds(8).row("threads", "datagrams", &cells)
    }

    #[test]
    fn datagrams_that_are_thrown_away_have_their_reader() {
        let (severity, title) = case(10_500, 8, "metrics").said(dropped);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            title,
            "1,312 datagrams a second are thrown away at UDP 0.0.0.0:8125: `metrics`, which reads there, is too slow at \
             com.shop.Metrics.handle:9, waiting for time"
        );
    }

    #[test]
    fn a_single_burst_is_worth_knowing_and_a_few_are_not() {
        let (severity, title) = case(40, 1, "").said(dropped);
        assert_eq!(severity, Severity::Info);
        assert_eq!(title, "40 datagrams were thrown away at UDP 0.0.0.0:8125: no thread was seen to read there");
        assert!(case(9, 4, "metrics").ask(dropped).is_none());
    }
}
