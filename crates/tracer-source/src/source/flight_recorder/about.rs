//! What a file says of the JVM and of itself.

use super::values::Object;
use crate::item::Target;

const JVM: &str = "jdk.JVMInformation";
const COLLECTOR: &str = "jdk.GCConfiguration";
const HEAP: &str = "jdk.GCHeapConfiguration";
const CPU: &str = "jdk.CPUInformation";
const LOSS: &str = "jdk.DataLoss";
const SAMPLES_LOST: &str = "jdk.CPUTimeSamplesLost";
const MISSING: &str = "jtrace.Missing";
const RECORDING: &str = "jdk.ActiveRecording";

/// Most sentences that are taken over from another jtrace.
const MAX_SENTENCES: usize = 100;
/// Longest text that is kept.
const MAX_CHARS: usize = 4096;

/// What was said. The last word counts.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    jvm: Option<Jvm>,
    collector: Option<String>,
    max_heap_bytes: Option<u64>,
    cpus: Option<u32>,
    /// Losses, and the bytes of events in them.
    pub(super) losses: (u64, u64),
    /// Samples of the CPU that the recorder lost.
    pub(super) samples_lost: u64,
    /// What a jtrace said that wrote the file.
    pub(super) missing: Vec<String>,
    pub(super) by_jtrace: bool,
}

#[derive(Clone, Debug)]
struct Jvm {
    name: String,
    version: String,
    command: String,
    start_ms: u64,
    pid: u32,
}

impl About {
    /// Whether events of this type say something of that.
    pub(super) fn is_told_by(name: &str) -> bool {
        [JVM, COLLECTOR, HEAP, CPU, LOSS, SAMPLES_LOST, MISSING, RECORDING].contains(&name)
    }

    pub(super) fn take(&mut self, name: &str, event: &Object<'_, '_>) {
        let text = |field| event.text(field).map(|text| text.chars().take(MAX_CHARS).collect::<String>());
        match name {
            JVM => {
                self.jvm = Some(Jvm {
                    name: text("jvmName").unwrap_or_default(),
                    version: text("jvmVersion").unwrap_or_default(),
                    command: text("javaArguments").unwrap_or_default(),
                    start_ms: event.amount("jvmStartTime"),
                    pid: u32::try_from(event.amount("pid")).unwrap_or(0),
                });
            }
            COLLECTOR => self.collector = text("oldCollector").map(|name| collector(&name)),
            HEAP => self.max_heap_bytes = Some(event.amount("maxSize")).filter(|bytes| *bytes > 0),
            CPU => self.cpus = u32::try_from(event.amount("hwThreads")).ok().filter(|cpus| *cpus > 0),
            LOSS => {
                let (losses, bytes) = self.losses;
                self.losses = (losses + 1, bytes.saturating_add(event.amount("amount")));
            }
            SAMPLES_LOST => self.samples_lost = self.samples_lost.saturating_add(event.amount("lostSamples")),
            MISSING if self.missing.len() < MAX_SENTENCES => self.missing.extend(text("sentence")),
            RECORDING => self.by_jtrace |= text("name").as_deref() == Some("jtrace"),
            _ => {}
        }
    }

    /// The JVM, at the start of the file.
    pub(super) fn target(&self, start_ns: u64) -> Target {
        let mut target = Target {
            collector: self.collector.clone().unwrap_or_default(),
            max_heap_bytes: self.max_heap_bytes,
            cpus: self.cpus.unwrap_or(0),
            ..Target::default()
        };
        if let Some(Jvm { name, version, command, start_ms, pid }) = &self.jvm {
            target.pid = *pid;
            target.namespace_pid = *pid;
            target.command.clone_from(command);
            target.jvm_name.clone_from(name);
            version_of(version).clone_into(&mut target.jvm_version);
            target.jdk_release = release(&target.jvm_version);
            target.uptime_s = (start_ns / 1_000_000).saturating_sub(*start_ms) / 1000;
        }
        target
    }
}

/// `25.0.2+10-LTS` out of the sentence that HotSpot has of itself. HotSpot has had versions of its own, which stand
/// before that of the JDK.
fn version_of(sentence: &str) -> &str {
    let within = sentence.split('(').skip(1).filter_map(|part| part.split_once(')')).map(|(within, _)| within);
    within.filter(|text| text.starts_with(|letter: char| letter.is_ascii_digit())).last().unwrap_or(sentence)
}

/// 8 of `1.8.0_452`, 17 of `17.0.15+6`; 0 where there is none.
fn release(version: &str) -> u32 {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    match (numbers.next().unwrap_or(0), numbers.next()) {
        (1, Some(second)) => second,
        (first, _) => first,
    }
}

/// The collector by its part for old objects.
fn collector(part: &str) -> String {
    let known = match part {
        "G1Old" | "G1Full" => "G1",
        "ParallelOld" | "PSMarkSweep" => "Parallel",
        "SerialOld" => "Serial",
        _ if part.starts_with('Z') => "ZGC",
        _ if part.starts_with("Shenandoah") => "Shenandoah",
        other => other,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_hotspot_says() {
        for (sentence, version, number) in [
            (
                "OpenJDK 64-Bit Server VM (25.0.2+10-LTS) for linux-amd64 JRE (25.0.2+10-LTS), built",
                "25.0.2+10-LTS",
                25,
            ),
            (
                "OpenJDK 64-Bit Server VM (25.252-b14) for linux-amd64 JRE (Zulu 8.46) (1.8.0_252-b14)",
                "1.8.0_252-b14",
                8,
            ),
            ("17.0.15+6", "17.0.15+6", 17),
            ("", "", 0),
        ] {
            assert_eq!((version_of(sentence), release(version_of(sentence))), (version, number), "{sentence}");
        }
    }
}
