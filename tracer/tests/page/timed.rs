//! The page of a session of four seconds whose ranges can be added up by hand.

use tracer_event::stack::{Frame, Kind};
use tracer_model::report::{
    Cell, Column, Completeness, Decision, Finding, Gather, Profile, ProfileStack, ProfileSteps, ProfileThread, Report,
    RowSteps, Section, Series, Severity, Shape, Span, StepColumn, Stretch, Summary, Table, TableSteps, Timeline, Unit,
};

use tracer_view::{diff::Diff, view::html};

use crate::pages::{EVIL, empty, java, stack, write};

const SECOND: u64 = 1_000_000_000;

/// The same with times of the findings, and of the rows of the table.
pub(crate) fn with_times() -> String {
    let mut report = report();
    let stretch = |from: u64, to: u64| Stretch { from_ns: from * SECOND, to_ns: to * SECOND };
    report.findings[0].when = vec![stretch(1, 2), stretch(3, 4)];
    report.findings[1].when = vec![stretch(0, 4)];
    report.findings[0].shown_in = "cpu.classes";
    // | | 0 | 1 | 2 | 3 |
    // | Cart | 1, longest 5 ms | | 2, longest 3 ms | |
    // | Order | | 2, longest 4 ms | | |
    let row = |class: &str, steps: &[(u32, [u64; 2])]| RowSteps {
        labels: vec![class.into()],
        steps: steps.iter().map(|(step, amounts)| (*step, amounts.to_vec())).collect(),
    };
    let columns = [("count", Gather::Sum), ("max_ns", Gather::Max)];
    report.table_steps = vec![TableSteps {
        section: "cpu",
        table: "classes",
        step_ns: SECOND,
        columns: columns.map(|(key, gather)| StepColumn { key, gather }).into(),
        rows: vec![
            row("com.shop.Cart", &[(0, [1, 5_000_000]), (2, [2, 3_000_000])]),
            row("com.shop.Order", &[(1, [2, 4_000_000])]),
            row("com.shop.Unseen", &[(1, [6, 1])]),
        ],
        left_out: 3,
        weights: Vec::new(),
    }];
    write(&report)
}

/// The page of [`report`].
pub(crate) fn page() -> String {
    write(&report())
}

/// What differs between that session and one three times as long without its first finding, as a page.
pub(crate) fn difference() -> String {
    let before = report();
    let mut after = report();
    after.findings.remove(0);
    after.span.duration_ns *= 3;
    let mut out = Vec::new();
    html::write_difference(&Diff::of(&before, &after), [&before, &after], &mut out).expect("a page");
    String::from_utf8(out).expect("a page in UTF-8")
}

/// Lanes of 1 s, a graph with steps of half a second, one without times, findings, a table, and a lens that saw nothing.
fn report() -> Report {
    let samples = [("Java", [1.0, 9.0, 2.0, 4.0]), (EVIL, [0.0, 6.0, 0.0, 0.0]), ("Idle", [0.0; 4])];
    let untimed = Profile { id: "untimed", title: "Calls by stack".to_owned(), steps: None, ..profile() };
    let cpu = vec![classes(), lane("states", Unit::Count, &samples), Shape::Profile(profile())];
    let mut heap = lane("heap_after", Unit::Bytes, &[("In use", [f64::NAN, 2048.0, 1024.0, 512.0])]);
    if let Shape::Timeline(heap) = &mut heap {
        heap.levels = true;
    }
    let gc = vec![heap, lane("pause", Unit::Ns, &[("Pause", [1e6, 2e6, 3e6, 4e6])]), Shape::Profile(untimed)];
    let nothing = vec![lane("compilations", Unit::Count, &[("Compilations", [0.0; 4])])];
    let decisions = vec![
        decision(1_000_000_000, "cpu", "clock", "detached"),
        decision(2_000_000_000, "cpu", "clock", "attached"),
        decision(2_500_000_000, "gc", EVIL, "fewer_stacks"),
    ];
    Report {
        span: Span { start_ns: 0, duration_ns: 4 * SECOND, started_at_ms: 0, end: "duration".to_owned() },
        completeness: Completeness { decisions, ..Completeness::default() },
        findings: vec![finding("GC takes half of the time"), finding("com.shop.Order is everywhere")],
        sections: vec![
            section("cpu", "CPU", 4, cpu),
            section("gc", "Garbage collection", 4, gc),
            section("jit", "JIT compilation", 0, nothing),
        ],
        ..empty()
    }
}

fn section(id: &'static str, title: &str, count: u64, shapes: Vec<Shape>) -> Section {
    let summary = Summary::new().int("count", count);
    Section { id, title: title.to_owned(), summary, notes: Vec::new(), shapes }
}

fn lane(id: &'static str, unit: Unit, series: &[(&str, [f64; 4])]) -> Shape {
    let line =
        |(title, values): &(&str, [f64; 4])| Series { key: "key", title: (*title).to_owned(), values: values.to_vec() };
    Shape::Timeline(Timeline {
        id,
        title: "Per step".to_owned(),
        unit,
        step_ns: SECOND,
        levels: false,
        series: series.iter().map(line).collect(),
    })
}

/// | step | 0 | 0.5 | 1 | 1.5 | 2 | 3.5 |
/// |---|---|---|---|---|---|---|
/// | `Cart.price` of `worker-1` | 1 | 2 | 3 | | | 4 |
/// | `Cart.add` of `worker-2` | | | 1 | 5 | | |
/// | the hostile frame, 3 more without a time | | | | | 2 | |
fn profile() -> Profile {
    let amount = |frames: &[u32], thread, value| ProfileStack { count: value, ..stack(frames, thread, value) };
    let threads = ["worker-1", "worker-2"].into_iter().zip(21..);
    Profile {
        id: "samples",
        title: "Samples by stack".to_owned(),
        unit: Unit::Count,
        contexts: false,
        frames: vec![
            java(Kind::Compiled, "com.shop.Main", "serve", 31),
            java(Kind::Inlined, "com.shop.Cart", "price", 42),
            java(Kind::Compiled, "com.shop.Cart", "add", 12),
            Frame::named(Kind::Native, EVIL),
        ],
        threads: threads.map(|(name, tid)| ProfileThread { tid, name: name.to_owned() }).collect(),
        stacks: vec![amount(&[0, 1], 0, 10), amount(&[0, 2], 1, 6), amount(&[0, 3], 0, 5)],
        steps: Some(ProfileSteps {
            step_ns: SECOND / 2,
            stacks: vec![vec![(0, 1), (1, 2), (2, 3), (7, 4)], vec![(2, 1), (3, 5)], vec![(4, 2)]],
        }),
    }
}

fn classes() -> Shape {
    let rows = [("com.shop.Cart", 3_u64), ("com.shop.Order", 2), (EVIL, 1)];
    Shape::Table(Table {
        id: "classes",
        title: "Classes".to_owned(),
        columns: vec![
            Column { key: "class", title: "Class", unit: Unit::Text },
            Column { key: "count", title: "Count", unit: Unit::Count },
            Column { key: "share_percent", title: "Share", unit: Unit::Percent },
            Column { key: "max_ns", title: "Max", unit: Unit::Ns },
            Column { key: "p99_ns", title: "p99", unit: Unit::Ns },
        ],
        rows: rows
            .map(|(name, count)| vec![Cell::from(name), count.into(), 12.5.into(), 5_000_000_u64.into(), 7_u64.into()])
            .into(),
    })
}

fn finding(title: &str) -> Finding {
    Finding {
        id: "gc-share",
        severity: Severity::Warning,
        score: 1.0,
        title: title.to_owned(),
        shown_in: "gc.causes",
        when: Vec::new(),
        evidence: vec![EVIL.to_owned()],
        next_step: "look".to_owned(),
    }
}

fn decision(at_ns: u64, lens: &'static str, group: &str, action: &'static str) -> Decision {
    Decision {
        at_ns,
        group: group.to_owned(),
        lens,
        action,
        one_in: None,
        hits_per_s: None,
        cost_percent: None,
        budget_percent: None,
        own: false,
        off_percent: None,
        within_ns: None,
    }
}
