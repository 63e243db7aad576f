//! What threads lend to each other: who waits at a place is woken by threads that took something on the same way, and give it back. So it
//! is with pools of connections or buffers. A worker without work is woken by who brings some, on another way.

use super::super::{
    Context,
    distribution::Durations,
    site,
    table::{FastMap, Keyed, Merge, column},
};
use crate::{
    event::StackId,
    report::{Cell, Shape, Unit},
    stack::{Frame, Stacks},
};

/// Most threads and monitors whose waits are remembered.
const OPEN: usize = 65_536;
/// Most stacks, and most pairs of the stack of a wait with that of who ended it.
const STACKS: usize = 16_384;

/// Methods of the JDK in which threads wait for something that is put there, by parts of their names.
const WAITING: [&str; 4] =
    ["$ConditionObject.await", "java.util.concurrent.SynchronousQueue", "LinkedTransferQueue", "java.lang.Object.wait"];
/// What takes from a queue can wake the next one that does: there is more, or the queue's lock is free. That says nothing of who put
/// something there.
const TAKING: [&str; 4] = [".take", ".poll", ".takeFirst", ".pollFirst"];

/// Waits at one place.
#[derive(Clone, Debug, Default)]
struct Place {
    durations: Durations,
    /// How often somebody ended one who did not take something as well.
    wakes: u64,
    /// Of these, those by a thread that went the same way.
    returns: u64,
    /// The method that takes and gives back, by how often it was seen to.
    methods: Vec<(String, u64)>,
    /// Whether that is where the thread's work begins: a loop that does all.
    in_loop: u64,
    callers: Option<String>,
}

impl Merge for Place {
    fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.wakes += other.wakes;
        self.returns += other.returns;
        self.in_loop += other.in_loop;
        for (method, times) in &other.methods {
            self.returned_in(method, *times);
        }
        if self.callers.is_none() {
            self.callers.clone_from(&other.callers);
        }
    }
}

impl Place {
    fn returned_in(&mut self, method: &str, times: u64) {
        match self.methods.iter_mut().find(|(known, _)| known == method) {
            Some((_, all)) => *all += times,
            None => self.methods.push((method.to_owned(), times)),
        }
    }
}

/// Waits, and who ended them.
#[derive(Debug)]
pub(super) struct Lent {
    /// Stacks of those that wait, by the address of their parker or monitor.
    open: FastMap<u64, StackId>,
    waited: Keyed<StackId, Durations>,
    wakes: Keyed<(StackId, StackId), u64>,
}

impl Default for Lent {
    fn default() -> Self {
        Self { open: FastMap::default(), waited: Keyed::new(STACKS), wakes: Keyed::new(STACKS) }
    }
}

impl Lent {
    /// A thread begins to wait for whoever unparks its parker, or notifies the monitor.
    pub(super) fn waits(&mut self, at: u64, stack: StackId) {
        if self.open.len() < OPEN || self.open.contains_key(&at) {
            self.open.insert(at, stack);
        }
    }

    /// Somebody wakes who waits there.
    pub(super) fn wakes(&mut self, at: u64, stack: StackId) {
        if let Some(waiting) = self.open.get(&at) {
            *self.wakes.entry((*waiting, stack)) += 1;
        }
    }

    /// Such a wait is over.
    pub(super) fn waited(&mut self, at: u64, stack: StackId, ns: u64) {
        self.open.remove(&at);
        self.waited.entry(stack).record(ns);
    }

    /// Places whose waiters are woken by who gives back; `open` are waits that have not ended, with their times so far.
    pub(super) fn table(&self, open: impl Iterator<Item = (StackId, u64)>, context: Context<'_>) -> Option<Shape> {
        let stacks = context.stacks;
        let mut waited = self.waited.clone();
        open.for_each(|(stack, ns)| waited.entry(stack).record(ns));
        for (waiting, _) in self.wakes.iter().map(|(pair, _)| pair) {
            waited.entry(*waiting).merge(&Durations::default());
        }
        let mut places = std::collections::BTreeMap::<String, Place>::new();
        for (stack, durations) in waited.iter().filter(|(stack, _)| waits_for_something(stacks, **stack)) {
            let mut place = Place { durations: *durations, callers: site::callers(stacks, *stack), ..Place::default() };
            let wakes =
                self.wakes.iter().filter(|((waiting, waker), _)| waiting == stack && !takes(stacks, *stack, *waker));
            for ((_, waker), times) in wakes {
                place.wakes += *times;
                let Some(method) = common(stacks, *stack, *waker) else { continue };
                place.returns += *times;
                let is_entry = site::entry(stacks, *stack).is_some_and(|entry| entry.name == method);
                place.in_loop += if is_entry { *times } else { 0 };
                place.returned_in(method, *times);
            }
            places.entry(site::label(stacks, *stack)).or_default().merge(&place);
        }
        places.retain(|_, place| place.returns > 0);
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_by_key(|(_, place)| std::cmp::Reverse(place.durations.total_ns));
        places.truncate(super::ROWS);
        (!places.is_empty()).then(|| shape(places))
    }
}

fn shape(places: Vec<(String, Place)>) -> Shape {
    let row = |(site, place): (String, Place)| {
        let method = place.methods.iter().max_by_key(|(_, times)| *times).map(|(method, _)| method.clone());
        vec![
            site.into(),
            place.durations.count.into(),
            place.durations.total_ns.into(),
            place.wakes.into(),
            place.returns.into(),
            place.in_loop.into(),
            method.map_or(Cell::Missing, Into::into),
            place.callers.map_or(Cell::Missing, Into::into),
        ]
    };
    Shape::Table(crate::report::Table {
        id: "lent",
        title: "Places where threads wait for what others give back".to_owned(),
        columns: vec![
            column("site", "Place", Unit::Text),
            column("waits", "Waits", Unit::Count),
            column("total_ns", "Waited", Unit::Ns),
            column("wakes", "Woken", Unit::Count),
            column("returns", "By who gives back", Unit::Count),
            column("in_loop", "In a loop", Unit::Count),
            column("method", "Which does so in", Unit::Text),
            column("callers", "From", Unit::Text),
        ],
        rows: places.into_iter().map(row).collect(),
    })
}

/// Whether a stack of the program waits for something that is put somewhere, and not for a lock or a task.
fn waits_for_something(stacks: &Stacks, id: StackId) -> bool {
    let java = || stacks.frames_of(id).filter(|frame| frame.kind.is_java());
    let below = java().take_while(|frame| !site::is_app(frame));
    java().any(site::is_app) && below.into_iter().any(|frame| WAITING.iter().any(|part| frame.name.contains(part)))
}

/// Whether who wakes takes something as well, or is not known to do anything else.
fn takes(stacks: &Stacks, waiting: StackId, waking: StackId) -> bool {
    let called = |id| site::called(stacks, id).map(|frame| frame.name.as_str());
    let takes = |name: &str| TAKING.iter().any(|ending| name.ends_with(ending));
    called(waking).is_none_or(|name| takes(name) || Some(name) == called(waiting))
}

/// The innermost method of the program that both is waiting and, elsewhere, gives back what ends that wait.
fn common(stacks: &Stacks, waiting: StackId, waking: StackId) -> Option<&str> {
    let program = |id| stacks.frames_of(id).filter(|frame: &&Frame| site::is_app(frame)).map(|frame| &*frame.name);
    program(waiting).find(|method| program(waking).any(|other| other == *method))
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::testing::{Play, cells},
        Locks,
    };
    use crate::event::{Payload, StackId};

    const AWAIT: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await:1707";

    fn rows(waiting: &[&str], waking: &[&str]) -> Vec<[String; 5]> {
        let mut play = Play::default();
        let (waiting, waking) = (play.stack(waiting), play.stack(waking));
        let park = |parker| Payload::ParkBegin { parker, absolute: false, time: 0 };
        let none = StackId::default();
        let events = [
            (0, 7, waiting, park(0xa)),
            (10, 8, waking, Payload::Unpark { parker: 0xa }),
            (10, 7, none, Payload::ParkEnd { parker: 0xa }),
            (900, 8, waiting, park(0xb)),
            (950, 9, waking, Payload::Unpark { parker: 0xc }),
        ];
        let section = play.section_of_stacks(&mut Locks::default(), 1000, &events);
        if section.table("lent").is_none() {
            return Vec::new();
        }
        cells(&section, "lent", ["site", "waits", "total_ns", "returns", "method"])
    }

    #[test]
    fn who_waits_for_a_connection_is_woken_by_who_gives_one_back() {
        let take = "java.util.concurrent.LinkedBlockingDeque.takeFirst:480";
        let waiting = ["a.Main.run:3", "a.Dao.count:9", "a.Pool.borrow:20", take, AWAIT];
        let waking = [
            "a.Main.run:3",
            "a.Dao.count:12",
            "a.Pool.giveBack:30",
            "java.util.concurrent.LinkedBlockingDeque.addFirst:300",
        ];
        let expected = ["a.Pool.borrow:20", "2", "110000000", "1", "a.Dao.count"].map(str::to_owned);
        assert_eq!(rows(&waiting, &waking), [expected], "the second still waits");
    }

    #[test]
    fn who_brings_work_gives_nothing_back_and_neither_does_who_takes_more_of_it() {
        let take = "java.util.concurrent.LinkedBlockingQueue.take:435";
        let waiting = ["a.Worker.run:9", take, AWAIT];
        let bringing = ["a.Main.main:3", "java.util.concurrent.LinkedBlockingQueue.put:340"];
        assert!(rows(&waiting, &bringing).is_empty());
        assert!(rows(&waiting, &["a.Worker.run:9", take]).is_empty());
        let lock = "java.util.concurrent.locks.ReentrantLock.lock:285";
        assert!(
            rows(&["a.Dao.count:9", lock], &["a.Dao.count:10", "java.util.concurrent.locks.ReentrantLock.unlock:1"])
                .is_empty()
        );
    }
}
