//! Parses SystemTap probe notes (`.note.stapsdt`).
