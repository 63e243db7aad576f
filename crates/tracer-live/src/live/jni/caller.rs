//! Names who calls a JNI function: a Java method by its `Method*` or by an address in its code, or native code.

use crate::{
    jvm::{
        code_cache::CodeCache,
        find::Jvm,
        memory::Memory,
        metadata::{MetadataLayout, Method},
        unloads::Unloads,
    },
    stack::Kind,
    subject::{MethodPart, Subject},
    symbol::native::NativeSymbols,
};

/// A caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// `com.shop.Cart.add`, `libshop.so!add`, or a reason in angle brackets.
    pub(super) text: String,
    /// What predicates see; nothing where it is not known.
    pub(super) subject: Option<Subject>,
}

impl Caller {
    /// Of which only that much is known.
    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: None }
    }

    /// What its texts take.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.subject.as_ref().map_or(0, Subject::bytes)
    }

    fn known([class, name, signature]: [String; 3], separator: char) -> Self {
        let text = format!("{class}{separator}{name}");
        Self { text, subject: Some(Subject { class, method: Some(MethodPart { name, signature, native: true }) }) }
    }
}

/// What names callers.
pub(super) struct Namer {
    memory: Memory,
    metadata: MetadataLayout,
    code_cache: CodeCache,
    native: NativeSymbols,
    unloads: Unloads,
    /// How often mappings were read for addresses that are in no file, since callers were named last.
    looks: u32,
}

impl Namer {
    /// Prepares naming; the error names what is missing.
    pub(super) fn open(jvm: &Jvm) -> Result<Self, String> {
        let memory = Memory::open(jvm.target.pid).map_err(|error| error.to_string())?;
        let metadata = MetadataLayout::from_tables(&memory, &jvm.tables).map_err(|error| error.to_string())?;
        let code_cache = CodeCache::read(&memory, &jvm.tables).map_err(|error| error.to_string())?;
        let native = NativeSymbols::new(&memory);
        Ok(Self { memory, metadata, code_cache, native, unloads: Unloads::new(jvm), looks: 0 })
    }

    /// Whether an address may mean another caller since this was asked before.
    pub(super) fn may_have_changed(&mut self) -> bool {
        self.unloads.may_have_happened(&self.memory)
    }

    /// Callers are named once more, and files may have been mapped since.
    pub(super) const fn look_again(&mut self) {
        self.looks = 0;
    }

    /// The caller at an address.
    pub(super) fn name(&mut self, address: u64) -> Caller {
        if self.code_cache.heaps().iter().any(|heap| heap.contains(address)) {
            return match self.code_cache.blob_at(&self.memory, address) {
                Ok(blob) => match blob.compiled {
                    Some(compiled) => self.method(compiled.method),
                    None => Caller::unknown(format!("<{}>", blob.name)),
                },
                Err(reason) => Caller::unknown(reason.to_string()),
            };
        }
        if let Some(caller) = self.native(address) {
            return caller;
        }
        let method = self.method(address);
        if method.subject.is_none() && self.looks == 0 {
            // It may be a file that was mapped since. A target can call from as many places as it likes, and map as much.
            self.looks += 1;
            self.native.refresh();
            return self.native(address).unwrap_or(method);
        }
        method
    }

    fn method(&self, address: u64) -> Caller {
        match Method::read(&self.memory, &self.metadata, address) {
            Ok(method) => Caller::known(method.names(), '.'),
            Err(reason) => Caller::unknown(reason.to_string()),
        }
    }

    /// Code of a file, where the address is a return address there.
    fn native(&mut self, address: u64) -> Option<Caller> {
        let frame = self.native.frame(address, true);
        let module = frame.module.clone().filter(|_| frame.kind == Kind::Native)?;
        Some(Caller::known([module.into(), frame.name.to_string(), String::new()], '!'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::world::World;

    /// Reading sixty thousand mappings for each of sixty thousand callers would take an hour.
    #[test]
    fn mappings_are_read_once_for_all_callers_that_nobody_knows() {
        let world = World::new(21);
        let memory = Memory::open(std::process::id()).unwrap();
        let mut namer = Namer {
            metadata: MetadataLayout::from_tables(&world.copy, &world.tables).unwrap(),
            code_cache: CodeCache::read(&world.copy, &world.tables).unwrap(),
            native: NativeSymbols::new(&memory),
            memory,
            unloads: Unloads::default(),
            looks: 0,
        };
        for round in 0..2 {
            for address in 1..100 {
                assert!(namer.name(8 * address).subject.is_none(), "{round}");
            }
            assert_eq!(namer.looks, 1);
            namer.look_again();
        }
    }
}
