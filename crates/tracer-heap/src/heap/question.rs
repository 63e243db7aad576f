//! Of which objects of a snapshot a predicate holds.
//!
//! Conditions are answered one after another, each for all objects: classes, fields and roots are looked at once and not for each object.

mod copies;
mod names;

use std::cell::OnceCell;

use super::{
    graph::{Class, Graph, NOBODY, Node, RootKind, Via},
    paths::Paths,
    summary::Analysis,
    truth::{Bounds, Truth, without_number},
};
use crate::{
    predicate::{
        Error, Field,
        error::nearest,
        tree::{Condition, Expr, TextTest, Tree},
    },
    text::class_name,
};

use names::{class_answer, loaders};
pub(super) use names::{compared, is_unknown};

/// What stands for the name of a field where an array refers.
pub const ELEMENT: &str = "[]";

/// A snapshot of which is asked.
#[derive(Debug)]
pub struct Asked<'a> {
    analysis: &'a Analysis,
    /// Whether all that there was is in it. Else only that is known which more objects and references would not change.
    is_whole: bool,
    /// Whether what is not there is known not to have been there.
    saw_all: bool,
    begun: OnceCell<Begun>,
}

/// Where the way to each object begins, and how long it is.
#[derive(Debug)]
pub(super) struct Begun {
    /// [`NOBODY`]: there is none.
    start: Vec<Node>,
    depth: Vec<u32>,
}

/// What is wrong with a condition: what, and what to do.
type Wrong = (String, Option<String>);

impl<'a> Asked<'a> {
    /// Asks of all that there was; where not all was seen, what could be otherwise is not known.
    pub const fn new(analysis: &'a Analysis, is_whole: bool) -> Self {
        Self { analysis, is_whole, saw_all: is_whole, begun: OnceCell::new() }
    }

    /// Asks of what was seen alone.
    pub const fn of_what_was_seen(analysis: &'a Analysis, is_whole: bool) -> Self {
        Self { analysis, is_whole: true, saw_all: is_whole, begun: OnceCell::new() }
    }

    /// The snapshot.
    pub const fn analysis(&self) -> &'a Analysis {
        self.analysis
    }

    /// Whether all that there was is in it.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    const fn graph(&self) -> &'a Graph {
        &self.analysis.graph
    }

    /// What a predicate says of each object. An error shows the condition in the text that was given to the option.
    pub fn answers(&self, expr: &Expr, option: &'static str, text: &str) -> Result<Vec<Truth>, Error> {
        match &expr.tree {
            Tree::And(parts) => self.joined(parts, option, text, Truth::min),
            Tree::Or(parts) => self.joined(parts, option, text, Truth::max),
            Tree::Not(part) => {
                let mut answers = self.answers(part, option, text)?;
                for answer in &mut answers {
                    *answer = answer.negated();
                }
                Ok(answers)
            }
            Tree::Test(condition) => self.condition(condition).map_err(|(what, hint)| Error {
                option,
                text: text.to_owned(),
                span: expr.span,
                what,
                hint,
            }),
        }
    }

    fn joined(
        &self,
        parts: &[Expr],
        option: &'static str,
        text: &str,
        join: fn(Truth, Truth) -> Truth,
    ) -> Result<Vec<Truth>, Error> {
        let mut all: Option<Vec<Truth>> = None;
        for part in parts {
            let answers = self.answers(part, option, text)?;
            match &mut all {
                None => all = Some(answers),
                Some(all) => all.iter_mut().zip(answers).for_each(|(one, other)| *one = join(*one, other)),
            }
        }
        Ok(all.unwrap_or_default())
    }

    fn condition(&self, condition: &Condition) -> Result<Vec<Truth>, Wrong> {
        match condition {
            Condition::Text { field, wanted, test } => {
                let mut answers = self.text(*field, test)?;
                for answer in &mut answers {
                    *answer = answer.is(*wanted);
                }
                Ok(answers)
            }
            Condition::Number { field: Field::Copies, .. } | Condition::OneOf { field: Field::Copies, .. } => {
                self.copies(condition)
            }
            Condition::Number { field, .. } | Condition::OneOf { field, .. } => Ok(self.numbers(*field, condition)),
            // The parser knows that these are of events.
            Condition::Daemon { .. } | Condition::Sample { .. } | Condition::Nth { .. } | Condition::First { .. } => {
                Err(("objects of a heap are not asked for this".to_owned(), None))
            }
        }
    }

    fn text(&self, field: Field, test: &TextTest) -> Result<Vec<Truth>, Wrong> {
        let of_classes = |name: fn(&str) -> &str| {
            let graph = self.graph();
            let answer = |class: &Class| class_answer(class, |class| test.holds(name(class)));
            self.by_class(&graph.classes.iter().map(answer).collect::<Vec<_>>())
        };
        match field {
            Field::Class => Ok(of_classes(|class| class)),
            Field::Package => Ok(of_classes(class_name::package)),
            Field::Loader => self.loaders(test),
            Field::FieldName => Ok(self.fields(test)),
            Field::Holder => Ok(self.holders(test)),
            Field::Root => self.roots(test),
            Field::Thread => self.threads(test),
            other => Err((format!("objects of a heap have no {other}"), None)),
        }
    }

    /// What is said of each object by its class.
    fn by_class(&self, answers: &[Truth]) -> Vec<Truth> {
        let of = |class: &u32| answers.get(*class as usize).copied().unwrap_or(Truth::Unknown);
        self.graph().class.iter().map(of).collect()
    }

    /// The class of each class's loader, where it is known.
    pub(super) fn loader_names(&self) -> Vec<Option<String>> {
        loaders(self.graph(), self.saw_all)
    }

    fn loaders(&self, test: &TextTest) -> Result<Vec<Truth>, Wrong> {
        if self.graph().classes.iter().all(|class| class.object == NOBODY) {
            return Err((
                "this snapshot does not tell which loader a class has".to_owned(),
                Some("ask for class or package".to_owned()),
            ));
        }
        let loaders = self.loader_names();
        let answer = |loader: &Option<String>| loader.as_ref().map_or(Truth::Unknown, |name| test.holds(name).into());
        Ok(self.by_class(&loaders.iter().map(answer).collect::<Vec<_>>()))
    }

    /// Whether one of the fields that lead to it is such.
    fn fields(&self, test: &TextTest) -> Vec<Truth> {
        let graph = self.graph();
        let is_such: Vec<bool> = graph.names.iter().map(|name| test.holds(name)).collect();
        let is_element = test.holds(ELEMENT);
        let mut answers = vec![Truth::No.at_least(self.is_whole); graph.len()];
        for (to, label) in graph.to.iter().zip(&graph.label) {
            let is_such = match label.via() {
                Via::Field(name) | Via::Static(name) | Via::Referent(name) => is_such.get(name as usize) == Some(&true),
                Via::Element(_) => is_element,
                Via::Loader | Via::Constant | Via::Super | Via::Class | Via::Other => false,
            };
            if let Some(answer) = answers.get_mut(*to as usize).filter(|_| is_such) {
                *answer = Truth::Yes;
            }
        }
        answers
    }

    /// Whether an object that is on every way to it is such. Where references are missing, so are ways.
    fn holders(&self, test: &TextTest) -> Vec<Truth> {
        let graph = self.graph();
        let of = |holds: &dyn Fn(&str) -> bool| -> Vec<Truth> {
            graph.classes.iter().map(|class| class_answer(class, holds)).collect()
        };
        let of_class = of(&|class| test.holds(class));
        let of_class_itself = of(&|class| test.holds(&format!("class {class}")));
        let own = |node: Node| {
            let stands_for = self.analysis.stands_for(node);
            let class = stands_for.or_else(|| graph.class.get(node as usize).copied()).unwrap_or(0);
            let answers = if stands_for.is_some() { &of_class_itself } else { &of_class };
            answers.get(class as usize).copied().unwrap_or(Truth::Unknown)
        };
        let mut answers = vec![Truth::No; graph.len()];
        for (node, above) in self.analysis.dominators.top_down() {
            if let Some(above) = above {
                answers[node as usize] = answers[above as usize].max(own(above));
            }
        }
        if !self.is_whole {
            answers.fill(Truth::Unknown);
        }
        answers
    }

    fn roots(&self, test: &TextTest) -> Result<Vec<Truth>, Wrong> {
        if !RootKind::ALL.iter().any(|kind| test.holds(kind.word())) {
            let words = RootKind::ALL.map(RootKind::word);
            let hint = match test {
                TextTest::Is(name) => nearest(name.compared(), words).map(|word| format!("did you mean {word:?}?")),
                TextTest::Like(_) | TextTest::In(_) => None,
            };
            let hint = hint.unwrap_or_else(|| format!("roots are {}", words.join(", ")));
            return Err(("there is no such kind of root".to_owned(), Some(hint)));
        }
        Ok(self.by_start(|node| test.holds(self.root_of(node).word())))
    }

    fn threads(&self, test: &TextTest) -> Result<Vec<Truth>, Wrong> {
        let threads = &self.graph().threads;
        if threads.is_empty() {
            return Err((
                "this snapshot has no names of threads".to_owned(),
                Some("`jtrace heap PID` has them, dumps have not; root == \"stack_local\" is known of both".to_owned()),
            ));
        }
        let name = |node: Node| {
            let root = self.analysis.paths.root(node)?;
            threads.get(&root.thread)
        };
        Ok(self.by_start(|node| name(node).is_some_and(|name| test.holds(name))))
    }

    /// What is said of each object by where the shortest way to it begins. More references could make another one the shortest.
    fn by_start(&self, holds: impl Fn(Node) -> bool) -> Vec<Truth> {
        if !self.is_whole {
            return vec![Truth::Unknown; self.graph().len()];
        }
        let start = &self.begun().start;
        let mut of_start: Vec<Option<bool>> = vec![None; start.len()];
        let answer = |(node, start): (Node, &Node)| {
            let start = if *start == NOBODY { node } else { *start };
            match of_start.get_mut(start as usize) {
                Some(known) => (*known.get_or_insert_with(|| holds(start))).into(),
                None => Truth::Unknown,
            }
        };
        (0..).zip(start).map(answer).collect()
    }

    /// The kind of root that an object is, or why it is none.
    pub(super) fn root_of(&self, node: Node) -> RootKind {
        match self.analysis.paths.root(node) {
            Some(root) => root.kind,
            None if self.analysis.paths.reaches(node) => RootKind::Other,
            None if self.analysis.dominators.is_unreached(node) => RootKind::Unreached,
            None => RootKind::OnlyWeak,
        }
    }

    /// Where the shortest way to each object begins; itself where there is none.
    pub(super) fn start_of(&self, node: Node) -> Node {
        self.begun().start.get(node as usize).copied().filter(|start| *start != NOBODY).unwrap_or(node)
    }

    fn begun(&self) -> &Begun {
        self.begun.get_or_init(|| Begun::of(&self.analysis.graph, &self.analysis.paths))
    }

    fn numbers(&self, field: Field, condition: &Condition) -> Vec<Truth> {
        let Self { analysis, is_whole, .. } = self;
        let graph = self.graph();
        let nodes = 0..u32::try_from(graph.len()).unwrap_or(NOBODY);
        let each = |bounds: &dyn Fn(Node) -> Option<Bounds>| -> Vec<Truth> {
            let answer = |bounds: Option<Bounds>| {
                bounds.map_or_else(|| without_number(condition), |bounds| bounds.answer(condition))
            };
            nodes.clone().map(|node| answer(bounds(node))).collect()
        };
        match field {
            Field::Size => each(&|node| Some(Bounds::exactly(graph.bytes(node)))),
            // With another way to what it retains, it retains less; but never less than itself.
            Field::Retained if !is_whole => each(&|node| Some(Bounds { least: graph.bytes(node), most: None })),
            Field::Retained => each(&|node| Some(Bounds::exactly(analysis.dominators.retained(node)))),
            Field::Length => {
                let mut lengths = graph.lengths.iter().peekable();
                let mut answers = vec![without_number(condition); graph.len()];
                for (node, answer) in (0..).zip(&mut answers) {
                    if let Some((_, length)) = lengths.next_if(|(array, _)| *array == node) {
                        *answer = Bounds::exactly(u64::from(*length)).answer(condition);
                    }
                }
                answers
            }
            Field::References => each(&|node| Some(Bounds::seen(graph.row(node).len() as u64, *is_whole))),
            Field::Referrers => {
                let mut count = vec![0_u32; graph.len()];
                for to in &graph.to {
                    if let Some(count) = count.get_mut(*to as usize) {
                        *count = count.saturating_add(1);
                    }
                }
                each(&|node| Some(Bounds::seen(u64::from(count[node as usize]), *is_whole)))
            }
            Field::Depth => {
                let Begun { start, depth } = self.begun();
                // More references can only make a way shorter.
                let least = |depth: u64| if *is_whole { depth } else { 0 };
                each(&|node| {
                    let depth = u64::from(depth[node as usize]);
                    match (start[node as usize] == NOBODY, is_whole) {
                        (true, true) => None,
                        (true, false) => Some(Bounds { least: 0, most: None }),
                        (false, _) => Some(Bounds { least: least(depth), most: Some(depth) }),
                    }
                })
            }
            _ => vec![Truth::Unknown; graph.len()],
        }
    }
}

impl Begun {
    /// Finds it for these ways.
    pub(super) fn of(graph: &Graph, paths: &Paths) -> Self {
        let count = graph.len();
        let mut ways = Self { start: vec![NOBODY; count], depth: vec![0; count] };
        let mut way = Vec::new();
        for node in 0..u32::try_from(count).unwrap_or(NOBODY) {
            let mut next = node;
            // Up to an object whose way is known, or to a root.
            while ways.start.get(next as usize) == Some(&NOBODY) {
                way.push(next);
                match paths.step(graph, next) {
                    Some(step) => next = step.from,
                    None => break,
                }
            }
            if ways.start[next as usize] == NOBODY {
                // Nothing stands before it: it is a root, or nothing leads there.
                way.pop();
                if paths.reaches(next) {
                    ways.start[next as usize] = next;
                }
            }
            let (start, mut depth) = (ways.start[next as usize], ways.depth[next as usize]);
            while let Some(node) = way.pop() {
                depth = depth.saturating_add(1);
                (ways.start[node as usize], ways.depth[node as usize]) = (start, depth);
            }
        }
        ways
    }

    /// How many steps the way to an object has.
    pub(super) fn depth(&self, node: Node) -> u32 {
        self.depth.get(node as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
pub(super) mod tests;
