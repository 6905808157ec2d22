//! The program at the back end of guests' cards: our testpmd, or DPDK's as a control that shows what is the test's doing
//! and what is ours. A test starts one and ends it with [`BackEnd::quit`].

use std::process::Command;

use crate::machine::Folder;
use crate::session::{PROMPT, Session, words};

/// Whose testpmd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The one under test.
    Ours,
    /// DPDK's, from the search path.
    Dpdk,
}

impl Program {
    /// The one that `MPPS_GUEST_BACK_END=dpdk` chooses; ours without.
    ///
    /// # Panics
    /// When the variable names another.
    pub fn chosen() -> Self {
        match std::env::var("MPPS_GUEST_BACK_END").as_deref() {
            Err(_) | Ok("mpps") => Self::Ours,
            Ok("dpdk") => Self::Dpdk,
            Ok(other) => panic!("MPPS_GUEST_BACK_END is mpps or dpdk, not {other:?}"),
        }
    }
}

/// A testpmd with vhost ports, their sockets in a folder of its own.
pub struct BackEnd {
    /// Its console.
    pub session: Session,
    /// Which it is.
    pub program: Program,
    folder: Folder,
}

impl BackEnd {
    /// Starts the chosen program with a vhost port for each of `ports`, which hold further device arguments, and these
    /// words behind `--`. It waits for its guests; packets flow at once.
    pub fn start(ports: &[&str], application: &[&str]) -> Self {
        let (program, folder) = (Program::chosen(), Folder::new());
        let vdev = |(at, arguments): (usize, &&str)| {
            let comma = if arguments.is_empty() { "" } else { "," };
            let socket = folder.file(&format!("vhost{at}"));
            format!("net_vhost{at},iface={socket}{comma}{arguments}")
        };
        let vdevs: Vec<String> = ports.iter().enumerate().map(vdev).collect();
        let vdevs: Vec<&str> = vdevs.iter().map(String::as_str).collect();
        let application = [&["-i"], application].concat();
        let words = words(2, &vdevs, &application);
        let mut session = match program {
            Program::Ours => Session::start(&words),
            Program::Dpdk => Session::spawn(dpdk(&words)),
        };
        session.wait_for_prompt();
        session.ask("start");
        Self {
            session,
            program,
            folder,
        }
    }

    /// The socket of a port.
    pub fn socket(&self, port: usize) -> String {
        self.folder.file(&format!("vhost{port}"))
    }

    /// Types a line and returns its answer. What ports tell by themselves may stand around it, and after the prompt.
    pub fn ask(&mut self, line: &str) -> String {
        let at = self.session.stdout().len();
        self.session.say(line);
        self.session.wait(line, |session| {
            let text = session.stdout();
            let end = text[at..].rfind(PROMPT)?;
            Some(text[at..at + end].to_owned())
        })
    }

    /// All that it has said, on both outputs.
    pub fn said(&self) -> String {
        self.session.stdout() + &self.session.stderr()
    }

    /// An extended statistic of a port.
    ///
    /// # Panics
    /// When it isn't shown.
    pub fn xstat(&mut self, port: usize, name: &str) -> u64 {
        let text = self.ask(&format!("show port xstats {port}"));
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        let value = lines
            .find(|(shown, _)| *shown == name)
            .map(|(_, value)| value.trim());
        let value = value.and_then(|value| value.parse().ok());
        value.unwrap_or_else(|| panic!("port {port} has no {name}: {text}"))
    }

    /// Stops the packets, and ends the program; its end must be a clean one. Returns what it said to `stop`.
    pub fn quit(mut self) -> String {
        let stop = self.ask("stop");
        self.session.quit();
        stop
    }
}

/// DPDK's program takes the same words but one: memory without huge pages can't be without files there. Its answers
/// come before the prompt that follows them only if its output isn't held back in blocks.
fn dpdk(words: &[String]) -> Command {
    let mut command = Command::new("stdbuf");
    command.args(["-oL", "dpdk-testpmd"]);
    command.args(["--no-huge", "-m", "192", "--no-shconf", "--no-telemetry"]);
    command.args(words.iter().filter(|word| *word != "--in-memory"));
    command
}
