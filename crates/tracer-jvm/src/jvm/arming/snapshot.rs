//! All compiled code of a JVM at a moment: what it was compiled from, what is inlined into it, which stubs it calls.
//!
//! Code comes and goes while it is read. What cannot be read, or has no method any more, is counted and left out.

use std::collections::BTreeMap;

use super::{
    super::{
        code_cache::{self, Blob, BlobKind, CodeCache, fields::Fields},
        find::Jvm,
        memory::library,
        metadata::{MetadataLayout, Method},
        nmethod::{DebugInfo, NmethodLayout},
        peek::{MAX_BYTES, Pages, Peek},
        vmstructs::VmStructs,
    },
    stubs::{Calls, Stubs},
};

/// Native methods that HotSpot makes itself: they lead a method handle to its method, a virtual thread to its carrier.
const GLUE: [(&str, &str); 4] = [
    ("java.lang.invoke.MethodHandle", "linkTo"),
    ("java.lang.invoke.MethodHandle", "invokeBasic"),
    ("jdk.internal.vm.Continuation", "enterSpecial"),
    ("jdk.internal.vm.Continuation", "doYield"),
];

/// Why the compiled code of a JVM could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its layout is not known.
    #[error(transparent)]
    Layout(#[from] code_cache::Error),
    /// The symbols of its library could not be read.
    #[error(transparent)]
    Library(#[from] library::Error),
}

/// Names of a method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Its class as Java writes it.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub signature: String,
}

impl Name {
    pub(super) fn of(method: &Method) -> Self {
        let [class, method, signature] = method.names();
        Self { class, method, signature }
    }
}

/// What says which code it is: addresses are used again, and some wrappers of native methods have no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Number of the compilation.
    pub compile_id: u32,
    /// Where it lies.
    pub address: u64,
}

/// Whether code is entered any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Calls go there.
    Entered,
    /// It was thrown away, and only frames that were in it may still be there.
    Left,
    /// It is a loop's (on-stack replacement), and the JVM's tables do not tell.
    Unknown,
}

/// One piece of compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilation {
    /// Which one.
    pub code: Code,
    /// Level: 1 to 3 are C1's, 4 is C2's, 0 a native wrapper's.
    pub level: u8,
    /// Whether it is the wrapper of a native method.
    pub native: bool,
    /// Bytecode index of the loop by which it is entered.
    pub osr_bci: Option<u32>,
    /// Size of its instructions in bytes.
    pub bytes: u64,
    /// The method it was compiled from.
    pub name: Name,
    /// The methods that were inlined into it, each once. The JVM's tables do not tell them from a few that it only calls.
    pub inlined: Vec<Name>,
    /// Whether calls still go there.
    pub usage: Use,
    /// The stubs it calls; absent where the library has no symbols.
    pub calls: Option<Calls>,
}

impl Compilation {
    /// The methods whose bytecode it holds.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.name).chain(&self.inlined)
    }

    /// Whether it is HotSpot's own code between methods. It has no probe, whatever the flags say.
    pub fn is_glue(&self) -> bool {
        let Name { class, method, signature: _ } = &self.name;
        self.native && GLUE.iter().any(|(of, name)| class == of && method.starts_with(name))
    }
}

/// All compiled code at a moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Release of the JVM.
    pub release: u32,
    /// The code.
    pub code: BTreeMap<Code, Compilation>,
    /// The stubs that the interpreter calls, where the library has symbols. Up to 23 it asks the flag before each call.
    pub interpreter: Option<Calls>,
    /// How many pieces could not be read or named.
    pub unread: usize,
}

impl Snapshot {
    /// Reads it. Takes some 10 ms for each 1,000 methods.
    pub fn take(jvm: &Jvm) -> Result<Self, Error> {
        let pages = Pages::new(&jvm.memory);
        let find = |blobs: &[Blob]| Stubs::find(&jvm.library, blobs);
        Self::read(&pages, &jvm.tables, jvm.target.jdk_release, find)
    }

    fn read(
        peek: &impl Peek,
        tables: &VmStructs,
        release: u32,
        find: impl FnOnce(&[Blob]) -> Result<Option<Stubs>, library::Error>,
    ) -> Result<Self, Error> {
        let cache = CodeCache::read(peek, tables)?;
        let (blobs, unread) = cache.snapshot(peek)?;
        let stubs = find(&blobs)?;
        let mut reader = Reader::new(peek, tables, stubs.as_ref())?;
        let [begin, end] = cache.layout().interpreter;
        let interpreter = reader.calls(begin, end);
        let mut snapshot = Self { release, code: BTreeMap::new(), interpreter, unread };
        for blob in blobs.iter().filter(|blob| blob.compiled.is_some()) {
            match reader.compilation(blob) {
                Some(compilation) => drop(snapshot.code.insert(compilation.code, compilation)),
                None => snapshot.unread += 1,
            }
        }
        Ok(snapshot)
    }

    /// Code that is entered, or may be.
    pub fn in_use(&self) -> impl Iterator<Item = &Compilation> {
        self.code.values().filter(|compilation| compilation.usage != Use::Left)
    }
}

struct Reader<'a, P> {
    peek: &'a P,
    stubs: Option<&'a Stubs>,
    metadata: MetadataLayout,
    nmethods: NmethodLayout,
    usage: UsageLayout,
    names: BTreeMap<u64, Option<Name>>,
}

impl<'a, P: Peek> Reader<'a, P> {
    fn new(peek: &'a P, tables: &VmStructs, stubs: Option<&'a Stubs>) -> Result<Self, Error> {
        let metadata = MetadataLayout::from_tables(peek, tables)?;
        let nmethods = NmethodLayout::from_tables(tables, &metadata)?;
        let usage = UsageLayout::from_tables(tables)?;
        Ok(Self { peek, stubs, metadata, nmethods, usage, names: BTreeMap::new() })
    }

    /// Absent where the code has no method any more.
    fn compilation(&mut self, blob: &Blob) -> Option<Compilation> {
        let compiled = blob.compiled?;
        let name = self.name(compiled.method)?;
        let info = DebugInfo::read(self.peek, &self.nmethods, blob).ok();
        // Scopes name a method only where the JVM must know it; one without a call or loop is just among the metadata.
        let methods = info.map(|info| [info.methods(), info.metadata().to_vec()].concat()).unwrap_or_default();
        let inlined = methods.into_iter().filter(|&method| method != compiled.method);
        let mut inlined: Vec<Name> = inlined.filter_map(|method| self.name(method)).collect();
        inlined.sort_unstable();
        inlined.dedup();
        Some(Compilation {
            code: Code { compile_id: compiled.compile_id, address: blob.address },
            level: compiled.level,
            native: blob.kind == BlobKind::NativeMethod,
            osr_bci: compiled.osr_bci,
            bytes: blob.code_end - blob.code_begin,
            name,
            inlined,
            usage: self.usage.read(self.peek, blob)?,
            calls: self.calls(blob.code_begin, blob.code_end),
        })
    }

    fn name(&mut self, method: u64) -> Option<Name> {
        let (peek, metadata) = (self.peek, &self.metadata);
        let read = || Some(Name::of(&Method::read(peek, metadata, method).ok()?));
        self.names.entry(method).or_insert_with(read).clone()
    }

    /// The stubs that the code in a range calls; absent where it is not known.
    fn calls(&self, begin: u64, end: u64) -> Option<Calls> {
        let stubs = self.stubs?;
        let len = usize::try_from(end.checked_sub(begin)?).ok().filter(|&len| len <= MAX_BYTES)?;
        Some(stubs.called_by(&self.peek.bytes(begin, len).ok()?, begin))
    }
}

/// Where it is said whether code is in use.
struct UsageLayout {
    /// `nmethod::_state`, in releases whose tables have it.
    state: Option<u64>,
    /// `Method::_code`: the code that calls of the method go to.
    current: u64,
}

impl UsageLayout {
    fn from_tables(tables: &VmStructs) -> Result<Self, Error> {
        let fields = Fields(tables);
        Ok(Self { state: fields.optional(&[("nmethod", "_state")])?, current: fields.offset(&[("Method", "_code")])? })
    }

    /// Absent where it cannot be read.
    fn read(&self, peek: &impl Peek, blob: &Blob) -> Option<Use> {
        let compiled = blob.compiled?;
        if let Some(state) = self.state {
            // 0 is "in use" in every release; what is not installed yet is below, what was thrown away above.
            let state = peek.u8(blob.address.checked_add(state)?).ok()?;
            return Some(if state == 0 { Use::Entered } else { Use::Left });
        }
        if compiled.osr_bci.is_some() {
            return Some(Use::Unknown);
        }
        let current = peek.u64(compiled.method.checked_add(self.current)?).ok()?;
        Some(if current == blob.address { Use::Entered } else { Use::Left })
    }
}

#[cfg(test)]
mod tests;
