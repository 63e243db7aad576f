//! Which frame of a stack a user calls the place: the innermost method of the program itself, not of the JDK below it.

use super::library;
use crate::{
    event::StackId,
    stack::{Frame, Stacks},
    text::class_name::is_of_jdk,
};

/// Parts of the names of classes that the JDK makes at run time: what they do is only to call on.
const MADE_AT_RUN_TIME: [&str; 3] = ["$$Lambda", "$Proxy", "GeneratedMethodAccessor"];

/// Whether a frame is a method of the program: Java, and neither of the JDK nor made by it (lambda forms, reflection,
/// proxies). The body of a lambda is a method of the class that it is written in, so it is of the program.
pub(super) fn is_app(frame: &Frame) -> bool {
    if !frame.kind.is_java() || frame.is_of_several() {
        return false;
    }
    let class = frame.class.as_deref().unwrap_or(&frame.name);
    !is_of_jdk(class) && !MADE_AT_RUN_TIME.iter().any(|part| class.contains(part))
}

/// Whether a frame is a method of the program itself, and not of a library that is known.
pub(super) fn is_own(frame: &Frame) -> bool {
    is_app(frame) && !library::has(frame.class.as_deref().unwrap_or(&frame.name))
}

/// The frame that is the place: the innermost of the program, else the innermost Java frame, else the innermost one.
pub(super) fn frame(stacks: &Stacks, id: StackId) -> Option<&Frame> {
    let frames = || stacks.frames_of(id);
    frames().find(|frame| is_app(frame)).or_else(|| top(stacks, id))
}

/// The innermost Java frame, else the innermost one: what the place was doing.
pub(super) fn top(stacks: &Stacks, id: StackId) -> Option<&Frame> {
    let frames = || stacks.frames_of(id);
    frames().find(|frame| frame.kind.is_java()).or_else(|| frames().next())
}

/// The Java frame that the place called on the way to the event; nothing where the place itself is the innermost one.
pub(super) fn called(stacks: &Stacks, id: StackId) -> Option<&Frame> {
    let mut called = None;
    for frame in stacks.frames_of(id).filter(|frame| frame.kind.is_java()) {
        if is_app(frame) {
            return called;
        }
        called = Some(frame);
    }
    None
}

/// Where a thread's work begins: its outermost method of the program, else its outermost Java frame.
pub(super) fn entry(stacks: &Stacks, id: StackId) -> Option<&Frame> {
    let java = || stacks.frames_of(id).filter(|frame| frame.kind.is_java());
    java().filter(|frame| is_app(frame)).last().or_else(|| java().last())
}

/// The Java frames that an exception of a class is thrown from, innermost first: those below its constructors.
pub(super) fn frames_of_thrower<'a>(stacks: &'a Stacks, id: StackId, class: &str) -> impl Iterator<Item = &'a Frame> {
    frames_below(stacks, id, class).filter(|frame| frame.kind.is_java())
}

/// All frames from the one on that an exception of a class is thrown from.
///
/// The constructors of its superclasses are called by its own, which can call each other.
pub(super) fn frames_below<'a>(stacks: &'a Stacks, id: StackId, class: &str) -> impl Iterator<Item = &'a Frame> {
    let mut left = frames_making(stacks, id, class).len();
    stacks.frames_of(id).skip_while(move |frame| {
        let is_part = !frame.kind.is_java() || left > 0;
        left = left.saturating_sub(usize::from(frame.kind.is_java()));
        is_part
    })
}

/// The classes that an exception of a class is of, as the constructors say that make it on this stack: its superclasses first.
pub(super) fn classes_made<'a>(stacks: &'a Stacks, id: StackId, class: &str) -> Vec<&'a str> {
    frames_making(stacks, id, class).into_iter().filter_map(|frame| frame.name.strip_suffix(INIT)).collect()
}

/// The Java frames that make an exception of a class: up to its own constructor.
fn frames_making<'a>(stacks: &'a Stacks, id: StackId, class: &str) -> Vec<&'a Frame> {
    let java = stacks.frames_of(id).filter(|frame| frame.kind.is_java());
    let is_making = |frame: &&Frame| frame.name.ends_with(INIT) || frame.name == FILL_IN_STACK_TRACE;
    let mut making: Vec<_> = java.take_while(is_making).collect();
    // What else makes an object below, as a constructor that throws, is no part of it.
    let own = making.iter().rposition(|frame| frame.name.strip_suffix(INIT) == Some(class));
    making.truncate(own.map_or(making.len(), |last| last + 1));
    making
}

/// How the name of a constructor ends.
const INIT: &str = ".<init>";
/// What writes a stack trace.
const FILL_IN_STACK_TRACE: &str = "java.lang.Throwable.fillInStackTrace";

/// The place where an exception of a class is thrown: the innermost method of the program, else of Java.
pub(super) fn thrower<'a>(stacks: &'a Stacks, id: StackId, class: &str) -> Option<&'a Frame> {
    let mut frames = frames_of_thrower(stacks, id, class).peekable();
    let innermost = frames.peek().copied();
    frames.find(|frame| is_app(frame)).or(innermost).or_else(|| top(stacks, id))
}

/// Most methods that are told of those that led to a place.
const CALLERS: usize = 3;

/// How the program came to the place: its methods that called it, the nearest first. Nothing where it was not called by the program.
pub(super) fn callers(stacks: &Stacks, id: StackId) -> Option<String> {
    callers_among(stacks.frames_of(id))
}

/// The same of the frames from the place on.
pub(super) fn callers_among<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<String> {
    let (_, callers) = place_and_callers(frames)?;
    let callers: Vec<String> = callers.into_iter().take(CALLERS).map(|(_, frame)| frame.to_string()).collect();
    (!callers.is_empty()).then(|| callers.join(", from "))
}

/// Which of these frames, innermost first, the functions above tell: the place, its callers, and where the thread's work begins.
pub(super) fn told(frames: &[&Frame]) -> Vec<usize> {
    let found = place_and_callers(frames.iter().copied());
    let (place, callers) = found.unzip();
    let callers = callers.into_iter().flatten().map(|(depth, _)| depth);
    let last = frames.iter().rposition(|frame| is_app(frame));
    let entry = last.or_else(|| frames.iter().rposition(|frame| frame.kind.is_java()));
    place.into_iter().chain(callers).chain(entry).collect()
}

/// Where the place is among these frames, and those that called it, the nearest first: the program's own, where there are some. Whoever
/// calls a driver through a pool and a framework calls it from two dozen of their frames away.
fn place_and_callers<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<(usize, Vec<(usize, &'a Frame)>)> {
    let mut frames = frames.enumerate().filter(|(_, frame)| is_app(frame));
    let (depth, place) = frames.next()?;
    let (mut all, mut own) = (Callers::of(place), Callers::of(place));
    for (depth, frame) in frames {
        all.take(depth, frame);
        if is_own(frame) {
            own.take(depth, frame);
        }
        // No further: stacks are as deep as a target likes, and there are thousands.
        if own.are_enough() {
            break;
        }
    }
    Some((depth, if own.frames.is_empty() { all.frames } else { own.frames }))
}

/// The nearest callers of a place, and how deep they are.
struct Callers<'a> {
    frames: Vec<(usize, &'a Frame)>,
    before: &'a Frame,
}

impl<'a> Callers<'a> {
    const fn of(place: &'a Frame) -> Self {
        Self { frames: Vec::new(), before: place }
    }

    /// A method that calls itself is told once.
    fn take(&mut self, depth: usize, frame: &'a Frame) {
        let before = std::mem::replace(&mut self.before, frame);
        if before.name != frame.name && !self.are_enough() {
            self.frames.push((depth, frame));
        }
    }

    /// One more than is told: of a place in a library the first one is the program's own place, which has callers, too.
    const fn are_enough(&self) -> bool {
        self.frames.len() > CALLERS
    }
}

/// Whether a stack was asked for at all, at any of these events.
pub(super) fn any_asked(mut ids: impl Iterator<Item = StackId>) -> bool {
    ids.any(|id| id != StackId::default())
}

/// The place with its line, or why there is none.
pub(super) fn label(stacks: &Stacks, id: StackId) -> String {
    frame(stacks, id).map_or_else(|| Stacks::absence(id).to_owned(), ToString::to_string)
}

/// The innermost method of the program itself, with its callers; where there is none, the place with its. Frames below this depth are no
/// part of it.
pub(super) fn own(stacks: &Stacks, id: StackId, depth: usize) -> Option<(&Frame, Option<String>)> {
    let from = |is_it: fn(&Frame) -> bool| {
        let mut frames = stacks.frames_of(id).skip(depth).skip_while(move |frame| !is_it(frame)).peekable();
        Some((*frames.peek()?, callers_among(frames)))
    };
    from(is_own).or_else(|| from(is_app))
}

/// The innermost method of the program itself, with its line; where there is none, the place.
pub(super) fn own_label(stacks: &Stacks, id: StackId) -> String {
    let own = stacks.frames_of(id).find(|frame| is_own(frame));
    own.map_or_else(|| label(stacks, id), ToString::to_string)
}

/// What the place was doing, with its line, or why it is not known.
pub(super) fn top_label(stacks: &Stacks, id: StackId) -> String {
    top(stacks, id).map_or_else(|| Stacks::absence(id).to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Play, *};

    #[test]
    fn the_place_is_the_innermost_method_of_the_program() {
        let mut play = Play::default();
        let id = play.stack(&[
            "libc.so.6 start_thread",
            "java.lang.Thread.run:840",
            "com.shop.Main.main:3",
            "com.shop.Cart.add:12",
            "com.shop.Cart$$Lambda/0x7f00.accept",
            "java.lang.invoke.LambdaForm$MH.invoke",
            "jdk.internal.reflect.GeneratedMethodAccessor1.invoke",
            "java.util.HashMap.put:600",
            "libjvm.so SharedRuntime::new_array",
        ]);
        assert_eq!(label(&play.stacks, id), "com.shop.Cart.add:12");
        assert_eq!(top_label(&play.stacks, id), "java.util.HashMap.put:600");
    }

    #[test]
    fn the_body_of_a_lambda_is_of_the_program_and_its_class_is_not() {
        let mut play = Play::default();
        let id =
            play.stack(&["com.shop.Cart.lambda$add$0:12", "com.shop.Cart$$Lambda.0x01.get", "jdk.proxy2.$Proxy4.get"]);
        assert_eq!(label(&play.stacks, id), "com.shop.Cart.lambda$add$0:12");
    }

    #[test]
    fn what_the_place_called_and_where_its_thread_began() {
        let mut play = Play::default();
        let id = play.stack(&[
            "libjvm.so JavaThread::run",
            "java.lang.Thread.run:840",
            "com.shop.Worker.run:3",
            "com.shop.Plugins.find:9",
            "java.lang.Class.forName:375",
            "java.lang.Class.forName0",
            "libjvm.so JVM_FindClassFromCaller",
        ]);
        let text = |frame: Option<&Frame>| frame.map(ToString::to_string);
        assert_eq!(text(called(&play.stacks, id)).as_deref(), Some("java.lang.Class.forName:375"));
        assert_eq!(text(entry(&play.stacks, id)).as_deref(), Some("com.shop.Worker.run:3"));
        let own = play.stack(&["com.shop.Worker.run:3", "libjvm.so InterpreterRuntime::_new"]);
        let jdk = play.stack(&["java.lang.Thread.run:840", "java.lang.ref.Finalizer$FinalizerThread.run:160"]);
        assert_eq!((text(called(&play.stacks, own)), text(called(&play.stacks, jdk))), (None, None));
        assert_eq!(text(entry(&play.stacks, jdk)).as_deref(), Some("java.lang.Thread.run:840"));
    }

    #[test]
    fn a_place_is_told_with_those_who_led_to_it() {
        let mut play = Play::default();
        let id = play.stack(&[
            "a.Main.main:3",
            "a.Web.serve:9",
            "java.util.ArrayList.forEach:1",
            "a.Cart.walk:4",
            "a.Cart.walk:4",
            "a.Log.add:7",
            "java.io.FileOutputStream.write:9",
        ]);
        assert_eq!(callers(&play.stacks, id).as_deref(), Some("a.Cart.walk:4, from a.Web.serve:9, from a.Main.main:3"));
        let alone = play.stack(&["java.lang.Thread.run:840", "a.Main.run:3"]);
        assert_eq!(callers(&play.stacks, alone), None);
    }

    #[test]
    fn the_callers_of_a_library_are_the_programs_own_methods() {
        let mut play = Play::default();
        let id = play.stack(&[
            "a.Main.main:3",
            "org.springframework.web.Dispatcher.service:9",
            "a.Orders.find:44",
            "org.hibernate.Session.list:70",
            "com.zaxxer.hikari.pool.Statement.execute:8",
            "org.postgresql.jdbc.Statement.execute:7",
            "org.postgresql.core.PGStream.receive:4",
            "java.net.SocketInputStream.read:9",
        ]);
        assert_eq!(label(&play.stacks, id), "org.postgresql.core.PGStream.receive:4");
        assert_eq!(callers(&play.stacks, id).as_deref(), Some("a.Orders.find:44, from a.Main.main:3"));
        let frames: Vec<&Frame> = play.stacks.frames_of(id).collect();
        assert_eq!(
            told(&frames).into_iter().map(|depth| frames[depth].name.to_string()).collect::<Vec<_>>(),
            ["org.postgresql.core.PGStream.receive", "a.Orders.find", "a.Main.main", "a.Main.main"]
        );
        let server = play.stack(&[
            "org.apache.kafka.Broker.run:3",
            "org.apache.kafka.Log.roll:8",
            "org.apache.kafka.Log.write:9",
        ]);
        assert_eq!(
            callers(&play.stacks, server).as_deref(),
            Some("org.apache.kafka.Log.roll:8, from org.apache.kafka.Broker.run:3"),
            "it is nothing but a library"
        );
    }

    #[test]
    fn without_a_method_of_the_program_the_place_is_the_next_best() {
        let mut play = Play::default();
        let jdk =
            play.stack(&["java.lang.Thread.run:840", "java.util.TimerThread.mainLoop:537", "libc.so.6 futex_wait"]);
        let native = play.stack(&["libc.so.6 start_thread", "libjvm.so GangWorker::loop"]);
        assert_eq!(label(&play.stacks, jdk), "java.util.TimerThread.mainLoop:537");
        assert_eq!(label(&play.stacks, native), "libjvm.so!GangWorker::loop");
        assert_eq!(label(&play.stacks, StackId(0)), "<no stack taken>");
        assert_eq!(label(&play.stacks, StackId(999)), "<stack lost>");
    }

    #[test]
    fn a_class_whose_name_only_begins_like_a_package_is_of_the_program() {
        let app = |name: &str| is_app(&Frame::named(crate::stack::Kind::Inlined, name));
        assert!(app("javafoo.Main.run") && app("sunny.Main.run") && app("org.jdk.Main.run"));
        assert!(!app("jdk.internal.misc.Unsafe.park") && !is_app(&Frame::named(crate::stack::Kind::Native, "main")));
    }
}
