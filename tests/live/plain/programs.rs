//! The programs of closed forms, each on a warm JVM that was started without any flag, asked by `methods` and by `calls`.

use std::{thread, time::Duration};

use anyhow::{Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jvm::Launch,
    report::Row,
};

use super::{WARM, calls_agree, method, round, session, text};
use crate::methods::{Program, programs};

/// Calls after which HotSpot compiles a method (`Tier3InvocationThreshold`).
const COMPILED_AFTER: u64 = 200;

/// Rounds that a program makes at most until its code has come back, and the time between two: jtrace looks a few times a second.
const ROUNDS: usize = 20;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(300);

/// What is asked, and the table that answers.
const QUESTIONS: [(&str, [&str; 2]); 2] = [("methods", ["methods", "methods"]), ("calls", ["calls", "edges"])];

/// Each program is asked one question on one build; they take turns, so that all builds and both questions are met. The whole matrix is all.
#[test]
fn closed_forms_hold_on_jvms_that_nobody_prepared_or_say_what_is_not_covered() -> Result<()> {
    let builds = jdk::builds()?;
    // How deep the stack goes before it is full is no closed form.
    let programs = programs::ALL.into_iter().filter(|program| program.main != programs::OVERFLOW.main);
    let mut wrong = Vec::new();
    for (number, program) in programs.enumerate() {
        for (at, jdk) in builds.iter().enumerate() {
            for (turn, question) in QUESTIONS.into_iter().enumerate() {
                let is_met = number % builds.len() == at && number % QUESTIONS.len() == turn;
                if (jdk::is_full() || is_met)
                    && let Err(error) = agrees(program, jdk, question)
                {
                    wrong.push(format!("{} of {} on {}: {error:#}", question.0, program.main, jdk.home.display()));
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// One round of a warm program, after its code has come back.
fn agrees(program: Program<'_>, jdk: &Jdk, (command, table): (&str, [&str; 2])) -> Result<()> {
    let mut jvm = Launch::new(jdk, "methods", program.main).arguments(program.arguments).start()?;
    for _ in 0..WARM {
        jvm.work()?;
    }
    let chosen = program.patterns.iter().flat_map(|pattern| ["-I", *pattern]);
    let question: Vec<&str> = std::iter::once(command).chain(chosen).collect();
    let arming = session(&jvm, &question)?;
    // What runs once is never compiled, and the flag stays up for it. So nobody waits until it is down: each number is right, or said not to
    // be, however much has come back. Some time is given for that, as both are to be met.
    for _ in 0..ROUNDS {
        if jdk.release < 25 || jvm.flag("DTraceMethodProbes")? != "true" {
            break;
        }
        jvm.work()?;
        thread::sleep(BETWEEN_ROUNDS);
    }
    let (report, expected) = round(&mut jvm, &question)?;
    arming.report()?;
    jvm.finish()?;
    let callee = |row: &Row| if command == "calls" { text(row, "callee").to_owned() } else { method(row) };
    calls_agree(&report, &expected, table, callee, COMPILED_AFTER)
}
