//! Names of Java threads, whole, and whether they are daemons: what `java.lang.Thread` itself says. A library without symbols leaves
//! the names that the kernel knows.

use super::{
    JavaThread, JavaThreads, Layout,
    places::Places,
    reader::{Classes, Reader},
};
use crate::jvm::{
    find::Jvm,
    memory::{Error, Memory},
    metadata::MetadataLayout,
};

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
        let classes = Classes::default();
        let reader = Reader { memory: &self.memory, metadata: &self.metadata, places: &self.places, classes: &classes };
        Ok(Some(self.threads.threads.values().filter_map(|thread| named(&reader, *thread)).collect()))
    }
}

fn named(reader: &Reader<'_, Memory>, thread: JavaThread) -> Option<NamedThread> {
    let object = reader.thread_object(thread.address)?;
    Some(NamedThread { os_tid: thread.os_tid, name: reader.name(object)?, daemon: reader.is_daemon(object)? })
}

#[cfg(test)]
mod tests {
    use tracer_common::tally::ObjectLayout;

    use super::{
        super::{
            super::{
                peek::{Peek, copy::Copy},
                world::World,
            },
            places::References,
            reader::MAX_NAME_BYTES,
        },
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
            id: 40,
            blocker: 48,
            holder: None,
            daemon: 32,
            status: 36,
            owner: Some(16),
            super_class: 48,
            value: 24,
            coder: Some(32),
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
        let classes = Classes::default();
        let reader = Reader { memory, metadata, places, classes: &classes };
        let object = reader.thread_object(THREAD)?;
        Some((reader.name(object)?, reader.is_daemon(object)?))
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
                places.holder = Some(24);
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
