//! Lens `alloc`: how much is allocated, by class, estimated from the refills of thread-local allocation buffers (TLABs).
//!
//! An object that does not fit into its thread's TLAB is seen: either it gets a new TLAB, or it is allocated outside of
//! any. What it stands for of the bytes in TLABs `buffers` says; bytes outside are known exactly.
//!
//! Its error: samples of `b_i` bytes that hit independently have a standard error of `sqrt(sum b_i^2)`, relative to the
//! class's estimate; with n TLABs of equal size that is `100 / sqrt(n)` per cent. Bytes outside of TLABs have no error.
//!
//! In exact mode every object is seen, see `exact`; then its numbers come first.

mod buffers;
mod exact;
mod sampled;

use std::collections::BTreeMap;

pub use self::buffers::Buffers;
pub(super) use self::exact::Counted;
use self::{
    exact::{Exact, woven},
    sampled::{Placed, Sampled},
};
use super::{
    Analysis, Context, Lens, Scaled,
    covered::Covered,
    distribution::Durations,
    ended::EndedThreads,
    profile::Amounts,
    rare::Replaced,
    row_steps::{Amount, Timed},
    scaled::{extrapolated, scaled},
    site,
    steps::{SECOND_NS, Steps},
    table::{Groups, Keyed, Merge as _, column},
    woven::Woven,
};
use crate::{
    client::ClientReport,
    coverage::Coverage,
    event::{Event, NameId, Payload, StackId},
    group::OBJECTS_GROUP,
    item::GuardAction,
    mark::{Inside, MarkBatch},
    report::{Cell, Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
    tally::Tallies,
};

/// Most classes with rows of their own.
const CLASSES: usize = 4096;
/// Most pairs of class and stack: some 10 MiB.
const SITES: usize = 65_536;

/// The analysis.
#[derive(Debug)]
pub struct Alloc {
    total: Sampled,
    classes: Keyed<NameId, Sampled>,
    sites: Keyed<(NameId, StackId), Sampled>,
    buffers: Buffers,
    stacks: Amounts,
    steps: Steps<1>,
    class_steps: Timed<NameId>,
    site_steps: Timed<(NameId, StackId)>,
    exact: Exact,
    covered: Covered,
    /// Objects in the lane inside.
    woven: Woven,
}

impl Default for Alloc {
    fn default() -> Self {
        Self {
            total: Sampled::default(),
            classes: Keyed::new(CLASSES),
            sites: Keyed::new(SITES),
            buffers: Buffers::default(),
            stacks: Amounts::default(),
            steps: Steps::default(),
            class_steps: Timed::default(),
            site_steps: Timed::default(),
            exact: Exact::default(),
            covered: Covered::default(),
            woven: woven(),
        }
    }
}

impl Alloc {
    fn classes_table(&self, context: Context<'_>) -> Shape {
        let total = self.total.estimated_bytes() as f64;
        let knows_objects = knows_objects(context);
        self.classes.grouped(|class| Some(context.names.class(*class))).table(
            "classes",
            "Allocation by class, estimated",
            vec![
                column("class", "Class", Unit::Text),
                column("samples", "Samples", Unit::Count),
                column("estimated_bytes", "Bytes", Unit::Bytes),
                column("share_percent", "Share", Unit::Percent),
                column("error_percent", "Error", Unit::Percent),
                column("outside_tlab_bytes", "Outside TLABs", Unit::Bytes),
                column("largest_object_bytes", "Largest object", Unit::Bytes),
            ],
            Sampled::estimated_bytes,
            |class| vec![class.into()],
            |row| {
                let bytes = row.estimated_bytes();
                let share = (total > 0.0).then(|| 100.0 * bytes as f64 / total);
                vec![
                    Cell::Int(row.samples()),
                    bytes.into(),
                    share.into(),
                    row.error_percent().into(),
                    knows_objects.then_some(row.outside_bytes).into(),
                    knows_objects.then_some(row.largest_object_bytes).into(),
                ]
            },
        )
    }

    fn sites_table(&self, context: Context<'_>) -> Shape {
        let total = self.total.estimated_bytes() as f64;
        let knows_objects = knows_objects(context);
        let mut rows: BTreeMap<(String, String), Placed> = BTreeMap::new();
        for (key, sampled) in self.sites.iter() {
            rows.entry(place(*key, context)).or_default().merge(&Placed::new(*sampled, key.1));
        }
        let others = self.sites.others().map(|sampled| Placed::new(*sampled, StackId::default()));
        Groups { rows, others }.table(
            "sites",
            "Allocation by class and place, estimated",
            vec![
                column("class", "Class", Unit::Text),
                column("site", "Place", Unit::Text),
                column("samples", "Samples", Unit::Count),
                column("estimated_bytes", "Bytes", Unit::Bytes),
                column("share_percent", "Share", Unit::Percent),
                column("error_percent", "Error", Unit::Percent),
                column("outside_tlab_bytes", "Outside TLABs", Unit::Bytes),
                column("largest_object_bytes", "Largest object", Unit::Bytes),
                column("callers", "From", Unit::Text),
            ],
            |placed| placed.sampled.estimated_bytes(),
            |(class, site)| vec![class.into(), site.into()],
            |placed| {
                let row = &placed.sampled;
                let bytes = row.estimated_bytes();
                let share = (total > 0.0).then(|| 100.0 * bytes as f64 / total);
                vec![
                    row.samples().into(),
                    bytes.into(),
                    share.into(),
                    row.error_percent().into(),
                    knows_objects.then_some(row.outside_bytes).into(),
                    knows_objects.then_some(row.largest_object_bytes).into(),
                    site::callers(context.stacks, placed.most.1).map_or(Cell::Missing, Cell::from),
                ]
            },
        )
    }

    fn keep_times(&mut self, event: &Event, class: NameId, bytes: u64) {
        let one = |bytes| Durations { count: 1, total_ns: bytes, max_ns: 0 };
        self.class_steps.add(class, event.time_ns, one(bytes));
        if let Some(one_in) = self.stacks.stands_for(event.stack) {
            self.site_steps.add((class, event.stack), event.time_ns, one(bytes.saturating_mul(one_in)));
        }
    }

    /// What is more the longer refills of TLABs are seen.
    fn samples(&self) -> Vec<Scaled> {
        let per_s = Some(extrapolated!("estimated_bytes_per_s"));
        let bytes = scaled!("estimated_bytes", "Allocation", self.total.estimated_bytes()).in_bytes();
        vec![
            Scaled { per_s, ..bytes },
            scaled!("samples", "samples", self.total.samples()),
            scaled!("outside_tlab_samples", "samples outside of TLABs", self.total.outside),
            scaled!("outside_tlab_bytes", "Allocation outside of TLABs", self.total.outside_bytes).in_bytes(),
        ]
    }

    fn notes(&self, context: Context<'_>) -> Vec<String> {
        if !knows_objects(context) {
            let mut notes = vec![
                "An estimate from the recorder's samples: each stands for the bytes that its thread has allocated since \
                 the one before, whatever their classes. `error_percent` is the relative standard error of a class's \
                 estimate."
                    .to_owned(),
            ];
            notes.extend(self.limits());
            return notes;
        }
        let mut notes = vec![
            "An estimate from objects that did not fit into their thread's TLAB: the first of each TLAB stands for nearly \
             all bytes of it, an object outside of TLABs for its own bytes exactly besides."
                .to_owned(),
            "`error_percent` is the relative standard error of a class's estimate, 100 * sqrt(sum of squared TLAB \
             bytes) / estimated bytes; with n TLABs of equal size that is 100 / sqrt(n)."
                .to_owned(),
            "TLABs count in full when they end, with what was allocated in them before the span, and without those that \
             are in use at its end; so does what is left unused in TLABs that are given up early."
                .to_owned(),
        ];
        notes.push(
            "Shares by class suppose that a TLAB's end may meet any object. A loop that allocates the same sequence of \
             sizes over and over can bring it to the same object each time, which then gets the others' share. Where \
             objects are a good part of a TLAB, shares can be off by a tenth."
                .to_owned(),
        );
        notes.extend(self.limits());
        notes
    }

    /// What found no room.
    fn limits(&self) -> impl Iterator<Item = String> {
        let notes = [self.classes.note("classes"), self.sites.note("pairs of class and stack"), self.stacks.note()];
        notes.into_iter().flatten()
    }
}

/// Whether samples tell of objects: those of a flight recorder's sampler tell of bytes.
fn knows_objects(context: Context<'_>) -> bool {
    context.target.knows(Lens::Alloc, "outside_tlab_bytes")
}

/// A class, and the place in the program where it is allocated.
fn place((class, stack): (NameId, StackId), context: Context<'_>) -> (String, String) {
    (context.names.class(class), site::label(context.stacks, stack))
}

impl Analysis for Alloc {
    fn lens(&self) -> Lens {
        Lens::Alloc
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &crate::stack::Stacks) {
        self.covered.replace_stacks(replaced);
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.buffers.threads_ended(ended);
        self.stacks.sum_up(ended);
        self.exact.threads_ended(ended);
        self.woven.threads_ended(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.stacks.start(start_ns);
        self.class_steps.start(start_ns);
        self.site_steps.start(start_ns);
        self.exact.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        self.covered.event(event);
        match event.payload {
            Payload::AllocInNewTlab { class, tlab_bytes, object_bytes } => {
                let tlab_bytes = self.buffers.refilled(event.tid, tlab_bytes, object_bytes);
                self.total.tlab(tlab_bytes, object_bytes);
                self.classes.entry(class).tlab(tlab_bytes, object_bytes);
                if let Some(one_in) = self.stacks.stands_for(event.stack) {
                    self.sites.entry((class, event.stack)).tlab(tlab_bytes.saturating_mul(one_in), object_bytes);
                }
                self.keep_times(event, class, tlab_bytes);
                self.stacks.add_at(event.stack, event.tid, tlab_bytes, event.time_ns);
                self.steps.add(0, event.time_ns, tlab_bytes);
            }
            Payload::AllocOutsideTlab { class, object_bytes } => {
                let tlab_bytes = self.buffers.refused(event.tid, object_bytes);
                self.total.outside(object_bytes, tlab_bytes, 1);
                self.classes.entry(class).outside(object_bytes, tlab_bytes, 1);
                if let Some(one_in) = self.stacks.stands_for(event.stack) {
                    self.sites.entry((class, event.stack)).outside(object_bytes, tlab_bytes, one_in);
                }
                let bytes = object_bytes.saturating_add(tlab_bytes);
                self.keep_times(event, class, bytes);
                self.stacks.add_at(event.stack, event.tid, bytes, event.time_ns);
                self.steps.add(0, event.time_ns, bytes);
            }
            _ => self.exact.event(event),
        }
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.exact.tallies(tallies);
    }

    fn headline(&self, context: Context<'_>) -> Option<String> {
        self.covered.headline(Lens::Alloc, context)
    }

    fn coverage(&mut self, coverage: &Coverage) {
        if coverage.objects {
            self.covered.take(coverage);
        }
    }

    fn guard(&mut self, action: &GuardAction) {
        if action.group == "alloc" {
            if let Some(one_in) = action.stacks_of() {
                self.stacks.fewer(one_in);
            }
            if action.hides_ends() {
                self.buffers.forget();
            }
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
        match group {
            OBJECTS_GROUP => self.exact.scaled(),
            "alloc" => self.samples(),
            _ => self.woven.scaled(group),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        let of_samples = matches!(shape, "classes" | "sites" | "allocation" | "allocation_stacks");
        of_samples == (group != OBJECTS_GROUP && self.woven.marker(group).is_none())
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let columns = [("samples", Amount::Count), ("estimated_bytes", Amount::Total)];
        let id = |table| (Lens::Alloc.id(), table);
        let class = |class: &NameId| Some(context.names.class(*class));
        let labels = |(class, site): (String, String)| vec![class.into(), site.into()];
        vec![
            self.class_steps.table(id("classes"), &columns, class, |class| vec![class.into()]),
            self.site_steps.table(id("sites"), &columns, |key| Some(place(*key, context)), labels),
        ]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let estimated = self.total.estimated_bytes();
        let mut summary = Summary::new().int("samples", self.total.samples()).int("estimated_bytes", estimated);
        if context.span.duration_ns > 0 {
            let rate = estimated as f64 * SECOND_NS as f64 / context.span.duration_ns as f64;
            summary = summary.float("estimated_bytes_per_s", rate);
        }
        let summary =
            summary.int("outside_tlab_samples", self.total.outside).int("outside_tlab_bytes", self.total.outside_bytes);
        let (step_ns, [bytes]) = self.steps.series(context.span);
        let mut shapes = vec![
            self.classes_table(context),
            Shape::Timeline(Timeline {
                id: "allocation",
                title: "Allocation per step, estimated".to_owned(),
                unit: Unit::Bytes,
                step_ns,
                levels: false,
                series: vec![Series { key: "estimated_bytes", title: "Allocated".to_owned(), values: bytes }],
            }),
        ];
        if site::any_asked(self.sites.iter().map(|((_, stack), _)| *stack)) {
            shapes.insert(1, self.sites_table(context));
        }
        let title = "Allocation by stack, estimated";
        shapes.extend(self.stacks.shape("allocation_stacks", title, Unit::Bytes, context));
        let written = self.woven.report(context);
        let (is_exact, has_samples) = (self.exact.is_on() || written.is_some(), self.total.samples() > 0);
        let title = if is_exact { "Allocation" } else { "Allocation (estimate)" }.to_owned();
        let mut section = Section { id: Lens::Alloc.id(), title, summary, notes: self.notes(context), shapes };
        if is_exact {
            if !has_samples {
                // There is no estimate beside the truth: nothing to say about how it came about.
                (section.notes, section.shapes) = (Vec::new(), Vec::new());
            }
            match written {
                Some(ClientReport { summary, notes, shapes }) => {
                    section.summary = summary.followed_by(std::mem::take(&mut section.summary));
                    section.notes.splice(0..0, self.woven.incomplete().into_iter().chain(notes));
                    section.shapes.splice(0..0, shapes.into_iter().filter(|shape| !shape.is_empty()));
                }
                None => self.exact.add_to(&mut section, context),
            }
        }
        // What was not seen may be all there was, so it comes before what was.
        let mut notes = Vec::new();
        let missed = self.covered.shape(context, &mut notes);
        section.notes.splice(0..0, notes);
        section.shapes.splice(0..0, missed);
        section
    }
}

#[cfg(test)]
mod tests;
