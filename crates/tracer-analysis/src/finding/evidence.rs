//! What a rule may look at: sections by lens, their numbers by key, their rows by column.

use crate::{
    analysis::OTHERS,
    item::Target,
    lens::Lens,
    report::{Cell, Estimate, Section, Span, Table},
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

    /// A rate of a lens's summary, as far as it is known of the whole span.
    pub fn rate(&self, lens: Lens, key: &str) -> Option<Rate> {
        let seen = self.number(lens, key)?;
        if let Some(Estimate { value, interval }) = self.section(lens)?.summary.estimate(key) {
            let per_s = value.as_f64();
            let [low, high] = interval.unwrap_or([per_s; 2]);
            return Some(Rate { per_s, low, high, known: Known::Estimated });
        }
        Some(self.seen(lens, seen))
    }

    /// The rate of a number of a lens's summary, over the whole span; nothing for an empty one.
    pub fn rate_of(&self, lens: Lens, key: &str) -> Option<Rate> {
        let Rate { per_s, low, high, known } = self.rate(lens, key)?;
        let over = |amount: f64| amount * 1e9 / self.span.duration_ns as f64;
        (self.span.duration_ns > 0).then(|| Rate { per_s: over(per_s), low: over(low), high: over(high), known })
    }

    /// A rate of what was seen: it is the least that there was where the lens was not there all the time.
    pub fn seen(&self, lens: Lens, per_s: f64) -> Rate {
        let attached = self.number(lens, "attached_percent").filter(|percent| *percent < 100.0);
        if attached.is_none() && !self.target.has_part_of(lens) {
            return Rate { per_s, low: per_s, high: per_s, known: Known::Whole };
        }
        // As if the rest was like it.
        let high = attached.map_or(f64::INFINITY, |percent| per_s * 100.0 / percent.max(0.01));
        Rate { per_s, low: per_s, high, known: Known::Part }
    }

    /// What stands before a sum of what a group of sites tells: it is the least that there was where the group was there in windows only.
    pub fn at_least(&self, lens: Lens, group: &str) -> &'static str {
        if self.rows(lens, "sampled").any(|row| row.text("group") == group) { "at least " } else { "" }
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

/// A rate per second, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The rate: an estimate, or what was seen.
    pub per_s: f64,
    /// The ends of an estimate's 95 % interval; a rule that accuses somebody counts by the one that speaks for him.
    pub low: f64,
    /// The upper one. Of what is known in part, as much as there would be if the rest was like it.
    pub high: f64,
    /// Of what it is.
    pub known: Known,
}

/// How much of a span a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// All of it.
    Whole,
    /// All of it, from windows.
    Estimated,
    /// Some of it: it is the least that there was.
    Part,
}

impl Rate {
    /// The rate in words, which `text` makes of a number.
    pub fn said(&self, text: impl Fn(f64) -> String) -> String {
        match self.known {
            Known::Whole => text(self.per_s),
            Known::Estimated => format!("about {}", text(self.per_s)),
            Known::Part => format!("{} or more", text(self.per_s)),
        }
    }

    /// The interval of an estimate in words.
    pub fn interval(&self, text: impl Fn(f64) -> String) -> Option<String> {
        (self.known == Known::Estimated).then(|| format!("{} to {} (95 %)", text(self.low), text(self.high)))
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

    /// ` at com.shop.Cart.add:12, waiting for a lock`, as far as it is known.
    pub fn doing(&self) -> String {
        self.known("site").map(|site| format!(" at {site}")).unwrap_or_default() + &self.waiting_for()
    }

    /// `, waiting for a lock`, where that is known.
    pub fn waiting_for(&self) -> String {
        self.known("what").map(|what| format!(", waiting for {what}")).unwrap_or_default()
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
