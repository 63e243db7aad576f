//! Names as they are compared, and patterns of them.

use super::field::Field;
use crate::text::class_name::java_class_name;

/// What stands for no package, as in reports.
pub(super) const NO_PACKAGE: &str = "(default)";

/// A name or pattern of the user's in the form in which a field is compared: dots for slashes, `byte[]` for `[B`.
pub(super) fn as_compared(field: Field, written: &str) -> String {
    match field {
        Field::Class | Field::CallerClass | Field::Holder | Field::Loader => java_class_name(written),
        Field::Package if written.is_empty() => NO_PACKAGE.to_owned(),
        Field::Package | Field::Signature => written.replace('/', "."),
        Field::Caller => written.replace('/', ".").replace("::", "."),
        _ => written.to_owned(),
    }
}

/// Whether a whole text is like a pattern: `*` is any number of characters, dots too, `?` is one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to go on if what follows the last star does not fit: one character further in the text.
    let mut retry = None;
    loop {
        let mut rest = pattern.clone();
        match (rest.next(), text.clone().next()) {
            (Some('*'), _) => {
                pattern = rest;
                retry = Some((pattern.clone(), text.clone()));
                continue;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                pattern = rest;
                text.next();
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        let Some((after_star, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        (pattern, text) = (after_star.clone(), from.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The definition itself, which takes exponential time.
    fn defined(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| defined(rest, &text[skip..])),
            (Some((wanted, rest)), Some((found, after))) => {
                (*wanted == b'?' || wanted == found) && defined(rest, after)
            }
            _ => false,
        }
    }

    #[test]
    fn patterns_match_what_their_definition_says() {
        let mut random = Random::new(7);
        let mut some = |letters: &[u8], most| -> Vec<u8> {
            (0..random.below(most)).map(|_| letters[random.below(letters.len())]).collect()
        };
        let mut matched = 0;
        for _ in 0..20_000 {
            let (pattern, text) = (some(b"ab*?", 7), some(b"ab", 8));
            let expected = defined(&pattern, &text);
            let (pattern, text) = (String::from_utf8(pattern).unwrap(), String::from_utf8(text).unwrap());
            assert_eq!(matches(&pattern, &text), expected, "{pattern:?} {text:?}");
            matched += usize::from(expected);
        }
        assert!((2_000..18_000).contains(&matched), "{matched}");
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches(&"*a".repeat(500), &"b".repeat(60_000)));
        assert!(!matches(&format!("{}b", "*a".repeat(200)), &"a".repeat(4_000)));
    }

    #[test]
    fn a_star_crosses_dots_and_a_question_mark_is_one_character() {
        assert!(matches("com.shop.*", "com.shop.cart.Cart"));
        assert!(!matches("com.shop.*", "com.shopping.Cart"));
        assert!(matches("caf?", "café"));
    }

    #[test]
    fn both_forms_of_a_class_are_one() {
        assert_eq!(as_compared(Field::Class, "com/shop/*"), "com.shop.*");
        assert_eq!(as_compared(Field::Class, "[B"), "byte[]");
        assert_eq!(as_compared(Field::Caller, "com/shop/Cart::add"), "com.shop.Cart.add");
    }
}
