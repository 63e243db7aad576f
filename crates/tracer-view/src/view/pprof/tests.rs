//! The format by its bytes: a walker that knows protobuf's wire format and nothing of the messages' declarations.

use std::io::Read as _;

use super::*;
use crate::view::sample;

/// A field of a message.
enum Field<'a> {
    Number(u64, u64),
    Bytes(u64, &'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => fields.push(Field::Number(key >> 3, varint(&mut bytes))),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                fields.push(Field::Bytes(key >> 3, content));
            }
            other => panic!("wire type {other}"),
        }
    }
    fields
}

fn parts(message: &[u8], number: u64) -> Vec<&[u8]> {
    let part = |field| match field {
        Field::Bytes(at, content) if at == number => Some(content),
        Field::Bytes(..) | Field::Number(..) => None,
    };
    fields(message).into_iter().filter_map(part).collect()
}

fn number(message: &[u8], at: u64) -> u64 {
    let value = |field| match field {
        Field::Number(number, value) if number == at => Some(value),
        Field::Bytes(..) | Field::Number(..) => None,
    };
    fields(message).into_iter().find_map(value).unwrap_or(0)
}

fn packed(message: &[u8], at: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for mut content in parts(message, at) {
        while !content.is_empty() {
            numbers.push(varint(&mut content));
        }
    }
    numbers
}

fn unpacked(profile: &Profile, lines: Lines) -> Vec<u8> {
    let (mut file, mut message) = (Vec::new(), Vec::new());
    write(&sample::report(), "cpu", profile, lines, &mut file).unwrap();
    flate2::read::GzDecoder::new(&file[..]).read_to_end(&mut message).unwrap();
    message
}

fn texts(message: &[u8]) -> Vec<&str> {
    parts(message, 6).into_iter().map(|text| std::str::from_utf8(text).unwrap()).collect()
}

/// Every stack as `frame;frame`, innermost first, with its two values.
fn samples(message: &[u8]) -> Vec<(String, Vec<u64>)> {
    let texts = texts(message);
    let text = |at: u64| texts[usize::try_from(at).unwrap()];
    let functions = parts(message, 5);
    let locations = parts(message, 4);
    let find = |all: &[&[u8]], id: u64| all.iter().position(|item| number(item, 1) == id).expect("an id that is there");
    let frame = |id: u64| {
        let lines = parts(locations[find(&locations, id)], 4);
        assert_eq!(lines.len(), 1);
        let function = functions[find(&functions, number(lines[0], 1))];
        format!("{}:{}", text(number(function, 2)), number(lines[0], 2))
    };
    let stack = |sample: &&[u8]| packed(sample, 1).into_iter().map(frame).collect::<Vec<_>>().join(";");
    parts(message, 2).iter().map(|sample| (stack(sample), packed(sample, 2))).collect()
}

#[test]
fn stacks_are_innermost_first_with_count_and_amount() {
    let message = unpacked(&sample::profile(), Lines::Shown);
    let texts = texts(&message);
    assert_eq!(texts[0], "");
    let types: Vec<_> = parts(&message, 1)
        .iter()
        .map(|kind| [1, 2].map(|at| texts[usize::try_from(number(kind, at)).unwrap()]))
        .collect();
    assert_eq!(types, [["samples", "count"], ["cpu", "nanoseconds"]]);
    let (stack, values) = samples(&message).swap_remove(0);
    assert!(stack.starts_with("com.shop.Cart.price:42;com.shop.Cart.add:12;com.shop.Main.serve:31;"), "{stack}");
    assert!(stack.ends_with(";start_thread:0"), "{stack}");
    assert_eq!(values, [60, 600_000_000]);
    assert_eq!(number(&message, 10), 10_000_000_000);
}

/// A session's own profile of the clock counts samples; receivers add up nanoseconds of `cpu`.
#[test]
fn samples_of_the_clock_are_told_in_the_time_that_they_stand_for() {
    let mut profile = sample::profile();
    profile.unit = Unit::Count;
    profile.stacks.iter_mut().for_each(|stack| stack.value = stack.count);
    let mut report = sample::report();
    let section = report.sections.iter_mut().find(|section| section.id == "cpu").unwrap();
    section.summary = crate::report::Summary::new().int("samples", 100).int("sampled_ns", 1_010_000_000);
    let encoded = encode(&report, "cpu", &profile, Lines::Shown);
    let text = |at: i64| encoded.string_table[usize::try_from(at).unwrap()].as_str();
    let types: Vec<_> = encoded.sample_type.iter().map(|kind| (text(kind.kind), text(kind.unit))).collect();
    assert_eq!(types, [("samples", "count"), ("cpu", "nanoseconds")]);
    assert_eq!((encoded.period, encoded.sample[0].value.clone()), (10_100_000, vec![60, 606_000_000]));
}

#[test]
fn threads_are_labels_and_the_head_is_a_comment() {
    let message = unpacked(&sample::profile(), Lines::Shown);
    let texts = texts(&message);
    let text = |at: u64| texts[usize::try_from(at).unwrap()];
    let labels = parts(parts(&message, 2)[0], 3);
    assert_eq!((text(number(labels[0], 1)), text(number(labels[0], 2))), ("thread", "http-worker-1"));
    assert_eq!((text(number(labels[1], 1)), number(labels[1], 3)), ("tid", 21));
    let comments: Vec<_> = packed(&message, 13).into_iter().map(text).collect();
    assert!(comments.iter().any(|comment| comment.starts_with("cost: ")), "{comments:?}");
    assert!(comments.iter().any(|comment| comment.contains("12,345 emitted = ")), "{comments:?}");
    assert!(texts.iter().all(|text| escape::terminal(text) == **text));
}

#[test]
fn lines_of_a_method_share_its_function_and_its_file() {
    let message = unpacked(&sample::profile(), Lines::Shown);
    let texts = texts(&message);
    let text = |at: u64| texts[usize::try_from(at).unwrap()];
    let functions = parts(&message, 5);
    let prices: Vec<_> =
        functions.iter().filter(|function| text(number(function, 2)) == "com.shop.Cart.price").collect();
    assert_eq!(prices.len(), 1);
    assert_eq!(text(number(prices[0], 3)), "com.shop.Cart.price()V");
    assert_eq!(text(number(prices[0], 4)), "Cart.java");
    assert_eq!(parts(&unpacked(&sample::profile(), Lines::Merged), 4).len() + 1, parts(&message, 4).len());
}

/// Go's pprof, which is the format's own reader: on the path as a part of `go`, or where Debian puts it.
fn go_pprof() -> Option<std::process::Command> {
    let of_go = std::process::Command::new("go").args(["env", "GOTOOLDIR"]).output().ok();
    let tools = of_go.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let debian = || Some("/usr/lib/go-1.19/pkg/tool/linux_amd64".to_owned());
    let file = tools.filter(|tools| !tools.is_empty()).or_else(debian).map(|tools| format!("{tools}/pprof"))?;
    std::path::Path::new(&file).is_file().then(|| std::process::Command::new(file))
}

#[test]
fn go_reads_every_stack_thread_and_amount() {
    let Some(mut pprof) = go_pprof() else {
        println!("SKIPPED: there is no pprof of Go here; `cargo xtask setup` installs golang-go");
        return;
    };
    let file = tempfile::Builder::new().suffix(".pb.gz").tempfile().unwrap();
    let mut bytes = Vec::new();
    let profile = sample::profile();
    write(&sample::report(), "cpu", &profile, Lines::Shown, &mut bytes).unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let output = pprof.arg("-raw").arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (head, locations) = text.split_once("Locations\n").unwrap();
    let (head, samples) = head.split_once("samples/count cpu/nanoseconds[dflt]\n").unwrap();
    assert!(head.contains("Comment: incomplete: 12,345 emitted = 12,300 delivered + 45 lost"), "{head}");
    assert!(head.contains("Duration: 10s"), "{head}");
    // The sample has no `sampled_ns`, so a sample stands for one of its unit.
    assert!(head.contains("PeriodType: cpu nanoseconds\nPeriod: 1\n"), "{head}");
    let (_, mappings) = text.split_once("Mappings\n").unwrap();
    assert!(mappings.contains(&format!(" libjvm.so {} ", sample::LIBJVM_BUILD)), "{mappings}");
    // `7: 0x0 M=1 com.shop.Cart.add Cart.java:12`, in newer releases with a column, then the other name.
    let location = |line: &'_ str| -> Option<(String, String)> {
        let (id, rest) = line.trim().split_once(": 0x0 M=")?;
        Some((id.to_owned(), rest.split_once(' ')?.1.to_owned()))
    };
    let names: HashMap<String, String> = locations.lines().filter_map(location).collect();
    let label = |id: u32| symbol_text(&Symbols::new(&profile, Lines::Shown).all()[usize::try_from(id).unwrap()]);
    let symbols = Symbols::new(&profile, Lines::Shown);
    let mut read = samples.split("\n         ").filter(|sample| sample.contains(": ")).peekable();
    let mut count = 0;
    for stack in &profile.stacks {
        let mut lines = read.next().unwrap().lines();
        let (values, ids) = lines.next().unwrap().split_once(": ").unwrap();
        let values: Vec<u64> = values.split_whitespace().map(|value| value.parse().unwrap()).collect();
        assert_eq!(values, [stack.count, stack.value]);
        let ids: Vec<_> = ids.split_whitespace().collect();
        let expected: Vec<_> = symbols.stack(stack).rev().map(label).collect();
        assert_eq!(ids.len(), expected.len(), "{ids:?}");
        for (id, expected) in ids.iter().zip(expected) {
            assert!(names[*id].starts_with(&expected), "{} is not {expected}", names[*id]);
        }
        count += 1;
    }
    assert_eq!((count, read.next()), (profile.stacks.len(), None));
    let threads = samples.matches("thread:[http-worker-1]\n").count();
    assert_eq!((threads, samples.matches("tid:[21]\n").count()), (4, 4), "{samples}");
}

/// How `pprof -raw` begins a location.
fn symbol_text(symbol: &Symbol<'_>) -> String {
    let name = escape::terminal(&symbol.name).into_owned();
    format!("{name} {}:{}", escape::terminal(file(symbol)), symbol.line.unwrap_or(0))
}

proptest::proptest! {
    #[test]
    fn every_reference_leads_somewhere_and_values_add_up(profile in sample::any_profile()) {
        for lines in [Lines::Shown, Lines::Merged] {
            let samples = samples(&unpacked(&profile, lines));
            let sum = |at: usize| samples.iter().map(|(_, values)| values[at]).sum::<u64>();
            proptest::prop_assert_eq!((sum(0), sum(1)), (profile.count(), profile.total()));
        }
    }

    #[test]
    fn all_formats_give_the_same_amount(profile in sample::any_profile()) {
        for lines in [Lines::Shown, Lines::Merged] {
            let mut folded = Vec::new();
            crate::view::folded::write(&profile, lines, &mut folded).unwrap();
            let folded = String::from_utf8(folded).unwrap();
            let folded: u64 = folded.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
            let mut speedscope = Vec::new();
            crate::view::speedscope::write(&profile, lines, &mut speedscope).unwrap();
            let speedscope: serde_json::Value = serde_json::from_slice(&speedscope).unwrap();
            let weights = speedscope["profiles"].as_array().unwrap().iter().flat_map(|one| one["weights"].as_array().unwrap());
            let weights: u64 = weights.map(|weight| weight.as_u64().unwrap()).sum();
            let pprof: u64 = samples(&unpacked(&profile, lines)).iter().map(|(_, values)| values[1]).sum();
            proptest::prop_assert_eq!([folded, weights, pprof], [profile.total(); 3]);
        }
    }
}

#[test]
fn a_sample_of_the_clock_stands_for_its_time_and_code_lies_in_its_file() {
    let mut report = sample::report();
    let section = report.sections.iter_mut().find(|section| section.id == "cpu").unwrap();
    section.summary = crate::report::Summary::new().int("samples", 99).int("sampled_ns", 1_000_000_000);
    let profile = sample::profile();
    let message = encode(&report, "cpu", &profile, Lines::Shown).encode_to_vec();
    let texts = texts(&message);
    let text = |at: u64| texts[usize::try_from(at).unwrap()];
    let kind = parts(&message, 11)[0];
    assert_eq!(
        (text(number(kind, 1)), text(number(kind, 2)), number(&message, 12)),
        ("cpu", "nanoseconds", 10_101_010)
    );
    let files: Vec<_> =
        parts(&message, 3).iter().map(|mapping| (number(mapping, 1), text(number(mapping, 5)))).collect();
    assert_eq!(files[0], (1, "[java]"));
    assert!(files.contains(&(files.len() as u64, files.last().unwrap().1)), "{files:?}");
    let build = |name: &str| {
        let mapping = parts(&message, 3).into_iter().find(|mapping| text(number(mapping, 5)) == name).unwrap();
        text(number(mapping, 6))
    };
    assert_eq!([build("libjvm.so"), build("libc.so.6"), build("[java]")], [sample::LIBJVM_BUILD, "", ""]);
    for location in parts(&message, 4) {
        let function = parts(&message, 5)[usize::try_from(number(parts(location, 4)[0], 1)).unwrap() - 1];
        let (_, file) = files.iter().find(|(id, _)| *id == number(location, 2)).unwrap();
        let name = text(number(function, 2));
        assert!(!name.starts_with("com.shop.") || *file == "[java]", "{name} in {file}");
        assert!(name != "futex_wait" || *file == "[kernel]", "{name} in {file}");
    }
}
