//! Each rule on rows that speak for it, and on some that do not.

use super::{
    super::testing::{Case, waiting},
    *,
};
use crate::report::Cell;

#[test]
fn a_slow_peer_is_one_that_was_connected_to() {
    let case = waiting("socket", "TCP 10.0.0.7:5432 (read)", 7.9, 10);
    let (severity, title) = case.said(peer);
    assert_eq!(severity, Severity::Warning);
    assert_eq!(title, "7.9 threads on average wait for TCP 10.0.0.7:5432 (read), at com.shop.Cart.add:12");
    assert!(waiting("client", "TCP (read)", 7.9, 10).ask(peer).is_none(), "a server waits for requests");
}

/// A shop whose browsers run in the same JVM, as they do in a test: most threads wait for the shop itself.
#[test]
fn what_a_peer_is_asked_through_is_told_and_other_peers_are() {
    let wait = |what: &'static str, site: &'static str, average: f64, asked: &'static str| {
        [
            ("kind", "socket".into()),
            ("what", what.into()),
            ("site", site.into()),
            ("average", average.into()),
            ("looks", 10_u64.into()),
            ("ran_percent", 100.0.into()),
            ("asked", asked.into()),
            ("callers", "a.Orders.find:44, from a.Shop.get:3".into()),
        ]
    };
    let case = Case::seconds(10)
        .number("threads", "looks", 10.0)
        .row("threads", "waiting", &wait("TCP 10.0.0.7:80 (read)", "a.Browser.get:9", 8.0, "HTTP (OkHttp)"))
        .row(
            "threads",
            "waiting",
            &wait("TCP 10.0.0.8:5432 (poll)", "org.postgresql.PG.read:1", 3.0, "PostgreSQL (JDBC)"),
        )
        .row("threads", "waiting", &wait("TCP 10.0.0.9:80 (read)", "a.Browser.get:9", 0.1, "HTTP (OkHttp)"));
    let finding = case.ask(peer).expect("a finding");
    assert_eq!(
        finding.title,
        "8.0 threads on average wait for HTTP (OkHttp): TCP 10.0.0.7:80 (read), at a.Browser.get:9"
    );
    let other = "3.0 threads on average wait for PostgreSQL (JDBC): TCP 10.0.0.8:5432 (poll), at a.Orders.find:44 (in \
                 org.postgresql.PG.read:1)";
    assert_eq!(finding.evidence.last().map(String::as_str), Some(other), "{:?}", finding.evidence);
}

#[test]
fn what_the_network_does_tells_a_slow_peer_from_lost_segments() {
    let case = |resent: u64, unanswered: u64| {
        let cells = [
            ("looks", 9_u64.into()),
            ("looks_unanswered", unanswered.into()),
            ("peer", "TCP 10.0.0.7:5432".into()),
            ("rtt_ns", 250_000_u64.into()),
            ("resent", resent.into()),
        ];
        waiting("socket", "TCP 10.0.0.7:5432 (read)", 7.9, 10).row("threads", "peers", &cells)
    };
    let said = |resent: u64, unanswered: u64| case(resent, unanswered).ask(peer).expect("a finding");
    let fine = said(2, 2);
    let evidence = "a round trip to it takes 250 us, and the network loses nothing: it is the peer that is slow";
    assert!(fine.evidence.iter().any(|line| line == evidence), "{:?}", fine.evidence);
    assert!(fine.next_step.contains("it answers slowly"), "{}", fine.next_step);
    let lost = said(12, 0);
    assert!(lost.title.ends_with("; the network loses what is sent"), "{}", lost.title);
    assert!(
        lost.evidence.iter().any(|line| line.starts_with("12 segments had to be sent again")),
        "{:?}",
        lost.evidence
    );
    assert!(lost.next_step.starts_with("Look at the way to that peer"), "{}", lost.next_step);
    assert!(
        said(0, 9).title.ends_with("; the network loses what is sent"),
        "it waits ever longer until it tries again"
    );
}

#[test]
fn a_peer_on_a_crowded_machine_may_wait_for_a_cpu_too() {
    let crowded = |what: &'static str, own: f64| {
        waiting("socket", what, 1.9, 10)
            .number("threads", "cpu_queue_average", 0.3)
            .number("threads", "cpus_used", own)
            .number("threads", "cpus_used_by_others", 3.8)
    };
    let near = "TCP 127.0.0.1:41251 (read)";
    assert_eq!(crowded(near, 0.1).said(peer).0, Severity::Info);
    assert_eq!(crowded("TCP 10.0.0.7:5432 (read)", 0.1).said(peer).0, Severity::Warning, "another machine");
    let child = waiting("process", "the end of a process", 1.9, 10).number("threads", "cpu_queue_average", 0.3);
    let child = child.number("threads", "cpus_used", 0.1);
    assert_eq!(child.said(process).0, Severity::Warning, "the CPUs are free");
    assert_eq!(child.number("threads", "cpus_used_by_others", 3.8).said(process).0, Severity::Info);
    assert_eq!(crowded(near, 3.0).said(peer).0, Severity::Warning, "it gets the CPUs that it asks for");
    assert_eq!(waiting("socket", near, 1.9, 10).said(peer).0, Severity::Warning, "the CPUs are free");
}

#[test]
fn whoever_waits_without_an_end_may_only_listen() {
    let case = |ran: f64| {
        let cells = [
            ("kind", "socket".into()),
            ("what", "TCP 10.0.0.7:61616 (read)".into()),
            ("site", "com.shop.Events.listen:9".into()),
            ("average", 4.0.into()),
            ("looks", 10_u64.into()),
            ("ran_percent", ran.into()),
        ];
        Case::seconds(10).number("threads", "looks", 10.0).row("threads", "waiting", &cells)
    };
    assert_eq!(case(90.0).said(peer).0, Severity::Warning);
    let (severity, title) = case(10.0).said(peer);
    assert_eq!(severity, Severity::Info);
    assert!(title.ends_with("at com.shop.Events.listen:9, 90 % of them since an earlier look"), "{title}");
}

#[test]
fn a_disk_is_waited_for_in_calls_that_need_it() {
    assert_eq!(waiting("file", "/var/log/x (fsync)", 0.8, 8).said(disk).0, Severity::Warning);
    assert!(waiting("file", "/dev/pts/0 (read)", 0.8, 8).ask(disk).is_none());
    assert_eq!(waiting("file", "/data/x (write)", 0.8, 8).said(disk).0, Severity::Info);
    assert!(waiting("file", "/var/log/x (fsync)", 0.8, 1).ask(disk).is_none(), "once is by chance");
}

#[test]
fn what_a_method_waits_for_in_all_its_calls_counts() {
    let call = |what: &'static str, site: &'static str, looks: u64| {
        [
            ("kind", "file".into()),
            ("what", what.into()),
            ("site", site.into()),
            ("average", 0.15.into()),
            ("looks", looks.into()),
        ]
    };
    let case = Case::seconds(10).number("threads", "looks", 10.0);
    let case = case.row("threads", "waiting", &call("/data/x (write)", "a.Counters.save:32", 2));
    let forced = case.row("threads", "waiting", &call("/data/x (fsync)", "a.Counters.save:38", 1));
    assert_eq!(
        forced.said(disk),
        (
            Severity::Warning,
            "0.3 threads on average wait for /data/x (fsync) and 1 more like it, at a.Counters.save:38".to_owned()
        )
    );
    let evidence = forced.ask(disk).expect("a finding").evidence;
    assert!(evidence[0].starts_with("the first of these: seen in 1 of 10 looks"), "{evidence:?}");
    let case = Case::seconds(10).number("threads", "looks", 10.0);
    let case = case.row("threads", "waiting", &call("/data/y (write)", "a.Logs.roll:3", 2));
    let other = case.row("threads", "waiting", &call("/data/x (fsync)", "a.Counters.save:38", 1));
    assert_eq!(other.ask(disk), None, "another method");
}

#[test]
fn queues_processes_and_tasks_are_told_by_their_kind() {
    assert_eq!(waiting("queue", "room in an ArrayBlockingQueue", 3.0, 10).said(queue).0, Severity::Warning);
    assert_eq!(waiting("pipe", "pipe:[7] (read)", 1.0, 10).said(process).0, Severity::Info);
    let at_barrier = waiting("barrier", "the others at a CyclicBarrier", 5.0, 10);
    let finding = at_barrier.ask(party).expect("a finding");
    assert_eq!((finding.id, finding.severity), ("slow-party", Severity::Info));
    assert_eq!(finding.title, "5.0 threads on average wait for the others at a CyclicBarrier, at com.shop.Cart.add:12");
    assert_eq!(waiting("task", "java.util.concurrent.FutureTask", 30.0, 10).said(task).0, Severity::Info);
    assert!(waiting("condition", "C", 7.0, 10).ask(queue).is_none(), "workers without work");
}

#[test]
fn a_peer_that_holds_its_answers_back_is_not_slow() {
    let held = |percent: f64| {
        let cells = [
            ("kind", "socket".into()),
            ("what", "TCP 127.0.0.1:8080 (read)".into()),
            ("site", "com.shop.Cart.add:12".into()),
            ("average", Cell::Float(3.0)),
            ("looks", 10_u64.into()),
            ("held_back_percent", Cell::Float(percent)),
        ];
        let case = Case::seconds(10).number("threads", "looks", 10.0).row("threads", "waiting", &cells);
        case.ask(peer).expect("a finding")
    };
    let finding = held(92.0);
    assert_eq!((finding.id, finding.severity), ("nagle", Severity::Warning));
    assert!(finding.title.ends_with(", which holds its answers back until what it sent before is acknowledged"));
    assert!(finding.evidence.iter().any(|line| line.starts_with("in 92 % of these waits")), "{finding:?}");
    assert_eq!(held(20.0).id, "slow-peer");
}

#[test]
fn carriers_that_are_pinned_are_a_warning_where_half_of_them_are() {
    assert_eq!(waiting("pinned", "time", 2.0, 10).said(pinned).0, Severity::Warning);
    assert_eq!(waiting("pinned", "time", 1.0, 10).said(pinned).0, Severity::Info);
    assert!(waiting("pinned", "time", 0.2, 10).ask(pinned).is_none());
}

#[test]
fn a_dispatcher_must_not_wait() {
    let what = "the dispatcher of an HttpServer that has no executor";
    assert_eq!(
        waiting("dispatcher", what, 0.9, 9).said(dispatcher),
        (Severity::Warning, format!("Handlers keep {what} waiting for 90 % of the time, at com.shop.Cart.add:12"))
    );
    assert!(waiting("dispatcher", what, 0.4, 4).ask(dispatcher).is_none(), "it rests, too");
    assert!(waiting("dispatcher", what, 1.0, 1).number("threads", "looks", 2.0).ask(dispatcher).is_none());
}

#[test]
fn a_shutdown_hook_that_keeps_the_jvm_is_told() {
    let waits = |looks| waiting("shutdown", "the shutdown hook `metrics-flush`", 1.0, looks);
    let title = "The JVM is ending and waits for the shutdown hook `metrics-flush`, at com.shop.Cart.add:12";
    assert_eq!(waits(8).said(shutdown), (Severity::Warning, title.to_owned()));
    assert!(waits(2).ask(shutdown).is_none(), "hooks take a moment");
}

#[test]
fn finalizers_are_slow_where_their_thread_never_rests() {
    let waits = waiting("references", "finalizers", 0.9, 9);
    assert_eq!(
        waits.said(references),
        (
            Severity::Warning,
            "The thread that runs finalizers is at work for 90 % of the time, at com.shop.Cart.add:12".to_owned()
        )
    );
    assert!(waiting("references", "finalizers", 0.3, 3).ask(references).is_none());
    let runs = Case::seconds(10).number("threads", "looks", 10.0).number("cpu", "samples", 1000.0);
    let cells = [("work", "finalizers".into()), ("samples", 900_u64.into()), ("place", "a.B.finalize:3".into())];
    let runs = runs.number("cpu", "sampled_ns", 10e9).row("cpu", "work", &cells);
    assert!(runs.said(references).1.ends_with("90 % of the time, at a.B.finalize:3"));
}

#[test]
fn who_waits_for_one_and_the_same_result_is_counted() {
    let cells = [
        ("kind", "task".into()),
        ("what", "com.google.common.util.concurrent.SettableFuture".into()),
        ("site", "com.acme.Rates.of:7".into()),
        ("called", "java.io.X.y".into()),
        ("average", 8.0.into()),
        ("most", 9_u64.into()),
        ("looks", 10_u64.into()),
    ];
    let case = |together: u64| {
        let cells = [&cells[..], &[("together", together.into())]].concat();
        Case::seconds(10)
            .number("threads", "looks", 10.0)
            .row("threads", "waiting", &cells)
            .ask(task)
            .expect("a finding")
    };
    let same = |finding: &Finding| finding.evidence.iter().any(|text| text.contains("one and the same result"));
    assert!(same(&case(9)) && case(9).evidence.contains(&"9 at once wait for one and the same result".to_owned()));
    assert!(!same(&case(1)));
}

#[test]
fn the_fullest_queue_is_told_beside_who_waits_for_room() {
    let told = |[looks, busy]: [u64; 2]| {
        let cells = [
            ("field", "a.Appender.queue".into()),
            ("pattern", "appender-*".into()),
            ("threads", 1_u64.into()),
            ("queued_last", 64_u64.into()),
            ("looks_filled", looks.into()),
            ("looks_busy", busy.into()),
            ("site", "a.Remote.append:7".into()),
        ];
        let case = waiting("queue", "room in an ArrayBlockingQueue", 6.0, 10).row("threads", "queues", &cells);
        case.ask(queue).expect("a finding").evidence.pop().expect("some")
    };
    assert_eq!(told([3, 3]), "64 wait in the queue `a.Appender.queue`: `appender-*` is busy at a.Remote.append:7");
    assert!(!told([2, 2]).contains("a.Appender.queue"), "too few looks");
    assert!(!told([9, 2]).contains("a.Appender.queue"), "it waits for something to come");
}

#[test]
fn what_helps_depends_on_who_is_waited_for() {
    let itself = waiting("socket", "TCP 127.0.0.1:8080 of this JVM (read)", 4.0, 10).ask(peer).expect("a finding");
    assert!(itself.next_step.contains("waits for an answer of its own"), "{}", itself.next_step);
    let dialled = waiting("socket", "TCP 10.0.0.7:5432 (connect)", 1.0, 10).ask(peer).expect("a finding");
    assert!(dialled.next_step.contains("takes connections"), "{}", dialled.next_step);
    let printed = waiting("pipe", "standard output (write)", 1.0, 10).ask(process).expect("a finding");
    assert!(printed.title.contains("wait for standard output (write)"), "{}", printed.title);
    assert!(printed.next_step.contains("log driver"), "{}", printed.next_step);
    let other = waiting("pipe", "a pipe (read)", 1.0, 10).ask(process).expect("a finding");
    assert!(other.next_step.contains("`ps --ppid"), "{}", other.next_step);
    let locked = waiting("file", "/data/spool (fcntl)", 1.0, 10).ask(disk).expect("a finding");
    assert!(locked.next_step.contains("`lslocks`"), "{}", locked.next_step);
    let forced = waiting("file", "/data/log (fsync)", 1.0, 10).ask(disk).expect("a finding");
    assert!(forced.next_step.contains("Force data"), "{}", forced.next_step);
}
