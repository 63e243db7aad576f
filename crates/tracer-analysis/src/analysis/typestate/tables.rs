//! The tables of the lens: properties, classes of which not all objects are tracked, violations, and what was left as it is.

use tracer_weave::control::Sampled;

use super::{HISTORY_BITS, ROWS_OF_CLASSES, Typestate, Violation};
use crate::{
    analysis::{Context, site, table::column},
    report::{Cell, Column, Shape, Table, Unit},
    typestate::Property,
};

impl Typestate {
    /// Objects of a property that are not tracked, as far as that was seen.
    pub(super) fn not_tracked(&self, property: usize) -> u64 {
        let of = self.sampled.values().filter(|sampled| usize::from(sampled.property) == property + 1);
        of.map(|sampled| sampled.not_tracked).sum()
    }

    pub(super) fn by_property(&self) -> Shape {
        let [held, moved, ignored] = [&self.suppressed, &self.moved, &self.ignored].map(|of| self.by_its_property(of));
        let counted = held.into_iter().zip(moved).zip(ignored);
        let rows = self.asked.properties.iter().zip(&self.seen).zip(counted).enumerate().map(
            |(index, ((property, seen), ((held, moved), ignored)))| {
                let suppressed = held + moved;
                vec![
                    property.name.clone().into(),
                    seen.objects.into(),
                    self.not_tracked(index).into(),
                    (seen.events + suppressed).into(),
                    suppressed.into(),
                    ignored.into(),
                    (seen.transitions + moved).into(),
                    seen.illegal.into(),
                    seen.dead.into(),
                ]
            },
        );
        Shape::Table(Table {
            id: "properties",
            title: "Properties".to_owned(),
            columns: vec![
                column("property", "Property", Unit::Text),
                column("objects", "Objects", Unit::Count),
                column("not_tracked", "Not tracked", Unit::Count),
                column("symbols", "Symbols", Unit::Count),
                column("suppressed", "Held back", Unit::Count),
                column("ignored", "Ignored", Unit::Count),
                column("transitions", "Transitions", Unit::Count),
                column("illegal_transitions", "Illegal", Unit::Count),
                column("dead_violations", "Dead", Unit::Count),
            ],
            rows: rows.collect(),
        })
    }

    /// The classes of which not all objects are tracked; nothing where all are.
    pub(super) fn sampling(&self) -> Option<Shape> {
        let mut sampled: Vec<&Sampled> = self.sampled.values().filter(|sampled| sampled.one_in != 1).collect();
        sampled.sort_by_key(|sampled| std::cmp::Reverse(sampled.tracked.saturating_add(sampled.not_tracked)));
        let row = |sampled: &Sampled| {
            let of = usize::from(sampled.property).checked_sub(1).and_then(|index| self.asked.properties.get(index));
            let cells: Vec<Cell> = vec![
                of.map(|of| of.name.clone()).into(),
                self.classes.get(&sampled.class).cloned().unwrap_or_else(|| "(others)".to_owned()).into(),
                sampled.tracked.into(),
                sampled.not_tracked.into(),
                sampled.one_in.into(),
            ];
            cells
        };
        let rows: Vec<Vec<Cell>> = sampled.into_iter().take(ROWS_OF_CLASSES).map(row).collect();
        let columns = vec![
            column("property", "Property", Unit::Text),
            column("class", "Class", Unit::Text),
            column("tracked", "Tracked", Unit::Count),
            column("not_tracked", "Not tracked", Unit::Count),
            column("one_in", "One in", Unit::Count),
        ];
        let title = "Classes of which not all objects are tracked".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(Table { id: "sampled_classes", title, columns, rows }))
    }

    pub(super) fn violations(&self, context: Context<'_>) -> Shape {
        let label = |violation: &Violation| {
            let Violation { property, of: whose, object, states, symbol, tid, history, stack } = *violation;
            let of = self.asked.properties.get(property);
            let state = of.map_or_else(String::new, |of| {
                states.list().map(|state| of.machine.state(state)).collect::<Vec<_>>().join(" or ")
            });
            let what = match (of, symbol) {
                (Some(of), Some(symbol)) => of.machine.symbol(symbol).to_owned(),
                _ => "(death)".to_owned(),
            };
            let place = if symbol.is_some() { site::label(context.stacks, stack) } else { String::new() };
            Some((
                of.map_or_else(String::new, |of| of.name.clone()),
                self.class(whose, context),
                u64::from(object),
                state,
                what,
                tid.map_or_else(String::new, |tid| context.names.thread(tid)),
                of.map_or_else(String::new, |of| told(of, history)),
                place,
            ))
        };
        self.violations.grouped(label).table(
            "violations",
            "Violations",
            columns(),
            |times| times.0,
            |(property, class, object, state, symbol, thread, history, place)| {
                vec![
                    property.into(),
                    class.into(),
                    object.into(),
                    state.into(),
                    symbol.into(),
                    thread.into(),
                    history.into(),
                    place.into(),
                ]
            },
            |times| vec![times.0.into()],
        )
    }

    pub(super) fn skipped(&self) -> Option<Shape> {
        let rows: Vec<Vec<Cell>> = self
            .woven
            .skipped
            .iter()
            .map(|skipped| {
                let (method, descriptor) = skipped.method.clone().unwrap_or_default();
                vec![skipped.class.clone().into(), method.into(), descriptor.into(), skipped.reason.clone().into()]
            })
            .collect();
        let columns = vec![
            column("class", "Class", Unit::Text),
            column("method", "Method", Unit::Text),
            column("signature", "Signature", Unit::Text),
            column("reason", "Reason", Unit::Text),
        ];
        let title = "Left as they are".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(Table { id: "skipped_methods", title, columns, rows }))
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("property", "Property", Unit::Text),
        column("class", "Class", Unit::Text),
        column("object", "Object", Unit::Count),
        column("state", "State", Unit::Text),
        column("symbol", "Symbol", Unit::Text),
        column("thread", "Thread", Unit::Text),
        column("history", "Symbols before", Unit::Text),
        column("place", "Place", Unit::Text),
        column("count", "Count", Unit::Count),
    ]
}

/// The symbols of a history, the oldest first.
fn told(property: &Property, history: u64) -> String {
    let symbols = (0..u64::BITS / HISTORY_BITS).rev().filter_map(|at| {
        let symbol = u8::try_from(history >> (at * HISTORY_BITS) & 0xff).ok()?.checked_sub(1)?;
        Some(property.machine.symbol(symbol))
    });
    symbols.collect::<Vec<_>>().join(" ")
}
