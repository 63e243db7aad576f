//! Who calls a JNI function: the Java method below, as the thread's frame anchor says, else native code.
//!
//! A native method leaves an anchor before its code runs: the Java stack pointer, program counter and, in the interpreter, frame
//! pointer. The environment that native code passes to JNI lies in the same structure at a constant distance. A thread that
//! native code has attached has no Java frame below, and then what called is found on the native stack.
use aya_ebpf::programs::ProbeContext;
use tracer_common::jni::JniDemand;

use super::super::site::native_caller;
use crate::args::word_or_0;

/// Address that stands for the caller; 0 where nothing is known.
#[inline(always)]
pub(super) fn caller(ctx: &ProbeContext, demand: &JniDemand, env: u64) -> u64 {
    let java = if env != 0 && demand.known != 0 { java(demand, env) } else { 0 };
    if java != 0 { java } else { native_caller(ctx) }
}

#[inline(always)]
fn java(demand: &JniDemand, env: u64) -> u64 {
    let field = |distance: i32| word_or_0(env.wrapping_add(i64::from(distance) as u64));
    let sp = field(demand.last_sp);
    if sp == 0 {
        return 0;
    }
    let mut pc = field(demand.last_pc);
    if pc == 0 {
        // What is called last lies above the return address.
        pc = word_or_0(sp.wrapping_sub(8));
    }
    let [start, end] = demand.interpreter;
    if pc < start || pc >= end {
        return pc;
    }
    let fp = field(demand.last_fp);
    word_or_0(fp.wrapping_sub(u64::from(demand.method_below_fp)))
}
