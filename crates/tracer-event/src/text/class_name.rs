//! How classes are written for people.
//!
//! A hidden class (a lambda's, a method handle's form) has its address in its name: `Main$$Lambda/0x000070012b003c18`. It
//! differs from run to run and says nothing, so it is left out: what is left is `Main$$Lambda`, or `Main$$Lambda$14` up to
//! JDK 20, where lambdas are numbered. The body of a lambda is a method of its own (`lambda$main$0`) and keeps its name.

/// Primitive types and their letters in descriptors.
pub const PRIMITIVES: [(&str, char); 8] = [
    ("boolean", 'Z'),
    ("byte", 'B'),
    ("char", 'C'),
    ("short", 'S'),
    ("int", 'I'),
    ("long", 'J'),
    ("float", 'F'),
    ("double", 'D'),
];

/// Packages of the JDK. `javax` holds APIs of others too, which call the program as the JDK does.
const JDK_PACKAGES: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// The primitive type that a descriptor of one letter stands for.
pub fn primitive(descriptor: &str) -> Option<&'static str> {
    let mut letters = descriptor.chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    PRIMITIVES.into_iter().find(|(_, known)| *known == letter).map(|(name, _)| name)
}

/// Whether a class is in a package of the JDK.
pub fn is_of_jdk(class: &str) -> bool {
    JDK_PACKAGES.iter().any(|package| class.starts_with(package))
}

/// Turns a class name as the JVM stores it into the one that Java's users write.
///
/// ```
/// use tracer_event::text::class_name::java_class_name;
/// assert_eq!(java_class_name("com/shop/Cart$Item"), "com.shop.Cart$Item");
/// assert_eq!(java_class_name("[[I"), "int[][]");
/// assert_eq!(java_class_name("[Ljava/lang/String;"), "java.lang.String[]");
/// ```
pub fn java_class_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    let element = primitive(element).map_or_else(
        || {
            let class = element.strip_prefix('L').map(|class| class.trim_end_matches(';'));
            class.unwrap_or(element).replace('/', ".")
        },
        str::to_owned,
    );
    element + &"[]".repeat(dimensions)
}

/// A class as Java writes it, from the text of its symbol.
pub fn class(symbol: &str) -> String {
    java_class_name(without_address(symbol))
}

/// A name without it. The symbol has `+` before the address, `Class.getName` has `/`, JVMTI's signature `.`. A class from the shared archive has a short number in
/// its place; behind `/` that could be a name, so there it must be a whole address.
pub fn without_address(symbol: &str) -> &str {
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

/// The package of a class as Java writes it; `(default)` where it has none. The suffix of a hidden class is no part of it.
pub fn package(class: &str) -> &str {
    let visible = [".0x", "/0x", "+0x"]
        .iter()
        .filter_map(|mark| class.find(mark))
        .min()
        .map_or(class, |at| class.get(..at).unwrap_or(class));
    visible.rfind('.').and_then(|at| visible.get(..at)).unwrap_or("(default)")
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

    #[test]
    fn packages_end_before_the_class() {
        assert_eq!(package("com.shop.Cart$Item"), "com.shop");
        assert_eq!(package("com.shop.Cart$$Lambda.0x0000"), "com.shop");
        assert_eq!(package("Main"), "(default)");
    }
}
