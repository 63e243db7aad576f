//! What the kernel decides, and what is left for user space.
//!
//! The kernel's graph wants at least what the predicate wants, and user space decides the rest of what it wants:
//! kernel and user space together say what the predicate says. A predicate is a row of parts that all must hold; a part goes
//! into the graph as a whole, or user space looks at it and the graph asks something weaker. Each test that counts
//! or draws is evaluated on one side only, and nothing is asked before it that does not stand before it.

use tracer_common::filter::{ACCEPT, Filter, INPUTS, Input, MAX_ATOMS, MAX_NODES, MAX_TALLIES, REJECT};

use super::{
    Known, Outlook, Predicate,
    event::{Event, Subject, Thread},
    field::{Field, Kind, Whose},
    graph,
    lower::{Lowered, Question, lower},
    tree::{Condition, Expr, Tree},
};

/// The conditions on names, for which each thing gets a mask: bit n says whether condition n holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    subject: Vec<Expr>,
    caller: Vec<Expr>,
    thread: Vec<Expr>,
}

impl Names {
    /// The conditions on the names of such things, in the order of their bits.
    pub fn of(&self, whose: Whose) -> &[Expr] {
        match whose {
            Whose::Subject => &self.subject,
            Whose::Caller => &self.caller,
            Whose::Thread => &self.thread,
        }
    }

    /// The bit of a condition, which is a new one unless it is known; nothing where there is no room.
    pub(super) fn bit(&mut self, whose: Whose, condition: &Expr) -> Option<u64> {
        let conditions = match whose {
            Whose::Subject => &mut self.subject,
            Whose::Caller => &mut self.caller,
            Whose::Thread => &mut self.thread,
        };
        let at = conditions.iter().position(|known| known == condition).unwrap_or(conditions.len());
        if at >= MAX_ATOMS {
            return None;
        }
        if at == conditions.len() {
            conditions.push(condition.clone());
        }
        Some(1 << at)
    }

    /// The mask of a method, class or function ([`Input::Subject`]).
    pub fn subject(&self, subject: &Subject) -> u64 {
        mask(&self.subject, Known::Subject(subject))
    }

    /// The mask of a calling method ([`Input::Caller`]), also for events without one: conditions can ask that it is not
    /// such a one.
    pub fn caller(&self, caller: Option<&Subject>) -> u64 {
        mask(&self.caller, Known::Caller(caller))
    }

    /// The mask of a thread ([`Input::Thread`]).
    pub fn thread(&self, thread: &Thread) -> u64 {
        mask(&self.thread, Known::Thread(thread))
    }
}

fn mask(conditions: &[Expr], known: Known<'_>) -> u64 {
    let holding = conditions.iter().take(MAX_ATOMS).enumerate().filter(|(_, e)| e.outlook(known) == Outlook::Always);
    holding.fold(0, |mask, (bit, _)| mask | 1 << bit)
}

/// When an event is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When it begins: nothing is asked that is not known then.
    Entry,
    /// When it ends, because its duration is asked for.
    Return,
}

/// Which things must be armed, so that no event that matters is missed.
#[derive(Clone, Debug, PartialEq)]
pub enum Armed {
    /// All: no name rules a thing out.
    All,
    /// Those whose names meet a condition.
    If(Expr),
    /// None: the predicate cannot hold.
    None,
}

/// Why user space decides a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It asks for a line.
    Line,
    /// The graph has no room for it.
    NoRoom,
    /// It counts what comes to it, and what stands before it is decided in user space.
    CountsBehind,
    /// User space counts before it, so nothing may be rejected for it earlier.
    BehindCount,
    /// An event's random number is drawn once, and another part needs it in user space.
    OneDraw,
}

/// A part of a predicate that user space decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The part.
    pub expr: Expr,
    /// Why.
    pub why: Why,
}

/// A predicate, taken apart.
#[derive(Clone, Debug)]
pub struct Split {
    /// Of which events.
    pub kind: Kind,
    /// When the graph and user space decide.
    pub moment: Moment,
    /// The graph.
    pub filter: Filter,
    /// Where the moment is the return: a graph for the entry. An event that it rejects is neither wanted nor counted at its
    /// return, so nothing needs to be remembered of it.
    pub entry: Option<Filter>,
    /// What the masks mean that both graphs test.
    pub names: Names,
    /// For each counter of the graph ([`tracer_common::filter::Node::tally`]), which counter of the predicate it is.
    pub counters: Vec<usize>,
    /// What user space decides, of the events that the graph wants.
    pub left: Vec<Left>,
}

impl Split {
    /// Whether a live session leaves whatever names do not decide to user space, with the whole predicate: tests that count must
    /// see all of what comes to them on one side.
    pub const fn is_left_whole(&self) -> bool {
        !self.counters.is_empty() || !self.left.is_empty()
    }

    /// What must hold in user space for an event that the graph wants; nothing where the graph decides alone.
    pub fn user(&self) -> Option<Expr> {
        Expr::all(self.left.iter().map(|left| left.expr.clone()).collect())
    }

    /// Whether one of the graphs looks at an input; what none looks at need not be found out.
    pub fn uses(&self, input: Input) -> bool {
        let asked = |filter: &Filter| graph::used(filter).iter().any(|node| node.input == input as u8);
        asked(&self.filter) || self.entry.as_ref().is_some_and(asked)
    }

    /// Whether user space asks for a field of the events that the graph wants.
    pub fn left_asks(&self, field: Field) -> bool {
        self.left.iter().any(|left| left.expr.any_is(|condition| condition.field() == Some(field)))
    }

    /// What the graph is given for an event.
    pub fn inputs(&self, event: &Event<'_>) -> [u64; INPUTS] {
        let mut inputs = [0; INPUTS];
        for (input, number) in [
            (Input::Subject, self.names.subject(event.subject)),
            (Input::Caller, self.names.caller(event.caller)),
            (Input::Thread, self.names.thread(event.thread)),
            (Input::Tid, event.tid),
            (Input::Cpu, event.cpu),
            (Input::Size, event.size),
            (Input::Duration, event.duration),
            (Input::Depth, event.depth),
            (Input::Random, u64::from(event.random)),
        ] {
            inputs[input as usize] = number;
        }
        inputs
    }
}

impl Predicate {
    /// Takes the predicate apart.
    pub fn split(&self) -> Split {
        let parts = self.expr.as_ref().map(conjuncts).unwrap_or_default();
        let mut sides = Sides::of(&parts, false);
        if sides.left.iter().any(|left| draws(&left.expr)) && sides.kernel.any_is(&is_draw) {
            sides = Sides::of(&parts, true);
        }
        let moment = self.moment();
        let (mut names, mut counters) = (Names::default(), Vec::new());
        let filter = graph::build(&sides.kernel, &mut names, &mut counters);
        let entry = (moment == Moment::Return).then(|| {
            let lowered: Vec<Lowered> = parts.iter().map(|part| lower(part, true)).collect();
            let early = Lowered::all(lowered).weakened(&known_at_entry).shrunk(MAX_NODES);
            graph::build(&early, &mut names, &mut Vec::new())
        });
        Split { kind: self.kind, moment, filter, entry, names, counters, left: sides.left }
    }

    /// When its events can be decided.
    pub fn moment(&self) -> Moment {
        let lasts = |condition: &Condition| condition.field() == Some(Field::Duration);
        match &self.expr {
            Some(expr) if expr.any_is(lasts) => Moment::Return,
            _ => Moment::Entry,
        }
    }

    /// Which methods, classes or functions must be armed, as one condition on their names. Of a single one
    /// [`Predicate::outlook`] can know more, where a test that counts is never reached.
    pub fn armed(&self) -> Armed {
        let Some(expr) = &self.expr else { return Armed::All };
        let of_subject = |question: &Question| matches!(question, Question::Names(Whose::Subject, _));
        match lower(expr, true).weakened(&of_subject) {
            Lowered::Leaf(Question::Names(_, expr), true) => Armed::If(expr),
            Lowered::Leaf(Question::Names(_, expr), false) => Armed::If(expr.negated()),
            Lowered::Known(false) => Armed::None,
            // Questions about names of the same thing are always put together, so there are no others.
            Lowered::Known(true) | Lowered::Leaf(..) | Lowered::All(_) | Lowered::Any(_) => Armed::All,
        }
    }
}

/// Whether the answer is the same at entry and at return, and known at entry. A thread can move to another CPU meanwhile.
fn known_at_entry(question: &Question) -> bool {
    match question {
        Question::Number(field, ..) => !matches!(field, Field::Duration | Field::Cpu),
        Question::Names(..) => true,
        Question::Draw(_) | Question::Tally(..) | Question::User => false,
    }
}

/// The parts that all must hold.
fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match &expr.tree {
        Tree::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        Tree::Not(part) => match &part.tree {
            Tree::Or(parts) => parts.iter().flat_map(|part| conjuncts(&part.clone().negated())).collect(),
            Tree::Not(part) => conjuncts(part),
            _ => vec![expr.clone()],
        },
        _ => vec![expr.clone()],
    }
}

fn draws(expr: &Expr) -> bool {
    expr.any_is(|condition| matches!(condition, Condition::Sample { .. }))
}

const fn is_draw(question: &Question) -> bool {
    matches!(question, Question::Draw(_))
}

/// What goes where.
struct Sides {
    kernel: Lowered,
    left: Vec<Left>,
}

impl Sides {
    /// Deals the parts out; those that draw all go to user space if it draws.
    fn of(parts: &[Expr], user_draws: bool) -> Self {
        let mut sides = Self { kernel: Lowered::Known(true), left: Vec::new() };
        // Whether user space counts: then nothing that comes later may keep an event from it.
        let mut counted = false;
        for part in parts {
            let lowered = lower(part, true);
            let why = if counted {
                Why::BehindCount
            } else if lowered.any_is(&|question| *question == Question::User) {
                Why::Line
            } else if user_draws && lowered.any_is(&is_draw) {
                Why::OneDraw
            } else if lowered.counts() && !sides.left.is_empty() {
                Why::CountsBehind
            } else {
                let kernel = Lowered::all(vec![sides.kernel.clone(), lowered.clone()]);
                if fits(&kernel) {
                    sides.kernel = kernel;
                    continue;
                }
                Why::NoRoom
            };
            if !counted {
                let weaker = lowered.weakened(&|question| !matches!(question, Question::User | Question::Draw(_)));
                let room = MAX_NODES.saturating_sub(sides.kernel.size());
                sides.kernel = Lowered::all(vec![sides.kernel, weaker.shrunk(room)]);
            }
            counted |= lowered.counts();
            sides.left.push(Left { expr: part.clone(), why });
        }
        sides
    }
}

/// Whether a graph has room for all questions.
fn fits(lowered: &Lowered) -> bool {
    let mut tallies = 0;
    lowered.each(&mut |question| tallies += usize::from(matches!(question, Question::Tally(..))));
    // Each condition on names is a question of its own, so these are never too many for a mask.
    lowered.size() <= MAX_NODES && tallies <= MAX_TALLIES
}

const _: () = assert!(2 * MAX_NODES <= MAX_ATOMS, "the graphs of entry and return share their masks");
const _: () = assert!(MAX_NODES < REJECT as usize && MAX_NODES < ACCEPT as usize);
