//! The kernel's graph and user space together say what the predicate says.

use proptest::prelude::*;
use tracer_common::filter::{
    ACCEPT, Filter, INPUTS, Input, MAX_ATOMS, MAX_NODES, MAX_TALLIES, Node, REJECT, Test, evaluate,
};

use super::*;
use crate::{
    predicate::{
        random::{Case, Cases, Happening, Rest, counters},
        split::{Armed, Split, Why},
        tree::Condition,
    },
    random::Random,
};

const EVERY_INPUT: [Input; INPUTS + 1] = [
    Input::Subject,
    Input::Caller,
    Input::Thread,
    Input::Tid,
    Input::Cpu,
    Input::Size,
    Input::Duration,
    Input::Depth,
    Input::Random,
    Input::Tally,
];

/// What the graph says, and what its counters have counted afterwards.
fn run(case: &Case) -> (bool, [u64; MAX_TALLIES]) {
    let mut counted = case.tallies;
    let wanted = evaluate(&case.filter, &case.inputs, |tally| {
        counted[usize::from(tally)] += 1;
        counted[usize::from(tally)]
    });
    (wanted, counted)
}

#[test]
fn graph_and_user_space_say_what_the_predicate_says_in_100_000_cases() {
    let (mut wanted, mut whole, mut mixed, mut rejected_early) = (0, 0, 0, 0);
    let (mut full, mut full_wanted, mut needed) = (0, 0, 0);
    let mut asked = [[0_usize; INPUTS + 1]; 4];
    for (at, case) in Cases::new(1).take(100_000).enumerate() {
        let (kernel, counted) = run(&case);
        let Case { text, user, expected, .. } = &case;
        assert_eq!((kernel && *user, counted), (*expected, case.counted), "case {at}: {text}");
        assert!(kernel || !case.needed, "case {at}: {text}");
        full += usize::from(case.rest == Rest::Overflow);
        full_wanted += usize::from(case.rest == Rest::Overflow && *expected);
        needed += usize::from(case.needed && !*expected);
        wanted += usize::from(*expected);
        whole += usize::from(case.rest == Rest::Nothing);
        mixed += usize::from(case.rest != Rest::Nothing);
        rejected_early += usize::from(case.rest != Rest::Nothing && !kernel);
        for node in case.filter.nodes.iter().filter(|node| **node != Node::REJECTING) {
            asked[usize::from(node.test)][usize::from(node.input)] += 1;
        }
    }
    for (test, inputs) in [
        (Test::AnyBit, &[Input::Subject, Input::Caller, Input::Thread][..]),
        (Test::Equal, &[Input::Tid, Input::Cpu, Input::Size, Input::Duration, Input::Depth]),
        (Test::Less, &[Input::Tid, Input::Cpu, Input::Size, Input::Duration, Input::Depth, Input::Tally]),
        (Test::Multiple, &[Input::Random, Input::Tally]),
    ] {
        for input in inputs {
            let times = asked[test as usize][*input as usize];
            assert!(times > 1_000, "{test:?} of {input:?} was asked {times} times");
        }
    }
    // Cases that all say the same, or all stay on one side, would show little.
    assert!((20_000..80_000).contains(&wanted), "{wanted}");
    assert!(full > 2_000 && full_wanted > 500 && needed > 1_000, "{full} {full_wanted} {needed}");
    assert!(whole > 20_000 && mixed > 20_000 && rejected_early > 2_000, "{whole} {mixed} {rejected_early}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_seed_says_the_same(seed: u64) {
        for case in Cases::new(seed).take(50) {
            let (kernel, counted) = run(&case);
            prop_assert_eq!((kernel && case.user, counted), (case.expected, case.counted), "{}", case.text);
            prop_assert!(kernel || !case.needed, "{}", case.text);
        }
    }
}

/// Over a row of events with one set of counters on either side, as in a session.
#[test]
fn a_session_counts_on_two_sides_what_it_counts_on_one() {
    let mut random = Random::new(5);
    let mut counting = 0;
    for _ in 0..2_000 {
        let predicate = random::predicate(&mut random);
        let (split, user) = (predicate.split(), predicate.split().user());
        counting += usize::from(counters(&predicate) > 0);
        let (mut whole, mut left, mut tallies) = (Counters::default(), Counters::default(), [0_u64; MAX_TALLIES]);
        for _ in 0..20 {
            let happening = Happening::new(&mut random, predicate.kind);
            let event = happening.event();
            let expected = predicate.eval(&event, &mut whole);
            let kernel = evaluate(&split.filter, &split.inputs(&event), |tally| {
                tallies[usize::from(tally)] += 1;
                tallies[usize::from(tally)]
            });
            let both = kernel && user.as_ref().is_none_or(|expr| expr.eval(&event, &mut left));
            assert_eq!(both, expected, "{}", written(&predicate));
        }
        for counter in 0..counters(&predicate) {
            let kernel = split.counters.iter().position(|known| *known == counter).map_or(0, |tally| tallies[tally]);
            assert_eq!(kernel + left.get(counter), whole.get(counter), "{counter} of {}", written(&predicate));
        }
    }
    assert!(counting > 200, "{counting}");
}

/// The same event, but its end: only the duration and the CPU differ, and the random number is drawn then.
#[test]
fn nothing_that_matters_at_return_is_rejected_at_entry() {
    let mut random = Random::new(9);
    let (mut rejected, mut seen) = (0, 0);
    for _ in 0..20_000 {
        let predicate = random::predicate(&mut random);
        let split = predicate.split();
        let Some(entry) = &split.entry else { continue };
        let happening = Happening::new(&mut random, predicate.kind);
        let event = happening.event();
        let at_entry = Event { duration: 0, cpu: 1 + event.cpu % 3, random: 0, ..event };
        seen += 1;
        if evaluate(entry, &split.inputs(&at_entry), |_| panic!("an entry is not counted")) {
            continue;
        }
        rejected += 1;
        let mut counters = Counters::default();
        assert!(!predicate.eval(&event, &mut counters), "{}", written(&predicate));
        assert_eq!(counters, Counters::default(), "{}", written(&predicate));
    }
    assert!(seen > 2_000 && rejected > 200, "{seen} {rejected}");
}

/// What the condition rules out has no event that is wanted or counted; and it rules out nearly all whose outlook says so.
#[test]
fn a_thing_is_armed_if_its_events_can_matter() {
    let mut random = Random::new(29);
    let (mut armed, mut left_out, mut missed) = (0, 0, 0);
    for _ in 0..20_000 {
        let predicate = random::predicate(&mut random);
        let happening = Happening::new(&mut random, predicate.kind);
        let known = Known::Subject(happening.event().subject);
        let is_armed = match predicate.armed() {
            Armed::All => true,
            Armed::None => false,
            Armed::If(expr) => expr.outlook(known) == Outlook::Always,
        };
        armed += usize::from(is_armed);
        left_out += usize::from(!is_armed);
        missed += usize::from(is_armed && predicate.outlook(known) == Outlook::Never);
        let mut counters = Counters::default();
        let wanted = predicate.eval(&happening.event(), &mut counters);
        assert!(is_armed || !wanted && counters == Counters::default(), "{}", written(&predicate));
    }
    assert!(armed > 2_000 && left_out > 2_000 && missed < 100, "{armed} {left_out} {missed}");
}

/// What the outlook says of a thing is so for its events.
#[test]
fn an_outlook_is_never_wrong() {
    let mut random = Random::new(13);
    let mut decided = [0, 0];
    for _ in 0..20_000 {
        let predicate = random::predicate(&mut random);
        let happening = Happening::new(&mut random, predicate.kind);
        let event = happening.event();
        let mut counters = Counters::default();
        let wanted = predicate.eval(&event, &mut counters);
        let of = Known::ThreadOf { thread: event.thread, tid: event.tid };
        for known in [Known::Subject(event.subject), Known::Caller(event.caller), Known::Thread(event.thread), of] {
            match predicate.outlook(known) {
                Outlook::Depends => continue,
                Outlook::Never => assert!(!wanted, "{known:?} {}", written(&predicate)),
                Outlook::Always => assert!(wanted, "{known:?} {}", written(&predicate)),
            }
            decided[usize::from(wanted)] += 1;
            assert_eq!(counters, Counters::default(), "{}", written(&predicate));
        }
    }
    assert!(decided.iter().all(|&times| times > 500), "{decided:?}");
}

#[test]
fn graphs_keep_the_contract() {
    let mut random = Random::new(17);
    let mut drawn = 0;
    for _ in 0..2_000 {
        let split = random::predicate(&mut random).split();
        for filter in [Some(split.filter), split.entry].into_iter().flatten() {
            check_contract(&filter);
        }
        assert!(split.counters.len() <= MAX_TALLIES);
        let asks = |filter: &Filter, input: Input| filter.nodes.iter().any(|node| node.input == input as u8);
        // Each side would draw a number of its own.
        let left_draws = split.user().is_some_and(|expr| expr.any_is(|c| matches!(c, Condition::Sample { .. })));
        assert!(!(left_draws && asks(&split.filter, Input::Random)), "{:?}", split.left);
        drawn += usize::from(left_draws);
        let later = [Input::Duration, Input::Cpu, Input::Random, Input::Tally];
        assert!(split.entry.is_none_or(|entry| later.iter().all(|input| !asks(&entry, *input))));
    }
    assert!(drawn > 100, "{drawn}");
}

fn check_contract(filter: &Filter) {
    let ends = |to: u8| to == ACCEPT || to == REJECT;
    assert!(ends(filter.start) || usize::from(filter.start) < MAX_NODES);
    for (at, Node { yes, no, reserved, .. }) in filter.nodes.iter().enumerate() {
        for to in [*yes, *no] {
            assert!(ends(to) || usize::from(to) > at && usize::from(to) < MAX_NODES, "{at} leads to {to}");
        }
        assert_eq!(*reserved, [0; 3]);
    }
}

fn split_of(text: &str, kind: Kind) -> (Split, Vec<(String, Why)>) {
    let split = parsed(text, kind).split();
    let left = split.left.iter().map(|left| (left.expr.to_string(), left.why)).collect();
    (split, left)
}

fn nodes(filter: &Filter) -> usize {
    filter.nodes.iter().filter(|node| **node != Node::REJECTING).count()
}

#[test]
fn names_of_one_thing_are_one_question() {
    let text = r#"class ~ "com.shop.*" && duration > 10ms && (method == "a" || method == "b") && !(package == "x")"#;
    let (split, left) = split_of(text, Kind::MethodReturn);
    assert_eq!((nodes(&split.filter), left), (2, vec![]));
    assert_eq!(split.names.of(field::Whose::Subject).len(), 1);
}

#[test]
fn names_do_not_pass_a_test_that_counts() {
    let (split, left) = split_of(r#"class == "A" && nth(3) && method == "b""#, Kind::MethodEntry);
    assert_eq!((nodes(&split.filter), left), (3, vec![]));
}

#[test]
fn what_the_kernel_cannot_decide_is_left() {
    let left = |text| split_of(text, Kind::MethodEntry).1;
    assert_eq!(left(r#"line == 5 && class == "A""#), [("line == 5".to_owned(), Why::Line)]);
    assert_eq!(left("nth(2) && line == 5"), [("line == 5".to_owned(), Why::Line)]);
    assert_eq!(
        left(r#"line == 5 && nth(2) && class == "A""#),
        [
            ("line == 5".to_owned(), Why::Line),
            ("nth(2)".to_owned(), Why::CountsBehind),
            ("class == \"A\"".to_owned(), Why::BehindCount),
        ]
    );
    assert_eq!(
        left("sample(1/2) && (line == 5 || sample(1/3))"),
        [("sample(1/2)".to_owned(), Why::OneDraw), ("line == 5 || sample(1/3)".to_owned(), Why::Line),]
    );
    assert_eq!(left("!(line == 5 || tid == 3)"), [("!(line == 5)".to_owned(), Why::Line)]);
}

#[test]
fn the_kernel_asks_something_weaker_of_what_is_left() {
    let (split, left) = split_of(r#"(class == "A" && line == 5) || (class == "B" && line == 6)"#, Kind::MethodEntry);
    assert_eq!(left.len(), 1);
    assert_eq!(split.names.of(field::Whose::Subject)[0].to_string(), r#"class == "A" || class == "B""#);
    let wants = |class| {
        let mask = split.names.subject(&Subject::method(class, "m", "()V"));
        evaluate(&split.filter, &[mask, 0, 0, 0, 0, 0, 0, 0, 0], |_| 0)
    };
    assert!(wants("A") && wants("B") && !wants("C"));
}

#[test]
fn what_does_not_fit_is_made_smaller() {
    let many: Vec<String> = (0..40).map(|tid| tid.to_string()).collect();
    let text = format!(r#"(class == "A" && tid in ({})) || (class == "B" && cpu == 1)"#, many.join(", "));
    let (split, left) = split_of(&text, Kind::MethodEntry);
    assert!(matches!(left[..], [(_, Why::NoRoom)]));
    let wants = |class, cpu| {
        let mask = split.names.subject(&Subject::method(class, "m", "()V"));
        evaluate(&split.filter, &[mask, 0, 0, 99, cpu, 0, 0, 0, 0], |_| 0)
    };
    assert!(wants("A", 0) && wants("B", 1) && !wants("B", 0) && !wants("C", 1));

    let all: Vec<String> = (0..40).map(|tid| format!("tid != {tid}")).collect();
    let (split, left) = split_of(&all.join(" && "), Kind::MethodEntry);
    assert_eq!((nodes(&split.filter), left.len()), (32, 8));

    let nine = ["nth(2)"; 9].join(" && ");
    let (split, left) = split_of(&nine, Kind::MethodEntry);
    assert_eq!((split.counters.len(), left), (8, vec![("nth(2)".to_owned(), Why::NoRoom)]));
}

#[test]
fn the_longest_predicate_is_split_at_once() {
    // Every condition on a thing of its own, so that none are put together.
    let pair = |at: usize| format!("(tid=={}&&cpu<{at}||depth>2)", at % 10);
    let text: Vec<String> = (0..84).map(pair).collect();
    let predicate = parsed(&text.join("||"), Kind::MethodEntry);
    let split = predicate.split();
    check_contract(&split.filter);
    assert!(split.names.of(field::Whose::Subject).len() <= MAX_ATOMS);
    // A node is too few for any of them, so the kernel wants all.
    assert_eq!(split.filter.start, ACCEPT);
}

#[test]
fn what_is_known_beforehand_is_not_asked() {
    for (text, start) in [
        ("size >= 0", ACCEPT),
        ("size < 0", REJECT),
        ("size <= 18446744073709551615", ACCEPT),
        ("size > 18446744073709551615", REJECT),
        ("tid == 1 && size < 0", REJECT),
        ("tid == 1 || size >= 0", ACCEPT),
    ] {
        let (split, left) = split_of(text, Kind::Allocation);
        assert_eq!((split.filter.start, nodes(&split.filter), left), (start, 0, vec![]), "{text}");
    }
    // It counts all the same.
    assert_eq!(nodes(&split_of("nth(2) && size < 0", Kind::Allocation).0.filter), 1);
}

#[test]
fn a_node_asks_what_the_contract_says() {
    let asks = |test: Test, value: u64, number: u64| {
        let node = Node { input: Input::Cpu as u8, test: test as u8, yes: ACCEPT, value, ..Node::REJECTING };
        let mut filter = Filter { start: 0, ..Filter::ALL };
        filter.nodes[0] = node;
        let mut inputs = [7; INPUTS];
        inputs[Input::Cpu as usize] = number;
        evaluate(&filter, &inputs, |_| 0)
    };
    for (test, value, yes, no) in [
        (Test::AnyBit, 0b110, 0b010, 0b001),
        (Test::AnyBit, 1 << 63, u64::MAX, u64::MAX >> 1),
        (Test::Equal, 5, 5, 6),
        (Test::Less, 5, 4, 5),
        (Test::Multiple, 3, 9, 10),
        (Test::Multiple, 3, 0, 1),
    ] {
        assert!(asks(test, value, yes) && !asks(test, value, no), "{test:?} {value}");
    }
    assert!(!asks(Test::Multiple, 0, 0) && !asks(Test::Multiple, 0, 1) && !asks(Test::AnyBit, 0, u64::MAX));
}

#[test]
fn a_split_says_what_it_needs() {
    let text = r#"thread ~ "http-*" && (line == 7 || caller.class == "A") && duration > 1ms"#;
    let split = parsed(text, Kind::MethodReturn).split();
    let used = |split: &Split| -> Vec<Input> { EVERY_INPUT.into_iter().filter(|&input| split.uses(input)).collect() };
    assert_eq!(used(&split), [Input::Thread, Input::Duration]);
    assert!(split.left_asks(Field::Line) && split.left_asks(Field::CallerClass) && !split.left_asks(Field::Duration));
    let counting = parsed("sample(1/2) && nth(3) && tid == 1", Kind::Jni).split();
    assert_eq!(used(&counting), [Input::Tid, Input::Random, Input::Tally]);
}

#[test]
fn graphs_that_are_none_are_rejected_in_time() {
    let mut random = Random::new(23);
    for _ in 0..20_000 {
        let mut filter = Filter { start: random.below(40).try_into().unwrap(), ..Filter::ALL };
        for node in &mut filter.nodes {
            let [input, test, yes, no, tally, ..] = random.bits().to_le_bytes();
            *node = Node {
                input: input % 12,
                test: test % 5,
                yes: yes % 34,
                no: no % 34,
                tally,
                reserved: [0; 3],
                value: 1,
            };
        }
        let mut steps = 0;
        let wanted = evaluate(&filter, &[1; 9], |_| {
            steps += 1;
            steps
        });
        assert!(!wanted && steps <= MAX_NODES as u64);
    }
}
