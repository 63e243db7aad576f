//! Lens `classes`: classes loaded and unloaded, storms of loading, and their initialisation with its errors.

mod loading;

use super::{
    Analysis, Context, Lens, Scaled,
    distribution::{Durations, Latencies},
    pairing::Stacks,
    pattern::pattern,
    scaled::scaled,
    steps::{SECOND_NS, Steps},
    table::{Keyed, Merge, column},
};
use crate::{
    event::{ClassInit, Event, NameId, Payload},
    item::GuardAction,
    report::{Section, Series, Shape, Summary, Timeline, Unit},
    text::class_name::package,
};
use loading::Loading;

/// Most classes that are told apart.
const CLASSES: usize = 16_384;
/// Most classes with rows for errors and for times of initialisation.
const INITIALISED: usize = 4096;
/// Classes loaded within a second that make it a storm.
const STORM: u64 = 500;

/// The analysis.
#[derive(Debug)]
pub struct Classes {
    loaded: u64,
    loaded_shared: u64,
    unloaded: u64,
    by_name: Keyed<NameId, Count>,
    loading: Loading,
    storm: Storm,
    steps: Steps<2>,
    errors: u64,
    erroneous: u64,
    failed: Keyed<NameId, Failed>,
    running: Stacks<(NameId, u64)>,
    initialised: Keyed<NameId, Durations>,
    init_latencies: Latencies,
}

/// Loads and unloads of classes of one name.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    classes: u64,
    loaded: u64,
    unloaded: u64,
}

impl Merge for Count {
    fn merge(&mut self, other: &Self) {
        // What was not merged yet stands for one name.
        self.classes += other.classes.max(1);
        self.loaded += other.loaded;
        self.unloaded += other.unloaded;
    }
}

/// Failed initialisations of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Failed {
    errors: u64,
    superclass: u64,
    erroneous: u64,
}

impl Merge for Failed {
    fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.superclass += other.superclass;
        self.erroneous += other.erroneous;
    }
}

/// Seconds of the span in which many classes are loaded.
#[derive(Clone, Copy, Debug, Default)]
struct Storm {
    start_ns: Option<u64>,
    second: u64,
    loads: u64,
    finished: u64,
    worst: u64,
}

impl Storm {
    /// Events of the second before that come late count for the current one.
    fn load(&mut self, time_ns: u64) {
        let start_ns = *self.start_ns.get_or_insert(time_ns);
        let second = time_ns.saturating_sub(start_ns) / SECOND_NS;
        if second > self.second {
            self.finished += u64::from(self.loads > STORM);
            (self.second, self.loads) = (second, 0);
        }
        self.loads += 1;
        self.worst = self.worst.max(self.loads);
    }

    fn seconds(&self) -> u64 {
        self.finished + u64::from(self.loads > STORM)
    }
}

impl Default for Classes {
    fn default() -> Self {
        Self {
            loaded: 0,
            loaded_shared: 0,
            unloaded: 0,
            by_name: Keyed::new(CLASSES),
            loading: Loading::default(),
            storm: Storm::default(),
            steps: Steps::default(),
            errors: 0,
            erroneous: 0,
            failed: Keyed::new(INITIALISED),
            running: Stacks::default(),
            initialised: Keyed::new(INITIALISED),
            init_latencies: Latencies::default(),
        }
    }
}

impl Classes {
    fn load(&mut self, event: &Event, class: NameId, loader: u64, shared: bool) {
        self.loaded += 1;
        self.loaded_shared += u64::from(shared);
        self.by_name.entry(class).loaded += 1;
        self.loading.load(event.stack, loader);
        self.storm.load(event.time_ns);
        self.steps.add(0, event.time_ns, 1);
    }

    fn unload(&mut self, event: &Event, class: NameId, loader: u64) {
        self.unloaded += 1;
        self.by_name.entry(class).unloaded += 1;
        self.loading.unload(loader);
        self.steps.add(1, event.time_ns, 1);
    }

    /// `initialization_errors` are attempts that failed: the initialiser threw, or the superclass's had failed. Later
    /// uses of a class that is in error already are no new errors of initialisation and are counted apart.
    fn initialise(&mut self, event: &Event, step: ClassInit, class: NameId) {
        match step {
            ClassInit::Clinit => self.running.begin(event.tid, (class, event.time_ns)),
            ClassInit::End => self.finish(event, class),
            ClassInit::Error => {
                self.errors += 1;
                self.failed.entry(class).errors += 1;
                self.finish(event, class);
            }
            ClassInit::SuperFailed => {
                self.errors += 1;
                self.failed.entry(class).superclass += 1;
            }
            ClassInit::Erroneous => {
                self.erroneous += 1;
                self.failed.entry(class).erroneous += 1;
            }
            ClassInit::Required | ClassInit::Recursive | ClassInit::Concurrent => {}
        }
    }

    fn finish(&mut self, event: &Event, class: NameId) {
        if let Some(((_, begin_ns), _)) = self.running.end(event.tid, |(begun, _)| *begun == class) {
            let ns = event.time_ns.saturating_sub(begin_ns);
            self.init_latencies.record(ns);
            self.initialised.entry(class).record(ns);
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let storms = self.storm.seconds();
        if storms > 0 {
            notes.push(format!(
                "In {storms} seconds more than {STORM} classes were loaded, in the worst {}.",
                self.storm.worst
            ));
        }
        if self.init_latencies.durations.count > 0 {
            notes.push("The time of an initialiser includes those of classes that it made initialise.".to_owned());
        }
        notes.extend(self.running.unpaired.note("Class initialisers"));
        notes.extend(self.by_name.note("class names"));
        notes.extend(self.failed.note("classes with failed initialisation"));
        notes.extend(self.initialised.note("initialised classes"));
        notes.extend(self.loading.notes());
        notes
    }

    fn packages_table(&self, context: Context<'_>) -> Shape {
        let label = |id: &NameId| {
            let class = context.names.class(*id);
            // An array belongs to its element's package.
            Some(package(class.trim_end_matches("[]")).to_owned())
        };
        self.by_name.grouped(label).table(
            "packages",
            "Classes by package",
            vec![
                column("package", "Package", Unit::Text),
                column("loaded", "Loaded", Unit::Count),
                column("unloaded", "Unloaded", Unit::Count),
            ],
            |count| count.loaded.max(count.unloaded),
            |package| vec![package.into()],
            |count| vec![count.loaded.into(), count.unloaded.into()],
        )
    }

    fn generated_table(&self, context: Context<'_>) -> Shape {
        let label = |id: &NameId| {
            // Of one name there are as many classes as there are loaders that define it.
            Some(pattern(&context.names.class(*id)))
        };
        self.by_name.grouped(label).filter(|count| count.loaded.max(count.unloaded) > 1).table(
            "generated",
            "Classes whose names differ only in numbers, or not at all",
            vec![
                column("pattern", "Names", Unit::Text),
                column("loaded", "Loaded", Unit::Count),
                column("unloaded", "Unloaded", Unit::Count),
                column("names", "Names", Unit::Count),
            ],
            |count| count.loaded.max(count.unloaded),
            |pattern| vec![pattern.into()],
            |count| vec![count.loaded.into(), count.unloaded.into(), count.classes.into()],
        )
    }

    fn errors_table(&self, context: Context<'_>) -> Shape {
        self.failed.grouped(|id| Some(context.names.class(*id))).table(
            "errors",
            "Failed class initialisation",
            vec![
                column("class", "Class", Unit::Text),
                column("errors", "Threw", Unit::Count),
                column("super_failed", "Super failed", Unit::Count),
                column("erroneous", "Used again", Unit::Count),
            ],
            |failed| failed.errors + failed.superclass + failed.erroneous,
            |class| vec![class.into()],
            |failed| vec![failed.errors.into(), failed.superclass.into(), failed.erroneous.into()],
        )
    }

    fn initialisers_table(&self, context: Context<'_>) -> Shape {
        self.initialised.grouped(|id| Some(context.names.class(*id))).table(
            "initialisers",
            "Slowest class initialisers",
            vec![
                column("class", "Class", Unit::Text),
                column("count", "Count", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
            ],
            |durations| durations.total_ns,
            |class| vec![class.into()],
            |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
        )
    }
}

impl Analysis for Classes {
    fn lens(&self) -> Lens {
        Lens::Classes
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.storm.start_ns.get_or_insert(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::ClassLoaded { class, loader, shared } => self.load(event, class, loader, shared),
            Payload::ClassUnloaded { class, loader } => self.unload(event, class, loader),
            Payload::ClassInitialization { step, class, loader: _ } => self.initialise(event, step, class),
            _ => {}
        }
    }

    fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        if action.group == "class-init" {
            self.running.cut_all();
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        match group {
            "class-load" => vec![
                scaled!("loaded", "loaded classes", self.loaded),
                scaled!("unloaded", "unloaded classes", self.unloaded),
            ],
            "class-init" => vec![scaled!("initialization_errors", "failed initialisations", self.errors)],
            _ => Vec::new(),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        match shape {
            "errors" | "initialisers" | "initialiser_times" => group == "class-init",
            _ => group == "class-load",
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let summary = Summary::new()
            .int("loaded", self.loaded)
            .int("unloaded", self.unloaded)
            .int("initialization_errors", self.errors)
            .int("loaded_shared", self.loaded_shared)
            .int("erroneous_uses", self.erroneous)
            .int("storm_seconds", self.storm.seconds())
            .int("worst_second_loads", self.storm.worst)
            .int("initializer_total_ns", self.init_latencies.durations.total_ns)
            .int("initializer_max_ns", self.init_latencies.durations.max_ns);
        let (step_ns, [loaded, unloaded]) = self.steps.series(context.span);
        let mut shapes = vec![
            self.packages_table(context),
            self.generated_table(context),
            Shape::Timeline(Timeline {
                id: "classes",
                title: "Classes loaded and unloaded per step".to_owned(),
                unit: Unit::Count,
                step_ns,
                levels: false,
                series: vec![
                    Series { key: "loaded", title: "Loaded".to_owned(), values: loaded },
                    Series { key: "unloaded", title: "Unloaded".to_owned(), values: unloaded },
                ],
            }),
            self.errors_table(context),
            self.initialisers_table(context),
        ];
        shapes.extend(self.loading.sites_table(context));
        shapes.extend(self.loading.loaders_table());
        shapes.extend(self.init_latencies.shape("initialiser_times", "Time in class initialisers"));
        Section { id: Lens::Classes.id(), title: "Classes".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests;
