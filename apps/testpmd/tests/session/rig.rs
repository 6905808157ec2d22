//! Runs a testpmd with pipes for its standard streams. Made by a test, ended by it or by `Drop`.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest that a session, or a wait for a text, may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// The program under test.
pub(crate) const OURS: &str = env!("CARGO_BIN_EXE_testpmd");

/// EAL arguments of two CPUs without huge pages.
pub(crate) const EAL: &[&str] = &["-l", "0,1", "--no-pci", "--no-huge", "--no-telemetry"];

static TURN: Mutex<()> = Mutex::new(());

/// The turn of one test: no other session runs while it is held.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A testpmd that runs. Both of its output streams go to one pipe, so that their order shows.
pub(crate) struct Run {
    child: Child,
    stdin: Option<ChildStdin>,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

/// How a session ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) text: String,
}

impl Run {
    /// Starts ours with [`EAL`] and these further arguments.
    pub(crate) fn ours(args: &[&str]) -> Self {
        let all: Vec<&str> = EAL.iter().chain(args).copied().collect();
        Self::start(Path::new(OURS), &all)
    }

    /// Starts a program.
    pub(crate) fn start(program: &Path, args: &[&str]) -> Self {
        Self::start_in(Path::new("."), program, args)
    }

    /// Starts a program in a folder.
    pub(crate) fn start_in(folder: &Path, program: &Path, args: &[&str]) -> Self {
        let (mut output, end) = std::io::pipe().unwrap();
        let mut child = Command::new(program)
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(end.try_clone().unwrap())
            .stderr(end)
            .spawn()
            .unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut chunk) {
                sink.lock().unwrap().extend_from_slice(&chunk[..n]);
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            seen,
            reader: Some(reader),
        }
    }

    /// Writes to standard input; a program that reads no more is noticed at the end.
    pub(crate) fn send(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin
                .write_all(text.as_bytes())
                .and_then(|()| stdin.flush());
        }
    }

    /// Ends standard input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// What was printed so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until `text` was printed `times` times.
    pub(crate) fn wait_for(&mut self, text: &str, times: usize) {
        let start = Instant::now();
        while self.text().matches(text).count() < times {
            assert!(
                start.elapsed() < PATIENCE,
                "no {text:?} (x{times}) in:\n{}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a line and waits for the next prompt.
    pub(crate) fn command(&mut self, line: &str) {
        let prompts = self.text().matches("testpmd> ").count();
        self.send(&format!("{line}\n"));
        self.wait_for("testpmd> ", prompts + 1);
    }

    /// Sends a signal by name, `INT` say.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success(),
            "{kill}"
        );
    }

    /// Waits for the end. Standard input stays as it is.
    pub(crate) fn end(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "still running:\n{}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        Ended {
            status,
            text: self.text(),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Already gone in the usual case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says that a test doesn't run here, on standard output and in the file that `MPPS_SKIP_LOG` names.
pub(crate) fn skip(name: &str, reason: &str, lacks: &str) {
    println!("SKIPPED {name}: {reason} [{lacks}]");
    if let Some(path) = std::env::var_os("MPPS_SKIP_LOG") {
        let mut log = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        writeln!(log, "{name}\t{reason}\t{lacks}").unwrap();
    }
}

/// Whether CPUs 0 and 1 are there, which the recorded sessions ran on; else says that `name` is skipped.
pub(crate) fn two_cpus(name: &str) -> bool {
    let have = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if have < 2 {
        skip(name, "fewer than two CPUs", "kernel");
    }
    have >= 2
}
