//! Stacks as text, one a line, for flame graph tools: `frame;frame;frame value`, outermost frame first.
//!
//! Lines are sorted by their frames, so that the same profile gives the same file. What would end a frame or a line in a name is escaped.

use std::{borrow::Cow, collections::BTreeMap, io};

use super::{
    escape,
    symbol::{Lines, Symbol, Symbols},
};
use crate::{report::Profile, stack::Kind};

/// Writes the stacks of a profile.
pub fn write(profile: &Profile, lines: Lines, out: &mut dyn io::Write) -> io::Result<()> {
    write_with(profile, lines, kernel_suffix, out)
}

/// Writes the stacks; `suffix` is what follows a name of this kind.
///
/// Lines are put together while they are written: as texts, 100,000 of them take hundreds of megabytes.
pub(super) fn write_with(
    profile: &Profile,
    lines: Lines,
    suffix: fn(Kind) -> &'static str,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let symbols = Symbols::new(profile, lines);
    let texts: Vec<String> = symbols.all().iter().map(|symbol| name(symbol, suffix)).collect();
    let mut names: Vec<&str> = texts.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    // Symbols of one name are one here, whatever file they come from.
    let ranks: Vec<usize> = texts.iter().map(|text| names.binary_search(&text.as_str()).unwrap_or(0)).collect();
    let rank = |symbol| usize::try_from(symbol).ok().and_then(|at| ranks.get(at)).copied().unwrap_or(0);
    let mut stacks = BTreeMap::<Box<[u32]>, u64>::new();
    for stack in &profile.stacks {
        let ranked = symbols.stack(stack).map(|symbol| u32::try_from(rank(symbol)).unwrap_or(0)).collect();
        let value = stacks.entry(ranked).or_default();
        *value = value.saturating_add(stack.value);
    }
    for (stack, value) in &stacks {
        let text = |rank: &u32| usize::try_from(*rank).ok().and_then(|at| names.get(at)).copied().unwrap_or("?");
        if let Some((last, before)) = stack.split_last() {
            before.iter().try_for_each(|rank| write!(out, "{};", text(rank)))?;
            writeln!(out, "{} {value}", guard_end(text(last)))?;
        }
    }
    Ok(())
}

/// What flame graph tools look for at the end of a kernel function.
const fn kernel_suffix(kind: Kind) -> &'static str {
    match kind {
        Kind::Kernel => "_[k]",
        Kind::Interpreted | Kind::Compiled | Kind::Inlined | Kind::Native | Kind::Stub | Kind::Unknown => "",
    }
}

fn name(symbol: &Symbol<'_>, suffix: fn(Kind) -> &'static str) -> String {
    let short = symbol.short();
    let clean: Cow<'_, str> = escape::terminal(&short);
    // A name of nothing, or of blanks, would be trimmed away by readers.
    let clean = if clean.trim().is_empty() { Cow::Borrowed("<no name>") } else { clean };
    clean.trim().replace(';', "\\x3b") + suffix(symbol.kind)
}

/// A number after the last blank of a line is its amount, and one before that an amount of an earlier run: a line's last
/// frame must not end in what looks like one.
fn guard_end(name: &str) -> Cow<'_, str> {
    match name.rsplit_once(' ') {
        Some((before, word)) if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            Cow::Owned(format!("{before}\\x20{word}"))
        }
        Some(_) | None => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::sample;

    fn written(profile: &Profile, lines: Lines) -> String {
        let mut out = Vec::new();
        write(profile, lines, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn stacks_with_lines() {
        insta::assert_snapshot!(written(&sample::profile(), Lines::Shown));
    }

    #[test]
    fn stacks_without_lines() {
        insta::assert_snapshot!(written(&sample::profile(), Lines::Merged));
    }

    proptest! {
        #[test]
        fn no_name_breaks_a_line(profile in sample::any_profile()) {
            let text = written(&profile, Lines::Shown);
            let mut before = None;
            for line in text.lines() {
                prop_assert_eq!(escape::terminal(line), line);
                let (stack, value) = line.rsplit_once(' ').unwrap();
                prop_assert!(value.parse::<u64>().is_ok(), "{}", line);
                prop_assert!(stack.split(';').all(|frame| !frame.trim().is_empty()), "{}", line);
                let earlier = stack.rsplit_once(' ').map_or("x", |(_, word)| word);
                prop_assert!(earlier.parse::<f64>().is_err() || !earlier.starts_with(|c: char| c.is_ascii_digit()));
                let frames: Vec<String> = stack.split(';').map(|frame| frame.replace("\\x20", " ")).collect();
                prop_assert!(before < Some(frames.clone()), "sorted, each once");
                before = Some(frames);
            }
        }
    }
}
