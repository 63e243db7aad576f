//! How figures read.

use super::document::Cell;
use crate::{
    bench::statistics::{Estimate, Interval, Verdict},
    text::column,
};

/// Above this a share is hard to read: `2.10x` says more than `110 %`.
const LARGE: f64 = 1.0;

/// A slowdown, or what hides it.
pub(super) fn slowdown(ratio: &Estimate) -> Cell {
    match (ratio.verdict(), ratio.interval) {
        (Verdict::Slower { by, .. }, Some(interval)) if by > LARGE => Cell::usual(times(ratio.value, interval)),
        (verdict @ (Verdict::Slower { .. } | Verdict::Faster { .. }), _) => Cell::usual(verdict.to_string()),
        (verdict @ (Verdict::Hidden { .. } | Verdict::TooFew { .. }), _) => Cell::quiet(verdict.to_string()),
    }
}

/// A change of an amount, or what hides it.
pub(super) fn change(ratio: &Estimate) -> Cell {
    let share = |by: f64, Interval { low, high }: Interval, word: &str| {
        // Amounts of memory may differ by very little, and all the same be told apart.
        let decimals = if by < 0.001 { 3 } else { 1 };
        let [by, low, high] = [by, low, high].map(|share| share * 100.0);
        Cell::usual(format!("{by:.decimals$} % {word} ({low:.decimals$} to {high:.decimals$} %)"))
    };
    match (ratio.verdict(), ratio.interval) {
        (Verdict::Slower { by, .. }, Some(interval)) if by > LARGE => Cell::usual(times(ratio.value, interval)),
        (Verdict::Slower { by, interval }, _) => share(by, interval, "more"),
        (Verdict::Faster { by, interval }, _) => share(by, interval, "less"),
        (verdict @ (Verdict::Hidden { .. } | Verdict::TooFew { .. }), _) => Cell::quiet(verdict.to_string()),
    }
}

/// A ratio beside one of others: theirs is one number, and so is ours where it can be told from 1.
pub(super) fn ratio(ratio: &Estimate) -> Cell {
    match (ratio.verdict(), ratio.interval) {
        (Verdict::Slower { .. } | Verdict::Faster { .. }, Some(interval)) => Cell::usual(times(ratio.value, interval)),
        (verdict, _) => Cell::quiet(verdict.to_string()),
    }
}

/// A time with its interval.
pub(super) fn time(estimate: &Estimate) -> String {
    let Estimate { value, interval, runs } = *estimate;
    match interval {
        Some(Interval { low, high }) => {
            format!("{} ({} to {})", signed(value), signed(low), signed(high))
        }
        None => Verdict::TooFew { runs }.to_string(),
    }
}

/// A time that may be below 0.
fn signed(ns: f64) -> String {
    if ns < 0.0 { format!("-{}", column::duration(-ns)) } else { column::duration(ns) }
}

fn times(value: f64, Interval { low, high }: Interval) -> String {
    let decimals = match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}x ({low:.decimals$} to {high:.decimals$})")
}

/// A ratio of others, as times.
pub(super) fn their_ratio(value: f64) -> String {
    format!("{value:.2}x")
}

/// A command as a shell reads it.
pub(super) fn command(words: &[String]) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    let quote = |word: &String| match word.as_str() {
        "" => "''".to_owned(),
        word if word.chars().all(is_safe) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }), runs: 8 }
    }

    #[test]
    fn large_slowdowns_are_times_and_small_ones_shares() {
        assert_eq!(slowdown(&estimate(2.104, 2.05, 2.16)), Cell::usual("2.10x (2.05 to 2.16)"));
        assert_eq!(slowdown(&estimate(31.04, 30.0, 32.0)), Cell::usual("31.0x (30.0 to 32.0)"));
        assert_eq!(slowdown(&estimate(1.031, 1.024, 1.039)), Cell::usual("3.1 % slower (2.4 to 3.9 %)"));
        assert_eq!(slowdown(&estimate(1.001, 0.995, 1.008)), Cell::quiet("below 0.8 %, cannot be told from 0"));
        let few = Estimate { value: 9.0, interval: None, runs: 3 };
        assert_eq!(slowdown(&few), Cell::quiet("too few runs (3, not 5)"));
    }

    #[test]
    fn amounts_are_more_or_less_and_not_slower() {
        assert_eq!(change(&estimate(1.25, 1.2, 1.3)).text, "25.0 % more (20.0 to 30.0 %)");
        assert_eq!(change(&estimate(0.75, 0.7, 0.8)).text, "25.0 % less (20.0 to 30.0 %)");
        assert_eq!(change(&estimate(0.9996, 0.9995, 0.9999)).text, "0.040 % less (0.010 to 0.050 %)");
        assert_eq!(change(&estimate(3.0, 2.5, 3.5)).text, "3.00x (2.50 to 3.50)");
        assert_eq!(ratio(&estimate(0.75, 0.7, 0.8)).text, "0.75x (0.70 to 0.80)");
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time(&estimate(522.5, 480.0, 1200.0)), "522 ns (480 ns to 1.20 us)");
        assert_eq!(time(&estimate(5.0, -12.0, 20.0)), "5 ns (-12 ns to 20 ns)");
    }

    #[test]
    fn a_shell_reads_the_words_that_were_run() {
        let words = ["java", "-cp", "/a b/it.jar", "", "it's", "$x", "-XX:+A=1"].map(str::to_owned);
        assert_eq!(command(&words), r"java -cp '/a b/it.jar' '' 'it'\''s' '$x' -XX:+A=1");
    }
}
