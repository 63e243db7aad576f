//! What single things cost a target, in nanoseconds. They were measured on one machine with `cargo xtask bench --only inside-budget`; at
//! the beginning of a session they are scaled to the machine at hand, by the time that a piece of work with words in memory takes
//! here, and its clock is measured, which is what differs most.
//!
//! The measurement is made in jtrace, which runs on the same processors as the target; it takes less than a millisecond.

mod speed;

use tracer_common::marks::switch;

/// What each thing costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    /// A mark that is sent; its share of handing a buffer over included.
    pub(super) sent: f64,
    /// A mark that is counted.
    pub(super) counted: f64,
    /// A mark of a region that is counted in its context, in programs whose calls are not always the same: a loop with one takes a quarter.
    pub(super) in_context: f64,
    /// The number of a receiver.
    pub(super) receiver: f64,
    /// A time: two words, and the JVM's clock.
    pub(super) time: f64,
    /// Arguments, whichever they are.
    pub(super) arguments: f64,
    /// A marker that is off, in code that was compiled while it was on: the test of its switch, and what it keeps the compiler from.
    pub(super) off: f64,
    /// The same where marks have times.
    pub(super) off_timed: f64,
    /// A symbol of a tracked object that is held back.
    pub(super) held_back: f64,
    /// One that changes a state.
    pub(super) moved: f64,
    /// One that is sent.
    pub(super) symbol: f64,
    /// One of an object that is not tracked.
    pub(super) ignored: f64,
    /// An object that is tracked from now on: a weak reference, and what collectors do with it when it dies.
    pub(super) tracked: f64,
    /// An object that is not: its identity hash is made.
    pub(super) not_tracked: f64,
    /// A trap where it was not calibrated.
    pub(super) trap: f64,
    /// A stack of 32 frames (`cargo xtask bench --only unwind`).
    pub(super) stack: f64,
}

impl Costs {
    /// Of the machine on which jtrace was written: a step of [`speed::step_ns`] took [`speed::REFERENCE_STEP_NS`] there, and its clock
    /// 22.8 ns.
    pub(super) const REFERENCE: Self = Self {
        sent: 1.6,
        counted: 0.75,
        in_context: 4.0,
        receiver: 4.0,
        time: 26.0,
        arguments: 4.0,
        off: 0.15,
        off_timed: 2.2,
        held_back: 2.1,
        moved: 6.5,
        symbol: 11.0,
        ignored: 9.5,
        tracked: 620.0,
        not_tracked: 39.0,
        trap: 700.0,
        stack: 1300.0,
    };

    /// Of the machine at hand.
    pub(super) fn here() -> Self {
        let (step_ns, clock_ns) = (speed::step_ns(), speed::clock_ns());
        log::debug!("costs of woven code: {step_ns:.2} ns a step, {clock_ns:.1} ns a reading of the clock");
        Self::REFERENCE.scaled(speed::factor(step_ns), clock_ns)
    }

    /// On a machine that takes so many times as long, with a clock that takes so long.
    fn scaled(self, factor: f64, clock_ns: f64) -> Self {
        Self {
            sent: self.sent * factor,
            counted: self.counted * factor,
            in_context: self.in_context * factor,
            receiver: self.receiver * factor,
            time: 2.0 * self.sent * factor + clock_ns,
            arguments: self.arguments * factor,
            off: self.off * factor,
            off_timed: self.off_timed * factor,
            held_back: self.held_back * factor,
            moved: self.moved * factor,
            symbol: self.symbol * factor,
            ignored: self.ignored * factor,
            tracked: self.tracked * factor,
            not_tracked: self.not_tracked * factor,
            trap: self.trap * factor,
            stack: self.stack * factor,
        }
    }
}

/// How a marker or symbol tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// Bits of [`switch`].
    pub switch: u8,
    /// The bits with which its marks are counted, where counting does for all who want them; else none.
    pub counted: u8,
    /// Whether its marks have their receivers.
    pub receiver: bool,
    /// Whether arguments follow its marks.
    pub arguments: bool,
}

/// What one mark costs, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub(super) sent: f64,
    pub(super) counted: f64,
    pub(super) off: f64,
    /// Marks for each time that a context was counted: a region is entered and left, and an object is made.
    pub(super) marks_in_context: u64,
}

impl What {
    pub(super) fn of(telling: Telling, costs: &Costs) -> Self {
        let Telling { switch: bits, counted, receiver, arguments } = telling;
        let is_timed = bits & switch::TIME != 0;
        let parts =
            [(true, costs.sent), (receiver, costs.receiver), (arguments, costs.arguments), (is_timed, costs.time)];
        Self {
            sent: parts.iter().filter(|(is_there, _)| *is_there).map(|(_, ns)| ns).sum(),
            counted: if counted & (switch::CONTEXTS | switch::MADE_IN) != 0 { costs.in_context } else { costs.counted },
            marks_in_context: if counted & switch::MADE_IN != 0 { 1 } else { 2 },
            off: if is_timed { costs.off_timed } else { costs.off },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_costs_what_the_clock_takes_here_and_the_rest_follows_the_machine() {
        let slow = Costs::REFERENCE.scaled(2.0, 900.0);
        assert!((slow.time - 906.4).abs() < 1e-9 && (slow.symbol - 22.0).abs() < 1e-9);
        let timed = Telling { switch: switch::TIME, ..Telling::default() };
        assert!((What::of(timed, &slow).sent - 909.6).abs() < 1e-9);
        assert!((What::of(Telling::default(), &slow).sent - 3.2).abs() < 1e-9);
    }

    #[test]
    fn costs_are_measured_here() {
        let here = Costs::here();
        assert!(here.time > 2.0 * here.sent && here.sent > 0.0, "{here:?}");
    }
}
