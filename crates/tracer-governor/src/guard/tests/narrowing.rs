//! What is left out of a group before it is detached: ends of calls, and stacks.

use super::*;

#[test]
fn ends_of_calls_are_left_out_where_that_is_enough() {
    // 7.2 % of a core with them, 3.6 % without.
    let outcome = play(&[timed(120_000)], ON_DEMAND_BUDGET, 60, 0);
    assert_eq!(narrowings(&outcome), [Narrowing::Times]);
    assert!(outcome.cost < ON_DEMAND_BUDGET, "{}", outcome.cost);
}

#[test]
fn stacks_go_first_and_ends_of_calls_only_where_that_is_not_enough() {
    let means = Means { stacks: true, times: true };
    let with_stacks = |per_s| Firing { stack_ns: 2_000, means, ..timed(per_s) };
    // 8 % of a core, of which 5 are stacks.
    assert_eq!(narrowings(&play(&[with_stacks(50_000)], ON_DEMAND_BUDGET, 20, 0)), [Narrowing::Stacks]);
    // 19.2 %; 7.2 without stacks, 3.6 without both.
    let both = [Narrowing::Stacks, Narrowing::Times];
    assert_eq!(narrowings(&play(&[with_stacks(120_000)], ON_DEMAND_BUDGET, 20, 0)), both);
}

#[test]
fn what_narrowing_would_not_help_is_sampled_as_it_is() {
    let decisions = play(&[timed(400_000)], ON_DEMAND_BUDGET, 20, 0).decisions;
    assert!(matches!(decisions[0], (..=1400, Decision::Detach { group: 0, .. })), "{decisions:?}");
    assert!(decisions.iter().all(|(_, decision)| !matches!(decision, Decision::Narrow { .. })), "{decisions:?}");
}

#[test]
fn what_others_take_is_not_there_for_a_narrowed_group() {
    // Without its ends it takes 3.6 %, beside 2.4 % that another group takes.
    let decisions = play(&[timed(120_000), counting(40_000)], ON_DEMAND_BUDGET, 20, 0).decisions;
    assert!(matches!(decisions[0].1, Decision::Detach { group: 0, .. }), "{decisions:?}");
}
