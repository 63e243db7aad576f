//! How a JVM's objects lie in memory: where the class is, and how it tells the size.
//!
//! HotSpot 11 to 25 on 64 bits. Since 24 headers may be compact (`UseCompactObjectHeaders`): then the class is in the upper
//! bits of the header word.

use tracer_common::tally::ObjectLayout;

use super::{flags::Flags, peek::Peek, vmstructs::VmStructs};

/// Bits of a compact header below the class (`markWord::klass_shift`).
const COMPACT_KLASS_BIT: u32 = 42;

/// First of the four bits in which generational ZGC's references say how they are to be shifted.
const COLOUR: u64 = 12;

/// Bits of a colour; no object lies below.
const COLOUR_BITS: u32 = 16;

/// The address in a reference of full width, 0 where it leads to none. User space ends below 47 bits; generational ZGC keeps the
/// address above its colour, and colours what leads to no object, too.
pub const fn address_in(reference: u64) -> u64 {
    if reference >> COLOUR_BITS == 0 {
        return 0;
    }
    let shift = (reference >> COLOUR & 0xf).trailing_zeros();
    if reference < 1 << 47 { reference } else { reference >> (if shift < 3 { shift } else { 3 } + 13) }
}

/// Compressed class pointers are shifted by no more: classes are aligned to 1024 bytes at most.
const MAX_KLASS_SHIFT: u32 = 10;

/// Reads the layout; the error names what is missing.
pub fn layout(memory: &dyn Peek, tables: &VmStructs, flags: &Flags) -> Result<ObjectLayout, &'static str> {
    let on = |flag| flags.bool(memory, flag) == Some(true);
    let narrow = |offset: Option<u64>, name| offset.and_then(|offset| u32::try_from(offset).ok()).ok_or(name);
    let compact = on("UseCompactObjectHeaders");
    // Always so since 25, where the flag is going away.
    let compressed = compact || flags.bool(memory, "UseCompressedClassPointers") != Some(false);
    let place = |names: [(&str, &str); 3]| names.iter().find_map(|(owner, name)| tables.static_address(owner, name));
    let base = place([
        ("CompressedKlassPointers", "_narrow_klass._base"),
        ("CompressedKlassPointers", "_base"),
        ("Universe", "_narrow_klass._base"),
    ]);
    let shift = place([
        ("CompressedKlassPointers", "_narrow_klass._shift"),
        ("CompressedKlassPointers", "_shift"),
        ("Universe", "_narrow_klass._shift"),
    ]);
    let (klass_base, klass_shift) = if compressed {
        let base = base.and_then(|at| memory.u64(at).ok()).ok_or("the base of compressed class pointers")?;
        let shift = shift
            .and_then(|at| memory.u32(at).ok())
            .filter(|shift| *shift <= MAX_KLASS_SHIFT)
            .ok_or("the shift of compressed class pointers")?;
        (base, shift)
    } else {
        (0, 0)
    };
    let klass_bytes = if compressed { 4 } else { 8 };
    let mirror = tables.static_address("java_lang_Class", "_oop_size_offset").and_then(|at| memory.u32(at).ok());
    Ok(ObjectLayout {
        klass_base,
        klass_shift,
        klass_low_bit: if compact { COMPACT_KLASS_BIT } else { 0 },
        klass_offset: if compact { 0 } else { 8 },
        klass_bytes: if compact { 4 } else { klass_bytes },
        layout_helper: narrow(tables.offset("Klass", "_layout_helper"), "Klass::_layout_helper")?,
        length: if compact { 8 } else { 8 + klass_bytes },
        alignment: u32::try_from(flags.u64(memory, "ObjectAlignmentInBytes").unwrap_or(8)).unwrap_or(8).clamp(8, 256),
        mirror_size: mirror.unwrap_or(0),
        mirror_klass: class_klass(memory, tables).unwrap_or(0),
    })
}

/// `Klass*` of `java.lang.Class`, whose instances differ in size.
fn class_klass(memory: &dyn Peek, tables: &VmStructs) -> Option<u64> {
    let well_known = ["vmClasses", "SystemDictionary"].into_iter().find_map(|owner| {
        tables
            .static_address(owner, "_klasses[static_cast<int>(vmClassID::Class_klass_knum)]")
            .or_else(|| tables.static_address(owner, "_well_known_klasses[SystemDictionary::Class_klass_knum]"))
    })?;
    memory.u64(well_known).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_addresses_with_and_without_a_colour() {
        assert_eq!(address_in(0x6_9dc4_b328), 0x6_9dc4_b328);
        // `remapped` in each of its four bits, over an address.
        for (bit, shift) in [(0, 13), (1, 14), (2, 15), (3, 16)] {
            let object = 0x4000_0123_4560_u64;
            assert_eq!(address_in(object << shift | 1 << (COLOUR + bit)), object, "{bit}");
        }
        assert_eq!((address_in(0), address_in(0x5510)), (0, 0), "no object, without and with a colour");
    }
}
