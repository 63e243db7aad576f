//! Why a thread waits: by what it is parked or blocked for, by its system call, and by the methods of the JDK that it waits in.

use super::{super::site, pools};
use crate::{
    event::StackId,
    item::look::{Waits, peer},
    stack::{Frame, Stacks},
};

/// Classes that threads are parked for, by a part of their names, with what that means.
const BLOCKERS: [(&str, Kind); 11] = [
    ("ReentrantLock", Kind::Lock),
    ("ReentrantReadWriteLock", Kind::Lock),
    ("StampedLock", Kind::Lock),
    ("Semaphore", Kind::Lock),
    // Of the JDK (`FutureTask`, `CompletableFuture$Signaller`), and of libraries, as Guava's `SettableFuture`.
    ("Future", Kind::Task),
    ("ForkJoinTask", Kind::Task),
    ("CountDownLatch", Kind::Latch),
    ("CyclicBarrier", Kind::Latch),
    ("Phaser", Kind::Latch),
    ("ConditionObject", Kind::Condition),
    ("Exchanger", Kind::Latch),
];

/// Methods of the JDK in which threads wait, by the beginnings of their names: they say more than what is below them.
const CALLS: [(&str, Kind, &str); 25] = [
    ("java.lang.Thread.sleep", Kind::Sleep, "time to pass"),
    ("java.lang.Thread.join", Kind::Join, "the end of a thread"),
    ("java.util.concurrent.CyclicBarrier.await", Kind::Barrier, "the others at a CyclicBarrier"),
    ("java.util.concurrent.Phaser.arriveAndAwaitAdvance", Kind::Barrier, "the others at a Phaser"),
    ("java.util.concurrent.Phaser.awaitAdvance", Kind::Barrier, "the others at a Phaser"),
    ("java.util.concurrent.LinkedBlockingQueue.put", Kind::Queue, "room in a LinkedBlockingQueue"),
    ("java.util.concurrent.LinkedBlockingQueue.offer", Kind::Queue, "room in a LinkedBlockingQueue"),
    ("java.util.concurrent.ArrayBlockingQueue.put", Kind::Queue, "room in an ArrayBlockingQueue"),
    ("java.util.concurrent.ArrayBlockingQueue.offer", Kind::Queue, "room in an ArrayBlockingQueue"),
    ("java.util.concurrent.LinkedBlockingDeque.put", Kind::Queue, "room in a LinkedBlockingDeque"),
    ("java.util.concurrent.LinkedBlockingDeque.offer", Kind::Queue, "room in a LinkedBlockingDeque"),
    ("java.util.concurrent.SynchronousQueue.put", Kind::Queue, "a taker at a SynchronousQueue"),
    ("java.util.concurrent.LinkedTransferQueue.transfer", Kind::Queue, "a taker at a LinkedTransferQueue"),
    ("java.util.concurrent.SubmissionPublisher.submit", Kind::Queue, "a subscriber of a SubmissionPublisher"),
    ("java.io.PipedInputStream.receive", Kind::Queue, "room in a PipedInputStream"),
    ("java.io.PipedReader.receive", Kind::Queue, "room in a PipedReader"),
    ("java.lang.ProcessImpl.waitFor", Kind::Process, "the end of a process"),
    ("java.lang.Process.waitFor", Kind::Process, "the end of a process"),
    ("jdk.internal.net.http.HttpClientImpl.send", Kind::Socket, "an answer over HTTP"),
    ("java.net.Inet4AddressImpl.lookupAllHostAddr", Kind::Socket, "the address of a host name"),
    ("java.net.Inet6AddressImpl.lookupAllHostAddr", Kind::Socket, "the address of a host name"),
    ("sun.nio.ch.FileDispatcherImpl.force0", Kind::File, "a file (fsync)"),
    ("sun.nio.ch.UnixFileDispatcherImpl.force0", Kind::File, "a file (fsync)"),
    ("java.io.FileDescriptor.sync", Kind::File, "a file (fsync)"),
    ("java.nio.MappedMemoryUtils.force0", Kind::File, "a file (msync)"),
];

/// What calls the program on the only thread, or one of the few, that takes what comes next for everybody: what a handler waits for
/// there, all others wait for, too.
const DISPATCHERS: [(&str, &str); 6] = [
    ("sun.net.httpserver.ServerImpl$DefaultExecutor.execute", "the dispatcher of an HttpServer that has no executor"),
    ("java.awt.EventQueue.dispatchEvent", "the event thread of AWT"),
    ("io.netty.channel.nio.NioEventLoop.processSelectedKey", "an event loop of Netty"),
    ("io.netty.channel.epoll.EpollEventLoop.processReady", "an event loop of Netty"),
    ("io.netty.util.concurrent.AbstractEventExecutor.safeExecute", "an event loop of Netty"),
    ("org.apache.zookeeper.ClientCnxn$EventThread.processEvent", "the event thread of ZooKeeper"),
];

/// Methods of libraries that read what comes by itself, for all who wait for an answer: that nothing comes says nothing.
const READERS: [&str; 6] = [
    "com.rabbitmq.client.impl.AMQConnection$MainLoop.run",
    "com.sun.jndi.ldap.Connection.run",
    "org.apache.activemq.transport.tcp.TcpTransport.run",
    "org.eclipse.paho.client.mqttv3.internal.CommsReceiver.run",
    "org.eclipse.paho.mqttv5.client.internal.CommsReceiver.run",
    "org.java_websocket.client.WebSocketClient.run",
];

/// Native methods of files. A thread in one of them may wait, or run in the kernel; its system call is known only if it waits.
const FILE_CALLS: [(&str, &str); 9] = [
    ("java.io.FileOutputStream.open0", "a file (openat)"),
    ("java.io.FileInputStream.open0", "a file (openat)"),
    ("java.io.RandomAccessFile.open0", "a file (openat)"),
    ("java.io.RandomAccessFile.write", "a file (write)"),
    ("java.io.RandomAccessFile.read", "a file (read)"),
    ("java.io.FileOutputStream.write", "a file (write)"),
    ("sun.nio.ch.FileDispatcherImpl.", "a file"),
    ("sun.nio.ch.UnixFileDispatcherImpl.", "a file"),
    ("java.io.UnixFileSystem.", "a file"),
];

/// Methods of the JDK that wait by `poll` until a socket is ready, because there is a limit of time: what for. Those of 8 and 11 do it in native
/// code.
const POLLS: [(&str, &str); 9] = [
    ("sun.nio.ch.NioSocketImpl.connect", "connect"),
    ("sun.nio.ch.NioSocketImpl.accept", "accept"),
    ("sun.nio.ch.NioSocketImpl.implRead", "read"),
    ("sun.nio.ch.NioSocketImpl.implWrite", "write"),
    ("sun.nio.ch.SocketChannelImpl.blockingRead", "read"),
    ("sun.nio.ch.SocketChannelImpl.blockingConnect", "connect"),
    ("java.net.SocketInputStream.socketRead0", "read"),
    ("java.net.PlainSocketImpl.socketConnect", "connect"),
    ("java.net.PlainSocketImpl.socketAccept", "accept"),
];

/// Pipes, as they are called.
const PIPES: [&str; 3] = ["a pipe", "standard output", "standard error"];

/// What runs virtual threads.
const VIRTUAL: &str = "java.lang.VirtualThread.run";
/// Where a virtual thread waits that cannot leave its carrier.
const PINNED: &str = "java.lang.VirtualThread.parkOnCarrierThread";
/// What calls the program on behalf of objects that nothing holds any more.
const REFERENCES: [(&str, &str); 2] =
    [("java.lang.ref.Finalizer.runFinalizer", "finalizers"), ("jdk.internal.ref.CleanerImpl.run", "cleaners")];

/// What starts the threads of `Runtime.addShutdownHook`, and waits for their ends before the JVM ends.
const SHUTDOWN: &str = "java.lang.ApplicationShutdownHooks.runHooks";

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Monitor,
    Lock,
    Task,
    Latch,
    Barrier,
    Condition,
    Notify,
    Queue,
    /// Something that there is a limited number of.
    Pool,
    /// The end of a database's transaction.
    Transaction,
    Sleep,
    Park,
    Socket,
    Served,
    File,
    Pipe,
    Process,
    Call,
    /// The end of another thread.
    Join,
    /// The JVM's end waits for that of a shutdown hook.
    Shutdown,
    /// Not a wait: a virtual thread waits and keeps its carrier from others.
    Pinned,
    /// Not a wait: the only thread that runs finalizers or cleaners is at work.
    References,
    /// A thread waits that takes what comes next for all.
    Dispatcher,
}

impl Kind {
    /// What a reason means by itself, without the stack.
    pub(super) fn of(waits: &Waits) -> Self {
        match waits {
            Waits::Monitor { .. } => Self::Monitor,
            Waits::Notify { joined: Some(_), .. } => Self::Join,
            Waits::Notify { .. } => Self::Notify,
            Waits::Unpark { class, owner, .. } => {
                let known = BLOCKERS.iter().find(|(part, _)| class.contains(part)).map(|(_, kind)| *kind);
                known.unwrap_or(if owner.is_some() { Self::Lock } else { Self::Park })
            }
            Waits::SystemCall { on: Some(on), .. } if on.contains(" (to ") => Self::Served,
            Waits::SystemCall { on: Some(on), .. } if on.contains(" (from ") => Self::Socket,
            Waits::SystemCall { call, .. } if call == "connect" => Self::Socket,
            Waits::SystemCall { on: Some(on), .. } if on.starts_with('/') => Self::File,
            Waits::SystemCall { on: Some(on), .. } if PIPES.contains(&on.as_str()) => Self::Pipe,
            Waits::SystemCall { .. } => Self::Call,
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Lock => "lock",
            Self::Task => "task",
            Self::Latch => "latch",
            Self::Barrier => "barrier",
            Self::Condition => "condition",
            Self::Notify => "notify",
            Self::Queue => "queue",
            Self::Pool => "pool",
            Self::Transaction => "transaction",
            Self::Sleep => "sleep",
            Self::Park => "park",
            Self::Socket => "socket",
            Self::Served => "client",
            Self::File => "file",
            Self::Pipe => "pipe",
            Self::Process => "process",
            Self::Call => "call",
            Self::Join => "join",
            Self::Shutdown => "shutdown",
            Self::Pinned => "pinned",
            Self::References => "references",
            Self::Dispatcher => "dispatcher",
        }
    }
}

/// What a thread does, and what it waits for where that has a name.
pub(super) fn doing(stacks: &Stacks, stack: StackId, waits: Option<&Waits>) -> (String, Option<String>) {
    let what = reason(waits, stacks, stack).map(|(_, what)| what);
    (site::label(stacks, stack), what.filter(|what| !what.is_empty()))
}

/// Why a thread with this stack waits, and what for; none where it is not known to wait.
pub(super) fn reason(waits: Option<&Waits>, stacks: &Stacks, stack: StackId) -> Option<(Kind, String)> {
    let frames = || stacks.frames_of(stack).filter(|frame| frame.kind.is_java());
    let is = |frame: &Frame, name: &str| frame.name == name;
    if let Some((_, what)) = REFERENCES.iter().find(|(caller, _)| frames().any(|frame| is(frame, caller))) {
        return Some((Kind::References, (*what).to_owned()));
    }
    if let Some((_, what)) = DISPATCHERS.iter().find(|(caller, _)| frames().any(|frame| is(frame, caller))) {
        return Some((Kind::Dispatcher, (*what).to_owned()));
    }
    if frames().take_while(|frame| !site::is_own(frame)).any(|frame| READERS.iter().any(|reader| is(frame, reader))) {
        return None;
    }
    if frames().any(|frame| is(frame, SHUTDOWN)) {
        return Some((Kind::Shutdown, "a shutdown hook".to_owned()));
    }
    let polls = || {
        let mut below = frames().take_while(|frame| !site::is_app(frame));
        below.find_map(|frame| POLLS.iter().find(|(method, _)| is(frame, method))).map(|(_, call)| *call)
    };
    let told = waits.map(|waits| (Kind::of(waits), words(waits, polls)));
    let blocks = matches!(told, Some((Kind::Monitor | Kind::Notify, _)));
    if frames().any(|frame| is(frame, PINNED)) || (blocks && frames().any(|frame| is(frame, VIRTUAL))) {
        return Some((Kind::Pinned, told.map_or_else(|| "time to pass".to_owned(), |(_, what)| what)));
    }
    let below = frames().take_while(|frame| !site::is_app(frame));
    let known = below.filter_map(|frame| CALLS.iter().find(|(begin, ..)| frame.name.starts_with(begin))).last();
    let in_file = || {
        let top = frames().next()?;
        let (_, what) = FILE_CALLS.iter().find(|(begin, _)| top.name.starts_with(begin))?;
        Some((Kind::File, (*what).to_owned()))
    };
    let lent = || pools::reason(stacks, stack, told.as_ref());
    let may_lend = known.is_none_or(|(_, kind, _)| *kind == Kind::Sleep);
    if let Some(lent) = may_lend.then(lent).flatten() {
        return Some(lent);
    }
    match (known, told) {
        // With the file's path, where the thread was seen in the call.
        (Some((_, kind, _)), Some((known, what))) if *kind == known => Some((known, what)),
        (Some((_, kind, what)), _) => Some((*kind, (*what).to_owned())),
        // A call that is about nothing that has a name: the method that made it says more.
        (None, None) => in_file(),
        (None, Some((Kind::Call, call))) => in_file().or(Some((Kind::Call, call))),
        (None, told) => told,
    }
}

/// What is waited for; `polls` says for what a call of `poll` waits, where that is known.
pub(super) fn words(waits: &Waits, polls: impl Fn() -> Option<&'static str>) -> String {
    match waits {
        Waits::Notify { joined: Some(_), .. } => "the end of a thread".to_owned(),
        Waits::Monitor { class, .. } | Waits::Notify { class, .. } => class.clone().unwrap_or_else(|| "?".to_owned()),
        Waits::Unpark { class, .. } => class.clone(),
        Waits::SystemCall { call, on: Some(on), .. } => {
            let call = if call == "poll" { polls().unwrap_or(call) } else { call };
            format!("{} ({call})", peer(on))
        }
        Waits::SystemCall { call, on: None, .. } => call.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};

    fn parked(class: &str, owner: Option<u32>) -> Waits {
        Waits::Unpark { class: class.to_owned(), address: 1, owner, ended: None }
    }

    fn call(call: &str, on: &str) -> Waits {
        Waits::SystemCall { call: call.to_owned(), on: Some(on.to_owned()), held_back: false }
    }

    fn kind(waits: Option<&Waits>, frames: &[&str]) -> Option<(Kind, String)> {
        let mut play = Play::default();
        let stack = play.stack(frames);
        reason(waits, &play.stacks, stack)
    }

    #[test]
    fn a_lock_of_ones_own_is_one_if_somebody_owns_it() {
        let frames = ["a.Main.main:3", "java.util.concurrent.locks.LockSupport.park:200"];
        let of = |class: &str, owner| kind(Some(&parked(class, owner)), &frames).map(|(kind, _)| kind);
        assert_eq!(of("java.util.concurrent.locks.ReentrantLock$NonfairSync", Some(7)), Some(Kind::Lock));
        assert_eq!(of("com.shop.Turnstile$Sync", Some(7)), Some(Kind::Lock));
        assert_eq!(of("com.shop.Turnstile", None), Some(Kind::Park));
        let futures = [
            "java.util.concurrent.CompletableFuture$Signaller",
            "java.util.concurrent.FutureTask",
            "com.google.common.util.concurrent.SettableFuture",
        ];
        assert_eq!(futures.map(|class| of(class, None)), [Some(Kind::Task); 3]);
    }

    #[test]
    fn the_methods_that_wait_say_what_for() {
        let condition = parked("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", None);
        let put = ["a.Feed.push:9", "java.util.concurrent.ArrayBlockingQueue.put:370", "jdk.internal.misc.Unsafe.park"];
        let take =
            ["a.Feed.pull:9", "java.util.concurrent.ArrayBlockingQueue.take:370", "jdk.internal.misc.Unsafe.park"];
        assert_eq!(kind(Some(&condition), &put), Some((Kind::Queue, "room in an ArrayBlockingQueue".to_owned())));
        assert_eq!(kind(Some(&condition), &take).map(|(kind, _)| kind), Some(Kind::Condition));
        let force = ["a.Log.add:12", "sun.nio.ch.FileChannelImpl.force:468", "sun.nio.ch.FileDispatcherImpl.force0"];
        assert_eq!(kind(None, &force), Some((Kind::File, "a file (fsync)".to_owned())));
        assert_eq!(kind(Some(&call("fsync", "/data/log")), &force), Some((Kind::File, "/data/log (fsync)".to_owned())));
        assert_eq!(kind(None, &["a.Log.add:12"]), None, "it runs");
        let barrier =
            ["a.Grid.step:4", "java.util.concurrent.CyclicBarrier.await:364", "jdk.internal.misc.Unsafe.park"];
        let others = (Kind::Barrier, "the others at a CyclicBarrier".to_owned());
        assert_eq!(kind(Some(&condition), &barrier), Some(others));
        let node = parked("java.util.concurrent.Phaser$QNode", None);
        let phaser = ["a.Grid.step:4", "java.util.concurrent.Phaser.arriveAndAwaitAdvance:695"];
        assert_eq!(kind(Some(&node), &phaser), Some((Kind::Barrier, "the others at a Phaser".to_owned())));
        let arrive = ["a.Grid.step:4", "java.util.concurrent.Phaser.arrive:630"];
        assert_eq!(kind(None, &arrive), None, "who only arrives does not wait");
    }

    #[test]
    fn a_virtual_thread_that_keeps_its_carrier_is_pinned() {
        let run = "java.lang.VirtualThread.run:309";
        let parked = [run, "a.Shop.buy:9", PINNED, "jdk.internal.misc.Unsafe.park"];
        assert_eq!(kind(None, &parked), Some((Kind::Pinned, "time to pass".to_owned())));
        let monitor = Waits::Monitor { class: Some("a.Shop".to_owned()), address: 1, owner: None };
        assert_eq!(kind(Some(&monitor), &[run, "a.Shop.buy:9"]), Some((Kind::Pinned, "a.Shop".to_owned())));
        assert_eq!(kind(Some(&monitor), &["a.Shop.buy:9"]), Some((Kind::Monitor, "a.Shop".to_owned())));
    }

    #[test]
    fn finalizers_are_at_work_whatever_they_do() {
        let frames = ["java.lang.ref.Finalizer.runFinalizer:88", "a.Handle.finalize:7", "java.lang.Thread.sleep"];
        assert_eq!(kind(None, &frames), Some((Kind::References, "finalizers".to_owned())));
    }

    #[test]
    fn a_dispatcher_is_at_work_whatever_its_handler_does() {
        let run = "sun.net.httpserver.ServerImpl$Dispatcher.run:460";
        let execute = "sun.net.httpserver.ServerImpl$DefaultExecutor.execute:159";
        let park = "jdk.internal.misc.Unsafe.park";
        let handler = [run, execute, "a.Invoice.render:7", "java.util.concurrent.locks.LockSupport.parkNanos:4", park];
        assert_eq!(kind(None, &handler).map(|(kind, _)| kind), Some(Kind::Dispatcher));
        assert_eq!(kind(None, &[run, "sun.nio.ch.EPoll.wait"]), None, "nothing has come");
    }

    #[test]
    fn who_reads_for_others_waits_for_nothing_of_its_own() {
        let waits = call("read", "TCP 10.0.0.7:61616 (from 10.0.0.3:41456)");
        let run = "org.apache.activemq.transport.tcp.TcpTransport.run:215";
        assert_eq!(kind(Some(&waits), &[run, "org.apache.activemq.transport.tcp.X.fill:50"]), None);
        assert!(kind(Some(&waits), &[run, "a.Own.filter:3", "java.net.SocketInputStream.read:1"]).is_some());
    }

    #[test]
    fn a_file_that_is_opened_is_waited_for() {
        let open = ["a.Log.roll:3", "java.io.FileOutputStream.open:293", "java.io.FileOutputStream.open0"];
        let call = Waits::SystemCall { call: "openat".to_owned(), on: None, held_back: false };
        assert_eq!(kind(Some(&call), &open), Some((Kind::File, "a file (openat)".to_owned())));
        assert_eq!(kind(Some(&call), &["a.Log.roll:3"]), Some((Kind::Call, "openat".to_owned())));
    }

    #[test]
    fn who_joins_a_thread_waits_for_its_end_and_at_the_jvms_end_for_a_hook() {
        let join = "java.lang.Thread.join:1300";
        let waits = |joined| Waits::Notify { class: Some("java.lang.Thread".to_owned()), address: 1, joined };
        let frames = ["a.Import.stop:9", join, "java.lang.Object.wait"];
        let end = Some((Kind::Join, "the end of a thread".to_owned()));
        assert_eq!(kind(Some(&waits(Some(7))), &frames), end);
        assert_eq!(kind(Some(&waits(None)), &frames), end, "a virtual thread, or one whose object has moved");
        assert_eq!(kind(Some(&waits(None)), &["a.Import.stop:9"]).map(|(kind, _)| kind), Some(Kind::Notify));
        let hook = ["java.lang.Shutdown.exit:1", "java.lang.ApplicationShutdownHooks.runHooks:107", join];
        assert_eq!(kind(Some(&waits(Some(7))), &hook), Some((Kind::Shutdown, "a shutdown hook".to_owned())));
    }

    #[test]
    fn a_wait_with_a_limit_of_time_is_called_by_what_it_is_for() {
        let waits = call("poll", "TCP 10.0.0.7:5432 (from 10.0.0.3:41456)");
        let told = |frames: &[&str]| kind(Some(&waits), frames).map(|(_, what)| what);
        let net = "sun.nio.ch.Net.poll";
        let socket = |call: &str| Some(format!("TCP 10.0.0.7:5432 ({call})"));
        assert_eq!(told(&["a.Dial.dial:4", "sun.nio.ch.NioSocketImpl.connect:602", net]), socket("connect"));
        assert_eq!(told(&["a.Dial.read:5", "sun.nio.ch.NioSocketImpl.implRead:314", net]), socket("read"));
        assert_eq!(told(&["a.Dial.read:5", "java.net.SocketInputStream.socketRead0"]), socket("read"), "8 and 11");
        assert_eq!(told(&["sun.nio.ch.NioSocketImpl.connect:602", "a.Own.poll:4", net]), socket("poll"), "of its own");
    }

    #[test]
    fn pipes_files_and_peers_are_told_apart() {
        let kind = |on: &str| Kind::of(&call("read", on));
        assert_eq!(kind("TCP 10.0.0.7:5432 (from 10.0.0.3:41456)"), Kind::Socket);
        assert_eq!(kind("TCP 10.0.0.7:5432 (to 10.0.0.3:80)"), Kind::Served);
        assert_eq!(kind("/data/log"), Kind::File);
        assert_eq!(["a pipe", "standard output", "standard input"].map(kind), [Kind::Pipe, Kind::Pipe, Kind::Call]);
        assert_eq!(kind("anon_inode:x"), Kind::Call);
    }
}
