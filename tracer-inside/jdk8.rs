//! Makes of a class that was compiled for JDK 11 one for JDK 8: a class file of an older version, in which some names are others.
//!
//! It is enough because the classes use nothing of the language that is newer, and of the library what JDK 8 has under another name,
//! or what they never come to there (`Continuation`), or what `JtraceJdk` does.

/// The version of a class file of JDK 8.
const VERSION: u16 = 52;
/// Kinds of constants, by their tags: text, and those that take two places.
const TEXT: u8 = 1;
const LONG: u8 = 5;
const DOUBLE: u8 = 6;

/// Names of JDK 11, and what they are in JDK 8.
const NAMES: [(&str, &str); 7] = [
    ("jdk/internal/misc/Unsafe", "sun/misc/Unsafe"),
    ("Ljdk/internal/vm/annotation/ForceInline;", "Ljava/lang/invoke/ForceInline;"),
    ("Ljdk/internal/vm/annotation/DontInline;", "Ljava/lang/invoke/DontInline;"),
    ("compareAndSetLong", "compareAndSwapLong"),
    ("getReference", "getObject"),
    ("putLongRelease", "putOrderedLong"),
    ("putIntRelease", "putOrderedInt"),
];

/// The class for JDK 8; `None` where it is none.
pub(crate) fn rename(class: &[u8]) -> Option<Vec<u8>> {
    let short = |at: usize| Some(u16::from_be_bytes(class.get(at..at + 2)?.try_into().ok()?));
    let mut renamed = class.get(..6)?.to_vec();
    renamed.extend(VERSION.to_be_bytes());
    let constants = short(8)?;
    renamed.extend(constants.to_be_bytes());
    let (mut at, mut number) = (10, 1);
    while number < constants {
        let tag = *class.get(at)?;
        let end = at + 1 + constant_bytes(tag, short(at + 1)?)?;
        if tag == TEXT {
            let mut text = str::from_utf8(class.get(at + 3..end)?).ok()?.to_owned();
            for (from, to) in NAMES {
                text = text.replace(from, to);
            }
            renamed.push(TEXT);
            renamed.extend(u16::try_from(text.len()).ok()?.to_be_bytes());
            renamed.extend(text.as_bytes());
        } else {
            renamed.extend(class.get(at..end)?);
        }
        at = end;
        number += if matches!(tag, LONG | DOUBLE) { 2 } else { 1 };
    }
    renamed.extend(class.get(at..)?);
    Some(renamed)
}

/// Bytes of a constant behind its tag; of a text, its length is passed.
fn constant_bytes(tag: u8, length: u16) -> Option<usize> {
    Some(match tag {
        TEXT => 2 + usize::from(length),
        7 | 8 | 16 => 2,
        15 => 3,
        3 | 4 | 9..=12 => 4,
        LONG | DOUBLE => 8,
        _ => return None,
    })
}
