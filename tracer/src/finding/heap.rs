//! Rules about what lies in the heap: what stays, and what is too large for it.

use super::{Evidence, Row};
use crate::{
    analysis::Lens::{Alloc, Gc},
    report::{Finding, Severity, format},
};

/// Pools in which objects grow old.
fn is_old(pool: &str) -> bool {
    pool.contains("Old") || pool.contains("Tenured") || matches!(pool, "ZHeap" | "Shenandoah")
}

/// Collectors of young objects alone. What they promote fills the old pool until it is collected, dead or alive.
const YOUNG: [&str; 4] = ["Copy", "PS Scavenge", "ParNew", "scavenge"];

/// What is in use after collections grows, and no collection gives any of it back.
pub(super) fn growth(evidence: &Evidence<'_>) -> Option<Finding> {
    const COLLECTIONS: u64 = 3;
    /// Of the pool's limit, in one minute.
    const SHARE_PER_MINUTE: f64 = 0.05;
    const BYTES: u64 = 4 << 20;
    /// Of the pool's limit: below it there is time, and programs fill their caches.
    const URGENT: f64 = 0.5;
    let grows = |row: &Row<'_>| {
        is_old(&row.text("pool"))
            && !YOUNG.contains(&row.text("manager").as_str())
            && row.whole("collections") >= COLLECTIONS
            && row.whole("grown_bytes") >= BYTES
            && row.whole("fell") == 0
            && row.whole("grown_ns") > 0
            && row.whole("max_bytes") > 0
    };
    let row = evidence.rows(Gc, "pools").filter(grows).max_by_key(|row| row.whole("grown_bytes"))?;
    let (grown, max, used) = (row.whole("grown_bytes"), row.whole("max_bytes"), row.whole("used_after_bytes"));
    let per_s = grown as f64 * 1e9 / row.whole("grown_ns") as f64;
    if 60.0 * per_s < SHARE_PER_MINUTE * max as f64 {
        return None;
    }
    let left_s = max.saturating_sub(used) as f64 / per_s;
    let urgent = used as f64 > URGENT * max as f64;
    let mut support = vec![format!(
        "{} after the first collection, {} after the last, of at most {}; no collection gave anything back",
        format::bytes(used.saturating_sub(grown)),
        format::bytes(used),
        format::bytes(max)
    )];
    support.extend(made_at(evidence));
    Some(Finding {
        id: "heap-growth",
        severity: if urgent { Severity::Warning } else { Severity::Info },
        score: 100.0 * used as f64 / max as f64,
        title: format!(
            "`{}` grew by {} over {}: full in {} at this pace, so far{}",
            row.text("pool"),
            format::bytes(grown),
            format::plural(row.whole("collections"), "collection", "collections"),
            format::duration(format::whole(left_s * 1e9)),
            place(evidence).map(|site| format!("; most objects are made at {site}")).unwrap_or_default()
        ),
        evidence: support,
        next_step:
            "Watch it for longer: normal while caches fill; else `jtrace heap PID` shows what holds most, with the way to it."
                .to_owned(),
    })
}

/// The place that allocates most.
fn place(evidence: &Evidence<'_>) -> Option<String> {
    evidence.rows(Alloc, "sites").next()?.known("site")
}

/// The places that allocate most.
pub(super) fn made_at(evidence: &Evidence<'_>) -> Vec<String> {
    let sites = evidence.rows(Alloc, "sites").take(3);
    sites
        .map(|row| {
            let share = format::percent(row.number("share_percent").unwrap_or(0.0));
            format!("{share} of what is made now: `{}` at {}", row.text("class"), row.text("site"))
        })
        .collect()
}

/// Objects that need regions of their own make G1 collect.
pub(super) fn humongous(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Gc, "causes").find(|row| row.text("cause") == "G1 Humongous Allocation")?;
    let pauses = row.whole("count");
    let large = evidence.rows(Alloc, "sites").max_by_key(|row| row.whole("outside_tlab_bytes"));
    let large = large.filter(|row| row.whole("largest_object_bytes") >= 512 << 10);
    let what = large.map(|row| {
        format!(
            "`{}` of up to {} at {}",
            row.text("class"),
            format::bytes(row.whole("largest_object_bytes")),
            row.text("site")
        )
    });
    let mut support = vec![format!(
        "{} because of them, {} in all",
        format::plural(pauses, "pause", "pauses"),
        format::duration(row.whole("total_ns"))
    )];
    let bytes = large.map(|row| row.whole("outside_tlab_bytes"));
    support.extend(bytes.map(|bytes| format!("{} of them were made", format::bytes(bytes))));
    Some(Finding {
        id: "humongous",
        severity: if pauses >= 3 { Severity::Warning } else { Severity::Info },
        score: 5.0 + 100.0 * row.whole("total_ns") as f64 / evidence.span.duration_ns.max(1) as f64,
        title: format!("Humongous objects make G1 collect{}", what.map(|what| format!(": {what}")).unwrap_or_default()),
        evidence: support,
        next_step: "Use smaller arrays, or the same ones again; a larger -XX:G1HeapRegionSize (up to 32m) makes room: \
                    what is at least half a region is humongous."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn pool(grown: u64, used: u64, fell: u64) -> Case {
        let case = Case::seconds(10).row(
            "gc",
            "pools",
            &[
                ("pool", "G1 Old Gen".into()),
                ("collections", 20_u64.into()),
                ("used_after_bytes", used.into()),
                ("max_bytes", (128_u64 << 20).into()),
                ("grown_bytes", grown.into()),
                ("grown_ns", 8_000_000_000_u64.into()),
                ("fell", fell.into()),
            ],
        );
        case.row(
            "alloc",
            "sites",
            &[
                ("class", "byte[]".into()),
                ("site", "com.shop.Cache.put:12".into()),
                ("share_percent", 90.0.into()),
                ("outside_tlab_bytes", (40_u64 << 20).into()),
                ("largest_object_bytes", (2_u64 << 20).into()),
            ],
        )
    }

    #[test]
    fn a_heap_that_only_grows_says_until_when() {
        assert_eq!(
            pool(16 << 20, 96 << 20, 0).said(growth),
            (
                Severity::Warning,
                "`G1 Old Gen` grew by 16 MiB over 20 collections: full in 16 s at this pace, so far; most objects \
                 are made at com.shop.Cache.put:12"
                    .to_owned()
            )
        );
        assert_eq!(pool(16 << 20, 32 << 20, 0).said(growth).0, Severity::Info, "there is time");
        assert_eq!(pool(16 << 20, 96 << 20, 1).ask(growth), None, "a collection gave something back");
        assert_eq!(pool(100 << 10, 96 << 20, 0).ask(growth), None);
    }

    #[test]
    fn humongous_objects_are_named_with_their_place() {
        let cause = |cause: &'static str| {
            let cells = [("cause", cause.into()), ("count", 5_u64.into()), ("total_ns", 9_000_000_u64.into())];
            pool(0, 0, 0).row("gc", "causes", &cells)
        };
        assert_eq!(
            cause("G1 Humongous Allocation").said(humongous),
            (
                Severity::Warning,
                "Humongous objects make G1 collect: `byte[]` of up to 2.0 MiB at com.shop.Cache.put:12".to_owned()
            )
        );
        assert_eq!(cause("G1 Evacuation Pause").ask(humongous), None);
    }
}
