//! From rules to a plan: which instructions of a method each rule means, each place with its number.

use std::cmp::Reverse;

use super::blocks::Blocks;
use super::brief;
use super::code::{GETSTATIC, INVOKEINTERFACE, INVOKEVIRTUAL, PUTFIELD, Reason};
use super::loops::{self, Loop};
use super::mark::{self, Mark, OfStack};
use super::method::{Fail, Method};
use super::plan::{Order, Plan, Rank, Zone};
use crate::class::java_name;
use crate::{Access, Kind, Made, Pattern, Place, PlaceDefinition, Raised, Rule, Sides};

/// Collects what is wanted in a method.
pub(crate) struct Wishes<'a> {
    method: &'a Method<'a>,
    next_place: &'a mut dyn FnMut() -> Option<u32>,
    plan: Plan,
    places: Vec<PlaceDefinition>,
    left_out: Vec<Reason>,
    blocks: Option<Blocks>,
    loops: Option<Result<(Vec<Loop>, usize), Reason>>,
}

impl<'a> Wishes<'a> {
    /// Nothing yet.
    pub(crate) fn new(method: &'a Method<'a>, next_place: &'a mut dyn FnMut() -> Option<u32>) -> Self {
        let (plan, places, left_out) = (Plan::default(), Vec::new(), Vec::new());
        Self { method, next_place, plan, places, left_out, blocks: None, loops: None }
    }

    /// What there is.
    pub(crate) fn finish(self) -> (Plan, Vec<PlaceDefinition>, Vec<Reason>) {
        (self.plan, self.places, self.left_out)
    }

    /// The method.
    pub(super) const fn method(&self) -> &'a Method<'a> {
        self.method
    }

    /// A place cannot be kept.
    pub(super) fn leave_out(&mut self, reason: &str) {
        self.left_out.push(reason.to_owned());
    }

    /// A call on the way from one instruction to another.
    pub(super) fn on_way(&mut self, order: Order, way: (usize, usize), mark: Mark) {
        self.plan.ways.entry(way).or_default().push((order, mark));
    }

    /// A call before an instruction.
    pub(super) fn before(&mut self, order: Order, index: usize, mark: Mark) {
        self.plan.points.entry(index).or_default().push((order, mark));
    }

    /// A call where an exception of an instruction leaves the method.
    pub(super) fn uncaught(&mut self, order: Order, index: usize, mark: Mark) {
        self.plan.uncaught.entry(index).or_default().push((order, mark));
    }

    /// Local variables for so many lengths.
    pub(super) fn save(&mut self, count: u8) {
        self.plan.saving = self.plan.saving.max(count);
    }

    /// Adds what a rule wants.
    pub(crate) fn add(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let whole = rule.place == Place::Method;
        if !whole && !matches!(rule.kind, Kind::Marker(_)) {
            self.left_out.push("symbols are told of whole methods only".to_owned());
            return Ok(());
        }
        let region = rule.kind == Kind::Marker(Sides::Region);
        match &rule.place {
            Place::Method => self.whole(number, rule),
            Place::Loop => self.loops(number, rule),
            Place::Lines { first, last } => self.lines(number, rule, *first, *last),
            Place::Call { class, method } => self.calls(number, rule, class, method),
            Place::Block | Place::Field { .. } | Place::Allocation | Place::Exception if region => {
                let what = "blocks, accesses of fields, allocations and exceptions have a point, no region";
                self.left_out.push(what.to_owned());
                Ok(())
            }
            Place::Block => self.blocks(number, rule),
            Place::Field { class, field, access } => self.fields(number, rule, class, field, *access),
            Place::Allocation => self.allocations(number, rule),
            Place::Exception => self.exceptions(number, rule),
        }
    }

    /// A new place that begins at this instruction.
    fn place(&mut self, rule: &Rule, index: usize) -> Result<u32, Fail> {
        let id = (self.next_place)().ok_or(Fail::NoPlaces)?;
        let method = self.method;
        self.places.push(PlaceDefinition {
            id,
            marker: rule.marker,
            class: java_name(&method.class.name),
            method: method.of.name.clone(),
            descriptor: method.of.descriptor.clone(),
            bci: u16::try_from(method.code.instructions[index].bci).unwrap_or(u16::MAX),
            line: method.lines.of(index),
            made: None,
            raised: None,
        });
        Ok(id)
    }

    /// The same of something that is made there.
    pub(super) fn place_of(&mut self, rule: &Rule, index: usize, made: Made) -> Result<u32, Fail> {
        let id = self.place(rule, index)?;
        if let Some(place) = self.places.last_mut() {
            place.made = Some(made);
        }
        Ok(id)
    }

    /// The same of exceptions that the method has there.
    pub(super) fn place_of_exceptions(&mut self, rule: &Rule, index: usize, raised: Raised) -> Result<u32, Fail> {
        let id = self.place(rule, index)?;
        if let Some(place) = self.places.last_mut() {
            place.raised = Some(raised);
        }
        Ok(id)
    }

    /// A call of the recorder at a place of a rule.
    fn mark(&self, rule: &Rule, method: &'static str, id: u32) -> Mark {
        let is_static = self.method.of.is_static();
        let receiver = method == "symbol" || rule.receiver && !is_static;
        // Further on, other things may stand where the arguments were.
        let arguments = rule.arguments && rule.place == Place::Method && matches!(method, "enter" | "point");
        Mark { method, id, receiver, arguments, kept_in: None, of_stack: OfStack::Nothing }
    }

    /// A local variable of two slots for the whole method; `None` where it cannot have one more. It has no value before the method's entry
    /// is told, so there must be no frame.
    fn keep(&mut self) -> Option<u8> {
        if self.method.frames.is_at(self.method.begin) {
            return None;
        }
        let slot = u8::try_from(self.method.code.max_locals).ok()?.checked_add(2 * self.plan.keeping)?;
        // Its second slot must be there, too.
        slot.checked_add(2)?;
        self.plan.keeping = self.plan.keeping.checked_add(1).filter(|keeping| *keeping < 64)?;
        Some(slot)
    }

    fn order(rank: Rank, size: usize, rule: usize) -> Order {
        Order { rank, size: Reverse(size), rule }
    }

    /// Adds a zone. `members` are in order, and there is one at least.
    fn zone(&mut self, order: Order, rule: &Rule, begins: usize, members: Vec<usize>) -> Result<(), Fail> {
        let id = self.place(rule, begins)?;
        let is_counted = rule.counted && !rule.receiver && !rule.arguments && rule.place == Place::Method;
        let is_brief = is_counted && brief::is_brief(self.method);
        let is_kept = is_counted && rule.kind == Kind::Marker(Sides::Region) && !is_brief;
        let kept_in = if is_kept { self.keep() } else { None };
        let mark = |method| Some(Mark { kept_in, ..self.mark(rule, method, id) });
        let (on_enter, on_exit, on_thrown) = match rule.kind {
            Kind::Marker(Sides::Region) if is_brief => (None, mark("passed"), mark("passedThrown")),
            Kind::Marker(Sides::Region) if kept_in.is_some() => (mark(mark::BEGINS), mark("left"), mark("threw")),
            Kind::Marker(Sides::Region) => (mark("enter"), mark("exit"), mark("thrown")),
            Kind::Marker(Sides::Point) => (mark("point"), None, None),
            Kind::Entry => (mark("symbol"), None, None),
            Kind::Return => (None, mark("symbol"), None),
            Kind::Throw => (None, None, mark("symbol")),
        };
        self.plan.zones.push(Zone { order, members, on_enter, on_exit, on_thrown });
        Ok(())
    }

    fn point(&mut self, order: Order, rule: &Rule, index: usize) -> Result<(), Fail> {
        let id = self.place(rule, index)?;
        let mark = self.mark(rule, "point", id);
        self.plan.points.entry(index).or_default().push((order, mark));
        Ok(())
    }

    fn whole(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let members: Vec<usize> = (self.method.begin..self.method.code.count()).collect();
        self.zone(Self::order(Rank::Method, members.len(), number), rule, self.method.begin, members)
    }

    fn blocks(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let starts = self.blocks.get_or_insert_with(|| Blocks::find(&self.method.code)).starts().to_vec();
        for start in starts {
            self.point(Self::order(Rank::Block, 0, number), rule, start)?;
        }
        Ok(())
    }

    fn calls(&mut self, number: usize, rule: &Rule, class: &Pattern, method: &Pattern) -> Result<(), Fail> {
        let woven = self.method;
        let order = Self::order(Rank::Call, 1, number);
        for (index, instruction) in woven.code.instructions.iter().enumerate() {
            // Who a call site of `invokedynamic` calls is not in the class file.
            if !(INVOKEVIRTUAL..=INVOKEINTERFACE).contains(&instruction.opcode) {
                continue;
            }
            let Some((callee_class, callee)) = woven.class.member(woven.code.constant(instruction)) else { continue };
            if !method.matches(callee) || !class.matches(&java_name(callee_class)) {
                continue;
            }
            if rule.kind == Kind::Marker(Sides::Point) {
                self.point(order, rule, index)?;
            } else if index < woven.begin {
                // Everybody's constructor is called somewhere: that is told to who names it.
                if method.is_exact() {
                    self.left_out.push("a call is made before its object is initialised".to_owned());
                }
            } else {
                self.zone(order, rule, index, vec![index])?;
            }
        }
        Ok(())
    }

    fn fields(
        &mut self,
        number: usize,
        rule: &Rule,
        class: &Pattern,
        field: &Pattern,
        access: Access,
    ) -> Result<(), Fail> {
        let woven = self.method;
        for (index, instruction) in woven.code.instructions.iter().enumerate() {
            if !(GETSTATIC..=PUTFIELD).contains(&instruction.opcode) {
                continue;
            }
            let writes = instruction.opcode % 2 == 1;
            let wanted = match access {
                Access::Any => true,
                Access::Read => !writes,
                Access::Write => writes,
            };
            let Some((holder, name)) = woven.class.member(woven.code.constant(instruction)) else { continue };
            if wanted && field.matches(name) && class.matches(&java_name(holder)) {
                self.point(Self::order(Rank::Field, 1, number), rule, index)?;
            }
        }
        Ok(())
    }

    fn lines(&mut self, number: usize, rule: &Rule, first: u32, last: u32) -> Result<(), Fail> {
        let woven = self.method;
        if woven.lines.is_empty() {
            self.left_out.push("its class has no table of lines".to_owned());
            return Ok(());
        }
        let wanted =
            |index: &usize| woven.lines.of(*index).is_some_and(|line| (first..=last).contains(&u32::from(line)));
        let members: Vec<usize> = (woven.begin..woven.code.count()).filter(wanted).collect();
        let Some(begins) = members.first().copied() else { return Ok(()) };
        if loops::has_subroutines(&woven.code) {
            self.left_out.push("it has subroutines (`jsr`)".to_owned());
            return Ok(());
        }
        self.zone(Self::order(Rank::Lines, members.len(), number), rule, begins, members)
    }

    fn loops(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let woven = self.method;
        let blocks = self.blocks.get_or_insert_with(|| Blocks::find(&woven.code));
        let found =
            self.loops.get_or_insert_with(|| loops::find(woven.class, &woven.code, blocks, &woven.lines)).clone();
        let found = match found {
            Ok((found, without_header)) => {
                if without_header > 0 {
                    self.left_out.push("something goes round that can be come into at more than one place".to_owned());
                }
                found
            }
            Err(reason) => {
                self.left_out.push(reason);
                return Ok(());
            }
        };
        for found in found {
            let order = Self::order(Rank::Loop, found.members.len(), number);
            if rule.kind == Kind::Marker(Sides::Region) {
                if found.members.first().is_some_and(|first| *first < woven.begin) {
                    self.left_out.push("a loop lies before its object is initialised".to_owned());
                    continue;
                }
                self.zone(order, rule, found.header, found.members)?;
            } else if found.iterations.is_empty() {
                self.point(order, rule, found.header)?;
            } else {
                let id = self.place(rule, found.header)?;
                let mark = self.mark(rule, "point", id);
                for way in found.iterations {
                    self.plan.ways.entry(way).or_default().push((order, mark.clone()));
                }
            }
        }
        Ok(())
    }
}
