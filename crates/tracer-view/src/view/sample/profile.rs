//! Profiles for the tests of all views: one to read, and any.

#[cfg(test)]
use proptest::prelude::*;

use super::HOSTILE;
use crate::{
    report::{Profile, ProfileStack, ProfileThread, Unit},
    stack::{Frame, Kind},
};

/// Which libjvm.so the frames are of.
pub const LIBJVM_BUILD: &str = "41c9ffdd0d1c6f0e5ba2e4a7ab9fd1e35e02e2a1";

/// CPU samples of two workers and a GC thread: every kind of frame, a method that runs in two ways, a cut stack, a stack without
/// a thread, names that mean harm.
pub fn profile() -> Profile {
    let java = |kind, class: &str, method: &str, line| Frame {
        class: Some(class.into()),
        signature: Some("()V".into()),
        file: Some(format!("{}.java", class.rsplit('.').next().unwrap_or(class)).into()),
        line: Some(line),
        bci: Some(line / 2),
        ..Frame::named(kind, format!("{class}.{method}"))
    };
    let native = |module: &str, name: &str| Frame {
        module: Some(module.into()),
        build_id: (module == "libjvm.so").then(|| LIBJVM_BUILD.into()),
        ..Frame::named(Kind::Native, name)
    };
    let frames = vec![
        native("libc.so.6", "start_thread"),
        native("libjvm.so", "thread_native_entry(Thread*)"),
        java(Kind::Compiled, "java.lang.Thread", "run", 840),
        java(Kind::Interpreted, "com.shop.Main", "serve", 31),
        java(Kind::Compiled, "com.shop.Cart", "add", 12),
        java(Kind::Inlined, "com.shop.Cart", "price", 42),
        java(Kind::Interpreted, "com.shop.Cart", "price", 42),
        java(Kind::Compiled, "com.shop.Cart", "price", 44),
        Frame::named(Kind::Kernel, "futex_wait"),
        Frame::named(Kind::Stub, "StubRoutines::arrayof_jint_fill"),
        native("libevil.so", &format!("{HOSTILE};all 12")),
        Frame::named(Kind::Unknown, "<class unloaded>"),
        native("libjvm.so", "G1ParEvacuateFollowersClosure::do_void()"),
    ];
    let stack = |frames: &[u32], thread, value, count, cut: &str| ProfileStack {
        frames: frames.to_vec(),
        thread,
        value,
        count,
        cut: cut.to_owned(),
    };
    let mut stacks = vec![
        stack(&[0, 1, 2, 3, 4, 5], Some(0), 600_000_000, 60, ""),
        stack(&[0, 1, 12], Some(2), 310_000_000, 31, ""),
        stack(&[0, 1, 2, 3, 4, 6], Some(1), 300_000_000, 30, ""),
        stack(&[0, 1, 2, 3, 4, 7, 9], Some(0), 200_000_000, 20, ""),
        stack(&[0, 1, 2, 3, 8], Some(1), 150_000_000, 15, ""),
        stack(&[11, 3, 4, 5], Some(0), 90_000_000, 9, "frame pointer <0x1\u{1b}[2J; lost>"),
        stack(&[4, 4, 4], Some(0), 60_000_000, 6, "1,024 frames"),
        stack(&[10], None, 10_000_000, 1, ""),
        stack(&[], None, 1_000_000, 1, ""),
    ];
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.value));
    Profile {
        id: "cpu",
        title: "CPU time by stack".into(),
        unit: Unit::Ns,
        contexts: false,
        frames,
        threads: vec![
            ProfileThread { tid: 21, name: "http-worker-1".into() },
            ProfileThread { tid: 22, name: HOSTILE.into() },
            ProfileThread { tid: 5, name: "GC Thread#0".into() },
        ],
        stacks,
        steps: None,
    }
}

/// Contexts of `fib(3)` and what calls it: each a stack with as many calls as there were.
pub fn contexts() -> Profile {
    let frame = |name: &str, line| Frame {
        class: Some("Fib".into()),
        file: Some("Fib.java".into()),
        line,
        ..Frame::named(Kind::Compiled, name)
    };
    let frames = vec![
        frame("Fib.start", Some(12)),
        frame("Fib.fib", None),
        frame("Fib.fib", Some(23)),
        frame("Fib.fib", Some(24)),
        frame("Fib.start", None),
    ];
    let stack = |frames: &[u32], calls: u64| ProfileStack {
        frames: frames.to_vec(),
        thread: Some(0),
        value: calls,
        count: calls,
        cut: String::new(),
    };
    let stacks = vec![
        stack(&[0, 2, 1], 3),
        stack(&[0, 3, 1], 2),
        stack(&[0, 2, 2, 1], 2),
        stack(&[0, 2, 3, 1], 1),
        stack(&[4], 1),
        stack(&[0, 1], 1),
    ];
    let threads = vec![ProfileThread { tid: 7, name: "main".into() }];
    let title = "Calls by context".into();
    Profile { id: "calls", title, unit: Unit::Count, contexts: true, frames, threads, stacks, steps: None }
}

#[cfg(test)]
fn any_frame() -> impl Strategy<Value = Frame> {
    let kind = prop::sample::select(vec![
        Kind::Interpreted,
        Kind::Compiled,
        Kind::Inlined,
        Kind::Native,
        Kind::Stub,
        Kind::Kernel,
        Kind::Unknown,
    ]);
    let text = || prop::option::of("[a-b;/<\\\\ 0-9\n]{0,3}".prop_map(Into::into));
    (kind, "[a-b.; <\\\\\n0-9\u{1b}\u{2028}]{0,4}", text(), prop::option::of(0..3_u32), text())
        .prop_map(|(kind, name, file, line, module)| Frame { file, line, module, ..Frame::named(kind, name) })
}

/// Any profile, also one whose numbers lead nowhere.
#[cfg(test)]
pub(crate) fn any_profile() -> impl Strategy<Value = Profile> {
    let stack = (
        prop::collection::vec(0..10_u32, 0..6),
        prop::option::of(0..4_u32),
        any::<u32>(),
        any::<u16>(),
        prop::sample::select(vec!["", "", "", "too deep", "a;b\n"]),
    )
        .prop_map(|(frames, thread, value, count, cut)| ProfileStack {
            frames,
            thread,
            value: value.into(),
            count: count.into(),
            cut: cut.to_owned(),
        });
    let thread = (any::<u32>(), "[a-b;\n ]{0,3}").prop_map(|(tid, name)| ProfileThread { tid, name });
    let parts = (
        prop::collection::vec(any_frame(), 0..8),
        prop::collection::vec(thread, 0..3),
        prop::collection::vec(stack, 0..12),
        prop::sample::select(vec![Unit::Ns, Unit::Bytes, Unit::Count]),
    );
    let parts = (parts, any::<bool>());
    parts.prop_map(|((frames, threads, stacks, unit), contexts)| Profile {
        id: "any",
        title: "Any".to_owned(),
        unit,
        contexts,
        frames,
        threads,
        stacks,
        steps: None,
    })
}
