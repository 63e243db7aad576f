//! What an observer's answers are worth, in words: right, partial in its own words, or wrong with both numbers.

use super::document::Cell;
use crate::{
    bench::results::{Run, Verdict},
    text::column,
};

/// Most counts that are named.
const MAX_COUNTS: usize = 3;

/// The answers of all runs of a program in a configuration.
pub(super) fn cell(runs: &[&Run]) -> Cell {
    let of = |verdict| -> Vec<&Run> { runs.iter().copied().filter(|run| run.verdict() == Some(verdict)).collect() };
    let (right, partial, wrong) = (of(Verdict::Right), of(Verdict::Partial), of(Verdict::Wrong));
    let answered = right.len() + partial.len() + wrong.len();
    let share = |word: &str, part: usize| {
        if part == answered { word.to_owned() } else { format!("{word} in {part} of {answered}") }
    };
    let mut parts = Vec::new();
    if let Some(run) = wrong.first() {
        parts.push(format!("{}: {}", share("wrong", wrong.len()), differences(run)));
    }
    if let Some(run) = partial.first() {
        parts.push(format!("{}: {}; {}", share("partial", partial.len()), own_words(run), differences(run)));
    }
    if !right.is_empty() {
        parts.push(share("right", right.len()));
    }
    match (answered, wrong.len()) {
        (0, _) => Cell::quiet(column::MISSING),
        (_, 0) => Cell::usual(parts.join("; ")),
        _ => Cell::alarm(parts.join("; ")),
    }
}

/// What the observer says that it did not watch or keep.
fn own_words(run: &Run) -> String {
    let Some(observed) = &run.observed else { return String::new() };
    let lost = observed.lost.filter(|lost| *lost > 0).map(|lost| format!("{} lost", column::count(lost)));
    observed.partial.iter().cloned().chain(lost).collect::<Vec<_>>().join(", ")
}

/// The answers that are not those of the program.
fn differences(run: &Run) -> String {
    let answers = run.observed.iter().flat_map(|observed| &observed.answers);
    let differing: Vec<_> = answers
        .filter_map(|(name, answer)| Some((name, *answer, *run.counts.get(name)?)))
        .filter(|(_, answer, count)| answer != count)
        .collect();
    let named = differing.iter().take(MAX_COUNTS);
    let mut parts: Vec<String> = named
        .map(|(name, answer, count)| {
            format!("{name} {} expected, {} answered", column::count(*count), column::count(*answer))
        })
        .collect();
    if differing.len() > MAX_COUNTS {
        parts.push(format!("{} more", differing.len() - MAX_COUNTS));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::Observed;

    fn run(answer: u64, partial: Option<&str>, lost: u64) -> Run {
        let observed = Observed {
            partial: partial.map(str::to_owned),
            lost: Some(lost),
            answers: [("parks".to_owned(), answer)].into(),
            ..Observed::default()
        };
        Run { observed: Some(observed), counts: [("parks".to_owned(), 4000)].into(), ..Run::default() }
    }

    fn text(runs: &[Run]) -> String {
        cell(&runs.iter().collect::<Vec<_>>()).text
    }

    #[test]
    fn right_answers_need_no_numbers_and_wrong_ones_have_both() {
        assert_eq!(text(&[run(4000, None, 0), run(4000, None, 0)]), "right");
        assert_eq!(text(&[run(3999, None, 0)]), "wrong: parks 4,000 expected, 3,999 answered");
        let mixed = text(&[run(4000, None, 0), run(3999, None, 0)]);
        assert_eq!(mixed, "wrong in 1 of 2: parks 4,000 expected, 3,999 answered; right in 1 of 2");
    }

    #[test]
    fn partial_answers_are_told_in_the_words_of_the_observer() {
        let text = text(&[run(7, Some("park sampled"), 3)]);
        assert_eq!(text, "partial: park sampled, 3 lost; parks 4,000 expected, 7 answered");
    }

    #[test]
    fn nothing_is_said_where_nothing_was_answered() {
        assert_eq!(text(&[Run::default()]), "-");
        assert_eq!(text(&[]), "-");
    }

    #[test]
    fn many_differences_are_counted() {
        let mut run = run(1, None, 0);
        for name in ["a", "b", "c", "d"] {
            run.counts.insert(name.to_owned(), 2);
            run.observed.as_mut().unwrap().answers.insert(name.to_owned(), 1);
        }
        let text = text(&[run]);
        assert!(text.contains("c 2 expected, 1 answered, 2 more") && !text.contains("d 2"), "{text}");
    }
}
