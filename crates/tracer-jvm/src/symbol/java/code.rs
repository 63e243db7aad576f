//! Compiled code that was looked at: its tables and the methods they name, kept when the JVM has thrown it away.

use std::{collections::HashMap, sync::Arc};

use crate::jvm::{
    metadata::{self, Method},
    nmethod::{DebugInfo, Scope},
};

/// A method, or why it has no name.
pub(super) type Resolved = Result<Arc<Method>, metadata::Reason>;

/// One compilation.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) info: DebugInfo,
    methods: HashMap<u64, Resolved>,
}

impl Code {
    /// Takes the tables, and finds out at once what the methods in them are called.
    pub(super) fn new(info: DebugInfo, mut resolve: impl FnMut(u64) -> Resolved) -> Self {
        let methods = info.methods().into_iter().map(|method| (method, resolve(method))).collect();
        Self { info, methods }
    }

    /// Whether an address lies in its code, or is that of a call at its end.
    pub(super) fn covers(&self, pc: u64) -> bool {
        (self.info.code_begin..=self.info.code_end).contains(&pc)
    }

    /// The method of a scope.
    pub(super) fn method(&self, scope: Scope) -> Resolved {
        self.methods.get(&scope.method).cloned().unwrap_or(Err(metadata::Reason::Unloaded))
    }

    /// What it takes in memory, about; methods are shared and counted where they are kept.
    pub(super) fn weight(&self) -> usize {
        self.info.weight() + self.methods.len() * 2 * size_of::<(u64, Resolved)>()
    }
}
