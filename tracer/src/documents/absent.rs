//! What `docs/security.md` says that jtrace never does: no source has a call for it. A run could only show that it was not done once.

use super::{documents, sources};

/// What is promised, words of calls that would break it, and the files that may have them.
const NEVER: [(&str, &[&str], &str); 3] = [
    (
        "jtrace never stops the target with `ptrace`",
        &["ptrace(", "PTRACE_SEIZE", "PTRACE_ATTACH", "PTRACE_INTERRUPT", "SYS_ptrace"],
        "jvm/find/refused_calls.rs",
    ),
    (
        "jtrace opens no network connection",
        &["TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs", "AddressFamily::INET", "AF_INET"],
        "jvm/find/refused_calls.rs",
    ),
    (
        "jtrace itself ends no process of the target",
        &["pidfd_send_signal", "kill_process(", "libc::kill(", "SYS_kill", "SYS_tgkill"],
        // SIGQUIT asks a JVM to listen. The others end what jtrace has started: a copy of itself, a session, JVMs of `bench` and tools.
        "jvm/attach_protocol.rs jvm/forked.rs cli/places.rs bench/process.rs bench/interruption.rs bench/peers/tool.rs",
    ),
];

#[test]
fn what_jtrace_never_does_no_source_has_a_call_for() {
    let page = documents().into_iter().find(|document| document.path.ends_with("docs/security.md")).unwrap();
    let sources: Vec<_> = ["crates", "tracer"].into_iter().flat_map(sources).collect();
    assert!(sources.len() > 300, "only {} sources were found", sources.len());
    for (promise, words, allowed) in NEVER {
        assert!(page.text.replace('\n', " ").contains(promise), "the page does not say `{promise}`");
        for source in sources.iter().filter(|source| !allowed.split(' ').any(|path| source.path.ends_with(path))) {
            let code = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let found: Vec<&str> = code.filter(|line| words.iter().any(|word| line.contains(word))).collect();
            assert!(found.is_empty(), "`{promise}`, and {} has {found:?}", source.path);
        }
    }
}
