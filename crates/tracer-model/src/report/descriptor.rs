//! Descriptors of methods, as class files have them, as the types that Java's source has: `([BII)V` is `(byte[], int, int)`.
//!
//! A descriptor comes from the target. What is none, or has more parameters than the JVM allows, stays as it is.

use crate::text::class_name::primitive;

/// Most parameters that a method can have (JVMS 4.3.3).
const MOST_PARAMETERS: usize = 255;

/// How much of a type is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// `(List, int)`.
    Simple,
    /// `(java.util.List, int)`.
    Qualified,
    /// `(java.util.List, int): boolean`, which tells a method from its bridges.
    Returning,
}

/// A descriptor's types, in Java's own spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    parameters: Vec<String>,
    returned: String,
}

impl Descriptor {
    /// Reads a whole text as a descriptor; none where it is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('(')?;
        let mut parameters = Vec::new();
        loop {
            if let Some(after) = rest.strip_prefix(')') {
                rest = after;
                break;
            }
            let (parameter, after) = parse_type(rest)?;
            if parameter == "void" || parameters.len() == MOST_PARAMETERS {
                return None;
            }
            parameters.push(parameter);
            rest = after;
        }
        let (returned, after) = parse_type(rest)?;
        after.is_empty().then_some(Self { parameters, returned })
    }

    /// The types in parentheses.
    pub fn source(&self, detail: Detail) -> String {
        let shown = |name: &str| match detail {
            Detail::Simple => name.rsplit('.').next().unwrap_or(name).to_owned(),
            Detail::Qualified | Detail::Returning => name.to_owned(),
        };
        let parameters: Vec<String> = self.parameters.iter().map(|name| shown(name)).collect();
        let mut text = format!("({})", parameters.join(", "));
        if detail == Detail::Returning {
            text.push_str(": ");
            text.push_str(&self.returned);
        }
        text
    }
}

/// The type at the beginning, and what follows it.
fn parse_type(text: &str) -> Option<(String, &str)> {
    let element = text.trim_start_matches('[');
    let dimensions = text.len() - element.len();
    if dimensions > 255 {
        return None;
    }
    let (name, rest) = match element.chars().next()? {
        'L' => {
            let (name, rest) = element[1..].split_once(';')?;
            let is_name = !name.is_empty() && !name.contains(['(', ')', '[', '.', ' ']);
            (is_name.then(|| name.replace('/', "."))?, rest)
        }
        'V' => ("void".to_owned(), &element[1..]),
        _ => (primitive(element.get(..1)?)?.to_owned(), &element[1..]),
    };
    if dimensions > 0 && name == "void" {
        return None;
    }
    Some((name + &"[]".repeat(dimensions), rest))
}

/// A method with its descriptor, as people read it: `com.shop.Cart.add(Ljava/lang/String;)V` is
/// `com.shop.Cart.add(String)`. Any other text comes back as it is.
pub fn readable(method: &str) -> String {
    let split = method.find('(').map(|at| method.split_at(at));
    match split.and_then(|(name, descriptor)| Some((name, Descriptor::parse(descriptor)?))) {
        Some((name, descriptor)) => name.to_owned() + &descriptor.source(Detail::Simple),
        None => method.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn types_read_as_in_source() {
        let cases = [
            ("()V", "()", "(): void"),
            ("([BII)Ljava/lang/String;", "(byte[], int, int)", "(byte[], int, int): java.lang.String"),
            ("(Ljava/util/Map$Entry;[[J)Z", "(Map$Entry, long[][])", "(java.util.Map$Entry, long[][]): boolean"),
        ];
        for (descriptor, simple, returning) in cases {
            let read = Descriptor::parse(descriptor).unwrap();
            assert_eq!(
                (read.source(Detail::Simple), read.source(Detail::Returning)),
                (simple.into(), returning.into())
            );
        }
    }

    #[test]
    fn what_is_no_descriptor_is_none() {
        let many = format!("({})V", "I".repeat(256));
        for text in
            ["", "(", "()", "(V)V", "([V)V", "(I)", "(I)VV", "(Ljava/lang/String)V", "(L;)V", "(JavaThread*)", &many]
        {
            assert_eq!(Descriptor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_descriptors_are_made_readable() {
        assert_eq!(readable("com.shop.Cart.add([BLjava/lang/String;)V"), "com.shop.Cart.add(byte[], String)");
        assert_eq!(readable("ObjectMonitor::enter(JavaThread*)"), "ObjectMonitor::enter(JavaThread*)");
        assert_eq!(readable("com.shop.Cart.add"), "com.shop.Cart.add");
    }

    proptest! {
        #[test]
        fn hostile_texts_do_not_panic(text in "\\PC{0,40}|[(\\[BCDFIJSZVL/;)a]{0,40}") {
            let _ = Descriptor::parse(&text);
            let _ = readable(&text);
        }
    }

    #[test]
    fn fuzz_descriptor() {
        crate::fuzz::texts("descriptor", |text| {
            if let Some(descriptor) = Descriptor::parse(text) {
                assert!(descriptor.parameters.len() <= MOST_PARAMETERS);
                let _: String = descriptor.source(Detail::Returning);
            }
            let _: String = readable(text);
        });
    }
}
