//! x
use crate::{
    jvm::memory::Memory,
    stack::{Frame, Kind},
};
use std::sync::Arc;
pub struct NativeSymbols;
impl NativeSymbols {
    pub fn new(_: &Memory) -> Self {
        Self
    }
    pub fn refresh(&mut self) {}
    pub fn frame(&mut self, pc: u64, _r: bool) -> Arc<Frame> {
        Arc::new(Frame::named(Kind::Native, format!("{pc:#x}")))
    }
}
