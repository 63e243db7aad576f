//! Who loads classes: the place in the program, what it called, and the class loader.

use super::super::{
    Context, site,
    table::{Keyed, Merge, column},
};
use crate::{
    event::StackId,
    report::{Cell, Shape, Unit},
};

/// Most stacks of loads.
const STACKS: usize = 65_536;
/// Most class loaders.
const LOADERS: usize = 4096;

/// Loads and unloads of a class loader.
#[derive(Clone, Copy, Debug, Default)]
struct Loader {
    loaded: u64,
    unloaded: u64,
}

impl Merge for Loader {
    fn merge(&mut self, other: &Self) {
        self.loaded += other.loaded;
        self.unloaded += other.unloaded;
    }
}

/// Loads by stack and by loader.
#[derive(Debug)]
pub(super) struct Loading {
    stacks: Keyed<StackId, u64>,
    loaders: Keyed<u64, Loader>,
}

impl Default for Loading {
    fn default() -> Self {
        Self { stacks: Keyed::new(STACKS), loaders: Keyed::new(LOADERS) }
    }
}

impl Loading {
    /// A class is loaded.
    pub(super) fn load(&mut self, stack: StackId, loader: u64) {
        *self.stacks.entry(stack) += 1;
        self.loaders.entry(loader).loaded += 1;
    }

    /// A class is unloaded.
    pub(super) fn unload(&mut self, loader: u64) {
        self.loaders.entry(loader).unloaded += 1;
    }

    /// Sentences where limits were reached.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.stacks.note("stacks of loads").into_iter().chain(self.loaders.note("class loaders"))
    }

    /// Places that load classes; nothing where no stack was asked for.
    pub(super) fn sites_table(&self, context: Context<'_>) -> Option<Shape> {
        let label = |stack: &StackId| {
            let via = site::called(context.stacks, *stack).map(ToString::to_string);
            Some((site::label(context.stacks, *stack), via, site::callers(context.stacks, *stack)))
        };
        let table = self.stacks.grouped(label).table(
            "loading",
            "Places that load classes",
            vec![
                column("site", "Place", Unit::Text),
                column("via", "By calling", Unit::Text),
                column("callers", "From", Unit::Text),
                column("loaded", "Loaded", Unit::Count),
            ],
            |loaded| *loaded,
            |(site, via, callers)| vec![site.into(), via.into(), callers.into()],
            |loaded| vec![(*loaded).into()],
        );
        site::any_asked(self.stacks.iter().map(|(stack, _)| *stack)).then_some(table)
    }

    /// Class loaders; nothing where the probes give none.
    pub(super) fn loaders_table(&self) -> Option<Shape> {
        let table = self.loaders.grouped(|loader| Some(*loader)).table(
            "loaders",
            "Class loaders",
            vec![
                column("loader", "Loader", Unit::Address),
                column("loaded", "Loaded", Unit::Count),
                column("unloaded", "Unloaded", Unit::Count),
            ],
            |loader| loader.loaded.max(loader.unloaded),
            |loader| vec![Cell::Int(loader)],
            |loader| vec![loader.loaded.into(), loader.unloaded.into()],
        );
        self.loaders.iter().any(|(loader, _)| *loader != 0).then_some(table)
    }
}
