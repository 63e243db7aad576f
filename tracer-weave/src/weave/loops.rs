//! Natural loops: what goes round, by the branches that go back to where it began.
//!
//! A loop is a header and all that can come back to it without leaving; it is left as soon as there is no way back, so before
//! what stands behind a `break`. Loops with the same header are one loop: in bytecode nothing tells them from one with a
//! `continue`. An iteration begins behind the test that the loop begins with: `for (i = 0; i < 3; i++)` tests four times and
//! has three iterations. A loop that begins with no test (`do`) has one for each passing of its header.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::code::{Code, Flow, INVOKEINTERFACE, INVOKEVIRTUAL, Reason};
use super::tables::Lines;
use crate::class::ClassBytes;

/// Ways between blocks that are looked at.
const MOST_WAYS: usize = 1_000_000;
/// Steps that finding loops may take.
const MOST_STEPS: usize = 20_000_000;

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its first instruction: who comes into it comes there.
    pub(crate) header: usize,
    /// Its instructions, in order.
    pub(crate) members: Vec<usize>,
    /// Ways, from instruction to instruction, that each begin an iteration. None: every passing of the header does.
    pub(crate) iterations: Vec<(usize, usize)>,
}

/// Whether a method has subroutines, as compilers wrote before version 50. Where they come back to is not in the code.
pub(crate) fn has_subroutines(code: &Code<'_>) -> bool {
    code.instructions.iter().any(|instruction| matches!(instruction.flow, Flow::Subroutine(_) | Flow::Ret))
}

/// Finds them, and says of how many rounds nobody knows where they begin.
pub(crate) fn find(
    class: &ClassBytes<'_>,
    code: &Code<'_>,
    blocks: &Blocks,
    lines: &Lines,
) -> Result<(Vec<Loop>, usize), Reason> {
    if has_subroutines(code) {
        return Err("it has subroutines (`jsr`)".to_owned());
    }
    let graph = Graph::new(code, blocks)?;
    let order = graph.order();
    let mut steps = MOST_STEPS;
    let dominators = graph.dominators(&order, &mut steps)?;
    let mut latches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut without_header = 0;
    for (from, place) in order.iter().map(|from| (*from, dominators.place[*from])) {
        for to in graph.ways[from].iter().filter(|to| dominators.place[**to] <= place) {
            if dominators.dominates(*to, from, &mut steps)? {
                latches.entry(*to).or_default().push(from);
            } else {
                without_header += 1;
            }
        }
    }
    let loops = latches.into_iter().map(|(header, latches)| {
        let inside = graph.going_round(header, latches, &dominators, &mut steps)?;
        let iterations = Test { class, code, blocks, lines, graph: &graph, header, inside: &inside }.iterations();
        let members =
            inside.iter().enumerate().filter(|(_, inside)| **inside).flat_map(|(block, _)| blocks.instructions(block));
        Ok(Loop { header: blocks.instructions(header).start, members: members.collect(), iterations })
    });
    Ok((loops.collect::<Result<_, Reason>>()?, without_header))
}

fn entangled() -> Reason {
    "its loops are too entangled".to_owned()
}

/// Takes steps off what is left of them.
fn spend(steps: &mut usize, count: usize) -> Result<(), Reason> {
    *steps = steps.checked_sub(count).ok_or_else(entangled)?;
    Ok(())
}

/// Ways between blocks, exceptions included.
struct Graph {
    ways: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
}

impl Graph {
    fn new(code: &Code<'_>, blocks: &Blocks) -> Result<Self, Reason> {
        let mut ways = vec![Vec::new(); blocks.count()];
        for (block, ways) in ways.iter_mut().enumerate() {
            let last = blocks.instructions(block).end - 1;
            let flow = &code.instructions[last].flow;
            if flow.falls_through() {
                ways.push(block + 1);
            }
            ways.extend(flow.targets().iter().map(|target| blocks.of(*target)));
        }
        let mut count: usize = ways.iter().map(Vec::len).sum();
        for handler in &code.handlers {
            let to = blocks.of(handler.target);
            // A handler that leaves a monitor is for itself, too. That is no loop.
            let own = (handler.start..handler.end).contains(&handler.target);
            let end = if own { handler.target } else { handler.end };
            if handler.start >= end {
                continue;
            }
            let covered = &mut ways[blocks.of(handler.start)..=blocks.of(end - 1)];
            count += covered.len();
            for ways in covered {
                ways.push(to);
            }
            if count > MOST_WAYS {
                return Err(entangled());
            }
        }
        let mut back = vec![Vec::new(); blocks.count()];
        for (from, ways) in ways.iter_mut().enumerate() {
            ways.sort_unstable();
            ways.dedup();
            for to in ways {
                back[*to].push(from);
            }
        }
        Ok(Self { ways, back })
    }

    /// The blocks that control can come to, each before those that it leads to, going back apart.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.ways.len()];
        seen[0] = true;
        let mut order = Vec::new();
        let mut path = vec![(0, 0)];
        while let Some((block, next)) = path.pop() {
            match self.ways[block].get(next) {
                None => order.push(block),
                Some(&to) => {
                    path.push((block, next + 1));
                    if !seen[to] {
                        seen[to] = true;
                        path.push((to, 0));
                    }
                }
            }
        }
        order.reverse();
        order
    }

    /// Which block every way to a block passes last before it.
    fn dominators(&self, order: &[usize], steps: &mut usize) -> Result<Dominators, Reason> {
        let mut place = vec![usize::MAX; self.ways.len()];
        for (number, block) in order.iter().enumerate() {
            place[*block] = number;
        }
        // By place in the order, and so is what it says.
        let mut of: Vec<Option<usize>> = vec![None; order.len()];
        of[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in order.iter().enumerate().skip(1) {
                spend(steps, 1 + self.back[*block].len())?;
                let mut common: Option<usize> = None;
                for from in self.back[*block].iter().map(|from| place[*from]).filter(|from| *from != usize::MAX) {
                    if of[from].is_some() {
                        common = Some(match common {
                            None => from,
                            Some(other) => meet(&of, from, other, steps)?,
                        });
                    }
                }
                if common != of[number] {
                    of[number] = common;
                    changed = true;
                }
            }
        }
        Ok(Dominators { place, of })
    }

    /// All blocks from which control can come to one of these without passing the header.
    fn going_round(
        &self,
        header: usize,
        latches: Vec<usize>,
        dominators: &Dominators,
        steps: &mut usize,
    ) -> Result<Vec<bool>, Reason> {
        spend(steps, self.ways.len())?;
        let mut inside = vec![false; self.ways.len()];
        inside[header] = true;
        let mut open = latches;
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                spend(steps, 1 + self.back[block].len())?;
                open.extend(self.back[block].iter().filter(|from| dominators.place[**from] != usize::MAX));
            }
        }
        Ok(inside)
    }
}

/// The block that all ways to both of two pass last.
fn meet(of: &[Option<usize>], mut one: usize, mut other: usize, steps: &mut usize) -> Result<usize, Reason> {
    while one != other {
        spend(steps, 1)?;
        if one > other {
            one = of[one].ok_or_else(entangled)?;
        } else {
            other = of[other].ok_or_else(entangled)?;
        }
    }
    Ok(one)
}

/// Which block every way to a block passes.
struct Dominators {
    /// By block: its place in the order; `usize::MAX`: control does not come there.
    place: Vec<usize>,
    of: Vec<Option<usize>>,
}

impl Dominators {
    /// Whether every way to the second passes the first.
    fn dominates(&self, block: usize, other: usize, steps: &mut usize) -> Result<bool, Reason> {
        let (place, mut at) = (self.place[block], self.place[other]);
        while at > place {
            spend(steps, 1)?;
            at = self.of[at].ok_or_else(entangled)?;
        }
        Ok(at == place)
    }
}

/// The test that a loop begins with.
struct Test<'a> {
    class: &'a ClassBytes<'a>,
    code: &'a Code<'a>,
    blocks: &'a Blocks,
    lines: &'a Lines,
    graph: &'a Graph,
    header: usize,
    inside: &'a [bool],
}

impl Test<'_> {
    /// The ways out of the test into the rest of the loop; none where the loop begins with no test.
    fn iterations(&self) -> Vec<(usize, usize)> {
        let test = self.blocks_of_test();
        let ways: Vec<(usize, usize)> = test.iter().flat_map(|block| self.ways(*block)).collect();
        let block_of = |to: usize| self.blocks.of(to);
        let leaves = ways.iter().any(|(_, to)| !self.inside[block_of(*to)]);
        if !leaves || ways.iter().any(|(_, to)| block_of(*to) == self.header) {
            return Vec::new();
        }
        let into = |to: usize| self.inside[block_of(to)] && !test.contains(&block_of(to));
        ways.into_iter().filter(|(_, to)| into(*to)).collect()
    }

    /// The header, and what of the same condition follows it (`a && b`): what only it leads to without a new line; where
    /// there are no lines, what goes out of the loop to the same place.
    fn blocks_of_test(&self) -> Vec<usize> {
        let mut test = Vec::new();
        if self.tests(self.header) {
            test.push(self.header);
        }
        let mut looked_at = 0;
        while let Some(block) = test.get(looked_at).copied() {
            looked_at += 1;
            let line = self.lines.of(self.last(block));
            for (_, to) in self.ways(block) {
                let to = self.blocks.of(to);
                let same = if self.lines.is_empty() {
                    self.leaves_with(block, to)
                } else {
                    self.lines.of(self.blocks.instructions(to).start) == line
                };
                let new = to != self.header && self.inside[to] && !test.contains(&to);
                let goes_back = || self.ways(to).any(|(_, next)| self.blocks.of(next) == self.header);
                let only = || self.graph.back[to].iter().all(|from| test.contains(from));
                if new && same && self.tests(to) && !goes_back() && only() {
                    test.push(to);
                }
            }
            // No condition is that long.
            if test.len() > 64 {
                break;
            }
        }
        test
    }

    /// Whether two blocks go out of the loop to the same place.
    fn leaves_with(&self, block: usize, other: usize) -> bool {
        let mut out = self.ways(block).filter(|(_, to)| !self.inside[self.blocks.of(*to)]);
        out.any(|(_, to)| self.ways(other).any(|(_, other)| other == to))
    }

    fn last(&self, block: usize) -> usize {
        self.blocks.instructions(block).end - 1
    }

    /// Ways out of a block, exceptions apart: from instruction to instruction.
    fn ways(&self, block: usize) -> impl Iterator<Item = (usize, usize)> {
        let last = self.last(block);
        let flow = &self.code.instructions[last].flow;
        let fall = flow.falls_through().then_some(last + 1);
        flow.targets().iter().copied().chain(fall).map(move |to| (last, to))
    }

    /// Whether a block is a test that has two ways on, and nothing before it: no statement ends in it.
    fn tests(&self, block: usize) -> bool {
        let instructions = self.blocks.instructions(block);
        let next_statement =
            |index: usize| self.lines.of(index) != self.lines.of(index + 1) && self.ends_statement(index);
        matches!(self.code.instructions[self.last(block)].flow, Flow::If(_))
            && !(instructions.start..self.last(block)).any(next_statement)
    }

    /// Whether an instruction may be the last of a statement: one that leaves nothing on the stack.
    fn ends_statement(&self, index: usize) -> bool {
        let instruction = &self.code.instructions[index];
        match instruction.opcode {
            54..=88 | 132 | 179 | 181 | 194 | 195 => true,
            INVOKEVIRTUAL..=INVOKEINTERFACE => self.class.returns_nothing(self.code.constant(instruction)),
            _ => false,
        }
    }
}
