//! The sentences of a Markdown page, with their lengths. Prose only: code blocks, tables, headings and comments are left out. A piece of
//! code between backquotes is one word, a link is its text.

/// A sentence of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// The line of its paragraph's beginning.
    pub(crate) line: usize,
    /// Its words.
    pub(crate) words: usize,
    /// Its text.
    pub(crate) text: String,
}

/// All sentences of a page, in order.
pub(crate) fn sentences(page: &str) -> Vec<Sentence> {
    paragraphs(page).into_iter().flat_map(|(line, text)| split(line, &text)).collect()
}

/// Paragraphs and items of lists, each with the number of its first line.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    let mut fence: Option<&str> = None;
    for (line, number) in page.lines().zip(1..) {
        let text = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark)) {
            fence = match fence {
                Some(opened) if opened == mark => None,
                Some(opened) => Some(opened),
                None => Some(mark),
            };
            open = false;
            continue;
        }
        let is_block = ["|", "#", "<"].into_iter().any(|begin| text.starts_with(begin));
        // Indented by four, and no continuation of a paragraph: code.
        let is_code = !open && line.starts_with("    ");
        if fence.is_some() || text.is_empty() || is_block || is_code {
            open = false;
            continue;
        }
        let (item, text) = without_bullet(text);
        match found.last_mut().filter(|_| open && !item) {
            Some((_, paragraph)) => {
                paragraph.push(' ');
                paragraph.push_str(text);
            }
            None => found.push((number, text.to_owned())),
        }
        open = true;
    }
    found
}

/// Whether a line begins an item of a list, and its text.
fn without_bullet(text: &str) -> (bool, &str) {
    let numbered = text
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .strip_prefix(". ")
        .filter(|rest| rest.len() < text.len() - 2);
    let rest = numbered.or_else(|| ["- ", "* ", "> "].into_iter().find_map(|bullet| text.strip_prefix(bullet)));
    rest.map_or((false, text), |rest| (true, rest))
}

/// Cuts a paragraph behind `.`, `!` and `?` where a blank follows, outside of code. An abbreviation ends no sentence.
fn split(line: usize, paragraph: &str) -> Vec<Sentence> {
    const ABBREVIATIONS: [&str; 4] = ["e.g.", "i.e.", "etc.", "vs."];
    let mut found = Vec::new();
    let (mut text, mut in_code) = (String::new(), false);
    let mut letters = paragraph.chars().peekable();
    while let Some(letter) = letters.next() {
        in_code ^= letter == '`';
        text.push(letter);
        // A quotation mark, a bracket or an emphasis may close behind the end.
        let stem = text.trim_end_matches(['"', ')', '*', '_', '”']);
        let ends = !in_code
            && letters.peek().is_none_or(|next| *next == ' ')
            && stem.ends_with(['.', '!', '?'])
            && !ABBREVIATIONS.iter().any(|known| stem.ends_with(known));
        if ends {
            found.push(std::mem::take(&mut text));
        }
    }
    found.push(text);
    let sentence = |text: String| Sentence { line, words: words(&text), text: text.trim().to_owned() };
    found.into_iter().map(sentence).filter(|sentence| sentence.words > 0).collect()
}

/// The number of words.
fn words(text: &str) -> usize {
    let mut plain = String::new();
    for (index, piece) in text.split('`').enumerate() {
        plain.push_str(if index % 2 == 0 { piece } else { "code" });
    }
    without_targets(&plain).split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Links without what they lead to: `[text](target)` is `[text]`.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| done + "]" + part.split_once(')').map_or("", |(_, behind)| behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(page: &str) -> Vec<(usize, usize)> {
        sentences(page).into_iter().map(|sentence| (sentence.line, sentence.words)).collect()
    }

    #[test]
    fn sentences_end_at_their_marks_and_at_the_ends_of_paragraphs_and_items() {
        let page = "One two three. Four\nfive! (Six seven.) Version 1.2 is one, e.g. this\n\n- an item\n  of two lines\n- another\n\n1. a number";
        assert_eq!(lengths(page), [(1, 3), (1, 2), (1, 2), (1, 6), (4, 5), (6, 1), (8, 2)]);
    }

    #[test]
    fn code_is_one_word_and_a_link_is_its_text() {
        assert_eq!(lengths("Run `jtrace attach 4711. Now` as [the page](docs/a b.md#c) says."), [(1, 6)]);
    }

    #[test]
    fn only_prose_counts() {
        let page = "# A heading of words\n\n```text\nNo prose. At all.\n```\n\n| a table | with words |\n|---|---|\n\n    indented code\n\n<!-- a comment -->\nProse.";
        assert_eq!(lengths(page), [(13, 1)]);
    }
}
