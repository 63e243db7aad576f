//! The pages of made-up reports: one whose numbers can be checked by hand, one of any size.

use tracer_event::stack::{Frame, Kind};
use tracer_model::{
    item::Target,
    report::{
        Completeness, Cost, Profile, ProfileStack, ProfileSteps, ProfileThread, Report, SCHEMA, Section, Shape, Span,
        Summary, Unit,
    },
};
use tracer_view::view::html;

/// The host that hostile names would ask.
pub(crate) const EVIL_HOST: &str = "evil.example";

/// A name that would run a script and ask a host, if it were markup.
pub(crate) const EVIL: &str = "evil</script><script>window.owned=1</script><img src=\"http://evil.example/x\" \
                               onerror=\"window.owned=1\"><!--\u{2028}&lt;img src='http://evil.example/y'&gt;";

/// A frame of Java.
pub(crate) fn java(kind: Kind, class: &str, method: &str, line: u32) -> Frame {
    let file = format!("{}.java", class.rsplit('.').next().unwrap_or(class));
    Frame { file: Some(file.into()), line: Some(line), ..Frame::named(kind, format!("{class}.{method}")) }
}

/// A stack that was seen once.
pub(crate) fn stack(frames: &[u32], thread: u32, value: u64) -> ProfileStack {
    ProfileStack { frames: frames.to_vec(), thread: Some(thread), value, count: 1, cut: String::new() }
}

/// One second of three threads.
pub(crate) fn small() -> String {
    let frames = vec![
        Frame { module: Some("libc.so.6".into()), ..Frame::named(Kind::Native, "start_thread") },
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
    page(large_profile(count))
}

/// The same with so many steps of time for each stack.
pub(crate) fn large_over_time(count: u64, steps: u32) -> String {
    const PERIOD_NS: u64 = 10_101_010;
    let profile = large_profile(count);
    let of_stack = |number: u64| {
        let first = u32::try_from(number % 40).expect("below 40");
        (0..steps).map(|at| (first + at * 7, PERIOD_NS * u64::from(1 + at % 20))).collect()
    };
    let stacks = (0..count).map(of_stack).collect();
    page(Profile { steps: Some(ProfileSteps { step_ns: 4_000_000_000, stacks }), ..profile })
}

fn large_profile(count: u64) -> Profile {
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
    Profile {
        id: "cpu",
        title: "CPU time by stack".to_owned(),
        unit: Unit::Ns,
        contexts: false,
        frames,
        threads,
        stacks,
        steps: None,
    }
}

/// The same graph twice, the second one far below the first.
pub(crate) fn two() -> String {
    let page = small();
    let (start, end) =
        (page.find("<figure").expect("a graph"), page.find("</figure>").expect("a graph") + "</figure>".len());
    let spread = "<p>between</p>".repeat(300);
    format!("{}{spread}{}{}", &page[..end], &page[start..end], &page[end..])
}

/// A report without anything.
pub(crate) fn empty() -> Report {
    Report {
        schema: SCHEMA,
        target: Target { pid: 42, command: "com.shop.Main".to_owned(), ..Target::default() },
        span: Span { start_ns: 0, duration_ns: 1_000_000_000, started_at_ms: 0, end: "duration".to_owned() },
        cost: Cost::default(),
        completeness: Completeness::default(),
        headline: None,
        time: Vec::new(),
        findings: Vec::new(),
        sections: Vec::new(),
        table_steps: Vec::new(),
    }
}

/// The page of a report.
pub(crate) fn write(report: &Report) -> String {
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
