//! Whether what must hold of a snapshot does. Where not all was seen it holds only if nothing that is missing could change that.

use std::collections::HashSet;

use serde::Serialize;

use super::{
    answer::biggest,
    graph::Node,
    paths::Paths,
    question::{Asked, Begun, compared, is_unknown},
    summary::{ObjectRow, PathRow},
    truth::{Bounds, Truth},
};
use crate::predicate::{
    self, Assertion, Field,
    assertion::Measure,
    error::nearest,
    tree::{Comparison, Condition, Expr, TextTest},
};

/// Objects that are shown where something does not hold.
const AGAINST: usize = 3;
/// Steps of ways that are looked at for different ones.
const MAX_STEPS: usize = 10_000_000;

/// What became of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// The snapshot does not say.
    Undecided,
    /// It does not hold.
    Violated,
}

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::No => Self::Violated,
            Truth::Unknown => Self::Undecided,
            Truth::Yes => Self::Holds,
        }
    }
}

/// An assertion with what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// As it was given.
    pub assertion: String,
    /// What became of it.
    pub verdict: Verdict,
    /// What was found.
    #[serde(flatten)]
    pub found: Found,
    /// Objects that speak against it, with a way to each: those that retain most, or those whose ways differ.
    pub against: Vec<ObjectRow>,
    /// What may have been meant otherwise.
    pub notes: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Found {
    /// How much there is.
    Bound {
        /// Of what.
        measure: Measure,
        /// It is no less.
        least: u64,
        /// It is no more; null: nobody knows.
        most: Option<u64>,
    },
    /// How many objects are reached through others.
    Through {
        /// The objects, so far as they are known.
        objects: u64,
        /// Those of them to which another way leads.
        otherwise: u64,
    },
}

/// Says whether an assertion holds.
pub fn judge(asked: &Asked<'_>, assertion: &Assertion, text: &str) -> Result<Judged, predicate::Error> {
    let judged =
        |verdict: Verdict, found, against, notes| Judged { assertion: text.to_owned(), verdict, found, against, notes };
    match assertion {
        Assertion::Bound { measure, of, comparison, value } => {
            let answers = asked.answers(of, "--assert", text)?;
            let bounds = measured(asked, *measure, &answers);
            let verdict = Verdict::from(bounds.compares(*comparison, *value));
            let has_more = !matches!(comparison, Comparison::More | Comparison::AtLeast) && bounds.least > 0;
            let against = if verdict == Verdict::Violated && has_more {
                biggest(asked, &nodes(&answers, Truth::Yes), AGAINST)
            } else {
                Vec::new()
            };
            let found = Found::Bound { measure: *measure, least: bounds.least, most: bounds.most };
            Ok(judged(verdict, found, against, unmatched(asked, &[of])))
        }
        Assertion::Through { every, through } => {
            let (of, by) = (asked.answers(every, "--assert", text)?, asked.answers(through, "--assert", text)?);
            let Ways { verdict, objects, otherwise, against } = ways(asked, &of, &by);
            let found = Found::Through { objects, otherwise };
            Ok(judged(verdict, found, against, unmatched(asked, &[every, through])))
        }
    }
}

/// Objects of which at least so much is known.
fn nodes(answers: &[Truth], least: Truth) -> Vec<Node> {
    (0..).zip(answers).filter(|(_, answer)| **answer >= least).map(|(node, _)| node).collect()
}

fn is(answers: &[Truth], node: Node, least: Truth) -> bool {
    answers.get(node as usize).is_some_and(|answer| *answer >= least)
}

fn measured(asked: &Asked<'_>, measure: Measure, answers: &[Truth]) -> Bounds {
    let graph = &asked.analysis().graph;
    let own = |least| -> u64 { nodes(answers, least).into_iter().map(|node| graph.bytes(node)).sum() };
    let freed = |least: Truth| asked.analysis().freed_with_all(|node| is(answers, node, least));
    let has_unknown = answers.contains(&Truth::Unknown);
    let sum = |measure: &dyn Fn(Truth) -> u64| {
        let least = measure(Truth::Yes);
        let most = asked.is_whole().then(|| if has_unknown { measure(Truth::Unknown) } else { least });
        Bounds { least, most }
    };
    match measure {
        Measure::Count => sum(&|least| nodes(answers, least).len() as u64),
        Measure::Size => sum(&own),
        Measure::Retained if asked.is_whole() => sum(&freed),
        // Ways that were not seen could lead to what seems to be held, but not make the objects themselves stay.
        Measure::Retained => Bounds { least: own(Truth::Yes), most: None },
    }
}

/// What is known of ways past some objects.
struct Ways {
    verdict: Verdict,
    objects: u64,
    otherwise: u64,
    against: Vec<ObjectRow>,
}

/// Whether every way to the first objects passes one of the second ones before.
fn ways(asked: &Asked<'_>, of: &[Truth], by: &[Truth]) -> Ways {
    let graph = &asked.analysis().graph;
    // Those that may be passed are passed where it is to be shown that there is another way.
    let sure = Paths::no_further_than(graph, |node| is(by, node, Truth::Unknown));
    let reached = |paths: &Paths, least: Truth| -> Vec<Node> {
        nodes(of, least).into_iter().filter(|node| paths.reaches(*node)).collect()
    };
    let violating = reached(&sure, Truth::Yes);
    let has_unknown = of.contains(&Truth::Unknown) || by.contains(&Truth::Unknown);
    let could = || {
        let possible = Paths::no_further_than(graph, |node| is(by, node, Truth::Yes));
        !reached(&possible, Truth::Unknown).is_empty()
    };
    let verdict = if !violating.is_empty() {
        Verdict::Violated
    } else if !asked.is_whole() || (has_unknown && could()) {
        Verdict::Undecided
    } else {
        Verdict::Holds
    };
    Ways {
        verdict,
        objects: nodes(of, Truth::Yes).len() as u64,
        otherwise: violating.len() as u64,
        against: different(asked, &sure, &violating),
    }
}

/// Some of the objects, the shortest ways first, each by a way unlike the others.
fn different(asked: &Asked<'_>, paths: &Paths, nodes: &[Node]) -> Vec<ObjectRow> {
    let analysis = asked.analysis();
    let begun = Begun::of(&analysis.graph, paths);
    let mut found: Vec<(u32, Node)> = nodes.iter().map(|node| (begun.depth(*node), *node)).collect();
    found.sort_unstable();
    let (mut rows, mut seen, mut left) = (Vec::new(), HashSet::new(), MAX_STEPS);
    for (depth, node) in found {
        let path = analysis.path_of(&paths.to(&analysis.graph, node));
        if seen.insert(likeness(&path)) {
            rows.push(ObjectRow { path, ..analysis.object(node) });
        }
        left = left.saturating_sub(depth as usize + 1);
        if rows.len() == AGAINST || left == 0 {
            break;
        }
    }
    rows
}

/// What a way has in common with those that differ from it by indices and threads alone.
fn likeness(path: &PathRow) -> Vec<String> {
    let by = |by: &str| if by.starts_with('[') { "[]".to_owned() } else { by.to_owned() };
    let root = format!("{:?} {:?} {}", path.root.kind, path.root.method, path.root.class);
    let steps = path.steps.iter().map(|step| format!("{}.{}", step.class, by(&step.by)));
    std::iter::once(root).chain(steps).collect()
}

/// Names of classes that no class of the snapshot has: a slip in one would let an assertion hold for ever.
fn unmatched(asked: &Asked<'_>, exprs: &[&Expr]) -> Vec<String> {
    let classes = &asked.analysis().graph.classes;
    let names: Vec<String> =
        classes.iter().filter(|class| !is_unknown(class)).map(|class| compared(&class.name)).collect();
    let mut notes = Vec::new();
    let mut look = |condition: &Condition| {
        let Condition::Text { field: Field::Class, wanted: true, test } = condition else { return };
        if names.iter().any(|name| test.holds(name)) {
            return;
        }
        let note = match test {
            TextTest::Is(name) => {
                let near = nearest(name.compared(), names.iter().map(String::as_str).filter(|name| name.len() > 3));
                let near = near.map_or_else(String::new, |near| format!("; there is {near}"));
                format!("no class of the snapshot is called {}{near}", name.compared())
            }
            TextTest::Like(name) => format!("no class of the snapshot is like {}", name.compared()),
            TextTest::In(_) => "no class of the snapshot has one of these names".to_owned(),
        };
        notes.push(note);
    };
    for expr in exprs {
        expr.each(&mut look);
    }
    notes
}

#[cfg(test)]
pub(super) mod tests;
