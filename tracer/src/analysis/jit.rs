//! Lens `jit`: compilations by compiler and method, their failures, and the code that they install and remove.

use super::{
    Analysis, Context, Lens,
    distribution::{Durations, Latencies},
    pairing::Open,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, MethodName, NameId, Payload},
    names::Names,
    report::{Cell, Section, Series, Shape, Summary, Timeline, Unit},
};

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
}

impl Merge for Method {
    fn merge(&mut self, other: &Self) {
        self.ended += other.ended;
        self.failures += other.failures;
        self.durations.merge(&other.durations);
        self.loaded += other.loaded;
        self.loaded_bytes = self.loaded_bytes.saturating_add(other.loaded_bytes);
        self.unloaded += other.unloaded;
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

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.running.len() > 0 {
            notes.push(format!(
                "{} compilations were under way at the end of the span and are not counted.",
                self.running.len()
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
                let Method { ended, failures, durations, loaded, loaded_bytes, unloaded } = *method;
                [ended, failures, durations.total_ns, durations.max_ns, loaded, unloaded, loaded_bytes]
                    .map(Cell::Int)
                    .into()
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
            _ => {}
        }
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
        shapes.extend(self.latencies.shape("compile_times", "Time of a compilation"));
        shapes.push(Shape::Timeline(Timeline {
            id: "compilations",
            title: "Compilations per step".to_owned(),
            unit: Unit::Count,
            step_ns,
            series: vec![Series { key: "compilations", title: "Compilations".to_owned(), values: compilations }],
        }));
        Section { id: Lens::Jit.id(), title: "JIT compilation".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, cells, first_keys, numbers},
        *,
    };

    fn compile(edge: Edge, compiler: NameId, method: MethodName, success: bool) -> Payload {
        Payload::Compile { edge, compiler, method, success }
    }

    fn method(play: &mut Play, name: &str) -> MethodName {
        MethodName { class: play.name("com/shop/Cart"), method: play.name(name), signature: play.name("(I)V") }
    }

    #[test]
    fn compilations_are_paired_by_thread() {
        let mut play = Play::default();
        let (c1, c2) = (play.name("C1"), play.name("C2"));
        let (add, total) = (method(&mut play, "add"), method(&mut play, "total"));
        let section = play.section(
            &mut Jit::default(),
            1000,
            &[
                (0, 1, compile(Edge::Begin, c1, add, true)),
                (0, 2, compile(Edge::Begin, c2, total, true)),
                (2, 1, compile(Edge::End, c1, add, true)),
                (2, 1, Payload::CodeLoaded { method: add, start: 0x1000, bytes: 300 }),
                (40, 2, compile(Edge::End, c2, total, false)),
                (41, 2, Payload::CodeUnloaded { method: add }),
            ],
        );
        assert_eq!(
            first_keys(&section, 5),
            ["compilations", "failures", "compile_total_ns", "code_loaded_bytes", "code_unloaded"]
        );
        assert_eq!(
            numbers(&section, ["compilations", "failures", "compile_total_ns", "code_loaded_bytes", "code_unloaded"]),
            [2, 1, 42 * MS, 300, 1]
        );
        assert_eq!(
            cells(&section, "compilers", ["compiler", "count", "failures", "total_ns"]),
            [["C2", "1", "1", "40000000"], ["C1", "1", "0", "2000000"]]
        );
        assert_eq!(
            cells(&section, "slowest", ["method", "total_ns"]),
            [["com.shop.Cart.total(I)V", "40000000"], ["com.shop.Cart.add(I)V", "2000000"]]
        );
        assert_eq!(cells(&section, "largest", ["method", "bytes"]), [["com.shop.Cart.add(I)V", "300"]]);
        assert_eq!(cells(&section, "failed", ["method"]), [["com.shop.Cart.total(I)V"]]);
        assert!(cells(&section, "repeated", ["method"]).is_empty());
    }

    #[test]
    fn unpaired_ends_count_as_compilations_without_time() {
        let mut play = Play::default();
        let c2 = play.name("C2");
        let (add, total) = (method(&mut play, "add"), method(&mut play, "total"));
        let section = play.section(
            &mut Jit::default(),
            1000,
            &[
                (1, 1, compile(Edge::End, c2, add, true)),
                (2, 1, compile(Edge::Begin, c2, add, true)),
                (3, 1, compile(Edge::End, c2, total, true)),
                (4, 1, compile(Edge::Begin, c2, add, true)),
            ],
        );
        assert_eq!(numbers(&section, ["compilations", "compile_total_ns"]), [2, 0]);
        assert!(section.notes[0].contains("1 compilations were under way"));
        assert!(section.notes[1].contains("2 ends without") && section.notes[1].contains("1 beginnings"));
    }

    #[test]
    fn a_method_compiled_four_times_is_repeated() {
        let mut play = Play::default();
        let c2 = play.name("C2");
        let add = method(&mut play, "add");
        let events = vec![(1, 1, compile(Edge::End, c2, add, true)); 4];
        let section = play.section(&mut Jit::default(), 1000, &events);
        assert_eq!(cells(&section, "repeated", ["method", "count"]), [["com.shop.Cart.add(I)V", "4"]]);
    }
}
