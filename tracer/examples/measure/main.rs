//! The half of `cargo xtask bench`, `profile` and `verifier` that needs the library: it looks into the kernel, repeats
//! sessions within one process, and writes recordings of any size. Each result is lines of `name number...` on stdout.
//!
//! `measure objects` · `measure verified [OBJECT]` · `measure rounds LIBJVM PID N` · `measure recording FILE EVENTS` ·
//! `measure stacks FILE STACKS` · `measure session FILE SECONDS EVENTS_A_SECOND` · `measure profile FILE` · `measure calls FILE CALLS CONTEXTS ALLOCATIONS` ·
//! `measure replay FILE` · `measure floor LIBJVM PID` · `measure marks COUNT`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measured, and what it could not")]

mod calls;
mod floor;
mod marks;
mod profile;
mod rounds;
mod stacks;
mod synthetic;

use anyhow::{Result, bail, ensure};
use tracer_live::ebpf::census::{self, Objects, Verified};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["objects"] => {
            let Objects { programs, maps, links } = census::objects();
            println!("programs {programs}\nmaps {maps}\nlinks {links}");
            Ok(())
        }
        ["verified"] => verified(None),
        ["verified", object] => verified(Some(&std::fs::read(object)?)),
        ["rounds", libjvm, pid, count] => rounds::run(libjvm.as_ref(), pid.parse()?, count.parse()?),
        ["profile", file] => profile::print(file.as_ref()),
        ["recording", file, events] => synthetic::write(file.as_ref(), events.parse()?),
        ["calls", file, calls, contexts, allocations] => {
            calls::write(file.as_ref(), calls.parse()?, contexts.parse()?, allocations.parse()?)
        }
        ["floor", libjvm, pid] => floor::run(libjvm.as_ref(), pid.parse()?),
        ["replay", file] => calls::replay(file.as_ref()),
        ["marks", count] => marks::run(count.parse()?),
        ["stacks", file, stacks] => stacks::write(file.as_ref(), stacks.parse()?),
        ["session", file, seconds, rate] => stacks::write_session(file.as_ref(), seconds.parse()?, rate.parse()?),
        _ => bail!(
            "usage: measure objects | verified [OBJECT] | rounds LIBJVM PID N | recording FILE EVENTS | stacks FILE STACKS | session FILE SECONDS EVENTS_A_SECOND | profile FILE | \
             calls FILE CALLS CONTEXTS ALLOCATIONS | replay FILE | floor LIBJVM PID | marks COUNT"
        ),
    }
}

/// `program instructions verified stack frames depths`, one line a program.
fn verified(object: Option<&[u8]>) -> Result<()> {
    let mut refused = 0;
    for examined in census::verified(object)? {
        match examined {
            Ok(Verified { program, instructions, verified, chain }) => {
                let depths: Vec<String> = chain.frames.iter().map(u32::to_string).collect();
                println!("{program} {instructions} {verified} {} {} {}", chain.bytes(), depths.len(), depths.join("+"));
            }
            Err(error) => {
                eprintln!("{error}");
                refused += 1;
            }
        }
    }
    ensure!(refused == 0, "{refused} programs were refused");
    Ok(())
}
