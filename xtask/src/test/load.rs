//! What runs beside the live tests under load: four processes that compute all the time, and 2,000 threads that could run at any
//! moment. They end with xtask, however it ends.
//!
//! The threads are in the scheduler's idle class. Each of them is in a run queue and takes its turn, and together they weigh as much
//! as six usual threads; at the same weight as the tests they would make everything take a thousand times as long.

use std::{
    hint::black_box,
    io::{self, Read as _},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::{Arc, Barrier},
    thread,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

/// Processes that compute.
const BUSY: usize = 4;
/// Threads that could run.
const THREADS: usize = 2000;
/// They need next to no stack.
const STACK_BYTES: usize = 64 << 10;

/// One of the programs of the load; ends when its stdin does.
#[derive(Args)]
pub(crate) struct Options {
    /// How many threads compute
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Computes until nobody holds the other end of stdin any more.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    // Those that ran already would leave no CPU to whoever starts the others.
    let all_are_there = Arc::new(Barrier::new(options.threads + 1));
    for _ in 0..options.threads {
        let begin = Arc::clone(&all_are_there);
        let compute = move || {
            begin.wait();
            let mut value = 1_u64;
            loop {
                value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
        };
        thread::Builder::new().stack_size(STACK_BYTES).spawn(compute).context("cannot start a thread of the load")?;
    }
    println!("runs");
    all_are_there.wait();
    io::stdin().read_to_end(&mut Vec::new()).context("cannot read stdin")?;
    Ok(ExitCode::SUCCESS)
}

/// A load that runs; ended when dropped.
pub(super) struct Load {
    programs: Vec<(Child, Option<ChildStdin>)>,
}

impl Load {
    /// Starts it, and waits until all of it runs.
    pub(super) fn start() -> Result<Self> {
        let own = std::env::current_exe().context("xtask does not know its own program")?;
        let mut load = Self { programs: Vec::new() };
        // First, as the idle class gets next to no CPU beside the others: starting so many threads would take a minute.
        let mut idle = Command::new("chrt");
        load.add(idle.args(["--idle", "0"]).arg(&own).args(["load", "--threads", &THREADS.to_string()]))?;
        for _ in 0..BUSY {
            load.add(Command::new(&own).arg("load"))?;
        }
        println!("beside {BUSY} busy processes and {THREADS} runnable threads");
        Ok(load)
    }

    fn add(&mut self, command: &mut Command) -> Result<()> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take();
        let stdin = child.stdin.take();
        self.programs.push((child, stdin));
        let mut said = [0; 4];
        stdout.context("the load has no stdout")?.read_exact(&mut said).context("a part of the load does not start")?;
        ensure!(&said == b"runs", "a part of the load says something else");
        Ok(())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for (child, stdin) in &mut self.programs {
            drop(stdin.take());
            // Its main thread has to have its turn first; this does not wait for that.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
