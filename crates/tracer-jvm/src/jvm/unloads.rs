//! Whether what was read of classes and methods may mean something else by now: the JVM counts the classes that it loads and unloads.

use super::{find::Jvm, memory::Memory};

/// Its counter of unloaded classes.
const UNLOADED: &str = "java.cls.unloadedClasses";
/// Those of loaded classes: its own, and those of its archive.
const LOADED: [&str; 2] = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];

/// Whether the JVM has unloaded classes, so that an address of a method may have got another meaning. It counts them before
/// it gives their memory to others.
#[derive(Debug, Default)]
pub struct Unloads {
    /// Where the JVM's own counters are; it has none under `-XX:-UsePerfData`.
    counters: Vec<u64>,
    known: Option<Vec<u64>>,
}

impl Unloads {
    /// Looks for the counter.
    pub fn new(jvm: &Jvm) -> Self {
        Self::of(jvm, &[UNLOADED])
    }

    /// The same, and whether it has loaded some: where it has not, what was read at an address that was no class's is still of none.
    pub fn and_loads(jvm: &Jvm) -> Self {
        let [own, archived] = LOADED;
        Self::of(jvm, &[UNLOADED, own, archived])
    }

    fn of(jvm: &Jvm, names: &[&str]) -> Self {
        let counters = jvm.counters.as_ref().ok();
        let address = |name: &&str| counters.and_then(|counters| counters.long_address(name));
        Self { counters: names.iter().map(address).collect::<Option<_>>().unwrap_or_default(), known: None }
    }

    /// Whether the JVM counts the classes that it unloads.
    pub const fn are_counted(&self) -> bool {
        !self.counters.is_empty()
    }

    /// Whether it may have happened since this was asked before. Without a counter it always may.
    pub fn may_have_happened(&mut self, memory: &Memory) -> bool {
        let now: Option<Vec<u64>> = match self.counters[..] {
            [] => None,
            [counter] => memory.read_u64(counter).ok().map(|count| vec![count]),
            _ => {
                let word = |bytes: Option<Vec<u8>>| Some(u64::from_ne_bytes(bytes?.try_into().ok()?));
                memory.read_each(&self.counters, size_of::<u64>()).into_iter().map(word).collect()
            }
        };
        let is_known = now.is_some() && now == self.known;
        self.known = now;
        !is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_has_moved_or_cannot_be_read_says_that_it_may_have_happened() {
        let memory = Memory::open(std::process::id()).unwrap();
        let mut counts = [5_u64, 6, 7];
        let address = |count: &u64| std::ptr::from_ref(count) as u64;
        for used in [1, 3] {
            let mut unloads = Unloads { counters: counts[..used].iter().map(address).collect(), known: None };
            assert_eq!([(); 3].map(|()| unloads.may_have_happened(&memory)), [true, false, false]);
            std::hint::black_box(&mut counts)[used - 1] += 1;
            assert_eq!([(); 2].map(|()| unloads.may_have_happened(&memory)), [true, false]);
            unloads.counters[used - 1] = 8;
            assert_eq!([(); 2].map(|()| unloads.may_have_happened(&memory)), [true, true]);
        }
        let mut none = Unloads { counters: Vec::new(), known: None };
        assert!(none.may_have_happened(&memory) && none.may_have_happened(&memory) && !none.are_counted());
    }
}
