//! `cargo xtask verifier`: loads jtrace's programs and compares how many instructions the kernel's verifier walks through
//! with `tests/budgets/verifier.txt`. The number is what loading costs, and at a million the verifier gives up.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::{bench, process, workspace};

/// Kernels differ in what they find equal, and a change may cost a little without anybody looking.
const TOLERANCE_PERCENT: u64 = 25;

/// What to do with the numbers.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Write what was measured into the budget
    #[arg(long)]
    update: bool,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    name: String,
    instructions: u64,
    verified: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    bench::build_measure()?;
    let measured = programs(&process::output(process::as_root(bench::measure_binary()).arg("verified"))?)?;
    ensure!(!measured.is_empty(), "no program was loaded");
    let path = workspace::root().join("tests/budgets/verifier.txt");
    if options.update {
        return fs::write(&path, budget(&measured)).with_context(|| format!("cannot write {}", path.display()));
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let planned = programs(&text)?;
    for Program { name, instructions, verified } in &measured {
        let Some(plan) = planned.iter().find(|plan| plan.name == *name) else {
            bail!("`{name}` is not in {}: run `cargo xtask verifier --update`", path.display());
        };
        println!("verifier: {name}: {instructions} instructions, {verified} verified (budget {})", plan.verified);
        if exceeds(*verified, plan.verified) {
            bail!(
                "`{name}` costs the verifier {verified} instructions, over {TOLERANCE_PERCENT} % more than {}",
                plan.verified
            );
        }
    }
    Ok(())
}

const fn exceeds(verified: u64, planned: u64) -> bool {
    verified * 100 > planned * (100 + TOLERANCE_PERCENT)
}

/// Reads `name instructions verified` per line.
fn programs(text: &str) -> Result<Vec<Program>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            ensure!(words.len() == 3, "not `name instructions verified`: `{line}`");
            Ok(Program { name: words[0].to_owned(), instructions: words[1].parse()?, verified: words[2].parse()? })
        })
        .collect()
}

fn budget(programs: &[Program]) -> String {
    let head =
        "# program, instructions, instructions that the verifier walks through; by `cargo xtask verifier --update`\n";
    let lines =
        programs.iter().map(|Program { name, instructions, verified }| format!("{name} {instructions} {verified}\n"));
    head.to_owned() + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_written_can_be_read() {
        let program = Program { name: "site_hit".to_owned(), instructions: 1283, verified: 43_385 };
        assert_eq!(programs(&budget(std::slice::from_ref(&program))).unwrap(), [program]);
        assert!(programs("site_hit 3").is_err() && programs("a b c").is_err());
    }

    #[test]
    fn a_quarter_more_is_tolerated() {
        assert!(!exceeds(125, 100) && exceeds(126, 100) && !exceeds(10, 100));
    }
}
