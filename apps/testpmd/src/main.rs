//! The `testpmd` program: reads the command line, makes the plan, runs it. The only place that decides on an exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use mpps_os::Signals;
use testpmd::app::{self, App};
use testpmd::app_args::NamesArgs;
use testpmd::command_line::{self, CommandLine};
use testpmd::help;
use testpmd::plan::Plan;
use testpmd::tell;

/// Answer to `--log-level=help`.
const LOG_LEVELS: &str = "\
Log levels, most urgent first: emergency, alert, critical, error, warning, notice, info, debug (1 to 8).
Log types: none to choose from; errors and notices always go to standard error, as lines that begin with `mpps: `.
";

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            mpps_console::restore_terminal();
            tell::note(format_args!("{error}"));
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), Box<dyn std::error::Error>> {
    let argv = command_line::words(std::env::args_os())?;
    let engines: Vec<&str> = mpps_engines::ENGINES
        .iter()
        .map(|engine| engine.name)
        .collect();
    let kernels: Vec<&str> = mpps_kernels::MacSwapKind::NAMES
        .iter()
        .map(|(name, _)| *name)
        .collect();
    let copies: Vec<&str> = mpps_kernels::CopyKind::NAMES
        .iter()
        .map(|(name, _)| *name)
        .collect();
    let names = NamesArgs {
        engines: &engines,
        macswap: &kernels,
        copy: &copies,
    };
    let line = command_line::parse(&argv, names)?;
    if say_what_was_asked(&line, names) {
        return Ok(());
    }
    let signals = Signals::install()?;
    app::install_last_words();
    let plan = Plan::new(&line)?;
    for notice in &plan.notices {
        tell::note(format_args!("{notice}"));
    }
    Ok(app::run(App::new(plan)?, &signals)?)
}

/// Prints help or the version; true when that is all.
fn say_what_was_asked(line: &CommandLine, names: NamesArgs<'_>) -> bool {
    if line.eal.version {
        tell::note(format_args!("testpmd {}", env!("CARGO_PKG_VERSION")));
    }
    if line.eal.help {
        tell::output(help::eal(&line.program));
    } else if line.app.help {
        tell::output(help::app(&line.program, names));
    }
    if line.eal.log.help {
        tell::output(LOG_LEVELS);
    }
    line.eal.help || line.app.help || line.eal.log.help
}
