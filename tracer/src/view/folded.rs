//! Stacks as text, one a line, for flame graph tools: `frame;frame;frame value`, outermost frame first.
//!
//! Lines are sorted, so that the same profile gives the same file. What would end a frame or a line in a name is escaped.

use std::{borrow::Cow, collections::BTreeMap, io};

use super::{
    escape,
    symbol::{Lines, Symbol, Symbols},
};
use crate::{report::Profile, stack::Kind};

/// Writes the stacks of a profile.
pub fn write(profile: &Profile, lines: Lines, out: &mut dyn io::Write) -> io::Result<()> {
    stacks(profile, lines, kernel_suffix).iter().try_for_each(|(stack, value)| writeln!(out, "{stack} {value}"))
}

/// The stacks and their amounts; `suffix` is what follows a name of this kind.
pub(super) fn stacks(profile: &Profile, lines: Lines, suffix: fn(Kind) -> &'static str) -> BTreeMap<String, u64> {
    let symbols = Symbols::new(profile, lines);
    let names: Vec<String> = symbols.all().iter().map(|symbol| name(symbol, suffix)).collect();
    let mut stacks = BTreeMap::<String, u64>::new();
    for stack in &profile.stacks {
        let mut line = String::new();
        for symbol in symbols.stack(stack) {
            if !line.is_empty() {
                line.push(';');
            }
            line.push_str(usize::try_from(symbol).ok().and_then(|at| names.get(at)).map_or("?", String::as_str));
        }
        let value = stacks.entry(guard_end(line)).or_default();
        *value = value.saturating_add(stack.value);
    }
    stacks
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

/// A number after the last blank of a line is its amount, and one before that an amount of an earlier run: the line's last
/// frame must not end in what looks like one.
fn guard_end(mut line: String) -> String {
    if let Some(blank) = line.rfind(' ')
        && line[blank + 1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        line.replace_range(blank..=blank, "\\x20");
    }
    line
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
                prop_assert!(before < Some(stack.to_owned()), "sorted, each once");
                before = Some(stack.to_owned());
            }
        }
    }
}
