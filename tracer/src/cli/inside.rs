//! What is woven into a JVM: its options.

use super::{Failure, markers::MarkerOptions};
use crate::{
    lens::Lens,
    marker::{Spec, Wish},
    setup::{Weaving, WeavingOptions},
    typestate::Property,
};

/// Smallest share of objects that can be asked for is one of so many: hashes have 31 bits.
const MOST_ONE_IN: u32 = 1 << 20;

/// Options of what needs a library in the JVM.
#[derive(Clone, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct InsideOptions {
    /// Load jtrace's library into the JVM, for the lenses markers and typestate; it leaves when jtrace does
    #[arg(long)]
    pub(super) inside: bool,

    #[command(flatten)]
    pub(super) markers: MarkerOptions,

    /// A property: a file, or a name of `jtrace typestate list`; can be repeated
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(super) property: Vec<String>,

    /// What these are: they are read once.
    #[arg(skip)]
    pub(super) properties: Vec<Property>,

    /// The marker of methods that are chosen for `--lane inside`
    #[arg(skip)]
    pub(super) calls: Option<Wish>,
    /// The marker of allocations in them.
    #[arg(skip)]
    pub(super) objects: Option<Wish>,
    /// The marker of exceptions that come to them.
    #[arg(skip)]
    pub(super) exceptions: Option<Wish>,
    /// The markers of calls whose costs are asked for, and of what is told of within them.
    #[arg(skip)]
    pub(super) explained: Vec<Wish>,
    /// Whether it is asked who calls whom, too.
    #[arg(skip)]
    pub(super) callers: bool,

    /// Tell also of symbols that leave an object in its state
    #[arg(long)]
    pub(super) no_adaptive: bool,

    /// Weave, and leave everything switched off: what woven code costs by itself
    #[arg(long, hide = true)]
    pub(super) off: bool,

    /// Follow one of N objects of each class from the beginning on: `1/N`. The others are ignored for all of their life
    #[arg(long, value_name = "1/N", value_parser = one_in)]
    pub(super) sample: Option<u32>,

    /// Accept patterns that match nothing yet: classes are woven when they are loaded
    #[arg(long)]
    pub(super) later: bool,
}

impl InsideOptions {
    /// The lenses of what is named.
    pub(super) fn lenses(&self) -> Vec<Lens> {
        let markers = self.markers.is_named() || self.chosen().next().is_some();
        let named = [(markers, Lens::Markers), (!self.property.is_empty(), Lens::Typestate)];
        named.into_iter().filter(|(is_named, _)| self.inside && *is_named).map(|(_, lens)| lens).collect()
    }

    /// What is to be woven, where some of the lenses need that.
    pub(super) fn weaving(&self, lenses: &[Lens], each: bool, yes: bool) -> Result<Option<Weaving>, Failure> {
        if lenses.contains(&Lens::Explain) && self.explained.is_empty() {
            return Err(Failure::usage(
                "the lens explain is about a call, and none is named",
                "use `jtrace explain-call PID 'CLASS::METHOD'`".to_owned(),
            ));
        }
        if !lenses.iter().any(|lens| lens.is_inside()) {
            return Ok(None);
        }
        let mut spec = self.markers.read()?;
        self.add_chosen(&mut spec)?;
        let options = WeavingOptions {
            callers: self.callers,
            one_by_one: each,
            adaptive: !self.no_adaptive,
            one_in: self.sample.unwrap_or(1),
            later: self.later,
            yes,
        };
        let weaving = Weaving::new(&spec, &self.properties, options)?;
        if !self.inside && weaving.is_woven() {
            return Err(Failure::usage(
                "markers, and typestate of objects, need a library in the JVM",
                "add --inside if it may be loaded: it weaves what you name, and restores it when jtrace ends"
                    .to_owned(),
            ));
        }
        if weaving.is_empty() {
            return Err(Failure::usage(
                "nothing is named that could be woven",
                "name markers (--marker, --spec) or properties (-p); `jtrace typestate list` shows some".to_owned(),
            ));
        }
        Ok(Some(if self.off { weaving.switched_off() } else { weaving }))
    }

    /// The markers of what `--lane inside` counts.
    fn chosen(&self) -> impl Iterator<Item = &Wish> {
        self.calls.iter().chain(&self.objects).chain(&self.exceptions).chain(&self.explained)
    }

    /// Adds the markers of what `--lane inside` counts to those that were named.
    fn add_chosen(&self, spec: &mut Spec) -> Result<(), Failure> {
        for wish in self.chosen() {
            if spec.wishes.iter().any(|other| other.marker.name == wish.marker.name) {
                return Err(Failure::usage(
                    format!("the name `{}` is that of another marker", wish.marker.name),
                    "give the marker another name".to_owned(),
                ));
            }
            spec.wishes.push(wish.clone());
        }
        Ok(())
    }
}

/// Reads `1/N`.
fn one_in(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("1/").and_then(|number| number.parse().ok());
    number
        .filter(|number| (1..=MOST_ONE_IN).contains(number))
        .ok_or_else(|| format!("`{text}` is no share of objects: write 1/N, with N from 1 to {MOST_ONE_IN}, as in 1/4"))
}
