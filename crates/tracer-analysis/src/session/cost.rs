//! What a session cost its target, from the counters as they come.

use super::Counters;
use crate::report::Cost;

/// Traps so far, and what they cost: each is reckoned at what a trap cost when it was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    /// As calibrated before the session.
    pub(super) trap_cost_ps: Option<u64>,
    /// Duration of attaching, and CPU time of jtrace until then.
    pub(super) attach: [u64; 2],
    traps: u64,
    traps_ps: u128,
    dearest_ps: Option<u64>,
}

impl Spent {
    /// With the time that attaching took, and jtrace's CPU time.
    pub(super) fn new(trap_cost_ps: Option<u64>, attach: [u64; 2]) -> Self {
        Self { trap_cost_ps, attach, ..Self::default() }
    }

    /// Takes the traps so far, and what one was measured to cost lately.
    pub(super) fn take(&mut self, traps: u64, lately_ps: Option<u64>) {
        let ps = lately_ps.or(self.trap_cost_ps).unwrap_or(0);
        self.traps_ps += u128::from(traps.saturating_sub(self.traps)) * u128::from(ps);
        self.traps = traps;
        self.dearest_ps = self.dearest_ps.max(lately_ps);
    }

    /// What was spent over a span.
    pub(super) fn cost(&self, counters: &Counters, duration_ns: u64) -> Cost {
        let seconds = duration_ns.max(1) as f64 / 1e9;
        let [attach_ns, attach_cpu_ns] = self.attach;
        let own_cpu_ns = counters.own_cpu_ns.saturating_sub(attach_cpu_ns);
        let rest_ns = counters.stack_ns.unwrap_or(0) + counters.inside.map_or(0, |inside| inside.cpu_ns);
        let target_cpu_ns = self.trap_cost_ps.map(|_| self.traps_ps as f64 / 1e3 + rest_ns as f64);
        Cost {
            traps: self.traps,
            trap_cost_ns: self.trap_cost_ps.map(|ps| ps as f64 / 1e3),
            trap_cost_max_ns: self.dearest_ps.filter(|ps| Some(*ps) > self.trap_cost_ps).map(|ps| ps as f64 / 1e3),
            stack_ns: counters.stack_ns,
            inside_events: counters.inside.map(|inside| inside.events),
            inside_ns: counters.inside.map(|inside| inside.cpu_ns),
            target_cpu_ns,
            target_cpu_percent: target_cpu_ns.map(|cpu| cpu / seconds / 1e7),
            own_cpu_ns,
            own_cpu_percent: own_cpu_ns as f64 / seconds / 1e7,
            own_memory_bytes: counters.own_memory_bytes,
            attach_ns,
            attach_cpu_ns,
            program_ns: counters.program_ns,
            program_runs: counters.program_runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::InsideCost;

    #[test]
    fn traps_cost_what_they_cost_when_they_were_taken() {
        let mut spent = Spent::new(Some(600_000), [0, 0]);
        spent.take(1_000, None);
        spent.take(2_000, Some(900_000));
        spent.take(3_000, Some(600_000));
        let cost = spent.cost(&Counters::default(), 1_000_000_000);
        assert_eq!((cost.traps, cost.target_cpu_ns), (3_000, Some(2_100_000.0)));
        assert_eq!((cost.trap_cost_ns, cost.trap_cost_max_ns), (Some(600.0), Some(900.0)));
    }

    #[test]
    fn woven_code_is_a_part_of_the_cost() {
        let mut spent = Spent::new(Some(600_000), [0, 0]);
        spent.take(100, None);
        let inside = Some(InsideCost { events: 18_900_000, cpu_ns: 14_000_000 });
        let cost = spent.cost(&Counters { inside, ..Counters::default() }, 2_000_000_000);
        assert_eq!(cost.target_cpu_ns, Some(14_060_000.0));
        assert!((cost.target_cpu_percent.unwrap() - 0.703).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn what_was_not_calibrated_is_not_reckoned() {
        let mut spent = Spent::new(None, [0, 0]);
        spent.take(1_000, None);
        assert_eq!(spent.cost(&Counters::default(), 1).target_cpu_ns, None);
    }
}
