//! Which methods are deoptimised. No probe fires then, but a sample of the lens `cpu` can hit a thread at it: the frames
//! above the method are those of HotSpot's deoptimisation.

use std::collections::BTreeMap;

use super::super::{
    Context,
    rare::Replaced,
    state::is_vm,
    table::{Groups, Keyed, column},
};
use crate::{
    event::StackId,
    report::{Shape, Unit},
    stack::{Frame, Kind, Stacks},
};

/// Most stacks of samples that are looked through.
const STACKS: usize = 65_536;

/// Samples by stack.
#[derive(Debug)]
pub(super) struct Deoptimised {
    samples: Keyed<StackId, u64>,
}

impl Default for Deoptimised {
    fn default() -> Self {
        Self { samples: Keyed::new(STACKS) }
    }
}

impl Deoptimised {
    /// Takes a sample.
    pub(super) fn sample(&mut self, stack: StackId) {
        if stack != StackId::default() {
            *self.samples.entry(stack) += 1;
        }
    }

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced) {
        self.samples.replace_stacks(replaced);
    }

    /// Samples at a deoptimisation by the method, as `com.shop.Cart.add`.
    pub(super) fn methods(&self, stacks: &Stacks) -> BTreeMap<String, u64> {
        let mut methods = BTreeMap::new();
        for (stack, samples) in self.samples.iter() {
            if let Some(method) = method(stacks, *stack) {
                *methods.entry(method.name.to_string()).or_default() += samples;
            }
        }
        methods
    }

    /// These methods as a table; nothing where there are none.
    pub(super) fn table(methods: &BTreeMap<String, u64>) -> Option<Shape> {
        let groups = Groups { rows: methods.clone(), others: None };
        (!methods.is_empty()).then(|| {
            groups.table(
                "deoptimised",
                "Methods that samples met at their deoptimisation",
                vec![column("method", "Method", Unit::Text), column("samples", "Samples", Unit::Count)],
                |samples| *samples,
                |method| vec![method.into()],
                |samples| vec![(*samples).into()],
            )
        })
    }

    /// A sentence where there is something to say.
    pub(super) fn note(&self, context: Context<'_>) -> Option<String> {
        (!self.methods(context.stacks).is_empty()).then(|| {
            "Deoptimisations have no event; they are seen where a sample of the lens `cpu` meets one, so their numbers \
             compare methods and count nothing."
                .to_owned()
        })
    }
}

/// The method that a stack shows at its deoptimisation: the innermost Java frame, where HotSpot's frames above it say so.
fn method(stacks: &Stacks, id: StackId) -> Option<&Frame> {
    stacks.frames_of(id).nth(depth_of_method(stacks.frames_of(id))?)
}

/// Where among these frames, innermost first, that method is.
pub(in super::super) fn depth_of_method<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<usize> {
    let mut deoptimises = false;
    for (depth, frame) in frames.enumerate() {
        if frame.kind.is_java() {
            return deoptimises.then_some(depth);
        }
        deoptimises |= is_deoptimisation(frame);
    }
    None
}

pub(in super::super) fn is_deoptimisation(frame: &Frame) -> bool {
    let name = frame.name.as_str();
    match frame.kind {
        // `UncommonTrapBlob` and `DeoptimizationBlob`; `C2 Runtime uncommon_trap_blob`, `deoptimize Runtime1 stub`.
        Kind::Stub => {
            ["UncommonTrap", "uncommon_trap", "Deoptimization", "deopt"].iter().any(|part| name.contains(part))
        }
        Kind::Native => is_vm(frame) && name.starts_with("Deoptimization::"),
        Kind::Interpreted | Kind::Compiled | Kind::Inlined | Kind::Kernel | Kind::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};

    #[test]
    fn blobs_of_every_release_are_known_and_others_are_not() {
        let found = |frame: &str| {
            let mut play = Play::default();
            let id = play.stack(&["a.B.c:1", "a.B.d:2", frame]);
            method(&play.stacks, id).map(|frame| frame.name.clone())
        };
        for frame in [
            "stub UncommonTrapBlob",
            "stub DeoptimizationBlob",
            "stub C2 Runtime uncommon_trap_blob",
            "stub Shared Runtime deopt_blob",
            "stub deoptimize Runtime1 stub",
            "libjvm.so Deoptimization::fetch_unroll_info(JavaThread*, int)",
        ] {
            assert_eq!(found(frame).as_deref(), Some("a.B.d"), "{frame}");
        }
        for frame in
            ["stub _new_instance_Java", "libjvm.so JVM_Sleep", "libfoo.so Deoptimization::run", "a.Deoptimization.x:1"]
        {
            assert_eq!(found(frame), None, "{frame}");
        }
    }
}
