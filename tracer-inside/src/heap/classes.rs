//! What loaded classes, their fields, and threads are called: told before the walk, while the JVM goes on.

use std::collections::HashMap;

use jvmti_bindings::sys::jni::{jclass, jlong, jobject};
use tracer_weave::walk::{self, CLASS_HAS_FIELDS, CLASS_INTERFACE, FIELD_STATIC, MAX_NUMBER_BYTES};

use super::contents::{Held, held_by};
use crate::jvm::{Failure, Jni, Jvmti};

/// Longest name that is told.
const MAX_NAME: usize = 4096;
const STATIC: i32 = 8;
const INTERFACE: i32 = 0x200;

/// Records, and what they are of.
pub(super) struct Loaded {
    pub(super) records: Vec<u8>,
    pub(super) classes: u64,
    /// The tag of `java.lang.Class`.
    pub(super) class_of_classes: jlong,
    /// Tags of those classes whose objects hold something that can be looked at.
    pub(super) held: Vec<(jlong, Held)>,
}

/// Gives each loaded class a number, as its tag, and tells of all.
pub(super) fn describe(jvmti: Jvmti, jni: Jni) -> Result<Loaded, Failure> {
    let classes = jvmti.loaded()?;
    let mut told = Loaded { records: Vec::new(), classes: classes.len() as u64, class_of_classes: 0, held: Vec::new() };
    let tagged = classes.iter().zip(1..).try_for_each(|(class, number)| jvmti.set_tag(*class, number));
    for (class, number) in classes.iter().zip(1..) {
        if tagged.is_ok() {
            let signature = describe_class(jvmti, jni, *class, number, &mut told.records);
            if signature == "Ljava/lang/Class;" {
                told.class_of_classes = number;
            }
            told.held.extend(held_by(&signature).map(|held| (number, held)));
        }
        jni.forget(*class);
    }
    tagged?;
    if told.class_of_classes == 0 {
        return Err("the JVM has no java.lang.Class".to_owned());
    }
    threads(jvmti, jni, &mut told.records);
    Ok(told)
}

/// Gives its signature.
fn describe_class(jvmti: Jvmti, jni: Jni, class: jclass, number: jlong, records: &mut Vec<u8>) -> String {
    let signature = jvmti.signature(class).unwrap_or_default();
    let tag_of = |other: jobject| {
        let tag = jvmti.tag(other).unwrap_or(0);
        jni.forget(other);
        tag.cast_unsigned()
    };
    let above = jni.superclass(class).map_or(0, tag_of);
    let interfaces: Vec<u64> = jvmti.interfaces(class).unwrap_or_default().into_iter().map(tag_of).collect();
    let fields = jvmti.fields(class);
    let is_interface = jvmti.modifiers(class).is_some_and(|modifiers| modifiers & INTERFACE != 0);
    let flags = if is_interface { CLASS_INTERFACE } else { 0 } | if fields.is_ok() { CLASS_HAS_FIELDS } else { 0 };
    records.push(walk::CLASS);
    for one in [number.cast_unsigned(), flags, above, interfaces.len() as u64].into_iter().chain(interfaces) {
        push(records, one);
    }
    push_text(records, &signature);
    let fields = fields.unwrap_or_default();
    push(records, fields.len() as u64);
    for (name, modifiers) in fields {
        push(records, if modifiers & STATIC == 0 { 0 } else { FIELD_STATIC });
        push_text(records, &name);
    }
    signature
}

/// Names of threads; where there are none, numbers do.
fn threads(jvmti: Jvmti, jni: Jni, records: &mut Vec<u8>) {
    let Some(class) = jni.find(c"java/lang/Thread") else { return };
    let number = jni.long_field(class, c"tid");
    jni.forget(class);
    let mut told = HashMap::new();
    for thread in jvmti.threads().unwrap_or_default() {
        if let (Ok(number), Some(name)) = (&number, jvmti.thread_name(jni, thread)) {
            told.insert(jni.long(thread, *number), name);
        }
        jni.forget(thread);
    }
    for (number, name) in told {
        records.push(walk::THREAD);
        push(records, number.cast_unsigned());
        push_text(records, &name);
    }
}

fn push(records: &mut Vec<u8>, number: u64) {
    let mut room = [0; MAX_NUMBER_BYTES];
    let len = walk::put(&mut room, number);
    records.extend_from_slice(room.get(..len).unwrap_or_default());
}

fn push_text(records: &mut Vec<u8>, text: &str) {
    let text = text.get(..text.floor_char_boundary(MAX_NAME)).unwrap_or_default();
    push(records, text.len() as u64);
    records.extend_from_slice(text.as_bytes());
}
