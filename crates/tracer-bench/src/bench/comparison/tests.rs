//! Runs of made-up times, and what must follow from them.

use super::*;
use crate::bench::{sample, statistics::FEWEST};

fn run(program: &str, configuration: &str, round: u32, wall_ns: u64) -> Run {
    Run { program: program.into(), configuration: configuration.into(), round, wall_ns, ..Run::default() }
}

fn results(runs: Vec<Run>) -> Results {
    Results { runs, programs: Vec::new(), configurations: Vec::new(), skipped: Vec::new(), ..sample::results() }
}

/// Ten rounds of a program, each with its own speed, watched with a slowdown, and changed as wanted.
fn rounds(factor: u64, change: impl Fn(&mut Run)) -> Results {
    let both = |round: u32| {
        let wall_ns = 1_000_000_000 + u64::from(round) * 10_000_000;
        let mut watched = run("p", "watched", round, wall_ns * factor / 100);
        watched.observed = Some(Observed::default());
        change(&mut watched);
        [run("p", PLAIN, round, wall_ns), watched]
    };
    results((0..10).flat_map(both).collect())
}

fn observed(run: &mut Run) -> &mut Observed {
    run.observed.as_mut().unwrap()
}

#[test]
fn a_slowdown_is_found_exactly_where_rounds_agree() {
    let figures = Figures::new(&rounds(150, |_| ()));
    let [comparison] = figures.comparisons.as_slice() else { panic!("{figures:?}") };
    let slowdown = comparison.slowdown.unwrap();
    assert!((slowdown.value - 1.5).abs() < 1e-9 && slowdown.runs == 10);
    assert!(matches!(slowdown.verdict(), Verdict::Slower { .. }));
    assert!((figures.mean("watched", Quantity::Wall).unwrap().ratio.value - 1.5).abs() < 1e-9);
}

#[test]
fn what_was_not_measured_is_absent() {
    let figures = Figures::new(&rounds(150, |_| ()));
    let Comparison { cpu, observer_cpu_ns, observer_peak_rss_bytes, events, lost, right, wrong, ns_per_event, .. } =
        &figures.comparisons[0];
    assert_eq!((*cpu, *ns_per_event), (None, None));
    assert_eq!((*observer_cpu_ns, *observer_peak_rss_bytes, *events, *lost), (None, None, None, None));
    assert_eq!((*right, *wrong), (0, 0));
    assert_eq!(figures.perturbations, []);
    assert_eq!(figures.mean("watched", Quantity::Cpu), None);
}

#[test]
fn without_plain_runs_there_is_no_slowdown() {
    let figures = Figures::new(&results(vec![run("p", "watched", 0, 5)]));
    assert_eq!(figures.comparisons[0].slowdown, None);
    assert_eq!(figures.comparisons[0].runs, 1);
    assert_eq!((figures.plain.len(), figures.means.len()), (0, 0));
}

#[test]
fn an_event_costs_the_difference_of_the_medians() {
    let figures = Figures::new(&rounds(150, |run| observed(run).events = Some(1_000_000)));
    let cost = figures.comparisons[0].ns_per_event.unwrap();
    // The median plain iteration takes 1.045 s, half of that comes on top.
    assert!((cost.value - 522.5).abs() < 1e-6, "{cost:?}");
    let interval = cost.interval.unwrap();
    assert!(interval.low < cost.value && cost.value < interval.high);
}

#[test]
fn a_hidden_difference_costs_no_event_anything() {
    for (factor, events) in [(100, 1000), (50, 1000), (150, 0)] {
        let figures = Figures::new(&rounds(factor, |run| observed(run).events = Some(events)));
        assert_eq!(figures.comparisons[0].ns_per_event, None, "{factor} {events}");
    }
}

#[test]
fn the_cost_of_the_observer_is_told() {
    let figures = Figures::new(&rounds(100, |run| {
        let (wall_ns, round) = (run.wall_ns, u64::from(run.round));
        let observed = observed(run);
        observed.cpu_ns = Some(wall_ns / 4);
        observed.peak_rss_bytes = Some(1000 + round);
        observed.lost = Some(if round == 7 { 5 } else { 0 });
        observed.events = Some(100 + round);
    }));
    let comparison = &figures.comparisons[0];
    assert_eq!(comparison.observer_cpu_ns, Some(1045e6 / 4.0));
    assert_eq!(comparison.observer_peak_rss_bytes, Some(1009));
    assert_eq!(comparison.lost, Some(5), "the median would hide the one run that lost");
    assert_eq!(comparison.events, Some(104.5));
}

#[test]
fn answers_are_counted() {
    let figures = Figures::new(&rounds(100, |run| {
        run.counts.insert("parks".into(), 7);
        if run.round < 8 {
            let answer = if run.round < 3 { 6 } else { 7 };
            observed(run).answers.insert("parks".into(), answer);
        }
    }));
    let Comparison { right, partial, wrong, .. } = &figures.comparisons[0];
    assert_eq!((*right, *partial, *wrong), (5, 0, 3));
}

#[test]
fn memory_is_compared_and_nothing_has_no_ratio() {
    let mut results = rounds(100, |run| run.memory.collections = Some(12));
    for run in &mut results.runs {
        run.memory.promoted_bytes = Some(if run.configuration == PLAIN { 0 } else { 9 });
        run.memory.collections.get_or_insert(10);
    }
    let figures = Figures::new(&results);
    let [collections, promoted] = figures.perturbations.as_slice() else { panic!("{figures:?}") };
    assert_eq!((collections.quantity, collections.plain, collections.watched), (Quantity::Collections, 10.0, 12.0));
    assert!((collections.ratio.unwrap().value - 1.2).abs() < 1e-9);
    assert_eq!((promoted.quantity, promoted.plain, promoted.watched), (Quantity::Promoted, 0.0, 9.0));
    assert_eq!(promoted.ratio, None);
}

#[test]
fn an_iteration_of_no_time_was_not_measured() {
    let mut results = rounds(150, |_| ());
    results.runs[0].wall_ns = 0;
    let slowdown = Figures::new(&results).comparisons[0].slowdown.unwrap();
    assert!((slowdown.value - 1.5).abs() < 1e-9 && slowdown.runs == 9);
}

#[test]
fn the_mean_is_over_the_programs_that_ran() {
    let figures = Figures::new(&sample::results());
    let Mean { programs, ratio, .. } = figures.mean("markers:100", Quantity::Wall).unwrap();
    assert_eq!((*programs, ratio.runs), (3, 3));
    assert!((4.1..4.3).contains(&ratio.value) && ratio.interval.is_none(), "one of them has fewer than {FEWEST}");
    assert_eq!(figures.mean("attach", Quantity::Wall).unwrap().programs, 4);
    // One program says nothing of promoted bytes.
    assert_eq!(figures.mean("markers:100", Quantity::Promoted).unwrap().programs, 2);
}

#[test]
fn all_that_ran_is_in_the_order_of_the_request_whether_asked_for_or_not() {
    let mut results = sample::results();
    results.programs.truncate(2);
    results.configurations = vec!["calls".into(), "plain".into()];
    let figures = Figures::new(&results);
    assert_eq!(figures.programs, ["fop", "h2", "lusearch", sample::HOSTILE]);
    assert_eq!(figures.configurations[..2], ["calls", "flags:method"]);
    assert!(!figures.configurations.iter().any(|name| name == PLAIN));
    assert_eq!(figures.comparison("fop", "calls").unwrap().runs, 8);
    assert_eq!(figures.comparison("fop", "nothing"), None);
}
