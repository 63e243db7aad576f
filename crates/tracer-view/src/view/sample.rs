//! The report that the tests of all views draw: every shape, plausible numbers, and names that mean harm.

use crate::{
    item::Target,
    report::{
        Bucket, Cell, Column, Completeness, Cost, Decision, Doing, Finding, Histogram, Node, Percentile, Report,
        SCHEMA, Section, Series, Severity, Shape, SiteCompleteness, Span, Stretch, Summary, Table, Timeline, Tree,
        Unit,
    },
};

mod incident;
mod profile;

pub use incident::{INCIDENT, looked};
#[cfg(test)]
pub(crate) use profile::any_profile;
pub use profile::{LIBJVM_BUILD, contexts, profile};

/// A class name that recolours a terminal, breaks the line, reverses what follows and opens a script.
pub const HOSTILE: &str = "evil.\x1b[31mRed\n\u{202e}<script>alert(1)</script>\u{9b}2J";

/// The sample.
pub fn report() -> Report {
    Report {
        schema: SCHEMA,
        headline: None,
        target: target(),
        span: Span {
            start_ns: 1_000_000_000,
            duration_ns: 10_000_000_000,
            started_at_ms: 1_772_368_205_000,
            end: "duration".into(),
        },
        cost: Cost {
            traps: 12_345,
            trap_cost_ns: Some(580.0),
            trap_cost_max_ns: None,
            inside_events: None,
            inside_ns: None,
            stack_ns: None,
            target_cpu_ns: Some(7_160_100.0),
            target_cpu_percent: Some(0.0716),
            own_cpu_ns: 40_000_000,
            own_cpu_percent: 0.4,
            own_memory_bytes: 23 << 20,
            attach_ns: 210_000_000,
            attach_cpu_ns: 90_000_000,
            program_ns: None,
            program_runs: None,
        },
        completeness: completeness(),
        time: time(),
        findings: findings(),
        sections: vec![gc(), locks(), threads(), cpu()],
        table_steps: Vec::new(),
    }
}

fn target() -> Target {
    Target {
        pid: 4711,
        namespace_pid: 1,
        start_ticks: 123_456,
        user: "app".into(),
        command: "com.shop.Main --port 8080 --title \x1b]0;owned\x07".into(),
        jvm_version: "17.0.15+6".into(),
        jvm_name: "OpenJDK 64-Bit Server VM".into(),
        jdk_release: 17,
        collector: "G1".into(),
        libjvm: "/opt/jdk-17/lib/server/libjvm.so".into(),
        container: true,
        uptime_s: 11_040,
        live_threads: Some(57),
        cpus: 8,
        max_heap_bytes: Some(4 << 30),
        compiles_to_level: Some(4),
        since_start: None,
        recorder: None,
    }
}

fn completeness() -> Completeness {
    let site = |site, probe: &str, lens: &str, hits, lost, state: &str| SiteCompleteness {
        site,
        probe: probe.into(),
        lens: lens.into(),
        offset: 0xce_5386 + u64::from(site) * 0x40,
        hits,
        filtered: 0,
        refused: 0,
        emitted: hits,
        delivered: hits - lost,
        lost,
        unreadable: 0,
        state: state.into(),
    };
    Completeness {
        emitted: 12_345,
        delivered: 12_300,
        refused: 0,
        lost: 45,
        undecodable: 1,
        unreadable: 2,
        definitions_lost: 0,
        sites: vec![
            site(0, "hotspot:gc__begin", "gc", 345, 0, "attached"),
            site(1, "hotspot:monitor__contended__enter", "locks", 12_000, 45, "detached by the rate guard"),
        ],
        missing: vec!["parks are not counted after 3.1 s: the rate guard detached `park` at 212,000 traps/s".into()],
        decisions: vec![Decision {
            at_ns: 3_100_000_000,
            group: "park".into(),
            lens: "locks",
            action: "detached",
            one_in: None,
            hits_per_s: Some(212_000),
            cost_percent: Some(12.5),
            budget_percent: Some(1.0),
            own: false,
            off_percent: None,
            within_ns: Some(41_000_000),
        }],
    }
}

fn time() -> Vec<Doing> {
    let doing = |state, what: &str, threads| Doing { state, what: what.to_owned(), threads, place: None, pool: None };
    vec![
        Doing { place: Some("com.shop.Cart.price".into()), ..doing("runs", "Java", 1.35) },
        doing("runs", "GC", 0.42),
        doing("stopped", "at safepoints, most for G1CollectForAllocation", 0.31),
        Doing {
            place: Some("com.shop.Cart.add:12".into()),
            pool: Some("http-worker-*".into()),
            ..doing("waits", &format!("monitor: {HOSTILE}"), 13.2)
        },
        doing("waits", "socket: TCP 10.0.0.7:5432", 0.6),
    ]
}

fn findings() -> Vec<Finding> {
    vec![
        Finding {
            id: "lock-contention",
            severity: Severity::Critical,
            score: 32.0,
            title: format!("14 threads blocked 3.21 s on one {HOSTILE}"),
            shown_in: "locks.classes",
            when: Vec::new(),
            evidence: vec!["500 contended enters, longest 412 ms".into(), "owner at the end: http-worker-7".into()],
            next_step: "look at who holds the monitor: `jtrace attach 4711 -l locks`".into(),
        },
        Finding {
            id: "gc-share",
            severity: Severity::Warning,
            score: 31.0,
            title: "GC takes 31 % of wall time, worst pause 412 ms, cause `G1 Evacuation Pause`".into(),
            shown_in: "gc.causes",
            when: [(1, 3), (4, 6), (7, 10)]
                .map(|(from, to)| Stretch { from_ns: from * 1_000_000_000, to_ns: to * 1_000_000_000 })
                .into(),
            evidence: vec!["7 collections in 10.0 s".into()],
            next_step: "look at the top allocating classes, or give the heap more room".into(),
        },
    ]
}

fn gc() -> Section {
    let causes = [("G1 Evacuation Pause", 5, 2_400_000_000, 412_000_000), ("System.gc()", 2, 700_000_000, 380_000_000)];
    Section {
        id: "gc",
        title: "Garbage collection".into(),
        summary: Summary::new()
            .int("collections", 7)
            .int("full_collections", 2)
            .int("pause_total_ns", 3_100_000_000)
            .int("pause_max_ns", 412_000_000)
            .int("pause_p99_ns", 411_000_000)
            .float("share_percent", 31.0),
        notes: vec!["pauses are measured at the sites, so they include the way into and out of the safepoint".into()],
        shapes: vec![
            Shape::Timeline(Timeline {
                id: "pauses_over_time",
                title: "Pauses over time".into(),
                unit: Unit::Ns,
                step_ns: 1_000_000_000,
                levels: false,
                series: vec![Series {
                    key: "pause",
                    title: "pause".into(),
                    values: vec![0.0, 3e8, 2e8, 0.0, 7.9e8, 4.1e8, 0.0, 3e8, 6e8, 5e8],
                }],
            }),
            Shape::Table(Table {
                id: "causes",
                title: "By cause".into(),
                columns: vec![
                    Column { key: "cause", title: "cause", unit: Unit::Text },
                    Column { key: "count", title: "count", unit: Unit::Count },
                    Column { key: "total_ns", title: "total", unit: Unit::Ns },
                    Column { key: "max_ns", title: "max", unit: Unit::Ns },
                ],
                rows: causes
                    .iter()
                    .map(|(cause, count, total, max)| {
                        vec![Cell::from(*cause), Cell::Int(*count), Cell::Int(*total), Cell::Int(*max)]
                    })
                    .collect(),
            }),
            Shape::Histogram(pauses()),
        ],
    }
}

fn pauses() -> Histogram {
    Histogram {
        id: "pauses",
        title: "Pauses".into(),
        unit: Unit::Ns,
        count: 7,
        min: 90_000_000,
        max: 412_000_000,
        mean: 300e6,
        percentiles: vec![
            Percentile { percent: 50.0, value: 300_000_000 },
            Percentile { percent: 99.0, value: 411_000_000 },
            Percentile { percent: 99.9, value: 412_000_000 },
        ],
        buckets: vec![
            Bucket { up_to: 134_217_727, count: 1 },
            Bucket { up_to: 268_435_455, count: 0 },
            Bucket { up_to: 536_870_911, count: 6 },
        ],
        curve: Vec::new(),
    }
}

fn locks() -> Section {
    let mut rows = vec![
        vec![
            Cell::from(HOSTILE),
            Cell::Int(500),
            Cell::Int(3_210_000_000),
            Cell::Float(99.1),
            Cell::Int(0x7f00_1234),
            Cell::Missing,
        ],
        vec![
            Cell::from("a\x1b".repeat(32 * 1024)),
            Cell::Int(30),
            Cell::Int(20_000_000),
            Cell::Float(0.6),
            Cell::Int(0x7f00_5678),
            Cell::from("http-worker-7"),
        ],
    ];
    rows.extend((0..31).map(|at: u64| {
        vec![
            Cell::from(format!("com.example.shop.checkout.internal.Basket{at:02}")),
            Cell::Int(31 - at),
            Cell::Int((31 - at) * 1_234_567),
            Cell::Float(0.01),
            Cell::Int(0x7f00_9000 + at * 16),
            Cell::from(format!("pool-3-thread-{at}")),
        ]
    }));
    Section {
        id: "locks",
        title: "Locks".into(),
        summary: Summary::new()
            .int("contended_enters", 1026)
            .int("blocked_total_ns", 3_240_000_000)
            .int("blocked_max_ns", 412_000_000)
            .int("waits", 12)
            .int("parks", 123_456)
            .float("parks_per_s", 12_345.6),
        notes: Vec::new(),
        shapes: vec![Shape::Table(Table {
            id: "classes",
            title: "Contended monitors by class".into(),
            columns: vec![
                Column { key: "class", title: "class", unit: Unit::Text },
                Column { key: "count", title: "count", unit: Unit::Count },
                Column { key: "total_ns", title: "blocked", unit: Unit::Ns },
                Column { key: "share_percent", title: "share", unit: Unit::Percent },
                Column { key: "object_address", title: "object", unit: Unit::Address },
                Column { key: "owner", title: "owner", unit: Unit::Text },
            ],
            rows,
        })],
    }
}

fn threads() -> Section {
    let leaf = |label: &str, value| Node { label: label.into(), value, children: Vec::new() };
    Section {
        id: "threads",
        title: "Threads".into(),
        summary: Summary::new().int("started", 41).int("stopped", 0).int("alive", 57),
        notes: Vec::new(),
        shapes: vec![
            Shape::Tree(Tree {
                id: "patterns",
                title: "Started by name pattern".into(),
                unit: Unit::Count,
                root: Node {
                    label: "all".into(),
                    value: 41.0,
                    children: vec![
                        Node {
                            label: "pool-3-thread-*".into(),
                            value: 40.0,
                            children: vec![leaf("stopped", 0.0), leaf("alive", 40.0)],
                        },
                        leaf("rtl \u{202e}", 1.0),
                    ],
                },
            }),
            Shape::Timeline(Timeline {
                id: "alive",
                title: "Alive".into(),
                unit: Unit::Count,
                step_ns: 1_000_000_000,
                levels: false,
                series: vec![
                    Series {
                        key: "alive",
                        title: "alive".into(),
                        values: (0..10).map(|at| f64::from(16 + 4 * at)).collect(),
                    },
                    Series { key: "broken", title: "broken".into(), values: vec![f64::NAN; 10] },
                ],
            }),
        ],
    }
}

fn cpu() -> Section {
    Section {
        id: "cpu",
        title: "CPU".into(),
        summary: Summary::new().int("samples", 172).int("stacks", 6).int("unknown_frames", 3),
        notes: Vec::new(),
        shapes: vec![Shape::Profile(profile())],
    }
}
