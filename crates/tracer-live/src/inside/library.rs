//! The library's bytes, and the probe sites in it.

use tracer_common::site::SiteSpec;

use crate::{
    group::INSIDE_GROUP,
    jvm::elf::Elf,
    lens::Lens,
    packed::unpacked,
    probe::{
        catalog::{Origin, PROBES, Probe, Rest},
        plan::{PlannedSite, inside_spec},
    },
};

/// The library, as `build.rs` has built it.
pub fn bytes() -> Vec<u8> {
    unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/libtracer_inside.so.deflate")))
}

/// The sites in it that a session attaches for some lenses; an error says what the library lacks.
pub fn sites(lenses: &[Lens]) -> Result<Vec<PlannedSite>, String> {
    let bytes = bytes();
    let elf = Elf::parse(&bytes).map_err(|error| error.to_string())?;
    let wanted = PROBES.iter().filter(|probe| probe.lenses.iter().any(|lens| lenses.contains(lens)));
    wanted
        .filter_map(|probe| match probe.origin {
            Origin::Inside(function) => Some((probe, function)),
            _ => None,
        })
        .map(|(probe, function)| {
            let found = elf.find_symbols(function.symbols);
            let symbol = found.into_values().next().ok_or_else(|| format!("it has no `{}`", function.name))?;
            let file_offset =
                elf.code_offset(symbol.address).ok_or_else(|| format!("`{}` lies in no code", function.name))?;
            Ok(site(probe, symbol.address, file_offset, lenses, &inside_spec(probe.kind, &function)?))
        })
        .collect()
}

fn site(probe: &Probe, address: u64, file_offset: u64, lenses: &[Lens], spec: &SiteSpec) -> PlannedSite {
    let lens = probe.lenses.iter().copied().find(|lens| lenses.contains(lens)).unwrap_or(Lens::Markers);
    PlannedSite {
        probe: probe.name(),
        lens,
        kind: probe.kind,
        group: INSIDE_GROUP,
        flag: None,
        file_offset,
        address,
        spec: *spec,
        rest: Rest::Nothing,
    }
}

/// Address of a variable of the library, from where it is mapped.
pub fn variable(name: &str) -> Result<u64, String> {
    let bytes = bytes();
    let elf = Elf::parse(&bytes).map_err(|error| error.to_string())?;
    let symbol = elf.find_symbols(&[name]).into_values().next();
    symbol.map(|symbol| symbol.address).ok_or_else(|| format!("it has no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_sites_begin_with_the_nop_that_the_kernel_makes_cheap() {
        let sites = sites(&[Lens::Markers, Lens::Typestate]).expect("both are there");
        assert_eq!(sites.len(), 2);
        for site in sites {
            let at = usize::try_from(site.file_offset).expect("it is in the file");
            assert_eq!(bytes()[at..at + 5], [0x0f, 0x1f, 0x44, 0, 0], "{}", site.probe);
        }
    }
}
