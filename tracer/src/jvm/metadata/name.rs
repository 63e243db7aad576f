//! How classes are written for people.
//!
//! A hidden class (a lambda's, a method handle's form) has its address in its name: `Main$$Lambda/0x000070012b003c18`. It
//! differs from run to run and says nothing, so it is left out: what is left is `Main$$Lambda`, or `Main$$Lambda$14` up to
//! JDK 20, where lambdas are numbered. The body of a lambda is a method of its own (`lambda$main$0`) and keeps its name.

use crate::names::java_class_name;

/// A class as Java writes it, from the text of its symbol.
pub(crate) fn class(symbol: &str) -> String {
    java_class_name(without_address(symbol))
}

/// A name without it. The symbol has `+` before the address, `Class.getName` has `/`, JVMTI's signature `.`. A class from the shared archive has a short number in
/// its place; behind `/` that could be a name, so there it must be a whole address.
pub(crate) fn without_address(symbol: &str) -> &str {
    let is_number = |text: &str, least: usize| {
        let digits = text.strip_prefix("0x").unwrap_or_default();
        (least..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    for (separator, least) in [('+', 1), ('/', 16), ('.', 16)] {
        if let Some((name, number)) = symbol.rsplit_once(separator)
            && !name.is_empty()
            && is_number(number, least)
        {
            return name;
        }
    }
    symbol
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_hidden_classes_are_left_out() {
        assert_eq!(class("com/shop/Main$$Lambda+0x000070012b003c18"), "com.shop.Main$$Lambda");
        assert_eq!(class("com/shop/Main$$Lambda$14+0x0000000800c03000"), "com.shop.Main$$Lambda$14");
        assert_eq!(class("java/util/regex/Pattern$$Lambda$18+0x800000028"), "java.util.regex.Pattern$$Lambda$18");
        assert_eq!(class("java/lang/invoke/LambdaForm$MH/0x0000000800066c40"), "java.lang.invoke.LambdaForm$MH");
        assert_eq!(without_address("com.shop.Main$$Lambda.0x00007f01a4001000"), "com.shop.Main$$Lambda");
    }

    #[test]
    fn what_only_looks_a_little_like_one_stays() {
        for (symbol, expected) in [
            ("com/shop/Cart$Item", "com.shop.Cart$Item"),
            ("com/shop/Cart$1", "com.shop.Cart$1"),
            ("com/shop/0x12", "com.shop.0x12"),
            ("a+b", "a+b"),
            ("a+0x", "a+0x"),
            ("a+0x12345678901234567", "a+0x12345678901234567"),
            ("+0x0000000800066c40", "+0x0000000800066c40"),
            ("[Lcom/shop/Cart;", "com.shop.Cart[]"),
        ] {
            assert_eq!(class(symbol), expected);
        }
    }
}
