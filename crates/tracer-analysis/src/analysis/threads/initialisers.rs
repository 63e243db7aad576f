//! Threads that wait until another one has run a class's static initialiser, from looks at all threads. The JVM waits for that within the
//! method that needs the class, so no method of `Object` is on the stack.

use super::super::{site, table::column};
use crate::{
    event::StackId,
    item::look::{LookGroup, ThreadLook, Waits},
    report::{Cell, Shape, Table, Unit},
    stack::{Frame, Stacks},
};

/// Most threads that are shown.
const ROWS: usize = 100;
const INITIALISER: &str = ".<clinit>";

/// A thread, or some that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    thread: String,
    threads: u64,
    site: String,
    waits: bool,
    /// The innermost initialiser that it runs.
    initialiser: Option<String>,
    /// In how many looks in a row, up to the last one.
    looks: u64,
}

/// Those of the last look.
#[derive(Debug, Default)]
pub(super) struct Initialisers(Vec<Seen>);

impl Initialisers {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        let seen = look.groups.iter().filter_map(|group| seen(group, stacks)).take(ROWS).collect();
        let before = std::mem::replace(&mut self.0, seen);
        for one in &mut self.0 {
            let same = |known: &&Seen| known.thread == one.thread && known.site == one.site && known.waits == one.waits;
            one.looks += before.iter().find(same).map_or(0, |known| known.looks);
        }
        // Who runs an initialiser and nobody waits is of no interest.
        if !self.0.iter().any(|one| one.waits) {
            self.0.clear();
        }
    }

    pub(super) fn table(&self) -> Shape {
        let row = |one: &Seen| {
            let Seen { thread, threads, site, waits, initialiser, looks } = one.clone();
            let does = if waits { "waits" } else { "runs" };
            vec![
                thread.into(),
                threads.into(),
                site.into(),
                does.into(),
                initialiser.map_or(Cell::Missing, Into::into),
                looks.into(),
            ]
        };
        Shape::Table(Table {
            id: "initialisers",
            title: "Threads that wait for static initialisers, and those that run them".to_owned(),
            columns: vec![
                column("thread", "Thread", Unit::Text),
                column("threads", "Threads", Unit::Count),
                column("site", "Place", Unit::Text),
                column("does", "Does", Unit::Text),
                column("initialiser", "In", Unit::Text),
                column("looks", "Last looks", Unit::Count),
            ],
            rows: self.0.iter().map(row).collect(),
        })
    }
}

/// What a group has to do with initialisers; nothing of most.
fn seen(group: &LookGroup, stacks: &Stacks) -> Option<Seen> {
    let waits = waits(group, stacks);
    let initialiser = innermost(stacks, group.stack);
    if !waits && initialiser.is_none() {
        return None;
    }
    Some(Seen {
        thread: group.names.first()?.clone(),
        threads: group.threads,
        site: site::label(stacks, group.stack),
        waits,
        initialiser: initialiser.map(|frame| frame.name.to_string()),
        looks: 1,
    })
}

/// Whether threads wait to be notified, and did not ask for that.
fn waits(group: &LookGroup, stacks: &Stacks) -> bool {
    let top = site::top(stacks, group.stack);
    matches!(group.waits, Some(Waits::Notify { .. }))
        && top.is_some_and(|top| !top.name.starts_with("java.lang.Object.wait"))
}

fn innermost(stacks: &Stacks, stack: StackId) -> Option<&Frame> {
    stacks.frames_of(stack).find(|frame| frame.kind.is_java() && frame.name.ends_with(INITIALISER))
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Play, look_group},
        *,
    };

    fn look(groups: &[(&str, StackId, bool)]) -> ThreadLook {
        let group = |(name, stack, waits): &(&str, StackId, bool)| LookGroup {
            together: 1,
            names: vec![(*name).to_owned()],
            waits: waits.then(|| Waits::Notify { class: Some("[I".to_owned()), address: 7, joined: None }),
            ..look_group(*stack, 1)
        };
        ThreadLook { groups: groups.iter().map(group).collect(), ..ThreadLook::default() }
    }

    fn rows(initialisers: &Initialisers) -> Vec<Vec<Cell>> {
        let Shape::Table(table) = initialisers.table() else { panic!("a table") };
        table.rows
    }

    #[test]
    fn who_waits_for_an_initialiser_and_who_runs_one_are_told() {
        let mut play = Play::default();
        let run = "java.lang.Thread.run:840";
        let needs = play.stack(&[run, "a.Web.serve:9"]);
        let runs = play.stack(&[run, "a.Rates.<clinit>:4", "java.lang.Thread.sleep"]);
        let notified = play.stack(&[run, "a.Queue.take:9", "java.lang.Object.wait"]);
        let all = look(&[("web-1", needs, true), ("boot", runs, false), ("worker", notified, true)]);
        let mut initialisers = Initialisers::default();
        initialisers.look(&all, &play.stacks);
        initialisers.look(&all, &play.stacks);
        let row = |thread: &str, site: &str, does: &str, initialiser: Option<&str>| -> Vec<Cell> {
            let initialiser = initialiser.map_or(Cell::Missing, Into::into);
            vec![thread.into(), 1_u64.into(), site.into(), does.into(), initialiser, 2_u64.into()]
        };
        let expected = [
            row("web-1", "a.Web.serve:9", "waits", None),
            row("boot", "a.Rates.<clinit>:4", "runs", Some("a.Rates.<clinit>")),
        ];
        assert_eq!(rows(&initialisers), expected);
        initialisers.look(&look(&[("boot", runs, false)]), &play.stacks);
        assert!(rows(&initialisers).is_empty(), "nobody waits for it");
    }
}
