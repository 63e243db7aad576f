//! Words of the command line for types of other modules, which know of no command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::{
    bench::program::Size, ebpf::load::Links, heap::answer::Group, jvm::arming::ArmMode, lens::Lens, setup::Lane,
};

/// A type whose values a user names by words.
pub(super) trait Worded: Copy + Send + Sync + 'static {
    /// Its values in the order of the help, each with its word and what the help says of it.
    const WORDS: &[(Self, &'static str, &'static str)];
}

/// Reads the words of a type, and offers them in the help and to shells.
pub(super) fn words<T: Worded>() -> impl TypedValueParser<Value = T> {
    let values = T::WORDS.iter().map(|(_, word, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).try_map(|given| {
        let found = T::WORDS.iter().find(|(_, word, _)| *word == given);
        found.map(|(value, ..)| *value).ok_or("there is no such word")
    })
}

/// The words for a type's variants.
macro_rules! words {
    ($name:ident: $($variant:ident => $word:literal, $help:literal;)+) => {
        impl Worded for $name {
            const WORDS: &[(Self, &'static str, &'static str)] = &[$((Self::$variant, $word, $help)),+];
        }
    };
}

impl Worded for Lens {
    const WORDS: &[(Self, &'static str, &'static str)] = &OF_LENSES;
}

const OF_LENSES: [(Lens, &str, &str); Lens::ALL.len()] = {
    let mut words = [(Lens::Gc, "", ""); Lens::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        let lens = Lens::ALL[at];
        words[at] = (lens, lens.id(), lens.about());
        at += 1;
    }
    words
};

words! { ArmMode:
    Off => "off", "Change nothing: only code that calls the stubs already is seen";
    Flag => "flag", "Set the flag: code that is compiled from then on calls, and up to JDK 23 the interpreter and native methods";
    Recompile => "recompile", "Have the JVM recompile the chosen classes (JDK 25), and set the flag only meanwhile";
    Auto => "auto", "Recompile where that is possible and classes are chosen, else set the flag";
}

words! { Lane:
    Auto => "auto", "Outside; where a part of the calls is not seen there, the first line names the command that sees it";
    Outside => "outside", "By traps of the kernel; nothing is loaded into the JVM";
    Inside => "inside", "By code that a library weaves into the methods, and takes out when jtrace ends";
}

words! { Links:
    Auto => "auto", "In groups where the kernel can, one by one otherwise";
    Multi => "multi", "In groups, by multi-uprobe links (Linux 6.6 and later)";
    Single => "single", "One by one, by perf events";
}

words! { Size:
    Small => "small", "An iteration of tenths of a second, to try things out";
    Default => "default", "An iteration of 2 to 20 seconds";
    Large => "large", "Four times that";
}

words! { Group:
    Class => "class", "Their class";
    Package => "package", "The package of their class";
    Loader => "loader", "The class of their class's loader";
    Holder => "holder", "The class of what holds them: an object of the program's own, where there is such";
    Root => "root", "The kind of root at the beginning of the shortest way";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lens_and_size_has_the_word_that_reports_have() {
        assert_eq!(Lens::WORDS.iter().map(|(lens, ..)| *lens).collect::<Vec<_>>(), Lens::ALL);
        for (lens, word, _) in Lens::WORDS {
            assert_eq!(*word, lens.id());
        }
        for (size, word, _) in Size::WORDS {
            assert_eq!(*word, size.word());
        }
    }
}
