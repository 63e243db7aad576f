//! Loads one program through the raw system call, which tells what aya keeps to itself: the verifier's own words, in one
//! line where it refuses, and how deep the stack of each function is.
//!
//! It attaches nothing: that is `multi`'s and aya's part.
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{
    collections::{BTreeMap, HashMap},
    ffi::CString,
    io, mem,
    os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
};

use aya::programs::ProgramError;
use aya_obj::{
    Object, ProgramSection,
    generated::{__BindgenBitfieldUnit, bpf_attach_type, bpf_attr, bpf_cmd, bpf_insn, bpf_prog_type},
};

use super::{
    private_stack,
    stack_depth::{self, Chain},
};

/// Bytes of the verifier's log that are kept.
const LOG_BYTES: usize = 64 << 10;
/// Characters of its reason that are passed on.
const MAX_REASON_CHARS: usize = 200;
/// The level of the log that has reasons and figures, and not every instruction on every path: writing those takes longer
/// than verifying.
const LOG_FIGURES: u32 = 4;

/// A program that this kernel does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Linux {kernel} refuses the eBPF program `{program}`: {reason}")]
pub struct Refusal {
    /// Name of the program.
    pub program: String,
    /// The verifier's reason, or the error of the system call.
    pub reason: String,
    /// Release of the kernel.
    pub kernel: String,
}

impl Refusal {
    /// By what the verifier's log says, else by the error.
    pub(super) fn new(program: &str, log: &str, error: &dyn std::fmt::Display) -> Self {
        Self {
            program: program.to_owned(),
            reason: reason(log).unwrap_or_else(|| error.to_string()),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        }
    }

    /// By what aya says, which has the log in it.
    pub(super) fn of(program: &str, error: &ProgramError) -> Self {
        match error {
            ProgramError::LoadError { io_error, verifier_log } => {
                Self::new(program, &verifier_log.to_string(), io_error)
            }
            error => Self::new(program, "", error),
        }
    }
}

/// A program that is ready for the kernel.
pub(super) struct Code {
    name: String,
    kind: bpf_prog_type,
    instructions: Vec<bpf_insn>,
    /// Where each function begins and which type it has: a function that is handed to a helper must have one.
    functions: Vec<u8>,
    function_bytes: usize,
    types: Option<OwnedFd>,
    license: CString,
}

/// How a program of uprobes will be attached, which the kernel wants to know when it is loaded. Of others it does not matter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attaching {
    /// Site by site, or to something else.
    Singly,
    /// By multi-uprobe links.
    Multi,
}

/// What the verifier says of a program that it has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// Instructions that it walked through, over all paths.
    pub(super) verified: u32,
    /// Bytes of stack of each function, in the order in which they lie in the program.
    pub(super) stack: Vec<u32>,
}

impl Code {
    /// Relocates a program of the object against the maps that exist already.
    pub(super) fn of(object: &[u8], program: &str, maps: &HashMap<String, RawFd>) -> Result<Self, String> {
        let mut object = Object::parse(object).map_err(|error| error.to_string())?;
        let types = load_types(&mut object)?;
        let definitions = mem::take(&mut object.maps);
        let text_sections = object.functions.keys().map(|(section, _)| *section).collect();
        let relocated = definitions.iter().filter_map(|(name, map)| Some((name.as_str(), *maps.get(name)?, map)));
        object.relocate_maps(relocated, &text_sections).map_err(|error| error.to_string())?;
        object.relocate_calls(&text_sections).map_err(|error| error.to_string())?;
        object.sanitize_functions(aya::features());
        let definition = object.programs.get(program).ok_or("the object has no such program")?;
        let function = object.functions.get(&definition.function_key()).ok_or("the program has no code")?;
        Ok(Self {
            name: program.to_owned(),
            kind: match definition.section {
                ProgramSection::PerfEvent => bpf_prog_type::BPF_PROG_TYPE_PERF_EVENT,
                ProgramSection::RawTracePoint => bpf_prog_type::BPF_PROG_TYPE_RAW_TRACEPOINT,
                _ => bpf_prog_type::BPF_PROG_TYPE_KPROBE,
            },
            instructions: function.instructions.clone(),
            functions: function.func_info.func_info_bytes(),
            function_bytes: function.func_info_rec_size,
            types,
            license: definition.license.clone(),
        })
    }

    /// A program that returns at once.
    pub(super) fn nothing() -> Self {
        Self::plain("nothing", bpf_prog_type::BPF_PROG_TYPE_KPROBE, &RETURN)
    }

    /// A program that writes to as many bytes of stack, a multiple of 8, and returns.
    pub(super) fn with_stack(bytes: i16) -> Self {
        // *(u64 *)(r10 - bytes) = 0
        let store = instruction(0x7a, 10, -bytes);
        let instructions = [[store].as_slice(), &RETURN].concat();
        Self::plain("with_stack", bpf_prog_type::BPF_PROG_TYPE_KPROBE, &instructions)
    }

    /// A program that is attached to nothing and runs when it is told to.
    pub(super) fn raw_tracepoint(name: &str, instructions: &[bpf_insn]) -> Self {
        Self::plain(name, bpf_prog_type::BPF_PROG_TYPE_RAW_TRACEPOINT, instructions)
    }

    fn plain(name: &str, kind: bpf_prog_type, instructions: &[bpf_insn]) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            instructions: instructions.to_vec(),
            functions: Vec::new(),
            function_bytes: 0,
            types: None,
            license: CString::from(c"GPL"),
        }
    }

    /// Loads it. Where the kernel refuses, it is asked once more, for the verifier's reason. A program that is not safe on
    /// this kernel is refused here.
    pub(super) fn load(&self, attaching: Attaching) -> Result<OwnedFd, Refusal> {
        let program = self.load_as_it_is(attaching)?;
        self.check(&program)?;
        Ok(program)
    }

    /// Refuses a program of uprobes that is not safe on this kernel.
    pub(super) fn check(&self, loaded: &OwnedFd) -> Result<(), Refusal> {
        match self.kind {
            bpf_prog_type::BPF_PROG_TYPE_KPROBE => private_stack::refuse(&self.name, loaded.as_fd()),
            _ => Ok(()),
        }
    }

    /// Loads it, safe or not.
    pub(super) fn load_as_it_is(&self, attaching: Attaching) -> Result<OwnedFd, Refusal> {
        self.ask(attaching, None).or_else(|_| self.figures(attaching).map(|(program, _)| program))
    }

    /// Loads it with what the verifier makes of it, where that can be read.
    pub(super) fn figures(&self, attaching: Attaching) -> Result<(OwnedFd, Option<Figures>), Refusal> {
        let mut log = vec![0; LOG_BYTES];
        let loaded = self.ask(attaching, Some((LOG_FIGURES, &mut log)));
        let text = text_of(&log);
        log::debug!("verifier on `{}`: {text}", self.name);
        let program = loaded.map_err(|error| Refusal::new(&self.name, &text, &error))?;
        Ok((program, figures(&text)))
    }

    /// The call chain that takes most stack, as kernels count that give all frames of a chain one stack.
    pub(super) fn deepest_chain(&self, stack: &[u32]) -> Option<Chain> {
        stack_depth::deepest(&self.calls(), self.instructions.len(), stack)
    }

    /// From where to where functions are called, or handed to a helper that calls them.
    fn calls(&self) -> BTreeMap<usize, usize> {
        /// A call of a function of the program's own, and the address of one; with the source registers that say so.
        const CALL: (u8, u8) = (0x85, 1);
        const ADDRESS: (u8, u8) = (0x18, 4);
        let called = |(at, instruction): (usize, &bpf_insn)| {
            let is_call = [CALL, ADDRESS].contains(&(instruction.code, instruction.src_reg()));
            Some((at, at.checked_add_signed(isize::try_from(instruction.imm).ok()? + 1)?)).filter(|_| is_call)
        };
        self.instructions.iter().enumerate().filter_map(called).collect()
    }

    fn ask(&self, attaching: Attaching, log: Option<(u32, &mut [u8])>) -> io::Result<OwnedFd> {
        let Self { name, kind, instructions, functions, function_bytes, types, license } = self;
        // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
        let mut attr: bpf_attr = unsafe { mem::zeroed() };
        // SAFETY: any bytes are valid for this field of the union.
        let load = unsafe { &mut attr.__bindgen_anon_3 };
        load.prog_type = *kind as u32;
        if attaching == Attaching::Multi && *kind == bpf_prog_type::BPF_PROG_TYPE_KPROBE {
            load.expected_attach_type = bpf_attach_type::BPF_TRACE_UPROBE_MULTI as u32;
        }
        load.insns = instructions.as_ptr() as u64;
        load.insn_cnt = u32::try_from(instructions.len()).unwrap_or(u32::MAX);
        load.license = license.as_ptr() as u64;
        if let Some(types) = types
            && *function_bytes > 0
        {
            load.prog_btf_fd = types.as_raw_fd().cast_unsigned();
            load.func_info = functions.as_ptr() as u64;
            load.func_info_cnt = u32::try_from(functions.len() / function_bytes).unwrap_or(u32::MAX);
            load.func_info_rec_size = u32::try_from(*function_bytes).unwrap_or(u32::MAX);
        }
        for (to, from) in load.prog_name.iter_mut().zip(name.bytes().take(15)) {
            *to = from.cast_signed();
        }
        if let Some((level, log)) = log {
            load.log_level = level;
            load.log_size = u32::try_from(log.len()).unwrap_or(u32::MAX);
            load.log_buf = log.as_mut_ptr() as u64;
        }
        bpf(bpf_cmd::BPF_PROG_LOAD, &mut attr)
    }
}

/// r0 = 0; exit
const RETURN: [bpf_insn; 2] = [instruction(0xb7, 0, 0), instruction(0x95, 0, 0)];

/// An instruction whose constant is 0.
const fn instruction(code: u8, register: u8, off: i16) -> bpf_insn {
    bpf_insn {
        code,
        _bitfield_align_1: [],
        // The lower half is the register that is written to.
        _bitfield_1: __BindgenBitfieldUnit::new([register]),
        off,
        imm: 0,
    }
}

/// Gives the kernel the object's type information, where both have it.
fn load_types(object: &mut Object) -> Result<Option<OwnedFd>, String> {
    let Some(features) = aya::features().btf() else { return Ok(None) };
    let Some(types) = object.fixup_and_sanitize_btf(features).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let bytes = types.to_bytes();
    // SAFETY: as in `ask`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: as in `ask`.
    let load = unsafe { &mut attr.__bindgen_anon_7 };
    load.btf = bytes.as_ptr() as u64;
    load.btf_size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bpf(bpf_cmd::BPF_BTF_LOAD, &mut attr).map(Some).map_err(|error| format!("type information: {error}"))
}

/// The system call, for commands that return a new descriptor.
pub(super) fn bpf(command: bpf_cmd, attr: &mut bpf_attr) -> io::Result<OwnedFd> {
    let descriptor = call(command, attr)?;
    // SAFETY: callers pass commands that return a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The system call, for commands that return a new descriptor or 0.
pub(super) fn call(command: bpf_cmd, attr: &mut bpf_attr) -> io::Result<RawFd> {
    // SAFETY: `attr` and everything that it points to outlive the call, and its size is given.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command as libc::c_long, std::ptr::from_mut(attr), size_of::<bpf_attr>())
    };
    let result = RawFd::try_from(result).unwrap_or(-1);
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn text_of(log: &[u8]) -> String {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).into_owned()
}

/// The last line of the verifier's log that is neither an instruction, nor a state of registers, nor a figure.
fn reason(log: &str) -> Option<String> {
    let line = log.lines().rev().map(str::trim).find(|line| !line.is_empty() && !is_aside(line))?;
    Some(line.chars().take(MAX_REASON_CHARS).collect())
}

fn is_aside(line: &str) -> bool {
    const ASIDES: [&str; 11] = [
        "processed ",
        "verification time",
        "stack depth",
        "from ",
        ";",
        "last_idx",
        "regs=",
        "parent ",
        "mark_precise",
        "func#",
        "caller:",
    ];
    let word = line.split(' ').next().unwrap_or_default();
    let is_instruction = word.strip_suffix(':').is_some_and(|number| number.parse::<u32>().is_ok());
    // `R2=inv(id=0)`, unlike `R2 min value is negative`.
    let is_state = word.starts_with('R') && word.contains('=') || word.starts_with("frame");
    is_instruction || is_state || ASIDES.iter().any(|aside| line.starts_with(aside))
}

/// Reads `stack depth 376+136+0` and `processed 56583 insns (limit ..`.
fn figures(log: &str) -> Option<Figures> {
    let after = |word: &str| log.lines().find_map(|line| line.trim().strip_prefix(word));
    let verified = after("processed ")?.split(' ').next()?.parse().ok()?;
    // Newer kernels say more behind the depths.
    let depths = after("stack depth ")?.split(' ').next()?;
    let stack = depths.split('+').map(str::parse).collect::<Result<Vec<u32>, _>>().ok()?;
    Some(Figures { verified, stack })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_last_line_that_is_no_instruction() {
        let old = "105: (85) call bpf_probe_read_user#112\nR2 min value is negative, either use unsigned or 'var &= const'\n\
                   processed 1217 insns (limit 1000000) max_states_per_insn 1\n";
        assert_eq!(reason(old).unwrap(), "R2 min value is negative, either use unsigned or 'var &= const'");
        let deep = "0: (bf) r6 = r1\nR1=ctx(off=0,imm=0) R10=fp0\ncombined stack size of 2 calls is 528. Too large\n\
                    verification time 63 usec\nstack depth 376+136\nprocessed 56583 insns (limit 1000000)\n";
        assert_eq!(reason(deep).unwrap(), "combined stack size of 2 calls is 528. Too large");
        assert_eq!(reason("0: (bf) r6 = r1\nprocessed 1 insns\n"), None);
        assert_eq!(reason(&"x".repeat(1000)).unwrap().len(), MAX_REASON_CHARS);
    }

    #[test]
    fn figures_are_read_from_the_end_of_the_log() {
        let log = "verification time 63 usec\nstack depth 376+136+0\nprocessed 56583 insns (limit 1000000) max\n";
        assert_eq!(figures(log).unwrap(), Figures { verified: 56_583, stack: vec![376, 136, 0] });
        assert_eq!(figures("processed 1 insns"), None);
        assert_eq!(figures("stack depth a+b\nprocessed 1 insns"), None);
    }
}
