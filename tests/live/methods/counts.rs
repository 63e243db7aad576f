//! Calls and errors of every program, in all ways of running code and on all releases.

use anyhow::{Result, ensure};
use tests::jdk;

use super::{
    Run, methods,
    programs::{
        EXCEPTIONS, FIB, INITIALISERS, LAMBDAS, MANY_THREADS, NESTED_LOOPS, OVERFLOW, RECEIVERS, RECURSION, REFLECTION,
    },
};

#[test]
fn exceptions_are_counted_where_they_leave_methods() -> Result<()> {
    EXCEPTIONS.agrees_in_half(0)
}

#[test]
fn a_recursion_of_two_ways_is_counted() -> Result<()> {
    FIB.agrees_in_half(1)
}

#[test]
fn products_of_loops_are_counted() -> Result<()> {
    NESTED_LOOPS.agrees_across(0)
}

#[test]
fn deep_and_mutual_recursions_are_counted() -> Result<()> {
    RECURSION.agrees_across(1)
}

#[test]
fn what_reflection_handles_and_proxies_call_is_counted() -> Result<()> {
    REFLECTION.agrees_across(2)
}

#[test]
fn bodies_of_lambdas_are_counted() -> Result<()> {
    LAMBDAS.agrees_across(3)
}

#[test]
fn sixty_four_threads_are_counted_at_the_same_time() -> Result<()> {
    MANY_THREADS.agrees_across(4)
}

#[test]
fn receivers_of_five_classes_are_counted() -> Result<()> {
    RECEIVERS.agrees_across(5)
}

#[test]
fn initialisers_are_counted_once() -> Result<()> {
    INITIALISERS.agrees_across(6)
}

#[test]
fn an_overflow_of_the_stack_ends_every_call_of_it() -> Result<()> {
    OVERFLOW.agrees_across(7)
}

/// C1 inlines the method into the one that catches its exceptions, and neither that one nor anything else of the thread is
/// chosen: only the next call shows that the one before is over. Of the last one nothing shows it.
#[test]
fn exceptions_that_stay_within_one_code_are_errors() -> Result<()> {
    for jdk in jdk::all()? {
        for (condition, counts_at_return) in [(None, false), (Some("duration >= 0ns"), true)] {
            let place = || format!("on JDK {} with {condition:?}", jdk.release);
            let mut options = vec!["-l", "methods", "-I", "Caught::throwing"];
            options.extend(condition.iter().flat_map(|condition| ["--where", condition]));
            let run = Run::new(&jdk, "Caught", &options).flags(&["-XX:TieredStopAtLevel=1"]).times(1, 2);
            let (report, expected) = run.report()?;
            let [calls, errors] = methods(&report)?.get("Caught.throwing").copied().unwrap_or_default();
            let under_way = report.summary("methods", "under_way").unwrap_or(0);
            let of = |kind| expected.one(kind, "Caught.throwing");
            ensure!(under_way <= 1, "{under_way} calls are under way {}", place());
            let counted = calls + if counts_at_return { under_way } else { 0 };
            ensure!(counted == of("calls")?, "{calls} calls, {under_way} under way {}", place());
            ensure!(errors + under_way == of("errors")?, "{errors} errors, {under_way} under way {}", place());
        }
    }
    Ok(())
}
