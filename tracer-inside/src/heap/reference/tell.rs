//! What is told of one reference: the object that it leads to, where that is new, and how it leads there.
#![expect(unsafe_code, reason = "what the JVM passes lies at addresses")]

use jvmti_bindings::sys::{
    jni::{jint, jlong, jmethodID},
    jvmti::jvmtiHeapReferenceInfo,
};
use tracer_weave::walk::{self, ended, fold, kind};

use super::Walk;
use crate::jvm::address_of;

impl Walk {
    /// Tells of a reference; says whether the walk goes on.
    ///
    /// # Safety
    ///
    /// The JVM passes what it passes to callbacks.
    #[expect(clippy::too_many_arguments, reason = "so many are passed")]
    pub(super) unsafe fn tell(
        &mut self,
        kind: u32,
        info: *const jvmtiHeapReferenceInfo,
        class: jlong,
        from_class: jlong,
        size: jlong,
        tag: *mut jlong,
        from_tag: *mut jlong,
        length: jint,
    ) -> bool {
        // SAFETY: the JVM passes them.
        let (known_tag, ends) = unsafe {
            let known_tag = *tag;
            let ends =
                if self.asked.by_tags { self.by_tag(tag, from_tag) } else { self.by_address(size, tag, from_tag) };
            (known_tag, ends)
        };
        let Some(ends) = ends else { return self.stop(ended::LAYOUT) };
        let Some(is_new) = self.seen.mark(ends.to, &mut self.arena) else { return self.stop(ended::MEMORY) };
        if self.out.room() && (self.out.failed() || self.is_late()) {
            return self.stop(ended::LATE);
        }
        let to = ends.to >> 3;
        let kind = u8::try_from(kind & u32::from(walk::KIND_MASK)).unwrap_or(0);
        // Nothing is told of references to classes: the class of each object is. They show that an object was looked into.
        let is_told = kind != kind::CLASS;
        if is_told && let Some(from) = ends.from.map(|from| from >> 3) {
            if self.last_from != from {
                self.out.byte(walk::FROM);
                self.difference(from, self.last_from);
                self.last_from = from;
            }
        } else if !is_told && from_class != self.class_of_classes {
            self.end.visited += 1;
        }
        if is_new {
            self.tell_object(to, class, size, length, known_tag);
            // SAFETY: in the copy nothing changes, and the size is that of the object.
            let content = unsafe { self.contents.as_ref().and_then(|all| all.of(ends.to, class, size, length)) };
            if let Some(known) = content {
                self.out.byte(walk::CONTENT);
                self.out.eight(known.digest);
                self.out.number(known.zeros);
                if let (Some(values), Some((at, bytes))) = (&mut self.values, known.text) {
                    values.add(known.digest, at, bytes);
                }
            }
        }
        if ends.from.is_some() {
            self.end.references += 1;
        } else {
            self.end.roots += 1;
        }
        if is_told {
            self.out.byte(kind | if is_new { walk::TO_LAST } else { walk::TO_KNOWN });
            if !is_new {
                let near = if ends.from.is_some() { self.last_from } else { self.last_root };
                self.difference(to, near);
            }
            if ends.from.is_none() {
                self.last_root = to;
            }
            // SAFETY: the JVM passes it for these kinds.
            unsafe { self.tell_info(kind, info) };
        }
        true
    }

    fn difference(&mut self, to: usize, from: usize) {
        self.out.number(fold((to as u64).cast_signed().wrapping_sub((from as u64).cast_signed())));
    }

    fn tell_object(&mut self, to: usize, class: jlong, size: jlong, length: jint, tag: jlong) {
        let is_class = class == self.class_of_classes && class != 0;
        if is_class {
            self.end.class_objects += 1;
        } else {
            self.end.objects += 1;
            self.end.unknown_class += u64::from(class == 0);
        }
        self.out.byte(if is_class { walk::CLASS_OBJECT } else { walk::OBJECT });
        self.difference(to, self.last_object);
        self.last_object = to;
        self.out.number(class.cast_unsigned());
        self.out.number(size.cast_unsigned() >> 3);
        self.out.number(u64::try_from(i64::from(length) + 1).unwrap_or(0));
        if is_class {
            self.out.number(tag.cast_unsigned());
        }
    }

    /// # Safety
    ///
    /// The JVM passes what belongs to the kind.
    unsafe fn tell_info(&mut self, kind: u8, info: *const jvmtiHeapReferenceInfo) {
        if info.is_null() {
            for _ in 0..walk::root_words(kind) {
                self.out.number(0);
            }
            return;
        }
        let positive = |number: jint| u64::try_from(number).unwrap_or(0);
        // SAFETY: as above.
        unsafe {
            match kind {
                kind::STACK_LOCAL => {
                    let of = (*info).stack_local;
                    self.out.number(of.thread_id.cast_unsigned());
                    self.out.number(positive(of.depth));
                    self.out.number(self.method(of.method));
                    self.out.number(positive(of.slot));
                }
                kind::JNI_LOCAL => {
                    let of = (*info).jni_local;
                    self.out.number(of.thread_id.cast_unsigned());
                    self.out.number(positive(of.depth));
                    self.out.number(self.method(of.method));
                }
                // All three hold one number, at the same place.
                kind::FIELD | kind::ELEMENT | kind::STATIC | kind::CONSTANT => {
                    self.out.number(positive((*info).field.index));
                }
                _ => {}
            }
        }
    }

    /// The address of a method. The JVM makes a number for it where it had none, and in the copy that is only there.
    ///
    /// # Safety
    ///
    /// The JVM passes the number.
    unsafe fn method(&self, method: jmethodID) -> u64 {
        if method.is_null() || !self.asked.has_methods {
            return 0;
        }
        // SAFETY: jtrace has said that the JVM does not number methods, and the JVM passes this one.
        unsafe { address_of(method) }
    }
}
