//! What a session has to report: the sections of its lenses, its findings, what it cost and what it missed.

use tracer_common::stats::STATS_WORDS;

use super::Session;
use crate::{
    analysis::{Analysis, Context},
    finding,
    item::Site,
    lens::{self, Lens},
    report::{Completeness, Finding, Report, SCHEMA, Section, SiteCompleteness, Span},
};

impl Session {
    /// The report for what was seen so far. Profiles do not say when their amounts came.
    pub fn report(&self) -> Report {
        self.build(false)
    }

    /// The same with the steps of profiles, for pages: they take some 200 bytes a stack.
    pub fn report_with_steps(&self) -> Report {
        self.build(true)
    }

    /// The findings of [`Session::report`] alone.
    pub fn findings(&self) -> Vec<Finding> {
        let span = self.span();
        let context = Context { with_profiles: false, ..self.context(&span, false) };
        finding::findings(&span, &self.target, &self.sections(context))
    }

    fn context<'a>(&'a self, span: &'a Span, with_steps: bool) -> Context<'a> {
        Context {
            names: &self.names,
            stacks: &self.stacks,
            subjects: &self.subjects,
            span,
            target: &self.target,
            with_steps,
            with_profiles: true,
        }
    }

    fn sections(&self, context: Context<'_>) -> Vec<Section> {
        self.analyses.iter().map(|analysis| self.section(&**analysis, context)).collect()
    }

    fn build(&self, with_steps: bool) -> Report {
        let span = self.span();
        let context = self.context(&span, with_steps);
        let mut sections = self.sections(context);
        let time = finding::time(&span, &self.target, &sections);
        let findings = finding::findings(&span, &self.target, &sections);
        sections.retain(|section| !self.is_unseen(section));
        Report {
            schema: SCHEMA,
            headline: self.analyses.iter().find_map(|analysis| analysis.headline(context)),
            target: self.target.clone(),
            cost: self.spent.cost(&self.counters, span.duration_ns),
            completeness: self.completeness(),
            time,
            findings,
            sections,
            table_steps: if with_steps {
                self.analyses.iter().flat_map(|analysis| analysis.table_steps(context)).collect()
            } else {
                Vec::new()
            },
            span,
        }
    }

    /// Whether what it has would be 0 whatever happened: nothing was attached for it, as the completeness says.
    fn is_unseen(&self, section: &Section) -> bool {
        let is_attached = self.sites.iter().any(|site| site.lens.id() == section.id);
        let is_zero = section.summary.iter().all(|(_, number)| number.as_f64() == 0.0);
        is_zero && !is_attached && lens::lacks_sites(&self.missing, section.id)
    }

    fn section(&self, analysis: &dyn Analysis, context: Context<'_>) -> Section {
        let mut section = analysis.section(context);
        if matches!(analysis.lens(), Lens::Cpu | Lens::Offcpu | Lens::Wall) {
            section.notes.extend(self.idle_stacks.note(analysis));
        }
        self.governed.add_to(&mut section, analysis, (self.start_ns, self.end_ns()), &self.counters);
        if self.target.recorder.is_some() {
            // A 0 would say that it never happened.
            let lens = analysis.lens();
            section.summary = std::mem::take(&mut section.summary).keeping(|key| self.target.knows(lens, key));
        }
        section
    }

    fn end_ns(&self) -> u64 {
        self.end.as_ref().map_or(self.latest_ns, |end| end.time_ns)
    }

    fn span(&self) -> Span {
        let end = self.end.as_ref().map_or("running", |end| end.reason.as_str());
        Span {
            start_ns: self.start_ns,
            duration_ns: self.end_ns().saturating_sub(self.start_ns),
            started_at_ms: self.wall_ms,
            end: end.to_owned(),
        }
    }

    /// While a session runs the counters are a little older than the events; then what was delivered since is added to
    /// what was emitted, so that the sum holds at every moment.
    fn completeness(&self) -> Completeness {
        let mut whole =
            Completeness { missing: self.missing.clone(), undecodable: self.undecodable, ..Completeness::default() };
        let counters_final = self.end.as_ref().is_some_and(|end| end.counters_final);
        for (index, site) in self.sites.iter().enumerate() {
            let [hits, filtered, emitted, lost, unreadable, _, definitions_lost] =
                self.counters.sites.get(index).copied().unwrap_or([0; STATS_WORDS]);
            let delivered = self.delivered.get(index).copied().unwrap_or(0);
            let emitted = if counters_final { emitted } else { emitted.max(delivered + lost) };
            whole.emitted += emitted;
            whole.delivered += delivered;
            let refused = self.counters.refused.get(index).copied().unwrap_or(0);
            whole.lost += lost;
            whole.refused += refused;
            if refused > 0 {
                whole.missing.push(refusal(site, refused));
            }
            whole.unreadable += unreadable;
            whole.definitions_lost += definitions_lost;
            whole.sites.push(SiteCompleteness {
                site: u16::try_from(index).unwrap_or(u16::MAX),
                probe: site.probe.clone(),
                lens: site.lens.id().to_owned(),
                offset: site.offset,
                hits,
                filtered,
                refused,
                emitted,
                delivered,
                lost,
                unreadable,
                state: self.site_state(index),
            });
        }
        if self.end.is_some() && !counters_final {
            whole.missing.push(
                "the last counters are not there: what was emitted and lost since the ones before is not known"
                    .to_owned(),
            );
        }
        let end_ns = self.end_ns();
        whole.missing.extend(self.kept.sentences());
        whole.missing.extend(self.governed.sentences(self.start_ns, end_ns));
        whole.decisions = self.governed.decisions().to_vec();
        whole
    }

    fn site_state(&self, index: usize) -> String {
        if self.target.recorder.is_some() {
            return "recorded".to_owned();
        }
        let group = self.governed.groups().iter().find(|group| group.has(index));
        group.map_or("attached", |group| group.state()).to_owned()
    }
}

/// Why hits of a site became no events.
fn refusal(site: &Site, refused: u64) -> String {
    format!(
        "{}: {refused} hits of `{}` became no events: more came than jtrace could look after, so its numbers are lower bounds",
        site.lens.id(),
        site.probe,
    )
}
