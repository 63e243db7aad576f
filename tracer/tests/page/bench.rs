//! The page of a measurement: it has no script at all, so nothing may run in it, and its plots must show.

use tracer_bench::bench::{
    report,
    results::{Environment, Method, Observed, Program, Results, Run, Skipped, VERSION},
};

use crate::{browser::Browser, pages};

/// Ten rounds of a program, plain and watched, whose every text is hostile.
fn results() -> Results {
    let evil = || pages::EVIL.to_owned();
    let run = |configuration: &str, round: u32| Run {
        program: evil(),
        configuration: configuration.to_owned(),
        round,
        wall_ns: 1_000_000_000 + u64::from(round) * 10_000_000,
        counts: [(evil(), 7)].into(),
        observed: (configuration != "plain").then(|| Observed {
            command: vec![evil()],
            partial: Some(evil()),
            answers: [(evil(), 8)].into(),
            ..Observed::default()
        }),
        ..Run::default()
    };
    Results {
        version: VERSION,
        started_s: 1_790_000_000,
        environment: Environment { jvm: evil(), flags: vec![evil()], ..Environment::default() },
        method: Method { runs: 10, size: evil(), ..Method::default() },
        programs: vec![Program { name: evil(), what: evil(), command: vec![evil()], ..Program::default() }],
        configurations: vec!["plain".to_owned(), evil()],
        configuration_flags: std::collections::BTreeMap::new(),
        runs: (0..10).flat_map(|round| [run("plain", round), run(&evil(), round)]).collect(),
        skipped: vec![Skipped { why: evil(), ..Skipped::default() }],
    }
}

/// What is looked at in the page.
const LOOK: &str = r#"
const size = (what) => Array.from(document.querySelectorAll(what)).map((one) => one.getBoundingClientRect());
say("sections", document.querySelectorAll("section").length);
say("links", Array.from(document.querySelectorAll("a")).filter((one) => document.querySelector(one.hash)).length);
say("plots", size("svg").filter((one) => one.width > 300 && one.height > 40).length);
say("points", size("circle.run").filter((one) => one.width > 1).length);
say("heads", document.querySelectorAll("th:not([scope])").length);
say("wide", document.documentElement.scrollWidth - document.documentElement.clientWidth);
"#;

/// The page, with a policy that lets a test look by a script, which the page itself forbids.
pub(crate) fn scriptable() -> String {
    let page = report::html(&results());
    let policy = "default-src 'none'; ";
    assert!(page.contains(policy) && !page.contains("script-src"), "the page lets scripts run");
    page.replacen(policy, "default-src 'none'; script-src 'nonce-jtrace-report-1'; ", 1)
}

#[test]
fn page_of_a_measurement_shows_its_plots_and_runs_nothing() {
    let figures = Browser::start().open(&scriptable(), LOOK);
    let sections = figures.text("sections").to_owned();
    assert_eq!(sections, "9");
    assert_eq!(figures.text("links"), sections, "each part can be jumped to");
    // The mean, the program, and its single runs.
    assert_eq!((figures.text("plots"), figures.text("points")), ("3", "20"));
    assert_eq!((figures.text("heads"), figures.text("wide")), ("0", "0"));
    assert_eq!(figures.text("strangers"), sections, "nothing but the links to the parts");
    for (what, expected) in [("owned", "undefined"), ("resources", "0"), ("violations", "0")] {
        assert_eq!(figures.text(what), expected, "{what}");
    }
    assert_eq!(figures.errors(), [""; 0]);
    assert!(!figures.asked_for(pages::EVIL_HOST), "{figures:?}");
}
