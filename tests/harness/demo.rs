//! The demo: a JVM with three planted problems (`tests/workloads/demo`), and which of them a report names.

use anyhow::Result;

use crate::{
    jdk::Jdk,
    jvm::{Jvm, Launch},
    report::Report,
};

/// A problem of the demo, the rules whose findings name it, and a word that their titles hold.
struct Planted {
    problem: &'static str,
    rules: &'static [&'static str],
    word: &'static str,
}

const PLANTED: [Planted; 3] = [
    Planted {
        problem: "a lock that all customers fight for",
        rules: &["lock-contention", "lock-chain"],
        word: "com.shop.Cart",
    },
    Planted { problem: "pools of threads that are never shut down", rules: &["thread-leak"], word: "pool-" },
    Planted {
        problem: "allocation that keeps the collector busy",
        rules: &["gc-share", "gc-long-pause", "heap-nearly-full"],
        word: "",
    },
];

/// Starts the program of the demo and waits until its problems are under way. It ends when the value goes away.
///
/// # Errors
/// The program is not built, or does not come that far.
pub fn start(jdk: &Jdk) -> Result<Jvm> {
    start_with(jdk, "-Xmx256m")
}

/// The same with a heap of this size.
///
/// # Errors
/// As of [`start`].
pub fn start_with(jdk: &Jdk, heap: &str) -> Result<Jvm> {
    Launch::new(jdk, "demo", "com.shop.Demo").flags(&[heap, "-XX:+UseG1GC"]).start()
}

/// The planted problems that no finding of the report names.
pub fn unnamed(report: &Report) -> Vec<&'static str> {
    let findings = report.0["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = |planted: &Planted| {
        findings.iter().any(|finding| {
            let of = |key: &str| finding[key].as_str().unwrap_or_default();
            planted.rules.contains(&of("id")) && of("title").contains(planted.word)
        })
    };
    PLANTED.iter().filter(|planted| !names(planted)).map(|planted| planted.problem).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_is_named_by_its_rule_and_its_word() {
        let finding = |id: &str, title: &str| json!({ "id": id, "title": title });
        let report = |findings: &[serde_json::Value]| Report(json!({ "findings": findings }));
        let all = [
            finding("lock-contention", "14 threads blocked 101 s on one `com.shop.Cart`"),
            finding("thread-leak", "38 threads started, 0 stopped: names `pool-*-thread-*`"),
            finding("gc-share", "GC takes 16 % of wall time"),
        ];
        assert!(unnamed(&report(&all)).is_empty());
        assert_eq!(unnamed(&report(&all[1..])), ["a lock that all customers fight for"]);
        assert_eq!(unnamed(&report(&[finding("lock-contention", "on one `com.shop.Other`")])).len(), 3);
        assert_eq!(unnamed(&report(&[])).len(), 3);
    }
}
