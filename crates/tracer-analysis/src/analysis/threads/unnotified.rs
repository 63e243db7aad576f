//! Threads that wait to be notified of one object at two of its methods and are not: each may wait for what the others would do, since
//! `notify` wakes any one of them, and that may be the wrong one.

use std::collections::BTreeMap;

use super::super::{site, table::column};
use crate::{
    item::look::{ThreadLook, Waits},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Threads that must wait at each of two places: one alone may wait for the others to end.
const LEAST: u64 = 2;
/// Most that are shown.
const ROWS: usize = 100;

/// Threads that wait for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    class: String,
    /// By place, those with the most threads first.
    places: Vec<(String, u64)>,
    /// In how many looks in a row, up to the last one.
    looks: u64,
}

/// What the last looks have seen, by the monitor of the object.
#[derive(Debug, Default)]
pub(super) struct Unnotified(BTreeMap<u64, Object>);

impl Unnotified {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        let before = std::mem::take(&mut self.0);
        let mut waiting = BTreeMap::<(u64, &str), BTreeMap<String, u64>>::new();
        for group in look.groups.iter().filter(|group| group.ran == 0 && group.threads >= LEAST) {
            let Some(Waits::Notify { class: Some(class), address, joined: None }) = &group.waits else { continue };
            let Some(place) = site::frame(stacks, group.stack).filter(|frame| is_of(&frame.name, class)) else {
                continue;
            };
            *waiting.entry((*address, class)).or_default().entry(place.to_string()).or_default() += group.threads;
        }
        for ((address, class), places) in waiting.into_iter().filter(|(_, places)| places.len() >= 2) {
            let mut places: Vec<_> = places.into_iter().collect();
            places.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let same = before.get(&address).filter(|known| known.places == places);
            let looks = same.map_or(0, |known| known.looks) + 1;
            self.0.insert(address, Object { class: class.to_owned(), places, looks });
        }
    }

    pub(super) fn table(&self) -> Shape {
        let row = |object: &Object| {
            let Object { class, places, looks } = object.clone();
            let mut cells: Vec<Cell> = vec![class.into(), looks.into()];
            cells.extend(places.into_iter().take(2).flat_map(|(place, threads)| [Cell::from(place), threads.into()]));
            cells
        };
        Shape::Table(Table {
            id: "unnotified",
            title: "Objects whose threads wait to be notified at two places".to_owned(),
            columns: vec![
                column("class", "Class", Unit::Text),
                column("looks", "Last looks", Unit::Count),
                column("site", "Place", Unit::Text),
                column("threads", "Threads", Unit::Count),
                column("other_site", "Other place", Unit::Text),
                column("other_threads", "Threads", Unit::Count),
            ],
            rows: self.0.values().take(ROWS).map(row).collect(),
        })
    }
}

/// Whether a method is one of a class.
fn is_of(method: &str, class: &str) -> bool {
    method.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')).is_some_and(|name| !name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Play, look_group},
        *,
    };
    use crate::{event::StackId, item::look::LookGroup};

    fn group(stack: StackId, threads: u64, ran: u64) -> LookGroup {
        let waits = Some(Waits::Notify { class: Some("a.Queue".to_owned()), address: 7, joined: None });
        LookGroup { ran, waits, ..look_group(stack, threads) }
    }

    fn rows(looks: &[Vec<LookGroup>], play: &Play) -> Vec<Vec<Cell>> {
        let mut unnotified = Unnotified::default();
        for groups in looks {
            unnotified.look(&ThreadLook { groups: groups.clone(), ..ThreadLook::default() }, &play.stacks);
        }
        let Shape::Table(table) = unnotified.table() else { panic!("a table") };
        table.rows
    }

    #[test]
    fn both_sides_of_a_buffer_that_wait_for_each_other_are_found() {
        let mut play = Play::default();
        let put = play.stack(&["a.Author.write:3", "a.Queue.put:9", "java.lang.Object.wait"]);
        let take = play.stack(&["a.Printer.print:3", "a.Queue.take:20", "java.lang.Object.wait"]);
        let stuck = vec![group(put, 6, 0), group(take, 5, 0)];
        let found = rows(&[stuck.clone(), stuck.clone(), stuck.clone()], &play);
        assert_eq!(
            found,
            [vec![
                "a.Queue".into(),
                3_u64.into(),
                "a.Queue.put:9".into(),
                6_u64.into(),
                "a.Queue.take:20".into(),
                5_u64.into()
            ]]
        );
        assert!(rows(&[vec![group(take, 8, 0)]], &play).is_empty(), "workers without work");
        assert!(rows(&[vec![group(take, 8, 0), group(put, 1, 0)]], &play).is_empty(), "one waits for their end");
        assert!(rows(&[vec![group(take, 8, 0), group(put, 4, 1)]], &play).is_empty(), "some were notified");
        let moving = vec![group(put, 4, 0), group(take, 7, 0)];
        assert_eq!(rows(&[stuck, moving], &play)[0][1], 1_u64.into(), "they change");
    }

    #[test]
    fn only_methods_of_the_object_itself_wait_for_each_other() {
        let mut play = Play::default();
        let [a, b] = ["a.Pool.work:9", "a.Pool.end:5"].map(|frame| play.stack(&[frame, "java.lang.Object.wait"]));
        assert!(rows(&[vec![group(a, 2, 0), group(b, 2, 0)]], &play).is_empty(), "an object for all sorts of things");
    }
}
