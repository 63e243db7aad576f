//! The pages of made-up reports: one whose numbers can be checked by hand, one of any size.

use tracer::{
    report::{
        Cell, Column, Completeness, Cost, Decision, Finding, Profile, ProfileStack, ProfileSteps, ProfileThread,
        Report, SCHEMA, Section, Series, Severity, Shape, Span, Summary, Table, Timeline, Unit,
    },
    session::Target,
    stack::{Frame, Kind},
    view::html,
};

/// The host that hostile names would ask.
pub(crate) const EVIL_HOST: &str = "evil.example";

/// A name that would run a script and ask a host, if it were markup.
pub(crate) const EVIL: &str = "evil</script><script>window.owned=1</script><img src=\"http://evil.example/x\" \
                               onerror=\"window.owned=1\"><!--\u{2028}&lt;img src='http://evil.example/y'&gt;";

fn java(kind: Kind, class: &str, method: &str, line: u32) -> Frame {
    let file = format!("{}.java", class.rsplit('.').next().unwrap_or(class));
    Frame { file: Some(file), line: Some(line), ..Frame::named(kind, format!("{class}.{method}")) }
}

fn stack(frames: &[u32], thread: u32, value: u64) -> ProfileStack {
    ProfileStack { frames: frames.to_vec(), thread: Some(thread), value, count: 1, cut: String::new() }
}

/// One second of three threads.
pub(crate) fn small() -> String {
    let frames = vec![
        Frame { module: Some("libc.so.6".to_owned()), ..Frame::named(Kind::Native, "start_thread") },
        java(Kind::Compiled, "java.lang.Thread", "run", 840),
        java(Kind::Interpreted, "com.shop.Main", "serve", 31),
        java(Kind::Compiled, "com.shop.Cart", "add", 12),
        java(Kind::Inlined, "com.shop.Cart", "price", 42),
        java(Kind::Compiled, "com.shop.Cart", "price", 44),
        Frame::named(Kind::Kernel, "futex_wait"),
        Frame::named(Kind::Native, EVIL),
    ];
    let stacks = vec![
        stack(&[0, 1, 2, 3, 4], 0, 400_000_000),
        stack(&[0, 1, 2, 6], 0, 300_000_000),
        stack(&[0, 1, 2, 3, 5], 1, 200_000_000),
        stack(&[0, 7], 2, 100_000_000),
    ];
    let threads = ["http-worker-1", EVIL, "GC Thread#0"].into_iter().zip(21..);
    let threads = threads.map(|(name, tid)| ProfileThread { tid, name: name.to_owned() }).collect();
    page(Profile {
        id: "cpu",
        title: EVIL.to_owned(),
        unit: Unit::Ns,
        contexts: false,
        frames,
        threads,
        stacks,
        steps: None,
    })
}

/// So many distinct stacks of 16 to 80 frames, over 12,000 methods and 200 threads, that branch as real ones do: much at the
/// bottom in common, less and less above.
pub(crate) fn large(count: u64) -> String {
    const KINDS: [Kind; 5] = [Kind::Compiled, Kind::Inlined, Kind::Inlined, Kind::Interpreted, Kind::Native];
    let mut state = 42_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let frames: Vec<Frame> = (0..12_000_u32)
        .map(|at| {
            let class = format!("com.example.shop.part{}.internal.Service{}", at % 40, at / 7);
            java(KINDS[at as usize % KINDS.len()], &class, &format!("method{at}"), at % 900 + 1)
        })
        .collect();
    let stacks = (0..count).map(|number| {
        let depth = 16 + random(65);
        let mut at = random(4);
        let mut frames: Vec<u32> = (0..depth)
            .map(|level| {
                // The method of the next level depends on this one's and on a choice that grows rarer to be the first.
                let choice = if random(100) < 75 { 0 } else { random(2 + level / 4) };
                at = (at * 31 + choice * 7919 + level) % 12_000;
                u32::try_from(at).expect("below 12,000")
            })
            .collect();
        // What makes it distinct.
        frames.push(u32::try_from(number % 12_000).expect("below 12,000"));
        frames.push(u32::try_from(number / 12_000).expect("few"));
        stack(&frames, u32::try_from(random(200)).expect("below 200"), 10_000_000 * (1 + random(50)))
    });
    let threads = (0..200).map(|tid| ProfileThread { tid, name: format!("http-worker-{tid}") }).collect();
    let stacks = stacks.collect();
    page(Profile {
        id: "cpu",
        title: "CPU time by stack".to_owned(),
        unit: Unit::Ns,
        contexts: false,
        frames,
        threads,
        stacks,
        steps: None,
    })
}

/// The same graph twice, the second one far below the first.
pub(crate) fn two() -> String {
    let page = small();
    let (start, end) =
        (page.find("<figure").expect("a graph"), page.find("</figure>").expect("a graph") + "</figure>".len());
    let spread = "<p>between</p>".repeat(300);
    format!("{}{spread}{}{}", &page[..end], &page[start..end], &page[end..])
}

/// Four seconds with lanes of 1 s and a graph with steps of half a second, so that ranges can be added up by hand:
///
/// | step | 0 | 0.5 | 1 | 1.5 | 2 | 3.5 |
/// |---|---|---|---|---|---|---|
/// | `Cart.price` of `worker-1` | 1 | 2 | 3 | | | 4 |
/// | `Cart.add` of `worker-2` | | | 1 | 5 | | |
/// | the hostile frame, 3 more without a time | | | | | 2 | |
pub(crate) fn timed() -> String {
    const SECOND: u64 = 1_000_000_000;
    let lane = |id, title: &str, unit, series: &[(&str, [f64; 4])]| {
        let line = |(title, values): &(&str, [f64; 4])| Series {
            key: "key",
            title: (*title).to_owned(),
            values: values.to_vec(),
        };
        Shape::Timeline(Timeline {
            id,
            title: title.to_owned(),
            unit,
            step_ns: SECOND,
            series: series.iter().map(line).collect(),
        })
    };
    let section = |id, title: &str, shapes| {
        let summary = Summary::new().int("count", 4);
        Section { id, title: title.to_owned(), summary, notes: Vec::new(), shapes }
    };
    let amount = |frames: &[u32], thread, value| ProfileStack { count: value, ..stack(frames, thread, value) };
    let profile = Profile {
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
        threads: ["worker-1", "worker-2"]
            .into_iter()
            .zip(21..)
            .map(|(name, tid)| ProfileThread { tid, name: name.to_owned() })
            .collect(),
        stacks: vec![amount(&[0, 1], 0, 10), amount(&[0, 2], 1, 6), amount(&[0, 3], 0, 5)],
        steps: Some(ProfileSteps {
            step_ns: SECOND / 2,
            stacks: vec![vec![(0, 1), (1, 2), (2, 3), (7, 4)], vec![(2, 1), (3, 5)], vec![(4, 2)]],
        }),
    };
    let untimed = Profile { id: "untimed", title: "Calls by stack".to_owned(), steps: None, ..profile.clone() };
    let table = Shape::Table(Table {
        id: "classes",
        title: "Classes".to_owned(),
        columns: vec![
            Column { key: "class", title: "Class", unit: Unit::Text },
            Column { key: "count", title: "Count", unit: Unit::Count },
        ],
        rows: [("com.shop.Cart", 3_u64), ("com.shop.Order", 2), (EVIL, 1)]
            .map(|(name, count)| vec![Cell::from(name), count.into()])
            .into(),
    });
    let finding = |title: &str| Finding {
        id: "gc-share",
        severity: Severity::Warning,
        score: 1.0,
        title: title.to_owned(),
        evidence: vec![EVIL.to_owned()],
        next_step: "look".to_owned(),
    };
    let decision = |at_ns, lens, group: &str, action| Decision {
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
    };
    let decisions = [
        decision(1_000_000_000, "cpu", "clock", "detached"),
        decision(2_000_000_000, "cpu", "clock", "attached"),
        decision(2_500_000_000, "gc", EVIL, "fewer_stacks"),
    ];
    let samples = [("Java", [1.0, 9.0, 2.0, 4.0]), (EVIL, [0.0, 6.0, 0.0, 0.0]), ("Idle", [0.0; 4])];
    let cpu = vec![table, lane("states", "Samples per step", Unit::Count, &samples), Shape::Profile(profile)];
    let gc =
        vec![lane("pause", "Pause per step", Unit::Ns, &[("Pause", [1e6, 2e6, 3e6, 4e6])]), Shape::Profile(untimed)];
    let mut nothing =
        section("jit", "JIT compilation", vec![lane("compilations", "Compilations", Unit::Count, &[("C", [0.0; 4])])]);
    nothing.summary = Summary::new().int("compilations", 0);
    write(&Report {
        span: Span { start_ns: 0, duration_ns: 4 * SECOND, started_at_ms: 0, end: "duration".to_owned() },
        completeness: Completeness { decisions: decisions.into(), ..Completeness::default() },
        findings: vec![finding("GC takes half of the time"), finding("com.shop.Order is everywhere")],
        sections: vec![section("cpu", "CPU", cpu), section("gc", "Garbage collection", gc), nothing],
        ..empty()
    })
}

/// A report without anything.
fn empty() -> Report {
    Report {
        schema: SCHEMA,
        target: Target { pid: 42, command: "com.shop.Main".to_owned(), ..Target::default() },
        span: Span { start_ns: 0, duration_ns: 1_000_000_000, started_at_ms: 0, end: "duration".to_owned() },
        cost: Cost::default(),
        completeness: Completeness::default(),
        headline: None,
        findings: Vec::new(),
        sections: Vec::new(),
    }
}

fn write(report: &Report) -> String {
    let mut out = Vec::new();
    html::write(report, &mut out).expect("a page");
    String::from_utf8(out).expect("a page in UTF-8")
}

fn page(profile: Profile) -> String {
    let title = profile.title.clone();
    let section = Section {
        id: "cpu",
        title,
        summary: Summary::new().int("samples", profile.count()),
        notes: Vec::new(),
        shapes: vec![Shape::Profile(profile)],
    };
    write(&Report { sections: vec![section], ..empty() })
}
