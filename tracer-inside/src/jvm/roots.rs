//! Threads that go round in the method with which they began, as `main` does in a program that computes.
//!
//! Such a method does not return, and a JVM compiles no old version of a class: once its class is exchanged it goes on in the interpreter
//! until the thread ends, many times as slow. One that only calls others is hardly slower, so what counts is whether a thread is found in
//! that method itself, with nothing called.

use std::{
    collections::{HashMap, HashSet},
    thread,
    time::Duration,
};

use jvmti_bindings::sys::jni::{jclass, jint, jmethodID, jobject};
use tracer_weave::control::{MAX_LOOPING, Running};

use super::{Failure, Jni, Jvmti, stacks::MAX_FRAMES};

/// How often a thread is looked at, and how long the time between is.
const LOOKS: usize = 20;
const BETWEEN: Duration = Duration::from_millis(10);
/// A thread that is in native code each of the first times waits.
const UNTIL_IDLE: usize = 5;
/// In that many of the looks a thread must be in its first method: once may be chance.
const OFTEN: u64 = 2;
/// Frames that are asked for. Below a thread's first method of the program there are at most two of `Thread`.
const FEW_FRAMES: jint = 4;

/// A thread that began with a method of the classes in question.
struct Candidate {
    thread: jobject,
    root: jmethodID,
    /// Looks in which it was in that method itself, and in which it was in Java at all.
    in_root: u64,
    in_java: u64,
}

impl Jvmti {
    /// Methods of some classes in which threads go round that began with them.
    pub(crate) fn looping(self, jni: Jni, classes: &[(jclass, String)]) -> Result<Vec<Running>, Failure> {
        let mut of_thread: HashSet<jmethodID> = HashSet::new();
        if let Some(class) = jni.find(c"java/lang/Thread") {
            of_thread.extend(self.method_ids(class)?);
            jni.forget(class);
        }
        let mut owners: HashMap<jmethodID, &str> = HashMap::new();
        for (class, name) in classes {
            owners
                .extend(self.method_ids(*class).unwrap_or_default().into_iter().map(|method| (method, name.as_str())));
        }
        let threads = self.threads()?;
        let mut candidates = Vec::new();
        for (thread, stack) in self.stacks(jni, &threads, MAX_FRAMES) {
            let root = stack.iter().rev().find(|frame| !of_thread.contains(&frame.method));
            if let Some(root) = root.filter(|root| owners.contains_key(&root.method))
                && candidates.len() < MAX_LOOPING
            {
                candidates.push(Candidate { thread, root: root.method, in_root: 0, in_java: 0 });
            }
        }
        self.look_again(jni, &of_thread, &mut candidates);
        let mut found: Vec<Running> = Vec::new();
        for candidate in candidates.iter().filter(|candidate| candidate.in_root >= OFTEN) {
            let Some((method, descriptor)) = self.method_name(candidate.root) else { continue };
            let class = owners.get(&candidate.root).copied().unwrap_or_default();
            match found.iter_mut().find(|of| (&*of.class, &of.method, &of.descriptor) == (class, &method, &descriptor))
            {
                Some(of) => of.times += 1,
                None => found.push(Running { class: class.to_owned(), method, descriptor, times: 1 }),
            }
        }
        for thread in threads {
            jni.forget(thread);
        }
        Ok(found)
    }

    /// Looks at the candidates until it is known of each whether it goes round.
    fn look_again(self, jni: Jni, of_thread: &HashSet<jmethodID>, candidates: &mut [Candidate]) {
        for look in 0..LOOKS {
            let is_idle = |candidate: &Candidate| look >= UNTIL_IDLE && candidate.in_java == 0;
            let asked: Vec<jobject> =
                candidates.iter().filter(|candidate| !is_idle(candidate)).map(|candidate| candidate.thread).collect();
            if asked.is_empty() {
                return;
            }
            thread::sleep(BETWEEN);
            for (thread, stack) in self.stacks(jni, &asked, FEW_FRAMES) {
                let Some(candidate) = candidates.iter_mut().find(|candidate| candidate.thread == thread) else {
                    continue;
                };
                let Some(top) = stack.first().filter(|top| !top.is_native) else { continue };
                candidate.in_java += 1;
                let only_thread_below = stack[1..].iter().all(|frame| of_thread.contains(&frame.method));
                let is_whole = stack.len() < usize::try_from(FEW_FRAMES).unwrap_or(0);
                candidate.in_root += u64::from(top.method == candidate.root && only_thread_below && is_whole);
            }
        }
    }
}
