//! Threads and monitors laid out by hand, and damaged.

use super::{
    layout::{ClassPointer, LockStack},
    *,
};
use crate::{
    fuzz::{self, Metered},
    jvm::peek::copy::Copy,
};

const LIST: u64 = 0x1000;
pub(in crate::jvm) const THREADS: [u64; 2] = [0x10_0000, 0x20_0000];
const STACKS: [u64; 2] = [0x7000_0000, 0x7100_0000];
const MONITOR: u64 = 0x5000;
const OBJECT: u64 = 0x9_0000;

pub(in crate::jvm) fn layout(owner_id: Option<u64>) -> Layout {
    Layout {
        list: List::Array { list: LIST, length: 4, threads: 16 },
        thread_bytes: 64,
        os_thread: 0,
        thread_id: 12,
        stack_base: 8,
        stack_size: 16,
        pending_monitor: 24,
        waiting_monitor: None,
        owner_id,
        lock_stack: Some(LockStack { top: 64, base: 72 }),
        virtual_threads: None,
        owner: 8,
        object: 0,
        object_is_handle: true,
        class: ClassPointer::Narrow { offset: 8, low_bit: 0, base: 0x4000_0000, shift: 3 },
        class_name: 16,
        symbol_length: 0,
        symbol_body: 4,
    }
}

/// Two threads, the second one blocked on a monitor whose object is of class `a/B`.
pub(in crate::jvm) fn memory() -> Copy {
    let mut copy = Copy::default();
    copy.write_u64(LIST, 0x1100);
    copy.write_u32(0x1104, 2);
    copy.write_u64(0x1110, 0x1200);
    for (index, (thread, stack)) in THREADS.into_iter().zip(STACKS).enumerate() {
        let index = index as u64;
        copy.write_u64(0x1200 + 8 * index, thread);
        let os_thread = 0x3000 + 0x100 * index;
        copy.write_u64(thread, os_thread);
        copy.write_u32(os_thread + 12, 100 + u32::try_from(index).unwrap());
        copy.write_u64(thread + 8, stack);
        copy.write_u64(thread + 16, 0x10_0000);
        copy.write_u64(thread + 24, index * MONITOR);
        copy.write_u64(thread + 32, 50 + index);
        copy.write_u32(thread + 64, 72);
    }
    copy.write_u64(MONITOR, 0x6000);
    copy.write_u64(0x6000, OBJECT);
    copy.write_u32(OBJECT + 8, 0x200);
    copy.write_u64(0x4000_1000 + 16, 0x8000);
    copy.write_u16(0x8000, 3);
    copy.write(0x8004, b"a/B");
    copy
}

fn opened(copy: Copy, owner_id: Option<u64>) -> JavaThreads<Copy> {
    let mut threads = JavaThreads::new(copy, layout(owner_id));
    threads.refresh().unwrap();
    threads
}

fn os_tid(owner: Owner) -> Result<u32, NoHolder> {
    match owner {
        Owner::Thread(thread) => Ok(thread.os_tid),
        Owner::Unknown(reason) => Err(reason),
    }
}

#[test]
fn an_owner_is_a_thread_or_an_address_in_its_stack() {
    let threads = opened(memory(), None);
    let of = |owner| os_tid(threads.owner(owner, MONITOR));
    assert_eq!((of(THREADS[0]), of(THREADS[1])), (Ok(100), Ok(101)));
    assert_eq!((of(STACKS[0] - 8), of(STACKS[1] - 0x10_0000)), (Ok(100), Ok(101)));
    assert_eq!(of(STACKS[0]), Err(NoHolder::Gone), "a stack ends below its base");
    assert_eq!(of(STACKS[1] - 0x10_0008), Err(NoHolder::Gone), "between two stacks");
    assert_eq!((of(0), of(2), of(u64::MAX)), (Err(NoHolder::Nobody), Err(NoHolder::Nobody), Err(NoHolder::Nobody)));
}

/// A thread that ended, and one that began at its address with another stack.
#[test]
fn threads_that_are_known_are_not_read_again_until_one_is_not_found() {
    let mut copy = memory();
    copy.write_u32(0x1104, 1);
    let mut threads = opened(copy, None);
    threads.peek.write_u32(0x1104, 2);
    let other = 0x7200_0000;
    threads.peek.write_u64(THREADS[0] + 8, other);
    threads.peek.write_u32(0x300c, 102);
    assert!(threads.refresh_list().unwrap());
    let of = |threads: &JavaThreads<Copy>, owner| os_tid(threads.owner(owner, MONITOR));
    assert_eq!(of(&threads, STACKS[1] - 8), Ok(101), "the one that is new in the list was read");
    assert_eq!(of(&threads, THREADS[0]), Ok(102), "what is found is read again");
    let in_stack = |threads: &JavaThreads<Copy>| [STACKS[0] - 8, other - 8].map(|owner| of(threads, owner));
    assert_eq!(in_stack(&threads), [Err(NoHolder::Gone); 2]);
    threads.read_all();
    assert_eq!(in_stack(&threads), [Err(NoHolder::Gone), Ok(102)]);
    threads.peek.write_u32(0x1104, 1);
    assert!(threads.refresh_list().unwrap());
    assert_eq!((of(&threads, THREADS[1]), of(&threads, STACKS[1] - 8)), (Err(NoHolder::Gone), Err(NoHolder::Gone)));
}

#[test]
fn an_owner_is_an_id_since_24() {
    let threads = opened(memory(), Some(32));
    let of = |owner| os_tid(threads.owner(owner, MONITOR));
    assert_eq!((of(50), of(51)), (Ok(100), Ok(101)));
    assert_eq!(of(52), Err(NoHolder::Virtual));
    assert_eq!(of(THREADS[0]), Err(NoHolder::Virtual), "an address is no id");
}

#[test]
fn an_owner_that_has_not_signed_is_who_has_locked_the_object() {
    let mut copy = memory();
    copy.write_u64(MONITOR + 8, ANONYMOUS);
    assert_eq!(os_tid(opened(copy.clone(), None).owner(ANONYMOUS, MONITOR)), Err(NoHolder::Anonymous));
    copy.write_u64(THREADS[0] + 72, OBJECT);
    assert_eq!(
        os_tid(opened(copy.clone(), None).owner(ANONYMOUS, MONITOR)),
        Err(NoHolder::Anonymous),
        "above the top is what was locked earlier"
    );
    copy.write_u32(THREADS[0] + 64, 80);
    assert_eq!(os_tid(opened(copy.clone(), None).owner(ANONYMOUS, MONITOR)), Ok(100));
    copy.write_u64(MONITOR + 8, THREADS[1]);
    assert_eq!(
        os_tid(opened(copy, None).owner(ANONYMOUS, MONITOR)),
        Err(NoHolder::Anonymous),
        "it has signed meanwhile, and another one may have followed"
    );
}

/// 4,096 monitors and 32,768 threads took minutes of a session's own thread, with each look.
#[test]
fn so_many_threads_are_asked_what_they_have_locked_and_no_more() {
    let mut copy = memory();
    copy.write_u64(MONITOR + 8, ANONYMOUS);
    copy.write_u64(THREADS[0] + 72, OBJECT);
    copy.write_u32(THREADS[0] + 64, 80);
    let mut threads = JavaThreads::new(copy, layout(None)).asking(2 * THREADS.len() + 1);
    for _ in 0..2 {
        threads.refresh().unwrap();
        let answers = [(); 3].map(|()| os_tid(threads.owner(ANONYMOUS, MONITOR)));
        assert_eq!(answers, [Ok(100), Ok(100), Err(NoHolder::Anonymous)]);
    }
}

#[test]
fn blocked_threads_and_the_class_of_a_monitor_are_read() {
    let threads = opened(memory(), None);
    let blocked: Vec<_> = threads.listed().filter(|thread| thread.pending_monitor != 0).collect();
    assert_eq!((blocked.len(), blocked[0].os_tid, blocked[0].pending_monitor), (1, 101, MONITOR));
    assert!(threads.is_blocked_on(THREADS[1], MONITOR) && !threads.is_blocked_on(THREADS[0], MONITOR));
    assert_eq!(threads.class_of(MONITOR).as_deref(), Some(&b"a/B"[..]));
    assert_eq!(threads.class_of(0xdead_0000), None);
}

#[test]
fn a_list_that_claims_too_much_and_a_list_without_end_are_bounded() {
    let mut copy = memory();
    copy.write_u32(0x1104, u32::MAX);
    assert!(JavaThreads::new(copy, layout(None)).refresh().is_err());
    let mut copy = memory();
    copy.write_u64(THREADS[0] + 48, THREADS[0]);
    let mut circular = layout(None);
    circular.list = List::Linked { first: 0x1200, next: 48 };
    let mut threads = JavaThreads::new(copy, circular);
    assert!(threads.refresh().unwrap());
    assert_eq!(threads.addresses, [THREADS[0]], "it leads back to itself");
}

#[test]
fn fuzz_java_threads() {
    let sound = memory();
    fuzz::each("java_threads", 8 << 20, |dice| {
        let mut copy = sound.clone();
        fuzz::damage(dice, &mut copy);
        let mut layout = layout(dice.once_in(2).then_some(32));
        if dice.once_in(3) {
            layout.list = List::Linked { first: 0x1200, next: dice.pick(&[0, 8, 24, 48]) };
        }
        // The longest list that is believed, asked for all that there is to ask.
        let mut threads = JavaThreads::new(Metered::new(copy, 128 << 20), layout);
        if threads.refresh().is_ok() {
            for owner in [ANONYMOUS, THREADS[0], STACKS[1] - 8, 77, dice.number()] {
                let _: Owner = threads.owner(owner, MONITOR);
            }
            let _: (bool, Result<u64, _>) = (threads.is_blocked_on(THREADS[1], MONITOR), threads.owner_of(MONITOR));
            assert!(threads.listed().count() <= MAX_THREADS);
            let _: Option<Vec<u8>> = threads.class_of(MONITOR);
        }
    });
}
