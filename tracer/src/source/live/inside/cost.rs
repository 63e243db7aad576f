//! What single things cost a target, in nanoseconds, on the machine on which jtrace was written. `cargo xtask bench --only inside-budget`
//! measures them anew.

use tracer_common::marks::switch;

/// A mark that is sent; its share of handing a buffer over included.
pub(super) const SENT: f64 = 1.6;
/// A mark that is counted.
pub(super) const COUNTED: f64 = 0.75;
/// The number of a receiver.
pub(super) const RECEIVER: f64 = 4.0;
/// A time: two words, and the JVM's clock.
pub(super) const TIME: f64 = 26.0;
/// Arguments, whichever they are.
pub(super) const ARGUMENTS: f64 = 4.0;
/// A marker that is off, in code that was compiled while it was on: the test of its switch, and what it keeps the compiler from.
pub(super) const OFF: f64 = 0.15;
/// The same where marks have times.
pub(super) const OFF_TIMED: f64 = 2.2;
/// A symbol of a tracked object that is held back.
pub(super) const HELD_BACK: f64 = 2.1;
/// One that changes a state.
pub(super) const MOVED: f64 = 6.5;
/// One that is sent.
pub(super) const SYMBOL: f64 = 11.0;
/// One of an object that is not tracked.
pub(super) const IGNORED: f64 = 9.5;
/// An object that is tracked from now on: a weak reference, and what collectors do with it when it dies.
pub(super) const TRACKED: f64 = 620.0;
/// An object that is not: its identity hash is made.
pub(super) const NOT_TRACKED: f64 = 39.0;
/// A trap where it was not calibrated.
pub(super) const TRAP: f64 = 700.0;
/// A stack of 32 frames (`cargo xtask bench --only unwind`).
pub(super) const STACK: f64 = 1300.0;

/// How a marker or symbol tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// Bits of [`switch`].
    pub switch: u8,
    /// Whether counting does for all who want its marks.
    pub can_count: bool,
    /// Whether its marks have their receivers.
    pub receiver: bool,
    /// Whether arguments follow its marks.
    pub arguments: bool,
}

/// What one mark costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub(super) sent_ns: f64,
    pub(super) off_ns: f64,
}

impl What {
    pub(super) fn of(telling: Telling) -> Self {
        let Telling { switch: bits, can_count: _, receiver, arguments } = telling;
        let parts = [(true, SENT), (receiver, RECEIVER), (arguments, ARGUMENTS), (bits & switch::TIME != 0, TIME)];
        Self {
            sent_ns: parts.iter().filter(|(is_there, _)| *is_there).map(|(_, ns)| ns).sum(),
            off_ns: if bits & switch::TIME != 0 { OFF_TIMED } else { OFF },
        }
    }
}
