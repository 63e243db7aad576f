//! By what objects are held, up to the first class of the program's own: equal ways have equal numbers.

use std::collections::HashMap;

use crate::heap::{
    graph::{NOBODY, Node, Via, is_own},
    paths::Step,
    summary::Analysis,
};

/// Steps of a way; what is further up is not told.
const MAX_STEPS: u32 = 6;
/// Most ways that are told apart.
const MAX_WAYS: usize = 1 << 16;
/// All others.
const REST: u32 = u32::MAX - 1;

/// A way: its first step, and the way on.
struct Way {
    /// An object that is held so.
    sample: Node,
    above: Option<u32>,
    steps: u32,
}

/// Ways of one snapshot.
pub(in crate::heap) struct Ways<'a> {
    analysis: &'a Analysis,
    /// Of each class, whether a way ends where an object of it refers.
    is_own: Vec<bool>,
    /// The way of each object, once it is known.
    of: Vec<u32>,
    /// By the first step and the way on.
    numbers: HashMap<((u32, u32), u32), u32>,
    told: Vec<Way>,
}

impl<'a> Ways<'a> {
    pub(in crate::heap) fn of(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            is_own: analysis.graph.classes.iter().map(|class| is_own(&class.name)).collect(),
            of: vec![NOBODY; analysis.graph.len()],
            numbers: HashMap::new(),
            told: Vec::new(),
        }
    }

    fn class(&self, node: Node) -> u32 {
        self.analysis.graph.class.get(node as usize).copied().unwrap_or(0)
    }

    fn step(&self, node: Node) -> Option<Step> {
        self.analysis.paths.step(&self.analysis.graph, node)
    }

    /// Whether nothing is told of what is above a step.
    fn ends(&self, step: Step) -> bool {
        matches!(step.label.via(), Via::Static(_)) || self.is_own.get(self.class(step.from) as usize) == Some(&true)
    }

    /// Whether a step leads from a link of a list, or a part of a tree, to the next one.
    fn is_link(&self, node: Node, step: Step) -> bool {
        self.class(step.from) == self.class(node) && matches!(step.label.via(), Via::Field(_)) && !self.ends(step)
    }

    /// The number of an object's way.
    pub(in crate::heap) fn way(&mut self, node: Node) -> u32 {
        let mut chain = Vec::new();
        let mut next = node;
        let mut above = loop {
            match self.of.get(next as usize).copied() {
                Some(NOBODY) => chain.push(next),
                Some(known) => break Some(known),
                None => break None,
            }
            match self.step(next) {
                Some(step) if self.is_link(next, step) || !self.ends(step) => next = step.from,
                _ => break None,
            }
        };
        while let Some(node) = chain.pop() {
            let is_link = self.step(node).is_some_and(|step| self.is_link(node, step));
            let way = match above {
                Some(above) if is_link => above,
                _ => self.enter(node, above),
            };
            self.of[node as usize] = way;
            above = Some(way);
        }
        above.unwrap_or(REST)
    }

    /// The way of an object that is held by one on a known way.
    fn enter(&mut self, node: Node, above: Option<u32>) -> u32 {
        let kind = match self.step(node) {
            Some(step) => self.analysis.kind_of(step),
            None => (u32::MAX, self.analysis.root_kind(node) as u32),
        };
        let steps = above.map_or(0, |above| self.told.get(above as usize).map_or(MAX_STEPS, |way| way.steps));
        // What is too far from the end begins anew.
        let above = above.filter(|_| steps < MAX_STEPS);
        let key = (kind, above.unwrap_or(NOBODY));
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.told.len() >= MAX_WAYS {
            return REST;
        }
        let number = u32::try_from(self.told.len()).unwrap_or(REST);
        self.numbers.insert(key, number);
        self.told.push(Way { sample: node, above, steps: above.map_or(1, |_| steps + 1) });
        number
    }

    /// A way in words, from the object on.
    pub(in crate::heap) fn text(&self, way: u32) -> Vec<String> {
        let mut text: Vec<String> = Vec::new();
        let mut next = Some(way);
        while let Some(number) = next {
            let Some(way) = self.told.get(number as usize) else {
                text.push("(more ways than are told apart)".to_owned());
                break;
            };
            text.push(match self.step(way.sample) {
                Some(step) => self.analysis.short(step),
                None => self.analysis.root_kind(way.sample).text().to_owned(),
            });
            next = way.above;
        }
        text
    }
}
