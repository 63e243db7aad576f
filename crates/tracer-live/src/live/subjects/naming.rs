//! Numbers and names of methods and classes: by what they are called, wherever they lie.

use tracer_common::tally::{MAX_SUBJECTS, Subject as Told, Verdict};

use super::{Counted, Subjects};
use crate::{
    ebpf::tallying::Tallying,
    event::SubjectId,
    jvm::{
        metadata::{MetadataLayout, Method, Reason, class_of},
        peek::Peek,
    },
    subject::{MethodPart, Subject, SubjectDefinition},
};

/// Most that names of subjects take; each is kept twice.
const MAX_NAMED_BYTES: usize = 32 << 20;

/// A subject that was met.
pub(super) struct Named {
    pub(super) subject: Subject,
    /// What the kernel is told of it, wherever it lies.
    told: Told,
}

impl Subjects {
    /// An address that was not known.
    pub(super) fn meet(&mut self, address: u64, is_method: bool, tallying: &mut Tallying) -> SubjectId {
        if self.known.len() >= MAX_SUBJECTS {
            self.forget(tallying);
        }
        let Some(id) = self.subject(self.name(address, is_method), is_method, tallying) else {
            self.known.insert(address, SubjectId::UNKNOWN);
            return SubjectId::UNKNOWN;
        };
        let told = self.named.get(id.0 as usize).map_or_else(Told::default, |named| named.told);
        if let Err(error) = tallying.set_subject(address, told) {
            // Its events go on to come one by one.
            log::warn!("{error}");
        }
        self.known.insert(address, id);
        id
    }

    /// The subject of this name; nothing where there are too many.
    fn subject(&mut self, subject: Subject, is_method: bool, tallying: &Tallying) -> Option<SubjectId> {
        let key = (subject, is_method);
        if let Some(id) = self.by_name.get(&key) {
            return Some(*id);
        }
        let (subject, _) = &key;
        let bytes = self.named_bytes + subject.bytes();
        if self.named.len() >= MAX_SUBJECTS || bytes > MAX_NAMED_BYTES {
            return None;
        }
        self.named_bytes = bytes;
        let id = SubjectId(u32::try_from(self.named.len()).unwrap_or(u32::MAX));
        let (mask, verdict) = self.asked.judge.subject(subject);
        if verdict == Some(Verdict::Never) {
            self.never_wanted.insert(id);
        }
        let mut cell = 0;
        if self.tallied()
            && matches!(verdict, Some(Verdict::Always | Verdict::Depends))
            && self.cells.len() < tallying.most_cells()
        {
            cell = u32::try_from(self.cells.len()).unwrap_or(0);
            self.cells.push(Counted { subject: id, is_method });
        }
        let told = Told { mask, cell, verdict: verdict.map_or(0, |verdict| verdict as u32) };
        self.fresh.push(SubjectDefinition { id, subject: subject.clone() });
        self.named.push(Named { subject: subject.clone(), told });
        self.by_name.insert(key, id);
        Some(id)
    }

    /// Forgets all addresses: the kernel asks again for those that are still in use.
    fn forget(&mut self, tallying: &mut Tallying) {
        for (address, _) in self.known.drain() {
            tallying.forget_subject(address);
        }
    }

    pub(super) fn name(&self, address: u64, is_method: bool) -> Subject {
        if !is_method {
            let class = class_of(&self.memory, &self.metadata, address);
            return Subject { class: class.unwrap_or_else(|reason| reason.to_string()), method: None };
        }
        method_at(&self.memory, &self.metadata, address)
            .unwrap_or_else(|reason| Subject { class: reason.to_string(), method: None })
    }

    /// Where classes were unloaded, an address may have got another meaning: whatever means another subject now is forgotten.
    pub fn refresh(&mut self, tallying: &mut Tallying) {
        if !self.unloads.may_have_happened(&self.memory) {
            return;
        }
        self.ahead.forget(tallying);
        let changed: Vec<u64> = self
            .known
            .iter()
            .filter(|(address, id)| {
                let named = self.named.get(id.0 as usize);
                named.is_some_and(|Named { subject, .. }| self.name(**address, subject.method.is_some()) != *subject)
            })
            .map(|(address, _)| *address)
            .collect();
        for address in changed {
            self.known.remove(&address);
            tallying.forget_subject(address);
        }
    }
}

/// The method at an address.
pub(super) fn method_at(peek: &impl Peek, metadata: &MetadataLayout, address: u64) -> Result<Subject, Reason> {
    let method = Method::read(peek, metadata, address)?;
    // What is called and has no bytecode is native.
    let native = method.code.is_empty();
    let [class, name, signature] = method.names();
    Ok(Subject { class, method: Some(MethodPart { name, signature, native }) })
}
