//! Lens `jit`: compilations by compiler and method, their failures, and the code that they install and remove.

mod deoptimised;

use std::collections::BTreeMap;

use super::{
    Analysis, Context, Lens, Scaled,
    distribution::{Durations, Latencies},
    pairing::Open,
    rare::Replaced,
    scaled::scaled,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, MethodName, NameId, Payload},
    item::GuardAction,
    names::Names,
    report::{Cell, Section, Series, Shape, Summary, Timeline, Unit},
    text::format::plural,
};
use deoptimised::Deoptimised;
pub(super) use deoptimised::{depth_of_method, is_deoptimisation};

/// Most compilers; real JVMs have two.
const COMPILERS: usize = 32;
/// Most methods that are told apart.
const METHODS: usize = 16_384;
/// Compilations of one method from which on it is listed as repeated: a tiered life takes up to three.
const REPEATED: u64 = 4;

/// The analysis.
#[derive(Debug)]
pub struct Jit {
    running: Open<(MethodName, u64)>,
    compilations: u64,
    failures: u64,
    latencies: Latencies,
    compilers: Keyed<NameId, Compiler>,
    methods: Keyed<MethodName, Method>,
    code_loaded: u64,
    code_loaded_bytes: u64,
    code_unloaded: u64,
    deoptimised: Deoptimised,
    steps: Steps<2>,
}

/// Compilations of one compiler.
#[derive(Clone, Debug, Default)]
struct Compiler {
    ended: u64,
    failures: u64,
    latencies: Latencies<2>,
}

impl Merge for Compiler {
    fn merge(&mut self, other: &Self) {
        self.ended += other.ended;
        self.failures += other.failures;
        self.latencies.merge(&other.latencies);
    }
}

/// Compilations and code of one method.
#[derive(Clone, Copy, Debug, Default)]
struct Method {
    ended: u64,
    failures: u64,
    durations: Durations,
    loaded: u64,
    loaded_bytes: u64,
    unloaded: u64,
    /// Samples at its deoptimisation; known only when the section is built.
    deoptimised: u64,
}

impl Merge for Method {
    fn merge(&mut self, other: &Self) {
        self.ended += other.ended;
        self.failures += other.failures;
        self.durations.merge(&other.durations);
        self.loaded += other.loaded;
        self.loaded_bytes = self.loaded_bytes.saturating_add(other.loaded_bytes);
        self.unloaded += other.unloaded;
        // Methods that share a name share its samples.
        self.deoptimised = self.deoptimised.max(other.deoptimised);
    }
}

impl Default for Jit {
    fn default() -> Self {
        Self {
            running: Open::default(),
            compilations: 0,
            failures: 0,
            latencies: Latencies::default(),
            compilers: Keyed::new(COMPILERS),
            methods: Keyed::new(METHODS),
            code_loaded: 0,
            code_loaded_bytes: 0,
            code_unloaded: 0,
            deoptimised: Deoptimised::default(),
            steps: Steps::default(),
        }
    }
}

/// `com.shop.Cart.add(Ljava/lang/String;)V`.
fn method_text(names: &Names, method: &MethodName) -> String {
    let MethodName { class, method, signature } = *method;
    // A descriptor that is not given is left out, one that was lost or cannot be read says so.
    format!("{}.{}{}", names.class(class), names.text(method), names.text(signature))
}

impl Jit {
    fn compiled(&mut self, event: &Event, compiler: NameId, name: MethodName, success: bool) {
        let failed = u64::from(!success);
        self.compilations += 1;
        self.failures += failed;
        self.steps.add(0, event.time_ns, 1);
        let compiler = self.compilers.entry(compiler);
        compiler.ended += 1;
        compiler.failures += failed;
        let method = self.methods.entry(name);
        method.ended += 1;
        method.failures += failed;
        if let Some((_, begin_ns)) = self.running.end(event.tid, |(begun, _)| *begun == name) {
            let ns = event.time_ns.saturating_sub(begin_ns);
            self.latencies.record(ns);
            compiler.latencies.record(ns);
            method.durations.record(ns);
        }
    }

    fn code_loaded(&mut self, event: &Event, method: MethodName, bytes: u64) {
        self.code_loaded += 1;
        self.code_loaded_bytes = self.code_loaded_bytes.saturating_add(bytes);
        let method = self.methods.entry(method);
        method.loaded += 1;
        method.loaded_bytes = method.loaded_bytes.saturating_add(bytes);
        self.steps.add(1, event.time_ns, bytes);
    }

    fn code_unloaded(&mut self, method: MethodName) {
        self.code_unloaded += 1;
        self.methods.entry(method).unloaded += 1;
    }

    /// Methods that are compiled again and again and whose code goes away in between, or was met at its deoptimisation.
    fn loops_table(&self, context: Context<'_>, deoptimised: &BTreeMap<String, u64>) -> Option<Shape> {
        let met = |name: &MethodName| {
            let method = format!("{}.{}", context.names.class(name.class), context.names.text(name.method));
            deoptimised.get(&method).copied().unwrap_or(0)
        };
        let complete = |name: &MethodName, method: &mut Method| {
            method.deoptimised = met(name);
            method_text(context.names, name)
        };
        let mut groups = self.methods.grouped_by(complete);
        // Of those beyond the limit it is not known how often each was compiled.
        groups.others = None;
        let groups =
            groups.filter(|method| method.ended >= REPEATED && (method.unloaded > 0 || method.deoptimised > 0));
        (!groups.rows.is_empty()).then(|| {
            groups.table(
                "loops",
                "Methods compiled again after their code was given up",
                vec![
                    column("method", "Method", Unit::Text),
                    column("count", "Compilations", Unit::Count),
                    column("loaded", "Code loaded", Unit::Count),
                    column("unloaded", "Code unloaded", Unit::Count),
                    column("deoptimised_samples", "Met at deoptimisation", Unit::Count),
                ],
                |method| method.ended,
                |method| vec![Cell::Text(method)],
                |method| {
                    let Method { ended, loaded, unloaded, deoptimised, .. } = *method;
                    [ended, loaded, unloaded, deoptimised].map(Cell::Int).into()
                },
            )
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.running.len() > 0 {
            notes.push(format!(
                "Under way at the end of the span and not counted: {}.",
                plural(self.running.len(), "compilation", "compilations")
            ));
        }
        notes.extend(self.running.unpaired.note("Compilations"));
        notes.extend(self.compilers.note("compilers"));
        notes.extend(self.methods.note("methods"));
        notes
    }

    fn compilers_table(&self, context: Context<'_>) -> Shape {
        self.compilers.grouped(|id| Some(context.names.text(*id))).table(
            "compilers",
            "Compilations by compiler",
            vec![
                column("compiler", "Compiler", Unit::Text),
                column("count", "Count", Unit::Count),
                column("failures", "Failures", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("p99_ns", "p99", Unit::Ns),
            ],
            |compiler| compiler.latencies.durations.total_ns,
            |compiler| vec![compiler.into()],
            |compiler| {
                let Durations { count: _, total_ns, max_ns } = compiler.latencies.durations;
                let p99_ns = compiler.latencies.percentile(99.0);
                vec![compiler.ended.into(), compiler.failures.into(), total_ns.into(), max_ns.into(), p99_ns.into()]
            },
        )
    }

    fn methods_table(
        &self,
        context: Context<'_>,
        (id, title): (&'static str, &str),
        keep: impl Fn(&Method) -> bool,
        rank: impl Fn(&Method) -> u64,
    ) -> Shape {
        let knows_code = context.target.knows(Lens::Jit, "code_loaded");
        self.methods.grouped(|method| Some(method_text(context.names, method))).filter(keep).table(
            id,
            title,
            vec![
                column("method", "Method", Unit::Text),
                column("count", "Compilations", Unit::Count),
                column("failures", "Failures", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("loaded", "Code loaded", Unit::Count),
                column("unloaded", "Code unloaded", Unit::Count),
                column("bytes", "Code size", Unit::Bytes),
            ],
            rank,
            |method| vec![Cell::Text(method)],
            |method| {
                let Method { ended, failures, durations, loaded, loaded_bytes, unloaded, deoptimised: _ } = *method;
                let of_code = |number: u64| Cell::from(knows_code.then_some(number));
                let times = [ended, failures, durations.total_ns, durations.max_ns].map(Cell::Int);
                times.into_iter().chain([loaded, unloaded, loaded_bytes].map(of_code)).collect()
            },
        )
    }
}

impl Analysis for Jit {
    fn lens(&self) -> Lens {
        Lens::Jit
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Compile { edge: Edge::Begin, method, .. } => {
                self.running.begin(event.tid, (method, event.time_ns));
            }
            Payload::Compile { edge: Edge::End, compiler, method, success } => {
                self.compiled(event, compiler, method, success);
            }
            Payload::CodeLoaded { method, start: _, bytes } => self.code_loaded(event, method, bytes),
            Payload::CodeUnloaded { method } => self.code_unloaded(method),
            Payload::CpuSample { .. } => self.deoptimised.sample(event.stack),
            _ => {}
        }
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &crate::stack::Stacks) {
        self.deoptimised.replace_stacks(replaced);
    }

    fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        if action.group == "compile" {
            self.running.cut_all();
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        match group {
            "compile" => vec![
                scaled!("compilations", "compilations", self.compilations),
                scaled!("failures", "failed compilations", self.failures),
            ],
            "code" => vec![
                scaled!("code_loaded", "loaded pieces of code", self.code_loaded),
                scaled!("code_loaded_bytes", "loaded code", self.code_loaded_bytes).in_bytes(),
                scaled!("code_unloaded", "unloaded pieces of code", self.code_unloaded),
            ],
            _ => Vec::new(),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        if shape == "largest" { group == "code" } else { group == "compile" }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let durations = self.latencies.durations;
        let summary = Summary::new()
            .int("compilations", self.compilations)
            .int("failures", self.failures)
            .int("compile_total_ns", durations.total_ns)
            .int("code_loaded_bytes", self.code_loaded_bytes)
            .int("code_unloaded", self.code_unloaded)
            .int("compile_max_ns", durations.max_ns)
            .int("compile_p99_ns", self.latencies.percentile(99.0))
            .int("code_loaded", self.code_loaded);
        let (step_ns, [compilations, _bytes]) = self.steps.series(context.span);
        let mut shapes = vec![
            self.compilers_table(context),
            self.methods_table(
                context,
                ("slowest", "Slowest methods to compile"),
                |method| method.durations.count > 0,
                |method| method.durations.total_ns,
            ),
            self.methods_table(
                context,
                ("repeated", "Methods compiled again and again"),
                |method| method.ended >= REPEATED,
                |method| method.ended,
            ),
            self.methods_table(
                context,
                ("failed", "Methods whose compilation failed"),
                |method| method.failures > 0,
                |method| method.failures,
            ),
            self.methods_table(
                context,
                ("largest", "Methods with the most code"),
                |method| method.loaded > 0,
                |method| method.loaded_bytes,
            ),
        ];
        let deoptimised = self.deoptimised.methods(context.stacks);
        shapes.extend(self.loops_table(context, &deoptimised));
        shapes.extend(Deoptimised::table(&deoptimised));
        shapes.extend(self.latencies.shape("compile_times", "Time of a compilation"));
        shapes.push(Shape::Timeline(Timeline {
            id: "compilations",
            title: "Compilations per step".to_owned(),
            unit: Unit::Count,
            step_ns,
            levels: false,
            series: vec![Series { key: "compilations", title: "Compilations".to_owned(), values: compilations }],
        }));
        let mut notes = self.notes();
        notes.extend(self.deoptimised.note(context));
        Section { id: Lens::Jit.id(), title: "JIT compilation".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;
