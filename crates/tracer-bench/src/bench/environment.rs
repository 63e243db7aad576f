//! The machine and the JVM of a measurement, as far as they bear on its numbers.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    path::Path,
    process::Command,
    thread,
    time::Duration,
};

use super::{Error, process::Process, results::Environment};

/// Most bytes read from a file of `/proc`.
const MAX_BYTES: u64 = 1 << 20;
/// Most bytes kept of what the JVM prints about itself; there are some 700 flags of a line each.
const MAX_FLAGS: usize = 1 << 20;
/// How long a JVM may take to print its flags.
const LIMIT: Duration = Duration::from_mins(1);

/// Flags that choose a collector, and what they choose.
const COLLECTORS: [(&str, &str); 6] = [
    ("UseG1GC", "G1"),
    ("UseParallelGC", "Parallel"),
    ("UseSerialGC", "Serial"),
    ("UseZGC", "Z"),
    ("UseShenandoahGC", "Shenandoah"),
    ("UseEpsilonGC", "Epsilon"),
];

/// Looks at the machine, and runs `java` once with the flags of the session.
pub fn look(java: &Path, flags: &[OsString]) -> Result<Environment, Error> {
    let text = ask(java, flags)?;
    let property = |name| property(&text, name).unwrap_or_default();
    let vendor = match property("java.vendor.version") {
        "" => property("java.vendor"),
        version => version,
    };
    let cpus = thread::available_parallelism().map_err(Error::system("count the cores"))?;
    Ok(Environment {
        jtrace: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        cpu: cpu(&read("/proc/cpuinfo")?).unwrap_or("unknown").to_owned(),
        cpus: u32::try_from(cpus.get()).unwrap_or(u32::MAX),
        memory_bytes: memory(&read("/proc/meminfo")?).unwrap_or(0),
        jvm: format!("{} {}", property("java.vm.name"), property("java.vm.version")),
        vendor: vendor.to_owned(),
        collector: collector(&text).unwrap_or("unknown").to_owned(),
        max_heap_bytes: flag(&text, "MaxHeapSize").and_then(|value| value.parse().ok()).unwrap_or(0),
        flags: flags.iter().map(|flag| flag.to_string_lossy().into_owned()).collect(),
        tools: std::collections::BTreeMap::new(),
    })
}

/// What the JVM prints about its flags (standard output) and properties (standard error).
fn ask(java: &Path, flags: &[OsString]) -> Result<String, Error> {
    let name = java.display().to_string();
    let mut command = Command::new(java);
    command.args(flags).args(["-XX:+PrintFlagsFinal", "-XshowSettings:properties", "-version"]);
    let mut process = Process::spawn_keeping(&command, MAX_FLAGS)
        .map_err(|source| Error::System { what: format!("start {name}"), source })?;
    process.close_stdin();
    let status = process.wait(LIMIT).map_err(Error::system(format!("wait for {name}")))?;
    let status = status.ok_or_else(|| Error::program(&name, format!("does not print its flags within {LIMIT:?}")))?;
    let out = String::from_utf8_lossy(&process.stdout.bytes()).into_owned();
    if !status.success() {
        // HotSpot prints such errors to standard output in some releases, the launcher to standard error.
        let words = [&process.stderr, &process.stdout].map(|output| output.last_lines(3));
        let words = words.iter().find(|words| !words.is_empty()).map_or("", String::as_str);
        return Err(Error::program(name, format!("does not start with the flags of the session: {words}")));
    }
    let properties = String::from_utf8_lossy(&process.stderr.bytes()).into_owned();
    if property(&properties, "java.vm.name").or(property(&out, "java.vm.name")).is_none() {
        return Err(Error::program(name, "does not say which JVM it is; give a JDK's bin/java with --java"));
    }
    Ok(format!("{out}\n{properties}"))
}

fn read(path: &str) -> Result<String, Error> {
    let text = || -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    text().map_err(Error::system(format!("read {path}")))
}

/// The first processor's model.
fn cpu(cpuinfo: &str) -> Option<&str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim())
    })
}

/// Main memory in bytes.
fn memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A line `    java.vm.name = OpenJDK 64-Bit Server VM`.
fn property<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| Some(line.trim().strip_prefix(name)?.strip_prefix(" = ")?.trim()))
}

/// A line `   size_t MaxHeapSize    = 134217728    {product} {command line}`.
fn flag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let found = words.next()? == name && matches!(words.next()?, "=" | ":=");
        found.then(|| words.next())?
    })
}

fn collector(text: &str) -> Option<&'static str> {
    COLLECTORS.iter().find(|(name, _)| flag(text, name) == Some("true")).map(|(_, collector)| *collector)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "[Global flags]
   size_t MaxHeapSize                              = 134217728                                 {product} {command line}
   size_t MaxHeapSizeOther                         = 7                                         {product} {default}
     bool UseG1GC                                  = false                                     {product} {default}
     bool UseSerialGC                              = true                                      {product} {ergonomic}
    ccstr Empty                                    =                                           {product} {default}
Property settings:
    java.vm.name = OpenJDK 64-Bit Server VM
    java.vm.name.other = x
    java.vendor.version = Temurin-17.0.9+9
";

    #[test]
    fn what_a_jvm_prints_is_read() {
        assert_eq!(flag(PRINTED, "MaxHeapSize"), Some("134217728"));
        assert_eq!(flag(PRINTED, "MaxHeap"), None);
        assert_eq!(collector(PRINTED), Some("Serial"));
        assert_eq!(property(PRINTED, "java.vm.name"), Some("OpenJDK 64-Bit Server VM"));
        assert_eq!(property(PRINTED, "java.vendor"), None);
    }

    #[test]
    fn what_the_kernel_says_is_read() {
        assert_eq!(memory("MemFree: 1 kB\nMemTotal:       8000 kB\n"), Some(8_192_000));
        assert_eq!(memory("MemTotal: x"), None);
        assert_eq!(cpu("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n"), Some("Some CPU @ 2 GHz"));
    }

    #[test]
    fn what_is_no_java_is_named_with_what_it_said() {
        let error = look(Path::new("/nowhere/java"), &[]).unwrap_err().to_string();
        assert!(error.contains("cannot start /nowhere/java"), "{error}");
        let error = look(Path::new("/bin/cat"), &["/nowhere".into()]).unwrap_err().to_string();
        assert!(error.contains("/bin/cat does not start with the flags of the session"), "{error}");
        let error = look(Path::new("/bin/true"), &[]).unwrap_err().to_string();
        assert!(error.contains("--java"), "{error}");
    }
}
