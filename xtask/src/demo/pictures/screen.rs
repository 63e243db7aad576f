//! A terminal's screen as a page, for a browser to take a picture of: text with the colours that tmux says it has.

use std::fmt::Write as _;

/// The 8 colours and their bright forms.
const COLOURS: [&str; 16] = [
    "#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#e5e5e5", "#7a7a7a", "#ff6b6b",
    "#5af0a8", "#f5e07b", "#6cb2ff", "#e6a0e6", "#6fdcf0", "#ffffff",
];
const INK: &str = "#d8d8d8";
const PAPER: &str = "#16181d";

/// How text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    colour: Option<usize>,
    bold: bool,
    dim: bool,
    reversed: bool,
}

impl Look {
    /// Takes the numbers of a sequence that selects how text looks; what is not known here changes nothing.
    fn select(&mut self, numbers: &str) {
        let mut numbers = numbers.split(';').map(|number| number.parse().unwrap_or(0_usize));
        while let Some(number) = numbers.next() {
            match number {
                // One of 256 colours, of which the first 16 have names; of paper there is only one here.
                38 | 48 => {
                    let colour = numbers.nth(1).filter(|colour| *colour < COLOURS.len());
                    self.colour = if number == 38 { colour } else { self.colour };
                }
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                22 => (self.bold, self.dim) = (false, false),
                7 => self.reversed = true,
                27 => self.reversed = false,
                30..=37 => self.colour = Some(number - 30),
                39 => self.colour = None,
                90..=97 => self.colour = Some(number - 90 + 8),
                _ => {}
            }
        }
    }

    fn style(self) -> String {
        let ink = self.colour.and_then(|at| COLOURS.get(at)).copied().unwrap_or(INK);
        let (ink, paper) = if self.reversed { (PAPER, ink) } else { (ink, "transparent") };
        let weight = if self.bold { 700 } else { 400 };
        let opacity = if self.dim { 0.6 } else { 1.0 };
        format!("color:{ink};background:{paper};font-weight:{weight};opacity:{opacity}")
    }
}

/// The page.
pub(super) fn page(screen: &str) -> String {
    let mut text = String::new();
    let (mut look, mut rest) = (Look::default(), screen.trim_end());
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        span(before, look, &mut text);
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(sequence.len());
        let (numbers, after) = sequence.split_at(end);
        if after.starts_with('m') {
            look.select(numbers);
        }
        rest = after.get(1..).unwrap_or_default();
    }
    span(rest, look, &mut text);
    // Lines as high as the letters, so that those of boxes meet.
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><style>body{{margin:0;background:{PAPER}}}pre{{margin:14px;\
         font:13.2px/15.4px 'DejaVu Sans Mono',monospace}}</style><pre>{text}</pre>"
    )
}

fn span(part: &str, look: Look, into: &mut String) {
    if !part.is_empty() {
        let part = part.replace('&', "&amp;").replace('<', "&lt;");
        // Writing to a string does not fail.
        _ = write!(into, "<span style=\"{}\">{part}</span>", look.style());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_last_until_they_are_taken_back_and_names_are_text() {
        let page = page("a\x1b[1;31m<b>\x1b[0m\x1b[7mc\x1b[27md\x1b[2K");
        assert!(
            page.contains(&format!("color:{};background:transparent;font-weight:700;opacity:1\">&lt;b>", COLOURS[1]))
        );
        assert!(page.contains(&format!("color:{PAPER};background:{INK};font-weight:400;opacity:1\">c<")));
        assert!(page.contains(&format!("color:{INK};background:transparent;font-weight:400;opacity:1\">d<")));
        assert!(!page.contains("2K") && !page.contains("<b>"));
        assert!(
            super::page("\x1b[38;5;2mx")
                .contains(&format!("color:{};background:transparent;font-weight:400;opacity:1\">x<", COLOURS[2]))
        );
    }
}
