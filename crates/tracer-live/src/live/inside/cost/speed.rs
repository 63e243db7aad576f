//! How long this machine takes for a piece of work like that of woven code, and for reading its clock.
//!
//! The shortest of some rounds counts: whoever else is at work can only make a round longer.

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
    (step_ns / REFERENCE_STEP_NS).clamp(1.0 / FURTHEST, FURTHEST)
}

/// The shortest of some rounds, by step.
fn shortest_ns(mut round: impl FnMut()) -> f64 {
    let took = |()| {
        let start = Instant::now();
        round();
        start.elapsed().as_nanos() as f64
    };
    std::iter::repeat_n((), ROUNDS).map(took).fold(f64::INFINITY, f64::min) / STEPS as f64
}
