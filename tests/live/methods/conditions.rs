//! Conditions of the predicate on calls: those that the kernel decides, and those that it cannot.

use anyhow::{Result, ensure};
use tests::jdk::{self, Jdk};

use super::{Run, methods};

/// Counts Fib on one JDK with further conditions; gives how many calls of `fib` there were, and all of them.
fn counted_fib(jdk: &Jdk, conditions: &[&str]) -> Result<(u64, u64)> {
    let options: Vec<&str> = ["-l", "methods", "-I", "Fib::*"].iter().chain(conditions).copied().collect();
    let mut run = Run::new(jdk, "Fib", &options);
    run.arguments = &["15"];
    let (report, expected) = run.report()?;
    let counted = methods(&report)?.get("Fib.fib").map_or(0, |[calls, _]| *calls);
    Ok((counted, expected.one("calls", "Fib.fib")?))
}

#[test]
fn conditions_on_numbers_choose_the_calls_that_they_say() -> Result<()> {
    for (condition, all) in [
        ("duration >= 0ns", true),
        ("depth >= 1", true),
        ("depth > 1000", false),
        ("thread == \"nobody\"", false),
        ("nth(1) && duration >= 0ns", true),
    ] {
        let (counted, calls) = counted_fib(&jdk::any()?, &["--where", condition])?;
        ensure!(counted == if all { calls } else { 0 }, "{counted} of {calls} calls with {condition}");
    }
    Ok(())
}

#[test]
fn every_third_call_and_the_first_ten_are_counted() -> Result<()> {
    let jdk = jdk::any()?;
    let (counted, calls) = counted_fib(&jdk, &["-X", "Fib::start", "-X", "Fib::lambda*", "--where", "nth(3)"])?;
    ensure!(counted == calls / 3, "{counted} of {calls} calls");
    let (counted, _) = counted_fib(&jdk, &["-X", "Fib::start", "-X", "Fib::lambda*", "--where", "first(10)"])?;
    ensure!(counted == 10, "{counted} of the first ten calls");
    Ok(())
}

/// Where an ended call has been turned down, it must not be taken for one further out: then a third of all calls is counted. And
/// methods that nobody chose must not count as calls under way, also those that jtrace has not met before.
#[test]
fn a_depth_chooses_the_outer_calls_of_a_recursion() -> Result<()> {
    for jdk in jdk::all()? {
        let (counted, calls) = counted_fib(&jdk, &["--where", "depth <= 5"])?;
        // Two rounds; below the lambda and start, three levels of the tree are no deeper than 5.
        ensure!(counted == 2 * 7, "JDK {}: {counted} of {calls} calls are no deeper than 5", jdk.release);
    }
    Ok(())
}
