//! Limits: how they are read, and when they hold.

use super::*;
use crate::bench::results::{Run, VERSION};

fn run(configuration: &str, round: u32, wall_ns: u64) -> Run {
    Run {
        program: "p".to_owned(),
        configuration: configuration.to_owned(),
        round,
        wall_ns,
        cpu_ns: Some(2 * wall_ns),
        ..Run::default()
    }
}

/// Rounds in which the plain run takes a second and a bit, and the others so much per mille.
fn results(rounds: u32, others: &[(&str, u64)]) -> Results {
    let plain = |round: u32| 1_000_000_000 + u64::from(round) * 1_000_000;
    let runs = (0..rounds).flat_map(|round| {
        let others = others.iter().map(move |(name, mille)| run(name, round, plain(round) / 1000 * mille));
        others.chain([run(PLAIN, round, plain(round))])
    });
    Results { runs: runs.collect(), ..Results { version: VERSION, ..Results::default() } }
}

fn outcome(line: &str, results: &Results) -> Outcome {
    Budget::parse(line).unwrap().judge(results).remove(0)
}

#[test]
fn a_limit_holds_up_to_its_noise_and_is_broken_above() {
    let results = results(10, &[("attach", 1020)]);
    assert!(outcome("p attach time 1.02 0", &results).holds());
    assert!(outcome("p attach time 1.01 0.02", &results).holds());
    assert!(matches!(outcome("p attach time 1.01 0.005", &results), Outcome::Broken(_)));
    assert!(matches!(outcome("p attach cpu 1.01 0.005", &results), Outcome::Broken(_)));
}

#[test]
fn what_noise_may_hide_is_not_broken() {
    let mut noisy = results(10, &[("attach", 1020)]);
    for run in &mut noisy.runs {
        if run.configuration == "attach" && run.round % 2 == 0 {
            run.wall_ns = run.wall_ns / 10 * 9;
        }
    }
    assert!(outcome("p attach time 1.01 0.005", &noisy).holds());
}

#[test]
fn a_cost_is_compared_with_the_cost_of_another() {
    let results = results(10, &[("every:locks", 1300), ("peer:x", 1100)]);
    let Outcome::Holds(estimate) = outcome("p every:locks event-cost/peer:x 3 0.1", &results) else {
        panic!("it is three times")
    };
    assert!((estimate.value - 3.0).abs() < 1e-6, "{estimate:?}");
    assert!(matches!(outcome("p every:locks event-cost/peer:x 2.5 0.1", &results), Outcome::Broken(_)));
    // The other one costs nothing: there is no ratio.
    let free = self::results(10, &[("every:locks", 1300), ("peer:x", 1000)]);
    assert!(matches!(outcome("p every:locks event-cost/peer:x 3 0", &free), Outcome::Unmeasured(_)));
}

#[test]
fn what_was_not_measured_does_not_hold() {
    let four = results(4, &[("attach", 1000)]);
    for line in ["p attach time 2 0", "p lens:gc time 2 0", "q attach time 2 0", "p attach event-cost/peer:x 2 0"] {
        assert!(matches!(outcome(line, &four), Outcome::Unmeasured(_)), "{line}");
    }
}

#[test]
fn a_budget_says_what_must_be_measured() {
    let budget = Budget::parse("# all\n\na attach time 1 0 # one\nb every:locks event-cost/peer:x 1 0\n").unwrap();
    let expected =
        [("a", "attach"), ("a", "plain"), ("b", "every:locks"), ("b", "peer:x"), ("b", "plain")].into_iter().collect();
    assert_eq!(budget.pairs(), expected);
}

#[test]
fn a_text_that_is_no_budget_says_where() {
    for (text, why) in [
        ("", "no line"),
        ("# nothing", "no line"),
        ("a attach time 1", "five words in line 1"),
        ("a attach time 1 0\na attach tame 1 0", "figure that is not"),
        ("a attach event-cost/ 1 0", "figure that is not"),
        ("a attach time nan 0", "no number"),
        ("a attach time 0 0", "no number"),
        ("a attach time 1 -1", "no number"),
        ("a attach time 1 0\na attach time 2 0", "second limit of the same figure in line 2"),
    ] {
        let error = Budget::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn fuzz_budget() {
    crate::fuzz::texts("budget", |text| {
        if let Ok(budget) = Budget::parse(text) {
            assert!(budget.pairs().len() <= 3 * text.len());
        }
    });
}
