//! Sentences in the page: what they have between backticks, commands and names, is shown as code.

use crate::text::escape;

/// The sentence, escaped. A backtick without another one stays what it is.
pub(super) fn html(sentence: &str) -> String {
    let mut out = String::new();
    let mut rest = sentence;
    while let Some((before, code, after)) = next(rest) {
        out.push_str(&escape::html(before));
        out.push_str("<code>");
        out.push_str(&escape::html(code));
        out.push_str("</code>");
        rest = after;
    }
    out + &escape::html(rest)
}

/// The text before the first code, the code, and what is behind it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, behind) = text.split_once('`')?;
    let (code, after) = behind.split_once('`')?;
    (!code.is_empty()).then_some((before, code, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code_and_all_of_it_is_escaped() {
        assert_eq!(html("run `jtrace gc <pid>` & `x`"), "run <code>jtrace gc &lt;pid&gt;</code> &amp; <code>x</code>");
        assert_eq!(html("`<b>`"), "<code>&lt;b&gt;</code>");
        assert_eq!(html("a name with ` in it"), "a name with &#96; in it");
        assert_eq!(html("`a` and `b"), "<code>a</code> and &#96;b");
        assert_eq!(html("``"), "&#96;&#96;");
        assert_eq!(html(""), "");
    }
}
