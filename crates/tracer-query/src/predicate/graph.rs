//! The kernel's graph: made from questions, and made readable again.

use tracer_common::filter::{ACCEPT, Filter, Input, MAX_NODES, MAX_TALLIES, Node, REJECT, Test};

use super::{
    field::{Field, Whose},
    lower::{Lowered, Question},
    split::Names,
    tree::{Expr, written},
};
use crate::text::escape;

/// The graph that asks these questions, which fit it. Conditions on names get bits, tests that count get counters.
pub(super) fn build(questions: &Lowered, names: &mut Names, counters: &mut Vec<usize>) -> Filter {
    let mut builder = Builder { filter: Filter::ALL, names, counters };
    builder.filter.start = builder.place(questions, 0, ACCEPT, REJECT);
    builder.filter
}

struct Builder<'a> {
    filter: Filter,
    names: &'a mut Names,
    counters: &'a mut Vec<usize>,
}

impl Builder<'_> {
    /// Puts the questions at a place and after it, in their order, and says where to begin.
    fn place(&mut self, questions: &Lowered, at: usize, yes: u8, no: u8) -> u8 {
        match questions {
            Lowered::Known(true) => yes,
            Lowered::Known(false) => no,
            Lowered::Leaf(question, true) => self.node(question, at, yes, no),
            Lowered::Leaf(question, false) => self.node(question, at, no, yes),
            Lowered::All(parts) => {
                self.chain(parts, at, |builder, part, at, next| builder.place(part, at, next, no), yes)
            }
            Lowered::Any(parts) => {
                self.chain(parts, at, |builder, part, at, next| builder.place(part, at, yes, next), no)
            }
        }
    }

    /// Puts parts one after another; each leads to the next, the last to the end.
    fn chain(
        &mut self,
        parts: &[Lowered],
        at: usize,
        place: impl Fn(&mut Self, &Lowered, usize, u8) -> u8,
        end: u8,
    ) -> u8 {
        let mut behind = at + parts.iter().map(Lowered::size).sum::<usize>();
        let mut next = end;
        for part in parts.iter().rev() {
            behind -= part.size();
            next = place(self, part, behind, next);
        }
        next
    }

    fn node(&mut self, question: &Question, at: usize, yes: u8, no: u8) -> u8 {
        let asked = match question {
            Question::Names(whose, expr) => {
                let input = match whose {
                    Whose::Subject => Input::Subject,
                    Whose::Caller => Input::Caller,
                    Whose::Thread => Input::Thread,
                };
                self.names.bit(*whose, expr).map(|bit| (input, Test::AnyBit, bit, 0))
            }
            Question::Number(_, input, test, value) => Some((*input, *test, *value, 0)),
            Question::Draw(one_in) => Some((Input::Random, Test::Multiple, *one_in, 0)),
            Question::Tally(test, value, counter) => {
                self.tally(*counter).map(|tally| (Input::Tally, *test, *value, tally))
            }
            Question::User => None,
        };
        let index = u8::try_from(at).ok().filter(|_| at < MAX_NODES);
        let (Some((input, test, value, tally)), Some(index)) = (asked, index) else {
            // Callers see to it that this does not come; an event too many is better than one too few.
            log::warn!("a question of a predicate did not fit the kernel's graph");
            return ACCEPT;
        };
        self.filter.nodes[at] = Node { input: input as u8, test: test as u8, yes, no, tally, reserved: [0; 3], value };
        index
    }

    /// The graph's counter for a counter of the predicate.
    fn tally(&mut self, counter: usize) -> Option<u8> {
        let at = self.counters.iter().position(|known| *known == counter).unwrap_or(self.counters.len());
        if at == self.counters.len() {
            self.counters.push(counter);
        }
        u8::try_from(at).ok().filter(|_| at < MAX_TALLIES)
    }
}

impl Lowered {
    /// Something that holds at least where this does, which counts nothing, with at most so many questions.
    pub(super) fn shrunk(&self, room: usize) -> Self {
        if self.size() <= room {
            return self.clone();
        }
        match self {
            Self::Known(_) => self.clone(),
            Self::Leaf(..) => Self::Known(true),
            Self::All(parts) => {
                let mut room = room;
                let taken = parts.iter().map(|part| {
                    let part = part.shrunk(room);
                    room -= part.size();
                    part
                });
                Self::all(taken.collect())
            }
            Self::Any(parts) => {
                let (mut room, mut coming) = (room, parts.len());
                let taken = parts.iter().map(|part| {
                    // What the earlier ones left over is for those that need more than their share.
                    let part = part.shrunk(room / coming);
                    room -= part.size();
                    coming -= 1;
                    part
                });
                Self::any(taken.collect())
            }
        }
    }
}

/// The graph in lines that people can read; nothing where it has no node.
pub(super) fn lines(filter: &Filter, names: &Names) -> Vec<String> {
    let target = |at: u8| match at {
        ACCEPT => "wanted".to_owned(),
        REJECT => "rejected".to_owned(),
        at => format!("question {at}"),
    };
    let line = |(at, node): (usize, &Node)| {
        format!("{at:>2}  {}? yes: {}, no: {}", question(node, names), target(node.yes), target(node.no))
    };
    used(filter).iter().enumerate().map(line).collect()
}

/// The nodes of a graph that ask something.
pub(super) fn used(filter: &Filter) -> &[Node] {
    let last = filter.nodes.iter().rposition(|node| *node != Node::REJECTING);
    let used = last.filter(|_| usize::from(filter.start) < MAX_NODES).map_or(0, |last| last + 1);
    &filter.nodes[..used]
}

/// An expression with at most so many columns that a line with it can be read.
pub(super) fn short(expr: &Expr) -> String {
    escape::ellipsis(&expr.to_string(), 240).into_owned()
}

fn question(node: &Node, names: &Names) -> String {
    let Node { input, test, tally, value, .. } = *node;
    let is = |other: Input| input == other as u8;
    let names_of = |whose| {
        let bits = names.of(whose).iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1);
        let conditions: Vec<String> = bits.map(|(_, condition)| short(condition)).collect();
        conditions.join(" || ")
    };
    let number = |field: Field| {
        let (below, most) = (written(field, value), written(field, value.saturating_sub(1)));
        match test {
            test if test == Test::Equal as u8 => format!("{field} == {below}"),
            // What was `> 10ms` is asked as `< 10000001ns`.
            _ if most.len() < below.len() => format!("{field} <= {most}"),
            _ => format!("{field} < {below}"),
        }
    };
    match () {
        () if is(Input::Subject) => names_of(Whose::Subject),
        () if is(Input::Caller) => names_of(Whose::Caller),
        () if is(Input::Thread) => names_of(Whose::Thread),
        () if is(Input::Tid) => number(Field::Tid),
        () if is(Input::Cpu) => number(Field::Cpu),
        () if is(Input::Size) => number(Field::Size),
        () if is(Input::Duration) => number(Field::Duration),
        () if is(Input::Depth) => number(Field::Depth),
        () if is(Input::Random) => format!("drawn with a chance of 1/{value}"),
        () if test == Test::Multiple as u8 => format!("counter {tally}: every {value}th that comes here"),
        () => format!("counter {tally}: one of the first {} that come here", value.saturating_sub(1)),
    }
}
