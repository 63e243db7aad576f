//! Random predicates and events, for tests that compare two ways of evaluating them.
//!
//! The same seed gives the same cases everywhere, so a test inside the kernel and one in user space look at the same ones:
//!
//! ```
//! use tracer_query::predicate::random::Cases;
//! use tracer_common::filter::evaluate;
//! for case in Cases::new(1).take(1_000) {
//!     let mut counted = case.tallies;
//!     let kernel = evaluate(&case.filter, &case.inputs, |tally| {
//!         counted[usize::from(tally)] += 1;
//!         counted[usize::from(tally)]
//!     });
//!     assert_eq!((kernel && case.user, counted), (case.expected, case.counted), "{}", case.text);
//!     assert!(kernel || !case.needed, "{}", case.text);
//! }
//! ```

use tracer_common::filter::{Filter, INPUTS, MAX_TALLIES};

use super::{
    Counters, Event, Field, Kind, Predicate, Split, Subject, Thread,
    field::Type,
    split::Why,
    tree::{Comparison, Condition, Expr, Name, TextTest, Tree},
};
use crate::random::Random;

/// How many cases in a row have the same graph.
pub const EVENTS: usize = 10;

/// A graph, an event, and what must come out.
#[derive(Clone, Debug)]
pub struct Case {
    /// The predicate, as it would be written.
    pub text: String,
    /// The kernel's graph; the same for [`EVENTS`] cases in a row.
    pub filter: Filter,
    /// What the graph is given.
    pub inputs: [u64; INPUTS],
    /// How many events each of the graph's counters has counted before.
    pub tallies: [u64; MAX_TALLIES],
    /// What user space says of the event if the graph wants it; `true` where nothing is left to it.
    pub user: bool,
    /// What the whole predicate says, evaluated over names and numbers: graph and user space together must say so.
    pub expected: bool,
    /// How many events each of the graph's counters must have counted afterwards.
    pub counted: [u64; MAX_TALLIES],
    /// Whether the graph must want the event, because user space counts it, whatever comes out.
    pub needed: bool,
    /// What is left to user space.
    pub rest: Rest,
}

/// What a graph leaves to user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: the graph alone must say what is expected.
    Nothing,
    /// What only user space can decide.
    Parts,
    /// Also a part that the graph has no room for.
    Overflow,
}

/// An endless sequence of cases.
#[derive(Clone, Debug)]
pub struct Cases {
    random: Random,
    predicate: Predicate,
    split: Split,
    used: usize,
}

impl Cases {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let predicate = predicate(&mut random);
        let split = predicate.split();
        Self { random, predicate, split, used: 0 }
    }
}

impl Iterator for Cases {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        if self.used == EVENTS {
            self.predicate = predicate(&mut self.random);
            self.split = self.predicate.split();
            self.used = 0;
        }
        self.used += 1;
        let happening = Happening::new(&mut self.random, self.predicate.kind);
        Some(case(&self.predicate, &self.split, &happening.event(), &mut self.random))
    }
}

fn case(predicate: &Predicate, split: &Split, event: &Event<'_>, random: &mut Random) -> Case {
    let mut before = Counters::default();
    for counter in 0..counters(predicate) {
        before.set(counter, random.below(12) as u64);
    }
    let mut after = before.clone();
    let expected = predicate.eval(event, &mut after);
    let user = split.user().is_none_or(|expr| expr.eval(event, &mut before.clone()));
    let kernel = |counters: &Counters| {
        let mut tallies = [0; MAX_TALLIES];
        for (tally, counter) in tallies.iter_mut().zip(&split.counters) {
            *tally = counters.get(*counter);
        }
        tallies
    };
    let rest = match split.left.iter().any(|left| left.why == Why::NoRoom) {
        true => Rest::Overflow,
        false if split.left.is_empty() => Rest::Nothing,
        false => Rest::Parts,
    };
    let left_counts = |counter: usize| !split.counters.contains(&counter) && before.get(counter) != after.get(counter);
    Case {
        needed: (0..counters(predicate)).any(left_counts),
        text: predicate.expr.as_ref().map_or_else(String::new, ToString::to_string),
        filter: split.filter,
        inputs: split.inputs(event),
        tallies: kernel(&before),
        user,
        expected,
        counted: kernel(&after),
        rest,
    }
}

/// How many counters a predicate has.
pub fn counters(predicate: &Predicate) -> usize {
    let mut counters = 0;
    if let Some(expr) = &predicate.expr {
        expr.each(&mut |condition| counters += usize::from(condition.counts()));
    }
    counters
}

const CLASSES: [&str; 6] = ["com/shop/Cart", "com/shop/Order", "com/shop/cart/Item", "Main", "[B", "[Lcom/shop/Cart;"];
const METHODS: [&str; 5] = ["add", "checkout", "<init>", "lambda$main$0", "addAll"];
const SIGNATURES: [&str; 3] = ["()V", "(I)V", "(Ljava/lang/String;)Lcom/shop/Cart;"];
const THREADS: [&str; 4] = ["main", "http-1", "http-22", "GC Thread#0"];
const PATTERNS: [&str; 10] =
    ["com.shop.*", "*Cart*", "com/shop/?art", "*", "a*", "*.add", "http-?", "*V", "*[]", "???n"];

/// One of some things.
fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

/// A predicate of any kind; one in eight has far more conditions than a graph has nodes, half of these only such that the
/// kernel could decide.
pub fn predicate(random: &mut Random) -> Predicate {
    let kind = pick(random, &Kind::ALL);
    let long = random.below(8) == 0;
    let conditions = if long { 40 + random.below(120) } else { 1 + random.below(10) };
    let plain = long && random.below(2) == 0;
    let expr = Grower { random, kind, counters: 0, plain }.tree(conditions, 0);
    Predicate { kind, expr: Some(expr) }
}

/// Makes the tree of a predicate.
struct Grower<'a> {
    random: &'a mut Random,
    kind: Kind,
    /// How many tests count already.
    counters: usize,
    /// Whether it has nothing that only user space knows, and no test that counts or draws.
    plain: bool,
}

impl Grower<'_> {
    fn tree(&mut self, conditions: usize, depth: usize) -> Expr {
        if self.random.below(8) == 0 && depth < 12 {
            return self.tree(conditions, depth + 1).negated();
        }
        if conditions <= 1 || depth >= 12 {
            return Expr::made(Tree::Test(self.condition()));
        }
        let wanted = (2 + self.random.below(if conditions > 12 { 12 } else { 3 })).min(conditions);
        let (mut parts, mut left) = (Vec::new(), conditions);
        for coming in (0..wanted).rev() {
            let most = (2 * left / (coming + 1)).min(left - coming);
            let share = if coming == 0 { left } else { 1 + self.random.below(most) };
            parts.push(self.tree(share, depth + 1));
            left -= share;
        }
        Expr::made(if self.random.below(2) == 0 { Tree::And(parts) } else { Tree::Or(parts) })
    }

    fn condition(&mut self) -> Condition {
        let Self { random, kind, counters, plain } = self;
        match random.below(24) {
            choice @ 0..3 if !*plain => return counting(random, choice, counters),
            _ => {}
        }
        let has = |field: &Field| kind.has(*field) && !(*plain && *field == Field::Line);
        let fields: Vec<Field> = Field::ALL.into_iter().filter(has).collect();
        let field = pick(random, &fields);
        match field.holds() {
            Type::Text => text(random, field),
            Type::Flag => Condition::Daemon { wanted: random.below(2) == 0 },
            Type::Number | Type::Bytes | Type::Time if random.below(5) == 0 => {
                let values = (0..=random.below(4)).map(|_| value(random)).collect();
                Condition::OneOf { field, wanted: random.below(2) == 0, values }
            }
            Type::Number | Type::Bytes | Type::Time => {
                Condition::Number { field, comparison: pick(random, &Comparison::ALL), value: value(random) }
            }
        }
    }
}

/// A test that draws or counts.
fn counting(random: &mut Random, choice: usize, counters: &mut usize) -> Condition {
    let number = 1 + random.below(4) as u64;
    if choice == 0 {
        return Condition::Sample { one_in: number };
    }
    let counter = *counters;
    *counters += 1;
    if choice == 1 {
        return Condition::Nth { nth: number, counter };
    }
    Condition::First { count: pick(random, &[number, number + 5, u64::MAX]), counter }
}

fn text(random: &mut Random, field: Field) -> Condition {
    let mut name = || {
        let (class, method) = (pick(random, &CLASSES), pick(random, &METHODS));
        Name::new(
            field,
            match field {
                Field::Class | Field::CallerClass => class.to_owned(),
                Field::Method | Field::CallerMethod => method.to_owned(),
                Field::Signature => pick(random, &SIGNATURES).to_owned(),
                Field::Package => pick(random, &["com.shop", "com/shop/cart", "", "com"]).to_owned(),
                Field::Thread => pick(random, &THREADS).to_owned(),
                _ => format!("{class}::{method}"),
            },
        )
    };
    let test = match name() {
        first if first.to_string().len() % 3 == 0 => TextTest::In(vec![first, name(), name()]),
        first => TextTest::Is(first),
    };
    let test = if random.below(2) == 0 { TextTest::Like(Name::new(field, pick(random, &PATTERNS))) } else { test };
    Condition::Text { field, wanted: random.below(3) > 0, test }
}

/// A number that is often at an edge, or the same as another.
fn value(random: &mut Random) -> u64 {
    let small = random.below(6) as u64;
    let any = random.bits();
    pick(random, &[small, small, small, small * 1_000, 1 << 20, u64::MAX, u64::MAX - 1, any, 0])
}

/// An event with the names it needs.
#[derive(Clone, Debug)]
pub struct Happening {
    subject: Subject,
    caller: Option<Subject>,
    thread: Thread,
    numbers: [u64; 5],
    line: Option<u64>,
    random: u32,
}

impl Happening {
    /// An event of a kind.
    pub fn new(random: &mut Random, kind: Kind) -> Self {
        let method = |random: &mut Random| {
            Subject::method(pick(random, &CLASSES), pick(random, &METHODS), pick(random, &SIGNATURES))
        };
        let subject = match kind {
            Kind::MethodEntry | Kind::MethodReturn | Kind::Point | Kind::Region => method(random),
            Kind::Allocation | Kind::HeapObject => Subject::class(pick(random, &CLASSES)),
            Kind::Jni => Subject::function(pick(random, &METHODS)),
        };
        Self {
            subject,
            caller: (random.below(4) > 0).then(|| method(random)),
            thread: Thread { name: pick(random, &THREADS).to_owned(), daemon: random.below(2) == 0 },
            numbers: [value(random), value(random), value(random), value(random), value(random)],
            line: (random.below(4) > 0).then(|| value(random)),
            random: u32::try_from(random.bits() >> 32).unwrap_or_default() >> random.below(32),
        }
    }

    /// The event.
    pub fn event(&self) -> Event<'_> {
        let Self { subject, caller, thread, numbers: [tid, cpu, size, duration, depth], line, random } = self;
        Event {
            subject,
            caller: caller.as_ref(),
            thread,
            tid: *tid,
            cpu: *cpu,
            size: *size,
            duration: *duration,
            depth: *depth,
            line: *line,
            random: *random,
        }
    }
}
