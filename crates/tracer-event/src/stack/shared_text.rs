//! Texts of frames. A class has many methods and a method many lines, so most frames of a session have a text that others have too.

use std::{borrow::Borrow, collections::HashSet, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

/// A text that several may hold.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SharedText(Arc<str>);

impl SharedText {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether nobody else holds it.
    fn is_held_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for SharedText {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<SharedText> for String {
    fn from(text: SharedText) -> Self {
        text.as_str().to_owned()
    }
}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for SharedText {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

/// Of equal texts one, for as long as somebody holds it.
#[derive(Debug, Default)]
pub struct SharedTexts {
    all: HashSet<SharedText>,
    /// With more of them, those that nobody else holds are let go.
    full_at: usize,
}

/// With fewer texts than this none is looked for that nobody holds.
const FEW: usize = 4096;

impl SharedTexts {
    /// The one that is equal to this.
    pub fn share(&mut self, text: &mut SharedText) {
        if let Some(shared) = self.all.get(text.as_str()) {
            *text = shared.clone();
            return;
        }
        if self.all.len() >= self.full_at.max(FEW) {
            self.all.retain(|text| !text.is_held_alone());
            // So that looking through them takes linear time.
            self.full_at = self.all.len() * 2;
        }
        self.all.insert(text.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let mut texts = SharedTexts::default();
        let [mut first, mut second, mut other] =
            ["com.shop.Cart", "com.shop.Cart", "com.shop.Order"].map(SharedText::from);
        for text in [&mut first, &mut second, &mut other] {
            texts.share(text);
        }
        assert!(Arc::ptr_eq(&first.0, &second.0) && first == "com.shop.Cart" && other == "com.shop.Order");
        assert_eq!(texts.all.len(), 2);
    }

    #[test]
    fn texts_that_nobody_holds_are_let_go() {
        let mut texts = SharedTexts::default();
        let mut held = SharedText::from("held");
        texts.share(&mut held);
        for number in 0..100_000 {
            texts.share(&mut SharedText::from(number.to_string()));
            assert!(texts.all.len() <= FEW, "{}", texts.all.len());
        }
        assert!(texts.all.contains("held"));
    }

    #[test]
    fn a_text_is_written_as_a_text() {
        let text = SharedText::from("\u{e9}\n");
        assert_eq!(format!("{text:?} {text}"), "\"\u{e9}\\n\" \u{e9}\n");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"\u{e9}\\n\"");
        assert_eq!(serde_json::from_str::<SharedText>("\"x\"").unwrap(), "x");
    }
}
