//! Markers on a tenth and on all of the methods that programs of the packaged suite execute, off and gone again too, and calls of all
//! in their contexts, by `jtrace bench` itself.

use std::{collections::BTreeMap, fs};

use ::tests::jdk::Jdk;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{jtrace, named};
use crate::{
    bench::{
        budget::Figure,
        statistics::{median, quartiles},
    },
    process, workspace,
};

/// How much of the suite is measured.
pub(in crate::bench) struct Size {
    /// The words of `jtrace bench` for it.
    pub(in crate::bench) words: &'static [&'static str],
}

const CONFIGURATIONS: [(&str, &str); 8] = [
    ("suite_gone_ratio", "markers-gone:100"),
    ("suite_off_ratio", "markers:0"),
    ("suite_10_ratio", "markers:10"),
    ("suite_100_ratio", "markers:100"),
    ("suite_contexts_ratio", "contexts"),
    ("suite_contexts_alloc_ratio", "contexts:alloc"),
    ("suite_alloc_ratio", "alloc:inside"),
    ("suite_exceptions_ratio", "exceptions:inside"),
];
/// Which methods belong to a tenth follows from it, so that all sessions mark the same.
const SEED: &str = "6";

pub(super) fn measure(jdk: &Jdk, size: &Size) -> Result<Vec<Figure>> {
    let folder = workspace::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let results = folder.join(format!("inside-{}.json", jdk.release));
    if results.exists() {
        fs::remove_file(&results).with_context(|| format!("cannot remove {}", results.display()))?;
    }
    let mut command = process::command(jtrace()?);
    command.args(["bench", "--suite", "packaged", "--seed", SEED]).args(size.words);
    let configurations = CONFIGURATIONS.iter().map(|(_, configuration)| *configuration);
    command.arg("--configurations").arg(["plain"].into_iter().chain(configurations).collect::<Vec<_>>().join(","));
    command.arg("--java").arg(jdk.java()).arg("-o").arg(&results);
    // It ends with 1 where a program's package is not there; what was measured counts all the same.
    let status = command.stdout(std::process::Stdio::null()).status().context("cannot start jtrace")?;
    let text = fs::read(&results).with_context(|| format!("jtrace bench: {status}, and no {}", results.display()))?;
    let results: Value = serde_json::from_slice(&text).context("the results of jtrace bench")?;
    CONFIGURATIONS.iter().map(|(name, configuration)| figure(&named(name, jdk), configuration, &results)).collect()
}

/// The geometric mean over programs of the median over rounds of the ratio to plain.
fn figure(name: &str, configuration: &str, results: &Value) -> Result<Figure> {
    let runs = results["runs"].as_array().context("no runs")?;
    let mut times: BTreeMap<(&str, u64), [Option<f64>; 2]> = BTreeMap::new();
    for run in runs {
        let (Some(program), Some(round), Some(ns)) =
            (run["program"].as_str(), run["round"].as_u64(), run["wall_ns"].as_f64())
        else {
            continue;
        };
        let which = match run["configuration"].as_str() {
            Some("plain") => 0,
            Some(other) if other == configuration => 1,
            _ => continue,
        };
        times.entry((program, round)).or_default()[which] = Some(ns);
    }
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((program, _), pair) in times {
        if let [Some(plain), Some(watched)] = pair {
            ratios.entry(program).or_default().push(watched / plain);
        }
    }
    ensure!(!ratios.is_empty(), "no program was measured in {configuration}: {}", results["skipped"]);
    let medians: Vec<(&str, f64)> = ratios.iter().map(|(program, ratios)| (*program, median(ratios))).collect();
    let mean = (medians.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / medians.len() as f64).exp();
    let each = |(program, ratio): &(&str, f64)| {
        let (low, high) = quartiles(&ratios[program]);
        format!("{program} {ratio:.2} ({low:.2} to {high:.2})")
    };
    let all: Vec<String> = medians.iter().map(each).collect();
    Ok(Figure::new(name.to_owned(), mean, format!("geometric mean of medians (quartiles): {}", all.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_geometric_over_programs_and_pairs_are_of_one_round() {
        let run = |program: &str, configuration: &str, round: u32, ns: u32| serde_json::json!({"program": program, "configuration": configuration, "round": round, "wall_ns": ns});
        let results = serde_json::json!({"runs": [
            run("a", "plain", 0, 100), run("a", "markers:10", 0, 200),
            run("a", "plain", 1, 1000), run("a", "markers:10", 1, 2000), run("a", "plain", 2, 1),
            run("b", "markers:10", 0, 800), run("b", "plain", 0, 100), run("b", "markers:100", 0, 9),
        ], "skipped": []});
        let figure = figure("x", "markers:10", &results).unwrap();
        assert!((figure.value - 4.0).abs() < 1e-9, "{}", figure.value);
        assert!(figure.note.contains("a 2.00 (2.00 to 2.00), b 8.00"), "{}", figure.note);
        assert!(super::figure("x", "markers:25", &results).is_err());
    }
}
