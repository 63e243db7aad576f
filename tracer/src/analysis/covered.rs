//! What the lenses that are there on demand say of code that does not report: how many methods, which, and how much of the
//! CPU's time was spent in them.

use std::collections::{HashMap, HashSet};

use super::{Context, table::column};
use crate::{
    coverage::{Coverage, Silent},
    event::{Event, Payload, StackId},
    report::{Cell, Shape, Table, Unit},
};

/// Most methods that a table shows.
const ROWS: usize = 200;

/// What was covered, and where the CPU's time went.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    coverage: Option<Coverage>,
    samples: HashMap<StackId, u64>,
}

/// A method by its names.
type Key<'a> = (&'a str, &'a str, &'a str);

impl Covered {
    /// Looks at an event.
    pub(super) fn event(&mut self, event: &Event) {
        if let Payload::CpuSample { .. } = event.payload {
            *self.samples.entry(event.stack).or_default() += 1;
        }
    }

    /// Takes what was covered.
    pub(super) fn take(&mut self, coverage: &Coverage) {
        self.coverage = Some(coverage.clone());
    }

    /// Number of methods that are not covered; absent until it is known.
    pub(super) fn not_covered(&self) -> Option<u64> {
        self.coverage.as_ref().map(|coverage| coverage.silent.len() as u64)
    }

    /// Samples in all, and by method that is not covered. A sample is its innermost Java frame's.
    fn samples<'a>(&self, context: Context<'a>, silent: &HashSet<Key<'_>>) -> (u64, HashMap<Key<'a>, u64>) {
        let (mut total, mut found) = (0, HashMap::new());
        for (stack, samples) in &self.samples {
            total += samples;
            let Some(frame) = context.stacks.frames_of(*stack).find(|frame| frame.kind.is_java()) else { continue };
            let (Some(class), Some(signature)) = (&frame.class, &frame.signature) else { continue };
            let method = frame.name.rsplit_once('.').map_or(&*frame.name, |(_, method)| method);
            let key = (&**class, method, &**signature);
            if silent.contains(&key) {
                *found.entry(key).or_default() += samples;
            }
        }
        (total, found)
    }

    /// The table of methods that are not covered, those first that take most of the CPU's time; and sentences.
    pub(super) fn shape(&self, context: Context<'_>, notes: &mut Vec<String>) -> Option<Shape> {
        let coverage = self.coverage.as_ref()?;
        let Coverage { objects, armed, interpreter, silent } = coverage;
        let keys: HashSet<Key<'_>> = silent.iter().map(key).collect();
        let (total, by_method) = self.samples(context, &keys);
        let mut note = format!("Covered: {armed}");
        if !interpreter {
            note.push_str("; what runs in the interpreter is not seen on this release");
        }
        notes.push(note + ".");
        if silent.is_empty() {
            return None;
        }
        let what = if *objects { "allocate" } else { "are called" };
        let inside: u64 = by_method.values().sum();
        let share = if total > 0 {
            format!("; {:.1} % of {total} CPU samples fell into them", inside as f64 * 100.0 / total as f64)
        } else {
            String::new()
        };
        notes.push(format!(
            "{} methods run in code that was compiled before and is not seen when they {what}{share}: numbers are lower \
             bounds for them and for what they call. `jtrace run` sees everything.",
            silent.len()
        ));
        let samples = |silent: &Silent| by_method.get(&key(silent)).copied().unwrap_or(0);
        let mut order: Vec<&Silent> = silent.iter().collect();
        order.sort_by_key(|silent| std::cmp::Reverse(samples(silent)));
        let row = |silent: &&Silent| -> Vec<Cell> {
            let Silent { class, method, signature, level, inlined } = silent;
            vec![
                class.clone().into(),
                method.clone().into(),
                signature.clone().into(),
                u64::from(*level).into(),
                if *inlined { "inlined" } else { "compiled" }.to_owned().into(),
                samples(silent).into(),
            ]
        };
        Some(Shape::Table(Table {
            id: "not_covered",
            title: format!("Not covered: {} methods in code from before", silent.len()),
            columns: vec![
                column("class", "Class", Unit::Text),
                column("method", "Method", Unit::Text),
                column("signature", "Signature", Unit::Text),
                column("level", "Level", Unit::Count),
                column("code", "Code", Unit::Text),
                column("samples", "CPU samples", Unit::Count),
            ],
            rows: order.iter().take(ROWS).map(row).collect(),
        }))
    }
}

/// What is not seen of methods of the JDK: a sentence where some were called, or where nothing was.
pub(super) fn not_entered<'a>(called: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut called = called.into_iter().peekable();
    let concerns =
        called.peek().is_none() || called.any(|class| class.starts_with("java.") || class.starts_with("jdk."));
    concerns.then(|| {
        "Methods that the JVM has code of its own for (intrinsics, as `Math.sqrt`, `System.arraycopy`, `Object.getClass`) are not \
         entered where that code stands in the place of the call: such calls are not counted."
            .to_owned()
    })
}

fn key(silent: &Silent) -> Key<'_> {
    (&silent.class, &silent.method, &silent.signature)
}
