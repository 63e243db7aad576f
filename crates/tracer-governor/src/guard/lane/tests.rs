//! Made-up programs under the lane's governor: what they cost stays within the budget, whatever they do.

use super::*;

const STEP_NS: u64 = 20_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A marker or property of a made-up program.
#[derive(Clone, Copy)]
struct Made {
    kind: Kind,
    /// Share of a core that it takes of the target when it is on, and if it is counted.
    sent: f64,
    counted: f64,
    /// What jtrace takes for it.
    own: f64,
    /// What it takes of the target while it is off.
    off: f64,
}

const fn marker(sent: f64, can_count: bool) -> Made {
    Made { kind: Kind::Marker { can_count }, sent, counted: sent / 4.0, own: 0.0, off: 0.0 }
}

/// What happened in a play.
#[derive(Default)]
struct Played {
    decisions: Vec<(u64, usize, LaneDecision)>,
    cost_ns: f64,
    on_ns: Vec<u64>,
    /// What markers took while they were off.
    off_ns: f64,
    /// Cost by member.
    by: Vec<f64>,
}

impl Played {
    fn actions(&self, member: usize) -> Vec<&'static str> {
        let of = self.decisions.iter().filter(|(_, index, _)| *index == member);
        of.map(|(.., decision)| match decision {
            LaneDecision::Count(_) => "count",
            LaneDecision::Halve { .. } => "halve",
            LaneDecision::Off(_) => "off",
            LaneDecision::On => "on",
            LaneDecision::Stop(_) => "stop",
        })
        .collect()
    }
}

/// Plays so many seconds; what is decided holds one step later, as the library needs a moment.
fn play(made: &[Made], budget: f64, others: f64, seconds: u64) -> Played {
    let kinds: Vec<Kind> = made.iter().map(|made| made.kind).collect();
    let mut guard = LaneGuard::new(&kinds, budget, 0);
    let mut is_woven = vec![true; made.len()];
    let (mut is_on, mut is_counted, mut level) =
        (vec![true; made.len()], vec![false; made.len()], vec![0_u8; made.len()]);
    let mut played = Played { on_ns: vec![0; made.len()], by: vec![0.0; made.len()], ..Played::default() };
    let mut next: Vec<(usize, LaneDecision)> = Vec::new();
    for step in 1..=seconds * SECOND_NS / STEP_NS {
        let loads: Vec<LaneLoad> = (0..made.len())
            .map(|index| {
                let Made { kind, sent, counted, own, off } = made[index];
                if !is_on[index] {
                    played.off_ns += if is_woven[index] { off * STEP_NS as f64 } else { 0.0 };
                    return LaneLoad { target_ns: STEP_NS as f64, ..LaneLoad::default() };
                }
                played.on_ns[index] += STEP_NS;
                let is_none = level[index] >= NO_NEW_OBJECTS;
                let tracked = if is_none { 0.0 } else { 0.5_f64.powi(level[index].into()) };
                let share = match kind {
                    Kind::Property => counted + (sent - counted) * tracked,
                    Kind::Marker { .. } if is_counted[index] => counted,
                    Kind::Marker { .. } => sent,
                };
                let ns = |share: f64| share * STEP_NS as f64;
                LaneLoad {
                    events: 1000,
                    cost_ns: ns(share),
                    counted_ns: ns(counted),
                    // While it is on, its thread comes to it less often.
                    off_ns: ns(off * (1.0 - (share - off).clamp(0.0, 0.95))),
                    target_ns: STEP_NS as f64,
                    own_ns: if is_counted[index] { 0.0 } else { ns(own) * tracked },
                }
            })
            .collect();
        for (by, load) in played.by.iter_mut().zip(&loads) {
            *by += load.cost_ns;
        }
        played.cost_ns += loads.iter().map(|load| load.cost_ns).sum::<f64>();
        for (index, decision) in std::mem::take(&mut next) {
            match decision {
                LaneDecision::Count(_) => is_counted[index] = true,
                LaneDecision::Halve { level: to, .. } => level[index] = to,
                LaneDecision::Off(_) => is_on[index] = false,
                LaneDecision::Stop(_) => (is_on[index], is_woven[index]) = (false, false),
                LaneDecision::On => is_on[index] = true,
            }
        }
        next = guard.step(step * STEP_NS, &loads, 1.0, others);
        played.decisions.extend(next.iter().map(|(index, decision)| (step * STEP_NS, *index, *decision)));
    }
    played
}

/// The budget, and what a burst, one more step and the time that a decision needs may take.
fn within(played: &Played, budget: f64, seconds: u64, most: f64) {
    let slack_ns = 2.0 * BURST_OF_5 + 3.0 * most * STEP_NS as f64;
    let allowed_ns = budget * (seconds * SECOND_NS) as f64 + slack_ns;
    assert!(played.cost_ns <= allowed_ns, "{} ns of {allowed_ns}: {:?}", played.cost_ns, played.decisions);
}

/// A burst with 5 % of a core.
const BURST_OF_5: f64 = 35e6;

#[test]
fn what_is_cheap_is_left_alone() {
    let played = play(&[marker(0.02, true), marker(0.02, false)], 0.05, 0.0, 20);
    assert!(played.decisions.is_empty(), "{:?}", played.decisions);
}

#[test]
fn markers_are_counted_where_that_is_enough_and_within_200_ms() {
    for excess in [0.06, 0.12] {
        let played = play(&[marker(excess, true), marker(0.001, true)], 0.05, 0.0, 20);
        assert_eq!(played.actions(0), ["count"], "{:?}", played.decisions);
        assert_eq!(played.actions(1), [""; 0]);
    }
    // Twenty times the budget: it acts long before 200 ms have passed.
    let played = play(&[marker(1.0, true)], 0.05, 0.0, 20);
    assert!(played.decisions[0].0 <= 200_000_000, "{:?}", played.decisions[0]);
    assert_eq!(played.actions(0)[..2], ["count", "off"], "a quarter of that is too much, too");
    within(&played, 0.05, 20, 1.0);
}

#[test]
fn what_cannot_be_counted_is_sampled_and_the_rest_goes_on() {
    let played = play(&[marker(1.0, false), marker(0.01, false), marker(0.5, false)], 0.05, 0.0, 60);
    for noisy in [0, 2] {
        let actions = played.actions(noisy);
        assert!(
            actions.len() > 10 && actions.iter().zip(["off", "on"].iter().cycle()).all(|(a, b)| a == b),
            "{actions:?}"
        );
    }
    assert!(played.actions(1).is_empty(), "{:?}", played.actions(1));
    // They share their windows.
    assert_eq!(played.on_ns[0], played.on_ns[2]);
    within(&played, 0.05, 60, 1.51);
    // And the budget is used.
    assert!(played.cost_ns >= 0.5 * 0.05 * 60e9, "{}", played.cost_ns);
}

#[test]
fn probe_sites_come_first() {
    let played = play(&[marker(0.04, false)], 0.05, 0.03, 60);
    assert_eq!(played.actions(0)[..2], ["off", "on"]);
    within(&played, 0.02, 60, 0.04);
}

#[test]
fn what_even_a_window_costs_too_much_is_stopped() {
    let played = play(&[marker(1.0, false)], 0.000_2, 0.0, 20);
    let actions = played.actions(0);
    assert_eq!(actions.last(), Some(&"stop"), "{actions:?}");
    assert!(actions.len() <= 3, "{actions:?}");
}

#[test]
fn of_properties_fewer_objects_are_tracked_and_none_is_ever_in_windows() {
    let property = Made { kind: Kind::Property, sent: 0.8, counted: 0.01, own: 0.0, off: 0.0 };
    let played = play(&[property, marker(0.001, false)], 0.05, 0.0, 30);
    let actions = played.actions(0);
    assert!(!actions.is_empty() && actions.iter().all(|action| *action == "halve"), "{actions:?}");
    let levels: Vec<u8> = played
        .decisions
        .iter()
        .filter_map(|(.., decision)| match decision {
            LaneDecision::Halve { level, .. } => Some(*level),
            _ => None,
        })
        .collect();
    assert!(levels.is_sorted() && levels.last() < Some(&8), "{levels:?}");
    assert!(played.decisions[0].0 <= 200_000_000, "{:?}", played.decisions[0]);
    // Where ignoring all of them would be too much already, nothing else helps.
    let played = play(&[Made { counted: 0.2, ..property }], 0.05, 0.0, 30);
    assert_eq!(played.actions(0), ["stop"]);
}

#[test]
fn what_jtrace_itself_takes_is_bounded_as_well() {
    let busy = Made { own: 0.9, ..marker(0.001, false) };
    let played = play(&[busy, marker(0.001, false)], 0.05, 0.0, 60);
    assert!(played.actions(0).len() > 2 && played.actions(1).is_empty(), "{:?}", played.decisions);
    let share = played.on_ns[0] as f64 / 60e9;
    assert!(share < 0.15, "{share}");
    let counted = play(&[Made { own: 0.9, ..marker(0.001, true) }], 0.05, 0.0, 60);
    assert_eq!(counted.actions(0), ["count"]);
}

/// Whatever costs what: never more than the budget, bursts and the steps that a decision takes.
#[test]
fn random_programs_stay_within_the_budget() {
    let mut random = crate::random::Random::new(3);
    let share = |random: &mut crate::random::Random| random.below(1000) as f64 / 1000.0;
    for _ in 0..200 {
        let made: Vec<Made> = (0..=random.below(6))
            .map(|_| Made { own: share(&mut random) / 4.0, ..marker(share(&mut random).powi(4), random.below(2) == 0) })
            .collect();
        let most: f64 = made.iter().map(|made| made.sent).sum();
        let played = play(&made, 0.05, 0.0, 30);
        within(&played, 0.05, 30, most);
    }
}

/// Of three markers that are too much while they are on, the one goes that is too much while it is off, and no other.
#[test]
fn what_is_too_much_while_it_is_off_is_taken_out_once_two_windows_agree() {
    let hot = Made { off: 0.08, ..marker(0.5, false) };
    let cool = Made { off: 0.002, ..marker(0.06, false) };
    let played = play(&[cool, hot, marker(0.000_1, true)], 0.05, 0.0, 60);
    assert_eq!(played.actions(1), ["off", "on", "off", "stop"], "{:?}", played.decisions);
    let (at_ns, _, stop) = *played
        .decisions
        .iter()
        .find(|(_, index, d)| *index == 1 && matches!(d, LaneDecision::Stop(_)))
        .expect("stopped");
    assert!(at_ns < 3 * SECOND_NS, "{at_ns}");
    let LaneDecision::Stop(reason) = stop else { panic!("{stop:?}") };
    assert!(reason.off.is_some_and(|off| (0.04..0.1).contains(&off)), "{reason:?}");
    assert!(!played.actions(0).contains(&"stop") && played.actions(2).is_empty(), "{:?}", played.decisions);
    within(&Played { cost_ns: played.cost_ns + played.off_ns - 0.08 * 2e9, ..played }, 0.05, 60, 0.57);
}

/// A program that was busy once, for a moment, loses nothing.
#[test]
fn one_window_takes_nothing_out() {
    let mut guard = LaneGuard::new(&[Kind::Marker { can_count: false }], 0.05, 0);
    let mut decisions = Vec::new();
    for step in 1..=3000 {
        let busy = if step < 10 { 1.0 } else { 0.0 };
        let ns = busy * STEP_NS as f64;
        let load = LaneLoad { events: 1000, cost_ns: 0.5 * ns, off_ns: 0.2 * ns, ..LaneLoad::default() };
        decisions.extend(guard.step(step * STEP_NS, &[load], 1.0, 0.0));
    }
    assert!(
        !decisions.is_empty() && !decisions.iter().any(|(_, d)| matches!(d, LaneDecision::Stop(_))),
        "{decisions:?}"
    );
}

/// What they take off is a part of the budget: the windows get the rest.
#[test]
fn windows_and_what_lies_between_them_stay_within_the_budget_together() {
    for off in [0.0, 0.01, 0.02] {
        let played = play(&[Made { off, ..marker(0.5, false) }], 0.05, 0.0, 60);
        assert!(played.actions(0).len() > 10 && !played.actions(0).contains(&"stop"), "{off}: {:?}", played.actions(0));
        within(&Played { cost_ns: played.cost_ns + played.off_ns, ..played }, 0.05, 60, 0.5);
    }
}

#[test]
fn threads_that_tell_little_count_little() {
    let threads = |told: &[u64]| off::equal_threads(told.iter().copied());
    assert!((threads(&[1000; 8]) - 8.0).abs() < 1e-9);
    assert!((threads(&[1000, 1, 1, 1]) - 1.0).abs() < 0.01);
    assert!(threads(&[]).abs() < 1e-9);
}

/// Where it took long until it was switched off, what was seen until then is enough.
#[test]
fn two_parts_of_the_time_before_the_first_window_can_agree() {
    for (steps, seen) in [(4, 1), (30, 2)] {
        let mut guard = LaneGuard::new(&[Kind::Marker { can_count: false }], 0.9, 0);
        // So much that it goes off after so many steps.
        let ns = BURST_OF_90 / f64::from(steps) + 0.9 * STEP_NS as f64;
        let busy = LaneLoad { events: 1000, cost_ns: ns, off_ns: 0.9 * ns, ..LaneLoad::default() };
        let mut actions = Vec::new();
        for at in 1..200 {
            let load = if actions.is_empty() { busy } else { LaneLoad::default() };
            actions.extend(guard.step(at * STEP_NS, &[load], 1.0, 0.0).into_iter().map(|(_, decision)| decision));
        }
        let stopped = actions.iter().any(|decision| matches!(decision, LaneDecision::Stop(_)));
        assert_eq!(stopped, seen == 2, "{actions:?}");
    }
}

/// A burst with 90 % of a core.
const BURST_OF_90: f64 = 630e6;

/// What somebody asked for is neither switched on nor counted among what is on.
#[test]
fn what_is_held_is_left_to_whoever_asked_for_it() {
    let load = LaneLoad { events: 1000, cost_ns: 0.5 * STEP_NS as f64, ..LaneLoad::default() };
    let mut guard = LaneGuard::new(&[Kind::Marker { can_count: false }; 2], 0.05, 0);
    let none = LaneLoad::default();
    assert!(guard.hold(0, true) && !guard.hold(0, true) && !guard.hold(1, false) && !guard.hold(2, true));
    let decide = |guard: &mut LaneGuard, steps: std::ops::Range<u64>, of: usize| {
        let (mut is_on, mut decided) = (true, Vec::new());
        for at in steps {
            let mut loads = [none; 2];
            loads[of] = if is_on { load } else { none };
            for (index, decision) in guard.step(at * STEP_NS, &loads, 1.0, 0.0) {
                is_on = decision == LaneDecision::On;
                decided.push(index);
            }
        }
        decided
    };
    let decided = decide(&mut guard, 1..500, 1);
    assert!(decided.len() > 3 && decided.iter().all(|index| *index == 1), "{decided:?}");
    assert!(guard.hold(1, true) && guard.hold(0, false));
    let decided = decide(&mut guard, 500..2000, 0);
    assert!(decided.len() > 3 && decided.iter().all(|index| *index == 0), "{decided:?}");
}
