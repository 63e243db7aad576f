//! What is answered to a question about a snapshot: objects, or groups of them, those first that retain most.

use std::{cmp::Reverse, collections::HashMap};

use serde::Serialize;

use super::{
    graph::{NOBODY, Node, is_own},
    question::{Asked, compared, is_unknown},
    summary::{Head, ObjectRow},
    truth::Truth,
};
use crate::{
    heap::assertion::Judged,
    predicate::{self, tree::Expr},
    text::class_name,
};

/// What a document of answers begins with.
pub const SCHEMA: &str = "jtrace-heap-answers/1";
/// What stands for a name that nobody knows.
const NOT_KNOWN: &str = "(not known)";
/// What stands for a holder where no single object is on every way.
const NO_HOLDER: &str = "(no single object)";

/// All that was asked of a snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct Answers {
    /// The form.
    pub schema: &'static str,
    /// Where the snapshot is from.
    #[serde(flatten)]
    pub head: Head,
    /// Why it is not all that there was; absent where it is.
    pub not_whole: Option<String>,
    /// What else is to be known about the numbers.
    pub cautions: Vec<String>,
    /// What was asked for with `--where` and `--group`.
    pub answer: Option<Answer>,
    /// What must hold, in the order in which it was given.
    pub assertions: Vec<Judged>,
}

/// By what objects are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Their class.
    Class,
    /// Its package.
    Package,
    /// The class of its loader.
    Loader,
    /// The class of the nearest object that is on every way to them: one of the program's own, where there is such.
    Holder,
    /// The kind of root at the beginning of the shortest way.
    Root,
}

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The predicate.
    #[serde(rename = "where")]
    pub predicate: Option<String>,
    /// All objects of which it holds.
    pub total: Amounts,
    /// Objects of which nobody knows whether it holds: their classes have no names.
    pub undecided: u64,
    /// By what they are put together.
    pub group: Option<Group>,
    /// Groups.
    pub groups: Vec<GroupRow>,
    /// Objects, where they are not put together.
    pub rows: Vec<ObjectRow>,
    /// Groups or objects that are left out.
    pub further: u64,
}

/// How much it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amounts {
    /// Objects.
    pub objects: u64,
    /// Their own bytes.
    pub bytes: u64,
    /// Bytes that would be freed with all of them.
    pub retained_bytes: u64,
    /// Whether that is exact; else it is at least so much.
    pub retained_exact: bool,
}

/// Objects that have something in common.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRow {
    /// What they have in common.
    pub name: String,
    /// How much it is.
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Which objects, with the text that said so; all where there is none.
    pub predicate: Option<(&'a Expr, &'a str)>,
    /// By what they are put together.
    pub group: Option<Group>,
    /// Rows of a table.
    pub rows: usize,
}

impl Question<'_> {
    /// Answers it, of what was seen.
    pub fn answer(&self, asked: &Asked<'_>) -> Result<Answer, predicate::Error> {
        let graph = &asked.analysis().graph;
        let answers = match self.predicate {
            Some((expr, text)) => asked.answers(expr, "--where", text)?,
            None => vec![Truth::Yes; graph.len()],
        };
        let is_one = |node: Node| answers.get(node as usize) == Some(&Truth::Yes);
        let nodes: Vec<Node> = (0..u32::try_from(graph.len()).unwrap_or(NOBODY)).filter(|node| is_one(*node)).collect();
        let total = Amounts {
            objects: nodes.len() as u64,
            bytes: nodes.iter().map(|node| graph.bytes(*node)).sum(),
            retained_bytes: asked.analysis().freed_with_all(is_one),
            retained_exact: true,
        };
        let undecided = answers.iter().filter(|answer| **answer == Truth::Unknown).count() as u64;
        let (groups, rows, all) = match self.group {
            Some(group) => {
                let (groups, all) = groups(asked, &nodes, group, self.rows);
                (groups, Vec::new(), all)
            }
            None => (Vec::new(), biggest(asked, &nodes, self.rows), nodes.len()),
        };
        let further = (all - groups.len() - rows.len()) as u64;
        let predicate = self.predicate.map(|(expr, _)| expr.to_string());
        Ok(Answer { predicate, total, undecided, group: self.group, groups, rows, further })
    }
}

/// Those objects that retain most.
pub(super) fn biggest(asked: &Asked<'_>, nodes: &[Node], rows: usize) -> Vec<ObjectRow> {
    let key = |node: &Node| (Reverse(asked.analysis().dominators.retained(*node)), *node);
    let mut nodes = nodes.to_vec();
    if nodes.len() > rows {
        nodes.select_nth_unstable_by_key(rows, key);
        nodes.truncate(rows);
    }
    nodes.sort_unstable_by_key(key);
    nodes.into_iter().map(|node| asked.analysis().object(node)).collect()
}

/// Those groups that retain most, and how many there are.
fn groups(asked: &Asked<'_>, nodes: &[Node], group: Group, rows: usize) -> (Vec<GroupRow>, usize) {
    let analysis = asked.analysis();
    let (names, number_of) = grouped(asked, nodes, group);
    let mut amounts = vec![Amounts::default(); names.len()];
    // One more for what was not asked for.
    let mut of = vec![u32::try_from(names.len()).unwrap_or(NOBODY); analysis.graph.len()];
    for (node, number) in nodes.iter().zip(&number_of) {
        of[*node as usize] = *number;
        let amounts = &mut amounts[*number as usize];
        amounts.objects += 1;
        amounts.bytes += analysis.graph.bytes(*node);
    }
    let retained = analysis.dominators.retained_by(&of, names.len() + 1);
    for (amounts, retained) in amounts.iter_mut().zip(retained) {
        amounts.retained_bytes = retained;
    }
    let all = names.len();
    let mut numbered: Vec<(u32, GroupRow)> =
        (0..).zip(names.into_iter().zip(amounts).map(|(name, amounts)| GroupRow { name, amounts })).collect();
    sort(&mut numbered);
    // What is exact can be more than what stood above it, so those beyond the last row are looked at as well.
    for (number, row) in numbered.iter_mut().take(analysis.most_exact()) {
        // What a single object retains is exact as it is.
        if row.amounts.objects > 1 {
            row.amounts.retained_bytes = analysis.freed_with_all(|node| of.get(node as usize) == Some(number));
        }
        row.amounts.retained_exact = true;
    }
    sort(&mut numbered);
    numbered.truncate(rows);
    (numbered.into_iter().map(|(_, row)| row).collect(), all)
}

fn sort(numbered: &mut [(u32, GroupRow)]) {
    numbered.sort_by(|(_, one), (_, other)| {
        other.amounts.retained_bytes.cmp(&one.amounts.retained_bytes).then_with(|| one.name.cmp(&other.name))
    });
}

/// Names of groups, and the number of each object's.
fn grouped(asked: &Asked<'_>, nodes: &[Node], group: Group) -> (Vec<String>, Vec<u32>) {
    let graph = &asked.analysis().graph;
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut number = |name: String| {
        let next = u32::try_from(numbers.len()).unwrap_or(NOBODY);
        *numbers.entry(name).or_insert(next)
    };
    let class = |node: Node| graph.class.get(node as usize).map_or(0, |class| *class as usize);
    let numbered: Vec<u32> = match group {
        Group::Class | Group::Package | Group::Loader => {
            let names = of_classes(asked, group);
            let mut known: Vec<Option<u32>> = vec![None; names.len()];
            let of = |node: &Node| match known.get_mut(class(*node)) {
                Some(known) => *known.get_or_insert_with(|| number(names[class(*node)].clone())),
                None => number(NOT_KNOWN.to_owned()),
            };
            nodes.iter().map(of).collect()
        }
        Group::Holder => {
            let holders = Holders::of(asked);
            let mut known: HashMap<Option<Named>, u32> = HashMap::new();
            let of = |node: &Node| {
                let holder = holders.named(*node);
                *known.entry(holder).or_insert_with(|| number(holders.name(holder)))
            };
            nodes.iter().map(of).collect()
        }
        Group::Root => {
            let root = |node: &Node| number(asked.root_of(asked.start_of(*node)).word().to_owned());
            nodes.iter().map(root).collect()
        }
    };
    let mut names: Vec<(u32, String)> = numbers.into_iter().map(|(name, number)| (number, name)).collect();
    names.sort_unstable();
    (names.into_iter().map(|(_, name)| name).collect(), numbered)
}

/// The name of each class's group.
fn of_classes(asked: &Asked<'_>, group: Group) -> Vec<String> {
    let graph = &asked.analysis().graph;
    if group == Group::Loader {
        return asked.loader_names().into_iter().map(|loader| loader.unwrap_or_else(|| NOT_KNOWN.to_owned())).collect();
    }
    let name = |class: &super::graph::Class| {
        let name = compared(&class.name);
        match group {
            _ if is_unknown(class) => NOT_KNOWN.to_owned(),
            Group::Package => class_name::package(&name).to_owned(),
            _ => name,
        }
    };
    graph.classes.iter().map(name).collect()
}

/// A class, or that an object stands for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Named {
    class: u32,
    is_class_itself: bool,
}

/// For each object the nearest object of the program's own that is on every way to it.
struct Holders<'a> {
    asked: &'a Asked<'a>,
    /// Whether a class is one of the JDK's, by number.
    of_jdk: Vec<bool>,
    nearest: Vec<Node>,
}

impl<'a> Holders<'a> {
    fn of(asked: &'a Asked<'a>) -> Self {
        let graph = &asked.analysis().graph;
        let of_jdk = |class: &super::graph::Class| is_unknown(class) || !is_own(&class.name);
        let of_jdk = graph.classes.iter().map(of_jdk).collect();
        let mut holders = Self { asked, of_jdk, nearest: vec![NOBODY; graph.len()] };
        for (node, above) in asked.analysis().dominators.top_down() {
            let Some(above) = above else { continue };
            let over = holders.nearest[above as usize];
            // The nearest one, unless there is one of the program's own above it.
            let is_better = !holders.is_of_jdk(above) || over == NOBODY || holders.is_of_jdk(over);
            holders.nearest[node as usize] = if is_better { above } else { over };
        }
        holders
    }

    fn named_itself(&self, node: Node) -> Named {
        let analysis = self.asked.analysis();
        let stands_for = analysis.stands_for(node);
        let class = stands_for.or_else(|| analysis.graph.class.get(node as usize).copied()).unwrap_or(0);
        Named { class, is_class_itself: stands_for.is_some() }
    }

    fn is_of_jdk(&self, node: Node) -> bool {
        self.of_jdk.get(self.named_itself(node).class as usize).copied().unwrap_or(true)
    }

    fn named(&self, node: Node) -> Option<Named> {
        let nearest = self.nearest.get(node as usize).copied().filter(|nearest| *nearest != NOBODY)?;
        Some(self.named_itself(nearest))
    }

    fn name(&self, named: Option<Named>) -> String {
        let Some(Named { class, is_class_itself }) = named else { return NO_HOLDER.to_owned() };
        let class = self.asked.analysis().graph.classes.get(class as usize).filter(|class| !is_unknown(class));
        let name = class.map_or_else(|| NOT_KNOWN.to_owned(), |class| compared(&class.name));
        if is_class_itself { format!("class {name}") } else { name }
    }
}

#[cfg(test)]
mod tests;
