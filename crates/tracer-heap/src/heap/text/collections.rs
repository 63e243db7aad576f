//! What collections hold, as text.

use std::io::{self, Write};

use super::{MAX_STEPS, plain};
use crate::heap::elements::CollectionRow;

/// Writes these rows.
pub(super) fn write<'a>(rows: impl Iterator<Item = &'a CollectionRow>, out: &mut impl Write) -> io::Result<()> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "\nWhat collections hold\n  {:>10}  {:>11}", "elements", "collections")?;
    for row in rows {
        let CollectionRow { class, held_by, collections, elements, .. } = row;
        let way: Vec<String> = held_by.iter().take(MAX_STEPS).map(|step| plain(step)).collect();
        let (class, holds, way) = (plain(class), plain(&row.holds()), way.join(" < "));
        writeln!(out, "  {elements:>10}  {collections:>11}  {class} {holds}: held by {way}")?;
    }
    Ok(())
}
