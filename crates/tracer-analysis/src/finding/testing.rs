//! Evidence by hand for the rules' tests.

use super::{Evidence, Rule};
use crate::{
    item::Target,
    lens::Lens,
    report::{Cell, Column, Finding, Number, Section, Severity, Shape, Span, Summary, Table, Unit},
};

/// Sections with numbers and rows.
pub(super) struct Case {
    pub(super) span: Span,
    pub(super) target: Target,
    pub(super) sections: Vec<Section>,
}

impl Default for Case {
    fn default() -> Self {
        Self::seconds(10)
    }
}

impl Case {
    /// A span of so many seconds, without sections.
    pub(super) fn seconds(seconds: u64) -> Self {
        let span = Span { start_ns: 0, duration_ns: seconds * 1_000_000_000, started_at_ms: 0, end: String::new() };
        Self { span, target: Target { cpus: 4, ..Target::default() }, sections: Vec::new() }
    }

    /// Sets a number of a summary.
    pub(super) fn number(mut self, lens: &str, key: &'static str, value: f64) -> Self {
        let section = self.section(lens);
        let mut summary = Summary::new().float(key, value);
        for (known, number) in section.summary.iter().filter(|(known, _)| *known != key) {
            summary = match number {
                Number::Int(value) => summary.int(known, value),
                Number::Float(value) => summary.float(known, value),
            };
        }
        section.summary = summary;
        self
    }

    /// Adds a row to a table; all rows of a table have the same columns.
    pub(super) fn row(mut self, lens: &str, id: &'static str, cells: &[(&'static str, Cell)]) -> Self {
        let section = self.section(lens);
        let row: Vec<Cell> = cells.iter().map(|(_, cell)| cell.clone()).collect();
        for shape in &mut section.shapes {
            match shape {
                Shape::Table(table) if table.id == id => {
                    table.rows.push(row);
                    return self;
                }
                _ => {}
            }
        }
        let columns = cells.iter().map(|(key, _)| Column { key, title: key, unit: Unit::Text }).collect();
        section.shapes.push(Shape::Table(Table { id, title: String::new(), columns, rows: vec![row] }));
        self
    }

    /// Adds a shape.
    pub(super) fn shape(mut self, lens: &str, shape: Shape) -> Self {
        self.section(lens).shapes.push(shape);
        self
    }

    /// What a rule says.
    pub(super) fn ask(&self, rule: Rule) -> Option<Finding> {
        rule(&Evidence { span: &self.span, target: &self.target, sections: &self.sections })
    }

    /// Severity and title of what a rule says.
    #[track_caller]
    pub(super) fn said(&self, rule: Rule) -> (Severity, String) {
        let finding = self.ask(rule).expect("the rule is silent");
        assert!(!finding.next_step.is_empty() && finding.score.is_finite());
        (finding.severity, finding.title)
    }

    fn section(&mut self, lens: &str) -> &mut Section {
        let id = Lens::ALL.iter().map(|lens| lens.id()).find(|id| *id == lens).expect("a lens");
        if let Some(index) = self.sections.iter().position(|section| section.id == id) {
            return &mut self.sections[index];
        }
        self.sections.push(Section {
            id,
            title: String::new(),
            summary: Summary::new(),
            notes: Vec::new(),
            shapes: Vec::new(),
        });
        self.sections.last_mut().expect("just pushed")
    }
}

/// A reason to wait that looks at all threads have seen.
pub(super) fn waiting(kind: &'static str, what: &'static str, average: f64, looks: u64) -> Case {
    let case = Case::seconds(10).number("threads", "looks", 10.0);
    case.row(
        "threads",
        "waiting",
        &[
            ("kind", kind.into()),
            ("what", what.into()),
            ("site", "com.shop.Cart.add:12".into()),
            ("called", "java.io.X.y".into()),
            ("average", Cell::Float(average)),
            ("most", 8_u64.into()),
            ("looks", looks.into()),
            ("holder", "worker-1".into()),
            ("holder_site", "com.shop.Cart.sum:9".into()),
        ],
    )
}
