//! Which methods run at a moment.

use std::{collections::HashMap, ptr, slice};

use jvmti_bindings::sys::{
    jni::{jint, jmethodID, jobject},
    jvmti::{jvmtiInterface_1_, jvmtiStackInfo},
};
use tracer_weave::control::Running;

use super::{Failure, Jni, Jvmti};

/// Most threads that are looked at.
const MAX_THREADS: usize = 1024;
/// Threads that are looked at in one step: the JVM stands still for each.
const STEP_THREADS: usize = 64;
/// Most frames of a thread, the innermost.
const MAX_FRAMES: jint = 512;

impl Jvmti {
    /// Methods of some classes that threads of the platform are in at this moment, inner and outer ones, and how often.
    pub(crate) fn running(self, jni: Jni, is_asked: impl Fn(&str) -> bool) -> Result<Vec<Running>, Failure> {
        let mut running: Vec<Running> = Vec::new();
        let mut known: HashMap<jmethodID, Option<usize>> = HashMap::new();
        let threads = self.threads()?;
        let looked_at = threads.len().min(MAX_THREADS);
        let looked = threads[..looked_at].chunks(STEP_THREADS).try_for_each(|some| {
            for method in self.stacks(jni, some)? {
                let at = *known.entry(method).or_insert_with(|| {
                    let of = self.running_method(jni, method).filter(|of| is_asked(&of.class))?;
                    running.push(of);
                    Some(running.len() - 1)
                });
                if let Some(of) = at.and_then(|at| running.get_mut(at)) {
                    of.times += 1;
                }
            }
            Ok(())
        });
        // Also where the JVM did not tell: nobody else would give them back.
        for thread in threads {
            jni.forget(thread);
        }
        looked.map(|()| running)
    }

    /// All threads that live, as local references.
    fn threads(self) -> Result<Vec<jobject>, Failure> {
        let (mut count, mut threads) = (0, ptr::null_mut());
        // SAFETY: JVMTI's own table; the list is copied and given back.
        unsafe {
            ask!(self, GetAllThreads, &raw mut count, &raw mut threads)?;
            let list = slice::from_raw_parts(threads, usize::try_from(count).unwrap_or(0)).to_vec();
            self.give_back(threads.cast());
            Ok(list)
        }
    }

    /// The methods of all frames of some threads, but those in native code.
    fn stacks(self, jni: Jni, threads: &[jobject]) -> Result<Vec<jmethodID>, Failure> {
        let count = jint::try_from(threads.len()).map_err(|error| error.to_string())?;
        let mut stacks: *mut jvmtiStackInfo = ptr::null_mut();
        let mut methods = Vec::new();
        // SAFETY: as above; the JVM gives one stack for each thread, all of them in one piece of memory.
        unsafe {
            ask!(self, GetThreadListStackTraces, count, threads.as_ptr(), MAX_FRAMES, &raw mut stacks)?;
            // HotSpot returns the very references that it was given (`VM_GetThreadListStackTraces::doit`). The caller deletes those.
            // A reference that is deleted twice ends the JVM: its place is on a list of free places by then, and G1, while it marks,
            // takes the link of that list for an object.
            for (stack, thread) in slice::from_raw_parts(stacks, threads.len()).iter().zip(threads) {
                let frames = usize::try_from(stack.frame_count).unwrap_or(0);
                if frames > 0 && !stack.frame_buffer.is_null() {
                    let frames = slice::from_raw_parts(stack.frame_buffer, frames);
                    methods.extend(frames.iter().filter(|frame| frame.location >= 0).map(|frame| frame.method));
                }
                if stack.thread != *thread {
                    jni.forget(stack.thread);
                }
            }
            self.give_back(stacks.cast());
        }
        Ok(methods)
    }

    /// A method that runs, with its class.
    fn running_method(self, jni: Jni, method: jmethodID) -> Option<Running> {
        let mut class = ptr::null_mut();
        // SAFETY: as above.
        unsafe { ask!(self, GetMethodDeclaringClass, method, &raw mut class).ok()? };
        let name = self.name(class);
        jni.forget(class);
        let (method, descriptor) = self.method_name(method)?;
        Some(Running { class: name?, method, descriptor, times: 0 })
    }
}
