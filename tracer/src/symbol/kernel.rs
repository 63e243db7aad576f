//! x
use crate::stack::{Frame, Kind};
use std::sync::Arc;
pub struct KernelSymbols;
impl KernelSymbols {
    pub fn new() -> Self {
        Self
    }
    pub fn frame(&mut self, pc: u64) -> Arc<Frame> {
        Arc::new(Frame::named(Kind::Kernel, format!("{pc:#x}")))
    }
}
