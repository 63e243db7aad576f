//! Commands that jtrace runs itself with, for what must be done in a process apart. Nobody types them.
//!
//! Looking into an unknown process can take for ever: a user can have her memory and her files on a file system that does
//! not answer, and whoever waits for that cannot even be killed. So a child looks first, with few capabilities and with
//! limits, and says what it looks at next. One that says nothing more is left behind, and what held it up is named.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::{Failure, list::Row};
use crate::{
    jvm::{
        find::{
            self, Jvm, Step,
            process::{Identity, Stat},
            refused_calls::{Work, refuse_beyond},
            sharers,
        },
        target_files,
    },
    privilege::{self, LOOKING},
    report::reading::Reading,
};

/// Options of `jtrace as-target-user`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct TargetOptions {
    pid: u32,
    start_ticks: u64,
}

/// Options of `jtrace look-apart`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LookOptions {
    /// The first process that is looked at
    first: u32,

    /// Only this one
    #[arg(long)]
    only: bool,

    /// Users whose processes are not looked at
    #[arg(long, value_delimiter = ',')]
    without: Vec<u32>,

    /// Looks for those instead that have mapped one of these inodes, and could hold up who puts sites there
    #[arg(long, value_delimiter = ',')]
    sharing: Vec<u64>,
}

/// The hidden command that looks.
const LOOK: &str = "look-apart";
/// How long a child may be held up by one process, twice as long where it uses a CPU, and how long where it has none.
const STEP: Duration = Duration::from_secs(2);
const STEP_WITHOUT_CPU: Duration = Duration::from_secs(30);
/// Most bytes of a line, and of all of them.
const MAX_LINE_BYTES: u64 = 1 << 20;
const MAX_BYTES: u64 = 256 << 20;
/// What a child may need.
const MAX_MEMORY_BYTES: u64 = 1 << 30;
const MAX_CPU_S: u64 = 60;
/// What the kernel adds to a process's share of the memory, in thousandths of it, when it looks for one to end.
const FIRST_TO_GO: &str = "1000";

/// What a child says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// This process is looked at next.
    At(u32),
    Jvm(Box<Row>),
    Hidden,
    /// Whose it is decided that it is not looked at.
    LeftOut,
    /// This process could hold up who puts sites into a file.
    HoldsUp(u32),
    /// What a JVM does that is followed.
    Reading(Box<Reading>),
    /// To be told the user.
    Warning(String),
    /// Nothing is left to do.
    End,
}

/// How looking ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All have been looked at.
    Whole,
    /// The child came no further than this process; absent where it said nothing at all.
    HeldUp(Option<u32>),
    /// It has not come further than this process by the deadline, and goes on.
    GoesOn(Option<u32>),
}

/// Who asked has been told what failed; there is nobody else to tell.
pub(super) fn as_target_user(options: TargetOptions) -> ExitCode {
    let TargetOptions { pid, start_ticks } = options;
    match target_files::run_as_target_user(Identity { pid, start_ticks }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(1),
    }
}

/// The child: looks, and says so.
pub(super) fn look(options: &LookOptions) -> Result<ExitCode, Failure> {
    only_look()?;
    if !options.sharing.is_empty() {
        sharers::look(&options.sharing, &mut |step| match step {
            sharers::Step::At(pid) => tell(&Said::At(pid)),
            sharers::Step::HoldsUp(pid) => tell(&Said::HoldsUp(pid)),
        })?;
    } else if options.only {
        tell(&Said::At(options.first))?;
        // What it comes to is found out again by who asked, who knows then that it is an answer.
        let _: Result<Jvm, find::Error> = Jvm::open(options.first);
    } else {
        find::scan(options.first, &options.without, &mut |step| match step {
            Step::At(pid) => tell(&Said::At(pid)),
            Step::Jvm(listed) => tell(&Said::Jvm(Box::new(Row::of(*listed)))),
            Step::Hidden => tell(&Said::Hidden),
            Step::LeftOut => tell(&Said::LeftOut),
        })?;
    }
    tell(&Said::End)?;
    Ok(ExitCode::SUCCESS)
}

/// Says something to who started this process.
pub(super) fn tell(said: &Said) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Limits what this process may need.
pub(super) fn limit() -> io::Result<()> {
    limit_memory(MAX_MEMORY_BYTES)?;
    [(Resource::Cpu, MAX_CPU_S), (Resource::Core, 0)]
        .into_iter()
        .try_for_each(|(resource, most)| limit_one(resource, most))
}

/// Limits the memory that this process may need to read what somebody else may have written. Where many such need it at a time and
/// the machine has no more, the kernel is to end one of them, and nobody else.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    // A user who has jtrace's capabilities by its file may not write there. The limit holds for her all the same.
    let _: io::Result<()> = fs::write("/proc/self/oom_score_adj", FIRST_TO_GO);
    limit_one(Resource::Data, bytes)
}

fn limit_one(resource: Resource, most: u64) -> io::Result<()> {
    let before = rustix::process::getrlimit(resource);
    let most = before.maximum.map_or(most, |maximum| maximum.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// Gives up all that looking into a process does not take, for good. What a target wrote is parsed after this.
pub(super) fn only_look() -> io::Result<()> {
    limit()?;
    privilege::keep_only(LOOKING)?;
    refuse_beyond(Work::Looking)
}

/// Looks at all processes from a pid on but for those of some users, in a child.
pub(super) fn look_from(first: u32, without: &[u32], mut take: impl FnMut(Said)) -> io::Result<Ended> {
    let mut words = vec![first.to_string()];
    if !without.is_empty() {
        let users: Vec<_> = without.iter().map(u32::to_string).collect();
        words.extend(["--without".to_owned(), users.join(",")]);
    }
    Ok(Apart::start(LOOK, &words)?.listen(None, &mut take))
}

/// Looks into one process, in a child: whoever looks into it then will not be held up.
pub(super) fn look_at(pid: u32) -> Result<(), Failure> {
    match Apart::start(LOOK, &[pid.to_string(), "--only".to_owned()])?.listen(None, &mut |_| {}) {
        Ended::Whole => Ok(()),
        Ended::HeldUp(_) | Ended::GoesOn(_) => Err(Failure::new(
            format!("process {pid} cannot be looked into: {HELD_UP}"),
            "see what its memory and its libraries are mapped from (/proc/PID/maps); `jtrace list` goes on without it"
                .to_owned(),
        )),
    }
}

/// Finds out, in a child, that nobody holds up whoever puts sites into a file of a target and into jtrace itself, as attaching does.
pub(super) fn nobody_holds_up(file: Option<&Path>) -> Result<(), Failure> {
    who_holds_up(file)?.map_or(Ok(()), |pid| {
        Err(Failure::new(
            format!("nothing was attached: {}", in_the_way(pid)),
            "`/proc/PID/maps` of that process shows the files; end it, or have it unmap them".to_owned(),
        ))
    })
}

/// What is said of a process that [`who_holds_up`] finds.
pub(super) fn in_the_way(pid: u32) -> String {
    format!(
        "process {pid} has the same file mapped, and memory that comes from a file system which its user may serve herself; the kernel \
         could wait for that without end, and start no process meanwhile"
    )
}

/// How long after a look it is looked again.
const AGAIN: Duration = Duration::from_millis(200);

/// A process that holds up whoever puts sites into a file and into jtrace itself, or that could. One that starts or ends can seem so
/// for a moment, because its mappings and its mounts are read one after the other: it has to be there twice.
pub(super) fn who_holds_up(file: Option<&Path>) -> io::Result<Option<u32>> {
    let first = all_that_hold_up(file)?;
    if first.is_empty() {
        return Ok(None);
    }
    thread::sleep(AGAIN);
    let second = all_that_hold_up(file)?;
    Ok(first.into_iter().find(|pid| second.contains(pid)))
}

fn all_that_hold_up(file: Option<&Path>) -> io::Result<Vec<u32>> {
    let files = [Path::new("/proc/self/exe")].into_iter().chain(file);
    let inodes: Vec<String> = files.filter_map(|file| Some(file.metadata().ok()?.ino().to_string())).collect();
    let mut all = Vec::new();
    let child = Apart::start(LOOK, &["1".to_owned(), "--sharing".to_owned(), inodes.join(",")])?;
    let ended = child.listen(None, &mut |said| {
        if let Said::HoldsUp(pid) = said {
            all.push(pid);
        }
    });
    if let Ended::HeldUp(Some(at)) = ended {
        all.push(at);
    }
    Ok(all)
}

/// Why a process could not be looked into.
pub(super) const HELD_UP: &str = "a process of jtrace that tried was held up, and was left behind";

/// A child that works apart, and says what it does.
pub(super) struct Apart {
    child: Child,
    lines: Receiver<Said>,
}

impl Apart {
    /// Starts jtrace with a hidden command.
    pub(super) fn start(command: &str, words: &[String]) -> io::Result<Self> {
        Self::run(Command::new(target_files::program()).arg(command).args(words))
    }

    fn run(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = lines(&mut child)?;
        Ok(Self { child, lines })
    }

    /// Takes what it says until it ends, or is held up. It is not waited for beyond a deadline, but goes on.
    pub(super) fn listen(mut self, deadline: Option<Instant>, take: &mut dyn FnMut(Said)) -> Ended {
        let mut at = None;
        loop {
            match self.next(deadline) {
                Next::Said(Said::At(pid)) => at = Some(pid),
                Next::Said(Said::End) => break,
                Next::Said(said) => take(said),
                Next::Nothing => {
                    self.end();
                    return Ended::HeldUp(at);
                }
                Next::Late => return Ended::GoesOn(at),
            }
        }
        self.end();
        Ended::Whole
    }

    fn next(&self, deadline: Option<Instant>) -> Next {
        let began = Instant::now();
        let mut before = None;
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match self.lines.recv_timeout(left.unwrap_or(STEP).min(STEP)) {
                Ok(said) => return Next::Said(said),
                Err(RecvTimeoutError::Disconnected) => return Next::Nothing,
                Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left <= STEP) => return Next::Late,
                // One that wants a CPU and has none is held up by the machine, and not by what it looks at; one that uses it
                // for as long is. Where there is a deadline, one that works or waits for an answer may do so until then.
                Err(RecvTimeoutError::Timeout) => {
                    let Ok(Stat { state, cpu_ticks, .. }) = Stat::read(self.child.id()) else { return Next::Nothing };
                    let used = cpu_ticks.saturating_sub(*before.get_or_insert(cpu_ticks));
                    let is_busy = used > rustix::param::clock_ticks_per_second() * STEP.as_secs() / 2;
                    let waits = match deadline {
                        None => state == 'R' && !is_busy,
                        Some(_) => matches!(state, 'R' | 'S'),
                    };
                    if !waits || began.elapsed() > STEP_WITHOUT_CPU {
                        return Next::Nothing;
                    }
                }
            }
        }
    }

    /// Lets it end, or makes it; one that the kernel does not let go stays behind.
    fn end(&mut self) {
        if target_files::is_over(&mut self.child, Duration::from_millis(100)) {
            return;
        }
        let _: io::Result<()> = self.child.kill();
        let _: bool = target_files::is_over(&mut self.child, Duration::from_millis(100));
    }
}

/// What comes from a child.
enum Next {
    Said(Said),
    /// It is held up, or has ended.
    Nothing,
    /// The deadline has come.
    Late,
}

/// Reads what a child says, on a thread of its own, so that it can be waited for with a limit.
fn lines(child: &mut Child) -> io::Result<Receiver<Said>> {
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sender, receiver) = sync_channel(64);
    thread::Builder::new().name("looks".to_owned()).spawn(move || {
        let mut from = BufReader::new(stdout.take(MAX_BYTES));
        loop {
            let mut line = Vec::new();
            let read = (&mut from).take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
            let Some(said) = read.ok().and_then(|_| serde_json::from_slice(&line).ok()) else { return };
            if sender.send(said).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(script: &str, deadline: Option<Instant>) -> (Ended, Vec<String>) {
        let mut said = Vec::new();
        let child = Apart::run(Command::new("sh").args(["-c", script])).unwrap();
        let ended = child.listen(deadline, &mut |other| said.push(format!("{other:?}")));
        (ended, said)
    }

    #[test]
    fn what_a_child_says_is_taken_until_it_ends() {
        let script = r#"echo '{"At":7}'; echo '"Hidden"'; echo '{"Warning":"text"}'; echo '"End"'"#;
        assert_eq!(listen(script, None), (Ended::Whole, vec!["Hidden".to_owned(), "Warning(\"text\")".to_owned()]));
    }

    #[test]
    fn a_child_that_says_nothing_more_is_left_with_what_it_looked_at() {
        assert_eq!(listen(r#"echo '{"At":42}'; exec sleep 600"#, None).0, Ended::HeldUp(Some(42)));
        assert_eq!(listen("exit 1", None).0, Ended::HeldUp(None));
        assert_eq!(listen(r#"echo '{"At":42}'; echo nonsense"#, None).0, Ended::HeldUp(Some(42)));
    }

    /// The kernel can work for a user for as long as she likes: on the list of her hundred thousand mounts, for instance. CPU time decides.
    #[test]
    fn a_child_that_is_kept_busy_is_left_as_one_that_waits() {
        let script = r#"
            echo '{"At":42}'
            used=0
            while [ $used -lt 1000 ]; do
                read -r line < /proc/self/stat
                set -- ${line##*) }
                used=$((${12} + ${13}))
            done
            echo '"End"'"#;
        assert_eq!(listen(script, None).0, Ended::HeldUp(Some(42)));
    }

    #[test]
    fn a_child_goes_on_beyond_a_deadline() {
        let soon = Instant::now() + Duration::from_millis(100);
        let (ended, _) = listen(r#"echo '{"At":42}'; exec sleep 1"#, Some(soon));
        assert!(matches!(ended, Ended::GoesOn(_)), "{ended:?}");
    }
}
