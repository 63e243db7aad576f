//! What could be saved of a heap: what the program planted, whether the JVM is asked, a file, or the JVM's own dump; and as an independent
//! reader of the dump counts it.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::{Jvm, Launch},
    patience::PATIENCE,
    process::Finished,
};

use super::take;

const ORDERS: u64 = 2000;
const COUNTRIES: u64 = 4;
const QUANTITIES: u64 = 10;
/// `byte[]` of a country; null elements of an order's slots; a map that was never filled; a list with its first array.
const COUNTRY: u64 = 32;
const NULLS: u64 = 99 * 4;
const MAP: u64 = 48;
const LIST: u64 = 24 + 56;
const ZEROS: u64 = 996;

fn wasteful(jdk: &Jdk) -> Result<Jvm> {
    let arguments = [ORDERS, COUNTRIES, QUANTITIES].map(|number| number.to_string());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Launch::new(jdk, "heap", "Wasteful").arguments(&arguments).start()
}

/// What the program holds itself, of one kind: class, field, objects, bytes, contents.
fn own(snapshot: &Value, kind: &str) -> Result<Vec<Value>> {
    let kinds = snapshot["waste"]["kinds"].as_array().context("nothing could be saved")?;
    let Some(of) = kinds.iter().find(|of| of["kind"] == kind) else { return Ok(Vec::new()) };
    let rows = of["rows"].as_array().context("no rows")?.iter();
    let end = |row: &Value| row["held_by"].as_array().and_then(|way| way.last().cloned()).unwrap_or_default();
    // What the JVM itself holds for a class (`<resolved_references>`) is none of the program's.
    let is_own = |end: &str| end.starts_with("Wasteful") && !end.contains('<');
    let own = rows.filter(|row| end(row).as_str().is_some_and(is_own));
    let row = |row: &Value| json!([row["class"], end(row), row["objects"], row["bytes"], row["contents"]]);
    let mut own: Vec<Value> = own.map(row).collect();
    own.sort_by_key(Value::to_string);
    Ok(own)
}

fn planted(snapshot: &Value, on: &str) -> Result<()> {
    let copies = ORDERS - COUNTRIES;
    let boxes = ORDERS - QUANTITIES;
    let country = json!(["byte[]", "Wasteful$Order.country", copies, copies * COUNTRY, COUNTRIES]);
    let quantity = json!(["java.lang.Integer", "Wasteful$Order.quantity", boxes, boxes * 16, QUANTITIES]);
    let payload = json!(["byte[]", "Wasteful$Order.payload", ORDERS, ORDERS * ZEROS, null]);
    ensure!(own(snapshot, "duplicate_arrays")? == [country], "{on}: {}", snapshot["waste"]);
    ensure!(own(snapshot, "duplicate_boxes")? == [quantity], "{on}: {}", snapshot["waste"]);
    ensure!(own(snapshot, "zero_tails")? == [payload], "{on}: {}", snapshot["waste"]);
    structure(snapshot, on)
}

/// What is known without what arrays hold.
fn structure(snapshot: &Value, on: &str) -> Result<()> {
    let lists = json!(["java.util.ArrayList", "Wasteful$Order.lines", ORDERS, ORDERS * LIST, null]);
    let maps = json!(["java.util.HashMap", "Wasteful$Order.attributes", ORDERS, ORDERS * MAP, null]);
    let slots = json!(["java.lang.Object[]", "Wasteful$Order.slots", ORDERS, ORDERS * NULLS, null]);
    ensure!(own(snapshot, "empty_collections")? == [lists, maps], "{on}: {}", snapshot["waste"]);
    // All keys of this map are in one place.
    let table = json!(["java.util.HashMap$Node[]", "Wasteful.CROWDED", 1, 255 * 4, null]);
    ensure!(own(snapshot, "sparse_arrays")? == [slots, table], "{on}: {}", snapshot["waste"]);
    let crowded = snapshot["waste"]["crowded_tables"].as_array().context("no tables")?;
    let told: Vec<Value> =
        crowded.iter().map(|of| json!([of["class"], of["entries"], of["used"], of["places"], of["longest"]])).collect();
    ensure!(told == [json!(["java.util.HashMap", 100, 1, 256, 100])], "{on}: {told:?}");
    let steps = crowded[0]["path"]["steps"].as_array().context("no way")?;
    ensure!(steps.last().is_some_and(|step| step["by"] == "CROWDED"), "{on}: {steps:?}");
    Ok(())
}

#[test]
fn what_could_be_saved_is_what_the_program_wastes() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for jdk in jdk::all()? {
        let on = format!("on JDK {}", jdk.release);
        let mut jvm = wasteful(&jdk)?;
        let pid = jvm.pid().to_string();
        let name =
            |extension: &str| directory.path().join(format!("{}.{extension}", jdk.release)).display().to_string();
        let (kept, dump, written) = (name("heap"), name("hprof"), name("written.hprof"));
        let live = take(&pid, &["-o", &kept])?;
        planted(&live, &on)?;
        let again = take(&kept, &[])?;
        assert_eq!(live["waste"], again["waste"], "{on}");
        jvm.jcmd(&["GC.heap_dump", &dump])?;
        planted(&take(&dump, &[])?, &format!("{on}, of the JVM's dump"))?;
        independent(&dump, &on)?;
        let kept_values = name("values.heap");
        for (source, more) in [(pid.as_str(), &["-o", &kept_values][..]), (&kept_values, &[]), (&dump, &[])] {
            values(&take(source, &[&["--values"], more].concat())?, &format!("{on}: {source}"))?;
        }
        for source in [&kept, &kept_values, &dump] {
            ensure!(own_values(&take(source, &[])?)?.is_empty(), "{on}: {source} shows what nobody has asked for");
        }
        // A dump that jtrace writes has zeros in place of what arrays hold, and they are not taken for that.
        take(&kept, &["-o", &written])?;
        for (source, more) in [(written.as_str(), &[][..]), (&pid, &["--stop"]), (&pid, &["--tags"])] {
            let snapshot = take(source, more)?;
            ensure!(snapshot["waste"]["contents_known"] == false, "{on}: {source} {more:?}");
            structure(&snapshot, &format!("{on}: {source} {more:?}"))?;
            let finished = jtrace::run(&[&["heap", source, "--where", "copies > 1"], more].concat())?;
            let is_said = finished.stderr.contains("this snapshot does not tell what arrays hold");
            ensure!(finished.code == 2 && is_said, "{on}: {} {}", finished.code, finished.stderr);
        }
        let page = name("html");
        let text = jtrace::succeed(&["heap", &kept, "-o", &page])?.text();
        let page = fs::read_to_string(page)?;
        for part in ["payload: byte[]", "all but one of each content", "Wasteful$Order"] {
            ensure!(page.contains(part), "{on}: {part:?} is not in the page");
        }
        for line in [
            "\nWhat could be saved: ",
            "1996 byte[], 4 contents: held by java.lang.String.value < Wasteful$Order.country\n",
            "\nHash tables whose keys collide\n",
            "1/256        100  java.util.HashMap\n",
        ] {
            ensure!(text.contains(line), "{on}: {line:?} in {text}");
        }
        jvm.finish()?;
    }
    Ok(())
}

/// What the duplicates hold that the program's orders have, and how many copies there are of it.
fn own_values(snapshot: &Value) -> Result<Vec<(String, u64)>> {
    let kinds = snapshot["waste"]["kinds"].as_array().context("nothing could be saved")?;
    let rows = kinds.iter().flat_map(|of| of["rows"].as_array().into_iter().flatten());
    let is_own = |row: &&Value| {
        let way = row["held_by"].as_array().into_iter().flatten();
        way.last().is_some_and(|end| end == "Wasteful$Order.country")
    };
    let values = rows.filter(is_own).flat_map(|row| row["values"].as_array().into_iter().flatten());
    let told = |value: &Value| Some((value["value"].as_str()?.to_owned(), value["objects"].as_u64()?));
    let mut told: Vec<_> = values.filter_map(told).collect();
    told.sort();
    Ok(told)
}

/// Each country is there as often as the next one, and one copy of each is needed.
fn values(snapshot: &Value, on: &str) -> Result<()> {
    let copies = ORDERS / COUNTRIES - 1;
    let expected: Vec<_> = (0..COUNTRIES).map(|number| (format!("\"country-{number}\""), copies)).collect();
    let told = own_values(snapshot)?;
    ensure!(told == expected, "{on}: {told:?}");
    Ok(())
}

/// Equal arrays of a dump, as they are counted without jtrace.
fn independent(dump: &str, on: &str) -> Result<()> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/equal_arrays.py");
    let read = Finished::of(Command::new("python3").args([script, dump]), PATIENCE)?;
    ensure!(read.code == 0, "{on}: {}", read.stderr);
    let counted: Value = serde_json::from_slice(&read.stdout)?;
    let types = counted.as_object().context("no types")?;
    ensure!(types["byte"][0].as_u64() > Some(ORDERS), "{on}: {counted}");
    for (element, counted) in types {
        let predicate = format!(r#"class == "{element}[]" && copies > 1"#);
        let told: Value =
            serde_json::from_slice(&jtrace::succeed(&["heap", dump, "--json", "--where", &predicate])?.stdout)?;
        ensure!(told["answer"]["total"]["objects"] == counted[0], "{on}: {element}: {told} and not {counted}");
    }
    Ok(())
}
