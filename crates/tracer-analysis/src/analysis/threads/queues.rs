//! Queues of threads that work for no executor, from looks at all threads: whether they grow, and what their threads do meanwhile.

use std::collections::BTreeMap;

use super::{
    super::{pattern::last_number, site, table::column},
    reason::doing,
};
use crate::{
    item::look::{BusyThread, QueueLook, ThreadLook},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Most queues that are told apart, by the field and the pattern of their threads' names.
const QUEUES: usize = 1024;
/// Most that are shown.
const ROWS: usize = 100;

/// What is known of queues with the same names.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    threads: u64,
    queued: u64,
    most: u64,
    first: u64,
    last: u64,
    /// Looks in which there was less in it than in the one before.
    fell: u64,
    /// Looks in which there was something in it, and those of them in which no thread waited for something to come.
    filled: u64,
    busy: u64,
    /// What a busy thread did and waited for, when that was seen last.
    place: Option<(String, Option<String>)>,
    callers: Option<String>,
    /// The same of all that were busy then, with their names, where they were at several places.
    places: Option<String>,
}

impl Seen {
    fn add(&mut self, look: &QueueLook, stacks: &Stacks) {
        if self.looks == 0 {
            self.first = look.queued;
        }
        self.fell += u64::from(self.looks > 0 && look.queued < self.last);
        self.looks += 1;
        self.threads = self.threads.max(look.threads);
        self.queued = self.queued.saturating_add(look.queued);
        self.most = self.most.max(look.queued);
        self.last = look.queued;
        self.filled += u64::from(look.queued > 0);
        self.busy += u64::from(look.queued > 0 && look.idle == 0);
        if let Some(stack) = look.busy {
            self.place = Some(doing(stacks, stack, look.waits.as_ref()));
            self.callers = site::callers(stacks, stack);
            let told = |busy: &BusyThread| {
                let (place, what) = doing(stacks, busy.stack, busy.waits.as_ref());
                let what = what.map(|what| format!(", waiting for {what}")).unwrap_or_default();
                format!("`{}` at {place}{what}", busy.name)
            };
            let places: Vec<String> = look.places.iter().map(told).collect();
            self.places = Some(places.join("; ")).filter(|places| !places.is_empty());
        }
    }
}

/// All queues.
#[derive(Debug, Default)]
pub(super) struct Queues(BTreeMap<(String, String), Seen>);

impl Queues {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        for queue in &look.queues {
            let names = (queue.field.clone(), last_number(&queue.name));
            if self.0.len() < QUEUES || self.0.contains_key(&names) {
                self.0.entry(names).or_default().add(queue, stacks);
            }
        }
    }

    pub(super) fn table(&self) -> Shape {
        let mut used: Vec<_> = self.0.iter().filter(|(_, seen)| seen.most > 0).collect();
        used.sort_by(|a, b| b.1.queued.cmp(&a.1.queued).then(a.0.cmp(b.0)));
        let row = |((field, names), seen): (&(String, String), &Seen)| {
            let (place, what) = seen.place.clone().unzip();
            let numbers =
                [seen.threads, seen.most, seen.first, seen.last, seen.fell, seen.looks, seen.filled, seen.busy];
            let texts = [place, what.flatten(), seen.callers.clone(), seen.places.clone()];
            let average = seen.queued as f64 / seen.looks.max(1) as f64;
            let mut cells: Vec<Cell> = vec![field.clone().into(), names.clone().into(), average.into()];
            cells.extend(numbers.map(Cell::from));
            cells.extend(texts.map(|text| text.map_or(Cell::Missing, Into::into)));
            cells
        };
        Shape::Table(Table {
            id: "queues",
            title: "Queues of threads that work for no executor".to_owned(),
            columns: vec![
                column("field", "Field", Unit::Text),
                column("pattern", "Thread", Unit::Text),
                column("queued", "Queued, average", Unit::Count),
                column("threads", "Threads", Unit::Count),
                column("queued_most", "Most", Unit::Count),
                column("queued_first", "First", Unit::Count),
                column("queued_last", "Last", Unit::Count),
                column("fell", "Fell", Unit::Count),
                column("looks", "Looks", Unit::Count),
                column("looks_filled", "Filled", Unit::Count),
                column("looks_busy", "All busy", Unit::Count),
                column("site", "Place of the busy", Unit::Text),
                column("what", "It waits for", Unit::Text),
                column("callers", "From", Unit::Text),
                column("places", "Who has it", Unit::Text),
            ],
            rows: used.into_iter().take(ROWS).map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};
    use crate::event::StackId;

    #[test]
    fn a_queue_that_grows_while_its_thread_is_busy_is_counted_with_its_place() {
        let mut play = Play::default();
        let stack = play.stack(&["com.shop.Reaper.run:30", "com.shop.Reaper.free:9", "java.lang.Thread.sleep"]);
        let other = play.stack(&["com.shop.Filler.run:7", "com.shop.Filler.make:4"]);
        let busy = |(name, stack): (&str, StackId)| BusyThread { name: name.to_owned(), stack, waits: None };
        let mut queues = Queues::default();
        for (queued, idle) in [(10, 0), (20, 0), (15, 1), (40, 0)] {
            let queue = QueueLook {
                field: "com.shop.Reaper.queue".to_owned(),
                name: "reaper-3".to_owned(),
                threads: 1,
                idle,
                queued,
                busy: (idle == 0).then_some(stack),
                waits: None,
                places: [("filler", other), ("reaper-3", stack)].map(busy).to_vec(),
            };
            queues.look(&ThreadLook { queues: vec![queue], ..ThreadLook::default() }, &play.stacks);
        }
        let Shape::Table(table) = queues.table() else { panic!("a table") };
        let [row] = &table.rows[..] else { panic!("one row") };
        assert_eq!(row[..2], ["com.shop.Reaper.queue".into(), "reaper-*".into()]);
        assert_eq!(row[2], 21.25.into());
        assert_eq!(row[3..11], [1_u64, 40, 10, 40, 1, 4, 4, 3].map(Cell::from));
        assert_eq!(row[11], "com.shop.Reaper.free:9".into());
        let places =
            "`filler` at com.shop.Filler.make:4; `reaper-3` at com.shop.Reaper.free:9, waiting for time to pass";
        assert_eq!(row[14], places.into());
    }

    #[test]
    fn a_queue_that_is_always_empty_is_not_shown() {
        let queue = QueueLook {
            field: "a.B.c".to_owned(),
            name: "d".to_owned(),
            threads: 1,
            idle: 1,
            queued: 0,
            busy: None,
            waits: None,
            places: Vec::new(),
        };
        let mut queues = Queues::default();
        queues.look(&ThreadLook { queues: vec![queue], ..ThreadLook::default() }, &Stacks::default());
        let Shape::Table(table) = queues.table() else { panic!("a table") };
        assert!(table.rows.is_empty());
    }
}
