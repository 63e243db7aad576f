//! What could be saved, as text.

use std::io::{self, Write};

use super::{MAX_STEPS, path, plain, size};
use crate::{
    heap::waste::{Crowded, Waste, WasteKind, WasteRow, WasteValue},
    text::format::plural,
};

/// Rows of a kind that are shown where little is left out.
const ROWS: usize = 3;
/// Crowded tables that are shown then.
const TABLES: usize = 3;

/// Writes what has so many bytes or more; all where that is nothing.
pub(super) fn write(waste: &Waste, heap_bytes: u64, little_bytes: u64, out: &mut impl Write) -> io::Result<()> {
    let share = waste.percent_of(heap_bytes);
    writeln!(out, "\nWhat could be saved: {}, {share:.1} % of the heap", size(waste.bytes))?;
    if !waste.contents_known {
        writeln!(out, "  {}", Waste::CONTENTS_NOT_KNOWN)?;
    }
    for of in waste.kinds.iter().filter(|of| of.bytes >= little_bytes) {
        kind(of, little_bytes, out)?;
    }
    let shown = if little_bytes == 0 { waste.crowded_tables.len() } else { TABLES };
    if !waste.crowded_tables.is_empty() {
        writeln!(out, "\nHash tables whose keys collide\n  {:>10}  {:>10}  {:>9}", "entries", "places", "longest")?;
    }
    for table in waste.crowded_tables.iter().take(shown) {
        crowded(table, out)?;
    }
    Ok(())
}

fn kind(of: &WasteKind, little_bytes: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  {:>10}  {:>9} objects  {}", size(of.bytes), of.objects, of.kind.text())?;
    let shown = if little_bytes == 0 { of.rows.len() } else { ROWS };
    for row in of.rows.iter().take(shown).filter(|row| row.bytes >= little_bytes) {
        let WasteRow { class, held_by, objects, bytes, contents, values } = row;
        let contents = contents.map_or_else(String::new, |of| format!(", {}", plural(of, "content", "contents")));
        let way: Vec<String> = held_by.iter().take(MAX_STEPS).map(|step| plain(step)).collect();
        let (class, way) = (plain(class), way.join(" < "));
        writeln!(out, "{:>24}{:>10}  {objects} {class}{contents}: held by {way}", "", size(*bytes))?;
        for WasteValue { value, objects, bytes } in values {
            writeln!(out, "{:>36}{:>10}  {objects} {}", "", size(*bytes), plain(value))?;
        }
    }
    Ok(())
}

fn crowded(table: &Crowded, out: &mut impl Write) -> io::Result<()> {
    let Crowded { class, entries, used, places, longest, path: way, .. } = table;
    writeln!(out, "  {entries:>10}  {:>10}  {longest:>9}  {}", format!("{used}/{places}"), plain(class))?;
    writeln!(out, "{:>37}{}", "", path(way))
}
