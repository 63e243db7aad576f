//! How long this machine takes for a piece of work like that of woven code, and for reading its clock.
//!
//! The shortest of some rounds counts: whoever else is at work can only make a round longer. A round is over in microseconds, and a thread that
//! comes to a CPU has it for hundreds of them, so on the busiest machine some rounds are not interrupted.

use std::{hint::black_box, time::Instant};

/// What a step took on the machine that [`super::Costs::REFERENCE`] is of.
pub(super) const REFERENCE_STEP_NS: f64 = 1.36;

/// A machine that seems further from the reference than this was not measured well.
const FURTHEST: f64 = 8.0;

const ROUNDS: usize = 16;
const STEPS: usize = 4096;
/// Words of 16 KiB, as a buffer of marks.
const WORDS: usize = 2048;

/// A step: a word is read, mixed with what was there before, and written.
pub(super) fn step_ns() -> f64 {
    let mut words = vec![0_u64; WORDS];
    shortest_ns(|| {
        let mut mixed = black_box(1_u64);
        for step in 0..STEPS {
            let word = &mut words[step % WORDS];
            mixed = (mixed ^ *word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
            *word = mixed;
        }
        black_box(mixed);
    })
}

/// A reading of the clock that the JVM reads for times.
pub(super) fn clock_ns() -> f64 {
    shortest_ns(|| {
        for _ in 0..STEPS {
            black_box(Instant::now());
        }
    })
}

/// So many times as long as on the reference.
pub(super) fn factor(step_ns: f64) -> f64 {
    scaled(step_ns, !cfg!(debug_assertions))
}

/// A step of a program that was compiled without optimising takes seven times as long, which says nothing of the machine: woven code is
/// compiled by the JVM.
fn scaled(step_ns: f64, is_optimised: bool) -> f64 {
    if is_optimised { (step_ns / REFERENCE_STEP_NS).clamp(1.0 / FURTHEST, FURTHEST) } else { 1.0 }
}

/// The shortest of some rounds, by step.
fn shortest_ns(mut round: impl FnMut()) -> f64 {
    let began = Instant::now();
    shortest(|| u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), &mut round)
}

fn shortest(mut now_ns: impl FnMut() -> u64, round: &mut impl FnMut()) -> f64 {
    let took = |()| {
        let start_ns = now_ns();
        round();
        now_ns().saturating_sub(start_ns) as f64
    };
    std::iter::repeat_n((), ROUNDS).map(took).fold(f64::INFINITY, f64::min) / STEPS as f64
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

    fn is(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn one_round_that_nothing_interrupts_is_enough() {
        for undisturbed in 0..ROUNDS {
            let (mut now_ns, mut readings, mut rounds) = (0, 0, 0..);
            let clock = || {
                // The second reading of each pair comes behind a round.
                readings += 1;
                if readings % 2 == 0 {
                    let interrupted = rounds.next() != Some(undisturbed);
                    now_ns += 2 * STEPS as u64 + if interrupted { 3_000_000 } else { 0 };
                }
                now_ns
            };
            assert!(is(shortest(clock, &mut || {}), 2.0));
        }
    }

    #[test]
    fn busy_threads_do_not_make_a_step_dearer() {
        let alone = step_ns();
        let stop = AtomicBool::new(false);
        let beside = thread::scope(|scope| {
            for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            // Of some estimates, as a session makes one, none may be far off.
            let dearest = (0..20).map(|_| step_ns()).fold(0.0, f64::max);
            stop.store(true, Ordering::Relaxed);
            dearest
        });
        assert!(beside < 4.0 * alone, "{beside} ns a step beside busy threads, {alone} ns before");
    }

    #[test]
    fn the_machine_scales_prices_and_an_unoptimised_jtrace_does_not() {
        assert!(is(scaled(2.0 * REFERENCE_STEP_NS, true), 2.0) && is(scaled(1e9, true), FURTHEST));
        assert!(is(scaled(7.0 * REFERENCE_STEP_NS, false), 1.0));
    }
}
