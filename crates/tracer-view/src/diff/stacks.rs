//! Profiles, two by two: which methods have more, and which less.

use std::collections::BTreeMap;

use serde::Serialize;

use super::half_interval;
use crate::{
    report::{Profile, ProfileStack, Section, Unit, Word},
    stack::Frame,
};

/// Most methods of a profile.
const MOST: usize = 20;
/// Methods of one profile that have more or less.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Methods {
    /// Id of the profile.
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Unit of the amounts, which are per second.
    pub unit: Unit,
    /// The largest difference first.
    pub moved: Vec<Moved>,
    /// How many more differ.
    pub further: usize,
}

/// A method, and what stacks that end in it have, per second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// The innermost Java method of the stacks; without one their innermost frame.
    pub method: String,
    /// In the first report.
    pub before: f64,
    /// In the second one.
    pub after: f64,
    /// Half the interval of `after - before` at 95 %.
    pub interval: f64,
}

/// Profiles that both have and that differ.
pub(super) fn compared(before: &Section, after: &Section, seconds: [f64; 2]) -> Vec<Methods> {
    let pairs = after.profiles().filter_map(|later| {
        let earlier = before.profile(later.id).filter(|earlier| earlier.unit == later.unit)?;
        Some((earlier, later))
    });
    let methods = pairs.map(|(earlier, later)| of_profile(earlier, later, seconds));
    methods.filter(|methods| !methods.moved.is_empty()).collect()
}

/// An amount per second, and its variance.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    mean: f64,
    variance: f64,
}

fn of_profile(before: &Profile, after: &Profile, seconds: [f64; 2]) -> Methods {
    let mut rates: BTreeMap<String, [Rate; 2]> = BTreeMap::new();
    for (side, profile) in [before, after].into_iter().enumerate() {
        for stack in &profile.stacks {
            let rate = &mut rates.entry(method(profile, stack)).or_default()[side];
            let value = stack.value as f64 / seconds[side];
            rate.mean += value;
            // So many events that come independently, each with the mean amount.
            rate.variance += value * value / (stack.count.max(1) as f64);
        }
    }
    let mut moved: Vec<Moved> = rates
        .into_iter()
        .map(|(method, [before, after])| Moved {
            method,
            before: before.mean,
            after: after.mean,
            interval: half_interval(before.variance + after.variance),
        })
        .filter(|moved| (moved.after - moved.before).abs() > moved.interval)
        .collect();
    let size = |moved: &Moved| (moved.after - moved.before).abs();
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.method.cmp(&b.method)));
    let further = moved.len().saturating_sub(MOST);
    moved.truncate(MOST);
    Methods { id: after.id, title: after.title.clone(), unit: after.unit, moved, further }
}

fn method(profile: &Profile, stack: &ProfileStack) -> String {
    let frames = stack.frames.iter().rev().filter_map(|frame| profile.frames.get(usize::try_from(*frame).ok()?));
    let is_java = |frame: &&Frame| frame.kind.is_java();
    let innermost = frames.clone().next();
    let chosen = frames.clone().find(is_java).or(innermost);
    chosen.map_or_else(|| "<no stack>".to_owned(), |frame| without_addresses(&frame.name))
}

/// Names of hidden classes hold an address, which is another one in each JVM. Where a file has no symbol, its place in the file stays.
pub(super) fn without_addresses(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("0x") {
        let (before, number) = rest.split_at(at + 2);
        out.push_str(before);
        rest = if before.ends_with("<no symbol>+0x") {
            number
        } else {
            number.trim_start_matches(|letter: char| letter.is_ascii_hexdigit())
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_hidden_classes_go_and_places_in_files_stay() {
        assert_eq!(without_addresses("L$$Lambda/0x7f01.run"), "L$$Lambda/0x.run");
        assert_eq!(
            without_addresses("java.lang.invoke.LambdaForm$MH+0x00007f.invoke"),
            "java.lang.invoke.LambdaForm$MH+0x.invoke"
        );
        assert_eq!(without_addresses("libc.so.6!<no symbol>+0x1098eb"), "libc.so.6!<no symbol>+0x1098eb");
    }
}
