//! Lens `jni`: which functions of JNI native code calls, from where, how long they take, and how long critical sections are
//! open.
//!
//! What the kernel counted itself and what came as events are added up: no call and no section is in both.

mod sections;
mod tables;

use self::{
    sections::{Section as Critical, Sections},
    tables::Sums,
};
use super::{
    Analysis, Context, Lens,
    ended::{self, EndedThreads, OfThread},
    profile::Amounts,
    protocols::balance,
    table::{Keyed, Merge as _},
};
use crate::{
    event::{Event, NameId, Payload, StackId, Tid},
    jni::Function,
    report::{Section, Summary, Unit},
    tally::{
        Tallies,
        jni::{JniTallies, JniTally},
    },
};

/// Most combinations of function, caller and thread.
const ROWS: usize = 65_536;

/// What calls are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    function: Function,
    caller: NameId,
    tid: Tid,
}

impl OfThread for Key {
    fn tid(&self) -> Tid {
        self.tid
    }

    fn with_tid(self, tid: Tid) -> Self {
        Self { tid, ..self }
    }
}

/// The analysis.
#[derive(Debug)]
pub struct Jni {
    /// Calls that came as events.
    calls: Keyed<Key, Sums>,
    sections: Sections,
    stacks: Amounts,
    tallies: JniTallies,
}

impl Default for Jni {
    fn default() -> Self {
        Self {
            calls: Keyed::new(ROWS),
            sections: Sections::default(),
            stacks: Amounts::default(),
            tallies: JniTallies::default(),
        }
    }
}

impl Jni {
    /// All calls, those that the kernel counted included.
    fn all_calls(&self) -> Keyed<Key, Sums> {
        let mut all = self.calls.clone();
        for JniTally { tid, function, caller, count, timed, total_ns, self_ns, longest_ns } in &self.tallies.calls {
            let sums =
                Sums { calls: *count, timed: *timed, total_ns: *total_ns, self_ns: *self_ns, longest_ns: *longest_ns };
            all.entry(Key { function: *function, caller: *caller, tid: *tid }).merge(&sums);
        }
        all
    }

    fn notes(&self, calls: &Keyed<Key, Sums>, sections: &Sections) -> Vec<String> {
        let JniTallies {
            returns_without_entry,
            entries_without_return,
            overflow,
            too_deep,
            closed_without_opening,
            ..
        } = &self.tallies;
        let mut notes = vec![
            "Time is that of the calls with all below them: what a function calls in Java counts as its own, other JNI functions do not \
             count in `self`."
                .to_owned(),
        ];
        if *returns_without_entry > 0 {
            notes.push(format!(
                "{returns_without_entry} returns came without their call, which was under way when observation began, or when its \
                 sites were away; they are not counted."
            ));
        }
        if *entries_without_return > 0 {
            notes.push(format!(
                "{entries_without_return} calls had no return, because their sites were taken away meanwhile; they are not \
                 counted."
            ));
        }
        if *too_deep > 0 {
            notes.push(format!("{too_deep} calls lay below 64 others: they are counted and have no duration."));
        }
        if *overflow > 0 {
            notes.push(format!("{overflow} calls found no room in the kernel's tables and are counted nowhere else."));
        }
        if *closed_without_opening > 0 {
            notes.push(format!(
                "{closed_without_opening} critical sections were closed whose opening was not seen; they are not counted."
            ));
        }
        notes.extend(ended::note(calls.iter().map(|(key, _)| key.tid)));
        notes.extend(calls.note("combinations of function, caller and thread"));
        notes.extend(sections.note());
        notes.extend(self.stacks.note());
        notes
    }
}

impl Analysis for Jni {
    fn lens(&self) -> Lens {
        Lens::Jni
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.calls.sum_up(ended);
        self.sections.sum_up(ended);
        self.stacks.sum_up(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.stacks.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        let tid = event.tid;
        match event.payload {
            Payload::JniCall { function, caller, total_ns, inner_ns, depth: _, wanted: true } => {
                let sums = self.calls.entry(Key { function, caller, tid });
                sums.calls += 1;
                let Some(total_ns) = total_ns else { return };
                let self_ns = total_ns.saturating_sub(inner_ns);
                sums.record(total_ns, self_ns);
                if event.stack != StackId::default() {
                    self.stacks.add_at(event.stack, tid, self_ns, event.time_ns);
                }
            }
            Payload::JniSection { function, caller, lasted_ns, wanted: true } => {
                self.sections.record(Key { function, caller, tid }, lasted_ns);
            }
            _ => {}
        }
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.tallies = tallies.jni.clone();
    }

    fn section(&self, context: Context<'_>) -> Section {
        let calls = self.all_calls();
        let sections = self.sections.with(&self.tallies, context.span);
        let all = calls.grouped(|_| Some(())).total();
        let critical = sections.total();
        let Critical { sections: count, total_ns, longest_ns, open, open_ns } = critical;
        let summary = Summary::new()
            .int("calls", all.calls)
            .int("total_ns", all.self_ns)
            .int("functions", tables::functions_called(&calls))
            .int("critical_sections", count)
            .int("critical_ns", total_ns)
            .int("critical_longest_ns", longest_ns)
            .int("critical_open", open)
            .int("critical_open_ns", open_ns);
        let mut shapes =
            vec![tables::functions(&calls), tables::callers(&calls, context), tables::threads(&calls, context)];
        shapes.extend(balance::table(calls.iter().map(|(key, sums)| (key.function, sums.calls))));
        shapes.extend(sections.shapes(context));
        shapes.extend(self.stacks.shape("jni_stacks", "Time in JNI functions by stack", Unit::Ns, context));
        let notes = self.notes(&calls, &sections);
        Section { id: Lens::Jni.id(), title: "JNI".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;
