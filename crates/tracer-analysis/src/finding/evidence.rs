//! What a rule may look at: sections by lens, their numbers by key, their rows by column.

use crate::{
    analysis::OTHERS,
    item::Target,
    lens::Lens,
    report::{Cell, Section, Span, Table},
    text::format,
};

/// Longest name from the target inside a sentence.
const NAME_CHARS: usize = 120;

/// The sections of a report with what they are about.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The observed stretch of time.
    pub span: &'a Span,
    /// The JVM.
    pub target: &'a Target,
    /// One per lens.
    pub sections: &'a [Section],
}

impl<'a> Evidence<'a> {
    /// Whether a lens is shown.
    pub fn shows(&self, lens: Lens) -> bool {
        self.section(lens).is_some()
    }

    /// A number of a lens's summary; nothing where the lens is not shown or the number not known.
    pub fn number(&self, lens: Lens, key: &str) -> Option<f64> {
        self.section(lens)?.number(key)
    }

    /// A number that is a whole one.
    pub fn whole(&self, lens: Lens, key: &str) -> Option<u64> {
        self.number(lens, key).map(format::whole)
    }

    /// A number as a rate per second of the span; nothing for an empty span.
    pub fn per_second(&self, lens: Lens, key: &str) -> Option<f64> {
        let amount = self.number(lens, key)?;
        (self.span.duration_ns > 0).then(|| amount * 1e9 / self.span.duration_ns as f64)
    }

    /// The rows of a lens's table in their order, without the one that adds up the others.
    pub fn rows(&self, lens: Lens, table: &str) -> impl Iterator<Item = Row<'a>> + use<'a> {
        self.section(lens)
            .and_then(|section| section.table(table))
            .into_iter()
            .flat_map(|table| table.rows.iter().map(move |cells| Row { table, cells }))
            .filter(|row| row.cells.first() != Some(&Cell::Text(OTHERS.to_owned())))
    }

    fn section(&self, lens: Lens) -> Option<&'a Section> {
        self.sections.iter().find(|section| section.id == lens.id())
    }
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// The text in a column, cut to a length that a sentence can bear; a reason in brackets where there is none.
    pub fn text(&self, column: &str) -> String {
        match self.cell(column) {
            Some(Cell::Text(text)) if text.chars().count() > NAME_CHARS => {
                text.chars().take(NAME_CHARS).chain(['…']).collect()
            }
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Int(_) | Cell::Float(_) | Cell::Missing) | None => "<not known>".to_owned(),
        }
    }

    /// The method of the place in a column, as the command line takes it (`com.shop.Mail::send`); absent where it is none of Java's, or
    /// its name could end a word of a shell.
    fn method(&self, column: &str) -> Option<String> {
        let place = self.known(column)?;
        let name = place.rsplit_once(':').map_or(&*place, |(name, _)| name);
        let (class, method) = name.rsplit_once('.')?;
        let is_plain = |c: char| c.is_alphanumeric() || "._$".contains(c);
        name.chars().all(is_plain).then(|| format!("{class}::{method}"))
    }

    /// The command that says what a task spends its time on whose place is in a column, behind a space; nothing where that is no method.
    pub fn explain_call(&self, column: &str) -> String {
        let said = |method| format!(" `jtrace explain-call PID '{method}'` says what such a task spends its time on.");
        self.method(column).map_or_else(String::new, said)
    }

    /// The text in a column; absent where a reason in brackets stands for it.
    pub fn known(&self, column: &str) -> Option<String> {
        Some(self.text(column)).filter(|text| !text.starts_with('<'))
    }

    /// The number in a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.cell(column)? {
            Cell::Int(value) => Some(*value as f64),
            Cell::Float(value) => Some(*value),
            Cell::Text(_) | Cell::Missing => None,
        }
    }

    /// The whole number in a column, 0 where there is none.
    pub fn whole(&self, column: &str) -> u64 {
        match self.cell(column) {
            Some(Cell::Int(value)) => *value,
            Some(Cell::Float(value)) => format::whole(*value),
            Some(Cell::Text(_) | Cell::Missing) | None => 0,
        }
    }

    fn cell(&self, column: &str) -> Option<&'a Cell> {
        self.cells.get(self.table.column(column)?)
    }
}
