//! Collections in fields of the program that have grown, as the last look at all threads has them.

use std::{cmp::Reverse, collections::BTreeMap};

use super::super::{library, table::column};
use crate::{
    item::look::{CollectionLook, ThreadLook},
    report::{Cell, Shape, Table, Unit},
};

/// Those of the last look.
#[derive(Debug, Default)]
pub(super) struct Collections(Vec<CollectionLook>);

/// How many entries came.
const fn growth(look: &CollectionLook) -> u64 {
    look.last.saturating_sub(look.first)
}

impl Collections {
    pub(super) fn look(&mut self, look: &ThreadLook) {
        // Several static fields can lead to one, and each look counts by all of them.
        let mut by_field = BTreeMap::<&str, &CollectionLook>::new();
        for found in &look.collections {
            let known = by_field.entry(&found.field).or_insert(found);
            if growth(found) > growth(known) {
                *known = found;
            }
        }
        self.0 = by_field.into_values().cloned().collect();
        // What a library counts for itself, or keeps for later, is seldom what somebody looks for.
        self.0.sort_by_key(|found| (library::has(&found.field), Reverse(growth(found))));
    }

    pub(super) fn table(&self) -> Shape {
        let row = |look: &CollectionLook| {
            let seconds = look.span_ns as f64 / 1e9;
            let per_s = if look.span_ns == 0 { Cell::Missing } else { (growth(look) as f64 / seconds).into() };
            vec![
                look.field.clone().into(),
                look.class.clone().into(),
                look.root.clone().map_or(Cell::Missing, Into::into),
                look.first.into(),
                look.last.into(),
                per_s,
                look.span_ns.into(),
                look.seen.into(),
                look.rose.into(),
                look.fell.into(),
            ]
        };
        Shape::Table(Table {
            id: "collections",
            title: "Collections that the program keeps and that grew".to_owned(),
            columns: vec![
                column("field", "Field", Unit::Text),
                column("class", "Class", Unit::Text),
                column("root", "From", Unit::Text),
                column("entries_first", "First", Unit::Count),
                column("entries_last", "Last", Unit::Count),
                column("entries_per_s", "More per second", Unit::Count),
                column("span_ns", "In", Unit::Ns),
                column("seen", "Seen", Unit::Count),
                column("rose", "Rose", Unit::Count),
                column("fell", "Fell", Unit::Count),
            ],
            rows: self.0.iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(field: &str, root: Option<&str>, [first, last]: [u64; 2]) -> CollectionLook {
        CollectionLook {
            field: field.to_owned(),
            root: root.map(str::to_owned),
            class: "java.util.HashMap".to_owned(),
            first,
            last,
            span_ns: 4_000_000_000,
            seen: 5,
            rose: 4,
            fell: 0,
        }
    }

    #[test]
    fn a_collection_to_which_several_fields_lead_is_told_once_and_the_programs_own_first() {
        let mut collections = Collections::default();
        let look = |collections: Vec<CollectionLook>| ThreadLook { collections, ..ThreadLook::default() };
        collections.look(&look(vec![grown("a.B.gone", None, [0, 50])]));
        collections.look(&look(vec![
            grown("a.B.map", Some("a.Main.ONE"), [10, 50]),
            grown("a.B.map", Some("a.Main.TWO"), [10, 90]),
            grown("a.C.list", None, [0, 500]),
            grown("com.codahale.metrics.Registry.all", None, [0, 9000]),
        ]));
        let Shape::Table(table) = collections.table() else { panic!("a table") };
        let told: Vec<_> = table.rows.iter().map(|row| (row[0].clone(), row[2].clone(), row[4].clone())).collect();
        assert_eq!(
            told,
            [
                ("a.C.list".into(), Cell::Missing, 500_u64.into()),
                ("a.B.map".into(), "a.Main.TWO".into(), 90_u64.into()),
                ("com.codahale.metrics.Registry.all".into(), Cell::Missing, 9000_u64.into()),
            ]
        );
        assert_eq!(table.rows[0][5], 125.0.into());
    }
}
