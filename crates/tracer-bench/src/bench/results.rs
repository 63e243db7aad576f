//! What was measured: one file of JSON, from which every table is made.
//!
//! Times are nanoseconds, memory is bytes. A number that was not measured is absent, never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the file format.
pub const VERSION: u32 = 1;

/// A session of measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`VERSION`].
    pub version: u32,
    /// When it began, in seconds since 1970.
    pub started_s: u64,
    /// On what.
    pub environment: Environment,
    /// How.
    pub method: Method,
    /// The programs, in the order of the request.
    pub programs: Vec<Program>,
    /// The names of the configurations, in the order of the request.
    pub configurations: Vec<String>,
    /// Flags that a configuration's JVMs had beyond those of all, by its name; absent where there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configuration_flags: BTreeMap<String, Vec<String>>,
    /// What was run, in the order of time.
    pub runs: Vec<Run>,
    /// What could not be run.
    pub skipped: Vec<Skipped>,
}

/// The machine and the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// `jtrace --version`.
    pub jtrace: String,
    /// `uname -r`.
    pub kernel: String,
    /// Model of the processor.
    pub cpu: String,
    /// Cores.
    pub cpus: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// The JVM: `java.vm.name` and `java.vm.version`.
    pub jvm: String,
    /// `java.vendor.version` or `java.vendor`.
    pub vendor: String,
    /// The collector.
    pub collector: String,
    /// Largest heap.
    pub max_heap_bytes: u64,
    /// Flags that every JVM was started with.
    pub flags: Vec<String>,
    /// Versions of other tools, by name.
    pub tools: BTreeMap<String, String>,
}

/// How it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// Runs of each program in each configuration.
    pub runs: u32,
    /// Iterations of a JVM before those that are timed.
    pub warm_up: u32,
    /// Iterations that are timed.
    #[serde(default = "one")]
    pub iterations: u32,
    /// How long there may be further ones, until the JVM's compilers are idle; 0 where nobody waits for that.
    #[serde(default, skip_serializing_if = "is_none")]
    pub settle_ms: u64,
    /// Size of the inputs.
    pub size: String,
    /// Seed of the random order.
    pub seed: u64,
}

/// What files have that do not say how many iterations were timed.
const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
const fn is_none(time: &u64) -> bool {
    *time == 0
}

/// A program that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub what: String,
    /// Where it comes from: package and version, jar.
    pub source: String,
    /// The command that starts it.
    pub command: Vec<String>,
    /// Different methods of the program itself (not of the JDK) that an iteration executes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_methods: Option<u64>,
}

/// Timed iterations, in a JVM of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the program.
    pub program: String,
    /// Name of the configuration.
    pub configuration: String,
    /// Which repetition, from 0. All configurations of a round are run before the next round begins.
    pub round: u32,
    /// Time of an iteration by the clock on the wall, on average.
    pub wall_ns: u64,
    /// CPU time of the JVM in an iteration, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Whether the JVM's compilers were idle before; absent where nobody waited for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<bool>,
    /// What the JVM says of its memory in all timed iterations together.
    #[serde(default)]
    pub memory: Memory,
    /// What the observer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// What the program counted of its own work in all timed iterations together, by the name of the count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
}

/// Memory and collections of the JVM during timed iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Collections of all collectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections: Option<u64>,
    /// Time in collections, as the JVM sums it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection_ns: Option<u64>,
    /// Largest use of the heap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_heap_bytes: Option<u64>,
    /// Bytes allocated by all threads that lived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes that moved into the old generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted_bytes: Option<u64>,
}

impl Memory {
    /// Of what both are of, together; what one of them does not tell is told by neither.
    pub(super) fn and(self, other: Self) -> Self {
        let both =
            |one: Option<u64>, other, join: fn(u64, u64) -> u64| one.zip(other).map(|(one, other)| join(one, other));
        let sum = |one, other| both(one, other, u64::saturating_add);
        Self {
            collections: sum(self.collections, other.collections),
            collection_ns: sum(self.collection_ns, other.collection_ns),
            peak_heap_bytes: both(self.peak_heap_bytes, other.peak_heap_bytes, u64::max),
            allocated_bytes: sum(self.allocated_bytes, other.allocated_bytes),
            promoted_bytes: sum(self.promoted_bytes, other.promoted_bytes),
        }
    }
}

/// What an observer says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The command that was run, or that the JVM was given.
    pub command: Vec<String>,
    /// CPU time of the observer's own process, from its start to its end; absent for one inside the JVM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Largest memory of that process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// Iterations that it watched, where these were more than one: it saw [`Observed::events`] in each, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Events that it saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Events that it says it lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// What of the run it did not watch, by its own account: its answers are of the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// Its own answer to the question that the program's counts also answer, by the name of the count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, u64>,
}

/// What an observer's answers are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They equal the program's own counts.
    Right,
    /// They do not, and the observer says itself that it did not watch or keep everything.
    Partial,
    /// They do not, and it does not say so.
    Wrong,
}

impl Run {
    /// What the observer's answers are worth; absent where none of them is known to the program too.
    pub fn verdict(&self) -> Option<Verdict> {
        let observed = self.observed.as_ref()?;
        let mut both =
            observed.answers.iter().filter_map(|(name, answer)| Some((answer, self.counts.get(name)?))).peekable();
        both.peek()?;
        Some(match both.all(|(answer, count)| answer == count) {
            true => Verdict::Right,
            false if observed.partial.is_some() || observed.lost.is_some_and(|lost| lost > 0) => Verdict::Partial,
            false => Verdict::Wrong,
        })
    }
}

/// What could not be run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The program; absent where a configuration was skipped for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The configuration; absent where a program was skipped in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Why, with a hint.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_right_wrong_partial_or_unknown() {
        let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        let answered = |answers: &[(&str, u64)]| Run {
            counts: counts(&[("parks", 7), ("calls", 9)]),
            observed: Some(Observed { answers: counts(answers), ..Observed::default() }),
            ..Run::default()
        };
        assert_eq!(Run::default().verdict(), None);
        assert_eq!(answered(&[("loads", 7)]).verdict(), None);
        assert_eq!(answered(&[("parks", 7)]).verdict(), Some(Verdict::Right));
        let wrong = answered(&[("parks", 7), ("calls", 8)]);
        assert_eq!(wrong.verdict(), Some(Verdict::Wrong));
        let with = |observed: Observed| Run { observed: Some(observed), ..wrong.clone() }.verdict();
        let observed = wrong.observed.clone().unwrap();
        assert_eq!(with(Observed { lost: Some(0), ..observed.clone() }), Some(Verdict::Wrong));
        assert_eq!(with(Observed { lost: Some(1), ..observed.clone() }), Some(Verdict::Partial));
        assert_eq!(with(Observed { partial: Some("half".into()), ..observed }), Some(Verdict::Partial));
    }
}
