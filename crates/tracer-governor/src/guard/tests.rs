//! Targets that do the same all the time, or change, on a clock of the test's own.

mod narrowing;

use super::{bucket::OWN_FIRST_NS, *};

const MS: u64 = 1_000_000;
const STEP_MS: u64 = 25;
const TRAP_NS: f64 = 600.0;

/// A group that fires at a rate, as the guard makes it.
#[derive(Clone, Copy, Debug)]
struct Firing {
    per_s: u64,
    /// Of a hundred hits, those at ends of calls.
    ends_percent: u64,
    /// What a stack takes, in ns; 0 where there are none; and where each hit has one.
    stack_ns: u64,
    all_stacks_ns: u64,
    /// Of a hundred hits, those that become events.
    delivered_percent: u64,
    means: Means,
}

/// One that counts and takes no stacks.
const fn counting(per_s: u64) -> Firing {
    let means = Means { stacks: false, times: false };
    Firing { per_s, ends_percent: 0, stack_ns: 0, all_stacks_ns: 0, delivered_percent: 0, means }
}

/// Methods with their ends.
const fn timed(per_s: u64) -> Firing {
    Firing { ends_percent: 50, means: Means { stacks: false, times: true }, ..counting(per_s) }
}

/// What was decided, and when in ms; and what the groups cost in all, as a share of one core, and in each step in ns.
struct Outcome {
    decisions: Vec<(u64, Decision)>,
    cost: f64,
    steps_ns: Vec<f64>,
}

/// Plays groups; `per_event_ns` is what jtrace takes for an event.
fn play(groups: &[Firing], budget: f64, seconds: u64, per_event_ns: u64) -> Outcome {
    let means: Vec<_> = groups.iter().map(|group| group.means).collect();
    let mut guard = RateGuard::new(&means, Some(600_000), Budget::of(budget), 0);
    guard.allow_fewer_stacks(&groups.iter().map(|group| group.all_stacks_ns > 0).collect::<Vec<_>>());
    let mut on: Vec<(bool, Firing)> = groups.iter().map(|group| (true, *group)).collect();
    let mut outcome = Outcome { decisions: Vec::new(), cost: 0.0, steps_ns: Vec::new() };
    for step in 1..=seconds * 1000 / STEP_MS {
        let loads: Vec<Load> =
            on.iter().map(|(on, firing)| if *on { firing.load() } else { Load::default() }).collect();
        let own_ns = loads.iter().map(|load| load.delivered * per_event_ns).sum();
        let step_ns: f64 = loads.iter().map(|load| load.cost_ns(TRAP_NS, 0.0)).sum();
        outcome.cost += step_ns / (seconds as f64 * 1e9);
        outcome.steps_ns.push(step_ns);
        for decision in guard.step(step * STEP_MS * MS, &loads, own_ns) {
            match decision {
                Decision::Detach { group, .. } | Decision::Stop { group, .. } => on[group].0 = false,
                Decision::Attach { group, .. } => on[group].0 = true,
                Decision::Look { .. } => {}
                Decision::Narrow { group, what, .. } => on[group].1.narrow(what),
            }
            outcome.decisions.push((step * STEP_MS, decision));
        }
    }
    outcome
}

impl Firing {
    fn load(&self) -> Load {
        let hits = self.per_s * STEP_MS / 1000;
        let stack_ns = Some(hits * (100 - self.ends_percent) / 100 * self.stack_ns);
        Load { hits, ends: hits * self.ends_percent / 100, delivered: hits * self.delivered_percent / 100, stack_ns }
    }

    fn narrow(&mut self, what: Narrowing) {
        match what {
            Narrowing::Stacks => self.stack_ns = 0,
            Narrowing::FewerStacks { one_in } => self.stack_ns = self.all_stacks_ns / one_in,
            Narrowing::Times => {
                self.per_s = self.per_s * (100 - self.ends_percent) / 100;
                self.ends_percent = 0;
            }
            Narrowing::Each | Narrowing::Objects { .. } => panic!("that is for the inside lane"),
        }
    }
}

fn run(rates: &[u64], seconds: u64) -> Vec<(u64, Decision)> {
    let groups: Vec<_> = rates.iter().map(|rate| counting(*rate)).collect();
    play(&groups, USUAL_BUDGET, seconds, 0).decisions
}

fn narrowings(outcome: &Outcome) -> Vec<Narrowing> {
    let decisions = outcome.decisions.iter();
    decisions
        .map(|(_, decision)| match decision {
            Decision::Narrow { what, .. } => *what,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_quiet_target_keeps_all_its_sites() {
    assert_eq!(run(&[5_000, 8_000, 100], 60), []);
}

#[test]
fn a_hot_group_is_detached_within_200_ms_and_the_others_stay() {
    let decisions = run(&[1_000, 400_000, 1_000], 20);
    let (at_ms, first) = decisions[0];
    assert!(at_ms <= 200, "{at_ms}");
    let Decision::Detach { group: 1, reason } = first else { panic!("{first:?}") };
    assert!((reason.rate_per_s - 400_000.0).abs() < 1.0 && !reason.own, "{reason:?}");
    assert!((reason.cost - 0.24).abs() < 1e-9 && reason.budget == USUAL_BUDGET, "{reason:?}");
    // The budget was last seen to be enough one step before.
    assert_eq!(reason.enough_ns, (at_ms - STEP_MS) * MS);
    assert!(decisions.iter().all(|(_, decision)| !matches!(decision, Decision::Detach { group: 0 | 2, .. })));
}

#[test]
fn a_hot_group_is_sampled_below_the_budget() {
    for budget in [USUAL_BUDGET, ON_DEMAND_BUDGET] {
        let outcome = play(&[counting(1_000_000)], budget, 60, 0);
        let windows = outcome.decisions.iter().filter(|(_, decision)| matches!(decision, Decision::Detach { .. }));
        assert!(windows.count() >= 3, "{:?}", outcome.decisions);
        assert!(outcome.cost < budget, "{} of {budget}", outcome.cost);
    }
}

#[test]
fn a_burst_of_costly_hits_is_as_short_as_they_are_costly() {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    let load = |hits| Load { hits, stack_ns: Some(hits * 2200), ..Load::default() };
    assert_eq!(guard.step(MS, &[load(4_000)], 0), []);
    assert!(matches!(guard.step(2 * MS, &[load(1_000)], 0)[..], [Decision::Detach { group: 0, .. }]));
    // The same where only the average is known.
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    guard.expect_stacks(2200.0);
    let load = |hits| Load { hits, ..Load::default() };
    assert_eq!(guard.step(MS, &[load(4_000)], 0), []);
    assert!(matches!(guard.step(2 * MS, &[load(1_000)], 0)[..], [Decision::Detach { group: 0, .. }]));
}

#[test]
fn a_larger_budget_lets_more_through() {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(0.1), 0);
    assert_eq!(guard.step(25 * MS, &[Load { hits: 90_000, ..Load::default() }], 0), []);
}

#[test]
fn a_group_that_does_nothing_is_not_detached_for_one_that_goes_on_while_it_is_detached() {
    let mut guard = RateGuard::new(&[Means::default(); 2], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    let loads = [Load { hits: 50_000, ..Load::default() }, Load::default()];
    assert!(matches!(guard.step(25 * MS, &loads, 0)[..], [Decision::Detach { group: 0, .. }]));
    assert_eq!(guard.step(50 * MS, &loads, 0), []);
}

/// Events with stacks that can be left out one by one.
const fn with_stacks(per_s: u64) -> Firing {
    Firing { stack_ns: 2_000, all_stacks_ns: 2_000, ..counting(per_s) }
}

#[test]
fn fewer_events_get_a_stack_before_fewer_are_seen() {
    // 3.12 % of a core, of which 2.4 are stacks; 0.72 without any, 0.87 with one in sixteen.
    let outcome = play(&[with_stacks(12_000)], USUAL_BUDGET, 60, 0);
    assert_eq!(narrowings(&outcome), [Narrowing::FewerStacks { one_in: 16 }]);
    assert!(outcome.cost < USUAL_BUDGET, "{}", outcome.cost);
    // 1.3 %: every second one is enough.
    assert_eq!(narrowings(&play(&[with_stacks(5_000)], USUAL_BUDGET, 60, 0)), [Narrowing::FewerStacks { one_in: 2 }]);
}

#[test]
fn what_is_sampled_has_fewer_stacks_and_so_longer_windows() {
    let outcome = play(&[with_stacks(100_000)], USUAL_BUDGET, 60, 0);
    let [(at_ms, first), (also_ms, second), ..] = outcome.decisions[..] else { panic!("{:?}", outcome.decisions) };
    assert!(matches!(first, Decision::Narrow { what: Narrowing::FewerStacks { one_in: 16 }, .. }), "{first:?}");
    assert!(matches!(second, Decision::Detach { .. }) && at_ms == also_ms, "{second:?}");
    let narrowed = outcome.decisions.iter().filter(|(_, decision)| matches!(decision, Decision::Narrow { .. }));
    assert_eq!(narrowed.count(), 1, "{:?}", outcome.decisions);
}

#[test]
fn stacks_of_an_average_cost_are_left_out_as_well() {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    guard.allow_fewer_stacks(&[true]);
    guard.expect_stacks(2_000.0);
    let load = Load { hits: 300, ..Load::default() };
    let decided: Vec<_> = (1..4_000).flat_map(|at| guard.step(at * 25 * MS, &[load], 0)).collect();
    assert!(
        matches!(decided[..], [Decision::Narrow { what: Narrowing::FewerStacks { one_in: 16 }, .. }]),
        "{decided:?}"
    );
}

/// When a group that goes comes back, on average over many guards, in ms.
fn back_ms(late: u64) -> f64 {
    const GUARDS: u64 = 2000;
    let one = |seed: u64| {
        let start_ns = seed * 1_000_000 * MS;
        let mut guard = RateGuard::new(&[Means::default(); 2], Some(600_000), Budget::of(USUAL_BUDGET), start_ns);
        let hits = |hot, other| [hot, other].map(|hits| Load { hits, ..Load::default() });
        let mut step = |at: u64, hot: u64| guard.step(start_ns + at * 25 * MS, &hits(hot, 10), 0);
        assert!(matches!(step(1, 50_000)[..], [Decision::Detach { group: 0, .. }]));
        let late = |at| if at == 2 { late } else { 0 };
        (2..10_000).find(|at| !step(*at, late(*at)).is_empty()).expect("it comes back") * 25
    };
    (0..GUARDS).map(one).sum::<u64>() as f64 / GUARDS as f64
}

#[test]
fn what_a_group_costs_while_it_goes_away_makes_it_stay_away_for_longer() {
    // 10,000 hits of 0.6 us, where half of 1 % of a core pays for them, make 1.2 s more.
    let longer = back_ms(10_000) - back_ms(0);
    assert!((900.0..1_500.0).contains(&longer), "{longer}");
}

#[test]
fn a_group_comes_back_at_a_random_moment_that_follows_from_the_start() {
    let first = |start_ns: u64| {
        let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), start_ns);
        guard.step(start_ns + MS, &[Load { hits: 50_000, ..Load::default() }], 0);
        (2..100_000).find(|at| !guard.step(start_ns + at * MS, &[Load::default()], 0).is_empty())
    };
    let times: Vec<_> = (0..20).map(|seed| first(seed * 1_000)).collect();
    assert_eq!(times, (0..20).map(|seed| first(seed * 1_000)).collect::<Vec<_>>());
    assert!(times.iter().all(Option::is_some) && times.windows(2).all(|pair| pair[0] != pair[1]), "{times:?}");
}

/// What it does first is noted before it can go again, and the pause that it stands for is said.
#[test]
fn what_a_window_begins_with_is_noted_once() {
    let outcome = play(&[counting(1_000_000)], USUAL_BUDGET, 120, 0);
    let words: Vec<_> = outcome.decisions.iter().map(|(_, decision)| decision).collect();
    assert!(words.len() > 12, "{words:?}");
    for window in words[1..].chunks_exact(3) {
        let [Decision::Attach { pause_ns, .. }, Decision::Look { .. }, Decision::Detach { .. }] = window else {
            panic!("{window:?}")
        };
        // What the window before has cost, by a quarter of 1 % of a core.
        assert!(*pause_ns >= 1_000 * MS, "{pause_ns}");
    }
}

#[test]
fn groups_that_are_too_much_each_go_at_the_same_time() {
    let decisions = run(&[400_000, 300_000, 1_000], 1);
    let first: Vec<_> = decisions.iter().filter(|(at_ms, _)| *at_ms == decisions[0].0).collect();
    assert!(
        matches!(first[..], [(_, Decision::Detach { group: 0, .. }), (_, Decision::Detach { group: 1, .. })]),
        "{decisions:?}"
    );
}

/// Plays bursts: hits that come within single steps.
fn bursts(budget: Budget, hits: &[(u64, u64)]) -> Vec<Decision> {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), budget, 0);
    let last = hits.iter().map(|(at_ms, _)| *at_ms).max().unwrap_or(0);
    (1..=last / STEP_MS)
        .flat_map(|step| {
            let in_step = hits.iter().filter(|(at_ms, _)| at_ms / STEP_MS == step);
            let load = Load { hits: in_step.map(|(_, hits)| hits).sum(), ..Load::default() };
            guard.step(step * STEP_MS * MS, &[load], 0)
        })
        .collect()
}

#[test]
fn a_burst_is_let_through_that_the_last_seconds_have_paid_for() {
    // 20,000 hits of 0.6 us in a session of 12 s: 0.1 % of the span.
    let usual = Budget::of(USUAL_BUDGET);
    assert_eq!(bursts(usual, &[(6_000, 20_000), (12_000, 0)]), []);
    assert_eq!(bursts(usual, &[(25, 20_000), (12_000, 0)]), []);
    // 48 ms within half a second: all that five seconds of 1 % have saved, and no more.
    let at_once: Vec<(u64, u64)> = (0..4).map(|at| (1_000 + at * 125, 20_000)).collect();
    assert_eq!(bursts(usual, &at_once), []);
    let too_much: Vec<(u64, u64)> = (0..6).map(|at| (1_000 + at * 125, 20_000)).collect();
    assert!(matches!(bursts(usual, &too_much)[..], [Decision::Detach { group: 0, .. }, ..]));
    // Who saves for a second only gets a fifth of that.
    let short = Budget { burst_s: 1.0, ..usual };
    assert!(matches!(bursts(short, &at_once)[..], [Decision::Detach { group: 0, .. }, ..]));
}

#[test]
fn no_tenth_of_a_second_takes_more_than_the_peak() {
    for (budget, most) in [(USUAL_BUDGET, 0.25), (ON_DEMAND_BUDGET, 0.75)] {
        assert!((Budget::of(budget).peak() - most).abs() < 1e-9);
        for per_s in [100_000, 300_000, 700_000, 1_500_000] {
            let Outcome { steps_ns, .. } = play(&[counting(per_s)], budget, 60, 0);
            // What comes until the guard looks is on top.
            let late_ns = per_s as f64 * TRAP_NS * STEP_MS as f64 / 1e3;
            let steps = (PEAK_S * 1e3) as usize / STEP_MS as usize;
            let worst_ns = steps_ns.windows(steps).map(|stretch| stretch.iter().sum::<f64>()).fold(0.0, f64::max);
            assert!(worst_ns <= most * PEAK_S * 1e9 + late_ns, "{worst_ns} ns at {per_s} hits a second");
        }
    }
}

#[test]
fn savings_pay_for_the_first_window_only() {
    // 3 % of a core: the first window lasts until savings of 50 ms are gone, those after it cost 7 ms at most, and a step.
    let outcome = play(&[counting(50_000)], USUAL_BUDGET, 120, 0);
    let mut windows = vec![0.0];
    for (step, cost_ns) in (1..).zip(&outcome.steps_ns) {
        *windows.last_mut().unwrap() += cost_ns;
        if outcome.decisions.iter().any(|(at, what)| *at == step * STEP_MS && matches!(what, Decision::Attach { .. })) {
            windows.push(0.0);
        }
    }
    assert!(windows.len() > 10, "{windows:?}");
    assert!((50e6..90e6).contains(&windows[0]), "{windows:?}");
    assert!(windows[1..].iter().all(|window| *window < 12e6), "{windows:?}");
    assert!(outcome.cost * 120.0 <= USUAL_BUDGET * (120.0 + USUAL_BURST_S), "{}", outcome.cost);
}

#[test]
fn traps_that_get_dearer_are_reckoned_as_they_are() {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    let load = [Load { hits: 300, ..Load::default() }];
    // 0.7 % of a core, and then three times as much.
    assert!((1..400).all(|step| guard.step(step * STEP_MS * MS, &load, 0).is_empty()));
    guard.expect_traps(1_800.0);
    let decisions: Vec<Decision> = (400..800).flat_map(|step| guard.step(step * STEP_MS * MS, &load, 0)).collect();
    assert!(matches!(decisions[0], Decision::Detach { group: 0, .. }), "{decisions:?}");
}

#[test]
fn so_many_hits_are_taken_between_two_looks_as_a_peak_may_cost() {
    assert_eq!(most_hits(Budget::of(USUAL_BUDGET), Some(700_000)), 12_500);
    assert_eq!(most_hits(Budget::of(ON_DEMAND_BUDGET), Some(700_000)), 37_500);
    assert_eq!(most_hits(Budget::of(1000.0), Some(700_000)), u32::MAX);
}

#[test]
fn a_group_whose_shortest_look_costs_a_minute_of_the_budget_is_stopped() {
    // 40 million hits a second on many cores: 600 ms of CPU in one step, where 0.5 % of a core earn 300 ms in a minute.
    let outcome = play(&[counting(40_000_000), counting(100)], USUAL_BUDGET, 600, 0);
    assert!(matches!(outcome.decisions[..], [(..=200, Decision::Stop { group: 0, .. })]), "{:?}", outcome.decisions);
    assert!(outcome.cost < USUAL_BUDGET, "{}", outcome.cost);
}

#[test]
fn jtrace_itself_keeps_within_a_budget() {
    // 50,000 events a second of 3 us: 15 % of a core for jtrace, 3 % for the target.
    let events = Firing { delivered_percent: 100, ..counting(50_000) };
    let decisions = play(&[counting(1_000), events], ON_DEMAND_BUDGET, 120, 3_000).decisions;
    let Some((_, Decision::Detach { group: 1, reason })) = decisions.first() else { panic!("{decisions:?}") };
    assert!(reason.own && (reason.cost - 0.15).abs() < 1e-9, "{reason:?}");
    let mut own_ns = 0;
    let (mut since, mut attached) = (0, true);
    for (at_ms, decision) in &decisions {
        match decision {
            Decision::Detach { .. } => {
                own_ns += (at_ms - since) * 50 * 3_000;
                attached = false;
            }
            Decision::Attach { .. } => (since, attached) = (*at_ms, true),
            Decision::Look { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(!attached || decisions.len() > 2, "{decisions:?}");
    // The first second is free.
    assert!(own_ns as f64 <= OWN_FIRST_NS + 0.05 * 120e9, "{own_ns}");
}

#[test]
fn what_jtrace_takes_is_no_fault_of_groups_that_send_little() {
    let events = Firing { delivered_percent: 100, ..counting(1_000) };
    assert_eq!(play(&[events], ON_DEMAND_BUDGET, 60, 1_000_000).decisions, []);
}

#[test]
fn a_group_that_cannot_be_attached_again_stays_away() {
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), 0);
    guard.gave_up(0);
    assert_eq!(guard.step(1000 * MS, &[Load { hits: 1_000_000, ..Load::default() }], 0), []);
    assert_eq!(guard.step(200_000 * MS, &[Load::default()], 0), []);
}
