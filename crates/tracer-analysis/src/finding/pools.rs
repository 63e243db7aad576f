//! The rule about pools of libraries, and of methods that are called so: connections, objects or threads of which there are too few, or which
//! were not given back.

use super::{
    Evidence, Row,
    looks::{LOOKS, is_in_library, of_kind, place, seen, threads, went_on},
    when,
};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
};

/// Threads on average from which on it is told.
const TOLD: f64 = 0.5;
/// Those from which on it is a warning. What a library lends is asked for by somebody who needs it; in a method of the program's own a thread
/// may wait for its turn for as long as it lives.
const WARNING: f64 = 0.9;
const WARNING_OWN: f64 = 1.5;
/// Up to which share of the times that threads were seen, in per cent, they had run since the look before, so that none of them got anything.
const STUCK_PERCENT: f64 = 1.0;

/// Threads wait to be given what there is a limited number of.
pub(super) fn exhausted(evidence: &Evidence<'_>) -> Option<Finding> {
    lacks(evidence, "pool")
}

/// Threads wait until a database's transaction ends that has changed, or locked, what they are about to.
pub(super) fn transaction(evidence: &Evidence<'_>) -> Option<Finding> {
    let finding = lacks(evidence, "transaction")?;
    Some(Finding { id: "transaction-lock", next_step: COMMIT_SOONER.to_owned(), ..finding })
}

fn lacks(evidence: &Evidence<'_>, kind: &str) -> Option<Finding> {
    let row = of_kind(evidence, |row| row.text("kind") == kind)?;
    let average = row.number("average").filter(|average| *average >= TOLD)?;
    let looks = evidence.whole(Threads, "looks")?;
    let all_the_time = row.whole("looks") == looks && looks > LOOKS;
    let is_stuck = all_the_time && row.number("ran_percent").is_some_and(|percent| percent <= STUCK_PERCENT);
    let went_on = went_on(evidence, &row);
    let is_of_library = is_in_library(&row);
    let severity = match (is_of_library, is_stuck && went_on.is_none()) {
        (true, true) => Severity::Critical,
        (true, false) if average >= WARNING => Severity::Warning,
        (false, _) if average >= WARNING_OWN => Severity::Warning,
        _ => Severity::Info,
    };
    let meanwhile = match (is_stuck, &went_on) {
        (true, _) => ", and none of them got it meanwhile".to_owned(),
        (false, Some(went_on)) => format!("; {went_on}"),
        (false, None) => String::new(),
    };
    let mut support = seen(evidence, &row);
    support.extend(if is_stuck { Some(said_of_stuck(went_on)) } else { None });
    Some(Finding {
        id: "pool-exhausted",
        severity,
        score: 100.0 * average,
        title: format!(
            "{} wait for {}, at {}{meanwhile}",
            threads(evidence, &row, average),
            row.text("what"),
            place(&row)
        ),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: support,
        next_step: match (row.text("what").contains("thread"), is_stuck) {
            _ if row.text("what").contains("rate limit") => LIMITED,
            (true, _) => BUSY,
            (false, true) => NOT_GIVEN_BACK,
            (false, false) => TOO_FEW,
        }
        .to_owned(),
    })
}

/// Whether these rules tell of a place at which threads wait.
pub(super) fn is_told(evidence: &Evidence<'_>, site: &str) -> bool {
    let is_of_it = |row: &Row<'_>| ["pool", "transaction"].contains(&row.text("kind").as_str());
    evidence.rows(Threads, "waiting").any(|row| is_of_it(&row) && row.text("site") == site)
}

/// Who has it, where nobody got anything.
fn said_of_stuck(went_on: Option<String>) -> String {
    went_on.unwrap_or_else(|| {
        "no thread that came the same way is further than they are: whoever has what they wait for is elsewhere, or has \
         forgotten to give it back"
            .to_owned()
    })
}

const TOO_FEW: &str = "Give it back sooner (no other calls in between), or make the pool larger if what is behind it can bear that; \
                       `jtrace threads PID` shows who waits and who has it.";
const BUSY: &str =
    "Make what these threads do shorter, or have more of them; `jtrace threads PID` shows what each does.";
const LIMITED: &str = "Somebody has set that limit: raise it where what is behind can bear more, or refuse what comes too often instead of letting \
                       threads wait.";
const COMMIT_SOONER: &str = "Commit sooner, with nothing in between that waits; change rows in one order, and not one row that everybody changes. \
                             `jtrace threads PID` shows what the others do.";
const NOT_GIVEN_BACK: &str = "Look for a way on which it is not given back: an exception, a `return`, an answer that is not read to its \
                              end. `try (...)` or `finally` gives it back on every way, and a limit of time for waiting shows it early.";

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn case(site: &'static str, average: f64, ran: f64, past: f64) -> Case {
        let cells = [
            ("kind", "pool".into()),
            ("what", "a connection of HikariCP".into()),
            ("site", site.into()),
            ("called", "jdk.internal.misc.Unsafe.park".into()),
            ("average", average.into()),
            ("most", 12_u64.into()),
            ("looks", 8_u64.into()),
            ("ran_percent", ran.into()),
            ("callers", "a.Shop.buy:3".into()),
            ("past", past.into()),
            ("past_site", "a.Price.ask:9".into()),
            ("past_through", "a.Shop.buy".into()),
        ];
        Case::seconds(8).number("threads", "looks", 8.0).row("threads", "waiting", &cells)
    }

    const HIKARI: &str = "com.zaxxer.hikari.util.ConcurrentBag.borrow:157";

    #[test]
    fn a_pool_that_is_too_small_is_told_with_those_who_have_what_is_in_it() {
        let title = "12.0 threads on average wait for a connection of HikariCP, at a.Shop.buy:3 (in \
                     com.zaxxer.hikari.util.ConcurrentBag.borrow:157); 2.8 threads on average that came through `a.Shop.buy` as well \
                     went on, most to a.Price.ask:9";
        assert_eq!(case(HIKARI, 12.0, 90.0, 2.8).said(exhausted), (Severity::Warning, title.to_owned()));
        assert_eq!(case(HIKARI, 0.6, 90.0, 2.8).said(exhausted).0, Severity::Info);
        assert!(case(HIKARI, 0.4, 90.0, 2.8).ask(exhausted).is_none());
        assert_eq!(case("a.Pool.borrow:9", 1.0, 90.0, 2.8).said(exhausted).0, Severity::Info, "its turn may come");
    }

    #[test]
    fn a_transaction_that_others_wait_for_is_told_with_what_ends_it() {
        let cells = [
            ("kind", "transaction".into()),
            ("what", "another transaction (H2)".into()),
            ("site", "org.h2.mvstore.tx.Transaction.waitForThisToEnd:745".into()),
            ("called", "java.lang.Object.wait".into()),
            ("average", 10.9.into()),
            ("most", 11_u64.into()),
            ("looks", 8_u64.into()),
            ("callers", "a.Bank.pay:3".into()),
        ];
        let case = Case::seconds(8).number("threads", "looks", 8.0).row("threads", "waiting", &cells);
        let finding = case.ask(transaction).expect("they wait");
        assert_eq!((finding.id, finding.severity), ("transaction-lock", Severity::Warning));
        assert!(finding.next_step.starts_with("Commit sooner") && case.ask(exhausted).is_none());
    }

    #[test]
    fn what_was_never_given_back_stops_all() {
        let stuck = case(HIKARI, 12.0, 0.0, 0.0);
        let (severity, title) = stuck.said(exhausted);
        assert_eq!(severity, Severity::Critical);
        assert!(title.ends_with(", and none of them got it meanwhile"), "{title}");
        let finding = stuck.ask(exhausted).expect("as above");
        assert!(finding.evidence.iter().any(|line| line.contains("forgotten to give it back")), "{finding:?}");
        assert!(finding.next_step.starts_with("Look for a way on which it is not given back"));
        assert_eq!(case(HIKARI, 12.0, 0.0, 3.0).said(exhausted).0, Severity::Warning, "those have it");
    }
}
