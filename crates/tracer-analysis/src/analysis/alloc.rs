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

pub use self::buffers::Buffers;
pub(super) use self::exact::Counted;
use self::exact::{Exact, woven};
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
    table::{Keyed, Merge, column},
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

/// Samples of a class, or of all.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    tlabs: u64,
    /// Bytes in TLABs that samples stand for.
    tlab_bytes: u64,
    /// Sum of their squares.
    squares: f64,
    outside: u64,
    outside_bytes: u64,
    largest_object_bytes: u64,
}

impl Sampled {
    fn tlab(&mut self, tlab_bytes: u64, object_bytes: u64) {
        self.tlabs += 1;
        self.in_tlabs(tlab_bytes);
        self.largest_object_bytes = self.largest_object_bytes.max(object_bytes);
    }

    fn in_tlabs(&mut self, bytes: u64) {
        self.tlab_bytes = self.tlab_bytes.saturating_add(bytes);
        self.squares += (bytes as f64) * (bytes as f64);
    }

    /// One that stands for so many, and for bytes in TLABs besides.
    fn outside(&mut self, object_bytes: u64, tlab_bytes: u64, stands_for: u64) {
        self.outside += 1;
        self.in_tlabs(tlab_bytes.saturating_mul(stands_for));
        self.outside_bytes = self.outside_bytes.saturating_add(object_bytes.saturating_mul(stands_for));
        if stands_for > 1 {
            let bytes = object_bytes.saturating_mul(stands_for) as f64;
            self.squares += bytes * bytes;
        }
        self.largest_object_bytes = self.largest_object_bytes.max(object_bytes);
    }

    const fn samples(&self) -> u64 {
        self.tlabs + self.outside
    }

    const fn estimated_bytes(&self) -> u64 {
        self.tlab_bytes.saturating_add(self.outside_bytes)
    }

    /// Relative standard error of the estimate; nothing where there is no estimate.
    fn error_percent(&self) -> Option<f64> {
        let estimated = self.estimated_bytes() as f64;
        (estimated > 0.0).then(|| 100.0 * self.squares.sqrt() / estimated)
    }
}

impl Merge for Sampled {
    fn merge(&mut self, other: &Self) {
        self.tlabs += other.tlabs;
        self.tlab_bytes = self.tlab_bytes.saturating_add(other.tlab_bytes);
        self.squares += other.squares;
        self.outside += other.outside;
        self.outside_bytes = self.outside_bytes.saturating_add(other.outside_bytes);
        self.largest_object_bytes = self.largest_object_bytes.max(other.largest_object_bytes);
    }
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
        self.sites.grouped(|key| Some(place(*key, context))).table(
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
            ],
            Sampled::estimated_bytes,
            |(class, site)| vec![class.into(), site.into()],
            |row| {
                let bytes = row.estimated_bytes();
                let share = (total > 0.0).then(|| 100.0 * bytes as f64 / total);
                vec![
                    row.samples().into(),
                    bytes.into(),
                    share.into(),
                    row.error_percent().into(),
                    knows_objects.then_some(row.outside_bytes).into(),
                    knows_objects.then_some(row.largest_object_bytes).into(),
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
mod tests {
    use super::{
        super::testing::{Play, cells, first_keys, is_close, numbers, profile_rows},
        *,
    };

    #[test]
    fn equal_tlabs_have_an_error_of_100_over_root_n() {
        let mut play = Play::default();
        let (bytes, cart, big) = (play.name("[B"), play.name("com/shop/Cart"), play.name("[Lcom/shop/Cart;"));
        let tlab = |class| Payload::AllocInNewTlab { class, tlab_bytes: 1000, object_bytes: 24 };
        let mut events = vec![(1, 7, tlab(bytes)); 16];
        events.extend([(2, 7, tlab(cart)); 4]);
        events.push((3, 8, Payload::AllocOutsideTlab { class: big, object_bytes: 5000 }));
        let section = play.section(&mut Alloc::default(), 500, &events);
        assert_eq!(first_keys(&section, 3), ["samples", "estimated_bytes", "estimated_bytes_per_s"]);
        assert_eq!(numbers(&section, ["samples", "estimated_bytes", "outside_tlab_bytes"]), [21, 25_000, 5000]);
        assert!(is_close(&section, "estimated_bytes_per_s", 50_000.0));
        assert_eq!(
            cells(&section, "classes", ["class", "samples", "estimated_bytes", "share_percent", "error_percent"]),
            [
                ["byte[]", "16", "16000", "64.0", "25.0"],
                ["com.shop.Cart[]", "1", "5000", "20.0", "0.0"],
                ["com.shop.Cart", "4", "4000", "16.0", "50.0"]
            ]
        );
        assert!(section.notes[0].starts_with("An estimate"));
    }

    #[test]
    fn places_have_the_same_estimate_as_classes() {
        let mut play = Play::default();
        let (bytes, cart) = (play.name("[B"), play.name("com/shop/Cart"));
        let read = play.stack(&["com.shop.Main.main:3", "java.io.InputStream.readAllBytes:400"]);
        let add = play.stack(&["com.shop.Main.main:4", "com.shop.Cart.add:12"]);
        let tlab = |class| Payload::AllocInNewTlab { class, tlab_bytes: 1000, object_bytes: 24 };
        let mut events = vec![(1, 7, read, tlab(bytes)); 4];
        events.extend([(2, 7, add, tlab(bytes)), (3, 7, add, tlab(cart))]);
        events.push((4, 8, read, Payload::AllocOutsideTlab { class: bytes, object_bytes: 6000 }));
        let section = play.section_of_stacks(&mut Alloc::default(), 1000, &events);
        assert_eq!(
            cells(&section, "sites", ["class", "site", "samples", "estimated_bytes", "share_percent", "error_percent"]),
            [
                ["byte[]", "com.shop.Main.main:3", "5", "10000", "83.3", "20.0"],
                ["byte[]", "com.shop.Cart.add:12", "1", "1000", "8.3", "100.0"],
                ["com.shop.Cart", "com.shop.Cart.add:12", "1", "1000", "8.3", "100.0"]
            ]
        );
        let rows: Vec<_> =
            profile_rows(&section, "allocation_stacks").into_iter().map(|row| (row.1, row.2, row.3)).collect();
        assert_eq!(rows, [("tid 8".to_owned(), 6000, 1), ("tid 7".to_owned(), 4000, 4), ("tid 7".to_owned(), 2000, 2)]);
    }

    /// Of the samples that go without, nothing is in the tables by place; those with a stack stand for all.
    #[test]
    fn a_stack_stands_for_the_samples_that_went_without() {
        let mut play = Play::default();
        let bytes = play.name("[B");
        let add = play.stack(&["com.shop.Main.main:4", "com.shop.Cart.add:12"]);
        let mut alloc = Alloc::default();
        let what = crate::item::Narrowing::FewerStacks { one_in: 4 };
        alloc.guard(&GuardAction {
            time_ns: 0,
            group: "alloc".to_owned(),
            sites: vec![0],
            lens: Lens::Alloc,
            action: crate::item::GuardDecision::Narrow { what, rate_per_s: 1 },
            reason: None,
            pause_ns: None,
        });
        let tlab = Payload::AllocInNewTlab { class: bytes, tlab_bytes: 1000, object_bytes: 24 };
        let without = StackId::default();
        let events = [(1, 7, add, tlab), (2, 7, without, tlab), (3, 7, without, tlab), (4, 7, without, tlab)];
        let section = play.section_of_stacks(&mut alloc, 1000, &events);
        assert_eq!(numbers(&section, ["samples", "estimated_bytes"]), [4, 4000]);
        assert_eq!(
            cells(&section, "sites", ["class", "site", "samples", "estimated_bytes", "share_percent"]),
            [["byte[]", "com.shop.Cart.add:12", "1", "4000", "100.0"]]
        );
        let rows: Vec<_> = profile_rows(&section, "allocation_stacks").into_iter().map(|row| (row.2, row.3)).collect();
        assert_eq!(rows, [(4000, 4)]);
    }

    #[test]
    fn sizes_that_cannot_be_do_no_harm() {
        let mut play = Play::default();
        let class = play.name("A");
        let tlab = Payload::AllocInNewTlab { class, tlab_bytes: u64::MAX, object_bytes: u64::MAX };
        let section = play.section(&mut Alloc::default(), 1000, &[(1, 7, tlab), (2, 7, tlab)]);
        assert_eq!(numbers(&section, ["samples", "estimated_bytes"]), [2, u64::MAX]);
    }
}
