//! What tools that attach to probes are asked: the same questions for bpftrace and for bcc.

use std::collections::BTreeMap;

use crate::bench::results::Observed;

/// By what a tool counts the hits of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// By nothing: one number.
    Nothing,
    /// By the name of a class, which is the probe's second and third argument.
    Class,
    /// By the names of a class and a method, its second to fifth.
    Method,
}

/// A probe, and what its hits say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The end of the configuration's name.
    pub(super) name: &'static str,
    /// Provider of the probe.
    pub(super) provider: &'static str,
    /// The probe.
    pub(super) probe: &'static str,
    /// How its hits are told apart.
    pub(super) by: By,
    /// The count of the micro-programs that the answer can be compared with.
    pub(super) count: &'static str,
    /// The flag without which the probe is silent.
    pub(super) flag: Option<&'static str>,
}

const fn question(name: &'static str, probe: &'static str, count: &'static str) -> Question {
    Question { name, provider: "hotspot", probe, by: By::Nothing, count, flag: None }
}

/// All questions. The first four are those that both tools are asked.
pub(super) const QUESTIONS: [Question; 9] = [
    question("park", "thread__park__begin", "parks"),
    question("gc", "gc__begin", "collections"),
    Question { by: By::Method, flag: Some("-XX:+DTraceMethodProbes"), ..question("method", "method__entry", "calls") },
    Question { by: By::Class, flag: Some("-XX:+DTraceAllocProbes"), ..question("alloc", "object__alloc", "objects") },
    Question {
        flag: Some("-XX:+DTraceMonitorProbes"),
        ..question("monitor", "monitor__contended__enter", "contended_enters")
    },
    question("sleep", "thread__sleep__begin", "sleeps"),
    question("thread", "thread__start", "threads"),
    question("class", "class__loaded", "loads"),
    Question { provider: "hs_private", ..question("safepoint", "safepoint__begin", "safepoints") },
];

/// The class whose objects, and the class and method whose calls, the micro-programs count.
const CELL: &str = "jtrace/bench/Micro$Cell";
const SMALL: &str = "jtrace/bench/Micro,small";

impl Question {
    /// In a line, for a tool.
    pub(super) fn what(&self, tool: &str) -> String {
        let Self { provider, probe, by, .. } = self;
        match by {
            By::Nothing => format!("{tool} counts {provider}:{probe}"),
            By::Class => format!("{tool} counts {provider}:{probe} by class"),
            By::Method => format!("{tool} counts {provider}:{probe} by class and method"),
        }
    }

    /// The flags of its JVM.
    pub(super) fn flags(&self) -> &[&'static str] {
        self.flag.as_slice()
    }

    /// Writes what was counted into what was observed: all hits are events, and those that the micro-programs count are the
    /// answer. Keys of [`By::Nothing`] are empty, those of [`By::Method`] have a comma between class and method.
    pub(super) fn answer(&self, hits: &BTreeMap<String, u64>, observed: &mut Observed) {
        let key = match self.by {
            By::Nothing => "",
            By::Class => CELL,
            By::Method => SMALL,
        };
        observed.events = Some(hits.values().fold(0, |sum: u64, &hits| sum.saturating_add(hits)));
        observed.answers = BTreeMap::from([(self.count.to_owned(), hits.get(key).copied().unwrap_or(0))]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::micro;

    #[test]
    fn all_hits_are_events_and_only_those_of_the_micro_program_are_the_answer() {
        let hits = [(CELL, 7), ("[B", 2), ("jtrace/bench/Micro$Cellar", 5)].map(|(key, hits)| (key.to_owned(), hits));
        let mut observed = Observed::default();
        QUESTIONS[3].answer(&hits.into(), &mut observed);
        assert_eq!((observed.events, observed.answers["objects"]), (Some(14), 7));
        QUESTIONS[0].answer(&BTreeMap::from([(String::new(), 9)]), &mut observed);
        assert_eq!((observed.events, observed.answers["parks"], observed.answers.len()), (Some(9), 9, 1));
    }

    #[test]
    fn a_probe_that_never_fired_is_answered_with_zero() {
        for question in &QUESTIONS {
            let mut observed = Observed::default();
            question.answer(&BTreeMap::new(), &mut observed);
            assert_eq!((observed.events, observed.answers[question.count]), (Some(0), 0));
        }
    }

    #[test]
    fn questions_speak_of_what_the_micro_programs_count() {
        for question in &QUESTIONS {
            assert!(micro::SOURCE.contains(&format!(" {}=\"", question.count)), "{question:?}");
        }
        assert!(micro::SOURCE.contains("class Cell ") && micro::SOURCE.contains("int small(int value)"));
        assert_eq!(SMALL.replace([',', '/'], "."), format!("{}.small", micro::CLASS));
        assert_eq!(CELL.replace('/', "."), format!("{}$Cell", micro::CLASS));
    }
}
