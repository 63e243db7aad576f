//! The kernel decides about events as user space does.

use anyhow::{Context as _, Result, ensure};
use tracer_common::filter::{Answer, Asked};
use tracer_live::ebpf::judgement::Judge;
use tracer_query::predicate::random::{Cases, EVENTS, Rest};

/// Cases that are compared.
const CASES: usize = 100_000;

#[test]
fn the_kernel_says_of_100_000_events_what_user_space_says() -> Result<()> {
    let mut judge = Judge::new()?;
    let (mut wanted, mut unwanted, mut counted) = (0, 0, 0);
    for (at, case) in Cases::new(1).take(CASES).enumerate() {
        if at % EVENTS == 0 {
            judge.set_filter(case.filter)?;
        }
        let asked = Asked { inputs: case.inputs, tallies: case.tallies };
        let Answer { wanted: kernel, tallies, .. } = judge.ask(&asked).with_context(|| format!("case {at}"))?;
        let kernel = kernel == 1;
        ensure!(
            (kernel && case.user) == case.expected,
            "case {at}: the kernel says {kernel} of {}: {asked:?}",
            case.text
        );
        ensure!(tallies == case.counted, "case {at}: the kernel counts {tallies:?}, not {:?}", case.counted);
        ensure!(
            kernel || !case.needed,
            "case {at}: the kernel keeps an event from user space's counters: {}",
            case.text
        );
        if case.rest == Rest::Nothing {
            wanted += usize::from(kernel);
            unwanted += usize::from(!kernel);
        }
        counted += usize::from(tallies != case.tallies);
    }
    // Verdicts that are all the same, or graphs that count nothing, would show little.
    ensure!(
        wanted > 10_000 && unwanted > 10_000 && counted > 1_000,
        "{wanted} wanted, {unwanted} not, {counted} counted"
    );
    Ok(())
}
