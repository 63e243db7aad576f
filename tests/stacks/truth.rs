//! Reads the file of `tests/workloads/stacks/Oracle`: the stacks that the program saw itself, one for each of its events.

use std::{collections::HashMap, rc::Rc};

use anyhow::{Context as _, Result, bail};

/// A frame as `StackWalker` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TrueFrame {
    /// Binary name of the class, with dots; that of a hidden class ends in `/0x...`.
    pub(crate) class: String,
    pub(crate) method: String,
    /// Absent for native methods, and for code that was compiled without lines.
    pub(crate) line: Option<u32>,
    /// Absent for native methods.
    pub(crate) bci: Option<u32>,
}

/// The kinds of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Park,
    Sleep,
    Enter,
    Load,
    Start,
}

impl Kind {
    /// The word for it in the oracle's file and arguments.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Park => "park",
            Self::Sleep => "sleep",
            Self::Enter => "enter",
            Self::Load => "load",
            Self::Start => "start",
        }
    }
}

/// An event of the program.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    /// What the stack is made of.
    pub(crate) shape: String,
    /// Kernel's number of the thread; for a start that of the thread that started the other.
    pub(crate) tid: u32,
    /// What jtrace's event of this thread and kind carries as well; `None` where their order tells.
    pub(crate) key: Option<String>,
    /// Innermost first; the first one is the method that hit the probe.
    pub(crate) stack: Rc<[TrueFrame]>,
}

/// Reads the whole file.
pub(crate) fn parse(text: &str) -> Result<Vec<Seen>> {
    let mut frames: HashMap<&str, TrueFrame> = HashMap::new();
    let mut stacks: HashMap<&str, Rc<[TrueFrame]>> = HashMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["frame", id, class, method, line, bci] => {
                let (class, method) = (class.to_owned(), method.to_owned());
                frames
                    .insert(id, TrueFrame { class, method, line: number(line)?.filter(|l| *l > 0), bci: number(bci)? });
            }
            ["stack", id, ref stack @ ..] => {
                let frame = |id: &&str| frames.get(*id).cloned().with_context(|| format!("no frame {id}"));
                stacks.insert(id, stack.iter().map(frame).collect::<Result<_>>()?);
            }
            ["event", kind, shape, tid, key, stack] => events.push(Seen {
                kind: kind_of(kind)?,
                shape: shape.to_owned(),
                tid: tid.parse().with_context(|| format!("not a thread: {tid}"))?,
                key: (key != "-").then(|| key.to_owned()),
                stack: stacks.get(stack).cloned().with_context(|| format!("no stack {stack}"))?,
            }),
            _ => bail!("a line that is none of an oracle: {line}"),
        }
    }
    Ok(events)
}

fn kind_of(word: &str) -> Result<Kind> {
    let kinds = [Kind::Park, Kind::Sleep, Kind::Enter, Kind::Load, Kind::Start];
    kinds.into_iter().find(|kind| kind.word() == word).with_context(|| format!("no kind {word}"))
}

/// Java says "there is none" with a negative number.
fn number(word: &str) -> Result<Option<u32>> {
    let number: i64 = word.parse().with_context(|| format!("not a number: {word}"))?;
    Ok(u32::try_from(number).ok())
}

#[test]
fn frames_stacks_and_events_are_read() {
    let text = "frame 0.0 Probe park 33 15\nframe 0.1 java.lang.Class forName0 -2 -1\nstack 0.0 0.0 0.1\nstack 0.1\n\
                event park plain 42 7 0.0\nevent sleep deep 43 - 0.1\n";
    let events = parse(text).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].kind, events[0].tid, events[0].key.as_deref()), (Kind::Park, 42, Some("7")));
    assert_eq!((events[0].stack[0].line, events[0].stack[1].line, events[0].stack[1].bci), (Some(33), None, None));
    assert!(events[1].stack.is_empty() && events[1].key.is_none());
    assert!(parse("event park plain 42 7 0.0\n").is_err(), "a stack that is not there");
}
