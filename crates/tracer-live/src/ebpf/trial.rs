//! Tries the programs on this kernel, with jtrace itself as the target: what `doctor` says is what attaching will meet. The
//! kernel is asked, and not its version.

use super::{
    Error, Refusal, bpf_object, calibrate,
    load::{Kernel, KernelOptions},
    memory::{MIN_RING_BYTES, RingSize},
    programs::ALL,
    verify::{Attaching, Code},
};
use tracer_common::names::PROGRAM_SITE;

/// What this kernel takes.
#[derive(Debug)]
pub struct Trial {
    /// What a hit of jtrace's own site cost, in ps; nothing where jtrace's code could not be found.
    pub hit_cost_ps: Option<u64>,
    /// Why sites are attached one by one; nothing where groups are.
    pub why_single: Option<String>,
    /// The programs that it does not take; the one that most lenses need is not among them.
    pub refused: Vec<Refusal>,
}

impl Trial {
    /// Loads every program once, and attaches that of most sites to jtrace itself.
    ///
    /// # Errors
    /// Where attaching to any JVM would fail, with the same error.
    pub fn run() -> Result<Self, Error> {
        let options = KernelOptions { ring: RingSize::Each(MIN_RING_BYTES), ..KernelOptions::default() };
        let (mut kernel, mut rings) = Kernel::load(options)?;
        let hit_cost_ps = calibrate::hit_cost_ps(&mut kernel, &mut rings)?;
        let why_single = kernel.programs().why_single().map(str::to_owned);
        let attaching = if why_single.is_none() { Attaching::Multi } else { Attaching::Singly };
        let (object, mut refused) = (bpf_object::bytes(), Vec::new());
        for program in ALL.into_iter().filter(|program| *program != PROGRAM_SITE) {
            let code = Code::of(&object, program, kernel.descriptors()).map_err(Error::Load)?;
            refused.extend(code.load(attaching).err());
        }
        Ok(Self { hit_cost_ps, why_single, refused })
    }
}
