//! A small JVM for tests: heaps, methods and compiled code written into a [`Copy`] by the tables of a real release.
//!
//! The readers then read it as they read a target, and tests can damage it.

use super::{
    metadata::{lines, unsigned5},
    peek::{Peek as _, copy::Copy},
    vmstructs::{VmStructs, written},
};

pub use written::RELEASES;

const HEAP: u64 = 0x7f00_0000_0000;
const HEAP_BYTES: u64 = 0x8000;
const RESERVED_BYTES: u64 = 0x10_0000;
const SEGMENT_MAP: u64 = 0x7f10_0000_0000;
const SEGMENT_SHIFT: u32 = 7;
/// Where the interpreter's code begins, and how long it is.
pub const INTERPRETER: [u64; 2] = [HEAP, HEAP + 0x400];
/// What the call stub returns to.
pub const CALL_STUB_RETURN: u64 = HEAP + 0x123;
/// Entries of every constant pool.
const POOL_ENTRIES: u64 = 32;
/// Size of every code, from its beginning to its end.
pub const CODE_BYTES: u64 = 0x100;
/// The bytecode that calls a static method.
const INVOKE_STATIC: u8 = 0xb8;
/// The tags of a text and of a class in a constant pool.
const TAG_TEXT: u8 = 1;
const TAG_UNRESOLVED_CLASS: u8 = 100;
/// What the flags of a method say of its tables.
const HAS_LINES: u16 = 1;
const HAS_HANDLERS: u16 = 8;

/// A class.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    pub address: u64,
    pool: u64,
    tags: u64,
    used: u64,
}

/// The JVM.
#[derive(Clone, Debug)]
pub struct World {
    pub copy: Copy,
    pub tables: VmStructs,
    pub release: u32,
    /// Where the next structure goes.
    free: u64,
    /// The next free segment of the heap.
    segment: u64,
}

impl World {
    /// A JVM with one heap, in which only the interpreter lies.
    pub fn new(release: u32) -> Self {
        let tables = VmStructs::of_release(release);
        let mut world = Self { copy: Copy::default(), tables, release, free: 0x20_0000, segment: 0 };
        world.version();
        let stub = world.address("StubRoutines", "_call_stub_return_address");
        world.copy.write_u64(stub, CALL_STUB_RETURN);
        world.copy.write(SEGMENT_MAP, &[0xff; 0x2000]);
        world.heap();
        world.interpreter();
        world
    }

    /// HotSpot's own version was 25 in JDK 8.
    fn version(&mut self) {
        let (hotspot, jdk) = if self.release == 8 { (25, Some(8)) } else { (self.release, None) };
        let major = self.address("Abstract_VM_Version", "_vm_major_version");
        self.copy.write_u32(major, hotspot);
        if let Some(jdk) = jdk {
            let major = self.address("JDK_Version", "_current") + self.offset("JDK_Version", "_major");
            self.copy.write(major, &[jdk]);
        }
    }

    fn heap(&mut self) {
        let heap = self.allocate(0x200);
        let (memory, map) = (heap + self.offset("CodeHeap", "_memory"), heap + self.offset("CodeHeap", "_segmap"));
        let space = |world: &mut Self, space: u64, low: u64, high: u64, boundary: u64| {
            for (name, value) in [("_low", low), ("_high", high), ("_high_boundary", boundary)] {
                world.copy.write_u64(space + world.tables.offset("VirtualSpace", name).unwrap(), value);
            }
        };
        space(self, memory, HEAP, HEAP + HEAP_BYTES, HEAP + RESERVED_BYTES);
        space(self, map, SEGMENT_MAP, SEGMENT_MAP + 0x1000, SEGMENT_MAP + 0x2000);
        self.copy.write_u32(heap + self.offset("CodeHeap", "_log2_segment_size"), SEGMENT_SHIFT);
        if let Some(only) = self.tables.static_address("CodeCache", "_heap") {
            self.copy.write_u64(only, heap);
            return;
        }
        let (array, data) = (self.allocate(0x20), self.allocate(8));
        self.copy.write_u64(data, heap);
        let length = ["GrowableArrayBase", "GenericGrowableArray"].map(|owner| self.tables.offset(owner, "_len"));
        self.copy.write_u32(array + length.into_iter().flatten().next().unwrap(), 1);
        self.copy.write_u64(array + self.offset("GrowableArray<int>", "_data"), data);
        self.copy.write_u64(self.address("CodeCache", "_heaps"), array);
    }

    fn interpreter(&mut self) {
        let queue = self.allocate(0x40);
        self.copy.write_u64(queue + self.offset("StubQueue", "_stub_buffer"), INTERPRETER[0]);
        let len = u32::try_from(INTERPRETER[1] - INTERPRETER[0]).unwrap();
        self.copy.write_u32(queue + self.offset("StubQueue", "_buffer_limit"), len);
        self.copy.write_u64(self.address("AbstractInterpreter", "_code"), queue);
        self.block(0x500, "Interpreter");
    }

    pub fn offset(&self, owner: &str, name: &str) -> u64 {
        self.tables.offset(owner, name).unwrap_or_else(|| panic!("{owner}::{name} of {}", self.release))
    }

    fn address(&self, owner: &str, name: &str) -> u64 {
        self.tables.static_address(owner, name).unwrap()
    }

    fn allocate(&mut self, bytes: u64) -> u64 {
        let address = self.free;
        self.free += bytes.next_multiple_of(8);
        self.copy.write(address, &vec![0; usize::try_from(bytes).unwrap()]);
        address
    }

    fn excluded(&self) -> u8 {
        u8::from(self.release >= 20)
    }

    fn symbol(&mut self, text: &str) -> u64 {
        let address = self.allocate(8 + text.len() as u64);
        self.copy.write_u16(address + self.offset("Symbol", "_length"), u16::try_from(text.len()).unwrap());
        self.copy.write(address + self.offset("Symbol", "_body"), text.as_bytes());
        address
    }

    /// A class with an empty pool.
    pub fn class(&mut self, name: &str, file: Option<&str>) -> Class {
        let size = self.tables.type_size("ConstantPool").unwrap();
        let address = self.allocate(self.tables.type_size("InstanceKlass").unwrap());
        let (pool, tags) = (self.allocate(size + POOL_ENTRIES * 8), self.allocate(8 + POOL_ENTRIES));
        let name = self.symbol(name);
        self.copy.write_u64(address + self.offset("Klass", "_name"), name);
        self.copy.write_u64(address + self.offset("InstanceKlass", "_constants"), pool);
        self.copy.write_u64(pool + self.offset("ConstantPool", "_pool_holder"), address);
        self.copy.write_u64(pool + self.offset("ConstantPool", "_tags"), tags);
        self.copy.write_u32(pool + self.offset("ConstantPool", "_length"), u32::try_from(POOL_ENTRIES).unwrap());
        let mut class = Class { address, pool, tags, used: 1 };
        if let Some(file) = file {
            let index = self.pool_text(&mut class, file);
            let at = match self.tables.offset("ConstantPool", "_source_file_name_index") {
                Some(offset) => pool + offset,
                None => address + self.offset("InstanceKlass", "_source_file_name_index"),
            };
            self.copy.write_u16(at, index);
        }
        class
    }

    /// Adds an entry to a class's pool.
    fn pool_entry(&mut self, class: &mut Class, tag: u8, word: u64) -> u16 {
        let index = class.used;
        class.used += 1;
        assert!(index < POOL_ENTRIES);
        let entries = class.pool + self.tables.type_size("ConstantPool").unwrap();
        self.copy.write_u64(entries + index * 8, word);
        self.copy.write(class.tags + self.offset("Array<u1>", "_data") + index, &[tag]);
        u16::try_from(index).unwrap()
    }

    fn pool_text(&mut self, class: &mut Class, text: &str) -> u16 {
        let symbol = self.symbol(text);
        self.pool_entry(class, TAG_TEXT, symbol)
    }

    /// A class that the pool names and the JVM has not looked up.
    fn pool_class(&mut self, class: &mut Class, name: &str) -> u16 {
        let symbol = self.symbol(name);
        let text = self.pool_entry(class, TAG_TEXT, symbol);
        let word = if self.release == 8 { symbol | 1 } else { u64::from(text) << 16 | 7 };
        self.pool_entry(class, TAG_UNRESOLVED_CLASS, word)
    }

    /// A method with a line table of (bytecode index, line). It does nothing but call.
    pub fn method(&mut self, class: &mut Class, name: &str, code_bytes: u16, table: &[(u32, u32)]) -> u64 {
        self.method_with_handlers(class, name, code_bytes, table, &[])
    }

    /// The same with an exception table, of (begin, end, handler, class).
    pub fn method_with_handlers(
        &mut self,
        class: &mut Class,
        name: &str,
        code_bytes: u16,
        table: &[(u32, u32)],
        handlers: &[([u16; 3], Option<&str>)],
    ) -> u64 {
        let mut rows = Vec::new();
        for ([begin, end, handler], caught) in handlers {
            let caught = caught.map_or(0, |caught| self.pool_class(class, caught));
            rows.extend([*begin, *end, *handler, caught].into_iter().flat_map(u16::to_ne_bytes));
        }
        if !handlers.is_empty() {
            rows.extend(u16::try_from(handlers.len()).unwrap().to_ne_bytes());
        }
        let size = self.tables.type_size("ConstMethod").unwrap();
        let lines = lines::encode(table, self.excluded());
        let bytes = (size + u64::from(code_bytes) + (lines.len() + rows.len()) as u64).next_multiple_of(8);
        let const_method = self.allocate(bytes);
        let method = self.allocate(self.tables.type_size("Method").unwrap());
        self.copy.write_u64(method + self.offset("Method", "_constMethod"), const_method);
        self.copy.write_u64(const_method + self.offset("ConstMethod", "_constants"), class.pool);
        let words = u32::try_from(bytes / 8).unwrap();
        self.copy.write_u32(const_method + self.offset("ConstMethod", "_constMethod_size"), words);
        self.copy.write_u16(const_method + self.offset("ConstMethod", "_code_size"), code_bytes);
        self.copy.write(const_method + size, &vec![INVOKE_STATIC; usize::from(code_bytes)]);
        for (field, text) in [("_name_index", name), ("_signature_index", "(I)V")] {
            let index = self.pool_text(class, text);
            self.copy.write_u16(const_method + self.offset("ConstMethod", field), index);
        }
        let flags = ["_flags._flags", "_flags"].map(|name| self.tables.offset("ConstMethod", name));
        let flags = const_method + flags.into_iter().flatten().next().unwrap();
        let has = |table: &[u8], flag| if table.is_empty() { 0 } else { flag };
        let of_lines = if table.is_empty() { &[][..] } else { &lines };
        self.copy.write_u16(flags, has(of_lines, HAS_LINES) | has(&rows, HAS_HANDLERS));
        self.copy.write(const_method + size + u64::from(code_bytes), of_lines);
        self.copy.write(const_method + bytes - rows.len() as u64, &rows);
        method
    }

    /// Makes a bytecode of a method one that calls nothing.
    pub fn clear_bytecode(&mut self, method: u64, bci: u64) {
        let begin = self.const_method(method) + self.tables.type_size("ConstMethod").unwrap();
        self.copy.write(begin + bci, &[0]);
    }

    /// The `ConstMethod*` of a method.
    pub fn const_method(&self, method: u64) -> u64 {
        self.copy.u64(method + self.offset("Method", "_constMethod")).unwrap()
    }

    /// The `CodeHeap*` of the only heap.
    pub fn code_heap(&self) -> u64 {
        let read = |address| self.copy.u64(address).unwrap();
        if let Some(only) = self.tables.static_address("CodeCache", "_heap") {
            return read(only);
        }
        let array = read(self.address("CodeCache", "_heaps"));
        read(read(array + self.offset("GrowableArray<int>", "_data")))
    }

    /// A block of the heap with a blob of this size and name; gives the blob's address.
    pub fn block(&mut self, size: u64, name: &str) -> u64 {
        let header = self.tables.type_size("HeapBlock").unwrap();
        let segments = (header + size).div_ceil(1 << SEGMENT_SHIFT);
        let block = HEAP + (self.segment << SEGMENT_SHIFT);
        assert!(block + (segments << SEGMENT_SHIFT) <= HEAP + HEAP_BYTES);
        // Steps back are short here, so that the way to a block's start takes several.
        let map: Vec<u8> =
            (0..segments).map(|index| u8::try_from(if index > 3 { 3 } else { index }).unwrap()).collect();
        self.copy.write(SEGMENT_MAP + self.segment, &map);
        self.segment += segments;
        self.copy.write(block, &vec![0; usize::try_from(segments << SEGMENT_SHIFT).unwrap()]);
        self.copy.write_u32(block + self.offset("HeapBlock::Header", "_length"), u32::try_from(segments).unwrap());
        self.copy.write(block + self.offset("HeapBlock::Header", "_used"), &[1]);
        let blob = block + header;
        let text = self.allocate(name.len() as u64 + 1);
        self.copy.write(text, name.as_bytes());
        self.copy.write_u64(blob + self.offset("CodeBlob", "_name"), text);
        self.copy.write_u32(blob + self.offset("CodeBlob", "_size"), u32::try_from(size).unwrap());
        self.copy.write_u32(blob + self.offset("CodeBlob", "_frame_size"), 4);
        self.code(blob, size.min(self.code_offset() + CODE_BYTES));
        blob
    }

    /// Where the code of every blob begins.
    pub fn code_offset(&self) -> u64 {
        self.tables.type_size("nmethod").unwrap().next_multiple_of(64)
    }

    fn code(&mut self, blob: u64, end: u64) {
        let begin = self.code_offset();
        if let Some(offset) = self.tables.offset("CodeBlob", "_code_begin") {
            self.copy.write_u64(blob + offset, blob + begin);
            self.copy.write_u64(blob + self.offset("CodeBlob", "_code_end"), blob + end);
        } else {
            self.copy.write_u32(blob + self.offset("CodeBlob", "_code_offset"), u32::try_from(begin).unwrap());
            self.copy.write_u32(blob + self.offset("CodeBlob", "_data_offset"), u32::try_from(end).unwrap());
        }
    }

    /// Gives back the block of the blob that was made last.
    pub fn free_last(&mut self, blob: u64) {
        let block = blob - self.tables.type_size("HeapBlock").unwrap();
        self.copy.write(block + self.offset("HeapBlock::Header", "_used"), &[0]);
        self.segment = (block - HEAP) >> SEGMENT_SHIFT;
    }

    /// Compiled code. Rows are offsets in the code with their scopes, innermost first: (`Method*`, bytecode index).
    pub fn nmethod(&mut self, compile_id: u32, method: u64, rows: &[(i32, &[(u64, u32)])]) -> u64 {
        let tables = Tables::encode(rows, self.excluded());
        let size = self.code_offset() + CODE_BYTES + tables.len();
        let blob = self.block(size, "nmethod");
        let field = |world: &Self, name: &str| {
            let owner = if world.tables.offset("nmethod", name).is_some() { "nmethod" } else { "CompiledMethod" };
            blob + world.offset(owner, name)
        };
        self.copy.write_u64(field(self, "_method"), method);
        self.copy.write_u32(field(self, "_compile_id"), compile_id);
        self.copy.write(field(self, "_comp_level"), &[4]);
        self.copy.write_u32(field(self, "_entry_bci"), u32::MAX);
        let code = blob + self.code_offset();
        if self.release >= 23 {
            self.copy.write_u16(field(self, "_verified_entry_offset"), 16);
            let handler = if self.release >= 26 { "_deopt_handler_entry_offset" } else { "_deopt_handler_offset" };
            self.copy.write_u32(field(self, handler), u32::try_from(code + 0xf0 - blob).unwrap());
            let (data, metadata) = (self.allocate(tables.len() + 8), self.allocate(tables.len() + 16));
            self.copy.write_u64(field(self, "_immutable_data"), data);
            let at = |offset: usize| u32::try_from(offset).unwrap();
            // 8 bytes of other tables before, as there are.
            self.copy.write_u32(field(self, "_scopes_pcs_offset"), 8);
            self.copy.write_u32(field(self, "_scopes_data_offset"), at(8 + tables.rows.len()));
            self.copy.write_u32(field(self, "_immutable_data_size"), at(8 + tables.rows.len() + tables.scopes.len()));
            self.copy.write(data + 8, &[&tables.rows[..], &tables.scopes].concat());
            self.copy.write_u64(blob + self.offset("CodeBlob", "_mutable_data"), metadata);
            self.copy.write_u32(blob + self.offset("CodeBlob", "_relocation_size"), 11);
            let end = at(16 + tables.metadata.len());
            self.copy.write_u32(blob + self.offset("CodeBlob", "_mutable_data_size"), end);
            self.copy.write(metadata + 16, &tables.metadata);
        } else {
            self.copy.write_u64(field(self, "_verified_entry_point"), code + 16);
            if self.release == 8 {
                self.copy.write_u32(field(self, "_deoptimize_offset"), u32::try_from(code + 0xf0 - blob).unwrap());
            } else {
                self.copy.write_u64(field(self, "_deopt_handler_begin"), code + 0xf0);
            }
            let metadata = self.code_offset() + CODE_BYTES;
            let scopes = metadata + tables.metadata.len() as u64;
            let rows = scopes + tables.scopes.len() as u64;
            let end = rows + tables.rows.len() as u64;
            for (name, offset) in
                [("_metadata_offset", metadata), ("_scopes_pcs_offset", rows), ("_dependencies_offset", end)]
            {
                self.copy.write_u32(field(self, name), u32::try_from(offset).unwrap());
            }
            if self.release == 8 {
                self.copy.write_u32(field(self, "_scopes_data_offset"), u32::try_from(scopes).unwrap());
            } else {
                self.copy.write_u64(field(self, "_scopes_data_begin"), blob + scopes);
            }
            self.copy.write(blob + metadata, &[&tables.metadata[..], &tables.scopes, &tables.rows].concat());
        }
        blob
    }
}

/// The tables of compiled code as HotSpot writes them.
struct Tables {
    rows: Vec<u8>,
    scopes: Vec<u8>,
    metadata: Vec<u8>,
}

impl Tables {
    fn len(&self) -> u64 {
        (self.rows.len() + self.scopes.len() + self.metadata.len()) as u64
    }

    fn encode(rows: &[(i32, &[(u64, u32)])], excluded: u8) -> Self {
        // Offset 0 stands for no scope, so something must be there.
        let (mut scopes, mut metadata, mut out) = (vec![7], Vec::<u64>::new(), Vec::new());
        let mut row = |offset: i32, scope: u32| {
            for number in [offset.cast_unsigned(), scope, 0, 0] {
                out.extend(number.to_ne_bytes());
            }
        };
        row(-1, 0);
        for &(offset, chain) in rows {
            let mut caller = 0;
            for &(method, bci) in chain.iter().rev() {
                if !metadata.contains(&method) {
                    metadata.push(method);
                }
                let index = metadata.iter().position(|&known| known == method).unwrap() + 1;
                let here = u32::try_from(scopes.len()).unwrap();
                for number in [caller, u32::try_from(index).unwrap(), bci + 1] {
                    unsigned5::encode(number, excluded, &mut scopes);
                }
                caller = here;
            }
            row(offset, caller);
        }
        row(i32::MAX, 0);
        // Each table begins at a whole word, as it does in a JVM.
        scopes.resize(scopes.len().next_multiple_of(8), excluded);
        Self { rows: out, scopes, metadata: metadata.iter().flat_map(|method| method.to_ne_bytes()).collect() }
    }
}
