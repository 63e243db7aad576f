//! Classes are exchanged by JVMTI's retransformation, some at a time: the JVM stands still for a part of each step.

use std::{
    cell::Cell,
    collections::HashSet,
    time::{Duration, Instant},
};

use jvmti_bindings::sys::jni::jclass;
use tracer_weave::{
    Skipped,
    control::{Done, MAX_RUNNING},
};

use crate::{
    jvm::{Failure, Jni, Jvmti, Look},
    weaving::{MAX_SKIPPED, Weaving, loaded, set_current},
};

/// Classes that are exchanged at a time.
const STEP_CLASSES: usize = 32;
/// How long a class may need from its bytes to its place among those that are loaded.
const SETTLES: Duration = Duration::from_millis(10);

thread_local! {
    /// Whether this thread exchanges classes, and links some of them by that.
    static EXCHANGES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread exchanges classes.
pub(crate) fn is_exchanging() -> bool {
    EXCHANGES.get()
}

/// Loaded classes with their names.
type Classes = Vec<(jclass, String)>;

/// Exchanges classes.
pub(crate) fn exchange(jvmti: Jvmti, jni: Jni, mut classes: Classes) -> Done {
    let mut done = look(jvmti, jni, &classes);
    while !classes.is_empty() {
        step(jvmti, jni, &mut classes, &mut done);
    }
    done
}

/// What runs in classes that are about to be exchanged: it goes on with what it has.
fn look(jvmti: Jvmti, jni: Jni, classes: &Classes) -> Done {
    if classes.is_empty() {
        return Done::default();
    }
    let began = Instant::now();
    // Where nobody can tell, nothing is told.
    let Look { mut running, unnamed } = jvmti.running(jni, classes).unwrap_or_default();
    let running_count = running.len() as u64;
    running.sort_by_key(|of| std::cmp::Reverse(of.times));
    running.truncate(MAX_RUNNING);
    Done { running, running_count, unnamed, took_ns: nanoseconds(began), ..Done::default() }
}

/// Exchanges some of them, which are no longer in the list then.
fn step(jvmti: Jvmti, jni: Jni, classes: &mut Classes, done: &mut Done) {
    let began = Instant::now();
    let mut wanted = Vec::new();
    while wanted.len() < STEP_CLASSES
        && let Some((class, name)) = classes.pop()
    {
        if jvmti.is_modifiable(class) {
            wanted.push((class, name));
            continue;
        }
        left(done, name, "the JVM does not let anybody change this class".to_owned());
        jni.forget(class);
    }
    let list: Vec<jclass> = wanted.iter().map(|(class, _)| *class).collect();
    let step_began = Instant::now();
    EXCHANGES.set(true);
    let whole = if list.is_empty() { Ok(()) } else { jvmti.retransform(&list) };
    done.longest_step_ns = done.longest_step_ns.max(nanoseconds(step_began));
    if whole.is_ok() {
        done.classes += list.len() as u64;
    } else {
        for (class, name) in wanted {
            match jvmti.retransform(&[class]) {
                Ok(()) => done.classes += 1,
                Err(reason) => left(done, name, reason),
            }
        }
    }
    EXCHANGES.set(false);
    for class in list {
        jni.forget(class);
    }
    done.took_ns += nanoseconds(began);
}

fn left(done: &mut Done, class: String, reason: String) {
    done.skipped_count += 1;
    if done.skipped.len() >= MAX_SKIPPED {
        return;
    }
    done.skipped.push(Skipped { class, method: None, reason });
}

/// Gives all woven classes their original bytes back.
pub(crate) fn end(jvmti: Jvmti, jni: Jni, weaving: &Weaving) -> Result<Done, Failure> {
    let (woven, _) = weaving.woven_with(None);
    set_current(None);
    let ours = of_names(jvmti, jni, &woven)?;
    let count = ours.len();
    let mut done = exchange(jvmti, jni, ours);
    // A class that was being loaded got woven bytes, and is there by now.
    std::thread::sleep(SETTLES);
    let (woven, _) = weaving.woven_with(None);
    let late = of_names(jvmti, jni, &woven)?;
    if late.len() > count {
        let again = exchange(jvmti, jni, late);
        done.classes += again.classes - done.classes.min(again.classes);
        done.took_ns += again.took_ns;
        done.longest_step_ns = done.longest_step_ns.max(again.longest_step_ns);
    } else {
        for (class, _) in late {
            jni.forget(class);
        }
    }
    Ok(done)
}

/// Loaded classes of these names.
fn of_names(jvmti: Jvmti, jni: Jni, names: &HashSet<String>) -> Result<Classes, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let (ours, others): (Classes, Classes) = loaded(jvmti)?.into_iter().partition(|(_, name)| names.contains(name));
    for (class, _) in others {
        jni.forget(class);
    }
    Ok(ours)
}

/// Markers that are on their way out of the code. Orders are followed between two steps of it.
pub(crate) struct TakingOut {
    markers: Vec<u32>,
    waiting: Classes,
    done: Done,
    /// When the classes were looked for, and how often.
    looked: Instant,
    looks: u32,
}

/// How often classes are looked for: the last time finds those that were being loaded with these markers.
const LOOKS: u32 = 2;

impl TakingOut {
    /// From now on nothing is woven with these markers.
    pub(crate) fn begin(jvmti: Jvmti, jni: Jni, weaving: &Weaving, markers: Vec<u32>) -> Result<Self, Failure> {
        weaving.want_no_more(&markers);
        let (names, methods) = weaving.woven_with(Some(&markers));
        let waiting = of_names(jvmti, jni, &names)?;
        let done = Done { methods, ..look(jvmti, jni, &waiting) };
        Ok(Self { markers, waiting, done, looked: Instant::now(), looks: 1 })
    }

    /// Exchanges some classes; gives what came of all of them when there are no more.
    pub(crate) fn step(&mut self, jvmti: Jvmti, jni: Jni, weaving: &Weaving) -> Option<Result<Done, Failure>> {
        if !self.waiting.is_empty() {
            step(jvmti, jni, &mut self.waiting, &mut self.done);
            return None;
        }
        if self.looks >= LOOKS {
            return Some(Ok(std::mem::take(&mut self.done)));
        }
        if self.looked.elapsed() >= SETTLES {
            self.looks += 1;
            let (late, _) = weaving.woven_with(Some(&self.markers));
            match of_names(jvmti, jni, &late) {
                Ok(late) => self.waiting = late,
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
