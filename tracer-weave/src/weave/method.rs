//! Weaving one method: what the rules want in it, then its code written anew.

use ristretto_classfile::attributes::VerificationType;

use super::code::{Code, Reason};
use super::constructor;
use super::descriptor::{self, Kind, Parameter};
use super::frames::{self, Frames};
use super::layout::Layout;
use super::mark;
use super::paths::{Paths, This, Writing};
use super::plan::Plan;
use super::pool::{Additions, Full};
use super::tables::{self, Lines, Moved};
use super::wishes::Wishes;
use crate::class::{ClassBytes, MethodBytes};
use crate::{PlaceDefinition, Rule, Skipped};

/// Why arrays within arrays cannot be told of.
const NO_ROOM_FOR_LENGTHS: &str = "it has too many local variables for the lengths of its arrays";

/// Why a method is not woven.
#[derive(Debug)]
pub(crate) enum Fail {
    /// It cannot be.
    Reason(Reason),
    /// The class has no room for more constants.
    Full,
    /// There are no more numbers for places.
    NoPlaces,
}

impl From<Full> for Fail {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// A method to be woven.
pub(crate) struct Method<'a> {
    pub(crate) class: &'a ClassBytes<'a>,
    /// What the class file says of it.
    pub(crate) of: &'a MethodBytes,
    pub(crate) code: Code<'a>,
    pub(crate) frames: Frames,
    pub(crate) lines: Lines,
    /// Its parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// By parameter: whether it is still where it came in when places begin.
    kept: Vec<bool>,
    /// The first instruction at which the receiver is initialised.
    pub(crate) begin: usize,
    /// What is known of local variable 0.
    pub(crate) this: This,
}

impl<'a> Method<'a> {
    /// Reads a method; `content` is what its `Code` attribute holds.
    pub(crate) fn read(class: &'a ClassBytes<'a>, method: &'a MethodBytes, content: &'a [u8]) -> Result<Self, Reason> {
        let code = Code::read(content, class)?;
        let frames = match code.attribute("StackMapTable") {
            Some(content) => Frames::read(content, &code)?,
            None => Frames::default(),
        };
        let parameters = descriptor::parameters(&method.descriptor, method.is_static())
            .ok_or_else(|| "its descriptor cannot be read".to_owned())?;
        let lines = Lines::read(&code);
        let begin = if method.is_constructor() { constructor::begin(class, &code)? } else { 0 };
        let mut this = This { at_begin: !method.is_static() && begin == 0, from: Some(begin) };
        if method.is_static() || !keeps_this(class, &code, &frames, begin, parameters.len())? {
            this.from = None;
        }
        let kept = kept(class, &code, &frames, &parameters, begin)?;
        Ok(Self { class, of: method, code, frames, lines, parameters, kept, begin, this })
    }

    /// Whether the verifier wants frames where ways meet. Version 50 does without where there are none.
    fn wants_frames(&self) -> bool {
        let straight =
            self.code.handlers.is_empty() && self.code.instructions.iter().all(|one| one.flow.targets().is_empty());
        self.class.major > 50 || self.class.major == 50 && (straight || self.code.attribute("StackMapTable").is_some())
    }

    /// The content of its `Code` attribute with what the plan wants.
    pub(crate) fn write(&self, plan: &Plan, pool: &mut Additions) -> Result<Vec<u8>, Fail> {
        let code = &self.code;
        let told: Vec<(i32, &Parameter)> = (0..)
            .zip(&self.parameters)
            .zip(&self.kept)
            .filter(|(_, kept)| **kept)
            .map(|(parameter, _)| parameter)
            .collect();
        // Where there is no room for more of them, none is asked for, or the check below turns the method down.
        let saved_from = code.max_locals.saturating_add(2 * u16::from(plan.keeping));
        let max_locals = saved_from.saturating_add(u16::from(plan.saving));
        let saved_from = match plan.saving {
            0 => 0,
            _ if max_locals > u16::from(u8::MAX) => return Err(Fail::Reason(NO_ROOM_FOR_LENGTHS.to_owned())),
            _ => u8::try_from(saved_from).map_err(|_| Fail::Reason(NO_ROOM_FOR_LENGTHS.to_owned()))?,
        };
        let writing = Writing { this: self.this, parameters: &told, saved_from };
        let paths = Paths::find(code, plan, writing, pool)?;
        let mut layout = Layout::new(code, &paths)?;
        let bytes = layout.write(code, &paths)?;
        let handlers = layout.write_handlers(code, &paths)?;
        let stack_map = if self.wants_frames() { self.stack_map(plan, &paths, &layout, pool)? } else { None };
        let mut content = Vec::with_capacity(bytes.len() + handlers.len() + 64);
        content.extend(self.max_stack(plan, &paths)?.to_be_bytes());
        content.extend(max_locals.to_be_bytes());
        content.extend(u32::try_from(bytes.len()).map_err(|_| Fail::Full)?.to_be_bytes());
        content.extend(bytes);
        content.extend(handlers);
        let mut attributes = Vec::new();
        for attribute in &code.attributes {
            let content = match &stack_map {
                Some(stack_map) if attribute.name == "StackMapTable" => stack_map.clone(),
                _ => tables::moved(attribute, code, &layout)?,
            };
            attributes.push((attribute.name_index, content));
        }
        if let Some(stack_map) = stack_map.filter(|_| code.attribute("StackMapTable").is_none()) {
            attributes.push((pool.text("StackMapTable")?, stack_map));
        }
        content.extend(u16::try_from(attributes.len()).map_err(|_| Fail::Full)?.to_be_bytes());
        for (name, attribute) in attributes {
            content.extend(name.to_be_bytes());
            content.extend(u32::try_from(attribute.len()).map_err(|_| Fail::Full)?.to_be_bytes());
            content.extend(attribute);
        }
        Ok(content)
    }

    /// How much stack it needs. Calls may stand where its own code has everything on the stack.
    fn max_stack(&self, plan: &Plan, paths: &Paths) -> Result<u16, Reason> {
        let arguments = plan.zones.iter().filter_map(|zone| zone.on_enter.as_ref());
        let arguments =
            arguments.chain(plan.points.values().flatten().map(|(_, mark)| mark)).any(|mark| mark.arguments);
        let is_more = arguments && !self.parameters.is_empty() || plan.saving > 0;
        let more = if is_more { mark::ARGUMENT_STACK } else { mark::STACK };
        let needed = self.code.max_stack.checked_add(more).ok_or("it would need too much stack")?;
        // A handler holds the exception, too.
        Ok(if paths.last.is_empty() { needed } else { needed.max(1 + mark::STACK) })
    }

    /// The stack map; `None` where there was none, and none is needed.
    fn stack_map(
        &self,
        plan: &Plan,
        paths: &Paths,
        layout: &Layout,
        pool: &mut Additions,
    ) -> Result<Option<Vec<u8>>, Fail> {
        let mut appended = Vec::new();
        let kept = match plan.keeping {
            0 => None,
            longs => Some(self.frames.keeping(&self.first_locals(pool)?, self.begin, self.code.max_locals, longs)?),
        };
        let frames = kept.as_ref().unwrap_or(&self.frames);
        if !paths.last.is_empty() {
            let throwable = VerificationType::Object { cpool_index: pool.class("java/lang/Throwable")? };
            let this = VerificationType::Object { cpool_index: self.class.this_class };
            for (handler, at) in paths.last.iter().zip(&layout.last) {
                let mut locals = if handler.this { vec![this.clone()] } else { Vec::new() };
                if plan.keeping > 0 {
                    frames::keep(&mut locals, self.code.max_locals, plan.keeping);
                }
                appended.push((*at, frames::Full { locals, stack: vec![throwable.clone()] }));
            }
        }
        if !paths.detours.is_empty() {
            let known = frames.written_out(&self.first_locals(pool)?)?;
            for (detour, at) in paths.detours.iter().zip(&layout.detours) {
                let frame =
                    known.binary_search_by_key(&detour.target, |(index, _)| *index).map(|found| known[found].1.clone());
                appended.push((*at, frame.map_err(|_| "a branch goes where its stack map says nothing".to_owned())?));
            }
        }
        if appended.is_empty() && frames.count() == 0 {
            return Ok(None);
        }
        let (label, instruction) = (|index| layout.label(index), |index| layout.instruction(index));
        Ok(Some(frames.write(&self.code, label, instruction, &appended)?))
    }

    /// The local variables that the method begins with.
    fn first_locals(&self, pool: &mut Additions) -> Result<Vec<VerificationType>, Full> {
        let mut locals = Vec::new();
        if !self.of.is_static() {
            let this = VerificationType::Object { cpool_index: self.class.this_class };
            let in_constructor = self.of.is_constructor() && self.class.superclass.is_some();
            locals.push(if in_constructor { VerificationType::UninitializedThis } else { this });
        }
        for parameter in &self.parameters {
            locals.push(parameter.kind.verification_type(pool)?);
        }
        Ok(locals)
    }
}

/// Whether local variable 0 has the receiver wherever it is initialised: nothing stores to it, and no frame says otherwise.
fn keeps_this(
    class: &ClassBytes<'_>,
    code: &Code<'_>,
    frames: &Frames,
    begin: usize,
    parameters: usize,
) -> Result<bool, Reason> {
    if code.instructions.iter().any(|instruction| code.stores_to(instruction).is_some_and(|(slot, _)| slot == 0)) {
        return Ok(false);
    }
    // What the parameters are does not matter here, but that they are there.
    let mut first = vec![VerificationType::Top; parameters + 1];
    first[0] = VerificationType::Object { cpool_index: class.this_class };
    let known = frames.written_out(&first)?;
    Ok(known.iter().filter(|(index, _)| *index >= begin).all(|(_, frame)| match frame.locals.first() {
        Some(VerificationType::Object { cpool_index }) => {
            *cpool_index == class.this_class || class.class_name(*cpool_index).as_deref() == Some(class.name.as_str())
        }
        _ => false,
    }))
}

/// By parameter: whether it is still where it came in when places begin. That is so but for constructors that do things before
/// they call another.
fn kept(
    class: &ClassBytes<'_>,
    code: &Code<'_>,
    frames: &Frames,
    parameters: &[Parameter],
    begin: usize,
) -> Result<Vec<bool>, Reason> {
    let mut first = vec![VerificationType::Top];
    first.extend(parameters.iter().map(|parameter| parameter.kind.plain_type()));
    let known = if begin > 0 { frames.written_out(&first)? } else { Vec::new() };
    let before = &code.instructions[..begin];
    let kept = parameters.iter().map(|parameter| {
        let (slot, end) = (parameter.slot, parameter.slot.saturating_add(parameter.kind.slots()));
        let stored = before.iter().filter_map(|one| code.stores_to(one));
        let stored =
            stored.map(|(to, words)| (to, to.saturating_add(words))).any(|(to, to_end)| to < end && slot < to_end);
        let same = |frame: &frames::Full| {
            frames::in_slot(&frame.locals, slot).is_some_and(|found| match (found, &parameter.kind) {
                (VerificationType::Object { cpool_index }, Kind::Object(name)) => {
                    class.class_name(*cpool_index).as_ref() == Some(name)
                }
                (found, kind) => *found == kind.plain_type(),
            })
        };
        !stored && known.iter().filter(|(index, _)| *index < begin).all(|(_, frame)| same(frame))
    });
    Ok(kept.collect())
}

/// What came of a method that rules name.
pub(crate) struct Outcome {
    /// The new content of its `Code` attribute; `None`: it stays.
    pub(crate) content: Option<Vec<u8>>,
    /// Its places.
    pub(crate) places: Vec<PlaceDefinition>,
    /// Places that were left out, and why.
    pub(crate) left_out: Vec<Reason>,
}

/// Weaves a method.
pub(crate) fn weave(
    method: &Method<'_>,
    rules: &[(usize, &Rule)],
    pool: &mut Additions,
    next_place: &mut dyn FnMut() -> Option<u32>,
) -> Result<Outcome, Fail> {
    let mut wishes = Wishes::new(method, next_place);
    for (number, rule) in rules {
        wishes.add(*number, rule)?;
    }
    let (mut plan, places, left_out) = wishes.finish();
    if plan.is_empty() {
        return Ok(Outcome { content: None, places: Vec::new(), left_out });
    }
    plan.sort();
    let content = method.write(&plan, pool)?;
    Ok(Outcome { content: Some(content), places, left_out })
}

/// A method, or one place in it, that was left as it was.
pub(crate) fn skipped(class: &ClassBytes<'_>, method: &MethodBytes, reason: Reason) -> Skipped {
    Skipped {
        class: crate::class::java_name(&class.name),
        method: Some((method.name.clone(), method.descriptor.clone())),
        reason,
    }
}
