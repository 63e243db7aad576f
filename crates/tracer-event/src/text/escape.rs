//! Makes texts of a target harmless for a medium, and fits them into a width.
//!
//! Class, thread and file names are chosen by whoever wrote the target. In a terminal they could move the cursor, rename
//! the window, reorder what is read or vanish altogether; in HTML they could be markup. This is not a parser: it decides
//! character by character, and what it replaces stays readable.

use std::{borrow::Cow, fmt::Write as _};

use unicode_width::UnicodeWidthChar as _;

/// What stands for text that did not fit.
const CUT: char = '…';

/// Whether a terminal would do something else with the character than show it.
///
/// These are the control characters (C0, DEL, C1), line and paragraph separators, bidirectional controls, and everything
/// that takes no column: zero-width and combining characters, variation selectors, tags. Combining characters are legal
/// in names, but piled up they cover the neighbouring lines, and two names that look alike are worse than an ugly one.
fn is_hostile(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Soft hyphen, Arabic letter mark, fillers, separators, bidirectional controls, tags: whatever width they are
        // given, they show nothing.
        '\u{ad}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180e}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => c.is_control() || c.width().unwrap_or(0) == 0,
    }
}

/// Appends the character as a terminal may see it, and says how many columns that takes.
fn push(c: char, out: &mut String) -> usize {
    if !is_hostile(c) {
        out.push(c);
        return c.width().unwrap_or(0);
    }
    let before = out.len();
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Writing to a string does not fail.
        '\0'..='\u{ff}' => _ = write!(out, "\\x{:02x}", u32::from(c)),
        _ => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
    }
    out.len() - before
}

/// The text with every character that a terminal would act upon replaced by a visible escape (`\x1b`, `\n`, `\u{202e}`).
pub fn terminal(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_hostile) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(clean);
    for c in rest.chars() {
        push(c, &mut out);
    }
    Cow::Owned(out)
}

/// The text with the characters that mean something in HTML, in an attribute too, replaced by entities, and with what
/// [`terminal`] replaces replaced likewise.
pub fn html(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'' | '`') || is_hostile(c);
    let Some(first) = text.find(special) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(clean);
    for c in rest.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '`' => out.push_str("&#96;"),
            _ => _ = push(c, &mut out),
        }
    }
    Cow::Owned(out)
}

/// JSON text with the characters that a terminal would act upon replaced by `\uXXXX`. The JSON value stays the same:
/// outside of strings JSON has only ASCII, and control characters below U+0020 are escaped already.
pub fn json(text: &str) -> Cow<'_, str> {
    let special = |c: char| c >= '\u{7f}' && is_hostile(c);
    let Some(first) = text.find(special) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str(clean);
    for c in rest.chars() {
        if special(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Columns that an escaped text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning of an escaped text, of at most `width` columns; what was cut shows as `…`.
pub fn ellipsis(text: &str, width: usize) -> Cow<'_, str> {
    let mut used = 0;
    // Where to cut if the text turns out too long: the last place that leaves a column for the mark.
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        if used < width {
            cut = at;
        }
        used += c.width().unwrap_or(0);
        if used > width {
            let mut out = text[..cut].to_owned();
            if width > 0 {
                out.push(CUT);
            }
            return Cow::Owned(out);
        }
    }
    Cow::Borrowed(text)
}

/// The text for a terminal in at most `width` columns, cut in the middle: of a class name the end says most, of a thread
/// name the beginning. Takes time in proportion to the width, not to the text.
pub fn fit(text: &str, width: usize) -> String {
    let mut head = String::new();
    let mut used = 0;
    let mut rest = text.chars();
    for c in rest.by_ref() {
        used += push(c, &mut head);
        if used > width {
            break;
        }
    }
    if used <= width {
        return head;
    }
    if width < 8 {
        return ellipsis(&head, width).into_owned();
    }
    let room = width - 1;
    let mut tail = Vec::new();
    let mut tail_width = 0;
    for c in text.chars().rev() {
        let mut piece = String::new();
        let piece_width = push(c, &mut piece);
        if tail_width + piece_width > room - room / 3 {
            break;
        }
        tail_width += piece_width;
        tail.push(piece);
    }
    let mut out = String::new();
    let mut head_width = 0;
    for c in text.chars() {
        let mut piece = String::new();
        head_width += push(c, &mut piece);
        if head_width + tail_width > room {
            break;
        }
        out.push_str(&piece);
    }
    out.push(CUT);
    out.extend(tail.into_iter().rev());
    out
}

/// Breaks an escaped text into lines of at most `width` columns, at blanks where there are any.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let limit = width.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word_width = self::width(word);
        let last = lines.last_mut().filter(|_| used > 0 && used + 1 + word_width <= limit);
        if let Some(line) = last {
            line.push(' ');
            line.push_str(word);
            used += 1 + word_width;
            continue;
        }
        if used > 0 {
            lines.push(String::new());
        }
        used = 0;
        for c in word.chars() {
            let columns = c.width().unwrap_or(0);
            if used + columns > limit {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += columns;
        }
    }
    lines
}

/// The same in at most that many lines; what was cut shows as `…` at the end of the last.
pub fn wrap_at_most(text: &str, width: usize, lines: usize) -> Vec<String> {
    let mut wrapped = wrap(text, width);
    let is_cut = wrapped.len() > lines;
    wrapped.truncate(lines);
    if let Some(last) = wrapped.last_mut().filter(|_| is_cut) {
        *last = ellipsis(&format!("{last} {CUT}"), width).into_owned();
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn harmless_text_is_borrowed() {
        assert!(matches!(terminal("com.shop.Cart$Größe 日本 \u{fffd}"), Cow::Borrowed(_)));
        assert!(matches!(html("com.shop.Cart"), Cow::Borrowed(_)));
    }

    #[test]
    fn escape_sequences_become_visible() {
        assert_eq!(terminal("a\x1b[31mb"), "a\\x1b[31mb");
        assert_eq!(terminal("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
        assert_eq!(terminal("x\u{9b}2J"), "x\\x9b2J");
        assert_eq!(terminal("\x7f\0"), "\\x7f\\x00");
    }

    #[test]
    fn line_breaks_and_tabs_become_visible() {
        assert_eq!(terminal("a\nb\tc\rd"), "a\\nb\\tc\\rd");
        assert_eq!(terminal("a\u{2028}b\u{85}"), "a\\u{2028}b\\x85");
    }

    #[test]
    fn bidi_and_invisible_characters_become_visible() {
        assert_eq!(terminal("user\u{202e}nimda"), "user\\u{202e}nimda");
        assert_eq!(terminal("\u{2066}\u{2069}\u{200f}\u{61c}"), "\\u{2066}\\u{2069}\\u{200f}\\u{61c}");
        assert_eq!(terminal("a\u{200b}b\u{feff}c\u{3164}"), "a\\u{200b}b\\u{feff}c\\u{3164}");
        assert_eq!(terminal("e\u{301}\u{e0041}"), "e\\u{301}\\u{e0041}");
    }

    #[test]
    fn replacement_character_stays() {
        assert_eq!(terminal("caf\u{fffd}"), "caf\u{fffd}");
    }

    #[test]
    fn html_cannot_leave_an_element_or_attribute() {
        assert_eq!(html("<script>\"'&`</script>"), "&lt;script&gt;&quot;&#39;&amp;&#96;&lt;/script&gt;");
        assert_eq!(html("\x1b\u{202e}<"), "\\x1b\\u{202e}&lt;");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = "C1 \u{9b} bidi \u{202e} tag \u{e0041} del \x7f ok ä";
        let text = serde_json::to_string(value).unwrap();
        let escaped = json(&text);
        assert!(!escaped.chars().any(is_hostile), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), value);
    }

    #[test]
    fn ellipsis_counts_columns() {
        assert_eq!(ellipsis("abcdef", 6), "abcdef");
        assert_eq!(ellipsis("abcdefg", 6), "abcde…");
        assert_eq!(ellipsis("日本語", 5), "日本…");
        assert_eq!(ellipsis("日本語", 4), "日…");
        assert_eq!(ellipsis("abc", 1), "…");
        assert_eq!(ellipsis("abc", 0), "");
    }

    #[test]
    fn middle_cut_keeps_the_end_of_a_class_name() {
        assert_eq!(fit("com.example.shop.checkout.Cart", 16), "com.e…ckout.Cart");
        assert_eq!(fit("short", 16), "short");
        assert_eq!(width(&fit(&"日".repeat(100), 16)), 15);
    }

    #[test]
    fn name_of_64_kib_is_cut() {
        let name = "a\x1b".repeat(32 * 1024);
        assert!(width(&fit(&name, 40)) <= 40);
        assert!(fit(&name, 40).contains('…'));
    }

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        let lines = wrap("14 threads blocked 3.2 s on com.example.shop.checkout.ShoppingCart in turn", 20);
        assert!(lines.iter().all(|line| width(line) <= 20), "{lines:?}");
        assert_eq!(
            lines.concat().replace(' ', ""),
            "14threadsblocked3.2soncom.example.shop.checkout.ShoppingCartinturn"
        );
        assert_eq!(lines[0], "14 threads blocked");
    }

    proptest! {
        #[test]
        fn nothing_hostile_survives(text in ".{0,80}", columns in 0_usize..40) {
            prop_assert!(!terminal(&text).chars().any(is_hostile));
            prop_assert!(!html(&text).contains(['<', '>', '"', '\'']));
            let cut = fit(&text, columns);
            prop_assert!(!cut.chars().any(is_hostile));
            prop_assert!(width(&cut) <= columns);
            prop_assert!(width(&ellipsis(&terminal(&text), columns)) <= columns);
        }
    }
}
