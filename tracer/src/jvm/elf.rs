//! Reads what jtrace needs from an ELF file: notes, symbols, load segments.
