//! jtrace's programs keep off the stacks that newer kernels give to programs of uprobes, one for each CPU: where a kernel preempts
//! itself, two threads write to the same one, and the kernel stops (Linux 7.3.4 did, within 2 s of attaching).

use anyhow::{Result, ensure};
use tracer_live::ebpf::{private_stack, trial::Trial};

/// Bytes of stack from which on a kernel gives one away: 64 since 6.13.
const MUCH: i16 = 256;

#[test]
fn no_program_of_a_session_has_a_stack_that_it_shares_with_another_thread() -> Result<()> {
    let plain = private_stack::of_a_plain_program(MUCH).map_err(anyhow::Error::msg)?;
    let small = private_stack::of_a_plain_program(8).map_err(anyhow::Error::msg)?;
    ensure!(plain.is_some(), "the kernel does not show root the code that it made of a program");
    ensure!(small == Some(false), "a program with a small stack seems to have one of its own");
    println!("a plain program has a stack for each CPU: {plain:?}");
    // Where this kernel gives such stacks away, jtrace sees it; and none of its own programs has one, or it is refused here.
    let trial = Trial::run()?;
    ensure!(trial.refused.is_empty(), "{:?}", trial.refused);
    Ok(())
}

/// The host of the tests runs a kernel that does so, so that the test above cannot pass for want of anything to see.
#[test]
fn a_program_that_makes_no_tail_call_is_seen_to_have_one() -> Result<()> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let plain = private_stack::of_a_plain_program(MUCH).map_err(anyhow::Error::msg)?;
    ensure!(plain == Some(version >= (6, 13)), "Linux {release} gives a plain program a stack for each CPU: {plain:?}");
    Ok(())
}
