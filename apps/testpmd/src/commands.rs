//! The console's commands: one row each in the tables of the modules here, by theme.
//!
//! A command reads its arguments, calls a method of [`App`] and prints the answer that DPDK prints. The tables live as
//! long as the program; [`session`] puts them together.

mod absent;
mod attach;
mod control;
mod csum;
mod dump;
mod flow;
mod hardware;
mod mac;
mod offloads;
mod port_config;
mod queues;
mod rss;
mod set;
mod show;
mod show_port;
mod switches;
mod vlan;

use std::borrow::Cow;
use std::io::Write;

use mpps_console::{Choices, Command, Host, Outcome, Section, Session, Table, builtins};

use crate::app::App;
use crate::text::{ConfigRefusal, RSS_TYPES, Side};

static SECTIONS: [Section; 8] = [
    Section {
        name: "control",
        about: "Start, stop, quit, command files",
    },
    Section {
        name: "display",
        about: "Statistics, ports, queues, configuration",
    },
    Section {
        name: "config",
        about: "Engine, burst, cores, addresses, offloads",
    },
    Section {
        name: "ports",
        about: "Start, stop and configure ports and queues",
    },
    Section {
        name: "filters",
        about: "Flow rules",
    },
    Section {
        name: "traffic_management",
        about: "Rates and scheduling",
    },
    Section {
        name: "devices",
        about: "Attach and detach devices",
    },
    Section {
        name: "drivers",
        about: "What single kinds of port have",
    },
];

static BUILTINS: [Command<App>; 5] = builtins();

/// The console with all commands.
pub fn session() -> Session<App> {
    Session::new(
        Table::new(
            &SECTIONS,
            &[
                &BUILTINS,
                &control::COMMANDS,
                &show::COMMANDS,
                &show_port::COMMANDS,
                &hardware::COMMANDS,
                &dump::COMMANDS,
                &flow::COMMANDS,
                &set::COMMANDS,
                &switches::COMMANDS,
                &mac::COMMANDS,
                &port_config::COMMANDS,
                &queues::COMMANDS,
                &offloads::COMMANDS,
                &rss::COMMANDS,
                &vlan::COMMANDS,
                &csum::COMMANDS,
                &attach::COMMANDS,
                &absent::COMMANDS,
            ],
        ),
        "testpmd> ",
    )
}

/// Says why a command was refused, where it was.
fn answer(app: &mut App, result: Result<(), ConfigRefusal>) -> Outcome {
    if let Err(refusal) = result {
        app.out.complain(refusal);
    }
    Outcome::Done
}

impl Choices for App {
    fn choices(&self, source: &str) -> Vec<Cow<'static, str>> {
        match source {
            "port" => self
                .port_ids()
                .into_iter()
                .map(|id| Cow::Owned(id.to_string()))
                .collect(),
            "modes" => mpps_engines::ENGINES
                .iter()
                .map(|engine| Cow::Borrowed(engine.name))
                .collect(),
            "rx_offloads" => offloads::names(Side::Rx).map(Cow::Owned).collect(),
            "tx_offloads" => offloads::names(Side::Tx).map(Cow::Owned).collect(),
            "rss_types" => RSS_TYPES
                .iter()
                .map(|known| Cow::Borrowed(known.name))
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Host for App {
    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    fn complain(&mut self, line: &str) {
        self.out.complain(line);
    }

    fn interrupted(&self) -> bool {
        mpps_os::signals::pending().is_some()
    }
}
