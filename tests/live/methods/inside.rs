//! The same programs in the lane inside, on JVMs that were started without any flag: what ran them before does not matter.

use anyhow::{Result, ensure};
use tests::jdk::{self, Jdk};

use super::{MODES, Program, Run, calls_agree, programs};

/// Each program on two releases, in another way on each, so that together all pairs are there.
#[test]
fn closed_forms_hold_in_code_that_a_library_weaves() -> Result<()> {
    let mut wrong = Vec::new();
    for (number, program) in programs::ALL.into_iter().enumerate() {
        let is_met = |release: usize| jdk::is_in_turn(release, number / MODES.len());
        for (release, jdk) in jdk::all()?.iter().enumerate().filter(|(release, _)| is_met(*release)) {
            let (mode, flags) = MODES[(release + number) % MODES.len()];
            if let Err(error) = agrees(program, jdk, flags) {
                wrong.push(format!("{} on JDK {} by {mode}: {error:#}", program.main, jdk.release));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn agrees(program: Program<'_>, jdk: &Jdk, flags: &[&str]) -> Result<()> {
    let Program { main, arguments, patterns, times: (before, times) } = program;
    let mut options = vec!["-l", "methods", "--lane", "inside"];
    options.extend(patterns.iter().flat_map(|pattern| ["-I", *pattern]));
    let run = Run { arguments, ..Run::new(jdk, main, &options).times(before, times) };
    let (report, expected) = run.without_probes().flags(flags).report()?;
    calls_agree(&report, &expected)
}
