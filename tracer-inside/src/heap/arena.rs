//! Memory for a walk: taken from the kernel in large pieces, never from the C library, whose locks a thread that the copy does not have
//! may hold.
#![expect(unsafe_code, reason = "memory by address")]

use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The first piece; each further one is twice as large, up to [`MAX_PIECE`].
const FIRST_PIECE: usize = 1 << 20;
const MAX_PIECE: usize = 64 << 20;
/// What is at least so long gets a piece of its own, and can be given back.
const OWN_PIECE: usize = 256 << 10;
/// Most pieces.
const MAX_PIECES: usize = 4096;
/// Bytes before each block: its length.
const HEAD: usize = 16;
const PAGE: usize = 4096;

#[derive(Clone, Copy)]
struct Piece {
    start: usize,
    len: usize,
    /// Whether one block has it all.
    own: bool,
}

/// The memory.
pub(super) struct Arena {
    pieces: Box<[Piece]>,
    count: usize,
    next: usize,
    end: usize,
    piece: usize,
    taken: usize,
    limit: usize,
}

impl Arena {
    pub(super) fn new(limit: usize) -> Self {
        let none = Piece { start: 0, len: 0, own: false };
        Self { pieces: vec![none; MAX_PIECES].into(), count: 0, next: 0, end: 0, piece: FIRST_PIECE, taken: 0, limit }
    }

    /// Bytes that were taken from the kernel.
    pub(super) const fn taken(&self) -> usize {
        self.taken
    }

    fn map(&mut self, len: usize, own: bool) -> Option<usize> {
        let free = self.pieces.iter().take(self.count).position(|piece| piece.len == 0);
        let at = free.unwrap_or(self.count);
        if self.taken.checked_add(len)? > self.limit {
            return None;
        }
        let place = self.pieces.get_mut(at)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping of its own.
        let mapped = unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let start = mapped.ok()?.expose_provenance();
        *place = Piece { start, len, own };
        self.count = self.count.max(at + 1);
        self.taken += len;
        Some(start)
    }

    /// A block of zeros at an address that 16 divides.
    pub(super) fn take(&mut self, bytes: usize) -> Option<*mut u8> {
        let needed = bytes.checked_add(HEAD + 15)? & !15;
        let start = if needed >= OWN_PIECE {
            self.map(needed.checked_add(PAGE - 1)? & !(PAGE - 1), true)?
        } else {
            if self.end - self.next < needed {
                let len = self.piece;
                self.next = self.map(len, false)?;
                self.end = self.next + len;
                self.piece = (len * 2).min(MAX_PIECE);
            }
            let start = self.next;
            self.next += needed;
            start
        };
        // SAFETY: the block is new, and longer than its head.
        unsafe { ptr::with_exposed_provenance_mut::<usize>(start).write(bytes) };
        Some(ptr::with_exposed_provenance_mut(start + HEAD))
    }

    fn piece_of(&self, address: usize) -> Option<usize> {
        let within = |piece: &Piece| address >= piece.start && address - piece.start < piece.len;
        self.pieces.iter().take(self.count).position(within)
    }

    /// How long a block is that was taken here.
    pub(super) fn len_of(&self, block: *mut u8) -> Option<usize> {
        let address = block.expose_provenance();
        self.piece_of(address)?;
        // SAFETY: it lies in a piece, so it was taken there, behind its length.
        Some(unsafe { ptr::with_exposed_provenance::<usize>(address.wrapping_sub(HEAD)).read() })
    }

    /// Gives a block back where it has a piece of its own; else it stays until the end.
    pub(super) fn give_back(&mut self, block: *mut u8) {
        // Most of what is given back is short, and nothing needs to be looked up for it: only what has a piece begins there.
        let start = block.expose_provenance().wrapping_sub(HEAD);
        if !start.is_multiple_of(PAGE) {
            return;
        }
        let Some(at) = self.piece_of(start) else { return };
        let Some(piece) = self.pieces.get_mut(at).filter(|piece| piece.own && piece.start == start) else { return };
        let (start, len) = (piece.start, std::mem::take(&mut piece.len));
        self.taken -= len;
        // SAFETY: the piece is ours, and nobody uses it any more.
        let _ = unsafe { munmap(ptr::with_exposed_provenance_mut(start), len) };
    }

    /// Gives everything back.
    pub(super) fn end(&mut self) {
        for piece in self.pieces.iter_mut().take(self.count).filter(|piece| piece.len > 0) {
            // SAFETY: the piece is ours, and nobody uses it any more.
            let _ = unsafe { munmap(ptr::with_exposed_provenance_mut(piece.start), piece.len) };
            piece.len = 0;
        }
        (self.count, self.next, self.end, self.taken) = (0, 0, 0, 0);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.end();
    }
}
