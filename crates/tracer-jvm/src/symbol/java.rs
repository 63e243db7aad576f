//! Names Java frames: a `Method*` of the interpreter, an address in compiled code, a stub of the JVM.
//!
//! Compiled code comes and goes. It is known by the number of its compilation, which is never given twice: what was read
//! of a compilation is kept, within a limit of memory, and still answers when other code stands at its address. A frame
//! whose code has gone before it was looked at says so. Naming never fails: a frame without a name has a reason for one.

mod code;

use std::sync::Arc;

use tracer_common::stack::NO_BCI;

use self::code::{Code, Resolved};
use super::bounded::Bounded;
use crate::{
    jvm::{
        code_cache::{Blob, CodeCache, Error},
        memory::{Memory, library::Library},
        metadata::{self, MetadataLayout, Method, const_method_of, pool_of},
        nmethod::{DebugInfo, NmethodLayout, Scope},
        peek::{Pages, Peek},
        vmstructs::VmStructs,
    },
    stack::{Frame, Kind, handlers::Handlers, opcode, shared_text::SharedTexts},
};

/// Most memory for the tables of compiled code.
const CODE_BYTES: usize = 48 << 20;
/// Most memory for methods.
const METHOD_BYTES: usize = 24 << 20;
/// Most memory for frames that have their names.
const FRAME_BYTES: usize = 24 << 20;
/// Most memory for what is left of compilations whose tables were forgotten: their methods.
const OUTERMOST_BYTES: usize = 8 << 20;
/// Most memory for frames of the JVM's stubs.
const STUB_BYTES: usize = 1 << 20;
/// Blobs of stubs that the JVM makes when it starts, and never frees.
const STUBS: &str = "StubRoutines";

/// What a frame is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Interpreted { method: u64, check: u32, bci: u16 },
    Compiled { compile_id: u32, row: Option<usize> },
}

/// Methods that were read, by `Method*`.
#[derive(Debug)]
struct Methods {
    by_address: Bounded<u64, Arc<Method>>,
    /// What they and their frames are called.
    texts: SharedTexts,
}

/// The names of one JVM's Java frames.
#[derive(Debug)]
pub struct JavaSymbols<P = Memory> {
    peek: P,
    code_cache: CodeCache,
    metadata: MetadataLayout,
    nmethods: NmethodLayout,
    methods: Methods,
    /// By number of compilation.
    code: Bounded<u32, Arc<Code>>,
    /// The methods that were compiled, by number of compilation.
    outermost: Bounded<u32, Arc<Frame>>,
    /// Innermost first.
    frames: Bounded<Key, Arc<[Arc<Frame>]>>,
    /// By address, of stubs that stay: each stack of Java code ends with one.
    stubs: Bounded<u64, Arc<Frame>>,
}

impl<P: Peek> JavaSymbols<P> {
    /// Prepares naming with layouts that were read.
    pub fn new(peek: P, code_cache: CodeCache, metadata: MetadataLayout, nmethods: NmethodLayout) -> Self {
        Self {
            peek,
            code_cache,
            metadata,
            nmethods,
            methods: Methods { by_address: Bounded::new(METHOD_BYTES), texts: SharedTexts::default() },
            code: Bounded::new(CODE_BYTES),
            outermost: Bounded::new(OUTERMOST_BYTES),
            frames: Bounded::new(FRAME_BYTES),
            stubs: Bounded::new(STUB_BYTES),
        }
    }

    /// Reads the layouts from the JVM's tables; the error names what is missing.
    pub fn open(peek: P, tables: &VmStructs) -> Result<Self, Error> {
        let code_cache = CodeCache::read(&peek, tables)?;
        let metadata = MetadataLayout::from_tables(&peek, tables)?;
        let nmethods = NmethodLayout::from_tables(tables, &metadata)?;
        Ok(Self::new(peek, code_cache, metadata, nmethods))
    }

    /// Finds through the library's symbols what the tables do not have.
    pub fn find_in_symbols(&mut self, libjvm: &Library) {
        self.code_cache.find_continuations(&self.peek, libjvm);
        self.metadata.find_opcodes(&self.peek, libjvm);
    }

    /// The code cache.
    pub const fn code_cache(&self) -> &CodeCache {
        &self.code_cache
    }

    /// A frame of the interpreter. `check` says which method it was when the stack was taken ([`metadata::check`]), `bci`
    /// may be [`NO_BCI`].
    pub fn interpreted(&mut self, method: u64, check: u32, bci: u16) -> Arc<Frame> {
        let key = Key::Interpreted { method, check, bci };
        if let Some(frame) = self.frames.get(&key).and_then(|frames| frames.first().cloned()) {
            return frame;
        }
        match self.method(method, Some(check)) {
            Ok(found) => {
                let bci = Some(u32::from(bci)).filter(|_| bci != NO_BCI);
                if bci.is_some_and(|bci| !has(&found, bci)) {
                    return Arc::new(Frame::named(Kind::Unknown, metadata::Reason::Unloaded.to_string()));
                }
                let frame = Arc::new(frame(Kind::Interpreted, &found, bci));
                self.keep(key, vec![Arc::clone(&frame)]);
                frame
            }
            Err(reason) => Arc::new(Frame::named(Kind::Unknown, reason.to_string())),
        }
    }

    /// A frame of the interpreter, by its bytecode pointer; 0 for a native method. A pointer that is not in the method's
    /// bytecode says that another method stands there by now.
    pub fn interpreted_at(&mut self, method: u64, pointer: u64) -> Arc<Frame> {
        let known = self.methods.by_address.get(&method);
        let cached = known.filter(|known| pointer != 0 && self.metadata.index(known, pointer).is_some());
        let found = match cached {
            Some(known) => Ok(known),
            None => self.method(method, None),
        };
        match found {
            Ok(found) if pointer == 0 => self.interpreted(method, found.check(), NO_BCI),
            Ok(found) => match self.metadata.index(&found, pointer) {
                Some(bci) => self.interpreted(method, found.check(), bci),
                None => Arc::new(Frame::named(Kind::Unknown, metadata::Reason::Unloaded.to_string())),
            },
            Err(reason) => Arc::new(Frame::named(Kind::Unknown, reason.to_string())),
        }
    }

    /// Whether a method of the interpreter is a native one.
    pub fn is_native(&mut self, method: u64) -> bool {
        self.method(method, None).is_ok_and(|method| method.code.is_empty())
    }

    /// The frames at an address in compiled code, innermost first: those inlined, then the method that was compiled.
    /// `return_address` says that the address follows a call. There is always one.
    pub fn compiled(&mut self, pc: u64, return_address: bool, compile_id: u32) -> Vec<Arc<Frame>> {
        let Some(code) = self.code_of(pc, compile_id) else {
            return vec![self.outermost.get(&compile_id).unwrap_or_else(|| Arc::new(gone(compile_id)))];
        };
        let key = Key::Compiled { compile_id, row: code.info.row_at(pc, return_address) };
        if compile_id != 0
            && let Some(frames) = self.frames.get(&key)
        {
            return frames.to_vec();
        }
        let frames = frames_at(&code, pc, return_address);
        if compile_id != 0 {
            self.keep(key, frames.clone());
        }
        frames
    }

    /// Any other code of the JVM, by the name that it gave it.
    pub fn stub(&mut self, pc: u64) -> Arc<Frame> {
        let [start, end] = self.code_cache.layout().interpreter;
        if (start..end).contains(&pc) {
            return Arc::new(Frame::named(Kind::Stub, "Interpreter"));
        }
        if let Some(known) = self.stubs.get(&pc) {
            return known;
        }
        match self.code_cache.blob_at(&self.peek, pc) {
            Ok(blob) => {
                let stays = blob.name.starts_with(STUBS);
                let frame = Arc::new(Frame::named(Kind::Stub, blob.name));
                if stays {
                    self.stubs.insert(pc, Arc::clone(&frame), frame.bytes());
                }
                frame
            }
            Err(reason) => Arc::new(Frame::named(Kind::Unknown, reason.to_string())),
        }
    }

    /// The JVM has made code (`compiled__method__load`): remembers what it is, for when it will have gone.
    pub fn code_loaded(&mut self, start: u64, _size: u64) {
        if let Ok(blob) = self.code_cache.blob_at(&self.peek, start)
            && let Some(compiled) = blob.compiled
        {
            self.read_code(&blob, compiled.compile_id);
        }
    }

    /// The JVM has unloaded classes: their methods' addresses may come to mean others. Compilations that are remembered
    /// have their names already.
    pub fn classes_unloaded(&mut self) {
        self.methods.by_address.clear();
        self.frames.clear();
    }

    /// Forgets what was not asked for since this was called last: a JVM that compiles and throws away has ever new code, and what has
    /// gone is asked for only by stacks that are still to be named.
    pub fn age(&mut self) {
        let Self { methods, code, outermost, frames, stubs, .. } = self;
        methods.by_address.age();
        code.age();
        outermost.age();
        frames.age();
        stubs.age();
    }

    /// Name of the method that a blob is the code of, or of the blob.
    pub fn blob_name(&mut self, blob: &Blob) -> String {
        match blob.compiled {
            Some(compiled) => match self.method(compiled.method, None) {
                Ok(method) => method.qualified.to_string(),
                Err(reason) => reason.to_string(),
            },
            None => blob.name.clone(),
        }
    }

    /// The compilation at an address: as it is remembered, or as it stands there now.
    fn code_of(&mut self, pc: u64, compile_id: u32) -> Option<Arc<Code>> {
        // Some wrappers have no number, so nothing can be remembered of them.
        if compile_id != 0
            && let Some(code) = self.code.get(&compile_id)
        {
            return code.covers(pc).then_some(code);
        }
        // A call may be the last instruction, so that the address behind it lies in no code.
        let blob = self.code_cache.blob_at(&self.peek, pc).ok()?;
        self.read_code(&blob, compile_id).filter(|code| code.covers(pc))
    }

    /// Reads a compilation and keeps it. Absent where another one stands there.
    fn read_code(&mut self, blob: &Blob, compile_id: u32) -> Option<Arc<Code>> {
        if blob.compiled?.compile_id != compile_id {
            return None;
        }
        // Without its tables, the method that was compiled is still known.
        let info =
            DebugInfo::read(&self.peek, &self.nmethods, blob).ok().or_else(|| DebugInfo::without_tables(blob))?;
        let Self { peek, metadata, methods, .. } = self;
        // Methods that are inlined into each other are often of a few classes.
        let near = Pages::small(&*peek);
        fetch(&near, metadata, methods, &info.methods());
        let code = Arc::new(Code::new(info, |address| resolve(&near, metadata, methods, address, None)));
        // It may have been thrown away while it was read.
        let now = self.code_cache.again(&self.peek, blob).ok()?;
        if now.compiled != blob.compiled {
            return None;
        }
        if compile_id != 0 {
            self.code.insert(compile_id, Arc::clone(&code), code.weight());
            let outermost = frames_at(&code, code.info.code_begin, true).pop()?;
            let outermost = Frame { line: None, bci: None, opcode: None, handlers: None, ..Frame::clone(&outermost) };
            let bytes = outermost.bytes();
            self.outermost.insert(compile_id, Arc::new(outermost), bytes);
        }
        Some(code)
    }

    /// The method at an address, if it still is the one that is asked for.
    fn method(&mut self, address: u64, check: Option<u32>) -> Resolved {
        resolve(&Pages::small(&self.peek), &self.metadata, &mut self.methods, address, check)
    }

    fn keep(&mut self, key: Key, frames: Vec<Arc<Frame>>) {
        let bytes = frames.iter().map(|frame| frame.bytes()).sum();
        self.frames.insert(key, frames.into(), bytes);
    }
}

/// Reads what naming some methods needs first, in few calls for all of them.
fn fetch(near: &Pages<&impl Peek>, metadata: &MetadataLayout, methods: &mut Methods, addresses: &[u64]) {
    near.fetch(addresses.iter().copied());
    let new = |address: &u64| {
        let now = const_method_of(near, metadata, *address)?;
        methods.by_address.get(address).is_none_or(|known| known.const_method != now).then_some(now)
    };
    let new: Vec<u64> = addresses.iter().filter_map(new).collect();
    near.fetch(new.iter().copied());
    near.fetch(new.iter().filter_map(|address| pool_of(near, metadata, *address)));
}

/// The method at an address, if it still is the one that is asked for, from what was kept or as it is there now.
fn resolve(
    peek: &impl Peek,
    metadata: &MetadataLayout,
    methods: &mut Methods,
    address: u64,
    check: Option<u32>,
) -> Resolved {
    if let Some(known) = methods.by_address.get(&address) {
        let same = match check {
            Some(check) => check == known.check(),
            None => const_method_of(peek, metadata, address) == Some(known.const_method),
        };
        if same {
            return Ok(known);
        }
    }
    let mut method = Method::read(peek, metadata, address)?;
    if check.is_some_and(|check| check != method.check()) {
        return Err(metadata::Reason::Unloaded);
    }
    method.share(&mut methods.texts);
    let method = Arc::new(method);
    methods.by_address.insert(address, Arc::clone(&method), method.weight());
    Ok(method)
}

/// Whether a method has a bytecode index. Native methods have none, and frames of them the index 0.
fn has(method: &Method, bci: u32) -> bool {
    (bci as usize) < method.code.len().max(1)
}

fn frame(kind: Kind, method: &Method, bci: Option<u32>) -> Frame {
    let bci = bci.filter(|&bci| (bci as usize) < method.code.len());
    Frame {
        kind,
        name: method.qualified.clone(),
        class: Some(method.class.clone()),
        signature: Some(method.signature.clone()),
        file: method.file.clone(),
        line: bci.and_then(|bci| method.line(bci)),
        bci,
        opcode: bci.and_then(|bci| method.opcode_at(bci)).filter(|opcode| opcode::name(*opcode).is_some()),
        module: None,
        build_id: None,
        handlers: handlers(method, bci),
    }
}

/// Handlers for a place; a native method is known to have none.
fn handlers(method: &Method, bci: Option<u32>) -> Option<Handlers> {
    match bci {
        Some(bci) => method.handlers_at(bci),
        None => method.code.is_empty().then(|| method.handlers.clone()).flatten(),
    }
}

fn frames_at(code: &Code, pc: u64, return_address: bool) -> Vec<Arc<Frame>> {
    let scopes = code.info.scopes_at(pc, return_address);
    let outermost = scopes.len().saturating_sub(1);
    let named = |(index, &scope): (usize, &Scope)| {
        let kind = if index == outermost { Kind::Compiled } else { Kind::Inlined };
        // All but the innermost are calling.
        let fits = |method: &Method| {
            scope.bci.is_none_or(|bci| if index > 0 { method.calls_at(bci) } else { has(method, bci) })
        };
        Arc::new(match code.method(scope) {
            Ok(method) if fits(&method) => frame(kind, &method, scope.bci),
            // The class was unloaded, and its memory given to another one, before the code was looked at.
            Ok(_) => Frame::named(Kind::Unknown, metadata::Reason::Unloaded.to_string()),
            Err(reason) => Frame::named(Kind::Unknown, reason.to_string()),
        })
    };
    scopes.iter().enumerate().map(named).collect()
}

fn gone(compile_id: u32) -> Frame {
    Frame::named(Kind::Unknown, format!("<code of compilation {compile_id} has gone>"))
}

#[cfg(test)]
mod tests;
