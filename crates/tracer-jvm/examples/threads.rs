//! All threads of a JVM with their stacks, read from outside: `threads PID`. The JVM is not stopped, and runs no code for it.

use std::io::stdout;

use tracer_jvm::{jvm::find::Jvm, thread_dump};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: threads PID")?.parse()?;
    let dump = thread_dump::read(&Jvm::open(pid)?, false)?;
    thread_dump::write_text(&dump, false, &mut stdout().lock())?;
    Ok(())
}
