//! Where a method has exceptions: at its own `throw`, at calls that end with one, and at instructions for which the JVM makes one.
//!
//! Nothing is told before an exception is there. A call of the recorder stands where a handler takes it, and where it leaves the method:
//! code that throws nothing passes none of them. Each such call says which line the exception came from, so instructions of one line
//! and one kind share it, and what cannot throw goes with what stands before it.

use std::collections::{HashMap, HashSet};

use super::code::{Code, Flow, GETFIELD, INVOKEVIRTUAL};
use super::mark::{Mark, OfStack};
use super::method::{Fail, Method};
use super::plan::{Order, Rank};
use super::wishes::Wishes;
use crate::{ExceptionHandler, Raised, Raiser, Rule, handler::does};

const ALOAD_0: u8 = 42;
const INVOKEDYNAMIC: u8 = 186;
const ATHROW: u8 = 191;
/// The last opcode of class files.
const LAST: u8 = 201;

/// Name of the recorder's method.
const RECORDED: &str = "exception";

/// What instructions have in common whose exceptions are told as one place.
type Origin = (Raiser, Option<u16>);

/// Places by origin, and by the first instruction of the handler that takes its exceptions.
type Places = HashMap<(Origin, Option<usize>), u32>;

impl Wishes<'_> {
    /// A point for each origin of exceptions, where each handler takes them and where they leave the method.
    pub(super) fn exceptions(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let method = self.method();
        let code = &method.code;
        let order = Order { rank: Rank::Exception, size: std::cmp::Reverse(1), rule: number };
        let raised: Vec<Option<Origin>> = (0..code.count()).map(|index| origin(method, index)).collect();
        let mut places = Places::new();
        let mut told = HashSet::new();
        let mut takes_all = vec![false; code.count()];
        for handler in &code.handlers {
            let is_all = handler.catch_type == 0;
            let begins = u16::try_from(code.instructions[handler.target].bci).unwrap_or(u16::MAX);
            let of = ExceptionHandler {
                line: method.lines.of(handler.target),
                does: does(code.bytes, |opcode| (opcode <= LAST).then_some(opcode), begins),
            };
            for (index, first, origin) in origins(&raised, handler.start.max(method.begin)..handler.end) {
                let way = (index, handler.target);
                if takes_all[index] || !told.insert(way) {
                    continue;
                }
                if goes_to(code, way) {
                    // The call would be passed without an exception, too.
                    self.leave_out("a handler begins where other code goes on");
                    continue;
                }
                let raised = Raised { by: origin.0, handler: Some(of.clone()) };
                let id = self.raised_at(rule, first, (origin, Some(handler.target)), raised, &mut places)?;
                self.on_way(order, way, mark(id));
            }
            takes_all[handler.start..handler.end].iter_mut().for_each(|all| *all |= is_all);
        }
        for (index, first, origin) in origins(&raised, method.begin..code.count()) {
            if !takes_all[index] && code.instructions[index].flow != Flow::Return {
                let raised = Raised { by: origin.0, handler: None };
                let id = self.raised_at(rule, first, (origin, None), raised, &mut places)?;
                self.uncaught(order, index, mark(id));
            }
        }
        Ok(())
    }

    fn raised_at(
        &mut self,
        rule: &Rule,
        first: usize,
        key: (Origin, Option<usize>),
        raised: Raised,
        places: &mut Places,
    ) -> Result<u32, Fail> {
        if let Some(id) = places.get(&key) {
            return Ok(*id);
        }
        let id = self.place_of_exceptions(rule, first, raised)?;
        places.insert(key, id);
        Ok(id)
    }
}

const fn mark(id: u32) -> Mark {
    Mark { method: RECORDED, id, receiver: false, arguments: false, kept_in: None, of_stack: OfStack::Exception }
}

/// The origin of exceptions for each instruction of a range, and the instruction that has them; what throws none has those of the one before.
fn origins(
    raised: &[Option<Origin>],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = (usize, usize, Origin)> + '_ {
    let raised_at = |index: usize| raised.get(index).copied().flatten().map(|origin| (index, origin));
    let mut last = range.clone().find_map(raised_at);
    range.map_while(move |index| {
        last = raised_at(index).or(last);
        last.map(|(first, origin)| (index, first, origin))
    })
}

/// What exceptions of an instruction have in common with others; `None`: it has none.
fn origin(method: &Method<'_>, index: usize) -> Option<Origin> {
    let instructions = &method.code.instructions;
    let opcode = instructions[index].opcode;
    // The receiver is there.
    let is_own = opcode == GETFIELD && index > 0 && instructions[index - 1].opcode == ALOAD_0;
    let raiser = raiser(opcode).filter(|_| !is_own || method.this.from.is_none())?;
    Some((raiser, method.lines.of(index)))
}

/// What an instruction has exceptions from; `None`: it has none.
pub(crate) fn raiser(opcode: u8) -> Option<Raiser> {
    const LOADS: std::ops::RangeInclusive<u8> = 46..=53;
    const STORES: std::ops::RangeInclusive<u8> = 79..=86;
    /// Division by 0, statics and fields, new objects and arrays, casts, monitors.
    const OTHERS: [u8; 16] = [108, 109, 112, 113, 178, 179, 180, 181, 187, 188, 189, 190, 192, 194, 195, 197];
    let is_checked = LOADS.contains(&opcode) || STORES.contains(&opcode) || OTHERS.contains(&opcode);
    match opcode {
        ATHROW => Some(Raiser::Throw),
        INVOKEVIRTUAL..=INVOKEDYNAMIC => Some(Raiser::Call),
        _ => is_checked.then_some(Raiser::Instruction),
    }
}

/// Whether control goes from one instruction to another without an exception.
fn goes_to(code: &Code<'_>, (from, to): (usize, usize)) -> bool {
    let flow = &code.instructions[from].flow;
    flow.falls_through() && from + 1 == to || flow.targets().contains(&to)
}
