//! The project's chores, and the only thing that CI calls. `main` picks the verb, owns the exit code and nothing else.
#![forbid(unsafe_code)]

mod audit;
mod bench;
mod checks;
mod dist;
mod fuzz;
mod harness;
mod limit;
mod lint;
mod pair;
mod session;
mod shell;
mod soak;
mod suite;
mod tally;

use std::process::ExitCode;

/// A chore: its name, its help line, and what it does with its arguments.
struct Verb {
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        usage: "",
        help: "all tests that end within ten minutes on two cores",
        run: suite::run,
    },
    Verb {
        name: "soak",
        usage: "[NAME...] [--list]",
        help: "the long forms of the tests",
        run: soak::run,
    },
    Verb {
        name: "check",
        usage: "[NAME...] [--list] [--plant] [--record]",
        help: "measure each promised figure and hold it against its bound; --plant checks that a fault is caught",
        run: checks::run,
    },
    Verb {
        name: "lint",
        usage: "[--new-size-reasons] [--list]",
        help: "the rules that the compiler doesn't know",
        run: lint::run,
    },
    Verb {
        name: "bench",
        usage: "[SCENARIO...] [--seconds N] [--program PATH]",
        help: "packet rates of the standard scenarios",
        run: bench::run,
    },
    Verb {
        name: "fuzz",
        usage: "[TARGET...] [--seconds N] [--list]",
        help: "build and run the fuzz targets under AddressSanitizer",
        run: fuzz::run,
    },
    Verb {
        name: "audit",
        usage: "",
        help: "licences, advisories and bans of the dependencies",
        run: audit::run,
    },
    Verb {
        name: "dist",
        usage: "",
        help: "an archive with the programs, man pages and licences",
        run: dist::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprint!("xtask: '{name}' is not a chore\n{}", usage());
        return ExitCode::from(2);
    };
    match (verb.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask {name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask VERB [ARGUMENTS]\n");
    for verb in VERBS {
        text.push_str(&format!(
            "  {:6} {:42} {}\n",
            verb.name, verb.usage, verb.help
        ));
    }
    text
}
