//! The three levels in words.

use super::*;
use crate::predicate::explain::{Costs, explain};

const KNOWN: Costs = Costs { trap_ns: 570.0, events_per_s: Some(20_000.0), armed: Some((12, 3_400)) };
const UNKNOWN: Costs = Costs { trap_ns: 570.0, events_per_s: None, armed: None };

fn explained(text: &str, kind: Kind, costs: &Costs) -> String {
    let predicate = parsed(text, kind);
    explain(&predicate, &predicate.split(), costs)
}

#[test]
fn slow_calls_are_decided_at_return() {
    let text = r#"class ~ "com.shop.*" && method == "checkout" && thread ~ "http-*" && duration > 10ms"#;
    insta::assert_snapshot!(explained(text, Kind::MethodReturn, &KNOWN));
}

#[test]
fn large_arrays_are_decided_at_the_allocation() {
    let text = r#"class == "byte[]" && size > 1MiB && caller.class !~ "java.*" && (cpu in (0, 1) || nth(10))"#;
    insta::assert_snapshot!(explained(text, Kind::Allocation, &UNKNOWN));
}

#[test]
fn what_is_left_to_user_space_says_why() {
    let text = r#"sample(1/100) && tid != 7 && line == 42 && first(5) && class == "A""#;
    insta::assert_snapshot!(explained(text, Kind::MethodEntry, &Costs { armed: None, ..KNOWN }));
}

#[test]
fn everything_and_nothing() {
    let all = Predicate::combine(&[], &[], None, Kind::Jni).unwrap();
    let nothing = parsed("size < 0", Kind::Allocation);
    let both = [&all, &nothing].map(|predicate| explain(predicate, &predicate.split(), &UNKNOWN));
    insta::assert_snapshot!(both.join("\n"));
}

#[test]
fn a_hostile_text_is_harmless() {
    assert!(!explained("thread == \"\u{202e}x\"", Kind::Jni, &UNKNOWN).contains('\u{202e}'));
}
