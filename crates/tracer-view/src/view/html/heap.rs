//! A heap as a page: what would be freed with what as a picture that can be searched and zoomed, then the tables of the text.

use std::{collections::HashMap, io};

use super::{bar_without_range, begin, end, escape, flame, paragraph, table};
use crate::{
    heap::{
        elements::CollectionRow,
        summary::{Accumulation, ClassRow, Holder, ObjectRow, RootRow, SizeRow, Summary},
        text,
        tree::TreeNode,
        waste::{Crowded, Waste, WasteKind, WasteValue},
    },
    report::{Cell, Column, Profile, ProfileStack, Table, Unit},
    stack::{Frame, Kind},
    view::format,
};

/// Writes the page.
pub fn write(summary: &Summary, tree: &[TreeNode], out: &mut dyn io::Write) -> io::Result<()> {
    let origin = &summary.head.origin;
    let title = if origin.pid > 0 { format!("{} {}", origin.pid, origin.command) } else { origin.file.clone() };
    let title = escape::html(&title).into_owned();
    begin(&format!("heap of {title}"), "", out)?;
    writeln!(out, "<h1>Heap of {title}</h1>")?;
    let mut head = Vec::new();
    text::header(&summary.head, &mut head)?;
    String::from_utf8_lossy(&head).lines().try_for_each(|line| paragraph(line, out))?;
    let sections = sections(summary);
    writeln!(out, "{}<nav aria-label=\"Contents\"><span>", bar_without_range())?;
    button("tree", TREE, out)?;
    sections.iter().try_for_each(|section| button(section.id, section.title, out))?;
    writeln!(out, "</span></nav></div>")?;
    let mut graphs = flame::Graphs::default();
    writeln!(out, "<section class=\"lens\" id=\"tree\">\n<h2>{TREE}</h2>")?;
    writeln!(out, "<div class=\"shape flamed\">\n<h3>Dominators by class</h3>")?;
    graphs.write_heap(&profile(tree), out)?;
    writeln!(out, "</div></section>")?;
    for Section { id, title, about, tables } in &sections {
        writeln!(out, "<section class=\"lens\" id=\"{id}\">\n<h2>{title}</h2>")?;
        about.iter().try_for_each(|line| paragraph(line, out))?;
        for one in tables {
            writeln!(out, "<div class=\"shape\">\n<h3>{}</h3>", escape::html(&one.title))?;
            table::write(one, table::Extra::Nothing, out)?;
            writeln!(out, "</div>")?;
        }
        writeln!(out, "</section>")?;
    }
    end(graphs, out)
}

/// The heading of the picture.
const TREE: &str = "What would be freed with what";

fn button(id: &str, title: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<button type=\"button\" data-go=\"{id}\">{title}</button>")
}

struct Section {
    id: &'static str,
    title: &'static str,
    about: Vec<String>,
    tables: Vec<Table>,
}

/// Those with something in them.
fn sections(summary: &Summary) -> Vec<Section> {
    let one = |id, title, table: Table| Section { id, title, about: Vec::new(), tables: vec![table] };
    let mut sections = vec![
        one("classes", "Classes", classes(&summary.by_class)),
        one("biggest", "Objects that would free most", biggest(&summary.biggest)),
        one("accumulations", "Objects that hold many small ones", accumulations(&summary.accumulations)),
    ];
    sections.push(one("collections", "What collections hold", collections(&summary.collections)));
    sections.push(one("sizes", "Objects by size", sizes(&summary.sizes, summary.head.bytes)));
    sections.extend(summary.waste.as_ref().map(|waste| saved(waste, summary.head.bytes)));
    sections.push(one("roots", "What keeps how much alive", roots(&summary.roots)));
    for section in &mut sections {
        section.tables.retain(|table| !table.rows.is_empty());
    }
    sections.retain(|section| !section.tables.is_empty() || !section.about.is_empty());
    sections
}

fn table(id: &'static str, title: &str, columns: &[(&'static str, &'static str, Unit)], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns.iter().map(|(key, title, unit)| Column { key, title, unit: *unit }).collect();
    Table { id, title: title.to_owned(), columns, rows }
}

fn classes(rows: &[ClassRow]) -> Table {
    let row = |row: &ClassRow| {
        let way = row.merged_path.iter().map(|step| format!("{} ({})", step.by, step.objects)).collect::<Vec<_>>();
        let cells = [row.retained_bytes.into(), row.bytes.into(), row.objects.into(), Cell::from(row.class.as_str())];
        cells.into_iter().chain([way.join(" < ").into()]).collect()
    };
    let columns = [
        ("retained_bytes", "Retained", Unit::Bytes),
        ("bytes", "Own", Unit::Bytes),
        ("objects", "Objects", Unit::Count),
        ("class", "Class", Unit::Text),
        ("held_by", "Held by", Unit::Text),
    ];
    table("classes", "Classes that retain most", &columns, rows.iter().map(row).collect())
}

/// Columns of objects, and their cells.
const OBJECT: [(&str, &str, Unit); 5] = [
    ("retained_bytes", "Retained", Unit::Bytes),
    ("bytes", "Own", Unit::Bytes),
    ("length", "Length", Unit::Count),
    ("class", "Class", Unit::Text),
    ("path", "Way from a root", Unit::Text),
];

fn object(row: &ObjectRow) -> Vec<Cell> {
    vec![
        row.retained_bytes.into(),
        row.bytes.into(),
        row.length.map(u64::from).into(),
        row.class.as_str().into(),
        text::path(&row.path).into(),
    ]
}

fn biggest(rows: &[ObjectRow]) -> Table {
    table("biggest", "Objects by what they retain", &OBJECT, rows.iter().map(object).collect())
}

fn accumulations(rows: &[Accumulation]) -> Table {
    let of = |holders: &[Holder]| {
        holders.iter().map(|holder| format!("{} {}", holder.objects, holder.by)).collect::<Vec<_>>().join(", ")
    };
    let row = |row: &Accumulation| {
        let mut cells = object(&row.object);
        cells.extend([row.holds.into(), of(&row.holds_by_class).into()]);
        cells
    };
    let more = [("holds", "Holds", Unit::Count), ("holds_by_class", "Of classes", Unit::Text)];
    let columns: Vec<_> = OBJECT.into_iter().chain(more).collect();
    table("accumulations", "None of these has half of what the whole holds", &columns, rows.iter().map(row).collect())
}

fn collections(rows: &[CollectionRow]) -> Table {
    let row = |row: &CollectionRow| {
        let numbers = [row.elements, row.collections, row.largest].map(Cell::from);
        let texts = [row.class.as_str().into(), row.holds().into(), row.held_by.join(" < ").into()];
        numbers.into_iter().chain(texts).collect()
    };
    let columns = [
        ("elements", "Elements", Unit::Count),
        ("collections", "Collections", Unit::Count),
        ("largest", "Largest", Unit::Count),
        ("class", "Class", Unit::Text),
        ("holds", "Holds", Unit::Text),
        ("held_by", "Held by", Unit::Text),
    ];
    table("collections", "By class, what they hold, and what holds them", &columns, rows.iter().map(row).collect())
}

fn sizes(rows: &[SizeRow], heap_bytes: u64) -> Table {
    let row = |(SizeRow { to_bytes, objects, bytes }, percent): (&SizeRow, f64)| {
        vec![(*to_bytes).into(), (*objects).into(), (*bytes).into(), percent.into()]
    };
    let columns = [
        ("to_bytes", "At most", Unit::Bytes),
        ("objects", "Objects", Unit::Count),
        ("bytes", "Bytes", Unit::Bytes),
        ("percent", "Up to there", Unit::Percent),
    ];
    table("sizes", "By powers of two", &columns, SizeRow::up_to_there(rows, heap_bytes).map(row).collect())
}

fn roots(rows: &[RootRow]) -> Table {
    let row = |row: &RootRow| vec![row.retained_bytes.into(), row.objects.into(), row.text().into()];
    let columns = [
        ("retained_bytes", "Retained", Unit::Bytes),
        ("objects", "Objects", Unit::Count),
        ("kind", "Root", Unit::Text),
    ];
    table("roots", "Roots by kind", &columns, rows.iter().map(row).collect())
}

fn saved(waste: &Waste, heap_bytes: u64) -> Section {
    let share = waste.percent_of(heap_bytes);
    let mut about = vec![format!("{}, {share:.1} % of the heap", format::bytes(waste.bytes as f64))];
    if !waste.contents_known {
        about.push(Waste::CONTENTS_NOT_KNOWN.to_owned());
    }
    let mut tables: Vec<Table> = waste.kinds.iter().map(of_kind).collect();
    tables.push(crowded(&waste.crowded_tables));
    Section { id: "waste", title: "What could be saved", about, tables }
}

fn of_kind(kind: &WasteKind) -> Table {
    let mut columns = vec![
        ("bytes", "Could be saved", Unit::Bytes),
        ("objects", "Objects", Unit::Count),
        ("contents", "Contents", Unit::Count),
        ("class", "Class", Unit::Text),
        ("held_by", "Held by", Unit::Text),
    ];
    let has_values = kind.rows.iter().any(|row| !row.values.is_empty());
    if has_values {
        columns.push(("values", "Most of them hold", Unit::Text));
    }
    let rows = kind.rows.iter().map(|row| {
        let way = row.held_by.join(" < ");
        let cells: [Cell; 5] =
            [row.bytes.into(), row.objects.into(), row.contents.into(), row.class.as_str().into(), way.into()];
        let value = |WasteValue { value, objects, .. }: &WasteValue| format!("{objects} {value}");
        let values: Vec<String> = row.values.iter().map(value).collect();
        cells.into_iter().chain(has_values.then(|| values.join(", ").into())).collect()
    });
    let title = format!("{} ({})", kind.kind.text(), format::bytes(kind.bytes as f64));
    table("waste", &title, &columns, rows.collect())
}

fn crowded(rows: &[Crowded]) -> Table {
    let columns = [
        ("entries", "Entries", Unit::Count),
        ("used", "Places used", Unit::Count),
        ("places", "Places", Unit::Count),
        ("longest", "Longest chain", Unit::Count),
        ("class", "Class", Unit::Text),
        ("path", "Way from a root", Unit::Text),
    ];
    let row = |row: &Crowded| {
        let numbers = [row.entries, row.used, row.places, row.longest].map(Cell::from);
        numbers.into_iter().chain([row.class.as_str().into(), text::path(&row.path).into()]).collect()
    };
    table("crowded_tables", "Hash tables whose keys collide", &columns, rows.iter().map(row).collect())
}

/// The tree as amounts by stack: a node is a frame, and its own bytes are an amount.
fn profile(tree: &[TreeNode]) -> Profile {
    let (mut frames, mut numbers, mut of) = (Vec::new(), HashMap::new(), Vec::with_capacity(tree.len()));
    for node in tree {
        let number = *numbers.entry((node.label.as_str(), node.is_own)).or_insert_with(|| {
            let kind = if node.is_own { Kind::Compiled } else { Kind::Native };
            frames.push(Frame::named(kind, node.label.clone()));
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        });
        of.push(number);
    }
    let path = |at: usize| {
        let mut path = vec![of[at]];
        let mut above = tree[at].above;
        while let Some(node) = above.and_then(|above| tree.get(above as usize).map(|node| (above, node))) {
            path.push(of[node.0 as usize]);
            above = node.1.above;
        }
        path.reverse();
        path
    };
    let own = tree.iter().enumerate().filter(|(_, node)| node.bytes > 0);
    let stack = |(at, node): (usize, &TreeNode)| ProfileStack {
        frames: path(at),
        thread: None,
        value: node.bytes,
        count: node.objects,
        cut: String::new(),
    };
    let mut stacks: Vec<ProfileStack> = own.map(stack).collect();
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.value));
    Profile {
        id: "tree",
        title: TREE.to_owned(),
        unit: Unit::Bytes,
        contexts: false,
        frames,
        threads: Vec::new(),
        stacks,
        steps: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{
        sample::{self, Shop},
        summary::Analysis,
    };

    fn page(class: &str) -> String {
        let mut graph = sample::shop(Shop { orders: 300, cached: 500, soft: 3, plugins: 40 });
        let origin = sample::counted(&graph, 0).origin;
        let order = graph.classes.iter_mut().find(|class| class.name == "com.shop.Order").expect("it has orders");
        class.clone_into(&mut order.name);
        let analysis = Analysis::of(graph);
        let mut out = Vec::new();
        write(&analysis.summary(origin, None, true, 20), &analysis.tree(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_has_the_picture_and_each_table() {
        let page = page("com.shop.Order");
        for part in [
            "<h1>Heap of 4711 com.shop.Main</h1>",
            "<figure class=\"flame\">",
            "\"about\":\"heap\"",
            "all: java.lang.Object[]",
            "<h3>Classes that retain most</h3>",
            "<h3>Objects by what they retain</h3>",
            "<h2>What collections hold</h2>",
            "of com.<wbr>shop.<wbr>Order",
            "<h2>Objects by size</h2>",
            "<h2>What could be saved</h2>",
            "<h3>Roots by kind</h3>",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    /// Whoever writes the program, or a dump, names classes.
    #[test]
    fn names_cannot_open_an_element() {
        let page = page("</script><script>alert(1)</script>\u{202e}\x1b");
        assert!(!page.contains("<script>alert") && !page.contains(['\x1b', '\u{202e}']));
        assert!(page.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn amounts_of_the_picture_are_all_bytes_of_the_heap() {
        let graph = sample::shop(Shop { orders: 300, cached: 500, soft: 3, plugins: 40 });
        let total = graph.total_bytes();
        let profile = profile(&Analysis::of(graph).tree());
        assert_eq!(profile.total(), total);
        let deepest = profile.stacks.iter().map(|stack| stack.frames.len()).max();
        assert!(deepest >= Some(4), "{deepest:?}");
    }
}
