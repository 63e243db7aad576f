//! The groups of sites that are attached and detached together: those of the JVM, and the clocks.

use std::path::Path;

use tracer_common::record::EventKind;

use crate::{
    ebpf::{
        Error,
        attach::{Attached, Group, Place},
        load::Kernel,
    },
    item::Site,
    lens::Lens,
    probe::{
        clock::{PlannedClock, Source},
        plan::{Plan, PlannedSite},
    },
};

/// A group, and what of it is there.
pub(super) struct GroupState {
    what: What,
    pub(super) lens: Lens,
    /// Links of its sites, and of those at ends of calls.
    attached: [Option<Attached>; 2],
    /// Whether ends of calls were left out for good.
    endless: bool,
}

enum What {
    /// Sites, and those at ends of calls, that can be left out.
    Sites {
        sites: Group,
        ends: Group,
    },
    Clock(Source, u16),
}

/// Whether a site is at the end of calls.
pub(super) const fn is_end(kind: EventKind) -> bool {
    matches!(kind, EventKind::MethodReturn | EventKind::FrameUnwound)
}

impl GroupState {
    fn new(what: What, lens: Lens) -> Self {
        Self { what, lens, attached: [None, None], endless: false }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        match &self.what {
            What::Sites { sites, .. } => &sites.name,
            What::Clock(source, _) => source.group(),
        }
    }

    /// Ids of its sites.
    pub(super) fn sites(&self) -> Vec<u16> {
        match &self.what {
            What::Sites { sites, ends } => sites.sites.iter().chain(&ends.sites).map(|(_, site)| *site).collect(),
            What::Clock(_, site) => vec![*site],
        }
    }

    /// Ids of its sites at ends of calls.
    pub(super) fn ends(&self) -> Vec<u16> {
        match &self.what {
            What::Sites { ends, .. } => ends.sites.iter().map(|(_, site)| *site).collect(),
            What::Clock(..) => Vec::new(),
        }
    }

    /// The clock that it is.
    pub(super) const fn clock(&self) -> Option<Source> {
        match self.what {
            What::Clock(source, _) => Some(source),
            What::Sites { .. } => None,
        }
    }

    /// Whether it is attached.
    pub(super) const fn is_attached(&self) -> bool {
        self.attached[0].is_some()
    }

    /// Says that its sites lie in another file.
    pub(super) fn set_path(&mut self, path: &Path) {
        if let What::Sites { sites, ends } = &mut self.what {
            (sites.path, ends.path) = (Some(path.to_owned()), Some(path.to_owned()));
        }
    }

    /// Attaches it, ends of calls first: where they are missing, calls seem to be left by exceptions.
    pub(super) fn attach(&mut self, kernel: &mut Kernel, place: &Place) -> Result<(), Error> {
        self.attached = match &self.what {
            What::Sites { sites, ends } => {
                let wanted = !self.endless && !ends.sites.is_empty();
                let ends = if wanted { Some(kernel.attach(ends.clone(), place)?) } else { None };
                [Some(kernel.attach(sites.clone(), place)?), ends]
            }
            What::Clock(source, site) => [Some(kernel.attach_clock(*source, *site)?), None],
        };
        Ok(())
    }

    /// Hands over what is attached, to be detached.
    pub(super) fn take(&mut self) -> Vec<Attached> {
        self.attached.iter_mut().filter_map(Option::take).collect()
    }

    /// Hands over what is attached at ends of calls; it is not attached again.
    pub(super) fn take_ends(&mut self) -> Option<Attached> {
        self.endless = true;
        self.attached[1].take()
    }
}

/// The groups of a plan, and for each site the index of its group.
pub(super) fn groups(plan: &Plan) -> (Vec<GroupState>, Vec<usize>) {
    let mut groups: Vec<(Group, Group, Lens)> = Vec::new();
    let mut group_of_site = Vec::with_capacity(plan.sites.len() + plan.clocks.len());
    for (index, planned) in plan.sites.iter().enumerate() {
        let at = groups.iter().position(|(group, ..)| group.name == planned.group).unwrap_or_else(|| {
            let group = Group { name: planned.group.to_owned(), sites: Vec::new(), path: None };
            groups.push((group.clone(), group, planned.lens));
            groups.len() - 1
        });
        let (sites, ends, _) = &mut groups[at];
        let group = if is_end(planned.kind) { ends } else { sites };
        group.sites.push((planned.file_offset, site_id(index)));
        group_of_site.push(at);
    }
    let mut groups: Vec<GroupState> =
        groups.into_iter().map(|(sites, ends, lens)| GroupState::new(What::Sites { sites, ends }, lens)).collect();
    for PlannedClock { clock, lens } in &plan.clocks {
        let what = What::Clock(clock.source, site_id(group_of_site.len()));
        group_of_site.push(groups.len());
        groups.push(GroupState::new(what, *lens));
    }
    (groups, group_of_site)
}

/// Id of the site with this index.
pub(super) fn site_id(index: usize) -> u16 {
    u16::try_from(index).expect("a plan has at most MAX_SITES sites")
}

/// The sites of a plan as the session's first item names them, in the order of their ids.
pub(super) fn sites(plan: &Plan) -> Vec<Site> {
    let of_jvm = |planned: &PlannedSite| Site {
        probe: planned.probe.clone(),
        lens: planned.lens,
        kind: planned.kind as u16,
        offset: planned.file_offset,
    };
    let of_kernel = |PlannedClock { clock, lens }: &PlannedClock| Site {
        probe: clock.name.to_owned(),
        lens: *lens,
        kind: clock.kind as u16,
        offset: 0,
    };
    plan.sites.iter().map(of_jvm).chain(plan.clocks.iter().map(of_kernel)).collect()
}

#[cfg(test)]
mod tests {
    use tracer_common::site::{Field, MAX_FIELDS, SiteSpec};

    use super::*;
    use crate::probe::{catalog::Rest, clock};

    fn planned(probe: &str, group: &'static str, file_offset: u64) -> PlannedSite {
        PlannedSite {
            probe: probe.to_owned(),
            lens: Lens::Locks,
            kind: EventKind::ThreadYield,
            group,
            flag: None,
            file_offset,
            address: 0,
            spec: SiteSpec { kind: 0, field_count: 0, stack: 0, fields: [Field::ZERO; MAX_FIELDS] },
            rest: Rest::Nothing,
        }
    }

    #[test]
    fn clocks_are_groups_of_their_own_with_ids_behind_the_sites() {
        let plan = Plan {
            sites: vec![planned("a", "x", 16), planned("b", "y", 32), planned("c", "x", 48)],
            clocks: clock::planned(&[Lens::Wall]),
            ..Plan::default()
        };
        let (groups, group_of_site) = groups(&plan);
        assert_eq!(group_of_site, [0, 1, 0, 2, 3]);
        let named: Vec<_> = groups.iter().map(|state| (state.name(), state.sites())).collect();
        assert_eq!(named, [("x", vec![0, 2]), ("y", vec![1]), ("cpu-clock", vec![3]), ("sched", vec![4])]);
        let names: Vec<_> = sites(&plan).into_iter().map(|site| site.probe).collect();
        assert_eq!(names, ["a", "b", "c", "perf:cpu-clock", "sched:sched_switch"]);
    }
}
