//! From the finished start to the end of the program: command files, console, statistics loop, exit.

use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mpps_console::{Echo, Ending, Session, open_stdin};
use mpps_os::{Signals, poll_readable};

use super::ports::Which;
use super::{App, Fatal};
use crate::commands;
use crate::text::{Lifecycle, Refusal, SCREEN_HEAD};

/// Runs the program to its end. Ports are started, command files read, then either the console or the statistics loop.
///
/// # Errors
/// What can't be started without a console to mend it.
pub fn run(mut app: App, signals: &Signals) -> Result<(), Fatal> {
    let interactive = app.args.run.interactive;
    if app.args.run.device_start && !app.start_ports(Which::All) {
        app.out.complain(Refusal::StartPorts);
        if !interactive {
            app.shut_down();
            return Err(Fatal::Other("ports failed to start".to_owned()));
        }
    }
    app.make_promiscuous(&app.port_ids());
    let session = commands::session();
    for file in app.args.run.command_files.clone() {
        let echo = if file.echo { Echo::On } else { Echo::Off };
        if let Err(error) = session.load(&mut app, &file.path, echo) {
            app.out.complain(format_args!("mpps: {error}"));
        }
    }
    let ended = if interactive {
        console(&mut app, &session, signals)
    } else {
        headless(&mut app, signals)
    };
    app.shut_down();
    match ended {
        // Nobody reads on: the end is an orderly one.
        Err(Fatal::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

fn console(app: &mut App, session: &Session<App>, signals: &Signals) -> Result<(), Fatal> {
    if app.args.run.auto_start {
        app.out.line(Lifecycle::AutomaticStart);
        app.start_or_complain(u32::from(app.args.run.tx_first));
    }
    app.out.flush()?;
    let wake = signals.fd();
    let mut source = open_stdin(session.table().grammar(), Some(wake))?;
    match session.run(app, source.as_mut()) {
        Ok(Ending::Quit | Ending::EndOfInput | Ending::Interrupted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn headless(app: &mut App, signals: &Signals) -> Result<(), Fatal> {
    app.out.line(Lifecycle::NoCommandline);
    app.out.flush()?;
    if !app.start_or_complain(u32::from(app.args.run.tx_first)) {
        return Err(Fatal::Other("forwarding can't start; see above".to_owned()));
    }
    match app.args.run.stats_period {
        Some(seconds) => statistics(app, Duration::from_secs(u64::from(seconds)), signals),
        None => wait_for_enter(app, signals),
    }
}

/// Prints all forwarding ports' counters now and every `period`, until a signal ends it. Standard input isn't looked at.
fn statistics(app: &mut App, period: Duration, signals: &Signals) -> Result<(), Fatal> {
    let mut next = Instant::now();
    while signals.pending().is_none() {
        app.out.block(SCREEN_HEAD);
        for id in app.forwarding.active_ports().to_vec() {
            app.show_port_stats(id);
        }
        app.out.flush()?;
        next += period;
        let left = next.saturating_duration_since(Instant::now());
        poll_readable([signals.fd()], Some(left))?;
    }
    Ok(())
}

fn wait_for_enter(app: &mut App, signals: &Signals) -> Result<(), Fatal> {
    app.out.line(Lifecycle::PressEnter);
    app.out.flush()?;
    let stdin = io::stdin();
    let [_, _] = poll_readable([stdin.as_fd(), signals.fd()], None)?;
    Ok(())
}

impl App {
    /// Starts forwarding; on failure says why. True when it runs.
    pub fn start_or_complain(&mut self, tx_first: u32) -> bool {
        match self.start_forwarding(tx_first) {
            Ok(()) => true,
            Err(start) => {
                self.out.complain(&start.refusal);
                if let Some(reason) = start.reason {
                    self.out.complain(format_args!("mpps: {reason}"));
                }
                false
            }
        }
    }

    /// The orderly end: forwarding stopped, ports stopped and closed, everything said.
    pub fn shut_down(&mut self) {
        self.ending = true;
        if self.forwarding.running.is_some() {
            // It runs, so that stopping can't be refused.
            let _ = self.stop_forwarding();
        }
        for id in self.port_ids() {
            self.out.line(Lifecycle::ExitStopping(id));
            self.stop_ports(Which::One(id));
        }
        for id in self.port_ids() {
            self.out.line(Lifecycle::ExitClosing(id));
            self.close_ports(Which::One(id));
        }
        self.out.line(Lifecycle::Bye);
        let _ = self.out.flush();
    }
}
