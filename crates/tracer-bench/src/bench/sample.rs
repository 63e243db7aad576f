//! Results that were made up, for tests: four programs, one of them with names that want to be markup.

use std::collections::BTreeMap;

use super::results::{Environment, Memory, Method, Observed, Program, Results, Run, Skipped, VERSION};
use crate::random::Random;

pub const HOSTILE: &str = "evil|`*_[x](y)\n<script>alert(1)</script>\u{202e}\"'&";

/// Slowdown and events of a configuration.
const CONFIGURATIONS: &[(&str, f64, Option<u64>)] = &[
    ("plain", 1.0, None),
    ("flags:method", 1.35, None),
    ("flags:alloc", 1.0, None),
    ("attach", 1.001, None),
    ("markers:100", 4.2, Some(10_000_000)),
    ("typestate:hasnext", 2.5, Some(2_000_000)),
    ("calls", 1.8, Some(3_000_000)),
    ("peer:bpftrace-park", 1.2, Some(100_000)),
];

fn program(name: &str, application_methods: Option<u64>) -> Program {
    Program {
        name: name.to_owned(),
        what: format!("does what {name} does"),
        source: "made up 1.0".to_owned(),
        command: ["java", "-cp", "/a b/it.jar", "Main", name].map(str::to_owned).to_vec(),
        application_methods,
    }
}

fn environment() -> Environment {
    Environment {
        jtrace: "jtrace 0.1.0".to_owned(),
        kernel: "6.18.0".to_owned(),
        cpu: "A Processor @ 2.5 GHz".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        jvm: "OpenJDK 64-Bit Server VM 25.0.3+9".to_owned(),
        vendor: "Somebody".to_owned(),
        collector: "G1".to_owned(),
        max_heap_bytes: 1 << 30,
        flags: vec!["-Xmx1g".to_owned(), "-XX:+UseG1GC".to_owned()],
        tools: BTreeMap::from([("bpftrace".to_owned(), "v0.21.2".to_owned())]),
    }
}

fn run(program: &str, base: f64, round: u32, configuration: &(&str, f64, Option<u64>), random: &mut Random) -> Run {
    let (name, factor, events) = *configuration;
    let noise = 1.0 + random.below(2000) as f64 / 100_000.0;
    let wall_ns = crate::text::format::whole(base * factor * noise);
    let watched = name != "plain" && !name.starts_with("flags:");
    let answer = events.map(|events| if round == 3 && name.starts_with("peer:") { events - 1 } else { events });
    Run {
        program: program.to_owned(),
        configuration: name.to_owned(),
        round,
        wall_ns,
        cpu_ns: Some(wall_ns + wall_ns / 4),
        settled: None,
        memory: Memory {
            collections: Some(40),
            collection_ns: Some(wall_ns / 50),
            peak_heap_bytes: Some((300 << 20) + random.below(1 << 20) as u64),
            allocated_bytes: Some(if factor > 3.0 { 5 << 30 } else { 4 << 30 }),
            promoted_bytes: (program != "h2").then_some(12 << 20),
        },
        observed: watched.then(|| Observed {
            command: ["jtrace", "record", "-p", "42"].map(str::to_owned).to_vec(),
            cpu_ns: Some(wall_ns / 30),
            peak_rss_bytes: Some(20 << 20),
            iterations: None,
            events,
            lost: Some(u64::from(round == 2)),
            partial: None,
            answers: answer.map(|answer| ("parks".to_owned(), answer)).into_iter().collect(),
        }),
        counts: events.map(|events| ("parks".to_owned(), events)).into_iter().collect(),
    }
}

/// The results.
pub fn results() -> Results {
    let mut random = Random::new(1);
    let mut runs = Vec::new();
    for round in 0..8 {
        for (program, base) in [("fop", 2e9), ("h2", 6e9), ("lusearch", 3e9), (HOSTILE, 1e9)] {
            for configuration in CONFIGURATIONS {
                // The third program ran three rounds only; the last one ran in two configurations.
                let late = program == "lusearch" && round >= 3;
                if late || (program == HOSTILE && configuration.0 != "plain" && configuration.0 != "attach") {
                    continue;
                }
                runs.push(run(program, base, round, configuration, &mut random));
            }
        }
    }
    Results {
        version: VERSION,
        started_s: 1_790_000_000,
        environment: environment(),
        method: Method { runs: 8, warm_up: 5, iterations: 1, settle_ms: 0, size: "default".to_owned(), seed: 42 },
        programs: vec![
            program("fop", Some(4321)),
            program("h2", None),
            program("lusearch", Some(987)),
            program(HOSTILE, None),
            program("xalan", Some(1234)),
        ],
        configurations: CONFIGURATIONS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        configuration_flags: BTreeMap::new(),
        runs,
        skipped: vec![
            Skipped {
                program: Some("xalan".to_owned()),
                configuration: None,
                why: "libxalan2-java is not there; install it".to_owned(),
            },
            Skipped {
                program: None,
                configuration: Some("peer:async-profiler".to_owned()),
                why: format!("no folder given; {HOSTILE}"),
            },
        ],
    }
}
