//! What users are told, and that nothing breaks on nonsense.

use std::fmt::Write as _;

use super::*;
use crate::random::Random;

/// The messages of texts that are wrong.
fn messages(kind: Kind, texts: &[&str]) -> String {
    let mut all = String::new();
    for text in texts {
        let error = Predicate::parse(text, kind).expect_err(text);
        writeln!(all, "{}\n", error.render()).unwrap();
    }
    all
}

#[test]
fn messages_about_words_and_signs() {
    insta::assert_snapshot!(messages(
        Kind::MethodReturn,
        &[
            "",
            "   ",
            "class",
            "class ==",
            "class = \"A\"",
            "class == \"A\" & daemon",
            "class == \"A\" and daemon",
            "class == \"A\" daemon",
            "class == \"A\" &&",
            "&& daemon",
            "class == \"A",
            "class == \"A\\n\"",
            "class == \"A\tB\"",
            "(daemon",
            "daemon)",
            "!class ~ \"A*\"",
            "daemon && -1 < tid",
            "10ms < duration",
            "class <> \"A\"",
            "class =~ \"A.*\"",
            "class like \"A\"",
            "not daemon",
            "daemon ; tid == 1",
            "tid == 1 == 2",
            "()",
        ],
    ));
}

#[test]
fn messages_about_objects_of_a_heap() {
    insta::assert_snapshot!(messages(
        Kind::HeapObject,
        &[
            "",
            "10 < size",
            "retaind > 1MiB",
            "retained > 1 MiBB",
            "retained > 10ms",
            "shallow > 1",
            "held_by == \"A\"",
            "site ~ \"A*\"",
            "age > 3",
            "value == \"x\"",
            "module == \"java.base\"",
            "banana == 1",
            "caller == \"A.b\"",
            "line == 7",
            "duration > 1ms",
            "tid == 1",
            "daemon",
            "cpu == 1",
            "sample(1/10)",
            "class == byte[]",
            "class == \"com.shop.*\"",
            "!depth > 3",
            "length == \"7\"",
        ],
    ));
    insta::assert_snapshot!(messages(Kind::MethodReturn, &["retained > 1", "holder == \"A\""]));
}

#[test]
fn messages_about_assertions() {
    let mut all = String::new();
    for text in [
        "",
        "class == \"A\"",
        "conut(size > 1) == 0",
        "bytes(size > 1) == 0",
        "all A through B",
        "count <= 1",
        "count()",
        "count(size > 1",
        "count(size > 1)",
        "count(size > 1) = 1",
        "count(size > 1) at least 1",
        "count(size > 1) <= 1MiB",
        "count(size > 1) <= few",
        "retained(size > 1) < 10ms",
        "retained(size > 1) < 1.5B",
        "count(size > 1) <= 1 && count(size > 2) <= 1",
        "every",
        "every through B",
        "every A",
        "every A through",
        "every A trough B",
        "every A through B C",
        "every class == \"A\" through B",
        "every byte[] through B",
        "every (size > 1 through B",
    ] {
        let error = Assertion::parse(text).expect_err(text);
        writeln!(all, "{}\n", error.render()).unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn messages_about_fields_and_types() {
    insta::assert_snapshot!(messages(
        Kind::MethodReturn,
        &[
            "clas == \"A\"",
            "Class == \"A\"",
            "methdo ~ \"get*\"",
            "time > 10ms",
            "banana == 1",
            "caller.clas == \"A\"",
            "size > 1MiB",
            "duration > 5",
            "duration > 5 && daemon",
            "duration > 5 min",
            "duration > 5MS",
            "duration > 5msec",
            "duration > 1.5ns",
            "duration == \"10ms\"",
            "duration ~ \"10*\"",
            "duration > size",
            "tid == \"x\"",
            "tid == 5ms",
            "tid == 1.5",
            "tid > 99999999999999999999",
            "depth < many",
            "class == com.shop.Cart",
            "class == 5",
            "class == \"com.shop.*\"",
            "class != \"com.shop.*\"",
            "class < \"A\"",
            "class == (\"A\", \"B\")",
            "class in \"A\"",
            "class in ()",
            "class in (\"A\" \"B\")",
            "class in (\"A\", 5)",
            "class in (\"A\"",
            "daemon == 1",
            "daemon ~ \"yes\"",
            "sample",
            "sample(10)",
            "sample(1/0)",
            "sample(1/2000000)",
            "nth()",
            "nth(0)",
            "nth(1.5)",
            "first(\"3\")",
            "frist(3)",
            "line",
        ],
    ));
}

#[test]
fn messages_about_kinds_of_events() {
    let mut all = messages(
        Kind::Allocation,
        &[
            "method == \"a\"",
            "signature == \"()V\"",
            "duration > 1ms",
            "siez > 1",
            "size > 1mb",
            "size == \"x\"",
            "size > 1.5B",
            "size > 5k",
        ],
    );
    all += &messages(Kind::Jni, &["class == \"A\"", "package == \"a\"", "signature == \"()V\"", "size > 1"]);
    all += &messages(Kind::MethodEntry, &["duration > 1ms", "bytes > 1"]);
    insta::assert_snapshot!(all);
}

#[test]
fn messages_about_limits_and_places() {
    let deep = format!("{}daemon{}", "(".repeat(40), ")".repeat(40));
    let negated = format!("{}daemon", "!".repeat(40));
    let long = format!("class == \"{}\"", "x".repeat(5_000));
    let many = format!("tid in ({})", vec!["1"; 300].join(","));
    let far = format!("{}banana == 1{}", "daemon && ".repeat(30), " && daemon".repeat(30));
    insta::assert_snapshot!(messages(
        Kind::MethodEntry,
        &[
            &deep,
            &negated,
            &long,
            &many,
            &far,
            "thread == \"日本語\" && banana == 1",
            "thread == \"\u{202e}abc\" && banana == 1",
            "bana\u{301}na == 1",
            "thread == \"a\u{1b}[31m\"",
        ],
    ));
}

#[test]
fn messages_about_patterns() {
    let mut all = String::new();
    for (kind, patterns) in [
        (
            Kind::MethodEntry,
            &["com.shop.*.checkout", "Cart", "Cart#add", "::add", "Cart::", "Cart::add::x", "a b::c", "", "Cart::(I)V"]
                [..],
        ),
        (Kind::Allocation, &["Cart::add", "", "a\u{1b}b"]),
        (Kind::Jni, &["A::GetVersion", ""]),
    ] {
        for pattern in patterns {
            let error = Predicate::combine(&[(*pattern).to_owned()], &[], None, kind).expect_err(pattern);
            writeln!(all, "{}\n", error.render()).unwrap();
        }
    }
    let many = vec!["A::b".to_owned(); 200];
    let error = Predicate::combine(&[], &many, None, Kind::MethodEntry).expect_err("too many");
    writeln!(all, "{}\n", error.render()).unwrap();
    let long = ["x".repeat(600)];
    let error = Predicate::combine(&long, &[], None, Kind::Allocation).expect_err("too long");
    writeln!(all, "{}", error.render()).unwrap();
    insta::assert_snapshot!(all);
}

/// Pieces of predicates in any order, and any bytes: an answer, never a panic, and a caret within the text.
#[test]
fn nonsense_gets_an_answer() {
    const PIECES: [&str; 34] = [
        "class",
        "method",
        "size",
        "duration",
        "daemon",
        "line",
        "in",
        "==",
        "!=",
        "~",
        "!~",
        "<",
        ">=",
        "&&",
        "||",
        "!",
        "(",
        ")",
        ",",
        "\"a*\"",
        "'b'",
        "\"",
        "5",
        "10ms",
        "1.5MiB",
        "1/3",
        "sample(1/2)",
        "nth(2)",
        "first(",
        "é",
        "\u{202e}",
        "\\",
        "=",
        "日",
    ];
    let mut random = Random::new(3);
    let mut right = 0;
    for _ in 0..30_000 {
        let mut text = String::new();
        for _ in 0..random.below(12) {
            text.push_str(PIECES[random.below(PIECES.len())]);
            text.push_str([" ", ""][random.below(2)]);
        }
        let kind = Kind::ALL[random.below(4)];
        match Predicate::parse(&text, kind) {
            Ok(predicate) => {
                predicate.split();
                right += 1;
            }
            Err(error) => {
                assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{error:?}");
                let [line, under] = error.excerpt();
                assert!(under.contains('^') && line.chars().count() < 200, "{error:?}");
            }
        }
        let _: Result<Predicate, Error> = Predicate::combine(&[text.clone()], &[], None, kind);
    }
    assert!(right > 30, "{right}");
}
