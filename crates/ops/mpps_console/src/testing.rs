//! A small console that the unit tests share: rows of every kind over a host that records.

use std::borrow::Cow;
use std::io::Write;

use crate::{Args, Choices, Command, Host, Outcome, Section, Session, Table, builtins};

/// A host that keeps everything it is told.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) out: Vec<u8>,
    pub(crate) complaints: Vec<String>,
    pub(crate) interrupted: bool,
}

impl Recorder {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

impl Choices for Recorder {
    fn choices(&self, source: &str) -> Vec<Cow<'static, str>> {
        match source {
            "port" => vec!["0".into(), "1".into()],
            "modes" => vec!["io".into(), "mac".into(), "macswap".into()],
            _ => Vec::new(),
        }
    }
}

impl Host for Recorder {
    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    fn complain(&mut self, line: &str) {
        self.complaints.push(line.to_owned());
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }
}

fn say(host: &mut Recorder, text: &str) -> Outcome {
    writeln!(host.out, "{text}").expect("a vector takes all");
    Outcome::Done
}

fn show(host: &mut Recorder, args: &Args<'_>) -> Outcome {
    let what = if args.is("stats") { "stats" } else { "info" };
    let port = if args.has("port") {
        args.u16("port").to_string()
    } else {
        "all".to_owned()
    };
    say(host, &format!("show {what} {port}"))
}

pub(crate) static SECTIONS: [Section; 2] = [
    Section {
        name: "control",
        about: "Running",
    },
    Section {
        name: "ports",
        about: "Ports",
    },
];

static BUILTINS: [Command<Recorder>; 5] = builtins();

static COMMANDS: [Command<Recorder>; 16] = [
    Command::new(
        "ports",
        "show port (info|stats|xstats) (all|<port:port>)",
        "Shows ports",
        show,
    ),
    Command::new(
        "ports",
        "show port <port:u16> rss reta <size:u16> <mask:list>",
        "Shows the table",
        |h, a| {
            let text = format!(
                "reta {} {} {}",
                a.u16("port"),
                a.u16("size"),
                a.word("mask")
            );
            say(h, &text)
        },
    ),
    Command::new(
        "control",
        "set fwd <mode:choice(modes)>",
        "Chooses a mode",
        |h, a| say(h, &format!("mode {}", a.word("mode"))),
    ),
    Command::new(
        "control",
        "set fwd <mode:choice(modes)> retry",
        "Chooses a mode with retry",
        |h, a| say(h, &format!("mode {} retry", a.word("mode"))),
    ),
    Command::new("control", "set burst <n:u16>", "Sets the burst", |h, a| {
        say(h, &format!("burst {}", a.u16("n")))
    }),
    Command::new(
        "control",
        "set portlist <list:list>",
        "Chooses ports",
        |h, a| match a.items("list", "ports", 4) {
            Ok(ports) => say(h, &format!("ports {ports:?}")),
            Err(error) => say(h, &error.to_string()),
        },
    ),
    Command::new(
        "control",
        "set log global <level:u32>",
        "Sets the level",
        |h, a| say(h, &format!("global {}", a.u32("level"))),
    ),
    Command::new(
        "control",
        "set log <type:word> <level:u32>",
        "Sets a type's level",
        |h, a| say(h, &format!("type {} {}", a.word("type"), a.u32("level"))),
    ),
    Command::new(
        "ports",
        "set promisc <port:u16> <state:(on|off)>",
        "Promiscuous mode",
        |h, a| say(h, &format!("promisc {} {}", a.u16("port"), a.is("on"))),
    ),
    Command::new(
        "ports",
        "port config all (rxq|txq|rxd|txd) <n:u16>",
        "Configures all",
        |h, a| {
            let what = a.literals().last().unwrap_or_default();
            say(h, &format!("all {what} {}", a.u16("n")))
        },
    ),
    Command::new(
        "ports",
        "port (start|stop) <port:u8@port>",
        "Starts or stops",
        |h, a| {
            say(
                h,
                &format!(
                    "{} {}",
                    if a.is("start") { "start" } else { "stop" },
                    a.u8("port")
                ),
            )
        },
    ),
    Command::new(
        "ports",
        "mac_addr set <port:u16> <mac:mac>",
        "Sets the address",
        |h, a| say(h, &format!("mac {:02x?}", a.mac("mac"))),
    ),
    Command::new("control", "start [tx_first [<n:u32>]]", "Starts", |_, _| {
        Outcome::Done
    }),
    Command::new(
        "control",
        "run [slow] <what:ranges> [<n:i32>]",
        "Runs",
        |h, a| {
            let count = a.has("n").then(|| a.i32("n"));
            say(
                h,
                &format!(
                    "run {} {} {count:?}",
                    a.is("slow"),
                    a.ranges("what").count()
                ),
            )
        },
    ),
    Command::new("ports", "flow <rest:rest>", "Flow rules", |h, a| {
        say(h, &format!("flow <{}>", a.word("rest")))
    }),
    Command::new(
        "ports",
        "(dump|clear) <what:word>",
        "Dumps or clears",
        |h, a| {
            say(
                h,
                &format!(
                    "{} {}",
                    if a.is("dump") { "dump" } else { "clear" },
                    a.word("what")
                ),
            )
        },
    ),
];

pub(crate) fn table() -> Table<Recorder> {
    Table::new(&SECTIONS, &[&BUILTINS, &COMMANDS])
}

pub(crate) fn session() -> Session<Recorder> {
    Session::new(table(), "testpmd> ")
}

/// What one line prints.
pub(crate) fn reply(line: &str) -> String {
    let mut host = Recorder::default();
    session()
        .execute(&mut host, line)
        .expect("a vector takes all");
    host.text()
}
