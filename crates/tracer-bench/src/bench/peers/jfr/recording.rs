//! What a recording of the flight recorder says, from what `jfr` prints of it.

use serde_json::Value;

use crate::bench::results::Observed;

/// Which events are counts of the micro-programs: those that both sets of settings record each time they happen. Parks,
/// sleeps and monitors are recorded only where they take long, so that their number is no answer.
const SAME: [(&str, &str); 2] = [("jdk.GarbageCollection", "collections"), ("jdk.ThreadStart", "threads")];
/// What holds a recording together, and is no event of the program or the JVM.
const NO_EVENTS: [&str; 2] = ["jdk.CheckPoint", "jdk.Metadata"];
/// An event for each buffer that was thrown away; how many events were in it is not known.
const LOST: &str = "jdk.DataLoss";

/// What `jfr summary` says: events in all, answers, and losses, of which each is at least one event.
pub(super) fn summary(text: &str) -> Observed {
    let mut observed = Observed { events: Some(0), lost: Some(0), ..Observed::default() };
    for (name, count) in text.lines().filter_map(row) {
        if name == LOST {
            observed.lost = observed.lost.map(|lost| lost.saturating_add(count));
        } else if !NO_EVENTS.contains(&name) {
            observed.events = observed.events.map(|events| events.saturating_add(count));
        }
        if let Some((_, answer)) = SAME.iter().find(|(event, _)| *event == name) {
            observed.answers.insert((*answer).to_owned(), count);
        }
    }
    observed
}

/// A line of three columns: name of an event, how many, how many bytes.
fn row(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (name, count) = (words.next().filter(|name| name.contains('.'))?, words.next()?.parse().ok()?);
    let _: u64 = words.next()?.parse().ok()?;
    words.next().is_none().then_some((name, count))
}

/// Calls of the method by `jfr print --json --events jdk.MethodTiming`. The event's number goes on from the one before, so the
/// largest counts; none where there is no event.
pub(super) fn invocations(text: &str) -> Result<Option<u64>, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("prints what is not understood: {error}"))?;
    let events = document["recording"]["events"].as_array().ok_or("prints no list of events")?;
    Ok(events.iter().filter_map(|event| event["values"]["invocations"].as_u64()).max())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by `jfr summary` of JDK 17, shortened.
    const SUMMARY: &str = "
 Version: 2.1
 Chunks: 1
 Start: 2026-11-21 14:29:21 (UTC)
 Duration: 3 s

 Event Type                                   Count  Size (bytes)
==================================================================
 jdk.CheckPoint                                5013        436365
 jdk.ThreadStart                               5000         65000
 jdk.ThreadEnd                                 5000         55000
 jdk.Metadata                                     1         97055
 jdk.JavaMonitorWait                              1            26
 jdk.DataLoss                                     2            40
 jdk.GarbageCollection                            0             0
";

    #[test]
    fn a_summary_is_added_up_and_answers_what_it_counts() {
        let observed = summary(SUMMARY);
        assert_eq!((observed.events, observed.lost), (Some(10_001), Some(2)));
        assert_eq!((observed.answers["threads"], observed.answers["collections"]), (5000, 0));
        assert_eq!(observed.answers.len(), 2);
        assert_eq!(observed.cpu_ns, None);
    }

    /// Printed by JDK 25, shortened.
    #[test]
    fn calls_are_those_of_the_last_event() {
        let event = |calls| format!(r#"{{"type": "jdk.MethodTiming", "values": {{"invocations": {calls}}}}}"#);
        let print = |events: &str| invocations(&format!(r#"{{"recording": {{"events": [{events}]}}}}"#));
        assert_eq!(print(&format!("{}, {}", event(300_000), event(400_000))), Ok(Some(400_000)));
        assert_eq!(print(""), Ok(None));
        assert!(invocations("{}").is_err() && invocations("jfr print: no such file").is_err());
    }

    #[test]
    fn fuzz_jfr() {
        crate::fuzz::texts("jfr", |text| {
            let _: (Observed, Result<Option<u64>, String>) = (summary(text), invocations(text));
        });
    }
}
