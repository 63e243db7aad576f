//! Analyses: deterministic folds over events. An analysis reads no clock, prints nothing, does no I/O, and knows no view.
//!
//! Adding one: a file here, a line in [`all`].

mod covered;
mod distribution;
pub mod ended;
pub mod library;
mod method;
pub mod pairing;
pub(crate) mod pattern;
mod profile;
mod protocols;
pub mod rare;
mod request;
mod row_steps;
pub(crate) mod scaled;
mod site;
mod spread;
mod stack_steps;
mod state;
mod steps;
pub(crate) mod table;
mod woven;

pub mod gc;
pub mod safepoint;

pub mod locks;

pub mod threads;

pub mod classes;

pub mod jit;

pub mod alloc;

pub mod exceptions;

pub mod cpu;

pub mod offcpu;

pub mod wall;

mod shadow;

pub mod methods;

pub mod calls;

pub mod explain;

pub mod jni;

pub mod markers;

pub mod typestate;

use self::{ended::EndedThreads, rare::Replaced};
use crate::{
    client::Client,
    coverage::Coverage,
    event::{Event, StackId},
    item::{GuardAction, Target, Wish, look::ThreadLook},
    lens::Lens,
    mark::{Inside, MarkBatch},
    names::Names,
    report::{Section, Span, TableSteps},
    stack::Stacks,
    subject::{SubjectDefinition, Subjects},
    tally::Tallies,
};

pub(crate) use method::interval_percent;
pub use scaled::Scaled;
pub(crate) use state::is_collector;
pub(crate) use table::OTHERS;
pub use table::column;

/// What an analysis may look at when it builds its section.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Names behind ids.
    pub names: &'a Names,
    /// Stacks behind ids.
    pub stacks: &'a Stacks,
    /// Methods and classes behind numbers.
    pub subjects: &'a Subjects,
    /// The observed stretch of time.
    pub span: &'a Span,
    /// The JVM.
    pub target: &'a Target,
    /// Whether profiles say when their amounts came. That takes time, and only views of the end show it.
    pub with_steps: bool,
    /// Whether there are profiles at all. No finding looks at one, and they take most of the time.
    pub with_profiles: bool,
}

/// A fold over events that builds one section of the report.
pub trait Analysis: Send {
    /// The lens that it belongs to; also the id of its section.
    fn lens(&self) -> Lens;

    /// Tells when the span begins, before the first event: timelines count their steps from here.
    fn start(&mut self, _start_ns: u64) {}

    /// Takes one event. Events come in the order of their times, as far as the kernel delivered them so.
    fn event(&mut self, event: &Event);

    /// Takes the name of a method or class; before the first event that is about it.
    fn subject(&mut self, _subject: &SubjectDefinition) {}

    /// Takes what the kernel counted itself, since the session began.
    fn tallies(&mut self, _tallies: &Tallies) {}

    /// Takes notice that sites went away, came back, or tell less from now on.
    fn guard(&mut self, _action: &GuardAction) {}

    /// Takes notice of threads that ended: of tables that grow with each thread, their rows become one.
    fn threads_ended(&mut self, _ended: &EndedThreads) {}

    /// The stacks of samples with what they amount to, in no order; a stack comes once for each row that has it.
    fn stack_amounts(&self) -> Vec<(StackId, u64)> {
        Vec::new()
    }

    /// Some minutes are over. What the stacks of events say that came is known from now on, and need not be asked for again.
    fn round_ends(&mut self, _stacks: &Stacks) {}

    /// Others take the place of stacks of samples that came rarely. The table has both.
    fn replace_stacks(&mut self, _replaced: &Replaced, _stacks: &Stacks) {}

    /// What its clients want to be switched off or on; asked of live sessions only, many times a second.
    fn wishes(&mut self) -> Vec<Wish> {
        Vec::new()
    }

    /// What was counted so far at the sites of a group, of what is more the longer they are attached.
    fn scaled(&self, _group: &str) -> Vec<Scaled> {
        Vec::new()
    }

    /// Whether one of its shapes is about what happens at the sites of a group that it counts.
    fn shows(&self, _group: &str, _shape: &str) -> bool {
        true
    }

    /// Takes a look at all threads, whose stacks have their names by then.
    fn look(&mut self, _look: &ThreadLook, _stacks: &Stacks) {}

    /// Takes what could not be seen.
    fn coverage(&mut self, _coverage: &Coverage) {}

    /// What must be known before any number is read; absent where there is nothing like that.
    fn headline(&self, _context: Context<'_>) -> Option<String> {
        None
    }

    /// Takes notice of what was woven, or restored.
    fn inside(&mut self, _inside: &Inside) {}

    /// Takes marks of woven code.
    fn marks(&mut self, _batch: &MarkBatch<'_>) {}

    /// All marks of a batch were taken; what stacks say of events before them can be asked for.
    fn marks_end(&mut self, _stacks: &Stacks) {}

    /// Takes a client of marks; gives it back where it has none.
    fn add_client(&mut self, client: Box<dyn Client>) -> Option<Box<dyn Client>> {
        Some(client)
    }

    /// When the amounts of its tables' rows came, of those tables that know it.
    fn table_steps(&self, _context: Context<'_>) -> Vec<TableSteps> {
        Vec::new()
    }

    /// The section for what was seen so far.
    fn section(&self, context: Context<'_>) -> Section;
}

/// The analyses of these lenses, in the order of the report.
pub fn all(lenses: &[Lens]) -> Vec<Box<dyn Analysis>> {
    Lens::ALL.iter().filter(|lens| lenses.contains(lens)).map(|lens| one(*lens)).collect()
}

fn one(lens: Lens) -> Box<dyn Analysis> {
    match lens {
        Lens::Gc => Box::new(gc::Gc::default()),
        Lens::Safepoint => Box::new(safepoint::Safepoint::default()),
        Lens::Locks => Box::new(locks::Locks::default()),
        Lens::Threads => Box::new(threads::Threads::default()),
        Lens::Classes => Box::new(classes::Classes::default()),
        Lens::Jit => Box::new(jit::Jit::default()),
        Lens::Alloc => Box::new(alloc::Alloc::default()),
        Lens::Exceptions => Box::new(exceptions::Exceptions::default()),
        Lens::Cpu => Box::new(cpu::Cpu::default()),
        Lens::Offcpu => Box::new(offcpu::Offcpu::default()),
        Lens::Wall => Box::new(wall::Wall::default()),
        Lens::Methods => Box::new(methods::Methods::default()),
        Lens::Calls => Box::new(calls::Calls::default()),
        Lens::Explain => Box::new(explain::Explain::default()),
        Lens::Jni => Box::new(jni::Jni::default()),
        Lens::Markers => Box::new(markers::Markers::default()),
        Lens::Typestate => Box::new(typestate::Typestate::default()),
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod hostile;
