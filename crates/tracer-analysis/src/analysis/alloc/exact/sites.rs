//! Objects by class and place: where they are made, with names.

use std::collections::BTreeMap;

use super::{Exact, Made};
use crate::{
    analysis::{
        Context, site,
        table::{Groups, Merge, column},
    },
    event::{StackId, SubjectId},
    report::{Cell, Column, Node, Shape, Tree, Unit},
};

/// Most classes with rows of their own.
const CLASSES: usize = 16_384;
/// Most nodes below one node of the tree.
const BRANCHES: usize = 25;

/// Objects by class and place, with their texts.
pub(super) struct Sites {
    pub(super) by_place: BTreeMap<(String, Place), Made>,
    /// Beyond the limit.
    pub(super) others: Option<Made>,
}

/// Where an object is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The innermost method of the program; nothing where no stack was taken.
    site: Option<String>,
    /// The innermost Java frame.
    top: Option<String>,
    /// The instruction, where woven code tells.
    bytecode: Option<Bytecode>,
}

/// The instruction that makes an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bytecode {
    /// Its index in the method.
    pub(super) bci: u16,
    /// What it does.
    pub(super) by: &'static str,
    /// Descriptor of the method.
    pub(super) signature: String,
}

impl Place {
    /// A place that is the innermost method itself.
    pub(super) fn at(label: String, bytecode: Bytecode) -> Self {
        Self { site: Some(label.clone()), top: Some(label), bytecode: Some(bytecode) }
    }
}

impl Sites {
    pub(super) fn of(exact: &Exact, context: Context<'_>) -> Self {
        let class = |id: SubjectId| {
            context.subjects.get(id).map_or_else(|| "<class not named>".to_owned(), |subject| subject.class.clone())
        };
        let place = |stack: StackId| Place {
            site: (stack != StackId::default()).then(|| site::label(context.stacks, stack)),
            top: (stack != StackId::default()).then(|| site::top_label(context.stacks, stack)),
            bytecode: None,
        };
        let Groups { rows: mut by_place, others } =
            exact.sites.grouped(|(id, stack)| Some((class(*id), place(*stack))));
        let mut told: BTreeMap<SubjectId, Made> = BTreeMap::new();
        for tally in &exact.contexts {
            told.entry(tally.subject()).or_default().merge(&tally.into());
            by_place.entry((class(tally.subject()), place(tally.stack()))).or_default().merge(&tally.into());
        }
        for tally in &exact.tallies {
            let told = told.remove(&tally.subject()).unwrap_or_default();
            let objects = tally.count.saturating_sub(told.objects);
            let rest =
                Made { objects, bytes: tally.bytes.saturating_sub(told.bytes), largest_bytes: None, not_sized: 0 };
            by_place
                .entry((class(tally.subject()), Place { site: None, top: None, bytecode: None }))
                .or_default()
                .merge(&rest);
        }
        by_place.retain(|_, made| made.objects > 0);
        Self { by_place, others }
    }

    pub(super) fn by<L: Ord>(&self, label: impl Fn(&String, &Place) -> L) -> BTreeMap<L, Made> {
        let mut rows = BTreeMap::<L, Made>::new();
        for ((class, place), made) in &self.by_place {
            rows.entry(label(class, place)).or_default().merge(made);
        }
        rows
    }

    pub(super) fn classes(&self) -> BTreeMap<String, Made> {
        self.by(|class, _| class.clone())
    }

    /// Pairs of class and place.
    pub(super) fn places(&self) -> u64 {
        self.by_place.keys().filter(|(_, place)| place.site.is_some()).count() as u64
    }

    pub(super) fn classes_table(&self, total: u64) -> Shape {
        let rows = self.classes().into_iter().take(CLASSES).collect();
        Groups { rows, others: self.others }.table(
            "objects_by_class",
            "Objects by class",
            columns(vec![column("class", "Class", Unit::Text)]),
            |made| made.bytes,
            |class| vec![class.into()],
            |made| cells(made, total),
        )
    }

    pub(super) fn packages_table(&self, total: u64) -> Shape {
        let rows = self.by(|class, _| package(class).to_owned());
        Groups { rows, others: self.others }.table(
            "objects_by_package",
            "Objects by package of their class",
            columns(vec![column("package", "Package", Unit::Text)]),
            |made| made.bytes,
            |package| vec![package.into()],
            |made| cells(made, total),
        )
    }

    pub(super) fn sites_table(&self, total: u64) -> Shape {
        let rows = self.by_place.iter().map(|(key, made)| (key.clone(), *made)).collect();
        let with_bytecodes = self.by_place.keys().any(|(_, place)| place.bytecode.is_some());
        let mut first = vec![
            column("class", "Class", Unit::Text),
            column("site", "Place", Unit::Text),
            column("top", "In", Unit::Text),
        ];
        if with_bytecodes {
            first.extend([
                column("signature", "Signature", Unit::Text),
                column("bci", "Bytecode", Unit::Count),
                column("kind", "Made by", Unit::Text),
            ]);
        }
        Groups { rows, others: self.others }.table(
            "objects_by_site",
            "Objects by class and place",
            columns(first),
            |made| made.bytes,
            |(class, Place { site, top, bytecode })| {
                let mut labels = vec![class.into(), site.into(), top.into()];
                if let Some(Bytecode { bci, by, signature }) = bytecode {
                    labels.extend([signature.into(), u64::from(bci).into(), by.into()]);
                }
                labels
            },
            |made| cells(made, total),
        )
    }

    /// By what makes them.
    pub(super) fn kinds_table(&self, total: u64) -> Shape {
        let rows = self.by(|_, place| place.bytecode.as_ref().map_or("", |bytecode| bytecode.by));
        Groups { rows, others: self.others }.table(
            "objects_by_kind",
            "Objects by what makes them",
            columns(vec![column("kind", "Made by", Unit::Text)]),
            |made| made.bytes,
            |kind| vec![kind.into()],
            |made| cells(made, total),
        )
    }

    /// All of them.
    pub(super) fn total(&self) -> Made {
        let mut total = Made::default();
        self.by_place.values().chain(&self.others).for_each(|made| total.merge(made));
        total
    }

    /// From package to class to place.
    pub(super) fn tree(&self, total: u64, with_places: bool) -> Shape {
        let mut packages: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, u64>>> = BTreeMap::new();
        for ((class, place), made) in &self.by_place {
            let places = packages.entry(package(class)).or_default().entry(class).or_default();
            let bytes = places.entry(place.site.as_deref().unwrap_or("<no stack taken>")).or_default();
            *bytes = bytes.saturating_add(made.bytes);
        }
        let of_places = |places: &BTreeMap<&str, u64>| {
            let leaf = |(place, bytes): (&&str, &u64)| node(place, *bytes, Vec::new());
            if with_places { largest(places.iter().map(leaf).collect()) } else { Vec::new() }
        };
        let of_classes = |classes: &BTreeMap<&str, BTreeMap<&str, u64>>| {
            let branch = |(class, places): (&&str, &BTreeMap<&str, u64>)| {
                node(class, places.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes)), of_places(places))
            };
            largest(classes.iter().map(branch).collect())
        };
        let branches = packages.iter().map(|(package, classes)| {
            let bytes =
                classes.values().flat_map(BTreeMap::values).fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
            node(package, bytes, of_classes(classes))
        });
        let root = node("all objects", total, largest(branches.collect()));
        Shape::Tree(Tree {
            id: "objects",
            title: "Bytes by package, class and place".to_owned(),
            unit: Unit::Bytes,
            root,
        })
    }
}

/// What stands for the unnamed package and for arrays of primitive types.
const UNNAMED: &str = "(none)";

/// The package of a class, or of the elements of an array.
fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or(UNNAMED, |(package, _)| package)
}

fn node(label: &str, bytes: u64, children: Vec<Node>) -> Node {
    Node { label: label.to_owned(), value: bytes as f64, children }
}

/// The largest nodes first, and one for all further ones.
fn largest(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by(|a, b| b.value.total_cmp(&a.value));
    let rest = nodes.split_off(nodes.len().min(BRANCHES));
    if !rest.is_empty() {
        let value = rest.iter().map(|node| node.value).sum();
        nodes.push(Node { label: "(others)".to_owned(), value, children: Vec::new() });
    }
    nodes
}

pub(super) fn columns(first: Vec<Column>) -> Vec<Column> {
    let mut columns = first;
    columns.extend([
        column("objects", "Objects", Unit::Count),
        column("bytes", "Bytes", Unit::Bytes),
        column("share_percent", "Share", Unit::Percent),
        column("mean_bytes", "Mean", Unit::Bytes),
        column("largest_bytes", "Largest", Unit::Bytes),
    ]);
    columns
}

pub(super) fn cells(made: &Made, total: u64) -> Vec<Cell> {
    let Made { objects, bytes, largest_bytes, not_sized } = *made;
    let known = (not_sized < objects || objects == 0).then_some(bytes);
    let share = known.filter(|_| total > 0).map(|bytes| 100.0 * bytes as f64 / total as f64);
    let sized = objects.saturating_sub(not_sized);
    let mean = (sized > 0).then(|| bytes as f64 / sized as f64);
    vec![objects.into(), known.into(), share.into(), mean.into(), largest_bytes.into()]
}
