//! Rules that code says, against the tables of files that have them: of each byte that both speak of.

use std::{fs, path::Path};

use tracer_common::unwind::{Row, Rule, RuleBase};
use tracer_jvm::unwind::{code, table};

/// Libraries in C and assembly, as musl is.
const FILES: [&str; 4] = [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libm.so.6",
    "/lib/x86_64-linux-gnu/libz.so.1",
    "/lib/x86_64-linux-gnu/libresolv.so.2",
];

fn rule_at(rows: &[Row], address: u32) -> Rule {
    let behind = rows.partition_point(|row| row.address <= address);
    behind.checked_sub(1).map_or(Rule::NONE, |place| rows[place].rule)
}

#[derive(Debug, Default)]
struct Compared {
    /// Bytes with a table's rule that counts from rsp.
    told: usize,
    /// Of these, those that code has a rule for.
    known: usize,
    /// Of these, those where the caller's frame would be looked for elsewhere, or its rbp.
    other_frame: usize,
    other_rbp: usize,
    examples: Vec<String>,
}

#[test]
fn code_says_what_its_table_says() {
    let mut files = 0;
    for path in FILES.map(Path::new).into_iter().filter(|path| path.is_file()) {
        files += 1;
        let bytes = fs::read(path).unwrap();
        let table = table::read(&*bytes).unwrap();
        let rows = code::rows(&*bytes).unwrap();
        let mut compared = Compared::default();
        let end = table.rows.last().map_or(0, |row| row.address);
        for address in table.rows[0].address..end {
            let (should, is) = (rule_at(&table.rows, address), rule_at(&rows, address));
            if should.base() != RuleBase::Rsp as u8 {
                continue;
            }
            compared.told += 1;
            if is.base() != RuleBase::Rsp as u8 {
                continue;
            }
            compared.known += 1;
            // Behind the `pop` the caller's rbp lies there still, and some compilers go on saying so.
            let rbp = is.rbp_words() != 0 && should.rbp_words() != is.rbp_words();
            let frame = should.cfa_words() != is.cfa_words();
            compared.other_frame += usize::from(frame);
            compared.other_rbp += usize::from(!frame && rbp);
            if (frame || rbp) && compared.examples.len() < 10 {
                compared.examples.push(format!(
                    "{address:x}: {} {} not {} {}",
                    is.cfa_words(),
                    is.rbp_words(),
                    should.cfa_words(),
                    should.rbp_words()
                ));
            }
        }
        println!("{}: {compared:?}", path.display());
        // Most of the rest is called by computed addresses alone.
        assert!(compared.known * 10 >= compared.told * 7, "{}: {compared:?}", path.display());
        // Assembly with rules of its own, and calls that do not come back.
        let wrong = compared.other_frame + compared.other_rbp;
        assert!(wrong * 200 <= compared.known, "{}: {compared:?}", path.display());
    }
    assert!(files > 0, "no file to compare");
}
