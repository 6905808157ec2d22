//! The lines of a session's life on standard output: start-up, ports coming and going, forwarding starting and stopping, exit.
//!
//! Which lines in which order is the app's business (it follows `start`, `port stop` and so on); the words are here.

use std::fmt;

use mpps_wire::MacAddr;

use super::fwd_config::SocketId;

/// One line (or the lines that always come together), without the last newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle<'a> {
    /// `-i` was seen.
    InteractiveSelected,
    /// `-a` was seen.
    AutoStartSelected,
    /// A port's queues are set up, on its first start or after a change.
    Configuring(u16, SocketId),
    /// A port runs, with this address.
    Running(u16, MacAddr),
    /// In front of the link lines.
    CheckingLinks,
    /// The end of every port command, whether it did anything or not.
    Done,
    /// `port stop`.
    StoppingPorts,
    /// `port close`.
    ClosingPorts,
    /// `port reset`.
    ResettingPorts,
    /// A port is gone.
    Closed(u16),
    /// `port attach`.
    Attaching,
    /// A port came, and so many there are now.
    Attached(u16, usize),
    /// `port detach` and `device detach`.
    Removing,
    /// `port detach` succeeded.
    DeviceDetached,
    /// `device detach` of this device succeeded.
    NamedDetached(&'a str),
    /// So many ports are left.
    TotalPorts(usize),
    /// `--auto-start` at the prompt.
    AutomaticStart,
    /// Not interactive.
    NoCommandline,
    /// Not interactive, without `--stats-period`: any byte or the end of standard input ends the program.
    PressEnter,
    /// `stop`, in front of the forward statistics.
    Stopping,
    /// `stop`, behind them.
    Stopped,
    /// Exit: before the ports are stopped, by the primary process.
    StopRequest,
    /// Exit: in front of a port's stop lines.
    ExitStopping(u16),
    /// Exit: in front of a port's close lines.
    ExitClosing(u16),
    /// Exit: the last line.
    Bye,
}

impl fmt::Display for Lifecycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lifecycle::Configuring(port, socket) => {
                write!(f, "Configuring Port {port} (socket {socket})")
            }
            Lifecycle::Running(port, mac) => write!(f, "Port {port}: {mac}"),
            Lifecycle::Closed(port) => write!(f, "Port {port} is closed"),
            Lifecycle::Attached(port, total) => {
                write!(f, "Port {port} is attached. Now total ports is {total}")
            }
            Lifecycle::NamedDetached(name) => write!(f, "Device {name} is detached"),
            Lifecycle::TotalPorts(total) => write!(f, "Now total ports is {total}"),
            Lifecycle::ExitStopping(port) => write!(f, "\nStopping port {port}..."),
            Lifecycle::ExitClosing(port) => write!(f, "\nShutting down port {port}..."),
            plain => f.write_str(plain.words()),
        }
    }
}

impl Lifecycle<'_> {
    /// The text of those that carry nothing; empty for the others, which `Display` writes itself.
    fn words(&self) -> &'static str {
        match self {
            Lifecycle::InteractiveSelected => "Interactive-mode selected",
            Lifecycle::AutoStartSelected => "Auto-start selected",
            Lifecycle::CheckingLinks => "Checking link statuses...",
            Lifecycle::Done => "Done",
            Lifecycle::StoppingPorts => "Stopping ports...",
            Lifecycle::ClosingPorts => "Closing ports...",
            Lifecycle::ResettingPorts => "Resetting ports...",
            Lifecycle::Attaching => "Attaching a new port...",
            Lifecycle::Removing => "Removing a device...",
            Lifecycle::DeviceDetached => "Device is detached",
            Lifecycle::AutomaticStart => "Start automatic packet forwarding",
            Lifecycle::NoCommandline => "No commandline core given, start packet forwarding",
            Lifecycle::PressEnter => "Press enter to exit",
            Lifecycle::Stopping => "Telling cores to stop...\nWaiting for lcores to finish...",
            Lifecycle::Stopped => "\nDone.",
            Lifecycle::StopRequest => "\nPrimary: Sending 'stop_req' request to secondary...",
            Lifecycle::Bye => "\nBye...",
            _ => "",
        }
    }
}

/// A port's event, printed from whichever thread sees it, possibly in the middle of other output: one write, please.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The port's number.
    pub port: u16,
    /// `link state change`, `queue state`, `device removal`, `reset`, `flow aged`, `error recovering` and the like.
    pub name: &'static str,
}

impl Event {
    /// The link went up or down.
    pub const LINK: &'static str = "link state change";
    /// A queue was enabled or disabled by the peer.
    pub const QUEUE: &'static str = "queue state";
    /// The device is gone.
    pub const REMOVAL: &'static str = "device removal";
    /// The device wants a reset.
    pub const RESET: &'static str = "reset";
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\nPort {}: {} event", self.port, self.name)
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
