//! Weaving: a class file with calls of [`RECORDER`] at the places that rules name.

mod allocations;
mod blocks;
mod brief;
mod code;
mod constructor;
mod descriptor;
mod exceptions;
mod frames;
mod layout;
mod loops;
mod mark;
mod method;
mod paths;
mod plan;
mod pool;
mod tables;
mod wishes;

use std::collections::BTreeMap;

use crate::class::{BRIDGE, ClassBytes, MethodBytes, NATIVE, POOL_COUNT_AT, java_name};
use crate::{Kind, PlaceDefinition, Rule, Skipped};
pub(crate) use code::opcodes;
pub(crate) use exceptions::raiser;
use method::{Fail, Method};
use pool::Additions;

/// The class whose static methods woven code calls; the library in the JVM defines it for the bootstrap loader. Its methods,
/// by name and descriptor; `int` is always the number of the place:
///
/// | method | called |
/// |---|---|
/// | `point(I)V`, `point(ILjava/lang/Object;)V` | at a point; with the receiver |
/// | `enter(I)V`, `enter(ILjava/lang/Object;)V` | where a region begins |
/// | `exit(I)V`, `exit(ILjava/lang/Object;)V` | where a region ends |
/// | `thrown(I)V`, `thrown(ILjava/lang/Object;)V` | where an exception leaves a region |
/// | `passed(I)V`, `passedThrown(I)V` | where a region ends, or an exception leaves it, that is entered by no call of its own: it is over at once, and nobody sees the order of its marks |
/// | `entered(I)J` | where another such region begins; what it says is kept to the end |
/// | `left(JI)V`, `threw(JI)V` | where that region ends, or an exception leaves it |
/// | `bytes(II)V`, `shorts(II)V`, `ints(II)V`, `longs(II)V`, `references(II)V` | behind an array: its length, then the place |
/// | `manyBytes(JII)J`, ... | behind arrays within arrays: how many of this dimension, their length, the place; says how many are within them |
/// | `exception(Ljava/lang/Object;I)V` | where a handler takes an exception, or it leaves the method: the exception, then the place |
/// | `symbol(ILjava/lang/Object;)V` | at a symbol; `null` in static methods |
/// | `argument(IIJ)V`, `argument(IID)V`, `argument(IILjava/lang/Object;)V` | behind `enter` or `point`: index and value of an argument |
pub const RECORDER: &str = "java/lang/JtraceMarks";

/// What came of a class file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Woven {
    /// The new class file; `None` where no rule named a place in it.
    pub class_file: Option<Vec<u8>>,
    /// Its places.
    pub places: Vec<PlaceDefinition>,
    /// What was left as it was, and why.
    pub skipped: Vec<Skipped>,
}

/// Why a class file cannot be woven.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is none, or has something that its reader does not know.
    #[error("the class file cannot be read: {0}")]
    Unreadable(String),
}

/// Weaves a class file.
///
/// What is not inserted stays as it is, to the byte where nothing moves. A method is woven with all that is wanted in it, or
/// left as it is and among [`Woven::skipped`]; so is a single place that cannot be kept, with its method. The numbers of places
/// in methods that are left go to the next.
///
/// The receiver is `null` where nobody can know it: before a constructor has called the one of its superclass, and, but for the
/// entry, in methods whose code stores to local variable 0. In constructors, the method, lines and regions begin behind that
/// call; arguments that were changed before it are not told.
///
/// Woven code covers with its handlers what was there before, and neither its own calls nor `return`: the recorder must throw
/// nothing. What it throws all the same where an exception is on its way, as when the stack is full, goes that exception's way. All rules are for this class; `next_place` gives numbers to places and says `None` when there are no more.
pub fn weave(class_file: &[u8], rules: &[&Rule], next_place: &mut dyn FnMut() -> Option<u32>) -> Result<Woven, Error> {
    let class = ClassBytes::read(class_file)?;
    if class.name == RECORDER {
        let skipped =
            Skipped { class: java_name(&class.name), method: None, reason: "it is what woven code calls".to_owned() };
        return Ok(Woven { skipped: vec![skipped], ..Woven::default() });
    }
    let mut weaving = Weaving {
        class: &class,
        pool: Additions::new(class.pool_count),
        woven: Woven::default(),
        new: BTreeMap::new(),
    };
    let mut places = Places { next: next_place, free: Vec::new() };
    let name = java_name(&class.name);
    for (number, method) in class.methods.iter().enumerate() {
        let rules: Vec<(usize, &Rule)> = rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.is_for_method(&name, &method.name, &method.descriptor))
            // A bridge calls the method that was written, so a call through both would be a symbol twice.
            .filter(|(_, rule)| method.access & BRIDGE == 0 || matches!(rule.kind, Kind::Marker(_)))
            .map(|(number, rule)| (number, *rule))
            .collect();
        let rules = once_each(rules);
        if !rules.is_empty() && !weaving.weave_method(number, method, &rules, &mut places) {
            break;
        }
    }
    Ok(weaving.finish())
}

/// A method can be named by several rules of a symbol, or of a marker at the same places, and is told once all the same.
fn once_each(rules: Vec<(usize, &Rule)>) -> Vec<(usize, &Rule)> {
    let mut once: Vec<(usize, &Rule)> = Vec::new();
    for (number, rule) in rules {
        let is_symbol = |rule: &Rule| !matches!(rule.kind, Kind::Marker(_));
        let is_same_place = |other: &Rule| (other.kind, &other.place) == (rule.kind, &rule.place);
        let is_alike = |other: &Rule| {
            other.marker == rule.marker && ((is_symbol(rule) && is_symbol(other)) || is_same_place(other))
        };
        if !once.iter().any(|(_, other)| is_alike(other)) {
            once.push((number, rule));
        }
    }
    once
}

/// Numbers for places; those of methods that were left as they are go to the next.
struct Places<'a> {
    next: &'a mut dyn FnMut() -> Option<u32>,
    free: Vec<u32>,
}

/// A class that is being woven.
struct Weaving<'a> {
    class: &'a ClassBytes<'a>,
    pool: Additions,
    woven: Woven,
    /// New contents of `Code` attributes, by number of the method.
    new: BTreeMap<usize, Vec<u8>>,
}

impl Weaving<'_> {
    /// Weaves a method. Says `false` where the class has to be left as it is.
    fn weave_method(
        &mut self,
        number: usize,
        method: &MethodBytes,
        rules: &[(usize, &Rule)],
        places: &mut Places<'_>,
    ) -> bool {
        let Some(code) = &method.code else {
            if rules.iter().any(|(_, rule)| rule.method.is_exact()) {
                let reason = if method.access & NATIVE == 0 { "abstract" } else { "native" };
                self.woven.skipped.push(method::skipped(self.class, method, reason.to_owned()));
            }
            return true;
        };
        // The attribute begins with its name and length.
        let content = &self.class.bytes[code.start + 6..code.end];
        let mut taken = Vec::new();
        let mut next_place = || {
            let id = places.free.pop().or_else(|| (places.next)())?;
            taken.push(id);
            Some(id)
        };
        let outcome = Method::read(self.class, method, content)
            .map_err(Fail::Reason)
            .and_then(|read| method::weave(&read, rules, &mut self.pool, &mut next_place));
        match outcome {
            Ok(outcome) => {
                for reason in outcome.left_out {
                    self.woven.skipped.push(method::skipped(self.class, method, reason));
                }
                self.woven.places.extend(outcome.places);
                if let Some(content) = outcome.content {
                    self.new.insert(number, content);
                }
                true
            }
            Err(Fail::Reason(reason)) => {
                self.woven.skipped.push(method::skipped(self.class, method, reason));
                taken.reverse();
                places.free.extend(taken);
                true
            }
            Err(Fail::NoPlaces) => {
                let reason = "there are no more numbers for places".to_owned();
                self.woven.skipped.push(method::skipped(self.class, method, reason));
                taken.reverse();
                places.free.extend(taken);
                true
            }
            Err(Fail::Full) => {
                let reason = "it has no room for more constants".to_owned();
                let class = java_name(&self.class.name);
                self.woven = Woven { skipped: vec![Skipped { class, method: None, reason }], ..Woven::default() };
                self.new.clear();
                false
            }
        }
    }

    /// The new class file: the old one with more constants, and with other code where there is some.
    fn finish(mut self) -> Woven {
        if self.new.is_empty() {
            return self.woven;
        }
        let old = self.class.bytes;
        let mut bytes = Vec::with_capacity(old.len() * 2);
        bytes.extend(&old[..POOL_COUNT_AT]);
        bytes.extend(self.pool.count().to_be_bytes());
        bytes.extend(&old[POOL_COUNT_AT + 2..self.class.pool_end]);
        bytes.extend(self.pool.bytes());
        let mut copied = self.class.pool_end;
        for (number, content) in &self.new {
            let Some(code) = &self.class.methods[*number].code else { continue };
            bytes.extend(&old[copied..code.start + 2]);
            // A method's code has at most 65,535 bytes, and its tables 65,535 entries each.
            bytes.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend(content);
            copied = code.end;
        }
        bytes.extend(&old[copied..]);
        self.woven.class_file = Some(bytes);
        self.woven
    }
}
