//! Rules about collections that the program asks for.

use super::{Evidence, Row};
use crate::{
    lens::Lens::{Gc, Safepoint},
    report::{Finding, Severity},
    text::format,
};

/// Collections that the program asks for: how many, how long they took in all, and who asked.
struct Explicit<'a> {
    calls: u64,
    total_ns: u64,
    callers: Vec<Row<'a>>,
}

impl<'a> Explicit<'a> {
    fn of(evidence: &Evidence<'a>) -> Option<Self> {
        let rows = || evidence.rows(Gc, "causes").filter(|row| row.text("cause") == "System.gc()");
        let calls: u64 = rows().map(|row| row.whole("collections")).sum();
        let total_ns = rows().map(|row| row.whole("total_ns")).fold(0, u64::saturating_add);
        (calls > 0).then(|| Self { calls, total_ns, callers: callers(evidence) })
    }

    /// `java.nio.Bits` asks where the limit of direct buffers is reached.
    fn for_direct_memory(&self) -> bool {
        self.callers.first().is_some_and(|row| row.text("via").starts_with("java.nio."))
    }

    fn severity(&self) -> Severity {
        if self.calls >= 3 { Severity::Warning } else { Severity::Info }
    }

    fn sentence(&self) -> String {
        let place = self.callers.first().map(|row| format!(", at {}", row.text("site"))).unwrap_or_default();
        let times = format::plural(self.calls, "time", "times");
        format!("System.gc() was called {times}, which took {}{place}", format::duration(self.total_ns))
    }

    fn support(&self) -> Vec<String> {
        let caller = |row: &Row<'_>| {
            let times = format::plural(row.whole("count"), "time", "times");
            format!("{times} at {} on `{}`", row.text("site"), row.text("thread"))
        };
        self.callers.iter().take(3).map(caller).collect()
    }
}

/// The program itself asks for collections.
pub(super) fn asked_for(evidence: &Evidence<'_>) -> Option<Finding> {
    let explicit = Explicit::of(evidence).filter(|explicit| !explicit.for_direct_memory())?;
    Some(Finding {
        id: "gc-explicit",
        severity: explicit.severity(),
        score: explicit.calls as f64,
        title: explicit.sentence(),
        shown_in: "gc.requests",
        when: Vec::new(),
        evidence: explicit.support(),
        next_step: "Find the caller (RMI and direct buffers call it too); -XX:+DisableExplicitGC or \
                    -XX:+ExplicitGCInvokesConcurrent takes the pauses away."
            .to_owned(),
    })
}

/// Collections are asked for because direct buffers have reached their limit.
pub(super) fn direct_memory(evidence: &Evidence<'_>) -> Option<Finding> {
    let explicit = Explicit::of(evidence).filter(Explicit::for_direct_memory)?;
    Some(Finding {
        id: "direct-memory",
        severity: explicit.severity(),
        score: explicit.calls as f64,
        title: format!("Direct buffers are at their limit: {}", explicit.sentence()),
        shown_in: "gc.requests",
        when: Vec::new(),
        evidence: explicit.support(),
        next_step: "Use direct buffers again instead of making new ones; -XX:MaxDirectMemorySize raises the limit."
            .to_owned(),
    })
}

/// Who called it, where the stacks of requests show it.
fn callers<'a>(evidence: &Evidence<'a>) -> Vec<Row<'a>> {
    let asked = |lens| {
        let is_gc = |row: &Row<'_>| {
            ["java.lang.Runtime.gc", "java.lang.System.gc"].iter().any(|gc| row.text("top").starts_with(gc))
        };
        evidence.rows(lens, "requests").filter(is_gc).collect::<Vec<_>>()
    };
    let callers = asked(Gc);
    if callers.is_empty() { asked(Safepoint) } else { callers }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{gc::tests::cause, testing::Case},
        *,
    };

    #[test]
    fn explicit_collections_are_named() {
        let case = cause(Case::default(), "System.gc()", "full", 7, 70_000_000);
        assert_eq!(
            case.said(asked_for),
            (Severity::Warning, "System.gc() was called 7 times, which took 70 ms".to_owned())
        );
        assert_eq!(cause(Case::default(), "Allocation Failure", "full", 7, 1).ask(asked_for), None);
        let request = |top: &'static str| {
            [
                ("site", "com.shop.Main.tidy:5".into()),
                ("via", "java.lang.System.gc:1".into()),
                ("top", top.into()),
                ("thread", "main".into()),
                ("count", 7_u64.into()),
            ]
        };
        let case = case.row("safepoint", "requests", &request("java.lang.Thread.getAllStackTraces:1"));
        assert!(case.ask(asked_for).expect("as above").evidence.is_empty(), "that was not for the collector");
        let case = case.row("safepoint", "requests", &request("java.lang.Runtime.gc"));
        assert_eq!(case.ask(asked_for).expect("as above").evidence, ["7 times at com.shop.Main.tidy:5 on `main`"]);
    }
}
