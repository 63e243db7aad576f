//! How many arrays of numbers, or boxed numbers, hold the same.

use std::collections::HashMap;

use super::{Asked, Wrong, is_unknown};
use crate::{
    heap::{
        contents::{element_bytes, is_box},
        graph::Class,
        truth::{Bounds, Truth, without_number},
    },
    predicate::tree::Condition,
};

impl Asked<'_> {
    /// What a condition on copies says of each object.
    pub(super) fn copies(&self, condition: &Condition) -> Result<Vec<Truth>, Wrong> {
        let graph = &self.analysis.graph;
        let Some(contents) = &graph.contents else {
            return Err((
                "this snapshot does not tell what arrays hold".to_owned(),
                Some("`jtrace heap PID` without `--stop` does, and dumps of the JVM's own do".to_owned()),
            ));
        };
        let mut copies: HashMap<u32, u64> = HashMap::new();
        for (_, content) in &contents.equal {
            *copies.entry(*content).or_default() += 1;
        }
        let answer = |copies: u64| Bounds::seen(copies, self.is_whole).answer(condition);
        let of_class = |class: &Class| match class {
            _ if is_unknown(class) => Truth::Unknown,
            // One that is equal to no other one is there once.
            Class { name, .. } if element_bytes(name).is_some() || is_box(name) => answer(1),
            _ => without_number(condition),
        };
        let of_classes: Vec<Truth> = graph.classes.iter().map(of_class).collect();
        let mut answers = self.by_class(&of_classes);
        for (node, content) in &contents.equal {
            if let Some(answered) = answers.get_mut(*node as usize) {
                *answered = answer(copies.get(content).copied().unwrap_or(1));
            }
        }
        Ok(answers)
    }
}
