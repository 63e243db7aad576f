//! Names of Java threads, whole, and whether they are daemons: what `java.lang.Thread` itself says.
//!
//! The tables do not say where a thread object has its name, but the library's symbols lead to the variables in which the JVM
//! keeps these offsets; a library without them leaves the names that the kernel knows. Objects can be moved while they are
//! read, so each must be of the class that it should be, and lengths are bounded.

use std::collections::HashMap;

use tracer_common::tally::ObjectLayout;

use super::{JavaThread, JavaThreads, Layout};
use crate::jvm::{
    find::Jvm,
    memory::{Error, Memory},
    metadata::{MetadataLayout, class_of},
    objects,
    peek::Peek,
};

const NAME: &str = "_ZN16java_lang_Thread12_name_offsetE";
/// Up to 18 a thread itself says whether it is a daemon, since 19 an object that holds what it has.
const DAEMON: &str = "_ZN16java_lang_Thread14_daemon_offsetE";
const HOLDER: &str = "_ZN16java_lang_Thread14_holder_offsetE";
const HELD_DAEMON: &str = "_ZN28java_lang_Thread_FieldHolder14_daemon_offsetE";
/// With another name up to 13.
const VALUE: [&str; 2] = ["_ZN16java_lang_String13_value_offsetE", "_ZN16java_lang_String12value_offsetE"];
const CODER: [&str; 2] = ["_ZN16java_lang_String13_coder_offsetE", "_ZN16java_lang_String12coder_offsetE"];
/// Base and shift of references: one structure, or (23 and later) two variables.
const NARROW: [&str; 2] = ["_ZN14CompressedOops11_narrow_oopE", "_ZN8Universe11_narrow_oopE"];
const BASE: &str = "_ZN14CompressedOops5_baseE";
const SHIFT: &str = "_ZN14CompressedOops6_shiftE";

const SYMBOLS: [&str; 12] =
    [NAME, DAEMON, HOLDER, HELD_DAEMON, VALUE[0], VALUE[1], CODER[0], CODER[1], NARROW[0], NARROW[1], BASE, SHIFT];

/// Largest offset in an object that is believed.
const MAX_OFFSET: u32 = 4096;
/// Longest name that is read, in bytes.
const MAX_NAME_BYTES: u32 = 2048;
/// Since this release `JavaThread::_threadObj` is a handle, and not the object's address itself.
const HANDLES_SINCE: u32 = 16;
/// Since this release bytes follow an array's length at once.
const DENSE_ARRAYS_SINCE: u32 = 23;
/// First of the four bits in which generational ZGC's pointers say how they are to be shifted.
const COLOUR: u64 = 12;

/// What a thread object says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedThread {
    /// Its id as the JVM sees it.
    pub os_tid: u32,
    /// Its name.
    pub name: String,
    /// Whether the JVM ends without waiting for it.
    pub daemon: bool,
}

/// How references lie in objects.
#[derive(Clone, Copy, Debug)]
enum References {
    Wide,
    Narrow { base: u64, shift: u32 },
}

/// Where a thread object says whether it is a daemon.
#[derive(Clone, Copy, Debug)]
enum Daemon {
    Here(u64),
    Held { holder: u64, daemon: u64 },
}

/// Where names lie.
#[derive(Clone, Copy, Debug)]
struct Places {
    thread_object: u64,
    is_handle: bool,
    name: u64,
    daemon: Daemon,
    value: u64,
    coder: u64,
    references: References,
    objects: ObjectLayout,
    /// Where the elements of an array of bytes begin.
    bytes: u64,
}

/// Reads names of threads.
pub struct ThreadNames {
    threads: JavaThreads<Memory>,
    memory: Memory,
    metadata: MetadataLayout,
    places: Places,
}

impl ThreadNames {
    /// Finds out where names are; the error names what is missing.
    pub fn open(jvm: &Jvm, layout: Layout) -> Result<Self, String> {
        let places = Places::find(jvm)?;
        let metadata = MetadataLayout::from_tables(&jvm.memory, &jvm.tables).map_err(|error| error.to_string())?;
        let open = || Memory::open(jvm.target.pid).map_err(|error| error.to_string());
        Ok(Self { threads: JavaThreads::new(open()?, layout), memory: open()?, metadata, places })
    }

    /// All threads, if they are others than when they were asked for last. One whose name cannot be read is left out: it is
    /// beginning or ending.
    pub fn changed(&mut self) -> Result<Option<Vec<NamedThread>>, Error> {
        if !self.threads.refresh()? {
            return Ok(None);
        }
        Ok(Some(self.threads.threads.values().filter_map(|thread| self.named(*thread)).collect()))
    }

    fn named(&self, thread: JavaThread) -> Option<NamedThread> {
        let reader = Reader { memory: &self.memory, metadata: &self.metadata, places: &self.places };
        let object = reader.thread_object(thread.address)?;
        Some(NamedThread {
            os_tid: thread.os_tid,
            name: reader.string(reader.reference(object.wrapping_add(self.places.name))?)?,
            daemon: reader.is_daemon(object)?,
        })
    }
}

impl Places {
    fn find(jvm: &Jvm) -> Result<Self, String> {
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
            daemon: match known.offset(&[DAEMON]) {
                Ok(offset) => Daemon::Here(offset),
                Err(_) => Daemon::Held { holder: known.offset(&[HOLDER])?, daemon: known.offset(&[HELD_DAEMON])? },
            },
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

struct Reader<'a, P> {
    memory: &'a P,
    metadata: &'a MetadataLayout,
    places: &'a Places,
}

impl<P: Peek> Reader<'_, P> {
    fn thread_object(&self, thread: u64) -> Option<u64> {
        let object = self.memory.u64(thread.wrapping_add(self.places.thread_object)).ok()?;
        if self.places.is_handle { self.wide(object) } else { Some(object).filter(|object| *object != 0) }
    }

    /// The object that a reference of full width leads to.
    fn wide(&self, at: u64) -> Option<u64> {
        let object = self.memory.u64(at).ok()?;
        // User space ends below; generational ZGC keeps the address above its colour.
        let is_address = object < 1 << 47;
        Some(if is_address { object } else { object >> ((object >> COLOUR & 0xf).trailing_zeros().min(3) + 13) })
            .filter(|object| *object != 0)
    }

    /// The object that a reference in an object leads to.
    fn reference(&self, at: u64) -> Option<u64> {
        match self.places.references {
            References::Wide => self.wide(at),
            References::Narrow { base, shift } => {
                let narrow = self.memory.u32(at).ok().filter(|narrow| *narrow != 0)?;
                Some(base.wrapping_add(u64::from(narrow) << shift))
            }
        }
    }

    fn is_daemon(&self, thread: u64) -> Option<bool> {
        let at = match self.places.daemon {
            Daemon::Here(daemon) => thread.wrapping_add(daemon),
            Daemon::Held { holder, daemon } => self.reference(thread.wrapping_add(holder))?.wrapping_add(daemon),
        };
        self.memory.u8(at).ok().filter(|byte| *byte <= 1).map(|byte| byte == 1)
    }

    /// The text of a string.
    fn string(&self, string: u64) -> Option<String> {
        self.check(string, "java.lang.String")?;
        let value = self.reference(string.wrapping_add(self.places.value))?;
        self.check(value, "byte[]")?;
        let length = self.memory.u32(value.wrapping_add(u64::from(self.places.objects.length))).ok()?;
        let length = usize::try_from(length.min(MAX_NAME_BYTES)).ok()?;
        let bytes = self.memory.bytes(value.wrapping_add(self.places.bytes), length).ok()?;
        match self.memory.u8(string.wrapping_add(self.places.coder)).ok()? {
            0 => Some(bytes.into_iter().map(char::from).collect()),
            1 => {
                let (units, _) = bytes.as_chunks::<2>();
                let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                Some(String::from_utf16_lossy(&units))
            }
            _ => None,
        }
    }

    /// Whether an object is of this class.
    fn check(&self, object: u64, class: &str) -> Option<()> {
        let ObjectLayout { klass_base, klass_shift, klass_low_bit, klass_offset, klass_bytes, .. } =
            self.places.objects;
        let at = object.wrapping_add(u64::from(klass_offset));
        let klass = if klass_low_bit > 0 {
            self.memory.u64(at).ok()? >> klass_low_bit
        } else if klass_bytes == 4 {
            u64::from(self.memory.u32(at).ok()?)
        } else {
            self.memory.u64(at).ok()?
        };
        let klass = if klass_bytes == 4 { klass_base.wrapping_add(klass << klass_shift) } else { klass };
        class_of(self.memory, self.metadata, klass).ok().filter(|name| name == class).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{peek::copy::Copy, world::World},
        *,
    };
    use crate::fuzz::{self, Metered};

    const THREAD: u64 = 0x10_0000;
    const OBJECTS: [u64; 3] = [0x11_0000, 0x12_0000, 0x13_0000];

    fn places() -> Places {
        let objects =
            ObjectLayout { klass_offset: 8, klass_bytes: 8, length: 16, alignment: 8, ..ObjectLayout::default() };
        Places {
            thread_object: 8,
            is_handle: false,
            name: 24,
            daemon: Daemon::Here(32),
            value: 24,
            coder: 32,
            references: References::Wide,
            objects,
            bytes: 20,
        }
    }

    /// A thread whose object has a name of four letters.
    fn world() -> World {
        let mut world = World::new(21);
        let classes = ["java/lang/String", "[B"].map(|name| world.class(name, None).address);
        let [thread, string, bytes] = OBJECTS;
        let copy = &mut world.copy;
        copy.write_u64(THREAD + 8, thread);
        copy.write_u64(thread + 24, string);
        copy.write(thread + 32, &[1]);
        for (object, class) in [(string, classes[0]), (bytes, classes[1])] {
            copy.write_u64(object + 8, class);
        }
        copy.write_u64(string + 24, bytes);
        copy.write_u32(bytes + 16, 4);
        copy.write(bytes + 20, b"main");
        world
    }

    fn read(memory: &impl Peek, metadata: &MetadataLayout, places: &Places) -> Option<(String, bool)> {
        let reader = Reader { memory, metadata, places };
        let object = reader.thread_object(THREAD)?;
        let name = reader.string(reader.reference(object.wrapping_add(places.name))?)?;
        Some((name, reader.is_daemon(object)?))
    }

    #[test]
    fn fuzz_thread_names() {
        let world = world();
        let metadata = MetadataLayout::from_tables(&world.copy, &world.tables).expect("a layout");
        assert_eq!(read(&world.copy, &metadata, &places()), Some(("main".to_owned(), true)));
        // Only what a name is made of is damaged, and not the rest of the JVM.
        let mut sound = Copy::default();
        for at in world.copy.words() {
            sound.write_u64(at, world.copy.u64(at).expect("written"));
        }
        fuzz::each("thread_names", 1 << 20, |dice| {
            let (mut copy, mut places) = (sound.clone(), places());
            fuzz::damage(dice, &mut copy);
            if dice.once_in(4) {
                places.references = References::Narrow { base: dice.number(), shift: dice.pick(&[0, 3, 8]) };
                places.daemon = Daemon::Held { holder: 24, daemon: 32 };
                places.is_handle = true;
                places.objects.klass_bytes = 4;
                places.objects.klass_low_bit = dice.pick(&[0, 42]);
                places.objects.klass_shift = dice.pick(&[0, 3, 10]);
            }
            if let Some((name, _)) = read(&Metered::new(copy, 1 << 20), &metadata, &places) {
                assert!(name.len() <= 3 * MAX_NAME_BYTES as usize);
            }
        });
    }
}
