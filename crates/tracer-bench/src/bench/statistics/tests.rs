//! Figures of samples whose distribution is known.

use proptest::prelude::*;

use super::*;

/// Noise of this many percent around 1, of one round each: the middle of twelve numbers is near enough to a normal one.
fn noise(random: &mut Random, percent: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| (random.bits() >> 11) as f64 / (1_u64 << 53) as f64).sum();
    ((sum - 6.0) * percent / 100.0).exp()
}

/// Rounds of a program that takes 4 s, slowed down by a factor; rounds drift together by far more than runs differ.
type Rounds = Vec<(u32, f64)>;

fn rounds(random: &mut Random, runs: u32, factor: f64) -> (Rounds, Rounds) {
    let mut one = |factor: f64, drift: f64, round| (round, 4e9 * factor * drift * noise(random, 2.0));
    (0..runs)
        .map(|round| {
            let drift = 1.0 + 0.3 * f64::from(round) / f64::from(runs);
            (one(1.0, drift, round), one(factor, drift, round))
        })
        .unzip()
}

fn coverage(runs: u32, sample: impl Fn(&mut Random) -> Option<Estimate>, truth: f64) -> f64 {
    const CASES: u32 = 400;
    let mut random = Random::new(u64::from(runs));
    let held = (0..CASES).filter(|_| {
        let interval = sample(&mut random).and_then(|estimate| estimate.interval).unwrap();
        interval.low <= truth && truth <= interval.high
    });
    held.count() as f64 / f64::from(CASES)
}

#[test]
fn intervals_hold_the_true_ratio_in_about_95_of_100_cases() {
    for runs in [5, 10, 20] {
        let share = coverage(
            runs,
            |random| {
                let (plain, watched) = rounds(random, runs, 1.1);
                Ratios::new(&plain, &watched).map(|ratios| ratios.estimate())
            },
            1.1,
        );
        assert!((0.90..=0.99).contains(&share), "{runs} runs: {share}");
    }
}

#[test]
fn intervals_of_unpaired_measurements_hold_it_too() {
    let share = coverage(
        10,
        |random| {
            let mut values = |factor: f64, from: u32| -> Vec<(u32, f64)> {
                (from..from + 10).map(|round| (round, factor * noise(random, 5.0))).collect()
            };
            let ratios = Ratios::new(&values(1.0, 0), &values(1.1, 100));
            assert!(matches!(ratios, Some(Ratios::Apart { .. })));
            ratios.map(|ratios| ratios.estimate())
        },
        1.1,
    );
    assert!((0.90..=0.995).contains(&share), "{share}");
}

#[test]
fn the_interval_of_a_geometric_mean_holds_it() {
    let share = coverage(
        10,
        |random| {
            let programs: Vec<_> = [1.0, 1.1, 1.21]
                .iter()
                .filter_map(|factor| {
                    let (plain, watched) = rounds(random, 10, *factor);
                    Ratios::new(&plain, &watched)
                })
                .collect();
            geometric_mean(&programs)
        },
        1.1,
    );
    assert!((0.90..=0.99).contains(&share), "{share}");
}

#[test]
fn pairing_takes_out_what_drifts() {
    let (plain, watched) = rounds(&mut Random::new(7), 20, 1.03);
    let paired = Ratios::new(&plain, &watched).unwrap();
    let later: Vec<_> = watched.iter().map(|(round, value)| (round + 100, *value)).collect();
    let apart = Ratios::new(&plain, &later).unwrap();
    let width = |ratios: &Ratios| ratios.estimate().interval.map(|Interval { low, high }| high - low).unwrap();
    assert!(width(&paired) * 2.0 < width(&apart), "{} {}", width(&paired), width(&apart));
    assert!(matches!(paired.estimate().verdict(), Verdict::Slower { .. }));
    assert!(matches!(apart.estimate().verdict(), Verdict::Hidden { .. }));
}

#[test]
fn medians_and_quartiles() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(quartiles(&[]), None);
    assert_eq!(quartiles(&[5.0]), Some(Quartiles { low: 5.0, median: 5.0, high: 5.0 }));
    assert_eq!(quartiles(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some(Quartiles { low: 2.0, median: 3.0, high: 4.0 }));
    assert_eq!(quartiles(&[4.0, 1.0, 2.0, 3.0]), Some(Quartiles { low: 1.75, median: 2.5, high: 3.25 }));
}

#[test]
fn verdicts_say_what_the_interval_allows() {
    let of = |value, low, high| Estimate { value, interval: Some(Interval { low, high }), runs: 10 }.verdict();
    assert_eq!(of(1.034, 1.021, 1.049).to_string(), "3.4 % slower (2.1 to 4.9 %)");
    assert_eq!(of(0.9, 0.85, 0.95).to_string(), "10.0 % faster (5.0 to 15.0 %)");
    assert_eq!(of(1.002, 0.998, 1.0075).to_string(), "below 0.8 %, cannot be told from 0");
    assert_eq!(of(0.99, 0.98, 1.0).to_string(), "below 2.0 %, cannot be told from 0");
    assert_eq!(of(1.0, 1.0, 1.0), Verdict::Hidden { limit: 0.0 });
    assert_eq!(Estimate { value: 2.0, interval: None, runs: 3 }.verdict().to_string(), "too few runs (3, not 5)");
}

#[test]
fn too_few_runs_have_no_interval() {
    let four: Vec<_> = (0..4).map(|round| (round, 1.0)).collect();
    let ten: Vec<_> = (0..10).map(|round| (round, 1.0)).collect();
    assert_eq!(Ratios::new(&ten, &four).unwrap().estimate().interval, None);
    assert_eq!(Ratios::new(&four, &four).unwrap().estimate().verdict(), Verdict::TooFew { runs: 4 });
    let programs = [Ratios::new(&ten, &ten).unwrap(), Ratios::new(&four, &four).unwrap()];
    assert_eq!(geometric_mean(&programs).unwrap().interval, None);
    assert_eq!(geometric_mean(&[]), None);
}

#[test]
fn there_is_no_ratio_to_nothing() {
    assert_eq!(Ratios::new(&[], &[(0, 1.0)]), None);
    assert_eq!(Ratios::new(&[(0, 1.0)], &[]), None);
    assert_eq!(Ratios::new(&[(0, 0.0), (1, 1.0)], &[(0, 1.0), (1, 1.0)]), None);
    assert_eq!(Ratios::new(&[(0, 1.0)], &[(0, f64::NAN)]), None);
    assert_eq!(geometric_mean(&[Ratios::new(&[(0, 1.0)], &[(0, 0.0)]).unwrap()]), None);
}

#[test]
fn a_difference_is_divided_and_has_an_interval() {
    let plain = [100.0, 102.0, 98.0, 101.0, 99.0];
    let watched: Vec<f64> = plain.iter().map(|value| value + 50.0).collect();
    let Estimate { value, interval, runs } = difference(&plain, &watched, 10.0).unwrap();
    assert!((value - 5.0).abs() < 1e-9);
    let Interval { low, high } = interval.unwrap();
    assert!((4.6..5.0).contains(&low) && (5.0..5.41).contains(&high), "{low} {high}");
    assert_eq!(runs, 5);
    assert_eq!(difference(&plain, &watched, 0.0), None);
}

#[test]
fn random_numbers_are_the_known_ones() {
    // The first numbers of SplitMix64 from seed 1234567, as published with it.
    let mut random = Random::new(1_234_567);
    assert_eq!(random.bits(), 6_457_827_717_110_365_317);
    assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    assert_eq!(random.below(0), 0);
    let mut counts = [0; 6];
    (0..6000).for_each(|_| counts[random.below(6)] += 1);
    assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_does_not_matter(seed: u64, runs in 1_u32..15, shift in 0_usize..15, gap in 0_u32..15) {
        let (plain, mut watched) = rounds(&mut Random::new(seed), runs, 1.2);
        for (round, _) in &mut watched {
            *round += gap;
        }
        let before = Ratios::new(&plain, &watched).unwrap().estimate();
        let mut turned = plain.clone();
        turned.rotate_left(shift % plain.len());
        watched.reverse();
        prop_assert_eq!(before, Ratios::new(&turned, &watched).unwrap().estimate());
    }

    #[test]
    fn the_unit_does_not_matter(seed: u64, runs in 1_u32..15, power in -40_i32..40, gap in 0_u32..15) {
        let (plain, mut watched) = rounds(&mut Random::new(seed), runs, 1.2);
        for (round, _) in &mut watched {
            *round += gap;
        }
        // Powers of two, so that nothing is rounded.
        let scaled = |values: &[(u32, f64)]| -> Vec<_> {
            values.iter().map(|(round, value)| (*round, value * 2_f64.powi(power))).collect()
        };
        let before = Ratios::new(&plain, &watched).unwrap().estimate();
        prop_assert_eq!(before, Ratios::new(&scaled(&plain), &scaled(&watched)).unwrap().estimate());
    }

    #[test]
    fn the_figure_lies_in_its_interval(seed: u64, runs in 5_u32..25, gap in 0_u32..25) {
        let (plain, mut watched) = rounds(&mut Random::new(seed), runs, 1.2);
        for (round, _) in &mut watched {
            *round += gap;
        }
        let Estimate { value, interval, .. } = Ratios::new(&plain, &watched).unwrap().estimate();
        let Interval { low, high } = interval.unwrap();
        prop_assert!(low <= value && value <= high);
    }

    #[test]
    fn what_is_the_same_is_hidden(seed: u64, runs in 5_u32..25) {
        let (plain, _) = rounds(&mut Random::new(seed), runs, 1.0);
        let verdict = Ratios::new(&plain, &plain).unwrap().estimate().verdict();
        prop_assert_eq!(verdict, Verdict::Hidden { limit: 0.0 });
    }
}
