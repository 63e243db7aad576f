//! Contexts stand for stacks: one number each, and back again.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tracer_common::marks::WordKind;

use super::*;
use crate::{
    client::testing::Play,
    mark::Marker,
    mark::testing::{Words, marker},
    random::Random,
};

const PLACES: usize = 50;

/// Beside the contexts, the full stacks.
struct Oracle {
    contexts: Contexts,
    /// The one stack of each context, and the other way round.
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    entries: usize,
    collisions: u64,
    stacks: HashMap<ContextId, Vec<u32>>,
    contexts: HashMap<Vec<u32>, ContextId>,
}

impl Client for Oracle {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn method_loaded(&mut self, place: &Place, marker: &Marker) {
        self.contexts.method_loaded(place, marker);
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        self.contexts.marker_enter(mark);
        let context = self.contexts.present(mark.thread.index);
        let mut seen = self.seen.lock().unwrap();
        seen.entries += 1;
        seen.collisions = self.contexts.collisions();
        // Looking at all of the stack at every entry would take the square of its depth.
        if !seen.entries.is_multiple_of(16) {
            return;
        }
        let stack: Vec<u32> = mark.stack().entries().iter().map(|entry| entry.place).collect();
        assert_eq!(self.contexts.decode(context).as_ref(), Some(&stack));
        assert_eq!(seen.stacks.entry(context).or_insert_with(|| stack.clone()), &stack);
        assert_eq!(*seen.contexts.entry(stack).or_insert(context), context);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        self.contexts.marker_exit(mark, exit);
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        self.contexts.report(at)
    }
}

/// A random call tree of about so many calls, its shape depending on `calls`.
fn tree(random: &mut Random, calls: usize) -> Words {
    let mut words = Words::default();
    let mut stack = Vec::new();
    let (deepest, fan) = (1 + random.below(12), 1 + random.below(PLACES));
    let mut left = calls;
    while left > 0 || !stack.is_empty() {
        if left > 0 && (stack.is_empty() || stack.len() < deepest && random.below(2) == 0) {
            let place = u32::try_from(random.below(fan)).unwrap() + 1;
            words.push(WordKind::Enter, place, 0);
            stack.push(place);
            left -= 1;
        } else if let Some(place) = stack.pop() {
            words.push(if random.below(9) == 0 { WordKind::Thrown } else { WordKind::Exit }, place, 0);
        }
    }
    words
}

#[test]
fn contexts_of_a_million_calls_in_random_trees_equal_full_stacks() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let oracle = Oracle { contexts: Contexts::default(), seen: Arc::clone(&seen) };
    let markers = (0..PLACES).map(|index| marker(&format!("m{index}"))).collect();
    let mut play = Play::new(markers, vec![Box::new(oracle)]);
    let mut random = Random::new(5);
    let mut trees = 0_u32;
    while seen.lock().unwrap().entries < 1_000_000 {
        let calls = 1 + random.below(60);
        play.batch(trees % 7, &tree(&mut random, calls), false);
        trees += 1;
    }
    let seen = seen.lock().unwrap();
    assert!(trees > 20_000 && seen.stacks.len() > 1_000, "{trees} {}", seen.stacks.len());
    assert_eq!((seen.collisions, seen.stacks.len()), (0, seen.contexts.len()));
    assert!(play.dispatch.threads().all().iter().all(|thread| thread.stack.depth() == 0));
}

#[test]
fn two_chains_with_one_number_are_counted() {
    let mut contexts = Contexts::default();
    // 3 * 1 + 4 is 7.
    let [one, seven] = [1, 7].map(|site| ContextId::default().below(site));
    contexts.count(one, ContextId::default(), 1);
    contexts.count(one.below(4), one, 4);
    assert_eq!(contexts.collisions(), 0);
    contexts.count(seven, ContextId::default(), 7);
    assert_eq!(contexts.collisions(), 1);
    assert_eq!(contexts.decode(seven), Some(vec![1, 4]), "the first chain stays");
    contexts.count(ContextId::default(), one, 2);
    assert_eq!(contexts.collisions(), 2, "0 is where nothing is open");
}

#[test]
fn numbers_of_sites_do_not_depend_on_the_session() {
    let place = crate::mark::testing::place;
    let renumbered = PlaceDefinition { id: 99, marker: 5, line: None, ..place(1, 0) };
    assert_eq!(site(&place(1, 0)), site(&renumbered));
    assert_ne!(site(&place(1, 0)), site(&PlaceDefinition { bci: 1, ..place(1, 0) }));
    assert_eq!(site(&place(1, 0)), 15_676_713_919_137_105_212, "it is a part of what users keep");
}
