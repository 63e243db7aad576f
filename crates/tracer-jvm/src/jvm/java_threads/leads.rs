//! Objects of the JDK that lead to those of the program: from a thread of an executor to the tasks that its queue keeps for later, from
//! that of a timer to its tasks, and from a server to its handlers.

/// By their class: ways to what comes next, a field or several of them one after another. At the end of one there may be an array.
const LEADS: [(&str, &[&str]); 12] = [
    ("java.util.concurrent.ThreadPoolExecutor$Worker", &["this$0"]),
    // Of a scheduled one, whose queue is an array.
    ("java.util.concurrent.ThreadPoolExecutor", &["workQueue.queue"]),
    ("java.util.concurrent.FutureTask", &["callable"]),
    ("java.util.concurrent.Executors$RunnableAdapter", &["task"]),
    ("java.util.Timer", &["queue"]),
    ("java.util.TimerThread", &["queue"]),
    ("java.util.TaskQueue", &["queue"]),
    ("sun.net.httpserver.ServerImpl$Dispatcher", &["this$0"]),
    ("sun.net.httpserver.HttpServerImpl", &["server"]),
    ("sun.net.httpserver.ServerImpl", &["contexts.list.first"]),
    ("java.util.LinkedList$Node", &["item", "next"]),
    ("sun.net.httpserver.HttpContextImpl", &["handler"]),
];

/// The ways on from objects of a class.
pub(super) fn of_class(class: &str) -> Option<&'static [&'static str]> {
    LEADS.iter().find(|(known, _)| *known == class).map(|(_, ways)| *ways)
}
