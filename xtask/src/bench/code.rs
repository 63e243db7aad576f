//! How long it takes to attach, with all that stacks need, to a JVM that has about 50 MB of compiled code.

use ::tests::{jdk::Jdk, jtrace::Session, jvm::Launch};
use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, statistics::median};

/// Each has a hundred methods, which C1 makes some 160 KB of code from.
const CLASSES: &str = "310";
/// Less code than that proves nothing.
const LEAST_KIB: u64 = 48 * 1024;
const FLAGS: [&str; 3] = ["-Xcomp", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m"];

pub(crate) fn measure(jdk: &Jdk, times: usize) -> Result<Vec<Figure>> {
    let jvm = Launch::new(jdk, "figures", "Code").flags(&FLAGS).arguments(&[CLASSES]).start()?;
    let text = jvm.jcmd(&["Compiler.codecache"])?;
    let used_kib = sum(&text, " used=")?;
    ensure!(used_kib >= LEAST_KIB, "the workload has only {used_kib} KiB of compiled code: {text}");
    let mut attaches = Vec::new();
    for _ in 0..times {
        let report = Session::attach(jvm.pid(), &[])?.report()?;
        let missing = report.missing();
        ensure!(missing.iter().all(|sentence| !sentence.contains("stacks")), "not all stacks can be had: {missing:?}");
        attaches.push(report.0["cost"]["attach_ns"].as_f64().context("the report has no attach_ns")? / 1e6);
    }
    let worst = attaches.iter().copied().fold(0.0, f64::max);
    let note = format!(
        "{} MiB of code in {} methods; median of {times}, worst {worst:.0} ms",
        used_kib / 1024,
        sum(&text, " nmethods=")?
    );
    Ok(vec![Figure::new("attach_with_50_mb_of_code_ms", median(&attaches), note)])
}

/// The sum of the numbers after a word; a code cache of several parts tells each part's.
fn sum(text: &str, word: &str) -> Result<u64> {
    let numbers = text.split(word).skip(1).filter_map(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse::<u64>().ok()
    });
    let numbers: Vec<u64> = numbers.collect();
    ensure!(!numbers.is_empty(), "jcmd does not tell `{}`: {text}", word.trim());
    Ok(numbers.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_of_a_code_cache_count() {
        let text =
            "'a': size=3Kb used=10Kb max_used=11Kb free=1Kb\n'b': size=3Kb used=5Kb max_used=7Kb\n total nmethods=7 x";
        assert_eq!((sum(text, " used=").unwrap(), sum(text, " nmethods=").unwrap()), (15, 7));
        assert!(sum(text, " adapters=").is_err());
    }
}
