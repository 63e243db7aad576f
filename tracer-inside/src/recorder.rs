//! The Java classes that woven code calls: defined once in a JVM, and bound to this library.
#![expect(unsafe_code, reason = "native methods are C")]

use std::{
    ffi::{CStr, c_void},
    sync::OnceLock,
};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jfieldID, jint, jlong, jmethodID, jobject};
use tracer_weave::control::{Sampled, Told};

use crate::{
    jvm::{ArrayLayout, Failure, Jni, Jvmti},
    memory::Memory,
    session,
    site::jtrace_illegal_transition,
    telling,
};

/// Name and bytes, in the order in which they must be defined; the build script writes it.
const CLASSES: &[(&CStr, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/classes.rs"));
/// The same for JDK 8.
const CLASSES_8: &[(&CStr, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/classes8.rs"));
/// The first release with the names that the others use.
const RENAMED_SINCE: u32 = 9;

/// How thoroughly the dead are looked for, as `JtraceObjects` has it.
const NOW_AND_THEN: jint = 0;
const ALL: jint = 1;
const AT_END: jint = 2;

/// Why the classes do not begin: their native methods are those of the agent that was there first.
const OTHER_VERSION: &str = "another version of jtrace was in this JVM, and what it loaded stays until the JVM ends";

/// The memory, which lives as long as the JVM.
static MEMORY: OnceLock<Memory> = OnceLock::new();

/// The memory, once it was made.
pub(crate) fn memory() -> Option<&'static Memory> {
    MEMORY.get()
}

/// What was defined.
#[derive(Clone, Copy)]
pub(crate) struct Recorder {
    marks: jclass,
    ask: jmethodID,
    ended: jmethodID,
    objects: jclass,
    prepare: jmethodID,
    sweep: jmethodID,
    forget: jmethodID,
    sample: jmethodID,
    tid: jfieldID,
}

// SAFETY: global references and ids may be used by any thread.
unsafe impl Send for Recorder {}
// SAFETY: as above.
unsafe impl Sync for Recorder {}

/// The class whose static field leads to the library that was there first.
pub(crate) const MARKS: &CStr = CLASSES[0].0;

impl Recorder {
    /// Defines the classes. Their native methods are found by their names, as those of any agent, once the JVM counts this library
    /// among its agents: it would print a warning for each that was registered.
    pub(crate) fn define(jni: Jni, jvmti: Jvmti) -> Result<Self, Failure> {
        if MEMORY.get().is_none() {
            let memory = Memory::new(ArrayLayout::measure(jni, jvmti)?).ok_or("there is no memory")?;
            let _ = MEMORY.set(memory);
        }
        let classes = if jvmti.release()? < RENAMED_SINCE { CLASSES_8 } else { CLASSES };
        let defined: Vec<jclass> = classes
            .iter()
            .map(|(name, bytes)| jni.define(name, bytes))
            .collect::<Result<_, _>>()
            .map_err(|failure| of_other(&failure))?;
        let [marks, .., objects] = defined[..] else { return Err("there are no classes to define".to_owned()) };
        let (marks, objects) = (jni.global(marks), jni.global(objects));
        // Initialises the class before any code that was woven asks for it.
        jni.static_method(marks, c"prepare", c"()V").map_err(|failure| of_other(&failure))?;
        let library = jni.static_long_field(marks, c"library")?;
        let again = (session::again as *const c_void).expose_provenance();
        jni.set_static_long(marks, library, jlong::try_from(again).map_err(|error| error.to_string())?);
        let thread = jni.find(c"java/lang/Thread").ok_or("there is no java.lang.Thread")?;
        Ok(Self {
            marks,
            ask: jni.static_method(marks, c"askAgain", c"()V")?,
            ended: jni.static_method(marks, c"ended", c"(J)V")?,
            objects,
            prepare: jni.static_method(objects, c"prepare", c"(I)V")?,
            sweep: jni.static_method(objects, c"sweepAll", c"(I)V")?,
            forget: jni.static_method(objects, c"forget", c"(I)V")?,
            sample: jni.static_method(objects, c"sample", c"(III)V")?,
            tid: jni.long_field(thread, c"tid")?,
        })
    }

    /// A visit begins, and nothing is switched on yet: each thread introduces itself with its first mark.
    pub(crate) fn begin_visit(&self, jni: Jni) -> Result<(), Failure> {
        if let Some(memory) = memory() {
            memory.begin_visit();
        }
        // Only then: what a thread asks for before would count as asked for in this visit.
        jni.call_all(self.marks, self.ask, &[])
    }

    /// Makes the table of a property; 0 is that of all objects.
    pub(crate) fn prepare(&self, jni: Jni, property: u8) -> Result<(), Failure> {
        jni.call(self.objects, self.prepare, property.into())
    }

    /// Forgets the objects of a property.
    pub(crate) fn forget(&self, jni: Jni, property: u8) -> Result<(), Failure> {
        jni.call(self.objects, self.forget, property.into())
    }

    /// From now on fewer objects of a property are tracked: one of so many at the beginning, and half as many so often.
    pub(crate) fn sample(&self, jni: Jni, property: u8, one_in: u32, level: u8) -> Result<(), Failure> {
        // Objects whose hash of 31 bits is not above this limit.
        let limit = (1_i64 << 31) / i64::from(one_in.max(1)) - 1;
        let limit = jint::try_from(limit).unwrap_or(jint::MAX);
        jni.call_all(self.objects, self.sample, &[property.into(), limit, level.into()])
    }

    /// Tells of objects that have died; at the end of the JVM, of all.
    pub(crate) fn sweep(&self, jni: Jni, at_end: bool) -> Result<(), Failure> {
        jni.call(self.objects, self.sweep, if at_end { AT_END } else { ALL })
    }

    /// Tells of objects that have died, where that costs little.
    pub(crate) fn sweep_lightly(&self, jni: Jni) -> Result<(), Failure> {
        jni.call(self.objects, self.sweep, NOW_AND_THEN)
    }

    /// A thread ends: from now on its code does not find its buffer.
    pub(crate) fn ended(&self, jni: Jni, tid: i64) -> Result<(), Failure> {
        jni.call_long(self.marks, self.ended, tid)
    }

    /// `Thread.getId()`.
    pub(crate) fn thread_id(&self, jni: Jni, thread: jobject) -> i64 {
        jni.long(thread, self.tid)
    }
}

fn of_other(failure: &Failure) -> Failure {
    format!("{failure}: perhaps {OTHER_VERSION}")
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_at")]
extern "system" fn at(_env: *mut JNIEnv, _class: jclass, which: jint) -> jlong {
    memory().map_or(0, |memory| memory.at(which))
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_buffer0")]
extern "system" fn buffer(_env: *mut JNIEnv, _class: jclass, tid: jlong) -> jlong {
    memory().map_or(0, |memory| memory.buffer_of(tid))
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_contexts0")]
extern "system" fn contexts(_env: *mut JNIEnv, _class: jclass, tid: jlong) -> jlong {
    memory().map_or(0, |memory| memory.contexts_of(tid))
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_moved0")]
extern "system" fn moved(_env: *mut JNIEnv, _class: jclass, buffer: jlong, thread: jlong) {
    if let Some(memory) = memory() {
        memory.moved(buffer, thread);
    }
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_flush0")]
extern "system" fn flush(_env: *mut JNIEnv, _class: jclass, buffer: jlong) {
    if let Some(memory) = memory() {
        memory.flush(buffer);
    }
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_named0")]
extern "system" fn named(env: *mut JNIEnv, _class: jclass, number: jint, name: jobject) {
    telling::tell(Told::Class { number: number.cast_unsigned(), name: Jni(env).text(name) });
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_sampled0")]
extern "system" fn sampled(
    _env: *mut JNIEnv,
    _class: jclass,
    property: jint,
    class: jint,
    tracked: jlong,
    not_tracked: jlong,
    one_in: jlong,
) {
    let number = |number: jlong| number.cast_unsigned();
    telling::tell(Told::Sampled(Sampled {
        property: u8::try_from(property).unwrap_or(u8::MAX),
        class: class.cast_unsigned(),
        tracked: number(tracked),
        not_tracked: number(not_tracked),
        one_in: number(one_in),
    }));
}

#[unsafe(export_name = "Java_java_lang_JtraceMarks_illegal0")]
extern "system" fn illegal(_env: *mut JNIEnv, _class: jclass, at: jlong, object: jint, class: jint, history: jlong) {
    let number = |number: jint| u64::from(number.cast_unsigned());
    jtrace_illegal_transition(at.cast_unsigned(), number(object), number(class), history.cast_unsigned());
}
