//! A profile in pprof's format (`.pb.gz`): a gzipped protobuf message that `go tool pprof` and many services read.
//!
//! Each sample has two values, how often the stack was seen and its amount, and says its thread. What a clock has sampled is told in the
//! time that it stands for, as receivers know it of other profilers. Comments carry what the
//! other views say at their head: what was looked at, what it cost, how complete it is.

mod message;

use std::{collections::HashMap, io};

use flate2::{Compression, write::GzEncoder};
use prost::Message as _;

use self::message::{Function, Label, Line, Location, Mapping, Profile as Encoded, Sample, ValueType};
use super::{
    escape, sentence,
    symbol::{Lines, Symbol, Symbols},
};
use crate::{
    report::{Profile, ProfileStack, Report, Unit},
    stack::Kind,
    text::format::whole,
};

/// Stand for files where there are none.
const JAVA: &str = "[java]";
const KERNEL: &str = "[kernel]";

/// Writes a profile of a section.
pub fn write(
    report: &Report,
    section: &'static str,
    profile: &Profile,
    lines: Lines,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let message = encode(report, section, profile, lines).encode_to_vec();
    // The header of a gzip file has a time and a name; left out, the same report gives the same file.
    let mut gzip = GzEncoder::new(out, Compression::default());
    io::Write::write_all(&mut gzip, &message)?;
    gzip.finish().map(drop)
}

fn encode(report: &Report, section: &'static str, profile: &Profile, lines: Lines) -> Encoded {
    let mut texts = Texts::default();
    // The format asks for an empty text at 0.
    texts.id("");
    let value_type =
        |texts: &mut Texts, kind: &str, unit: &str| ValueType { kind: texts.id(kind), unit: texts.id(unit) };
    let Period { amount, unit, each } = period(report, section, profile);
    let sample_type = vec![value_type(&mut texts, "samples", "count"), value_type(&mut texts, section, unit)];
    let symbols = Symbols::new(profile, lines);
    let (function, mut location) = functions(&symbols, &mut texts);
    let mapping = mappings(&symbols, &mut location, &mut texts);
    let period_type = Some(value_type(&mut texts, section, unit));
    let sample = profile
        .stacks
        .iter()
        .map(|stack| Sample {
            // Ids count from 1.
            location_id: symbols.stack(stack).rev().map(|symbol| u64::from(symbol) + 1).collect(),
            value: vec![signed(stack.count), signed(each.map_or(stack.value, |each| whole(stack.value as f64 * each)))],
            label: labels(profile, stack, &mut texts),
        })
        .collect();
    let comment = sentence::head(report).iter().map(|text| texts.id(text)).collect();
    let default_sample_type = texts.id(section);
    Encoded {
        sample_type,
        sample,
        mapping,
        location,
        function,
        time_nanos: signed(report.span.started_at_ms.saturating_mul(1_000_000)),
        duration_nanos: signed(report.span.duration_ns),
        period_type,
        period: amount,
        comment,
        default_sample_type,
        string_table: texts.all,
    }
}

/// A location for every symbol, with the same number; lines of one method share its function.
fn functions(symbols: &Symbols<'_>, texts: &mut Texts) -> (Vec<Function>, Vec<Location>) {
    let mut functions: Vec<Function> = Vec::new();
    let mut known: HashMap<(i64, i64, i64), u64> = HashMap::new();
    let mut locations = Vec::new();
    for (symbol, id) in symbols.all().iter().zip(1..) {
        let name = texts.id(&symbol.name);
        let system_name = match symbol.frame.and_then(|frame| frame.signature.as_deref()) {
            Some(signature) => texts.id(&format!("{}{signature}", symbol.name)),
            // pprof takes a function whose two names are the same for a mangled one, and what stands in angle brackets for
            // template arguments that it may leave out: `<class unloaded>` would be nothing.
            None => texts.id(""),
        };
        let filename = texts.id(file(symbol));
        let function_id = *known.entry((name, system_name, filename)).or_insert_with(|| {
            let id = functions.len() as u64 + 1;
            functions.push(Function { id, name, system_name, filename });
            id
        });
        let line = Line { function_id, line: symbol.line.map_or(0, i64::from) };
        locations.push(Location { id, mapping_id: 0, line: vec![line] });
    }
    (functions, locations)
}

/// A mapping for every build of a file that holds code; Java's, of which there is none, stands first, as the main program does in the format.
fn mappings(symbols: &Symbols<'_>, locations: &mut [Location], texts: &mut Texts) -> Vec<Mapping> {
    let mapping = |id, filename, build_id| Mapping {
        id,
        filename,
        build_id,
        has_functions: true,
        has_filenames: true,
        has_line_numbers: true,
        has_inline_frames: true,
    };
    let mut mappings = vec![mapping(1, texts.id(JAVA), texts.id(""))];
    let mut known: HashMap<(&str, &str), u64> = HashMap::from([((JAVA, ""), 1)]);
    for (symbol, location) in symbols.all().iter().zip(locations) {
        let name = if symbol.kind == Kind::Kernel { KERNEL } else { symbol.module().unwrap_or(JAVA) };
        let build_id = symbol.frame.and_then(|frame| frame.build_id.as_deref()).unwrap_or("");
        location.mapping_id = *known.entry((name, build_id)).or_insert_with(|| {
            let id = mappings.len() as u64 + 1;
            mappings.push(mapping(id, texts.id(name), texts.id(build_id)));
            id
        });
    }
    mappings
}

/// What a sample stands for. Receivers name a profile by it, and take amounts to have its unit.
struct Period {
    amount: i64,
    unit: &'static str,
    /// What one of the profile's amounts is in that unit, where that is another than its own.
    each: Option<f64>,
}

/// For samples of the clock their time, on average, else one thing.
fn period(report: &Report, section: &str, profile: &Profile) -> Period {
    let number = |key| report.section(section).and_then(|section| section.number(key));
    let sampled = number("sampled_ns").zip(number("samples").filter(|samples| *samples > 0.0));
    match sampled.map(|(ns, samples)| ns / samples) {
        Some(ns) => {
            let each = (profile.unit == Unit::Count).then_some(ns);
            Period { amount: signed(whole(ns)).max(1), unit: "nanoseconds", each }
        }
        None => Period { amount: 1, unit: unit(profile.unit), each: None },
    }
}

/// The source file; for machine code of which there is none, the file that holds it.
fn file<'a>(symbol: &'a Symbol<'_>) -> &'a str {
    let source = symbol.frame.and_then(|frame| frame.file.as_deref());
    match symbol.kind {
        Kind::Kernel => source.unwrap_or(KERNEL),
        Kind::Interpreted | Kind::Compiled | Kind::Inlined | Kind::Native | Kind::Stub | Kind::Unknown => {
            source.or(symbol.module()).unwrap_or("")
        }
    }
}

fn labels(profile: &Profile, stack: &ProfileStack, texts: &mut Texts) -> Vec<Label> {
    let Some(thread) = profile.thread(stack) else { return Vec::new() };
    vec![
        Label { key: texts.id("thread"), text: texts.id(&thread.name), number: 0 },
        Label { key: texts.id("tid"), text: 0, number: thread.tid.into() },
    ]
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Text | Unit::Count | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond | Unit::Address => "count",
    }
}

/// The format's numbers are signed; what does not fit is the largest.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The table of texts. They are shown in terminals and browsers by programs that may not escape them.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    ids: HashMap<String, i64>,
}

impl Texts {
    fn id(&mut self, text: &str) -> i64 {
        let text = escape::terminal(text);
        if let Some(id) = self.ids.get(&*text) {
            return *id;
        }
        let id = i64::try_from(self.all.len()).unwrap_or(0);
        self.all.push(text.clone().into_owned());
        self.ids.insert(text.into_owned(), id);
        id
    }
}

#[cfg(test)]
mod tests;
