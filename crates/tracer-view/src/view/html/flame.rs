//! A profile in the page: a flame graph that can be searched, zoomed and turned over.
//!
//! What is drawn travels as JSON in a script element that no browser runs; `flame_tree.js` reads it, and `flame.js` draws it on a canvas and writes
//! names only as text. The first graph's data stands beside it; that of the others comes after the scripts, which so begin before
//! a browser has read all of it. Stacks are sorted, and each says how much of the one before it keeps, so that 100,000 of them stay small
//! and the tree is built in one pass. Where steps of time are shorter than a second, `heat.js` draws them above the graph.

use std::{collections::HashMap, fmt::Write as _, io};

use crate::{
    diff::Merged,
    report::{Profile, Unit},
    stack::Kind,
    text::escape,
    view::{
        json,
        symbol::{Lines, Symbols},
        text,
    },
};

/// What the page's style and script gain from this file.
pub(super) const STYLE: &str = include_str!("flame.css");
pub(super) const HEAT_SCRIPT: &str = include_str!("heat.js");
pub(super) const TREE_SCRIPT: &str = include_str!("flame_tree.js");
pub(super) const SCRIPT: &str = include_str!("flame.js");

/// Columns and rows of the text below the graph.
const TEXT: (usize, usize) = (120, 60);

/// The controls of a graph. `flame.js` finds them by their classes.
fn controls(words: &Words) -> String {
    let Words { word: _, lines, names, invert, inverted, row, rows, paths } = words;
    format!(
        r#"<div class="flame-heat" hidden>
<canvas tabindex="0" role="application" aria-label="Heat map: columns are seconds, rows are parts of a second. Arrows walk, Enter chooses, Shift and arrows extend, Escape leaves"></canvas>
<p class="dim">A column is a second, a row a part of it, the first at the top. Drag to choose for this graph. <output class="heat-about"></output></p>
</div>
<div class="flame-bar">
<output class="flame-range" aria-live="polite"></output>
<input class="flame-find" type="search" placeholder="search: text or /regular expression/" aria-label="Search {names}" spellcheck="false">
<output class="flame-hits" aria-live="polite"></output>
<select class="flame-thread" aria-label="Thread"></select>
<label{lines}><input class="flame-lines" type="checkbox" checked> lines</label>
<button class="flame-before" type="button" aria-pressed="false" hidden>widths of before</button>
<button class="flame-invert" type="button" aria-pressed="false" title="i">{invert}</button>
<button class="flame-reset" type="button" title="Esc">reset zoom</button>
</div>
<div class="flame-path" role="group" aria-label="Zoom"></div>
<div class="flame-view"><div class="flame-space"><canvas tabindex="0" role="application" aria-label="Flame graph: arrows walk, Enter zooms, Escape zooms out, / searches, i begins at {inverted}"></canvas></div></div>
<p class="flame-about" aria-live="polite"></p>
<div class="flame-legend"></div>
<div class="flame-tip" hidden></div>
<details class="flame-methods"><summary>{rows} by what is their own</summary><div class="scroll"><table><thead><tr><th scope="col">{row}</th><th scope="col" class="n">Self</th><th scope="col" class="n">Self</th><th scope="col" class="n">Total</th><th scope="col" class="n">Total</th></tr></thead><tbody></tbody></table></div></details>
<noscript><p>The graph is drawn by a script; below are its {paths}.</p></noscript>"#
    )
}

/// The graphs of a page: the first one is drawn as soon as the scripts run, and the data of the others follows these.
#[derive(Default)]
pub(super) struct Graphs {
    has_first: bool,
    later: Vec<String>,
}

impl Graphs {
    /// Writes the graph.
    pub(super) fn write(&mut self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_with(profile, &[], &CODE, out)
    }

    /// Writes the graph of a heap: what is wide holds much. Its frames are classes, those of the program compiled and all others native.
    pub(super) fn write_heap(&mut self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_with(profile, &[], &HEAP, out)
    }

    /// Writes the graph of two profiles in one: red where it has more than before, blue where it has less.
    pub(super) fn write_difference(&mut self, merged: &Merged, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_with(&merged.profile, &merged.before, &CODE, out)
    }

    fn write_with(
        &mut self,
        profile: &Profile,
        before: &[u64],
        words: &Words,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let data = data(profile, before, words)?;
        let later = if self.has_first { format!(" data-later=\"graph-{}\"", self.later.len()) } else { String::new() };
        writeln!(out, "<figure class=\"flame\"{later}>\n{}", controls(words))?;
        writeln!(out, "<details><summary>{} as text</summary><pre>", words.paths)?;
        let (width, rows) = TEXT;
        for line in text::profile::lines(profile, width, rows) {
            writeln!(out, "{}", escape::html(&line))?;
        }
        writeln!(out, "</pre></details>")?;
        if self.has_first {
            self.later.push(data);
        } else {
            self.has_first = true;
            writeln!(out, "<script type=\"application/json\">{data}</script>")?;
        }
        writeln!(out, "</figure>")
    }

    /// Writes the data that the scripts did not wait for.
    pub(super) fn end(self, out: &mut dyn io::Write) -> io::Result<()> {
        self.later.iter().enumerate().try_for_each(|(at, data)| {
            writeln!(out, "<script type=\"application/json\" id=\"graph-{at}\">{data}</script>")
        })
    }
}

/// How things are called that are drawn.
struct Words {
    /// How `flame.js` knows them.
    word: &'static str,
    /// What hides the choice of lines, where there are none.
    lines: &'static str,
    names: &'static str,
    invert: &'static str,
    inverted: &'static str,
    row: &'static str,
    rows: &'static str,
    paths: &'static str,
}

/// Methods that call each other.
const CODE: Words = Words {
    word: "code",
    lines: "",
    names: "frames",
    invert: "callers first",
    inverted: "the callers",
    row: "Method",
    rows: "methods and functions",
    paths: "hottest paths",
};

/// Classes whose objects hold each other.
const HEAP: Words = Words {
    word: "heap",
    lines: " hidden",
    names: "classes",
    invert: "what is held first",
    inverted: "what is held",
    row: "Class",
    rows: "classes",
    paths: "largest parts",
};

/// The profile as JSON that cannot end the element it stands in.
fn data(profile: &Profile, before: &[u64], words: &Words) -> io::Result<String> {
    let symbols = Symbols::new(profile, Lines::Shown);
    let mut texts = Texts::default();
    texts.id("");
    let kinds = kinds(profile, &symbols);
    // Five numbers a frame: name, kind, file, module, line.
    let mut frames = Numbers::new("frames");
    for (symbol, kind) in symbols.all().iter().zip(&kinds) {
        let file = symbol.frame.and_then(|frame| frame.file.as_deref()).unwrap_or("");
        frames.push(texts.id(&symbol.name));
        frames.push(code(*kind));
        frames.push(texts.id(file));
        frames.push(texts.id(symbol.module().unwrap_or("")));
        frames.push(symbol.line.unwrap_or(0).into());
    }
    let mut threads = Numbers::new("threads");
    for thread in &profile.threads {
        threads.push(thread.tid.into());
        threads.push(texts.id(&thread.name));
    }
    let unit = match profile.unit {
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
        Unit::Text | Unit::Count | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond | Unit::Address => "count",
    };
    let [stacks, steps, before] = stacks(profile, &symbols, before).map(Packed::end);
    let texts = serde_json::to_string(&texts.all)?;
    let (frames, threads) = (frames.end(), threads.end());
    let step = profile.steps.as_ref().map_or(0, |steps| steps.step_ns);
    let times = format!("\"step\":{step},{steps},{before}");
    let about = words.word;
    Ok(json::in_page(&format!(
        "{{\"about\":\"{about}\",\"unit\":\"{unit}\",{frames},{threads},{stacks},{times},\"texts\":{texts}}}"
    )))
}

/// Of each symbol how most of its amount ran, which decides its colour: the method's compiled and interpreted frames are one.
fn kinds(profile: &Profile, symbols: &Symbols<'_>) -> Vec<Kind> {
    let mut amounts: HashMap<(u32, Kind), u64> = HashMap::new();
    for stack in &profile.stacks {
        for id in &stack.frames {
            let frame = usize::try_from(*id).ok().and_then(|id| profile.frames.get(id));
            if let (Some(frame), Some(symbol)) = (frame.filter(|frame| frame.kind.is_java()), symbols.of_frame(*id)) {
                let amount = amounts.entry((symbol, frame.kind)).or_default();
                *amount = amount.saturating_add(stack.value);
            }
        }
    }
    let amount = |symbol, kind| amounts.get(&(symbol, kind)).copied().unwrap_or(0);
    let most = |(symbol, own): (u32, Kind)| {
        let java = [Kind::Compiled, Kind::Inlined, Kind::Interpreted];
        if own.is_java() { java.into_iter().rev().max_by_key(|kind| amount(symbol, *kind)).unwrap_or(own) } else { own }
    };
    (0..).zip(symbols.all().iter().map(|symbol| symbol.kind)).map(most).collect()
}

/// How `flame.js` numbers the kinds.
const fn code(kind: Kind) -> u64 {
    match kind {
        Kind::Interpreted => 0,
        Kind::Compiled => 1,
        Kind::Inlined => 2,
        Kind::Native => 3,
        Kind::Stub => 4,
        Kind::Kernel => 5,
        Kind::Unknown => 6,
    }
}

/// For each stack: how many frames it has in common with the one before it, how many it adds, these, its thread from 1 on or
/// 0, its amount. Beside them for each stack how many steps of time have some of it, then these: how many steps after the one
/// before, and the amount. Last what each had before, where two profiles are compared.
fn stacks(profile: &Profile, symbols: &Symbols<'_>, was: &[u64]) -> [Packed; 3] {
    let mut sorted: Vec<(Vec<u32>, u32, u64, usize)> = profile
        .stacks
        .iter()
        .enumerate()
        .map(|(at, stack)| {
            let thread = stack.thread.filter(|_| profile.thread(stack).is_some()).map_or(0, |thread| thread + 1);
            (symbols.stack(stack).collect(), thread, stack.value, at)
        })
        .collect();
    sorted.sort_unstable();
    let [mut numbers, mut steps, mut earlier] = ["stacks", "steps", "before"].map(Packed::new);
    let mut before: &[u32] = &[];
    for (frames, thread, value, at) in &sorted {
        let kept = before.iter().zip(frames).take_while(|(a, b)| a == b).count();
        numbers.push(kept as u64);
        numbers.push((frames.len() - kept) as u64);
        frames[kept..].iter().for_each(|frame| numbers.push((*frame).into()));
        numbers.push((*thread).into());
        numbers.push(*value);
        before = frames;
        if let Some(was) = was.get(*at) {
            earlier.push(*was);
        }
        if let Some(all) = &profile.steps {
            let own = all.stacks.get(*at).map_or(&[][..], Vec::as_slice);
            steps.push(own.len() as u64);
            let mut last = 0;
            for (step, amount) in own {
                steps.push(u64::from(step.saturating_sub(last)));
                steps.push(*amount);
                last = *step;
            }
        }
    }
    [numbers, steps, earlier]
}

/// Millions of numbers as a member of a JSON object: how many there are, and a text of digits as those of source maps, which
/// browsers read in half of the time that lists take.
struct Packed {
    key: &'static str,
    digits: String,
    count: u64,
}

impl Packed {
    /// Each stands for 5 bits, the lowest first, and for whether another one follows. `flame.js` has them, too.
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    const fn new(key: &'static str) -> Self {
        Self { key, digits: String::new(), count: 0 }
    }

    fn push(&mut self, mut number: u64) {
        self.count += 1;
        loop {
            let follows = u64::from(number > 31) << 5;
            self.digits.push(char::from(Self::DIGITS[usize::try_from((number & 31) | follows).unwrap_or(0)]));
            number >>= 5;
            if follows == 0 {
                break;
            }
        }
    }

    fn end(self) -> String {
        let Self { key, digits, count } = self;
        format!("\"{key}\":[{count},\"{digits}\"]")
    }
}

/// Numbers as a member of a JSON object.
struct Numbers {
    text: String,
    is_first: bool,
}

impl Numbers {
    fn new(key: &str) -> Self {
        Self { text: format!("\"{key}\":["), is_first: true }
    }

    fn push(&mut self, number: u64) {
        let comma = if self.is_first { "" } else { "," };
        self.is_first = false;
        // Writing to a string does not fail.
        _ = write!(self.text, "{comma}{number}");
    }

    fn end(mut self) -> String {
        self.text.push(']');
        self.text
    }
}

/// The table of texts, in which what a terminal would act upon is visible: a canvas obeys bidirectional controls, too.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    ids: HashMap<String, u64>,
}

impl Texts {
    fn id(&mut self, text: &str) -> u64 {
        let text = escape::terminal(text);
        if let Some(id) = self.ids.get(&*text) {
            return *id;
        }
        let id = self.all.len() as u64;
        self.all.push(text.clone().into_owned());
        self.ids.insert(text.into_owned(), id);
        id
    }
}

#[cfg(test)]
mod tests;
