//! What the views of a profile call its frames: the names, and the stacks as numbers of names.
//!
//! Frames that read alike are one symbol, so that a tree does not show the same name twice side by side. A stack that does not
//! begin at its thread's outermost frame begins with a symbol that says why.

use std::collections::HashMap;

use crate::{
    report::{Profile, ProfileStack},
    stack::{Frame, Kind},
};

/// What stands for a frame that the profile does not have.
const LOST: &str = "<frame lost>";

/// What stands for the frames of a stack that has none.
const EMPTY: &str = "<no frames>";

/// Whether frames of the same method at different lines are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// `Cart.add:12` and `Cart.add:14` are two.
    #[default]
    Shown,
    /// They are one, `Cart.add`.
    Merged,
}

/// A frame as views name it. Texts are as the target gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol<'a> {
    /// The name, without module and line.
    pub(super) name: String,
    /// How the frame runs; of several frames of this name, the first one's.
    pub(super) kind: Kind,
    /// The line, where lines are shown.
    pub(super) line: Option<u32>,
    /// The frame, of several the first; none where the symbol says why a stack is cut.
    pub(super) frame: Option<&'a Frame>,
}

impl Symbol<'_> {
    /// The file of the machine code.
    pub(super) fn module(&self) -> Option<&str> {
        self.frame.and_then(|frame| frame.module.as_deref())
    }

    /// `com.shop.Cart.add:12`, `libjvm.so!JVM_Sleep`, `kernel!futex_wait`.
    pub(super) fn label(&self) -> String {
        let name = match (self.kind, self.module()) {
            (Kind::Kernel, _) => format!("kernel!{}", self.name),
            (_, Some(module)) => format!("{module}!{}", self.name),
            (_, None) => self.name.clone(),
        };
        self.with_line(name)
    }

    /// `com.shop.Cart.add:12`, `JVM_Sleep`, `futex_wait`.
    pub(super) fn short(&self) -> String {
        self.with_line(self.name.clone())
    }

    fn with_line(&self, mut name: String) -> String {
        if let Some(line) = self.line {
            name.push(':');
            name.push_str(&line.to_string());
        }
        name
    }
}

/// What makes two frames one symbol. How it runs is not part of it: a method that was interpreted and then compiled is one.
type Key<'a> = (&'a str, bool, Option<&'a str>, Option<u32>);

/// The symbols of a profile.
#[derive(Debug)]
pub(super) struct Symbols<'a> {
    all: Vec<Symbol<'a>>,
    of_frame: Vec<u32>,
    of_cut: HashMap<&'a str, u32>,
    lost: u32,
    empty: u32,
}

impl<'a> Symbols<'a> {
    /// Names the frames of a profile.
    pub(super) fn new(profile: &'a Profile, lines: Lines) -> Self {
        let mut symbols = Self { all: Vec::new(), of_frame: Vec::new(), of_cut: HashMap::new(), lost: 0, empty: 0 };
        symbols.lost = symbols.push_reason(LOST.to_owned());
        symbols.empty = symbols.push_reason(EMPTY.to_owned());
        let mut known: HashMap<Key<'_>, u32> = HashMap::new();
        for frame in &profile.frames {
            let line = frame.line.filter(|_| lines == Lines::Shown);
            let key = (frame.name.as_str(), frame.kind == Kind::Kernel, frame.module.as_deref(), line);
            let symbol = *known.entry(key).or_insert_with(|| {
                symbols.push(Symbol { name: frame.name.to_string(), kind: frame.kind, line, frame: Some(frame) })
            });
            symbols.of_frame.push(symbol);
        }
        for stack in profile.stacks.iter().filter(|stack| !stack.cut.is_empty()) {
            if !symbols.of_cut.contains_key(stack.cut.as_str()) {
                // A reason that stands for a name is in angle brackets already.
                let reason = stack.cut.strip_prefix('<').and_then(|cut| cut.strip_suffix('>')).unwrap_or(&stack.cut);
                let symbol = symbols.push_reason(format!("<cut: {reason}>"));
                symbols.of_cut.insert(&stack.cut, symbol);
            }
        }
        symbols
    }

    fn push(&mut self, symbol: Symbol<'a>) -> u32 {
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(symbol);
        id
    }

    /// A symbol that says why there is no frame.
    fn push_reason(&mut self, name: String) -> u32 {
        self.push(Symbol { name, kind: Kind::Unknown, line: None, frame: None })
    }

    /// Every symbol, in the order of the numbers.
    pub(super) fn all(&self) -> &[Symbol<'a>] {
        &self.all
    }

    /// The number of a frame's symbol.
    pub(super) fn of_frame(&self, frame: u32) -> Option<u32> {
        self.of_frame.get(usize::try_from(frame).ok()?).copied()
    }

    /// The numbers of a stack's symbols, outermost first; at least one.
    pub(super) fn stack<'s>(&'s self, stack: &'s ProfileStack) -> impl DoubleEndedIterator<Item = u32> + 's {
        let first = match self.of_cut.get(stack.cut.as_str()) {
            None if stack.frames.is_empty() => Some(self.empty),
            cut => cut.copied(),
        };
        // Where there is no stack at all, a frame stands for it that says the same.
        let outermost =
            stack.frames.first().and_then(|frame| self.all.get(usize::try_from(self.of_frame(*frame)?).ok()?));
        let is_said = !stack.cut.is_empty() && outermost.is_some_and(|symbol| symbol.name == stack.cut);
        let frames = stack.frames.iter().skip(usize::from(is_said));
        first.into_iter().chain(frames.map(|frame| self.of_frame(*frame).unwrap_or(self.lost)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn named(profile: &Profile, lines: Lines) -> Vec<Vec<String>> {
        let symbols = Symbols::new(profile, lines);
        let label = |id: u32| symbols.all()[usize::try_from(id).unwrap()].label();
        profile.stacks.iter().map(|stack| symbols.stack(stack).map(label).collect()).collect()
    }

    #[test]
    fn a_method_is_one_symbol_however_it_runs_and_a_cut_stack_says_so() {
        let profile = sample::profile();
        let stacks = named(&profile, Lines::Shown);
        assert_eq!(stacks[0].last().unwrap(), "com.shop.Cart.price:42");
        assert!(stacks.iter().any(|stack| stack[0] == "<cut: 1,024 frames>"), "{stacks:?}");
        assert!(named(&profile, Lines::Merged)[0].last().unwrap().ends_with("price"));
        let symbols = Symbols::new(&profile, Lines::Merged);
        assert_eq!(symbols.all().iter().filter(|symbol| symbol.name == "com.shop.Cart.price").count(), 1);
    }

    #[test]
    fn a_reason_has_one_pair_of_brackets() {
        let mut profile = sample::profile();
        profile.stacks[0].cut = "<stack lost>".to_owned();
        assert_eq!(named(&profile, Lines::Shown)[0][0], "<cut: stack lost>");
    }

    #[test]
    fn a_stack_that_is_only_a_reason_says_it_once() {
        let mut profile = sample::profile();
        let reason = profile.frames.len();
        profile.frames.push(Frame::named(Kind::Unknown, "<stack lost>"));
        profile.stacks[0].cut = "<stack lost>".to_owned();
        profile.stacks[0].frames = vec![u32::try_from(reason).unwrap()];
        assert_eq!(named(&profile, Lines::Shown)[0], ["<cut: stack lost>"]);
    }

    #[test]
    fn a_frame_that_is_not_there_is_named_all_the_same() {
        let mut profile = sample::profile();
        profile.stacks[0].frames = vec![4_000_000_000, 0];
        assert_eq!(named(&profile, Lines::Shown)[0][0], LOST);
    }
}
