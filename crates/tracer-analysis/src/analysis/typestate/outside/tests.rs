//! What is known of a thread decides what is said of it.

use super::*;
use crate::{event::SiteId, item::GuardDecision, jni::Function, typestate::library::Entry};

const OLD: Tid = Tid(7);
const NEW: Tid = Tid(8);

struct Play {
    outside: Outside,
    seen: Vec<Seen>,
}

impl Play {
    fn new(name: &str) -> Self {
        let Entry { file, text } = Entry::find(name).expect("it is in the library");
        let property = Property::parse(file, text).expect("it can be read");
        let mut play = Self { outside: Outside::new(&[property]), seen: vec![Seen::default()] };
        play.thread(NEW, Edge::Begin);
        play
    }

    fn event(&mut self, tid: Tid, payload: Payload) -> usize {
        let event = Event { time_ns: 0, tid, site: SiteId(0), stack: StackId::default(), payload };
        self.outside.event(&event, &mut self.seen).len()
    }

    fn thread(&mut self, tid: Tid, edge: Edge) -> usize {
        let payload = Payload::Thread { edge, name: NameId(0), java_tid: 1, os_tid: 1, daemon: false };
        self.event(tid, payload)
    }

    /// Calls functions one after another; how many of the calls are violations.
    fn calls(&mut self, tid: Tid, functions: &[&str]) -> usize {
        let call = |name: &&str| Payload::JniCall {
            function: Function::named(name).expect("it is one"),
            caller: NameId(0),
            total_ns: None,
            inner_ns: 0,
            depth: 1,
            wanted: true,
        };
        functions.iter().map(|name| self.event(tid, call(name))).sum()
    }

    fn monitor(&mut self, monitor: u64, class: u64, actions: &[MonitorAction]) -> usize {
        let act = |&action: &_| Payload::Monitor { action, monitor, class: NameId(class) };
        actions.iter().map(|action| self.event(NEW, act(action))).sum()
    }

    fn guard(&mut self, lens: Lens) {
        let action = GuardDecision::Detach { rate_per_s: 1 };
        let group = "jni-references".to_owned();
        self.outside.guard(&GuardAction {
            time_ns: 0,
            group,
            sites: Vec::new(),
            lens,
            action,
            reason: None,
            pause_ns: None,
        });
    }
}

#[test]
fn nothing_is_said_of_a_thread_whose_past_is_not_known() {
    let mut play = Play::new("jniframes");
    assert_eq!(play.calls(OLD, &["PopLocalFrame", "PopLocalFrame", "PushLocalFrame"]), 0);
    assert_eq!(play.thread(OLD, Edge::End), 0);
    assert_eq!(play.calls(NEW, &["PopLocalFrame", "PushLocalFrame", "PopLocalFrame", "PopLocalFrame"]), 2);
    assert_eq!(play.calls(NEW, &["PushLocalFrame"]), 0);
    assert_eq!(play.thread(NEW, Edge::End), 1);
    let Seen { objects, events, illegal, dead, .. } = play.seen[0];
    assert_eq!((objects, events, illegal, dead), (2, 8, 2, 1));
}

#[test]
fn a_thread_with_the_number_of_one_that_ended_is_another() {
    let mut play = Play::new("jniframes");
    assert_eq!(play.calls(NEW, &["PushLocalFrame"]), 0);
    assert_eq!(play.thread(NEW, Edge::End), 1);
    play.thread(NEW, Edge::Begin);
    assert_eq!(play.calls(NEW, &["PopLocalFrame"]), 1);
    assert_eq!(play.thread(NEW, Edge::End), 0);
}

#[test]
fn symbols_tell_where_a_thread_is() {
    let mut play = Play::new("jnicritical");
    let release = "ReleasePrimitiveArrayCritical";
    assert_eq!(play.calls(OLD, &[release, "GetVersion", release, "GetStringCritical", "GetVersion"]), 2);
}

#[test]
fn what_happens_while_sites_are_away_is_not_known() {
    let mut play = Play::new("jniframes");
    assert_eq!(play.calls(NEW, &["PushLocalFrame"]), 0);
    play.guard(Lens::Locks);
    assert_eq!(play.outside.notes(), Vec::<String>::new());
    play.guard(Lens::Jni);
    assert_eq!(play.calls(NEW, &["PopLocalFrame", "PopLocalFrame"]), 0);
    assert_eq!(play.outside.notes().len(), 1);
    // Nor is it known of threads that came meanwhile.
    play.thread(Tid(9), Edge::Begin);
    assert_eq!(play.calls(Tid(9), &["PopLocalFrame"]), 0);
}

#[test]
fn a_structure_that_is_used_again_for_another_class_is_another_monitor() {
    let mut play = Play::new("waitunnotified");
    let wait = MonitorAction::Wait { timeout_ms: 20 };
    assert_eq!(play.monitor(64, 1, &[wait, MonitorAction::NotifyAll, MonitorAction::Waited]), 0);
    assert_eq!(play.monitor(64, 2, &[wait, MonitorAction::Waited]), 1);
    assert_eq!(play.seen[0].objects, 2);
}

#[test]
fn a_wait_that_began_before_may_have_been_notified() {
    let mut play = Play::new("waitunnotified");
    let wait = MonitorAction::Wait { timeout_ms: 0 };
    assert_eq!(play.monitor(64, 1, &[MonitorAction::Waited, wait, MonitorAction::Waited]), 0);
}
