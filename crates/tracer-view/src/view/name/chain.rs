//! Chains of calls within a width: `Cart.add < Cart.checkout < Main.run`, or the other way round with `>`. Packages give way
//! first, then the calls that are furthest out: where the work was done is said last to go.

use super::{LONGEST, Name};
use crate::text::escape;

/// Which end of a chain is the innermost call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inner {
    First,
    Last,
}

/// The last is how callers of a place are told.
const KINDS: [(&str, Inner); 3] = [(" < ", Inner::First), (" > ", Inner::Last), (", from ", Inner::First)];

/// Stands for calls that have no room.
const MORE: &str = "…";

/// The most of a chain that has room; nothing where a text is none.
pub(super) fn fit(text: &str, width: usize) -> Option<String> {
    if text.len() > LONGEST || escape::terminal(text) != text {
        return None;
    }
    let (between, inner) = KINDS.into_iter().find(|(between, _)| text.contains(between))?;
    let mut calls: Vec<&str> = text.split(between).collect();
    let is_chain = calls.iter().any(|call| Name::parse(call).is_some());
    let has_room = |text: &String| escape::width(text) <= width;
    if !is_chain || has_room(&text.to_owned()) {
        return is_chain.then(|| text.to_owned());
    }
    if inner == Inner::Last {
        calls.reverse();
    }
    let short: Vec<String> = calls.iter().map(|call| short(call)).collect();
    let join = |calls: &[String], is_cut: bool| {
        let mut calls: Vec<&str> = calls.iter().map(String::as_str).chain(is_cut.then_some(MORE)).collect();
        if inner == Inner::Last {
            calls.reverse();
        }
        calls.join(between)
    };
    let cut = (1..short.len()).rev().map(|kept| join(&short[..kept], true));
    let innermost = || super::fit(calls[0], width);
    Some(std::iter::once(join(&short, false)).chain(cut).find(has_room).unwrap_or_else(innermost))
}

fn short(call: &str) -> String {
    Name::parse(call).map_or_else(|| call.to_owned(), |name| name.short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_goes_last() {
        let text = "com.shop.Cart.add:12 < com.shop.Checkout.pay:40 < com.shop.Main.run:7 < ... 3 more";
        let cases = [
            (90, text),
            (60, "Cart.add:12 < Checkout.pay:40 < Main.run:7 < ... 3 more"),
            (50, "Cart.add:12 < Checkout.pay:40 < Main.run:7 < …"),
            (40, "Cart.add:12 < Checkout.pay:40 < …"),
            (20, "Cart.add:12 < …"),
            (12, "Cart.add:12"),
            (6, "add:12"),
            (3, "add"),
        ];
        for (width, shown) in cases {
            assert_eq!(super::super::fit(text, width), shown, "{width}");
        }
    }

    #[test]
    fn where_the_innermost_stands_last_the_first_go_first() {
        let text = "com.shop.Main.run > com.shop.Checkout.pay > com.shop.Cart.add";
        assert_eq!(fit(text, 40).unwrap(), "Main.run > Checkout.pay > Cart.add");
        assert_eq!(fit(text, 28).unwrap(), "… > Checkout.pay > Cart.add");
        assert_eq!(fit(text, 10).unwrap(), "Cart.add");
    }

    #[test]
    fn callers_of_a_place_are_a_chain_as_well() {
        let text = "com.shop.Cart.add:12, from com.shop.Checkout.pay:40, from com.shop.Main.run:7";
        assert_eq!(fit(text, 45).unwrap(), "Cart.add:12, from Checkout.pay:40, from …");
        assert_eq!(fit(text, 12).unwrap(), "Cart.add:12");
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["duration > 10ms", "checkout", "com.shop.Cart.add", "a < b"] {
            assert_eq!(fit(text, 5), None, "{text}");
        }
    }
}
