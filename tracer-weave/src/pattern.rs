//! Patterns of names: `*` stands for any text, also none; everything else for itself.

use serde::{Deserialize, Serialize};

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for one name only.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether it stands for this name.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut of) = (0, 0);
        // Where the last `*` was, and what it stood for then: one character more is tried where the rest does not fit.
        let mut star: Option<(usize, usize)> = None;
        while of < name.len() {
            if pattern.get(at) == Some(&b'*') {
                star = Some((at, of));
                at += 1;
            } else if pattern.get(at) == name.get(of) {
                (at, of) = (at + 1, of + 1);
            } else if let Some((star_at, stood_for)) = star {
                star = Some((star_at, stood_for + 1));
                (at, of) = (star_at + 1, stood_for + 1);
            } else {
                return false;
            }
        }
        pattern.get(at..).is_none_or(|rest| rest.iter().all(|byte| *byte == b'*'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("java.util.*", "java.util.ArrayList", true),
            ("java.util.*", "java.utility", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a", "", false),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxa", false),
            ("com.*.Cart", "com.shop.a.Cart", true),
            ("**", "x", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }
}
