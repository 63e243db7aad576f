//! Asks the predicate's graph in the kernel, on jtrace itself: for the test that kernel and user space say the same.
#![expect(unsafe_code, reason = "the traced function is written in assembly, so that its first instruction is known")]

use std::num::NonZeroU32;

use aya::{
    maps::{Array, MapData},
    programs::uprobe::{UProbeAttachLocation, UProbeScope},
};
use tracer_common::{
    filter::{Answer, Asked, Filter},
    names::{MAP_ANSWER, PROGRAM_JUDGEMENT},
};

use super::{
    Error,
    bpf_object::{chain, map_error},
    calibrate::own_place,
    load::{Kernel, KernelOptions, Links},
    memory::{MIN_RING_BYTES, RingSize},
    wire::AnswerValue,
};

std::arch::global_asm!(
    ".pushsection .text",
    ".globl jtrace_judgement_site",
    ".type jtrace_judgement_site, @function",
    "jtrace_judgement_site:",
    "nop",
    "ret",
    ".size jtrace_judgement_site, . - jtrace_judgement_site",
    ".popsection",
);

unsafe extern "C" {
    safe fn jtrace_judgement_site(asked: &Asked);
}

/// The graph in the kernel, evaluated by the code of the real programs.
pub struct Judge {
    kernel: Kernel,
    answer: Array<MapData, AnswerValue>,
    asked: u64,
}

impl Judge {
    /// Loads the program and attaches it to a function of this process. Needs root.
    pub fn new() -> Result<Self, Error> {
        let options =
            KernelOptions { ring: RingSize::Each(MIN_RING_BYTES), links: Links::Single, ..KernelOptions::default() };
        let (mut kernel, _rings) = Kernel::load(options)?;
        let answer = Array::try_from(kernel.take_map(MAP_ANSWER)?).map_err(|error| map_error(MAP_ANSWER, &error))?;
        let address = jtrace_judgement_site as *const () as usize as u64;
        let pid = NonZeroU32::new(std::process::id());
        let (Some((path, offset)), Some(pid)) = (own_place(address), pid) else {
            return Err(Error::Load("jtrace's own site is in no file".to_owned()));
        };
        let program = kernel.uprobe(PROGRAM_JUDGEMENT)?;
        program.load().map_err(|error| Error::Load(chain(&error)))?;
        let attached =
            program.attach(UProbeAttachLocation::AbsoluteOffset(offset), &path, UProbeScope::OneProcess(pid));
        let _: aya::programs::uprobe::UProbeLinkId = attached.map_err(|error| Error::Load(chain(&error)))?;
        Ok(Self { kernel, answer, asked: 0 })
    }

    /// The graph that is asked from now on.
    pub fn set_filter(&mut self, filter: Filter) -> Result<(), Error> {
        self.kernel.tallying().set_filter(filter)
    }

    /// What the graph says.
    pub fn ask(&mut self, asked: &Asked) -> Result<Answer, Error> {
        self.asked += 1;
        jtrace_judgement_site(asked);
        let AnswerValue(answer) = self.answer.get(&0, 0).map_err(|error| map_error(MAP_ANSWER, &error))?;
        if answer.number == self.asked {
            Ok(answer)
        } else {
            let reason = format!("{} answers to {} questions", answer.number, self.asked);
            Err(Error::Map { name: MAP_ANSWER.to_owned(), reason })
        }
    }
}
