//! What jtrace takes of the kernel's memory on a machine with many CPUs, by what the kernel says that its maps take here: those with
//! a copy for each CPU that the machine could have are as many times larger there.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result, ensure};
use tracer_live::ebpf::{
    load::{Kernel, KernelOptions},
    memory::RingSize,
};

/// CPUs of the machine that is asked about.
const CPUS: u64 = 256;

/// What the maps may take there.
const MOST_BYTES: u64 = 64 << 20;

/// Types of maps, by the kernel's numbers (`enum bpf_map_type`): arrays with a copy for each CPU, and ring buffers. The one hash
/// map with such copies is empty when it is made.
const PER_CPU: u64 = 6;
const RING: u64 = 27;

/// Bytes of the maps that this process holds.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    /// Of arrays with a copy for each CPU that the machine could have.
    per_cpu: u64,
    /// Of the ring buffers of CPUs that are in use.
    rings: u64,
    others: u64,
}

/// `ring_bytes` tells a CPU's ring buffer from another one.
fn bytes(ring_bytes: u64) -> Result<Bytes> {
    let mut sum = Bytes::default();
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let Ok(text) = fs::read_to_string(entry?.path()) else { continue };
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let (Some(kind), Some(bytes)) = (number("map_type:"), number("memlock:")) else { continue };
        let is_ring = kind == RING && number("max_entries:") == Some(ring_bytes);
        let part = match kind {
            PER_CPU => &mut sum.per_cpu,
            _ if is_ring => &mut sum.rings,
            _ => &mut sum.others,
        };
        *part += bytes;
    }
    Ok(sum)
}

/// CPUs of a list of the kernel's, as `0-3`: as many as its last one says.
fn cpus(name: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/sys/devices/system/cpu/{name}"))?;
    let last = text.trim().rsplit([',', '-']).next().context("no CPU")?;
    Ok(last.parse::<u64>()? + 1)
}

/// The maps of this whole process are counted, so its tests load theirs one after the other.
static LOADING: Mutex<()> = Mutex::new(());

/// What the maps would take there: without the ring buffers, and those.
fn on_a_large_machine(options: KernelOptions) -> Result<[u64; 2]> {
    let _alone = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu_count = usize::try_from(CPUS)?;
    let ring_bytes = u64::from(options.ring.bytes(cpu_count));
    let before = bytes(ring_bytes)?;
    let kernel = Kernel::load(KernelOptions { as_if_cpus: Some(cpu_count), ..options })?;
    let after = bytes(ring_bytes)?;
    drop(kernel);
    let per_cpu = (after.per_cpu - before.per_cpu) / cpus("possible")?;
    let ring = (after.rings - before.rings) / cpus("online")?;
    let others = after.others - before.others;
    ensure!(per_cpu > 0 && ring >= ring_bytes && others > 0, "the kernel does not say what maps take: {after:?}");
    let all = [per_cpu * CPUS + others, ring * CPUS];
    let [per_cpu_kib, others_kib, all_kib, rings_kib] = [per_cpu, others, all[0], all[1]].map(|bytes| bytes / 1024);
    println!(
        "{CPUS} CPUs: {per_cpu_kib} KiB for each, others {others_kib} KiB, together {all_kib} KiB; ring buffers {rings_kib} KiB"
    );
    Ok(all)
}

#[test]
fn the_usual_lenses_take_at_most_64_mib_at_256_cpus() -> Result<()> {
    let [maps, rings] = on_a_large_machine(KernelOptions { sites: 80, ..KernelOptions::default() })?;
    ensure!(maps + rings <= MOST_BYTES, "{maps} and {rings} bytes");
    Ok(())
}

/// Besides their ring buffers, which must hold bursts.
#[test]
fn methods_take_no_more() -> Result<()> {
    let ring = RingSize::Share { all: 64 << 20, most: 8 << 20 };
    let [maps, rings] =
        on_a_large_machine(KernelOptions { sites: 20, tallying: true, ring, ..KernelOptions::default() })?;
    ensure!(maps <= MOST_BYTES && rings <= MOST_BYTES + MOST_BYTES / 8, "{maps} and {rings} bytes");
    Ok(())
}

const SECOND_CPU: &str = "/sys/devices/system/cpu/cpu1/online";

/// Takes a CPU away, so it runs only on a machine of its own (`cargo xtask kernels`).
#[test]
fn a_cpu_that_comes_later_has_its_ring_buffer() -> Result<()> {
    if std::env::var_os("JTRACE_TEST_OWN_MACHINE").is_none() {
        println!("skipped: this machine is not the test's own");
        return Ok(());
    }
    fs::write(SECOND_CPU, "0")?;
    let loaded = Kernel::load(KernelOptions::default());
    fs::write(SECOND_CPU, "1")?;
    let (_kernel, mut rings) = loaded?;
    let before = rings.cpus();
    rings.follow_cpus()?;
    let after = rings.cpus();
    ensure!(!before.contains(&1) && after.contains(&1), "{before:?}, then {after:?}");
    fs::write(SECOND_CPU, "0")?;
    rings.follow_cpus()?;
    let away = rings.cpus();
    fs::write(SECOND_CPU, "1")?;
    ensure!(away == after, "what a CPU that went away has told is still read: {away:?}");
    Ok(())
}
