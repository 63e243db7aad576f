//! What the lenses that are there on demand say of code that does not report: how many methods, which, and how much of the
//! CPU's time was spent in them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Context, Lens, rare::Replaced, table::column};
use crate::{
    coverage::{Coverage, Silent},
    event::{Event, Payload, StackId},
    report::{Cell, Shape, Table, Unit},
    text::class_name::is_of_jdk,
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

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced) {
        for (stack, samples) in self.samples.extract_if(|stack, _| replaced.get(*stack).is_some()).collect::<Vec<_>>() {
            *self.samples.entry(replaced.now(stack)).or_default() += samples;
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

    /// A sentence where something of what was chosen is not seen, with the command that would see it. How often that is called is
    /// not known: one of many methods can have nearly all calls.
    pub(super) fn headline(&self, lens: Lens, context: Context<'_>) -> Option<String> {
        let Coverage { objects, included, interpreter, seen, silent, .. } = self.coverage.as_ref()?;
        let (untraced, silent): (Vec<&Silent>, Vec<&Silent>) = silent.iter().partition(|silent| silent.untraced);
        let of = silent.len() as u64 + seen;
        let what = match (silent.first(), of) {
            (None, 0) if !interpreter => {
                "Nothing of what was chosen is seen: none of it has compiled code that reports, and this JVM's interpreter does \
                 not report"
                    .to_owned()
            }
            (None, _) => return None,
            _ => format!(
                "{} of what was chosen is not seen: {} of {of} compiled methods do not report {}{}, so numbers are lower bounds",
                if silent.len() as u64 * 2 > of { "Most" } else { "Part" },
                silent.len(),
                if *objects { "the objects that they make" } else { "their calls" },
                if untraced.is_empty() { String::new() } else { format!(", and {} may be inlined in them", untraced.len()) },
            ),
        };
        let inside = silent.first().map_or_else(String::new, |first| {
            // Of objects what was chosen are their classes, and inside it is the code that makes them.
            let (patterns, what) = if *objects {
                let keys = silent.iter().map(|silent| key(silent)).collect();
                let (_, samples) = self.samples(context, &keys);
                (code_of(makers(&silent, included), &samples), "the objects that this code makes")
            } else {
                (patterns(included, first), "them")
            };
            let (pid, command) = (context.target.pid, lens.id());
            format!(
                "`sudo jtrace {command} {pid} {patterns} --lane inside` counts {what} through a library in the JVM; "
            )
        });
        Some(format!("{what}. {inside}`jtrace run` starts a JVM that reports everything."))
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
        let Coverage { objects, armed, interpreter, silent, .. } = coverage;
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
        let untraced = silent.iter().filter(|silent| silent.untraced).count();
        notes.push(format!(
            "{} methods run in code that does not report when they {what}{share}: numbers are lower bounds for them and for \
             what they call. `jtrace run` starts a JVM that reports everything.",
            silent.len() - untraced
        ));
        if untraced > 0 {
            notes.push(format!(
                "{untraced} small methods may be inlined in such code without a trace in the JVM's tables: their numbers are lower \
                 bounds, too."
            ));
        }
        let samples = |silent: &Silent| by_method.get(&key(silent)).copied().unwrap_or(0);
        let mut order: Vec<&Silent> = silent.iter().collect();
        order.sort_by_key(|silent| std::cmp::Reverse(samples(silent)));
        let row = |silent: &&Silent| -> Vec<Cell> {
            let Silent { class, method, signature, level, inlined, dropped, untraced } = silent;
            let code = match (untraced, dropped, inlined) {
                (true, ..) => "possibly inlined",
                (_, true, _) => "interpreted",
                (.., true) => "inlined",
                (.., false) => "compiled",
            };
            vec![
                class.clone().into(),
                method.clone().into(),
                signature.clone().into(),
                u64::from(*level).into(),
                code.to_owned().into(),
                samples(silent).into(),
            ]
        };
        Some(Shape::Table(Table {
            id: "not_covered",
            title: format!("Not covered: {} methods", silent.len()),
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

/// Options for what was asked for; where that was asked for in other words, for the first class that is not seen.
fn patterns(included: &[String], first: &Silent) -> String {
    let of_class = [format!("{}::*", first.class)];
    let can_be_woven = |pattern: &String| pattern.contains("::") && !pattern.contains(['\'', '`', '?']);
    let as_written = !included.is_empty() && included.iter().all(can_be_woven);
    options(if as_written { included } else { &of_class })
}

/// Most patterns that stand for code that is not seen.
const PATTERNS: usize = 4;

/// Those of these methods that may make the objects: where neither classes of the JDK nor arrays of numbers were asked for,
/// the program's own, as what makes its objects is nearly always its own code.
fn makers<'a>(silent: &[&'a Silent], included: &[String]) -> Vec<&'a Silent> {
    let own: Vec<&Silent> = silent.iter().copied().filter(|silent| !is_of_jdk(&silent.class)).collect();
    let is_made_anywhere = |pattern: &String| {
        let is_of_numbers = pattern.ends_with("[]") && pattern.starts_with(|first: char| first.is_ascii_lowercase());
        is_of_jdk(pattern) || pattern.starts_with('*') || is_of_numbers && !pattern.contains('.')
    };
    let anywhere = included.is_empty() || included.iter().any(is_made_anywhere);
    if own.is_empty() || anywhere { silent.to_vec() } else { own }
}

/// Options for the code of these methods: their classes where these are few, else the packages in which most of the CPU's
/// time was spent, of equal ones those that have most of the methods.
fn code_of(silent: Vec<&Silent>, samples: &HashMap<Key<'_>, u64>) -> String {
    let classes: BTreeSet<&str> = silent.iter().map(|silent| silent.class.as_str()).collect();
    let mut patterns: Vec<String> = if classes.len() <= PATTERNS {
        classes.into_iter().map(|class| format!("{class}::*")).collect()
    } else {
        let mut packages: BTreeMap<String, (u64, usize)> = BTreeMap::new();
        for silent in silent {
            let class = &silent.class;
            let package = class.rsplit_once('.').map_or_else(|| class.clone(), |(package, _)| format!("{package}.*"));
            let (sampled, methods) = packages.entry(package).or_default();
            *sampled += samples.get(&key(silent)).copied().unwrap_or(0);
            *methods += 1;
        }
        let mut packages: Vec<(String, (u64, usize))> = packages.into_iter().collect();
        packages.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        packages.into_iter().map(|(package, _)| format!("{package}::*")).collect()
    };
    patterns.truncate(PATTERNS);
    options(&patterns)
}

/// As a shell reads them, whatever names a target has made up: what would end the quotes is any text.
fn options(patterns: &[String]) -> String {
    let options = patterns.iter().map(|pattern| format!("-I '{}'", pattern.replace(['\'', '`', '?'], "*")));
    options.collect::<Vec<_>>().join(" ")
}

/// What is not seen of methods of the JDK: a sentence where some were called, or where nothing was.
pub(super) fn not_entered(called: impl IntoIterator<Item = impl AsRef<str>>) -> Option<String> {
    let mut called = called.into_iter().peekable();
    let concerns = called.peek().is_none()
        || called.any(|class| ["java.", "jdk."].iter().any(|jdk| class.as_ref().starts_with(jdk)));
    concerns.then(|| {
        "Methods that the JVM has code of its own for (intrinsics, as `Math.sqrt`, `System.arraycopy`, `Object.getClass`) are not \
         entered where that code stands in the place of the call: such calls are not counted."
            .to_owned()
    })
}

fn key(silent: &Silent) -> Key<'_> {
    (&silent.class, &silent.method, &silent.signature)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, context},
        *,
    };
    use crate::report::Span;

    fn silent(class: &str) -> Silent {
        let (method, signature) = ("sell".to_owned(), "()V".to_owned());
        Silent { class: class.to_owned(), method, signature, level: 4, inlined: false, dropped: false, untraced: false }
    }

    fn headline(coverage: Coverage) -> Option<String> {
        said_of(&Covered { coverage: Some(coverage), ..Covered::default() }, Lens::Methods)
    }

    fn said_of(covered: &Covered, lens: Lens) -> Option<String> {
        let mut play = Play::default();
        play.target.pid = 4711;
        let span = Span { start_ns: 0, duration_ns: MS, started_at_ms: 0, end: "duration".to_owned() };
        covered.headline(lens, context(&play, &span))
    }

    #[test]
    fn what_is_not_seen_is_said_first_with_the_command_that_sees_it() {
        let seen = |seen, silent: &[Silent]| Coverage { seen, silent: silent.to_vec(), ..Coverage::default() };
        let till = [silent("Tally$Till"), silent("Tally$Till")];
        assert_eq!(headline(seen(2, &[])), None, "all of it is seen");
        let said = headline(seen(20, &till)).unwrap();
        assert!(said.starts_with("Part of what was chosen is not seen: 2 of 22 compiled methods"), "{said}");
        let untraced = Silent { untraced: true, ..silent("Tally$Till") };
        let said = headline(seen(1, &[silent("Tally"), untraced])).unwrap();
        assert!(
            said.contains("1 of 2 compiled methods do not report their calls, and 1 may be inlined in them"),
            "{said}"
        );
        let said = headline(seen(1, &till)).unwrap();
        assert!(said.starts_with("Most of what was chosen is not seen: 2 of 3 compiled methods"), "{said}");
        assert!(
            said.contains("`sudo jtrace methods 4711 -I 'Tally$Till::*' --lane inside`")
                && said.contains("`jtrace run`")
        );
        let included = vec!["Tally*::*".to_owned(), "Shop::sell".to_owned()];
        let said = headline(Coverage { included, ..seen(0, &till) }).unwrap();
        assert!(said.contains("`sudo jtrace methods 4711 -I 'Tally*::*' -I 'Shop::sell' --lane inside`"), "{said}");
        let said = headline(Coverage { included: vec!["sell".to_owned()], ..seen(0, &till) }).unwrap();
        assert!(said.contains("-I 'Tally$Till::*'"), "{said}");
        let included = vec!["java.lang.String".to_owned()];
        let covered =
            Covered { coverage: Some(Coverage { objects: true, included, ..seen(0, &till) }), ..Covered::default() };
        let said = said_of(&covered, Lens::Alloc).unwrap();
        assert!(said.contains("`sudo jtrace alloc 4711 -I 'Tally$Till::*' --lane inside`"), "{said}");
        assert!(said.contains("the objects that they make"), "{said}");
    }

    #[test]
    fn code_that_makes_objects_unseen_is_named_by_class_or_by_package() {
        let code = |classes: &[&str]| {
            let silent: Vec<Silent> = classes.iter().map(|class| silent(class)).collect();
            let sampled = [(("c.A", "sell", "()V"), 7)].into();
            code_of(silent.iter().collect(), &sampled)
        };
        assert_eq!(code(&["b.Till", "a.Cart", "b.Till"]), "-I 'a.Cart::*' -I 'b.Till::*'");
        let many = code(&["a.A", "b.A", "b.B", "b.C", "Main", "c.A", "d.A"]);
        assert_eq!(many, "-I 'c.*::*' -I 'b.*::*' -I 'Main::*' -I 'a.*::*'");
        assert_eq!(code(&["a';reboot;'`b`"]), "-I 'a*;reboot;**b*::*'", "nothing of a name is for the shell");
    }

    #[test]
    fn objects_of_the_program_are_made_by_its_own_code() {
        let silent = ["java.lang.String", "a.Cart"].map(silent);
        let made_by = |included: &[&str]| -> Vec<String> {
            let included: Vec<String> = included.iter().map(|pattern| (*pattern).to_owned()).collect();
            makers(&silent.iter().collect::<Vec<_>>(), &included).iter().map(|silent| silent.class.clone()).collect()
        };
        assert_eq!(made_by(&["a.*"]), ["a.Cart"]);
        for all in [&["java.util.*"][..], &["a.*", "java.lang.String"], &["*"], &["*Cart"], &["int[]"], &[]] {
            assert_eq!(made_by(all).len(), 2, "{all:?}");
        }
    }

    #[test]
    fn where_nothing_has_code_it_depends_on_the_interpreter() {
        assert!(
            headline(Coverage::default()).is_some_and(|said| said.starts_with("Nothing of what was chosen is seen"))
        );
        assert_eq!(headline(Coverage { interpreter: true, ..Coverage::default() }), None);
    }
}
