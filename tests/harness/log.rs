//! Ground truth from the JVM's unified logging (`-Xlog`), with the decorations `uptime,tags`, and from what 8 prints instead.
//!
//! A window is cut by positions in the log, taken while the workload stands still, so no clocks are compared.

use std::{collections::BTreeSet, ops::Add};

/// What a piece of log says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Pauses of the collector.
    pub pauses: u64,
    /// Pauses for the whole heap (`Pause Full`).
    pub full_pauses: u64,
    /// Safepoints for an operation of a collector. Collectors that stop the program for a whole collection do as much as
    /// is needed in one operation (young, then full), which the log shows as several pauses.
    pub gc_safepoints: u64,
    /// Safepoints of G1's concurrent marking, which are pauses and collect nothing by themselves.
    pub marking_safepoints: u64,
    /// Cycles or stop-the-world collections: distinct numbers `GC(n)` that stopped the program.
    pub collections: u64,
    /// Sum of the pauses, in microseconds as precise as the log is.
    pub pause_total_us: u64,
    /// Safepoints.
    pub safepoints: u64,
    /// Classes loaded.
    pub classes_loaded: u64,
    /// Classes unloaded.
    pub classes_unloaded: u64,
    /// Compilations begun, without native wrappers.
    pub compilations: u64,
}

impl Add for Truth {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            pauses: self.pauses + other.pauses,
            full_pauses: self.full_pauses + other.full_pauses,
            gc_safepoints: self.gc_safepoints + other.gc_safepoints,
            marking_safepoints: self.marking_safepoints + other.marking_safepoints,
            collections: self.collections + other.collections,
            pause_total_us: self.pause_total_us + other.pause_total_us,
            safepoints: self.safepoints + other.safepoints,
            classes_loaded: self.classes_loaded + other.classes_loaded,
            classes_unloaded: self.classes_unloaded + other.classes_unloaded,
            compilations: self.compilations + other.compilations,
        }
    }
}

impl Truth {
    /// Reads a piece of log.
    pub fn of(log: &str) -> Self {
        let mut truth = Self::default();
        let mut collections = BTreeSet::new();
        for line in log.lines() {
            let Some((tags, text)) = parts(line) else {
                truth.old(line);
                continue;
            };
            let first = tags.split(',').next().unwrap_or_default();
            match first {
                "gc" => truth.gc(tags, text, &mut collections),
                "safepoint" => {
                    let operation = safepoint_operation(text);
                    truth.safepoints += u64::from(operation.is_some());
                    truth.gc_safepoints += u64::from(operation.is_some_and(is_collection));
                    truth.marking_safepoints += u64::from(operation.is_some_and(is_marking));
                }
                "class" if tags.contains("unload") => {
                    truth.classes_unloaded += u64::from(text.starts_with("unloading class "));
                }
                "class" => truth.classes_loaded += u64::from(tags == "class,load" && text.contains(" source: ")),
                "jit" => truth.compilations += u64::from(is_compilation(text)),
                _ => {}
            }
        }
        truth.collections = collections.len() as u64;
        truth
    }

    /// A line of 8, which has no tags.
    fn old(&mut self, line: &str) {
        self.safepoints += u64::from(line.starts_with("Total time for which application threads were stopped: "));
        self.classes_loaded += u64::from(line.starts_with("[Loaded "));
        self.classes_unloaded += u64::from(line.starts_with("[Unloading class "));
        self.compilations += u64::from(is_compilation(line));
    }

    fn gc(&mut self, tags: &str, text: &str, collections: &mut BTreeSet<u64>) {
        let Some((number, what)) = collection(text) else { return };
        if tags.contains("start") {
            return;
        }
        if let Some(us) = pause_us(what) {
            self.pauses += 1;
            self.pause_total_us += us;
            self.full_pauses += u64::from(what.contains("Pause Full"));
            // Shenandoah gives a number to a cycle, too, that is cancelled before it has done anything.
            collections.insert(number);
        }
    }
}

/// Tags and text of a line; names of classes with line breaks in them make lines without either.
fn parts(line: &str) -> Option<(&str, &str)> {
    let (uptime, rest) = line.strip_prefix('[')?.split_once(']')?;
    if !uptime.ends_with('s') {
        return None;
    }
    let (tags, text) = rest.strip_prefix('[')?.split_once(']')?;
    Some((tags.trim_end(), text.strip_prefix(' ').unwrap_or(text)))
}

/// `GC(3) Pause ...` to 3 and the rest.
fn collection(text: &str) -> Option<(u64, &str)> {
    let (number, what) = text.strip_prefix("GC(")?.split_once(") ")?;
    Some((number.parse().ok()?, what))
}

/// Length of a pause from `Pause Young (Normal) 2M->1M(8M) 1.234ms` or `Y: Pause Mark End 0.012ms`.
fn pause_us(what: &str) -> Option<u64> {
    let pause =
        what.split_once(": ").map_or(what, |(generation, rest)| if generation.len() == 1 { rest } else { what });
    if !pause.starts_with("Pause ") {
        return None;
    }
    let ms = what.strip_suffix("ms")?.rsplit(' ').next()?;
    let (whole, thousandths) = ms.split_once('.')?;
    Some(whole.parse::<u64>().ok()? * 1000 + thousandths.parse::<u64>().ok()?)
}

/// Since 13 each safepoint is one line; before, it is bracketed by an entering line (`safepoint` at level info).
fn safepoint_operation(text: &str) -> Option<&str> {
    let new = text.strip_prefix("Safepoint \"").and_then(|rest| rest.split('"').next());
    new.or_else(|| text.strip_prefix("Entering safepoint region: "))
}

/// Whether a VM operation is a collection by a collector that stops the program for it. The pauses of G1's concurrent
/// marking (remark, cleanup) are none.
fn is_collection(operation: &str) -> bool {
    let of_g1 = operation.starts_with("G1") && !operation.starts_with("G1Pause");
    operation.contains("Collect") || operation.contains("ParallelGC") || of_g1
}

/// Whether a VM operation is a pause of G1's concurrent marking; the last name is that of 11.
fn is_marking(operation: &str) -> bool {
    matches!(operation, "G1PauseRemark" | "G1PauseCleanup" | "CGC_Operation")
}

/// `  22    b  3       java.lang.String::hashCode (60 bytes)`: neither a native wrapper nor news of older code.
fn is_compilation(text: &str) -> bool {
    let begins_with_id = text.split_whitespace().next().is_some_and(|id| id.parse::<u64>().is_ok());
    let news = ["made not entrant", "made zombie", "made not compilable", "(native)"];
    begins_with_id && text.contains("::") && !news.iter().any(|news| text.contains(news))
}

#[cfg(test)]
mod tests {
    use super::Truth;

    #[test]
    fn pauses_of_every_collector_are_counted_once() {
        let log = "[0.167s][gc,start     ] GC(0) Pause Full (System.gc())\n\
                   [0.178s][gc           ] GC(0) Pause Full (System.gc()) 0M->0M(8M) 11.135ms\n\
                   [0.265s][gc,phases   ] GC(1) Pause Mark Start 0.145ms\n\
                   [0.265s][gc,phases   ] GC(2) Y: Pause Mark End 0.071ms\n\
                   [0.267s][gc,phases   ] GC(1) Concurrent Mark 2.357ms\n\
                   [0.270s][gc          ] GC(1) Garbage Collection (System.gc()) 6M(5%)->4M(3%)\n\
                   [0.519s][gc          ] GC(7) Cancelled\n\
                   [0.1s][gc,stats] Pause Init Mark (G)            =    0.002 s (a =      684 us)\n";
        let truth = Truth::of(log);
        assert_eq!((truth.pauses, truth.full_pauses, truth.collections, truth.pause_total_us), (3, 1, 3, 11_351));
    }

    #[test]
    fn compilations_leave_out_native_wrappers_and_news_of_older_code() {
        let log = "[0.061s][jit,compilation]    2     n 0       jdk.internal.misc.Unsafe::getObjectVolatile (native)   \n\
                   [0.079s][jit,compilation]    4       3       java.lang.StringLatin1::hashCode (42 bytes)   made not entrant\n\
                   [0.338s][jit,compilation]  221    b  3       jdk.internal.asm.MethodWriter::visitVarInsn (300 bytes)\n";
        assert_eq!(Truth::of(log).compilations, 1);
    }

    #[test]
    fn safepoints_and_classes_are_counted_in_old_and_new_forms() {
        let log = "[0.116s][safepoint] Safepoint \"G1CollectFull\", Time since last: 80831122 ns\n\
                   [0.131s][safepoint        ] Leaving safepoint region\n\
                   [0.131s][safepoint        ] Entering safepoint region: G1CollectFull\n\
                   [0.002s][class,load] opened: /jdks/11/lib/modules\n\
                   [0.011s][class,load] java.lang.Object source: jrt:/java.base\n\
                   [0.9s][class,unload] unloading class gen.Class0001 0x0000000800066840\n";
        let truth = Truth::of(log);
        assert_eq!((truth.safepoints, truth.gc_safepoints), (2, 2));
        assert_eq!((truth.classes_loaded, truth.classes_unloaded), (1, 1));
    }

    #[test]
    fn lines_of_8_are_counted_by_their_words() {
        let log = "[Loaded java.lang.Object from /jdks/8/lib/rt.jar]\n\
                   [Unloading class gen.Class0001 0x00000000fc066840]\n\
                   <writer thread='140024389564096'/>\n\
                   Total time for which application threads were stopped: 0.0192595 seconds, Stopping threads took: 0.0000298 seconds\n    \
                   102    1       3       java.lang.String::equals (81 bytes)\n    \
                   104    2     n 0       java.lang.System::arraycopy (native)   (static)\n    \
                   190    1       3       java.lang.String::equals (81 bytes)   made not entrant\n";
        let truth = Truth::of(log);
        assert_eq!((truth.classes_loaded, truth.classes_unloaded), (1, 1));
        assert_eq!((truth.safepoints, truth.compilations), (1, 1));
    }

    #[test]
    fn pauses_of_marking_are_no_collections() {
        let log = "[0.1s][safepoint] Safepoint \"G1PauseRemark\", Time since last: 1 ns\n\
                   [0.2s][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 1 ns\n\
                   [0.3s][safepoint] Safepoint \"Cleanup\", Time since last: 1 ns\n";
        let truth = Truth::of(log);
        assert_eq!((truth.safepoints, truth.gc_safepoints, truth.marking_safepoints), (3, 1, 1));
    }
}
