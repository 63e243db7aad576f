//! How a way through a heap is written: the static field or the root, then fields and classes.

use crate::heap::aligned::WayStep;

/// `com.shop.Registry.entries (static)`, without what it leads to.
pub(super) fn beginning(way: &[WayStep]) -> &str {
    way.first().map_or("?", |step| &step.by)
}

/// `java.util.HashMap > java.util.HashMap$Node[]`, with names of fields where the program has given them. What collections refer by says
/// nothing.
pub(super) fn steps<'a>(way: impl IntoIterator<Item = &'a WayStep>) -> String {
    let mut text = String::new();
    let mut is_named = false;
    for WayStep { by, class } in way {
        if !text.is_empty() {
            text.push_str(" > ");
        }
        if is_named && !by.starts_with('[') {
            text.push_str(by);
            text.push_str(": ");
        }
        text.push_str(class);
        is_named = !class.starts_with("java.util.");
    }
    text
}

/// A whole way: `Registry.entries (static): java.util.HashMap > ...`.
pub(super) fn whole(way: &[WayStep]) -> String {
    format!("{}: {}", beginning(way), steps(way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_program_are_named_and_those_of_collections_are_not() {
        let step = |by: &str, class: &str| WayStep { by: by.to_owned(), class: class.to_owned() };
        let way = [
            step("Shop.it (static)", "Shop"),
            step("orders", "java.util.HashMap"),
            step("table", "java.util.HashMap$Node[]"),
            step("[]", "java.util.HashMap$Node"),
            step("value", "Order"),
        ];
        assert_eq!(
            whole(&way),
            "Shop.it (static): Shop > orders: java.util.HashMap > java.util.HashMap$Node[] > java.util.HashMap$Node > Order"
        );
    }
}
