//! From what is wanted to code: which calls stand before each instruction, and which ways between instructions need code of
//! their own.
//!
//! A call that everybody passes who comes to an instruction is put before it, and branches go there. A call for one way only
//! stands before that, if the way is from the instruction above, and else in a *detour* at the end of the method: the branch,
//! or the entry of the exception table, goes to the detour, and the detour to where the branch went before. What no entry
//! catches gets a handler of its own at the end, last in the table: it calls, and throws again.

use std::collections::HashMap;

use super::code::{Code, Flow, Reason};
use super::descriptor::Parameter;
use super::mark::Mark;
use super::method::Fail;
use super::plan::{Order, Plan};
use super::pool::Additions;

/// Instructions under handlers that are looked at, handler by handler.
const MOST_COVERED: usize = 4_000_000;
/// Instructions in zones, zone by zone.
const MOST_MEMBERS: usize = 4_000_000;
/// Zones that ways come from and go to, way by way.
const MOST_CROSSED: usize = 8_000_000;

/// What is known of local variable 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct This {
    /// Whether there is a receiver at the beginning: not in a static method, and not in a constructor.
    pub(crate) at_begin: bool,
    /// From this instruction on it has the receiver; `None`: that cannot be told.
    pub(crate) from: Option<usize>,
}

impl This {
    /// Whether it has the receiver at this instruction.
    fn at(self, index: usize) -> bool {
        self.from.is_some_and(|from| index >= from)
    }
}

/// What calls take from the method.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) this: This,
    /// Parameters that are told, by their index.
    pub(crate) parameters: &'a [(i32, &'a Parameter)],
    /// The first of the local variables for lengths of arrays.
    pub(crate) saved_from: u8,
}

/// A detour: calls, then a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Detour {
    /// Where it goes.
    pub(crate) target: usize,
    /// Its calls.
    pub(crate) calls: Vec<u8>,
}

/// A handler of what nothing else catches: calls, then `athrow`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LastHandler {
    /// Its calls.
    pub(crate) calls: Vec<u8>,
    /// Whether they use local variable 0.
    pub(crate) this: bool,
}

/// Code to put into a method.
#[derive(Default)]
pub(crate) struct Paths {
    /// By instruction: before it, for who comes from the instruction above.
    pub(crate) falling: Vec<Vec<u8>>,
    /// By instruction: before it, for all who come.
    pub(crate) before: Vec<Vec<u8>>,
    /// Detours.
    pub(crate) detours: Vec<Detour>,
    /// Branches that take one: from, to.
    pub(crate) branches: HashMap<(usize, usize), usize>,
    /// Exceptions that take one: thrown at, handler.
    pub(crate) caught: HashMap<(usize, usize), usize>,
    /// Handlers of what nothing else catches.
    pub(crate) last: Vec<LastHandler>,
    /// By instruction: which of them is for it.
    pub(crate) uncaught: Vec<Option<usize>>,
}

/// A way from one instruction to another, or from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Begin,
    Fall(usize),
    Branch(usize),
    Exception(usize),
}

impl Way {
    const fn from(self) -> Option<usize> {
        match self {
            Self::Begin => None,
            Self::Fall(from) | Self::Branch(from) | Self::Exception(from) => Some(from),
        }
    }
}

/// All ways: from, to. None comes from the end of a subroutine back; that is taken for coming from above.
fn ways<'a>(code: &'a Code<'_>) -> impl Iterator<Item = (Way, usize)> + 'a {
    let instructions = code.instructions.iter().enumerate().flat_map(|(from, instruction)| {
        let fall = instruction.flow.falls_through().then_some((Way::Fall(from), from + 1));
        fall.into_iter().chain(instruction.flow.targets().iter().map(move |to| (Way::Branch(from), *to)))
    });
    let exceptions = code
        .handlers
        .iter()
        .flat_map(|handler| (handler.start..handler.end).map(move |from| (Way::Exception(from), handler.target)));
    std::iter::once((Way::Begin, 0)).chain(instructions).chain(exceptions)
}

/// What it takes to write calls.
struct Writer<'a> {
    plan: &'a Plan,
    writing: Writing<'a>,
    pool: &'a mut Additions,
    /// By instruction: the zones that it is in, in order.
    zones_of: Vec<Vec<usize>>,
    /// By instruction: zones that it is in that it is also come to from inside.
    continued: Vec<Vec<usize>>,
    /// By instruction: whether anything comes there.
    reached: Vec<bool>,
    /// Whether nothing branches to the first instruction.
    begins_once: bool,
    detours: HashMap<Detour, usize>,
    last: HashMap<LastHandler, usize>,
}

impl Paths {
    /// Says where which code goes.
    pub(crate) fn find(code: &Code<'_>, plan: &Plan, writing: Writing<'_>, pool: &mut Additions) -> Result<Self, Fail> {
        let count = code.count();
        let covered: usize = code.handlers.iter().map(|handler| handler.end.saturating_sub(handler.start)).sum();
        let members: usize = plan.zones.iter().map(|zone| zone.members.len()).sum();
        if covered > MOST_COVERED || members > MOST_MEMBERS {
            return Err(entangled());
        }
        let mut zones_of = vec![Vec::new(); count];
        for (number, zone) in plan.zones.iter().enumerate() {
            for member in &zone.members {
                zones_of[*member].push(number);
            }
        }
        let mut continued = vec![Vec::new(); count];
        let mut reached = vec![false; count];
        let mut crossed = 0;
        for (way, to) in ways(code) {
            reached[to] = true;
            let Some(from) = way.from() else { continue };
            crossed += zones_of[from].len() + zones_of[to].len();
            if crossed > MOST_CROSSED {
                return Err(entangled());
            }
            for zone in zones_of[to].iter().filter(|zone| zones_of[from].binary_search(zone).is_ok()) {
                if !continued[to].contains(zone) {
                    continued[to].push(*zone);
                }
            }
        }
        let mut paths = Self {
            falling: vec![Vec::new(); count],
            before: vec![Vec::new(); count],
            uncaught: vec![None; count],
            ..Self::default()
        };
        let begins_once = ways(code).all(|(way, to)| to != 0 || way == Way::Begin);
        let (detours, last) = (HashMap::new(), HashMap::new());
        let mut writer = Writer { plan, writing, pool, zones_of, continued, reached, begins_once, detours, last };
        for (way, to) in ways(code) {
            writer.add_way(&mut paths, way, to)?;
        }
        for index in 0..count {
            writer.add_before(&mut paths, code, index)?;
            writer.add_uncaught(&mut paths, code, index)?;
        }
        Ok(paths)
    }
}

impl Writer<'_> {
    fn write(&mut self, mark: &Mark, this: bool, to: &mut Vec<u8>) -> Result<(), Fail> {
        let Writing { this: _, parameters, saved_from } = self.writing;
        mark.write(this, parameters, saved_from, self.pool, to).map_err(Fail::from)
    }

    /// The calls on a way, and where they go.
    fn add_way(&mut self, paths: &mut Paths, way: Way, to: usize) -> Result<(), Fail> {
        let plan = self.plan;
        let this = if way == Way::Begin { self.writing.this.at_begin } else { self.writing.this.at(to) };
        let mut calls = Vec::new();
        if let Some(from) = way.from() {
            for number in (0..self.zones_of[from].len()).rev() {
                let zone = self.zones_of[from][number];
                if self.zones_of[to].binary_search(&zone).is_err() {
                    let zone = &plan.zones[zone];
                    let mark = if matches!(way, Way::Exception(_)) { &zone.on_thrown } else { &zone.on_exit };
                    if let Some(mark) = mark {
                        self.write(mark, this, &mut calls)?;
                    }
                }
            }
        }
        for (_, mark) in self.entered(way.from(), to) {
            self.write(&mark, this, &mut calls)?;
        }
        if calls.is_empty() {
            return Ok(());
        }
        match way {
            Way::Begin | Way::Fall(_) => paths.falling[to] = calls,
            Way::Branch(from) => {
                let detour = self.detour(paths, Detour { target: to, calls });
                paths.branches.insert((from, to), detour);
            }
            Way::Exception(from) => {
                let detour = self.detour(paths, Detour { target: to, calls });
                paths.caught.insert((from, to), detour);
            }
        }
        Ok(())
    }

    fn detour(&mut self, paths: &mut Paths, detour: Detour) -> usize {
        *self.detours.entry(detour).or_insert_with_key(|detour| {
            paths.detours.push(detour.clone());
            paths.detours.len() - 1
        })
    }

    /// Calls on a way for what it comes into, in order. Where all come from outside they are not on the way, but before the
    /// instruction.
    fn entered(&self, from: Option<usize>, to: usize) -> Vec<(Order, Mark)> {
        let mut entered: Vec<(Order, Mark)> = Vec::new();
        for zone in &self.zones_of[to] {
            let inside = from.is_some_and(|from| self.zones_of[from].binary_search(zone).is_ok());
            let zone_known = &self.plan.zones[*zone];
            if let Some(mark) = &zone_known.on_enter
                && !inside
                && self.continued[to].contains(zone)
            {
                entered.push((zone_known.order, mark.clone()));
            }
        }
        if let Some(from) = from
            && let Some(marks) = self.plan.ways.get(&(from, to))
        {
            entered.extend(marks.iter().cloned());
            entered.sort_by_key(|(order, _)| *order);
        }
        entered
    }

    /// The calls before an instruction for all who come: what is entered here from everywhere, points, and what a return
    /// leaves.
    fn add_before(&mut self, paths: &mut Paths, code: &Code<'_>, index: usize) -> Result<(), Fail> {
        let plan = self.plan;
        let mut entered: Vec<(Order, &Mark)> = Vec::new();
        for zone in &self.zones_of[index] {
            let zone_known = &plan.zones[*zone];
            if let Some(mark) = &zone_known.on_enter
                && self.reached[index]
                && !self.continued[index].contains(zone)
            {
                entered.push((zone_known.order, mark));
            }
        }
        entered.extend(plan.points.get(&index).into_iter().flatten().map(|(order, mark)| (*order, mark)));
        entered.sort_by_key(|(order, _)| *order);
        let mut marks: Vec<&Mark> = entered.into_iter().map(|(_, mark)| mark).collect();
        if code.instructions[index].flow == Flow::Return {
            marks.extend(self.zones_of[index].iter().rev().filter_map(|zone| plan.zones[*zone].on_exit.as_ref()));
        }
        let this = self.writing.this.at(index) || index == 0 && self.writing.this.at_begin && self.begins_once;
        let mut calls = Vec::new();
        for mark in marks {
            self.write(mark, this, &mut calls)?;
        }
        paths.before[index] = calls;
        Ok(())
    }

    /// What is called where nothing catches an exception.
    fn add_uncaught(&mut self, paths: &mut Paths, code: &Code<'_>, index: usize) -> Result<(), Fail> {
        // A return has been told already. HotSpot 11 does not expect a handler there, either: it crashes when it compiles
        // `Object.<init>` with one.
        if code.instructions[index].flow == Flow::Return {
            return Ok(());
        }
        let plan = self.plan;
        let mut handler = LastHandler { calls: Vec::new(), this: false };
        for (_, mark) in plan.uncaught.get(&index).into_iter().flatten() {
            self.write(mark, false, &mut handler.calls)?;
        }
        for number in (0..self.zones_of[index].len()).rev() {
            if let Some(mark) = &plan.zones[self.zones_of[index][number]].on_thrown {
                let this = self.writing.this.from.is_some();
                handler.this |= this && mark.receiver;
                self.write(mark, this, &mut handler.calls)?;
            }
        }
        if !handler.calls.is_empty() {
            let number = *self.last.entry(handler).or_insert_with_key(|handler| {
                paths.last.push(handler.clone());
                paths.last.len() - 1
            });
            paths.uncaught[index] = Some(number);
        }
        Ok(())
    }
}

fn entangled() -> Fail {
    Fail::Reason("its exception table or its loops are too entangled".to_owned())
}

impl From<Reason> for Fail {
    fn from(reason: Reason) -> Self {
        Self::Reason(reason)
    }
}
