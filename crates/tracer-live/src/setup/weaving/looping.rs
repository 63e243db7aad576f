//! Classes in whose methods a thread goes round that began with them, as `main` does in a program that computes.
//!
//! Such a method would go on in the interpreter until the thread ends, also after jtrace has left: JVMs compile no old version of a class.
//! So its class stays as it is, unless somebody has said that it may be slow.

use tracer_weave::{Named, Pattern, Rule, Skipped, control::Running};

use super::super::Error;
use crate::{inside::visit::Found, standard_error, text::escape};

/// Takes these classes out of the rules. Says which, and why.
pub(super) fn leave_out(rules: &mut [Rule], looping: &[Running]) -> Vec<Skipped> {
    let mut left_out: Vec<Skipped> = Vec::new();
    for Running { class, method, .. } in looping {
        if left_out.iter().any(|skipped| skipped.class == *class) {
            continue;
        }
        let reason =
            format!("a thread goes round in its method {method}, which would be many times as slow; --yes weaves it");
        left_out.push(Skipped { class: class.clone(), method: None, reason });
        for rule in &mut *rules {
            rule.except.push(Named { class: Pattern::new(class), method: Pattern::new("*"), descriptor: None });
        }
    }
    left_out
}

/// Says what was left out, before anything is woven.
pub(super) fn say(left_out: &[Skipped]) {
    for Skipped { class, reason, .. } in left_out {
        let said = format!("left as it is: {class}, as {reason}");
        standard_error::line(format_args!("{}", escape::terminal(&said)));
    }
}

/// Refuses where nothing is left of what was asked for, and where a protocol would be followed without some of its calls.
pub(super) fn something_is_left(before: &Found, left: &Found, are_protocols: bool) -> Result<(), Error> {
    let Some(Running { class, method, .. }) = before.looping.first() else { return Ok(()) };
    if left.methods > 0 && !are_protocols {
        return Ok(());
    }
    Err(Error::refused(
        format!(
            "a thread goes round in {class}::{method}, which would be many times as slow until it returns, also without jtrace"
        ),
        "name other classes, or add --yes if that may be".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use tracer_weave::{Kind, Place, Sides};

    use super::*;

    fn running(class: &str, method: &str) -> Running {
        Running { class: class.to_owned(), method: method.to_owned(), descriptor: "()V".to_owned(), times: 1 }
    }

    fn found(methods: u64, looping: Vec<Running>) -> Found {
        Found { rules: Vec::new(), methods, looping }
    }

    #[test]
    fn a_class_is_left_out_once_and_of_every_rule() {
        let rule = Rule {
            marker: 1,
            class: Pattern::new("com.shop.*"),
            subclasses: false,
            method: Pattern::new("*"),
            descriptor: None,
            except: Vec::new(),
            place: Place::Method,
            kind: Kind::Marker(Sides::Region),
            receiver: false,
            arguments: false,
            counted: false,
        };
        let mut rules = [rule.clone(), rule];
        let looping = [running("com.shop.Main", "main"), running("com.shop.Main", "run")];
        let left_out = leave_out(&mut rules, &looping);
        assert_eq!(left_out.iter().map(|skipped| skipped.class.as_str()).collect::<Vec<_>>(), ["com.shop.Main"]);
        assert!(left_out[0].reason.contains("main") && left_out[0].method.is_none());
        for rule in &rules {
            assert!(!rule.is_for_method("com.shop.Main", "price", "()V"));
            assert!(rule.is_for_method("com.shop.Cart", "price", "()V"));
        }
    }

    #[test]
    fn nothing_is_woven_where_only_such_a_class_was_meant() {
        let before = || found(3, vec![running("a.Main", "main")]);
        assert!(something_is_left(&before(), &found(2, Vec::new()), false).is_ok());
        assert!(something_is_left(&before(), &found(0, Vec::new()), false).is_err());
        assert!(something_is_left(&before(), &found(2, Vec::new()), true).is_err(), "a verdict would be wrong");
        assert!(something_is_left(&found(0, Vec::new()), &found(0, Vec::new()), false).is_ok());
    }
}
