//! Rules about what lies in the heap: what stays, and what is too large for it.

use super::{Evidence, Row, collections};
use crate::{
    lens::Lens::{Alloc, Gc},
    report::{Finding, Severity},
    text::format,
};

/// Pools in which objects grow old.
fn is_old(pool: &str) -> bool {
    pool.contains("Old") || pool.contains("Tenured") || matches!(pool, "ZHeap" | "Shenandoah")
}

/// Collectors of young objects alone. What they promote fills the old pool until it is collected, dead or alive.
const YOUNG: [&str; 4] = ["Copy", "PS Scavenge", "ParNew", "scavenge"];

/// Collections of a pool before anything is said of it.
const COLLECTIONS: u64 = 3;
/// Of the pool's limit, in one minute.
const SHARE_PER_MINUTE: f64 = 0.05;
/// Growth below which nothing is said.
const BYTES: u64 = 3 << 20;
/// What is made so many times as fast as the pool grows cannot be kept for the most part.
const MOSTLY_FORGOTTEN: u64 = 4;

/// What is in use after collections grows, and no collection gives any of it back.
pub(super) fn growth(evidence: &Evidence<'_>) -> Option<Finding> {
    /// Of the pool's limit: below it there is time, and programs fill their caches.
    const URGENT: f64 = 0.5;
    let grows = |row: &&Row<'_>| grows(row) && !is_of_young(row);
    let Some(row) = pools(evidence).iter().filter(grows).max_by_key(|row| row.whole("grown_bytes")).copied() else {
        return promotion(evidence);
    };
    let (grown, max, used) = (row.whole("grown_bytes"), row.whole("max_bytes"), row.whole("used_after_bytes"));
    let left = left(&row)?;
    let urgent = used as f64 > URGENT * max as f64 && may_have_shrunk(evidence, &row);
    let mut support = vec![format!(
        "{} after the first collection, {} after the last, of at most {}; no collection gave anything back",
        format::bytes(used.saturating_sub(grown)),
        format::bytes(used),
        format::bytes(max)
    )];
    support.extend(could_stay(evidence, grown));
    Some(Finding {
        id: "heap-growth",
        severity: if urgent { Severity::Warning } else { Severity::Info },
        score: 100.0 * used as f64 / max as f64,
        title: format!(
            "`{}` grew by {} over {}: full in {left} at this pace, so far{}",
            row.text("pool"),
            format::bytes(grown),
            format::plural(row.whole("collections"), "collection", "collections"),
            place(evidence, grown)
        ),
        shown_in: "gc.pools",
        when: Vec::new(),
        evidence: support,
        next_step:
            "Watch it for longer: normal while caches fill; else `jtrace leaks PID` names what goes on growing, and what holds it."
                .to_owned(),
    })
}

/// Whether collections could have given something back: those of G1 take old objects after a marking, which it begins when much is in use.
fn may_have_shrunk(evidence: &Evidence<'_>, row: &Row<'_>) -> bool {
    !row.text("pool").contains("G1")
        || evidence.rows(Gc, "causes").any(|cause| cause.text("kind").starts_with("remark"))
}

/// The old pool fills and was not collected yet, so nobody knows how much of it is still needed.
fn promotion(evidence: &Evidence<'_>) -> Option<Finding> {
    let pools = pools(evidence);
    let collected = |pool: &str| pools.iter().any(|row| row.text("pool") == pool && !is_of_young(row));
    let row = pools.iter().find(|row| is_of_young(row) && grows(row) && !collected(&row.text("pool")))?;
    // Where collections themselves are too much, what they leave behind is not what is wrong.
    if evidence.number(Gc, "pause_share_percent").is_some_and(|share| share > 10.0) {
        return None;
    }
    let grown = row.whole("grown_bytes");
    let mut support = vec![
        format!(
            "{} in use, of at most {}",
            format::bytes(row.whole("used_after_bytes")),
            format::bytes(row.whole("max_bytes"))
        ),
        "young collections put there what outlives them; only a collection of old objects tells what is still needed"
            .to_owned(),
    ];
    support.extend(could_stay(evidence, grown));
    Some(Finding {
        id: "heap-growth",
        severity: Severity::Info,
        score: 100.0 * row.whole("used_after_bytes") as f64 / row.whole("max_bytes").max(1) as f64,
        title: format!(
            "`{}` got {} from {}, and none of it was collected: full in {} at this pace, so far{}",
            row.text("pool"),
            format::bytes(grown),
            format::plural(row.whole("collections"), "young collection", "young collections"),
            left(row)?,
            place(evidence, grown)
        ),
        shown_in: "gc.pools",
        when: Vec::new(),
        evidence: support,
        next_step:
            "Watch it until old objects are collected; `jtrace heap PID` shows what holds most, with the way to it."
                .to_owned(),
    })
}

fn pools<'a>(evidence: &Evidence<'a>) -> Vec<Row<'a>> {
    evidence.rows(Gc, "pools").filter(|row| is_old(&row.text("pool")) && row.whole("collections") > 0).collect()
}

fn is_of_young(row: &Row<'_>) -> bool {
    YOUNG.contains(&row.text("manager").as_str())
}

fn grows(row: &Row<'_>) -> bool {
    row.whole("collections") >= COLLECTIONS
        && row.whole("grown_bytes") >= BYTES
        && row.whole("fell") == 0
        && row.whole("max_bytes") > 0
        && left(row).is_some()
}

/// Until when a pool is full at its pace; nothing where that is slow.
fn left(row: &Row<'_>) -> Option<String> {
    let (grown, max, ns) = (row.whole("grown_bytes") as f64, row.whole("max_bytes") as f64, row.whole("grown_ns"));
    let per_s = grown * 1e9 / ns as f64;
    if ns == 0 || 60.0 * per_s < SHARE_PER_MINUTE * max {
        return None;
    }
    let left = (max - row.whole("used_after_bytes") as f64).max(0.0);
    Some(format::duration(format::whole(left / per_s * 1e9)))
}

/// What may hold what stays, for a title, and where that may be made: where a collection grows, else what is made most of what could stay.
fn place(evidence: &Evidence<'_>, grown: u64) -> String {
    let held = collections::grown(evidence).next().map(|grew| format!("; {grew}"));
    let collection = tables(evidence).next().and_then(|row| row.known("site"));
    let made = || candidates(evidence, grown).next()?.known("site");
    let place = match (collection, made()) {
        (Some(site), _) => format!("; a collection grows at {site}"),
        (None, Some(site)) => format!("; what stays may be made at {site}"),
        (None, None) => String::new(),
    };
    held.unwrap_or_default() + &place
}

/// Tables of collections that got larger: who adds to a collection makes them, and seldom.
fn tables<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = Row<'a>> + use<'a> {
    const LARGE: u64 = 8 << 10;
    let is_table =
        |class: &str| class == "java.lang.Object[]" || (class.starts_with("java.util.") && class.ends_with("[]"));
    evidence
        .rows(Alloc, "sites")
        .filter(move |row| is_table(&row.text("class")) && row.whole("largest_object_bytes") >= LARGE)
}

/// Places of the program that do not make so much that most of it must be forgotten again.
fn candidates<'a>(evidence: &Evidence<'a>, grown: u64) -> impl Iterator<Item = Row<'a>> + use<'a> {
    let most = grown.saturating_mul(MOSTLY_FORGOTTEN);
    let is_jdk = |site: &str| ["java.", "jdk.", "sun."].iter().any(|package| site.starts_with(package));
    evidence.rows(Alloc, "sites").filter(move |row| row.whole("estimated_bytes") <= most && !is_jdk(&row.text("site")))
}

/// What of that which is made could be what stays.
fn could_stay(evidence: &Evidence<'_>, grown: u64) -> Vec<String> {
    let table = |row: Row<'_>| {
        let largest = format::bytes(row.whole("largest_object_bytes"));
        format!("a collection grows: `{}` of {largest} at {}", row.text("class"), row.text("site"))
    };
    let line = |row: Row<'_>| {
        let share = format::percent(row.number("share_percent").unwrap_or(0.0));
        format!("{share} of what is made now, and could stay: `{}` at {}", row.text("class"), row.text("site"))
    };
    collections::grown(evidence)
        .chain(tables(evidence).take(2).map(table))
        .chain(candidates(evidence, grown).take(3).map(line))
        .collect()
}

/// What may hold what fills the heap, and the places that allocate most.
pub(super) fn made_at(evidence: &Evidence<'_>) -> Vec<String> {
    let sites = evidence.rows(Alloc, "sites").take(3).map(|row| {
        let share = format::percent(row.number("share_percent").unwrap_or(0.0));
        format!("{share} of what is made now: `{}` at {}", row.text("class"), row.text("site"))
    });
    collections::grown(evidence).chain(sites).collect()
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
        shown_in: "alloc.sites",
        when: Vec::new(),
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
        let remark = [("cause", "concurrent cycle".into()), ("kind", "remark".into()), ("count", 1_u64.into())];
        unmarked(grown, used, fell).row("gc", "causes", &remark)
    }

    fn unmarked(grown: u64, used: u64, fell: u64) -> Case {
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
                "`G1 Old Gen` grew by 16 MiB over 20 collections: full in 16 s at this pace, so far; what stays \
                 may be made at com.shop.Cache.put:12"
                    .to_owned()
            )
        );
        assert_eq!(pool(16 << 20, 32 << 20, 0).said(growth).0, Severity::Info, "there is time");
        assert_eq!(unmarked(16 << 20, 96 << 20, 0).said(growth).0, Severity::Info, "nobody looked what is needed");
        assert_eq!(pool(16 << 20, 96 << 20, 1).ask(growth), None, "a collection gave something back");
        assert_eq!(pool(100 << 10, 96 << 20, 0).ask(growth), None);
    }

    #[test]
    fn what_is_made_much_faster_than_the_heap_grows_is_not_what_stays() {
        let made = |class: &'static str, site: &'static str, bytes: u64| -> [(&'static str, crate::report::Cell); 4] {
            [
                ("class", class.into()),
                ("site", site.into()),
                ("estimated_bytes", bytes.into()),
                ("largest_object_bytes", (32_u64 << 10).into()),
            ]
        };
        let mut case = pool(16 << 20, 96 << 20, 0);
        case.sections.retain(|section| section.id == "gc");
        let case = case.row("alloc", "sites", &made("byte[]", "com.shop.Page.render:3", 4 << 30));
        let case = case.row("alloc", "sites", &made("byte[]", "java.util.Timer.mainLoop:5", 1 << 20));
        assert!(case.said(growth).1.ends_with("so far"), "{}", case.said(growth).1);
        let case = case.row("alloc", "sites", &made("byte[]", "com.shop.Cart.add:9", 20 << 20));
        assert!(case.said(growth).1.ends_with("so far; what stays may be made at com.shop.Cart.add:9"));
        let case = case.row("alloc", "sites", &made("java.util.HashMap$Node[]", "com.shop.Cart.keep:5", 1 << 20));
        assert!(case.said(growth).1.ends_with("so far; a collection grows at com.shop.Cart.keep:5"));
    }

    #[test]
    fn a_collection_that_only_grows_meanwhile_is_named_with_its_field() {
        let cells = [
            ("field", "com.shop.Cache.PAGES".into()),
            ("entries_first", 1200_u64.into()),
            ("entries_last", 4300_u64.into()),
            ("seen", 5_u64.into()),
            ("rose", 4_u64.into()),
            ("fell", 0_u64.into()),
        ];
        let case = pool(16 << 20, 96 << 20, 0).row("threads", "collections", &cells);
        let (_, title) = case.said(growth);
        let end = "so far; `com.shop.Cache.PAGES` grew from 1,200 to 4,300 entries; what stays may be made at com.shop.Cache.put:12";
        assert!(title.ends_with(end), "{title}");
    }

    #[test]
    fn an_old_pool_that_was_not_collected_yet_is_worth_knowing() {
        let pool = |manager: &'static str, collections: u64, pauses: f64| {
            let cells = [
                ("pool", "Tenured Gen".into()),
                ("manager", manager.into()),
                ("collections", collections.into()),
                ("used_after_bytes", (64_u64 << 20).into()),
                ("max_bytes", (96_u64 << 20).into()),
                ("grown_bytes", (16_u64 << 20).into()),
                ("grown_ns", 8_000_000_000_u64.into()),
                ("fell", 0_u64.into()),
            ];
            Case::seconds(10).number("gc", "pause_share_percent", pauses).row("gc", "pools", &cells)
        };
        assert_eq!(
            pool("Copy", 8, 1.0).said(growth),
            (
                Severity::Info,
                "`Tenured Gen` got 16 MiB from 8 young collections, and none of it was collected: full in 16 s at this \
                 pace, so far"
                    .to_owned()
            )
        );
        assert_eq!(pool("Copy", 8, 30.0).ask(growth), None, "collections take too much: that is told");
        assert_eq!(pool("Copy", 2, 1.0).ask(growth), None);
        assert_eq!(pool("MarkSweepCompact", 8, 1.0).said(growth).0, Severity::Warning);
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
