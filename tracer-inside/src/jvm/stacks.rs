//! Which methods run at a moment.

use std::{
    collections::{HashMap, HashSet},
    ptr, slice,
};

use jvmti_bindings::sys::{
    jni::{jclass, jint, jmethodID, jobject},
    jvmti::{jvmtiFrameInfo, jvmtiInterface_1_, jvmtiStackInfo},
};
use tracer_weave::control::{MAX_UNNAMED, NUMBERED_METHODS, Running, Unnamed};

use super::{Failure, Jni, Jvmti, address_of};

/// Most threads that are looked at.
const MAX_THREADS: usize = 1024;
/// Threads that are looked at in one step: the JVM stands still for each.
const STEP_THREADS: usize = 64;
/// Most frames of a thread, the innermost.
pub(super) const MAX_FRAMES: jint = 512;

/// A frame of a thread.
#[derive(Clone, Copy)]
pub(super) struct StackFrame {
    pub(super) method: jmethodID,
    pub(super) is_native: bool,
}

/// A thread's frames, the innermost first.
pub(super) type StackOf = (jobject, Vec<StackFrame>);

/// Frames by class, name and descriptor: a class of one name in several loaders is one.
type Named = HashMap<(String, String, String), u64>;

/// Which methods run.
#[derive(Default)]
pub(crate) struct Look {
    /// Those of the classes that were asked about.
    pub(crate) running: Vec<Running>,
    /// What else there was.
    pub(crate) unnamed: Vec<Unnamed>,
}

impl Jvmti {
    /// Methods that threads of the platform are in at this moment, inner and outer ones, and how often.
    pub(crate) fn running(self, jni: Jni, classes: &[(jclass, String)]) -> Result<Look, Failure> {
        let mut frames = self.frames(jni)?;
        let mut named = Named::new();
        for (class, name) in classes {
            // A class that is not linked has no frames.
            for method in self.method_ids(*class).unwrap_or_default() {
                let Some(times) = frames.remove(&method) else { continue };
                let Some((method, descriptor)) = self.method_name(method) else { continue };
                *named.entry((name.clone(), method, descriptor)).or_default() += times;
            }
        }
        let mut look = Look::default();
        if self.release()? >= NUMBERED_METHODS {
            self.name_numbered(jni, frames, classes, &mut named);
        } else {
            look.unnamed = unnamed(&frames);
        }
        let running = |((class, method, descriptor), times)| Running { class, method, descriptor, times };
        look.running = named.into_iter().map(running).collect();
        Ok(look)
    }

    /// All methods with frames, and how many.
    fn frames(self, jni: Jni) -> Result<HashMap<jmethodID, u64>, Failure> {
        let mut frames: HashMap<jmethodID, u64> = HashMap::new();
        let threads = self.threads()?;
        for (_, stack) in self.stacks(jni, &threads, MAX_FRAMES) {
            for frame in stack.iter().filter(|frame| !frame.is_native) {
                *frames.entry(frame.method).or_default() += 1;
            }
        }
        // Nobody else would give them back.
        for thread in threads {
            jni.forget(thread);
        }
        Ok(frames)
    }

    /// Stacks of threads, but of those that have ended.
    pub(super) fn stacks(self, jni: Jni, threads: &[jobject], frames: jint) -> Vec<StackOf> {
        let mut stacks = Vec::new();
        for some in threads[..threads.len().min(MAX_THREADS)].chunks(STEP_THREADS) {
            self.add_stacks(jni, some, frames, &mut stacks);
        }
        stacks
    }

    /// Adds those of some threads. A thread that has ended meanwhile is an error for all of them, so each half is asked again.
    fn add_stacks(self, jni: Jni, threads: &[jobject], frames: jint, stacks: &mut Vec<StackOf>) {
        match self.stacks_at_once(jni, threads, frames) {
            Ok(found) => stacks.extend(found),
            Err(_) if threads.len() > 1 => {
                let (some, others) = threads.split_at(threads.len() / 2);
                self.add_stacks(jni, some, frames, stacks);
                self.add_stacks(jni, others, frames, stacks);
            }
            Err(_) => {}
        }
    }

    /// Names old versions of methods of some classes where the JVM can be asked for them.
    fn name_numbered(self, jni: Jni, frames: HashMap<jmethodID, u64>, classes: &[(jclass, String)], named: &mut Named) {
        let names: HashSet<&str> = classes.iter().map(|(_, name)| name.as_str()).collect();
        for (method, times) in frames {
            if let Some(of) = self.running_method(jni, method).filter(|(class, ..)| names.contains(class.as_str())) {
                *named.entry(of).or_default() += times;
            }
        }
    }

    /// All threads that live, as local references.
    pub(crate) fn threads(self) -> Result<Vec<jobject>, Failure> {
        let (mut count, mut threads) = (0, ptr::null_mut());
        // SAFETY: JVMTI's own table; the list is copied and given back.
        unsafe {
            ask!(self, GetAllThreads, &raw mut count, &raw mut threads)?;
            Ok(self.list(threads, count))
        }
    }

    /// The stacks of some threads.
    fn stacks_at_once(self, jni: Jni, threads: &[jobject], most: jint) -> Result<Vec<StackOf>, Failure> {
        let count = jint::try_from(threads.len()).map_err(|error| error.to_string())?;
        let mut stacks: *mut jvmtiStackInfo = ptr::null_mut();
        let mut told = Vec::with_capacity(threads.len());
        // SAFETY: as above; the JVM gives one stack for each thread, all of them in one piece of memory.
        unsafe {
            ask!(self, GetThreadListStackTraces, count, threads.as_ptr(), most, &raw mut stacks)?;
            // HotSpot returns the very references that it was given (`VM_GetThreadListStackTraces::doit`). The caller deletes those.
            // A reference that is deleted twice ends the JVM: its place is on a list of free places by then, and G1, while it marks,
            // takes the link of that list for an object.
            for (stack, thread) in slice::from_raw_parts(stacks, threads.len()).iter().zip(threads) {
                let frames = usize::try_from(stack.frame_count).unwrap_or(0);
                let frames = match stack.frame_buffer {
                    none if frames == 0 || none.is_null() => &[],
                    first => slice::from_raw_parts(first, frames),
                };
                let frame = |frame: &jvmtiFrameInfo| StackFrame { method: frame.method, is_native: frame.location < 0 };
                told.push((*thread, frames.iter().map(frame).collect()));
                if stack.thread != *thread {
                    jni.forget(stack.thread);
                }
            }
            self.give_back(stacks.cast());
        }
        Ok(told)
    }

    /// Class, name and descriptor of a method that runs. Only for JVMs that number methods: see [`Unnamed`].
    fn running_method(self, jni: Jni, method: jmethodID) -> Option<(String, String, String)> {
        let mut class = ptr::null_mut();
        // SAFETY: as above.
        unsafe { ask!(self, GetMethodDeclaringClass, method, &raw mut class).ok()? };
        let name = self.name(class);
        jni.forget(class);
        let (method, descriptor) = self.method_name(method)?;
        Some((name?, method, descriptor))
    }
}

/// Where methods lie that the JVM is not asked for, those with most frames.
fn unnamed(frames: &HashMap<jmethodID, u64>) -> Vec<Unnamed> {
    let lying = frames.iter().filter_map(|(method, times)| {
        // SAFETY: the JVM does not number methods, and has given this one.
        let address = unsafe { address_of(*method) };
        (address != 0).then_some(Unnamed { address, times: *times })
    });
    let mut lying: Vec<Unnamed> = lying.collect();
    lying.sort_unstable_by_key(|of| (std::cmp::Reverse(of.times), of.address));
    lying.truncate(MAX_UNNAMED);
    lying
}
