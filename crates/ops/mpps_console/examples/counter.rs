//! A console in one page: a counter with three commands. `cargo run -p mpps_console --example counter`, on a terminal or
//! with lines piped in. With a number as argument it is woken after so many milliseconds, as a signal would.

use std::borrow::Cow;
use std::io::{self, BufWriter, Stdout, Write};
use std::time::Duration;

use mpps_console::{
    Args, Choices, Command, Ending, Host, Outcome, Section, Session, Table, builtins, open_stdin,
};

struct Counter {
    value: i64,
    out: BufWriter<Stdout>,
}

impl Choices for Counter {
    fn choices(&self, source: &str) -> Vec<Cow<'static, str>> {
        match source {
            "units" => vec!["one".into(), "dozen".into(), "gross".into()],
            _ => Vec::new(),
        }
    }
}

impl Host for Counter {
    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }
}

fn add(counter: &mut Counter, args: &Args<'_>) -> Outcome {
    let each = match args.word("unit") {
        "gross" => 144,
        "dozen" => 12,
        _ => 1,
    };
    counter.value += each * i64::from(args.u16("count"));
    Outcome::Done
}

fn show(counter: &mut Counter, args: &Args<'_>) -> Outcome {
    let value = counter.value;
    let shown = if args.is("hex") {
        writeln!(counter.out, "{value:#x}")
    } else {
        writeln!(counter.out, "{value}")
    };
    // Standard output is gone: nobody is left to show anything to.
    if shown.is_ok() {
        Outcome::Done
    } else {
        Outcome::Quit
    }
}

static SECTIONS: [Section; 1] = [Section {
    name: "control",
    about: "All there is",
}];
static BUILTINS: [Command<Counter>; 5] = builtins();
static COMMANDS: [Command<Counter>; 2] = [
    Command::new(
        "control",
        "add <count:u16> <unit:choice(units)>",
        "Counts up",
        add,
    ),
    Command::new("control", "show value [hex]", "Shows the counter", show),
];

fn main() -> io::Result<()> {
    let table = Table::new(&SECTIONS, &[&BUILTINS, &COMMANDS]);
    let session = Session::new(table, "counter> ");
    let mut counter = Counter {
        value: 0,
        out: BufWriter::new(io::stdout()),
    };
    let (wake, ring) = rustix::pipe::pipe()?;
    let delay = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .map(Duration::from_millis);
    let clock = std::thread::spawn(move || match delay {
        Some(delay) => {
            std::thread::sleep(delay);
            drop(ring);
        }
        // Never rings.
        None => std::mem::forget(ring),
    });
    let mut source = open_stdin(session.table().grammar(), Some(wake))?;
    let ending = session.run(&mut counter, source.as_mut())?;
    if ending == Ending::Interrupted {
        clock
            .join()
            .map_err(|_| io::Error::other("the clock panicked"))?;
    }
    writeln!(counter.out, "\n{ending:?}")?;
    counter.out.flush()
}
