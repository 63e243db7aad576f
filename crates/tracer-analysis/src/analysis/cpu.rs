//! Lens `cpu`: which code runs, out of samples that a clock takes of the threads that run at its ticks.
//!
//! Samples are kept by stack and thread; what the stacks are called is looked up when the section is built.

mod places;
mod seen;

use std::collections::BTreeMap;

use super::{
    Analysis, Context, Lens,
    ended::EndedThreads,
    method::{self, Beside, Measure, interval_percent},
    profile::{Amount, Amounts},
    rare::Replaced,
    row_steps,
    spread::Spread,
    stack_steps::StackSteps,
    state::{Role, State},
    table::{Merge, OTHERS, REPORT_ROWS, column},
};
use crate::{
    event::{Event, Payload, StackId, Tid},
    report::{Cell, Section, Series, Shape, Summary, Table, TableSteps, Timeline, Unit},
    stack::{Frame, Stacks},
    text::format,
};
pub(super) use places::telling;
use seen::{Counts, Seen};

/// Whether what a sample was doing can depend on what this frame is called.
pub(super) fn means_something(frame: &Frame) -> bool {
    places::Work::of(frame).is_some()
}

/// State of the lens.
#[derive(Debug, Default)]
pub struct Cpu {
    samples: u64,
    sampled_ns: u64,
    /// Shortest and longest time that a sample stands for.
    periods_ns: Option<(u64, u64)>,
    amounts: Amounts,
    beside: Beside,
    steps: Spread<(StackId, Tid)>,
    stack_steps: StackSteps,
}

impl Cpu {
    fn sample(&mut self, event: &Event, period_ns: u64) {
        self.samples += 1;
        self.sampled_ns = self.sampled_ns.saturating_add(period_ns);
        let (shortest, longest) = self.periods_ns.unwrap_or((period_ns, period_ns));
        self.periods_ns = Some((shortest.min(period_ns), longest.max(period_ns)));
        self.amounts.add(event.stack, event.tid, period_ns);
        self.steps.add((event.stack, event.tid), event.time_ns, 1);
        self.stack_steps.add(event.stack, event.tid, event.time_ns, 1);
    }

    fn summary(&self, counts: &Counts) -> Summary {
        Summary::new()
            .int("samples", self.samples)
            .int("stacks", counts.stacks)
            .int("java_samples", counts.java)
            .int("unwound_to_root", counts.java_to_root)
            .int("unknown_frames", counts.unknown_frames)
            .int("frames", counts.frames)
            .int("without_stack", counts.without_stack)
            .int("java_threads_samples", counts.by_role(Role::Java))
            .int("java_threads_to_root", counts.java_threads_to_root)
            .int("gc_threads_samples", counts.by_role(Role::Gc))
            .int("jit_threads_samples", counts.by_role(Role::Jit))
            .int("sampled_ns", self.sampled_ns)
    }

    fn notes(&self, context: Context<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((shortest, longest)) = self.periods_ns {
            let period = if longest == 0 {
                "of a thread that ran; how much time one stands for is not known".to_owned()
            } else if context.target.recorder.is_some() {
                format!("for {} of a thread", format::duration(longest))
            } else if shortest == longest {
                format!("every {} of a CPU's time ({})", format::duration(longest), hertz(longest))
            } else {
                format!("every {} to {} of a CPU's time", format::duration(shortest), format::duration(longest))
            };
            notes.push(format!(
                "An estimate out of samples, one {period}: a thread that does not run is not seen. With {}, a share of \
                 50 % is known to ±{} with 95 % confidence, as if samples were independent of each other; \
                 `self_interval_percent` says it for each method.",
                format::plural(self.samples, "sample", "samples"),
                interval_percent(self.samples / 2, self.samples).map_or_else(|| "?".to_owned(), format::percent),
            ));
        }
        notes.extend(self.amounts.note());
        notes
    }

    fn states_table(&self, counts: &Counts) -> Shape {
        let rows = State::ALL.into_iter().map(|state| (state.title(), counts.by_state(state)));
        shares(
            "states",
            "Samples by what threads did",
            column("state", "State", Unit::Text),
            rows.filter(|(_, samples)| *samples > 0).map(|(title, samples)| (title.to_owned(), samples)).collect(),
            self.samples,
        )
    }

    fn timeline(&self, context: Context<'_>, seen: &Seen<'_>) -> Shape {
        const STATES: usize = State::ALL.len();
        let place = |state: State| State::ALL.iter().position(|known| *known == state).unwrap_or(STATES - 1);
        let (step_ns, values) = self.steps.series::<STATES>(context.span, |(stack, tid)| place(seen.state(stack, tid)));
        let series = State::ALL
            .into_iter()
            .zip(values)
            .map(|(state, values)| Series { key: state.key(), title: state.title().to_owned(), values })
            .collect();
        Shape::Timeline(Timeline {
            id: "samples_by_state",
            title: "Samples per step".to_owned(),
            unit: Unit::Count,
            step_ns,
            levels: false,
            series,
        })
    }
}

/// `99 Hz`.
fn hertz(period_ns: u64) -> String {
    if period_ns == 0 { "an unknown rate".to_owned() } else { format!("{:.0} Hz", 1e9 / period_ns as f64) }
}

/// Samples and their shares, the most first.
fn shares(
    id: &'static str,
    title: &str,
    first: crate::report::Column,
    mut rows: Vec<(String, u64)>,
    all: u64,
) -> Shape {
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let cells = rows.into_iter().map(|(label, samples)| {
        let percent = 100.0 * samples as f64 / all.max(1) as f64;
        vec![label.into(), samples.into(), percent.into(), interval_percent(samples, all).into()]
    });
    let columns = vec![
        first,
        column("samples", "Samples", Unit::Count),
        column("share_percent", "Share", Unit::Percent),
        column("interval_percent", "±", Unit::Percent),
    ];
    Shape::Table(Table { id, title: title.to_owned(), columns, rows: cells.collect() })
}

fn threads_table(seen: &Seen<'_>, all: u64) -> Shape {
    let mut threads: Vec<_> = seen.threads().collect();
    threads.sort_by(|(a_tid, a), (b_tid, b)| b.samples.count.cmp(&a.samples.count).then_with(|| a_tid.cmp(b_tid)));
    let rest = threads.split_off(threads.len().min(REPORT_ROWS));
    let share = |samples: u64| Cell::from(100.0 * samples as f64 / all.max(1) as f64);
    let mut rows: Vec<Vec<Cell>> = threads
        .into_iter()
        .map(|(tid, thread)| {
            let Amount { value, count } = thread.samples;
            let name = thread.name.as_str().into();
            let role = thread.role.title().into();
            let value = (value > 0 || all == 0).then_some(value);
            vec![name, u64::from(tid.0).into(), role, count.into(), share(count), value.into()]
        })
        .collect();
    if !rest.is_empty() {
        let mut samples = Amount::default();
        for (_, thread) in rest {
            samples.merge(&thread.samples);
        }
        let Amount { value, count } = samples;
        rows.push(vec![OTHERS.into(), Cell::Missing, Cell::Missing, count.into(), share(count), value.into()]);
    }
    let columns = vec![
        column("thread", "Thread", Unit::Text),
        column("tid", "Thread id", Unit::Count),
        column("role", "Kind", Unit::Text),
        column("samples", "Samples", Unit::Count),
        column("share_percent", "Share", Unit::Percent),
        column("sampled_ns", "CPU time", Unit::Ns),
    ];
    Shape::Table(Table { id: "threads", title: "Samples by thread".to_owned(), columns, rows })
}

impl Analysis for Cpu {
    fn lens(&self) -> Lens {
        Lens::Cpu
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        if self.amounts.sum_up(ended) {
            self.steps.sum_up(ended);
            self.stack_steps.sum_up(ended);
        }
    }

    fn stack_amounts(&self) -> Vec<(StackId, u64)> {
        self.amounts.stack_amounts()
    }

    fn replace_stacks(&mut self, replaced: &Replaced, stacks: &Stacks) {
        self.beside.replace(stacks, replaced, self.amounts.iter().map(|(stack, _, amount)| (stack, amount)));
        self.amounts.replace_stacks(replaced);
        self.steps.replace_stacks(replaced);
        self.stack_steps.replace_stacks(replaced);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.stack_steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        if let Payload::CpuSample { period_ns } = event.payload {
            self.sample(event, period_ns);
        }
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let seen = Seen::new(context, &self.amounts);
        let names: BTreeMap<Tid, (String, &str)> =
            seen.threads().map(|(tid, thread)| (tid, (thread.name.clone(), thread.role.title()))).collect();
        let id = |table| (Lens::Cpu.id(), table);
        let thread = |(_, tid): (StackId, Tid)| (names.get(&tid).cloned().unwrap_or_default(), tid);
        let of_thread =
            |((name, role), tid): ((String, &str), Tid)| vec![name.into(), u64::from(tid.0).into(), role.into()];
        let state = |(stack, tid)| seen.state(stack, tid).title();
        vec![
            row_steps::of_amounts(id("threads"), "samples", self.steps.entries(), thread, of_thread),
            row_steps::of_amounts(id("states"), "samples", self.steps.entries(), state, |state| vec![state.into()]),
        ]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let seen = Seen::new(context, &self.amounts);
        let counts = seen.counts(&self.amounts);
        let methods =
            method::rows(context.stacks, &self.beside, self.amounts.iter().map(|(stack, _, amount)| (stack, amount)));
        let mut shapes = vec![
            method::table("methods", "Methods by samples", Measure::Samples(self.samples), &methods),
            threads_table(&seen, self.samples),
            self.states_table(&counts),
            shares(
                "code",
                "Samples in Java by how the method ran",
                column("code", "Code", Unit::Text),
                counts.code.iter().map(|(code, samples)| ((*code).to_owned(), *samples)).collect(),
                counts.by_state(State::Java),
            ),
            self.timeline(context, &seen),
            shares(
                "ends",
                "Stacks that do not reach their thread's root",
                column("reason", "Reason", Unit::Text),
                counts.ends.iter().map(|(reason, samples)| (reason.clone(), *samples)).collect(),
                self.samples,
            ),
        ];
        shapes.extend(places::tables(context.stacks, &self.amounts, self.samples));
        shapes.extend(self.amounts.shape_of_counts("samples", "Samples by stack", context, &self.stack_steps));
        Section {
            id: Lens::Cpu.id(),
            title: "CPU".to_owned(),
            summary: self.summary(&counts),
            notes: self.notes(context),
            shapes,
        }
    }
}

#[cfg(test)]
mod tests;
