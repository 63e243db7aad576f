//! How many have died of what, and how far they had come.

use std::{collections::BTreeMap, fmt, iter::Sum};

use tests::process::Signal;

/// How far a command had come when it was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It was on its way to being attached.
    Coming,
    /// It was attached, or undoing what it had done.
    Attached,
    /// It had ended by itself.
    Over,
}

#[derive(Default)]
pub(super) struct Tally(BTreeMap<(String, Stage), u64>);

impl Tally {
    pub(super) fn add(&mut self, release: u32, command: &str, signal: Signal, stage: Stage) {
        let kind = format!("by {}", format!("{signal:?}").trim_matches('"').replace("Signal::", "SIG"));
        for key in [format!("1 JDK {release}"), format!("2 {command}"), format!("3 {kind}"), "4 all".to_owned()] {
            *self.0.entry((key, stage)).or_default() += 1;
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        for (key, count) in all.flat_map(|tally| tally.0) {
            *sum.0.entry(key).or_default() += count;
        }
        sum
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "deaths: {:20} {:>8} {:>8} {:>8}", "", "coming", "attached", "over")?;
        let mut last = "";
        for (key, _) in self.0.keys() {
            if key != last {
                let of = |stage| self.0.get(&(key.clone(), stage)).copied().unwrap_or_default();
                let [coming, attached, over] = [Stage::Coming, Stage::Attached, Stage::Over].map(of);
                // The number in front is for the order.
                writeln!(out, "deaths: {:20} {coming:>8} {attached:>8} {over:>8}", &key[2..])?;
                last = key;
            }
        }
        Ok(())
    }
}
