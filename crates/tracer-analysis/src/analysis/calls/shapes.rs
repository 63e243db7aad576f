//! What the graph and the tree look like in a report.

mod made;
mod profile;
mod tree;

use std::collections::BTreeMap;

pub(super) use self::made::MadeIn;
use super::{
    super::table::{Groups, Merge, column},
    contexts::{Amounts, Contexts},
    graph::{Caller, Graph, Lookup, OfThread, Place},
};
use crate::{
    event::SubjectId,
    report::{Cell, Shape, Unit},
    stack::opcode,
};

/// Callees of a place that are named.
const NAMED: usize = 5;

/// All shapes, the most important first; profiles where they are asked for.
pub(super) fn all(
    graph: &Graph<'_>,
    contexts: &Contexts,
    made: &[MadeIn],
    lookup: Lookup<'_>,
    with_profiles: bool,
) -> Vec<Shape> {
    let mut shapes = vec![edges(graph)];
    if graph.has_places() {
        let sites = Sites::of(graph);
        shapes.extend([sites.kinds(), sites.table(graph)]);
    }
    shapes.extend(initialisers(graph));
    shapes.extend(made::tree(graph, contexts, made));
    if !graph.by_thread.is_empty() {
        shapes.push(threads(graph));
        shapes.push(tree::tree(graph, contexts));
    }
    if with_profiles {
        shapes.extend(profile::profiles(graph, contexts, lookup));
        shapes.extend(profile::made(graph, contexts, made, lookup));
    }
    shapes
}

/// Cells of a caller and its place.
fn caller_cells(graph: &Graph<'_>, caller: Caller, place: Place) -> [Cell; 4] {
    let (name, signature) = graph.resolver.name(caller);
    [name.into(), signature.into(), place.bci.map(u64::from).into(), place.line.map(u64::from).into()]
}

/// What the instruction at a place is called.
fn instruction(place: Place) -> Cell {
    place.opcode.and_then(opcode::name).map(str::to_owned).into()
}

fn edges(graph: &Graph<'_>) -> Shape {
    let rows: BTreeMap<_, Amounts> = graph.by_edge.iter().map(|(edge, amounts)| (*edge, *amounts)).collect();
    Groups { rows, others: None }.table(
        "edges",
        "Calls by caller and callee",
        vec![
            column("caller", "Caller", Unit::Text),
            column("caller_signature", "Its signature", Unit::Text),
            column("bci", "Bytecode index", Unit::Count),
            column("line", "Line", Unit::Count),
            column("callee", "Callee", Unit::Text),
            column("signature", "Its signature", Unit::Text),
            column("kind", "Kind", Unit::Text),
            column("calls", "Calls", Unit::Count),
            column("errors", "Errors", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("self_ns", "Self", Unit::Ns),
        ],
        |amounts| amounts.calls,
        |(caller, place, callee)| {
            let mut cells = caller_cells(graph, caller, place).to_vec();
            cells.push(graph.resolver.title(callee).into());
            cells.push(graph.resolver.signature(callee).into());
            cells.push(graph.resolver.kind(callee).into());
            cells
        },
        |amounts| {
            let Amounts { calls, errors, self_ns, .. } = *amounts;
            let total_ns = timed(amounts);
            vec![calls.into(), errors.into(), total_ns.into(), total_ns.map(|_| self_ns).into()]
        },
    )
}

/// The places of calls, with how many methods each calls.
struct Sites(BTreeMap<(Caller, Place), Site>);

#[derive(Clone, Debug, Default)]
struct Site {
    calls: u64,
    /// The methods that are called, and how often.
    callees: BTreeMap<SubjectId, u64>,
}

impl Merge for Site {
    fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
    }
}

impl Site {
    fn kind(&self) -> &'static str {
        match self.callees.len() {
            0 | 1 => "monomorphic",
            2 => "bimorphic",
            _ => "megamorphic",
        }
    }
}

impl Sites {
    fn of(graph: &Graph<'_>) -> Self {
        let mut sites = BTreeMap::<_, Site>::new();
        for ((caller, place, callee), amounts) in &graph.by_edge {
            // An initialiser runs because of what an instruction needs, and is not what it calls.
            if place.is_known() && graph.resolver.kind(*callee) != "initialiser" {
                let site = sites.entry((*caller, *place)).or_default();
                site.calls = site.calls.saturating_add(amounts.calls);
                let callee = site.callees.entry(*callee).or_default();
                *callee = callee.saturating_add(amounts.calls);
            }
        }
        Self(sites)
    }

    fn kinds(&self) -> Shape {
        let mut rows = BTreeMap::<&'static str, Site>::new();
        let mut counts = BTreeMap::<&'static str, u64>::new();
        for site in self.0.values() {
            rows.entry(site.kind()).or_default().merge(site);
            *counts.entry(site.kind()).or_default() += 1;
        }
        Groups { rows, others: None }.table(
            "site_kinds",
            "Places of calls by how many methods they call",
            vec![
                column("kind", "Kind", Unit::Text),
                column("sites", "Places", Unit::Count),
                column("calls", "Calls", Unit::Count),
            ],
            |site| site.calls,
            |kind| vec![kind.into(), counts.get(kind).copied().into()],
            |site| vec![site.calls.into()],
        )
    }

    fn table(self, graph: &Graph<'_>) -> Shape {
        let named = self.0.iter().map(|(at, site)| (*at, cells_of(graph, site))).collect::<BTreeMap<_, _>>();
        Groups { rows: self.0, others: None }.table(
            "sites",
            "Places of calls, those with most callees first",
            vec![
                column("caller", "Caller", Unit::Text),
                column("caller_signature", "Its signature", Unit::Text),
                column("bci", "Bytecode index", Unit::Count),
                column("line", "Line", Unit::Count),
                column("opcode", "Instruction", Unit::Text),
                column("kind", "Kind", Unit::Text),
                column("callees", "Callees", Unit::Count),
                column("names", "Most called", Unit::Text),
                column("calls", "Calls", Unit::Count),
            ],
            |site| ((site.callees.len() as u64) << 48).saturating_add(site.calls.min((1 << 48) - 1)),
            |(caller, place)| {
                let mut cells = caller_cells(graph, caller, place).to_vec();
                cells.push(instruction(place));
                cells.extend(named.get(&(caller, place)).cloned().unwrap_or_default());
                cells
            },
            |site| vec![site.calls.into()],
        )
    }
}

fn cells_of(graph: &Graph<'_>, site: &Site) -> Vec<Cell> {
    let mut callees: Vec<_> = site.callees.iter().collect();
    callees.sort_by_key(|(method, calls)| (std::cmp::Reverse(**calls), **method));
    let more = callees.len().saturating_sub(NAMED);
    let mut names: Vec<String> = callees.iter().take(NAMED).map(|(method, _)| graph.resolver.title(**method)).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    vec![site.kind().into(), (callees.len() as u64).into(), names.join(", ").into()]
}

/// Static initialisers with what made them run.
fn initialisers(graph: &Graph<'_>) -> Option<Shape> {
    let is_initialiser = |callee: SubjectId| graph.resolver.kind(callee) == "initialiser";
    let found = graph.by_edge.iter().filter(|((_, _, callee), _)| is_initialiser(*callee));
    let rows: BTreeMap<_, Amounts> =
        found.map(|((caller, place, callee), amounts)| ((*callee, *caller, *place), *amounts)).collect();
    (!rows.is_empty()).then(|| {
        Groups { rows, others: None }.table(
            "initialisers",
            "Static initialisers and what made them run",
            vec![
                column("initialiser", "Initialiser", Unit::Text),
                column("caller", "Trigger", Unit::Text),
                column("caller_signature", "Its signature", Unit::Text),
                column("bci", "Bytecode index", Unit::Count),
                column("line", "Line", Unit::Count),
                column("opcode", "Instruction", Unit::Text),
                column("calls", "Calls", Unit::Count),
                column("errors", "Errors", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
            ],
            |amounts| amounts.total_ns,
            |(callee, caller, place)| {
                let mut cells = vec![graph.resolver.title(callee).into()];
                cells.extend(caller_cells(graph, caller, place));
                cells.push(instruction(place));
                cells
            },
            |amounts| vec![amounts.calls.into(), amounts.errors.into(), timed(amounts).into()],
        )
    })
}

/// The graph of each thread in numbers.
fn threads(graph: &Graph<'_>) -> Shape {
    let rows: BTreeMap<_, ThreadRow> =
        graph.by_thread.iter().map(|(tid, of)| (((graph.thread)(*tid), *tid), ThreadRow::from(of))).collect();
    Groups { rows, others: None }.table(
        "threads",
        "Calls by thread",
        vec![
            column("thread", "Thread", Unit::Text),
            column("tid", "Thread id", Unit::Count),
            column("calls", "Calls", Unit::Count),
            column("methods", "Methods", Unit::Count),
            column("edges", "Edges", Unit::Count),
            column("contexts", "Contexts", Unit::Count),
        ],
        |row| row.calls,
        |((thread, tid), _)| vec![thread.into(), tid.map(|tid| u64::from(tid.0)).into()],
        |row| vec![row.calls.into(), row.methods.into(), row.edges.into(), row.contexts.into()],
    )
}

/// Numbers of a thread's graph. Those of several threads cannot be added up but for calls and contexts.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadRow {
    calls: u64,
    methods: Option<u64>,
    edges: Option<u64>,
    contexts: u64,
}

impl From<&OfThread> for ThreadRow {
    fn from(of: &OfThread) -> Self {
        let (methods, edges) = (of.methods.len() as u64, of.edges.len() as u64);
        Self { calls: of.calls, methods: Some(methods), edges: Some(edges), contexts: of.contexts }
    }
}

impl Merge for ThreadRow {
    fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.contexts = self.contexts.saturating_add(other.contexts);
        (self.methods, self.edges) = (None, None);
    }
}

/// The time of calls; nothing where none has one. A call that has takes longer than nothing.
fn timed(amounts: &Amounts) -> Option<u64> {
    Some(amounts.total_ns).filter(|ns| *ns > 0)
}
