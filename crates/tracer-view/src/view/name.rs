//! Names of methods and classes within a width. A method's name says more than its package, so packages are cut first:
//! `java.lang.StringBuilder.append` becomes `j.lang.StringBuilder.append`, `j.l.StringBuilder.append`,
//! `StringBuilder.append`. All views that cut texts do it here.

mod chain;

use super::escape;
use crate::report::descriptor::{Descriptor, Detail};

/// Longer texts are not taken apart: no name that fits a screen is behind them.
const LONGEST: usize = 4096;

/// A name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) struct Name<'a> {
    /// `java.lang`; may be empty.
    package: &'a str,
    /// `StringBuilder` of a method; empty where the name is a class's.
    class: &'a str,
    /// `append`, or a class by itself: what is cut last.
    last: &'a str,
    /// `([BII)V`, if it is there.
    descriptor: Option<&'a str>,
    /// `:42`, if it is there.
    line: &'a str,
}

impl<'a> Name<'a> {
    /// Takes a text apart; none where it is no name of Java.
    pub(in crate::view) fn parse(text: &'a str) -> Option<Self> {
        if text.len() > LONGEST || escape::terminal(text) != text {
            return None;
        }
        let (head, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        if descriptor.is_some_and(|descriptor| Descriptor::parse(descriptor).is_none()) {
            return None;
        }
        let colon = head.rfind(':').unwrap_or(head.len());
        let (head, line) = head.split_at(colon);
        let is_line = line.is_empty() || (line.len() > 1 && line[1..].bytes().all(|digit| digit.is_ascii_digit()));
        let is_one = is_line && head.split('.').all(is_part) && head.starts_with(|first: char| !first.is_ascii_digit());
        let dots: Vec<usize> = head.match_indices('.').map(|(at, _)| at).collect();
        if !is_one || (dots.is_empty() && descriptor.is_none()) {
            return None;
        }
        // `Cart$$Lambda.0x7f00` is one class.
        let of_class = |at: &&usize| !head[*at + 1..].starts_with("0x");
        let dots: Vec<usize> = dots.iter().filter(of_class).copied().collect();
        let last = dots.last().map_or(0, |at| at + 1);
        let is_method = descriptor.is_some() || !line.is_empty();
        let class = first_of_class(head, &dots, is_method).min(last);
        let package = head[..class].strip_suffix('.').unwrap_or_default();
        let class = head[class..last].strip_suffix('.').unwrap_or_default();
        Some(Self { package, class, last: &head[last..], descriptor, line })
    }

    /// What two overloads have in common.
    pub(in crate::view) fn without_descriptor(self) -> Self {
        Self { descriptor: None, ..self }
    }

    /// Its descriptor.
    pub(in crate::view) const fn descriptor(&self) -> Option<&'a str> {
        self.descriptor
    }

    /// The name with a package and with parameters as they are given.
    fn with(&self, package: &str, class: &str, parameters: &str, line: &str) -> String {
        let mut text = String::new();
        for part in [package, class] {
            if !part.is_empty() {
                text.push_str(part);
                text.push('.');
            }
        }
        text + self.last + parameters + line
    }

    /// It without its package and its parameters.
    fn short(&self) -> String {
        self.with("", self.class, "", self.line)
    }

    /// All of it.
    pub(in crate::view) fn full(&self, parameters: &str) -> String {
        self.with(self.package, self.class, parameters, self.line)
    }

    /// The most of it that has room: packages give way first, then parameters, then the class, then the line.
    fn fit(&self, parameters: &str, width: usize) -> String {
        let has_room = |text: &String| escape::width(text) <= width;
        let few = if parameters.len() > "(…)".len() { "(…)" } else { parameters };
        let packages = shorter_packages(self.package);
        let wide = packages.iter().map(|package| self.with(package, self.class, parameters, self.line));
        let narrow = [few, ""].map(|parameters| self.with("", self.class, parameters, self.line));
        if let Some(text) = wide.chain(narrow).find(has_room) {
            return text;
        }
        if self.last.starts_with('<') {
            return self.fit_constructor(width);
        }
        let without_class = self.with("", "", "", self.line);
        let room = width.saturating_sub(escape::width(&without_class) + 1);
        if room > 2 && !self.class.is_empty() {
            return self.with("", &escape::fit(self.class, room), "", self.line);
        }
        let text = if has_room(&without_class) { without_class } else { self.last.to_owned() };
        escape::fit(&text, width)
    }
}

impl Name<'_> {
    /// `<init>` by itself says nothing: the classes around its class give way before that, then the line.
    fn fit_constructor(&self, width: usize) -> String {
        let inner = self.class.rsplit('$').next().unwrap_or_default();
        let shown = [self.line, ""].map(|line| self.with("", inner, "", line));
        let found = shown.into_iter().find(|text| escape::width(text) <= width);
        found.unwrap_or_else(|| {
            let room = width.saturating_sub(escape::width(self.last) + 1);
            if room > 2 { self.with("", &escape::fit(inner, room), "", "") } else { escape::fit(self.last, width) }
        })
    }
}

/// Whether a text between dots can be a part of a name. What HotSpot names itself may hold `/`, `<` or `+`.
fn is_part(part: &str) -> bool {
    !part.is_empty() && !part.contains([' ', ':', '!', ';', '*', '&', '"', '\'', '=', ',', '(', ')', '`', '@', '%'])
}

/// Where the class begins: at the first part with a capital, as Java's programs are written; else at the last part, or at
/// the one before a method.
fn first_of_class(head: &str, dots: &[usize], is_method: bool) -> usize {
    let starts = || std::iter::once(0).chain(dots.iter().map(|at| at + 1));
    let capital = starts().find(|at| head[*at..].starts_with(|first: char| first.is_uppercase() || first == '$'));
    let of_method = dots.len().checked_sub(2).and_then(|at| dots.get(at)).map_or(0, |at| at + 1);
    let of_class = dots.last().map_or(0, |at| at + 1);
    capital.unwrap_or(if is_method { of_method } else { of_class })
}

/// The package as it is, with one initial after the other, and none.
fn shorter_packages(package: &str) -> Vec<String> {
    let parts: Vec<&str> = package.split('.').collect();
    let mut all: Vec<String> = (0..=parts.len())
        .map(|short| {
            let initial = |part: &str| part.chars().next().map(String::from).unwrap_or_default();
            let parts = parts.iter().enumerate();
            parts
                .map(|(at, part)| if at < short { initial(part) } else { (*part).to_owned() })
                .collect::<Vec<_>>()
                .join(".")
        })
        .collect();
    all.push(String::new());
    all
}

/// A text as a view shows it where there is room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::view) struct Label {
    text: String,
    /// Parameters in Java's spelling, in place of the descriptor.
    parameters: String,
}

impl Label {
    /// A text of any kind; the descriptor of a method is not shown.
    pub(in crate::view) fn new(text: String) -> Self {
        Self { text, parameters: String::new() }
    }

    /// A method that has overloads beside it.
    pub(in crate::view) fn with_parameters(text: String, detail: Detail) -> Self {
        let descriptor = Name::parse(&text).and_then(|name| Descriptor::parse(name.descriptor?));
        let parameters = descriptor.map(|descriptor| descriptor.source(detail)).unwrap_or_default();
        Self { text, parameters }
    }

    /// All of it, as the target gave it but for the descriptor.
    pub(in crate::view) fn full(&self) -> String {
        Name::parse(&self.text).map_or_else(|| self.text.clone(), |name| name.full(&self.parameters))
    }

    /// For a terminal, in at most `width` columns.
    pub(in crate::view) fn fit(&self, width: usize) -> String {
        match Name::parse(&self.text) {
            Some(name) => name.fit(&self.parameters, width),
            None => chain::fit(&self.text, width)
                .or_else(|| fit_with_remark(&self.text, width))
                .unwrap_or_else(|| fit_native(&self.text, width)),
        }
    }
}

/// A name without its package; any other text as it is.
pub(in crate::view) fn short(text: &str) -> String {
    Name::parse(text).map_or_else(|| text.to_owned(), |name| name.short())
}

/// A text for a terminal, in at most `width` columns.
pub(in crate::view) fn fit(text: &str, width: usize) -> String {
    Label::new(text.to_owned()).fit(width)
}

/// A name with what is said of it behind a comma, as `com.shop.Cart.add:12, ignored`: the name gives way while its method has room, then
/// the remark goes. Nothing where a text is none.
fn fit_with_remark(text: &str, width: usize) -> Option<String> {
    let at = text.find(", ")?;
    let (name, remark) = text.split_at(at);
    let name = Name::parse(name)?;
    if escape::terminal(remark) != remark {
        return None;
    }
    let room = width.saturating_sub(escape::width(remark));
    let has_room = escape::width(name.last) + escape::width(name.line) <= room;
    Some(if has_room { name.fit("", room) + remark } else { name.fit("", width) })
}

/// A function of machine code gives its parameters and its file away before its name; any other text is cut in its middle.
fn fit_native(text: &str, width: usize) -> String {
    let is_known = text.len() <= LONGEST && escape::terminal(text) == text;
    let file = text.split_once('!').filter(|(file, _)| !file.is_empty() && !file.contains(' '));
    let function = file.map_or(text, |(_, function)| function);
    if !is_known || escape::width(text) <= width || (file.is_none() && !function.contains("::")) {
        return escape::fit(text, width);
    }
    let name = function.find('(').filter(|at| *at > 0).map_or(function, |at| &function[..at]);
    let without_parameters = &text[..text.len() - function.len() + name.len()];
    let shorter = if escape::width(without_parameters) <= width { without_parameters } else { name };
    escape::fit(shorter, width)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::sample::HOSTILE;

    #[test]
    fn packages_give_way_first_and_the_method_last() {
        let text = "java.lang.StringBuilder.append([BII)Ljava/lang/String;";
        let label = Label::with_parameters(text.to_owned(), Detail::Simple);
        let cases = [
            (60, "java.lang.StringBuilder.append(byte[], int, int)"),
            (47, "j.lang.StringBuilder.append(byte[], int, int)"),
            (44, "j.l.StringBuilder.append(byte[], int, int)"),
            (40, "StringBuilder.append(byte[], int, int)"),
            (30, "StringBuilder.append(…)"),
            (22, "StringBuilder.append"),
            (16, "St…uilder.append"),
            (8, "append"),
            (6, "append"),
            (5, "appe…"),
        ];
        for (width, shown) in cases {
            assert_eq!(label.fit(width), shown, "{width}");
        }
    }

    #[test]
    fn a_constructor_keeps_its_class() {
        for (width, shown) in [
            (30, "com.shop.Demo$Order.<init>:120"),
            (21, "Demo$Order.<init>:120"),
            (20, "Order.<init>:120"),
            (13, "Order.<init>"),
            (11, "Ord….<init>"),
            (8, "<init>"),
            (6, "<init>"),
        ] {
            assert_eq!(fit("com.shop.Demo$Order.<init>:120", width), shown, "{width}");
        }
    }

    #[test]
    fn the_examples_that_hid_their_methods() {
        let text = "java.lang.System.getSecurityManager()Ljava/lang/SecurityManager;";
        assert_eq!(fit(text, 39), "java.lang.System.getSecurityManager");
        assert_eq!(fit(text, 31), "j.l.System.getSecurityManager");
        assert_eq!(fit("java.lang.StringCoding.encode8859_1([BII)Ljava/lang/String;", 28), "StringCoding.encode8859_1");
    }

    #[test]
    fn classes_lines_and_hidden_classes_are_known() {
        assert_eq!(fit("com.shop.checkout.Cart", 12), "c.s.c.Cart");
        assert_eq!(fit("com.shop.Cart.add:12", 17), "c.s.Cart.add:12");
        assert_eq!(fit("com.shop.Cart.add:12", 5), "add");
        assert_eq!(fit("com.shop.Cart$$Lambda.0x7f00.accept", 32), "c.s.Cart$$Lambda.0x7f00.accept");
        assert_eq!(fit("com.shop.Cart$$Lambda/0x7f00.accept:3", 20), "Car…/0x7f00.accept:3");
        assert_eq!(fit("lower.case.name.run:1", 16), "l.c.name.run:1");
    }

    #[test]
    fn what_is_said_of_a_name_goes_before_its_method() {
        let text = "com.shop.Shop.quiet:44, ignored";
        for (width, shown) in [
            (31, text),
            (24, "Shop.quiet:44, ignored"),
            (17, "quiet:44, ignored"),
            (16, "Shop.quiet:44"),
            (13, "Shop.quiet:44"),
            (5, "quiet"),
        ] {
            assert_eq!(fit(text, width), shown, "{width}");
        }
    }

    #[test]
    fn functions_of_machine_code_keep_their_names() {
        let text = "libjvm.so!ObjectMonitor::enter(JavaThread*)";
        assert_eq!(fit(text, 60), text);
        assert_eq!(fit(text, 40), "libjvm.so!ObjectMonitor::enter");
        assert_eq!(fit(text, 24), "ObjectMonitor::enter");
        assert_eq!(fit("kernel!futex_wait_queue", 16), "futex_wait_queue");
    }

    #[test]
    fn other_texts_are_cut_in_their_middle_and_made_harmless() {
        assert_eq!(fit("http-nio-8080-exec-1-of-many", 16), escape::fit("http-nio-8080-exec-1-of-many", 16));
        assert_eq!(fit(HOSTILE, 30), escape::fit(HOSTILE, 30));
        assert_eq!(fit("192.168.0.1:80", 80), "192.168.0.1:80");
    }

    proptest! {
        #[test]
        fn a_width_is_kept_and_the_method_is_whole_while_it_has_room(
            packages in prop::collection::vec("[a-z]{1,9}", 0..6),
            class in "[A-Z][a-zA-Z$日]{0,20}",
            method in "[a-z][a-zA-Z0-9_]{0,24}|<init>",
            descriptor in prop::option::of(Just("([BLjava/util/List;)V")),
            line in prop::option::of(1_u32..9_999),
            width in 0_usize..90,
        ) {
            let mut parts = packages.clone();
            parts.extend([class.clone(), method.clone()]);
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            // A descriptor stands behind the name, a line behind it where there is no descriptor.
            let end = descriptor.map_or_else(|| line.clone(), str::to_owned);
            let text = parts.join(".") + &end;
            let shown = Label::with_parameters(text.clone(), Detail::Simple).fit(width);
            prop_assert!(escape::width(&shown) <= width, "{text} in {width}: {shown}");
            if escape::width(&method) <= width {
                prop_assert!(shown.contains(&method), "{text} in {width}: {shown}");
            }
            let cut = shown.contains('…') && !shown.contains("(…)");
            let package = packages.join(".");
            prop_assert!(!cut || packages.is_empty() || !shown.contains(&package) || escape::width(&method) > width || package.len() < 2 || class.contains(&package) || method.contains(&package), "{text} in {width}: {shown}");
        }

        #[test]
        fn any_text_keeps_the_width_and_does_no_harm(text in "\\PC{0,60}|[a-zA-Z.:$()!;\\[/0x ]{0,60}|.{0,40}", width in 0_usize..70) {
            let shown = fit(&text, width);
            prop_assert!(escape::width(&shown) <= width, "{text:?} in {width}: {shown}");
            prop_assert_eq!(escape::terminal(&shown), shown.as_str());
        }
    }
}
