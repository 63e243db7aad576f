//! What the kernel says its functions are called, against the list that it gives of all of them.

use std::{collections::HashMap, fs};

use anyhow::{Result, ensure};
use tracer_live::ebpf::kernel_names::KernelNames;

/// Functions that are asked for, evenly from the whole list.
const ASKED: usize = 2000;

/// Several names can lie at one address, of which the kernel chooses one; so each answer has to be one of them.
#[test]
fn every_function_has_a_name_that_the_kernels_list_has_at_its_address() -> Result<()> {
    let text = fs::read_to_string("/proc/kallsyms")?;
    let mut listed: HashMap<u64, Vec<String>> = HashMap::new();
    let mut functions = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
        let address = u64::from_str_radix(address, 16)?;
        let module = words.next().map(|module| format!(" {module}")).unwrap_or_default();
        listed.entry(address).or_default().push(format!("{name}{module}"));
        // Programs of eBPF come and go meanwhile, and have a name without a module.
        if matches!(kind, "T" | "t") && module != " [bpf]" && !name.starts_with("bpf_prog_") {
            functions.push(address);
        }
    }
    ensure!(functions.len() > ASKED, "the kernel lists {} functions", functions.len());
    let names = KernelNames::load()?;
    for address in functions.iter().step_by(functions.len() / ASKED) {
        let name = names.of(*address)?;
        let known = name.as_ref().is_some_and(|name| listed[address].contains(name));
        ensure!(known, "{address:x} is {name:?}, and in the list {:?}", listed[address]);
    }
    let schedule =
        *functions.iter().find(|address| listed[*address].iter().any(|name| name == "schedule")).unwrap_or(&0);
    ensure!(names.of(schedule + 1)?.as_deref() == Some("schedule"), "an address within `schedule` has another name");
    for none in [0, 1, 4096, u64::MAX] {
        ensure!(names.of(none)?.is_none(), "{none:x} has a name");
    }
    Ok(())
}
