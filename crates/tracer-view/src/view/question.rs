//! What people ask, and which sections answer it: the tabs of the screen and the order of the page.

use crate::report::{Report, Section, Word};

/// Questions with the sections that answer them. Sections that are in none come last, each by itself.
const QUESTIONS: [(Word, &[&str]); 5] = [
    ("time", &["cpu", "wall", "offcpu", "safepoint"]),
    ("waiting", &["locks", "threads"]),
    ("memory", &["gc", "alloc"]),
    ("code", &["exceptions", "jit", "classes"]),
    ("chosen", &["explain", "methods", "calls", "jni", "markers", "typestate"]),
];

/// A question with its sections, in their order.
pub(in crate::view) struct Question<'a> {
    pub(in crate::view) title: Word,
    pub(in crate::view) sections: Vec<&'a Section>,
}

/// The questions that a report has sections for.
pub(in crate::view) fn questions(report: &Report) -> Vec<Question<'_>> {
    let of = |ids: &[&str]| ids.iter().filter_map(|id| report.section(id)).collect::<Vec<_>>();
    let questions = QUESTIONS.iter().map(|(title, ids)| Question { title, sections: of(ids) });
    let is_other = |section: &&Section| !QUESTIONS.iter().any(|(_, ids)| ids.contains(&section.id));
    let others = report.sections.iter().filter(is_other);
    let others = others.map(|section| Question { title: section.id, sections: vec![section] });
    questions.chain(others).filter(|question| !question.sections.is_empty()).collect()
}
