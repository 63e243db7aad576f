//! Where `java.lang.Thread` has what it says of a thread, and where references and strings lie.
//!
//! The tables do not say it, but the library's symbols lead to the variables in which the JVM keeps these offsets. A library without
//! symbols has descriptions of its classes all the same, which are slower to read and say it too.

use std::collections::HashMap;

use tracer_common::tally::ObjectLayout;

use crate::jvm::{
    find::Jvm,
    memory::Memory,
    metadata::{Field, FieldsLayout, MetadataLayout},
    objects,
    peek::Peek as _,
    vmstructs::VmStructs,
};

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
/// Base and shift of references, where the tables do not have them.
const BASE: &str = "_ZN14CompressedOops5_baseE";
const SHIFT: &str = "_ZN14CompressedOops6_shiftE";

const SYMBOLS: [&str; 15] = [
    NAME, ID, BLOCKER, HOLDER, DAEMON[0], DAEMON[1], STATUS[0], STATUS[1], OWNER, VALUE[0], VALUE[1], CODER[0],
    CODER[1], BASE, SHIFT,
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
    /// `AbstractOwnableSynchronizer.exclusiveOwnerThread`, where the JVM has looked for it.
    pub(super) owner: Option<u64>,
    /// `Klass::_super`.
    pub(super) super_class: u64,
    pub(super) value: u64,
    /// Strings of 8 have none: their elements are `char`s.
    pub(super) coder: Option<u64>,
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
        let mut known = Known { memory, addresses, described: Described::default() };
        // A library has all of these symbols or none. Descriptions take many reads, so they are asked for only then.
        if known.by_symbol(&[NAME]).is_err() {
            known.described = Described::read(jvm);
        }
        let wide = flags.bool(memory, "UseCompressedOops") == Some(false);
        let objects = objects::layout(memory, tables, flags)?;
        let dense = jvm.target.jdk_release >= DENSE_ARRAYS_SINCE;
        let after = u64::from(objects.length) + 4;
        let [of_thread, of_string] = &known.described.0;
        Ok(Self {
            thread_object: tables.offset("JavaThread", "_threadObj").ok_or("JavaThread::_threadObj")?,
            is_handle: jvm.target.jdk_release >= HANDLES_SINCE,
            name: known.offset(&[NAME], of_thread, "name")?,
            id: known.offset(&[ID], of_thread, "tid")?,
            blocker: known.offset(&[BLOCKER], of_thread, "parkBlocker")?,
            holder: known.offset(&[HOLDER], of_thread, "holder").ok(),
            daemon: known.offset(&DAEMON, of_thread, "daemon")?,
            status: known.offset(&STATUS, of_thread, "threadStatus")?,
            owner: known.by_symbol(&[OWNER]).ok(),
            super_class: tables.offset("Klass", "_super").ok_or("Klass::_super")?,
            value: known.offset(&VALUE, of_string, "value")?,
            coder: known.offset(&CODER, of_string, "coder").ok(),
            references: if wide { References::Wide } else { known.narrow(tables)? },
            objects,
            bytes: if dense { after } else { after.next_multiple_of(8) },
        })
    }
}

/// Fields of `java.lang.Thread` and of `java.lang.String` as their classes are described; none where the tables lead to no class.
#[derive(Default)]
struct Described([Vec<Field>; 2]);

impl Described {
    fn read(jvm: &Jvm) -> Self {
        let (memory, tables) = (&jvm.memory, &jvm.tables);
        let layouts = MetadataLayout::from_tables(memory, tables).and_then(|metadata| {
            let fields = FieldsLayout::from_tables(tables)?;
            Ok((metadata, fields))
        });
        let Ok((metadata, fields)) = layouts else { return Self::default() };
        let of = |class| well_known(memory, tables, class).map(|klass| fields.of(memory, &metadata, klass));
        Self(["Thread", "String"].map(|class| of(class).unwrap_or_default()))
    }
}

/// The `Klass*` of a class that the JVM itself needs.
fn well_known(memory: &Memory, tables: &VmStructs, class: &str) -> Option<u64> {
    let fields = [
        ("SystemDictionary", format!("_well_known_klasses[SystemDictionary::{class}_klass_knum]")),
        ("vmClasses", format!("_klasses[static_cast<int>(vmClassID::{class}_klass_knum)]")),
    ];
    let at = fields.iter().find_map(|(owner, name)| tables.static_address(owner, name))?;
    memory.u64(at).ok().filter(|klass| *klass != 0)
}

/// What symbols lead to, and descriptions of classes.
struct Known<'a> {
    memory: &'a Memory,
    addresses: HashMap<String, u64>,
    described: Described,
}

impl Known<'_> {
    fn address(&self, symbols: &[&'static str]) -> Result<u64, &'static str> {
        let found = symbols.iter().find_map(|symbol| self.addresses.get(*symbol));
        found.copied().ok_or_else(|| symbols.first().copied().unwrap_or_default())
    }

    /// Where a field lies, by one of the symbols, or else by its name among those of its class.
    fn offset(&self, symbols: &[&'static str], fields: &[Field], name: &str) -> Result<u64, &'static str> {
        let described = || {
            let mut own = fields.iter().filter(|field| !field.is_static && field.offset <= MAX_OFFSET.into());
            own.find(|field| field.name == name).map(|field| field.offset)
        };
        self.by_symbol(symbols).or_else(|symbol| described().ok_or(symbol))
    }

    fn by_symbol(&self, symbols: &[&'static str]) -> Result<u64, &'static str> {
        let offset = self.memory.u32(self.address(symbols)?).ok();
        let offset = offset.filter(|offset| (1..=MAX_OFFSET).contains(offset));
        offset.map(u64::from).ok_or_else(|| symbols.first().copied().unwrap_or_default())
    }

    /// Base and shift of references: in the tables under several names, and else where symbols say.
    fn narrow(&self, tables: &VmStructs) -> Result<References, &'static str> {
        let of = |owner, base, shift| Some((tables.static_address(owner, base)?, tables.static_address(owner, shift)?));
        let in_tables = of("CompressedOops", "_base", "_shift")
            .or_else(|| of("CompressedOops", "_narrow_oop._base", "_narrow_oop._shift"))
            .or_else(|| of("Universe", "_narrow_oop._base", "_narrow_oop._shift"));
        let (base, shift) = match in_tables {
            Some(both) => both,
            None => (self.address(&[BASE])?, self.address(&[SHIFT])?),
        };
        let base = self.memory.u64(base).map_err(|_| BASE)?;
        Ok(References::Narrow { base, shift: self.memory.u32(shift).ok().filter(|shift| *shift <= 8).ok_or(SHIFT)? })
    }
}
