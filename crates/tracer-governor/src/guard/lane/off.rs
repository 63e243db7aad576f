//! What markers cost that are off but woven: the test of a switch at each pass, and what having them in it keeps the JVM's compilers
//! from doing. Nobody can switch that off, so where it is too much they are taken out of the code.
//!
//! How often code is passed while nobody counts is taken from the windows: as often as in them, and more often by what the windows slow
//! its threads down. One look can lie, and nothing comes back that was taken out, so two must agree: two windows, or two parts of the time
//! before the first one.

use super::{LaneLoad, Stretch};

/// How long marks of a window may take until they have arrived.
pub(super) const ARRIVED_NS: u64 = 150_000_000;
/// Shortest part of the time before the first window that is a look by itself.
const LOOK_NS: f64 = 100e6;
/// Most that marks are believed to slow down the threads that make them: close to all of their time it is told too roughly.
const MOST_SLOWED: f64 = 0.95;

/// The last window of a member, and what it is taken to cost while it is off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    window: Stretch,
    /// What was before it, where that is a look by itself.
    older: Option<Stretch>,
    /// The latest stretches of the time before the first window, newest first; the first one grows.
    always: [Stretch; 3],
    /// Whether the window has not been judged.
    pub(super) is_new: bool,
    /// What it costs off, as a share of a core, by the last two looks.
    estimates: [Option<f64>; 2],
}

impl Looks {
    /// A window begins.
    pub(super) fn begin(&mut self) {
        self.window = Stretch::default();
    }

    /// What came in it, and of it.
    pub(super) fn add(&mut self, elapsed_ns: f64, load: &LaneLoad) {
        self.window.add(elapsed_ns, load);
    }

    /// What came while it was always on.
    pub(super) fn follow(&mut self, elapsed_ns: f64, load: &LaneLoad) {
        let [growing, latest, _] = self.always;
        if growing.elapsed_ns >= LOOK_NS {
            self.always = [Stretch::default(), growing, latest];
        }
        self.always[0].add(elapsed_ns, load);
    }

    /// It goes off after it was always on.
    pub(super) fn go_off(&mut self) {
        let [growing, latest, before] = self.always;
        let older = (before.elapsed_ns > 0.0).then_some(before);
        *self = Self { window: latest.with(&growing), older, is_new: true, ..*self };
    }

    /// Per nanosecond of the window.
    pub(super) fn rate(&self, of: impl Fn(&LaneLoad) -> f64) -> f64 {
        of(&self.window.load) / self.window.elapsed_ns.max(1.0)
    }

    /// Its window is over; while it is off, it is passed so many times as often.
    fn judge(&mut self, faster: f64) {
        self.is_new = false;
        for look in self.older.take().iter().chain([&self.window]) {
            let [latest, _] = self.estimates;
            self.estimates = [Some(look.load.off_ns / look.elapsed_ns.max(1.0) * faster), latest];
        }
    }

    /// The least that it costs off by both looks; 0 where there were not two.
    pub(super) fn sure(&self) -> f64 {
        match self.estimates {
            [Some(latest), Some(before)] => latest.min(before),
            _ => 0.0,
        }
    }
}

/// Judges new windows of members that are off together; marks were made by about so many threads.
pub(super) fn judge<'a>(off: impl Iterator<Item = &'a mut Looks>, threads: f64) {
    let mut off: Vec<&mut Looks> = off.collect();
    let saved: f64 = off.iter().map(|looks| looks.rate(|load| (load.cost_ns - load.off_ns).max(0.0))).sum();
    // Threads that wait for a CPU are slowed down by a larger part of what they do.
    let cores = off.iter().map(|looks| looks.rate(|load| load.target_ns)).fold(0.0, f64::max);
    let busy = if cores > 0.0 { threads.max(1.0).min(cores) } else { threads.max(1.0) };
    let faster = 1.0 / (1.0 - (saved / busy).min(MOST_SLOWED));
    off.iter_mut().filter(|looks| looks.is_new).for_each(|looks| looks.judge(faster));
}

/// How many threads make marks, by what each of them told: as many equal ones would be that told as unequally.
pub fn equal_threads(told: impl Iterator<Item = u64>) -> f64 {
    let (sum, squares) = told.fold((0.0, 0.0), |(sum, squares), words| {
        let words = words as f64;
        (sum + words, squares + words * words)
    });
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}
