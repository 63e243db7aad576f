//! Lens `exceptions`: which exceptions are made, where, and how deep the stacks are that the JVM writes into them.
//!
//! An event says that the JVM writes a stack trace into an exception, which the constructors of `Throwable` make it do. Exceptions
//! that are made without one (`writableStackTrace` false, `fillInStackTrace` overridden, those that C2 keeps ready) cost next to
//! nothing and are not seen.

mod caught;
mod woven;

use self::caught::Way;
use super::{
    Analysis, Context, Lens, Scaled,
    ended::EndedThreads,
    profile::Amounts,
    row_steps::{Amount, Timed},
    scaled::{extrapolated, scaled},
    site,
    steps::{SECOND_NS, Steps},
    table::{Keyed, Merge, column},
    woven::Woven,
};
use crate::{
    client::ClientReport,
    event::{Event, NameId, Payload, StackId},
    item::GuardAction,
    mark::{Inside, MarkBatch},
    report::{Cell, Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
    stack::{Frame, Stacks},
};

/// The group of its sites.
const GROUP: &str = "exceptions";
/// Most classes with rows of their own.
const CLASSES: usize = 4096;
/// Most stacks on which memory ran out.
const EXHAUSTED: usize = 1024;
/// Most pairs of class and stack: some 4 MiB.
const SITES: usize = 65_536;

/// The analysis.
#[derive(Debug)]
pub struct Exceptions {
    created: u64,
    classes: Keyed<NameId, u64>,
    /// `OutOfMemoryError`s of the JVM's own.
    exhausted: Keyed<StackId, u64>,
    sites: Keyed<(NameId, StackId), Created>,
    stacks: Amounts,
    class_steps: Timed<NameId>,
    site_steps: Timed<(NameId, StackId)>,
    steps: Steps<1>,
    /// What woven code tells, where that was asked for.
    woven: Woven,
}

/// Exceptions of a class and a place.
#[derive(Clone, Copy, Debug, Default)]
struct Created {
    count: u64,
    /// Those whose stack is known to its root, and the Java frames of all of these.
    whole: u64,
    frames: u64,
    /// Those of which it is known where they are caught, and the Java frames that all of these leave.
    followed: u64,
    unwound: u64,
}

impl Created {
    /// Java frames on the stack of one of them, on average.
    fn mean_frames(&self) -> Option<u64> {
        mean(self.frames, self.whole)
    }

    /// Java frames that one of them leaves, on average.
    fn mean_unwound(&self) -> Option<u64> {
        mean(self.unwound, self.followed)
    }

    /// With the frames of a stack that they all have, and the way that they all go.
    fn measure(&mut self, stacks: &Stacks, stack: StackId, class: &str, way: &Way) {
        if way.end != caught::End::Unknown {
            self.followed = self.count;
            self.unwound = self.count.saturating_mul(way.unwound);
        }
        if stacks.get(stack).is_some_and(|stack| stack.end.root) {
            self.whole = self.count;
            self.frames = self.count.saturating_mul(site::frames_of_thrower(stacks, stack, class).count() as u64);
        }
    }
}

impl Merge for Created {
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.whole = self.whole.saturating_add(other.whole);
        self.frames = self.frames.saturating_add(other.frames);
        self.followed = self.followed.saturating_add(other.followed);
        self.unwound = self.unwound.saturating_add(other.unwound);
    }
}

impl Default for Exceptions {
    fn default() -> Self {
        Self {
            created: 0,
            classes: Keyed::new(CLASSES),
            exhausted: Keyed::new(EXHAUSTED),
            sites: Keyed::new(SITES),
            stacks: Amounts::default(),
            class_steps: Timed::default(),
            site_steps: Timed::default(),
            steps: Steps::default(),
            woven: woven::woven(),
        }
    }
}

impl Exceptions {
    /// The section where code in the JVM tells of exceptions: nothing was counted from outside.
    fn written(&self, report: ClientReport, context: Context<'_>) -> Section {
        let ClientReport { mut summary, notes, shapes } = report;
        let thrown = summary.iter().find(|(key, _)| *key == "thrown").map(|(_, thrown)| thrown.as_f64());
        if let Some(per_s) = thrown.and_then(|thrown| per_s(thrown, context)) {
            summary = summary.float("thrown_per_s", per_s);
        }
        let first = self.woven.code_before().into_iter().chain(self.woven.incomplete());
        let notes = first.chain(notes).collect();
        Section { id: Lens::Exceptions.id(), title: "Exceptions".to_owned(), summary, notes, shapes }
    }

    fn classes_table(&self, context: Context<'_>) -> Shape {
        self.classes.grouped(|class| Some(context.names.class(*class))).table(
            "classes",
            "Exceptions by class",
            vec![
                column("class", "Class", Unit::Text),
                column("created", "Created", Unit::Count),
                column("share_percent", "Share", Unit::Percent),
            ],
            |created| *created,
            |class| vec![class.into()],
            |created| vec![(*created).into(), share(*created, self.created).into()],
        )
    }

    fn sites_table(&self, context: Context<'_>) -> Shape {
        let groups = self.sites.grouped_by(|(class, stack), created| {
            let (label, way) = label(*class, *stack, context);
            created.measure(context.stacks, *stack, &label.0, &way);
            label
        });
        groups.table(
            "sites",
            "Exceptions by class and place",
            vec![
                column("class", "Class", Unit::Text),
                column("site", "Place", Unit::Text),
                column("callers", "Called from", Unit::Text),
                column("caught_at", "Caught at", Unit::Text),
                column("created", "Created", Unit::Count),
                column("share_percent", "Share", Unit::Percent),
                column("mean_frames", "Frames", Unit::Count),
                column("mean_unwound_frames", "Unwound", Unit::Count),
            ],
            |created| created.count,
            labels,
            |created| {
                vec![
                    created.count.into(),
                    share(created.count, self.created).into(),
                    created.mean_frames().into(),
                    created.mean_unwound().into(),
                ]
            },
        )
    }

    fn exhausted_table(&self, context: Context<'_>) -> Shape {
        let place =
            |stack: &StackId| Some((site::label(context.stacks, *stack), site::callers(context.stacks, *stack)));
        self.exhausted.grouped(place).table(
            "out_of_memory",
            "Places where the JVM found no memory",
            vec![
                column("site", "Place", Unit::Text),
                column("callers", "Called from", Unit::Text),
                column("thrown", "Errors", Unit::Count),
            ],
            |thrown| *thrown,
            |(site, callers)| vec![site.into(), callers.into()],
            |thrown| vec![(*thrown).into()],
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Exceptions into which the JVM wrote a stack trace, counted where it does. Those that are made without one are not seen: \
             with `writableStackTrace` false, with `fillInStackTrace` overridden, or kept ready by C2 (`OmitStackTraceInFastThrow`)."
                .to_owned(),
        ];
        if self.created > 0 {
            notes.push(
                "Where they are caught is what the exception tables of the methods on their stacks say. It holds for those that are \
                 thrown where they are made."
                    .to_owned(),
            );
        }
        notes.extend(self.classes.note("classes"));
        notes.extend(self.sites.note("pairs of class and stack"));
        notes.extend(self.exhausted.note("stacks on which memory ran out"));
        notes.extend(self.stacks.note());
        notes
    }
}

/// Class, place, what called that, and where it is caught.
type Label = (String, String, Option<String>, String);

fn label(class: NameId, stack: StackId, context: Context<'_>) -> (Label, Way) {
    let class = context.names.class(class);
    let way = Way::of(context.stacks, stack, &class);
    let place = site::thrower(context.stacks, stack, &class);
    let place = place.map_or_else(|| Stacks::absence(stack).to_owned(), Frame::to_string);
    let callers = site::callers_among(site::frames_of_thrower(context.stacks, stack, &class));
    ((class, place, callers, way.end.to_string()), way)
}

fn labels((class, place, callers, caught): Label) -> Vec<Cell> {
    vec![class.into(), place.into(), callers.into(), caught.into()]
}

/// A number of the whole span, a second.
fn per_s(count: f64, context: Context<'_>) -> Option<f64> {
    let span_ns = context.span.duration_ns;
    (span_ns > 0).then(|| count * SECOND_NS as f64 / span_ns as f64)
}

/// The nearest whole number to a mean.
fn mean(sum: u64, count: u64) -> Option<u64> {
    sum.saturating_add(count / 2).checked_div(count)
}

fn share(count: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| 100.0 * count as f64 / all as f64)
}

impl Analysis for Exceptions {
    fn lens(&self) -> Lens {
        Lens::Exceptions
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.stacks.sum_up(ended);
        self.woven.threads_ended(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.stacks.start(start_ns);
        self.class_steps.start(start_ns);
        self.site_steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        let class = match event.payload {
            Payload::ExceptionCreated { class } => class,
            Payload::OutOfMemory => return *self.exhausted.entry(event.stack) += 1,
            _ => return,
        };
        self.created += 1;
        self.steps.add(0, event.time_ns, 1);
        *self.classes.entry(class) += 1;
        self.class_steps.count(class, event.time_ns, 1);
        // One that has a stack stands for those that went without.
        if let Some(count) = self.stacks.stands_for(event.stack) {
            self.sites.entry((class, event.stack)).count += count;
            self.site_steps.count((class, event.stack), event.time_ns, count);
        }
        self.stacks.add_at(event.stack, event.tid, 1, event.time_ns);
    }

    fn guard(&mut self, action: &GuardAction) {
        if action.group == GROUP
            && let Some(one_in) = action.stacks_of()
        {
            self.stacks.fewer(one_in);
        }
        self.woven.guard(action);
    }

    fn inside(&mut self, inside: &Inside) {
        self.woven.inside(inside);
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        self.woven.marks(batch);
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        if group != GROUP {
            return self.woven.scaled(group);
        }
        let per_s = Some(extrapolated!("created_per_s"));
        vec![Scaled { per_s, ..scaled!("created", "exceptions", self.created) }]
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let columns = [("created", Amount::Count)];
        let id = |table| (Lens::Exceptions.id(), table);
        let class = |class: &NameId| Some(context.names.class(*class));
        let place = |(class, stack): &(NameId, StackId)| Some(label(*class, *stack, context).0);
        vec![
            self.class_steps.table(id("classes"), &columns, class, |class| vec![class.into()]),
            self.site_steps.table(id("sites"), &columns, place, labels),
        ]
    }

    fn section(&self, context: Context<'_>) -> Section {
        if let Some(report) = self.woven.report(context) {
            return self.written(report, context);
        }
        let mut summary = Summary::new().int("created", self.created);
        if let Some(per_s) = per_s(self.created as f64, context) {
            summary = summary.float("created_per_s", per_s);
        }
        let exhausted = self.exhausted.iter().map(|(_, thrown)| *thrown).sum();
        summary = summary.int("out_of_memory", exhausted);
        let (step_ns, [created]) = self.steps.series(context.span);
        let mut shapes = vec![self.classes_table(context)];
        if site::any_asked(self.sites.iter().map(|((_, stack), _)| *stack)) {
            shapes.push(self.sites_table(context));
        }
        if exhausted > 0 {
            shapes.push(self.exhausted_table(context));
        }
        shapes.push(Shape::Timeline(Timeline {
            id: "exceptions",
            title: "Exceptions per step".to_owned(),
            unit: Unit::Count,
            step_ns,
            levels: false,
            series: vec![Series { key: "created", title: "Created".to_owned(), values: created }],
        }));
        shapes.extend(self.stacks.shape("exception_stacks", "Exceptions by stack", Unit::Count, context));
        Section { id: Lens::Exceptions.id(), title: "Exceptions".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests;
