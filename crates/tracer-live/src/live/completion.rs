//! What functions of the JVM do not tell of an event is added here.
//!
//! Notes have names and numbers, functions have pointers ([`Rest`]). What a pointer leads to is read as the record comes out of
//! its ring buffer. An end has nothing but its thread, so it gets the words of the beginning on that thread, when the
//! records are in order. Without a beginning it stays as it is, and pairs with nothing.

mod reader;

use std::collections::{HashMap, HashSet};

use tracer_common::{
    record::{EventKind, HEADER_BYTES, NAME_ABSENT, NAME_UNREADABLE},
    site::MAX_FIELDS,
};

pub use self::reader::Reader;
use crate::{
    decode::Header,
    event::{NameId, Tid},
    probe::{catalog::Rest, plan::Plan},
    source::encode::{encode_definition, name_id},
};

/// Most beginnings that are remembered.
const MAX_OPEN: usize = 65_536;
/// Most beginnings inside each other on one thread.
const MAX_DEPTH: usize = 64;
/// Most names that are remembered as defined.
const MAX_NAMES: usize = 65_536;
/// The byte of a compilation's remembered words that says in its end that it succeeded.
const SUCCESS: usize = 4 * 8;

/// What is added to the records of a plan's sites.
pub struct Completion {
    /// By site.
    rests: Vec<Rest>,
    reader: Option<Reader>,
    /// Groups with ends that get the words of their beginnings, by the kind of these.
    groups: HashMap<u16, &'static str>,
    /// Words of what has begun, by thread and kind.
    open: HashMap<(Tid, u16), Vec<Vec<u8>>>,
    defined: HashSet<NameId>,
    /// Names of objects' classes, by what the objects say of them, as ids: exceptions come by thousands. Until the JVM unloads classes.
    classes: HashMap<u64, u64>,
    /// Whether it was asked since [`Self::look_again`] if it has.
    has_asked: bool,
}

/// The kind of what an end is the end of.
const fn beginning(end: EventKind) -> Option<EventKind> {
    Some(match end {
        EventKind::MonitorContendedEntered => EventKind::MonitorContendedEnter,
        EventKind::MonitorWaited => EventKind::MonitorWait,
        EventKind::ThreadParkEnd => EventKind::ThreadParkBegin,
        EventKind::ThreadSleepEnd => EventKind::ThreadSleepBegin,
        EventKind::VmOperationEnd => EventKind::VmOperationBegin,
        EventKind::CompileEnd => EventKind::CompileBegin,
        _ => return None,
    })
}

impl Completion {
    /// What a plan needs; none where its notes tell everything.
    pub fn new(plan: &Plan) -> Option<Self> {
        let rests: Vec<Rest> = plan.sites.iter().map(|site| site.rest).collect();
        let ends = plan.sites.iter().filter(|site| site.rest == Rest::Beginning);
        let groups = ends.filter_map(|site| Some((beginning(site.kind)? as u16, site.group))).collect();
        let is_needed = rests.iter().any(|rest| *rest != Rest::Nothing);
        is_needed.then(|| Self {
            rests,
            reader: None,
            groups,
            open: HashMap::new(),
            defined: HashSet::new(),
            classes: HashMap::new(),
            has_asked: false,
        })
    }

    /// Time passes: another class may be where one was.
    pub(super) fn look_again(&mut self) {
        self.has_asked = false;
    }

    /// What reads the target, once it is known.
    pub fn know(&mut self, reader: Option<Reader>) {
        self.reader = reader;
    }

    /// The same record with what its pointers lead to; `define` gets records that name what is new.
    pub(super) fn fill(&mut self, record: &[u8], define: &mut dyn FnMut(&[u8])) -> Option<Vec<u8>> {
        let header = Header::read(record).ok().filter(|header| !header.is_definition())?;
        let rest = *self.rests.get(usize::from(header.site.0))?;
        if matches!(rest, Rest::Nothing | Rest::Beginning) {
            return None;
        }
        let mut words = Words::of(record)?;
        let Self { reader, defined, classes, has_asked, .. } = self;
        let mut name = |text: Option<Vec<u8>>| {
            let Some(text) = text else { return NAME_ABSENT };
            let id = name_id(&text);
            if defined.len() >= MAX_NAMES {
                defined.clear();
            }
            if defined.insert(id) {
                define(&encode_definition(id, &text));
            }
            id.0
        };
        if rest == Rest::ObjectClass && !std::mem::replace(has_asked, true) {
            if reader.as_mut().is_none_or(Reader::may_have_lost_classes) {
                classes.clear();
            }
            // What could not be read may be readable now.
            classes.retain(|_, id| *id != NAME_ABSENT);
        }
        let reader = reader.as_ref();
        match rest {
            Rest::Nothing | Rest::Beginning => {}
            Rest::MonitorClass => {
                let class = words.get(1);
                if class != NAME_UNREADABLE {
                    words.set(1, name(reader.and_then(|reader| reader.class_of_monitor(words.get(0), class))));
                }
            }
            Rest::ObjectClass => {
                let class = words.get(0);
                if class != NAME_UNREADABLE {
                    if classes.len() >= MAX_NAMES {
                        classes.clear();
                    }
                    let of_class = || name(reader.and_then(|reader| reader.class_of_object(class)));
                    words.set(0, *classes.entry(class).or_insert_with(of_class));
                }
            }
            Rest::Milliseconds => words.set(0, words.get(0) / 1_000_000),
            Rest::Operation => {
                words.set(0, name(reader.and_then(|reader| reader.operation(words.get(0))).map(Vec::from)));
            }
            Rest::ClassState => {
                if reader.is_some_and(|reader| reader.is_error(words.get(1))) {
                    words.set_kind(EventKind::ClassInitError);
                }
                words.set(1, 0);
            }
            Rest::Task => {
                words.set(0, name(reader.map(|_| Reader::compiler(words.get(0)).into())));
                let texts = reader.and_then(|reader| reader.method(words.get(1)));
                for (index, text) in (1..).zip(split(texts)) {
                    words.set(index, name(text));
                }
            }
            Rest::Nmethod => {
                let texts = reader.and_then(|reader| reader.method(words.get(0)));
                for (index, text) in (0..).zip(split(texts)) {
                    words.set(index, name(text));
                }
                let [start, bytes] = reader.and_then(|reader| reader.code(words.get(3))).unwrap_or_default();
                words.set(3, start);
                words.set(4, bytes);
            }
        }
        Some(words.0)
    }

    /// The same record with the words of its beginning, where it is an end; records come here in the order of their times.
    pub(super) fn in_order(&mut self, record: &[u8]) -> Option<Vec<u8>> {
        let header = Header::read(record).ok().filter(|header| !header.is_definition())?;
        let kind = EventKind::from_number(header.kind)?;
        if kind == EventKind::CodeLoaded
            && let Some(compiling) = self.open.get_mut(&(header.tid, EventKind::CompileBegin as u16))
        {
            // A compiler's thread has installed what it compiles.
            for words in compiling {
                words[SUCCESS] = 1;
            }
        }
        if self.groups.contains_key(&header.kind) {
            self.begin((header.tid, header.kind), record);
            return None;
        }
        if self.rests.get(usize::from(header.site.0)) != Some(&Rest::Beginning) {
            return None;
        }
        let begun = self.end((header.tid, beginning(kind)? as u16))?;
        let mut words = Words::of(record)?;
        for index in 0..kind.words() {
            let at = index * 8;
            words.set(index, begun.get(at..at + 8).map_or(0, Words::number));
        }
        Some(words.0)
    }

    fn begin(&mut self, key: (Tid, u16), record: &[u8]) {
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&key) {
            return;
        }
        let open = self.open.entry(key).or_default();
        if open.len() >= MAX_DEPTH {
            open.remove(0);
        }
        let mut words = record.get(HEADER_BYTES..).unwrap_or_default().to_vec();
        words.resize(MAX_FIELDS * 8, 0);
        open.push(words);
    }

    /// Takes out what began last. A thread in which nothing is open leaves nothing behind: it may be one of millions.
    fn end(&mut self, key: (Tid, u16)) -> Option<Vec<u8>> {
        let begun = self.open.get_mut(&key)?.pop()?;
        if self.open.get(&key).is_some_and(Vec::is_empty) {
            self.open.remove(&key);
        }
        Some(begun)
    }

    /// Ends of a group were not seen: what has begun is not the beginning of what ends next.
    pub(super) fn forget(&mut self, group: &str) {
        let Self { open, groups, .. } = self;
        open.retain(|(_, kind), _| groups.get(kind).copied() != Some(group));
    }
}

/// Class, name and descriptor of a method, each absent where it has none.
fn split(texts: Option<[Vec<u8>; 3]>) -> [Option<Vec<u8>>; 3] {
    texts.map_or([None, None, None], |texts| texts.map(Some))
}

/// A copy of a record whose words can be changed.
struct Words(Vec<u8>);

impl Words {
    fn of(record: &[u8]) -> Option<Self> {
        (record.len() >= HEADER_BYTES).then(|| Self(record.to_vec()))
    }

    fn number(bytes: &[u8]) -> u64 {
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    fn get(&self, index: usize) -> u64 {
        let at = HEADER_BYTES + 8 * index;
        self.0.get(at..at + 8).map_or(0, Self::number)
    }

    fn set(&mut self, index: usize, value: u64) {
        let at = HEADER_BYTES + 8 * index;
        if let Some(bytes) = self.0.get_mut(at..at + 8) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    fn set_kind(&mut self, kind: EventKind) {
        if let Some(bytes) = self.0.get_mut(..2) {
            bytes.copy_from_slice(&(kind as u16).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event::SiteId, source::encode::encode_event};

    const T: Tid = Tid(7);
    const SITES: [Rest; 5] = [Rest::Nothing, Rest::Beginning, Rest::Milliseconds, Rest::Nothing, Rest::ClassState];

    fn completion() -> Completion {
        let groups = [(EventKind::ThreadParkBegin as u16, "park"), (EventKind::CompileBegin as u16, "compile")];
        Completion {
            rests: SITES.to_vec(),
            reader: None,
            groups: groups.into(),
            open: HashMap::new(),
            defined: HashSet::new(),
            classes: HashMap::new(),
            has_asked: false,
        }
    }

    fn event(kind: EventKind, site: u16, words: &[u64]) -> Vec<u8> {
        encode_event(kind, SiteId(site), T, 1, words)
    }

    fn first(record: Option<Vec<u8>>) -> Option<u64> {
        record.map(|record| Words(record).get(0))
    }

    #[test]
    fn an_end_gets_the_words_of_the_innermost_beginning_on_its_thread() {
        let mut completion = completion();
        let end = event(EventKind::ThreadParkEnd, 1, &[0]);
        assert_eq!(completion.in_order(&end), None, "nothing has begun");
        for parker in [10, 20] {
            assert_eq!(completion.in_order(&event(EventKind::ThreadParkBegin, 0, &[parker, 0, 0])), None);
        }
        assert_eq!(completion.in_order(&encode_event(EventKind::ThreadParkEnd, SiteId(1), Tid(8), 1, &[0])), None);
        assert_eq!(first(completion.in_order(&end)), Some(20));
        assert_eq!(first(completion.in_order(&end)), Some(10));
        assert_eq!(completion.in_order(&end), None);
    }

    #[test]
    fn what_began_before_ends_were_missed_is_forgotten() {
        let mut completion = completion();
        let _: Option<Vec<u8>> = completion.in_order(&event(EventKind::ThreadParkBegin, 0, &[10, 0, 0]));
        completion.forget("wait");
        completion.forget("park");
        assert_eq!(completion.in_order(&event(EventKind::ThreadParkEnd, 1, &[0])), None);
    }

    #[test]
    fn a_compilation_succeeds_where_it_installs_code() {
        for installs in [false, true] {
            let mut completion = completion();
            let _: Option<Vec<u8>> = completion.in_order(&event(EventKind::CompileBegin, 0, &[1, 2, 3, 4]));
            if installs {
                assert_eq!(completion.in_order(&event(EventKind::CodeLoaded, 3, &[2, 3, 4, 5, 6])), None);
            }
            let end = completion.in_order(&event(EventKind::CompileEnd, 1, &[0; 5])).map(Words).expect("it has begun");
            assert_eq!([0, 1, 2, 3, 4].map(|index| end.get(index)), [1, 2, 3, 4, u64::from(installs)]);
        }
    }

    #[test]
    fn words_change_their_unit_and_what_has_no_reader_stays_without_a_name() {
        let mut completion = completion();
        let mut none = |_: &[u8]| panic!("nothing is defined");
        let sleep = completion.fill(&event(EventKind::ThreadSleepBegin, 2, &[25_000_000]), &mut none);
        assert_eq!(first(sleep), Some(25));
        let ended = completion.fill(&event(EventKind::ClassInitEnd, 4, &[9, 4]), &mut none).map(Words).expect("filled");
        assert_eq!((ended.get(0), ended.get(1)), (9, 0));
        assert_eq!(completion.fill(&event(EventKind::ThreadYield, 0, &[]), &mut none), None);
        assert_eq!(completion.fill(&[1, 2, 3], &mut none), None);
        assert_eq!(completion.in_order(&[1, 2, 3]), None);
    }

    #[test]
    fn beginnings_are_bounded() {
        let mut completion = completion();
        for parker in 0..1000 {
            let _: Option<Vec<u8>> = completion.in_order(&event(EventKind::ThreadParkBegin, 0, &[parker, 0, 0]));
        }
        assert_eq!(completion.open.values().map(Vec::len).sum::<usize>(), MAX_DEPTH);
    }

    #[test]
    fn threads_that_ended_leave_nothing() {
        let mut completion = completion();
        for tid in (0..1000).map(Tid) {
            let begun = encode_event(EventKind::ThreadParkBegin, SiteId(0), tid, 1, &[10, 0, 0]);
            let ended = encode_event(EventKind::ThreadParkEnd, SiteId(1), tid, 2, &[0]);
            assert_eq!(completion.in_order(&begun), None);
            assert_eq!(first(completion.in_order(&ended)), Some(10));
        }
        assert!(completion.open.is_empty(), "{} threads", completion.open.len());
    }
}
