//! Plans for JVMs made by hand: with notes, without, with some of them unusable.

use tracer_common::site::{Place, Register};

use super::{
    super::catalog::{Note, Which},
    *,
};
use crate::jvm::{
    elf::{self, Symbol},
    usdt::{Refusal, Sites, arg},
};

pub(super) fn site(name: &str, address: u64, arguments: &str) -> Site {
    let (provider, name) = name.split_once(':').unwrap();
    Site {
        provider: provider.to_owned(),
        name: name.to_owned(),
        pc: address,
        base: 0,
        semaphore: 0,
        address,
        file_offset: Ok(address - 0x1000),
        arguments: arguments.to_owned(),
        operands: arguments.split_whitespace().map(arg::parse).collect(),
    }
}

pub(super) fn libjvm(sites: Vec<Site>, functions: &[&'static str]) -> Libjvm {
    let symbol = |address| Symbol { address, size: 1, table: elf::SymbolTable::Static };
    let functions = functions.iter().zip(1_u64..).map(|(name, n)| (*name, (symbol(0x2000 * n), 0x1000 * n))).collect();
    Libjvm { sites: Sites { sites, ..Sites::default() }, functions, symtab: true, ..Libjvm::default() }
}

fn only(lens: Lens, libjvm: &Libjvm) -> Plan {
    plan(libjvm, &[lens], Facts::default(), false)
}

#[test]
fn words_are_made_from_the_arguments_of_each_location() {
    let jvm = libjvm(
        vec![
            site("hotspot:monitor__wait", 0x5000, "-8@%rdx 8@%r13 8@%rcx -4@%eax -8@%r14"),
            site("hotspot:monitor__wait", 0x4000, "-8@%rax 8@-8(%rbp) 8@%rcx -4@%edx -8@%r13"),
        ],
        &[],
    );
    let plan = only(Lens::Locks, &jvm);
    let sites: Vec<_> = plan.sites.iter().map(|s| (s.probe.as_str(), s.address, s.file_offset, s.group)).collect();
    assert_eq!(
        sites,
        [("hotspot:monitor__wait", 0x4000, 0x3000, "wait"), ("hotspot:monitor__wait", 0x5000, 0x4000, "wait")]
    );
    let SiteSpec { kind, field_count, stack: _, fields } = plan.sites[1].spec;
    assert_eq!((kind, field_count), (37, 3));
    assert_eq!(fields[0], Field::word(Operand::register(Register::R13)));
    let length = Operand { width: 4, signed: 1, ..Operand::register(Register::Rax) };
    assert_eq!(fields[1], Field::name(Operand::register(Register::Rcx), length));
    assert_eq!(fields[2], Field::word(Operand { signed: 1, ..Operand::register(Register::R14) }));
    assert_eq!(fields[3], Field::ZERO);
    assert_eq!(plan.sites[0].spec.fields[0].a.place, Place::Memory as u8);
    assert!(plan.flags == [Flag::Monitor] && plan.usdt);
}

#[test]
fn causes_are_texts_where_their_addresses_are_known() {
    let jvm = libjvm(vec![site("hotspot:gc__begin", 0x4000, "1@$1")], &[]);
    let cause = Facts { cause_address: Some(0x7f00_0000_1000), ..Facts::default() };
    let fields = plan(&jvm, &[Lens::Gc], cause, false).sites[0].spec.fields;
    assert_eq!((fields[0].a.displacement, fields[0].treat), (1, Treat::Word as u8));
    assert_eq!((fields[1].a.displacement, fields[1].treat), (0x7f00_0000_1000, Treat::CString as u8));
    assert_eq!(fields[2], Field::word(Operand::constant(2)));
}

#[test]
fn a_probe_of_two_lenses_appears_once() {
    let jvm = libjvm(vec![site("hotspot:vmops__begin", 0x4000, "8@%r14 8@%r15 -4@%eax")], &[]);
    let both = plan(&jvm, &[Lens::Gc, Lens::Safepoint], Facts::default(), false);
    assert_eq!(both.sites.iter().map(|site| site.lens).collect::<Vec<_>>(), [Lens::Safepoint]);
    assert_eq!(only(Lens::Gc, &jvm).sites.iter().map(|site| site.lens).collect::<Vec<_>>(), [Lens::Gc]);
    assert!(only(Lens::Jit, &jvm).sites.is_empty());
}

#[test]
fn two_notes_for_one_instruction_are_one_site() {
    let jvm = libjvm(vec![site("hotspot:gc__end", 0x4000, ""), site("hotspot:gc__end", 0x4000, "")], &[]);
    assert_eq!(only(Lens::Gc, &jvm).sites.len(), 1);
}

#[test]
fn an_unusable_location_is_named_and_the_others_stay() {
    let mut guarded = site("hotspot:thread__unpark", 0x6000, "8@%rdi");
    guarded.file_offset = Err(Refusal::Semaphore { address: 0x9000 });
    let jvm = libjvm(
        vec![
            site("hotspot:thread__unpark", 0x4000, "8@%rdi"),
            site("hotspot:thread__unpark", 0x5000, "8f@%xmm0"),
            guarded,
            site("hotspot:thread__unpark", 0x7000, ""),
        ],
        &[],
    );
    let plan = only(Lens::Locks, &jvm);
    assert_eq!(plan.sites.len(), 1);
    let expected = [
        "locks: the location of `hotspot:thread__unpark` at 0x5000 is left out: operand `8f@%xmm0` is a floating-point value",
        "locks: the location of `hotspot:thread__unpark` at 0x6000 is left out: it is guarded by a semaphore at 0x9000",
        "locks: the location of `hotspot:thread__unpark` at 0x7000 is left out: it has 0 arguments, and argument 1 is needed",
    ];
    assert_eq!(plan.missing[..3], expected);
}

#[test]
fn functions_stand_in_only_where_there_is_no_usable_note() {
    let begin = "_ZN20SafepointSynchronize5beginEv";
    let end = "_ZN20SafepointSynchronize3endEv";
    let notes = vec![site("hs_private:safepoint__begin", 0x4000, ""), site("hs_private:safepoint__end", 0x5000, "")];
    let names = |plan: &Plan| plan.sites.iter().map(|site| site.probe.clone()).collect::<Vec<_>>();
    let with = only(Lens::Safepoint, &libjvm(notes, &[begin, end]));
    assert_eq!(names(&with), ["hs_private:safepoint__begin", "hs_private:safepoint__end"]);
    let without = only(Lens::Safepoint, &libjvm(Vec::new(), &[begin, end]));
    assert_eq!(names(&without), ["SafepointSynchronize::begin", "SafepointSynchronize::end"]);
    assert_eq!(without.sites[1].address, 0x4000);
    assert!(!without.usdt);
    assert!(without.missing[0].starts_with("libjvm.so has no USDT notes"));
}

#[test]
fn a_beginning_without_its_end_is_not_planned() {
    let half = only(Lens::Safepoint, &libjvm(Vec::new(), &["_ZN20SafepointSynchronize5beginEv"]));
    assert!(half.sites.is_empty());
    assert!(half.missing.iter().any(|sentence| sentence.ends_with("VM operations, safepoints")), "{half:?}");
}

#[test]
fn a_stripped_file_says_why_functions_are_missing() {
    let mut jvm = libjvm(Vec::new(), &[]);
    jvm.symtab = false;
    let missing = only(Lens::Alloc, &jvm).missing;
    assert!(missing.iter().any(|sentence| sentence.starts_with("libjvm.so has no `.symtab`")));
    let expected = "alloc: not available, because libjvm.so has no usable site for it: allocation samples";
    assert!(missing.iter().any(|sentence| sentence == expected), "{missing:?}");
    jvm.sites.sites.push(site("hotspot:vm__shutdown", 0x4000, ""));
    let jit = only(Lens::Jit, &jvm).missing;
    let expected =
        "jit: not available, because libjvm.so has no usable site for it: compilations, installed and removed code";
    assert_eq!(jit[1], expected);
}

#[test]
fn a_function_stands_in_at_its_entry_and_its_exits_and_needs_no_flag() {
    let mut jvm = libjvm(Vec::new(), &["_ZN13ObjectMonitor4waitElbP10JavaThread"]);
    assert!(only(Lens::Locks, &jvm).sites.is_empty(), "an end is missing");
    let exit = |address| Entry { address, file_offset: address - 0x1000, bytes: 0 };
    jvm.exits.insert(0x2000, vec![exit(0x2040), exit(0x2080)]);
    let plan = only(Lens::Locks, &jvm);
    let sites: Vec<_> = plan.sites.iter().map(|site| (site.kind, site.address, site.rest)).collect();
    assert_eq!(
        sites,
        [
            (EventKind::MonitorWait, 0x2000, Rest::MonitorClass),
            (EventKind::MonitorWaited, 0x2040, Rest::Beginning),
            (EventKind::MonitorWaited, 0x2080, Rest::Beginning),
        ]
    );
    assert!(plan.flags.is_empty() && plan.sites.iter().all(|site| site.flag.is_none()));
    let said = |text: &str| plan.missing.iter().any(|sentence| sentence.starts_with(text));
    assert!(
        said("locks: waits end where")
            && said("locks: `jtrace attach PID -l offcpu`")
            && said("locks: `jtrace markers PID")
    );
    jvm.inlined.insert(0x2000);
    assert!(only(Lens::Locks, &jvm).sites.is_empty(), "its callers do not call it");
}

#[test]
fn installed_code_is_not_watched_for_stacks_where_its_removal_is_not_told() {
    let jvm = libjvm(Vec::new(), &["_ZN7nmethod31post_compiled_method_load_eventEv"]);
    assert!(only(Lens::Alloc, &jvm).sites.is_empty());
    let jit = only(Lens::Jit, &jvm);
    assert_eq!(jit.sites.iter().map(|site| site.kind).collect::<Vec<_>>(), [EventKind::CodeLoaded]);
    assert!(jit.missing.iter().any(|sentence| sentence == "jit: code that the JVM removes is not counted"), "{jit:?}");
}

#[test]
fn a_stripped_file_has_the_functions_around_its_notes_and_says_that_errors_are_not_told() {
    let mut jvm =
        libjvm(vec![site("hotspot:method__entry", 0x4010, ""), site("hotspot:method__return", 0x4110, "")], &[]);
    jvm.sites.sites.push(site("hotspot:vm__shutdown", 0x5000, ""));
    jvm.symtab = false;
    assert!(jvm.lacks_functions());
    let note = |name| Note { name, which: Which::Single };
    let at = |address| Entry { address, file_offset: address - 0x1000, bytes: 0x80 };
    jvm.by_note = vec![(note("method__entry"), at(0x4000))];
    assert!(!only(Lens::Methods, &jvm).sites.iter().any(|site| site.group == "methods"), "calls without returns");
    jvm.by_note.push((note("method__return"), at(0x4100)));
    assert!(!jvm.lacks_functions());
    let plan = only(Lens::Methods, &jvm);
    assert_eq!(
        plan.sites.iter().map(|site| (site.address, site.kind)).collect::<Vec<_>>(),
        [(0x4000, EventKind::MethodEntry), (0x4100, EventKind::MethodReturn), (0x5000, EventKind::VmShutdown)]
    );
    let [missing] = &plan.missing[..] else { panic!("{:?}", plan.missing) };
    assert!(missing.starts_with("methods: errors are not told"), "{missing}");
}

#[test]
fn sites_are_limited_and_the_rest_is_said() {
    let many = (0..MAX_SITES as u64 + 3).map(|n| site("hotspot:gc__end", 0x4000 + n, "")).collect();
    let plan = only(Lens::Gc, &libjvm(many, &[]));
    assert_eq!(plan.sites.len(), MAX_SITES);
    assert!(plan.missing.iter().any(|sentence| *sentence == format!("3 sites are beyond the limit of {MAX_SITES}")));
}

#[test]
fn clocks_have_room_behind_the_sites_however_many_there_are() {
    let many = (0..MAX_SITES as u64).map(|n| site("hotspot:vm__shutdown", 0x4000 + n, "")).collect();
    let plan = only(Lens::Wall, &libjvm(many, &[]));
    assert_eq!(plan.sites.len() + plan.clocks.len(), MAX_SITES);
    assert_eq!(plan.clocks.len(), clock::CLOCKS.len());
    assert!(
        plan.missing.iter().any(|sentence| *sentence == format!("2 sites are beyond the limit of {}", MAX_SITES - 2)),
        "{plan:?}"
    );
}
