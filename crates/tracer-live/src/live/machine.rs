//! Names of machine code: of the target's files, and of the kernel.

use std::{
    collections::HashMap,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crate::{
    ebpf::kernel_names::KernelNames,
    jvm::memory::Memory,
    privilege,
    stack::{Frame, Kind},
    symbol::{
        kernel::{KernelSymbols, NO_SYMBOL, NOT_READ, frame_of},
        native::NativeSymbols,
    },
};

/// Most frames of the kernel that are kept; a session sees a few hundred.
const MAX_KEPT: usize = 1 << 14;

/// Symbols of files and of the kernel. They are read beside all that attaching does: whoever read them at the first stack would
/// name the next ones so late that their code may have gone.
pub(super) struct Machine {
    symbols: Symbols,
    kernel: Option<Asked>,
    begun: bool,
    reader: Option<JoinHandle<Symbols>>,
}

#[derive(Default)]
struct Symbols {
    native: NativeSymbols,
    /// Where the kernel does not name its functions one by one.
    kernel: KernelSymbols,
}

/// What the kernel was asked, and has said.
struct Asked {
    names: KernelNames,
    frames: HashMap<u64, Arc<Frame>>,
}

impl Machine {
    pub(super) fn new(memory: &Memory) -> Self {
        let symbols = Symbols { native: NativeSymbols::new(memory), kernel: KernelSymbols::new() };
        Self { symbols, kernel: None, begun: false, reader: None }
    }

    /// Reads them on a thread of its own, unless that was asked for before.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let names = KernelNames::load().inspect_err(|error| log::info!("all names of the kernel are read: {error}"));
        self.kernel = names.ok().map(|names| Asked { names, frames: HashMap::new() });
        let is_listed = self.kernel.is_none();
        let mut symbols = std::mem::take(&mut self.symbols);
        let reader = thread::Builder::new().spawn(move || {
            if let Err(error) = privilege::keep_only(privilege::SESSION) {
                log::warn!("a thread of jtrace keeps all its capabilities: {error}");
            }
            symbols.native.load_all();
            if is_listed {
                symbols.kernel.load();
            }
            symbols
        });
        // Without room for a thread names stay unknown.
        self.reader = reader.inspect_err(|error| log::warn!("native code has no names: {error}")).ok();
    }

    /// Waits until they are read.
    pub(super) fn wait(&mut self) {
        let _: &mut Symbols = self.ready();
    }

    /// Symbols of the target's files.
    pub(super) fn native(&mut self) -> &mut NativeSymbols {
        &mut self.ready().native
    }

    /// The frame of an address of the kernel.
    pub(super) fn kernel(&mut self, pc: u64) -> Arc<Frame> {
        self.begin();
        match &mut self.kernel {
            Some(asked) => asked.frame(pc),
            None => self.ready().kernel.frame(pc),
        }
    }

    fn ready(&mut self) -> &mut Symbols {
        self.begin();
        if let Some(reader) = self.reader.take() {
            // A reader that panicked said so; its names stay unknown.
            self.symbols = reader.join().unwrap_or_default();
        }
        &mut self.symbols
    }
}

impl Asked {
    fn frame(&mut self, pc: u64) -> Arc<Frame> {
        if let Some(frame) = self.frames.get(&pc) {
            return Arc::clone(frame);
        }
        let frame = Arc::new(match self.names.of(pc) {
            Ok(Some(name)) => frame_of(&name),
            Ok(None) => Frame::named(Kind::Kernel, NO_SYMBOL),
            Err(_) => Frame::named(Kind::Kernel, NOT_READ),
        });
        if self.frames.len() >= MAX_KEPT {
            self.frames.clear();
        }
        self.frames.insert(pc, Arc::clone(&frame));
        frame
    }
}
