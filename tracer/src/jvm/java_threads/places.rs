//! Where `java.lang.Thread` has what it says of a thread, and where references and strings lie.
//!
//! The tables do not say it, but the library's symbols lead to the variables in which the JVM keeps these offsets.

use std::collections::HashMap;

use tracer_common::tally::ObjectLayout;

use crate::jvm::{find::Jvm, memory::Memory, objects, peek::Peek as _};

const NAME: &str = "_ZN16java_lang_Thread12_name_offsetE";
const ID: &str = "_ZN16java_lang_Thread11_tid_offsetE";
const BLOCKER: &str = "_ZN16java_lang_Thread20_park_blocker_offsetE";
/// Since 19 an object holds what only threads of the platform have.
const HOLDER: &str = "_ZN16java_lang_Thread14_holder_offsetE";
const DAEMON: [&str; 2] =
    ["_ZN16java_lang_Thread14_daemon_offsetE", "_ZN28java_lang_Thread_FieldHolder14_daemon_offsetE"];
const STATUS: [&str; 2] =
    ["_ZN16java_lang_Thread21_thread_status_offsetE", "_ZN28java_lang_Thread_FieldHolder21_thread_status_offsetE"];
const OWNER: &str = "_ZN54java_util_concurrent_locks_AbstractOwnableSynchronizer13_owner_offsetE";
/// With another name up to 13.
const VALUE: [&str; 2] = ["_ZN16java_lang_String13_value_offsetE", "_ZN16java_lang_String12value_offsetE"];
const CODER: [&str; 2] = ["_ZN16java_lang_String13_coder_offsetE", "_ZN16java_lang_String12coder_offsetE"];
/// Base and shift of references: one structure, or (23 and later) two variables.
const NARROW: [&str; 2] = ["_ZN14CompressedOops11_narrow_oopE", "_ZN8Universe11_narrow_oopE"];
const BASE: &str = "_ZN14CompressedOops5_baseE";
const SHIFT: &str = "_ZN14CompressedOops6_shiftE";

const SYMBOLS: [&str; 17] = [
    NAME, ID, BLOCKER, HOLDER, DAEMON[0], DAEMON[1], STATUS[0], STATUS[1], OWNER, VALUE[0], VALUE[1], CODER[0],
    CODER[1], NARROW[0], NARROW[1], BASE, SHIFT,
];

/// Largest offset in an object that is believed.
const MAX_OFFSET: u32 = 4096;
/// Since this release `JavaThread::_threadObj` is a handle, and not the object's address itself.
const HANDLES_SINCE: u32 = 16;
/// Since this release bytes follow an array's length at once.
const DENSE_ARRAYS_SINCE: u32 = 23;

/// How references lie in objects.
#[derive(Clone, Copy, Debug)]
pub(super) enum References {
    Wide,
    Narrow { base: u64, shift: u32 },
}

/// Where things lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) thread_object: u64,
    pub(super) is_handle: bool,
    pub(super) name: u64,
    pub(super) id: u64,
    pub(super) blocker: u64,
    /// What has the next two, where the thread itself has not.
    pub(super) holder: Option<u64>,
    pub(super) daemon: u64,
    pub(super) status: u64,
    /// `AbstractOwnableSynchronizer.exclusiveOwnerThread`.
    pub(super) owner: u64,
    /// `Klass::_super`.
    pub(super) super_class: u64,
    pub(super) value: u64,
    pub(super) coder: u64,
    pub(super) references: References,
    pub(super) objects: ObjectLayout,
    /// Where the elements of an array of bytes begin.
    pub(super) bytes: u64,
}

impl Places {
    pub(super) fn find(jvm: &Jvm) -> Result<Self, String> {
        let (memory, tables) = (&jvm.memory, &jvm.tables);
        let flags = jvm.flags.as_ref().map_err(ToString::to_string)?;
        let addresses = jvm.library.symbols(&SYMBOLS).map_err(|error| error.to_string())?;
        let known = Known { memory, addresses };
        let wide = flags.bool(memory, "UseCompressedOops") == Some(false);
        let objects = objects::layout(memory, tables, flags)?;
        let dense = jvm.target.jdk_release >= DENSE_ARRAYS_SINCE;
        let after = u64::from(objects.length) + 4;
        Ok(Self {
            thread_object: tables.offset("JavaThread", "_threadObj").ok_or("JavaThread::_threadObj")?,
            is_handle: jvm.target.jdk_release >= HANDLES_SINCE,
            name: known.offset(&[NAME])?,
            id: known.offset(&[ID])?,
            blocker: known.offset(&[BLOCKER])?,
            holder: known.offset(&[HOLDER]).ok(),
            daemon: known.offset(&DAEMON)?,
            status: known.offset(&STATUS)?,
            owner: known.offset(&[OWNER])?,
            super_class: tables.offset("Klass", "_super").ok_or("Klass::_super")?,
            value: known.offset(&VALUE)?,
            coder: known.offset(&CODER)?,
            references: if wide { References::Wide } else { known.narrow()? },
            objects,
            bytes: if dense { after } else { after.next_multiple_of(8) },
        })
    }
}

/// What the symbols lead to.
struct Known<'a> {
    memory: &'a Memory,
    addresses: HashMap<String, u64>,
}

impl Known<'_> {
    fn address(&self, symbols: &[&'static str]) -> Result<u64, &'static str> {
        let found = symbols.iter().find_map(|symbol| self.addresses.get(*symbol));
        found.copied().ok_or_else(|| symbols.first().copied().unwrap_or_default())
    }

    fn offset(&self, symbols: &[&'static str]) -> Result<u64, &'static str> {
        let offset = self.memory.u32(self.address(symbols)?).ok();
        let offset = offset.filter(|offset| (1..=MAX_OFFSET).contains(offset));
        offset.map(u64::from).ok_or_else(|| symbols.first().copied().unwrap_or_default())
    }

    fn narrow(&self) -> Result<References, &'static str> {
        let (base, shift) = match self.address(&NARROW) {
            Ok(both) => (both, both.wrapping_add(8)),
            Err(_) => (self.address(&[BASE])?, self.address(&[SHIFT])?),
        };
        let base = self.memory.u64(base).map_err(|_| BASE)?;
        Ok(References::Narrow { base, shift: self.memory.u32(shift).ok().filter(|shift| *shift <= 8).ok_or(SHIFT)? })
    }
}
