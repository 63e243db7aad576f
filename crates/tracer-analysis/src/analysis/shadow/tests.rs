//! Shadow stacks against closed forms, and against a simulation of threads that throw at random.

use super::*;

const T: Tid = Tid(1);
const A: SubjectId = SubjectId(0);
const B: SubjectId = SubjectId(1);
const C: SubjectId = SubjectId(2);

mod simulation;

/// Plays events and gathers what they say.
#[derive(Default)]
struct Play {
    shadow: Shadow<usize>,
    left: Vec<(SubjectId, u64, u64, How)>,
    threw: Vec<SubjectId>,
}

impl Play {
    fn enter(&mut self, method: SubjectId, sp: u64, time_ns: u64) {
        let Self { shadow, left, threw } = self;
        shadow.enter(
            (T, method, sp, time_ns),
            |around| around.map_or(0, |frame| frame.data + 1),
            &mut gather(left, threw),
        );
    }

    fn leave(&mut self, method: SubjectId, sp: u64, time_ns: u64) {
        let Self { shadow, left, threw } = self;
        shadow.leave((T, method, sp, time_ns), &mut gather(left, threw));
    }

    fn unwind(&mut self, sp: u64, time_ns: u64) {
        let Self { shadow, left, threw } = self;
        shadow.unwind(T, sp, time_ns, &mut gather(left, threw));
    }
}

fn gather<'a>(
    left: &'a mut Vec<(SubjectId, u64, u64, How)>,
    threw: &'a mut Vec<SubjectId>,
) -> impl FnMut(Outcome<usize>) + 'a {
    |outcome| match outcome {
        Outcome::Left(call) => left.push((call.method, call.total_ns, call.self_ns, call.how)),
        Outcome::Threw(call) => threw.push(call.method),
    }
}

#[test]
fn time_in_callees_is_not_the_callers_own() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.leave(B, 900, 40);
    play.enter(B, 900, 50);
    play.leave(B, 892, 60);
    play.leave(A, 1000, 100);
    assert_eq!(play.left, [(B, 30, 30, How::Returned), (B, 10, 10, How::Returned), (A, 100, 60, How::Returned)]);
    assert_eq!((play.shadow.counts, play.shadow.open()), (Counts::default(), 0));
}

#[test]
fn an_entry_above_a_frame_shows_that_it_is_gone() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.enter(C, 800, 20);
    play.enter(B, 950, 50);
    assert_eq!(play.left, [(C, 30, 30, How::Missing), (B, 40, 10, How::Missing)]);
    assert_eq!((play.shadow.counts.missing_returns, play.shadow.counts.inexact_ends, play.shadow.open()), (2, 2, 2));
}

#[test]
fn what_is_inlined_shares_the_stack_pointer_and_ends_with_what_it_is_inlined_into() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    // C1 has inlined C into B: an exception ends C, and B goes on.
    play.enter(B, 900, 10);
    play.enter(C, 900, 20);
    play.leave(B, 900, 50);
    play.leave(A, 1000, 60);
    assert_eq!(play.left, [(C, 30, 30, How::Missing), (B, 40, 10, How::Returned), (A, 60, 20, How::Returned)]);
}

#[test]
fn an_exception_gives_the_end_of_the_frames_that_it_left() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.enter(C, 800, 20);
    // Above C's frame, so C is gone; in the caller's frame or below, so nothing can be said about B yet.
    play.unwind(850, 30);
    play.unwind(890, 35);
    play.leave(A, 1000, 100);
    assert_eq!(play.left, [(C, 10, 10, How::Unwound), (B, 25, 15, How::Unwound), (A, 100, 75, How::Returned)]);
    assert_eq!((play.shadow.counts.missing_returns, play.shadow.counts.inexact_ends), (2, 0));
}

#[test]
fn an_exception_after_a_return_marks_that_call() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.leave(B, 896, 20);
    play.unwind(896, 21);
    play.enter(B, 900, 30);
    play.leave(B, 900, 40);
    play.enter(C, 900, 50);
    play.leave(C, 900, 60);
    // Not of C, which returned: A's own frame is the one that was left.
    play.unwind(1040, 70);
    assert_eq!(play.threw, [B]);
    assert_eq!(play.left.last(), Some(&(A, 70, 40, How::Unwound)));
    assert_eq!(play.shadow.open(), 0);
}

/// The events are the same as those of B leaving by the exception itself, so this cannot be told, and is pinned.
#[test]
fn an_exception_of_others_right_after_a_return_is_taken_for_that_calls() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.leave(B, 900, 20);
    // What B's caller called next, which nobody chose, throws; or B's caller itself, below A.
    play.unwind(950, 30);
    assert_eq!(play.threw, [B]);
}

#[test]
fn a_return_without_its_entry_pops_nothing() {
    let mut play = Play::default();
    play.leave(C, 2000, 5);
    play.enter(A, 1000, 10);
    play.leave(B, 1000, 20);
    play.leave(A, 1000 - RETURN_BYTES - 8, 25);
    play.leave(A, 1000 + MOVED_BYTES + 8, 26);
    assert_eq!((play.shadow.counts.returns_without_entry, play.shadow.open(), play.left.len()), (4, 1, 0));
    play.leave(A, 1000 - RETURN_BYTES, 30);
    assert_eq!(play.left, [(A, 20, 20, How::Returned)]);
}

#[test]
fn a_return_above_the_innermost_frame_is_its_own_where_a_loop_was_compiled_meanwhile() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    play.enter(B, 900, 10);
    play.leave(B, 950, 20);
    play.enter(B, 900, 30);
    play.enter(C, 800, 40);
    play.leave(C, 880, 50);
    play.leave(B, 900, 60);
    play.leave(A, 1100, 70);
    let left: Vec<_> = play.left.iter().map(|left| (left.0, left.1, left.3)).collect();
    assert_eq!(left, [(B, 10, How::Returned), (C, 10, How::Returned), (B, 30, How::Returned), (A, 70, How::Returned)]);
    assert_eq!(play.shadow.counts, Counts::default());
}

#[test]
fn in_a_recursion_a_return_belongs_to_the_innermost_frame_that_is_left() {
    let mut play = Play::default();
    for depth in 0..10_000 {
        play.enter(A, 1_000_000_000 - 96 * depth, depth);
    }
    for depth in (0..10_000).rev() {
        play.leave(A, 1_000_000_000 - 96 * depth - 16, 20_000 - depth);
    }
    assert_eq!((play.left.len(), play.shadow.counts, play.shadow.open()), (10_000, Counts::default(), 0));
    let expected: Vec<_> = (0..10_000).rev().map(|depth| 20_000 - 2 * depth).collect();
    assert_eq!(play.left.iter().map(|left| left.1).collect::<Vec<_>>(), expected);
}

#[test]
fn another_stack_begins_afresh() {
    let mut play = Play::default();
    play.enter(A, 1 << 30, 0);
    play.enter(B, (1 << 30) - 100, 1);
    play.unwind(1 << 40, 2);
    play.enter(C, (1 << 30) - FAR_BYTES - 101, 10);
    play.leave(B, (1 << 30) - 100, 20);
    let counts = play.shadow.counts;
    // The return is far from C, which is given up in its turn.
    assert_eq!((counts.moves, counts.abandoned, counts.returns_without_entry), (2, 3, 1));
    assert_eq!((play.left.len(), play.shadow.open()), (0, 0));
}

#[test]
fn frames_beyond_the_limit_are_counted_and_disturb_nothing() {
    let mut play = Play { shadow: Shadow { limit: 3, ..Shadow::default() }, ..Play::default() };
    for (depth, sp) in [1000, 900, 800, 700, 600].into_iter().enumerate() {
        play.enter(A, sp, depth as u64);
    }
    for sp in [600, 700, 800, 900, 1000] {
        play.leave(A, sp, 10);
    }
    assert_eq!((play.shadow.counts, play.shadow.open()), (Counts { beyond: 2, ..Counts::default() }, 0));
    assert_eq!(play.left.iter().map(|left| left.1).collect::<Vec<_>>(), [8, 9, 10]);
    play.enter(B, 950, 20);
    play.leave(B, 950, 21);
    assert_eq!(play.left.len(), 4, "there is room again");
}

#[test]
fn a_thread_that_ends_was_left_by_an_exception() {
    let mut play = Play::default();
    play.enter(A, 1000, 0);
    let Play { shadow, left, threw } = &mut play;
    shadow.end_thread(T, 7, &mut gather(left, threw));
    assert_eq!(play.left, [(A, 7, 7, How::Missing)]);
    assert_eq!(play.shadow.open(), 0);
}

#[test]
fn what_is_kept_comes_from_the_call_around_it() {
    let mut shadow = Shadow::<usize>::default();
    let mut depths = Vec::new();
    let mut ends = Vec::new();
    for (method, sp) in [(A, 1000), (B, 900), (C, 910), (A, 800)] {
        shadow.enter(
            (T, method, sp, 0),
            |around| {
                let depth = around.map_or(0, |frame| frame.data + 1);
                depths.push((around.map(|frame| frame.method), depth));
                depth
            },
            &mut |outcome| ends.push(matches!(outcome, Outcome::Left(_))),
        );
    }
    assert_eq!(depths, [(None, 0), (Some(A), 1), (Some(A), 1), (Some(C), 2)]);
    assert_eq!(ends, [true]);
}
