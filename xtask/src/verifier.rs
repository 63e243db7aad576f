//! `cargo xtask verifier`: loads jtrace's programs and compares how many instructions the kernel's verifier walks through
//! with `tests/budgets/verifier.txt`. The number is what loading costs, and at a million the verifier gives up. It also holds
//! the stack of every call chain to what older kernels allow, which this one may not mind.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::{process, workspace};

/// Kernels differ in what they find equal, and a change may cost a little without anybody looking.
const TOLERANCE_PERCENT: u64 = 25;

/// Bytes of stack, and frames, that a call chain may take on kernels that give a program no stack of its own: up to 6.12 on
/// x86-64.
const MOST_STACK: u64 = 512;
const MOST_FRAMES: u64 = 8;

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
    /// Bytes of stack of the call chain that takes most, with each frame rounded up as 6.1 does, and its frames.
    stack: u64,
    frames: u64,
    /// Bytes of each frame, the outermost first.
    depths: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let measured = programs(&process::output(process::as_root(loader()?).arg("verified"))?)?;
    ensure!(!measured.is_empty(), "no program was loaded");
    let path = workspace::root().join("tests/budgets/verifier.txt");
    for Program { name, stack, frames, .. } in &measured {
        ensure!(
            fits(*stack, *frames),
            "`{name}` would not load on 6.1 and 6.12: a call chain takes {stack} bytes of stack in {frames} frames, and \
             {MOST_STACK} in {MOST_FRAMES} are allowed"
        );
    }
    if options.update {
        return fs::write(&path, budget(&measured)).with_context(|| format!("cannot write {}", path.display()));
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let planned = programs(&text)?;
    for Program { name, instructions, verified, stack, frames, depths } in &measured {
        let Some(plan) = planned.iter().find(|plan| plan.name == *name) else {
            bail!("`{name}` is not in {}: run `cargo xtask verifier --update`", path.display());
        };
        println!(
            "verifier: {name}: {instructions} instructions, {verified} verified (budget {}), {stack} bytes of stack in \
             {frames} frames ({depths})",
            plan.verified
        );
        if exceeds(*verified, plan.verified) {
            bail!(
                "`{name}` costs the verifier {verified} instructions, over {TOLERANCE_PERCENT} % more than {}",
                plan.verified
            );
        }
    }
    Ok(())
}

/// Builds what loads the programs, and gives its path. The tests have compiled nearly all of it: an optimised one takes minutes and loads
/// the same programs.
fn loader() -> Result<PathBuf> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--quiet", "--locked", "--example", "measure"]);
    workspace::choose_units(&mut cargo);
    process::run(&mut cargo)?;
    Ok(workspace::target().join("debug/examples/measure"))
}

const fn exceeds(verified: u64, planned: u64) -> bool {
    verified * 100 > planned * (100 + TOLERANCE_PERCENT)
}

const fn fits(stack: u64, frames: u64) -> bool {
    stack <= MOST_STACK && frames <= MOST_FRAMES
}

/// Reads `name instructions verified stack frames` per line, and what single frames take, which is for readers.
fn programs(text: &str) -> Result<Vec<Program>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            ensure!(words.len() == 6, "not `name instructions verified stack frames depths`: `{line}`");
            Ok(Program {
                name: words[0].to_owned(),
                instructions: words[1].parse()?,
                verified: words[2].parse()?,
                stack: words[3].parse()?,
                frames: words[4].parse()?,
                depths: words[5].to_owned(),
            })
        })
        .collect()
}

fn budget(programs: &[Program]) -> String {
    let head = "# program, instructions, instructions that the verifier walks through, bytes of stack of the deepest call chain with \
                frames rounded up to 32, its frames and the bytes of each; by `cargo xtask verifier --update`\n";
    let lines = programs.iter().map(|Program { name, instructions, verified, stack, frames, depths }| {
        format!("{name} {instructions} {verified} {stack} {frames} {depths}\n")
    });
    head.to_owned() + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_written_can_be_read() {
        let program = Program {
            name: "site_hit".to_owned(),
            instructions: 1283,
            verified: 43_385,
            stack: 160,
            frames: 2,
            depths: "48+88".to_owned(),
        };
        assert_eq!(programs(&budget(std::slice::from_ref(&program))).unwrap(), [program]);
        assert!(programs("site_hit 3").is_err() && programs("a b c d e f").is_err());
    }

    #[test]
    fn what_fits_on_older_kernels_only_just_is_taken_and_nothing_more() {
        assert!(fits(512, 8) && !fits(544, 7) && !fits(256, 9));
    }

    #[test]
    fn a_quarter_more_is_tolerated() {
        assert!(!exceeds(125, 100) && exceeds(126, 100) && !exceeds(10, 100));
    }
}
