//! Attaches to a JVM that runs: looks into it, weaves and arms what the session needs, and attaches the sites.

use std::path::Path;

use super::{
    Attached, Error, SessionConfig, Weaving, arming::ArmedProbes, attached::journal_entry, process_id, sites,
    target::TargetInfo,
};
use crate::{
    jvm::find::Jvm,
    lens::Lens,
    live::{Live, thread_gate::ThreadGate},
    probe::plan::Libjvm,
};

/// A running JVM that was looked into, and in which nothing was changed.
pub struct RunningTarget {
    jvm: Jvm,
    libjvm: Libjvm,
    info: TargetInfo,
}

impl RunningTarget {
    /// Reads the JVM's library and tables, and plans the sites. A JVM of which nothing could be seen is refused.
    pub fn read(jvm: Jvm, config: &SessionConfig) -> Result<Self, Error> {
        let libjvm = sites::read_libjvm(&jvm.library.attach_path)?;
        let info = TargetInfo::read(&jvm, &libjvm, config);
        if config.weaving.is_none() {
            sites::something_to_see(&info.plan)?;
        }
        Ok(Self { jvm, libjvm, info })
    }

    /// The file that gets the sites.
    pub fn library(&self) -> &Path {
        &self.jvm.library.attach_path
    }

    /// Changes the JVM where the session needs that, and attaches the sites. Signals have to be taken over before.
    pub fn attach(mut self, mut config: SessionConfig) -> Result<Attached, Error> {
        let pid = process_id(self.jvm.target.pid)?;
        let asked = config.weaving.as_ref().map(Weaving::asked);
        let gate = self.thread_gate(&config);
        let Self { jvm, libjvm, mut info } = self;
        let weaving = config.weaving.take().filter(Weaving::is_woven);
        let inside = weaving.map(|weaving| weaving.weave(&jvm, &mut info.plan, &config.lenses)).transpose()?;
        let inside = inside.map(|lane| lane.with_gate(gate));
        let probes = ArmedProbes::arm(&info.plan, &jvm, config.arm, &config.predicate, &mut info.missing)?;
        let prepared = info.prepared(&jvm, &libjvm, pid, &config).with_asked(asked, inside);
        let journal_entry = journal_entry(jvm.identity());
        let thread_reader = TargetInfo::thread_reader(&jvm, &config);
        let mut live = Live::attach(prepared)?;
        live.look_at_threads(thread_reader);
        Ok(Attached::begin(live, jvm, info, probes, config, journal_entry))
    }

    /// What judges the threads of marks, where markers ask for them. New threads tell their names then.
    fn thread_gate(&mut self, config: &SessionConfig) -> Option<ThreadGate> {
        let questions = config.weaving.as_ref().and_then(Weaving::questions)?;
        sites::add_thread_starts(&mut self.info.plan, &self.libjvm, Lens::Markers);
        Some(self.info.thread_gate(&self.jvm, &questions))
    }
}
