//! Reports of a session: everything that its results say, for a terminal, for a page, and for a spreadsheet.
//!
//! What a report says is put together once, by what knows no medium; [`text()`], [`markdown()`] and [`html()`]
//! draw it. [`csv()`] has the runs themselves, and no conclusions. All of it follows from the results alone.

mod document;

mod setting;

mod effects;

mod answers;
mod memory;
mod others;

mod words;

mod plot;

mod csv;
mod html;
mod markdown;
mod text;

#[cfg(test)]
mod tests;

use self::document::Document;
use super::{comparison::Figures, results::Results};

/// The report for a terminal of 130 columns. Tables leave out the rows in which nothing was found, and say how many.
pub fn text(results: &Results) -> String {
    text::write(&document(results))
}

/// The report as Markdown, as GitHub and others read it.
pub fn markdown(results: &Results) -> String {
    markdown::write(&document(results))
}

/// The report as one page with plots, which needs nothing else.
pub fn html(results: &Results) -> String {
    html::write(&document(results))
}

/// A line a run, with all its numbers and with what they were measured on (RFC 4180).
pub fn csv(results: &Results) -> String {
    csv::write(results)
}

/// What a report says.
fn document(results: &Results) -> Document {
    let figures = Figures::new(results);
    let runs = document::by_pair(results);
    let sections = [
        setting::environment(results),
        effects::slowdown(&figures, &runs),
        effects::observers(&figures, &runs),
        memory::section(&figures),
        others::section(&figures),
        setting::programs(results),
        setting::commands(results, &figures, &runs),
        setting::skipped(results),
        setting::notes(),
    ];
    Document { title: setting::title(results), sections: sections.into() }
}
