//! How a `JNIEnv*` leads to its thread's frame anchor, which says what Java called last.
//!
//! The JVM's tables have the anchor, and not the environment: that is found in the threads themselves. It is the word that is the same
//! in all of them and leads to JNI's table of functions: four words of 0, then addresses of libjvm's code. A few may lead to code that
//! the JVM has made at its start: these functions then run past their notes.

use std::{collections::BTreeSet, path::Path};

use tracer_common::jni::JniDemand;

use super::{
    code_cache::{CodeCache, fields::Fields},
    find::Jvm,
    java_threads::{JavaThreads, Layout},
    memory::{
        Memory,
        maps::{self, Mapping},
    },
    peek::{Peek, at},
};
use crate::jni::Function;

/// Bytes of a thread that are looked through.
const THREAD_BYTES: usize = 4096;
/// The least that a thread has.
const LEAST_THREAD_BYTES: usize = 512;
/// Threads that are looked at.
const THREADS: usize = 8;
/// Words of 0 at the beginning of JNI's table.
const RESERVED: usize = 4;
/// Words of the table that must be code of libjvm; the releases from 11 on have 230 or more.
const FUNCTIONS: usize = 225;
/// From rbp of an interpreter frame down to its `Method*` (`frame::interpreter_frame_method_offset` on x86-64).
const METHOD_BELOW_FP: u32 = 24;

/// Functions that have shortcuts in all releases (`UseFastJNIAccessors`): their places in the table, from the specification of JNI.
const SHORTCUTS: [(usize, &str); 8] = [
    (96, "GetBooleanField"),
    (97, "GetByteField"),
    (98, "GetCharField"),
    (99, "GetShortField"),
    (100, "GetIntField"),
    (101, "GetLongField"),
    (102, "GetFloatField"),
    (103, "GetDoubleField"),
];

/// How a JVM's environments are laid out.
#[derive(Clone, Debug)]
pub struct JniEnv {
    /// What the programs must know.
    pub demand: JniDemand,
    /// Functions whose calls mostly go past their notes.
    pub unseen: Vec<Function>,
}

/// Looks into the JVM's threads; the error says what is missing. Of one that `starts` the flag says what it will make.
pub fn read(jvm: &Jvm, threads: Layout, starts: bool) -> Result<JniEnv, String> {
    let fields = Fields(&jvm.tables);
    let field = |owner, name| fields.offset(&[(owner, name)]).map_err(|error| error.to_string());
    let anchor = field("JavaThread", "_anchor")?;
    let memory = Memory::open(jvm.target.pid).map_err(|error| error.to_string())?;
    let code = CodeCache::read(&memory, &jvm.tables).map_err(|error| error.to_string())?;
    let interpreter = code.layout().interpreter;
    if interpreter[0] == interpreter[1] {
        return Err("its interpreter has not been made yet".to_owned());
    }
    let mappings = maps::read(jvm.target.pid).map_err(|error| error.to_string())?;
    let mut threads = JavaThreads::new(memory, threads);
    threads.refresh().map_err(|error| error.to_string())?;
    let (env, table) = environment(&jvm.memory, &threads, &mappings, &jvm.library.path)?;
    let distance = |name| -> Result<i32, String> {
        let at = anchor + field("JavaFrameAnchor", name)?;
        i32::try_from(at.cast_signed() - env.cast_signed()).map_err(|_| format!("`{name}` is absurd"))
    };
    let demand = JniDemand {
        last_sp: distance("_last_Java_sp")?,
        last_pc: distance("_last_Java_pc")?,
        last_fp: distance("_last_Java_fp")?,
        known: 1,
        method_below_fp: METHOD_BELOW_FP,
        interpreter,
        ..JniDemand::default()
    };
    let will_have =
        starts && jvm.flags.as_ref().is_ok_and(|flags| flags.bool(&jvm.memory, "UseFastJNIAccessors") == Some(true));
    let has_shortcut = |(place, _): &&(usize, &str)| {
        let entry = jvm.memory.u64(table.wrapping_add(8 * *place as u64));
        will_have || entry.is_ok_and(|entry| code.heaps().iter().any(|heap| heap.contains(entry)))
    };
    let unseen = SHORTCUTS.iter().filter(has_shortcut).filter_map(|(_, name)| Function::named(name)).collect();
    Ok(JniEnv { demand, unseen })
}

/// Offset of the environment in a thread, and the table to which it leads.
fn environment(
    memory: &impl Peek,
    threads: &JavaThreads<impl Peek>,
    mappings: &[Mapping],
    library: &Path,
) -> Result<(u64, u64), String> {
    let mut candidates: Option<BTreeSet<(usize, u64)>> = None;
    for thread in threads.listed().take(THREADS) {
        let Ok(bytes) = memory.bytes_up_to(thread.address, THREAD_BYTES, LEAST_THREAD_BYTES) else { continue };
        let words = bytes.chunks_exact(8).enumerate();
        let words = words.filter_map(|(index, word)| Some((8 * index, at::u64(word, 0)?)));
        let found: BTreeSet<(usize, u64)> = match &candidates {
            None => words.filter(|(_, word)| is_table(memory, mappings, library, *word)).collect(),
            Some(known) => words.filter(|found| known.contains(found)).collect(),
        };
        candidates = Some(found);
    }
    let candidates: Vec<_> = candidates.into_iter().flatten().collect();
    match candidates[..] {
        [(offset, table)] => Ok((offset as u64, table)),
        [] => Err("no thread has an environment of JNI".to_owned()),
        _ => Err(format!("threads have {} words that could be their environment", candidates.len())),
    }
}

/// Whether JNI's table of functions lies at an address.
fn is_table(memory: &impl Peek, mappings: &[Mapping], library: &Path, address: u64) -> bool {
    if !address.is_multiple_of(8) || !mappings.iter().any(|mapping| mapping.contains(address)) {
        return false;
    }
    let Ok(bytes) = memory.bytes(address, 8 * (RESERVED + FUNCTIONS)) else { return false };
    let code_at = |address: u64| mappings.iter().find(|mapping| mapping.contains(address) && mapping.executable);
    let (words, _) = bytes.as_chunks::<8>();
    let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
    if !words.by_ref().take(RESERVED).all(|word| word == 0) {
        return false;
    }
    let Some(code) = words.map(code_at).collect::<Option<Vec<_>>>() else { return false };
    let own = code.iter().filter(|mapping| mapping.path == library).count();
    own >= FUNCTIONS - SHORTCUTS.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fuzz::{self, Metered},
        jvm::{java_threads::tests as threads, peek::copy::Copy},
    };

    const TABLE: u64 = 0x8_0000;
    const CODE: u64 = 0x4100_0000;
    const ENV: u64 = 0x100;
    const MAPS: &str = "00080000-00090000 rw-p 00000000 00:00 0\n\
                        41000000-42000000 r-xp 00000000 fe:00 7 /jdk/lib/server/libjvm.so\n";

    /// Two threads that lead to the same table.
    fn memory() -> Copy {
        let mut copy = threads::memory();
        for place in 0..FUNCTIONS as u64 {
            copy.write_u64(TABLE + 8 * (RESERVED as u64 + place), CODE + 64 * place);
        }
        for thread in threads::THREADS {
            copy.write_u64(thread + ENV, TABLE);
        }
        copy
    }

    fn found(copy: Copy) -> Result<(u64, u64), String> {
        let memory = Metered::new(copy, 64 << 20);
        let mut threads = JavaThreads::new(memory.clone(), threads::layout(None));
        threads.refresh().map_err(|error| error.to_string())?;
        environment(&memory, &threads, &maps::parse(MAPS.as_bytes()), Path::new("/jdk/lib/server/libjvm.so"))
    }

    #[test]
    fn the_word_that_all_threads_share_and_that_leads_to_the_table_is_the_environment() {
        assert_eq!(found(memory()), Ok((ENV, TABLE)));
        let mut other = memory();
        other.write_u64(threads::THREADS[1] + ENV, TABLE + 8);
        assert!(found(other).is_err(), "one thread has another one");
        let mut short = memory();
        short.write_u64(TABLE + 8 * RESERVED as u64, 0x9_0000);
        assert!(found(short).is_err(), "what is called is no code");
    }

    #[test]
    fn fuzz_jni_environment() {
        let sound = memory();
        fuzz::each("jni_environment", 8 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            if let Ok((offset, table)) = found(copy) {
                assert!(offset < THREAD_BYTES as u64 && table.is_multiple_of(8));
            }
        });
    }
}
