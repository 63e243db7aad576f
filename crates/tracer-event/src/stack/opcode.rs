//! The instructions from which another method can begin to run, as the class file has them (JVMS 6.5).

/// What an instruction of these is called; none for others.
pub const fn name(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        0x12 => "ldc",
        0x13 => "ldc_w",
        0x14 => "ldc2_w",
        0xb2 => "getstatic",
        0xb3 => "putstatic",
        0xb6 => "invokevirtual",
        0xb7 => "invokespecial",
        0xb8 => "invokestatic",
        0xb9 => "invokeinterface",
        0xba => "invokedynamic",
        0xbb => "new",
        _ => return None,
    })
}
