//! What collections hold, of which the JVM itself knows nothing: as the program filled them, whether the JVM is asked, a file, or its own dump.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{jdk, jtrace, jvm::Launch};

use super::take;

/// Rows of the program's own collections: class, keys, values, whether there are others, field, collections, elements.
fn own(snapshot: &Value) -> Result<Vec<Value>> {
    let rows = snapshot["collections"].as_array().context("no collections")?;
    let end = |row: &Value| row["held_by"].as_array().and_then(|way| way.last().cloned()).unwrap_or_default();
    let is_own = |row: &&Value| end(row).as_str().is_some_and(|end| end.starts_with("Collected") && !end.contains('<'));
    let sorted = |names: &Value| {
        let mut names: Vec<String> = names.as_array().into_iter().flatten().map(Value::to_string).collect();
        names.sort();
        names.join(" ").replace('"', "")
    };
    let row = |row: &Value| {
        let (keys, values) = (sorted(&row["keys"]), sorted(&row["values"]));
        json!([row["class"], keys, values, row["has_others"], end(row), row["collections"], row["elements"]])
    };
    let mut own: Vec<Value> = rows.iter().filter(is_own).map(row).collect();
    own.sort_by_key(Value::to_string);
    Ok(own)
}

/// What the program holds. Of three classes two are named, and which is not said here.
fn expected() -> Vec<Value> {
    let (string, long, integer) = ("java.lang.String", "java.lang.Long", "java.lang.Integer");
    let (order, line, key) = ("Collected$Order", "Collected$Line", "Collected$Key");
    let of_mixed = format!("{line} {string}");
    let one = |class: &str, keys: &str, values: &str, field: &str, elements: u64| {
        json!([class, keys, values, false, format!("Collected.{field}"), 1, elements])
    };
    let lists = "java.util.concurrent.CopyOnWriteArrayList";
    let concurrent = "java.util.concurrent.ConcurrentHashMap";
    let mut rows = vec![
        one("java.util.HashMap", string, order, "ORDERS", 1000),
        one("java.util.HashMap", key, line, "TREE_BIN", 300),
        one(concurrent, long, order, "CONCURRENT", 1000),
        one(concurrent, key, line, "CONCURRENT_BIN", 300),
        one("java.util.TreeMap", integer, string, "SORTED", 300),
        one("java.util.LinkedHashMap", string, line, "LINKED", 300),
        one("java.util.IdentityHashMap", line, order, "IDENTITY", 300),
        one("java.util.WeakHashMap", order, long, "WEAK", 300),
        one("java.util.LinkedList", "", &of_mixed, "MIXED", 300),
        json!([lists, "", "two", true, "Collected.THREE", 1, 300]),
        one("java.util.ArrayDeque", "", line, "QUEUE", 300),
        one("java.util.ImmutableCollections$ListN", "", line, "fixed", 3),
        one("java.util.ImmutableCollections$List12", "", line, "pair", 2),
        one("java.util.ImmutableCollections$List12", "", line, "single", 1),
        one("java.util.ImmutableCollections$Set12", "", line, "singleSet", 1),
        one("java.util.ImmutableCollections$Map1", string, line, "mapped", 1),
        one("java.util.Arrays$ArrayList", "", line, "view", 2),
        one("java.util.EnumMap", "", line, "BY_STATE", 2),
        one("java.util.concurrent.ArrayBlockingQueue", "", line, "BOUNDED", 200),
        one("java.util.concurrent.LinkedBlockingQueue", "", line, "BLOCKING", 200),
        one("java.util.concurrent.LinkedBlockingDeque", "", line, "BOTH_ENDS", 200),
        one("java.util.concurrent.ConcurrentLinkedQueue", "", line, "LOCK_FREE", 200),
        one("java.util.concurrent.ConcurrentSkipListMap", integer, line, "SKIPS", 200),
        one("java.util.concurrent.ConcurrentSkipListSet", "", integer, "SKIP_SET", 200),
        json!(["java.util.ArrayList", "", line, false, "Collected$Order.lines", 1000, 2000]),
        json!(["java.util.HashSet", "", string, false, "Collected$Order.tags", 500, 500]),
        json!(["java.util.HashSet", "", long, false, "Collected$Order.tags", 500, 500]),
    ];
    rows.sort_by_key(Value::to_string);
    rows
}

fn planted(snapshot: &Value, on: &str) -> Result<()> {
    let mut found = own(snapshot)?;
    for row in &mut found {
        if row[3] == true {
            let named = row[2].as_str().map_or(0, |names| names.split(' ').count());
            ensure!(named == 2, "{on}: {row}");
            row[2] = json!("two");
        }
    }
    found.sort_by_key(Value::to_string);
    ensure!(found == expected(), "{on}: {found:#?}");
    // Each object is in one row, by its size.
    let sizes = snapshot["sizes"].as_array().context("no sizes")?;
    for key in ["objects", "bytes"] {
        let sum: u64 = sizes.iter().filter_map(|row| row[key].as_u64()).sum();
        ensure!(Some(sum) == snapshot[key].as_u64(), "{on}: {key} {sum}");
    }
    Ok(())
}

#[test]
fn what_collections_hold_is_what_the_program_put_into_them() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for jdk in jdk::all()? {
        let on = format!("on JDK {}", jdk.release);
        let mut jvm = Launch::new(&jdk, "heap", "Collected").start()?;
        let pid = jvm.pid().to_string();
        let name =
            |extension: &str| directory.path().join(format!("{}.{extension}", jdk.release)).display().to_string();
        let (kept, dump) = (name("heap"), name("hprof"));
        planted(&take(&pid, &["-o", &kept])?, &on)?;
        planted(&take(&kept, &[])?, &format!("{on}, of the file"))?;
        jvm.jcmd(&["GC.heap_dump", &dump])?;
        planted(&take(&dump, &[])?, &format!("{on}, of the JVM's dump"))?;
        let text = jtrace::succeed(&["heap", &kept])?.text();
        for line in [
            "\nWhat collections hold\n",
            "        2000         1000  java.util.ArrayList of Collected$Line: held by Collected$Order.lines\n",
        ] {
            ensure!(text.contains(line), "{on}: {line:?} in {text}");
        }
        jvm.finish()?;
    }
    Ok(())
}
