//! Attaches a program that returns at once where methods begin, says so, and stays until its standard input ends.

use std::{io::Read as _, num::NonZeroU32, path::Path};

use anyhow::{Context as _, Result};
use tracer_common::record::EventKind;
use tracer_event::lens::Lens;
use tracer_jvm::jvm::elf::{self, Elf};
use tracer_live::{
    ebpf::{attach::Place, floor::Floor},
    probe::plan::{Facts, Libjvm, plan},
};

/// Attaches, and waits.
pub(crate) fn run(libjvm: &Path, pid: NonZeroU32) -> Result<()> {
    let sites = Libjvm::read(&Elf::parse(&elf::read_tables(libjvm)?)?);
    let plan = plan(&sites, &[Lens::Methods], Facts::default(), false);
    let entry = plan.sites.iter().find(|site| site.kind == EventKind::MethodEntry);
    let offset = entry.context("this libjvm.so has no site where methods begin")?.file_offset;
    let floor = Floor::attach(offset, &Place { path: libjvm.to_path_buf(), pid })?;
    println!("attached");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(floor);
    Ok(())
}
