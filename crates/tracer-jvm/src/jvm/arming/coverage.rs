//! Which methods still run in code that does not call the stubs: those are not counted, and the report must name them.
//!
//! Where the code itself could be read, it decides. Else code that was there before arming does not call, and code that
//! came later does: the flag is read when a compilation starts, so that one or two that were under way are taken wrongly.

use std::collections::{BTreeMap, BTreeSet};

use super::snapshot::{Code, Compilation, Name, Snapshot};

/// The first release whose interpreter and native wrappers have the flags baked in when the JVM starts.
const BAKED_SINCE: u32 = 24;

/// What is wanted to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probes {
    /// Entries and returns of methods.
    Methods,
    /// Allocations.
    Allocations,
}

impl Probes {
    /// The flag that makes HotSpot compile calls of the stub.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Methods => "DTraceMethodProbes",
            Self::Allocations => "DTraceAllocProbes",
        }
    }
}

/// A piece of code that does not call the stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silent {
    /// Which one.
    pub code: Code,
    /// Its level.
    pub level: u8,
    /// Whether a method is only inlined into it.
    pub inlined: bool,
    /// Whether it was there before arming.
    pub before: bool,
}

/// Whether the calls of a method are seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All code of it calls the stub.
    Covered,
    /// Some code of it does not.
    NotCovered(Vec<Silent>),
}

/// Whether what runs in the interpreter is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// It asks the flag each time.
    WhileArmed,
    /// It calls whenever it runs: the JVM was started with the flag.
    Always,
    /// It never calls, whatever the flag says.
    Never,
}

/// What was covered from arming until now.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The verdict on every method that has compiled code, alone or inlined.
    pub methods: BTreeMap<Name, Verdict>,
    /// Methods that had compiled code before, and have none: they run in the interpreter, or not at all.
    pub without_code: BTreeSet<Name>,
    /// What runs interpreted.
    pub interpreter: Interpreter,
    /// Whether all verdicts rest on the code itself.
    pub by_code: bool,
    covered: BTreeSet<u32>,
    silent: BTreeSet<u32>,
}

impl Coverage {
    /// Whether a compilation calls the stub; absent for one that was not there. Some native wrappers share the number 0.
    pub fn is_covered(&self, compile_id: u32) -> Option<bool> {
        if self.silent.contains(&compile_id) {
            return Some(false);
        }
        self.covered.contains(&compile_id).then_some(true)
    }

    /// The methods that are not covered, in the order of their names.
    pub fn not_covered(&self) -> impl Iterator<Item = (&Name, &[Silent])> {
        self.methods.iter().filter_map(|(name, verdict)| match verdict {
            Verdict::Covered => None,
            Verdict::NotCovered(silent) => Some((name, &silent[..])),
        })
    }
}

impl Coverage {
    /// With methods of code that was there before and is gone now, where arming has thrown none away: until its successor came, nothing
    /// told of their calls.
    #[must_use]
    pub fn with_replaced(mut self, probes: Probes, before: &Snapshot, after: &Snapshot) -> Self {
        let stays: BTreeSet<Code> = after.in_use().map(|compilation| compilation.code).collect();
        let gone = before.in_use().filter(|compilation| !compilation.is_glue() && !stays.contains(&compilation.code));
        for compilation in gone.filter(|compilation| !calls(probes, compilation, true, before.release)) {
            for (name, inlined) in methods(compilation) {
                let silent = Silent { code: compilation.code, level: compilation.level, inlined, before: true };
                self.methods.entry(name.clone()).or_insert(Verdict::Covered).add(silent);
                self.without_code.remove(name);
            }
        }
        self
    }
}

impl Verdict {
    fn add(&mut self, silent: Silent) {
        match self {
            Self::Covered => *self = Self::NotCovered(vec![silent]),
            Self::NotCovered(all) => all.push(silent),
        }
    }
}

/// A compilation's methods, and whether each is only inlined into it.
fn methods(compilation: &Compilation) -> impl Iterator<Item = (&Name, bool)> {
    std::iter::once((&compilation.name, false)).chain(compilation.inlined.iter().map(|name| (name, true)))
}

/// Compares the code before arming with the code now.
pub fn coverage(probes: Probes, before: &Snapshot, after: &Snapshot) -> Coverage {
    let mut found = Coverage {
        methods: BTreeMap::new(),
        without_code: BTreeSet::new(),
        interpreter: interpreter(probes, after),
        by_code: probes == Probes::Methods && after.code.values().all(|code| code.calls.is_some()),
        covered: BTreeSet::new(),
        silent: BTreeSet::new(),
    };
    for compilation in after.code.values() {
        let was_there = before.code.contains_key(&compilation.code);
        let calls = calls(probes, compilation, was_there, after.release);
        let ids = if calls { &mut found.covered } else { &mut found.silent };
        ids.insert(compilation.code.compile_id);
    }
    for compilation in after.in_use() {
        if compilation.is_glue() {
            continue;
        }
        for (name, inlined) in methods(compilation) {
            let was_there = before.code.contains_key(&compilation.code);
            let verdict = found.methods.entry(name.clone()).or_insert(Verdict::Covered);
            if calls(probes, compilation, was_there, after.release) {
                continue;
            }
            verdict.add(Silent { code: compilation.code, level: compilation.level, inlined, before: was_there });
        }
    }
    let had_code = before.in_use().filter(|compilation| !compilation.is_glue()).flat_map(Compilation::names);
    found.without_code = had_code.filter(|name| !found.methods.contains_key(*name)).cloned().collect();
    found
}

/// Code that calls the stub and was compiled since: it goes on calling when the flag is down, until the JVM drops it.
pub fn residue<'a>(probes: Probes, before: &'a Snapshot, after: &'a Snapshot) -> impl Iterator<Item = &'a Compilation> {
    after.in_use().filter(move |compilation| {
        let calls = compilation.calls.is_some_and(|calls| match probes {
            Probes::Methods => calls.entry || calls.exit,
            Probes::Allocations => calls.allocation,
        });
        // Wrappers of native methods ask the flag.
        let asks = compilation.native && after.release < BAKED_SINCE;
        calls && !asks && !before.code.contains_key(&compilation.code)
    })
}

/// Whether a piece of code calls the stub where it should.
fn calls(probes: Probes, compilation: &Compilation, was_there: bool, release: u32) -> bool {
    match (probes, compilation.calls) {
        // A loop's code is entered where no method is entered; what it calls when it leaves says how it was compiled.
        (Probes::Methods, Some(calls)) => calls.entry || compilation.osr_bci.is_some() && calls.exit,
        // Code that allocates nothing calls no stub and misses nothing, which its bytes do not tell.
        (Probes::Allocations, Some(calls)) => calls.allocation || !was_there,
        // A wrapper asks the flag each time, up to that release.
        (Probes::Methods, None) => !was_there || compilation.native && release < BAKED_SINCE,
        (Probes::Allocations, None) => !was_there,
    }
}

fn interpreter(probes: Probes, now: &Snapshot) -> Interpreter {
    let calls = now.interpreter.map(|calls| match probes {
        Probes::Methods => calls.entry,
        Probes::Allocations => calls.allocation,
    });
    match calls {
        _ if now.release < BAKED_SINCE => Interpreter::WhileArmed,
        Some(true) => Interpreter::Always,
        // Without symbols it is not known how it was started; the worse is said.
        Some(false) | None => Interpreter::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{snapshot::Use, stubs::Calls},
        *,
    };

    const CALLS: Calls = Calls { entry: true, exit: true, allocation: false };

    fn name(method: &str) -> Name {
        Name { class: "com.shop.Cart".to_owned(), method: method.to_owned(), signature: "()V".to_owned() }
    }

    fn code(compile_id: u32, method: &str, inlined: &[&str], calls: Option<Calls>) -> Compilation {
        Compilation {
            code: Code { compile_id, address: 0x1000 + u64::from(compile_id) * 64 },
            level: 4,
            native: false,
            osr_bci: None,
            bytes: 64,
            name: name(method),
            inlined: inlined.iter().map(|method| name(method)).collect(),
            usage: Use::Entered,
            calls,
        }
    }

    fn snapshot(release: u32, code: &[Compilation]) -> Snapshot {
        let code = code.iter().map(|code| (code.code, code.clone())).collect();
        Snapshot { release, code, interpreter: Some(Calls::default()), unread: 0 }
    }

    fn names(coverage: &Coverage) -> Vec<&str> {
        coverage.not_covered().map(|(name, _)| &*name.method).collect()
    }

    #[test]
    fn code_that_does_not_call_covers_neither_its_method_nor_those_inlined_into_it() {
        let silent = Some(Calls::default());
        let before = snapshot(21, &[code(1, "add", &["price"], silent)]);
        let after = snapshot(
            21,
            &[code(1, "add", &["price"], silent), code(2, "price", &[], Some(CALLS)), code(3, "pay", &[], Some(CALLS))],
        );
        let coverage = coverage(Probes::Methods, &before, &after);
        assert_eq!(names(&coverage), ["add", "price"]);
        let of_price =
            Silent { code: before.code.values().next().unwrap().code, level: 4, inlined: true, before: true };
        assert_eq!(coverage.methods[&name("price")], Verdict::NotCovered(vec![of_price]));
        assert_eq!(coverage.methods[&name("pay")], Verdict::Covered);
        assert_eq!([1, 2, 9].map(|id| coverage.is_covered(id)), [Some(false), Some(true), None]);
        assert!(coverage.by_code);
    }

    #[test]
    fn code_that_was_thrown_away_counts_no_more_but_its_frames_are_still_known() {
        let old = code(1, "add", &[], Some(Calls::default()));
        let left = Compilation { usage: Use::Left, ..old.clone() };
        let after = snapshot(21, &[left, code(2, "add", &[], Some(CALLS))]);
        let coverage = coverage(Probes::Methods, &snapshot(21, &[old]), &after);
        assert_eq!(names(&coverage), Vec::<&str>::new());
        assert_eq!(coverage.is_covered(1), Some(false));
        assert!(coverage.without_code.is_empty());
    }

    #[test]
    fn what_was_dropped_and_not_compiled_again_has_no_code() {
        let old = code(1, "add", &["price"], Some(Calls::default()));
        let coverage =
            coverage(Probes::Methods, &snapshot(25, &[old]), &snapshot(25, &[code(2, "pay", &[], Some(CALLS))]));
        assert_eq!(coverage.without_code, BTreeSet::from([name("add"), name("price")]));
        assert_eq!((names(&coverage), coverage.interpreter), (Vec::new(), Interpreter::Never));
    }

    #[test]
    fn code_that_was_replaced_meanwhile_had_not_told_of_its_calls() {
        let silent = Calls { entry: false, exit: false, allocation: false };
        let before = snapshot(17, &[code(1, "add", &["price"], Some(silent)), code(2, "pay", &[], Some(CALLS))]);
        let after = snapshot(17, &[code(3, "add", &["price"], Some(CALLS)), code(4, "pay", &[], Some(CALLS))]);
        let found = coverage(Probes::Methods, &before, &after);
        assert_eq!(names(&found), [""; 0], "all code of now reports");
        assert_eq!(names(&found.with_replaced(Probes::Methods, &before, &after)), ["add", "price"]);
        let same = coverage(Probes::Methods, &before, &before).with_replaced(Probes::Methods, &before, &before);
        assert_eq!(names(&same), ["add", "price"]);
        assert!(same.not_covered().all(|(_, silent)| silent.len() == 1), "what is still there counts once");
    }

    #[test]
    fn a_compilation_that_was_under_way_when_the_flag_went_up_is_found_by_its_code() {
        let after = snapshot(21, &[code(7, "late", &[], Some(Calls::default()))]);
        assert_eq!(names(&coverage(Probes::Methods, &snapshot(21, &[]), &after)), ["late"]);
    }

    #[test]
    fn without_symbols_what_was_there_before_is_not_covered_and_it_is_said() {
        let native = Compilation { native: true, level: 0, ..code(3, "hash", &[], None) };
        let before = snapshot(17, &[code(1, "old", &[], None), native.clone()]);
        let after = snapshot(17, &[code(1, "old", &[], None), code(2, "new", &[], None), native]);
        let on_17 = coverage(Probes::Methods, &before, &after);
        assert_eq!((names(&on_17), on_17.by_code), (vec!["old"], false));
        let later = Snapshot { release: 25, interpreter: None, ..after };
        let on_25 = coverage(Probes::Methods, &before, &later);
        assert_eq!((names(&on_25), on_25.interpreter), (vec!["hash", "old"], Interpreter::Never));
    }

    #[test]
    fn a_loop_that_was_compiled_with_the_flag_calls_only_when_it_leaves() {
        let of_loop = Compilation { osr_bci: Some(4), ..code(5, "sum", &[], Some(Calls { entry: false, ..CALLS })) };
        let silent = Compilation { osr_bci: Some(4), ..code(6, "scan", &[], Some(Calls::default())) };
        assert_eq!(names(&coverage(Probes::Methods, &snapshot(21, &[]), &snapshot(21, &[of_loop, silent]))), ["scan"]);
    }

    #[test]
    fn code_between_methods_is_no_method_that_anybody_calls() {
        let handle = Name { class: "java.lang.invoke.MethodHandle".to_owned(), ..name("linkToStatic") };
        let glue = Compilation { native: true, name: handle, ..code(5, "", &[], Some(Calls::default())) };
        assert_eq!(coverage(Probes::Methods, &snapshot(21, &[]), &snapshot(21, &[glue])).methods.len(), 0);
    }

    #[test]
    fn the_interpreter_asks_the_flag_up_to_23_and_later_does_as_it_was_built() {
        let of = |release, calls| {
            let now = Snapshot { interpreter: Some(calls), ..snapshot(release, &[]) };
            coverage(Probes::Methods, &now, &now).interpreter
        };
        assert_eq!(of(23, CALLS), Interpreter::WhileArmed);
        assert_eq!(of(24, CALLS), Interpreter::Always);
        assert_eq!(of(25, Calls::default()), Interpreter::Never);
    }

    #[test]
    fn what_goes_on_calling_is_code_of_the_time_of_arming_but_no_wrapper_that_asks_the_flag() {
        let wrapper = Compilation { native: true, ..code(3, "hash", &[], Some(CALLS)) };
        let before = snapshot(21, &[code(1, "own", &[], Some(CALLS))]);
        let after = snapshot(
            21,
            &[code(1, "own", &[], Some(CALLS)), code(2, "new", &[], Some(CALLS)), wrapper, code(4, "quiet", &[], None)],
        );
        let of = |release| {
            let after = Snapshot { release, ..after.clone() };
            residue(Probes::Methods, &before, &after).map(|code| code.name.method.clone()).collect::<Vec<_>>()
        };
        assert_eq!((of(21), of(25)), (vec!["new".to_owned()], vec!["new".to_owned(), "hash".to_owned()]));
    }

    #[test]
    fn new_code_without_an_allocation_misses_none() {
        let before = snapshot(25, &[code(1, "old", &[], Some(Calls::default()))]);
        let after =
            snapshot(25, &[code(1, "old", &[], Some(Calls::default())), code(2, "plain", &[], Some(Calls::default()))]);
        let coverage = coverage(Probes::Allocations, &before, &after);
        assert_eq!((names(&coverage), coverage.by_code), (vec!["old"], false));
    }
}
