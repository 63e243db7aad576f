//! Calls and errors of every program, in all ways of running code and on all releases.

use anyhow::Result;

use super::Program;

#[test]
fn exceptions_are_counted_where_they_leave_methods() -> Result<()> {
    let program = Program { main: "Exceptions", arguments: &[], patterns: &["Exceptions*::*"], times: (0, 1) };
    program.agrees_everywhere()
}

#[test]
fn a_recursion_of_two_ways_is_counted() -> Result<()> {
    let program = Program { main: "Fib", arguments: &["16"], patterns: &["Fib::*"], times: (0, 4) };
    program.agrees_everywhere()
}

#[test]
fn products_of_loops_are_counted() -> Result<()> {
    let program = Program { main: "NestedLoops", arguments: &[], patterns: &["NestedLoops::*"], times: (0, 1) };
    program.agrees_across(0)
}

#[test]
fn deep_and_mutual_recursions_are_counted() -> Result<()> {
    let program = Program { main: "Recursion", arguments: &[], patterns: &["Recursion::*"], times: (0, 1) };
    program.agrees_across(1)
}

#[test]
fn what_reflection_handles_and_proxies_call_is_counted() -> Result<()> {
    let program = Program { main: "Reflection", arguments: &[], patterns: &["Reflection*::*"], times: (0, 1) };
    program.agrees_across(2)
}

#[test]
fn bodies_of_lambdas_are_counted() -> Result<()> {
    let program = Program { main: "Lambdas", arguments: &[], patterns: &["Lambdas::*"], times: (0, 1) };
    program.agrees_across(3)
}

#[test]
fn sixty_four_threads_are_counted_at_the_same_time() -> Result<()> {
    let program = Program { main: "ManyThreads", arguments: &[], patterns: &["ManyThreads*::*"], times: (0, 1) };
    program.agrees_across(0)
}

#[test]
fn receivers_of_five_classes_are_counted() -> Result<()> {
    let program = Program { main: "Receivers", arguments: &[], patterns: &["Receivers*::*"], times: (0, 1) };
    program.agrees_across(1)
}

#[test]
fn initialisers_are_counted_once() -> Result<()> {
    let program = Program { main: "Initialisers", arguments: &[], patterns: &["Initialisers*::*"], times: (0, 1) };
    program.agrees_across(2)
}

#[test]
fn an_overflow_of_the_stack_ends_every_call_of_it() -> Result<()> {
    let program = Program { main: "Overflow", arguments: &[], patterns: &["Overflow::*"], times: (0, 1) };
    program.agrees_across(3)
}
