//! The parts of a predicate against its meaning.

mod explained;
mod messages;
mod sides;

use super::{split::Armed, *};

/// The predicate of a text that must be right.
fn parsed(text: &str, kind: Kind) -> Predicate {
    Predicate::parse(text, kind).unwrap_or_else(|error| panic!("{}", error.render()))
}

/// How it is written.
fn written(predicate: &Predicate) -> String {
    predicate.expr.as_ref().map_or_else(String::new, ToString::to_string)
}

#[test]
fn what_is_printed_is_read_as_the_same() {
    let mut random = crate::random::Random::new(11);
    let mut read = 0;
    for _ in 0..3_000 {
        let made = random::predicate(&mut random);
        let text = written(&made);
        match Predicate::parse(&text, made.kind) {
            Ok(again) => {
                assert_eq!(again, made, "{text}");
                read += 1;
            }
            // The generator knows no limits and no rule of style.
            Err(error) => assert!(
                ["at most", "more than", "names, not patterns"].iter().any(|limit| error.what.contains(limit)),
                "{}",
                error.render()
            ),
        }
    }
    assert!(read > 2_500, "{read}");
}

#[test]
fn assertions_are_printed_as_they_are_read() {
    for (text, written) in [
        ("count(class=='com/shop/Registry')<=1", r#"count(class == "com/shop/Registry") <= 1"#),
        (r#"retained(class ~ "com.shop.cache.*" || size > 1kB) < 100MiB"#, ""),
        ("size((length > 3)) != 1024", "size(length > 3) != 1KiB"),
        (
            "every com.shop.Order through com.shop.Book$*",
            r#"every (class == "com.shop.Order") through (class ~ "com.shop.Book$*")"#,
        ),
        (
            r#"every "byte[]" through (class == "A" && !(size > 1B))"#,
            r#"every (class == "byte[]") through (class == "A" && !(size > 1B))"#,
        ),
    ] {
        let assertion = Assertion::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
        assert_eq!(assertion.to_string(), if written.is_empty() { text } else { written });
        assert_eq!(Assertion::parse(&assertion.to_string()).as_ref(), Ok(&assertion), "{text}");
    }
}

#[test]
fn operators_bind_as_in_java() {
    let text = "tid == 1 || tid == 2 && !(cpu == 3 || daemon) && !daemon";
    assert_eq!(written(&parsed(text, Kind::Jni)), text);
    let nested = "(tid == 1 || tid == 2) && (cpu == 3 && depth < 4)";
    assert_eq!(written(&parsed(nested, Kind::Jni)), nested);
    assert_eq!(written(&parsed("((tid==1))", Kind::Jni)), "tid == 1");
}

#[test]
fn amounts_have_units() {
    for (text, written_as) in [
        ("duration>10ms", "duration > 10ms"),
        ("duration >= 1.5 s", "duration >= 1500ms"),
        ("duration in (60s, 1 ns)", "duration in (1m, 1ns)"),
    ] {
        assert_eq!(written(&parsed(text, Kind::MethodReturn)), written_as);
    }
    for (text, written_as) in [
        ("size > 4096", "size > 4KiB"),
        ("size == 1.5kB", "size == 1500B"),
        ("size !in (1MiB, 1MB)", "size !in (1MiB, 1MB)"),
        ("class == '[B'", "class == \"[B\""),
    ] {
        assert_eq!(written(&parsed(text, Kind::Allocation)), written_as);
    }
}

/// The manual.
const MANUAL: &str = include_str!("../../../../docs/predicates.md");

/// The cells of the rows of the manual's table below a heading.
fn table(heading: &str) -> impl Iterator<Item = Vec<String>> {
    let below = MANUAL.split_once(heading).expect(heading).1;
    let rows = below.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let row = row.replace("\\|", "\u{0}");
        row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    })
}

#[test]
fn the_examples_of_the_manual_can_be_read() {
    let mut examples = 0;
    for row in table("## Examples") {
        let text = row[1].trim_matches('`');
        assert!(Kind::ALL.into_iter().any(|kind| Predicate::parse(text, kind).is_ok()), "{text}");
        examples += 1;
    }
    assert!(examples > 3, "{examples}");
    let message = Predicate::parse("class ~ \"com.shop.*\" && duration > 10", Kind::MethodReturn).unwrap_err().render();
    assert!(MANUAL.contains(&message), "{message}");
}

#[test]
fn the_manual_says_which_events_have_a_field() {
    let mut listed = Vec::new();
    for row in table("## Fields") {
        for name in row[1].split(", ").map(|name| name.trim_matches('`')) {
            let field = Field::named(name).expect(name);
            listed.push(field);
            // What no running JVM tells, or not in all lenses, is a field of the event all the same: of recordings and scenarios.
            let has = |cell: &str| ["yes", "no", "`methods` alone"].contains(&cell);
            let says = |cell: &str, kind: Kind| assert_eq!(has(cell), kind.has(field), "{field} of {kind}");
            says(if row[3] == "at return" { "" } else { &row[3] }, Kind::MethodEntry);
            says(if row[3] == "at return" { "yes" } else { &row[3] }, Kind::MethodReturn);
            says(&row[4], Kind::Allocation);
            says(&row[5], Kind::Jni);
            says(&row[6], Kind::HeapObject);
        }
    }
    assert_eq!(listed.len(), Field::ALL.len(), "{listed:?}");
}

/// A call of `com.shop.Cart.add(int)` by `com.shop.Order.checkout`, line 7, in a thread `http-1`.
fn call(predicate: &str) -> bool {
    let subject = Subject::method("com/shop/Cart", "add", "(I)V");
    let caller = Subject::method("com/shop/Order", "checkout", "()V");
    let thread = Thread { name: "http-1".to_owned(), daemon: true };
    let event = Event {
        subject: &subject,
        caller: Some(&caller),
        thread: &thread,
        tid: 4_711,
        cpu: 1,
        size: 0,
        duration: 10_000_000,
        depth: 3,
        line: Some(7),
        random: 6,
    };
    parsed(predicate, Kind::MethodReturn).eval(&event, &mut Counters::default())
}

#[test]
fn conditions_mean_what_they_say() {
    for holds in [
        r#"class == "com.shop.Cart" && class == "com/shop/Cart" && class ~ "com.shop.*" && class ~ "com/*/Cart""#,
        r#"package == "com.shop" && package != "com" && method in ("remove", "add")"#,
        r#"signature == "(I)V" && method !in ("remove", "checkout") && method !~ "rem*""#,
        r#"thread ~ "http-?" && daemon && daemon == true && daemon != false"#,
        r#"caller == "com.shop.Order.checkout" && caller ~ "*Order::check*" && caller.class == "com/shop/Order""#,
        r#"caller.method == "checkout" && line == 7 && tid == 4711 && cpu in (0, 1) && depth >= 3"#,
        "duration == 10ms && duration < 10.000001ms && duration <= 10000us && duration > 9ms && duration != 1s",
        "sample(1/2) && sample(1/3) && !(sample(1/4)) && first(1) && !(nth(2)) && nth(1)",
    ] {
        assert!(call(holds), "{holds}");
        assert!(!call(&format!("!({holds})")), "{holds}");
    }
    for fails in [
        r#"class == "Cart""#,
        r#"class ~ "com.shop""#,
        "!daemon",
        "duration > 10ms",
        "line != 7",
        "cpu !in (1)",
        "daemon != true",
        r#"caller !~ "*checkout""#,
    ] {
        assert!(!call(fails), "{fails}");
    }
}

#[test]
fn what_is_not_known_is_like_nothing() {
    let subject = Subject::class("com/shop/Cart");
    let thread = Thread::default();
    let event = Event {
        subject: &subject,
        caller: None,
        thread: &thread,
        tid: 0,
        cpu: 0,
        size: 16,
        duration: 0,
        depth: 0,
        line: None,
        random: 1,
    };
    for (text, expected) in [
        (r#"caller ~ "*""#, false),
        (r#"caller !~ "*""#, true),
        (r#"caller.class != "A""#, true),
        (r#"caller in ("A.b")"#, false),
        ("line < 5 || line >= 5 || line == 5 || line in (5)", false),
        ("line != 5 && line !in (5)", true),
    ] {
        assert_eq!(parsed(text, Kind::Allocation).eval(&event, &mut Counters::default()), expected, "{text}");
        assert_eq!(
            parsed(text, Kind::Allocation).split().names.caller(None) != 0,
            expected && text.contains("caller"),
            "{text}"
        );
    }
}

#[test]
fn a_test_counts_what_comes_to_it_and_nothing_else() {
    let run = |text: &str| -> Vec<u64> {
        let predicate = parsed(text, Kind::Allocation);
        let (subject, thread) = (Subject::class("A"), Thread::default());
        let mut counters = Counters::default();
        let wanted = |tid: &u64| {
            let event = Event {
                subject: &subject,
                caller: None,
                thread: &thread,
                tid: *tid,
                cpu: *tid % 2,
                size: 0,
                duration: 0,
                depth: 0,
                line: None,
                random: 1,
            };
            predicate.eval(&event, &mut counters)
        };
        (1..=12).filter(wanted).collect()
    };
    assert_eq!(run("nth(4)"), [4, 8, 12]);
    assert_eq!(run("first(3)"), [1, 2, 3]);
    assert_eq!(run("cpu == 0 && nth(2)"), [4, 8, 12]);
    assert_eq!(run("nth(3) && cpu == 0"), [6, 12]);
    assert_eq!(run("cpu == 0 || first(2)"), [1, 2, 3, 4, 6, 8, 10, 12]);
    assert_eq!(run("nth(2) && nth(3)"), [6, 12]);
    assert_eq!(run("!(first(10))"), [11, 12]);
}

#[test]
fn patterns_include_and_exclude() {
    let strings = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&text| text.to_owned()).collect() };
    let all = Predicate::combine(
        &strings(&["com.shop.*::checkout", "Cart::add(I)V"]),
        &strings(&["com.shop.test.*::*"]),
        Some("depth < 3 || daemon"),
        Kind::MethodEntry,
    );
    insta::assert_snapshot!(
        written(&all.unwrap()),
        @r#"(class ~ "com.shop.*" && method == "checkout" || class == "Cart" && method == "add" && signature == "(I)V") && !(class ~ "com.shop.test.*") && (depth < 3 || daemon)"#
    );
    let classes = Predicate::combine(&strings(&["byte[]", "com/shop/*"]), &[], None, Kind::Allocation).unwrap();
    for (class, expected) in
        [("[B", Outlook::Always), ("com/shop/Cart", Outlook::Always), ("java/lang/String", Outlook::Never)]
    {
        assert_eq!(classes.outlook(Known::Subject(&Subject::class(class))), expected, "{class}");
    }
    let nothing = Predicate::combine(&[], &[], None, Kind::Jni).unwrap();
    assert_eq!(nothing.outlook(Known::Subject(&Subject::function("GetVersion"))), Outlook::Always);
    assert_eq!(nothing.split().filter, tracer_common::filter::Filter::ALL);
}

#[test]
fn the_outlook_of_a_method_is_what_its_names_decide() {
    let subject = Subject::method("com/shop/Cart", "add", "(I)V");
    for (text, expected) in [
        (r#"class ~ "com.shop.*" && method == "add""#, Outlook::Always),
        (r#"class ~ "com.shop.*" && duration > 10ms"#, Outlook::Depends),
        (r#"class == "Main" && duration > 10ms"#, Outlook::Never),
        (r#"duration > 10ms && class == "Main""#, Outlook::Never),
        (r#"duration > 10ms || class != "Main""#, Outlook::Always),
        (r#"class == "Main" && nth(3)"#, Outlook::Never),
        // What comes first counts this method's calls, though none is wanted.
        (r#"nth(3) && class == "Main""#, Outlook::Depends),
        (r#"(class == "Main" || tid == 1) && !(first(2) || class == "com.shop.Cart")"#, Outlook::Depends),
        (r#"sample(1/3) && class == "Main""#, Outlook::Never),
        (r#"!(class == "com.shop.Cart" || nth(2))"#, Outlook::Never),
        (r#"class == "com.shop.Cart" || nth(2)"#, Outlook::Always),
    ] {
        let predicate = parsed(text, Kind::MethodReturn);
        assert_eq!(predicate.outlook(Known::Subject(&subject)), expected, "{text}");
        let armed = match predicate.armed() {
            Armed::All => true,
            Armed::None => false,
            Armed::If(expr) => expr.outlook(Known::Subject(&subject)) == Outlook::Always,
        };
        assert_eq!(armed, expected != Outlook::Never, "{text}");
    }
}

#[test]
fn fuzz_predicate() {
    const KINDS: [Kind; 7] = [
        Kind::MethodEntry,
        Kind::MethodReturn,
        Kind::Allocation,
        Kind::Jni,
        Kind::Point,
        Kind::Region,
        Kind::HeapObject,
    ];
    crate::fuzz::texts("predicate", |text| {
        if let Err(error) = Assertion::parse(text) {
            assert!(!error.render().contains('\u{1b}'));
        }
        // One kind of event for each input; which one changes with its length.
        let kind = KINDS[text.len() % KINDS.len()];
        let pattern = [text.to_owned()];
        for read in [Predicate::parse(text, kind), Predicate::combine(&pattern, &pattern, None, kind)] {
            match read {
                Ok(predicate) => drop(predicate.split()),
                Err(error) => assert!(!error.render().contains('\u{1b}')),
            }
        }
    });
}
