//! Reads one line of a scenario.

use tracer_common::record::{EventKind, NAME_ABSENT, NAME_UNREADABLE};

use super::{
    Occurrence,
    marks::{self, Said},
    tokens::{Token, Value, lossy, tokens},
    vocabulary::{self, Field},
};
use crate::{
    event::Tid,
    item::Target,
    jni::Function,
    lens::Lens,
    source::encode::name_id,
    stack::{Frame, Kind},
    subject::{MethodPart, Subject},
    tally::{ContextTally, Tally},
};

/// The id of a name whose definition never comes.
const NAME_LOST: u64 = u64::MAX;

/// What a line says.
pub(super) enum Statement {
    /// Fields of the target, which are set already.
    Target,
    Lenses(Vec<Lens>),
    Thread(Tid, String),
    Missing(String),
    Lost(EventKind, u64),
    /// A stack's word and its frames, outermost first.
    Stack(String, Vec<Frame>),
    /// A subject's word and what it is.
    Subject(String, Subject),
    /// What the kernel counted of a subject, and perhaps in a context.
    Tally {
        subject: String,
        stack: Option<String>,
        context: Option<ContextTally>,
        tally: Tally,
    },
    Event(Occurrence),
    /// Something about woven code.
    Said(Said),
    End(u64, String),
}

/// Reads a line; nothing where it says nothing.
pub(super) fn parse(line: &str, target: &mut Target) -> Result<Option<Statement>, String> {
    let tokens = tokens(line)?;
    let Some((first, rest)) = tokens.split_first() else { return Ok(None) };
    let Token::Word(first) = first else { return Err("a line begins with a word or a time".to_owned()) };
    if let Some(said) = marks::parse(first, rest)? {
        return Ok(Some(Statement::Said(said)));
    }
    let statement = match (first.as_str(), rest) {
        ("target", fields) => {
            for field in fields {
                set(target, field)?;
            }
            Statement::Target
        }
        ("lenses", [Token::Word(list)]) => Statement::Lenses(list.split(',').map(lens).collect::<Result<_, _>>()?),
        ("thread", [Token::Word(tid), Token::Text(name)]) => Statement::Thread(Tid(parse_tid(tid)?), lossy(name)),
        ("missing", [Token::Text(sentence)]) => Statement::Missing(lossy(sentence)),
        ("stack", [Token::Word(name), frames @ ..]) => {
            Statement::Stack(name.clone(), frames.iter().map(frame).collect::<Result<_, _>>()?)
        }
        ("subject", [Token::Word(name), Token::Text(class)]) => {
            Statement::Subject(name.clone(), Subject { class: lossy(class), method: None })
        }
        (
            "subject",
            [Token::Word(name), Token::Text(class), Token::Text(method), Token::Text(signature), native @ ..],
        ) => {
            let native = match native {
                [] => false,
                [Token::Word(word)] if word == "native" => true,
                _ => return Err("after a method's signature there can only be `native`".to_owned()),
            };
            let method = Some(MethodPart { name: lossy(method), signature: lossy(signature), native });
            Statement::Subject(name.clone(), Subject { class: lossy(class), method })
        }
        ("tally", [Token::Word(subject), fields @ ..]) => tally(subject, fields)?,
        ("lost", [Token::Word(word), Token::Word(count)]) => Statement::Lost(kind(word)?, number(count)?),
        ("end", [Token::Word(time), reason @ ..]) => Statement::End(offset(time)?, words(reason)?),
        (time, [Token::Word(label), Token::Word(tid), Token::Word(word), fields @ ..])
            if time.starts_with('+') && label == "tid" =>
        {
            Statement::Event(event(offset(time)?, Tid(parse_tid(tid)?), kind(word)?, fields)?)
        }
        (other, _) => {
            return Err(format!(
                "`{other}` with these fields is none of: target, lenses, thread, missing, lost, stack, subject, tally, marker, place, class, skipped, woven, restored, lacks, end, +TIME tid N EVENT"
            ));
        }
    };
    Ok(Some(statement))
}

fn event(offset_ns: u64, tid: Tid, kind: EventKind, given: &[Token]) -> Result<Occurrence, String> {
    let fields = vocabulary::fields(kind);
    let mut words: Vec<u64> =
        fields.iter().map(|field| if matches!(field, Field::Name(_)) { NAME_ABSENT } else { 0 }).collect();
    if let Some(length) = fields.iter().position(|field| *field == Field::Word("length")) {
        // What has no length is no array.
        words[length] = u64::MAX;
    }
    let mut texts = Vec::new();
    let mut marked = Vec::new();
    let (mut stack, mut subject) = (None, None);
    if kind == EventKind::Marks {
        // The thread's own, unless it is said otherwise.
        words[0] = 1 << 32;
    }
    for token in given {
        let Token::Pair(key, value) = token else { return Err("fields of an event are KEY=VALUE".to_owned()) };
        match (key.as_str(), value) {
            ("words", Value::Text(text)) if kind == EventKind::Marks => {
                marked = marks::words(&lossy(text))?;
                words[2] = marked.len() as u64;
                continue;
            }
            ("buffer", Value::Word(word)) if kind == EventKind::Marks => {
                words[0] = words[0] & 1 << 32 | number(word)? & 0xffff_ffff;
                continue;
            }
            ("lost", Value::Word(word)) if kind == EventKind::Marks => {
                // Where the batch begins follows from those before it.
                words[1] = number(word)?;
                continue;
            }
            ("owner", Value::Word(word)) if kind == EventKind::Marks => {
                words[0] = words[0] & 0xffff_ffff | u64::from(number(word)? != 0) << 32;
                continue;
            }
            _ => {}
        }
        if let ("stack", Value::Word(name)) = (key.as_str(), value) {
            stack = Some(name.clone());
            continue;
        }
        if let ("subject", Value::Word(name), Some(Field::Word("subject"))) = (key.as_str(), value, fields.first()) {
            subject = Some(name.clone());
            continue;
        }
        let position =
            fields.iter().position(|field| matches!(field, Field::Name(name) | Field::Word(name) if name == key));
        let Some(index) = position else {
            return Err(format!("`{}` has no field `{key}`", vocabulary::word(kind)));
        };
        words[index] = match (fields[index], value) {
            (Field::Name(_), Value::Text(text)) => {
                texts.push(text.clone());
                name_id(text).0
            }
            (Field::Name(_), Value::Word(word)) => match word.as_str() {
                "lost" => NAME_LOST,
                "unreadable" => NAME_UNREADABLE,
                other => {
                    return Err(format!("`{key}` is a name: {other:?} must be in quotes, or `lost`, `unreadable`"));
                }
            },
            (Field::Word("function"), Value::Word(word)) => function(word)?,
            (Field::Word(_), Value::Word(word)) => number(word)?,
            (Field::Word(_), Value::Text(_)) => return Err(format!("`{key}` is a number, not a text")),
        };
    }
    Ok(Occurrence { offset_ns, tid, kind, stack, subject, words, texts, marked })
}

/// `GetArrayLength`.
fn function(name: &str) -> Result<u64, String> {
    let known = Function::named(name).ok_or_else(|| format!("JNI has no function `{name}`"))?;
    Ok(u64::from(known.0))
}

/// `tally add count=5 timed=5 total=10ms self=10ms durations=17:3,40:2`. With `context=ID` it is one of a context, below that of
/// `in=ID`, on the thread `tid=N`, with the stack `stack=WORD`.
fn tally(subject: &str, fields: &[Token]) -> Result<Statement, String> {
    let mut tally = Tally::default();
    let mut context = ContextTally::default();
    let mut stack = None;
    for field in fields {
        let Token::Pair(key, Value::Word(word)) = field else {
            return Err("fields of a tally are KEY=NUMBER".to_owned());
        };
        match key.as_str() {
            "stack" => stack = Some(word.clone()),
            "tid" => context.tid = parse_tid(word)?,
            "context" => context.id = number(word)?,
            "in" => context.parent = number(word)?,
            "largest" => context.largest = number(word)?,
            "durations" | "lengths" => tally.buckets = word.split(',').map(bucket).collect::<Result<_, _>>()?,
            "count" => tally.count = number(word)?,
            "timed" => tally.timed = number(word)?,
            "errors" => tally.errors = number(word)?,
            "total" => tally.total_ns = number(word)?,
            "self" => tally.self_ns = number(word)?,
            "bytes" => tally.bytes = number(word)?,
            other => return Err(format!("a tally has no field `{other}`")),
        }
    }
    let Tally { count, errors, total_ns, self_ns, bytes, .. } = tally;
    let context = (context.id > 0).then_some(ContextTally { count, errors, total_ns, self_ns, bytes, ..context });
    Ok(Statement::Tally { subject: subject.to_owned(), stack, context, tally })
}

/// `17:3`: three durations in bucket 17.
fn bucket(text: &str) -> Result<(u16, u64), String> {
    let parts = text.split_once(':').and_then(|(bucket, count)| Some((bucket.parse().ok()?, count.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}` is no BUCKET:COUNT"))
}

/// `com.shop.Cart.add:12`, `libc.so.6 read`, `kernel futex_wait`; with a word before a Java frame: `inlined`, `interpreted`.
fn frame(token: &Token) -> Result<Frame, String> {
    let Token::Text(text) = token else { return Err("frames of a stack are in quotes".to_owned()) };
    frame_of(&lossy(text))
}

/// The frame that a text in a stack's line stands for.
pub fn frame_of(text: &str) -> Result<Frame, String> {
    let (kind, name) = match text.split_once(' ') {
        Some(("kernel", name)) => return Ok(Frame::named(Kind::Kernel, name)),
        Some(("stub", name)) => return Ok(Frame::named(Kind::Stub, name)),
        Some(("unknown", name)) => return Ok(Frame::named(Kind::Unknown, name)),
        Some(("inlined", name)) => (Kind::Inlined, name),
        Some(("interpreted", name)) => (Kind::Interpreted, name),
        Some((module, name)) => {
            return Ok(Frame { module: Some(module.into()), ..Frame::named(Kind::Native, name) });
        }
        None => (Kind::Compiled, text),
    };
    let (name, line) = match name.rsplit_once(':') {
        Some((name, line)) => (name, Some(line.parse().map_err(|_| format!("`{line}` is no line"))?)),
        None => (name, None),
    };
    let class = name.rsplit_once('.').map(|(class, _)| class.into());
    Ok(Frame { class, line, ..Frame::named(kind, name) })
}

fn set(target: &mut Target, token: &Token) -> Result<(), String> {
    let Token::Pair(key, value) = token else { return Err("fields of the target are KEY=VALUE".to_owned()) };
    let text = || match value {
        Value::Text(text) => lossy(text),
        Value::Word(word) => word.clone(),
    };
    let amount = || number(&text());
    let small =
        || amount().and_then(|value| u32::try_from(value).map_err(|_| format!("{value} is too large for `{key}`")));
    match key.as_str() {
        "pid" => (target.pid, target.namespace_pid) = (small()?, small()?),
        "command" => target.command = text(),
        "user" => target.user = text(),
        "jvm_version" => target.jvm_version = text(),
        "jvm_name" => target.jvm_name = text(),
        "jdk_release" => target.jdk_release = small()?,
        "collector" => target.collector = text(),
        "libjvm" => target.libjvm = text(),
        "container" => target.container = amount()? != 0,
        "uptime_s" => target.uptime_s = amount()?,
        "live_threads" => target.live_threads = Some(amount()?),
        "cpus" => target.cpus = small()?,
        "max_heap_bytes" => target.max_heap_bytes = Some(amount()?),
        other => return Err(format!("the target has no field `{other}`")),
    }
    Ok(())
}

fn kind(word: &str) -> Result<EventKind, String> {
    vocabulary::kind(word).ok_or_else(|| format!("there is no event `{word}`"))
}

fn lens(id: &str) -> Result<Lens, String> {
    Lens::ALL.iter().copied().find(|lens| lens.id() == id).ok_or_else(|| format!("there is no lens `{id}`"))
}

fn parse_tid(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("`{word}` is no thread id"))
}

/// `+12ms`.
fn offset(word: &str) -> Result<u64, String> {
    number(word.strip_prefix('+').ok_or_else(|| format!("`{word}` is no time like +12ms"))?)
}

/// A number with an optional unit (`ns`, `us`, `ms`, `s`, `KiB`, `MiB`, `GiB`), a hexadecimal one, a flag, or `max`.
pub(super) fn number(word: &str) -> Result<u64, String> {
    let wrong = || format!("`{word}` is no number");
    match word {
        "true" => return Ok(1),
        "false" => return Ok(0),
        "max" => return Ok(u64::MAX),
        _ => {}
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| wrong());
    }
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (digits, unit) = word.split_at_checked(digits).ok_or_else(wrong)?;
    let factor: u64 = match unit {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|value| value.checked_mul(factor)).ok_or_else(wrong)
}

fn words(tokens: &[Token]) -> Result<String, String> {
    let words: Result<Vec<&str>, String> = tokens
        .iter()
        .map(|token| match token {
            Token::Word(word) => Ok(word.as_str()),
            Token::Text(_) | Token::Pair(..) => Err("the reason of the end is plain words".to_owned()),
        })
        .collect();
    match words?.join(" ") {
        reason if reason.is_empty() => Err("the end has no reason".to_owned()),
        reason => Ok(reason),
    }
}
