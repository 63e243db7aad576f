//! Where an exception is caught: what the exception tables of the methods on its stack say.
//!
//! The JVM goes the same way when it is thrown: from the method that throws outwards, to the first handler for one of its classes. These
//! are known, because the constructors of all of them are on the stack while the exception is made. What is thrown elsewhere than where it
//! is made goes another way, which no stack shows.

use super::super::site;
use crate::{
    event::StackId,
    stack::{Frame, Kind, Stacks, handlers::Use},
    text::class_name::is_of_jdk,
};

const THROWABLE: &str = "java.lang.Throwable";
const ERROR: &str = "java.lang.Error";
const UNCHECKED: &str = "java.lang.RuntimeException";
/// The method of the JDK below which a virtual thread's work is: it catches what its thread does not.
const VIRTUAL_THREAD: &str = "java.lang.VirtualThread.run";
/// Where native methods of reflection are.
const REFLECTION: [&str; 2] = ["jdk.internal.reflect.", "sun.reflect."];
/// Native up to 11.
const PRIVILEGED: &str = "java.security.AccessController.doPrivileged";

/// How an exception goes on from where it is thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Where it ends.
    pub(super) end: End,
    /// Java frames that it leaves on the way; 0 where the method that throws it catches it.
    pub(super) unwound: u64,
}

/// Where an exception ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At a handler: the method and its line there, and whether nothing reads the exception.
    Caught { at: String, ignored: bool },
    /// The JVM makes an exception of this class of it.
    Wrapped(&'static str),
    /// In this native method of the program, which decides by itself.
    Native(String),
    /// Nobody catches it: it ends the thread.
    Uncaught,
    /// A part of the stack was not read, or not that of how the exception was made.
    Unknown,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Caught { at, ignored: false } => f.write_str(at),
            Self::Caught { at, ignored: true } => write!(f, "{at}, ignored"),
            Self::Wrapped(class) => write!(f, "<becomes {class}>"),
            Self::Native(method) => write!(f, "<native method {method}>"),
            Self::Uncaught => f.write_str("<uncaught>"),
            Self::Unknown => f.write_str("<not known>"),
        }
    }
}

impl Way {
    /// The way of an exception of a class that was made on a stack.
    pub(super) fn of(stacks: &Stacks, id: StackId, class: &str) -> Self {
        let classes = site::classes_made(stacks, id, class);
        let is_of = |class: &str| classes.contains(&class);
        let mut unwound = 0;
        let end = |end, unwound| Self { end, unwound };
        if !is_of(THROWABLE) {
            return end(End::Unknown, unwound);
        }
        for frame in site::frames_below(stacks, id, class) {
            if frame.kind == Kind::Unknown || frame.is_of_several() {
                return end(End::Unknown, unwound);
            }
            if frame.kind.is_java() {
                // A native method that is the first throws it, and catches nothing.
                let throws = frame.bci.is_none() && frame.handlers.is_some() && unwound == 0;
                if !throws && let Some(found) = at_frame(frame, is_of) {
                    return end(found, unwound);
                }
                unwound += 1;
            }
        }
        let is_whole = stacks.get(id).is_some_and(|stack| stack.end.root);
        end(if is_whole { End::Uncaught } else { End::Unknown }, unwound)
    }
}

/// Where an exception ends that reaches a frame; none where it goes on to the next.
fn at_frame(frame: &Frame, is_of: impl Fn(&str) -> bool) -> Option<End> {
    let Some(handlers) = &frame.handlers else { return Some(End::Unknown) };
    let Some(bci) = frame.bci else { return of_native(frame, is_of) };
    if let Some(handler) = handlers.catching(bci, &is_of) {
        if frame.name == VIRTUAL_THREAD {
            return Some(End::Uncaught);
        }
        let line = handler.line.map(|line| format!(":{line}")).unwrap_or_default();
        return Some(End::Caught { at: format!("{}{line}", frame.name), ignored: handler.does == Use::Ignores });
    }
    // What a static initialiser throws, the JVM hands on in an error (JVMS 5.5, step 10).
    let ends_initialiser = frame.name.ends_with(".<clinit>") && !is_of(ERROR);
    ends_initialiser.then_some(End::Wrapped("java.lang.ExceptionInInitializerError"))
}

/// The same where the frame is one of a native method.
fn of_native(frame: &Frame, is_of: impl Fn(&str) -> bool) -> Option<End> {
    if REFLECTION.iter().any(|package| frame.name.starts_with(package)) {
        return Some(End::Wrapped("java.lang.reflect.InvocationTargetException"));
    }
    if frame.name == PRIVILEGED {
        let is_checked = !is_of(UNCHECKED) && !is_of(ERROR);
        return is_checked.then_some(End::Wrapped("java.security.PrivilegedActionException"));
    }
    let class = frame.class.as_deref().unwrap_or(&frame.name);
    (!is_of_jdk(class)).then(|| End::Native(frame.name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};
    use crate::stack::handlers::{Handler, Handlers};

    const MADE: [&str; 3] = ["java.lang.Throwable.<init>:250", "java.lang.Exception.<init>:54", "a.Refused.<init>:3"];

    fn handler(class: Option<&str>, line: u32, does: Use) -> Handlers {
        vec![Handler { begin: 0, end: 9, class: class.map(Into::into), line: Some(line), does }].into()
    }

    /// The way of an `a.Refused` from a stack of Java frames, innermost first: names, and the handlers that each has.
    fn way(frames: &[(&str, Option<Handlers>)]) -> Way {
        way_on(&MADE, frames)
    }

    fn way_on(made: &[&str], frames: &[(&str, Option<Handlers>)]) -> Way {
        let mut play = Play::default();
        let made = made.iter().map(|name| Play::frame(name));
        let frames = frames.iter().map(|(name, handlers)| {
            let is_native = name.ends_with('0');
            Frame { bci: (!is_native).then_some(4), handlers: handlers.clone(), ..Play::frame(name) }
        });
        let id = play.stack_of(made.chain(frames), "");
        Way::of(&play.stacks, id, "a.Refused")
    }

    fn empty() -> Handlers {
        Handlers::default()
    }

    fn caught(at: &str, unwound: u64) -> Way {
        Way { end: End::Caught { at: at.to_owned(), ignored: false }, unwound }
    }

    #[test]
    fn the_first_handler_for_one_of_its_classes_catches_it() {
        let of = |class, line| Some(handler(Some(class), line, Use::Reads));
        let stack = [
            ("a.Mail.check:12", Some(empty())),
            ("a.Mail.send:9", of("a.Other", 10)),
            ("a.Main.main:3", of("java.lang.Exception", 5)),
        ];
        assert_eq!(way(&stack), caught("a.Main.main:5", 2));
        assert_eq!(way(&[("a.Mail.check:12", of("a.Refused", 14))]), caught("a.Mail.check:14", 0));
    }

    /// A constructor that throws is of the exception's classes no more than any other method is, whatever it makes.
    #[test]
    fn what_throws_is_none_of_its_classes() {
        let of = |class, line| Some(handler(Some(class), line, Use::Reads));
        let stack = [
            ("a.Failure.<init>:4", Some(empty())),
            ("a.Mail.send:9", of("a.Failure", 10)),
            ("a.Main.main:3", of("a.Refused", 5)),
        ];
        assert_eq!(way(&stack), caught("a.Main.main:5", 2));
    }

    #[test]
    fn what_is_ignored_is_told() {
        let way = way(&[("a.Mail.check:12", Some(handler(None, 14, Use::Ignores)))]);
        assert_eq!(way.end.to_string(), "a.Mail.check:14, ignored");
    }

    #[test]
    fn what_nobody_catches_ends_the_thread() {
        assert_eq!(way(&[("a.Main.main:3", Some(empty()))]), Way { end: End::Uncaught, unwound: 1 });
        let of_virtual = Some(handler(Some("java.lang.Throwable"), 309, Use::Reads));
        assert_eq!(way(&[("a.Main.go:3", Some(empty())), (VIRTUAL_THREAD, of_virtual)]).end, End::Uncaught);
    }

    #[test]
    fn what_the_jvm_wraps_becomes_another() {
        let initialiser = way(&[("a.Config.<clinit>:3", Some(empty())), ("a.Main.main:3", Some(empty()))]);
        assert_eq!(initialiser.end.to_string(), "<becomes java.lang.ExceptionInInitializerError>");
        let error = ["java.lang.Throwable.<init>", "java.lang.Error.<init>", "a.Refused.<init>"];
        assert_eq!(way_on(&error, &[("a.Config.<clinit>:3", Some(empty()))]).end, End::Uncaught);
        let reflection =
            [("a.Main.go:3", Some(empty())), ("jdk.internal.reflect.NativeMethodAccessorImpl.invoke0", Some(empty()))];
        assert_eq!(way(&reflection).end, End::Wrapped("java.lang.reflect.InvocationTargetException"));
        // The other one is made there, and thrown on.
        assert_eq!(way(&[reflection[1].clone(), ("a.Main.go:3", Some(empty()))]).end, End::Uncaught);
    }

    #[test]
    fn native_methods_of_the_jdk_hand_it_on_and_others_decide() {
        let with = |native| {
            way(&[("a.Main.go:3", Some(empty())), (native, Some(empty())), ("a.Main.main:4", Some(empty()))]).end
        };
        assert_eq!(with("java.lang.Class.forName0"), End::Uncaught);
        assert_eq!(with("a.Codec.decode0"), End::Native("a.Codec.decode0".to_owned()));
    }

    #[test]
    fn where_a_part_is_not_known_it_is_said() {
        assert_eq!(way(&[("a.Main.go:3", Some(empty())), ("a.Main.main:4", None)]).end, End::Unknown);
        assert_eq!(
            way_on(&["java.lang.Throwable.fillInStackTrace:798"], &[("a.Main.go:3", Some(empty()))]).end,
            End::Unknown
        );
    }
}
