//! The library's bytes, and the probe sites in it.

use std::sync::LazyLock;

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

/// Unpacked once: while a JVM loads it, its variables are asked for again and again.
static BYTES: LazyLock<Vec<u8>> =
    LazyLock::new(|| unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/libtracer_inside.so.deflate"))));

/// The library, as `build.rs` has built it.
pub fn bytes() -> &'static [u8] {
    &BYTES
}

/// The sites in it that a session attaches for some lenses; an error says what the library lacks.
pub fn sites(lenses: &[Lens]) -> Result<Vec<PlannedSite>, String> {
    let elf = Elf::parse(bytes()).map_err(|error| error.to_string())?;
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
    let elf = Elf::parse(bytes()).map_err(|error| error.to_string())?;
    let symbol = elf.find_symbols(&[name]).into_values().next();
    symbol.map(|symbol| symbol.address).ok_or_else(|| format!("it has no `{name}`"))
}

#[cfg(test)]
mod tests {
    use object::{
        LittleEndian,
        elf::{DT_NEEDED, FileHeader64, SHT_DYNSYM, SHT_GNU_VERNEED, STB_WEAK},
        read::elf::{Dyn as _, FileHeader as _, SectionHeader as _, Sym as _},
    };

    use super::*;

    /// What std asks a C library for. All of it is in glibc 2.17 and in musl 1.2.3 and 1.2.6, by their own tables of symbols; `lseek64`,
    /// `mmap64` and `open64` musl has for libraries that were linked against glibc:
    /// <https://git.musl-libc.org/cgit/musl/commit/?id=246f1c811448f37a44b41cd8df8d0ef9736d95f4>.
    const ASKED_FOR: &str = "\
        __errno_location __tls_get_addr __xpg_strerror_r _exit abort bcmp calloc clock_gettime clock_nanosleep close \
        dl_iterate_phdr dlsym fcntl free getauxval getcwd getenv getpid getppid lseek64 malloc malloc_usable_size memcpy \
        memmove memset mmap64 mprotect munmap open open64 pause poll posix_memalign prctl pthread_attr_destroy \
        pthread_attr_getguardsize pthread_attr_getstack pthread_attr_init pthread_attr_setstacksize pthread_create \
        pthread_detach pthread_getattr_np pthread_key_create pthread_key_delete pthread_mutex_trylock pthread_self \
        pthread_setname_np pthread_setspecific read readlink realloc realpath recv send setpriority setrlimit setsockopt \
        sigaltstack strlen syscall sysconf unlink waitpid write writev";

    /// A JVM in a container has the container's C library, which may be old, or musl.
    #[test]
    fn it_loads_beside_any_libc() {
        let (bytes, endian) = (bytes(), LittleEndian);
        let header = FileHeader64::<LittleEndian>::parse(bytes).expect("an ELF file");
        let sections = header.sections(endian, bytes).expect("sections");
        let (entries, _) = sections.dynamic(endian, bytes).expect("readable").expect("a dynamic section");
        assert!(entries.iter().all(|entry| entry.d_tag(endian) != DT_NEEDED), "it names a library");
        assert!(sections.iter().all(|section| section.sh_type(endian) != SHT_GNU_VERNEED), "it names versions");
        let symbols = sections.symbols(endian, bytes, SHT_DYNSYM).expect("symbols");
        let asked_for = symbols.iter().filter(|symbol| symbol.is_undefined(endian) && symbol.st_bind() != STB_WEAK);
        let names =
            asked_for.map(|symbol| String::from_utf8_lossy(symbol.name(endian, symbols.strings()).expect("a name")));
        let others: Vec<_> =
            names.filter(|name| !name.is_empty() && !ASKED_FOR.split_whitespace().any(|known| known == name)).collect();
        assert!(others.is_empty(), "not every C library has {others:?}");
    }

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
