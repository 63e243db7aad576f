//! What the library knows of a thread's buffer; the words and counters themselves are memory that Java code writes.
//!
//! A thread has its buffer until it ends, through all visits of a jtrace. What is counted for one visit begins anew with each: its jtrace
//! has heard nothing of the others.

use std::{collections::HashMap, ptr};

use tracer_common::marks::hand;

use super::{HEADER_BYTES, contexts::Contexts};
use crate::site::jtrace_marks_flushed;

/// A thread's buffer.
pub(super) struct Buffer {
    /// Number, never used again.
    pub(super) number: u32,
    /// `Thread.getId()` of its thread.
    pub(super) tid: i64,
    pub(super) base: usize,
    pub(super) counts: usize,
    /// Where what was not handed over yet begins.
    pub(super) from: usize,
    /// Words that were handed over in this visit.
    pub(super) handed: u64,
    /// Whether this visit's jtrace knows whose it is.
    pub(super) is_introduced: bool,
    /// Whether virtual threads have written here.
    pub(super) carries: bool,
    /// What was told of the counters, by their index.
    pub(super) told: HashMap<usize, u64>,
    /// The tree of its thread's calling contexts, where one was asked for.
    pub(super) contexts: Option<Contexts>,
}

impl Buffer {
    /// An empty buffer at `base`, with counters at `counts`.
    pub(super) fn new(number: u32, tid: i64, base: usize, counts: usize) -> Self {
        let from = base + HEADER_BYTES;
        let (handed, is_introduced, carries) = (0, false, false);
        Self { number, tid, base, counts, from, handed, is_introduced, carries, told: HashMap::new(), contexts: None }
    }

    /// Its number, and who hands it over.
    pub(super) fn by(&self, is_owner: bool) -> u64 {
        let by = if is_owner { hand::OWNER } else { 0 } | if self.carries { hand::CARRIER } else { 0 };
        u64::from(self.number) | u64::from(by) << 32
    }

    /// Lets the kernel see whose it is, once in a visit; its thread calls this. Without it nothing names the thread until it has filled
    /// the buffer, because others hand over what idle threads leave.
    pub(super) fn introduce(&mut self) {
        if !self.is_introduced {
            self.is_introduced = true;
            jtrace_marks_flushed(ptr::null(), 0, self.by(true), self.handed);
        }
    }

    /// Tells how much has come out of it, so that a loss at its end is not unseen.
    pub(super) fn close(&self) {
        jtrace_marks_flushed(ptr::null(), 0, self.by(false), self.handed);
    }
}
