//! What a user or a script types: program arguments, device arguments and console lines.

use std::borrow::Cow;
use std::sync::OnceLock;

use mpps_console::{Args, Choices, Command, Outcome, Section, Table, Verdict};
use mpps_dev::{ArgKind, ArgSpec, DevArgs};
use testpmd::app_args::NamesArgs;
use testpmd::command_line;

const SPECS: &[ArgSpec] = &[
    ArgSpec {
        key: "size",
        kind: ArgKind::Number(1, 9000),
        repeats: false,
        help: "A number.",
    },
    ArgSpec {
        key: "copy",
        kind: ArgKind::Flag,
        repeats: false,
        help: "A flag.",
    },
    ArgSpec {
        key: "mode",
        kind: ArgKind::Choice(&["a", "b"]),
        repeats: false,
        help: "A choice.",
    },
    ArgSpec {
        key: "file",
        kind: ArgKind::Text,
        repeats: true,
        help: "A text, several times.",
    },
];

/// Any words as the arguments of testpmd, parted by NUL or line ends: a refusal is one line, and so is every notice.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let given = text.split(['\0', '\n']).map(str::to_owned);
    let argv: Vec<String> = std::iter::once("testpmd".to_owned()).chain(given).collect();
    let names = NamesArgs {
        engines: &["io", "macswap", "5tswap"],
        macswap: &["auto", "scalar"],
        copy: &["auto", "libc"],
    };
    match command_line::parse(&argv, names) {
        Ok(parsed) => parsed
            .notices()
            .for_each(|notice| one_line(&notice.to_string(), &argv)),
        Err(error) => one_line(&error.to_string(), &argv),
    }
}

fn one_line(message: &str, argv: &[String]) {
    assert!(
        !message.is_empty() && !message.contains(['\n', '\r', '\0']),
        "{message:?} on {argv:?}"
    );
}

/// Any text as device arguments: parsed and written again they say the same; checked ones can be read without failing.
pub fn devargs(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(parsed) = text.parse::<DevArgs>() else {
        return;
    };
    let mut again = parsed.name().to_owned();
    for (key, value) in parsed.iter() {
        again.push(',');
        again.push_str(key);
        if let Some(value) = value {
            again.push('=');
            again.push_str(value);
        }
    }
    let reparsed = again.parse::<DevArgs>();
    let reparsed =
        reparsed.unwrap_or_else(|error| panic!("{text:?} is taken, {again:?} is not: {error}"));
    assert_eq!(parsed.name(), reparsed.name(), "{text:?} against {again:?}");
    assert!(
        parsed.iter().eq(reparsed.iter()),
        "{text:?} against {again:?}"
    );
    if let Ok(checked) = parsed.check("net_fuzz", SPECS) {
        assert!(
            checked
                .number("size")
                .is_none_or(|size| (1..=9000).contains(&size))
        );
        checked.flag("copy");
        assert!(
            checked
                .text("mode")
                .is_none_or(|mode| mode == "a" || mode == "b")
        );
        assert!(checked.texts("file").all(|file| !file.is_empty()));
    }
}

/// Answers the console's questions.
struct Ports;

impl Choices for Ports {
    fn choices(&self, _source: &str) -> Vec<Cow<'static, str>> {
        vec!["io".into(), "macswap".into(), "0".into()]
    }
}

const SECTIONS: &[Section] = &[Section {
    name: "all_kinds",
    about: "Every kind of token.",
}];

const fn row(grammar: &'static str) -> Command<()> {
    Command::new("all_kinds", grammar, "For fuzzing", |(), _: &Args<'_>| {
        Outcome::Done
    })
}

const COMMANDS: &[Command<()>] = &[
    row("show port (info|stats|xstats) (<p:u16@ports>|all)"),
    row("set fwd <mode:choice(modes)> [retry]"),
    row("set txpkts <sizes:list>"),
    row("set (nbcore|burst) <n:u32>"),
    row("mac_addr add <p:port> <mac:mac>"),
    row("number <a:u8> <b:u64> <c:i32>"),
    row("port config <p:u16> <key:word> <state:(on|off)>"),
    row("cores <r:ranges>"),
    row("load <file:text>"),
    row("say <words:rest>"),
];

/// Any line of the console: the verdict names a row that there is, and blanks at the end change nothing.
pub fn console(data: &[u8]) {
    static TABLE: OnceLock<Table<()>> = OnceLock::new();
    let grammar = TABLE
        .get_or_init(|| Table::new(SECTIONS, &[COMMANDS]))
        .grammar();
    let text = String::from_utf8_lossy(data);
    let line = text.lines().next().unwrap_or_default();
    let verdict = row_of(&grammar.parse(line, &Ports));
    let padded = format!("{line}  ");
    assert_eq!(
        verdict,
        row_of(&grammar.parse(&padded, &Ports)),
        "{line:?} with blanks at its end"
    );
}

/// The row that runs, or what there is instead.
fn row_of(verdict: &Verdict<'_>) -> Result<usize, &'static str> {
    match verdict {
        Verdict::Empty => Err("empty"),
        Verdict::NotFound => Err("not found"),
        Verdict::BadArguments => Err("bad arguments"),
        Verdict::Ambiguous => Err("ambiguous"),
        Verdict::Run { row, args } => {
            assert!(*row < COMMANDS.len(), "row {row} of {}", COMMANDS.len());
            args.literals()
                .for_each(|literal| assert!(!literal.is_empty()));
            Ok(*row)
        }
    }
}
