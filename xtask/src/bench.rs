//! `cargo xtask bench`: a table of packet rates of the standard scenarios. Absolute rates drift with the machine: compare
//! them within one run only, and use `check` for anything that is promised.

use std::path::PathBuf;
use std::time::Duration;

use crate::limit;
use crate::pair;
use crate::session::{self, Counter, Scenario};
use crate::shell::{self, Workspace};

const NULL_PORTS: &[&str] = &["net_null0", "net_null1"];
const RING_PORTS: &[&str] = &["net_ring0", "net_ring1"];

const fn null(
    name: &'static str,
    arguments: &'static [&'static str],
    counter: Counter,
) -> Scenario {
    Scenario {
        name,
        lcores: "0@1,1@0",
        vdevs: NULL_PORTS,
        arguments,
        start: "start",
        counter,
    }
}

const SCENARIOS: &[Scenario] = &[
    null("null-io", &["--forward-mode=io"], Counter::Received),
    null("null-mac", &["--forward-mode=mac"], Counter::Received),
    null(
        "null-macswap",
        &["--forward-mode=macswap"],
        Counter::Received,
    ),
    null("null-csum", &["--forward-mode=csum"], Counter::Received),
    null("null-rxonly", &["--forward-mode=rxonly"], Counter::Received),
    null("null-txonly", &["--forward-mode=txonly"], Counter::Sent),
    null("null-flowgen", &["--forward-mode=flowgen"], Counter::Sent),
    Scenario {
        lcores: "0@0,1@0,2@1",
        ..null(
            "null-macswap-2core",
            &["--forward-mode=macswap", "--nb-cores=2"],
            Counter::Received,
        )
    },
    Scenario {
        vdevs: RING_PORTS,
        start: "start tx_first 32",
        ..null("ring-io", &["--forward-mode=io"], Counter::Received)
    },
];

/// Rates of the machine itself, for packets of 64 to 1518 bytes.
const LIMIT_LOOP: &str = "limit-loop";
const LIMIT_ECHO: &str = "limit-echo";
const SIZES: &[usize] = &[64, 256, 512, 1024, 1518];

fn known() -> Vec<&'static str> {
    let single = SCENARIOS.iter().map(|scenario| scenario.name);
    let pairs = pair::SETUPS.iter().map(|setup| setup.name);
    single
        .chain(pairs)
        .chain([LIMIT_LOOP, LIMIT_ECHO])
        .collect()
}

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let names = shell::only_options(arguments, &[], &["--seconds", "--program"])?;
    let seconds = shell::option(arguments, "--seconds").unwrap_or("2");
    let seconds: u64 = seconds
        .parse()
        .map_err(|_| format!("--seconds: '{seconds}' is not a whole number"))?;
    if let Some(name) = names.iter().find(|name| !known().contains(&name.as_str())) {
        return Err(format!(
            "no scenario '{name}'; there are {}",
            known().join(", ")
        ));
    }
    let mut bench = Bench {
        workspace: Workspace::read()?,
        program: shell::option(arguments, "--program").map(PathBuf::from),
        time: Duration::from_secs(seconds.max(1)),
        failed: 0,
    };
    let wanted = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
    println!("{:24} {:>10}", "scenario", "Mpps");
    for scenario in SCENARIOS.iter().filter(|one| wanted(one.name)) {
        let rate = bench
            .program()
            .and_then(|program| session::rate(&program, scenario, bench.time));
        bench.print(scenario.name, &rate);
    }
    for setup in pair::SETUPS.iter().filter(|one| wanted(one.name)) {
        bench.pair(setup);
    }
    bench.limits(wanted(LIMIT_ECHO), wanted(LIMIT_LOOP));
    match bench.failed {
        0 => Ok(()),
        failed => Err(format!("{failed} scenarios have no rate")),
    }
}

/// What a run measures with.
struct Bench {
    workspace: Workspace,
    /// From `--program`, or once it has been built.
    program: Option<PathBuf>,
    time: Duration,
    failed: usize,
}

impl Bench {
    fn program(&mut self) -> Result<PathBuf, String> {
        if let Some(path) = &self.program {
            return Ok(path.clone());
        }
        let path = self.workspace.release_programs()?.join("testpmd");
        Ok(self.program.insert(path).clone())
    }

    fn print(&mut self, name: &str, rate: &Result<f64, String>) {
        match rate {
            Ok(rate) => println!("{name:24} {rate:>10.2}"),
            Err(why) => {
                self.failed += 1;
                println!("{name:24} {why}");
            }
        }
    }

    /// Two processes, with their share of the limit, measured right behind.
    fn pair(&mut self, setup: &pair::Setup) {
        let rate = self
            .program()
            .and_then(|program| pair::rate(&program, setup, self.time));
        self.print(setup.name, &rate);
        let Ok(rate) = rate else { return };
        let limit = limit::program(&self.workspace)
            .and_then(|program| limit::measure(&program, setup.bytes));
        match limit {
            Ok(limit) => println!(
                "{:24} {:>10.2} of {LIMIT_LOOP} {:.2} Mpps",
                "",
                rate / limit.pair,
                limit.pair
            ),
            Err(why) => {
                self.failed += 1;
                println!("{:24} {why}", "");
            }
        }
    }

    fn limits(&mut self, echo: bool, pair: bool) {
        if !echo && !pair {
            return;
        }
        let program = match limit::program(&self.workspace) {
            Ok(program) => program,
            Err(why) => return self.print(LIMIT_LOOP, &Err(why)),
        };
        for &bytes in SIZES {
            let rates = limit::measure(&program, bytes);
            let asked = [
                (echo, LIMIT_ECHO, rates.clone().map(|rates| rates.echo)),
                (pair, LIMIT_LOOP, rates.map(|rates| rates.pair)),
            ];
            for (_, name, rate) in asked.iter().filter(|(wanted, ..)| *wanted) {
                self.print(&format!("{name} {bytes}"), rate);
            }
        }
    }
}
