//! What jtrace orders while a visit lasts, and how that is followed.

use std::{sync::Arc, time::Duration};

use tracer_weave::{
    control::{self, CompiledCode, MachineTable, Order, Told},
    walk::MAX_VALUES,
};

use super::{EVENTS, Session, WEAVING, lock, switched};
use crate::{
    compiled::Held,
    exchange::{self, TakingOut},
    heap,
    jvm::Failure,
    memory::Counters,
    recorder::memory,
    startup,
    telling::tell,
    weaving::{self, Weaving},
};

impl Session {
    pub(super) fn hand_over(&self, counters: Counters) {
        if let (Some(memory), Some(weaving)) = (memory(), &self.weaving) {
            memory.flush_idle(&weaving.places(), counters);
        }
    }

    pub(super) fn follow(&mut self, order: Order) {
        let followed = match order {
            Order::Match(rules) => weaving::matched(self.jvmti, self.jni, rules),
            Order::Classes => weaving::classes(self.jvmti, self.jni).map(Told::Classes),
            Order::Weave { rules, machines, symbols, compiled } => {
                for machine in &machines {
                    if let Some(memory) = memory() {
                        memory.set_machine(machine.property, &machine.next, &machine.may_end);
                    }
                    self.properties.push(machine.property);
                }
                self.weave(&Arc::new(Weaving::new(rules, &symbols)), &machines, compiled).map(Told::Woven)
            }
            Order::Switch(markers) => {
                let is_first = !markers.is_empty();
                for (marker, bits) in markers {
                    if let Some(weaving) = &self.weaving {
                        weaving.switch(marker, bits);
                    }
                }
                // What was told before the switch is handed over before the answer.
                self.hand_over(Counters::All);
                // Everything listens: a program that waits for that may begin.
                if is_first {
                    startup::release();
                }
                Ok(switched())
            }
            Order::Halve { property, level } => {
                self.recorder().and_then(|recorder| recorder.sample(self.jni, property, 1, level)).map(|()| switched())
            }
            Order::Forget { property } => self.forget(property).map(|()| switched()),
            Order::Unweave(markers) => self.unweave(markers).map(|()| switched()),
            Order::Channel => self.heap.channel(),
            Order::Walk { in_jvm, by_tags, has_methods, values, limit_ms, limit_bytes } => {
                let limit = Duration::from_millis(limit_ms);
                let values = if values { MAX_VALUES } else { 0 };
                let asked = heap::Asked { in_jvm, by_tags, has_methods, values, limit, limit_bytes };
                self.heap.walk(self.vm, self.jvmti, self.jni, asked)
            }
            Order::EndWalk => {
                self.heap.hurry();
                return;
            }
            Order::Leave => return,
        };
        tell(followed.unwrap_or_else(Told::Refused));
    }

    /// What is known of a property's objects goes before its symbols are off: a symbol that is not seen would make a later death wrong.
    fn forget(&self, property: u8) -> Result<(), Failure> {
        let recorder = self.recorder()?;
        recorder.sweep(self.jni, false)?;
        recorder.forget(self.jni, property)?;
        if let Some(weaving) = &self.weaving {
            for marker in weaving.symbols_of(property) {
                weaving.switch(marker, 0);
            }
        }
        self.hand_over(Counters::All);
        Ok(())
    }

    /// They are off when this returns, and what they told before is handed over; exchanging classes takes longer.
    fn unweave(&mut self, markers: Vec<u32>) -> Result<(), Failure> {
        let weaving = self.weaving.as_ref().ok_or_else(|| "nothing is woven".to_owned())?;
        for marker in &markers {
            weaving.switch(*marker, 0);
        }
        self.hand_over(Counters::All);
        self.going.push_back(TakingOut::begin(self.jvmti, self.jni, weaving, markers)?);
        Ok(())
    }

    /// Exchanges some of the classes of which markers are being taken out.
    pub(super) fn take_out(&mut self) {
        let (Some(going), Some(weaving)) = (self.going.front_mut(), &self.weaving) else { return };
        if let Some(done) = going.step(self.jvmti, self.jni, weaving) {
            self.going.pop_front();
            tell(done.map_or_else(Told::Lacks, Told::Unwoven));
        }
    }

    fn weave(
        &mut self,
        weaving: &Arc<Weaving>,
        machines: &[MachineTable],
        compiled: Option<CompiledCode>,
    ) -> Result<control::Done, Failure> {
        if self.weaving.is_some() {
            return Err("something is woven already".to_owned());
        }
        let recorder = self.recorder()?;
        recorder.begin_visit(self.jni)?;
        recorder.prepare(self.jni, 0)?;
        for property in &self.properties {
            recorder.prepare(self.jni, *property)?;
        }
        for machine in machines.iter().filter(|machine| machine.one_in > 1) {
            recorder.sample(self.jni, machine.property, machine.one_in, 0)?;
        }
        for event in EVENTS {
            self.jvmti.notify(event, true)?;
        }
        self.compiled = compiled.and_then(Held::set);
        self.weaving = Some(Arc::clone(weaving));
        *lock(&WEAVING) = Some(Arc::clone(weaving));
        weaving::begin(self.jvmti, self.jni, weaving)
    }

    /// Switches everything off and restores every class.
    pub(super) fn leave(&mut self) {
        let (Some(weaving), Some(recorder)) = (self.weaving.clone(), self.recorder) else {
            tell(Told::Left(control::Done::default()));
            return;
        };
        if let Some(memory) = memory() {
            memory.switch_off(&weaving.places());
        }
        let restored = exchange::end(self.jvmti, self.jni, &weaving);
        self.compiled = None;
        let _ = recorder.sweep(self.jni, false);
        if let Some(memory) = memory() {
            memory.flush_last(&weaving.places());
        }
        for event in EVENTS {
            let _ = self.jvmti.notify(event, false);
        }
        for property in [0].iter().chain(&self.properties) {
            let _ = recorder.forget(self.jni, *property);
        }
        *lock(&WEAVING) = None;
        tell(restored.map_or_else(Told::Refused, Told::Left));
    }
}
