//! A profile as an SVG flame graph, drawn by inferno: it can be embedded in documents and opens in any browser.

use std::io;

use inferno::{
    differential,
    flamegraph::{
        self, Options,
        color::{MultiPalette, Palette},
    },
};

use super::{escape, folded, symbol::Lines};
use crate::{
    report::{Profile, Unit},
    stack::Kind,
    text::format::whole,
};

/// Writes the picture. A profile without any amount has none.
pub fn write(profile: &Profile, lines: Lines, out: &mut dyn io::Write) -> io::Result<()> {
    if profile.total() == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the profile is empty: there is nothing to draw"));
    }
    let mut stacks = Vec::new();
    folded::write_with(profile, lines, annotation, &mut stacks)?;
    let mut options = Options::default();
    options.title = escape::terminal(&profile.title).into_owned();
    match profile.unit {
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
        Unit::Text | Unit::Count | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond | Unit::Address => "",
    }
    .clone_into(&mut options.count_name);
    // The same report gives the same file.
    options.deterministic = true;
    // Its colours go by these annotations, which it takes off the names.
    options.colors = Palette::Multi(MultiPalette::Java);
    flamegraph::from_reader(&mut options, stacks.as_slice(), out).map_err(io::Error::other)
}

/// Writes a picture of the second profile, in red where a stack has more than in the first one, in blue where it has less.
/// `factor` makes the amounts of the first comparable, as sessions differ in length.
pub fn write_difference(profiles: [&Profile; 2], factor: f64, lines: Lines, out: &mut dyn io::Write) -> io::Result<()> {
    let [before, after] = profiles;
    if after.total() == 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the second profile is empty: there is nothing to draw",
        ));
    }
    let mut scaled = before.clone();
    for stack in &mut scaled.stacks {
        stack.value = whole(stack.value as f64 * factor);
    }
    let mut folded = [Vec::new(), Vec::new()];
    for (profile, into) in [&scaled, after].into_iter().zip(&mut folded) {
        folded::write(profile, lines, into)?;
    }
    let mut both = Vec::new();
    // Addresses differ between JVMs.
    let options = differential::Options { normalize: false, strip_hex: true };
    differential::from_readers(options, folded[0].as_slice(), folded[1].as_slice(), &mut both)?;
    let mut options = Options::default();
    options.title = escape::terminal(&after.title).into_owned() + ": red has more than before, blue less";
    options.deterministic = true;
    flamegraph::from_reader(&mut options, both.as_slice(), out).map_err(io::Error::other)
}

/// How inferno is told what a frame is.
const fn annotation(kind: Kind) -> &'static str {
    match kind {
        Kind::Interpreted | Kind::Compiled => "_[j]",
        Kind::Inlined => "_[i]",
        Kind::Kernel => "_[k]",
        Kind::Native | Kind::Stub | Kind::Unknown => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn written(profile: &Profile) -> String {
        let mut out = Vec::new();
        write(profile, Lines::Shown, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn picture_has_every_frame_and_no_markup_of_the_target() {
        let picture = written(&sample::profile());
        for name in ["com.shop.Cart.price:42", "futex_wait", "&lt;cut: 1,024 frames&gt;", "&lt;class unloaded&gt;"] {
            assert!(picture.contains(name), "{name}");
        }
        assert!(!picture.contains("<script>alert"));
        assert!(!picture.contains("_[j]"));
        assert!(picture.lines().all(|line| !line.contains(['\x1b', '\u{202e}', '\u{9b}'])));
    }

    #[test]
    fn the_same_profile_gives_the_same_picture() {
        assert_eq!(written(&sample::profile()), written(&sample::profile()));
    }

    #[test]
    fn picture_loads_nothing() {
        let picture = written(&sample::profile());
        for word in ["src=", "xlink:href=\"http", "href=\"http", "url(http", "@import", "fetch(", "XMLHttpRequest"] {
            assert!(!picture.contains(word), "{word}");
        }
    }

    #[test]
    fn empty_profile_is_an_error_that_says_so() {
        let mut profile = sample::profile();
        profile.stacks.clear();
        let error = write(&profile, Lines::Shown, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("nothing to draw"));
    }
}
