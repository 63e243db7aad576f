//! Threads that went on from where others wait: they may have what those wait for, or make it.

use std::collections::BTreeMap;

use super::{
    super::{
        super::{site, table::Merge},
        pools::{METHODS, Way},
        reason::{Kind, doing},
    },
    Reason,
};
use crate::{event::StackId, item::look::ThreadLook, report::Cell, stack::Stacks};

/// Most reasons of one look for which others are looked for, and most groups of threads among which they are.
const REASONS: usize = 4;
const GROUPS: usize = 1024;

/// A place, what is waited for there where that is known, and the program's methods that led there.
type Doing = (String, Option<String>, Option<String>);

/// Threads that came through one method, and went on.
#[derive(Clone, Debug, Default)]
struct Through {
    method: Option<String>,
    /// Over all looks.
    threads: u64,
    /// Where most of them were in one look, and what they waited for there.
    place: Option<(Doing, u64)>,
}

/// Threads that went on, by how far from the wait they parted.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Whether others were looked for at all.
    looked: bool,
    through: [Through; METHODS],
}

impl Past {
    /// Those that parted nearest: how many on average, where most of them are, wait for what and came from, and the method that all of
    /// them have called.
    pub(super) fn cells(&self, looks: f64) -> [Cell; 5] {
        let text = |text: Option<String>| text.map_or(Cell::Missing, Cell::from);
        let nearest = self.through.iter().find(|through| through.threads > 0).cloned().unwrap_or_default();
        let Through { method, threads, place } = nearest;
        let average = if self.looked { Cell::Float(threads as f64 / looks) } else { Cell::Missing };
        let (place, what, callers) =
            place.map_or((None, None, None), |((place, what, callers), _)| (Some(place), what, callers));
        [average, text(place), text(what), text(callers), text(method)]
    }
}

impl Merge for Past {
    fn merge(&mut self, other: &Self) {
        self.looked |= other.looked;
        for (mine, Through { method, threads, place }) in self.through.iter_mut().zip(&other.through) {
            mine.threads += threads;
            mine.method = mine.method.take().or_else(|| method.clone());
            if place.as_ref().map(|(_, threads)| threads) > mine.place.as_ref().map(|(_, threads)| threads) {
                mine.place.clone_from(place);
            }
        }
    }
}

/// For each reason to wait for something that there is a limited number of, or for one and the same result, those that went on; `reasons`
/// are those of the look's groups, by their numbers.
pub(super) fn past(look: &ThreadLook, reasons: &[(usize, Reason)], stacks: &Stacks) -> Vec<(Reason, Past)> {
    let mut most: BTreeMap<Reason, (u64, usize)> = BTreeMap::new();
    for (number, reason) in reasons {
        let Some(group) = look.groups.get(*number) else { continue };
        let is_asked = match reason.0 {
            Kind::Pool | Kind::Transaction => true,
            Kind::Task => group.together > 1,
            Kind::Queue => matches!(Way::of(stacks, group.stack), Way::In(_)),
            _ => false,
        };
        if is_asked && most.get(reason).is_none_or(|(threads, _)| *threads < group.threads) {
            most.insert(*reason, (group.threads, *number));
        }
    }
    let mut most: Vec<_> = most.into_iter().collect();
    most.sort_by_key(|(_, (threads, _))| std::cmp::Reverse(*threads));
    let of = |(reason, (_, number)): (Reason, (u64, usize))| {
        let way = Way::of(stacks, look.groups.get(number)?.stack);
        Some((reason, went_on(look, reasons, reason, &way, stacks)))
    };
    most.into_iter().take(REASONS).filter_map(of).collect()
}

/// Those that do not wait for the same, and came the same way.
fn went_on(look: &ThreadLook, reasons: &[(usize, Reason)], waited: Reason, way: &Way<'_>, stacks: &Stacks) -> Past {
    let mut past = Past { looked: true, ..Past::default() };
    let mut places: BTreeMap<(usize, Doing), u64> = BTreeMap::new();
    for (number, group) in look.groups.iter().enumerate().take(GROUPS) {
        let reason = reasons.binary_search_by_key(&number, |(number, _)| *number).ok();
        let same = reason.and_then(|at| reasons.get(at)).is_some_and(|(_, reason)| is_same(*reason, waited));
        let Some(at) = way.at(stacks, group.stack).filter(|_| !same) else { continue };
        let Some(through) = past.through.get_mut(at) else { continue };
        through.threads += group.threads;
        through.method = way.method(at).map(str::to_owned);
        let (_, what) = doing(stacks, group.stack, group.waits.as_ref());
        *places.entry((at, own(stacks, group.stack, what))).or_default() += group.threads;
    }
    for ((at, place), threads) in places {
        let known = &mut past.through[at].place;
        if known.as_ref().is_none_or(|(_, most)| *most < threads) {
            *known = Some((place, threads));
        }
    }
    past
}

/// The place of a thread in the program's own code.
fn own(stacks: &Stacks, stack: StackId, what: Option<String>) -> Doing {
    let own = site::own(stacks, stack, 0);
    let place = own.as_ref().map_or_else(|| site::label(stacks, stack), |(frame, _)| frame.to_string());
    (place, what, own.and_then(|(_, callers)| callers))
}

/// Whether two reasons are to wait for the same, wherever.
fn is_same(a: Reason, b: Reason) -> bool {
    (a.0, a.1) == (b.0, b.1)
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::super::testing::{Play, look_group},
        *,
    };
    use crate::item::look::LookGroup;

    #[test]
    fn those_that_went_on_nearest_are_told_with_where_most_of_them_are() {
        let mut play = Play::default();
        let take = ["a.Main.run:1", "a.Shop.buy:3", "com.zaxxer.hikari.pool.HikariPool.getConnection:1"];
        let waits = play.stack(&take);
        let asks = play.stack(&["a.Main.run:1", "a.Shop.buy:7", "a.Price.ask:9", "java.lang.Thread.sleep"]);
        let (writes, other) = (play.stack(&["a.Shop.buy:8"]), play.stack(&["a.Main.run:2", "a.Shop.list:7"]));
        let groups: Vec<LookGroup> =
            [(waits, 9), (asks, 2), (writes, 1), (other, 5)].map(|(stack, threads)| look_group(stack, threads)).into();
        let look = ThreadLook { groups, ..ThreadLook::default() };
        let reason = (Kind::Pool, 1, 2, 3);
        let found = past(&look, &[(0, reason)], &play.stacks);
        let [(of, mut found)] = <[_; 1]>::try_from(found).expect("one reason");
        assert_eq!(of, reason);
        let expected = |threads: f64| {
            [
                threads.into(),
                "a.Price.ask:9".into(),
                "time to pass".into(),
                "a.Shop.buy:7, from a.Main.run:1".into(),
                "a.Shop.buy".into(),
            ]
        };
        assert_eq!(found.cells(1.0), expected(3.0), "`list` parted earlier");
        found.merge(&found.clone());
        assert_eq!(found.cells(2.0), expected(3.0));
        assert!(past(&look, &[(0, (Kind::Condition, 1, 2, 3))], &play.stacks).is_empty());
    }
}
